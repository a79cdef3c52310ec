"""From points to tones: counting, smoothing where papers are few, and the tonal scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Grid = NDArray[np.float32]
Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]

# From here on points are counted by datashader, which needs no memory of its own. Importing and
# compiling it takes longer than all the rest of a figure, so fewer points are counted by NumPy.
MANY = 500_000
# A Gaussian of width sigma averages over 4 pi sigma^2 pixels: where it holds fewer papers than
# this, what it shows is chance, and a wider one takes over.
FEW, ENOUGH = 6.0, 24.0
# Single papers are drawn as specks in full up to the first number, and not at all from the second.
SPECKS, FEW_ENOUGH_TO_SEE = 5_000, 60_000
_SIGMAS = (2.8, 2.0)  # pixels of each level of the pyramid, wide first: half-octave steps


def count_grid(x: Any, y: Any, *, extent: Box, shape: tuple[int, int]) -> Grid:
    """Count the points that fall on each pixel."""
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counted = _count_streaming if len(across) >= MANY else _count_at_once
    return counted(across, up, extent, shape)


def _count_at_once(x: Floats, y: Floats, extent: Box, shape: tuple[int, int]) -> Grid:
    """Count with NumPy: instant, but with an index array as long as the points."""
    x0, y0, x1, y1 = extent
    column = np.floor((x - x0) * (shape[1] / (x1 - x0)))
    row = np.floor((y - y0) * (shape[0] / (y1 - y0)))
    # The far sides belong to the last pixel, as in a histogram.
    column[x == x1], row[y == y1] = shape[1] - 1, shape[0] - 1
    inside = (column >= 0) & (column < shape[1]) & (row >= 0) & (row < shape[0])
    index = row[inside].astype(np.int64) * shape[1] + column[inside].astype(np.int64)
    return np.bincount(index, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)


def _count_streaming(x: Floats, y: Floats, extent: Box, shape: tuple[int, int]) -> Grid:
    """Count with datashader: no index array, in compiled code."""
    import datashader as ds
    import pandas as pd

    x0, y0, x1, y1 = extent
    canvas = ds.Canvas(
        plot_width=shape[1], plot_height=shape[0], x_range=(x0, x1), y_range=(y0, y1)
    )
    points = pd.DataFrame({"x": x, "y": y}, copy=False)
    return np.asarray(canvas.points(points, "x", "y", ds.count()).values, dtype=np.float32)


def smooth_adaptively(counts: Grid, *, coarsest: float) -> Grid:
    """Smooth just enough everywhere: finely in the crowd, widely where papers are scattered."""
    from scipy.ndimage import gaussian_filter

    octaves = max(0, round(np.log2(max(coarsest, _SIGMAS[0]) / _SIGMAS[0])))
    pyramid = [_padded(counts, multiple=2**octaves)]
    for _ in range(octaves):
        pyramid.append(_halved(pyramid[-1]))

    density: Grid | None = None
    for octave in range(octaves, -1, -1):
        level = pyramid[octave]
        if density is not None:
            density = _doubled(density)
        for sigma in _SIGMAS:
            finer = gaussian_filter(level, sigma, mode="constant", truncate=3.5)
            if density is None:
                density = finer
                continue
            held = finer * np.float32(4 * np.pi * sigma**2)
            trust = np.clip((held - FEW) / (ENOUGH - FEW), 0, 1)
            trust *= trust * (3 - 2 * trust)  # no seam where one kernel hands over to the next
            density += trust * (finer - density)
    assert density is not None  # noqa: S101 - for the type checker: the loop runs at least once
    density = density[: counts.shape[0], : counts.shape[1]]
    total = float(density.sum())
    return density * np.float32(float(counts.sum()) / total) if total else density


def dust(counts: Grid, *, n_papers: int, strength: float = 0.45) -> Grid:
    """Draw every paper as a speck, fading out as papers become too many to be told apart."""
    from scipy.ndimage import gaussian_filter

    fade = strength * np.clip(
        np.log(FEW_ENOUGH_TO_SEE / n_papers) / np.log(FEW_ENOUGH_TO_SEE / SPECKS), 0, 1
    )
    if fade == 0:
        return np.zeros_like(counts)
    sigma = 0.8
    specks = gaussian_filter(np.minimum(counts, 1), sigma, mode="constant", truncate=3)
    specks *= np.float32(2 * np.pi * sigma**2)  # a lone speck peaks at one
    specks = np.minimum(specks, 1) * np.float32(fade)
    return np.asarray(specks, dtype=np.float32)


@dataclass(frozen=True)
class Tones:
    """A scale from papers per pixel to ramp position."""

    knee: float
    top: float

    def position(self, density: Any) -> Any:
        """Ramp position, 0 (empty) to 1 (densest), of densities in papers per pixel."""
        scaled = np.log1p(np.asarray(density) / self.knee) / np.log1p(self.top / self.knee)
        return np.clip(scaled, 0, 1)

    def density(self, position: float) -> float:
        """Papers per pixel at a ramp position: the inverse of `position`."""
        return float(self.knee * np.expm1(position * np.log1p(self.top / self.knee)))


def choose_tones(density: Grid, counts: Grid, *, middle: float = 0.56) -> Tones:
    """Choose the tonal scale from where the papers lie."""
    occupied = counts > 0
    if not occupied.any():
        return Tones(knee=1.0, top=10.0)
    values, weights = density[occupied], counts[occupied]
    order = np.argsort(values)
    below = np.cumsum(weights[order], dtype=np.float64)
    half, nearly_all = np.searchsorted(below, below[-1] * np.array([0.5, 0.995]))
    typical, top = float(values[order][int(half)]), float(values[order][int(nearly_all)])
    low, high = typical / 12, typical * 4
    for _ in range(40):  # the position falls as the knee rises: bisection
        knee = (low * high) ** 0.5
        low, high = (knee, high) if Tones(knee, top).position(typical) > middle else (low, knee)
    return Tones(knee=knee, top=top)


def _padded(grid: Grid, *, multiple: int) -> Grid:
    rows, columns = (-length % multiple for length in grid.shape)
    return np.pad(grid, ((0, rows), (0, columns)))


def _halved(grid: Grid) -> Grid:
    """Sum 2 x 2 blocks."""
    rows, columns = grid.shape
    summed: Grid = grid.reshape(rows // 2, 2, columns // 2, 2).sum(axis=(1, 3))
    return summed


def _doubled(grid: Grid) -> Grid:
    """Spread each pixel over 2 x 2, bilinearly, keeping the sum."""
    for axis in (0, 1):
        before = np.roll(grid, 1, axis)
        after = np.roll(grid, -1, axis)
        pair = np.stack([0.75 * grid + 0.25 * before, 0.75 * grid + 0.25 * after], axis=axis + 1)
        shape = list(grid.shape)
        shape[axis] *= 2
        grid = pair.reshape(shape)
    result: Grid = grid * np.float32(0.25)
    return result
