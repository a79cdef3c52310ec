"""Distance from the coast, smooth enough for lines at any magnification."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]


def coast_distance(elevation: Grid) -> Grid:
    """Distance from the coast, on land positive and at sea negative.

    The Euclidean distance transform counts whole pixels; the part of a pixel between the nearest
    coastal pixel and the coast itself is read off its height and slope.

    Parameters
    ----------
    elevation : ndarray of float32, shape (rows, columns)
        0 at the coast.

    Returns
    -------
    ndarray of float32, shape (rows, columns)
        In pixels.

    Examples
    --------
    >>> shore = np.tile(np.linspace(-1, 1, 9, dtype=np.float32), (9, 1))
    >>> coast_distance(shore)[4, [2, 4, 6]].round().tolist()
    [-2.0, 0.0, 2.0]
    """
    from scipy.ndimage import distance_transform_edt, gaussian_filter

    down, across = np.gradient(elevation)
    steepness = np.sqrt(across * across + down * down)
    part = np.clip(np.abs(elevation) / np.maximum(steepness, 1e-9), 0, 1).astype(np.float32)
    land = elevation >= 0
    distance = np.zeros(elevation.shape, dtype=np.float32)
    for side, sign in ((land, 1.0), (~land, -1.0)):
        if side.all():
            return np.full(elevation.shape, sign * max(elevation.shape), dtype=np.float32)
        away, (row, column) = distance_transform_edt(side, return_indices=True)
        beyond = part[row, column]  # of the nearest pixel on the other side
        distance += np.where(side, np.float32(sign) * (away - beyond), 0).astype(np.float32)
    return np.asarray(gaussian_filter(distance, 1.0, mode="nearest"), dtype=np.float32)
