"""Papers that are too many to mark singly, made to stand out on a picture of the map."""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from landscape.figures._colours import (
    FEW_ENOUGH_TO_SEE,
    Tones,
    choose_tones,
    draw_specks,
    smooth_adaptively,
)
from landscape.mapping._density import count_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    from landscape.figures._colours import Theme
    from landscape.widgets._colours import Colouring
    from landscape.widgets._view import Box, Points, Size, View

    Pixels = NDArray[np.uint8]
    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int32]

MANY = 500_000  # papers: from here on they are counted in blocks, to save memory
_LEFT = 0.3  # of the colour where none of them is
_EDGE = 0.12  # strength at which the outline runs
_ROUND = 2.0  # pixels over which it is rounded


def in_one_colour(rgb: Pixels, strength: Any, colours: Theme) -> Pixels:
    """Lay papers over a quiet map in the colour of marked ones."""
    return _mixed(rgb, _rgb(colours.apart), 0.9 * np.clip(1.3 * strength, 0, 1))


def by_outline(rgb: Pixels, strength: Any, colours: Theme) -> Pixels:
    """Let a coloured map keep its colours where the papers are, inside a line, and fade elsewhere.

    No colour could mark them on a map that uses all: the line is dark inside a light one, so that
    it is seen on any.
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


COARSE = 3  # pixels of the picture to one cell of the mean colours
_NEAR, _WIDE = (1.2, 1.6), 5.0  # cells: smoothing of classes and of numbers; of the outskirts


class Cells(NamedTuple):
    """The pixel of every paper of a window."""

    across: Numbers
    up: Numbers
    kept: Any


def cells_of(x: Floats, y: Floats, box: Box, shape: tuple[int, int]) -> Cells:
    """Find the pixel of every paper."""
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
    """The mean colour around each pixel."""
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


# The browser interpolates: a picture of two thirds of the pixels looks the same, in half the time.
FINE = 2 / 3
_BORDER = 18  # pixels counted beyond the picture, so that its edges are no edges of the papers
_KERNEL = 12.0  # widest smoothing in screen pixels, of 4,000 papers


@dataclass(frozen=True)
class Picture:
    """A picture of a window of the map."""

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
    """Count, smooth and colour the papers of a view."""
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
        position = position + draw_specks(_inner(counts), n_papers=n) * (1 - position)
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
        return count_grid(x, y, bounds=box, shape=shape).astype(np.float32)
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
