"""The path of an author's papers over the map and through its regions in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.caption import GENERATED, place_in_words
from landscape.figures.chart_page import SMALL, frame_in, map_box, sentences_of
from landscape.figures.colours import oklab_to_srgb, quiet, theme
from landscape.figures.density_map import positions
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.figures.chart_page import Box, ChartPage
    from landscape.figures.sheet import Sheet
    from landscape.overlays._analysis import Analysis

    Floats = NDArray[np.float64]

SIZE_INCHES = (11.0, 8.5)
_MOST_REGIONS = 16
_ROW, _ROOMY_ROW = 12.0, 22.0  # points
_BAR = (90.0, 6.0)


def author(
    atlas: Any,
    name: str,
    *,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    **options: Any,
) -> Sheet:
    """Draw an author's papers over the map and through its regions in time.

    Left, the papers on the map, coloured by year, a line leading from period to period; right,
    when the author wrote in which region.

    Parameters
    ----------
    atlas : Atlas
    name : str
        Such as ``"Rubin, Vera"``. Namesakes are taken together, as the caption says.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    title : str, optional
        Heading above the map.
    **options
        Passed on to `landscape.overlays.author_path`: ``group``, ``period_years``, ...

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the papers.

    Raises
    ------
    InputError
        If no paper is by such an author.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.author(ls.open("my.atlas"), "Rubin, Vera")  # doctest: +SKIP
    """
    from landscape.overlays.trends import author_path

    found = author_path(atlas, name, **options)
    return draw_author(atlas, found, colours=colours, size_inches=size_inches, title=title)


def draw_author(
    atlas: Any,
    analysis: Analysis,
    *,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
) -> Sheet:
    """Draw an analysis of an author's papers, see `author`.

    Parameters
    ----------
    atlas : Atlas
        Its ``map`` and ``topics``.
    analysis : Analysis
        Its table has ``title, year, x, y, topic_id, label``, one row a paper in the order of time;
        ``tables["periods"]``, if there, ``x`` and ``y`` of each period.
    colours, size_inches, title
        As for `author`.

    Returns
    -------
    Sheet
    """
    import matplotlib as mpl

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.sheet import SETTINGS

    papers = analysis.table
    generated = bool(analysis.bounds.get("generated"))
    sentences = [
        *sentences_of(analysis),
        "The line joins the middles of the periods in the order of time. Near means similar on "
        "the map; directions, and distances between far regions, mean nothing.",
    ]
    with mpl.rc_context(SETTINGS):
        page = ChartPage(size_inches, quiet(theme(colours)), title=title)
        page.reserve_caption(sentences, generated=generated)
        left, bottom, right, top = page.room
        middle = left + 0.6 * (right - left)
        tints = year_tints(papers["year"].to_numpy(dtype=float), dark=colours == "dark")
        box = _draw_map(
            page, (left, bottom, middle - 10 * page.scale, top - 14 * page.scale), atlas, analysis,
            tints,
        )  # fmt: skip
        _draw_regions(page, (middle + 4 * page.scale, bottom, right, top), papers, tints)
    sheet = page.sheet
    sheet.table = papers
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _alt_text(papers, sentences, box, generated=generated)
    return sheet


def year_tints(years: Floats, *, dark: bool = False) -> Floats:
    """Colours from the first year to the last: yellow-brown to violet-blue, even in lightness.

    Parameters
    ----------
    years : ndarray of float, shape (n,)
    dark : bool, default False
        For a dark page.

    Returns
    -------
    ndarray of float, shape (n, 3)
        sRGB, 0 to 1.

    Examples
    --------
    >>> year_tints(np.array([2000.0, 2020.0])).shape
    (2, 3)
    """
    span = years.max() - years.min()
    along = (years - years.min()) / span if span else np.ones(len(years))
    lightness = (0.9 - 0.25 * along) if dark else (0.72 - 0.34 * along)
    # Through grey in a straight line from yellow to blue: told apart with any colour vision.
    return oklab_to_srgb(
        np.column_stack([lightness, 0.02 + 0.02 * along, 0.13 - 0.28 * along])
    )  # fmt: skip


def _draw_map(
    page: ChartPage, box: Box, atlas: Any, analysis: Analysis, tints: Floats
) -> tuple[float, float, float, float]:
    """Draw papers and path on the map, and return the window it shows."""
    from landscape.figures.small_maps import letter_few, shade

    papers, scale, colours = analysis.table, page.scale, page.colours
    x, y = positions(atlas.map["x"], atlas.map["y"])
    left, bottom, right, top = box
    frame = frame_in(map_box((left, bottom + 16 * scale, right, top), x, y), x, y)
    axes = shade(page, frame, x, y)
    periods = analysis.tables.get("periods")
    if periods is not None and {"x", "y"} <= set(periods.columns) and len(periods) > 1:
        axes.plot(
            periods["x"], periods["y"], color=colours.ink, lw=0.8 * scale, gid="path", zorder=2
        )
    axes.scatter(  # the last first, so that the many late papers do not hide the early ones
        papers["x"][::-1], papers["y"][::-1], s=(4.2 * scale) ** 2, c=tints[::-1], zorder=3,
        gid="papers",
        edgecolors=colours.halo, linewidths=0.5 * scale,
    )  # fmt: skip
    at = frame.to_page(papers["x"], papers["y"])
    half = 2.5 * scale
    wanted = papers.loc[papers["topic_id"] >= 0, "topic_id"].value_counts()
    topics = atlas.topics.set_index("topic_id", drop=False)
    named = topics.loc[[topic for topic in wanted.index if topic in topics.index]]
    letter_few(
        page, frame, named, most=14, size=7, reach=14 * scale,
        reserved=np.hstack([at - half, at + half]),
    )  # fmt: skip
    _year_bar(page, left, frame.page[1] - 12 * scale, papers)
    return frame.box


def _year_bar(page: ChartPage, left: float, y: float, papers: pd.DataFrame) -> None:
    """Draw the key of the years."""
    scale = page.scale
    first, last = int(papers["year"].min()), int(papers["year"].max())
    page.write(str(first), left, y, size=SMALL, colour=page.colours.faint, gid="key")
    if first == last:
        return
    x = left + page.setter.extent(str(first), size=SMALL).width + 3 * scale
    width, height = (length * scale for length in _BAR)
    axes = page.axes((x, y, x + width, y + height), gid="key")
    tints = year_tints(np.linspace(first, last, 64), dark=page.colours.name == "dark")
    axes.imshow(tints[None], aspect="auto", extent=(0, 1, 0, 1))
    axes.set_axis_off()
    page.write(
        str(last), x + width + 3 * scale, y, size=SMALL, colour=page.colours.faint, gid="key"
    )  # fmt: skip


def _draw_regions(page: ChartPage, box: Box, papers: pd.DataFrame, tints: Floats) -> None:
    """Draw a row of dots for each region the author wrote in, the first one on top."""
    left, bottom, right, top = box
    scale = page.scale
    page.write("Regions in time", left, top - 9 * scale, size=9, weight="bold", gid="heading")
    label = papers["label"].where(papers["topic_id"] >= 0, "outside every region")
    counts = label.value_counts()
    fitting = int((top - bottom - 40 * scale) / (_ROW * scale))
    kept = list(counts.index[: max(1, min(_MOST_REGIONS, fitting))])
    first = papers.assign(label=label).groupby("label")["year"].min()
    rows = sorted(kept, key=lambda one: (first[one], one))
    pitch = min(_ROOMY_ROW * scale, (top - bottom - 40 * scale) / len(rows))
    names, upper = left + 0.42 * (right - left), top - 16 * scale
    axes = page.axes((names, upper - pitch * len(rows), right, upper), gid="regions")
    years = papers["year"].to_numpy(dtype=float)
    for place, region in enumerate(rows):
        of = (label == region).to_numpy()
        axes.plot(
            [years[of].min(), years[of].max()], [place] * 2, lw=0.7 * scale,
            color=page.colours.faint, zorder=1,
        )  # fmt: skip
        each, n = np.unique(years[of], return_counts=True)
        tint = [tints[np.flatnonzero(years == year)[0]] for year in each]
        axes.scatter(each, np.full(len(each), place), s=(4 * scale) ** 2 * n, c=tint, zorder=2)
        words = page.shortened(f"{region} ({of.sum()})", width=names - left - 8 * scale, size=7.5)
        page.write(
            words, names - 6 * scale, upper - (place + 0.5) * pitch - 2.5 * scale, size=7.5,
            align="right", gid="region",
        )  # fmt: skip
    pad = max(1.0, 0.04 * (years.max() - years.min()))
    axes.set(ylim=(len(rows) - 0.5, -0.5), yticks=[], xlim=(years.min() - pad, years.max() + pad))
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(_whole_years())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    if len(counts) > len(rows):
        rest = f"and {len(counts) - len(rows)} more regions"
        foot = upper - pitch * len(rows) - 22 * scale
        page.write(rest, left, foot, size=SMALL, colour=page.colours.faint)


def _whole_years() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5, integer=True)


def _alt_text(
    papers: pd.DataFrame,
    sentences: list[str],
    box: tuple[float, float, float, float],
    *,
    generated: bool,
) -> str:
    x0, y0, x1, y1 = box
    told = []
    for label, part in papers.groupby("label", sort=False):
        place = place_in_words(
            (part["x"].mean() - x0) / (x1 - x0), (part["y"].mean() - y0) / (y1 - y0)
        )
        years = f"{part['year'].min()} to {part['year'].max()}"
        told.append(
            f"{clean_name(label) or 'outside every region'} ({len(part)}, {years}, {place})"
        )
    warning = f"{GENERATED} " if generated else ""
    return (
        f"{warning}Map of an author's papers in time. {' '.join(sentences)} "
        f"In order: {'; '.join(told[:12])}."
    )
