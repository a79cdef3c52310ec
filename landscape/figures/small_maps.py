"""Small maps in boxes of a page: their density pictures and a few names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.lettering import place_names
from landscape.figures.names import clean_name, line_breaks
from landscape.figures.shading import Tones, choose_tones, count_grid, smooth_adaptively

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.page import Frame

    Floats = NDArray[np.float64]
    Grid = NDArray[np.float32]

RASTER_DPI = 150
_WIDEST = 14.0  # points: coarsest smoothing of a small map
_LEADING = 1.1


def shade(
    page: ChartPage, frame: Frame, x: Floats, y: Floats, *, raster_dpi: int = RASTER_DPI
) -> Axes:
    """Draw the density of papers into a frame, on tones of its own.

    Parameters
    ----------
    page : ChartPage
    frame : Frame
        From `landscape.figures.chart_page.frame_in`.
    x, y : ndarray of float, shape (n,)
        Positions of the papers, in map units.
    raster_dpi : int, default 150
        Pixels per inch of the picture.

    Returns
    -------
    matplotlib.axes.Axes
        In map units.
    """
    counts = count_in(frame, x, y, raster_dpi=raster_dpi)
    density = smooth_adaptively(counts, coarsest=_WIDEST * raster_dpi / 72)
    return paint(page, frame, choose_tones(density, counts).position(density))


def count_in(frame: Frame, x: Floats, y: Floats, *, raster_dpi: int = RASTER_DPI) -> Grid:
    """Count the papers on each pixel of a frame, row 0 the lowest."""
    left, bottom, right, top = frame.page
    rows, columns = (max(8, round(side * raster_dpi / 72)) for side in (top - bottom, right - left))
    return count_grid(x, y, extent=frame.box, shape=(rows, columns))


def paint(
    page: ChartPage,
    frame: Frame,
    position: Any,
    *,
    ramp: Floats | None = None,
    held: Any | None = None,
) -> Axes:
    """Draw a picture of positions on a ramp, with a thin frame.

    Parameters
    ----------
    page : ChartPage
    frame : Frame
    position : array_like of float, shape (n_rows, n_columns)
        0 to 1, row 0 the lowest.
    ramp : ndarray of float, shape (n, 3), optional
        sRGB; the theme's from empty to densest if not given.
    held : array_like of float, shape (n_rows, n_columns), optional
        How far the picture covers the page, 0 to 1.

    Returns
    -------
    matplotlib.axes.Axes
        In map units.
    """
    axes = page.axes(frame.page, gid="map")
    colours = page.colours.ramp if ramp is None else ramp
    picture = colours[np.round(np.asarray(position) * (len(colours) - 1)).astype(np.intp)]
    if held is not None:
        cover = np.asarray(held)[..., None]
        picture = cover * picture + (1 - cover) * page.colours.ramp[0]
    pixels = np.round(picture * 255).astype(np.uint8)
    x0, y0, x1, y1 = frame.box
    axes.imshow(pixels, extent=(x0, x1, y0, y1), origin="lower", aspect="auto", gid="density")
    axes.set(xlim=(x0, x1), ylim=(y0, y1), xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=page.colours.faint, linewidth=0.4 * page.scale)
    return axes


def letter_few(
    page: ChartPage,
    frame: Frame,
    topics: pd.DataFrame,
    *,
    most: int,
    size: float = 6.5,
    colour: str | None = None,
    reserved: Floats | None = None,
    reach: float = 1.0,
) -> int:
    """Letter the largest topics near their places, as many as there is room for.

    Parameters
    ----------
    page : ChartPage
    frame : Frame
    topics : pandas.DataFrame
        ``topic_id, label, x, y``, the most important first.
    most : int
        Names to try.
    size : float, default 6.5
    colour : str, optional
        The theme's ink if not given.
    reserved : ndarray of float, shape (m, 4), optional
        Boxes in points that no name may touch.
    reach : float, default 1.0
        How far from its place a name may stand, in points; no line leads to it.

    Returns
    -------
    int
        Names lettered.
    """
    x0, y0, x1, y1 = frame.box
    inside = topics["x"].between(x0, x1) & topics["y"].between(y0, y1)
    wanted = topics[inside].head(most)
    breaks = [
        [line.split("\n") for line in line_breaks(clean_name(label, most=48), most_lines=3)]
        for label in wanted["label"]
    ]
    sizes = [np.array([_size(page, lines, size=size) for lines in variants]) for variants in breaks]
    left, bottom, right, top = frame.page
    placed = place_names(
        frame.to_page(wanted["x"], wanted["y"]),
        sizes,
        frame=(left + 2, bottom + 2, right - 2, top - 2),
        reserved=reserved,
        gap=1.5 * page.scale,
        reach=reach,
    )
    for index in np.flatnonzero(placed.shown):
        lines = breaks[index][int(placed.variants[index])]
        box = placed.boxes[index]
        ascent = page.setter.extent(lines[0], size=size).ascent
        for number, line in enumerate(lines):
            y = box[3] - ascent - number * _LEADING * size * page.scale
            for text in page.setter.over_halo(
                line,
                size=size,
                weight="normal",
                gid=f"topic-{wanted['topic_id'].iloc[index]}",
                colour=colour or page.colours.ink,
            ):
                text.set(va="baseline", position=((box[0] + box[2]) / 2, y))
    return int(placed.shown.sum())


def fixed_tones(densities: list[Grid], counts: list[Grid]) -> Tones:
    """One tonal scale for several pictures, so that the same tone is the same density in all."""
    return choose_tones(np.concatenate(densities), np.concatenate(counts))


def _size(page: ChartPage, lines: list[str], *, size: float) -> tuple[float, float]:
    extents = [page.setter.extent(line, size=size) for line in lines]
    leading = _LEADING * size * page.scale * (len(lines) - 1)
    height = extents[0].ascent + leading + extents[-1].descent
    return max(extent.width for extent in extents), height
