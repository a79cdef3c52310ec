"""What a phrase may begin and end with, and what makes it no keyword at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

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
    lists = _lists()
    lower = [word.lower() for word in words[begin:end]]
    first, last = 0, len(lower)
    while last > 1 and _is_tail(lower[last - 1], lists) and tags[begin + last - 2] != "ADJ":
        last -= 1
    first = max(0, last - LONGEST_PHRASE)
    while first < last and _is_front(lower, first, last, tags[begin + first], lists):
        first += 1
    return (begin + first, begin + last) if first < last else None


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


def _is_tail(word: str, lists: _Lists) -> bool:
    return word in lists.back or singular(word) in lists.back


def _is_front(lower: list[str], first: int, last: int, tag: str, lists: _Lists) -> bool:
    word = lower[first]
    if word in lists.front or (tag == "ADJ" and word.startswith("well-")):
        return not _open(lower, first, last).startswith(lists.kept_front)
    # A symbol or half a word left over from a formula, or an adjective without its noun.
    return not any(mark.isalpha() for mark in word) or (last - first == 1 and tag == "ADJ")


def _open(lower: list[str], first: int, last: int) -> str:
    return " ".join(lower[first:last]).replace("-", " ")
