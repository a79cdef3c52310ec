"""A page with charts on it: heading above, caption below, axes where they are put between.

Everything is placed in points (1/72 inch) from the lower left corner, as on a page with a map.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED
from landscape.figures.colours import Theme
from landscape.figures.marginalia import Margins, write_title
from landscape.figures.names import FONTS, clean_name
from landscape.figures.page import Frame
from landscape.figures.typesetting import Typesetter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from numpy.typing import NDArray

    from landscape.figures.sheet import Sheet
    from landscape.overlays._analysis import Analysis

    Floats = NDArray[np.float64]

Box = tuple[float, float, float, float]
SMALL = 7.0  # font size of ticks and numbers
NORMAL = 8.0
_LINE = 1.32  # line height, in font sizes
_SMALLEST, _LARGEST = (4.0, 3.0), 60.0
_LETTER_PAGE = 11 * 8.5
_LONGEST_SENTENCE = 700
_HATCH = "////"


class ChartPage:
    """One sheet of paper with charts on it.

    Parameters
    ----------
    size_inches : (float, float)
        Width and height.
    colours : Theme
    title : str, optional
        Heading above the charts.

    Raises
    ------
    InputError
        For a page too small or too large to letter.

    Examples
    --------
    >>> from landscape.figures.colours import theme
    >>> page = ChartPage((6, 4), theme("light"))
    >>> page.reserve_caption(["A chart of nothing."])
    >>> page.axes(page.room).get_gid()
    'chart'
    """

    def __init__(
        self, size_inches: tuple[float, float], colours: Theme, *, title: str | None = None
    ) -> None:
        from landscape.figures.sheet import Sheet

        width, height = (float(length) for length in size_inches)
        if not (_SMALLEST[0] <= width <= _LARGEST and _SMALLEST[1] <= height <= _LARGEST):
            raise InputError(
                f"A page of {width:g} x {height:g} inches cannot be lettered; use at least "
                f"{_SMALLEST[0]:g} x {_SMALLEST[1]:g} and at most {_LARGEST:g} inches a side."
            )
        self.colours = colours
        self.scale = float(np.clip(math.sqrt(width * height / _LETTER_PAGE), 0.8, 6))
        self.margins = Margins(width=width * 72, height=height * 72, margin=20 * self.scale)
        self.sheet: Sheet = Sheet(figsize=(width, height), facecolor=colours.page)
        self.setter = Typesetter(self.sheet, colours, scale=self.scale)
        self.title_height = write_title(self.setter, self.margins, title) if title else 0.0
        self.caption_height = 0.0

    # -- the caption

    def reserve_caption(self, sentences: Sequence[str], *, generated: bool = False) -> None:
        """Write the caption at the foot, its first sentence bold, and keep the rest as room."""
        lines = self._caption_lines(sentences, generated=generated)
        pitch = _LINE * NORMAL * self.scale
        self.caption_height = len(lines) * pitch + 1.2 * self.margins.margin
        if self.caption_height + self.title_height > 0.6 * self.margins.height:
            raise InputError(
                f"A page of {self.margins.width / 72:g} x {self.margins.height / 72:g} inches "
                "leaves no room for the charts above their caption; make it larger."
            )
        top = self.caption_height - 0.5 * self.margins.margin
        for number, (line, weight, colour) in enumerate(lines):
            y = top - NORMAL * self.scale - number * pitch
            self.write(
                line, self.margins.margin, y, weight=weight, colour=colour, gid="caption"
            )  # fmt: skip

    def _caption_lines(
        self, sentences: Sequence[str], *, generated: bool
    ) -> list[tuple[str, str, str]]:
        cleaned = [clean_name(sentence, most=_LONGEST_SENTENCE) for sentence in sentences]
        blocks = [
            (GENERATED if generated else "", "bold", self.colours.accent),
            (cleaned[0], "bold", self.colours.ink),
            (" ".join(cleaned[1:]), "normal", self.colours.faint),
        ]
        width = self.margins.width - 2 * self.margins.margin
        return [
            (line, weight, colour)
            for block, weight, colour in blocks
            if block
            for line in self.setter.wrapped(block, size=NORMAL, weight=weight, width=width)
        ]

    @property
    def room(self) -> Box:
        """What heading, caption and borders leave for charts, in points."""
        side = self.margins.margin
        top = self.margins.height - (self.title_height or 0.7 * side)
        return side, self.caption_height + 0.3 * side, self.margins.width - side, top

    # -- what stands in the room

    def axes(self, box: Box, *, gid: str = "chart") -> Axes:
        """Put a chart's axes into a box, in points: thin lines left and below, small ticks."""
        left, bottom, right, top = box
        width, height = self.margins.width, self.margins.height
        axes: Axes = self.sheet.add_axes(
            (left / width, bottom / height, (right - left) / width, (top - bottom) / height)
        )
        axes.set_gid(gid)
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set(color=self.colours.faint, linewidth=0.5 * self.scale)
        axes.tick_params(
            colors=self.colours.faint, labelsize=SMALL * self.scale, width=0.5 * self.scale,
            length=2.5 * self.scale, pad=2 * self.scale, labelfontfamily=list(FONTS),
        )  # fmt: skip
        return axes

    def write(
        self,
        words: str,
        x: float,
        y: float,
        *,
        size: float = NORMAL,
        weight: str = "normal",
        colour: str | None = None,
        align: str = "left",
        gid: str = "words",
    ) -> Text:
        """Write one line with its baseline at a place, in points."""
        text = self.setter.text(words, size=size, weight=weight, colour=colour, gid=gid)
        text.set(ha=align, va="baseline", position=(x, y))
        return text

    def shortened(
        self, words: str, *, width: float, size: float = NORMAL, weight: str = "normal"
    ) -> str:
        """Cut a line to a width in points, an ellipsis at its end."""
        whole = clean_name(words, most=200)
        if self.setter.extent(whole, size=size, weight=weight).width <= width:
            return whole
        low, high = 0, len(whole)  # the longest beginning that fits, by bisection
        while low < high:
            middle = (low + high + 1) // 2
            cut = whole[:middle].rstrip() + "…"
            fits = self.setter.extent(cut, size=size, weight=weight).width <= width
            low, high = (middle, high) if fits else (low, middle - 1)
        return whole[:low].rstrip() + "…"

    def hatch(self, axes: Axes, spans: Iterable[tuple[float, float]]) -> None:
        """Hatch intervals of the horizontal axis that the corpus does not cover."""
        for start, end in spans:
            axes.axvspan(
                start, end, facecolor="none", edgecolor=self.colours.faint, hatch=_HATCH,
                linewidth=0, alpha=0.45, zorder=0.5, gid="not covered",
            )  # fmt: skip


def uncovered_spans(years: Any, covered: Any) -> list[tuple[float, float]]:
    """Intervals of years that a corpus does not cover, half a year wider on both sides.

    Parameters
    ----------
    years : array_like of int, shape (n,)
    covered : array_like of bool, shape (n,)

    Returns
    -------
    list of (float, float)

    Examples
    --------
    >>> uncovered_spans([2018, 2019, 2020, 2021, 2022], [True, False, False, True, False])
    [(2018.5, 2020.5), (2021.5, 2022.5)]
    """
    gaps = np.unique(np.asarray(years, dtype=int)[~np.asarray(covered, dtype=bool)])
    runs = np.split(gaps, np.flatnonzero(np.diff(gaps) > 1) + 1)
    return [(float(run[0]) - 0.5, float(run[-1]) + 0.5) for run in runs if len(run)]


def sentences_of(analysis: Analysis) -> list[str]:
    """Caption, denominators and warnings of an analysis, one sentence an item.

    That the corpus is generated is left to the page, which says it first.

    Examples
    --------
    >>> import pandas as pd
    >>> from landscape.overlays._analysis import Analysis
    >>> sentences_of(Analysis("trends", pd.DataFrame(), "Rates.", {"papers": 9}, {}))
    ['Rates.', 'Of 9 papers.']
    """
    return [analysis.caption, *replace(analysis, bounds={}).notes]


def frame_in(box: Box, x: Floats, y: Floats, *, border: float = 0.04) -> Frame:
    """Fit a map into a box of the page, one map unit as long across as up.

    Parameters
    ----------
    box : (float, float, float, float)
        ``left, bottom, right, top`` in points.
    x, y : array_like of float, shape (n,)
        Positions of the papers, in map units.
    border : float, default 0.04
        Empty border, as a fraction of the box.

    Returns
    -------
    Frame

    Examples
    --------
    >>> frame_in((0, 0, 200, 100), np.array([0.0, 1.0]), np.array([0.0, 1.0]), border=0).box
    (-0.5, 0.0, 1.5, 1.0)
    """
    low = np.array([np.min(x), np.min(y)], dtype=float)
    high = np.array([np.max(x), np.max(y)], dtype=float)
    for axis, values in enumerate((x, y)):  # a few that lie far off do not shrink the others
        inner = np.quantile(values, [0.0005, 0.9995])
        slack = 0.2 * (inner[1] - inner[0])
        low[axis], high[axis] = max(low[axis], inner[0] - slack), min(high[axis], inner[1] + slack)
    sides = np.array([box[2] - box[0], box[3] - box[1]])
    span = np.maximum(high - low, 1e-3 * max(1.0, float(np.abs(low + high).max() / 2)))
    unit = float((span / (sides * (1 - 2 * border))).max())
    centre, half = (low + high) / 2, unit * sides / 2
    x0, y0, x1, y1 = (float(side) for side in (*(centre - half), *(centre + half)))
    return Frame(box=(x0, y0, x1, y1), page=box)


def map_box(box: Box, x: Floats, y: Floats, *, least: float = 0.5) -> Box:
    """Lower the foot of a box until it has the shape of the map.

    Parameters
    ----------
    box : (float, float, float, float)
        ``left, bottom, right, top`` in points.
    x, y : array_like of float, shape (n,)
        Positions of the papers, in map units.
    least : float, default 0.5
        Least height, in widths.

    Returns
    -------
    (float, float, float, float)

    Examples
    --------
    >>> map_box((0, 0, 100, 300), np.linspace(0, 4, 99), np.linspace(0, 3, 99))
    (0, 225.0, 100, 300)
    """
    left, bottom, right, top = box
    spans = [float(np.subtract(*np.quantile(values, [0.9995, 0.0005]))) for values in (x, y)]
    shape = spans[1] / spans[0] if spans[0] > 0 else 1.0
    height = (right - left) * float(np.clip(shape, least, 10.0))
    return left, max(bottom, round(top - height, 2)), right, top
