"""Colours: two themes for maps, series, shares, and more or less than expected.

The ramps are drawn in OKLab [1]_, a space in which equal steps look equal. Lightness runs straight
from the background to the highest density, so a grey print keeps the order. Hue adds a second cue
that is visible with the common colour-vision deficiencies.

References
----------
.. [1] B. Ottosson, "A perceptual color space for image processing" (2020),
   https://bottosson.github.io/posts/oklab/
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscape.errors import InputError

Floats = NDArray[np.float64]

# Linear-light sRGB to cone responses, and their cube roots to OKLab (reference above).
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
        """Hex colour of the empty page, where the ramp begins."""
        red, green, blue = np.round(self.ramp[0] * 255).astype(int)
        return f"#{red:02x}{green:02x}{blue:02x}"


def theme(name: str) -> Theme:
    """Return a theme by its name."""
    if name not in THEMES:
        raise InputError(f"Unknown colours: {name!r}. Use one of {', '.join(THEMES)}.")
    knots, colours = THEMES[name]
    return Theme(name=name, ramp=perceptual_ramp(knots), **colours)


def quiet(colours: Theme) -> Theme:
    """Reduce the contrast of the ramp, so that the layers above the density are prominent."""
    lab = srgb_to_oklab(colours.ramp)
    softer = lab[0] + (lab - lab[0]) * np.array([0.5, 0.35, 0.35])
    return replace(colours, ramp=oklab_to_srgb(softer))


def perceptual_ramp(knots: list[tuple[float, float, float]], *, steps: int = 256) -> Floats:
    """Interpolate a smooth colour ramp through OKLCh colours."""
    table = np.asarray(knots, dtype=float)
    along = np.linspace(0, 1, steps)
    angle = np.deg2rad(table[:, 2])
    plane = np.stack([table[:, 1] * np.cos(angle), table[:, 1] * np.sin(angle)], axis=1)
    # Through a and b rather than chroma and hue: no detour round the hue circle near grey.
    lightness = np.linspace(table[0, 0], table[-1, 0], steps)
    return oklab_to_srgb(np.column_stack([lightness, _smooth_curve(plane, along)]))


def _smooth_curve(knots: Floats, along: Floats) -> Floats:
    """Catmull-Rom spline through evenly spaced knots, at positions from 0 to 1."""
    first, last = 2 * knots[0] - knots[1], 2 * knots[-1] - knots[-2]
    padded = np.vstack([first, knots, last])
    place = along * (len(knots) - 1)
    piece = np.minimum(place.astype(int), len(knots) - 2)
    t = (place - piece)[:, None]
    p0, p1, p2, p3 = (padded[piece + step] for step in range(4))
    curve: Floats = p1 + 0.5 * t * (
        (p2 - p0) + t * ((2 * p0 - 5 * p1 + 4 * p2 - p3) + t * (3 * (p1 - p2) + p3 - p0))
    )
    return curve


def oklab_to_srgb(lab: Floats) -> Floats:
    """Convert OKLab colours to sRGB, clipped to its gamut."""
    cones = (lab @ np.linalg.inv(_LMS_TO_LAB).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_RGB_TO_LMS).T, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def srgb_to_oklab(rgb: Floats) -> Floats:
    """Convert sRGB colours to OKLab, in which distances are perceived differences."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _RGB_TO_LMS.T) @ _LMS_TO_LAB.T)


# Each ramp stops short of the ink's lightness, so that names stay readable on the densest place.
THEMES: dict[str, tuple[list[tuple[float, float, float]], dict[str, str]]] = {
    "light": (
        [
            (1.000, 0.000, 205.0),
            (0.905, 0.036, 205.0),
            (0.810, 0.075, 210.0),
            (0.715, 0.105, 228.0),
            (0.620, 0.130, 253.0),
            (0.525, 0.145, 274.0),
        ],
        {
            "ink": "#10161f",
            "continent": "#6b1430",
            "faint": "#4f5965",
            "halo": "#ffffff",
            "accent": "#9c2f00",
            "found": "#0a4f96",
            "apart": "#c04400",
        },
    ),
    "dark": (
        [
            (0.150, 0.018, 265.0),
            (0.280, 0.075, 270.0),
            (0.410, 0.105, 262.0),
            (0.540, 0.105, 235.0),
            (0.670, 0.100, 195.0),
            (0.800, 0.130, 145.0),
        ],
        {
            "ink": "#fbfcff",
            "continent": "#ffe0ad",
            "faint": "#a9b4c2",
            "halo": "#080b14",
            "accent": "#ffb27a",
            "found": "#7cc4ff",
            "apart": "#ffa04d",
        },
    ),
}

# Seven colours of lines, chosen like those of Okabe and Ito (2008) but in OKLab: of all colours
# with a usable lightness, seven whose least distance is largest to readers with full colour vision,
# with protanopia, deuteranopia and tritanopia. The eighth and later ones repeat them in dashes.
SERIES = {
    "light": ("#003a7f", "#e47600", "#259dfb", "#721025", "#b3769a", "#b6341f", "#5a56c7"),
    "dark": ("#a3c0fb", "#fad732", "#c9559f", "#a8f8d9", "#5b8cf8", "#e6a189", "#9e8500"),
}
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.8)), (0, (1.2, 1.4)))
# OKLCh knots from "none" to "most"; the first is not the empty page, so that zero shows.
_SHARE = {
    "light": [(0.955, 0.012, 95.0), (0.85, 0.085, 90.0), (0.74, 0.13, 68.0), (0.64, 0.16, 45.0),
              (0.53, 0.165, 28.0)],
    "dark": [(0.27, 0.012, 95.0), (0.41, 0.07, 35.0), (0.55, 0.12, 45.0), (0.69, 0.13, 70.0),
             (0.84, 0.13, 95.0)],
}  # fmt: skip
_LESS = {"light": (0.60, 0.150, 48.0), "dark": (0.74, 0.140, 60.0)}
_MORE = {"light": (0.55, 0.135, 255.0), "dark": (0.70, 0.120, 245.0)}
_EVEN = {"light": (0.955, 0.006, 95.0), "dark": (0.30, 0.010, 265.0)}


@dataclass(frozen=True)
class Series:
    """Colour and dashes of a series."""

    colour: str
    dashes: Any


def series(colours: Theme, n: int) -> list[Series]:
    """Choose colours and line styles for `n` series."""
    palette = SERIES[colours.name]
    return [
        Series(palette[i % len(palette)], _DASHES[i // len(palette) % len(_DASHES)])
        for i in range(n)
    ]


def share_ramp(colours: Theme) -> Floats:
    """Return colours from a share of 0 to the largest, shape (256, 3), sRGB 0 to 1."""
    return perceptual_ramp(_SHARE[colours.name])


def contrast_ramp(colours: Theme) -> Floats:
    """Return colours from less than expected (orange) to more (blue), shape (257, 3)."""
    name = colours.name
    less = perceptual_ramp([_LESS[name], _EVEN[name]], steps=129)
    more = perceptual_ramp([_EVEN[name], _MORE[name]], steps=129)
    return np.vstack([less, more[1:]])


Grid = NDArray[np.float32]
Box = tuple[float, float, float, float]

# A Gaussian of width sigma averages over 4 pi sigma^2 pixels: where it holds fewer papers than
# this, what it shows is chance, and a wider one takes over.
FEW, ENOUGH = 6.0, 24.0
# Single papers are drawn as specks in full up to the first number, and not at all from the second.
SPECKS, FEW_ENOUGH_TO_SEE = 5_000, 60_000
_SIGMAS = (2.8, 2.0)  # pixels of each level of the pyramid, wide first: half-octave steps


def smooth_adaptively(counts: Grid, *, coarsest: float) -> Grid:
    """Smooth with a kernel that is narrow in dense areas and wide in sparse ones."""
    from scipy.ndimage import gaussian_filter

    octaves = max(0, round(np.log2(max(coarsest, _SIGMAS[0]) / _SIGMAS[0])))
    pyramid = [_padded(np.asarray(counts, dtype=np.float32), multiple=2**octaves)]
    for _ in range(octaves):
        pyramid.append(_halved(pyramid[-1]))

    density: Grid | None = None
    for octave in range(octaves, -1, -1):
        level = pyramid[octave]
        if density is not None:
            density = _doubled(density)
        for sigma in _SIGMAS:
            finer = gaussian_filter(level, sigma, mode="constant", truncate=3.5)
            if density is None:
                density = finer
                continue
            held = finer * np.float32(4 * np.pi * sigma**2)
            trust = np.clip((held - FEW) / (ENOUGH - FEW), 0, 1)
            trust *= trust * (3 - 2 * trust)  # no seam between two kernels
            density += trust * (finer - density)
    assert density is not None  # noqa: S101 - for the type checker: the loop runs at least once
    density = density[: counts.shape[0], : counts.shape[1]]
    total = float(density.sum())
    return density * np.float32(float(counts.sum()) / total) if total else density


def draw_specks(counts: Grid, *, n_papers: int, strength: float = 0.45) -> Grid:
    """Draw every paper as a speck that is fainter the more papers there are."""
    from scipy.ndimage import gaussian_filter

    fade = strength * np.clip(
        np.log(FEW_ENOUGH_TO_SEE / n_papers) / np.log(FEW_ENOUGH_TO_SEE / SPECKS), 0, 1
    )
    if fade == 0:
        return np.zeros_like(counts)
    sigma = 0.8
    specks = gaussian_filter(np.minimum(counts, 1), sigma, mode="constant", truncate=3)
    specks *= np.float32(2 * np.pi * sigma**2)  # a lone speck peaks at one
    specks = np.minimum(specks, 1) * np.float32(fade)
    return np.asarray(specks, dtype=np.float32)


@dataclass(frozen=True)
class Tones:
    """A scale from papers per pixel to ramp position."""

    knee: float
    top: float

    def position(self, density: Any) -> Any:
        """Ramp position, 0 (empty) to 1 (densest), of densities in papers per pixel."""
        scaled = np.log1p(np.asarray(density) / self.knee) / np.log1p(self.top / self.knee)
        return np.clip(scaled, 0, 1)

    def density(self, position: float) -> float:
        """Papers per pixel at a ramp position: the inverse of `position`."""
        return float(self.knee * np.expm1(position * np.log1p(self.top / self.knee)))


def choose_tones(density: Grid, counts: Grid, *, middle: float = 0.56) -> Tones:
    """Choose the tonal scale from the densities at the papers."""
    occupied = counts > 0
    if not occupied.any():
        return Tones(knee=1.0, top=10.0)
    values, weights = density[occupied], counts[occupied]
    order = np.argsort(values)
    below = np.cumsum(weights[order], dtype=np.float64)
    half, nearly_all = np.searchsorted(below, below[-1] * np.array([0.5, 0.995]))
    typical, top = float(values[order][int(half)]), float(values[order][int(nearly_all)])
    low, high = typical / 12, typical * 4
    for _ in range(40):  # the position falls as the knee rises: bisection
        knee = (low * high) ** 0.5
        low, high = (knee, high) if Tones(knee, top).position(typical) > middle else (low, knee)
    return Tones(knee=knee, top=top)


def _padded(grid: Grid, *, multiple: int) -> Grid:
    rows, columns = (-length % multiple for length in grid.shape)
    return np.pad(grid, ((0, rows), (0, columns)))


def _halved(grid: Grid) -> Grid:
    """Sum 2 x 2 blocks."""
    rows, columns = grid.shape
    summed: Grid = grid.reshape(rows // 2, 2, columns // 2, 2).sum(axis=(1, 3))
    return summed


def _doubled(grid: Grid) -> Grid:
    """Spread each pixel over 2 x 2, bilinearly, keeping the sum."""
    for axis in (0, 1):
        before = np.roll(grid, 1, axis)
        after = np.roll(grid, -1, axis)
        pair = np.stack([0.75 * grid + 0.25 * before, 0.75 * grid + 0.25 * after], axis=axis + 1)
        shape = list(grid.shape)
        shape[axis] *= 2
        grid = pair.reshape(shape)
    result: Grid = grid * np.float32(0.25)
    return result
