"""Colours of the viewer, from those of the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.colours import THEMES, oklab_to_srgb, perceptual_ramp, theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KNOTS = 12  # colours of a ramp; browsers interpolate between them
_CLASSES = 14
# Lightness and chroma of the classes. Neighbours in the list differ in hue and in lightness.
_LOOK = {"light": ((0.48, 0.15), (0.72, 0.13)), "dark": ((0.60, 0.13), (0.84, 0.11))}
_STRIDE = 5


def viewer_themes() -> dict[str, dict[str, Any]]:
    """Return the colours of the light and the dark theme, by the names that the viewer uses."""
    return {name: _colours(name) for name in _LOOK}


def _colours(name: str) -> dict[str, Any]:
    colours, own = theme(name), THEMES[name]
    steps = np.linspace(0, len(colours.ramp) - 1, _KNOTS).round().astype(int)
    numbers = perceptual_ramp(own["numbers"], steps=_KNOTS)
    return {
        "page": colours.page,
        "ink": colours.ink,
        "continent": colours.continent,
        "faint": colours.faint,
        "halo": colours.halo,
        "accent": colours.accent,
        "missing": own["missing"],
        "quiet": own["others"],
        **own["panel"],
        "mine": colours.found,
        "ramp": _hex(colours.ramp[steps]),
        "numbers": _hex(numbers),
        "classes": _hex(_classes(name)),
    }


def _classes(name: str) -> NDArray[np.float64]:
    """Return colours of equal distance in hue, in an order in which neighbours differ."""
    places = np.arange(_CLASSES) * _STRIDE % _CLASSES
    hue = np.deg2rad(25 + 360 * places / _CLASSES)
    lightness, chroma = np.array([_LOOK[name][place % 2] for place in places.tolist()]).T
    return oklab_to_srgb(np.column_stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)]))


def rgb_of(colours: list[str]) -> NDArray[np.float64]:
    """Convert hex colours to red, green and blue from 0 to 1, shape (n, 3)."""
    parts = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours]
    return np.array(parts, dtype=np.float64) / 255


def _hex(colours: NDArray[np.float64]) -> list[str]:
    whole = np.round(np.clip(colours, 0, 1) * 255).astype(int)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in whole.tolist()]
