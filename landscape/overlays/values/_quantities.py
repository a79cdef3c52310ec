"""Read numbers with errors, ranges and units, in the notations of titles and abstracts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape._io import data_file, read_yaml

if TYPE_CHECKING:
    from astropy.units import UnitBase

_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--", ", \u2009\u202f")
_DIGITS = (
    r"(?:\d{1,3} \d{3}(?= ?(?:K|km|pc|kpc|Mpc|yr|s|d|days?|h|[aA][uU]|M⊙|solar|light)\b)"
    r"|\d{1,3}(?:[,\u2009\u202f]\d{3})+(?!\d)|\d{1,9})"
    r"(?:\.\d{1,12})?(?!\d)|\.\d{1,9}(?!\d)"
)
_EXPONENT = r"(?:[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|(?:\^|\*\*)\s?\(?[-−–+]?\d{1,3}(?:\.\d{1,3})?\)?)"
_POWER = rf"\s?[×x·⋅*]\s?10{_EXPONENT}|[eE][-−+]?\d{{1,2}}(?![\w]|\.\d)"
_SIGN = "[-−–]"
_ERROR = (
    rf"\s?(?:\(?(?:±|\+/{_SIGN}|\+{_SIGN})\s?(?:{_DIGITS})%?\)?|"
    rf"[\^_]?\(?\{{?\+\s?(?:{_DIGITS})(?:{_POWER})?\}}?\s?[/,;_]?\s?_?\{{?\s?{_SIGN}\s?(?:{_DIGITS})(?:{_POWER}(?=\)))?\)?\}}?|"
    rf"_\(?\{{?{_SIGN}\s?(?:{_DIGITS})\)?\}}?\^?\(?\{{?\+\s?(?:{_DIGITS})\)?\}}?)"
    r"(?:\s?[_(]?\s?(?:stat|sys|syst|rand|random|ran|obs|model|fit|int)[.a-z]{0,10}\)?)?"
)
_NUMBER = rf"(?:10{_EXPONENT}|(?:{_DIGITS})(?:{_POWER})?)"
_ABOUT = r"(?:[∼≈~≃≅]\s?)"
_MEASURE = re.compile(
    rf"(?<![\w.,^⁻'’⊙/])(?<!\d[eE][-+])(?:\(\s?)?{_ABOUT}?(?P<sign>[-−–+])?(?P<number>{_NUMBER})"
    rf"(?P<brief>\(\d{{1,2}}\))?(?P<errors>(?:{_ERROR}){{0,3}})(?P<power>\s?\)?(?:{_POWER}))?"
)
_JOINED = re.compile(
    rf"\s?(?:–|—|-|−|\.\.\.?|…|\sto\s|\sand\s)\s?(?:(?P<symbol>[A-Za-z]\w{{0,9}})\s?[=∼~≈]\s?)?{_ABOUT}?"
    rf"(?P<sign>[-−+])?(?P<number>{_NUMBER})(?P<power>\s?\)?(?:{_POWER}))?"
)
_BETWEEN = re.compile(r"\b[Bb]etween\s[^.;]{0,24}$")
_FROM = re.compile(r"\b[Ff]rom\s[^.;\d]{0,16}$")
_EXPONENT_AFTER = re.compile(_POWER)
_LIST = re.compile(rf"(?:,\s?(?:and\s|or\s)?|\s(?:and|or)\s)(?={_ABOUT}?[-−–+]?(?:{_DIGITS}|10\^))")
_IN_LIST = re.compile(r"\((?:\d{1,6}(?:\.\d{1,6})?,\s){1,12}(?:and\s)?$")  # of "(1, 2) kpc"
_SIZE = re.compile(rf"({_DIGITS})((?:{_POWER})?)")  # of an error
_DIGITS_ONLY = re.compile(_DIGITS)
_POWER_OF_TEN = re.compile(rf"10({_EXPONENT})")
_NOT_A_NUMBER = re.compile(r"[A-Za-z]{0,9}[₀-₉]|\^|['’]s\b|(?<=\d{3}0)s\b")
_BODIES = "sun|Sun|odot|Earth|earth|Jupiter|Jup|jup|J|E"
_ATOM = re.compile(
    r"(?P<name>(?:[Ss]olar|Earth|Jupiter|Jovian|million|billion|light|astronomical)"
    r"(?:['’]s)?[\s-](?:[Mm]ass(?:es)?|[Rr]adi(?:us|i)|years?|yr|units)(?![a-z])|a\.u\.|°|[A-Za-zμµ]{1,12}"
    rf"(?:_?(?:\([⊙⊕☉♃]\)|[⊙⊕☉♃])|_\((?:{_BODIES})\)|_(?:{_BODIES}))?)"
    r"(?P<power>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\^?\s?\(?[-−–]\d\)?|\^\d)?(?P<cut>[\w\[]?)"
)
_JOINT = re.compile(r"\s?/\s?\(|\s?[/·⋅.]\s?|\s|\sper\s|(?=[A-Z])|(?<=[⁰¹²³⁴⁵⁶⁷⁸⁹])(?=[a-z])")
_COUNTS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_COUNT = re.compile(rf"\s?({'|'.join(_COUNTS)})(?=\s)")
_SYMBOL = re.compile(r"\s?[=≡≈∼≃]")  # after "h" of "0.3, h = 0.7", which is no hour
_ONLY_FIRST = frozenset({"min", "m", "K", "Rs", "ME", "RE"})  # words after another unit


_LARGEST = 1e90


class Measure(NamedTuple):
    """A number with its errors and unit.

    For a range, `value` is its middle, and `plus` and `minus` are half its width.
    """

    start: int
    end: int  # of the unit
    number_end: int
    value: float
    plus: float | None
    minus: float | None
    is_range: bool
    unit: str  # as astropy.units writes it; "" without a unit
    is_power: bool  # written as a power of ten, such as 10^9.5


@cache
def settings() -> dict[str, Any]:
    """Return the quantities, names of units, and patterns of ``data/quantities.yaml``."""
    return dict(read_yaml(data_file("quantities.yaml")))


@cache
def _unit_names() -> Mapping[str, str]:
    names = {one: one for one in settings()["known"].split()}
    for unit, written in settings()["units"].items():
        names |= {one.replace("~", " "): unit for one in str(written).split()}
    return names


@lru_cache(maxsize=50_000)
def parse_unit(text: str) -> UnitBase | None:
    """Return the unit that a text names, or None.

    >>> parse_unit("km / (Mpc s)").physical_type
    PhysicalType('frequency')
    """
    from astropy import units

    try:
        return units.Unit(text)
    except ValueError:
        return None


def unit_text(unit: str) -> str:
    """Return a unit as in print.

    >>> unit_text("km / (Mpc s)"), unit_text("solMass"), unit_text("")
    ('km Mpc⁻¹ s⁻¹', 'M⊙', '')
    """
    known = parse_unit(unit) if unit else None
    return str(known.to_string("unicode")).replace("☉", "⊙") if known else unit


def convert(value: float, unit: str, other: str) -> float | None:
    """Return a value in another unit, or None if the units are of different quantities.

    >>> convert(1.0, "kpc", "pc")
    1000.0
    """
    if unit == other:
        return value
    one, wanted = parse_unit(unit), parse_unit(other)
    if other.startswith("dex") and not unit.startswith("dex"):
        return None
    if one is None or wanted is None or not one.is_equivalent(wanted):
        return None
    with np.errstate(all="ignore"):
        converted = float(one.to(wanted, value))
    return converted if math.isfinite(converted) else None


def find_measures(text: str) -> Iterator[Measure]:
    """Yield the numbers of a sentence. A list such as "1, 2 and 3 kpc" has one unit."""
    found: list[Measure] = []
    place = 0
    while match := _MEASURE.search(text, place):
        measure = _read(text, match)
        place = measure.end if measure else match.end("number")
        if measure is None:
            continue
        found.append(measure)
        if measure.unit or not _LIST.match(text, measure.end):
            yield from _with_shared_unit(text, found)
            found = []
    yield from found


def _with_shared_unit(text: str, found: list[Measure]) -> Iterator[Measure]:
    """Yield the numbers of a list with the unit and the power of ten of the last one."""
    *others, last = found
    power = _EXPONENT_AFTER.search(text, last.start, last.number_end)
    for one in others:
        has_power = one.is_range or re.search("[×^eE⁰-⁹]", text[one.start : one.number_end])
        scale = 10.0 ** _exponent(power[0]) if power and not one.unit and not has_power else 1.0
        plus, minus = (None if size is None else size * scale for size in (one.plus, one.minus))
        unit = one.unit or last.unit
        yield one._replace(value=one.value * scale, plus=plus, minus=minus, unit=unit)
    yield last


def _read(text: str, match: re.Match[str]) -> Measure | None:
    """Read a number with its errors, the end of its range, and its unit."""
    if _NOT_A_NUMBER.match(text, match.end()):
        return None
    written, power = match["number"], match["power"] or ""
    # In "6.5 × 10⁹ ± 0.7 × 10⁹", the last power is that of the error alone.
    is_of_error = _exponent(written) != 0 or _is_of_error(written, _exponent(power))
    value = _number(written) * (1.0 if is_of_error else 10.0 ** _exponent(power))
    start = match.start("sign") if match["sign"] else match.start("number")
    if match["sign"] and match["sign"] != "+":
        if text[start - 1 : start].isalnum() or text[start - 1 : start] in ")⊙":  # a hyphen
            start = match.start("number")
        else:
            value = -value
    end = match.end()
    is_power = _POWER_OF_TEN.fullmatch(written) is not None
    # The errors of "5.0 ± 0.2 × 10⁹" have the power of the value.
    scale = 10.0 ** (_exponent(power) or (0.0 if is_power else _exponent(written)))
    errors = _errors(match["errors"], value, scale)
    if match["brief"]:  # "1.337(2)": the error of the last digits
        decimals = len(written.partition(".")[2])
        if not decimals:
            return None
        errors = [(int(match["brief"][1:-1]) * scale * 10.0**-decimals,) * 2]
    if text[end : end + 1] == ")" and (errors or _IN_LIST.search(text, max(0, start - 200), start)):
        end += 1
    unit, unit_end = _unit(text, end)
    if not unit and (count := _COUNT.match(text, end)) and _unit(text, count.end())[0]:
        factor = 10.0 ** _COUNTS[count[1]]  # of "4.3 ± 0.2 million solar masses"
        value, errors = value * factor, [(one * factor, other * factor) for one, other in errors]
        end = count.end()
        unit, unit_end = _unit(text, end)
    if text[start - 1 : start] == "(" and text.count(")", start, end) > text.count("(", start, end):
        start -= 1  # "(2.2 ± 0.3) × 10⁶"
    high = None if errors else _end_of_range(text, start, value, written, unit, end, unit_end)
    if high is not None:
        return high
    # Independent errors, such as statistical and systematic ones, are added in quadrature.
    plus, minus = (
        (math.hypot(*side) for side in zip(*errors, strict=True)) if errors else (None, None)
    )
    if max(abs(value), plus or 0.0, minus or 0.0) > _LARGEST:
        return None
    return Measure(start, unit_end, end, value, plus, minus, False, unit, is_power)


def _is_of_error(written: str, exponent: float) -> bool:
    """Return whether a power belongs to the error alone, as in "0.94145252 ± 1.1 × 10⁻⁸"."""
    return exponent < -2 and len(written.partition(".")[2]) >= -exponent - 1


def _end_of_range(
    text: str, start: int, low: float, written: str, unit: str, end: int, unit_end: int
) -> Measure | None:
    """Return the range of "1-2 kpc", "from 1 kpc to 2 kpc" or "between 1 and 2", or None."""
    joined = _JOINED.match(text, end) or (_JOINED.match(text, unit_end) if unit else None)
    is_other = (
        joined and joined["symbol"] and joined["symbol"] not in text[max(0, start - 16) : start]
    )
    if (
        joined is None
        or is_other
        or (" and " in joined[0] and not _BETWEEN.search(text, max(0, start - 40), start))
    ):
        return None
    high = _number(joined["number"]) * 10.0 ** _exponent(joined["power"] or "")
    power = _exponent(joined["power"] or joined["number"])
    has_mantissa = not _POWER_OF_TEN.fullmatch(joined["number"]) or joined["power"]
    if power and has_mantissa and not unit and not re.search("[×^eE⁰-⁹]", written):
        low *= 10.0**power  # "3.3-3.7×10⁻³", "(1-6) × 10⁵", "from 2 to 4 × 10⁶"
    if _JOINED.match(text, joined.end()):
        return None  # "from z∼0.5 to z∼1-1.5"
    if joined["sign"] in {"-", "−"}:
        high = -high
    other, last = _unit(text, joined.end())
    if unit and unit != other:
        converted = convert(low, unit, other)
        if converted is None:
            return None
        low = converted
    if high < low and " to " in joined[0] and _FROM.search(text, max(0, start - 40), start):
        low, high = high, low  # "from z = 2 to z = 0"
    if high <= low:
        return None
    half = (high - low) / 2
    return Measure(start, last, joined.end(), low + half, half, half, True, other, False)


def _number(text: str) -> float:
    """Return a number such as "1,200", "4.3×10⁶", "10^8.5" or "1e-5"."""
    power = _POWER_OF_TEN.fullmatch(text)
    if power:
        return 10.0 ** _exponent(text)
    digits = _DIGITS_ONLY.match(text + " K")
    size = digits.end() if digits else 0
    return float(text[:size].translate(_PLAIN_DIGITS)) * 10.0 ** _exponent(text[size:])


def _exponent(text: str) -> float:
    """Return the exponent of "×10⁶", "10^-3" or "e-5"; 0 if there is none."""
    found = re.search(rf"10({_EXPONENT})|[eE]([-−+]?\d+)$", text)
    if found is None:
        return 0.0
    digits = (found[1] or found[2]).translate(_PLAIN_DIGITS).strip("^*() ")
    return min(max(float(digits), -99.0), 99.0)


def _errors(text: str, value: float, scale: float) -> list[tuple[float, float]]:
    """Return pairs of errors above and below; those without a power have that of the value."""
    errors = []
    for found in re.finditer(_ERROR, text):
        unit = abs(value) / 100 if "%" in found[0] else scale
        sizes = [
            float(digits.translate(_PLAIN_DIGITS)) * (10.0 ** _exponent(power) if power else unit)
            for digits, power in _SIZE.findall(found[0])
        ]
        if re.search(rf"{_SIGN}[^+]*\+\s?\d", found[0]):  # the lower error comes first
            sizes.reverse()
        errors.append((sizes[0], sizes[-1]))
    return errors


def _unit(text: str, place: int) -> tuple[str, int]:
    """Return the unit at a place as astropy.units writes it, and its end."""
    gap = re.compile(r"[\s\u00a0~,]{0,2}(?:-(?=[A-Za-z]))?").match(text, place)
    start, end, sign = (gap.end() if gap else place), place, ""
    parts: list[str] = []
    is_inside = False
    while len(parts) < 5 and (atom := _ATOM.match(text, start)):
        written = re.sub(r"(?:['’]s)?[\s-]", " ", atom["name"])
        name = _unit_names().get(written)
        power = (atom["power"] or "").translate(_PLAIN_DIGITS).strip("^() ")
        if name is None or atom["name"] == "a" or (atom["cut"] and not power):
            break
        if _SYMBOL.match(text, atom.end()):
            break
        if parts and not power and atom["name"] in _ONLY_FIRST:
            break
        parts.append(f"{name}({sign}{power or 1})")
        end = atom.start("cut")
        joint = _JOINT.match(text, end)
        if joint is None:
            break
        is_inside = is_inside or "(" in joint[0]  # of "km/(Mpc s)"
        sign = "-" if is_inside or "/" in joint[0] or "per" in joint[0] else ""
        start = joint.end()
    if is_inside and text[end : end + 1] == ")":
        end += 1
    if len(parts) > 1 and any(re.match(r"(?:sol|earth)Mass|[kM]?pc", part) for part in parts):
        # The little h of distances and masses is omitted; it is no hour.
        parts = [part for part in parts if not part.startswith("h(")]
    unit = parse_unit(" ".join(parts)) if parts else None
    return (unit.to_string(), end) if unit is not None else ("", place)


def unit_of(text: str) -> str:
    """Return the unit at the start of a text as astropy.units writes it.

    >>> unit_of("M⊙ yr⁻¹ of gas")
    'solMass / yr'
    """
    return _unit(text, 0)[0]
