"""The mean colour of the papers around each pixel, quickly: on coarse cells, enlarged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    from landscape.figures._colours import Theme
    from landscape.widgets.colouring import Colouring
    from landscape.widgets.views import Box

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int32]

COARSE = 3  # pixels of the picture to one cell of the mean colours
_NEAR, _WIDE = (1.2, 1.6), 5.0  # cells: smoothing of classes and of numbers; of the outskirts


class Cells(NamedTuple):
    """The pixel of every paper of a window.

    Attributes
    ----------
    across, up : ndarray of int32, shape (n_inside,)
        Column, and row from the bottom.
    kept : ndarray of bool or slice
        Which of the papers asked about lie in the window.
    """

    across: Numbers
    up: Numbers
    kept: Any


def cells_of(x: Floats, y: Floats, box: Box, shape: tuple[int, int]) -> Cells:
    """Find the pixel of every paper.

    Parameters
    ----------
    x, y : ndarray of float32, shape (n,)
        Map units.
    box : (float, float, float, float)
    shape : (int, int)
        Rows and columns.

    Examples
    --------
    >>> x = np.array([0.1, 0.9, 2.0], dtype=np.float32)
    >>> cells = cells_of(x, x, (0.0, 0.0, 1.0, 1.0), (2, 4))
    >>> cells.across.tolist(), cells.up.tolist(), cells.kept.tolist()
    ([0, 3], [0, 1], [True, True, False])
    """
    x0, y0, x1, y1 = box
    across = (x - np.float32(x0)) * np.float32(shape[1] / (x1 - x0))
    up = (y - np.float32(y0)) * np.float32(shape[0] / (y1 - y0))
    inside = (across >= 0) & (across < shape[1]) & (up >= 0) & (up < shape[0])
    if inside.all():
        return Cells(across.astype(np.int32), up.astype(np.int32), slice(None))
    return Cells(across[inside].astype(np.int32), up[inside].astype(np.int32), inside)


def tint(
    cells: Cells,
    rows: Any,
    shape: tuple[int, int],
    inner: tuple[int, int, int, int],
    *,
    colouring: Colouring,
    colours: Theme,
) -> Image:
    """The mean colour around each pixel.

    Parameters
    ----------
    cells : Cells
    rows : ndarray of int, shape (n,)
        Of the papers that `cells` was asked about.
    shape : (int, int)
        Rows and columns of the window.
    inner : (int, int, int, int)
        Left, lower, right and upper pixel of what is wanted of it.
    colouring : Colouring
    colours : Theme

    Returns
    -------
    PIL.Image.Image
        Row 0 is the lowest.
    """
    from PIL import Image

    coarse = -(-shape[0] // COARSE), -(-shape[1] // COARSE)
    places = (cells.up // COARSE) * np.int32(coarse[1]) + cells.across // COARSE
    values, palette = colouring.values[rows[cells.kept]], colouring.palette(colours)
    mix = _of_classes if colouring.kind == "classes" else _of_numbers
    mean = mix(places, values, coarse, palette.astype(np.float32), colouring, colours)
    picture = Image.fromarray(np.round(np.clip(mean, 0, 1) * 255).astype(np.uint8))
    left, low, right, high = inner
    return picture.resize(
        (right - left, high - low), Image.Resampling.BILINEAR,
        box=(left / COARSE, low / COARSE, right / COARSE, high / COARSE),
    )  # fmt: skip


def _of_classes(
    places: Numbers, values: Any, coarse: tuple[int, int], palette: Floats, *_: Any
) -> Floats:
    """Mean colour of classes; squares let the most frequent win."""
    # Missing values, -1, are the last class.
    codes = np.where(values < 0, len(palette) - 1, values).astype(np.int32)
    n_cells = coarse[0] * coarse[1]
    counts = np.bincount(codes * np.int32(n_cells) + places, minlength=len(palette) * n_cells)
    there = [code for code, one in enumerate(counts.reshape(len(palette), -1)) if one.any()]
    if not there:
        return np.zeros((*coarse, 3), dtype=np.float32)
    grids = counts.reshape(len(palette), *coarse)[there].astype(np.float32)
    # A little of a wider kernel colours the outskirts.
    weights = np.square(_smooth(grids, _NEAR[0]) + np.float32(0.02) * _widely(grids))
    if there[-1] == len(palette) - 1:
        weights[-1] *= np.float32(0.5)
    weights /= np.maximum(weights.sum(axis=0), np.float32(1e-20))
    return np.asarray(np.einsum("crs,cd->rsd", weights, palette[there]), dtype=np.float32)


def _of_numbers(
    places: Numbers, values: Any, coarse: tuple[int, int], palette: Floats,
    colouring: Colouring, colours: Theme,
) -> Floats:  # fmt: skip
    """Colour of the mean of numbers; the unknown ones turn it grey."""
    n_cells = coarse[0] * coarse[1]
    known = np.isfinite(values)
    everywhere = bool(known.all())
    here, some = (places, values) if everywhere else (places[known], values[known])
    sums = [np.bincount(here, some, minlength=n_cells), np.bincount(here, minlength=n_cells)]
    if not everywhere:
        sums.append(np.bincount(places[~known], minlength=n_cells))
    grids = np.array(sums, dtype=np.float32).reshape(-1, *coarse)
    smoothed = _smooth(grids, _NEAR[1]) + np.float32(0.05) * _widely(grids)
    held = np.maximum(smoothed[1], np.float32(1e-20))
    place = np.clip((smoothed[0] / held - colouring.low) / (colouring.high - colouring.low), 0, 1)
    tinted = palette[np.round(place * (len(palette) - 1)).astype(np.int32)]
    if everywhere:
        return np.asarray(tinted)
    grey = colouring.unknown(colours).astype(np.float32)
    share = (held / (held + smoothed[2]))[..., None]
    return np.asarray(grey + (tinted - grey) * share, dtype=np.float32)


def _smooth(grids: Floats, sigma: float) -> Floats:
    """Smooth each of some grids, shape (n, rows, columns)."""
    from scipy.ndimage import gaussian_filter

    smoothed: Floats = gaussian_filter(grids, (0, sigma, sigma), truncate=3.0)
    return smoothed


def _widely(grids: Floats) -> Floats:
    """Smooth by the widest kernel: on cells of two by two, an eighth of the work."""
    n, rows, columns = grids.shape
    even = np.pad(grids, ((0, 0), (0, rows % 2), (0, columns % 2)))
    halved = even.reshape(n, even.shape[1] // 2, 2, -1, 2).sum(axis=(2, 4)) / np.float32(4)
    smoothed = _smooth(halved, _WIDE / 2)
    return smoothed.repeat(2, axis=1).repeat(2, axis=2)[:, :rows, :columns]
