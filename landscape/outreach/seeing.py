"""What a picture of a map says to the eye: where land is, how high, and where light falls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Colours are told apart in CIELAB, whose distances are those of the eye, in boxes of this size.
_BOX = 2.0
_LIGHTS, _HUES = 52, 71  # boxes along L* (0 to 104) and along a*, b* (-71 to 71)
_BLUR = 1.3  # boxes: about a just noticeable difference
_SEEN = 1e-7  # share of a class; a box with less is one whose colour the true map does not use
_CERTAIN = 6.0  # log odds, so that no speck outvotes its surroundings
_SURE = 1.5  # log odds: from here on a colour alone decides
_SOFT = 1.0  # pixels over which colours are averaged before they are read
_INSETS, _WRONG = (1, 2, 3, 4, 6, 8), 5e-4
# How far a picture may be paler or warmer as a whole before its colours mean something else.
_GAIN, _OFFSET = (0.75, 1.33), 15.0


@dataclass(frozen=True)
class Eye:
    """What the colours of a true map mean.

    Parameters
    ----------
    odds : ndarray of float32, shape (52, 71, 71)
        Logarithm of the odds that a colour is land.
    heights : ndarray of float32, shape (52, 71, 71)
        Mean elevation where a colour stands on land.
    inset : (int, int)
        Pixels that a patch of sure water, and of sure land, is shrunk by before it is trusted: the
        lines along a coast can look like the other side of it.
    """

    odds: Floats
    heights: Floats
    inset: tuple[int, int] = (1, 1)

    @classmethod
    def learned(cls, truth: Floats, elevation: Floats) -> Eye:
        """Learn colours from a map that is known to be true.

        Land and water are told apart by the likelihood of their colours; a colour that the true
        map does not use means what the nearest one means that it does use.

        Parameters
        ----------
        truth : ndarray of float32, shape (height, width, 3)
            Colours as `colours` gives them.
        elevation : ndarray of float32, shape (height, width)
            Negative under water.

        Returns
        -------
        Eye

        Examples
        --------
        >>> pixels = np.array([[30, 60, 160]] * 9 + [[90, 140, 60]] * 9, dtype=np.uint8)
        >>> truth = colours(np.tile(pixels, (9, 1, 1)))
        >>> heights = np.tile(np.repeat(np.float32([-0.2, 0.4]), 9), (9, 1))
        >>> eye = Eye.learned(truth, heights)
        >>> bool((eye.land(truth) == (heights >= 0)).all())
        True
        """
        from scipy import ndimage

        boxes, land = _boxes(truth), elevation >= 0
        counts = [_count(boxes[where]) for where in (land, ~land)]
        shares = [ndimage.gaussian_filter(n / max(n.sum(), 1), _BLUR) for n in counts]
        odds = np.log((shares[0] + 1e-9) / (shares[1] + 1e-9))
        weighted = _count(boxes[land], elevation[land])
        mean = ndimage.gaussian_filter(weighted, _BLUR) / (
            ndimage.gaussian_filter(counts[0], _BLUR) + 1e-9
        )
        eye = cls(
            odds=_filled(np.clip(odds, -_CERTAIN, _CERTAIN), np.maximum(*shares) > _SEEN),
            heights=_filled(mean, shares[0] > _SEEN),
        )
        read = eye._odds_of(truth)
        return replace(eye, inset=(_inset(read < -_SURE, ~land), _inset(read > _SURE, land)))

    def land(self, seen: Floats) -> Mask:
        """Tell land from water.

        Where the colour alone tells, it decides. Where land and water share a tint, as on
        parchment, the surer ground around floods in until it meets a line: a watershed (Beucher &
        Meyer 1993, in *Mathematical Morphology in Image Processing*) of the colour's gradient.

        Parameters
        ----------
        seen : ndarray of float32, shape (height, width, 3)
            Colours as `colours` gives them.

        Returns
        -------
        ndarray of bool, shape (height, width)
        """
        from scipy import ndimage
        from skimage.segmentation import watershed

        odds = self._odds_of(seen)
        sure = [
            _shrunk(where, by)
            for where, by in zip((odds < -_SURE, odds > _SURE), self.inset, strict=True)
        ]
        if not sure[0].any() or not sure[1].any():
            return odds > 0
        steps = [ndimage.gaussian_gradient_magnitude(seen[..., i], 0.7) for i in range(3)]
        seeds = sure[0] * 1 + sure[1] * 2
        slope = np.sqrt(sum(step**2 for step in steps))
        return watershed(slope, seeds) == 2  # type: ignore[no-untyped-call] # skimage has no types

    def _odds_of(self, seen: Floats) -> Floats:
        from scipy import ndimage

        return ndimage.gaussian_filter(self.odds.ravel()[_boxes(seen)], 1.5)

    def height(self, seen: Floats) -> Floats:
        """Read heights from colours.

        Parameters
        ----------
        seen : ndarray of float32, shape (height, width, 3)

        Returns
        -------
        ndarray of float32, shape (height, width)
            Elevation, 0 to 1.
        """
        return self.heights.ravel()[_boxes(seen)]


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


def light_and_shade(elevation: Floats) -> Floats:
    """Give the light that slopes catch from the upper left, as maps are lit.

    The derivative of the heights towards the light: its ranks are those of a hill shading without
    cast shadows (Horn 1981, *Proceedings of the IEEE* 69, 14), at any vertical exaggeration.

    Parameters
    ----------
    elevation : ndarray of float32, shape (height, width)

    Returns
    -------
    ndarray of float32, shape (height, width)
        Positive on slopes that face the upper left.

    Examples
    --------
    >>> light_and_shade(np.array([[0, 1, 2], [1, 2, 3]], dtype=np.float32)).min() > 0
    np.True_
    """
    down, across = np.gradient(np.maximum(elevation, 0))
    return (down + across).astype(np.float32)


def local(values: Floats, inside: Mask, sigma: float) -> Floats:
    """Take the mean of the surroundings away, within a mask.

    Parameters
    ----------
    values : ndarray of float32, shape (height, width)
    inside : ndarray of bool, shape (height, width)
        What lies outside has no say.
    sigma : float
        Width of the surroundings, in pixels.

    Returns
    -------
    ndarray of float32, shape (height, width)

    Examples
    --------
    >>> flat = np.full((8, 8), 3, dtype=np.float32)
    >>> bool(np.allclose(local(flat, flat > 0, 2.0), 0, atol=1e-5))
    True
    """
    from scipy import ndimage

    weight = inside.astype(np.float32)
    around = ndimage.gaussian_filter(values * weight, sigma)
    return values - around / np.maximum(ndimage.gaussian_filter(weight, sigma), 1e-6)


def _boxes(seen: Floats) -> NDArray[np.intp]:
    """Number of the colour box of every pixel, shape (height, width)."""
    lab = np.floor(seen / _BOX + [0, _HUES / 2, _HUES / 2]).astype(np.intp)
    light = np.clip(lab[..., 0], 0, _LIGHTS - 1)
    red, yellow = np.clip(lab[..., 1], 0, _HUES - 1), np.clip(lab[..., 2], 0, _HUES - 1)
    return (light * _HUES + red) * _HUES + yellow


def _inset(sure: Mask, true: Mask) -> int:
    """Pixels by which to shrink what looks sure until hardly any of it is wrong."""
    for by in _INSETS:
        left = _shrunk(sure, by)
        if (left & ~true).sum() <= _WRONG * left.sum():
            return by
    return 1  # never so: the colours of this theme do not tell, and the score will say so


def _shrunk(mask: Mask, by: int) -> Mask:
    from scipy import ndimage

    return ndimage.distance_transform_edt(np.pad(mask, 1, mode="edge"))[1:-1, 1:-1] > by


def _count(boxes: NDArray[np.intp], weights: Floats | None = None) -> NDArray[np.float64]:
    shape = (_LIGHTS, _HUES, _HUES)
    counts = np.bincount(boxes, weights=weights, minlength=int(np.prod(shape)))
    return counts.astype(np.float64).reshape(shape)


def _filled(values: NDArray[np.float64], known: Mask) -> Floats:
    """Give every box the value of the nearest one that is known."""
    from scipy import ndimage

    if not known.any():
        return np.zeros(values.shape, dtype=np.float32)
    nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    return values[tuple(nearest)].astype(np.float32)
