"""Colours of figures: map themes, line series, and ramps for shares and for contrasts.

The ramps are interpolated in OKLab [1]_, a colour space in which equal steps look equal. Lightness
changes linearly from the background to the highest density, so the order is clear in a grey print.
Hue is a second cue, which is visible with the common types of colour blindness.

References
----------
.. [1] B. Ottosson, "A perceptual color space for image processing" (2020),
   https://bottosson.github.io/posts/oklab/
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from landscape._io import data_file, read_yaml
from landscape.errors import InputError

Floats = NDArray[np.float64]

# Matrices from linear sRGB to cone responses, and from their cube roots to OKLab (see above).
_RGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LMS_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@dataclass(frozen=True)
class Theme:
    """The colours of one figure."""

    name: str
    ramp: Floats
    ink: str
    continent: str
    faint: str
    halo: str
    accent: str
    found: str
    apart: str

    @property
    def page(self) -> str:
        """Hex colour of the empty page, the first colour of the ramp."""
        red, green, blue = np.round(self.ramp[0] * 255).astype(int)
        return f"#{red:02x}{green:02x}{blue:02x}"


def theme(name: str | Theme) -> Theme:
    """Return the theme with a given name; return a `Theme` unchanged."""
    if isinstance(name, Theme):
        return name
    if name not in THEMES:
        raise InputError(f"Unknown colours: {name!r}. Use one of {', '.join(THEMES)}.")
    return Theme(name, perceptual_ramp(THEMES[name]["ramp"]), **THEMES[name]["marks"])


def quiet(colours: Theme) -> Theme:
    """Reduce the contrast of the ramp, so that the layers above the density are prominent."""
    lab = srgb_to_oklab(colours.ramp)
    softer = lab[0] + (lab - lab[0]) * np.array([0.65, 0.5, 0.5])
    return replace(colours, ramp=oklab_to_srgb(softer))


def perceptual_ramp(knots: Sequence[Sequence[float]], *, steps: int = 256) -> Floats:
    """Interpolate a smooth colour ramp through OKLCh colours."""
    lightness, chroma, hue = np.asarray(knots, dtype=float).T
    plane = chroma[:, None] * np.column_stack([np.cos(np.deg2rad(hue)), np.sin(np.deg2rad(hue))])
    # A cubic Hermite spline through a and b. Chroma and hue are not interpolated, because the hue
    # changes rapidly near grey. The tangents are the gradients, as in a Catmull-Rom spline. SciPy's
    # class is not used, because it would double the import time of the first figure.
    tangents = np.gradient(plane, axis=0)
    position = np.linspace(0, len(plane) - 1, steps)
    left = np.minimum(position.astype(int), len(plane) - 2)
    t = (position - left)[:, None]
    curve = (
        (1 + 2 * t) * (1 - t) ** 2 * plane[left]
        + t**2 * (3 - 2 * t) * plane[left + 1]
        + t * (1 - t) ** 2 * tangents[left]
        - t**2 * (1 - t) * tangents[left + 1]
    )
    return oklab_to_srgb(np.column_stack([np.linspace(lightness[0], lightness[-1], steps), curve]))


def pick(ramp: np.ndarray, position: ArrayLike) -> np.ndarray:
    """Return the colours of a ramp at positions from 0 to 1, shape (..., 3)."""
    return np.asarray(ramp[np.round(np.clip(position, 0, 1) * (len(ramp) - 1)).astype(int)])


def fade(value: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return a smooth step from 0 at `low` to 1 at `high`."""
    share = np.clip((value - low) / (high - low), 0, 1)
    return share * (share * (3 - 2 * share))


def oklab_to_srgb(lab: Floats) -> Floats:
    """Convert OKLab colours to sRGB, clipped to its gamut."""
    cones = (lab @ np.linalg.inv(_LMS_TO_LAB).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_RGB_TO_LMS).T, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def srgb_to_oklab(rgb: Floats) -> Floats:
    """Convert sRGB colours to OKLab, in which distances correspond to perceived differences."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _RGB_TO_LMS.T) @ _LMS_TO_LAB.T)


THEMES: dict[str, Any] = read_yaml(data_file("figure_colours.yaml"))


def series(colours: Theme, n: int) -> list[str]:
    """Return the colours of `n` series; after seven, the colours are repeated."""
    return list(islice(cycle(THEMES[colours.name]["series"]), n))


def share_ramp(colours: Theme) -> Floats:
    """Return the colours of shares from 0 to the largest, in sRGB 0 to 1, shape (256, 3).

    The colours change with a power of the share, so that small shares are visible.
    """
    evenly = perceptual_ramp(THEMES[colours.name]["share"], steps=1024)
    return pick(evenly, np.linspace(0, 1, 256) ** 0.7)


def contrast_ramp(colours: Theme) -> Floats:
    """Return a colour ramp from "less than expected" (orange) to "more" (blue), shape (257, 3)."""
    less, even, more = THEMES[colours.name]["contrast"]
    ends = perceptual_ramp([less, even], steps=129), perceptual_ramp([even, more], steps=129)
    return np.vstack([ends[0], ends[1][1:]])


Grid = NDArray[np.float32]

# A Gaussian of width sigma averages over 4 pi sigma^2 pixels. If this area contains fewer than FEW
# papers, the density is mostly noise, and a wider Gaussian is used instead. If it contains at least
# ENOUGH papers, only the narrow Gaussian is used. Between the two limits, both are blended.
FEW, ENOUGH = 6.0, 24.0
# Single papers are drawn as small dots. They have full strength in a corpus of up to SPECKS papers,
# are fainter in a larger one, and are not drawn if there are FEW_ENOUGH_TO_SEE papers or more.
SPECKS, FEW_ENOUGH_TO_SEE = 5_000, 60_000
# Opacities of the colours of categories in pixels with the fewest and with the most papers. The
# names on the map are readable on the strongest colour.
FAINTEST, STRONGEST = 0.6, 0.85
_SIGMAS = (2.8, 2.0)  # kernel widths in pixels of a pyramid level; their ratio is sqrt(2)


def smooth_adaptively(counts: Grid, *, coarsest: float) -> Grid:
    """Smooth with a kernel that is narrow in dense areas and wide in sparse areas."""
    from scipy.ndimage import gaussian_filter

    octaves = max(0, round(np.log2(max(coarsest, _SIGMAS[0]) / _SIGMAS[0])))
    margins = [(0, -length % 2**octaves) for length in counts.shape]
    pyramid: list[Grid] = [np.pad(np.asarray(counts, dtype=np.float32), margins)]
    for _ in range(octaves):
        rows, columns = pyramid[-1].shape
        blocks = pyramid[-1].reshape(rows // 2, 2, columns // 2, 2)
        pyramid.append(blocks.sum(axis=(1, 3)))

    density: Grid | None = None
    for level in reversed(pyramid):
        if density is not None:
            density = _doubled(density)
        for sigma in _SIGMAS:
            finer = gaussian_filter(level, sigma, mode="constant", truncate=3.5)
            if density is None:
                density = finer
                continue
            held = finer * np.float32(4 * np.pi * sigma**2)
            density += fade(held, FEW, ENOUGH) * (finer - density)  # blends two kernels
    assert density is not None  # noqa: S101 - for the type checker: the loop runs at least once
    density = density[: counts.shape[0], : counts.shape[1]]
    total = float(density.sum())
    return density * np.float32(float(counts.sum()) / total) if total else density


def draw_specks(counts: Grid, *, n_papers: int, strength: float = 0.45) -> Grid:
    """Draw every paper as a small dot; dots are fainter in a larger corpus."""
    from scipy.ndimage import gaussian_filter

    strongest = strength * np.clip(
        np.log(FEW_ENOUGH_TO_SEE / n_papers) / np.log(FEW_ENOUGH_TO_SEE / SPECKS), 0, 1
    )
    if strongest == 0:
        return np.zeros_like(counts)
    sigma = 0.8
    specks = gaussian_filter(np.minimum(counts, 1), sigma, mode="constant", truncate=3)
    specks *= np.float32(2 * np.pi * sigma**2)  # the maximum of a single dot is 1
    specks = np.minimum(specks, 1) * np.float32(strongest)
    return np.asarray(specks, dtype=np.float32)


@dataclass(frozen=True)
class Tones:
    """A scale that converts papers per pixel to a ramp position."""

    knee: float
    top: float

    def position(self, density: ArrayLike) -> np.ndarray:
        """Convert densities in papers per pixel to ramp positions, 0 (empty) to 1 (densest)."""
        # In single precision, the position of the densest place depends on the processor.
        given = np.asarray(density, dtype=np.float64)
        scaled = np.log1p(given / self.knee) / np.log1p(self.top / self.knee)
        return np.clip(scaled, 0, 1)

    def density(self, position: float) -> float:
        """Convert a ramp position to papers per pixel. This is the inverse of `position`."""
        return float(self.knee * np.expm1(position * np.log1p(self.top / self.knee)))


def choose_tones(density: Grid, counts: Grid, *, middle: float = 0.56) -> Tones:
    """Choose the scale so that the median density at the papers has the ramp position `middle`."""
    occupied = counts > 0
    if not occupied.any():
        return Tones(knee=1.0, top=10.0)
    values, weights = density[occupied], counts[occupied]
    order = np.argsort(values)
    below = np.cumsum(weights[order], dtype=np.float64)
    half, nearly_all = np.searchsorted(below, below[-1] * np.array([0.5, 0.995]))
    typical, top = float(values[order][int(half)]), float(values[order][int(nearly_all)])
    low, high = typical / 12, typical * 4
    for _ in range(40):  # find the knee by bisection; a larger knee gives a lower position
        knee = (low * high) ** 0.5
        low, high = (knee, high) if Tones(knee, top).position(typical) > middle else (low, knee)
    return Tones(knee=knee, top=top)


def shade(
    counts: Grid, *, widest: float, n_papers: int, specks: bool = False, border: int = 0
) -> tuple[Grid, Tones]:
    """Return ramp positions of the smoothed density, without a border of pixels, and the scale.

    `widest` is the width in pixels of the widest kernel for 4,000 papers. The kernel is narrower
    for more papers (Scott's rule, Scott 1992). With `specks`, single papers of a small corpus are
    visible.
    """
    coarsest = widest * float(np.clip((4000 / max(n_papers, 1)) ** (1 / 6), 0.4, 2))
    inner = tuple(slice(border, length - border) for length in counts.shape)
    density, counts = smooth_adaptively(counts, coarsest=coarsest)[inner], counts[inner]
    tones = choose_tones(density, counts)
    position = tones.position(density)
    if specks and n_papers:
        position += draw_specks(counts, n_papers=n_papers) * (1 - position)
    return position, tones


def shade_by_category(counts: Any, palette: Floats, page: Floats, *, reach: int) -> Any:
    """Return sRGB pixels of 0 to 255 that mix the colours of the categories of their papers.

    The colours are stronger where there are more papers: the strength is the rank of the number
    of papers of a pixel among all pixels with papers. A paper is a dot of radius `reach` pixels.
    Pixels without papers have the colour of the page.
    """
    import datashader.transfer_functions as tf

    key = {n: tuple(rgb) for n, rgb in enumerate(np.round(palette * 255).astype(int).tolist())}
    picture = tf.shade(
        tf.spread(counts, px=reach),
        color_key=key,
        how="eq_hist",
        alpha=round(255 * STRONGEST),
        min_alpha=round(255 * FAINTEST),
    )
    pixels = np.ascontiguousarray(picture.values).view(np.uint8).reshape(*picture.shape, 4)
    opacity = pixels[..., 3:].astype(np.float32) / 255
    mixed = opacity * pixels[..., :3] + (1 - opacity) * np.float32(255) * page.astype(np.float32)
    return np.round(mixed).astype(np.uint8)


def _doubled(grid: Grid) -> Grid:
    """Double the resolution of a grid by bilinear interpolation, and keep its sum."""
    for axis in (0, 1):
        near = [0.75 * grid + 0.25 * np.roll(grid, step, axis) for step in (1, -1)]
        shape = [length * (1 + (axis == place)) for place, length in enumerate(grid.shape)]
        grid = np.stack(near, axis=axis + 1).reshape(shape)
    return np.asarray(grid * np.float32(0.25), dtype=np.float32)
