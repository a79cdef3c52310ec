"""The map in the browser: a viewer without a server, web sites, and files for other programs."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
