"""Does the picture still tell the truth? A drawn map is measured against the data behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from landscape.errors import InputError
from landscape.outreach.overlap import boundary_f1, iou
from landscape.outreach.scores import Bars, Fidelity
from landscape.outreach.seeing import Eye, light_and_shade, local
from landscape.outreach.tones import colours, evened

if TYPE_CHECKING:
    from landscape.outreach.terrain import Terrain

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

__all__ = ["Bars", "Fidelity", "Ruler", "judge", "reduced"]

_LONGEST = 768  # pixels on which a picture is judged: what it says at arm's length
_PEAKS = 12  # of the highest are looked at
_RISE = 0.04  # of the highest peak: a summit that rises less above its surroundings is not judged
_TURN = 0.2  # rank correlation of light and shade about a summit: with less it is not judged
_FEW = 30  # pixels: from fewer nothing is concluded
# Pixels at least, and share of the longer side: relief between these widths counts. What is finer
# is drawn, not measured: gullies and the like are no one's data.
_SCALES = ((1.0, 0.006), (4.0, 0.05))


def judge(
    picture: Picture,
    terrain: Terrain,
    *,
    theme: str = "atlas",
    truth: Picture | None = None,
    bars: Bars | None = None,
) -> Fidelity:
    """Measure how true a picture is to the terrain that it shows.

    Nothing is taken from the picture's making: land and water are classified from its pixels
    alone, by what colours mean on the map that is drawn from the data without a model.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
    terrain : Terrain
    theme : str, default "atlas"
        Theme in which the true map is painted, where `truth` is not given.
    truth : ndarray of uint8, shape (height, width, 3), optional
        The map drawn from the terrain without a model, of any size.
    bars : Bars, optional

    Returns
    -------
    Fidelity

    Raises
    ------
    InputError
        If the picture is no picture.

    Notes
    -----
    Intersection over union is Jaccard's (1912, *New Phytologist* 11, 37). The boundary measure is
    that of Csurka et al. (2013, *BMVC*), with a tolerance of 0.5 % of the diagonal. Peaks and
    relief are read from tints and brightness with the same ruler on both maps.
    """
    if truth is None:
        from landscape.outreach.painting import paint

        truth = paint(terrain, theme=theme)
    return Ruler.of(terrain, truth).judge(picture, bars=bars)


@dataclass(frozen=True)
class Ruler:
    """What a terrain and its true map are measured by, made once for many pictures.

    Parameters
    ----------
    elevation : ndarray of float32, shape (height, width)
        At the size at which pictures are judged.
    true : ndarray of float32, shape (height, width, 3)
        Colours of the true map.
    eye : Eye
    places : list of (int, int)
        Row and column of the highest summits.
    shapes : list of ndarray of float32
        The relief in light and shade, and in heights, without what is wide.
    """

    elevation: Floats
    true: Floats
    eye: Eye
    places: list[tuple[int, int]]
    shapes: list[Floats]

    @classmethod
    def of(cls, terrain: Terrain, truth: Picture) -> Ruler:
        """Learn what the colours of a true map mean.

        Parameters
        ----------
        terrain : Terrain
        truth : ndarray of uint8, shape (height, width, 3)
            The map drawn from it without a model.
        """
        size = _working_size(terrain.size)
        elevation = _reduced_heights(terrain.elevation, size)
        true = colours(reduced(truth, size))
        reliefs = (light_and_shade(elevation), elevation)
        wide = _scale(elevation.shape, 1)
        return cls(
            elevation=elevation,
            true=true,
            eye=Eye.learned(true, elevation),
            places=_places(terrain, size),
            shapes=[local(relief, _inner(elevation), wide) for relief in reliefs],
        )

    def judge(self, picture: Picture, *, bars: Bars | None = None) -> Fidelity:
        """Measure one picture, see `judge`."""
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise InputError(
                "A picture is judged as uint8 of shape (height, width, 3), "
                f"not {picture.dtype} of {picture.shape}."
            )
        height, width = self.elevation.shape
        seen = evened(colours(reduced(picture, (width, height))), self.true)
        land, land_seen = self.elevation >= 0, self.eye.land(seen)
        lights = [self._light(one) for one in (seen, self.true)]
        kept, judged = self._peaks(seen, lights)
        relief, relief_of_truth = self._relief(lights)
        return Fidelity(
            iou=min(iou(land_seen, land), iou(~land_seen, ~land)),
            boundary_f1=boundary_f1(land_seen, land),
            peaks_kept=kept,
            relief_correlation=relief,
            relief_of_truth=relief_of_truth,
            n_peaks=judged,
            bars=bars or Bars(),
        )

    def _light(self, seen: Floats) -> Floats:
        """Brightness without what is finer or wider than the relief that was measured."""
        from scipy import ndimage

        shape = self.elevation.shape
        soft = ndimage.gaussian_filter(seen[..., 0], _scale(shape, 0))
        return local(soft, _inner(self.elevation), _scale(shape, 1))

    def _peaks(self, seen: Floats, lights: list[Floats]) -> tuple[float, int]:
        """Share of the summits that are still summits, and the number of those judged.

        Where tints tell heights, a summit must rise above its surroundings at least half as much
        as on the true map; where only light and shade tell them, those must turn about it at least
        half as clearly.
        """
        land = self.elevation >= 0
        radius = max(2.0, 0.015 * max(land.shape))
        rows, columns = np.ogrid[: land.shape[0], : land.shape[1]]
        heights = [self.eye.height(one) for one in (seen, self.true)]
        kept = judged = 0
        for row, column in self.places:
            away = np.hypot(rows - row, columns - column)
            top, ring = away <= radius, (away > 2 * radius) & (away <= 4 * radius) & land
            if not ring.any():
                continue
            found = [float(one[top].mean() - one[ring].mean()) for one in heights]
            if found[1] < _RISE:
                around = np.flatnonzero((away <= 4 * radius) & land)
                found = [_ranked(one, self.shapes[0], around) for one in lights]
                if found[1] < _TURN:
                    continue
            judged += 1
            kept += found[0] >= found[1] / 2
        return (kept / judged if judged else 1.0), judged

    def _relief(self, lights: list[Floats]) -> tuple[float, float]:
        """Rank correlation of brightness with the relief: of the picture, and of the true map.

        A theme may draw the relief as light and shade, or as tints by height, bright or dark; what
        it does is read from the true map, and the picture is held to that.
        """
        where = np.flatnonzero(_inner(self.elevation))
        where = where[:: max(1, len(where) // 40_000)]
        found = [[_ranked(one, shape, where) for one in lights] for shape in self.shapes]
        seen, true = max(found, key=lambda pair: abs(pair[1]))
        if true == 0:
            return 1.0, 0.0  # no ground to speak of, or flat
        return (seen, true) if true > 0 else (-seen, -true)


def reduced(picture: Picture, size: tuple[int, int]) -> Picture:
    """Bring a picture to the size at which it is judged.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
    size : (int, int)
        Width and height, in pixels.

    Returns
    -------
    ndarray of uint8, shape (size[1], size[0], 3)

    Examples
    --------
    >>> reduced(np.zeros((8, 6, 3), dtype=np.uint8), (3, 4)).shape
    (4, 3, 3)
    """
    from PIL import Image

    whole = Image.fromarray(picture)
    return np.asarray(whole if whole.size == size else whole.resize(size, Image.Resampling.BOX))


def _working_size(size: tuple[int, int]) -> tuple[int, int]:
    share = min(1.0, _LONGEST / max(size))
    return max(1, round(size[0] * share)), max(1, round(size[1] * share))


def _reduced_heights(elevation: Floats, size: tuple[int, int]) -> Floats:
    """Mean height of each working pixel; the coast stays where it is to a fraction of a pixel."""
    from PIL import Image

    if elevation.shape == size[::-1]:
        return elevation
    return np.asarray(Image.fromarray(elevation).resize(size, Image.Resampling.BOX))


def _places(terrain: Terrain, size: tuple[int, int]) -> list[tuple[int, int]]:
    """Row and column of the highest summits, at the working size."""
    summits = [peak for peak in terrain.peaks if peak.summit and peak.elevation > 0]
    highest = sorted(summits, key=lambda peak: -peak.elevation)[:_PEAKS]
    if not highest:
        return []
    column, row = terrain.pixels_of([p.x for p in highest], [p.y for p in highest])
    rows, columns = row * (size[1] / terrain.size[1]), column * (size[0] / terrain.size[0])
    return [
        (int(r), int(c))
        for r, c in zip(rows, columns, strict=True)
        if 0 <= r < size[1] and 0 <= c < size[0]
    ]


def _inner(elevation: Floats) -> Mask:
    """Land without the line along the coast."""
    from scipy import ndimage

    return ndimage.binary_erosion(elevation >= 0, iterations=2)


def _scale(shape: tuple[int, ...], which: int) -> float:
    """Narrowest and widest relief that counts, in pixels."""
    least, share = _SCALES[which]
    return max(least, share * max(shape))


def _ranked(light: Floats, shape: Floats, where: NDArray[np.intp]) -> float:
    """Spearman's rank correlation on some pixels; 0 where either does not vary."""
    from scipy import stats

    one, other = light.ravel()[where], shape.ravel()[where]
    if len(where) < _FEW or np.ptp(one) < 1e-3 or np.ptp(other) < 1e-6:
        return 0.0
    return float(stats.spearmanr(one, other).statistic)
