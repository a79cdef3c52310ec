"""From terrain to picture, at any size, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape._progress import progress
from landscape.errors import InputError
from landscape.outreach.canvas import Canvas
from landscape.outreach.terrain import Terrain

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 32_768  # pixels along a side of a sheet


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
        See `landscape.outreach.themes.theme`.
    size : (int, int), optional
        Width and height of the whole sheet in pixels, in the shape of the terrain; the terrain's
        own size when not given. A0 at 300 dots per inch is 9,933 x 14,043.
    window : (int, int, int, int), optional
        Left, top, right and bottom of the pixels wanted; the whole sheet when not given.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        sRGB. Painted patch by patch: beside this array, memory does not grow with the sheet, and
        a window is, bit for bit, what the whole sheet shows there.

    Raises
    ------
    InputError
        For an unknown theme, or a size or window that cannot be.

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
            f"{canvas.size[0]} x {canvas.size[1]} pixels."
        )
    picture = np.empty((bottom - top, right - left, 3), dtype=np.uint8)
    with progress("Painting", total=picture.size // 3, unit="pixels") as advance:
        for (x0, y0, x1, y1), patch in canvas.patches((left, top, right, bottom)):
            picture[y0 - top : y1 - top, x0 - left : x1 - left] = patch
            advance(patch.size // 3)
    return picture


def _check_size(size: tuple[int, int], terrain: Terrain) -> None:
    width, height = size
    if not all(2 <= side <= LARGEST for side in size):
        raise InputError(
            f"A picture of {width:,} x {height:,} pixels cannot be painted; each side must be 2 "
            f"to {LARGEST:,}."
        )
    shape = terrain.size[0] / terrain.size[1]
    # Rounding of a side to whole pixels, on the sheet and in the terrain.
    slack = 1.5 / min(size) + 1.5 / min(terrain.size)
    if abs(width / height / shape - 1) > slack:
        raise InputError(
            f"The terrain is {terrain.size[0]} x {terrain.size[1]} and the picture {width} x "
            f"{height}: another shape would distort it; make the terrain in the picture's shape."
        )
