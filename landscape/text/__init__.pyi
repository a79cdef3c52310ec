from .keywords import extract_keywords
from .word_index import WordIndex, tokenise
from .words import split_sentences

__all__ = ["WordIndex", "extract_keywords", "split_sentences", "tokenise"]
