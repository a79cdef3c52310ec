from ._keywords import extract_keywords
from ._sentences import split_sentences
from ._word_index import WordIndex, tokenise

__all__ = ["WordIndex", "extract_keywords", "split_sentences", "tokenise"]
