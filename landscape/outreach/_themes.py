"""Themes of the outreach map: colours, strengths and ramps."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError
from landscape.figures._colours import oklab_to_srgb, srgb_to_oklab

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]


STEPS = 1024  # colours of a ramp: more than a screen tells apart


@dataclass(frozen=True)
class Inks:
    """Colours of what is lettered on the map, hex."""

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
    """The look of one map. Colours are hex; strengths are shares, 0 to 1."""

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
    """Red, green and blue of a hex colour, 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)], dtype=np.float32)


def ramp(stops: tuple[tuple[float, str], ...]) -> Grid:
    """Blend colours along a ramp, evenly to the eye (in OKLab), without kinks."""
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


THEMES = {
    one.name: one
    for one in (
        Theme(
            name="atlas",
            words="a physical atlas in shaded relief",
            land=(
                (0.00, "#9dbb95"),
                (0.10, "#b4c89a"),
                (0.24, "#d5d8a6"),
                (0.40, "#ead9a8"),
                (0.56, "#e0bd8a"),
                (0.72, "#c99a70"),
                (0.86, "#b98a70"),
                (0.95, "#ddcdc2"),
                (1.00, "#f6f1ec"),
            ),
            water=(
                (0.00, "#b4d4e1"),
                (0.30, "#a6cbdb"),
                (0.65, "#91bdd3"),
                (1.00, "#7eb0ca"),
            ),
            coast=("#77739a", "#9dbb95", "#f0643c"),
            coast_strength=0.95,
            shadow="#3b3f63",
            light="#fff6dc",
            shadow_strength=0.75,
            light_strength=0.55,
            ruggedness=1.0,
            contour="#6b4a32",
            coastline="#2f6186",
            waterline="#4d8bb0",
            river="#3d7fae",
            contour_strength=0.25,
            waterline_strength=0.55,
            glow="#d6ebef",
            glow_strength=0.6,
            inks=Inks(
                region="#22211d",
                land="#5a2a1c",
                sea="#1d5078",
                halo="#fdfaf0",
                sea_halo="#cfe5ee",
                title="#1f2c38",
                text="#2c3640",
                faint="#66717a",
                page="#fdfcf8",
                panel="#fbf8ee",
            ),
        ),
        Theme(
            name="parchment",
            words="an old chart in sepia on parchment",
            land=(
                (0.00, "#e2cda0"),
                (0.20, "#dcc18d"),
                (0.45, "#cfa970"),
                (0.70, "#b58652"),
                (0.90, "#966640"),
                (1.00, "#7e5236"),
            ),
            water=(
                (0.00, "#ebdfc0"),
                (0.40, "#ebdfc0"),
                (1.00, "#e7d9b6"),
            ),
            coast=("#7d8a5f", "#e2cda0", "#c4602f"),
            coast_strength=0.75,
            shadow="#4a2c1a",
            light="#fff3d2",
            shadow_strength=0.8,
            light_strength=0.5,
            ruggedness=1.2,
            contour="#5e3a20",
            coastline="#4a2d18",
            waterline="#7a5330",
            river="#5f6f6a",
            contour_strength=0.2,
            waterline_strength=0.75,
            glow="#a9b3a0",
            glow_strength=0.55,
            inks=Inks(
                region="#33200f",
                land="#7a2415",
                sea="#5b4324",
                halo="#f2e4c1",
                sea_halo="#efe3c4",
                title="#33200f",
                text="#3f2a17",
                faint="#7d6546",
                page="#f1e6ca",
                panel="#f4ead0",
            ),
        ),
        Theme(
            name="night",
            words="a nebula in the night sky",
            land=(
                (0.00, "#1f2a55"),
                (0.15, "#2f3773"),
                (0.35, "#57428f"),
                (0.55, "#92509b"),
                (0.75, "#d5708d"),
                (0.90, "#f6b08b"),
                (1.00, "#fff2d0"),
            ),
            water=(
                (0.00, "#131b3a"),
                (0.35, "#0d142c"),
                (1.00, "#070b18"),
            ),
            coast=("#8193cf", "#2a3468", "#35c9d6"),
            coast_strength=0.8,
            shadow="#03061a",
            light="#ffe9d6",
            shadow_strength=0.8,
            light_strength=0.35,
            ruggedness=0.9,
            contour="#0b0e2a",
            coastline="#8fb4ff",
            waterline="#4a66b5",
            river="#8fd0ff",
            contour_strength=0.22,
            waterline_strength=0.3,
            glow="#2b3f86",
            glow_strength=0.55,
            inks=Inks(
                region="#fdf8ee",
                land="#ffd9a0",
                sea="#9db8f0",
                halo="#0a0e22",
                sea_halo="#080c1c",
                title="#fdf8ee",
                text="#dfe5f5",
                faint="#94a0c0",
                page="#070b18",
                panel="#0d1328",
            ),
        ),
        Theme(
            name="mono",
            words="black ink on white paper",
            land=(
                (0.00, "#f2f2f2"),
                (0.30, "#e2e2e2"),
                (0.60, "#c8c8c8"),
                (0.85, "#a8a8a8"),
                (1.00, "#8c8c8c"),
            ),
            water=((0.00, "#ffffff"), (1.00, "#ffffff")),
            coast=("#ffffff", "#f2f2f2", "#2b2b2b"),
            coast_strength=0.95,
            shadow="#111111",
            light="#ffffff",
            shadow_strength=0.8,
            light_strength=0.7,
            ruggedness=1.0,
            contour="#000000",
            coastline="#000000",
            waterline="#333333",
            river="#333333",
            contour_strength=0.22,
            waterline_strength=0.75,
            glow="#ffffff",
            glow_strength=0.0,
            inks=Inks(
                region="#000000",
                land="#000000",
                sea="#333333",
                halo="#ffffff",
                sea_halo="#ffffff",
                title="#000000",
                text="#1a1a1a",
                faint="#5c5c5c",
                page="#ffffff",
                panel="#ffffff",
            ),
        ),
        Theme(
            name="clear",
            words="colours that every eye tells apart",
            land=(
                (0.00, "#f3ecc8"),
                (0.25, "#e6d69c"),
                (0.50, "#cdb06c"),
                (0.75, "#a17f45"),
                (1.00, "#6b4f25"),
            ),
            water=(
                (0.00, "#b9cbe3"),
                (0.50, "#a9bfdd"),
                (1.00, "#97b1d4"),
            ),
            coast=("#a493c6", "#f3ecc8", "#d55e00"),
            coast_strength=0.9,
            shadow="#2b2440",
            light="#fffbe8",
            shadow_strength=0.6,
            light_strength=0.5,
            ruggedness=0.8,
            contour="#4a3510",
            coastline="#1c2f55",
            waterline="#5474a8",
            river="#2a62a8",
            contour_strength=0.3,
            waterline_strength=0.5,
            glow="#dbe6f3",
            glow_strength=0.55,
            inks=Inks(
                region="#16130c",
                land="#16130c",
                sea="#1c2f55",
                halo="#fffdf2",
                sea_halo="#d3dfee",
                title="#16130c",
                text="#26221a",
                faint="#5e5a50",
                page="#ffffff",
                panel="#fdfcf6",
            ),
        ),
    )
}


def find_theme(name: str) -> Theme:
    """Find a theme by its name; where that is a slip, the nearest is suggested."""
    if name in THEMES:
        return THEMES[name]
    near = difflib.get_close_matches(str(name).lower(), THEMES, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise InputError(f"There is no theme {name!r}{hint} Themes: {', '.join(THEMES)}.")
