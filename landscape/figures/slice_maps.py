"""The map as slices of time, all on the same axes and tones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.caption import GENERATED, headline
from landscape.figures.colours import theme
from landscape.figures.density_map import chosen_topics, facts_of, positions
from landscape.figures.names import clean_name
from landscape.overlays._periods import UNKNOWN_YEAR, Years, count_years, format_spans, paper_years

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from landscape.figures.chart_page import Box, ChartPage
    from landscape.figures.page import Frame
    from landscape.figures.sheet import Sheet

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Grid = NDArray[np.float32]

SIZE_INCHES = (11.0, 8.5)
_MOST_SLICES = 24
_USUAL_SLICES = 6
_NAMES_PER_SLICE = 9
_HEADING = 13.0  # points above each map


def time_slices(
    atlas: Any,
    *,
    edges: Sequence[int] | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    raster_dpi: int = 150,
) -> Sheet:
    """Draw the map once for each slice of time, on fixed axes and tones.

    Every slice shows how its own papers are spread, smoothed by the same kernel: a slice with more
    papers is not darker for that, so that growth of the corpus does not pose as growth of a topic.

    Parameters
    ----------
    atlas : Atlas
        With ``map``, ``topics``, ``coverage`` and ``read_papers``.
    edges : sequence of int, optional
        Years at which slices begin, and the year in which the last ends (not in it):
        ``[1990, 2005, 2015, 2027]`` is three slices. By default six slices of about equally many
        papers.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    title : str, optional
        Heading above the maps.
    raster_dpi : int, default 150
        Pixels per inch of the density pictures.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and a ``table`` of ``slice, first_year, last_year,
        papers_in_slice, topic_id, region, papers, share``.

    Raises
    ------
    InputError
        For edges that are not rising whole years, for no paper in any slice, or for too small a
        page.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.time_slices(atlas, edges=[2000, 2010, 2020, 2027])  # doctest: +SKIP
    """
    import matplotlib as mpl

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.sheet import SETTINGS

    x, y = positions(atlas.map["x"], atlas.map["y"])
    year = paper_years(atlas)
    chosen, slice_of = cut(year, edges)
    years = count_years(year)
    facts = facts_of(atlas)
    sentences = _sentences(headline(facts), years)
    with mpl.rc_context(SETTINGS):
        page = ChartPage(size_inches, theme(colours), title=title)
        page.reserve_caption(sentences, generated=facts.generated)
        _draw(page, x, y, slice_of, chosen, years, topics=atlas.topics, raster_dpi=raster_dpi)
    sheet = page.sheet
    sheet.table = slice_table(atlas.map["topic_id"].to_numpy(), slice_of, chosen, atlas.topics)
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _alt_text(sheet.table, sentences, generated=facts.generated)
    return sheet


def cut(year: Ints, edges: Sequence[int] | None) -> tuple[list[int], Ints]:
    """Cut papers into slices of time.

    Parameters
    ----------
    year : ndarray of int, shape (n_papers,)
    edges : sequence of int, optional
        As for `time_slices`.

    Returns
    -------
    edges : list of int
        One more than there are slices.
    slice_of : ndarray of int, shape (n_papers,)
        -1 for papers in none.

    Raises
    ------
    InputError
        If the edges do not rise, are too many, or no paper lies between them.

    Examples
    --------
    >>> edges, slice_of = cut(np.array([1999, 2000, 2004]), [2000, 2002, 2005])
    >>> slice_of.tolist()
    [-1, 0, 1]
    """
    known = year[year != UNKNOWN_YEAR]
    if not len(known):
        raise InputError("No paper of this corpus has a date, which slices of time need.")
    chosen = equal_slices(known) if edges is None else _checked(edges)
    slice_of = np.digitize(year, chosen) - 1
    slice_of[slice_of == len(chosen) - 1] = -1
    if not (slice_of >= 0).any():
        raise InputError(
            f"No paper is from {chosen[0]} to {chosen[-1] - 1}; the atlas has {known.min()} to "
            f"{known.max()}."
        )
    return chosen, slice_of


def equal_slices(year: Ints, *, n_slices: int = _USUAL_SLICES) -> list[int]:
    """Choose edges between which lie about equally many papers.

    Parameters
    ----------
    year : ndarray of int, shape (n_papers,)
    n_slices : int, default 6
        Fewer where the corpus has fewer years.

    Returns
    -------
    list of int

    Examples
    --------
    >>> equal_slices(np.repeat([2000, 2001, 2002, 2003], [10, 10, 10, 30]), n_slices=2)
    [2000, 2003, 2004]
    """
    inner = np.quantile(year, np.arange(1, n_slices) / n_slices, method="higher")
    first, last = int(year.min()), int(year.max())
    between = sorted({int(edge) for edge in inner if first < edge <= last})
    return [first, *between, last + 1]


def slice_table(
    topic_id: NDArray[Any], slice_of: Ints, edges: Sequence[int], topics: pd.DataFrame
) -> pd.DataFrame:
    """Papers of each region in each slice, and their share of the slice.

    Parameters
    ----------
    topic_id : ndarray of int, shape (n_papers,)
        Region of each paper, -1 outside.
    slice_of : ndarray of int, shape (n_papers,)
        -1 for papers in none.
    edges : sequence of int
        One more than there are slices.
    topics : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        ``slice, first_year, last_year, papers_in_slice, topic_id, region, papers, share``.
    """
    import pandas as pd

    regions = chosen_topics(topics, levels=(1,)).sort_values("topic_id")
    ids = regions["topic_id"].to_numpy(dtype=np.int64)
    n_slices = len(edges) - 1
    place = pd.Index(ids).get_indexer(np.asarray(topic_id))
    counted = (slice_of >= 0) & (place >= 0)
    cells = np.bincount(
        slice_of[counted] * len(ids) + place[counted], minlength=n_slices * len(ids)
    )
    totals = np.bincount(slice_of[slice_of >= 0], minlength=n_slices)
    number = np.repeat(np.arange(n_slices), len(ids))
    firsts, lasts = np.asarray(edges[:-1]), np.asarray(edges[1:]) - 1
    return pd.DataFrame(
        {
            "slice": number + 1,
            "first_year": firsts[number],
            "last_year": lasts[number],
            "papers_in_slice": totals[number],
            "topic_id": np.tile(ids, n_slices),
            "region": np.tile(regions["label"].astype(str).to_numpy(), n_slices),
            "papers": cells,
            "share": cells / np.maximum(totals[number], 1),
        }
    )


def _checked(edges: Sequence[int]) -> list[int]:
    whole = [int(edge) for edge in edges]
    rising = all(a < b for a, b in pairwise(whole))
    if len(whole) < 2 or not rising or any(a != b for a, b in zip(whole, edges, strict=True)):
        raise InputError(
            f"The edges of time slices must be rising years, two at least, not {list(edges)}; "
            "for example [2000, 2010, 2020, 2027]."
        )
    if len(whole) > _MOST_SLICES + 1:
        raise InputError(
            f"{len(whole) - 1} time slices do not fit on a page; give at most {_MOST_SLICES}."
        )
    return whole


def _draw(
    page: ChartPage,
    x: Floats,
    y: Floats,
    slice_of: Ints,
    edges: Sequence[int],
    years: Years,
    *,
    topics: pd.DataFrame,
    raster_dpi: int,
) -> None:
    """Draw all slices: first counted and smoothed, then painted on common tones."""
    from landscape.figures.chart_page import frame_in
    from landscape.figures.small_maps import letter_few, paint

    inside = [slice_of == number for number in range(len(edges) - 1)]
    pitch = _HEADING * page.scale
    boxes = tile(page.room, len(inside), heading=pitch, gap=8 * page.scale)
    frames = [frame_in(box, x, y) for box in boxes]
    pictures = smoothed_slices(frames, x, y, inside, raster_dpi=raster_dpi)
    names = chosen_topics(topics, levels=(0,))
    for number, (frame, picture) in enumerate(zip(frames, pictures, strict=True)):
        axes = paint(page, frame, picture)
        n_papers = int(inside[number].sum())
        first, last = edges[number], edges[number + 1] - 1
        gaps = _gaps(years, first, last)
        heading = f"{first}" if first == last else f"{first}-{last}"
        left, _, right, top = frame.page
        date = page.write(
            heading, left, top + 3 * page.scale, weight="bold", size=8.5, gid="heading"
        )
        width = page.setter.extent(date.get_text(), size=8.5, weight="bold").width
        told = count(n_papers, "paper") + (f"; hardly covers {', '.join(gaps)}" if gaps else "")
        page.write(
            page.shortened(told, width=right - left - width - 5 * page.scale, size=7.5),
            left + width + 5 * page.scale, top + 3 * page.scale, size=7.5,
            colour=page.colours.accent if gaps else page.colours.faint, gid="heading",
        )  # fmt: skip
        if not n_papers or (len(gaps) and _all_gap(years, first, last)):
            _hatch_map(page, axes)
        letter_few(page, frame, names, most=_NAMES_PER_SLICE, size=6.2)


def smoothed_slices(
    frames: list[Frame], x: Floats, y: Floats, inside: list[NDArray[np.bool_]], *, raster_dpi: int
) -> list[Grid]:
    """Ramp position of each slice: its share of papers per pixel, one kernel and scale for all.

    Parameters
    ----------
    frames : list of Frame
        Of one size, one a slice.
    x, y : ndarray of float, shape (n_papers,)
    inside : list of ndarray of bool, shape (n_papers,)
        Papers of each slice.
    raster_dpi : int

    Returns
    -------
    list of ndarray of float32
        0 to 1, row 0 the lowest.
    """
    from scipy.ndimage import gaussian_filter

    from landscape.figures.small_maps import count_in, fixed_tones

    counts = [
        count_in(frame, x[which], y[which], raster_dpi=raster_dpi)
        for frame, which in zip(frames, inside, strict=True)
    ]
    drawn = [which.sum() for which in inside if which.any()]
    fewest = float(np.median(drawn))
    # Scott's rule in two dimensions (Scott 1992), by the papers of a middling slice; in pixels.
    side = min(counts[0].shape)
    sigma = float(np.clip(side * 0.09 * fewest ** (-1 / 6), 1.2, side / 12))
    shares = [
        gaussian_filter(grid, sigma, mode="constant") * np.float32(fewest / max(1.0, grid.sum()))
        for grid in counts
    ]
    weights = [grid * np.float32(fewest / max(1.0, grid.sum())) for grid in counts]
    tones = fixed_tones(shares, weights)
    return [np.asarray(tones.position(share), dtype=np.float32) for share in shares]


def tile(room: Box, n: int, *, heading: float, gap: float) -> list[Box]:
    """Cut a room into n equal boxes, row by row from the upper left, with headings above.

    Parameters
    ----------
    room : (float, float, float, float)
        ``left, bottom, right, top`` in points.
    n : int
    heading : float
        Height kept free above each box.
    gap : float
        Between boxes.

    Returns
    -------
    list of (float, float, float, float)

    Examples
    --------
    >>> tile((0, 0, 210, 100), 2, heading=10, gap=10)
    [(0.0, 0.0, 100.0, 90.0), (110.0, 0.0, 210.0, 90.0)]
    """
    left, bottom, right, top = room
    width, height = right - left, top - bottom

    def cost(columns: int) -> float:
        """How far boxes are from a window of 5 to 4, and how many stay empty."""
        rows = math.ceil(n / columns)
        shape = ((width / columns) - gap) / max(1.0, height / rows - heading - gap)
        return abs(math.log(max(shape, 1e-3) / 1.25)) + 0.35 * (rows * columns - n) / n

    columns = min(range(1, n + 1), key=cost)
    rows = math.ceil(n / columns)
    across = (width - gap * (columns - 1)) / columns
    up = (height - gap * (rows - 1)) / rows
    boxes = []
    for number in range(n):
        row, column = divmod(number, columns)
        x0 = left + column * (across + gap)
        y1 = top - row * (up + gap)
        boxes.append((float(x0), float(y1 - up), float(x0 + across), float(y1 - heading)))
    return boxes


def _gaps(years: Years, first: int, last: int) -> list[str]:
    held = (years.years >= first) & (years.years <= last) & ~years.covered
    return format_spans(years.years[held])


def _all_gap(years: Years, first: int, last: int) -> bool:
    held = (years.years >= first) & (years.years <= last)
    return bool(not years.covered[held].any())


def _hatch_map(page: ChartPage, axes: Axes) -> None:
    from matplotlib.patches import Rectangle

    whole = Rectangle((0, 0), 1, 1, transform=axes.transAxes, facecolor="none", hatch="////")
    whole.set(edgecolor=page.colours.faint, linewidth=0, alpha=0.5, gid="not covered")
    axes.add_patch(whole)


def _sentences(bounds: str, years: Years) -> list[str]:
    return [
        f"The map in slices of time. {bounds}",
        "Axes and tones are the same in all slices, and the tone is the share of a slice's own "
        "papers on that place: growth of the corpus does not darken it.",
        "Near means similar; directions, and distances between far regions, mean nothing.",
        *years.warnings,
    ]


def _alt_text(table: pd.DataFrame, sentences: Sequence[str], *, generated: bool) -> str:
    told = []
    for _, part in table.groupby("slice"):
        row = part.iloc[0]
        largest = part.sort_values("papers", ascending=False).head(3)
        named = ", ".join(
            f"{clean_name(region)} ({share:.0%})"
            for region, share in zip(largest["region"], largest["share"], strict=True)
        )
        told.append(
            f"{row.first_year} to {row.last_year}: {count(row.papers_in_slice, 'paper')}, "
            f"most in {named}"
        )
    warning = f"{GENERATED} " if generated else ""
    return f"{warning}{' '.join(sentences)} {'; '.join(told)}."
