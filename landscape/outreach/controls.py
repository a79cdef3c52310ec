"""What a ControlNet is shown: the heights as depth, and the coasts as lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

KINDS = ("depth", "coast")
"""Controls in the order in which they are given to a pipeline."""

# Grey levels of a depth picture: brighter is nearer to the eye, and the eye is above the map.
_SEA, _SHORE, _PEAK = 24, 64, 255


def depth_picture(elevation: Floats) -> Picture:
    """Draw heights as a depth ControlNet reads them: what is high is near, and near is bright.

    The water is flat and the shore a step above it, so that the coast is a line in the depth too.

    Parameters
    ----------
    elevation : ndarray of float32, shape (height, width)
        0 at sea level, 1 at the highest peak, negative under water.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        Grey.

    Examples
    --------
    >>> depth_picture(np.array([[-0.5, 0.0, 1.0]], dtype=np.float32))[..., 0].tolist()
    [[24, 64, 255]]
    """
    heights = np.nan_to_num(np.asarray(elevation, dtype=np.float32), nan=-1.0)
    rise = np.clip(heights, 0, 1)
    grey = np.where(heights >= 0, _SHORE + (_PEAK - _SHORE) * rise, _SEA)
    return _as_rgb(np.rint(grey).astype(np.uint8))


def coast_picture(land: Mask, *, width: int = 2) -> Picture:
    """Draw the coasts as a line ControlNet (canny, line art) reads them: white on black.

    Parameters
    ----------
    land : ndarray of bool, shape (height, width)
    width : int, default 2
        Thickness of the line to either side of the coast, in pixels.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        0 and 255.

    Examples
    --------
    >>> coast_picture(np.array([[True, True, False, False]]), width=1)[0, :, 0].tolist()
    [0, 255, 255, 0]
    """
    land = np.asarray(land, dtype=bool)
    line = grown(land, width) & grown(~land, width)
    return _as_rgb(np.where(line, 255, 0).astype(np.uint8))


def grown(mask: Mask, steps: int) -> Mask:
    """Grow a mask by whole pixels, to the four sides.

    Parameters
    ----------
    mask : ndarray of bool, shape (height, width)
    steps : int
        Pixels to grow by.

    Returns
    -------
    ndarray of bool, shape (height, width)
        A new array. The mask ends at the edge of the sheet, and does not grow in from there.

    Examples
    --------
    >>> grown(np.array([[False, False, True]]), 1).tolist()
    [[False, True, True]]
    """
    grown_so_far = np.array(mask, dtype=bool)
    for _ in range(steps):
        before = grown_so_far.copy()
        grown_so_far[1:] |= before[:-1]
        grown_so_far[:-1] |= before[1:]
        grown_so_far[:, 1:] |= before[:, :-1]
        grown_so_far[:, :-1] |= before[:, 1:]
    return grown_so_far


def mask_sea_back(drawn: Picture, truth: Picture, land: Mask, *, shore: int = 3) -> Picture:
    """Put the water of the true map back, to the pixel, and let the shore fade into it.

    Parameters
    ----------
    drawn, truth : ndarray of uint8, shape (height, width, 3)
        The picture from the model, and the map that it was drawn from.
    land : ndarray of bool, shape (height, width)
    shore : int, default 3
        Pixels of land over which the coast of the true map fades into the drawn picture.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        Equal to `truth` on every pixel of water.

    Examples
    --------
    >>> drawn, truth = np.full((1, 4, 3), 200, np.uint8), np.zeros((1, 4, 3), np.uint8)
    >>> land = np.array([[False, True, True, True]])
    >>> mask_sea_back(drawn, truth, land, shore=1)[0, :, 0].tolist()
    [0, 100, 200, 200]
    """
    whole = drawn.copy()
    whole[~land] = truth[~land]
    sea = ~land
    for step in range(1, shore + 1):
        wider = grown(sea, 1)
        ring = wider & ~sea
        share = step / (shore + 1)
        whole[ring] = np.rint(drawn[ring] * share + truth[ring] * (1 - share))
        sea = wider
    return whole


def _as_rgb(grey: NDArray[np.uint8]) -> Picture:
    """Repeat a grey picture over three channels."""
    return np.repeat(grey[..., None], 3, axis=2)
