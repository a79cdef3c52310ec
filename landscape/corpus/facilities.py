"""Facilities with their names, instruments, surveys, first light and main research fields."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from landscape._io import data_file, read_yaml
from landscape._wording import close_names
from landscape.errors import InputError

ROLES = ("science", "instrumentation", "planned", "mention")
"""Roles of a facility in a paper; the role of a paper is the first one among its mentions."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9+]+")
_BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*+\)$")
_KIND = re.compile(
    r"(?<!\s)\s++(?:mission|satellite|spacecraft|telescope|observatory|survey)s?$", re.I
)
_REQUIRED = {"full", "start", "band", "agency", "home"}
_LISTS = ("aliases", "instruments", "surveys", "traps")
_OPTIONAL = {*_LISTS, "ambiguous", "end", "first_light", "kind", "not", "parent", "result"}
_SURVEYS = {"survey", "catalogue"}
_NEAREST = 4  # number of facilities suggested for an unknown name


@dataclass(frozen=True)
class Facility:
    """Telescope, satellite, probe, detector or survey, or an instrument or observatory.

    A mention counts for one of the facilities in `counted_as`: an instrument or a survey counts for
    its telescope, and the telescopes of an observatory count for themselves. `start` is the launch
    of a spacecraft; no paper uses data of the facility before `first_light`. A result, such as a
    value or a sample that is named after a facility, is mentioned without use of the facility.
    """

    name: str
    full_name: str
    aliases: tuple[str, ...]
    instruments: tuple[str, ...]
    surveys: tuple[str, ...]
    start: date
    first_light: date
    end: date | None
    band: str
    agency: str
    home_fields: tuple[str, ...]
    ambiguous: frozenset[str] = frozenset()
    traps: tuple[str, ...] = ()
    counted_as: tuple[str, ...] = ()
    is_result: bool = False

    @property
    def is_part(self) -> bool:
        """Whether this is an instrument or a survey of the facility that it counts for."""
        return self.name not in self.counted_as

    def includes(self, facility: str, surface: str) -> bool:
        """Return whether a mention, with its facility and its words, is about this facility."""
        if not self.is_part or facility not in self.counted_as:
            return facility in self.counted_as
        return any(f" {name} " in f" {_words(surface)} " for name in self._words_of_names)

    @cached_property
    def _words_of_names(self) -> frozenset[str]:
        return frozenset(_words(_BRACKETS.sub("", name)) for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that count as a mention of the facility. The canonical name is first."""
        every = (self.name, self.full_name, *self.aliases, *self.instruments, *self.surveys)
        return tuple(dict.fromkeys(every))


@cache
def load_facilities() -> Mapping[str, Facility]:
    """Return the facilities that count for themselves, from canonical name to facility."""
    return MappingProxyType({name: one for name, one in _read().items() if not one.is_part})


@cache
def find_part(facility: str, surface: str) -> Facility | None:
    """Return the instrument, survey or facility that the words of a mention name, if known."""
    keys = (key for _, key in _by_folded_name().get(_folded(surface), ()))
    named = [one for one in map(_read().__getitem__, keys) if facility in one.counted_as]
    return next((one for one in named if one.is_part), _read().get(facility))


def find_facility(name: str) -> Facility:
    """Find a facility, an instrument, a survey or an observatory by any of its names.

    Case, hyphens and spaces are ignored, unless the name is a canonical name. The facility that an
    instrument belongs to may be added: "HERMES (AAT)" or "AAT/HERMES".
    """
    if name.strip().endswith(")"):
        part, _, whole = name.strip(" )").partition("(")
    else:
        whole, _, part = name.rpartition("/")
    of = {key for _, key in _by_folded_name().get(_folded(whole), ())}
    found = (
        _called(name)
        or _called(_KIND.sub("", name))
        or [one for one in _called(part, any_case=True) if of.intersection(one.counted_as)]
    )
    if len(found) > 1:
        names = ", ".join(
            f"{one.name} ({one.counted_as[0]})" if one.is_part and "(" not in one.name else one.name
            for one in found
        )
        raise InputError(f"There are {len(found)} facilities {name!r}; give one of: {names}.")
    if found:
        return found[0]
    folded = _by_folded_name()
    near = close_names(_folded(name), folded, n=10 * _NEAREST)
    order = {key: place for place, key in enumerate(folded)}  # well-known facilities come first
    matcher = SequenceMatcher(b=_folded(name))

    def rank(key: str) -> tuple[float, int]:
        matcher.set_seq1(key)
        return -matcher.ratio(), order[key]

    meant = list(dict.fromkeys(folded[key][0][0] for key in sorted(near, key=rank)))[:_NEAREST]
    hint = (
        f"the nearest names are: {', '.join(meant)}."
        if meant
        else f"all {len(load_facilities())} facilities that are known are listed in missions.yaml."
    )
    raise InputError(f"There is no facility {name!r}; {hint}")


def is_known_name(name: str) -> bool:
    """Return whether a name, or a part of a name with hyphens, is the name of a facility."""
    known = _by_folded_name()
    return any(_folded(one) in known for one in (name, name.removesuffix("s"), *name.split("-")))


def _called(name: str, *, any_case: bool = False) -> list[Facility]:
    """Return the facilities with a name. Canonical names and parts of facilities have priority."""
    known = _read()
    exact = [] if any_case else [one for one in (name, name.upper()) if one in known]
    if exact:
        return [known[exact[0]]]
    keys = [key for _, key in _by_folded_name().get(_folded(name), ())]
    if not any_case:
        keys = [key for key in keys if _folded(_BRACKETS.sub("", key)) == _folded(name)] or keys
    found = [known[key] for key in dict.fromkeys(keys)]
    listed = [one for one in found if name in one.aliases]  # counts for this one in texts
    found = listed if len(listed) == 1 else found
    # "LSST" is a name of an observatory and of its survey: the observatory is meant.
    both = [one for one in found if _folded(name) in map(_folded, one.aliases)]
    if whole := [one for one in both if not one.is_part]:
        return whole
    wholes = {one.counted_as[0] for one in found if one.is_part}
    return [one for one in found if one.name not in wholes]


@cache
def _by_folded_name() -> Mapping[str, list[tuple[str, str]]]:
    """Map normalised names to original and canonical names; facilities precede their parts."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in sorted(_read().values(), key=lambda one: one.is_part):
        own = (one.name, _BRACKETS.sub("", one.name), one.full_name, *one.aliases)
        for folded, name in {_folded(name): name for name in reversed(own)}.items():
            found[folded].append((name, one.name))
    return dict(found)


def _folded(name: str) -> str:
    return _words(name.lower().removeprefix("the ")).replace(" ", "")


def _words(name: str) -> str:
    return _NOT_IN_NAMES.sub(" ", name.lower()).strip()


@cache
def _read() -> Mapping[str, Facility]:
    """Read the facilities, and the instruments and surveys, which share the facts of theirs."""
    entries: dict[str, dict[str, Any]] = {
        str(name): raw for name, raw in read_yaml(missions_file()).items()
    }
    sites = {name for name, entry in entries.items() if entry.get("kind") == "observatory"}
    counted: dict[str, list[str]] = defaultdict(list)
    inside: dict[str, list[str]] = defaultdict(list)
    parts = {}
    for name, part in entries.items():
        names = [name, part["full"], *part.get("aliases", ())]
        top, above = name, part.get("parent")
        while above and above not in sites:
            inside[above] += names
            top, above = above, entries[above].get("parent")
        counted[name].append(top)
        if top != name:
            parts[name], whole = part, entries[top]
            kind = "surveys" if part.get("kind") in _SURVEYS else "instruments"
            names = [one for one in names if one not in part.get("not", ())]
            for key, more in (
                (kind, names),
                ("ambiguous", part.get("ambiguous", ())),
                ("traps", part.get("traps", ())),
            ):
                whole[key] = [*whole.get(key, ()), *more]
            continue
        while above:
            counted[above].append(name)
            above = entries[above].get("parent")
    tops = {name: entry for name, entry in entries.items() if name not in parts}
    for name, entry in tops.items():
        for listed in (*entry.get("instruments", ()), *entry.get("surveys", ())):
            if listed not in inside[name]:
                key = f"{listed} ({name})" if listed in entries or listed in parts else listed
                parts[key], counted[key] = {"full": listed}, [name]
    found = {name: _facility(name, entry, counted[name]) for name, entry in tops.items()}
    for name, part in parts.items():
        whole = entries[counted[name][0]]
        facts = {
            key: whole[key] for key in (*_REQUIRED, "end", "first_light") if key in whole
        } | part
        found[name] = _facility(name, facts | {"surveys": inside[name]}, counted[name])
    return MappingProxyType(found)


def missions_file() -> Path:
    """Return the path of the data file with the facilities."""
    return data_file("missions.yaml")


def _facility(name: str, raw: Mapping[str, Any], counted_as: Sequence[str]) -> Facility:
    wrong = sorted((_REQUIRED - raw.keys()) | (raw.keys() - _REQUIRED - _OPTIONAL))
    if wrong:
        raise InputError(f"missions.yaml: {name} has missing or unknown keys: {', '.join(wrong)}.")
    lists = {key: tuple(map(str, raw.get(key, ()))) for key in _LISTS}
    return Facility(
        name=name,
        full_name=str(raw["full"]),
        start=_date(raw["start"]),
        first_light=max(_date(raw["start"]), _date(raw.get("first_light", raw["start"]))),
        end=_date(raw["end"]) if "end" in raw else None,
        band=str(raw["band"]),
        agency=str(raw["agency"]),
        home_fields=tuple(map(str, raw["home"])),
        ambiguous=frozenset(map(str, raw.get("ambiguous", ()))),
        counted_as=tuple(counted_as),
        is_result=bool(raw.get("result", False)),
        **lists,
    )


def _date(value: object) -> date:
    """Convert a date of the data file. A missing month or day is set to 1."""
    if isinstance(value, date):
        return value
    year, _, month = str(value).partition("-")
    return date(int(year), int(month or 1), 1)
