"""Read papers from files, clean them, merge duplicates and write papers.parquet.

>>> from landscape.corpus import parse_arxiv_id
>>> parse_arxiv_id("https://arxiv.org/abs/2101.01542v3")
'2101.01542'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
