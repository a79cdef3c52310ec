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
_SYMBOLS = re.compile(r"[▪\\{}$^=<>@~|©�¹²³⁻]|https?:|www\.")
_NUMERAL = re.compile("[IVX]+")
_INITIAL = re.compile(r"[A-Z]\.")
_NAME = re.compile("[A-Z].|[0-9].*[A-Z]")  # "NGC", "3C", "2MASS", not the A of "A stars"
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{2}|[A-Z]")


@dataclass(frozen=True)
class _Lists:
    front: frozenset[str]
    kept_front: tuple[str, ...]
    back: frozenset[str]
    alone: frozenset[str]
    vague: frozenset[str]
    vague_heads: frozenset[str]
    phrases: frozenset[str]
    units: frozenset[str]
    quantities: frozenset[str]
    catalogues: frozenset[str]


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
        vague_heads=frozenset(generic["vague-head"]),
        phrases=frozenset(normal_form(phrase) for phrase in generic["phrase"]),
        units=frozenset(unit.lower() for unit in lexicon().units),
        quantities=frozenset(generic["quantity"]),
        catalogues=frozenset(name for name in lexicon().catalogues if name.isupper()),
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
    while end - begin > 1 and tags[end - 1] != "PROPN" and _is_tail(words[end - 1]):
        if tags[end - 2] == "ADJ" or (tags[end - 2] == "PROPN" and words[end - 1][:6] == "number"):
            break  # "photometric data", "Reynolds number"
        end -= 1
    while end - begin > 1 and (
        words[end - 1] in _lists().catalogues or _INITIAL.fullmatch(words[end - 1])
    ):
        end -= 1  # the prefix of a designation whose number was lost, or an initial
    if end - begin > 1 and _NUMERAL.fullmatch(words[end - 1]) and tags[end - 2] == "NOUN":
        end -= 1  # the number of a paper in its series
    if end - begin > LONGEST_PHRASE and set(tags[begin:end]) != {"PROPN"}:
        begin = end - LONGEST_PHRASE
        if tags[begin - 1] == "ADJ" and tags[begin] == "NOUN":
            begin += 1  # its adjective was cut off: "low luminosity", "cosmic ray"
    while begin < end:
        n_front = _front_words(words, tags, begin, end)
        if not n_front:
            break
        begin += n_front
    if begin >= end or (end - begin == 1 and tags[begin] == "ADJ"):
        return None
    return begin, end


def split_names(words: list[str], tags: list[str], begin: int, end: int) -> list[tuple[int, int]]:
    """Split a chunk into what a thing is and what it is called: "Seyfert galaxy NGC 1275".

    Parameters
    ----------
    words, tags : list of str, shape (n,)
        Words of the text and their universal parts of speech.
    begin, end : int
        First word of the chunk and the one behind its last.

    Returns
    -------
    list of (int, int)
        One chunk or two.

    Examples
    --------
    >>> words = ["dwarf", "galaxy", "NGC", "1275"]
    >>> split_names(words, ["NOUN", "NOUN", "PROPN", "PROPN"], 0, 4)
    [(0, 2), (2, 4)]
    """
    name = end
    while name > begin and tags[name - 1] == "PROPN":
        name -= 1
    numbered = name < end and any(map(str.isdigit, "".join(words[name:end])))
    if (
        begin < name < end
        and numbered
        and _NAME.match(words[name])
        and _is_thing(words, tags, name - 1)
    ):
        return [(begin, name), (name, end)]
    return [(begin, end)]


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
    if len(spelling.split()) == 1 and spelling.endswith("-ray"):
        return False
    if len(parts) == 1:
        acronym = any(mark.isupper() for mark in spelling[1:])
        return (parts[0] not in lists.alone or acronym) and (
            len(key) > 1 and parts[0].rstrip("*+") not in lists.units and (len(key) > 2 or acronym)
        )
    return any(part not in lists.vague and len(part) > 1 for part in parts)


def has_vague_head(key: str) -> bool:
    """Say whether the last word of a key could stand in any paper: "stellar parameters".

    Parameters
    ----------
    key : str
        A `landscape.text.phrases.normal_form`.

    Returns
    -------
    bool

    Examples
    --------
    >>> has_vague_head("photometric analysis"), has_vague_head("stellar mass")
    (True, False)
    """
    return key.rpartition(" ")[2] in _lists().vague_heads


def _is_thing(words: list[str], tags: list[str], place: int) -> bool:
    if tags[place] == "NOUN":
        return True
    return lexicon().classes.get(words[place]) == "adj-noun"  # "black hole transient GX 339-4"


@lru_cache(maxsize=100_000)
def _is_tail(word: str) -> bool:
    lower = word.lower()
    return lower in _lists().back or singular(lower) in _lists().back


@lru_cache(maxsize=100_000)
def _is_front(word: str) -> bool:
    lower = word.lower()
    # A numeral or half a word left over from a formula or a name says nothing either.
    return (
        lower in _lists().front
        or not (any(mark.isalpha() for mark in word) or word == "21")  # 21 cm line
        or _NUMERAL.fullmatch(word) is not None
        or _INITIAL.fullmatch(word) is not None
    )


def _front_words(words: list[str], tags: list[str], begin: int, end: int) -> int:
    """How many words to drop from the front now: none, one, or two as in "lowest mass halos"."""
    if not _is_front(words[begin]) or _kept(words, begin, end):
        return 0
    if tags[begin] == "PROPN" and end - begin > 1 and tags[begin + 1] == "PROPN":
        return 0  # "Large Magellanic Cloud"
    scaled = end - begin > 2 and words[begin + 1].lower() in _lists().quantities
    if scaled and words[begin].lower() in _SCALES:
        return 0
    return 2 if scaled else 1


_SCALES = frozenset(["low", "high", "large", "small", "long", "short", "wide", "broad", "narrow"])


def _kept(words: list[str], begin: int, end: int) -> bool:
    """Whether a word that says nothing elsewhere belongs to a name here: "weak lensing"."""
    phrase = " ".join(words[begin:end]).lower().replace("-", " ")
    return phrase.startswith(_lists().kept_front)
