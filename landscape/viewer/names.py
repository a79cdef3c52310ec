"""Names of regions on a map that can be zoomed, each with the range of scales that shows it.

The scale of a map is its number of pixels per map width. The names are placed once, from the
smallest scale to the largest, so a browser only compares its scale with two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.figures.labels import capitals, clean_name, line_breaks, place_labels

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from PIL import ImageFont

SIZES = {0: 12.5, 1: 12.0, 2: 11.0}
"""Font sizes in pixels of continents, regions and subregions."""
LINE = 1.25
"""Line height relative to the font size."""
SMALLEST, LARGEST = 280.0, 40_000.0
"""Range of scales, in pixels per map width: a narrow phone, and single papers on a wide screen."""

_STEP = 2**0.25  # between two scales at which names are placed
_GAP = 9.0  # pixels between names
_REACH = 3.0  # pixels between a name and its peak, because there are no leader lines
# Scales from which regions and subregions are shown, and from which continents are not.
_REGIONS, _SUBREGIONS, _NO_CONTINENTS = 520.0, 2_600.0, 3_400.0
_FIRST_REGIONS, _REGIONS_LIMITED = 14, 900.0  # only the largest regions, up to this scale


@dataclass(frozen=True)
class Name:
    """A name, its lines, its offset from the peak in pixels, and the scales that show it."""

    topic_id: int
    level: int
    lines: tuple[str, ...]
    dx: float
    dy: float
    smallest: float
    largest: float


def name_ranges(topics: pd.DataFrame, x: NDArray[np.float64], y: NDArray[np.float64]) -> list[Name]:
    """Place the names of regions at all scales.

    Parameters
    ----------
    topics : pandas.DataFrame
        Regions with ``topic_id``, ``level``, ``label`` and ``n_papers``.
    x, y : ndarray of float, shape (n_topics,)
        Positions in map widths, from 0 to 1, with y upwards.

    Returns
    -------
    list of Name
        At any scale, the shown names do not overlap. A name that has appeared stays until the
        largest scale; continents give way to subregions.
    """
    if topics.empty:
        return []
    level = topics["level"].to_numpy(dtype=np.int64)
    order = np.lexsort((-topics["n_papers"].to_numpy(dtype=np.int64), level))
    largest_regions = order[level[order] == 1][:_FIRST_REGIONS]
    shapes = [
        shapes_of(str(label), int(lv)) for label, lv in zip(topics["label"], level, strict=True)
    ]
    has_continents = bool((level == 0).any())
    # A region that is alone in a continent has the same name, which is shown once at each scale.
    is_alone = (level == 1) & topics["label"].isin(topics.loc[level == 0, "label"]).to_numpy()
    shown: dict[int, Name] = {}
    done: list[Name] = []
    scale = SMALLEST
    while scale <= LARGEST:
        if scale >= _NO_CONTINENTS:
            gone = [row for row, name in shown.items() if name.level == 0]
            done += [replace(shown.pop(row), largest=scale) for row in gone]
        wanted = [
            row
            for row in order.tolist()
            if row not in shown
            and _is_wanted(int(level[row]), scale, has_continents)
            and not (is_alone[row] and scale < _NO_CONTINENTS)
        ]
        if scale < _REGIONS_LIMITED and has_continents:
            wanted = [row for row in wanted if level[row] != 1 or row in largest_regions]
        pixels = np.column_stack([x * scale, (1 - y) * scale])
        boxes = [_box(name, shapes[row], *pixels[row]) for row, name in shown.items()]
        for row, name in _place(wanted, pixels, shapes, boxes, scale):
            shown[row] = Name(int(topics["topic_id"].iloc[row]), int(level[row]), *name)
        scale *= _STEP
    return sorted([*done, *shown.values()], key=lambda name: (name.level, name.smallest))


def _is_wanted(level: int, scale: float, has_continents: bool) -> bool:
    if level == 0:
        return scale < _NO_CONTINENTS
    if level == 1:
        return scale >= _REGIONS or not has_continents
    return scale >= _SUBREGIONS


_Placed = tuple[tuple[str, ...], float, float, float, float]


def _place(
    rows: list[int],
    pixels: NDArray[np.float64],
    shapes: list[Shapes],
    boxes: list[tuple[float, float, float, float]],
    scale: float,
) -> list[tuple[int, _Placed]]:
    """Place more names beside those that are shown, and return their rows and positions."""
    if not rows:
        return []
    placed = place_labels(
        pixels[rows],
        [shapes[row].sizes for row in rows],
        frame=(-200, -40, scale + 200, scale + 40),
        reserved=np.array(boxes) if boxes else None,
        reluctance=[shapes[row].reluctance for row in rows],
        gap=_GAP,
        reach=_REACH,
        directions=8,
        repair=False,
    )
    found = []
    for number in np.flatnonzero(placed.shown).tolist():
        row, (x0, y0, x1, y1) = rows[number], placed.boxes[number].tolist()
        lines = shapes[row].lines[int(placed.variants[number])]
        dx, dy = (x0 + x1) / 2 - pixels[row, 0], (y0 + y1) / 2 - pixels[row, 1]
        found.append((row, (lines, round(dx, 1), round(dy, 1), scale, 1e9)))
    return found


def _box(name: Name, shape: Shapes, x: float, y: float) -> tuple[float, float, float, float]:
    width, height = shape.sizes[shape.lines.index(name.lines)]
    left, top = x + name.dx - width / 2, y + name.dy - height / 2
    return left - _GAP, top - _GAP, left + width + _GAP, top + height + _GAP


class Shapes(NamedTuple):
    """Possible line breaks of a name, with the sizes in pixels and the costs."""

    lines: list[tuple[str, ...]]
    sizes: NDArray[np.float64]
    reluctance: NDArray[np.float64]


@lru_cache(maxsize=4096)
def shapes_of(label: str, level: int, line: float = LINE) -> Shapes:
    """Return the line breaks of a name; `line` is the line height relative to the font size."""
    size, bold = SIZES[level], level == 0
    ways = line_breaks(clean_name(label, most=60), most_lines=3, longest_word=22)
    lines = [tuple(_raised(one) if bold else one for one in way.split("\n")) for way in ways]
    sizes = np.array(
        [
            (max(_width(one, size, bold) for one in some) + 2, line * size * len(some))
            for some in lines
        ]
    )
    # The best shape is about three times wider than it is high.
    return Shapes(lines, sizes, 0.55 * np.abs(np.log2(sizes[:, 0] / sizes[:, 1] / 3.4)))


def _raised(line: str) -> str:
    """Convert a line to capitals; remove hair spaces, which browsers draw too wide."""
    return capitals(line).replace("\u200a", "").replace("\u2004", " ")


def _width(line: str, size: float, bold: bool) -> float:
    """Return the width of a line in pixels, for the widest font that a browser may use."""
    return float(_font(bold).getlength(line)) * size / 100


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    from matplotlib.font_manager import FontProperties, findfont
    from PIL import ImageFont

    weight = "bold" if bold else "normal"
    return ImageFont.truetype(findfont(FontProperties(family="DejaVu Sans", weight=weight)), 100)
