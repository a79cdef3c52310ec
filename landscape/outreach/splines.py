"""Smooth surfaces through a grid, drawn at any size: cubic B-splines, evaluated in patches.

A terrain is measured on a grid of moderate size and drawn on sheets ten times as wide. A cubic
B-spline [1]_ through the grid has no facets at any magnification, and its slope is known exactly.
The weights of a pixel depend on the pixel alone, so that a sheet drawn in patches is the sheet
drawn whole, to the last bit.

References
----------
.. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal Processing
   Magazine 16(6), 22 (1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]
    Window = tuple[int, int, int, int]


@dataclass(frozen=True)
class Surface:
    """A smooth surface through the values of a grid.

    Attributes
    ----------
    coefficients : ndarray of float32, shape (rows, columns)
        Of the B-spline.
    """

    coefficients: Grid

    @classmethod
    def through(cls, grid: Grid) -> Surface:
        """Make the surface that passes through a grid.

        Parameters
        ----------
        grid : ndarray of float32, shape (rows, columns)

        Returns
        -------
        Surface

        Examples
        --------
        >>> grid = np.outer([0.0, 1, 4, 9], [1.0, 2, 3, 4]).astype(np.float32)
        >>> bool(np.allclose(Surface.through(grid).at((4, 4)), grid, atol=1e-5))
        True
        """
        from scipy.ndimage import spline_filter

        return cls(np.asarray(spline_filter(grid, order=3, output=np.float32, mode="mirror")))

    def at(
        self, size: tuple[int, int], window: Window | None = None, *, slope: str | None = None
    ) -> Grid:
        """Evaluate the surface, or its slope, on the pixels of a sheet.

        Parameters
        ----------
        size : (int, int)
            Width and height of the whole sheet, in pixels.
        window : (int, int, int, int), optional
            Left, top, right and bottom of the pixels wanted; the whole sheet when not given.
        slope : {"across", "down"}, optional
            Instead of the value, its change with the column or the row, per width of a cell of the
            grid.

        Returns
        -------
        ndarray of float32, shape (bottom - top, right - left)
        """
        left, top, right, bottom = window or (0, 0, *size)
        rows, columns = self.coefficients.shape
        down = _weights(rows, size[1], range(top, bottom), slope=slope == "down")
        across = _weights(columns, size[0], range(left, right), slope=slope == "across")
        # Only the cells that the window touches: a patch costs no more than its share.
        used = np.unique(across.indices)
        cells = slice(int(used[0]), int(used[-1]) + 1)
        strip = down @ np.ascontiguousarray(self.coefficients[:, cells])
        return np.ascontiguousarray((across[:, cells] @ strip.T).T)


def _weights(n_cells: int, n_pixels: int, pixels: range, *, slope: bool) -> Any:
    """Weights of the cells for each pixel: a sparse matrix of shape (len(pixels), n_cells)."""
    from scipy import sparse

    place = (np.arange(pixels.start, pixels.stop) + 0.5) * (n_cells / n_pixels) - 0.5
    place = np.clip(place, 0, n_cells - 1)  # half a cell beyond the outermost centres: held
    first = np.floor(place).astype(np.int64)
    t = place - first
    if slope:
        parts = [-((1 - t) ** 2) / 2, (3 * t - 4) * t / 2, (1 + 2 * t - 3 * t * t) / 2, t * t / 2]
    else:
        parts = [
            (1 - t) ** 3 / 6,
            (3 * t**3 - 6 * t**2 + 4) / 6,
            (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6,
            t**3 / 6,
        ]
    cells = first[:, None] + np.arange(-1, 3)
    if n_cells == 1:
        cells = np.zeros_like(cells)
    else:
        turn = 2 * (n_cells - 1)  # the grid is continued by its mirror image
        cells = np.abs(cells)
        cells = np.where(cells >= n_cells, np.abs(turn - cells), cells)
    rows = np.repeat(np.arange(len(place)), 4)
    values = np.stack(parts, axis=1).ravel().astype(np.float32)
    return sparse.csr_matrix((values, (rows, cells.ravel())), shape=(len(place), n_cells))
