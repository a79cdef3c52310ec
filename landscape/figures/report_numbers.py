"""The key numbers of a report: each with its interval and what it is a part of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from landscape.figures.chart_page import SMALL

if TYPE_CHECKING:
    from landscape.figures.chart_page import Box, ChartPage

_A_ROW = 4
_BIG, _TILE = 16.0, 56.0  # font size of a number; height of a tile
_NOT_KNOWN = "–"


@dataclass(frozen=True)
class Number:
    """One number as it is printed.

    Attributes
    ----------
    value : str
    interval : str
        95% interval, or empty.
    meaning : str
        With the denominator.
    """

    value: str
    interval: str
    meaning: str

    @property
    def in_words(self) -> str:
        """The number in one phrase."""
        within = f" ({self.interval})" if self.interval else ""
        return f"{self.meaning}: {self.value}{within}"


def key_numbers(row: Mapping[str, Any]) -> list[Number]:
    """Choose and word the key numbers of an impact table's row.

    Parameters
    ----------
    row : mapping of str to Any
        A row of `landscape.overlays.impact`.

    Returns
    -------
    list of Number

    Examples
    --------
    >>> row = {"papers": 30, "corpus_papers": 1000, "share": 0.03, "share_low": 0.02}
    >>> row |= {"share_high": 0.04, "core_regions": 2, "local_corpus": 200, "regions": 5}
    >>> for number in key_numbers(row)[:2]:
    ...     print(number.in_words)
    papers of 1,000: 30
    of all papers: 3.0% (2.0% to 4.0%)
    """
    regions = f"{_whole(row, 'core_regions')} regions where it works"
    first_light = str(row.get("first_light", ""))[:4]
    return [
        Number(_whole(row, "papers"), "", f"papers of {_whole(row, 'corpus_papers')}"),
        _number(row, "share", _percent, "of all papers"),
        _number(
            row, "local_share", _percent,
            f"of {_whole(row, 'local_corpus')} papers in the {regions}",
        ),
        _rise(row, first_light),
        _number(
            row, "citations_share", _percent,
            f"of all citations ({_whole(row, 'cited_papers')} of its papers known)",
        ),
        _number(
            row, "effective_regions", _decimal,
            f"regions, effectively (papers in {_whole(row, 'regions')})",
        ),
        _number(
            row, "outside_home", _percent,
            f"outside its home fields, of {_whole(row, 'fields_known')} papers",
        ),
        _number(row, "bridging", _times, "regions reached by a paper, against others there"),
    ]  # fmt: skip


def write_numbers(page: ChartPage, box: Box, numbers: list[Number]) -> float:
    """Write numbers as tiles, four a row, and return where they end, in points."""
    left, _, right, top = box
    scale = page.scale
    pitch = (right - left) / _A_ROW
    for place, number in enumerate(numbers):
        row, column = divmod(place, _A_ROW)
        x, y = left + column * pitch, top - row * _TILE * scale - _BIG * scale
        page.write(number.value, x, y, size=_BIG, weight="bold", gid="number")
        beside = x + page.setter.extent(number.value, size=_BIG, weight="bold").width + 4 * scale
        room = pitch - (beside - x) - 6 * scale
        interval = page.shortened(number.interval, width=room, size=SMALL)
        page.write(interval, beside, y, size=SMALL, colour=page.colours.faint, gid="interval")
        lines = page.setter.wrapped(
            number.meaning, size=7.5, weight="normal", width=pitch - 8 * scale
        )
        for line_number, line in enumerate(lines[:2]):
            page.write(
                line, x, y - (10 + 9 * line_number) * scale, size=7.5, colour=page.colours.faint,
                gid="meaning",
            )  # fmt: skip
    return top - math.ceil(len(numbers) / _A_ROW) * _TILE * scale


def _number(
    row: Mapping[str, Any], name: str, written: Callable[[float], str], meaning: str
) -> Number:
    value, low, high = (_float(row.get(f"{name}{end}")) for end in ("", "_low", "_high"))
    if not math.isfinite(value):
        return Number(_NOT_KNOWN, "not known", meaning)
    bounded = math.isfinite(low) and math.isfinite(high)
    return Number(written(value), f"{written(low)} to {written(high)}" if bounded else "", meaning)


def _rise(row: Mapping[str, Any], first_light: str) -> Number:
    """How the share rose since first light, unless the corpus itself changed meanwhile."""
    if not row.get("rise_comparable", True):
        meaning = f"rise since first light, {first_light}: the corpus itself changed meanwhile"
        return Number(_NOT_KNOWN, "not told", meaning)
    return _number(row, "rise", _points, f"in that share since first light, {first_light}")


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _whole(row: Mapping[str, Any], name: str) -> str:
    value = _float(row.get(name))
    return f"{value:,.0f}" if math.isfinite(value) else _NOT_KNOWN


def _percent(value: float) -> str:
    return f"{value:.0%}" if abs(value) >= 0.1 else f"{value:.1%}"


def _points(value: float) -> str:
    return f"{100 * value:+.1f} pts"


def _decimal(value: float) -> str:
    return f"{value:.1f}"


def _times(value: float) -> str:
    return f"×{value:.2f}"
