"""Themes of the outreach map, with colours and strengths from ``outreach_themes.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import data_file, read_yaml
from landscape._wording import did_you_mean
from landscape.errors import InputError
from landscape.figures import colours as figure_colours
from landscape.figures.colours import oklab_to_srgb, srgb_to_oklab

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

Stops = tuple[tuple[float, str], ...]
STEPS = 1024  # number of colours of a ramp


@dataclass(frozen=True)
class Inks:
    """Colours of text, lines and page, as hex codes."""

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

    def as_theme(self) -> figure_colours.Theme:
        """Return the colours as the theme of a figure."""
        ramp = np.atleast_2d(rgb(self.page)).astype(np.float64)
        return figure_colours.Theme(
            "outreach",
            ramp,
            ink=self.text,
            continent=self.land,
            faint=self.faint,
            halo=self.halo,
            accent=self.land,
            found=self.title,
            apart=self.sea,
        )


@dataclass(frozen=True)
class Prompt:
    """Prompt and negative prompt of Stable Diffusion, and strength of the diffusion."""

    prompt: str
    negative_prompt: str
    strength: float


@dataclass(frozen=True)
class Theme:
    """Style of a map. Colours are hex codes; strengths are between 0 and 1."""

    name: str
    words: str
    land: Stops
    water: Stops
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
    redraw: Prompt

    @classmethod
    def of(cls, name: str, values: dict[str, Any]) -> Theme:
        """Create a theme from its entry in the data file."""
        converted = {
            "land": tuple(values["land"].items()),
            "water": tuple(values["water"].items()),
            "coast": tuple(values["coast"]),
            "inks": Inks(**values["inks"]),
            "redraw": Prompt(**values["redraw"]),
        }
        return cls(name, **{**values, **converted})

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
        """Whether the colours of coasts are all grey."""
        return all(len({*rgb(colour).tolist()}) == 1 for colour in self.coast)

    @property
    def coast_ramp(self) -> Grid:
        """Colours by recency, from older to newer, sRGB 0 to 1, shape (STEPS, 3)."""
        return ramp(tuple(zip((0.0, 0.5, 1.0), self.coast, strict=True)))


def rgb(colour: str) -> Grid:
    """Red, green and blue of a hex colour, 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)], dtype=np.float32)


def ramp(stops: Stops) -> Grid:
    """Interpolate colours in OKLab, which is perceptually uniform, and smooth the result."""
    places = [place for place, _ in stops]
    lab = srgb_to_oklab(np.array([rgb(colour) for _, colour in stops], dtype=np.float64))
    width = STEPS // 16  # half the width of the moving average
    along = np.linspace(-width / (STEPS - 1), 1 + width / (STEPS - 1), STEPS + 2 * width)
    # The ramp is extended by point reflection, so that smoothing does not change its ends.
    inside = np.abs(np.where(along > 1, 2 - along, along))
    mirrored = np.column_stack([np.interp(inside, places, channel) for channel in lab.T])
    turned = np.where(along[:, None] < 0, 2 * lab[0] - mirrored, mirrored)
    turned = np.where(along[:, None] > 1, 2 * lab[-1] - mirrored, turned)
    sums = np.cumsum(np.vstack([np.zeros(3), turned]), axis=0)
    smooth = (sums[2 * width + 1 :] - sums[: -2 * width - 1]) / (2 * width + 1)
    return oklab_to_srgb(smooth).astype(np.float32)


def _read_themes() -> dict[str, Theme]:
    stored = read_yaml(data_file("outreach_themes.yaml"))
    never = stored.pop("never")
    for values in stored.values():
        values["redraw"]["negative_prompt"] += f", {never}"
    return {name: Theme.of(name, values) for name, values in stored.items()}


THEMES = _read_themes()


def find_theme(name: str) -> Theme:
    """Return a theme by its name; for an unknown name, raise InputError with a suggestion."""
    if name in THEMES:
        return THEMES[name]
    hint = did_you_mean(name, THEMES, cutoff=0.4)
    raise InputError(f"There is no theme {name!r}{hint} Themes: {', '.join(THEMES)}.")
