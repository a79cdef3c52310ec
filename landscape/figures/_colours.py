"""Colours: two themes for maps, series, shares, and more or less than expected.

The ramps are drawn in OKLab [1]_, a space in which equal steps look equal. Lightness runs straight
from the paper to the densest place, so a grey print keeps the order, and hue adds a
second clue to it that the common colour-vision deficiencies leave alone.

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
    """Find a theme by its name."""
    if name not in THEMES:
        raise InputError(f"No colours are called {name!r}; use one of {', '.join(THEMES)}.")
    knots, colours = THEMES[name]
    return Theme(name=name, ramp=perceptual_ramp(knots), **colours)


def quiet(colours: Theme) -> Theme:
    """Take the ramp of a theme back, so that what is drawn on the map stands out."""
    lab = srgb_to_oklab(colours.ramp)
    softer = lab[0] + (lab - lab[0]) * np.array([0.5, 0.35, 0.35])
    return replace(colours, ramp=oklab_to_srgb(softer))


def perceptual_ramp(knots: list[tuple[float, float, float]], *, steps: int = 256) -> Floats:
    """Draw a smooth colour ramp through a few OKLCh colours."""
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
    """Turn OKLab colours into sRGB, clipped to what a screen can show."""
    cones = (lab @ np.linalg.inv(_LMS_TO_LAB).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(_RGB_TO_LMS).T, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def srgb_to_oklab(rgb: Floats) -> Floats:
    """Turn sRGB colours into OKLab, in which distances are differences seen by the eye."""
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
    """How one of several things is drawn."""

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
    """Colours from a share of nothing to the largest, shape (256, 3), sRGB 0 to 1."""
    return perceptual_ramp(_SHARE[colours.name])


def contrast_ramp(colours: Theme) -> Floats:
    """Colours from less (orange) over as expected (grey) to more (blue), shape (257, 3)."""
    name = colours.name
    less = perceptual_ramp([_LESS[name], _EVEN[name]], steps=129)
    more = perceptual_ramp([_EVEN[name], _MORE[name]], steps=129)
    return np.vstack([less, more[1:]])
