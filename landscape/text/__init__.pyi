from ._keywords import extract_keywords
from ._word_index import WordIndex, tokenise
from ._words import split_sentences

__all__ = ["WordIndex", "extract_keywords", "split_sentences", "tokenise"]
