"""The names and the traps of all facilities as patterns, found through the first word of each."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from landscape.overlays.missions.facilities import Facility, load_facilities

_WORD = re.compile(r"[A-Za-z0-9]+")
_CHOICE = re.compile(r"\{([^}]*)\}")
_LONG = 14  # characters; a name of several words this long is meant however it is capitalised

# The number of an object that bears a facility's name: Kepler-186f, CoRoT 102699796, IRAS 16293.
# "IRAS 60 micron" is a band, "Swift 2020" a year.
_NUMBER = r"(?:(?!20[012]\d\b)\d+[A-Za-z]{0,3}\b(?![\s~]*(?:\\?mu|[µμ]|micron|um\b|[GMk]Hz|k?eV|yr|year)))"
_GAP = r"(?:[\s~\-–/]|\\[,;]|\$)+"
_HYPHEN = r"(?:-|–|--|\s|~)"
_ENDING = r"(?:s|'s|’s)?"
_NOT_BEFORE = r"(?<![A-Za-z0-9_])"
_NOT_AFTER = r"(?![A-Za-z0-9]|_[A-Za-z0-9])"


class Surface(NamedTuple):
    """What a name stands for.

    Attributes
    ----------
    facility : str
        Canonical name; empty for a trap.
    ambiguous : bool
        Whether it counts only with evidence beside it.
    """

    facility: str
    ambiguous: bool


class Patterns(NamedTuple):
    """Patterns by the first word of what they find.

    Attributes
    ----------
    first_words : frozenset of str
    by_word : mapping of str to re.Pattern
        Each finds the names that begin with the word, the longest first; traps are its group
        ``trap``.
    surfaces : mapping of str to Surface
        By `folded` name.
    """

    first_words: frozenset[str]
    by_word: Mapping[str, re.Pattern[str]]
    surfaces: Mapping[str, Surface]


@cache
def patterns() -> Patterns:
    """The patterns of all facilities.

    Examples
    --------
    >>> found = patterns()
    >>> found.by_word["XMM"].match("XMM-Newton").group()
    'XMM-Newton'
    >>> found.by_word["Hubble"].match("Hubble constant").lastgroup
    'trap'
    """
    names: dict[str, list[str]] = defaultdict(list)
    traps: dict[str, list[str]] = defaultdict(list)
    surfaces: dict[str, Surface] = {}
    for facility in load_facilities().values():
        for name in facility.names:
            meant = Surface(facility.name, name in facility.ambiguous)
            for word in _first_words(name):
                names[word].append(name)
            surfaces.setdefault(folded(name), meant)
        for trap in _all_traps(facility):
            for word in _first_words(trap):
                traps[word].append(trap)
    for word, held in traps.items():  # a name of one facility may be the trap of another
        traps[word] = [trap for trap in held if trap not in names[word]]
    words = frozenset(word for word in {*names, *traps} if names[word] or traps[word])
    return Patterns(words, {word: _pattern(names[word], traps[word]) for word in words}, surfaces)


def folded(surface: str) -> str:
    """A surface without what may differ: spaces and hyphens, and case in names of several words.

    Examples
    --------
    >>> folded("XMM–Newton"), folded("Very large  array")
    ('XMM Newton', 'very large array')
    """
    plain = re.sub(r"[\s~\-–]+", " ", surface)
    return plain.lower() if _any_case(plain) else plain


def _all_traps(facility: Facility) -> Iterable[str]:
    """The traps of a facility with their choices written out."""
    for trap in facility.traps:
        parts = _CHOICE.split(trap)  # every second part is the words between braces
        choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
        yield from map("".join, itertools.product(*choices))


def _first_words(name: str) -> set[str]:
    found = _WORD.search(name)
    if found is None:
        return set()
    word = found.group()
    return {word, word.upper(), word.capitalize()} if _any_case(name) else {word}


def _any_case(name: str) -> bool:
    return len(name) >= _LONG and len(name.split()) > 1 and "#" not in name


def _pattern(names: list[str], traps: list[str]) -> re.Pattern[str]:
    """Longest first: a trap before a name of the same length, both before what they contain."""
    name = "|".join(_written(one) for one in sorted(set(names), key=len, reverse=True))
    trap = "|".join(_trap(one) for one in sorted(set(traps), key=len, reverse=True))
    parts = [f"(?P<trap>{trap})"] if trap else []
    parts += [f"(?P<name>{name})"] if name else []
    return re.compile(f"{_NOT_BEFORE}(?:{'|'.join(parts)}){_NOT_AFTER}")


def _written(name: str) -> str:
    """A pattern of a name: hyphens and spaces are often exchanged."""
    pattern = "".join(
        _HYPHEN if character == "-" else r"[\s~\-]+" if character == " " else re.escape(character)
        for character in name
    )
    return f"(?i:{pattern})" if _any_case(name) else pattern


def _trap(trap: str) -> str:
    """A pattern of a trap: words with any gap, plurals and genitives; ``#`` is a number."""
    words = []
    for word in re.split(r"[\s-]+", trap):
        if "#" in word:
            words.append(_NUMBER.join(re.escape(part) for part in word.split("#")))
        else:
            first = re.escape(word[:1])
            # The common word of a trap is capitalised in titles.
            either = f"[{word[0].lower()}{word[0].upper()}]" if word[:1].isalpha() else first
            words.append(f"{either if words else first}{re.escape(word[1:])}{_ENDING}")
    return _GAP.join(words)
