"""What a theme of the outreach map is made of: colours, strengths, inks, and smooth ramps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.figures._colours import oklab_to_srgb, srgb_to_oklab

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

STEPS = 1024  # colours of a ramp: more than a screen tells apart


@dataclass(frozen=True)
class Inks:
    """Colours of what is lettered on the map, hex.

    Attributes
    ----------
    region, land, sea : str
        Names of regions, of whole lands or ranges, and of seas and straits.
    halo, sea_halo : str
        What stands behind names on land and on water.
    title, text, faint : str
        On the sheet outside the map and in the cartouche: heading, words, fine print and lines.
    page, panel : str
        The sheet around the map, and the ground of the cartouche.
    """

    region: str
    land: str
    sea: str
    halo: str
    sea_halo: str
    title: str
    text: str
    faint: str
    page: str
    panel: str


@dataclass(frozen=True)
class Theme:
    """The look of one map. Colours are hex; strengths are shares, 0 to 1.

    Attributes
    ----------
    name, words : str
        What `theme` knows it by, and what it is in a few words.
    land : tuple of (float, str)
        Colours by elevation: 0 is the coast, 1 the highest peak.
    water : tuple of (float, str)
        Colours by depth: 0 is the coast, 1 the open sea.
    coast : (str, str, str)
        Colours of coasts that are older than the whole, as the whole, and newer.
    coast_strength : float
        How far the coast's colour covers that of the land.
    shadow, light : str
        What slopes turned from the light, and to it, are tinted with.
    shadow_strength, light_strength : float
    ruggedness : float
        How deep the fine relief of the slopes is cut, 0 for none; it is drawn, not measured.
    contour, coastline, waterline, river : str
        Lines.
    contour_strength, waterline_strength : float
    glow : str
        Colour of shallow water along the coast.
    glow_strength : float
    inks : Inks
    """

    name: str
    words: str
    land: tuple[tuple[float, str], ...]
    water: tuple[tuple[float, str], ...]
    coast: tuple[str, str, str]
    coast_strength: float
    shadow: str
    light: str
    shadow_strength: float
    light_strength: float
    ruggedness: float
    contour: str
    coastline: str
    waterline: str
    river: str
    contour_strength: float
    waterline_strength: float
    glow: str
    glow_strength: float
    inks: Inks

    @property
    def land_ramp(self) -> Grid:
        """Colours by elevation, sRGB 0 to 1, shape (STEPS, 3)."""
        return ramp(self.land)

    @property
    def water_ramp(self) -> Grid:
        """Colours by depth, sRGB 0 to 1, shape (STEPS, 3)."""
        return ramp(self.water)

    @property
    def is_ink(self) -> bool:
        """Whether coasts differ in darkness alone."""
        return all(len({*rgb(colour).tolist()}) == 1 for colour in self.coast)

    @property
    def coast_ramp(self) -> Grid:
        """Colours by recency, older to newer, sRGB 0 to 1, shape (STEPS, 3)."""
        return ramp(tuple(zip((0.0, 0.5, 1.0), self.coast, strict=True)))


def rgb(colour: str) -> Grid:
    """Red, green and blue of a hex colour, 0 to 1.

    Examples
    --------
    >>> rgb("#ff0000").tolist()
    [1.0, 0.0, 0.0]
    """
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)], dtype=np.float32)


def ramp(stops: tuple[tuple[float, str], ...]) -> Grid:
    """Blend colours along a ramp, evenly to the eye (in OKLab), without kinks.

    Parameters
    ----------
    stops : tuple of (float, str)
        Positions rising from 0 to 1, and hex colours.

    Returns
    -------
    ndarray of float32, shape (STEPS, 3)
        sRGB, 0 to 1.

    Examples
    --------
    >>> grey = ramp(((0.0, "#000000"), (1.0, "#ffffff")))
    >>> grey.shape, bool((np.diff(grey[:, 0]) >= 0).all())
    ((1024, 3), True)
    """
    places = [place for place, _ in stops]
    lab = srgb_to_oklab(np.array([rgb(colour) for _, colour in stops], dtype=np.float64))
    room = STEPS // 16  # the mean over this much takes the kinks out
    along = np.linspace(-room / (STEPS - 1), 1 + room / (STEPS - 1), STEPS + 2 * room)
    # Continued beyond its ends by its mirror image, turned, so that the ends stay as they are.
    inside = np.abs(np.where(along > 1, 2 - along, along))
    mirrored = np.column_stack([np.interp(inside, places, channel) for channel in lab.T])
    turned = np.where(along[:, None] < 0, 2 * lab[0] - mirrored, mirrored)
    turned = np.where(along[:, None] > 1, 2 * lab[-1] - mirrored, turned)
    sums = np.cumsum(np.vstack([np.zeros(3), turned]), axis=0)
    smooth = (sums[2 * room + 1 :] - sums[: -2 * room - 1]) / (2 * room + 1)
    return oklab_to_srgb(smooth).astype(np.float32)
