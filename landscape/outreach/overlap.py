"""How far two divisions of a sheet into land and water agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

_TOLERANCE, _LEAST_TOLERANCE = 0.005, 2.5  # of the diagonal, and in pixels: a coast may lie off
_NOTHING = 0.001  # share of the sheet: less land or water than this is none


def iou(seen: Mask, true: Mask) -> float:
    """Intersection over union; 1 where the thing is absent from both.

    The pixels on either side of the coast do not count: the line itself is drawn there. Jaccard
    (1912, *New Phytologist* 11, 37).

    Parameters
    ----------
    seen, true : ndarray of bool, shape (height, width)

    Returns
    -------
    float

    Examples
    --------
    >>> true = np.tile([True] * 6 + [False] * 6, (4, 1))
    >>> iou(true, true), iou(~true, true)
    (1.0, 0.0)
    """
    if max(seen.mean(), true.mean()) < _NOTHING:
        return 1.0
    inside = ~(_coast(true) | _coast(~true))
    return float((seen & true & inside).sum() / max(((seen | true) & inside).sum(), 1))


def boundary_f1(seen: Mask, true: Mask) -> float:
    """Share of each coast that has the other one near it, as a harmonic mean.

    Csurka et al. (2013, *BMVC*), with a tolerance of 0.5 % of the diagonal.

    Parameters
    ----------
    seen, true : ndarray of bool, shape (height, width)

    Returns
    -------
    float

    Examples
    --------
    >>> true = np.tile([True] * 6 + [False] * 6, (4, 1))
    >>> boundary_f1(true, true), boundary_f1(np.roll(true, 4, axis=1)[:, 4:], true[:, 4:])
    (1.0, 0.0)
    """
    from scipy import ndimage

    coasts = [_coast(seen), _coast(true)]
    if not coasts[0].any() or not coasts[1].any():
        return float(coasts[0].any() == coasts[1].any())
    tolerance = max(_LEAST_TOLERANCE, _TOLERANCE * float(np.hypot(*true.shape)))
    near = [ndimage.distance_transform_edt(~coast) <= tolerance for coast in coasts]
    precision, recall = near[1][coasts[0]].mean(), near[0][coasts[1]].mean()
    return float(2 * precision * recall / max(precision + recall, 1e-9))


def _coast(land: Mask) -> Mask:
    """Land with water at one of its four sides."""
    coast = np.zeros_like(land)
    coast[1:] |= land[1:] & ~land[:-1]
    coast[:-1] |= land[:-1] & ~land[1:]
    coast[:, 1:] |= land[:, 1:] & ~land[:, :-1]
    coast[:, :-1] |= land[:, :-1] & ~land[:, 1:]
    return coast
