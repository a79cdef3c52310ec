"""Embeddings of papers, queries and words, and nearest neighbours in the full dimension.

>>> from landscape import embeddings
>>> embeddings.load_embedder("minilm").dimension
384
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
