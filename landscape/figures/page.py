"""Layout of a page: title, caption, colour keys, tables, and the boxes of panels.

Positions are in points (1/72 inch) from the lower left corner. Text is measured in points too, so
the layout is the same at every resolution. The result is a `Scene`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text as Drawn

from landscape.errors import InputError
from landscape.figures.caption import GENERATED, Caption
from landscape.figures.colours import Theme, pick, quiet, theme
from landscape.figures.fonts import FONTS
from landscape.figures.labels import clean_name
from landscape.figures.lettering import Extent, break_lines
from landscape.figures.scene import (
    Axis,
    Box,
    Floats,
    Image,
    Layer,
    Lines,
    Panel,
    Points,
    Scene,
    Spans,
    Squares,
    Text,
    tile,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SMALL, NORMAL = 7.0, 8.0  # font sizes of ticks and numbers, and of the caption
RASTER_DPI = 200
SIZE_INCHES = (11.0, 8.5)
BESIDE_A_TABLE = (11.0, 6.8)  # page size in inches for a map next to a table
_TITLE, _MIN_TITLE = 14.0, 9.0
_LINE = 1.32  # line height of the caption, in font sizes
_LINES = 2  # maximum number of caption lines
_SMALLEST = 6.0  # font size in points
_MIN_SIZE, _MAX_SIZE = (3.0, 2.4), 100.0
_LETTER_PAGE = 11 * 8.5
_MAX_PIXELS = 24e6
_KEY_WIDTH, _KEY_HEIGHT, _SQUARE, _MAX_SQUARES = 168.0, 34.0, 11.0, 6
_LEGEND_LINE = 11.0  # line height of the legend, in points
IN_PART = "years that the corpus covers in part"
BESIDE = 0.33  # width of a table, as a fraction of the page width


class PageOptions(TypedDict, total=False):
    """Appearance of a figure, documented in `landscape.figures.heatmap`."""

    colours: str | Theme
    size_inches: tuple[float, float] | None
    title: str | None
    raster_dpi: int
    ax: Axes | None


@dataclass(frozen=True)
class LegendEntry:
    """A symbol on the map and its meaning."""

    words: str
    style: Mapping[str, Any]  # for `Points`, or for `Lines` if there is no marker


@dataclass(frozen=True)
class Key:
    """Colour key of up to six coloured squares with their meanings."""

    title: str
    squares: Sequence[tuple[str, tuple[float, ...]]]

    @classmethod
    def of_ramp(cls, title: str, ramp: Floats, meanings: Sequence[str]) -> Key:
        """Make a key of evenly spaced colours of a ramp, one for each meaning."""
        colours = map(tuple, pick(ramp, np.linspace(0, 1, len(meanings))).tolist())
        return cls(title, list(zip(meanings, colours, strict=True)))


@dataclass(frozen=True)
class Row:
    """A row of a ranked table, with its number on the map; rows without a number are grey."""

    name: str
    numbers: tuple[str, ...]
    mark: str


@dataclass(frozen=True)
class Ranking:
    """A ranked table with the best row first. The first heading is for the column of names.

    The notes explain the columns; they are written below the table if there is space.
    """

    title: str
    headings: tuple[str, ...]
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    @classmethod
    def of_table(
        cls,
        title: str,
        name: str,
        table: pd.DataFrame,
        columns: Sequence[tuple[str, str, str]],
        *,
        numbered: bool = False,
    ) -> Ranking:
        """Make a ranking from a sorted table; `columns` contains names, headings and formats.

        The numbers are those of the column ``rank``.
        """
        import pandas as pd

        known = [column for column in columns if column[0] in table]
        rows = []
        for row in table.to_dict("records"):
            cells = (
                "–" if pd.isna(row[column]) else form.format(row[column])
                for column, _, form in known
            )
            mark = "" if not numbered or pd.isna(row["rank"]) else str(row["rank"])
            rows.append(Row(str(row["label"]), tuple(cells), mark))
        return cls(title, (name, *(heading for _, heading, _ in known)), rows)


class Page:
    """Layout of one page."""

    def __init__(
        self,
        caption: Caption,
        look: PageOptions,
        *,
        size: tuple[float, float] = SIZE_INCHES,
        smallest: tuple[float, float] = _MIN_SIZE,
        soft: bool = False,
        legend: Sequence[LegendEntry] = (),
        has_key: bool = False,
    ) -> None:
        """Create a page; `soft` reduces the contrast of the density below other layers."""
        self.onto, size = look.get("ax"), look.get("size_inches") or size
        if self.onto is not None:
            box, dpi = self.onto.get_window_extent(), self.onto.figure.dpi
            size, smallest = (box.width / dpi, box.height / dpi), (0.5, 0.5)
        width, height = (float(length) for length in size)
        if not (smallest[0] <= width <= _MAX_SIZE and smallest[1] <= height <= _MAX_SIZE):
            raise InputError(
                f"A page of {width:g} x {height:g} inches is not possible. Use at least "
                f"{smallest[0]:g} x {smallest[1]:g} and at most {_MAX_SIZE:g} inches per side."
            )
        colours = theme(look.get("colours", "light"))
        self.colours, self.caption, self.legend = (
            quiet(colours) if soft else colours,
            caption,
            legend,
        )
        self.scale = float(np.clip(math.sqrt(width * height / _LETTER_PAGE), 0.8, 6))
        # On small pages, names shrink more than other text, so that more of them have space.
        self.shrink = min(1.0, (width * height / _LETTER_PAGE) ** 0.25 / self.scale**0.5)
        self.width, self.height, self.margin = width * 72, height * 72, 20 * self.scale
        dpi = min(look.get("raster_dpi", RASTER_DPI), math.sqrt(_MAX_PIXELS / (width * height)))
        self.pixel = 72 / dpi  # points
        self.panels: list[Panel] = []
        self.layers: list[Layer] = []
        self.texts: list[Text] = []
        self.has_own_title = bool(look.get("title"))
        self.title = clean_name(look.get("title") or caption.head.removesuffix("."), most=200)
        self.title_height = self.caption_height = self._foot = 0.0
        if self.onto is None:
            self._write_title()
            self._write_caption(has_key=has_key)

    # -- text

    def extent(self, words: str, *, size: float, weight: str = "normal") -> Extent:
        """Measure one line; add a margin for rounding errors at other resolutions."""
        own = _measure(words, self.points(size), weight)
        if self.onto is None:
            return own
        # The user's figure is drawn with hinting, which can make text wider.
        theirs = _measure(words, self.points(size), weight, float(self.onto.figure.dpi))
        return Extent(*map(max, zip(astuple(own), astuple(theirs), strict=True)))

    def points(self, size: float) -> float:
        """Return a font size of the page in points, at least 6, which is readable in print."""
        return max(size * self.scale, _SMALLEST)

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
        in_panel: bool = False,
        width: float | None = None,
    ) -> None:
        """Add a line of text at a position in points, and truncate it to `width` points.

        If the figure is drawn into existing axes, only text inside a panel is added.
        """
        if self.onto is None or in_panel:
            if width is not None:
                words = self.shortened(words, width=width, size=size, weight=weight)
            self.texts.append(
                Text(
                    words,
                    x,
                    y,
                    self.points(size),
                    colour or self.colours.ink,
                    weight,
                    align,
                    gid,
                    in_panel,
                )
            )

    def wrapped(
        self, words: str, *, size: float, width: float, weight: str = "normal", most: int = 0
    ) -> list[str]:
        """Break a text into lines of at most `width` points; split wider words.

        If the text needs more than `most` lines, the last line is truncated.
        """
        lines = break_lines(
            words,
            lambda line: self.extent(line, size=size, weight=weight).width,
            size=self.points(size),
            width=width,
        )
        if most and len(lines) > most:
            rest = " ".join(lines[most - 1 :])
            lines[most - 1 :] = [self.shortened(rest, width=width, size=size, weight=weight)]
        return lines

    def shortened(
        self, words: str, *, width: float, size: float = NORMAL, weight: str = "normal"
    ) -> str:
        """Truncate a line to a width in points, with an ellipsis."""
        whole = clean_name(words, most=300)
        if self.extent(whole, size=size, weight=weight).width <= width:
            return whole
        n = bisect_right(
            range(1, len(whole)),
            width,
            key=lambda n: self.extent(whole[:n].rstrip() + "…", size=size, weight=weight).width,
        )
        return whole[:n].rstrip() + "…"

    # -- title and caption

    def _write_title(self) -> None:
        """Write the title above the figure, on one line, or on two lines in a smaller size."""
        width = self.width - 2 * self.margin
        line = self.extent(self.title, size=_TITLE, weight="bold").width
        size = max(_MIN_TITLE, _TITLE * min(1.0, width / line))
        lines = self.wrapped(self.title, size=size, weight="bold", width=width, most=2)
        measured = [self.extent(one, size=size, weight="bold") for one in lines]
        y = self.height - 0.6 * self.margin - measured[0].ascent
        for place, one in enumerate(lines):
            down = place * 1.15 * size * self.scale
            self.write(one, self.margin, y - down, size=size, weight="bold", gid="title")
        text = self.height - y + (len(lines) - 1) * 1.15 * size * self.scale + measured[-1].descent
        self.title_height = self._whole_pixels(text + 0.2 * self.margin)

    def _write_caption(self, *, has_key: bool) -> None:
        """Write up to two caption lines below the figure, and reserve space for the key."""
        beside = has_key and self._column() >= 0.45 * self.width
        width = self._column() if beside else self.width - 2 * self.margin
        lines = [
            (line, "bold", self.colours.accent)
            for line in self.wrapped(GENERATED, size=NORMAL, weight="bold", width=width)
            if self.caption.generated
        ]
        head = [self.caption.head] if self.has_own_title else []
        lines += [
            (line, "normal", self.colours.faint)
            for line in self._fitting([*head, *self.caption.sentences], width)
        ]
        pitch = _LINE * NORMAL * self.scale
        text, key = len(lines) * pitch, 0.0
        if has_key:
            key = (_KEY_HEIGHT + len(self.legend) * _LEGEND_LINE) * self.scale
        needed = (max(text, key) if beside else text + key) + 1.2 * self.margin
        self.caption_height = self._whole_pixels(needed)
        if self.caption_height + self.title_height > 0.62 * self.height:
            raise InputError(
                f"A page of {self.width / 72:g} x {self.height / 72:g} inches leaves no space "
                "between title and caption. Use a larger page."
            )
        top = self.caption_height - 0.45 * self.margin
        for number, (line, weight, colour) in enumerate(lines):
            y = top - NORMAL * self.scale - number * pitch
            self.write(line, self.margin, y, weight=weight, colour=colour, gid="caption")
        self._foot = top - text

    def _fitting(self, sentences: Sequence[str], width: float) -> list[str]:
        """Return the first sentences that fit, as lines; truncate the first if it is too long."""
        lines: list[str] = []
        shown: list[str] = []
        for sentence in sentences:
            tried = self.wrapped(" ".join([*shown, sentence]), size=NORMAL, width=width)
            if len(tried) <= _LINES:
                shown, lines = [*shown, sentence], tried
            elif not shown:
                return self.wrapped(sentence, size=NORMAL, width=width, most=_LINES)
        return lines

    def _column(self) -> float:
        """Return the width of a caption that is next to a key."""
        return self.width - 4 * self.margin - _KEY_WIDTH * self.scale

    def _whole_pixels(self, length: float) -> float:
        """Round up to whole pixels of the density image, to avoid resampling in a PDF."""
        return math.ceil(length / self.pixel) * self.pixel

    # -- boxes

    @property
    def area(self) -> Box:
        """Map area between title and caption."""
        return 0.0, self.caption_height, self.width, self.height - self.title_height

    @property
    def chart_area(self) -> Box:
        """Area for charts, inside the margins and between title and caption."""
        if self.onto is not None:
            return self.area
        left, bottom, right, top = self.area
        return left + self.margin, bottom + 0.3 * self.margin, right - self.margin, top

    def divided(self, *, beside: float = BESIDE) -> tuple[Box, Box | None]:
        """Split the map area into a box for the map and, to its right, a box for a table."""
        left, bottom, right, top = self.area
        if self.onto is not None:
            return self.area, None
        cut = math.floor((right - beside * (right - left)) / self.pixel) * self.pixel
        column = cut + 0.3 * self.margin, bottom, right - self.margin, top - 0.2 * self.margin
        return (left, bottom, cut, top), column

    def tiled(self, n: int) -> list[Box]:
        """Split the area inside the margins into equal boxes for `n` maps with headings."""
        left, bottom, right, top = self.area
        box = left + self.margin, bottom, right - self.margin, top
        return tile(box, n, heading=14 * self.scale, gap=9 * self.scale, pixel=self.pixel)

    # -- panels

    def add(self, panel: Panel) -> Panel:
        """Add a panel to the page."""
        self.panels.append(panel)
        return panel

    def chart(
        self, box: Box, x: Axis, y: Axis, *, gid: str = "chart", below: float = 21.0, **more: Any
    ) -> Panel:
        """Add a chart to the page; its x title is `below` points below the chart."""
        if x.title:
            self.write(
                x.title,
                (box[0] + box[2]) / 2,
                box[1] - below * self.scale,
                size=SMALL,
                align="center",
                colour=self.colours.faint,
                width=box[2] - box[0],
            )
        return self.add(Panel(box, x, y, gid=gid, edge="chart", **more))

    def write_heading(
        self,
        box: Box,
        words: str,
        note: str = "",
        *,
        colour: str | None = None,
        note_colour: str | None = None,
        size: float = 8.6,
    ) -> None:
        """Write a heading above a panel, and a small note to the right of the heading."""
        left, _, right, top = box
        y = top + 3.2 * self.scale
        kept = self.extent(note, size=SMALL).width + 6 * self.scale if note else 0.0
        width = max(right - left - kept, 0.5 * (right - left))
        name = self.shortened(words, size=size, weight="bold", width=width)
        self.write(name, left, y, size=size, weight="bold", gid="heading", colour=colour)
        rest = right - left - self.extent(name, size=size, weight="bold").width - 5 * self.scale
        if note and rest > 20 * self.scale:
            self.write(
                note,
                right,
                y,
                size=SMALL,
                gid="note",
                align="right",
                width=rest,
                colour=note_colour or self.colours.faint,
            )

    def colour_bar(self, left: float, y: float, ramp: Floats, first: str, last: str) -> None:
        """Draw a colour ramp with a label at each end."""
        width, height = 80 * self.scale, 6 * self.scale
        faint = self.colours.faint
        self.write(first, left, y, size=SMALL, colour=faint, gid="key")
        if not last or self.onto is not None:
            return
        x = left + self.extent(first, size=SMALL).width + 3 * self.scale
        pixels = np.round(ramp[None] * 255).astype(np.uint8)
        axis = Axis((0, 1))
        bar = self.add(Panel((x, y, x + width, y + height), axis, axis, gid="key"))
        bar.layers.append(Image(pixels=pixels, extent=(0, 0, 1, 1)))
        self.write(last, x + width + 4 * self.scale, y, size=SMALL, colour=faint, gid="key")

    # -- the key

    def write_key(self, key: Key) -> None:
        """Draw the colour key next to the caption or below it, and the legend below the key."""
        if self.onto is not None:
            return
        scale, faint = self.scale, self.colours.faint
        side, pitch = _SQUARE * scale, _KEY_WIDTH * scale / _MAX_SQUARES
        if self._column() >= 0.45 * self.width:
            widths = [self.extent(entry.words, size=SMALL).width for entry in self.legend]
            legend = max(widths, default=0.0) + (_SQUARE + 5) * scale
            title = self.extent(key.title, size=SMALL).width
            left = self.width - self.margin - max(pitch * max(4, len(key.squares)), legend, title)
            top = self.caption_height - 0.45 * self.margin
        else:
            left, top = self.margin, self._foot - 2 * scale
        self.write(key.title, left, top - SMALL * scale, size=SMALL, gid="key", colour=faint)
        boxes = []
        for number, (meaning, _) in enumerate(key.squares):
            x, y = left + number * pitch, top - 12 * scale - side
            boxes.append((x, y, x + side, y + side))
            self.write(
                meaning,
                x + side / 2,
                y - 8 * scale,
                size=6.6,
                gid="key",
                colour=faint,
                align="center",
            )
        colours = [colour for _, colour in key.squares]
        self.layers.append(
            Squares(boxes=boxes, colours=colours, edge=faint, width=0.3 * scale, gid="key")
        )
        top -= _KEY_HEIGHT * scale
        for number, entry in enumerate(self.legend):
            y = top - (number + 0.5) * _LEGEND_LINE * scale
            self.sample(entry.style, left, left + side, y)
            words = left + (_SQUARE + 5) * scale
            self.write(entry.words, words, y - 2.3 * scale, size=SMALL, gid="key", colour=faint)

    def hatching_key(self, right: float, y: float, words: str = IN_PART) -> None:
        """Explain hatched years: a hatched square and words that end at `right` points."""
        if self.onto is None:
            left = right - self.extent(words, size=SMALL).width
            self.write(
                words, right, y, size=SMALL, colour=self.colours.faint, align="right", gid="key"
            )
            side, gap = 9 * self.scale, 4 * self.scale
            box = (left - gap - 1.4 * side, y - 0.2 * side, left - gap, y + 0.8 * side)
            square = self.add(Panel(box, Axis((0, 1)), Axis((0, 1)), gid="key", edge="box"))
            square.layers.append(Spans(spans=[(0, 1)], colour=self.colours.faint))

    def sample(self, style: Mapping[str, Any], left: float, right: float, y: float) -> None:
        """Draw a sample of a line or symbol for the legend."""
        if "marker" in style:
            self.layers.append(Points(x=[(left + right) / 2], y=[y], gid="legend", **style))
        else:
            line = np.array([[left, y], [right, y]])
            self.layers.append(Lines(lines=[line], gid="legend", **style))

    # -- tables

    def write_ranking(self, ranking: Ranking, box: Box | None) -> int:
        """Write a ranked table into a box, and return the number of rows that fit."""
        if box is None:
            return len(ranking.rows)
        scale = self.scale
        left, bottom, right, y = box
        for line in self.wrapped(
            clean_name(ranking.title, most=160), size=9.0, weight="bold", width=right - left
        ):
            y -= 9.0 * 1.18 * scale
            self.write(line, left, y, size=9.0, weight="bold", gid="ranking")
        marks = [
            self.extent(row.mark, size=7.6, weight="bold").width for row in ranking.rows if row.mark
        ]
        indent = max(marks) + 4 * scale if marks else 0.0
        widths = self._columns(ranking, width=right - left - indent)
        gutter = 7.0 * scale
        ends = [
            right - (sum(widths[i:]) + gutter * len(widths[i:])) for i in range(1, len(widths) + 1)
        ]
        names = right - left - indent - sum(widths) - gutter * len(widths)
        y = self._write_headings(ranking.headings, left + indent, y, ends)
        for written, row in enumerate(ranking.rows):
            lines = self.wrapped(clean_name(row.name, most=200), size=7.6, width=names, most=3)
            height = 7.6 * scale * (1 + 1.18 * (len(lines) - 1)) + 3.4 * scale
            if y - height < bottom:
                return written
            baseline = y - 7.6 * scale
            colour = self.colours.faint if marks and not row.mark else None
            if row.mark:
                self.write(
                    row.mark,
                    left + indent - 4 * scale,
                    baseline,
                    size=7.6,
                    weight="bold",
                    colour=self.colours.found,
                    align="right",
                    gid="ranking",
                )
            for number, line in enumerate(lines):
                down = number * 1.18 * 7.6 * scale
                self.write(
                    line, left + indent, baseline - down, size=7.6, gid="ranking", colour=colour
                )
            for end, cell in zip(ends, row.numbers, strict=False):
                self.write(
                    cell, end, baseline, size=7.6, align="right", gid="ranking", colour=colour
                )
            y -= height
        y -= 6 * scale
        for note in ranking.notes:
            lines = self.wrapped(note, size=SMALL, width=right - left)
            if y - len(lines) * SMALL * 1.18 * scale < bottom:
                break
            for line in lines:
                y -= SMALL * 1.18 * scale
                self.write(line, left, y, size=SMALL, gid="ranking", colour=self.colours.faint)
        return len(ranking.rows)

    def _columns(self, ranking: Ranking, *, width: float) -> list[float]:
        """Return the widths of the columns of numbers that fit into a table of a given width."""
        widths = []
        for number, heading in enumerate(ranking.headings[1:]):
            cells = [(row.numbers[number], 7.6) for row in ranking.rows]
            texts = [*cells, *((line, SMALL) for line in heading.split("\n"))]
            widths.append(max(self.extent(text or " ", size=size).width for text, size in texts))
        while widths and width - sum(widths) - 7.0 * self.scale * len(widths) < 62 * self.scale:
            widths.pop()
        return widths

    def _write_headings(
        self, headings: Sequence[str], left: float, y: float, ends: Sequence[float]
    ) -> float:
        """Write the headings with a thin line below, and return the top of the first row."""
        scale, faint = self.scale, self.colours.faint
        shown = headings[: len(ends) + 1]
        most = max(heading.count("\n") for heading in shown) + 1
        y -= 4 * scale
        for column, heading in enumerate(shown):
            lines = heading.split("\n")
            for number, line in enumerate(lines):
                at = y - SMALL * 1.18 * scale * (most - len(lines) + number + 1)
                x, align = (left, "left") if column == 0 else (ends[column - 1], "right")
                self.write(line, x, at, size=SMALL, colour=faint, align=align, gid="ranking")
        y -= SMALL * 1.18 * scale * most + 3 * scale
        rule = np.array([[left, y], [ends[-1] if ends else left, y]])
        self.layers.append(Lines(lines=[rule], colour=faint, width=0.4 * scale, gid="rule"))
        return y - 3 * scale

    # -- done

    def scene(
        self,
        *,
        alt_text: str = "",
        table: pd.DataFrame | None = None,
        on_screen: Sequence[str] = ("map",),
        caption: Caption | None = None,
    ) -> Scene:
        """Return the finished page."""
        return Scene(
            (self.width, self.height),
            self.scale,
            self.colours,
            self.title if self.has_own_title else "",
            caption or self.caption,
            self.panels,
            self.layers,
            self.texts,
            on_screen,
            alt_text,
            table,
        )


# Matplotlib keeps the size of a text for each renderer, whatever the hinting.
_RULER, _HINTED_RULER = (FigureCanvasAgg(Figure(figsize=(1, 1), dpi=100)) for _ in range(2))


@lru_cache(maxsize=50_000)
def _measure(words: str, size: float, weight: str, dpi: float | None = None) -> Extent:
    """Measure a line without hinting, or as drawn at a resolution with the user's hinting."""
    text = Drawn(
        0,
        0,
        words,
        fontfamily=list(FONTS),
        fontsize=size,
        fontweight=weight,
        parse_math=False,
        verticalalignment="baseline",
    )
    ruler = _HINTED_RULER if dpi else _RULER
    text.set_figure(ruler.figure)
    # Without hinting, the width is independent of the resolution.
    with mpl.rc_context({} if dpi else {"text.hinting": "none"}):
        box = text.get_window_extent(ruler.get_renderer(), dpi=dpi)  # type: ignore[no-untyped-call]
    point = 72 / (dpi or ruler.figure.dpi)
    return Extent(box.width * point * 1.02 + 0.6, box.y1 * point + 0.3, -box.y0 * point + 0.3)


_SENTENCE_INCHES = (11.0, 3.2)


def sentence_scene(
    caption: Caption, sentence: str, look: PageOptions, *, table: pd.DataFrame
) -> Scene:
    """Write one sentence instead of a chart in which nothing is significant."""
    page = Page(caption, look, size=_SENTENCE_INCHES, smallest=(4.0, 3.0))
    left, bottom, right, top = page.chart_area
    for place, line in enumerate(page.wrapped(sentence, size=11.0, width=right - left)):
        y = (bottom + top) / 2 - 15 * place * page.scale
        page.write(line, (left + right) / 2, y, size=11.0, align="center", gid="sentence")
    return page.scene(alt_text=caption.describe("Page without a chart.", sentence), table=table)
