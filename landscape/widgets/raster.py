"""The picture of a view: all its papers counted anew, smoothed and coloured."""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.shading import (
    FEW_ENOUGH_TO_SEE,
    MANY,
    Tones,
    choose_tones,
    count_grid,
    dust,
    smooth_adaptively,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.colours import Theme
    from landscape.widgets.colouring import Colouring
    from landscape.widgets.picking import Points
    from landscape.widgets.views import Box, Size, View

    Floats = NDArray[np.float32]

# The browser interpolates: a picture of two thirds of the pixels looks the same, in half the time.
FINE = 2 / 3
_BORDER = 18  # pixels counted beyond the picture, so that its edges are no edges of the papers
_COARSE = 3  # pixels of the picture to one cell of the mean colours
_KERNEL = 12.0  # widest smoothing in screen pixels, of 4,000 papers


@dataclass(frozen=True)
class Picture:
    """A picture of a window of the map.

    Attributes
    ----------
    box : (float, float, float, float)
        In map units.
    pixels : ndarray of uint8, shape (rows, columns) or (rows, columns, 3)
        Row 0 is the highest y. Places in the theme's ramp, or sRGB.
    ramp : ndarray of uint8, shape (256, 3)
        The theme's.
    n_papers : int
        Papers in the window.
    tones : Tones
    """

    box: Box
    pixels: NDArray[np.uint8]
    ramp: NDArray[np.uint8]
    n_papers: int
    tones: Tones

    def png(self) -> bytes:
        """The picture as a file."""
        from PIL import Image

        if self.pixels.ndim == 2:
            picture = Image.fromarray(self.pixels, mode="P")
            picture.putpalette(self.ramp.tobytes())
        else:
            picture = Image.fromarray(self.pixels)
        buffer = io.BytesIO()
        picture.save(buffer, format="png", compress_level=1)
        return buffer.getvalue()

    @property
    def link(self) -> str:
        """The picture as a data link; one of many colours as WebP, a tenth of its PNG."""
        if self.pixels.ndim == 2:
            return f"data:image/png;base64,{b64encode(self.png()).decode('ascii')}"
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(self.pixels).save(buffer, format="webp", quality=90, method=0)
        return f"data:image/webp;base64,{b64encode(buffer.getvalue()).decode('ascii')}"

    @property
    def rgb(self) -> NDArray[np.uint8]:
        """sRGB, shape (rows, columns, 3), row 0 the highest y."""
        return self.ramp[self.pixels] if self.pixels.ndim == 2 else self.pixels


def draw_picture(
    points: Points,
    view: View,
    size: Size,
    *,
    colours: Theme,
    colouring: Colouring,
    fine: float = FINE,
    specks: bool = True,
    lit: Points | None = None,
) -> Picture:
    """Count, smooth and colour the papers of a view.

    Parameters
    ----------
    points : Points
    view : View
    size : (int, int)
        Width and height on the screen, in pixels.
    colours : Theme
    colouring : Colouring
    fine : float, default 2/3
        Pixels of the picture to one of the screen.
    specks : bool, default True
        Whether few papers are seen singly.
    lit : Points, optional
        Papers that shine through in the colour of papers found.

    Returns
    -------
    Picture

    Examples
    --------
    >>> from landscape.figures.colours import theme
    >>> from landscape.widgets.colouring import DENSITY
    >>> from landscape.widgets.picking import Points
    >>> from landscape.widgets.views import View
    >>> points, view = Points([0.5], [0.5]), View((0.0, 0.0, 1.0, 1.0))
    >>> picture = draw_picture(points, view, (60, 30), colours=theme("light"), colouring=DENSITY)
    >>> picture.pixels.shape, picture.n_papers
    ((20, 40), 1)
    """
    shape = max(8, round(size[1] * fine)), max(8, round(size[0] * fine))
    grown, wide_shape = _grown(view, shape)
    x, y, rows = points.near(grown)
    counts = _count(x, y, grown, wide_shape)
    n = int(_inner(counts).sum())
    density = smooth_adaptively(counts, coarsest=_widest(n, fine))
    tones = choose_tones(_inner(density), _inner(counts))
    position = tones.position(_inner(density))
    if specks and 0 < n < FEW_ENOUGH_TO_SEE:
        position = position + dust(_inner(counts), n_papers=n) * (1 - position)
    ramp = np.round(colours.ramp * 255).astype(np.uint8)
    pixels = np.round(position * (len(ramp) - 1)).astype(np.uint8)
    if colouring.kind != "density":
        tint = _tint(x, y, rows, grown, wide_shape, colouring, colours)
        # Fewer papers fade into the page: where none are, no colour claims any.
        by_tone = (np.clip(1.5 * np.arange(256) / 255, 0, 1) ** 0.8).astype(np.float32)
        page = np.float32(255) * colours.ramp[0].astype(np.float32)
        mixed = page + (_inner(tint) - page) * by_tone[pixels][..., None]
        pixels = (mixed + np.float32(0.5)).astype(np.uint8)
    if lit is not None:
        pixels = _lit(lit, grown, wide_shape, ramp[pixels] if pixels.ndim == 2 else pixels, colours)
    return Picture(view.box, pixels[::-1], ramp, n, tones)


def _widest(n: int, fine: float) -> float:
    """Widest kernel; it shrinks with the papers as the best in two dimensions does (Scott 1992)."""
    return _KERNEL * fine * float(np.clip((4000 / max(n, 1)) ** (1 / 6), 0.4, 2))


def _lit(
    lit: Points, box: Box, shape: tuple[int, int], rgb: NDArray[np.uint8], colours: Theme
) -> NDArray[np.uint8]:
    """Lay papers that are too many to mark singly over a picture, in the colour of found ones."""
    x, y, _ = lit.near(box)
    counts = _count(x, y, box, shape)
    if not counts.any():
        return rgb
    density = smooth_adaptively(counts, coarsest=_widest(len(x), FINE) / 2)
    position = choose_tones(_inner(density), _inner(counts)).position(_inner(density))
    strength = (0.9 * np.clip(1.3 * position, 0, 1))[..., None]
    hue = np.array([int(colours.apart[i : i + 2], 16) for i in (1, 3, 5)])
    mixed = np.round(rgb + (hue - rgb.astype(np.float32)) * strength)
    return np.asarray(mixed, dtype=np.uint8)


def _tint(
    x: Floats, y: Floats, rows: Any, box: Box, shape: tuple[int, int], colouring: Colouring,
    colours: Theme,
) -> Floats:  # fmt: skip
    """The mean colour around each pixel, shape (rows, columns, 3)."""
    from scipy.ndimage import gaussian_filter

    coarse = -(-shape[0] // _COARSE), -(-shape[1] // _COARSE)
    x0, y0, x1, y1 = box
    # The coarse cells cover whole pixels, so that both grids share their lower left corner.
    unit = (x1 - x0) / shape[1] * _COARSE, (y1 - y0) / shape[0] * _COARSE
    across = np.floor((x - np.float32(x0)) * np.float32(1 / unit[0]))
    up = np.floor((y - np.float32(y0)) * np.float32(1 / unit[1]))
    inside = (across >= 0) & (across < coarse[1]) & (up >= 0) & (up < coarse[0])
    cells = up[inside].astype(np.int32) * coarse[1] + across[inside].astype(np.int32)
    values, palette = colouring.values[rows[inside]], colouring.palette(colours)
    n_cells = coarse[0] * coarse[1]

    def smooth(sums: Any, sigma: float) -> Any:
        return gaussian_filter(sums.reshape(coarse).astype(np.float32), sigma, truncate=3.0)

    if colouring.kind == "classes":
        # Missing values, -1, are the last class.
        codes = np.where(values < 0, len(palette) - 1, values).astype(np.int64)
        counts = np.bincount(codes * n_cells + cells, minlength=len(palette) * n_cells)
        mixed = np.zeros((*coarse, 3), dtype=np.float32)
        total = np.zeros(coarse, dtype=np.float32)
        for code, count in enumerate(counts.reshape(len(palette), n_cells)):
            if not count.any():
                continue
            # A little of a wider kernel colours the outskirts; squares let the most frequent win.
            held = smooth(count, 1.2) + 0.02 * smooth(count, 5.0)
            weight = held**2 * (0.5 if code == len(palette) - 1 else 1.0)
            mixed += weight[..., None] * palette[code].astype(np.float32)
            total += weight
        return _enlarged(mixed / np.maximum(total, 1e-20)[..., None], shape)
    known = np.isfinite(values)
    sums = np.bincount(cells[known], values[known], minlength=n_cells)
    held_here = np.bincount(cells[known], minlength=n_cells)
    missing = np.bincount(cells[~known], minlength=n_cells)
    sum_of, held, lost = (
        smooth(grid, 1.6) + 0.05 * smooth(grid, 5.0) for grid in (sums, held_here, missing)
    )
    mean = sum_of / np.maximum(held, 1e-20)
    place = np.clip((mean - colouring.low) / (colouring.high - colouring.low), 0, 1)
    tinted = palette[np.round(place * (len(palette) - 1)).astype(np.int64)]
    grey = colouring.unknown(colours)
    share = (held / np.maximum(held + lost, 1e-20))[..., None]
    return _enlarged(grey + (tinted - grey) * share, shape)


def _enlarged(grid: Any, shape: tuple[int, int]) -> Floats:
    """Spread coarse cells over pixels, linearly between their middles; 0 to 255."""
    from PIL import Image

    cells = Image.fromarray(np.round(np.clip(grid, 0, 1) * 255).astype(np.uint8))
    size = grid.shape[1] * _COARSE, grid.shape[0] * _COARSE
    wide = np.asarray(cells.resize(size, Image.Resampling.BILINEAR), dtype=np.float32)
    return wide[: shape[0], : shape[1]]


def _count(x: Floats, y: Floats, box: Box, shape: tuple[int, int]) -> Floats:
    """Papers per pixel; of fewer than many, in half the precision and a fifth of the time."""
    if len(x) >= MANY:
        return count_grid(x, y, extent=box, shape=shape)
    x0, y0, x1, y1 = box
    across = (x - np.float32(x0)) * np.float32(shape[1] / (x1 - x0))
    up = (y - np.float32(y0)) * np.float32(shape[0] / (y1 - y0))
    inside = (across >= 0) & (across < shape[1]) & (up >= 0) & (up < shape[0])
    if not inside.all():
        across, up = across[inside], up[inside]
    cells = up.astype(np.int32) * np.int32(shape[1]) + across.astype(np.int32)
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float32)


def _grown(view: View, shape: tuple[int, int]) -> tuple[Box, tuple[int, int]]:
    x0, y0, x1, y1 = view.box
    dx, dy = _BORDER * (x1 - x0) / shape[1], _BORDER * (y1 - y0) / shape[0]
    wide = shape[0] + 2 * _BORDER, shape[1] + 2 * _BORDER
    return (x0 - dx, y0 - dy, x1 + dx, y1 + dy), wide


def _inner(grid: Any) -> Any:
    return grid[_BORDER:-_BORDER, _BORDER:-_BORDER]
