"""The citation graph as sparse matrices: influence, co-citation and coupling."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
