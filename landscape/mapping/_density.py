"""Density of papers on the map: grid, smoothing, peaks and their basins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ONE_SPOT = 1e-30  # a smaller span is none: its parts would vanish in floating point


@dataclass(frozen=True)
class DensityGrid:
    """Smoothed counts of papers on a square-celled grid."""

    density: NDArray[np.float64]
    left: float
    bottom: float
    cell: float
    bandwidth: float

    def cells_of(
        self, x: NDArray[np.floating], y: NDArray[np.floating]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and column of each paper; papers beyond the edge get the edge's cell."""
        n_rows, n_columns = self.density.shape
        columns = np.floor((np.asarray(x, dtype=np.float64) - self.left) / self.cell)
        rows = np.floor((np.asarray(y, dtype=np.float64) - self.bottom) / self.cell)
        return (
            np.clip(rows, 0, n_rows - 1).astype(np.int64),
            np.clip(columns, 0, n_columns - 1).astype(np.int64),
        )

    def centre_of(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Map coordinates of the centres of cells."""
        x = np.asarray(self.left + (columns + 0.5) * self.cell, dtype=np.float64)
        y = np.asarray(self.bottom + (rows + 0.5) * self.cell, dtype=np.float64)
        return x, y


@dataclass(frozen=True)
class Basins:
    """Peaks of the density and the ground around each."""

    labels: NDArray[np.int32]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    height: NDArray[np.float64]


def density_grid(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    *,
    bandwidth: float | None = None,
    n_cells: int = 512,
) -> DensityGrid:
    """Count papers on a grid and smooth the counts with a Gaussian.

    Parameters
    ----------
    x, y : array of float, shape (n_papers,)
        Map coordinates.
    bandwidth : float, optional
        Standard deviation of the kernel in map units; `default_bandwidth` when not given.
    n_cells : int, default 512
        Cells along the longer side of the map.

    Returns
    -------
    DensityGrid
        With a margin of four bandwidths, so that no kernel is cut off.

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
    low_x, high_x = (x.min(), x.max()) if len(x) else (0.0, 0.0)
    low_y, high_y = (y.min(), y.max()) if len(y) else (0.0, 0.0)
    margin = 4 * bandwidth
    width, depth = high_x - low_x + 2 * margin, high_y - low_y + 2 * margin
    # A cell wider than half a kernel would show in the peaks; a far outlier must not blur the map.
    cell = min(max(width, depth) / n_cells, bandwidth / 2)
    cell = max(cell, max(width, depth) / 4096)
    shape = (int(np.ceil(depth / cell)), int(np.ceil(width / cell)))
    rows = np.clip(((y - low_y + margin) / cell).astype(np.int64), 0, shape[0] - 1)
    columns = np.clip(((x - low_x + margin) / cell).astype(np.int64), 0, shape[1] - 1)
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    density = ndimage.gaussian_filter(
        counts.reshape(shape).astype(np.float64), bandwidth / cell, mode="constant"
    )
    return DensityGrid(density, low_x - margin, low_y - margin, cell, bandwidth)


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
    land = density >= _contour_level(density, share)
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


def _contour_level(density: NDArray[np.float64], share: float) -> float:
    """Density of the contour that encloses a share of all papers."""
    sorted_density = np.sort(density[density > 0])[::-1]
    if len(sorted_density) == 0:
        return np.inf
    cumulative = np.cumsum(sorted_density)
    place = int(np.searchsorted(cumulative, share * cumulative[-1]))
    return float(sorted_density[min(place, len(sorted_density) - 1)])


def _merge_basins(
    density: NDArray[np.float64],
    flooded: NDArray[np.int32],
    n_peaks: int,
    *,
    min_papers: float,
    max_peaks: int | None,
    contrast: float,
) -> NDArray[np.int64]:
    """Merge the least telling basins; returns for each flooded basin the one it ends in."""
    basins = np.arange(n_peaks)
    papers, peak = _papers_and_heights(density, flooded, n_peaks)
    saddles: list[dict[int, float]] = [{} for _ in basins]
    for low, high, saddle in _saddles(density, flooded):
        saddles[low][high] = saddles[high][low] = saddle
    # What the map would lose: the papers that stand clear of the saddle. Negative: must go.
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
