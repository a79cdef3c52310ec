"""Density of papers on the map: grid, smoothing, contours, peaks and their basins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ONE_SPOT = 1e-30  # a smaller span counts as zero: its fractions underflow
_BLOCK = 500_000  # papers counted at a time: their cells need no memory for all of them
_ENOUGH_TO_COUNT = 100  # papers; contours of fewer would shrink to points

Bounds = tuple[float, float, float, float]

# From here on points are counted by datashader, which needs no index array. Importing and
# compiling it takes longer than a figure, so NumPy counts fewer points.
_MANY = 500_000


@dataclass(frozen=True)
class DensityGrid:
    """Counts of papers in cells, and the same smoothed; row 0 is the lowest y."""

    density: NDArray[np.float64]
    counts: NDArray[np.float64]
    left: float
    bottom: float
    cell_width: float
    cell_height: float
    bandwidth: float

    @classmethod
    def of_window(cls, bounds: Bounds, density: NDArray[np.float64]) -> DensityGrid:
        """A density that was computed elsewhere, on a window of the map."""
        left, bottom, right, top = bounds
        n_rows, n_columns = density.shape
        cell = ((right - left) / n_columns, (top - bottom) / n_rows)
        return cls(density, density, left, bottom, *cell, bandwidth=0.0)

    @property
    def bounds(self) -> Bounds:
        """Edges ``(x0, y0, x1, y1)`` in map units."""
        n_rows, n_columns = self.density.shape
        right = self.left + n_columns * self.cell_width
        return self.left, self.bottom, right, self.bottom + n_rows * self.cell_height

    def cells_of(
        self, x: NDArray[np.floating], y: NDArray[np.floating]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and column of each paper; papers beyond the edge get the edge's cell."""
        n_rows, n_columns = self.density.shape
        columns = np.floor((np.asarray(x, dtype=np.float64) - self.left) / self.cell_width)
        rows = np.floor((np.asarray(y, dtype=np.float64) - self.bottom) / self.cell_height)
        return (
            np.clip(rows, 0, n_rows - 1).astype(np.int64),
            np.clip(columns, 0, n_columns - 1).astype(np.int64),
        )

    def centre_of(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Map coordinates of the centres of cells."""
        x = np.asarray(self.left + (columns + 0.5) * self.cell_width, dtype=np.float64)
        y = np.asarray(self.bottom + (rows + 0.5) * self.cell_height, dtype=np.float64)
        return x, y


@dataclass(frozen=True)
class Basins:
    """Peaks of the density and the ground around each."""

    labels: NDArray[np.int32]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    height: NDArray[np.float64]


def density_grid(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Bounds | None = None,
    shape: tuple[int, int] | None = None,
    bandwidth: float | None = None,
    weights: ArrayLike | None = None,
    n_cells: int = 512,
) -> DensityGrid:
    """Count papers on a grid and smooth the counts with a Gaussian.

    Parameters
    ----------
    x, y : array_like of float, shape (n_papers,)
        Map coordinates.
    bounds : tuple of float, optional
        Window ``(x0, y0, x1, y1)`` in map units; papers outside are not counted. Densities that
        are compared cell by cell need one window and one bandwidth. When not given, all papers
        with a margin of four bandwidths, so that no kernel is cut off.
    shape : tuple of int, default (n_cells, n_cells)
        Rows and columns of the window; without `bounds` it follows from `n_cells`.
    bandwidth : float, optional
        Standard deviation of the kernel in map units; `default_bandwidth` when not given, 0 for
        no smoothing. In a given window at most a quarter of its longer side.
    weights : array_like of float, shape (n_papers,), optional
        What each paper counts; 1 when not given.
    n_cells : int, default 512
        Cells along the longer side of the map, all square, when `bounds` are not given.

    Returns
    -------
    DensityGrid

    Raises
    ------
    InputError
        If the window is empty.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> grid = density_grid(rng.normal(size=500), rng.normal(size=500))
    >>> round(float(grid.density.sum()))
    500
    """
    from scipy import ndimage

    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if bandwidth is None:
        bandwidth = default_bandwidth(x, y)
    if bounds is not None:
        shape = shape or (n_cells, n_cells)
        counts = count_grid(x, y, bounds=bounds, shape=shape, weights=weights)
        left, bottom, right, top = bounds
        bandwidth = kernel_within(bounds, bandwidth)
        width, height = (right - left) / shape[1], (top - bottom) / shape[0]
    else:
        left, bottom, width, shape = _square_cells(x, y, bandwidth, n_cells)
        height = width
        counts = _count(x, y, (left, bottom), (width, height), shape, weights)
    density = counts
    if bandwidth:
        kernel = (bandwidth / height, bandwidth / width)
        density = ndimage.gaussian_filter(counts, kernel, mode="constant")
    return DensityGrid(density, counts, left, bottom, width, height, bandwidth)


def count_grid(
    x: ArrayLike,
    y: ArrayLike,
    *,
    bounds: Bounds,
    shape: tuple[int, int],
    weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Papers, or their weights, in each cell of a window; its far edges are in the last cells."""
    left, bottom, right, top = map(float, bounds)
    if not (right > left and top > bottom):
        raise InputError(f"The window {bounds} is empty; give (x0, y0, x1, y1) with x0 < x1.")
    cell = ((right - left) / shape[1], (top - bottom) / shape[0])
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if weights is None and len(x) >= _MANY:
        return _count_streaming(x, y, (left, bottom, right, top), shape)
    return _count(x, y, (left, bottom), cell, shape, weights, edges=(right, top))


def _count_streaming(
    x: NDArray[np.float64], y: NDArray[np.float64], bounds: Bounds, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Count with datashader: compiled, and without an index array as long as the points."""
    import datashader as ds
    import pandas as pd

    left, bottom, right, top = bounds
    canvas = ds.Canvas(shape[1], shape[0], x_range=(left, right), y_range=(bottom, top))
    points = pd.DataFrame({"x": x, "y": y}, copy=False)
    return np.asarray(canvas.points(points, "x", "y", ds.count()).values, dtype=np.float64)


def _square_cells(
    x: NDArray[np.float64], y: NDArray[np.float64], bandwidth: float, n_cells: int
) -> tuple[float, float, float, tuple[int, int]]:
    """Left, bottom, cell and shape of a grid that holds all papers and their kernels."""
    low_x, high_x = (float(x.min()), float(x.max())) if len(x) else (0.0, 0.0)
    low_y, high_y = (float(y.min()), float(y.max())) if len(y) else (0.0, 0.0)
    margin = 4 * bandwidth
    width, depth = high_x - low_x + 2 * margin, high_y - low_y + 2 * margin
    # A cell wider than half a kernel would show in the peaks; a far outlier must not blur the map.
    cell = min(max(width, depth) / n_cells, bandwidth / 2)
    cell = max(cell, max(width, depth) / 4096)
    shape = (int(np.ceil(depth / cell)), int(np.ceil(width / cell)))
    return low_x - margin, low_y - margin, cell, shape


def _count(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    origin: tuple[float, float],
    cell: tuple[float, float],
    shape: tuple[int, int],
    weights: ArrayLike | None,
    edges: tuple[float, float] = (np.nan, np.nan),
) -> NDArray[np.float64]:
    """Counts by blocks; numpy's own two-dimensional histogram takes ten times as long."""
    counts = np.zeros(shape[0] * shape[1])
    counted = None if weights is None else np.asarray(weights, dtype=np.float64)
    for start in range(0, len(x), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns, rows = (
            np.floor((values[block] - low) / step)
            for values, low, step in zip((x, y), origin, cell, strict=True)
        )
        columns[x[block] == edges[0]], rows[y[block] == edges[1]] = shape[1] - 1, shape[0] - 1
        inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
        cells = (rows[inside] * shape[1] + columns[inside]).astype(np.int64)
        here = None if counted is None else counted[block][inside]
        counts += np.bincount(cells, here, minlength=len(counts))
    return counts.reshape(shape)


def default_bandwidth(x: NDArray[np.floating], y: NDArray[np.floating]) -> float:
    r"""Kernel width for a map of so many papers, in map units.

    Silverman's rule for two dimensions, :math:`h = s\,n^{-1/6}` (Silverman 1986, sec. 4.3.2),
    assumes one Gaussian; a map of many clumps has detail far below its overall spread ``s``, so
    the rule is sharpened by a constant. Held between 1/200 and 1/30 of the spread's span, it
    keeps peaks from being single papers on small corpora and fields from merging on large ones.
    """
    if len(x) == 0:
        return 1.0
    span = max(
        float(np.ptp(np.quantile(x, [0.005, 0.995]))), float(np.ptp(np.quantile(y, [0.005, 0.995])))
    )
    if not span > _ONE_SPOT:
        return 1.0
    return float(np.clip(0.095 * span * len(x) ** (-1 / 5), span / 200, span / 30))


def map_extent(x: ArrayLike, y: ArrayLike, *, margin: float = 0.04) -> Bounds:
    """Find the window that holds all papers, with a margin."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not len(x):
        raise InputError("There are no papers to draw a window around; give a wider selection.")
    room = margin * max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    return (
        float(x.min() - room), float(y.min() - room), float(x.max() + room), float(y.max() + room),
    )  # fmt: skip


def kernel_within(bounds: Bounds, bandwidth: float) -> float:
    """Limit a bandwidth to a quarter of the window: papers at one point have an empty window."""
    left, bottom, right, top = bounds
    return min(bandwidth, max(right - left, top - bottom) / 4)


def highest_density_levels(
    grid: DensityGrid, shares: Sequence[float] = (0.5, 0.8)
) -> tuple[float, ...]:
    """Find the levels of highest-density regions (Hyndman 1996, The American Statistician 50, 120).

    Papers are counted where the grid has them: smoothing widens a narrow clump. Below 100 papers
    the smoothed density is counted, else contours would shrink to points.
    """
    wrong = [share for share in shares if not 0 < share < 1]
    if wrong:
        raise InputError(f"A contour cannot hold a share of {wrong[0]}; give one between 0 and 1.")
    counts = grid.counts if grid.counts.sum() >= _ENOUGH_TO_COUNT else grid.density
    return _levels_holding(grid.density, counts, shares)


def _levels_holding(
    density: NDArray[np.float64], counts: NDArray[np.float64], shares: Sequence[float]
) -> tuple[float, ...]:
    """Densities of the contours that hold shares of what is counted."""
    land = density > 0
    order = np.argsort(-density[land], kind="stable")
    ordered, held = density[land][order], np.cumsum(counts[land][order])
    if not len(held) or not held[-1] > 0:
        return (float("inf"),) * len(shares)
    places = np.searchsorted(held, np.asarray(shares) * held[-1])
    return tuple(float(ordered[min(place, len(ordered) - 1)]) for place in places)


def contour_lines(grid: DensityGrid, level: float) -> list[NDArray[np.float64]]:
    """Trace where the density crosses a level: closed lines of (x, y), the longest first."""
    from skimage.measure import find_contours

    if not np.isfinite(level) or not level > 0:
        return []
    # A border of zeros closes the lines that leave the window.
    found = find_contours(np.pad(grid.density, 1), level)  # type: ignore[no-untyped-call]
    x0, y0, x1, y1 = grid.bounds
    lines = []
    for line in sorted(found, key=len, reverse=True):
        x = np.clip(x0 + (line[:, 1] - 0.5) * grid.cell_width, x0, x1)
        y = np.clip(y0 + (line[:, 0] - 0.5) * grid.cell_height, y0, y1)
        lines.append(np.column_stack([x, y]))
    return lines


def count_pieces(grid: DensityGrid, level: float, *, least_share: float = 0.0) -> int:
    """Count the connected pieces at or above a density."""
    from scipy import ndimage

    labels, n_pieces = ndimage.label(grid.density >= level, structure=np.ones((3, 3)))
    held = np.bincount(labels.ravel(), grid.density.ravel(), minlength=n_pieces + 1)[1:]
    return int((held >= least_share * grid.density.sum()).sum())


def find_basins(
    grid: DensityGrid,
    *,
    share: float = 0.98,
    min_papers: float = 0.0,
    max_peaks: int | None = None,
    contrast: float = 1.05,
) -> Basins:
    """Find the density's peaks and divide the written part of the map among them.

    Local maxima flood their surroundings (watershed). Shallow neighbours are then merged, the
    shallowest first, each into the basin behind its highest saddle: the order of topological
    persistence (Edelsbrunner, Letscher & Zomorodian 2002), weighted by what would be lost.
    """
    from scipy import ndimage
    from skimage.segmentation import watershed

    density = grid.density
    land = density >= _levels_holding(density, density, (share,))[0]
    # A maximum is a cell no neighbour of which is higher; plateaus become one marker each.
    peak_cells = (density == ndimage.maximum_filter(density, size=3)) & land & (density > 0)
    markers, n_peaks = ndimage.label(peak_cells, structure=np.ones((3, 3)))
    if n_peaks == 0:
        empty = np.zeros(0)
        return Basins(np.full(density.shape, -1, dtype=np.int32), empty, empty, empty)
    flooded = watershed(-density, markers, mask=land) - 1  # type: ignore[no-untyped-call]
    owner = _merge_basins(
        density, flooded, n_peaks, min_papers=min_papers, max_peaks=max_peaks, contrast=contrast
    )
    merged = np.where(flooded >= 0, owner[flooded], -1)
    papers, highest = _papers_and_heights(density, merged, n_peaks)
    basins = np.unique(owner)
    kept = basins[papers[basins] >= min_papers]
    if not len(kept):
        kept = basins[[int(np.argmax(papers[basins]))]]
    # The first cell of a basin that is as high as its highest: the summit.
    summits = np.flatnonzero((merged >= 0) & (density == highest[merged]))
    _, first = np.unique(merged.ravel()[summits], return_index=True)
    summit = np.zeros(n_peaks, dtype=np.int64)
    summit[basins] = summits[first]
    rows, columns = np.unravel_index(summit[kept], density.shape)
    order = np.lexsort((columns, rows, -highest[kept]))
    number = np.full(n_peaks + 1, -1, dtype=np.int32)
    number[kept[order]] = np.arange(len(kept), dtype=np.int32)
    x, y = grid.centre_of(rows[order], columns[order])
    return Basins(number[merged], x, y, highest[kept][order])


def _papers_and_heights(
    density: NDArray[np.float64], labels: NDArray[np.integer], n_labels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Papers and highest density of each labelled basin; cells labelled -1 belong to none."""
    land = labels >= 0  # a small part of the sheet: functions that sort all of it take far longer
    label, value = labels[land], density[land]
    highest = np.zeros(n_labels)
    np.maximum.at(highest, label, value)
    papers = np.bincount(label, weights=value, minlength=n_labels).astype(np.float64)
    return papers, highest


def _merge_basins(
    density: NDArray[np.float64],
    flooded: NDArray[np.int32],
    n_peaks: int,
    *,
    min_papers: float,
    max_peaks: int | None,
    contrast: float,
) -> NDArray[np.int64]:
    """Merge the least prominent basins; for each flooded basin the one it ends in."""
    basins = np.arange(n_peaks)
    papers, peak = _papers_and_heights(density, flooded, n_peaks)
    saddles: list[dict[int, float]] = [{} for _ in basins]
    for low, high, saddle in _saddles(density, flooded):
        saddles[low][high] = saddles[high][low] = saddle
    # The papers above the saddle, which the map would lose. Negative: the basin must be merged.
    loss = np.full(n_peaks, np.inf)

    def weigh(basin: int) -> None:
        if not saddles[basin]:
            loss[basin] = np.inf  # an island: nothing to merge it with
            return
        rise = 1.0 - max(saddles[basin].values()) / peak[basin]
        must_go = papers[basin] < min_papers or rise < 1.0 - 1.0 / contrast
        loss[basin] = -1.0 / (1.0 + papers[basin]) if must_go else papers[basin] * rise

    for basin in range(n_peaks):
        weigh(basin)
    owner = basins.copy()
    alive = n_peaks
    while np.isfinite(loss).any():
        basin = int(np.argmin(loss))
        if loss[basin] >= 0 and (max_peaks is None or alive <= max_peaks):
            break
        into = max(saddles[basin], key=lambda other: (saddles[basin][other], -other))
        if peak[into] < peak[basin]:  # the higher peak keeps its ground
            basin, into = into, basin
        owner[owner == basin] = into
        papers[into] += papers[basin]
        for other, saddle in saddles[basin].items():
            del saddles[other][basin]
            if other != into:
                joined = max(saddle, saddles[into].get(other, 0.0))
                saddles[into][other] = saddles[other][into] = joined
        saddles[basin] = {}
        loss[basin] = np.inf
        alive -= 1
        for changed in (into, *saddles[into]):
            weigh(changed)
    return owner


def _saddles(
    density: NDArray[np.float64], flooded: NDArray[np.int32]
) -> list[tuple[int, int, float]]:
    """Highest pass between each pair of touching basins."""
    passes: dict[tuple[int, int], float] = {}
    for axis in (0, 1):
        one = flooded[:-1] if axis == 0 else flooded[:, :-1]
        two = flooded[1:] if axis == 0 else flooded[:, 1:]
        near = density[:-1] if axis == 0 else density[:, :-1]
        far = density[1:] if axis == 0 else density[:, 1:]
        border = (one != two) & (one >= 0) & (two >= 0)
        height = np.minimum(near[border], far[border])
        pairs = np.sort(np.column_stack([one[border], two[border]]), axis=1)
        for (low, high), value in zip(pairs.tolist(), height.tolist(), strict=True):
            if value > passes.get((low, high), 0.0):
                passes[low, high] = value
    return [(low, high, value) for (low, high), value in sorted(passes.items())]
