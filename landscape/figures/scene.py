"""Description of a figure: panels with layers, drawn by matplotlib or plotly.

Page positions are in points (1/72 inch) from the lower left corner. Layers use the data
coordinates of their panel; names and texts use points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures.caption import Caption
    from landscape.figures.colours import Theme

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Box = tuple[float, float, float, float]
#: Hover texts, one for each point, or a function that returns them (if reading is slow).
Hover = Sequence[str] | Callable[[], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A part of a panel. `gid` is its name in files. Layers with a higher `order` are on top."""

    gid: str = ""
    order: float = 2.0
    name: str = ""  # name in the legend in the browser
    screen: bool | None = None  # True: drawn only in the browser; False: only in print


@dataclass(frozen=True, kw_only=True)
class Image(Layer):
    """A picture of sRGB or sRGBA pixels, with row 0 at the bottom, that fills its `extent`."""

    pixels: np.ndarray
    extent: Box
    smooth: bool = False


@dataclass(frozen=True, kw_only=True)
class Lines(Layer):
    """Lines of one style, each of shape (n, 2); `fill` is the opacity of the enclosed area."""

    lines: Sequence[Floats]
    colour: str
    width: float
    dashes: Any = "-"
    fill: float = 0.0
    opacity: float = 1.0
    hover: str = ""


@dataclass(frozen=True, kw_only=True)
class Curve(Layer):
    """A curve, which is interrupted where values are NaN."""

    x: np.ndarray | Sequence[float]
    y: np.ndarray | Sequence[float]
    colour: str
    width: float
    hover: Hover = ()


@dataclass(frozen=True, kw_only=True)
class Points(Layer):
    """Symbols with common or individual colours and sizes; `size` is the diameter in points."""

    x: np.ndarray | Sequence[float]
    y: np.ndarray | Sequence[float]
    colour: str | np.ndarray
    size: float | np.ndarray
    marker: str = "o"
    edge: str | None = None
    edge_width: float = 0.0
    filled: bool = True
    opacity: float = 1.0
    hover: Hover = ()
    bar: ColourBar | None = None
    of: int = 0  # total number of papers if the points are a sample, else 0


@dataclass(frozen=True)
class ColourBar:
    """Colour scale of points in the browser: values of the points, limits and colour ramp."""

    title: str
    values: np.ndarray
    limits: tuple[float, float]
    ramp: Floats


@dataclass(frozen=True, kw_only=True)
class Intervals(Layer):
    """Values with intervals, drawn at the positions `at` on the vertical axis."""

    at: np.ndarray | Sequence[float]
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colours: Sequence[str]
    filled: Sequence[bool]
    width: float
    size: float
    hover: Hover = ()


@dataclass(frozen=True, kw_only=True)
class Band(Layer):
    """The area between two curves."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    colour: str


@dataclass(frozen=True, kw_only=True)
class Rule(Layer):
    """A vertical line at `x` with a label at its upper end."""

    x: float
    colour: str
    width: float
    dashes: Any = "-"
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Spans(Layer):
    """Ranges of years that the corpus covers in part, drawn as hatched bands."""

    spans: Sequence[tuple[float, float]]
    colour: str


@dataclass(frozen=True, kw_only=True)
class Hatched(Layer):
    """Hatched cells of a grid with few papers of a period; row 0 is the lowest row."""

    where: Bools
    extent: Box
    colour: str


@dataclass(frozen=True, kw_only=True)
class Arrows(Layer):
    """Bent arrows from `starts` to `ends`, each of shape (n, 2)."""

    starts: Floats
    ends: Floats
    colour: str
    width: float


@dataclass(frozen=True, kw_only=True)
class Squares(Layer):
    """Filled boxes with a thin edge."""

    boxes: Sequence[Box]
    colours: Sequence[str | tuple[float, ...]]
    edge: str
    width: float


@dataclass(frozen=True)
class Name:
    """A name on the page, with its lines of text and the box around them in points."""

    lines: Sequence[str]
    box: Floats
    baselines: Sequence[float]
    size: float
    weight: str
    colour: str
    gid: str
    side: str = "center"
    hover: str = ""
    peak: tuple[float, float] = (0.0, 0.0)  # the labelled position, in points


@dataclass(frozen=True, kw_only=True)
class Names(Layer):
    """Names with halos, and leader lines that connect them to their peaks."""

    names: Sequence[Name]
    leaders: Floats = field(default_factory=lambda: np.empty((0, 4)))
    leader_colour: str = ""
    peaks: bool = True


@dataclass(frozen=True)
class Text:
    """One line of text; `x, y` is the position of its baseline in points."""

    words: str
    x: float
    y: float
    size: float
    colour: str
    weight: str = "normal"
    align: str = "left"
    gid: str = "words"
    in_panel: bool = False  # drawn above the layers of a panel, on the page colour


@dataclass(frozen=True)
class Axis:
    """An axis with its ticks; an axis without ticks is not drawn."""

    limits: tuple[float, float]
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""
    log: bool = False


@dataclass(frozen=True)
class Panel:
    """A rectangle of the page with its own axes."""

    box: Box
    x: Axis
    y: Axis
    gid: str = "chart"
    edge: str = "none"  # "none", "box" or "chart" (lines at the left and the bottom)
    heading: str = ""
    rows: Sequence[tuple[float, str]] = ()
    layers: list[Any] = field(default_factory=list)

    def to_data(self, points: ArrayLike) -> Floats:
        """Convert page positions in points to data coordinates, shape (n, 2)."""
        left, bottom, right, top = self.box
        share = (np.asarray(points, dtype=float).reshape(-1, 2) - (left, bottom)) / (
            right - left,
            top - bottom,
        )
        low = np.array([self.x.limits[0], self.y.limits[0]])
        return np.asarray(low + share * (np.array([self.x.limits[1], self.y.limits[1]]) - low))

    def to_page(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Convert data coordinates to page positions in points, shape (n, 2)."""
        (left, bottom, right, top), (x0, x1), (y0, y1) = self.box, self.x.limits, self.y.limits
        across = left + (np.asarray(x, dtype=float) - x0) * (right - left) / (x1 - x0)
        up = bottom + (np.asarray(y, dtype=float) - y0) * (top - bottom) / (y1 - y0)
        return np.column_stack([across, up])

    @property
    def extent(self) -> Box:
        """``x0, y0, x1, y1`` in data coordinates."""
        return self.x.limits[0], self.y.limits[0], self.x.limits[1], self.y.limits[1]

    def outside(self, x: Floats, y: Floats) -> int:
        """Return the number of papers outside the panel."""
        x0, y0, x1, y1 = self.extent
        return int(((x < x0) | (x > x1) | (y < y0) | (y > y1)).sum())


@dataclass(frozen=True)
class Scene:
    """Description of a whole figure: panels, texts, caption and data."""

    size: tuple[float, float]
    scale: float
    colours: Theme
    title: str
    caption: Caption
    panels: Sequence[Panel]
    layers: Sequence[Layer] = ()
    texts: Sequence[Text] = ()
    on_screen: Sequence[str] = ("map",)
    alt_text: str = ""
    table: pd.DataFrame | None = None
    below: str = ""  # HTML below the figure in a file for the browser


def padded_range(values: np.ndarray) -> tuple[float, float]:
    """Return the range of positions plus a border, without a few distant outliers."""
    low, high = np.quantile(values, [0.0005, 0.9995])
    border = 0.2 * (high - low)
    least, most = float(np.min(values)), float(np.max(values))
    return max(least, float(low - border)), min(most, float(high + border))


def uncovered_spans(years: ArrayLike, covered: ArrayLike) -> list[tuple[float, float]]:
    """Return the intervals of years that a corpus covers in part, extended by half a year."""
    gaps = np.unique(np.asarray(years, dtype=int)[~np.asarray(covered, dtype=bool)])
    runs = np.split(gaps, np.flatnonzero(np.diff(gaps) > 1) + 1)
    return [(float(run[0]) - 0.5, float(run[-1]) + 0.5) for run in runs if len(run)]


def ticks(
    limits: tuple[float, float], n: int, form: Callable[[float], str], *, whole: bool = False
) -> list[tuple[float, str]]:
    """Return about `n` round values between two limits, with labels."""
    from matplotlib.ticker import MaxNLocator

    low, high = sorted(limits)
    found = MaxNLocator(n, steps=[1, 2, 5, 10], integer=whole).tick_values(low, high)
    slack = 1e-9 * (high - low)
    return [(float(v), form(float(v))) for v in found if low - slack <= v <= high + slack]


def power_ticks(
    limits: tuple[float, float], form: Callable[[float], str], *, base: float = 2.0
) -> list[tuple[float, str]]:
    """Return at most nine powers of a base between two limits, with labels."""
    ends = np.log(limits) / np.log(base)
    low, high = np.ceil(ends[0] - 1e-9), np.floor(ends[1] + 1e-9)
    step = max(1, int(np.ceil((high - low + 1) / 9)))
    first = -step * int(-low // step) if low < 0 else int(low)
    return [(base**p, form(base**p)) for p in range(first, int(high) + 1, step)]


def tile(box: Box, n: int, *, heading: float, gap: float, pixel: float = 0.0) -> list[Box]:
    """Split a box into `n` equal boxes below headings, row by row from the upper left.

    If `pixel` is given, the sides of the boxes are whole pixels, and the shorter side is as long
    as possible (for maps). Otherwise, the aspect ratio of the boxes is about 5:4 (for charts).
    """
    left, bottom, right, top = box
    width, height = right - left, top - bottom

    def size(columns: int) -> tuple[float, float]:
        rows = math.ceil(n / columns)
        across = (width - gap * (columns - 1)) / columns
        return across, (height - gap * (rows - 1)) / rows - heading

    def cost(columns: int) -> float:
        """Return the deviation from an aspect ratio of 5:4, plus a penalty for empty boxes."""
        rows = math.ceil(n / columns)
        shape = ((width / columns) - gap) / max(1.0, height / rows - heading - gap)
        return abs(math.log(max(shape, 1e-3) / 1.25)) + 0.35 * (rows * columns - n) / n

    if pixel:
        columns = max(range(1, n + 1), key=lambda c: (min(size(c)), -c))
        across, up = (max(math.floor(side / pixel), 8) * pixel for side in size(columns))
    else:
        columns = min(range(1, n + 1), key=cost)
        across, up = size(columns)
    boxes = []
    for row, column in (divmod(number, columns) for number in range(n)):
        x0, y1 = left + column * (across + gap), top - heading - row * (up + heading + gap)
        boxes.append((x0, y1 - up, x0 + across, y1))
    return boxes
