"""Fitted models of the package, with cards that say what each decides and how well.

Arrays are safetensors files and other numbers are JSON files, named as the cards. `list_cards` and
``landscape info --models`` list the cards. `word_axes` is a projection and has no card.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
