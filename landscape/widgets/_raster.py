"""Draw the density of papers in a window of the map, with colours or highlighted papers."""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from landscape.figures.colours import shade
from landscape.mapping.density import count_grid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from PIL.Image import Image

    from landscape.figures.colours import Theme
    from landscape.widgets._colours import Colouring
    from landscape.widgets._view import Box, Points, Size, View

    Pixels = NDArray[np.uint8]
    Floats = NDArray[np.float32]

# The browser interpolates, so two thirds of the resolution look the same and take half the time.
FINE = 2 / 3
_BORDER = 18  # extra pixels on each side, to avoid edge effects of the smoothing
_KERNEL = 12.0  # width of the widest smoothing kernel in screen pixels, for 4,000 papers
_FADED = 0.7  # share of the page colour where there are no highlighted papers
_EDGE = 0.12  # density of highlighted papers at the outline, 0 to 1
_ROUND = 2.0  # smoothing of the outline in pixels


@dataclass(frozen=True)
class Picture:
    """A picture of a window of the map."""

    box: Box
    pixels: NDArray[np.uint8]
    ramp: NDArray[np.uint8]
    n_papers: int

    @property
    def link(self) -> str:
        """The picture as a data URL. Pictures with many colours use WebP, all others PNG."""
        from PIL import Image

        buffer = io.BytesIO()
        if self.pixels.ndim == 2:
            kind, picture = "png", Image.fromarray(self.pixels, mode="P")
            picture.putpalette(self.ramp.tobytes())
            picture.save(buffer, format=kind, compress_level=1)
        else:
            kind = "webp"
            Image.fromarray(self.pixels).save(buffer, format=kind, quality=90, method=0)
        return f"data:image/{kind};base64,{b64encode(buffer.getvalue()).decode('ascii')}"

    @property
    def rgb(self) -> NDArray[np.uint8]:
        """Pixels as sRGB, shape (rows, columns, 3). Row 0 has the highest y."""
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
    """Draw the smoothed and coloured density of papers in a view; `lit` papers are highlighted."""
    shape = max(8, round(size[1] * fine)), max(8, round(size[0] * fine))
    box, wide_shape = _grown(view, shape)
    x, y, rows = points.near(box)
    counts = count_grid(x, y, bounds=box, shape=wide_shape).astype(np.float32)
    n = int(counts[_BORDER:-_BORDER, _BORDER:-_BORDER].sum())
    position, _ = shade(counts, widest=_KERNEL * fine, n_papers=n, specks=specks, border=_BORDER)
    ramp = np.round(colours.ramp * 255).astype(np.uint8)
    pixels = np.round(position * (len(ramp) - 1)).astype(np.uint8)
    is_tinted = colouring.kind != "density"
    if is_tinted:
        tinted = _tint(x, y, rows, box, wide_shape, colouring=colouring, colours=colours)
        pixels = _over_page(tinted, pixels, ramp[0])
    if lit is not None:
        strength = _strength(lit, box, wide_shape)
        if is_tinted:
            pixels = _by_outline(pixels, strength, colours)
        else:
            share = 0.9 * np.clip(1.3 * strength, 0, 1)
            pixels = _mixed(ramp[pixels], _bytes(colours.apart), share)
    return Picture(view.box, pixels[::-1], ramp, n)


def _grown(view: View, shape: tuple[int, int]) -> tuple[Box, tuple[int, int]]:
    x0, y0, x1, y1 = view.box
    dx, dy = _BORDER * (x1 - x0) / shape[1], _BORDER * (y1 - y0) / shape[0]
    wide = shape[0] + 2 * _BORDER, shape[1] + 2 * _BORDER
    return (x0 - dx, y0 - dy, x1 + dx, y1 + dy), wide


# -- highlighted papers


def _strength(lit: Points, box: Box, shape: tuple[int, int]) -> Floats:
    """Return the density of the highlighted papers at each pixel, 0 to 1."""
    x, y, _ = lit.near(box)
    counts = count_grid(x, y, bounds=box, shape=shape).astype(np.float32)
    return shade(counts, widest=_KERNEL * FINE / 2, n_papers=len(x), border=_BORDER)[0]


def _by_outline(rgb: Pixels, strength: Floats, colours: Theme) -> Pixels:
    """Outline papers on a coloured map, and fade the map elsewhere.

    A single colour is not visible on all colours of the map, so the outline is a dark line next to
    a light line.
    """
    from scipy.ndimage import binary_dilation, binary_erosion, gaussian_filter

    faded = _mixed(rgb, _bytes(colours.page), _FADED * (1 - np.clip(4 * strength, 0, 1)))
    inside = gaussian_filter(np.asarray(strength, dtype=np.float32), _ROUND) > _EDGE
    faded[binary_dilation(inside) & ~inside] = _bytes(colours.halo)
    faded[inside & ~binary_erosion(inside, border_value=1)] = _bytes(colours.ink)
    return faded


def _mixed(rgb: Pixels, colour: np.ndarray, share: ArrayLike) -> Pixels:
    mixed = rgb + (colour - rgb.astype(np.float32)) * np.asarray(share, dtype=np.float32)[..., None]
    return np.asarray(np.round(mixed), dtype=np.uint8)


def _bytes(colour: str) -> np.ndarray:
    return np.round(255 * np.array(to_rgb(colour)))


# -- colours of classes and numbers

_COARSE = 3  # pixels per grid cell for mean colours
# Smoothing width in cells for classes and numbers, and for places with few papers.
_NEAR, _WIDE = (1.2, 1.6), 5.0


def _tint(
    x: Floats,
    y: Floats,
    rows: NDArray[np.integer],
    box: Box,
    shape: tuple[int, int],
    *,
    colouring: Colouring,
    colours: Theme,
) -> Image:
    """Return a picture with the mean colour of the papers around each pixel."""
    from PIL import Image

    coarse = -(-shape[0] // _COARSE), -(-shape[1] // _COARSE)
    x0, y0, x1, y1 = box
    bounds = (
        x0,
        y0,
        x0 + (x1 - x0) * coarse[1] * _COARSE / shape[1],
        y0 + (y1 - y0) * coarse[0] * _COARSE / shape[0],
    )

    def grid(mask: slice | np.ndarray = slice(None), weights: Floats | None = None) -> np.ndarray:
        some = None if weights is None else weights[mask]
        return count_grid(x[mask], y[mask], bounds=bounds, shape=coarse, weights=some)

    values, palette = colouring.values[rows], colouring.palette(colours)
    mix = _of_classes if colouring.kind == "classes" else _of_numbers
    mean = mix(grid, values, palette, colouring, colours)
    picture = Image.fromarray(np.round(np.clip(mean, 0, 1) * 255).astype(np.uint8))
    inner = (_BORDER, _BORDER, shape[1] - _BORDER, shape[0] - _BORDER)
    return picture.resize(
        (inner[2] - inner[0], inner[3] - inner[1]),
        Image.Resampling.BILINEAR,
        box=(inner[0] / _COARSE, inner[1] / _COARSE, inner[2] / _COARSE, inner[3] / _COARSE),
    )


def _of_classes(grid: Any, values: np.ndarray, palette: np.ndarray, *_: object) -> np.ndarray:
    """Return the mean colour of classes; squared weights favour the most frequent class."""
    n_classes = len(palette) - 1  # the last class is for missing values (-1)
    grids = np.array([grid(values == code) for code in (*range(n_classes), -1)], dtype=np.float32)
    # A wider kernel with a small weight colours places with few papers.
    weights = np.square(_smooth(grids, _NEAR[0]) + 0.02 * _smooth(grids, _WIDE))
    weights[-1] *= 0.5
    weights /= np.maximum(weights.sum(axis=0), 1e-20)
    return np.einsum("crs,cd->rsd", weights, palette)


def _of_numbers(
    grid: Any, values: np.ndarray, palette: np.ndarray, colouring: Colouring, colours: Theme
) -> np.ndarray:
    """Return the colour of the mean number; unknown values are grey."""
    known = np.isfinite(values)
    grids = np.array([grid(known, values), grid(known), grid(~known)], dtype=np.float32)
    sums, papers, unknown = _smooth(grids, _NEAR[1]) + 0.05 * _smooth(grids, _WIDE)
    papers = np.maximum(papers, 1e-20)
    place = np.clip((sums / papers - colouring.low) / (colouring.high - colouring.low), 0, 1)
    tinted = palette[np.round(place * (len(palette) - 1)).astype(np.int32)]
    grey = colouring.unknown(colours)
    return grey + (tinted - grey) * (papers / (papers + unknown))[..., None]


def _smooth(grids: Floats, sigma: float) -> Floats:
    """Smooth grids of shape (n, rows, columns), each grid separately."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(grids, (0, sigma, sigma), truncate=3.0)


def _over_page(tinted: Image, tones: NDArray[np.uint8], page: NDArray[np.uint8]) -> Pixels:
    """Fade the colours to the page colour at places with few papers."""
    from PIL import Image

    opacity = np.round(255 * np.clip(1.5 * tones.astype(float) / 255, 0, 1) ** 0.8)
    empty = Image.new("RGB", tinted.size, tuple(page.tolist()))
    mask = Image.fromarray(opacity.astype(np.uint8), mode="L")
    return np.asarray(Image.composite(tinted, empty, mask))
