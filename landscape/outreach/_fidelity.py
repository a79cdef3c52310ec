"""Compare the coasts and the relief of a drawn map with the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from landscape.errors import InputError
from landscape.outreach._painting import paint
from landscape.outreach._terrain import Terrain

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

_MAX_LENGTH = 512  # longer side of the compared pictures, in pixels
_COAST, _INLAND = 3.0, 4  # width of a coast on each side, and of the land beside it, in pixels
_BLUR, _WINDOW = 1.8, 3.0  # standard deviations in pixels: of the blur, and of the comparison
_MIN_SIDE = 2 * int(3.5 * _WINDOW + 0.5) + 1  # pixels of the window of the comparison
# Allowed range of the gain of L*, a* and b* of a picture, and maximum of their offsets.
_GAIN, _OFFSETS = (0.8, 1.25), (10.0, 4.0, 4.0)


@dataclass(frozen=True)
class Bars:
    """Lowest accepted scores of a picture, each 0 to 1.

    The defaults accept the map with the texture of a brush, and refuse a map of other data.
    """

    coasts: float = 0.75
    relief: float = 0.72

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 <= value <= 1:
                raise InputError(
                    f"The lowest accepted {name} is {value}; it must be between 0 and 1."
                )


@dataclass(frozen=True)
class Fidelity:
    """Agreement of a picture with its terrain. All scores are 1 for a perfect picture.

    Parameters
    ----------
    coasts : float
        Mean structural similarity of the picture and the true map along the coasts.
    relief : float
        Mean structural similarity on land, away from the coasts.
    bars : Bars
        The lowest accepted scores.

    Examples
    --------
    >>> Fidelity(0.9, 0.8).passed
    True
    >>> Fidelity(0.5, 0.8).says
    'the coasts agree with the data to 0.50 where 0.75 is required'
    """

    coasts: float
    relief: float
    bars: Bars = field(default_factory=Bars)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the scores that are below their limit or NaN."""
        return tuple(name for name in _WORDS if not getattr(self, name) >= getattr(self.bars, name))

    @property
    def passed(self) -> bool:
        """Whether the picture is accepted."""
        return not self.failed

    @property
    def says(self) -> str:
        """Message for the user that lists the failed scores, or reports the agreement."""
        if self.passed:
            return f"it matches the data (the coasts agree to {self.coasts:.2f})"
        return ", ".join(
            f"{_WORDS[name]} {getattr(self, name):.2f} "
            f"where {getattr(self.bars, name):.2f} is required"
            for name in self.failed
        )

    def as_dict(self) -> dict[str, object]:
        """Return the scores as a dict for the settings file."""
        scores = {"coasts": round(self.coasts, 4), "relief": round(self.relief, 4)}
        return {
            **scores,
            "bars": asdict(self.bars),
            "passed": self.passed,
            "failed": list(self.failed),
        }


_WORDS = {
    "coasts": "the coasts agree with the data to",
    "relief": "the relief agrees with the data to",
}


def judge(
    picture: Picture,
    terrain: Terrain,
    *,
    theme: str = "atlas",
    truth: Picture | None = None,
    bars: Bars | None = None,
) -> Fidelity:
    """Measure the agreement of a picture with its terrain.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
    terrain : Terrain
    theme : str, default "atlas"
        Theme in which the true map is painted if `truth` is not given.
    truth : ndarray of uint8, shape (height, width, 3), optional
        The map drawn from the terrain without a model, of any size.
    bars : Bars, optional

    Returns
    -------
    Fidelity

    Raises
    ------
    InputError
        If the shape or the type of the picture is not as above.

    Notes
    -----
    The scores are the structural similarity (Wang et al. 2004, *IEEE Trans. Image Process.* 13,
    600) of the lightness of the picture and of the true map, after a limited change of the tone.
    """
    if truth is None:
        truth = paint(terrain, theme=theme)
    return TrueMap(terrain, truth).judge(picture, bars=bars)


class TrueMap:
    """The map drawn from the data, with which pictures are compared."""

    def __init__(self, terrain: Terrain, truth: Picture) -> None:
        from scipy import ndimage
        from skimage.segmentation import find_boundaries

        share = min(1.0, _MAX_LENGTH / max(terrain.size))
        self.size = max(1, round(terrain.size[0] * share)), max(1, round(terrain.size[1] * share))
        land: Mask = _resized(terrain.elevation, self.size) >= 0
        self.lab = _lab(truth, self.size)
        coast = find_boundaries(land)  # type: ignore[no-untyped-call] # skimage has no types
        near = ndimage.distance_transform_edt(~coast) <= _COAST
        # A sheet without coasts or without land is compared as a whole.
        self.coasts: Mask = near if coast.any() else np.ones_like(land)
        inland = ndimage.binary_erosion(land, iterations=_INLAND)
        self.inland: Mask = inland if inland.any() else np.ones_like(land)

    def judge(self, picture: Picture, *, bars: Bars | None = None) -> Fidelity:
        """Compare a picture with the true map."""
        from skimage.metrics import structural_similarity

        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise InputError(
                "A picture must be uint8 of shape (height, width, 3), "
                f"not {picture.dtype} of {picture.shape}."
            )
        if min(self.size) < _MIN_SIDE:
            raise InputError(
                f"The compared map has {min(self.size)} pixels on its shorter side, and at least "
                f"{_MIN_SIDE} are needed; draw a map that is less narrow."
            )
        drawn = _match_tone(_lab(picture, self.size), self.lab)
        _, similar = structural_similarity(  # type: ignore[no-untyped-call] # skimage has no types
            self.lab[..., 0],
            drawn[..., 0],
            data_range=100,  # of L*
            full=True,
            gaussian_weights=True,
            sigma=_WINDOW,
        )
        coasts, relief = (float(similar[part].mean()) for part in (self.coasts, self.inland))
        return Fidelity(coasts, relief, bars or Bars())


def _resized(array: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize an array to a width and height by averaging."""
    from PIL import Image

    return np.asarray(Image.fromarray(array).resize(size, Image.Resampling.BOX))


def _lab(picture: Picture, size: tuple[int, int]) -> Floats:
    """Resize a picture, convert it to CIELAB colours and blur it."""
    from scipy import ndimage
    from skimage.color import rgb2lab

    lab = rgb2lab(_resized(picture, size).astype(np.float32) / 255)
    return ndimage.gaussian_filter(lab, (_BLUR, _BLUR, 0)).astype(np.float32)


def _match_tone(lab: Floats, truth: Floats) -> Floats:
    """Match the overall tone of a picture to the true map, by a limited linear change of L*a*b*."""
    matched = np.empty_like(lab)
    for i in range(3):
        one, other = lab[..., i], truth[..., i]
        spread = float(other.var())
        gain = float(np.mean((one - one.mean()) * (other - other.mean()))) / max(spread, 1e-6)
        gain = float(np.clip(gain, *_GAIN)) if spread > 1 else 1.0
        offset = float(np.clip(one.mean() - gain * other.mean(), -_OFFSETS[i], _OFFSETS[i]))
        matched[..., i] = (one - offset) / gain
    return matched
