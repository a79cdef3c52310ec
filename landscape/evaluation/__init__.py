"""Evaluate an atlas and its agents on questions and labels with known answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
