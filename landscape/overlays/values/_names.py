"""Names and symbols of the quantities of values, and the units that they can have."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from landscape.overlays.values._quantities import Measure, convert, settings

PATTERNS = {name: re.compile(pattern) for name, pattern in settings()["patterns"].items()}
OF_THE_UNIVERSE = frozenset({"H0", "S8", "sigma8", "Omega_m", "neutrino mass"})
RADII = frozenset({"solRad", "earthRad", "jupiterRad"})


class Quantity(NamedTuple):
    units: tuple[str, ...]  # "" for pure numbers
    symbol: re.Pattern[str]
    words: re.Pattern[str]
    excluded: re.Pattern[str]
    between: tuple[float, float]  # in the first unit
    needs: str  # unit with which a name or symbol is necessary; "True" for every unit


@cache
def quantities() -> Mapping[str, Quantity]:
    """Return the quantities of ``data/quantities.yaml``."""
    return {
        name: Quantity(
            (entry["unit"], *map(str, entry.get("also", ()))),
            re.compile(
                rf"(?:(?<=log)|(?<![\w₀-₉.α-ωΑ-Ω/^\[]))(?:{'|'.join(entry['symbols'])})(?![\w₀-₉'′])"
            ),
            re.compile(rf"(?i)(?<![A-Za-z])(?:{entry['words']})(?![A-Za-z])"),
            re.compile(rf"(?i)(?:\b|(?=\[))(?:{entry.get('not', '(?!)')})"),
            tuple(entry.get("between", (-1e99, 1e99))),
            str(entry.get("needs", "")),
        )
        for name, entry in settings()["quantities"].items()
    }


def asked_quantity(question: str) -> str:
    """Return the quantity that a question asks the value of, or "".

    >>> asked_quantity("How old is M 67?"), asked_quantity("What is the mass ratio?")
    ('age', '')
    >>> asked_quantity("Which mass has K2-18 b?"), asked_quantity("What sets the mass of K2-18 b?")
    ('mass', '')
    """
    for name, pattern in settings()["asked"].items():
        if re.search(pattern, question, re.IGNORECASE):
            return str(name)
    general = PATTERNS["asks"].match(question)
    named = PATTERNS["asks_by_name"].match(question)
    found = [
        (match.start(), -match.end(), name)
        for name, quantity in quantities().items()
        for pattern in (quantity.words, *([quantity.symbol] if name in OF_THE_UNIVERSE else ()))
        for match in pattern.finditer(question)
        if not PATTERNS["no_cue"].match(question, match.end())
        and question[match.start() - 1 : match.start()] != "-"
        and (
            (general and not PATTERNS["other_noun"].search(question[general.end() : match.start()]))
            or (named and match.start() == named.end())
        )
    ]
    return min(found)[2] if found else ""  # the longest at the first place


def fitting_unit(quantity: Quantity, measure: Measure, *, plausible: bool = True) -> str | None:
    """Return the unit of a number if it can be the quantity, otherwise None."""
    low, high = quantity.between if plausible else (0.0, math.inf)
    first = quantity.units[0]
    is_hubble = first == "km / (Mpc s)"
    if not measure.unit:
        is_number = first in {"", "dex"} or is_hubble
        fits = is_number and low <= measure.value <= high
        return ("" if first == "dex" else first) if fits else None
    for unit in filter(None, quantity.units):
        value = convert(measure.value, measure.unit, unit)
        if value is None:
            continue
        is_frequency = unit == "1 / yr" and "yr" not in measure.unit  # or a count rate
        is_other = is_frequency or (is_hubble and measure.unit != first)
        return measure.unit if low <= value <= high and not is_other else None
    return None


def needs_name(quantity: Quantity, unit: str) -> bool:
    """Return whether a number with this unit is the quantity only beside its name."""
    if quantity.needs in {"", "True"}:
        return bool(quantity.needs)
    return (unit in {"mK", "uK"} or convert(1.0, unit, quantity.needs) is not None) and (
        unit not in RADII
    )
