"""Process the text of papers: sentences, tokens, key phrases and the word index."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
