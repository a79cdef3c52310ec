"""The map of an atlas: projection, density, regions and their names, and quality."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
