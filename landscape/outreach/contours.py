"""Contour lines that can be read: each stands for so many times more papers than the last."""

from __future__ import annotations

import numpy as np

from landscape.outreach.elevation import FLOOR, relief_of
from landscape.outreach.terrain import Terrain

_RATIOS = (1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_MOST = 12


def contour_levels(terrain: Terrain) -> tuple[tuple[float, ...], float]:
    """Choose the contour lines: each stands for the density of the last one times a round number.

    Parameters
    ----------
    terrain : Terrain

    Returns
    -------
    elevations : tuple of float
        Of the lines above the coast; empty for a terrain without densities.
    ratio : float
        How much denser the papers are from each line to the next.

    Examples
    --------
    >>> flat = np.zeros((2, 2), np.float32)
    >>> terrain = Terrain(flat, flat, (0, 1, 0, 1), sea_density=1.0, peak_density=40.0)
    >>> levels, ratio = contour_levels(terrain)
    >>> len(levels), ratio
    (9, 1.5)
    """
    rise = terrain.peak_density / terrain.sea_density
    if not rise > 1:
        return (), 1.0
    floor = 1 / FLOOR
    highest = float(np.log((rise + floor) / (1 + floor)))
    for ratio in _RATIOS:
        n_lines = int(np.log(rise) / np.log(ratio) - 1e-9)
        if n_lines <= _MOST:
            break
    density = ratio ** np.arange(1, n_lines + 1)
    height = np.log((density + floor) / (1 + floor)).astype(np.float32)
    return tuple(relief_of(height, highest=highest).tolist()), ratio
