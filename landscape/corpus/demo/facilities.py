"""Facilities that the demo papers use, and the words that look like them.

A mention travels inside the text as two private characters around its surface, so that titles can
change case and symbols can become LaTeX without any offset going stale; :func:`unmark` takes them
out at the very end and gives the offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from landscape.corpus.demo.cards import demo_data_folder, read_yaml
from landscape.errors import InputError

# First data are published some months after first light, archival work goes on after the end.
PUBLICATION_LAG = 0.4
ARCHIVAL_YEARS = 5.0

_FIRST_MARK = 0xE100
_CLOSE = "\ue000"
_MARKED = re.compile(f"([\ue100-\ue1ff])([^{_CLOSE}]*){_CLOSE}")


@dataclass(frozen=True)
class Facility:
    """A real facility and the years in which papers can have used it.

    Attributes
    ----------
    first_light, end : float
        Decimal years.
    surveyed : bool
        Papers use data *from* it (a survey, a probe) rather than observe *with* it.
    """

    id: str
    names: tuple[str, ...]
    first_light: float
    end: float
    surveyed: bool
    mark: str

    def usable(self, date: float) -> bool:
        """Whether a paper of this decimal year can hold its data.

        Examples
        --------
        >>> load_facilities()["jwst"].usable(2020.0), load_facilities()["jwst"].usable(2024.0)
        (False, True)
        """
        return self.first_light + PUBLICATION_LAG <= date <= self.end + ARCHIVAL_YEARS


@dataclass(frozen=True)
class Trap:
    """A surface that looks like a facility, with sentences that use it in its own sense."""

    surface: str
    looks_like: str
    themes: frozenset[str]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Mention:
    """A span of a title or an abstract.

    Attributes
    ----------
    start, end : int
        Offsets in characters: ``text[start:end] == surface``.
    facility : str
        Facility that is meant, or for a trap the one that is not.
    """

    field: str
    start: int
    end: int
    surface: str
    facility: str


@cache
def load_facilities() -> dict[str, Facility]:
    """All facilities by id.

    Raises
    ------
    InputError
        If an entry lacks its names or its first light.

    Examples
    --------
    >>> load_facilities()["hst"].first_light
    1990.4
    """
    facilities = {}
    for index, (key, raw) in enumerate(read_yaml(demo_data_folder() / "facilities.yaml").items()):
        if not raw.get("names") or "first_light" not in raw:
            raise InputError(f"facilities.yaml: {key} needs names and first_light")
        facilities[key] = Facility(
            id=key,
            names=tuple(raw["names"]),
            first_light=float(raw["first_light"]),
            end=float(raw.get("end", 9999.0)),
            surveyed=bool(raw.get("from", False)),
            mark=chr(_FIRST_MARK + index),
        )
    return facilities


@cache
def load_traps() -> tuple[Trap, ...]:
    """All traps.

    Examples
    --------
    >>> "Hubble constant" in [trap.surface for trap in load_traps()]
    True
    """
    return tuple(
        Trap(raw["surface"], raw["looks_like"], frozenset(raw["where"]), tuple(raw["sentences"]))
        for raw in read_yaml(demo_data_folder() / "traps.yaml")
    )


def mark(facility: Facility, rng: Random) -> str:
    """One of the facility's names, marked as a true mention (its article stays outside).

    Examples
    --------
    >>> unmark("with " + mark(load_facilities()["alma"], Random(2)), field="title")[1][0].facility
    'alma'
    """
    name = rng.choice(facility.names)
    lead, bare = ("the ", name[4:]) if name.startswith("the ") else ("", name)
    return f"{lead}{facility.mark}{bare}{_CLOSE}"


def unmark(text: str, *, field: str) -> tuple[str, list[Mention]]:
    """Take the marks out of a text and say where the mentions are.

    Parameters
    ----------
    text : str
    field : str
        ``"title"`` or ``"abstract"``, recorded in the mentions.

    Returns
    -------
    str
        The text as readers see it.
    list of Mention
    """
    by_mark = _ids_by_mark()
    pieces: list[str] = []
    mentions = []
    length = last = 0
    for match in _MARKED.finditer(text):
        pieces.append(text[last : match.start()])
        length += match.start() - last
        surface = match[2]
        mentions.append(Mention(field, length, length + len(surface), surface, by_mark[match[1]]))
        pieces.append(surface)
        length += len(surface)
        last = match.end()
    pieces.append(text[last:])
    return "".join(pieces), mentions


@cache
def _pattern(surface: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(surface)}(?:s|es)?\b", re.IGNORECASE)


@cache
def _ids_by_mark() -> dict[str, str]:
    return {facility.mark: facility.id for facility in load_facilities().values()}


def find_traps(text: str, *, field: str, mentions: list[Mention]) -> list[Mention]:
    """Every trap surface of a text that is not part of a true mention.

    Examples
    --------
    >>> [m.surface for m in find_traps("a Hubble constant", field="title", mentions=[])]
    ['Hubble constant']
    """
    taken = [(m.start, m.end) for m in mentions]
    found = []
    lowered = text.lower()  # titles may capitalise a trap
    for trap in load_traps():
        if trap.surface.lower() not in lowered:
            continue
        for match in re.finditer(_pattern(trap.surface), text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                span = (match.start(), match.end(), match[0], trap.looks_like)
                found.append(Mention(field, *span))
    return sorted(found, key=lambda m: m.start)
