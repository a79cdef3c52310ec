"""Make a labelled map of a research literature from a collection of abstracts.

The public names are loaded on first use, so that ``import landscape`` is fast:

>>> import landscape as ls
>>> ls.__version__ == ls.__version__.strip()
True
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
