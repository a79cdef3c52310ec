"""Light on the ground: slopes shaded as on Swiss maps, with gullies drawn down them.

The shading follows Imhof [1]_: light from the upper left, tones turned a little towards ridges that
lie along it, large forms over small ones. A smooth density has no gullies; they are drawn,
always the same ones, as stripes down the slope [2]_ that branch from octave to octave. They change
the light only: heights, coasts and peaks stay as measured, and where the ground is flat, at the
coast and on the summits, there are none.

References
----------
.. [1] E. Imhof, "Kartographische Geländedarstellung" (de Gruyter, 1965), chapter 9.
.. [2] A. Lagae et al., "Procedural noise using sparse Gabor convolution", ACM Transactions on
   Graphics 28(3), 54 (2009): sums of windowed waves with a chosen direction.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

EXAGGERATION = 0.05  # height of the highest peak over the longer side of the sheet
LIGHT_FROM = (315.0, 360.0, 270.0)  # degrees from north by east: the main light and two fillers
LIGHT_SHARES = (0.64, 0.18, 0.18)
LIGHT_HEIGHT = 42.0  # degrees above the horizon
WIDEST_GULLY, FINEST_GULLY = 1 / 38, 1 / 1000  # of the longer side, crest to crest
_LEAST_PIXELS = 4.5  # a gully narrower than this would be noise
_CREST = np.float32(0.3)  # less is sharper
_TABLE = 64  # cells after which the scatter of the waves repeats: a power of two
_AT_ONCE = 8192  # places: what is worked on stays in the processor's cache
_TURN = np.float32(2 * np.pi)


def hillshade(across: Grid, down: Grid) -> Grid:
    """Light on slopes: 0 as on flat ground, positive towards the light, negative away from it.

    Parameters
    ----------
    across, down : ndarray of float32
        Rise of the drawn ground, in heights per width, to the right and towards the bottom.

    Returns
    -------
    ndarray of float32
        Cosine of the angle to the light less that of flat ground, about -1.2 to 0.3.

    Examples
    --------
    >>> slope = np.float32([0.0, 1.0, -1.0])
    >>> [round(float(light), 1) for light in hillshade(slope, np.zeros(3, np.float32))]
    [0.0, 0.1, -0.5]
    """
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
    """Rise that gullies add to slopes: point by point, from the place and the slope alone.

    Parameters
    ----------
    x, y : ndarray of float32, shape (n,)
        Places, in shares of the longer side of the sheet.
    across, down : ndarray of float32, shape (n,)
        Rise of the ground itself, in heights per width.
    pixel : float
        Side of a pixel in the same shares: gullies too narrow for it are left away.
    depth : float, default 1
        Their steepness beside that of the slope.

    Returns
    -------
    across, down : ndarray of float32, shape (n,)
        To be added to the rise of the ground.

    Examples
    --------
    >>> place = np.linspace(0, 1, 5, dtype=np.float32)
    >>> flat = np.zeros(5, np.float32)
    >>> gullies(place, place, flat, flat, pixel=0.001)[0].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
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
    # Steep ground is cut in proportion, up to a point.
    strength = np.float32(depth) * steepness / (1 + 0.6 * steepness)
    along_x, along_y = across.copy(), down.copy()
    added_x, added_y = np.zeros_like(across), np.zeros_like(down)
    wave, share, octave = WIDEST_GULLY, 0.6, 0
    while wave >= max(FINEST_GULLY, _LEAST_PIXELS * pixel):
        length = np.maximum(np.sqrt(along_x * along_x + along_y * along_y), 1e-6)
        # Across the slope: the crests run down it.
        side_x, side_y = -along_y / length, along_x / length
        swing = _swing(x / np.float32(wave), y / np.float32(wave), side_x, side_y, octave)
        swing *= strength * np.float32(share)
        added_x += swing * side_x
        added_y += swing * side_y
        along_x = across + np.float32(1.3) * added_x
        along_y = down + np.float32(1.3) * added_y
        wave, share, octave = wave / 1.9, share * 0.8, octave + 1
    return added_x, added_y


def _swing(u: Grid, v: Grid, side_x: Any, side_y: Any, octave: int) -> Any:
    """Slope of a sum of windowed waves across the given direction, about -1 to 1."""
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
        # A window that ends within the neighbouring cells: no seam where they change.
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
    return swing / np.sqrt(swing * swing + _CREST)  # from waves to facets with crests between


@cache
def _scatter(octave: int) -> tuple[Grid, Grid]:
    """Where the waves of an octave are centred within their cells, always the same.

    Across and down, each of shape (3, cells): as seen from the cell after, the cell itself and the
    cell before.
    """
    chance = np.random.default_rng(6 + octave)
    places = chance.uniform(0.0, 1.0, size=(2, 1, _TABLE * _TABLE)).astype(np.float32)
    seen = places + np.array([[-1], [0], [1]], dtype=np.float32)
    return seen[0], seen[1]
