"""Names of regions for a window: level by level as one comes nearer, never one over another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.figures._labels import boxes_overlap, capitals, clean_name, line_breaks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.widgets._view import Size, View

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SIZES = {0: 12.5, 1: 12.0}  # pixels of the names of continents and of regions
LINE = 1.3  # plotly's line height, in font sizes
_GAP = 5.0
_MOST = 44
_FAR, _NEAR, _CLOSE = 1.5, 3.0, 6.0  # zooms at which regions come and continents go
_FIRST_REGIONS = 12  # named from far away already
# Places of a name about its peak, in widths and heights of the name, the best first.
_SLIDES = np.array(
    [(0, 0), (0, 0.6), (0, -0.6), (0.3, 0), (-0.3, 0), (0, 1.35), (0, -1.35), (0.3, 0.7),
     (-0.3, 0.7),     (0.3, -0.7), (-0.3, -0.7), (0.5, 0), (-0.5, 0)]
)  # fmt: skip


@dataclass(frozen=True)
class Name:
    """A name where it is written."""

    topic_id: int
    level: int
    lines: tuple[str, ...]
    x: float
    y: float
    box: tuple[float, float, float, float]


class Labels:
    """The names of an atlas, measured once and placed for every view."""

    def __init__(self, topics: Any) -> None:
        from landscape.figures._maps import chosen_topics

        table = chosen_topics(topics, levels=(0, 1))
        self.table = table
        self._level = table["level"].to_numpy(dtype=np.int64)
        self._x, self._y = (table[side].to_numpy(dtype=np.float64) for side in ("x", "y"))
        self._ids = table["topic_id"].to_numpy(dtype=np.int64)
        self._has_continents = bool((self._level == 0).any())
        self._variants = [
            _variants(str(label), int(level))
            for label, level in zip(table["label"], self._level, strict=True)
        ]

    @cached_property
    def cards(self) -> dict[int, str]:
        """What is told of each region under the pointer, by its number."""
        from landscape.figures._plotly import safe_text

        cards = {}
        for row in self.table.to_dict("records"):
            words = row.get("keywords")
            some = [] if words is None or isinstance(words, str | float) else list(words[:3])
            told = f"<b>{safe_text(row['label'])}</b><br>{count(int(row['n_papers']), 'paper')}"
            if some:
                told += f"<br>{', '.join(map(safe_text, some))}"
            cards[int(row["topic_id"])] = f"{told}<br><i>click to go there</i>"
        return cards

    def in_view(self, view: View, *, zoom: float) -> NDArray[np.int64]:
        """Places in `table` of the names that a view should show, the most important first."""
        there = view.holds(self._x, self._y)
        continents = np.flatnonzero(there & (self._level == 0))
        regions = np.flatnonzero(there & (self._level == 1))
        if zoom < _FAR and self._has_continents:
            regions = regions[:_FIRST_REGIONS]
        if zoom >= _CLOSE:
            continents = continents[:0]
        first, then = (continents, regions) if zoom < _NEAR else (regions, continents)
        return np.concatenate([first, then])[:_MOST]

    def place(
        self, view: View, size: Size, *, zoom: float, reserved: Any = None, avoided: Any = None
    ) -> list[Name]:
        """Choose and place names."""
        chosen = self.in_view(view, zoom=zoom)
        peaks = view.to_pixels(self._x[chosen], self._y[chosen], size)
        taken = np.empty((0, 4)) if reserved is None else np.asarray(reserved, dtype=float)
        soft = np.empty((0, 4)) if avoided is None else np.asarray(avoided, dtype=float)
        placed: list[Name] = []
        unit = view.width / size[0]
        for index, peak in zip(chosen.tolist(), peaks, strict=True):
            found = _first_free(peak, self._variants[index], taken, soft, size)
            if found is None:
                continue
            lines, box = found
            taken = np.vstack([taken, box])
            placed.append(
                Name(
                    int(self._ids[index]), int(self._level[index]), lines,
                    view.box[0] + unit * float(box[0] + box[2]) / 2,
                    view.box[1] + unit * float(box[1] + box[3]) / 2,
                    (float(box[0]), float(box[1]), float(box[2]), float(box[3])),
                )
            )  # fmt: skip
        return placed


_Variant = tuple[tuple[str, ...], float, float]


def _first_free(
    peak: Any, variants: tuple[_Variant, ...], taken: Any, avoided: Any, size: Size
) -> tuple[tuple[str, ...], Any] | None:
    """The first shape and place that is free, and covers the fewest of what is to be avoided."""
    best: tuple[int, tuple[str, ...], Any] | None = None
    for lines, width, height in variants:
        half = np.array([width, height]) / 2
        centres = peak + _SLIDES * (2 * half)
        # Beside the edge a name moves in rather than away.
        centres = np.clip(centres, half + 2, np.maximum(half + 2, np.array(size) - half - 2))
        near = (np.abs(centres - peak) <= 2.4 * half + 8).all(axis=1)
        boxes = np.hstack([centres - half, centres + half])[near]
        if len(taken):
            boxes = boxes[~boxes_overlap(boxes[:, None], taken[None], gap=_GAP).any(axis=1)]
        if not len(boxes):
            continue
        if not len(avoided):
            return lines, boxes[0]
        covered = boxes_overlap(boxes[:, None], avoided[None], gap=0).sum(axis=1)
        first = int(np.argmin(covered))
        if best is None or covered[first] < best[0]:
            best = int(covered[first]), lines, boxes[first]
        if not best[0]:
            break
    return None if best is None else best[1:]


@lru_cache(maxsize=4096)
def _variants(label: str, level: int) -> tuple[_Variant, ...]:
    """The ways to break a name into lines with their sizes, the best shape first."""
    size, bold = SIZES.get(level, SIZES[1]), level == 0
    ways = []
    for broken in line_breaks(clean_name(label, most=60), most_lines=3, longest_word=22):
        lines = tuple(_raised(line) if bold else line for line in broken.split("\n"))
        width = max(_width(line, size, bold) for line in lines) + 2
        height = LINE * size * len(lines)
        ways.append((abs(float(np.log2(width / height / 3.4))), (lines, width, height)))
    return tuple(way for _, way in sorted(ways, key=lambda one: one[0]))


def _raised(line: str) -> str:
    """Capitals without the hair spaces of print, which browsers set too wide."""
    return capitals(line).replace("\u200a", "").replace("\u2004", " ")


def _width(line: str, size: float, bold: bool) -> float:
    """Pixels, measured in the widest of the fonts that a browser may choose."""
    return float(_font(bold).getlength(line)) * size / 100


@cache
def _font(bold: bool) -> Any:
    from matplotlib.font_manager import FontProperties, findfont
    from PIL import ImageFont

    weight = "bold" if bold else "normal"
    return ImageFont.truetype(findfont(FontProperties(family="DejaVu Sans", weight=weight)), 100)
