"""Two selections of papers against each other: which regions each is over-represented in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED
from landscape.figures.chart_page import SMALL, frame_in, map_box, sentences_of
from landscape.figures.colours import Theme, quiet, theme
from landscape.figures.density_map import positions
from landscape.figures.names import clean_name
from landscape.plural import count

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures.chart_page import Box, ChartPage
    from landscape.figures.sheet import Sheet
    from landscape.overlays._analysis import Analysis

SIZE_INCHES = (11.0, 8.5)
_ROW, _ROOMY_ROW = 13.0, 20.0  # points
_MOST_ROWS = 30
_WIDEST = 64.0  # odds ratios beyond are cut at the rim
_NAMES_ON_MAP = 14


def compare(
    atlas: Any,
    a: Any,
    b: Any,
    *,
    q: float = 0.05,
    n_regions: int = 24,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    **options: Any,
) -> Sheet:
    """Draw where one selection of papers is over-represented against another.

    Left, the regions that differ most surely, by their odds ratio with 95% intervals; right, where
    they lie on the map. Filled symbols differ at the false discovery rate `q`.

    Parameters
    ----------
    atlas : Atlas
    a, b : str or array_like
        Two filters such as ``"year:2000-2010"``, or two arrays of rows.
    q : float, default 0.05
        False discovery rate over all regions.
    n_regions : int, default 24
        Regions in the ranking.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    title : str, optional
        Heading above the charts.
    **options
        Passed on to `landscape.overlays.compare`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the comparison.

    Raises
    ------
    InputError
        For an empty selection, two that are the same, or too small a page.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.compare(ls.open("my.atlas"), "..2010", "2011..")  # doctest: +SKIP
    """
    from landscape.overlays.trends import compare as find_differences

    found = find_differences(atlas, a, b, q=q, **options)
    return draw_comparison(
        atlas, found, n_regions=n_regions, colours=colours, size_inches=size_inches, title=title
    )


def draw_comparison(
    atlas: Any,
    analysis: Analysis,
    *,
    n_regions: int = 24,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
) -> Sheet:
    """Draw an analysis of two selections, see `compare`.

    Parameters
    ----------
    atlas : Atlas
        Its ``map`` and ``topics``.
    analysis : Analysis
        Its table has ``topic_id, label, a_papers, b_papers, odds_ratio, odds_ratio_low,
        odds_ratio_high, p, over_in``; ``tables["selections"]`` has ``name`` and ``compared`` of a
        and b.
    n_regions, colours, size_inches, title
        As for `compare`.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        If no region holds papers of either.
    """
    import matplotlib as mpl

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.sheet import SETTINGS

    tested = analysis.table[analysis.table["p"].notna()]
    if tested.empty:
        raise InputError("No region holds papers of these selections; give wider ones.")
    generated = bool(analysis.bounds.get("generated"))
    sentences = [
        *sentences_of(analysis),
        "Odds ratios above 1 mean over-represented in a, below 1 in b; bars are 95% intervals, "
        "filled symbols differ at the false discovery rate. Near means similar on the map; "
        "directions mean nothing.",
    ]
    with mpl.rc_context(SETTINGS):
        page = ChartPage(size_inches, quiet(theme(colours)), title=title)
        page.reserve_caption(sentences, generated=generated)
        left, bottom, right, top = page.room
        middle = left + 0.56 * (right - left)
        n = int(np.clip(min(n_regions, (top - bottom - 60) / (_ROW * page.scale)), 1, _MOST_ROWS))
        shown = _most_different(tested, n=n)
        _draw_forest(page, (left, bottom, middle - 12 * page.scale, top), shown, analysis)
        foot = _draw_map(page, (middle, bottom, right, top - 18 * page.scale), shown, atlas)
        if foot - bottom > 130 * page.scale:
            _draw_shares(page, (middle, bottom, right, foot - 16 * page.scale), tested)
    sheet = page.sheet
    sheet.table = analysis.table
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _alt_text(shown, sentences, generated=generated)
    return sheet


def _most_different(tested: pd.DataFrame, *, n: int) -> pd.DataFrame:
    """The regions that differ most surely, in the order of their odds ratios."""
    surest = tested.sort_values(["p", "odds_ratio"], ascending=[True, False]).head(n)
    return surest.sort_values("odds_ratio", ascending=False, ignore_index=True)


def _colour(row: Any, colours: Theme) -> str:
    return {"a": colours.found, "b": colours.apart}.get(row.over_in, colours.faint)


def _draw_forest(page: ChartPage, box: Box, shown: pd.DataFrame, analysis: Analysis) -> None:
    """Draw names, counts, and odds ratios with their intervals, one region a row."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    ends = [left + share * (right - left) for share in (0.42, 0.50, 0.58)]
    y = _write_selections(page, (left, right), top, analysis)
    for x, words in zip(ends[1:], ("a", "b"), strict=True):
        colour = colours.found if words == "a" else colours.apart
        page.write(words, x, y - 9 * scale, size=SMALL, weight="bold", align="right", colour=colour)
    page.write("papers in", ends[0], y - 9 * scale, size=SMALL, align="right", colour=colours.faint)
    upper = y - 13 * scale
    pitch = min(_ROOMY_ROW * scale, (upper - bottom - 30 * scale) / len(shown))
    axes = page.axes(
        (ends[2] + 6 * scale, upper - pitch * len(shown), right, upper), gid="odds ratios"
    )
    for place, row in enumerate(shown.itertuples()):
        colour = _colour(row, colours)
        baseline = upper - (place + 0.5) * pitch - 2.5 * scale
        name = page.shortened(row.label, width=ends[0] - left, size=7.5)
        page.write(name, ends[0], baseline, size=7.5, align="right", colour=colour, gid="region")
        for x, n_papers in zip(ends[1:], (row.a_papers, row.b_papers), strict=True):
            page.write(f"{n_papers:,}", x, baseline, size=SMALL, align="right")
        low, middle, high = np.clip(
            [row.odds_ratio_low, row.odds_ratio, row.odds_ratio_high], 1 / _WIDEST, _WIDEST
        )
        axes.plot([low, high], [place] * 2, color=colour, lw=1.1 * scale, gid="interval")
        axes.plot(
            middle, place, "o", color=colour, ms=3.8 * scale,
            markerfacecolor=colour if row.over_in else colours.page,
        )  # fmt: skip
    axes.axvline(1, color=colours.faint, lw=0.6 * scale, zorder=0)
    axes.set_xscale("log", base=2)
    reach = _reach(shown)
    axes.set(ylim=(len(shown) - 0.5, -0.5), yticks=[], xlim=(1 / reach, reach))
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}" if value >= 1 else _part(value))
    axes.xaxis.set_minor_locator(_no_ticks())
    foot = upper - pitch * len(shown) - 21 * scale
    middle_x = (ends[2] + 6 * scale + right) / 2
    page.write("odds ratio", middle_x, foot, size=SMALL, align="center", colour=colours.faint)


def _write_selections(
    page: ChartPage, sides: tuple[float, float], top: float, analysis: Analysis
) -> float:
    """Say what a and b are, and return where that ends."""
    left, right = sides
    y = top
    selections = analysis.tables["selections"]
    for row, colour in zip(
        selections.itertuples(), (page.colours.found, page.colours.apart), strict=True
    ):
        y -= 11 * page.scale
        words = f"{row.selection}: {row.name} ({count(row.compared, 'paper')})"
        shown = page.shortened(words, width=right - left, size=8.5, weight="bold")
        page.write(shown, left, y, size=8.5, weight="bold", colour=colour, gid="heading")
    return y - 4 * page.scale


def _reach(shown: pd.DataFrame) -> float:
    """Odds ratio at the rim: holds all dots, and bars that are not far longer."""
    logs = np.abs(np.log2(shown[["odds_ratio_low", "odds_ratio", "odds_ratio_high"]].to_numpy()))
    wanted = max(float(logs[:, 1].max()) + 0.3, float(np.quantile(logs, 0.9)))
    return float(2 ** min(wanted, np.log2(_WIDEST)))


def _part(value: float) -> str:
    return f"1/{1 / value:g}"


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _draw_map(page: ChartPage, box: Box, shown: pd.DataFrame, atlas: Any) -> float:
    """Mark the regions that differ on the map, and return where it ends, in points.

    Triangles point up for a and down for b.
    """
    from landscape.figures.small_maps import letter_few, shade

    scale, colours = page.scale, page.colours
    x, y = positions(atlas.map["x"], atlas.map["y"])
    frame = frame_in(map_box(box, x, y), x, y)
    axes = shade(page, frame, x, y)
    differ = shown[shown["over_in"] != ""].merge(atlas.topics[["topic_id", "x", "y"]])
    keys = (("a", "^", colours.found), ("b", "v", colours.apart))
    for side, marker, colour in keys:
        part = differ[differ["over_in"] == side]
        axes.plot(
            part["x"], part["y"], marker, color=colour, ms=6 * scale, gid=f"over in {side}",
            markeredgecolor=colours.halo, markeredgewidth=0.6 * scale,
        )  # fmt: skip
    at = frame.to_page(differ["x"], differ["y"])
    half = 4 * scale
    surest = differ.sort_values("p")
    letter_few(
        page, frame, surest, most=_NAMES_ON_MAP, reserved=np.hstack([at - half, at + half]), size=7,
        reach=9 * scale,
    )  # fmt: skip
    across = box[0]
    for (_, _, colour), words in zip(keys, ("▲ more in a", "▼ more in b"), strict=True):
        page.write(words, across, box[3] + 5 * scale, size=SMALL + 1, colour=colour, gid="key")
        across += page.setter.extent(words, size=SMALL + 1).width + 10 * scale
    return frame.page[1]


def _draw_shares(page: ChartPage, box: Box, tested: pd.DataFrame) -> None:
    """Draw the share of every region in b against that in a."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    page.write("Share of papers of each region", left, top - 8 * scale, size=8.5, weight="bold")
    side = min(right - left - 40 * scale, top - bottom - 40 * scale)
    inner = (
        left + 34 * scale,
        bottom + 24 * scale,
        left + 34 * scale + 1.6 * side,
        top - 14 * scale,
    )
    axes = page.axes((*inner[:2], min(inner[2], right), inner[3]), gid="shares")
    least = 0.5 / max(float(tested["a_papers"].sum()), float(tested["b_papers"].sum()), 1.0)
    for row in tested.itertuples():
        axes.plot(
            100 * max(row.a_share, least), 100 * max(row.b_share, least), "o",
            color=_colour(row, colours), ms=3.2 * scale,
            markerfacecolor=_colour(row, colours) if row.over_in else colours.page,
        )  # fmt: skip
    shares = 100 * np.maximum(tested[["a_share", "b_share"]].to_numpy(dtype=float), least)
    limits = float(shares.min()) / 1.3, float(shares.max()) * 1.3
    axes.plot(limits, limits, color=colours.faint, lw=0.6 * scale, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}%")
        axis.set_minor_locator(_no_ticks())
    foot = bottom + 4 * scale
    middle = (inner[0] + min(inner[2], right)) / 2
    page.write("in a", middle, foot, size=SMALL, align="center", colour=colours.found)
    page.write(
        "in b", left, (inner[1] + inner[3]) / 2, size=SMALL, colour=colours.apart
    )  # fmt: skip


def _alt_text(shown: pd.DataFrame, sentences: Sequence[str], *, generated: bool) -> str:
    def told(side: str, rows: pd.DataFrame) -> str:
        named = ", ".join(
            f"{clean_name(row.label)} (odds ratio {row.odds_ratio:.2g}, "
            f"{row.a_papers:,} against {row.b_papers:,} papers)"
            for row in rows.head(6).itertuples()
        )
        return f"Over-represented in {side}: {named or 'none'}."

    a = shown[shown["over_in"] == "a"]
    b = shown[shown["over_in"] == "b"].iloc[::-1]
    warning = f"{GENERATED} " if generated else ""
    return (
        f"{warning}Chart of two selections compared. {' '.join(sentences)} "
        f"{told('a', a)} {told('b', b)}"
    )
