"""Compute the density of papers on the map, and its contours, peaks and basins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ONE_SPOT = 1e-30  # treat smaller extents as zero, to avoid underflow
_BLOCK = 1_000_000  # papers at once
_ENOUGH_TO_COUNT = 100  # minimum number of papers for contours of unsmoothed counts

# Minimum ratio of the density at a peak to the density at its highest saddle. Peaks below this
# ratio are merged with a neighbour.
_CONTRAST = 1.05

Bounds = tuple[float, float, float, float]

# Minimum number of points that are counted with datashader, which takes a third of the time of
# NumPy for a picture (0.07 s for 10,000,000 points), but 6 s for its import and compilation.
_MANY = 10_000_000


@dataclass(frozen=True)
class DensityGrid:
    """Grid with the number of papers per cell and the smoothed density; row 0 has the lowest y."""

    density: NDArray[np.float64]
    counts: NDArray[np.float64]
    left: float
    bottom: float
    cell_width: float
    cell_height: float
    bandwidth: float

    @classmethod
    def of_window(cls, bounds: Bounds, density: NDArray[np.float64]) -> DensityGrid:
        """Make a grid from the density in a window of the map."""
        left, bottom, right, top = bounds
        n_rows, n_columns = density.shape
        cell = ((right - left) / n_columns, (top - bottom) / n_rows)
        return cls(density, density, left, bottom, *cell, bandwidth=0.0)

    @property
    def bounds(self) -> Bounds:
        """Window ``(x0, y0, x1, y1)`` in map units."""
        n_rows, n_columns = self.density.shape
        right = self.left + n_columns * self.cell_width
        return self.left, self.bottom, right, self.bottom + n_rows * self.cell_height

    def cells_of(
        self, x: NDArray[np.floating], y: NDArray[np.floating]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row and column of each paper; papers outside the grid get the nearest cell."""
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
        """Return the map coordinates of the centres of cells."""
        x = np.asarray(self.left + (columns + 0.5) * self.cell_width, dtype=np.float64)
        y = np.asarray(self.bottom + (rows + 0.5) * self.cell_height, dtype=np.float64)
        return x, y


@dataclass(frozen=True)
class Basins:
    """Peaks of the density, and the basin of each cell."""

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
        Window ``(x0, y0, x1, y1)`` in map units; papers outside are not counted. The default
        window contains all papers with a margin of four bandwidths, so that no kernel is
        truncated. To compare densities, use the same window and bandwidth.
    shape : tuple of int, default (n_cells, n_cells)
        Rows and columns of the window. Without `bounds`, it is computed from `n_cells`.
    bandwidth : float, optional
        Standard deviation of the kernel in map units; 0 disables smoothing. The default is
        computed by `default_bandwidth`. With `bounds`, the bandwidth is limited to a quarter of
        the longer side of the window.
    weights : array_like of float, shape (n_papers,), optional
        Weight of each paper; default 1.
    n_cells : int, default 512
        Number of cells per side. Without `bounds`, the cells are square and `n_cells` is the
        number of cells along the longer side of the map.

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
    """Count papers, or sum weights, in the cells of a window. The last cells include the edge."""
    left, bottom, right, top = map(float, bounds)
    if not (right > left and top > bottom):
        raise InputError(f"The window {bounds} is empty; use x0 < x1 and y0 < y1.")
    cell = ((right - left) / shape[1], (top - bottom) / shape[0])
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype != np.float32 or y.dtype != np.float32:  # the explorer has float32, for speed
        x, y = x.astype(np.float64), y.astype(np.float64)
    if weights is None and len(x) >= _MANY:
        return _count_streaming(x, y, (left, bottom, right, top), shape)
    return _count(x, y, (left, bottom), cell, shape, weights, edges=(right, top))


def _count_streaming(
    x: NDArray[np.float64], y: NDArray[np.float64], bounds: Bounds, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Count papers with datashader, which is compiled and needs no index array."""
    import datashader as ds
    import pandas as pd

    points = pd.DataFrame({"x": x, "y": y}, copy=False)
    counts = _canvas(bounds, shape).points(points, "x", "y", ds.count())
    return np.asarray(counts.values, dtype=np.float64)


def count_by_category(
    x: ArrayLike,
    y: ArrayLike,
    category: NDArray[np.integer],
    n_categories: int,
    *,
    bounds: Bounds,
    shape: tuple[int, int],
) -> Any:
    """Count papers of each category, from 0, in the cells of a window, for `datashader.shade`.

    The result has the dimensions ``y``, ``x`` and ``category``; row 0 has the lowest y.
    """
    import datashader as ds
    import pandas as pd

    classes = pd.Categorical.from_codes(category, categories=list(range(n_categories)))
    points = pd.DataFrame({"x": x, "y": y, "category": classes}, copy=False)
    counts = ds.by("category", ds.count())
    return _canvas(bounds, shape).points(points, "x", "y", counts)


def _canvas(bounds: Bounds, shape: tuple[int, int]) -> Any:
    """Return a datashader canvas with the cells of a window."""
    import datashader as ds

    left, bottom, right, top = bounds
    return ds.Canvas(shape[1], shape[0], x_range=(left, right), y_range=(bottom, top))


def _square_cells(
    x: NDArray[np.float64], y: NDArray[np.float64], bandwidth: float, n_cells: int
) -> tuple[float, float, float, tuple[int, int]]:
    """Return origin, cell size and shape of a grid that contains all papers and their kernels."""
    low_x, high_x = (float(x.min()), float(x.max())) if len(x) else (0.0, 0.0)
    low_y, high_y = (float(y.min()), float(y.max())) if len(y) else (0.0, 0.0)
    margin = 4 * bandwidth
    width, depth = high_x - low_x + 2 * margin, high_y - low_y + 2 * margin
    # Cells wider than half a kernel distort peaks, so distant outliers must not enlarge the cells.
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
    edges: tuple[float, float] | None = None,
) -> NDArray[np.float64]:
    """Count papers in blocks; `numpy.histogram2d` would take ten times as long."""
    counts = np.zeros(shape[0] * shape[1])
    counted = None if weights is None else np.asarray(weights, dtype=np.float64)
    right, top = edges or (origin[0] + cell[0] * shape[1], origin[1] + cell[1] * shape[0])
    for start in range(0, len(x), _BLOCK):
        block = slice(start, start + _BLOCK)
        across, up = x[block], y[block]
        inside = (across >= origin[0]) & (across <= right) & (up >= origin[1]) & (up <= top)
        here = None if counted is None else counted[block]
        if not inside.all():
            across, up = across[inside], up[inside]
            here = None if here is None else here[inside]
        cells = _cell_of(up, origin[1], cell[1], shape[0])
        cells *= np.int32(shape[1])
        cells += _cell_of(across, origin[0], cell[0], shape[1])
        counts += np.bincount(cells, here, minlength=len(counts))
    return counts.reshape(shape)


def _cell_of(
    values: NDArray[np.floating], low: float, step: float, n_cells: int
) -> NDArray[np.int32]:
    """Return the row or the column of each paper; the last one includes the edge."""
    place = values - low
    place /= step
    cells = place.astype(np.int32)
    return np.minimum(cells, n_cells - 1, out=cells)


def default_bandwidth(x: NDArray[np.floating], y: NDArray[np.floating]) -> float:
    """Return the default kernel width of a map, in map units.

    Silverman's rule (1986, sec. 4.3.2) assumes one Gaussian, but a map has many clumps. The
    constant and the exponent used here give a narrower kernel. The bandwidth is limited to the
    range 1/200 to 1/30 of the extent of the map. The lower limit prevents peaks of single papers;
    the upper limit prevents separate fields from merging.
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
    """Return the window that contains all papers, with a margin."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not len(x):
        raise InputError("No paper is selected, so there is no map extent; use a wider selection.")
    edge = margin * max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    return (
        float(x.min() - edge),
        float(y.min() - edge),
        float(x.max() + edge),
        float(y.max() + edge),
    )


def kernel_within(bounds: Bounds, bandwidth: float) -> float:
    """Limit a bandwidth to a quarter of the longer side of a window."""
    left, bottom, right, top = bounds
    return min(bandwidth, max(right - left, top - bottom) / 4)


def highest_density_levels(
    grid: DensityGrid, shares: Sequence[float] = (0.5, 0.8)
) -> tuple[float, ...]:
    """Return the levels of highest-density regions (Hyndman 1996, Am. Stat. 50, 120).

    The share of papers inside a contour is computed from unsmoothed counts, because smoothing
    widens narrow clumps. If there are fewer than 100 papers, it is computed from the smoothed
    density, because contours of the counts would shrink to points.
    """
    wrong = [share for share in shares if not 0 < share < 1]
    if wrong:
        raise InputError(f"A contour share of {wrong[0]} is invalid; use a share between 0 and 1.")
    counts = grid.counts if grid.counts.sum() >= _ENOUGH_TO_COUNT else grid.density
    return _levels_holding(grid.density, counts, shares)


def _levels_holding(
    density: NDArray[np.float64], counts: NDArray[np.float64], shares: Sequence[float]
) -> tuple[float, ...]:
    """Return the densities of the contours that contain the given shares of the papers."""
    filled = density > 0
    order = np.argsort(-density[filled], kind="stable")
    ordered, inside = density[filled][order], np.cumsum(counts[filled][order])
    if not len(inside) or not inside[-1] > 0:
        return (float("inf"),) * len(shares)
    places = np.searchsorted(inside, np.asarray(shares) * inside[-1])
    return tuple(float(ordered[min(place, len(ordered) - 1)]) for place in places)


def contour_lines(grid: DensityGrid, level: float) -> list[NDArray[np.float64]]:
    """Return the contour lines of a level as closed lines of (x, y), by decreasing length."""
    from skimage.measure import find_contours

    if not np.isfinite(level) or not level > 0:
        return []
    # A border of zeros closes lines at the edge of the window.
    found = find_contours(np.pad(grid.density, 1), level)  # type: ignore[no-untyped-call]
    x0, y0, x1, y1 = grid.bounds
    lines = []
    for line in sorted(found, key=len, reverse=True):
        x = np.clip(x0 + (line[:, 1] - 0.5) * grid.cell_width, x0, x1)
        y = np.clip(y0 + (line[:, 0] - 0.5) * grid.cell_height, y0, y1)
        lines.append(np.column_stack([x, y]))
    return lines


def count_pieces(grid: DensityGrid, level: float, *, least_share: float = 0.0) -> int:
    """Return the number of connected areas at or above a density."""
    from scipy import ndimage

    labels, n_pieces = ndimage.label(grid.density >= level, structure=np.ones((3, 3)))
    totals = np.bincount(labels.ravel(), grid.density.ravel(), minlength=n_pieces + 1)[1:]
    return int((totals >= least_share * grid.density.sum()).sum())


def find_basins(
    grid: DensityGrid,
    *,
    share: float = 0.98,
    min_papers: float = 0.0,
    max_peaks: int | None = None,
    noise: float = 0.0,
) -> Basins:
    """Find the peaks of the density and divide the densest part of the map among them.

    A watershed assigns each cell to a local maximum. Shallow basins are then merged with the
    neighbour across their highest saddle, in the order of topological persistence (Edelsbrunner,
    Letscher & Zomorodian 2002), weighted by the number of papers above the saddle. A peak must
    rise above its highest saddle by `noise` standard deviations of its number of papers.
    """
    from scipy import ndimage
    from skimage.segmentation import watershed

    density = grid.density
    filled = density >= _levels_holding(density, density, (share,))[0]
    # A maximum is a cell without a higher neighbour; each plateau becomes one marker.
    peak_cells = (density == ndimage.maximum_filter(density, size=3)) & filled & (density > 0)
    markers, n_peaks = ndimage.label(peak_cells, structure=np.ones((3, 3)))
    if n_peaks == 0:
        empty = np.zeros(0)
        return Basins(np.full(density.shape, -1, dtype=np.int32), empty, empty, empty)
    flooded = watershed(-density, markers, mask=filled) - 1  # type: ignore[no-untyped-call]
    # A Gaussian kernel averages over 4 pi h^2; a peak of n papers is uncertain by sqrt(n).
    kernel = 4 * np.pi * grid.bandwidth**2 / (grid.cell_width * grid.cell_height)
    owner = _merge_basins(
        density,
        flooded,
        n_peaks,
        min_papers=min_papers,
        max_peaks=max_peaks,
        noise=noise / np.sqrt(kernel) if kernel else 0.0,
    )
    merged = np.where(flooded >= 0, owner[flooded], -1)
    papers, highest = _papers_and_heights(density, merged, n_peaks)
    basins = np.unique(owner)
    kept = basins[papers[basins] >= min_papers]
    if not len(kept):
        kept = basins[[int(np.argmax(papers[basins]))]]
    # The peak of a basin is the first of its highest cells.
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
    """Return the number of papers and the highest density of each basin; label -1 is ignored."""
    filled = labels >= 0  # use only labelled cells, to save time
    label, value = labels[filled], density[filled]
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
    noise: float = 0.0,
) -> NDArray[np.int64]:
    """Merge the least prominent basins; return the new number of each basin."""
    basins = np.arange(n_peaks)
    papers, peak = _papers_and_heights(density, flooded, n_peaks)
    saddles: list[dict[int, float]] = [{} for _ in basins]
    for low, high, saddle in _saddles(density, flooded):
        saddles[low][high] = saddles[high][low] = saddle
    # Number of papers above the saddle; negative if the basin must be merged.
    loss = np.full(n_peaks, np.inf)

    def weigh(basin: int) -> None:
        if not saddles[basin]:
            loss[basin] = np.inf  # the basin has no neighbour
            return
        rise = 1.0 - max(saddles[basin].values()) / peak[basin]
        least_rise = max(1.0 - 1.0 / _CONTRAST, noise / np.sqrt(peak[basin]))
        must_go = papers[basin] < min_papers or rise < least_rise
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
        if peak[into] < peak[basin]:  # keep the basin with the higher peak
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
    """Return the highest saddle between each pair of adjacent basins."""
    passes: dict[tuple[int, int], float] = {}
    for label, height in ((flooded, density), (flooded.T, density.T)):
        one, two = label[:-1], label[1:]
        border = (one != two) & (one >= 0) & (two >= 0)
        saddle = np.minimum(height[:-1][border], height[1:][border])
        pairs = np.sort(np.column_stack([one[border], two[border]]), axis=1)
        for (low, high), value in zip(pairs.tolist(), saddle.tolist(), strict=True):
            if value > passes.get((low, high), 0.0):
                passes[low, high] = value
    return [(low, high, value) for (low, high), value in sorted(passes.items())]
