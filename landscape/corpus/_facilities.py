"""Facilities with their names, instruments, surveys, first light and main research fields."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from landscape._io import data_file, read_yaml
from landscape.errors import InputError

_NOT_IN_NAMES = re.compile(r"[^a-z0-9+]+")
_KIND = re.compile(
    r"(?<!\s)\s++(?:mission|satellite|spacecraft|telescope|observatory|survey)s?$", re.I
)
_REQUIRED = {"full", "start", "band", "agency", "home"}
_LISTS = ("aliases", "instruments", "surveys", "traps")
_OPTIONAL = {*_LISTS, "ambiguous", "end", "kind", "not", "parent"}
_SURVEYS = {"survey", "catalogue"}
_NEAREST = 4


@dataclass(frozen=True)
class Facility:
    """Telescope, satellite, probe, detector or survey."""

    name: str
    full_name: str
    aliases: tuple[str, ...]
    instruments: tuple[str, ...]
    surveys: tuple[str, ...]
    first_light: date
    end: date | None
    band: str
    agency: str
    home_fields: tuple[str, ...]
    ambiguous: frozenset[str] = frozenset()
    traps: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names that count as a mention of the facility. The canonical name is first."""
        every = (self.name, self.full_name, *self.aliases, *self.instruments, *self.surveys)
        return tuple(dict.fromkeys(every))


@cache
def load_facilities() -> Mapping[str, Facility]:
    """Return all facilities as a mapping from canonical name to facility."""
    entries: dict[str, dict[str, Any]] = {
        str(name): raw for name, raw in read_yaml(missions_file()).items()
    }
    parts = set()
    for name, part in entries.items():
        whole = part
        while "parent" in whole and entries[whole["parent"]].get("kind") != "observatory":
            whole = entries[whole["parent"]]
        if whole is not part:
            parts.add(name)
            kind = "surveys" if part["kind"] in _SURVEYS else "instruments"
            names = [name, part["full"], *part.get("aliases", ())]
            names = [one for one in names if one not in part.get("not", ())]
            for key, more in ((kind, names), ("ambiguous", part.get("ambiguous", ())),
                              ("traps", part.get("traps", ()))):  # fmt: skip
                whole[key] = [*whole.get(key, ()), *more]
    return MappingProxyType({
        name: _facility(name, raw) for name, raw in entries.items() if name not in parts
    })  # fmt: skip


def find_facility(name: str) -> Facility:
    """Find a facility by any of its names, ignoring case, hyphens and spaces."""
    folded = _by_folded_name()
    for tried in (name, _KIND.sub("", name), name.rpartition("/")[2]):
        found = folded.get(_folded(tried))
        if found:
            return load_facilities()[found[1]]
    near = difflib.get_close_matches(_folded(name), folded, n=_NEAREST, cutoff=0.6)
    meant = list(dict.fromkeys(folded[key][0] for key in near))
    hint = (
        f"the nearest names are: {', '.join(meant)}."
        if meant
        else f"all {len(load_facilities())} facilities that are known are listed in missions.yaml."
    )
    raise InputError(f"There is no facility {name!r}; {hint}")


@cache
def _by_folded_name() -> Mapping[str, tuple[str, str]]:
    """Map normalised names to original names and facilities. Canonical names have priority."""
    found: dict[str, tuple[str, str]] = {}
    facilities = load_facilities().values()
    ranked = (
        [((one.name,), one) for one in facilities],
        [((one.full_name, *one.aliases), one) for one in facilities],
        [((*one.instruments, *one.surveys), one) for one in facilities],
    )
    for names, facility in chain.from_iterable(ranked):
        for name in names:
            found.setdefault(_folded(name), (name, facility.name))
    return found


def _folded(name: str) -> str:
    return _NOT_IN_NAMES.sub("", name.lower().removeprefix("the "))


def missions_file() -> Path:
    """Return the path of the data file with the facilities."""
    return data_file("missions.yaml")


def _facility(name: str, raw: Mapping[str, Any]) -> Facility:
    wrong = sorted((_REQUIRED - raw.keys()) | (raw.keys() - _REQUIRED - _OPTIONAL))
    if wrong:
        raise InputError(f"missions.yaml: {name} has missing or unknown keys: {', '.join(wrong)}.")
    lists = {key: tuple(map(str, raw.get(key, ()))) for key in _LISTS}
    return Facility(
        name=name,
        full_name=str(raw["full"]),
        first_light=_date(raw["start"]),
        end=_date(raw["end"]) if "end" in raw else None,
        band=str(raw["band"]),
        agency=str(raw["agency"]),
        home_fields=tuple(map(str, raw["home"])),
        ambiguous=frozenset(map(str, raw.get("ambiguous", ()))),
        **lists,
    )


def _date(value: Any) -> date:
    """Convert a date of the data file. A missing month or day is set to 1."""
    if isinstance(value, date):
        return value
    year, _, month = str(value).partition("-")
    return date(int(year), int(month or 1), 1)
