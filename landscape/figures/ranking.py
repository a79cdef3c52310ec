"""A ranked table beside a map: typeset in points, shortened to its column, never overfull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from landscape.figures.names import clean_name

if TYPE_CHECKING:
    from landscape.figures.page import Page
    from landscape.figures.typesetting import Typesetter

_TITLE, _HEAD, _ROW = 9.0, 7.0, 7.6  # font sizes
_LEADING, _BETWEEN = 1.18, 3.4  # lines of a name, in font sizes; rows apart, in points
_GUTTER, _SWATCH = 7.0, 15.0
_NARROWEST_NAME = 62.0
_LINES = 2


@dataclass(frozen=True)
class Row:
    """One line of a ranked table.

    Attributes
    ----------
    name : str
        May take two lines.
    numbers : tuple of str
        One for each heading but the first.
    style : mapping of str to Any or None
        How matplotlib draws the sample of a line before the name.
    mark : str
        A number or letter before the name, as it stands on the map.
    """

    name: str
    numbers: tuple[str, ...]
    style: Mapping[str, Any] | None = None
    mark: str = ""


@dataclass(frozen=True)
class Ranking:
    """A ranked table.

    Attributes
    ----------
    title : str
    headings : tuple of str
        The first is that of the names; lines of a heading are separated by newlines.
    rows : sequence of Row
        The best first.
    """

    title: str
    headings: tuple[str, ...]
    rows: Sequence[Row]


def write_ranking(page: Page, ranking: Ranking, box: tuple[float, float, float, float]) -> int:
    """Write a ranked table into a box of the page, from the top down, as far as there is room.

    Columns of numbers that leave the names too little room are left away, the last first.

    Parameters
    ----------
    page : Page
    ranking : Ranking
    box : (float, float, float, float)
        ``left, bottom, right, top`` in points.

    Returns
    -------
    int
        Rows written.
    """
    setter, scale = page.setter, page.scale
    left, bottom, right, top = box
    y = top
    for line in setter.wrapped(
        clean_name(ranking.title, most=160), size=_TITLE, weight="bold", width=right - left
    ):
        y -= _TITLE * _LEADING * scale
        _write(setter, line, left, y, size=_TITLE, weight="bold", align="left")
    indent = _indent(setter, ranking.rows)
    edges = _columns(setter, ranking, width=right - left - indent)
    ends = [right - (sum(edges[i + 1 :]) + _GUTTER * scale * len(edges[i + 1 :]))
            for i in range(len(edges))]  # fmt: skip
    name_width = right - left - indent - sum(edges) - _GUTTER * scale * len(edges)
    y = _write_headings(page, ranking.headings, (left + indent, y), ends)
    for written, row in enumerate(ranking.rows):
        lines = _name_lines(setter, row.name, width=name_width)
        height = _ROW * scale * (1 + _LEADING * (len(lines) - 1)) + _BETWEEN * scale
        if y - height < bottom:
            return written
        _write_row(page, row, lines, (left, y - _ROW * scale), indent=indent, ends=ends)
        y -= height
    return len(ranking.rows)


def _indent(setter: Typesetter, rows: Sequence[Row]) -> float:
    """Room for line samples or marks before the names."""
    if any(row.style for row in rows):
        return (_SWATCH + 5) * setter.scale
    marks = [setter.extent(row.mark, size=_ROW, weight="bold").width for row in rows if row.mark]
    return max(marks) + 4 * setter.scale if marks else 0.0


def _columns(setter: Typesetter, ranking: Ranking, *, width: float) -> list[float]:
    """Widths of the columns of numbers, as many as leave the names room."""
    widths = []
    for number, heading in enumerate(ranking.headings[1:]):
        cells = [(row.numbers[number], _ROW) for row in ranking.rows]
        texts = [*cells, *((line, _HEAD) for line in heading.split("\n"))]
        widths.append(max(setter.extent(text or " ", size=size).width for text, size in texts))
    while widths and (
        width - sum(widths) - _GUTTER * setter.scale * len(widths) < _NARROWEST_NAME * setter.scale
    ):
        widths.pop()
    return widths


def _write_headings(
    page: Page, headings: tuple[str, ...], start: tuple[float, float], ends: Sequence[float]
) -> float:
    """Write the headings with a thin line below, and return where the rows begin."""
    from matplotlib.lines import Line2D

    setter, scale = page.setter, page.scale
    left, y = start
    shown = headings[: len(ends) + 1]
    most = max(heading.count("\n") for heading in shown) + 1
    y -= 4 * scale
    for column, heading in enumerate(shown):
        lines = heading.split("\n")
        for number, line in enumerate(lines):
            at = y - _HEAD * _LEADING * scale * (most - len(lines) + number + 1)
            x, align = (left, "left") if column == 0 else (ends[column - 1], "right")
            _write(setter, line, x, at, size=_HEAD, colour=page.colours.faint, align=align)
    y -= _HEAD * _LEADING * scale * most + 3 * scale
    rule = Line2D([left, ends[-1] if ends else left], [y, y])
    rule.set(transform=setter.points, color=page.colours.faint, linewidth=0.4 * scale, gid="rule")
    setter.sheet.add_artist(rule)
    return y - 3 * scale


def _write_row(
    page: Page,
    row: Row,
    lines: Sequence[str],
    at: tuple[float, float],
    *,
    indent: float,
    ends: Sequence[float],
) -> None:
    from matplotlib.lines import Line2D

    setter, scale = page.setter, page.scale
    left, baseline = at
    if row.style:
        middle = baseline + 0.32 * _ROW * scale
        sample = Line2D([left, left + _SWATCH * scale], [middle, middle])
        sample.set(transform=setter.points, gid="legend", **row.style)
        setter.sheet.add_artist(sample)
    elif row.mark:
        colour = page.colours.found
        _write(
            setter, row.mark, left + indent - 4 * scale, baseline, size=_ROW, weight="bold",
            colour=colour, align="right",
        )  # fmt: skip
    for number, line in enumerate(lines):
        y = baseline - number * _LEADING * _ROW * scale
        _write(setter, line, left + indent, y, size=_ROW, align="left")
    for end, cell in zip(ends, row.numbers, strict=False):
        _write(setter, cell, end, baseline, size=_ROW, align="right")


def _name_lines(setter: Typesetter, name: str, *, width: float) -> list[str]:
    """A name on at most two lines; what is left over is an ellipsis."""
    lines = setter.wrapped(clean_name(name), size=_ROW, weight="normal", width=width)
    if len(lines) <= _LINES:
        return lines
    last = lines[_LINES - 1]
    while last and setter.extent(f"{last}…", size=_ROW).width > width:
        last = last[:-1].rstrip()
    return [*lines[: _LINES - 1], f"{last}…"]


def _write(
    setter: Typesetter,
    words: str,
    x: float,
    y: float,
    *,
    size: float,
    align: str,
    weight: str = "normal",
    colour: str | None = None,
) -> None:
    text = setter.text(words, size=size, weight=weight, gid="ranking", colour=colour)
    text.set(ha=align, va="baseline", position=(x, y))
