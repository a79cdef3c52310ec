"""One map with a table beside it, or several maps on the same axes, on one page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.marginalia import draw_squares, write_caption
from landscape.figures.names import clean_name
from landscape.figures.page import Frame, Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from landscape.figures.caption import MapFacts
    from landscape.figures.hues import Series

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

Box = tuple[float, float, float, float]
BESIDE = 0.33  # of the page's width, for a table
_HEADING, _TOLD = 8.6, 7.0  # font sizes above a panel
_STRIP, _GAP = 14.0, 9.0  # points above a panel and between panels
_HATCH = "////"
_SQUARES = 6


@dataclass(frozen=True)
class Key:
    """A key of six squares for a ramp that is not the density of papers.

    Attributes
    ----------
    title : str
    ramp : ndarray of float, shape (n, 3)
        sRGB, 0 to 1.
    meanings : sequence of str
        What evenly spaced colours of the ramp mean, six at most.
    """

    title: str
    ramp: Floats
    meanings: Sequence[str]

    @property
    def squares(self) -> list[tuple[str, tuple[float, ...]]]:
        """Each meaning with its colour."""
        places = np.linspace(0, len(self.ramp) - 1, len(self.meanings)).round().astype(int)
        return [
            (meaning, tuple(float(part) for part in self.ramp[place]))
            for meaning, place in zip(self.meanings, places, strict=True)
        ]


class Plate(Page):
    """A page whose area holds one map and a column beside it, or several maps.

    Parameters
    ----------
    *args, **kwargs
        As for `landscape.figures.page.Page`.
    key : Key, optional
        Instead of the key of papers in a square.
    """

    def __init__(self, *args: Any, key: Key | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.key = key

    def write_caption(self, head: str, sentences: Sequence[str], facts: MapFacts) -> None:
        """Write the caption below the map, and the key beside it."""
        if self.key is None:
            super().write_caption(head, sentences, facts)
            return
        top = self.caption_height - 0.45 * self.margins.margin
        end = write_caption(self.setter, self.margins, head, sentences, facts, top=top)
        draw_squares(
            self.setter, self.margins, self.key.title, self.key.squares,
            top=top, below=end, legend=self.legend,
        )  # fmt: skip

    def divided(self, *, beside: float = BESIDE) -> tuple[Box, Box]:
        """Cut the area into the map's box and that of a column on its right, in points."""
        left, bottom, right, top = self.area
        cut = math.floor((right - beside * (right - left)) / self.pixel) * self.pixel
        margin = self.margins.margin
        roof = top - (0.2 if self.title_height else 0.8) * margin
        return (left, bottom, cut, top), (cut + 0.3 * margin, bottom, right - margin, roof)

    def tiled(self, n: int, box: Box | None = None) -> list[Box]:
        """Cut a box, or the area within its margins, into equal boxes for `n` maps, in points."""
        left, bottom, right, top = box or self.area
        margin = self.margins.margin
        if box is None:
            left, right = left + margin, right - margin
            top -= 0.0 if self.title_height else 0.5 * margin
        gap, strip = _GAP * self.scale, _STRIP * self.scale
        width, height = right - left, top - bottom

        def size(columns: int) -> tuple[float, float]:
            rows = math.ceil(n / columns)
            across = (width - gap * (columns - 1)) / columns
            return across, (height - gap * (rows - 1)) / rows - strip

        # The largest square that fits into each panel, as maps are about as wide as high.
        columns = max(range(1, n + 1), key=lambda c: (min(size(c)), -c))
        across, up = (self._down_to_pixels(length) for length in size(columns))
        boxes = []
        for number in range(n):
            row, column = divmod(number, columns)
            x0, y1 = left + column * (across + gap), top - strip - row * (up + strip + gap)
            boxes.append((x0, y1 - up, x0 + across, y1))
        return boxes

    def _down_to_pixels(self, length: float) -> float:
        return max(math.floor(length / self.pixel), 8) * self.pixel

    # -- what is drawn

    def add_map(self, frame: Frame, *, framed: bool = False) -> Axes:
        """Put axes in map units into a frame; with `framed` a thin line round them."""
        left, bottom, right, top = frame.page
        width, height = self.margins.width, self.margins.height
        axes: Axes = self.sheet.add_axes(
            (left / width, bottom / height, (right - left) / width, (top - bottom) / height)
        )
        x0, y0, x1, y1 = frame.box
        axes.set(xlim=(x0, x1), ylim=(y0, y1), xticks=[], yticks=[])
        axes.set_gid("map")
        axes.set_facecolor("none")
        for spine in axes.spines.values():
            spine.set(visible=framed, color=self.colours.faint, linewidth=0.4 * self.scale)
        return axes

    def repeat_density(self, frames: Sequence[Frame]) -> list[Axes]:
        """Repeat the first map's density picture in further frames of the same size."""
        first = self.sheet.axes[0]
        first.set_axis_on()
        first.set(xticks=[], yticks=[], facecolor="none")
        for spine in first.spines.values():
            spine.set(color=self.colours.faint, linewidth=0.4 * self.scale)
        picture = np.asarray(first.images[0].get_array())
        made = []
        for frame in frames:
            axes = self.add_map(frame, framed=True)
            x0, y0, x1, y1 = frame.box
            axes.imshow(
                picture, extent=(x0, x1, y0, y1), origin="lower", aspect="auto", gid="density"
            )
            made.append(axes)
        return made

    def write_heading(
        self, box: Box, words: str, told: str = "", *, colour: str | None = None
    ) -> None:
        """Write a heading above a panel, and smaller what is told about it."""
        left, _, right, top = box
        y = top + 3.2 * self.scale
        kept = self.setter.extent(told, size=_TOLD).width + 6 * self.scale if told else 0.0
        room = max(right - left - kept, 0.5 * (right - left))
        name = self._fitting(words, size=_HEADING, weight="bold", width=room)
        text = self.setter.text(name, size=_HEADING, weight="bold", gid="heading", colour=colour)
        text.set(ha="left", va="baseline", position=(left, y))
        used = self.setter.extent(name, size=_HEADING, weight="bold").width + 5 * self.scale
        rest = right - left - used
        if told and self.setter.extent(told, size=_TOLD).width <= rest:
            side = self.setter.text(told, size=_TOLD, gid="told", colour=self.colours.faint)
            side.set(ha="right", va="baseline", position=(right, y))

    def _fitting(self, words: str, *, size: float, weight: str, width: float) -> str:
        """A line cut to a width, an ellipsis at its end."""
        name = clean_name(words)
        shown = name
        while len(name) > 1 and self.setter.extent(shown, size=size, weight=weight).width > width:
            name = name[:-1].rstrip()
            shown = f"{name}…"
        return shown


def draw_picture(axes: Axes, picture: Floats, extent: Box, *, gid: str, order: float = 1.0) -> None:
    """Draw an RGBA picture on a map, row 0 the lowest, smooth between its cells."""
    x0, y0, x1, y1 = extent
    limits = axes.get_xlim(), axes.get_ylim()
    axes.imshow(
        picture, extent=(x0, x1, y0, y1), origin="lower", aspect="auto",
        interpolation="bilinear", gid=gid, zorder=order,
    )  # fmt: skip
    axes.set(xlim=limits[0], ylim=limits[1])


def hatch(axes: Axes, where: Bools, extent: Box, *, colour: str) -> None:
    """Hatch the cells of a grid that are true, row 0 the lowest: what the corpus does not cover."""
    if not where.any():
        return
    across, up = _centres(extent, where.shape)
    hatched = axes.contourf(
        across, up, where.astype(float), levels=[0.5, 1.5], colors="none", hatches=[_HATCH]
    )
    hatched.set(edgecolor=colour, linewidth=0.0, zorder=1.3, gid="not covered")


def draw_lines(
    axes: Axes,
    lines: Sequence[Floats],
    style: Series,
    *,
    width: float,
    gid: str,
    halo: str | None = None,
    fill: float = 0.0,
) -> None:
    """Draw contours, each of shape (n, 2) in map units, over a halo and a light fill."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not lines:
        return
    if fill:
        # One compound path, so that the rims of holes stay holes.
        whole = Path.make_compound_path(*(Path(line, closed=True) for line in lines))
        axes.add_patch(
            PathPatch(whole, facecolor=style.colour, alpha=fill, linewidth=0, gid=f"{gid} fill")
        )
    for colour, wide, dashes, order in (
        (halo, width * 2.4, "-", 1.6), (style.colour, width, style.dashes, 1.7),
    ):  # fmt: skip
        if colour:
            drawn = LineCollection(list(lines), colors=colour, linewidths=wide, linestyles=[dashes])
            drawn.set(gid=gid, zorder=order, capstyle="butt", joinstyle="round")
            axes.add_collection(drawn, autolim=False)


def _centres(extent: Box, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Places of the cells of a grid."""
    x0, y0, x1, y1 = extent
    across = x0 + (np.arange(shape[1]) + 0.5) * (x1 - x0) / shape[1]
    up = y0 + (np.arange(shape[0]) + 0.5) * (y1 - y0) / shape[0]
    return across, up
