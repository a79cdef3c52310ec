"""Compare the land, coasts, peaks and relief of a drawn map with the data."""

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
_PEAKS = 12  # number of compared summits
_RISE = 0.02  # smallest relief of compared summits, relative to the highest peak
_NOTHING = 0.001  # minimum share of land or water; smaller areas are ignored
# Tolerance for the position of coasts, as a share of the diagonal, and its minimum in pixels.
_TOLERANCE, _MIN_TOLERANCE = 0.005, 2.5
# Allowed range of the gain of L*, a* and b* of a picture, and maximum of their offsets.
_GAIN, _OFFSETS = (0.8, 1.25), (10.0, 4.0, 4.0)
_SAMPLE, _TREES = 20_000, 30  # number of training pixels and trees of the random forest


@dataclass(frozen=True)
class Bars:
    """Lowest accepted scores of a picture, each 0 to 1."""

    iou: float = 0.95
    boundary_f1: float = 0.85
    peaks_kept: float = 0.8
    relief: float = 0.6

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
    iou : float
        Intersection over union of land or of water; the lower of the two values is used.
    boundary_f1 : float
        Harmonic mean of the share of the drawn coast that is near the true coast, and of the
        share of the true coast that is near the drawn coast.
    peaks_kept : float
        Share of the compared peaks that rise above their surroundings.
    relief_correlation : float
        Spearman correlation of heights read from the picture with the true heights, -1 to 1.
    relief_of_truth : float
        The same correlation for the map that was drawn without diffusion.
    n_peaks : int
        Number of compared peaks.
    bars : Bars
        The lowest accepted scores.

    Examples
    --------
    >>> Fidelity(0.97, 0.9, 1.0, 0.6, 0.7, 12).passed
    True
    >>> Fidelity(0.91, 0.9, 1.0, 0.6, 0.7, 12).says
    'land and water agree with the data to 0.91 where 0.95 is required'
    """

    iou: float
    boundary_f1: float
    peaks_kept: float
    relief_correlation: float
    relief_of_truth: float
    n_peaks: int
    bars: Bars = field(default_factory=Bars)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the scores that are below their limit or NaN."""
        return tuple(name for name, (value, bar) in self._measured.items() if not value >= bar)

    @property
    def passed(self) -> bool:
        """Whether the picture is accepted."""
        return not self.failed

    @property
    def says(self) -> str:
        """Message for the user that lists the failed scores, or reports the agreement."""
        if self.passed:
            return f"it matches the data (land and water agree to {self.iou:.2f})"
        return ", ".join(
            f"{_WORDS[name]} {self._measured[name][0]:.2f} "
            f"where {self._measured[name][1]:.2f} is required"
            for name in self.failed
        )

    def as_dict(self) -> dict[str, object]:
        """Return the scores as a dict for the settings file."""
        numbers = {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }
        return {**numbers, "passed": self.passed, "failed": list(self.failed)}

    @property
    def _measured(self) -> dict[str, tuple[float, float]]:
        """Value and limit of each score."""
        return {
            "iou": (self.iou, self.bars.iou),
            "boundary_f1": (self.boundary_f1, self.bars.boundary_f1),
            "peaks_kept": (self.peaks_kept, self.bars.peaks_kept),
            "relief": (self.relief_correlation, self.bars.relief * max(self.relief_of_truth, 0)),
        }


_WORDS = {
    "iou": "land and water agree with the data to",
    "boundary_f1": "coasts agree to",
    "peaks_kept": "the share of the highest peaks that remain is",
    "relief": "heights follow the relief with a rank correlation of",
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
    A random forest is trained to predict land and height from the colours of the true map, and is
    then applied to the picture. Intersection over union is defined by Jaccard (1912, *New
    Phytologist* 11, 37), and boundary F1 by Csurka et al. (2013, *BMVC*), here with a tolerance of
    0.5 % of the diagonal.
    """
    if truth is None:
        truth = paint(terrain, theme=theme)
    return TrueMap(terrain, truth).judge(picture, bars=bars)


class TrueMap:
    """The map drawn from the data, with which pictures are compared."""

    def __init__(self, terrain: Terrain, truth: Picture) -> None:
        from sklearn.ensemble import ExtraTreesRegressor

        share = min(1.0, _MAX_LENGTH / max(terrain.size))
        self.size = max(1, round(terrain.size[0] * share)), max(1, round(terrain.size[1] * share))
        self.elevation: Floats = _resized(terrain.elevation, self.size)
        self.land: Mask = self.elevation >= 0
        self.lab = _lab(truth, self.size)
        self.peaks = _peak_pixels(terrain, self.size)
        random = np.random.default_rng(0)
        heights = self.elevation.ravel()
        chosen = random.permutation(heights.size)[:_SAMPLE]
        seen = _features(self.lab)[chosen]
        noisy = seen + random.normal(0, 1, seen.shape)  # makes the forest robust to noise
        wanted = np.column_stack([heights >= 0, heights])[chosen]
        self.reader = ExtraTreesRegressor(_TREES, min_samples_leaf=10, random_state=0)
        self.reader.fit(np.vstack([seen, noisy]), np.vstack([wanted, wanted]))
        self.heights = self._read(self.lab)[1]  # heights that the forest predicts from the true map

    def judge(self, picture: Picture, *, bars: Bars | None = None) -> Fidelity:
        """Compare a picture with the true map."""
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise InputError(
                "A picture must be uint8 of shape (height, width, 3), "
                f"not {picture.dtype} of {picture.shape}."
            )
        land, heights = self._read(_match_tone(_lab(picture, self.size), self.lab))
        kept, compared = self._compare_peaks(heights)
        return Fidelity(
            iou=min(_iou(land, self.land), _iou(~land, ~self.land)),
            boundary_f1=_boundary_f1(land, self.land),
            peaks_kept=kept,
            relief_correlation=self._correlate_relief(heights),
            relief_of_truth=self._correlate_relief(self.heights),
            n_peaks=compared,
            bars=bars or Bars(),
        )

    def _read(self, lab: Floats) -> tuple[Mask, Floats]:
        """Predict the land mask and the heights from CIELAB colours."""
        from scipy import ndimage

        found = self.reader.predict(_features(lab)).reshape(*lab.shape[:2], 2)
        return ndimage.gaussian_filter(found[..., 0], 1) > 0.5, found[..., 1]

    def _compare_peaks(self, heights: Floats) -> tuple[float, int]:
        """Return the share of summits with at least half of their true height, and the total."""
        radius = max(2.0, 0.015 * max(self.size))
        rows, columns = np.ogrid[: self.size[1], : self.size[0]]
        kept = compared = 0
        for row, column in self.peaks:
            away = np.hypot(rows - row, columns - column)
            top = away <= radius
            ring = (away > 2 * radius) & (away <= 4 * radius) & self.land
            if not ring.any():
                continue
            drawn, true = (float(h[top].mean() - h[ring].mean()) for h in (heights, self.heights))
            if true >= _RISE:
                compared += 1
                kept += drawn >= true / 2
        return (kept / compared if compared else 1.0), compared

    def _correlate_relief(self, heights: Floats) -> float:
        """Return the Spearman correlation with the true relief on land, or 0 if undefined."""
        from scipy import ndimage, stats

        inner = ndimage.binary_erosion(self.land, iterations=2)
        width = max(4.0, 0.05 * max(self.size))
        drawn, true = (_relief(one, inner, width)[inner] for one in (heights, self.elevation))
        if len(drawn) < 30 or np.ptp(drawn) < 1e-6 or np.ptp(true) < 1e-6:
            return 0.0
        return float(stats.spearmanr(drawn, true).statistic)


def _resized(array: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize an array to a width and height by averaging."""
    from PIL import Image

    return np.asarray(Image.fromarray(array).resize(size, Image.Resampling.BOX))


def _lab(picture: Picture, size: tuple[int, int]) -> Floats:
    """Resize a picture, convert it to CIELAB colours and blur it slightly."""
    from scipy import ndimage
    from skimage.color import rgb2lab

    lab = rgb2lab(_resized(picture, size).astype(np.float32) / 255)
    return ndimage.gaussian_filter(lab, (1, 1, 0)).astype(np.float32)


def _features(lab: Floats) -> Floats:
    """Return colours at three scales and edges at two scales, shape (pixels, 11)."""
    from scipy import ndimage

    width = max(1.0, 0.006 * max(lab.shape))
    blurred = [ndimage.gaussian_filter(lab, (s * width, s * width, 0)) for s in (1, 3)]
    edges = [ndimage.gaussian_gradient_magnitude(lab[..., 0], s * width)[..., None] for s in (1, 3)]
    return np.concatenate([lab, *blurred, *edges], axis=-1).reshape(-1, 11)


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


def _relief(heights: Floats, inside: Mask, sigma: float) -> Floats:
    """Subtract the local mean of the heights inside a mask."""
    from scipy import ndimage

    weight = inside.astype(np.float32)
    around = ndimage.gaussian_filter(heights * weight, sigma)
    return heights - around / np.maximum(ndimage.gaussian_filter(weight, sigma), 1e-6)


def _peak_pixels(terrain: Terrain, size: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the row and column of each of the highest summits."""
    summits = [peak for peak in terrain.peaks if peak.summit and peak.elevation > 0]
    highest = sorted(summits, key=lambda peak: -peak.elevation)[:_PEAKS]
    column, row = terrain.pixels_of([p.x for p in highest], [p.y for p in highest])
    rows, columns = row * (size[1] / terrain.size[1]), column * (size[0] / terrain.size[0])
    return [
        (int(r), int(c))
        for r, c in zip(rows, columns, strict=True)
        if 0 <= r < size[1] and 0 <= c < size[0]
    ]


def _iou(seen: Mask, true: Mask) -> float:
    """Return the intersection over union away from the coast, or 1 if both masks are empty."""
    from skimage.segmentation import find_boundaries

    if max(seen.mean(), true.mean()) < _NOTHING:
        return 1.0
    counted = ~find_boundaries(true)  # type: ignore[no-untyped-call] # skimage has no types
    return float((seen & true & counted).sum() / max(((seen | true) & counted).sum(), 1))


def _boundary_f1(seen: Mask, true: Mask) -> float:
    """Return the boundary F1 score, the harmonic mean of coast precision and recall."""
    from scipy import ndimage
    from skimage.segmentation import find_boundaries

    coasts = [find_boundaries(one, mode="inner") for one in (seen, true)]  # type: ignore[no-untyped-call] # skimage has no types
    if not coasts[0].any() or not coasts[1].any():
        return float(coasts[0].any() == coasts[1].any())
    tolerance = max(_MIN_TOLERANCE, _TOLERANCE * float(np.hypot(*true.shape)))
    near = [ndimage.distance_transform_edt(~coast) <= tolerance for coast in coasts]
    precision, recall = near[1][coasts[0]].mean(), near[0][coasts[1]].mean()
    return float(2 * precision * recall / max(precision + recall, 1e-9))
