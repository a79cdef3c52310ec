"""Drawing the sheet as PNG and PDF: the picture, and over it the words as vectors."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.outreach.fonts import BASE, covers
from landscape.outreach.letters import Run
from landscape.outreach.marks import Dot, Inset, Line, Mark, Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform
    from numpy.typing import NDArray

    from landscape.outreach.sheet import Box, Sheet

    Picture = NDArray[np.uint8]

_HALO_STRENGTH = 0.66
_ROWS_AT_ONCE = 512


def draw_page(
    sheet: Sheet, picture: Picture, map_box: Box, marks: Sequence[Mark], *, page: str
) -> Picture:
    """Draw a whole sheet as pixels.

    Parameters
    ----------
    sheet : Sheet
    picture : ndarray of uint8, shape (height, width, 3)
        The map, as many pixels as `map_box` has.
    map_box : (float, float, float, float)
        Where on the sheet it goes, in points.
    marks : sequence of Mark
        What is drawn over it, in this order.
    page : str
        Colour of the paper.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)

    Notes
    -----
    Needs 7 bytes a pixel of the sheet beside the map's own 3.

    Examples
    --------
    >>> from landscape.outreach.sheet import choose_sheet
    >>> sheet = choose_sheet("600x540px", aspect=1.0)
    >>> box, _ = sheet.areas(0.0)
    >>> left, top, right, bottom = sheet.pixel_box(box)
    >>> water = np.zeros((bottom - top, right - left, 3), dtype=np.uint8)
    >>> drawn = draw_page(sheet, water, box, [], page="#ffffff")
    >>> drawn.shape, int(drawn[0, 0, 0]), int(drawn[top, left, 0])
    ((540, 600, 3), 255, 0)
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    width, height = sheet.pixels
    whole = np.empty((height, width, 3), dtype=np.uint8)
    whole[:] = _rgb(page)
    left, top, right, bottom = sheet.pixel_box(map_box)
    whole[top:bottom, left:right] = picture
    figure = _figure(sheet, marks, text=False)
    figure.set_size_inches(width / sheet.dpi, height / sheet.dpi)
    with mpl.rc_context({"text.hinting": "none", "path.simplify": False}):
        canvas: Any = FigureCanvasAgg(figure)  # its methods have no types
        canvas.draw()
    over = np.asarray(canvas.buffer_rgba())
    for row in range(0, height, _ROWS_AT_ONCE):
        some = slice(row, row + _ROWS_AT_ONCE)
        ink = over[some]
        if not ink[..., 3].any():
            continue
        share = ink[..., 3:].astype(np.uint32)
        # Straight alpha, rounded to the nearest whole number.
        mixed = ink[..., :3] * share + whole[some] * (255 - share) + 127
        whole[some] = (mixed // 255).astype(np.uint8)
    return whole


def png_bytes(picture: Picture, *, dpi: int, about: Mapping[str, str], few: bool = False) -> bytes:
    r"""Pack a picture as PNG with words about it.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
    dpi : int
    about : mapping of str to str
        Goes into the file's metadata.
    few : bool, default False
        Whether 256 colours will do: a quarter of the size, for the web.

    Returns
    -------
    bytes
        The same for the same input.

    Examples
    --------
    >>> packed = png_bytes(np.zeros((2, 2, 3), np.uint8), dpi=72, about={"Title": "Sea"})
    >>> packed[:4]
    b'\x89PNG'
    """
    from PIL import Image, PngImagePlugin

    image = Image.fromarray(picture)
    if few:
        from landscape.figures._export import few_colours

        image = image.quantize(palette=few_colours(image), dither=Image.Dither.FLOYDSTEINBERG)
    words = PngImagePlugin.PngInfo()
    for key, value in about.items():
        words.add_itxt(key, value)
    packed = io.BytesIO()
    # The strongest compression saves 2% more and takes four times as long.
    image.save(packed, format="png", compress_level=9 if few else 6, dpi=(dpi, dpi), pnginfo=words)
    return packed.getvalue()


def pdf_bytes(
    sheet: Sheet,
    picture: Picture,
    map_box: Box,
    marks: Sequence[Mark],
    *,
    page: str,
    about: Mapping[str, Any],
) -> bytes:
    """Draw a whole sheet as PDF; straight words are text that can be searched for.

    Parameters are those of `draw_page`; `about` goes into the document's properties.

    Returns
    -------
    bytes
        The same for the same input.
    """
    import matplotlib as mpl

    figure = _figure(sheet, marks, text=True)
    figure.set_facecolor(page)
    x0, y0, x1, y1 = map_box
    axes = figure.add_axes(
        (x0 / sheet.width, y0 / sheet.height, (x1 - x0) / sheet.width, (y1 - y0) / sheet.height),
        zorder=-1,
    )
    axes.set_axis_off()
    axes.imshow(picture, aspect="auto", interpolation="none")
    buffer = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 42, "text.hinting": "none", "path.simplify": False}):
        figure.savefig(
            buffer,
            format="pdf",
            dpi=sheet.dpi,
            facecolor=page,
            metadata={**about, "CreationDate": None},
        )
    return buffer.getvalue()


def _figure(sheet: Sheet, marks: Sequence[Mark], *, text: bool) -> Figure:
    """A transparent figure of the sheet's size with all marks on it."""
    from matplotlib.figure import Figure
    from matplotlib.transforms import Affine2D

    figure = Figure(figsize=(sheet.width / 72, sheet.height / 72), dpi=sheet.dpi, facecolor="none")
    points = Affine2D().scale(1 / 72) + figure.dpi_scale_trans
    for number, mark in enumerate(marks):
        _draw(figure, mark, points, order=2 + number * 1e-4, text=text)
    return figure


def _draw(figure: Figure, mark: Mark, points: Transform, *, order: float, text: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, PathPatch, Rectangle

    if isinstance(mark, Run):
        if not np.size(mark.path.vertices):
            return
        if mark.halo:
            halo = PathPatch(mark.path, facecolor="none", edgecolor=mark.halo)
            halo.set(linewidth=mark.halo_width, joinstyle="round", capstyle="round")
            halo.set(transform=points, alpha=_HALO_STRENGTH, zorder=order)
            figure.add_artist(halo)
        if text and _is_plain(mark):
            _write(figure, mark, points, order=order + 1)
            return
        # All letters lie above all halos.
        letters = PathPatch(mark.path, facecolor=mark.colour, linewidth=0)
        letters.set(transform=points, zorder=order + 1)
        figure.add_artist(letters)
    elif isinstance(mark, Line):
        line = Line2D(mark.points[:, 0], mark.points[:, 1], color=mark.colour)
        line.set(linewidth=mark.width, transform=points, zorder=order)
        line.set(solid_capstyle="round", solid_joinstyle="round")
        figure.add_artist(line)
    elif isinstance(mark, Dot):
        dot = Circle((mark.x, mark.y), mark.radius, facecolor=mark.colour)
        dot.set(edgecolor=mark.edge or "none", linewidth=mark.edge_width)
        dot.set(transform=points, zorder=order)
        figure.add_artist(dot)
    elif isinstance(mark, Panel):
        x0, y0, x1, y1 = mark.box
        box = Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=mark.face or "none")
        box.set(edgecolor=mark.edge or "none", linewidth=mark.width, joinstyle="miter")
        box.set(transform=points, zorder=order)
        figure.add_artist(box)
    else:
        _inset(figure, mark, order=order)


def _inset(figure: Figure, mark: Inset, *, order: float) -> None:
    x0, y0, x1, y1 = mark.box
    width, height = (72 * side for side in figure.get_size_inches())
    axes = figure.add_axes(
        (x0 / width, y0 / height, (x1 - x0) / width, (y1 - y0) / height), zorder=order
    )
    axes.set_axis_off()
    axes.imshow(mark.picture, aspect="auto", interpolation="antialiased")


def _is_plain(run: Run) -> bool:
    """Whether a run can be set as text: straight, unspaced, and of the base fonts alone."""
    if run.baseline is not None or run.style.tracking > 0:
        return False
    return all(any(covers(family, c) for family in BASE) for c in run.text)


def _write(figure: Figure, run: Run, points: Transform, *, order: float) -> None:
    style = run.style
    figure.text(
        run.x,
        run.y,
        run.text,
        transform=points,
        fontfamily=list(style.families),
        fontsize=style.size,
        fontstyle="italic" if style.italic else "normal",
        fontweight="bold" if style.bold else "normal",
        color=run.colour,
        ha="left",
        va="baseline",
        parse_math=False,
        zorder=order,
    )


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue
