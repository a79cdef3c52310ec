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
_TABLE = 64  # cells after which the scatter of the waves repeats


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
    column, row = np.floor(u).astype(np.int32), np.floor(v).astype(np.int32)
    part_u, part_v = u - column, v - row
    total, weights = np.zeros_like(u), np.full_like(u, 1e-4)
    for step_v in (-1, 0, 1):
        down = ((row + step_v) % _TABLE) * _TABLE
        for step_u in (-1, 0, 1):
            cell = down + (column + step_u) % _TABLE
            off_x = part_u - np.float32(step_u) - scatter_x[cell]
            off_y = part_v - np.float32(step_v) - scatter_y[cell]
            # A window that ends within the neighbouring cells: no seam where they change.
            window = np.maximum(1 - (off_x * off_x + off_y * off_y), 0)
            window *= window
            total += window * np.sin(np.float32(2 * np.pi) * (off_x * side_x + off_y * side_y))
            weights += window
    swing = total / weights
    return swing / np.sqrt(swing * swing + _CREST)  # from waves to facets with crests between


@cache
def _scatter(octave: int) -> tuple[Grid, Grid]:
    """Where the waves of an octave are centred within their cells, always the same."""
    chance = np.random.default_rng(6 + octave)
    places = chance.uniform(0.0, 1.0, size=(2, _TABLE * _TABLE)).astype(np.float32)
    return places[0], places[1]
