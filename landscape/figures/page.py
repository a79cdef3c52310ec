"""Setting a map on its page: frame, density picture, lettering, key and caption.

Everything but the density picture is placed in points (1/72 inch) from the lower left corner, so
that what is measured here holds at every resolution.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import MapFacts
from landscape.figures.colours import Theme
from landscape.figures.lettering import place_names
from landscape.figures.marginalia import (
    LegendEntry,
    Margins,
    caption_height,
    draw_key,
    write_caption,
    write_title,
)
from landscape.figures.names import capitals, clean_name, line_breaks
from landscape.figures.shading import Tones, choose_tones, count_grid, dust, smooth_adaptively
from landscape.figures.typesetting import Typesetter

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.figures.sheet import Sheet

    Floats = NDArray[np.float64]

_LETTER_PAGE = 11 * 8.5
_SMALLEST = (3.0, 2.4)
_LARGEST = 100.0
_MOST_PIXELS = 24e6
_LEADING = 1.08  # of the lines of a name, in font sizes


@dataclass(frozen=True)
class Frame:
    """The window of the map that the page shows.

    Attributes
    ----------
    box : (float, float, float, float)
        ``x0, y0, x1, y1`` in map units.
    page : (float, float, float, float)
        The same window on the page, in points.
    """

    box: tuple[float, float, float, float]
    page: tuple[float, float, float, float]

    def to_page(self, x: Any, y: Any) -> Floats:
        """Map units to points on the page, shape (n, 2)."""
        (x0, y0, x1, y1), (left, bottom, right, top) = self.box, self.page
        across = left + (np.asarray(x, dtype=float) - x0) * (right - left) / (x1 - x0)
        up = bottom + (np.asarray(y, dtype=float) - y0) * (top - bottom) / (y1 - y0)
        return np.column_stack([across, up])

    def to_map(self, points: Floats) -> Floats:
        """Points on the page to map units, shape (n, 2)."""
        (x0, y0, x1, y1), (left, bottom, right, top) = self.box, self.page
        scale = np.array([(x1 - x0) / (right - left), (y1 - y0) / (top - bottom)])
        corner = np.array([x0, y0])
        mapped: Floats = corner + (points - np.array([left, bottom])) * scale
        return mapped

    def outside(self, x: Floats, y: Floats) -> int:
        """How many papers the window leaves out."""
        x0, y0, x1, y1 = self.box
        return int(((x < x0) | (x > x1) | (y < y0) | (y > y1)).sum())


class Page:
    """One sheet of paper with a map on it.

    Parameters
    ----------
    size_inches : (float, float)
        Width and height.
    colours : Theme
    raster_dpi : int
        Pixels per inch of the density picture; fewer are drawn on a page of many square feet.
    title : str, optional
        Heading above the map.
    legend : sequence of LegendEntry, default ()
        What the symbols on the map mean, below the key.

    Raises
    ------
    InputError
        For a page too small or too large to letter.
    """

    def __init__(
        self,
        size_inches: tuple[float, float],
        colours: Theme,
        *,
        raster_dpi: int,
        title: str | None = None,
        legend: Sequence[LegendEntry] = (),
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
        self.pixel = 72 / min(raster_dpi, math.sqrt(_MOST_PIXELS / (width * height)))  # points
        self.sheet: Sheet = Sheet(figsize=(width, height), facecolor=colours.page)
        self.setter = Typesetter(self.sheet, colours, scale=self.scale)
        self.points = self.setter.points
        self.tones = Tones(knee=1.0, top=10.0)
        self.legend = legend
        self.n_papers = 0
        self.caption_height = 0.0
        self.title_height = (
            self._whole_pixels(write_title(self.setter, self.margins, title)) if title else 0.0
        )

    # -- the frame and the caption around it

    def reserve_caption(self, head: str, sentences: Sequence[str], facts: MapFacts) -> None:
        """Keep room for the caption below the map."""
        needed = caption_height(
            self.setter, self.margins, head, sentences, facts, legend=self.legend
        )
        self.caption_height = self._whole_pixels(needed)
        if self.caption_height + self.title_height > 0.6 * self.margins.height:
            raise InputError(
                f"A page of {self.margins.width / 72:g} x {self.margins.height / 72:g} inches "
                "leaves no room for the map above its caption; make it larger."
            )

    def write_caption(self, head: str, sentences: Sequence[str], facts: MapFacts) -> None:
        """Write the caption below the map, and the key beside it."""
        top = self.caption_height - 0.45 * self.margins.margin
        end = write_caption(self.setter, self.margins, head, sentences, facts, top=top)
        draw_key(
            self.setter,
            self.margins,
            self.tones,
            pixel=self.pixel,
            top=top,
            below=end,
            legend=self.legend,
        )

    def _whole_pixels(self, length: float) -> float:
        """Round up to pixels of the density picture, which then needs no resampling in a PDF."""
        return math.ceil(length / self.pixel) * self.pixel

    @property
    def area(self) -> tuple[float, float, float, float]:
        """Box that caption and title leave for the map, in points."""
        top = self.margins.height - self.title_height
        return 0.0, self.caption_height, self.margins.width, top

    def fit(
        self,
        x: Floats,
        y: Floats,
        topics: pd.DataFrame,
        *,
        page: tuple[float, float, float, float] | None = None,
        border: float | None = None,
    ) -> Frame:
        """Fit the papers and the peaks into a box of the page, in points, or into its area.

        The empty border inside the box is wide enough for names if it is not given.
        """
        page = page or self.area
        border = 1.2 * self.margins.margin if border is None else border
        low, high = [], []
        for values, peaks in ((x, topics["x"]), (y, topics["y"])):
            least, most = _window(values)
            low.append(min([least, *peaks]))
            high.append(max([most, *peaks]))
        centre = (np.array(low) + np.array(high)) / 2
        room = np.array([page[2] - page[0], page[3] - page[1]]) - 2 * border
        span = np.array(high) - np.array(low)
        # A corpus in one spot still gets a window, wide enough for float32 to tell its sides apart.
        span = np.maximum(span, 1e-3 * max(1.0, float(np.abs(centre).max())))
        unit = float((span / room).max())  # map units a point, the same both ways
        half = unit * np.array([page[2] - page[0], page[3] - page[1]]) / 2
        box = (*(centre - half), *(centre + half))
        return Frame(box=tuple(float(side) for side in box), page=page)  # type: ignore[arg-type]  # four floats

    # -- the density picture

    def draw_density(self, x: Floats, y: Floats, frame: Frame, *, specks: bool = True) -> None:
        """Draw the papers as one picture, with `specks` few ones singly too."""
        left, bottom, right, top = frame.page
        self.n_papers = len(x)
        shape = tuple(max(8, round(side / self.pixel)) for side in (top - bottom, right - left))
        counts = count_grid(x, y, extent=frame.box, shape=(shape[0], shape[1]))
        # Inches; shrinks with the papers as the best kernel in two dimensions does (Scott 1992).
        widest = 0.13 * float(np.clip((4000 / len(x)) ** (1 / 6), 0.4, 2)) * self.scale
        density = smooth_adaptively(counts, coarsest=widest * 72 / self.pixel)
        self.tones = choose_tones(density, counts)
        axes = self.sheet.add_axes(
            (
                left / self.margins.width,
                bottom / self.margins.height,
                (right - left) / self.margins.width,
                (top - bottom) / self.margins.height,
            )
        )
        axes.set_axis_off()
        axes.set_gid("map")
        ramp = np.round(self.colours.ramp * 255).astype(np.uint8)
        position = self.tones.position(density)
        if specks:
            position += dust(counts, n_papers=len(x)) * (1 - position)
        tone = np.round(position * (len(ramp) - 1)).astype(np.uint8)
        x0, y0, x1, y1 = frame.box
        axes.imshow(
            ramp[tone], extent=(x0, x1, y0, y1), origin="lower", aspect="auto", gid="density"
        )
        axes.set(xlim=(x0, x1), ylim=(y0, y1))

    # -- the lettering

    def letter(
        self,
        topics: pd.DataFrame,
        frame: Frame,
        *,
        labels: bool,
        max_labels: int | None,
        reserved: Floats | None = None,
        loud: Collection[int] | None = None,
    ) -> pd.DataFrame:
        """Letter the topics on the map and tell where each name went.

        No name touches the boxes `reserved`, in points. With `loud`, the names of those topics are
        bold and all others faint, and no line leads to any. Topics with a ``colour`` are lettered
        in it.
        """
        most = max_labels
        if most is None:
            most = max(
                12, round(1.05 * self.margins.width * self.margins.height / 72**2 / self.scale**2)
            )
        wanted = topics.head(most if labels else 0)
        names = [_Name.of(row, self.colours, loud=loud) for row in wanted.itertuples()]
        sizes = [np.array([self._size(name, lines) for lines in name.variants]) for name in names]
        placement = place_names(
            frame.to_page(wanted["x"], wanted["y"]),
            sizes,
            frame=self.room(frame),
            reserved=reserved,
            reluctance=[_reluctance(size) for size in sizes],
            gap=2.0 * self.scale,
            reach=130 * self.scale,
        )
        for index in np.flatnonzero(placement.shown):
            name = names[index]
            lines = name.variants[int(placement.variants[index])]
            self._set_name(name, lines, placement.boxes[index], placement.leaders[index])
        if loud is None:
            self.draw_leaders(placement.leaders[placement.shown], colour=self.colours.ink)
        return _side_table(topics, placement.boxes, frame, self.n_papers)

    def room(self, frame: Frame) -> tuple[float, float, float, float]:
        """Box that no lettering may leave, in points."""
        left, bottom, right, top = frame.page
        pad = 3 * self.scale
        return left + pad, bottom + pad, right - pad, top - pad

    def _size(self, name: _Name, lines: Sequence[str]) -> tuple[float, float]:
        """Width and height of a name broken into lines."""
        extents = [self.setter.extent(line, size=name.size, weight=name.weight) for line in lines]
        leading = _LEADING * name.size * self.scale * (len(lines) - 1)
        height = extents[0].ascent + leading + extents[-1].descent
        return max(extent.width for extent in extents), height

    def _set_name(self, name: _Name, lines: Sequence[str], box: Floats, leader: Floats) -> None:
        """Put a name into its box, over a halo."""
        # The lines of a name that is led to begin on the side of its leader.
        side: Literal["left", "center", "right"] = (
            "left" if leader[2] == box[0] else "right" if leader[2] == box[2] else "center"
        )
        x = {"left": box[0], "center": (box[0] + box[2]) / 2, "right": box[2]}[side]
        first = self.setter.extent(lines[0], size=name.size, weight=name.weight)
        for number, line in enumerate(lines):
            y = box[3] - first.ascent - number * _LEADING * name.size * self.scale
            for text in self.setter.over_halo(
                line, size=name.size, weight=name.weight, gid=name.gid, colour=name.colour
            ):
                text.set(ha=side, va="baseline", position=(x, y))

    def draw_leaders(self, leaders: Floats, *, colour: str, peaks: bool = True) -> None:
        """Draw lines from peaks to names, with a dot at each peak; rows of NaN are none."""
        from matplotlib.collections import LineCollection

        drawn = leaders[~np.isnan(leaders).any(axis=1)].reshape(-1, 2, 2)
        # They stop a little short of the letters.
        along = drawn[:, 0] - drawn[:, 1]
        drawn[:, 1] += 1.5 * self.scale * along / np.linalg.norm(along, axis=1, keepdims=True)
        axes = self.sheet.axes[0]
        for line_colour, width, order in ((self.colours.halo, 1.8, 2.0), (colour, 0.5, 2.1)):
            lines = LineCollection(
                list(drawn), colors=line_colour, linewidths=width * self.scale, gid="leaders"
            )
            lines.set_transform(self.points)
            lines.set_zorder(order)
            axes.add_collection(lines, autolim=False)
        if peaks:
            axes.plot(
                drawn[:, 0, 0],
                drawn[:, 0, 1],
                "o",
                transform=self.points,
                color=colour,
                markersize=2.4 * self.scale,
                markeredgecolor=self.colours.halo,
                markeredgewidth=0.6 * self.scale,
                gid="peaks",
                zorder=2.2,
                scalex=False,
                scaley=False,
            )


@dataclass(frozen=True)
class _Name:
    """A name ready to be lettered: the ways to break it into lines, and its style."""

    variants: list[list[str]]
    size: float
    weight: str
    colour: str
    gid: str

    @classmethod
    def of(cls, row: Any, colours: Theme, *, loud: Collection[int] | None = None) -> _Name:
        """Style one topic by its level, or by whether it is among the loud ones."""
        name = clean_name(row.label)
        breaks = [lines.split("\n") for lines in line_breaks(name, most_lines=3)]
        gid = f"topic-{row.topic_id}"
        own = getattr(row, "colour", None)
        if own:
            return cls(breaks, size=8.6, weight="bold", colour=own, gid=gid)
        if loud is not None:
            weight, colour = (
                ("bold", colours.ink) if row.topic_id in loud else ("normal", colours.faint)
            )
            return cls(breaks, size=8.6, weight=weight, colour=colour, gid=gid)
        if row.level == 0:
            raised = [[capitals(line) for line in lines] for lines in breaks]
            return cls(raised, size=10.5, weight="bold", colour=colours.continent, gid=gid)
        return cls(breaks, size=8.6, weight="normal", colour=colours.ink, gid=gid)


def _window(values: Floats) -> tuple[float, float]:
    """Range of the papers; a few that lie far off do not shrink the map of all others."""
    least, most = float(values.min()), float(values.max())
    inner = np.quantile(values, [0.0005, 0.9995])
    slack = 0.20 * (inner[1] - inner[0])
    return max(least, float(inner[0] - slack)), min(most, float(inner[1] + slack))


def _reluctance(sizes: Floats) -> Floats:
    """Cost of each way to break a name: best about three times as wide as high."""
    shape = np.log2(sizes[:, 0] / sizes[:, 1] / 3.2)
    return np.asarray(0.55 * np.maximum(np.abs(shape) - 0.5, 0))


def _side_table(topics: pd.DataFrame, boxes: Floats, frame: Frame, n_papers: int) -> pd.DataFrame:
    """Build the numbers behind the picture: one row a topic."""
    import pandas as pd

    centres = np.full((len(topics), 2), np.nan)
    if len(boxes):
        middle = np.column_stack([boxes[:, [0, 2]].mean(axis=1), boxes[:, [1, 3]].mean(axis=1)])
        centres[: len(boxes)] = frame.to_map(middle)
    papers = topics["n_papers"].astype("int64")
    table = pd.DataFrame(
        {
            "topic_id": topics["topic_id"].astype("int64"),
            "level": topics["level"].astype("int64"),
            "label": topics["label"].astype(str),
            "x": topics["x"].astype(float),
            "y": topics["y"].astype(float),
            "n_papers": papers,
            "share": papers / max(1, n_papers),
            "shown": ~np.isnan(centres[:, 0]),
            "label_x": centres[:, 0],
            "label_y": centres[:, 1],
        }
    )
    if "parent_id" in topics:
        table.insert(2, "parent_id", topics["parent_id"].astype("int64"))
    words = topics["keywords"] if "keywords" in topics else [()] * len(topics)
    table["keywords"] = [
        "; ".join(map(str, few)) if few is not None and not isinstance(few, str) else str(few or "")
        for few in words
    ]
    return table
