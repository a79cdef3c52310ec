"""Density of papers on a window of the map, and its highest-density contours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ENOUGH_TO_COUNT = 100


@dataclass(frozen=True)
class Grid:
    """Smoothed papers on a window of the map."""

    extent: tuple[float, float, float, float]
    density: NDArray[np.float64]
    counts: NDArray[np.float64] | None = None

    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of a cell, in map units."""
        x0, y0, x1, y1 = self.extent
        n_rows, n_columns = self.density.shape
        return (x1 - x0) / n_columns, (y1 - y0) / n_rows


def map_extent(
    x: ArrayLike, y: ArrayLike, *, margin: float = 0.04
) -> tuple[float, float, float, float]:
    """Find the window that holds all papers, with a margin."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not len(x):
        raise InputError("There are no papers to draw a window around; give a wider selection.")
    room = margin * max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    return (
        float(x.min() - room), float(y.min() - room), float(x.max() + room), float(y.max() + room),
    )  # fmt: skip


def density_grid(
    x: ArrayLike,
    y: ArrayLike,
    *,
    extent: tuple[float, float, float, float],
    shape: tuple[int, int] = (256, 256),
    bandwidth: float | None = None,
    weights: ArrayLike | None = None,
) -> Grid:
    """Count papers in the cells of a window and smooth the counts with a Gaussian."""
    from scipy import ndimage

    from landscape.mapping._density import default_bandwidth

    x0, y0, x1, y1 = (float(edge) for edge in extent)
    if not (x1 > x0 and y1 > y0):
        raise InputError(f"The window {extent} is empty; give (x0, y0, x1, y1) with x0 < x1.")
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    # numpy's own two-dimensional histogram takes ten times as long at a million papers.
    columns = np.floor((x - x0) / (x1 - x0) * shape[1])
    rows = np.floor((y - y0) / (y1 - y0) * shape[0])
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    cells = (rows[inside] * shape[1] + columns[inside]).astype(np.int64)
    counted = None if weights is None else np.asarray(weights, dtype=np.float64)[inside]
    flat = np.bincount(cells, counted, minlength=shape[0] * shape[1])
    counts = flat.reshape(shape).astype(np.float64)
    grid = Grid((x0, y0, x1, y1), counts, counts)
    width, height = grid.cell
    kernel = kernel_within(extent, default_bandwidth(x, y) if bandwidth is None else bandwidth)
    if not kernel:
        return grid
    smooth = ndimage.gaussian_filter(counts, (kernel / height, kernel / width), mode="constant")
    return Grid(grid.extent, smooth, counts)


def kernel_within(extent: tuple[float, float, float, float], bandwidth: float) -> float:
    """Limit a bandwidth to a quarter of the window: papers at one point have an empty window."""
    x0, y0, x1, y1 = extent
    return min(bandwidth, max(x1 - x0, y1 - y0) / 4)


def highest_density_levels(grid: Grid, shares: Sequence[float] = (0.5, 0.8)) -> tuple[float, ...]:
    """Find the levels of highest-density regions (Hyndman 1996, The American Statistician 50, 120).

    Papers are counted where the grid has them: smoothing widens a narrow clump. Below 100 papers
    the smoothed density is counted, else contours would shrink to points.
    """
    wrong = [share for share in shares if not 0 < share < 1]
    if wrong:
        raise InputError(f"A contour cannot hold a share of {wrong[0]}; give one between 0 and 1.")
    order = np.argsort(-grid.density, axis=None, kind="stable")
    density = grid.density.ravel()[order]
    counts = grid.density if grid.counts is None else grid.counts
    counts = counts if counts.sum() >= _ENOUGH_TO_COUNT else grid.density
    held = np.cumsum(counts.ravel()[order])
    if not len(held) or not held[-1] > 0:
        return (float("inf"),) * len(shares)
    places = np.searchsorted(held, np.asarray(shares) * held[-1])
    return tuple(float(density[min(place, len(density) - 1)]) for place in places)


def contour_lines(grid: Grid, level: float) -> list[NDArray[np.float64]]:
    """Trace where the density crosses a level: closed lines of (x, y), the longest first."""
    from skimage.measure import find_contours

    if not np.isfinite(level) or not level > 0:
        return []
    # A border of zeros closes the lines that leave the window.
    padded = np.pad(grid.density, 1)
    found = find_contours(padded, level)  # type: ignore[no-untyped-call]
    width, height = grid.cell
    x0, y0, x1, y1 = grid.extent
    lines = []
    for line in sorted(found, key=len, reverse=True):
        x = np.clip(x0 + (line[:, 1] - 0.5) * width, x0, x1)
        y = np.clip(y0 + (line[:, 0] - 0.5) * height, y0, y1)
        lines.append(np.column_stack([x, y]))
    return lines


def count_pieces(grid: Grid, level: float, *, least_share: float = 0.0) -> int:
    """Count the connected pieces at or above a density."""
    from scipy import ndimage

    labels, n_pieces = ndimage.label(grid.density >= level, structure=np.ones((3, 3)))
    held = np.bincount(labels.ravel(), grid.density.ravel(), minlength=n_pieces + 1)[1:]
    return int((held >= least_share * grid.density.sum()).sum())
