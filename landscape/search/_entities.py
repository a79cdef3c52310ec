"""Names in a query: facilities, surveys, objects and people."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from landscape.text._word_index import STOP_WORDS
from landscape.text._words import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CAPITALISED = re.compile(r"[A-Z][\w'’+*-]*(?:\.\d+)?")
_COMPOUND = re.compile(r"[\w+-]+")
_OBJECT = re.compile(r"\b(?:{names})[ -]?[A-Z]?\d[\w.+-]*|\bSgr A\*|\bM ?\d{{1,3}}\b")
_GAP = re.compile(r"(?<=[A-Za-z])[ -](?=\d)")
_ET_AL = re.compile(r"\b([A-Z][\w'’-]+)(?= et al)")


class Entity(NamedTuple):
    """A name in a query."""

    text: str
    kind: str


def find_entities(query: str) -> tuple[Entity, ...]:
    """Find the names in a query.

    Parameters
    ----------
    query : str

    Returns
    -------
    tuple of Entity
        In reading order, none within another.

    Examples
    --------
    >>> [tuple(entity) for entity in find_entities("What did JWST find around NGC 1275?")]
    [('JWST', 'acronym'), ('NGC 1275', 'object')]
    >>> find_entities("Why do galaxies stop forming stars?")
    ()
    """
    found: list[tuple[int, int, str]] = []
    for pattern, kind in ((_objects(), "object"), (_ET_AL, "person")):
        found += [(*match.span(), kind) for match in pattern.finditer(query)]
    words = _COMPOUND.finditer(query)
    found += [(*word.span(), "acronym") for word in words if _is_acronym(word.group())]
    found += [(begin, end, "name") for begin, end in _names(query)]
    chosen: list[tuple[int, int, str]] = []
    for begin, end, kind in found:
        if all(end <= first or last <= begin for first, last, _ in chosen):
            chosen.append((begin, end, kind))
    return tuple(Entity(query[begin:end], kind) for begin, end, kind in sorted(chosen))


def shares_of_names(names: Sequence[str], texts: Iterable[str]) -> list[float]:
    """Share of some names that each text contains."""
    if not names:
        return [0.0 for _ in texts]
    patterns = [
        re.compile(rf"(?<!\w){re.escape(name)}(?!\w)".replace(r"\ ", r"[ -]?"), re.IGNORECASE)
        for name in names
    ]
    return [
        sum(pattern.search(text) is not None for pattern in patterns) / len(names) for text in texts
    ]


def absent_objects(query: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Find catalogue objects that a query names and no text mentions."""
    found = (entity.text for entity in find_entities(query) if entity.kind == "object")
    names = [name.rstrip(".+-") for name in found]
    known = [_closed_up(text) for text in texts] if names else []
    return tuple(name for name in names if not any(shares_of_names([_closed_up(name)], known)))


def _closed_up(text: str) -> str:
    """M 31 as M31, whichever way it is written."""
    return _GAP.sub("", text)


def _is_acronym(word: str) -> bool:
    capitals = sum(map(str.isupper, word))
    return word[0].isupper() and (capitals > 1 or any(map(str.isdigit, word)))


def _names(query: str) -> list[tuple[int, int]]:
    """Runs of capitalised words; the first word of a sentence counts only within a longer run."""
    runs: list[tuple[int, int]] = []
    for word in _CAPITALISED.finditer(query):
        begin, end = word.span()
        if runs and query[runs[-1][1] : begin] == " ":
            runs[-1] = (runs[-1][0], end)
        elif word.group().lower() not in STOP_WORDS:
            runs.append((begin, end))
    return [
        (begin, end)
        for begin, end in runs
        if not _opens_sentence(query, begin) or " " in query[begin:end]
    ]


def _opens_sentence(query: str, place: int) -> bool:
    before = query[:place].rstrip()
    return not before or before[-1] in ".?!:"


@cache
def _objects() -> re.Pattern[str]:
    names = sorted((n for n in lexicon().catalogues if n.isupper()), key=len, reverse=True)
    return re.compile(_OBJECT.pattern.format(names="|".join(map(re.escape, names))))
