"""A large sheet in overlapping tiles, put together again without seams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscape.errors import InputError

Picture = NDArray[np.uint8]

GRAIN = 64
"""Tiles begin and end on multiples of this many pixels: 8 pixels a latent cell, and the three
halvings of a Stable Diffusion network."""


@dataclass(frozen=True)
class Tile:
    """One tile of a sheet.

    Parameters
    ----------
    left, top : int
        First column and row of the tile on the sheet, in pixels.
    width, height : int
        Size, in pixels. The last tiles may reach past the sheet by less than `GRAIN` pixels.
    over_left, over_top : int
        Width of the strip that earlier tiles have drawn already, in pixels.

    Examples
    --------
    >>> Tile(0, 0, 512, 512).over_left
    0
    """

    left: int
    top: int
    width: int
    height: int
    over_left: int = 0
    over_top: int = 0


def cut(width: int, height: int, *, tile: int, overlap: int, grain: int = GRAIN) -> list[Tile]:
    """Cut a sheet into overlapping tiles of one size, row by row.

    Parameters
    ----------
    width, height : int
        Size of the sheet, in pixels.
    tile : int
        Longest side of a tile, in pixels; rounded down to a multiple of `grain`.
    overlap : int
        Pixels that neighbours share, at least; at most half a tile.
    grain : int, default 64
        Tiles begin and end on multiples of it.

    Returns
    -------
    list of Tile
        Together they cover the sheet.

    Raises
    ------
    InputError
        If a tile is smaller than `grain`, or the overlap more than half of it.

    Examples
    --------
    >>> [(one.left, one.width, one.over_left) for one in cut(1000, 400, tile=512, overlap=64)]
    [(0, 512, 0), (256, 512, 256), (512, 512, 256)]
    """
    if tile < grain:
        raise InputError(f"A tile must be at least {grain} pixels wide, not {tile}.")
    if not 0 <= overlap <= tile // 2:
        raise InputError(
            f"Tiles of {tile} pixels may overlap by 0 to {tile // 2} pixels, not {overlap}."
        )
    side = tile // grain * grain
    columns = list(_along(width, side, overlap, grain))
    rows = list(_along(height, side, overlap, grain))
    return [Tile(x, y, w, h, ox, oy) for y, h, oy in rows for x, w, ox in columns]


def _along(length: int, side: int, overlap: int, grain: int) -> Iterator[tuple[int, int, int]]:
    """Give start, length and overlap with the tile before, along one side of the sheet."""
    whole = ceil(length / grain) * grain
    if whole <= side:
        yield 0, whole, 0
        return
    # Neighbours share at least `overlap`, also after their starts are moved onto the grain.
    number = ceil((whole - overlap) / max(grain, (side - overlap) // grain * grain))
    starts = [round(i * (whole - side) / (number - 1) / grain) * grain for i in range(number)]
    yield starts[0], side, 0
    for before, start in pairwise(starts):
        yield start, side, before + side - start


def window(array: NDArray[Any], tile: Tile) -> NDArray[Any]:
    """Take a tile out of an array; what lies past the edge repeats the edge.

    Parameters
    ----------
    array : ndarray, shape (height, width) or (height, width, channels)
    tile : Tile

    Returns
    -------
    ndarray, shape (tile.height, tile.width, ...)

    Examples
    --------
    >>> window(np.arange(6).reshape(2, 3), Tile(1, 0, 3, 2)).tolist()
    [[1, 2, 2], [4, 5, 5]]
    """
    part = array[tile.top : tile.top + tile.height, tile.left : tile.left + tile.width]
    past = [(0, tile.height - part.shape[0]), (0, tile.width - part.shape[1])]
    return np.pad(part, past + [(0, 0)] * (array.ndim - 2), mode="edge")


def draw_in_tiles(
    shape: tuple[int, int], tiles: Sequence[Tile], draw: Callable[[Tile], Picture]
) -> Picture:
    """Draw a sheet tile by tile, each faded in over what its neighbours drew.

    The weight of a tile rises over the shared strip as a raised cosine, so that there is no line
    along which the picture or its slope jumps. The sheet and one row of tiles are in memory.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the sheet, in pixels.
    tiles : sequence of Tile
        As `cut` gives them, in that order.
    draw : callable
        Takes a tile, gives its picture: uint8, shape (tile.height, tile.width, 3).

    Returns
    -------
    ndarray of uint8, shape (*shape, 3)

    Examples
    --------
    >>> tiles = cut(200, 64, tile=128, overlap=64)
    >>> draw_in_tiles((64, 200), tiles, lambda one: np.full((64, one.width, 3), 7, np.uint8)).max()
    np.uint8(7)
    """
    sheet = np.zeros((*shape, 3), dtype=np.uint8)
    for top, row in groupby(tiles, key=lambda tile: tile.top):
        # A row is put together by itself first: where four tiles meet, each fade is then along
        # one side alone.
        in_row = list(row)
        first = in_row[0]
        strip = np.zeros((first.height, shape[1], 3), dtype=np.uint8)
        for tile in in_row:
            drawn = np.asarray(draw(tile))
            place = strip[:, tile.left : tile.left + tile.width]
            _fade(place, drawn[:, : place.shape[1]], _rise(tile.over_left, place.shape[1]))
        place = sheet[top : top + first.height]
        _fade(place, strip[: len(place)], _rise(first.over_top, len(place))[:, None])
    return sheet


def _fade(place: Picture, drawn: Picture, weight: NDArray[np.float32]) -> None:
    """Lay a picture over another one, in place."""
    place[:] = np.rint(place * (1 - weight[..., None]) + drawn * weight[..., None])


def _rise(over: int, length: int) -> NDArray[np.float32]:
    """Weight along one side of a tile: from 0 to 1 over the shared strip, 1 after it."""
    weight = np.ones(length, dtype=np.float32)
    strip = min(over, length)
    weight[:strip] = 0.5 - 0.5 * np.cos(np.pi * (np.arange(strip) + 0.5) / max(over, 1))
    return weight
