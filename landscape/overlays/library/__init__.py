"""The library of a user on an atlas: regions, graph, digest of new papers, fresh entries."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
