"""Colours for what is drawn on a map: several series, shares, and more or less than expected.

The seven colours of series are chosen like those of Okabe and Ito (2008), but in OKLab and dark
enough for lines and names on paper (light enough on a dark screen): of all colours with a usable
lightness, seven whose least distance is largest to readers with full colour vision, with
protanopia, deuteranopia and tritanopia. The eighth series and those after it repeat the colours in
dashed lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.colours import perceptual_ramp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.colours import Theme

    Floats = NDArray[np.float64]

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
    """How one of several things is drawn.

    Attributes
    ----------
    colour : str
        Hex.
    dashes : Any
        Line style, as matplotlib takes it.
    """

    colour: str
    dashes: Any


def series(colours: Theme, n: int) -> list[Series]:
    """Choose colours and line styles for `n` series.

    Parameters
    ----------
    colours : Theme
    n : int
        At most 21 are all different.

    Returns
    -------
    list of Series

    Examples
    --------
    >>> from landscape.figures.colours import theme
    >>> chosen = series(theme("light"), 8)
    >>> chosen[0].colour == chosen[7].colour, chosen[0].dashes == chosen[7].dashes
    (True, False)
    """
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
