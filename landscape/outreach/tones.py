"""The colours of a picture as the eye tells them apart, whatever tone lies over the whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]

_SOFT = 1.0  # pixels over which colours are averaged before they are read
# How far a picture may be paler or warmer as a whole before its colours mean something else.
_GAIN, _OFFSET = (0.75, 1.33), 15.0


def colours(picture: Picture) -> Floats:
    """Give the colours of a picture in CIELAB, a little softened.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)

    Returns
    -------
    ndarray of float32, shape (height, width, 3)
        L* (0 to 100), a* and b*.

    Examples
    --------
    >>> colours(np.full((1, 1, 3), 255, dtype=np.uint8))[0, 0].round().tolist()
    [100.0, ...]
    """
    from scipy import ndimage
    from skimage.color import rgb2lab

    lab = rgb2lab(np.asarray(picture, dtype=np.float32) / 255)
    return ndimage.gaussian_filter(lab, (_SOFT, _SOFT, 0)).astype(np.float32)


def evened(seen: Floats, truth: Floats) -> Floats:
    """Take a tone that lies over the whole picture away: it may be paler, or warmer.

    One gain and one offset for each of L*, a* and b*, by least squares and within limits: they
    cannot move a coast or turn a colour into its opposite.

    Parameters
    ----------
    seen, truth : ndarray of float32, shape (height, width, 3)

    Returns
    -------
    ndarray of float32, shape (height, width, 3)

    Examples
    --------
    >>> truth = np.random.default_rng(0).uniform(20, 80, (5, 5, 3)).astype(np.float32)
    >>> bool(np.allclose(evened(truth * 0.9 + 4, truth), truth, atol=0.01))
    True
    """
    even = np.empty_like(seen)
    for i in range(3):
        one, other = seen[..., i].ravel(), truth[..., i].ravel()
        spread = float(other.var())
        gain = float(np.mean((one - one.mean()) * (other - other.mean()))) / max(spread, 1e-6)
        gain = float(np.clip(gain, *_GAIN)) if spread > 1 else 1.0
        offset = float(np.clip(one.mean() - gain * other.mean(), -_OFFSET, _OFFSET))
        even[..., i] = (seen[..., i] - offset) / gain
    return even
