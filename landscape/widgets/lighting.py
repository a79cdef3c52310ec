"""Papers that are too many to mark singly, made to stand out on a picture of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures._colours import Theme

    Pixels = NDArray[np.uint8]

_LEFT = 0.3  # of the colour where none of them is
_EDGE = 0.12  # strength at which the outline runs
_ROUND = 2.0  # pixels over which it is rounded


def in_one_colour(rgb: Pixels, strength: Any, colours: Theme) -> Pixels:
    """Lay papers over a quiet map in the colour of marked ones.

    Parameters
    ----------
    rgb : ndarray of uint8, shape (rows, columns, 3)
    strength : ndarray of float, shape (rows, columns)
        From 0, none of them, to 1.
    colours : Theme

    Returns
    -------
    ndarray of uint8, shape (rows, columns, 3)
    """
    return _mixed(rgb, _rgb(colours.apart), 0.9 * np.clip(1.3 * strength, 0, 1))


def by_outline(rgb: Pixels, strength: Any, colours: Theme) -> Pixels:
    """Let a coloured map keep its colours where the papers are, inside a line, and fade elsewhere.

    No colour could mark them on a map that uses all: the line is dark inside a light one, so that
    it is seen on any.

    Parameters
    ----------
    rgb, strength, colours
        As for `in_one_colour`.

    Returns
    -------
    ndarray of uint8, shape (rows, columns, 3)

    Examples
    --------
    >>> from landscape.figures._colours import theme
    >>> rgb, strength = np.full((40, 40, 3), 90, dtype=np.uint8), np.zeros((40, 40))
    >>> strength[10:30, 10:30] = 1.0
    >>> shown = by_outline(rgb, strength, theme("light"))
    >>> bool(shown[20, 20, 0] == 90), bool(shown[2, 2, 0] > 150)
    (True, True)
    >>> bool(shown[20, 4:12, 0].min() < 60)
    True
    """
    from scipy.ndimage import binary_dilation, binary_erosion, gaussian_filter

    shown = np.clip(4 * strength, 0, 1)
    faded = _mixed(rgb, _rgb(colours.page), (1 - _LEFT) * (1 - shown))
    inside = gaussian_filter(np.asarray(strength, dtype=np.float32), _ROUND) > _EDGE
    faded[binary_dilation(inside) & ~inside] = _rgb(colours.halo)
    faded[inside & ~binary_erosion(inside, border_value=1)] = _rgb(colours.ink)
    return faded


def _mixed(rgb: Pixels, colour: Any, share: Any) -> Pixels:
    mixed = rgb + (colour - rgb.astype(np.float32)) * np.asarray(share, dtype=np.float32)[..., None]
    return np.asarray(np.round(mixed), dtype=np.uint8)


def _rgb(colour: str) -> NDArray[np.int64]:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
