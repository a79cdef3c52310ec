"""One sheet of the outreach map: tints by height, light, coasts by recency, lines, in patches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.outreach.coast import coast_distance
from landscape.outreach.contours import contour_levels
from landscape.outreach.looks import STEPS, Theme, rgb
from landscape.outreach.recency import recency_position
from landscape.outreach.relief import EXAGGERATION, gullies, hillshade
from landscape.outreach.rivers import river_cover
from landscape.outreach.splines import Surface
from landscape.outreach.terrain import Terrain
from landscape.outreach.themes import find_theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]
    Floats = NDArray[np.float64]
    Picture = NDArray[np.uint8]
    Window = tuple[int, int, int, int]

PATCH = 768  # pixels along the side of a patch
_FINE = 1536  # cells along the longer side for the distance from the coast
# All widths are shares of the longer side of the sheet: a poster is a slide, only finer.
_COAST_BAND = 0.013
_GLOW = 0.006
_WATER_LINES = (0.0022, 0.0050, 0.0086, 0.0132, 0.0190)
_LINE = 0.00032
_LEAST_LINE = 0.8  # pixels
_RIVER = 0.0022  # the broadest
_HATCH = 0.0055  # from line to line, where coasts are told apart in one ink
_LEAST_HATCH = 6.0  # pixels


@dataclass(frozen=True)
class Canvas:
    """A terrain made ready to be painted at one size.

    Attributes
    ----------
    size : (int, int)
        Of the sheet, in pixels.
    theme : Theme
    elevation, position, shore : Surface
        Height, recency beside the whole (`recency_position`), and distance from the coast in
        shares of the longer side.
    whole_cells : int
        Cells of the elevation along the longer side.
    contours : tuple of float
        Elevations of the contour lines.
    rivers : tuple
        Courses, as `river_cover` takes them.
    """

    size: tuple[int, int]
    theme: Theme
    elevation: Surface
    position: Surface
    shore: Surface
    whole_cells: int
    contours: tuple[float, ...]
    rivers: tuple[tuple[Floats, Floats, float], ...]

    @classmethod
    def of(cls, terrain: Terrain, *, theme: str, size: tuple[int, int]) -> Canvas:
        """Prepare a terrain."""
        width, height = terrain.size
        shrink = min(1.0, _FINE / max(width, height))
        fine = (max(2, round(width * shrink)), max(2, round(height * shrink)))
        whole = Surface.through(terrain.elevation)
        distance = coast_distance(whole.at(fine) if shrink < 1 else terrain.elevation)
        position = recency_position(terrain.recency, whole=terrain.recent_share)
        return cls(
            size=size,
            theme=find_theme(theme),
            elevation=whole,
            position=Surface.through(np.asarray(position, dtype=np.float32)),
            shore=Surface.through(distance / np.float32(max(fine))),
            whole_cells=max(width, height),
            contours=contour_levels(terrain)[0],
            rivers=_courses(terrain, size),
        )

    def patches(self, window: Window) -> Iterator[tuple[Window, Picture]]:
        """Paint a window patch by patch, in reading order, a few at a time."""
        left, top, right, bottom = window
        places = [
            (x, y, min(x + PATCH, right), min(y + PATCH, bottom))
            for y in range(top, bottom, PATCH)
            for x in range(left, right, PATCH)
        ]
        workers = min(4, os.cpu_count() or 1)
        with ThreadPoolExecutor(workers) as pool:
            for start in range(0, len(places), 2 * workers):
                some = places[start : start + 2 * workers]
                yield from zip(some, pool.map(self.patch, some), strict=True)

    def patch(self, window: Window) -> Picture:
        """Paint one patch."""
        longer = max(self.size)
        height = self.elevation.at(self.size, window)
        across = self.elevation.at(self.size, window, slope="across")
        down = self.elevation.at(self.size, window, slope="down")
        shore = self.shore.at(self.size, window)
        across *= np.float32(self.whole_cells)  # change over the longer side
        down *= np.float32(self.whole_cells)
        # Pixels to the coast along the slope: sharper than any grid of distances.
        steep: Any = np.sqrt(across * across + down * down) / np.float32(longer)
        near = height / np.maximum(steep, 1e-7)
        covered = np.clip(near + 0.5, 0, 1)
        colour = self._water(height, shore)
        land = covered > 0
        if land.any():
            left, top, _, _ = window
            y, x = np.nonzero(land)
            ground = self._land(
                (x + np.float32(left + 0.5)).astype(np.float32) / np.float32(longer),
                (y + np.float32(top + 0.5)).astype(np.float32) / np.float32(longer),
                height[land],
                across[land],
                down[land],
                shore[land],
                steep[land],
                self.position.at(self.size, window)[land],
            )
            cover = covered[land][:, None]
            colour[land] = colour[land] * (1 - cover) + ground * cover
        if self.rivers:
            _blend(
                colour, rgb(self.theme.river), river_cover(self.size, window, self.rivers) * covered
            )
        line = self._stroke(np.abs(near), width=1.35)
        # Where the ground is flat at sea level, the coast is no broader for it.
        line *= np.clip(1.5 - np.abs(shore) * np.float32(longer / 6), 0, 1)
        _blend(colour, rgb(self.theme.coastline), line * np.float32(0.9))
        return np.clip(colour * 255 + 0.5, 0, 255).astype(np.uint8)

    def _stroke(self, distance: Any, *, width: float = 1.0) -> Any:
        """Cover of a line, from the distance to its middle in pixels."""
        broad = max(_LEAST_LINE, _LINE * max(self.size)) * width
        return np.clip(np.float32(broad / 2 + 0.5) - distance, 0, 1) * np.float32(min(1.0, broad))

    def _water(self, height: Grid, shore: Grid) -> Grid:
        look = self.theme
        colour = _look_up(look.water_ramp, -height)
        out = np.maximum(-shore, 0)
        glow = np.exp(-out / np.float32(_GLOW)) * np.float32(look.glow_strength)
        _blend(colour, rgb(look.glow), glow)
        longer = max(self.size)
        for number, distance in enumerate(_WATER_LINES):
            fade = look.waterline_strength * (1 - number / len(_WATER_LINES)) ** 1.1
            stroke = self._stroke(np.abs(out - np.float32(distance)) * np.float32(longer))
            _blend(colour, rgb(look.waterline), stroke * np.float32(fade))
        return colour

    def _land(
        self,
        x: Grid,
        y: Grid,
        height: Grid,
        across: Grid,
        down: Grid,
        shore: Grid,
        steep: Grid,
        position: Grid,
    ) -> Grid:
        look = self.theme
        colour = _look_up(look.land_ramp, height)
        # Coasts by recency: what is as recent as the whole keeps the colour of its height.
        band = np.exp(-((np.maximum(shore, 0) / np.float32(_COAST_BAND)) ** 2))
        apart = np.abs(position - 0.5) * 2
        coast = _look_up(look.coast_ramp, position)
        band = band * np.sqrt(np.clip(apart, 0, 1)) * np.float32(look.coast_strength)
        if look.is_ink:  # a darker tone would be taken for shadow
            band *= _hatched(x, y, 1 / max(self.size)) * (position > 0.5)
        _blend(colour, coast, band)
        self._contours(colour, height, steep)
        rise_x, rise_y = across * np.float32(EXAGGERATION), down * np.float32(EXAGGERATION)
        if look.ruggedness:
            fade = _smoothstep(height, 0.02, 0.22)
            cut_x, cut_y = gullies(
                x, y, rise_x, rise_y, pixel=1 / max(self.size), depth=look.ruggedness
            )
            rise_x, rise_y = rise_x + cut_x * fade, rise_y + cut_y * fade
        light = hillshade(rise_x, rise_y)
        # Imhof's aerial perspective: the air softens the lowlands.
        light *= np.float32(0.72) + np.float32(0.4) * np.clip(height, 0, 1)
        _blend(colour, rgb(look.shadow), _soft(-light * 1.9) * look.shadow_strength)
        _blend(colour, rgb(look.light), _soft(light * 3.4) * look.light_strength)
        _blend(colour, coast, band * np.float32(0.35))  # in shadow too, a coast shows its colour
        return colour

    def _contours(self, colour: Grid, height: Grid, steep: Grid) -> None:
        if not self.contours:
            return
        levels = np.asarray(self.contours, dtype=np.float32)
        above = np.searchsorted(levels, height)
        low = levels[np.maximum(above - 1, 0)]
        high = levels[np.minimum(above, len(levels) - 1)]
        nearest = np.where(height - low < high - height, low, high)
        steep = np.maximum(steep, 1e-7)
        stroke = self._stroke(np.abs(height - nearest) / steep, width=0.75)
        spacing = np.maximum(high - low, 1e-3) / steep  # pixels between the lines
        unit = max(1.0, max(self.size) / 2048)
        stroke *= np.clip((spacing / np.float32(unit) - 3) / 5, 0, 1)
        _blend(colour, rgb(self.theme.contour), stroke * np.float32(self.theme.contour_strength))


def _courses(terrain: Terrain, size: tuple[int, int]) -> tuple[tuple[Floats, Floats, float], ...]:
    """Rivers in shares of the sheet; as broad as the square root of their citations."""
    if not terrain.rivers:
        return ()
    most = max(river.citations for river in terrain.rivers)
    courses = []
    for river in terrain.rivers:
        column, row = terrain.pixels_of(river.x, river.y)
        breadth = max(1.0, _RIVER * max(size) * (river.citations / most) ** 0.5)
        courses.append((column / terrain.size[0], row / terrain.size[1], breadth))
    return tuple(courses)


def _hatched(x: Grid, y: Grid, pixel: float) -> Grid:
    """Cover of oblique lines, at places in shares of the longer side."""
    apart = max(_HATCH, _LEAST_HATCH * pixel)
    away = np.abs((x + y) / np.float32(apart) % 1 - np.float32(0.5)) * np.float32(apart)
    return np.clip((np.float32(0.2 * apart) - away) / np.float32(1.41 * pixel) + 0.5, 0, 1)


def _soft(value: Grid) -> Grid:
    """From 0 for what is negative towards 1, never quite: no detail is lost in the dark."""
    return 1 - np.exp(-np.maximum(value, 0))


def _smoothstep(value: Grid, low: float, high: float) -> Grid:
    t = np.clip((value - np.float32(low)) / np.float32(high - low), 0, 1)
    return t * t * (3 - 2 * t)


def _look_up(colours: Grid, position: Any) -> Grid:
    """Colours at positions along a ramp, blended between its steps: no bands."""
    place = np.clip(position, 0, 1) * np.float32(STEPS - 1)
    first = np.minimum(np.floor(place), np.float32(STEPS - 2))
    part = (place - first)[..., None]
    step = first.astype(np.int32)
    low = np.take(colours, step, axis=0)
    low += np.take(np.diff(colours, axis=0, append=0), step, axis=0) * part
    return low


def _blend(colour: Grid, other: Grid, share: Any) -> None:
    """Cover colours with another one, in place."""
    colour += (other - colour) * np.asarray(share, dtype=np.float32)[..., None]
