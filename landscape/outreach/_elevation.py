"""Compute heights from the density of papers, and smooth surfaces through grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.mapping.density import count_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    Grid = NDArray[np.float32]
    Window = tuple[int, int, int, int]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Surface:
    """A smooth surface through the values of a grid."""

    coefficients: Grid

    @classmethod
    def through(cls, grid: Grid) -> Surface:
        """Fit a cubic spline surface to the values of a grid."""
        from scipy.ndimage import spline_filter

        return cls(np.asarray(spline_filter(grid, order=3, output=np.float32, mode="mirror")))

    def at(
        self, size: tuple[int, int], window: Window | None = None, *, slope: str | None = None
    ) -> Grid:
        """Evaluate the surface, or its slope, on the pixels of a sheet."""
        left, top, right, bottom = window or (0, 0, *size)
        rows, columns = self.coefficients.shape
        down = _weights(rows, size[1], range(top, bottom), slope=slope == "down")
        across = _weights(columns, size[0], range(left, right), slope=slope == "across")
        # Only the cells of the window are used.
        used = np.unique(across.indices)
        cells = slice(int(used[0]), int(used[-1]) + 1)
        strip = down @ np.ascontiguousarray(self.coefficients[:, cells])
        return np.ascontiguousarray((across[:, cells] @ strip.T).T)


def _weights(n_cells: int, n_pixels: int, pixels: range, *, slope: bool) -> csr_matrix:
    """Return sparse spline weights of the cells for each pixel, shape (len(pixels), n_cells)."""
    from scipy import sparse

    place = (np.arange(pixels.start, pixels.stop) + 0.5) * (n_cells / n_pixels) - 0.5
    # The surface is constant outside the outermost cell centres.
    place = np.clip(place, 0, n_cells - 1)
    first = np.floor(place).astype(np.int64)
    t = place - first
    if slope:
        parts = [-((1 - t) ** 2) / 2, (3 * t - 4) * t / 2, (1 + 2 * t - 3 * t * t) / 2, t * t / 2]
    else:
        parts = [
            (1 - t) ** 3 / 6,
            (3 * t**3 - 6 * t**2 + 4) / 6,
            (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6,
            t**3 / 6,
        ]
    cells = first[:, None] + np.arange(-1, 3)
    if n_cells == 1:
        cells = np.zeros_like(cells)
    else:
        turn = 2 * (n_cells - 1)  # the grid is mirrored at its ends
        cells = np.abs(cells)
        cells = np.where(cells >= n_cells, np.abs(turn - cells), cells)
    rows = np.repeat(np.arange(len(place)), 4)
    values = np.stack(parts, axis=1).ravel().astype(np.float32)
    return sparse.csr_matrix((values, (rows, cells.ravel())), shape=(len(place), n_cells))


KERNEL_CELLS = 6.5  # initial standard deviation of the narrowest kernel, in cells
_MIN_CELLS, _MAX_CELLS = 320, 960  # number of cells along the longer side
FLOOR = 30.0  # ratio of the density at the coast to the density of the open sea
PLAIN = 0.42  # slope of the coastal plains, relative to the mean slope of the land
# The narrow Gaussian gives sharp summits; the wide ones connect neighbouring summits.
_KERNELS = ((1.0, 0.5), (2.2, 0.3), (4.8, 0.2))
_WIDEN = 1.3
_WIDEST = 0.05  # maximum standard deviation of the narrowest kernel, relative to the longer side
_FEW_LANDS = 12  # maximum number of land areas; if there are more, kernels are widened
_MIN_LAND = 0.02  # minimum share of land; if there is less, kernels are widened
_MIN_ISLAND = 0.0004  # minimum share of the papers on an island
_MIN_PAPERS = 3.0
_HIGHEST_SEA = 0.8  # largest density at the coast, relative to the highest peak
_CLEAR = 0.06  # height of filled cells above sea level, relative to the highest peak


@dataclass(frozen=True)
class Ground:
    """Grid of heights; row 0 has the highest y."""

    height: Grid
    extent: tuple[float, float, float, float]
    bandwidth: float
    sea_density: float
    peak_density: float
    land_share: float

    def cells_of(self, x: Floats, y: Floats) -> tuple[NDArray[np.int64], np.ndarray]:
        """Return the flat cell index of each paper, and a mask of the papers on the grid."""
        return _cells_of(x, y, self.extent, self.height.shape)


def measure_ground(
    x: Floats, y: Floats, *, aspect: float, sea_share: float, margin: float
) -> Ground:
    """Convert the density of papers to heights, on a grid that is cropped to the land."""
    first = _fitted(*_box_of_most(x, y), aspect=aspect, margin=0.12)
    # The kernel width decreases with the number of papers by Scott's rule (Scott 1992).
    narrow = float(np.clip(0.0095 * (40_000 / len(x)) ** (1 / 6), 0.006, _WIDEST))
    cells = int(np.clip(KERNEL_CELLS / narrow, _MIN_CELLS, _MAX_CELLS))
    draft = _measure(x, y, first, cells=cells // 2, narrow=narrow, sea_share=sea_share)
    rows, columns = np.nonzero(draft.height > 0)
    x0, _, _, y1 = first
    cell = (first[1] - x0) / draft.height.shape[1]
    land = (
        x0 + cell * columns.min(),
        x0 + cell * (columns.max() + 1),
        y1 - cell * (rows.max() + 1),
        y1 - cell * rows.min(),
    )
    sheet = _fitted(*land, aspect=aspect, margin=margin)
    return _measure(x, y, sheet, cells=cells, narrow=narrow, sea_share=sea_share)


def relief_of(height: Grid, *, highest: float) -> Grid:
    """Convert heights to elevations from -1 (open sea) through 0 (coast) to 1 (highest peak).

    On land :math:`e = a t + (1 - a) t^2`, where :math:`t` is the height relative to the highest
    peak. The land is flat near the coast and steep at the top.
    """
    t = np.minimum(height / np.float32(highest), 1)
    land = t * (PLAIN + (1 - PLAIN) * t)
    deepest = float(np.log(1 / (1 + FLOOR)))
    depth = np.clip(height / deepest, 0, 1)
    # The slope is continuous at the coast; a kink would be visible.
    foot = np.float32(min(PLAIN * -deepest / float(highest), 2.0))
    water = -depth * (foot + (1 - foot) * depth)
    return np.where(height >= 0, land, water).astype(np.float32)


def blurred(counts: Grid, sigma: float) -> Grid:
    """Smooth with a Gaussian of `sigma` cells; wide kernels use a coarser grid, for speed."""
    from scipy.ndimage import gaussian_filter

    factor = 1
    while sigma / factor > 8:
        factor *= 2
    if factor == 1:
        return np.asarray(gaussian_filter(counts, sigma, mode="constant", truncate=4.5))
    rows, columns = counts.shape
    padded = np.pad(counts, ((0, -rows % factor), (0, -columns % factor)))
    blocks = padded.reshape(padded.shape[0] // factor, factor, padded.shape[1] // factor, factor)
    coarse = blocks.mean(axis=(1, 3))
    coarse = gaussian_filter(coarse, sigma / factor, mode="constant", truncate=4.5)
    fine = Surface.through(coarse).at((padded.shape[1], padded.shape[0]))
    return np.maximum(fine[:rows, :columns], 0)


def _cells_of(
    x: Floats, y: Floats, extent: tuple[float, float, float, float], shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], np.ndarray]:
    """Return the flat cell index of each paper, and a mask of the papers on the grid."""
    x0, x1, y0, y1 = extent
    column = np.floor((np.asarray(x, dtype=np.float64) - x0) * (shape[1] / (x1 - x0)))
    row = np.floor((y1 - np.asarray(y, dtype=np.float64)) * (shape[0] / (y1 - y0)))
    inside = (column >= 0) & (column < shape[1]) & (row >= 0) & (row < shape[0])
    index = np.where(inside, row * shape[1] + column, 0).astype(np.int64)
    return index, inside


def _box_of_most(x: Floats, y: Floats) -> tuple[float, float, float, float]:
    """Return a box around nearly all papers, without outliers."""
    low, high = np.quantile(np.stack([x, y]), [0.002, 0.998], axis=1)
    border = 0.1 * (high - low)
    low = np.maximum(low - border, [x.min(), y.min()])
    high = np.minimum(high + border, [x.max(), y.max()])
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _fitted(
    x0: float, x1: float, y0: float, y1: float, *, aspect: float, margin: float
) -> tuple[float, float, float, float]:
    """Return the smallest sheet with a given aspect ratio and margin that contains a box."""
    centre = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    shape = np.array([1.0, 1 / aspect]) if aspect >= 1 else np.array([aspect, 1.0])
    free = shape - 2 * margin
    longer = float(np.max(np.array([x1 - x0, y1 - y0]) / free))
    # If all papers are at one point, the sheet still has a positive size.
    longer = max(longer, 1e-3 * max(1.0, float(np.abs(centre).max())))
    half = longer * shape / 2
    (x0, y0), (x1, y1) = (centre - half).tolist(), (centre + half).tolist()
    return x0, x1, y0, y1


def _measure(
    x: Floats,
    y: Floats,
    extent: tuple[float, float, float, float],
    *,
    cells: int,
    narrow: float,
    sea_share: float,
) -> Ground:
    from scipy.ndimage import label

    x0, x1, y0, y1 = extent
    cell = max(x1 - x0, y1 - y0) / cells
    shape = (max(8, round((y1 - y0) / cell)), max(8, round((x1 - x0) / cell)))
    counts = count_grid(x, y, bounds=(x0, y0, x1, y1), shape=shape)[::-1].astype(np.float32)
    sigma = cells * narrow
    while True:
        density = sum(weight * blurred(counts, sigma * wide) for wide, weight in _KERNELS)
        density = np.asarray(density, dtype=np.float32)
        level, land, on_land = _sea_level(density, counts, share=sea_share, n_papers=len(x))
        is_compact = label(land)[1] <= _FEW_LANDS and land.mean() > _MIN_LAND
        if is_compact or sigma * _WIDEN > cells * _WIDEST:
            break
        sigma *= _WIDEN
    floor = level / FLOOR
    height = np.log((density + floor) / (level + floor)).astype(np.float32)
    height = _without_specks(height, land, sigma)
    area = (x1 - x0) / shape[1] * ((y1 - y0) / shape[0])
    return Ground(
        height=height,
        extent=extent,
        bandwidth=sigma,
        sea_density=level / area,
        peak_density=float(density.max()) / area,
        land_share=on_land / len(x),
    )


def _sea_level(
    density: Grid, counts: Grid, *, share: float, n_papers: int
) -> tuple[float, np.ndarray, float]:
    """Return the coast density, the land without small islands, and its number of papers."""
    from scipy.ndimage import label

    held = np.sort(density[counts > 0])
    # If all papers are at one point, they are on a summit with some land around it.
    on_summit = held[0] > _HIGHEST_SEA * held[-1]
    low, high = float(held[0]) * 0.2, float(held[-1]) * (0.5 if on_summit else 0.98)
    islet = max(min(_MIN_PAPERS, 0.3 * n_papers), _MIN_ISLAND * n_papers)

    def flooded(level: float) -> tuple[np.ndarray, float]:
        lands, n = label(density > level)
        papers = np.bincount(lands.ravel(), counts.ravel(), minlength=n + 1)
        papers[0] = 0
        stays = papers >= islet
        return stays[lands], float(papers[stays].sum())

    for _ in range(18):  # bisection; a higher sea level gives a smaller share on land
        level = (low * high) ** 0.5
        low, high = (level, high) if flooded(level)[1] >= share * n_papers else (low, level)
    land, on_land = flooded(low)
    return low, land, on_land


def _without_specks(height: Grid, land: np.ndarray, sigma: float) -> Grid:
    """Remove small islands, and fill lakes that are smaller than a kernel."""
    from scipy.ndimage import label

    lakes, n = label(~land)
    size = np.bincount(lakes.ravel(), minlength=n + 1)
    edge = np.unique(np.concatenate([lakes[0], lakes[-1], lakes[:, 0], lakes[:, -1]]))
    small = (size < 4 * sigma**2) & (np.arange(n + 1) > 0)
    small[edge] = False
    puddle, islet = small[lakes], ~land & (height > 0)
    clear = np.float32(max(0.03, _CLEAR * float(height.max())))
    filled = _fill(height, puddle, ~land & ~puddle, to=clear)
    return -_fill(-filled, islet, land | puddle, to=clear)


def _fill(height: Grid, holes: np.ndarray, keep: np.ndarray, *, to: np.float32) -> Grid:
    """Raise holes to a given height and smooth their edges; do not change the cells in `keep`."""
    from scipy.ndimage import distance_transform_edt, gaussian_filter

    if not holes.any():
        return height
    near = np.clip(1 - (distance_transform_edt(~holes) - 4) / 4, 0, 1)
    if keep.any():
        near = np.where(holes, 1, near * np.clip((distance_transform_edt(~keep) - 1) / 4, 0, 1))
    level = np.maximum(height, to)
    level = np.maximum(gaussian_filter(level, 4.0), to)
    return np.asarray(height + near * (level - height), dtype=np.float32)
