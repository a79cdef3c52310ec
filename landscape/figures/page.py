"""Setting a map on its page: frame, density picture, lettering, key and caption.

Everything but the density picture is placed in points (1/72 inch) from the lower left corner, so
that what is measured here holds at every resolution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED, MapFacts
from landscape.figures.colours import Theme
from landscape.figures.lettering import place_names
from landscape.figures.names import FONTS, capitals, clean_name, line_breaks
from landscape.figures.shading import Tones, choose_tones, count_grid, dust, smooth_adaptively

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.text import Text
    from numpy.typing import NDArray

    from landscape.figures.sheet import Sheet

    Floats = NDArray[np.float64]

_LETTER_PAGE = 11 * 8.5
_SMALLEST = (3.0, 2.4)
_LARGEST = 100.0
_LINE = 1.32  # line height of the caption, in font sizes


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
    """One sheet of paper, set from the bottom to the top.

    Parameters
    ----------
    size_inches : (float, float)
        Width and height.
    colours : Theme
    raster_dpi : int
        Pixels per inch of the density picture.
    title : str, optional
        Heading above the map.
    """

    def __init__(
        self,
        size_inches: tuple[float, float],
        colours: Theme,
        *,
        raster_dpi: int,
        title: str | None = None,
    ) -> None:
        from matplotlib.transforms import Affine2D

        from landscape.figures.sheet import Sheet

        width, height = (float(length) for length in size_inches)
        if not (_SMALLEST[0] <= width <= _LARGEST and _SMALLEST[1] <= height <= _LARGEST):
            raise InputError(
                f"A page of {width:g} x {height:g} inches cannot be lettered; use at least "
                f"{_SMALLEST[0]:g} x {_SMALLEST[1]:g} and at most {_LARGEST:g} inches a side."
            )
        self.colours = colours
        self.width, self.height = width * 72, height * 72
        self.scale = float(np.clip(math.sqrt(width * height / _LETTER_PAGE), 0.8, 6))
        self.margin = 20 * self.scale
        self.sheet: Sheet = Sheet(figsize=(width, height), facecolor=colours.page)
        self.points = Affine2D().scale(1 / 72) + self.sheet.dpi_scale_trans
        self.tones: Tones | None = None
        self.pixel = 72 / raster_dpi  # points
        self.caption_height = 0.0
        self.n_papers = 0
        self.title_height = 0.0
        if title:
            self._write_title(clean_name(title, most=120))

    # -- the frame

    def reserve_caption(self, head: str, sentences: Sequence[str], facts: MapFacts) -> None:
        """Learn how much height the caption needs."""
        lines = self._caption_lines(head, sentences, facts)
        needed = self.margin * 1.35 + len(lines) * self._caption_size * _LINE
        needed = max(needed, self._key_height + self.margin * 1.35)
        # Whole pixels of the density picture, which then goes into PDF and SVG unresampled.
        self.caption_height = math.ceil(needed / self.pixel) * self.pixel
        if self.caption_height + self.title_height > 0.6 * self.height:
            raise InputError(
                f"A page of {self.width / 72:g} x {self.height / 72:g} inches leaves no room for "
                "the map above its caption; make it larger."
            )

    def fit(self, x: Floats, y: Floats, topics: pd.DataFrame) -> Frame:
        """Fit the papers and the peaks into what the caption and the title leave."""
        page = (0.0, self.caption_height, self.width, self.height - self.title_height)
        low, high = [], []
        for values, peaks in ((x, topics["x"]), (y, topics["y"])):
            least, most = _window(values)
            low.append(min([least, *peaks]))
            high.append(max([most, *peaks]))
        centre = (np.array(low) + np.array(high)) / 2
        room = np.array([page[2] - page[0], page[3] - page[1]]) - 2.4 * self.margin
        span = np.array(high) - np.array(low)
        # A corpus in one spot still gets a window, wide enough for float32 to tell its sides apart.
        span = np.maximum(span, 1e-3 * max(1.0, float(np.abs(centre).max())))
        unit = float((span / room).max())  # map units a point, the same both ways
        half = unit * np.array([page[2] - page[0], page[3] - page[1]]) / 2
        box = (*(centre - half), *(centre + half))
        return Frame(box=tuple(float(side) for side in box), page=page)  # type: ignore[arg-type]  # four floats

    # -- the density picture

    def draw_density(self, x: Floats, y: Floats, frame: Frame) -> None:
        """Draw the papers as one picture."""
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
                left / self.width,
                bottom / self.height,
                (right - left) / self.width,
                (top - bottom) / self.height,
            )
        )
        axes.set_axis_off()
        axes.set_gid("map")
        ramp = np.round(self.colours.ramp * 255).astype(np.uint8)
        position = self.tones.position(density)
        position += dust(counts, n_papers=len(x)) * (1 - position)
        tone = np.round(position * (len(ramp) - 1)).astype(np.uint8)
        x0, y0, x1, y1 = frame.box
        axes.imshow(
            ramp[tone], extent=(x0, x1, y0, y1), origin="lower", aspect="auto", gid="density"
        )
        axes.set(xlim=(x0, x1), ylim=(y0, y1))

    # -- the lettering

    def letter(
        self, topics: pd.DataFrame, frame: Frame, *, labels: bool, max_labels: int | None
    ) -> pd.DataFrame:
        """Letter the topics on the map and tell where each name went."""
        most = max_labels
        if most is None:
            most = max(12, round(0.8 * self.width * self.height / 72**2 / self.scale**2))
        wanted = topics.head(most if labels else 0)
        variants = [self._variants(row) for row in wanted.itertuples()]
        sizes = [np.array([self._measure(text) for text in texts]) for texts in variants]
        pad = 3 * self.scale
        placement = place_names(
            frame.to_page(wanted["x"], wanted["y"]),
            sizes,
            frame=(
                frame.page[0] + pad,
                frame.page[1] + pad,
                frame.page[2] - pad,
                frame.page[3] - pad,
            ),
            reluctance=[_reluctance(size) for size in sizes],
            gap=2.0 * self.scale,
            reach=130 * self.scale,
        )
        for index in np.flatnonzero(placement.shown):
            text = variants[index][placement.variants[index]]
            self._set_name(text, placement.boxes[index], placement.leaders[index])
        for index, texts in enumerate(variants):
            keep = placement.variants[index]
            for number, text in enumerate(texts):
                if number != keep:
                    text.remove()
        self._draw_leaders(placement.leaders[placement.shown])
        return _side_table(topics, placement.boxes, frame, self.n_papers)

    def _variants(self, row: Any) -> list[Text]:
        """One text for each way to break a name into lines, in the style of its level."""
        name = clean_name(row.label)
        continent = row.level == 0
        texts = []
        for lines in line_breaks(name, most_lines=3 if len(name) > 14 else 2):
            shown = "\n".join(map(capitals, lines.split("\n"))) if continent else lines
            texts.append(
                self._text(
                    shown,
                    size=10.5 if continent else 8.6,
                    weight="bold" if continent else "normal",
                    colour=self.colours.continent if continent else self.colours.ink,
                    gid=f"topic-{row.topic_id}",
                )
            )
        return texts

    def _set_name(self, text: Text, box: Floats, leader: Floats) -> None:
        """Put a name into its box, over a halo."""
        from matplotlib.patheffects import Stroke

        text.set_position(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
        halo = self._text(
            text.get_text(),
            size=float(text.get_fontsize()) / self.scale,
            weight=str(text.get_fontweight()),
            gid="halo",
        )
        halo.set_position(text.get_position())
        # A text with a path effect is drawn as outlines: only the halo has one, so that the name
        # itself stays text in PDF and SVG.
        halo.set_path_effects(
            [Stroke(linewidth=2.4 * self.scale, foreground=self.colours.halo, alpha=0.75)]
        )
        halo.set_zorder(text.get_zorder() - 0.5)

    def _draw_leaders(self, leaders: Floats) -> None:
        from matplotlib.collections import LineCollection

        drawn = leaders[~np.isnan(leaders).any(axis=1)].reshape(-1, 2, 2)
        axes = self.sheet.axes[0]
        for colour, width, order in (
            (self.colours.halo, 1.8, 2.0),
            (self.colours.ink, 0.5, 2.1),
        ):
            lines = LineCollection(
                list(drawn), colors=colour, linewidths=width * self.scale, gid="leaders"
            )
            lines.set_transform(self.points)
            lines.set_zorder(order)
            axes.add_collection(lines, autolim=False)
        axes.plot(
            drawn[:, 0, 0],
            drawn[:, 0, 1],
            "o",
            transform=self.points,
            color=self.colours.ink,
            markersize=2.4 * self.scale,
            markeredgecolor=self.colours.halo,
            markeredgewidth=0.6 * self.scale,
            gid="peaks",
            zorder=2.2,
            scalex=False,
            scaley=False,
        )

    # -- caption and key

    @property
    def _caption_size(self) -> float:
        return 8.0 * self.scale

    @property
    def _key_width(self) -> float:
        return 168 * self.scale

    @property
    def _key_height(self) -> float:
        return 34 * self.scale

    def write_caption(self, head: str, sentences: Sequence[str], facts: MapFacts) -> None:
        """Write the caption below the map and the key beside it."""
        top = self.caption_height - 0.45 * self.margin
        for number, (line, weight, colour) in enumerate(
            self._caption_lines(head, sentences, facts)
        ):
            text = self._text(line, size=8.0, weight=weight, gid="caption", colour=colour)
            text.set(ha="left", va="baseline")
            text.set_position(
                (self.margin, top - self._caption_size * (1 + number * _LINE)),
            )
        self._draw_key(top)

    def _caption_lines(
        self, head: str, sentences: Sequence[str], facts: MapFacts
    ) -> list[tuple[str, str, str]]:
        """Lines of the caption with their weight and colour, broken to the width of the column."""
        column = self.width - 2 * self.margin - self._key_width - 2 * self.margin
        if column < 0.3 * self.width:
            column = self.width - 2 * self.margin
        blocks = [(head, "bold", self.colours.ink)]
        if facts.generated:
            blocks.insert(0, (GENERATED, "bold", self.colours.accent))
        blocks.append((" ".join(sentences), "normal", self.colours.faint))
        return [
            (line, weight, colour)
            for block, weight, colour in blocks
            for line in self._wrapped(block, weight, column)
        ]

    def _wrapped(self, block: str, weight: str, width: float) -> list[str]:
        lines = [""]
        for word in block.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            text = self._text(longer, size=8.0, weight=weight)
            fits = self._measure(text)[0] <= width
            text.remove()
            if fits or not lines[-1]:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _draw_key(self, top: float) -> None:
        """Draw the key: squares in map tones, each with the papers that an area its size holds."""
        from matplotlib.patches import Rectangle

        if self.tones is None:
            return
        side = 11 * self.scale
        area = (side / self.pixel) ** 2  # pixels in one square of the key
        values = key_values(self.tones.density(0.10) * area, self.tones.top * area)
        pitch = self._key_width / max(6, len(values))
        left = self.width - self.margin - pitch * len(values)
        title = self._text("Papers in a square this size", size=7.0, gid="key")
        title.set(ha="left", va="baseline", color=self.colours.faint)
        title.set_position((left, top - 7.0 * self.scale))
        for number, value in enumerate(values):
            x, y = left + number * pitch, top - 12 * self.scale - side
            tone = float(self.tones.position(value / area))
            colour = self.colours.ramp[round(tone * (len(self.colours.ramp) - 1))]
            square = Rectangle(
                (x, y), side, side, facecolor=tuple(colour), edgecolor=self.colours.faint
            )
            square.set(linewidth=0.3 * self.scale, transform=self.points, gid="key")
            self.sheet.add_artist(square)
            label = self._text(_short(value), size=6.6, gid="key", colour=self.colours.faint)
            label.set_position((x + side / 2, y - 6 * self.scale))

    def _write_title(self, title: str) -> None:
        text = self._text(title, size=14.0, weight="bold", gid="title")
        width, height = self._measure(text)
        height = math.ceil(height / self.pixel) * self.pixel
        room = self.width - 2 * self.margin
        if width > room:
            text.set_fontsize(14.0 * self.scale * room / width)
        text.set(ha="left", va="top")
        text.set_position((self.margin, self.height - 0.6 * self.margin))
        self.title_height = height + math.ceil(0.8 * self.margin / self.pixel) * self.pixel

    # -- text

    def _text(
        self,
        words: str,
        *,
        size: float,
        weight: str = "normal",
        gid: str = "",
        colour: str | None = None,
    ) -> Text:
        text: Text = self.sheet.text(
            0,
            0,
            words,
            transform=self.points,
            fontfamily=list(FONTS),
            fontsize=size * self.scale,
            fontweight=weight,
            color=colour or self.colours.ink,
            ha="center",
            va="center",
            linespacing=1.04,
            parse_math=False,
            gid=gid,
            zorder=3,
        )
        return text

    def _measure(self, text: Text) -> tuple[float, float]:
        """Width and height in points, with a hair more for the rounding of other resolutions."""
        import matplotlib as mpl

        from landscape.figures.sheet import SETTINGS

        with mpl.rc_context(SETTINGS):
            renderer = self.sheet.canvas.get_renderer()  # type: ignore[attr-defined]  # Agg's has it
            extent = text.get_window_extent(renderer)
        to_points = 72 / self.sheet.dpi
        return extent.width * to_points * 1.02 + 0.6, extent.height * to_points + 0.6


def key_values(least: float, most: float) -> list[float]:
    """Choose round numbers for the key, between two densities.

    Parameters
    ----------
    least, most : float
        Any unit.

    Returns
    -------
    list of float
        Two to six numbers.

    Examples
    --------
    >>> key_values(0.8, 120.0)
    [1.0, 3.0, 10.0, 30.0, 100.0]
    """
    for steps in ((1.0, 10.0), (1.0, 3.0), (1.0, 2.0, 5.0)):
        first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
        values = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        fitting = sorted({value for value in values if least <= value <= most})
        if len(fitting) >= 4:
            break
    return fitting[-6:] if len(fitting) >= 2 else [least, most]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.1g}"


def _window(values: Floats) -> tuple[float, float]:
    """Range of the papers; a few that lie far off do not shrink the map of all others."""
    least, most = float(values.min()), float(values.max())
    inner = np.quantile(values, [0.0005, 0.9995])
    slack = 0.10 * (inner[1] - inner[0])
    return max(least, float(inner[0] - slack)), min(most, float(inner[1] + slack))


def _reluctance(sizes: Floats) -> Floats:
    """Cost of each way to break a name: best about three times as wide as high."""
    shape = np.log2(sizes[:, 0] / sizes[:, 1] / 3.2)
    return np.asarray(0.35 * np.maximum(np.abs(shape) - 0.5, 0))


def _side_table(
    topics: pd.DataFrame, boxes: Floats, frame: Frame, n_papers: int
) -> pd.DataFrame:
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
