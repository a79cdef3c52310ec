"""Find statements of values: quantity, object, value, errors, unit, and whose value it is."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from operator import attrgetter
from typing import NamedTuple

from landscape.corpus.cleaning import clean_text
from landscape.corpus.objects import ObjectMention, find_objects
from landscape.overlays.values._names import (
    OF_THE_UNIVERSE,
    PATTERNS,
    RADII,
    Quantity,
    fitting_unit,
    needs_name,
    quantities,
)
from landscape.overlays.values._quantities import Measure, convert, find_measures, settings, unit_of
from landscape.text import split_sentences

_STATUSES = {name: re.compile(pattern) for name, pattern in settings()["status"].items()}
_NOT_OWNERS = frozenset({"Sun", "Earth", "Solar System"})
_CONTAINERS = frozenset({  # kinds whose parts have values of their own
    "galaxy", "galaxy cluster", "galaxy group", "globular cluster", "open cluster", "star cluster",
    "stellar association", "nebula", "cloud", "supercluster", "planetary system", "planet",
    "black hole", "supernova remnant",
})  # fmt: skip
_LENGTHS = frozenset({"AU", "pc", "kpc", "Mpc", "Gpc", "lyr"})
_TIMES = frozenset({"Myr", "Gyr"})
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NAN = float("nan")
_FARTHEST = 180  # characters to a name, with the name
_WIDTH = 400  # characters around a number whose words show what it is
_WITHOUT_NAME = 200.0  # more characters than to any name of a quantity


class ValueStatement(NamedTuple):
    """Statement of a value in a text.

    Attributes
    ----------
    quantity : str
        One of "H0", "S8", "sigma8", "Omega_m", "neutrino mass", "redshift", "mass", "radius",
        "period", "distance", "age", "temperature", "metallicity" and "rate".
    object : str
        Normal form of the name of the object, or "".
    value, plus, minus : float
        The value in `unit` and its errors; NaN where there is none. For a range, the value is
        the middle, and the errors are half the width. Systematic errors are added in quadrature.
    unit : str
        Unit as `astropy.units` writes it, such as "km / (Mpc s)"; "" for pure numbers. The unit
        of a logarithm is "dex(solMass)".
    own : bool
        Whether the text reports the value as its own measurement.
    start, end : int
        Position of the value with its unit.
    limit : {"", "upper", "lower", "range"}
        Whether the value is a limit or a range.
    status : {"measured", "forecast", "assumed", "simulated", "cited", "compared", "sample"}
        What the statement is. "sample" is a property by which objects are selected or grouped.
    what : str
        The words or the symbol of the quantity, such as "orbital period".
    """

    quantity: str
    object: str
    value: float
    plus: float
    minus: float
    unit: str
    own: bool
    start: int
    end: int
    limit: str
    status: str
    what: str


class _Cue(NamedTuple):
    """A name or a symbol of a quantity in a sentence."""

    start: int
    end: int
    quantity: str
    is_symbol: bool


def find_values(
    text: str, *, objects: Sequence[ObjectMention] | None = None, plausible: bool = True
) -> list[ValueStatement]:
    r"""Find the statements of values in a text.

    Parameters
    ----------
    text : str
        A title, an abstract or another text, with or without LaTeX.
    objects : sequence of ObjectMention, optional
        Objects of a text without LaTeX, if they are already known.
    plausible : bool, default True
        Only values that the quantity can have, such as 20 to 500 km/s/Mpc for H0.

    Returns
    -------
    list of ValueStatement
        Statements in the order of the text.

    Examples
    --------
    >>> text = r"We measure $H_0 = 73.0 \pm 1.0$ km/s/Mpc; K2-18 b has a mass of 8.6 Earth masses."
    >>> [(one.quantity, one.object, one.value, one.plus, one.unit) for one in find_values(text)]
    [('H0', '', 73.0, 1.0, 'km / (Mpc s)'), ('mass', 'K2-18 b', 8.6, nan, 'earthMass')]
    """
    plain = clean_text(text) if "\\" in text or "$" in text else text
    has_latex = plain != text
    if not any(map(str.isdigit, plain)):
        return []
    known = find_objects(plain) if objects is None or has_latex else objects
    # Objects of which a text can speak later as "its mass"; not "discs in Upper Sco".
    subjects = {
        one.name
        for one in known
        if not PATTERNS["aside"].search(plain, max(0, one.start - 20), one.start)
    }
    found = [
        one._replace(start=one.start + start, end=one.end + start)
        for start, end in split_sentences(plain)
        if any(map(str.isdigit, plain[start:end]))
        for one in _Sentence(plain[start:end], start, known, subjects, plausible).statements()
    ]
    if has_latex:
        starts, ends = _aligned(text, plain)
        found = [one._replace(start=starts[one.start], end=ends[one.end - 1]) for one in found]
    return found


def _aligned(text: str, plain: str) -> tuple[list[int], list[int]]:
    """Return the start and end in a text with LaTeX of each character of its plain form."""
    starts, ends = list[int](), list[int]()
    one, other = (_TOKEN.findall(written) for written in (text, plain))
    places = [0, *accumulate(map(len, one))]
    for kind, start, end, first, last in SequenceMatcher(None, one, other).get_opcodes():
        size = sum(map(len, other[first:last]))
        begin, stop = places[start], places[end]
        is_same = kind == "equal"
        starts += [begin + k if is_same else begin for k in range(size)]
        ends += [begin + k + 1 if is_same else stop for k in range(size)]
    return starts, ends


class _Sentence:
    """A sentence with its objects and the names of quantities in it."""

    def __init__(
        self,
        sentence: str,
        offset: int,
        objects: Sequence[ObjectMention],
        subjects: Set[str],
        plausible: bool,
    ) -> None:
        self.plausible = plausible
        # "S₈ ≡ σ₈ (Ω_m/0.3)^0.5 = 0.8" is read as "S₈ = 0.8".
        self.text = PATTERNS["definition"].sub(lambda match: " " * len(match[0]), sentence)
        inside = [one for one in objects if offset <= one.start < offset + len(sentence)]
        self.objects = [
            one._replace(start=one.start - offset, end=one.end - offset)
            for one in inside
            if one.kind not in {"field", "region"} and one.name not in _NOT_OWNERS
        ]
        self.earlier = {
            one.name for one in objects
            if one.start < offset and one.kind not in {"field", "region"}
        } - _NOT_OWNERS - {"Milky Way"}  # fmt: skip
        self.subjects = subjects
        self.names = bytearray(len(sentence))
        for one in inside:
            self.names[one.start - offset : one.end - offset] = b"1" * (one.end - one.start)
        self.cues = sorted(
            _Cue(*match.span(), name, is_symbol)
            for name, quantity in quantities().items()
            for is_symbol, pattern in ((True, quantity.symbol), (False, quantity.words))
            for match in pattern.finditer(self.text)
            if not self.names[match.start()]
            and not PATTERNS["no_cue"].match(self.text, match.end())
            and not PATTERNS["not_cue"].search(self.text, max(0, match.start() - 16), match.start())
        )
        own = PATTERNS["own"].search(self.text)
        self.own_end = own.end() if own else math.inf
        clauses = [match.span() for match in PATTERNS["clause"].finditer(self.text)]
        self.clause_starts = [0, *(end for _, end in clauses)]
        self.clause_ends = [*(start for start, _ in clauses), len(self.text)]

    def statements(self) -> Iterator[ValueStatement]:
        """Yield the statements. Values with "respectively" are those of objects in their order."""
        found = [*self._statements()]
        if "respectively" not in self.text:
            yield from found
            return
        for quantity, group in groupby(found, key=attrgetter("quantity")):
            values = [*group]
            before = [one for one in self.objects if one.end <= values[0].start]
            names = [one.name for one in before][-len(values) :]
            is_list = 1 < len(values) == len(set(names)) and quantity not in OF_THE_UNIVERSE
            pairs = zip(values, names if is_list else (one.object for one in values), strict=True)
            yield from (one._replace(object=name) for one, name in pairs)

    def _statements(self) -> Iterator[ValueStatement]:
        last: ValueStatement | None = None
        previous: Measure | None = None
        for measure in find_measures(self.text):
            # The lower end of "1 < z < 2" belongs to the statement of the upper end.
            if self.names[measure.start] or PATTERNS["low"].match(self.text, measure.end):
                continue
            match = self._quantity(measure)
            if match is None and last and previous and self._continues(previous, measure):
                unit = fitting_unit(quantities()[last.quantity], measure)
                match = None if unit is None else (last.quantity, last.what, unit)
            previous, last = measure, match and self._statement(measure, *match)
            if last:
                yield last

    def _statement(self, measure: Measure, quantity: str, what: str, unit: str) -> ValueStatement:
        low = self._lower_end(measure)
        if low is not None:
            lower = convert(low.value, low.unit, unit) if low.unit and unit else None
            low = low._replace(value=low.value if lower is None else lower)
            half = abs(measure.value - low.value) / 2  # "10 < z < 6" is a range too
            measure = measure._replace(
                value=(low.value + measure.value) / 2,
                plus=half,
                minus=half,
                is_range=True,
                is_power=False,
            )
        limit, status = self._limit(measure), self._status(measure, quantity)
        has_errors = measure.plus is not None and not (measure.is_power and limit == "")
        return ValueStatement(
            quantity, self._object(quantity, measure), measure.value,
            (measure.plus or 0.0) if has_errors else _NAN,
            (measure.minus or 0.0) if has_errors else _NAN,
            unit, status == "measured", measure.start, measure.end, limit, status, what,
        )  # fmt: skip

    def _quantity(self, measure: Measure) -> tuple[str, str, str] | None:
        """Return the quantity of a number, what names it, and its unit."""
        text, start, end = self.text, measure.start, measure.end
        if PATTERNS["change_before"].search(text, max(0, start - 60), start):
            is_place = measure.unit in _LENGTHS and self._before("place", measure)
            return ("distance", "", measure.unit) if is_place else None
        if PATTERNS["change_after"].match(text, end):
            is_age = text.startswith(" ago", end) and PATTERNS["formed_before"].search(
                text, max(0, start - 80), start
            )
            return ("age", "", measure.unit) if is_age and measure.unit in _TIMES else None
        cue, log = self._direct(measure)
        near = text[max(0, start - 40) : end + 12]
        known = {name: one for name, one in quantities().items() if not one.excluded.search(near)}
        if cue and cue.quantity in known:
            unit = log or fitting_unit(known[cue.quantity], measure, plausible=self.plausible)
            if unit is not None:
                what = text[cue.start : cue.end]
                is_place = what in {"r", "R"} and bool(
                    PATTERNS["place"].search(text, max(0, cue.start - 80), cue.start)
                )
                return "distance" if is_place else cue.quantity, what, unit
        if not measure.unit:
            metals = None if cue else PATTERNS["solar_metals"].match(text, end)
            is_metal = metals and ("Z" in metals[0] or "etal" in text)
            return ("metallicity", metals[0].strip(), "") if metals and is_metal else None
        ranked = [*self._ranked(measure, known)]
        if ranked:
            return (*min(ranked)[1:], measure.unit)
        has_errors = measure.plus is not None and not measure.is_range
        if measure.unit in _LENGTHS and (
            self._before("place", measure)
            or self._before("of_nearest", measure)
            or self._follows_object(measure)
        ):
            return "distance", "", measure.unit
        is_age = self._before("age_in_parentheses", measure) or (
            has_errors and not self._before("no_age", measure)
        )
        return ("age", "", measure.unit) if is_age and measure.unit in _TIMES else None

    def _ranked(
        self, measure: Measure, known: Mapping[str, Quantity]
    ) -> Iterator[tuple[float, str, str]]:
        """Yield the quantities that fit a unit, with the distance and the text of their names."""
        for name, quantity in known.items():
            if fitting_unit(quantity, measure) is None or measure.unit.startswith("dex"):
                continue  # dex without a symbol is a difference
            if nearest := self._nearest(measure, name):
                yield nearest[0], name, nearest[1]
            elif measure.unit in RADII and self._before("placed", measure):
                yield _WITHOUT_NAME, "distance", ""
            elif not needs_name(quantity, measure.unit):
                yield _WITHOUT_NAME, name, ""

    def _follows_object(self, measure: Measure) -> bool:
        """Return whether a length is in parentheses after an object, as in "NGC 55 (2.1 Mpc)"."""
        bracket = PATTERNS["in_parentheses"]
        return measure.unit != "AU" and any(
            bracket.fullmatch(self.text, one.end, measure.start) for one in self.objects
        )

    def _direct(self, measure: Measure) -> tuple[_Cue | None, str]:
        """Return the symbol or name just before a number, and the unit of its logarithm."""
        found: list[tuple[int, int, _Cue, str]] = []
        for cue in self._near(measure):
            between, log = self._between(cue, measure), ""
            if cue.end > measure.start or len(between) > 60:
                continue
            is_log = cue.is_symbol and cue.quantity not in {"metallicity", "period", "distance"}
            if is_log and PATTERNS["log"].search(self.text, max(0, cue.start - 12), cue.start):
                inside = PATTERNS["log_unit"].match(between)
                unit = unit_of(inside[1]) if inside else quantities()[cue.quantity].units[0]
                between = between[inside.end() :] if inside else between.lstrip(") ]")
                log = f"dex({unit or '1'})"
            if not PATTERNS["between"].fullmatch(between):
                continue
            if not cue.is_symbol or PATTERNS["equals"].search(between):
                found.append((cue.end, -cue.start, cue, log))
        return max(found)[2:] if found else (None, "")

    def _nearest(self, measure: Measure, quantity: str) -> tuple[float, str] | None:
        """Return the distance in characters and the text of the nearest name of a quantity."""
        found: list[tuple[float, str]] = []
        if quantity == "period" and PATTERNS["duration"].search(
            self.text, max(0, measure.start - 30), measure.start
        ):
            return None  # "over a 10-year period"
        farthest = 70 if quantities()[quantity].needs else 120
        for cue in self._near(measure):
            if cue.quantity != quantity:
                continue
            what = self.text[cue.start : cue.end].strip(" -")
            if cue.end <= measure.start:
                between = self.text[cue.end : measure.start]
                is_near = not cue.is_symbol or PATTERNS["equals_soon"].match(between)
                if is_near and len(between) <= farthest:
                    is_other = PATTERNS["clause"].search(between) is not None
                    found.append((len(between) + 60.0 * is_other, what))
            elif cue.start >= measure.end and not cue.is_symbol:
                between = self.text[measure.end : cue.start]
                if len(between) <= 28 and not PATTERNS["interrupted"].search(between):
                    found.append((len(between) * (1.0 if len(between) < 4 else 3.0), what))
        return min(found, default=None)

    def _between(self, cue: _Cue, measure: Measure) -> str:
        """Return the text between a name and a number, without "of" and an object."""
        for one in self.objects:
            if cue.end < one.start and one.end <= measure.start:
                link = self.text[cue.end : one.start]
                if PATTERNS["of_object"].fullmatch(link):
                    return self.text[one.end : measure.start]
        return self.text[cue.end : measure.start]

    def _near(self, measure: Measure) -> list[_Cue]:
        """Return the names and symbols within the largest distance from a number."""
        first = bisect_left(self.cues, measure.start - _FARTHEST, key=attrgetter("start"))
        last = bisect_right(self.cues, measure.end + _FARTHEST, key=attrgetter("start"))
        return self.cues[first:last]

    def _before(self, pattern: str, measure: Measure) -> bool:
        """Return whether the text just before a number fits a pattern."""
        start = measure.start
        return PATTERNS[pattern].search(self.text, max(0, start - 80), start) is not None

    def _continues(self, previous: Measure, measure: Measure) -> bool:
        """Return whether a number continues the list of the number before it."""
        between = self.text[previous.end : measure.start]
        is_list = PATTERNS["continued"].fullmatch(between) and previous.unit == measure.unit
        has_errors = measure.plus is not None
        is_alike = bool(measure.unit) or has_errors or previous.plus is None
        return bool(is_list and is_alike) and (
            has_errors or not PATTERNS["counted"].match(self.text, measure.end)
        )

    def _limit(self, measure: Measure) -> str:
        if measure.is_range:
            return "range"
        found = PATTERNS["comparison"].search(self.text, max(0, measure.start - 60), measure.start)
        return "" if found is None else "upper" if found["upper"] else "lower"

    def _lower_end(self, measure: Measure) -> Measure | None:
        """Return the lower number of a range written as "1 < z < 2"."""
        near = self.text[max(0, measure.start - 48) : measure.start]
        if not PATTERNS["sandwich"].search(near, max(0, len(near) - 4)):
            return None
        between = PATTERNS["symbol_between"]
        return next(
            (one for one in find_measures(near) if between.fullmatch(near, one.number_end)), None
        )

    def _status(self, measure: Measure, quantity: str) -> str:
        """Return what a statement is, from the words of its clause."""
        text, own = self.text, PATTERNS["own"]
        start = self.clause_starts[bisect_right(self.clause_starts, measure.start) - 1]
        start = max(start, measure.start - _WIDTH)
        end = self.clause_ends[bisect_left(self.clause_ends, measure.end)]
        clause = text[start : min(end, measure.end + _WIDTH)]
        before = text[start : measure.start]
        near = before[-70:]
        has_errors = measure.plus is not None and not measure.is_range
        is_own = self.own_end <= measure.start + 1
        assumed = max((one.end() for one in _STATUSES["assumed"].finditer(near)), default=-1)
        if _STATUSES["forecast"].search(clause):
            return "forecast"
        if assumed >= 0 and not (has_errors and own.search(near, assumed)):
            return "assumed"
        for name in ("cited", "compared"):
            if _STATUSES[name].search(near):
                return name
        if _STATUSES["cited"].search(clause) and not (has_errors and is_own):
            return "cited"
        if has_errors:
            return "simulated" if PATTERNS["mock"].search(clause) else "measured"
        if _STATUSES["simulated"].search(clause) and not (self.objects and is_own):
            return "simulated"
        return "measured" if self._is_measured(measure, quantity, before, is_own) else "sample"

    def _is_measured(self, measure: Measure, quantity: str, before: str, is_own: bool) -> bool:
        """Return whether a value without errors is a result, not a property of a sample."""
        if not is_own or before.count("(") > before.count(")"):
            return False  # "We observe TRAPPIST-1 e (0.69 M⊕)"
        if quantity == "redshift":
            return bool(self.objects and PATTERNS["redshift_own"].search(self.text))
        if PATTERNS["has"].search(before):
            return True
        is_class = PATTERNS["class_before"].search(before) or PATTERNS["class_after"].match(
            self.text, measure.end
        )
        is_selected = PATTERNS["condition"].search(before) or "sample" in before
        return not (is_class or is_selected or _STATUSES["sample"].search(before[-60:]))

    def _object(self, quantity: str, measure: Measure) -> str:
        """Return the nearest object before a value, or the only one of the text before."""
        if quantity in OF_THE_UNIVERSE:
            return ""
        before = [one for one in self.objects if one.start <= measure.start]
        if self.objects:
            nearest = (before[-1:] or self.objects)[0]
            is_container = nearest.kind in _CONTAINERS and nearest.name[-2:-1] != " "
            if is_container and not self._is_of(nearest, measure):
                return ""  # of a star or a cloud in the galaxy
            of_host = nearest.kind == "planet" and (
                self._before("orbited_star", measure)
                or PATTERNS["host_of"].search(self.text, max(0, nearest.start - 24), nearest.start)
            )
            return nearest.name[:-2] if of_host else nearest.name
        is_reference = (
            len(self.earlier) == 1
            and self.earlier <= self.subjects
            and PATTERNS["reference"].search(self.text)
        )
        return next(iter(self.earlier)) if is_reference else ""

    def _is_of(self, one: ObjectMention, measure: Measure) -> bool:
        """Return whether the text links an object with a value, as in "the mass of M31 is"."""
        text = self.text
        if one.start > measure.start:
            return PATTERNS["of_object"].fullmatch(text, measure.end, one.start) is not None
        between = text[one.end : measure.start]
        inside = PATTERNS["inside_of"].search(text, max(0, one.start - 16), one.start)
        if not inside and len(between) < 60 and PATTERNS["object_has"].match(between):
            return True
        return any(
            PATTERNS["of_object"].fullmatch(text, cue.end, one.start)
            for cue in self._near(measure)
            if cue.end <= one.start
        )
