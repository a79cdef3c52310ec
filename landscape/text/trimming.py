"""What a phrase may begin and end with, and what makes it no keyword at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from landscape.text.lexicon import lexicon, read_sections
from landscape.text.phrases import normal_form, singular

LONGEST_PHRASE = 4
"""Words in a keyword; a hyphenated word counts as one."""

_MOST_CHARACTERS = 60
_SYMBOLS = re.compile(r"[▪\\{}$^=<>@~|©�]|https?:|www\.")
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{2}|[A-Z]")


@dataclass(frozen=True)
class _Lists:
    front: frozenset[str]
    kept_front: tuple[str, ...]
    back: frozenset[str]
    alone: frozenset[str]
    vague: frozenset[str]
    phrases: frozenset[str]
    units: frozenset[str]


@cache
def _lists() -> _Lists:
    generic = read_sections("generic")
    front = frozenset(generic["front"])
    return _Lists(
        front=front,
        kept_front=tuple(generic["keep-front"]),
        back=frozenset(generic["back"]),
        alone=frozenset(generic["alone"]) | front,
        vague=frozenset(generic["vague"]) | front,
        phrases=frozenset(normal_form(phrase) for phrase in generic["phrase"]),
        units=frozenset(unit.lower() for unit in lexicon().units),
    )


def trim(words: list[str], tags: list[str], begin: int, end: int) -> tuple[int, int] | None:
    """Trim a noun chunk to the phrase that names its subject.

    Parameters
    ----------
    words, tags : list of str, shape (n,)
        Words of the text and their universal parts of speech.
    begin, end : int
        First word of the chunk and the one behind its last.

    Returns
    -------
    (int, int) or None
        First word of the phrase and the one behind its last; None where nothing is left.

    Examples
    --------
    >>> words = ["several", "new", "weak", "lensing", "mass", "estimates"]
    >>> trim(words, ["ADJ", "ADJ", "ADJ", "NOUN", "NOUN", "NOUN"], 0, 6)
    (2, 5)
    """
    while end - begin > 1 and _is_tail(words[end - 1]) and tags[end - 2] != "ADJ":
        end -= 1
    begin = max(begin, end - LONGEST_PHRASE)
    while begin < end and _is_front(words[begin]) and not _kept(words, begin, end):
        begin += 1
    if begin == end or (end - begin == 1 and tags[begin] == "ADJ"):
        return None
    return begin, end


def is_subject(key: str, spelling: str) -> bool:
    """Say whether a trimmed phrase names a subject rather than the talk about it.

    Parameters
    ----------
    key : str
        Its `landscape.text.phrases.normal_form`.
    spelling : str
        The phrase as written.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_subject(word.lower(), word) for word in ("AGN", "paper", "data analysis", "2020")]
    [True, False, False, False]
    """
    lists = _lists()
    if not key or key in lists.phrases or len(spelling) > _MOST_CHARACTERS:
        return False
    if not _SAYS_SOMETHING.search(spelling) or _SYMBOLS.search(spelling):
        return False
    parts = [singular(part) for part in key.split()]
    if len(parts) == 1:
        acronym = any(mark.isupper() for mark in spelling[1:])
        return (parts[0] not in lists.alone or acronym) and (
            len(key) > 1 and parts[0] not in lists.units and (len(key) > 2 or acronym)
        )
    return any(part not in lists.vague and len(part) > 1 for part in parts)


@lru_cache(maxsize=100_000)
def _is_tail(word: str) -> bool:
    lower = word.lower()
    return lower in _lists().back or singular(lower) in _lists().back


@lru_cache(maxsize=100_000)
def _is_front(word: str) -> bool:
    lower = word.lower()
    # A symbol or half a word left over from a formula says nothing either.
    return lower in _lists().front or not any(mark.isalpha() for mark in word)


def _kept(words: list[str], begin: int, end: int) -> bool:
    """Whether a word that says nothing elsewhere belongs to a name here: "weak lensing"."""
    phrase = " ".join(words[begin:end]).lower().replace("-", " ")
    return phrase.startswith(_lists().kept_front)
