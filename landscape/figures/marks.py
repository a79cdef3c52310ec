"""Papers marked on a map: symbols at their places, numbers beside them, outlines of regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.lettering import place_names
from landscape.figures.marginalia import LegendEntry
from landscape.figures.shading import count_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.figures.colours import Theme
    from landscape.figures.page import Frame, Page

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

FEW = 40
"""Up to so many papers are marked large."""
MOST_NUMBERS = 40
"""Of more papers, the first so many are numbered: more would lead from far away."""
_NUMBER, _SMALL_NUMBER = 7.4, 6.4  # font sizes for few papers and for many
_DOT, _DIAMOND = 5.2, 6.4  # sizes of the symbols of few papers
_ALONGSIDE = 8.0  # a number this near to its symbol, and to no other, needs no leader line
_CELL = 3.0  # of the grid that outlines are drawn from


@dataclass(frozen=True)
class Marked:
    """What the marks on a map take.

    Attributes
    ----------
    boxes : ndarray of float, shape (n, 4)
        Places in points that no name may touch.
    not_numbered : int
        Papers whose number found no room.
    """

    boxes: Floats
    not_numbered: int


def mark_papers(page: Page, frame: Frame, x: Floats, y: Floats, *, apart: Bools) -> Marked:
    """Mark papers on a map and number them from 1.

    Parameters
    ----------
    page : Page
        With its density picture.
    frame : Frame
    x, y : ndarray of float, shape (k,)
        Places, in map units, best first.
    apart : ndarray of bool, shape (k,)
        Which are outliers.

    Returns
    -------
    Marked
    """
    at = frame.to_page(x, y)
    styles = symbols(page.colours, scale=page.scale * _shrinking(len(at)))
    half = page.scale * _shrinking(len(at)) * np.where(apart, 0.75 * _DIAMOND, 0.5 * _DOT) + 0.6
    dots = np.hstack([at - half[:, None], at + half[:, None]])
    numbers, leaders = _place_numbers(page, frame, at, dots)
    axes = page.sheet.axes[0]
    for which, gid, order in ((~apart, "found", 2.3), (apart, "apart", 2.4)):
        points = at[which]
        for style in styles[gid]:
            axes.plot(
                *points.T,
                **style,
                transform=page.points,
                gid=gid,
                zorder=order,
                scalex=False,
                scaley=False,
            )
    for gid, which in (("found", ~apart), ("apart", apart)):
        colour = getattr(page.colours, gid)
        page.draw_leaders(leaders[which], colour=colour, peaks=False)
        for place in np.flatnonzero(which & ~np.isnan(numbers[:, 0])):
            _write_number(page, int(place) + 1, numbers[place], colour, size=_font_size(len(at)))
    placed = ~np.isnan(numbers[:, 0])
    taken = np.concatenate([dots, numbers[placed], _along(leaders)])
    return Marked(taken, int((~placed).sum()))


def symbols(colours: Theme, *, scale: float) -> dict[str, tuple[dict[str, Any], ...]]:
    """How papers found and those that lie apart are drawn: the halo first, then the symbol.

    Shape, filling and colour differ: each alone tells them apart.

    Parameters
    ----------
    colours : Theme
    scale : float

    Returns
    -------
    dict of str to tuple of dict
        ``"found"`` and ``"apart"``, for `matplotlib.axes.Axes.plot`.

    Examples
    --------
    >>> from landscape.figures.colours import theme
    >>> [style[-1]["marker"] for style in symbols(theme("light"), scale=1.0).values()]
    ['o', 'D']
    """
    hollow = {"linestyle": "none", "marker": "D", "markersize": _DIAMOND * scale}
    hollow |= {"markerfacecolor": "none"}
    found = {
        "linestyle": "none",
        "marker": "o",
        "markersize": _DOT * scale,
        "markerfacecolor": colours.found,
        "markeredgecolor": colours.halo,
        "markeredgewidth": 0.7 * scale,
    }
    return {
        "found": (found,),
        "apart": (
            hollow | {"markeredgecolor": colours.halo, "markeredgewidth": 3.0 * scale},
            hollow | {"markeredgecolor": colours.apart, "markeredgewidth": 1.5 * scale},
        ),
    }


def legend_of(
    colours: Theme, *, scale: float, n_papers: int, apart: bool, outlined: int
) -> list[LegendEntry]:
    """Say what the marks mean.

    Parameters
    ----------
    colours : Theme
    scale : float
    n_papers : int
        How many are marked.
    apart : bool
        Whether any paper lies apart.
    outlined : int
        Regions with an outline.

    Returns
    -------
    list of LegendEntry

    Examples
    --------
    >>> from landscape.figures.colours import theme
    >>> legend = legend_of(theme("dark"), scale=1.0, n_papers=9, apart=False, outlined=1)
    >>> [entry.words for entry in legend]
    ['paper found, numbered by rank', 'the region that holds them']
    """
    styles = symbols(colours, scale=scale * _shrinking(n_papers))
    numbered = "numbered by rank"
    if n_papers > MOST_NUMBERS:
        numbered = f"{MOST_NUMBERS} best numbered"
    entries = [LegendEntry(f"paper found, {numbered}", styles["found"][-1])]
    if apart:
        entries.append(LegendEntry("found, but apart from the others", styles["apart"][-1]))
    if outlined:
        words = "the region that holds them" if outlined == 1 else "the regions that hold them"
        entries.append(LegendEntry(words, _outline_style(colours, scale)))
    return entries


def outline_region(page: Page, frame: Frame, x: Floats, y: Floats, *, found: Bools) -> None:
    """Draw a line round where most papers of a region lie.

    The line is the contour of their smoothed density that holds 85 in 100 of them, and all found.

    Parameters
    ----------
    page : Page
        With its density picture.
    frame : Frame
    x, y : ndarray of float, shape (n,)
        Papers of the region, in map units.
    found : ndarray of bool, shape (n,)
        Which of them were found.
    """
    from scipy.ndimage import gaussian_filter

    left, bottom, right, top = frame.page
    cell = _CELL * page.scale
    shape = (max(8, round((top - bottom) / cell)), max(8, round((right - left) / cell)))
    counts = count_grid(x, y, extent=frame.box, shape=shape)
    rows, columns = np.nonzero(counts)
    if not len(rows):
        return
    # The best width for a Gaussian in two dimensions (Scott 1992), but never a hair or a fog.
    spread = float(np.mean([np.std(rows), np.std(columns)])) * len(x) ** (-1 / 6)
    density = gaussian_filter(counts, np.clip(spread, 3.5, 12.0), mode="constant", truncate=4.0)
    order = np.argsort(density[rows, columns])
    held = np.cumsum(counts[rows, columns][order])
    level = density[rows, columns][order][int(np.searchsorted(held, 0.15 * held[-1]))]
    marks = count_grid(x[found], y[found], extent=frame.box, shape=shape) > 0
    level = min(float(level), float(density[marks].min(initial=np.inf)))
    x0, y0, x1, y1 = frame.box
    across = x0 + (np.arange(shape[1]) + 0.5) * (x1 - x0) / shape[1]
    up = y0 + (np.arange(shape[0]) + 0.5) * (y1 - y0) / shape[0]
    style = _outline_style(page.colours, page.scale)
    lines = page.sheet.axes[0].contour(
        across,
        up,
        density,
        levels=[0.9 * level],
        colors=style["color"],
        linewidths=style["linewidth"],
        linestyles=[style["linestyle"]],
        zorder=1.5,
    )
    lines.set_gid("outline")


def _outline_style(colours: Theme, scale: float) -> dict[str, Any]:
    return {"color": colours.found, "linewidth": 0.9 * scale, "linestyle": (0, (4, 2))}


def _shrinking(n: int) -> float:
    """Size of the symbols of many papers, compared to those of few."""
    return float(np.clip((FEW / max(n, 1)) ** 0.3, 0.5, 1.0))


def _font_size(n: int) -> float:
    return _NUMBER if n <= FEW else _SMALL_NUMBER


def _place_numbers(page: Page, frame: Frame, at: Floats, dots: Floats) -> tuple[Floats, Floats]:
    """Boxes of the numbers and lines that lead to them, NaN where there is none."""
    numbers, leaders = np.full((len(at), 4), np.nan), np.full((len(at), 4), np.nan)
    n = min(len(at), MOST_NUMBERS)
    sizes = []
    for rank in range(1, n + 1):
        extent = page.setter.extent(str(rank), size=_font_size(len(at)), weight="bold")
        sizes.append(np.array([[extent.width, extent.ascent]]))
    placement = place_names(
        at[:n],
        sizes,
        frame=page.room(frame),
        reserved=dots,
        gap=1.0 * page.scale,
        reach=200 * page.scale,
        directions=48,
    )
    numbers[:n], leaders[:n] = placement.boxes, placement.leaders
    leaders[:n][_clearly_alongside(at, numbers[:n], near=_ALONGSIDE * page.scale)] = np.nan
    return numbers, leaders


def _clearly_alongside(at: Floats, boxes: Floats, *, near: float) -> Bools:
    """Whether a number stands by its own symbol and by no other, for the first n, shape (n,)."""
    nearest = np.clip(at[None], boxes[:, None, :2], boxes[:, None, 2:])
    away = np.hypot(*np.moveaxis(nearest - at[None], -1, 0))  # of each number from each symbol
    own = np.diag(away)
    elsewhere = np.hypot(*np.moveaxis(at[: len(boxes), None] - at[None], -1, 0)) > 0.5
    others = np.where(elsewhere, away, np.inf).min(axis=1, initial=np.inf)
    alongside: Bools = (own <= near) & (others > 1.6 * own)
    return alongside


def _write_number(page: Page, rank: int, box: Floats, colour: str, *, size: float) -> None:
    for text in page.setter.over_halo(
        str(rank), size=size, weight="bold", gid=f"rank-{rank}", colour=colour
    ):
        text.set(ha="center", va="baseline", position=((box[0] + box[2]) / 2, box[1]))


def _along(leaders: Floats, *, step: float = 3.0) -> Floats:
    """Small boxes along lines, so that what keeps clear of boxes keeps clear of the lines."""
    boxes = [np.empty((0, 4))]
    for start_x, start_y, end_x, end_y in leaders[~np.isnan(leaders[:, 0])]:
        length = float(np.hypot(end_x - start_x, end_y - start_y))
        along = np.linspace(0, 1, max(2, int(length / step) + 1))[:, None]
        points = np.array([[start_x, start_y]]) * (1 - along) + np.array([[end_x, end_y]]) * along
        boxes.append(np.hstack([points - 1, points + 1]))
    return np.concatenate(boxes)
