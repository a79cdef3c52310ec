"""The names and the traps of all facilities as patterns, found through the first word of each."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from landscape.errors import InputError
from landscape.overlays.missions.facilities import Facility, load_facilities

_WORD = re.compile(r"[A-Za-z0-9]+")
_CHOICE = re.compile(r"\{([^}]*)\}")
_LONG = 14  # characters; a name of several words this long is meant however it is capitalised

# The number of an object that bears a facility's name: Kepler-186f, CoRoT 102699796, IRAS 16293.
# "IRAS 60 micron" is a band, "Swift 2020" a year.
_NUMBER = (
    r"(?:(?!20[012]\d\b)\d+[A-Za-z]{0,3}\b"
    r"(?![\s~\-]*(?:\\?mu|[µμ]|micron|um\b|[GMk]Hz|k?eV|yr|year|month|day|min|sec|hour|cadence|"
    r"quarter|planet|exoplanet|stars|systems|candidates)))"
)
_GAP = r"(?:[\s~\-–/]|\\[,;]|\$)+"
_HYPHEN = r"(?:-|–|--|\s|~)"
_ENDING = r"(?:s|'s|’s)?"
_LETTER = "[A-Za-z0-9]"


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


class Names(NamedTuple):
    """The names and traps of all facilities by their first word.

    Attributes
    ----------
    first_words : frozenset of str
    names, traps : mapping of str to list of str
    surfaces : mapping of str to Surface
        By `folded` name.
    """

    first_words: frozenset[bytes]
    names: Mapping[str, list[str]]
    traps: Mapping[str, list[str]]
    surfaces: Mapping[str, Surface]


@cache
def all_names() -> Names:
    """The names and traps of all facilities.

    Examples
    --------
    >>> b"Hubble" in all_names().first_words
    True
    """
    names: dict[str, list[str]] = defaultdict(list)
    traps: dict[str, list[str]] = defaultdict(list)
    surfaces: dict[str, Surface] = {}
    for facility in load_facilities().values():
        for name in facility.names:
            for word in _first_words(name):
                names[word].append(name)
            surfaces.setdefault(folded(name), Surface(facility.name, name in facility.ambiguous))
        for trap in _all_traps(facility):
            for word in _first_words(trap):
                traps[word].append(trap)
    first_words = frozenset(word.encode() for word in (*names, *traps))
    return Names(first_words, names, traps, surfaces)


@cache
def pattern_of(word: str) -> re.Pattern[str]:
    """The pattern of what begins with a word: the longest first; a group marks a trap.

    The word itself stands first and bare: so the search for it runs at the speed of `str.find`.

    Examples
    --------
    >>> pattern_of("XMM").search("with XMM-Newton").group()
    'XMM-Newton'
    >>> pattern_of("Hubble").search("a Hubble constant").lastindex is None
    False
    """
    known = all_names()
    written = {name: _written(name, name[len(word) :]) for name in known.names.get(word, ())}
    for trap in known.traps.get(word, ()):
        # An empty group marks a trap. A name of one facility may be a trap of another.
        written.setdefault(trap, _trap(trap[len(word) :]) + "()")
    longest_first = "|".join(written[name] for name in sorted(written, key=len, reverse=True))
    return re.compile(f"{word}(?<!{_LETTER}{word})(?:{longest_first})(?!{_LETTER}|_{_LETTER})")


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
    found = _WORD.match(name)
    if found is None:
        raise InputError(f"missions.yaml: a name must begin with a letter or digit, not {name!r}")
    word = found.group()
    return {word, word.upper(), word.capitalize()} if _any_case(name) else {word}


def _any_case(name: str) -> bool:
    """Whether a name is known however it is capitalised: several words, and long."""
    return len(name) >= _LONG and len(re.split(r"[\s-]+", name)) > 1 and "#" not in name


def _written(name: str, rest: str) -> str:
    """A pattern of the rest of a name: hyphens and spaces are often exchanged."""
    pattern = "".join(
        _HYPHEN if character == "-" else r"[\s~\-]+" if character == " " else re.escape(character)
        for character in rest
    )
    return f"(?i:{pattern})" if _any_case(name) else pattern


def _trap(rest: str) -> str:
    """A pattern of the rest of a trap: any gap, plurals, genitives and capitals of titles."""
    words = re.split(r"[\s-]+", rest)
    return _GAP.join([re.escape(words[0]) + _ENDING, *map(_trap_word, words[1:])])


def _trap_word(word: str) -> str:
    """A word of a trap; ``#`` is the number of an object."""
    if "#" in word:
        return _NUMBER.join(re.escape(part) for part in word.split("#"))
    first = f"[{word[0].lower()}{word[0].upper()}]" if word[:1].isalpha() else re.escape(word[:1])
    return f"{first}{re.escape(word[1:])}{_ENDING}"
