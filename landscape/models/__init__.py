"""Fitted models of the package, each with a card that says what it decides and how well.

Arrays are safetensors files and other numbers are JSON files, named as the cards. `list_cards` and
``landscape info --models`` list the cards.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
