"""The key of the colours: a small made-up coast, painted with the same brush as the map."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.outreach.terrain import Terrain

    Picture = NDArray[np.uint8]

SHAPE = 0.36  # height over width
SHORE = 0.22  # where the coast is, across
_SHEET = 3  # times as wide


def key_picture(terrain: Terrain, *, theme: str, width: int = 420) -> Picture:
    """Paint the key of the colours with the same brush as the map: a small made-up coast.

    Left to right it rises from open water to the highest peak; from bottom to top its papers
    become newer.

    Parameters
    ----------
    terrain : Terrain
        The map's.
    theme : str
    width : int, default 420
        In pixels.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
    """
    from landscape.outreach.painting import paint

    height = round(width * SHAPE)
    across = (
        np.linspace(0, 1, width)[None, :]
        + 0.02 * np.sin(np.linspace(0, 3.2 * np.pi, height))[:, None]
    )
    elevation = np.where(
        across < SHORE,
        -0.9 * (1 - across / SHORE),
        (np.maximum(across - SHORE, 0) / (1 - SHORE)) ** 1.15,
    )
    newer = np.linspace(1, -1, height)[:, None] * np.ones((1, width))
    share = terrain.recent_share
    # Odds from a seventh of the whole's to seven times them: the ends of the coast's colours.
    odds = share / (1 - share) * 7.0**newer if 0 < share < 1 else np.full(newer.shape, np.nan)
    recency = odds / (1 + odds)
    # A corner of a larger sheet: coasts and lines are then about as broad as on the map.
    beyond = ((0, (_SHEET - 1) * height), (0, (_SHEET - 1) * width))
    scene = replace(
        terrain,
        elevation=np.pad(np.clip(elevation, -1, 1), beyond, mode="edge").astype(np.float32),
        recency=np.pad(recency, beyond, mode="edge").astype(np.float32),
        extent=(0.0, _SHEET, 0.0, _SHEET * SHAPE),
        peaks=(),
        rivers=(),
    )
    return paint(scene, theme=theme, window=(0, 0, width, height))
