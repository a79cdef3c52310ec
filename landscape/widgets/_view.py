"""View of a map in a panel: its window, its scale, and the papers inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Rows = NDArray[np.int32]
    Floats = NDArray[np.float32]

Box = tuple[float, float, float, float]
Size = tuple[int, int]
_SAMPLED = 200_000  # number of positions used to compute the window of all papers
_MARGIN = 0.06
CLOSEST = 2e4  # largest zoom with enough precision in float32
FARTHEST = 1e-2


@dataclass(frozen=True)
class View:
    """A window of the map, with the same scale in x and y."""

    box: Box

    @property
    def width(self) -> float:
        """Width in map units."""
        return self.box[2] - self.box[0]

    @property
    def height(self) -> float:
        """Height in map units."""
        return self.box[3] - self.box[1]

    @property
    def centre(self) -> tuple[float, float]:
        """Position of the centre in map units."""
        x0, y0, x1, y1 = self.box
        return (x0 + x1) / 2, (y0 + y1) / 2

    def zoomed(self, factor: float) -> View:
        """Return a view with the same centre, zoomed in by a factor."""
        (x, y), across, up = self.centre, self.width / factor / 2, self.height / factor / 2
        return View((x - across, y - up, x + across, y + up))

    def moved(self, across: float, up: float) -> View:
        """Return a view shifted by fractions of the window size."""
        x0, y0, x1, y1 = self.box
        dx, dy = across * self.width, up * self.height
        return View((x0 + dx, y0 + dy, x1 + dx, y1 + dy))

    def to_pixels(self, x: ArrayLike, y: ArrayLike, size: Size) -> np.ndarray:
        """Convert map units to pixels, shape (n, 2). The origin is the lower left corner."""
        x0, y0, x1, y1 = self.box
        across = (np.asarray(x, dtype=float) - x0) * (size[0] / (x1 - x0))
        up = (np.asarray(y, dtype=float) - y0) * (size[1] / (y1 - y0))
        return np.column_stack([across, up])

    def holds(self, x: np.ndarray, y: np.ndarray) -> NDArray[np.bool_]:
        """Return whether positions are in the window, shape (n,)."""
        x0, y0, x1, y1 = self.box
        return (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)

    def differs_from(self, other: View) -> bool:
        """Return whether another view is visibly different."""
        tolerance = 1e-3 * min(self.width, other.width)
        return bool(np.max(np.abs(np.subtract(self.box, other.box))) > tolerance)


def view_of(box: Sequence[float], size: Size) -> View:
    """Return the smallest view that contains a box and has the aspect ratio of a size."""
    try:
        x0, y0, x1, y1 = (float(side) for side in box)
    except (TypeError, ValueError):
        raise InputError(f"The view is {box!r}; give (x0, y0, x1, y1) in map units.") from None
    if not (np.isfinite([x0, y0, x1, y1]).all() and x1 > x0 and y1 > y0):
        raise InputError(f"The view {box!r} is empty; give (x0, y0, x1, y1) with x0 < x1.")
    unit = max((x1 - x0) / size[0], (y1 - y0) / size[1])  # map units per pixel
    if unit * size[0] == x1 - x0 and unit * size[1] == y1 - y0:
        return View((x0, y0, x1, y1))
    (x, y), across, up = ((x0 + x1) / 2, (y0 + y1) / 2), unit * size[0] / 2, unit * size[1] / 2
    return View((x - across, y - up, x + across, y + up))


def whole_view(x: np.ndarray, y: np.ndarray, size: Size) -> View:
    """Return a view of all papers, except for extreme positions."""
    sides = []
    for values in (x, y):
        some = np.asarray(values[:: max(1, len(values) // _SAMPLED)], dtype=float)
        if not len(some):
            sides.append((-1.0, 1.0))
            continue
        low, high = np.quantile(some, [0.0005, 0.9995])
        beyond = 0.2 * (high - low)
        low, high = max(float(some.min()), low - beyond), min(float(some.max()), high + beyond)
        # The margin is positive even if all papers have the same position.
        margin = max(_MARGIN * (high - low), 1e-3 * max(1.0, abs(low)))
        sides.append((float(low - margin), float(high + margin)))
    (x0, x1), (y0, y1) = sides
    return view_of((x0, y0, x1, y1), size)


# Tiles per side. Tile numbers fit into 16 bits, which numpy sorts in linear time.
_MAX_TILES = 250
_PAPERS_PER_TILE = 40


class Points:
    """Positions of papers, sorted by tile; queries read only the tiles that they need."""

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        self.n_papers = len(np.asarray(x))
        across, up = (np.asarray(side, dtype=np.float32) for side in (x, y))
        rows = np.arange(self.n_papers, dtype=np.int32)
        finite = np.isfinite(across) & np.isfinite(up)
        if not finite.all():
            across, up, rows = across[finite], up[finite], rows[finite]
        self._side = int(np.clip(np.sqrt(len(rows) / _PAPERS_PER_TILE), 1, _MAX_TILES))
        self._low = high = np.zeros(2)
        if len(rows):
            self._low = np.array([across.min(), up.min()], dtype=np.float64)
            high = np.array([across.max(), up.max()], dtype=np.float64)
        self._scale = self._side / np.maximum(high - self._low, 1e-12) * (1 - 1e-6)
        tile = self._tile_of(across, 0) + np.uint16(self._side) * self._tile_of(up, 1)
        order = np.argsort(tile, kind="stable")
        self.x, self.y, self.rows = across[order], up[order], rows[order]
        counts = np.bincount(tile, minlength=self._side**2)
        self._starts = np.concatenate([[0], np.cumsum(counts)])

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, mask: NDArray[np.bool_]) -> Points:
        """Return the points selected by a mask of shape (n_papers,), without sorting again."""
        kept = mask[self.rows]
        if kept.all():
            return self
        chosen = object.__new__(Points)
        chosen.n_papers, chosen._side = self.n_papers, self._side
        chosen._low, chosen._scale = self._low, self._scale
        chosen.x, chosen.y, chosen.rows = self.x[kept], self.y[kept], self.rows[kept]
        chosen._starts = np.concatenate([[0], np.cumsum(kept)])[self._starts]
        return chosen

    def near(self, box: Box) -> tuple[Floats, Floats, Rows]:
        """Return x, y and rows of the papers in all tiles that overlap a window."""
        first, last = (
            [
                int(np.clip((corner[axis] - self._low[axis]) * self._scale[axis], -1, self._side))
                for axis in (0, 1)
            ]
            for corner in (box[:2], box[2:])
        )
        c0, r0 = max(0, first[0]), max(0, first[1])
        c1, r1 = min(self._side - 1, last[0]), min(self._side - 1, last[1])
        if c0 == 0 and c1 == self._side - 1:  # complete rows of tiles are contiguous
            spans = [(r0 * self._side, (r1 + 1) * self._side)] if r1 >= r0 else []
        else:
            spans = [(r * self._side + c0, r * self._side + c1 + 1) for r in range(r0, r1 + 1)]
        pieces = [slice(self._starts[a], self._starts[b]) for a, b in spans if b > a]
        if len(pieces) == 1:
            return self.x[pieces[0]], self.y[pieces[0]], self.rows[pieces[0]]
        if not pieces:
            return self.x[:0], self.y[:0], self.rows[:0]
        x, y, rows = (
            np.concatenate([side[piece] for piece in pieces])
            for side in (self.x, self.y, self.rows)
        )
        return x, y, rows

    def within(self, box: Box) -> Rows:
        """Return the rows of the papers in a window, in ascending order."""
        x, y, rows = self.near(box)
        x0, y0, x1, y1 = box
        return np.sort(rows[(x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)])

    def inside(self, xs: Sequence[float], ys: Sequence[float]) -> Rows:
        """Return the sorted rows of the papers inside an outline (even-odd rule)."""
        corners = np.column_stack([xs, ys]).astype(np.float64)
        corners = corners[np.isfinite(corners).all(axis=1)]
        if len(corners) < 3:
            return self.rows[:0]
        low, high = corners.min(axis=0), corners.max(axis=0)
        x, y, rows = self.near((low[0], low[1], high[0], high[1]))
        inside = np.zeros(len(rows), dtype=bool)
        # A ray that starts inside the outline crosses it an odd number of times.
        for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if ay == by:
                continue
            crosses = (y < ay) != (y < by)
            inside[crosses] ^= x[crosses] > ax + (y[crosses] - ay) * (bx - ax) / (by - ay)
        return np.sort(rows[inside])

    def _tile_of(self, values: Floats, axis: int) -> NDArray[np.uint16]:
        scaled = (values - self._low[axis]) * self._scale[axis]
        return np.asarray(np.clip(scaled, 0, self._side - 1), dtype=np.uint16)


def rows_of_selection(selection: ArrayLike, n_papers: int) -> NDArray[np.int64]:
    """Return the rows of a selection, given as row numbers or a mask, which may be empty."""
    from landscape.overlays.trends.comparison import select_rows

    given = np.asarray(selection)
    if not given.size or (given.dtype == bool and not given.any() and len(given) == n_papers):
        return np.zeros(0, dtype=np.int64)
    return select_rows(None, given, n_papers)
