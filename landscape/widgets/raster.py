"""The picture of a view: all its papers counted anew, smoothed and coloured."""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures._shading import (
    FEW_ENOUGH_TO_SEE,
    MANY,
    Tones,
    choose_tones,
    count_grid,
    dust,
    smooth_adaptively,
)
from landscape.widgets.lighting import by_outline, in_one_colour
from landscape.widgets.tinting import Cells, cells_of, tint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures._colours import Theme
    from landscape.widgets.colouring import Colouring
    from landscape.widgets.picking import Points
    from landscape.widgets.views import Box, Size, View

    Floats = NDArray[np.float32]

# The browser interpolates: a picture of two thirds of the pixels looks the same, in half the time.
FINE = 2 / 3
_BORDER = 18  # pixels counted beyond the picture, so that its edges are no edges of the papers
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
        Papers that stand out: in the colour of marked ones, on a coloured map inside an outline.

    Returns
    -------
    Picture

    Examples
    --------
    >>> from landscape.figures._colours import theme
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
    is_tinted = colouring.kind != "density"
    cells = cells_of(x, y, grown, wide_shape) if is_tinted or len(x) < MANY else None
    counts = _count(x, y, grown, wide_shape, cells)
    n = int(_inner(counts).sum())
    density = smooth_adaptively(counts, coarsest=_widest(n, fine))
    tones = choose_tones(_inner(density), _inner(counts))
    position = tones.position(_inner(density))
    if specks and 0 < n < FEW_ENOUGH_TO_SEE:
        position = position + dust(_inner(counts), n_papers=n) * (1 - position)
    ramp = np.round(colours.ramp * 255).astype(np.uint8)
    pixels = np.round(position * (len(ramp) - 1)).astype(np.uint8)
    if is_tinted and cells is not None:
        inner = (_BORDER, _BORDER, _BORDER + shape[1], _BORDER + shape[0])
        tinted = tint(cells, rows, wide_shape, inner, colouring=colouring, colours=colours)
        pixels = _over_page(tinted, pixels, ramp[0])
    if lit is not None:
        strength = _strength(lit, grown, wide_shape)
        show = by_outline if is_tinted else in_one_colour
        pixels = show(pixels if is_tinted else ramp[pixels], strength, colours)
    return Picture(view.box, pixels[::-1], ramp, n, tones)


def _over_page(tinted: Any, tones: NDArray[np.uint8], page: NDArray[np.uint8]) -> Any:
    """Fewer papers fade into the page: where none are, no colour claims any."""
    from PIL import Image

    empty = Image.new("RGB", tinted.size, tuple(page.tolist()))
    mask = Image.fromarray(_OPACITY[tones], mode="L")
    return np.asarray(Image.composite(tinted, empty, mask))


_OPACITY = np.round(255 * np.clip(1.5 * np.arange(256) / 255, 0, 1) ** 0.8).astype(np.uint8)


def _widest(n: int, fine: float) -> float:
    """Widest kernel; it shrinks with the papers as the best in two dimensions does (Scott 1992)."""
    return _KERNEL * fine * float(np.clip((4000 / max(n, 1)) ** (1 / 6), 0.4, 2))


def _strength(lit: Points, box: Box, shape: tuple[int, int]) -> Any:
    """How strongly the papers to be shown are there at each pixel, 0 to 1."""
    x, y, _ = lit.near(box)
    counts = _count(x, y, box, shape)
    if not counts.any():
        return np.zeros_like(_inner(counts))
    density = smooth_adaptively(counts, coarsest=_widest(len(x), FINE) / 2)
    return choose_tones(_inner(density), _inner(counts)).position(_inner(density))


def _count(
    x: Floats, y: Floats, box: Box, shape: tuple[int, int], cells: Cells | None = None
) -> Floats:
    """Papers per pixel; of fewer than many, in half the precision and a fifth of the time."""
    if cells is None and len(x) >= MANY:
        return count_grid(x, y, extent=box, shape=shape)
    across, up, _ = cells or cells_of(x, y, box, shape)
    counts = np.bincount(up * np.int32(shape[1]) + across, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float32)


def _grown(view: View, shape: tuple[int, int]) -> tuple[Box, tuple[int, int]]:
    x0, y0, x1, y1 = view.box
    dx, dy = _BORDER * (x1 - x0) / shape[1], _BORDER * (y1 - y0) / shape[0]
    wide = shape[0] + 2 * _BORDER, shape[1] + 2 * _BORDER
    return (x0 - dx, y0 - dy, x1 + dx, y1 + dy), wide


def _inner(grid: Any) -> Any:
    return grid[_BORDER:-_BORDER, _BORDER:-_BORDER]
