"""Functions that draw figures of an atlas; each function is loaded on first use.

>>> from landscape import figures
>>> figures.heatmap.__name__
'heatmap'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
