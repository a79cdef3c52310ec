"""What a picture of a map says to the eye: where land is, how high, and where light falls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from landscape.outreach.controls import grown

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Trust = tuple[tuple[float, int], tuple[float, int]]

# Colours are told apart in CIELAB, whose distances are those of the eye, in boxes of this size.
_BOX = 2.0
_LIGHTS, _HUES = 52, 71  # boxes along L* (0 to 104) and along a*, b* (-71 to 71)
_BLUR = 1.3  # boxes: about a just noticeable difference
_SEEN = 1e-7  # share of a class; a box with less is one whose colour the true map does not use
_CERTAIN = 6.0  # log odds, so that no speck outvotes its surroundings
# When a colour alone decides: log odds, and the pixels by which such a patch is shrunk before it
# is trusted, for the lines along a coast can look like the other side of it. Easiest first.
_TRUSTS = ((1.5, 1), (1.5, 2), (2.5, 1), (2.5, 2), (2.5, 4), (4.0, 1), (4.0, 2), (4.0, 4))
_WELL = 0.985  # overlap of land read and true land on the true map: no need to look further


@dataclass(frozen=True)
class Eye:
    """What the colours of a true map mean.

    Parameters
    ----------
    odds : ndarray of float32, shape (52, 71, 71)
        Logarithm of the odds that a colour is land.
    heights : ndarray of float32, shape (52, 71, 71)
        Mean elevation where a colour stands on land.
    trust : ((float, int), (float, int))
        For water and for land, when the colour alone decides: log odds, and pixels to shrink by.
    """

    odds: Floats
    heights: Floats
    trust: Trust = (_TRUSTS[0], _TRUSTS[0])

    @classmethod
    def learned(cls, truth: Floats, elevation: Floats) -> Eye:
        """Learn colours from a map that is known to be true.

        Land and water are told apart by the likelihood of their colours; a colour that the true
        map does not use means what the nearest one means that it does use.

        Parameters
        ----------
        truth : ndarray of float32, shape (height, width, 3)
            Colours as `landscape.outreach.tones.colours` gives them.
        elevation : ndarray of float32, shape (height, width)
            Negative under water.

        Returns
        -------
        Eye

        Examples
        --------
        >>> from landscape.outreach.tones import colours
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
        return eye._focused(truth, land)

    def _focused(self, truth: Floats, land: Mask) -> Eye:
        """Choose what to trust, so that the true map is read as well as can be."""
        odds, slope = self._read(truth)
        counted = grown(land, 1) == ~grown(~land, 1)  # the coast itself is neither

        def read(trust: Trust) -> float:
            seen = _flooded(odds, slope, trust)[counted]
            true = land[counted]
            return min(_overlap(seen, true), _overlap(~seen, ~true))

        best, score = self.trust, read(self.trust)
        for side in (1, 0):
            for one in _TRUSTS[1:]:
                if score < _WELL:
                    trust = (best[0], one) if side else (one, best[1])
                    found = read(trust)
                    best, score = max((best, score), (trust, found), key=lambda pair: pair[1])
        return replace(self, trust=best)

    def land(self, seen: Floats) -> Mask:
        """Tell land from water.

        Where the colour alone tells, it decides. Where land and water share a tint, as on
        parchment, the surer ground around floods in until it meets a line: a watershed (Beucher &
        Meyer 1993, in *Mathematical Morphology in Image Processing*) of the colour's gradient.

        Parameters
        ----------
        seen : ndarray of float32, shape (height, width, 3)
            Colours as `landscape.outreach.tones.colours` gives them.

        Returns
        -------
        ndarray of bool, shape (height, width)
        """
        return _flooded(*self._read(seen), self.trust)

    def _read(self, seen: Floats) -> tuple[Floats, Floats]:
        """Log odds of land by colour, and the steepness of the colours."""
        from scipy import ndimage

        odds = ndimage.gaussian_filter(self.odds.ravel()[_boxes(seen)], 1.5)
        steps = [ndimage.gaussian_gradient_magnitude(seen[..., i], 0.7) for i in range(3)]
        return odds, np.sqrt(sum(step**2 for step in steps))

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


def _flooded(odds: Floats, slope: Floats, trust: Trust) -> Mask:
    """Let what is surely water, and surely land, flood what lies between."""
    from skimage.segmentation import watershed

    (wet, by), (dry, inland) = trust
    sure = _shrunk(odds < -wet, by), _shrunk(odds > dry, inland)
    if not sure[0].any() or not sure[1].any():
        return odds > 0
    seeds = sure[0] * 1 + sure[1] * 2
    return watershed(slope, seeds) == 2  # type: ignore[no-untyped-call] # skimage has no types


def _overlap(seen: Mask, true: Mask) -> float:
    """Intersection over union; 1 where there is neither."""
    union = int((seen | true).sum())
    return float((seen & true).sum() / union) if union else 1.0


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
