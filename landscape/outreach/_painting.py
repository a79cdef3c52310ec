"""Paint a terrain at any size, with limited memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.errors import InputError
from landscape.outreach._elevation import FLOOR, Surface, relief_of
from landscape.outreach._terrain import Terrain, recency_position, river_cover
from landscape.outreach.themes import STEPS, Theme, find_theme, rgb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]
    Floats = NDArray[np.float64]
    Picture = NDArray[np.uint8]
    Window = tuple[int, int, int, int]


EXAGGERATION = 0.05  # ratio of the highest peak to the longer side of the sheet
LIGHT_FROM = (315.0, 360.0, 270.0)  # azimuths in degrees, main light first
LIGHT_SHARES = (0.64, 0.18, 0.18)
LIGHT_HEIGHT = 42.0  # elevation of the lights in degrees
WIDEST_GULLY, FINEST_GULLY = 1 / 38, 1 / 1000  # crest spacing, relative to the longer side
_MIN_PIXELS = 4.5  # minimum width of a gully
_CREST = np.float32(0.3)  # lower values give sharper crests
_TABLE = 64  # period of the random positions, in cells; must be a power of two
_AT_ONCE = 8192  # points per block, to fit into the processor's cache
_TURN = np.float32(2 * np.pi)


def hillshade(across: Grid, down: Grid) -> Grid:
    """Return the illumination of slopes: 0 on flat terrain, positive on slopes facing the light."""
    steep = 1 / np.sqrt(1 + across * across + down * down)
    height = float(np.deg2rad(LIGHT_HEIGHT))
    total = np.zeros_like(across)
    for azimuth, share in zip(LIGHT_FROM, LIGHT_SHARES, strict=True):
        angle = float(np.deg2rad(azimuth))
        east = np.float32(share * np.sin(angle) * np.cos(height))
        north = np.float32(share * np.cos(angle) * np.cos(height))
        total += steep * (np.float32(share * np.sin(height)) - east * across + north * down)
    return total - np.float32(np.sin(height))


def gullies(
    x: Grid, y: Grid, across: Grid, down: Grid, *, pixel: float, depth: float = 1.0
) -> tuple[Grid, Grid]:
    """Return the slopes added by gullies; they depend only on position and slope."""
    added_x, added_y = np.empty_like(across), np.empty_like(down)
    for start in range(0, len(x), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        added_x[some], added_y[some] = _cut(
            x[some], y[some], across[some], down[some], pixel=pixel, depth=depth
        )
    return added_x, added_y


def _cut(
    x: Grid, y: Grid, across: Grid, down: Grid, *, pixel: float, depth: float
) -> tuple[Grid, Grid]:
    steepness = np.sqrt(across * across + down * down)
    # The depth of gullies is proportional to the slope, up to a limit.
    strength = np.float32(depth) * steepness / (1 + 0.6 * steepness)
    along_x, along_y = across.copy(), down.copy()
    added_x, added_y = np.zeros_like(across), np.zeros_like(down)
    wave, share, octave = WIDEST_GULLY, 0.6, 0
    while wave >= max(FINEST_GULLY, _MIN_PIXELS * pixel):
        length = np.maximum(np.sqrt(along_x * along_x + along_y * along_y), 1e-6)
        # Waves that run across the slope have crests that run down the slope.
        side_x, side_y = -along_y / length, along_x / length
        swing = _swing(x / np.float32(wave), y / np.float32(wave), side_x, side_y, octave)
        swing *= strength * np.float32(share)
        added_x += swing * side_x
        added_y += swing * side_y
        along_x = across + np.float32(1.3) * added_x
        along_y = down + np.float32(1.3) * added_y
        wave, share, octave = wave / 1.9, share * 0.8, octave + 1
    return added_x, added_y


def _swing(u: Grid, v: Grid, side_x: np.ndarray, side_y: np.ndarray, octave: int) -> np.ndarray:
    """Return the slope of a sum of windowed waves across a direction, about -1 to 1."""
    scatter_x, scatter_y = _scatter(octave)
    floor_u, floor_v = np.floor(u), np.floor(v)
    part_u, part_v = u - floor_u, v - floor_v
    column, row = floor_u.astype(np.int32), floor_v.astype(np.int32)
    total, weights = np.zeros_like(u), np.full_like(u, 1e-4)
    steps = (-1, 0, 1)
    columns = [(column + step) & (_TABLE - 1) for step in steps]
    rows = [((row + step) & (_TABLE - 1)) * _TABLE for step in steps]
    for i, j in product(range(3), range(3)):
        cell = rows[i] + columns[j]
        off_x = part_u - np.take(scatter_x[j], cell)
        off_y = part_v - np.take(scatter_y[i], cell)
        # The window is zero beyond the neighbouring cells, so there are no discontinuities.
        window = np.maximum(1 - (off_x * off_x + off_y * off_y), 0)
        window *= window
        weights += window
        off_x *= side_x
        off_y *= side_y
        off_x += off_y
        off_x *= _TURN
        window *= np.sin(off_x, out=off_x)
        total += window
    swing = total / weights
    return swing / np.sqrt(swing * swing + _CREST)  # sharpens the crests of the waves


@cache
def _scatter(octave: int) -> tuple[Grid, Grid]:
    """Return random, reproducible centres of the waves of an octave within their cells."""
    chance = np.random.default_rng(6 + octave)
    places = chance.uniform(0.0, 1.0, size=(2, 1, _TABLE * _TABLE)).astype(np.float32)
    seen = places + np.array([[-1], [0], [1]], dtype=np.float32)
    return seen[0], seen[1]


def coast_distance(elevation: Grid) -> Grid:
    """Return the distance from the coast, positive on land and negative at sea."""
    from scipy.ndimage import distance_transform_edt, gaussian_filter

    down, across = np.gradient(elevation)
    steepness = np.sqrt(across * across + down * down)
    part = np.clip(np.abs(elevation) / np.maximum(steepness, 1e-9), 0, 1).astype(np.float32)
    land = elevation >= 0
    distance = np.zeros(elevation.shape, dtype=np.float32)
    for side, sign in ((land, 1.0), (~land, -1.0)):
        if side.all():
            return np.full(elevation.shape, sign * max(elevation.shape), dtype=np.float32)
        away, (row, column) = distance_transform_edt(side, return_indices=True)
        beyond = part[row, column]  # value of the nearest pixel across the coast
        distance += np.where(side, np.float32(sign) * (away - beyond), 0).astype(np.float32)
    return np.asarray(gaussian_filter(distance, 1.0, mode="nearest"), dtype=np.float32)


_RATIOS = (1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_MAX_CONTOURS = 12  # lines on the map


def contour_levels(terrain: Terrain) -> tuple[tuple[float, ...], float]:
    """Choose contour levels so that successive densities have a constant, round ratio."""
    rise = terrain.peak_density / terrain.sea_density
    if not rise > 1:
        return (), 1.0
    floor = 1 / FLOOR
    highest = float(np.log((rise + floor) / (1 + floor)))
    for ratio in _RATIOS:
        n_lines = int(np.log(rise) / np.log(ratio) - 1e-9)
        if n_lines <= _MAX_CONTOURS:
            break
    density = ratio ** np.arange(1, n_lines + 1)
    height = np.log((density + floor) / (1 + floor)).astype(np.float32)
    return tuple(relief_of(height, highest=highest).tolist()), ratio


PATCH = 768  # pixels along the side of a patch
_FINE = 1536  # cells along the longer side of the grid of coast distances
# Widths are shares of the longer side of the sheet.
_COAST_BAND = 0.013
_GLOW = 0.006
_WATER_LINES = (0.0022, 0.0050, 0.0086, 0.0132, 0.0190)
_LINE = 0.00032
_MIN_LINE = 0.8  # pixels
_RIVER = 0.0022  # width of the widest river
_HATCH = 0.0055  # distance between hatching lines on coasts
_MIN_HATCH = 6.0  # pixels


@dataclass(frozen=True)
class Canvas:
    """A terrain prepared for painting at one size."""

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
        """Prepare a terrain for painting with a theme at a size."""
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
        """Yield the painted patches of a window; paint a few of them in parallel."""
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
        across *= np.float32(self.whole_cells)  # slope per longer side of the sheet
        down *= np.float32(self.whole_cells)
        # Near the coast, height divided by slope is a more exact distance than the grid.
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
        # limit the width of the coast on flat terrain
        line *= np.clip(1.5 - np.abs(shore) * np.float32(longer / 6), 0, 1)
        _blend(colour, rgb(self.theme.coastline), line * np.float32(0.9))
        return np.clip(colour * 255 + 0.5, 0, 255).astype(np.uint8)

    def _stroke(self, distance: np.ndarray, *, width: float = 1.0) -> np.ndarray:
        """Return the coverage of a line, from the distance to its centre in pixels."""
        broad = max(_MIN_LINE, _LINE * max(self.size)) * width
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
        # Coasts with average recency keep the colour of their height.
        band = np.exp(-((np.maximum(shore, 0) / np.float32(_COAST_BAND)) ** 2))
        apart = np.abs(position - 0.5) * 2
        coast = _look_up(look.coast_ramp, position)
        band = band * np.sqrt(np.clip(apart, 0, 1)) * np.float32(look.coast_strength)
        if look.is_ink:  # without colours, dark coasts would look like shadow
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
        # aerial perspective (Imhof): lowlands have less contrast
        light *= np.float32(0.72) + np.float32(0.4) * np.clip(height, 0, 1)
        _blend(colour, rgb(look.shadow), _soft(-light * 1.9) * look.shadow_strength)
        _blend(colour, rgb(look.light), _soft(light * 3.4) * look.light_strength)
        _blend(colour, coast, band * np.float32(0.35))  # coasts keep their colour in shadow
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
    """Return rivers in units of the sheet; widths scale with the square root of citations."""
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
    """Return the coverage by oblique hatching lines; positions are relative to the longer side."""
    apart = max(_HATCH, _MIN_HATCH * pixel)
    away = np.abs((x + y) / np.float32(apart) % 1 - np.float32(0.5)) * np.float32(apart)
    return np.clip((np.float32(0.2 * apart) - away) / np.float32(1.41 * pixel) + 0.5, 0, 1)


def _soft(value: Grid) -> Grid:
    """Map positive values smoothly to the range 0 to 1, and negative values to 0."""
    return 1 - np.exp(-np.maximum(value, 0))


def _smoothstep(value: Grid, low: float, high: float) -> Grid:
    t = np.clip((value - np.float32(low)) / np.float32(high - low), 0, 1)
    return t * t * (3 - 2 * t)


def _look_up(colours: Grid, position: np.ndarray) -> Grid:
    """Return interpolated colours at positions along a colormap."""
    place = np.clip(position, 0, 1) * np.float32(STEPS - 1)
    first = np.minimum(np.floor(place), np.float32(STEPS - 2))
    part = (place - first)[..., None]
    step = first.astype(np.int32)
    low = np.take(colours, step, axis=0)
    low += np.take(np.diff(colours, axis=0, append=0), step, axis=0) * part
    return low


def _blend(colour: Grid, other: Grid, share: Grid | float) -> None:
    """Blend an array of colours with another colour, in place."""
    colour += (other - colour) * np.asarray(share, dtype=np.float32)[..., None]


MAX_SIZE = 32_768  # pixels along a side of a sheet


def paint(
    terrain: Terrain,
    *,
    theme: str = "atlas",
    size: tuple[int, int] | None = None,
    window: tuple[int, int, int, int] | None = None,
) -> NDArray[np.uint8]:
    """Paint a terrain.

    Parameters
    ----------
    terrain : Terrain
    theme : str, default "atlas"
        Name of a theme, as for `landscape.outreach.render`.
    size : (int, int), optional
        Width and height of the whole sheet in pixels, with the aspect ratio of the terrain. By
        default the size of the terrain. A0 at 300 dots per inch is 9,933 x 14,043.
    window : (int, int, int, int), optional
        Left, top, right and bottom of the part to paint, in pixels. By default the whole sheet.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        The picture in sRGB. It is painted patch by patch, so the memory needed in addition to this
        array does not depend on the size. A window is bit-identical to this part of the whole
        sheet.

    Raises
    ------
    InputError
        If the theme is unknown, or the size or the window is invalid.

    Examples
    --------
    >>> hill = np.float32([[-1, -1, -1], [-1, 1, -1], [-1, -1, -1]])
    >>> terrain = Terrain(hill, np.full((3, 3), np.nan, np.float32), (0.0, 1.0, 0.0, 1.0))
    >>> paint(terrain, size=(40, 40)).shape
    (40, 40, 3)
    """
    size = size or terrain.size
    _check_size(size, terrain)
    canvas = Canvas.of(terrain, theme=theme, size=size)
    left, top, right, bottom = window or (0, 0, *canvas.size)
    if not (0 <= left < right <= canvas.size[0] and 0 <= top < bottom <= canvas.size[1]):
        raise InputError(
            f"The window {(left, top, right, bottom)} is not inside the sheet of "
            f"{canvas.size[0]} x {canvas.size[1]} pixels. Choose a window inside the sheet."
        )
    picture = np.empty((bottom - top, right - left, 3), dtype=np.uint8)
    with progress("Painting", total=picture.size // 3, unit="pixels") as advance:
        for (x0, y0, x1, y1), patch in canvas.patches((left, top, right, bottom)):
            picture[y0 - top : y1 - top, x0 - left : x1 - left] = patch
            advance(patch.size // 3)
    return picture


def _check_size(size: tuple[int, int], terrain: Terrain) -> None:
    width, height = size
    if not all(2 <= side <= MAX_SIZE for side in size):
        raise InputError(
            f"A picture of {width:,} x {height:,} pixels cannot be painted. Each side must be 2 "
            f"to {MAX_SIZE:,} pixels."
        )
    shape = terrain.size[0] / terrain.size[1]
    # tolerance for the rounding of sides to pixels
    slack = 1.5 / min(size) + 1.5 / min(terrain.size)
    if abs(width / height / shape - 1) > slack:
        raise InputError(
            f"The terrain is {terrain.size[0]} x {terrain.size[1]} pixels, but the picture is "
            f"{width} x {height} pixels. A picture with another shape (aspect ratio) would distort "
            "the map. Make the terrain with the aspect ratio of the picture."
        )
