"""Emerging and fading topics: their yearly change, ranked, and their shares in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED
from landscape.figures.chart_page import SMALL, sentences_of, uncovered_spans
from landscape.figures.colours import Theme, theme
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from landscape.figures.chart_page import Box, ChartPage
    from landscape.figures.sheet import Sheet
    from landscape.overlays._analysis import Analysis

SIZE_INCHES = (11.0, 8.5)
_MOST_ROWS = 30
_MOST_PANELS = 12
_HEADING = 12.0  # points
_ROW, _ROOMY_ROW = 13.0, 20.0


def trends(
    atlas: Any,
    *,
    since: int | None = None,
    until: int | None = None,
    n_topics: int = 24,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
    **options: Any,
) -> Sheet:
    """Draw which topics emerge and which fade, relative to the whole corpus.

    Left, topics ranked by how their share of all papers changes a year, with 95% intervals; right,
    the yearly shares of the steepest. Years that the corpus does not cover are hatched.

    Parameters
    ----------
    atlas : Atlas
    since, until : int, optional
        First and last year.
    n_topics : int, default 24
        Topics in the ranking: half of them the steepest risers, half the steepest fallers.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    title : str, optional
        Heading above the charts.
    **options
        Passed on to `landscape.overlays.trends`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the trends.

    Raises
    ------
    InputError
        If there is no topic, for a period with no papers, or for too small a page.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.trends(ls.open("my.atlas"), since=2000)  # doctest: +SKIP
    """
    from landscape.overlays.trends import trends as find_trends

    found = find_trends(atlas, since=since, until=until, **options)
    return draw_trends(
        found, n_topics=n_topics, colours=colours, size_inches=size_inches, title=title
    )


def draw_trends(
    analysis: Analysis,
    *,
    n_topics: int = 24,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
) -> Sheet:
    """Draw an analysis of trends, see `trends`.

    Parameters
    ----------
    analysis : Analysis
        Its table has ``topic_id, label, papers, slope, slope_low, slope_high`` (change of the log
        odds a year) and ``class``; ``tables["years"]`` has ``topic_id, year, share, share_low,
        share_high, covered``.
    n_topics, colours, size_inches, title
        As for `trends`.

    Returns
    -------
    Sheet

    Raises
    ------
    InputError
        If the table has no topic.
    """
    import matplotlib as mpl

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.sheet import SETTINGS

    if not analysis.table["slope"].notna().any():
        raise InputError(
            "No topic has papers in enough years to have a trend; give a longer period."
        )
    sentences = [
        *sentences_of(analysis),
        "Change is that of a topic's share of all papers of a year; bars and bands are 95% "
        "intervals, thin lines the fit, dotted lines changes of course. Shares have scales of "
        "their own, each from zero; years that the corpus does not cover are hatched.",
    ]
    generated = bool(analysis.bounds.get("generated"))
    with mpl.rc_context(SETTINGS):
        page = ChartPage(size_inches, theme(colours), title=title)
        page.reserve_caption(sentences, generated=generated)
        left, bottom, right, top = page.room
        middle = left + 0.47 * (right - left)
        shown = _ranked(analysis.table, n=_fitting(n_topics, top - bottom, page.scale))
        _draw_ranking(page, (left, bottom, middle - 14 * page.scale, top), shown)
        _draw_panels(page, (middle + 4 * page.scale, bottom, right, top), shown, analysis)
    sheet = page.sheet
    sheet.table = analysis.table
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _alt_text(shown, sentences, generated=generated)
    return sheet


def colour_of(kind: Any, colours: Theme) -> str:
    """Colour of a class of trends: blue for emerging, orange for fading, grey for neither."""
    return {"emerging": colours.found, "fading": colours.apart}.get(str(kind), colours.faint)


def _fitting(n_topics: int, height: float, scale: float) -> int:
    return int(np.clip(min(n_topics, (height - 40 * scale) / (_ROW * scale)), 2, _MOST_ROWS))


def _ranked(table: pd.DataFrame, *, n: int) -> pd.DataFrame:
    """The steepest risers and fallers, those that are sure first, in the order of their slopes."""
    known = table[table["slope"].notna()].copy()
    sure = {"emerging": 0, "fading": 0}
    known["doubt"] = [sure.get(str(kind), 1) for kind in known["class"]]
    rising = known[known["slope"] >= 0].sort_values(["doubt", "slope"], ascending=[True, False])
    falling = known[known["slope"] < 0].sort_values(["doubt", "slope"])
    n_rising = min(len(rising), max(n - n // 2, n - len(falling)))
    import pandas as pd

    chosen = pd.concat([rising.head(n_rising), falling.head(n - n_rising)])
    return chosen.sort_values("slope", ascending=False).reset_index(drop=True)


def _percent_a_year(slope: Any) -> Any:
    """Relative change a year in per cent, of a change in log odds (small shares)."""
    return 100 * np.expm1(np.clip(np.asarray(slope, dtype=float), -3, 3))


def _draw_ranking(page: ChartPage, box: Box, shown: pd.DataFrame) -> None:
    """Draw a dot and a bar for each topic, its name to the left."""
    left, bottom, right, top = box
    scale = page.scale
    names = left + 0.52 * (right - left)
    page.write("Change of share a year", left, top - 9 * scale, weight="bold", size=9)
    pitch = min(_ROOMY_ROW * scale, (top - bottom - 40 * scale) / len(shown))
    upper = top - 18 * scale
    axes = page.axes((names, upper - pitch * len(shown), right, upper), gid="slopes")
    rows = np.arange(len(shown))
    middle, low, high = (
        _percent_a_year(shown[name]) for name in ("slope", "slope_low", "slope_high")
    )
    for row in rows:
        colour = colour_of(shown["class"].iloc[row], page.colours)
        axes.plot([low[row], high[row]], [row, row], color=colour, lw=1.1 * scale, gid="interval")
        axes.plot(
            middle[row], row, "o", color=colour, ms=3.6 * scale,
            markerfacecolor=colour if colour != page.colours.faint else page.colours.page,
        )  # fmt: skip
        label = page.shortened(
            shown["label"].iloc[row], width=names - left - 6 * scale, size=7.5
        )  # fmt: skip
        y = upper - (row + 0.5) * pitch - 2.5 * scale
        page.write(label, names - 4 * scale, y, size=7.5, align="right", colour=colour, gid="topic")
    limits = _sensible_limits(middle, low, high)
    axes.axvline(0, color=page.colours.faint, lw=0.6 * scale, zorder=0)
    axes.set(ylim=(len(shown) - 0.5, -0.5), yticks=[], xlim=limits)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+.0f}%" if value else "0")
    axes.xaxis.set_major_locator(_few_ticks(5))
    foot = upper - pitch * len(shown) - 22 * scale
    _key(page, left, max(bottom, foot - 4 * scale))


def _key(page: ChartPage, left: float, y: float) -> None:
    """Say what the colours mean."""
    x = left
    for kind, words in (("emerging", "● emerging"), ("fading", "● fading"), ("", "○ neither")):
        colour = colour_of(kind, page.colours)
        page.write(words, x, y, size=SMALL, colour=colour, gid="key")
        x += page.setter.extent(words, size=SMALL).width + 8 * page.scale


def _sensible_limits(middle: Any, low: Any, high: Any) -> tuple[float, float]:
    """Range that holds all dots and zero, and bars unless they are far longer than that."""
    least, most = min(0.0, float(np.min(middle))), max(0.0, float(np.max(middle)))
    lower = max(min(least, float(np.min(low))), 1.8 * least - 5)
    upper = min(max(most, float(np.max(high))), 1.8 * most + 5)
    border = 0.03 * (upper - lower)
    return lower - border, upper + border


def _few_ticks(n: int) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(n, steps=[1, 2, 5, 10])


def _draw_panels(page: ChartPage, box: Box, shown: pd.DataFrame, analysis: Analysis) -> None:
    """Draw the yearly shares of the steepest topics as small multiples."""
    from landscape.figures.slice_maps import tile

    years = analysis.tables["years"]
    steep = _steepest(shown, _MOST_PANELS)
    scale = page.scale
    boxes = tile(box, len(steep), heading=_HEADING * scale, gap=16 * scale)
    for row, cell in zip(steep.itertuples(), boxes, strict=True):
        left, bottom, right, top = cell
        kind = str(steep.loc[row.Index, "class"])
        colour = colour_of(kind, page.colours)
        heading = page.shortened(row.label, width=right - left, size=7.5, weight="bold")
        page.write(
            heading, left, top + 3 * scale, size=7.5, weight="bold", colour=colour, gid="heading"
        )
        axes = page.axes((left + 16 * scale, bottom + 4 * scale, right, top - 2 * scale))
        draw_shares(page, axes, years[years["topic_id"] == row.topic_id], colour=colour)
        changes = analysis.tables.get("changes")
        if changes is not None and len(changes):
            for year in changes.loc[changes["topic_id"] == row.topic_id, "year"]:
                axes.axvline(
                    float(year) - 0.5, color=page.colours.ink, lw=0.6 * scale, ls=":", gid="change"
                )


def _steepest(shown: pd.DataFrame, n: int) -> pd.DataFrame:
    """The topics of which the trend is surest, then steepest, in the order of their slopes."""
    order = shown.assign(steepness=shown["slope"].abs())
    first = order.sort_values(["doubt", "steepness"], ascending=[True, False]).head(n)
    return first.sort_values("slope", ascending=False)


def draw_shares(page: ChartPage, axes: Axes, years: pd.DataFrame, *, colour: str) -> None:
    """Draw shares by year with their intervals; years not covered are hatched, not joined.

    Parameters
    ----------
    page : ChartPage
    axes : matplotlib.axes.Axes
    years : pandas.DataFrame
        ``year, share, share_low, share_high, covered``, one row a year.
    colour : str
    """
    ordered = years.sort_values("year")
    at = ordered["year"].to_numpy(dtype=float)
    covered = ordered["covered"].to_numpy(dtype=bool)
    share, low, high = (
        np.where(covered, 100 * ordered[name].to_numpy(dtype=float), np.nan)
        for name in ("share", "share_low", "share_high")
    )
    axes.fill_between(at, low, high, color=colour, alpha=0.22, linewidth=0, gid="interval")
    axes.plot(at, share, color=colour, lw=1.1 * page.scale, gid="share")
    # A covered year between two gaps has no line to be seen by.
    axes.plot(at, share, ".", color=colour, ms=2.2 * page.scale, gid="share")
    if "fitted" in ordered:
        fitted = 100 * ordered["fitted"].to_numpy(dtype=float)
        axes.plot(at, fitted, color=page.colours.ink, lw=0.6 * page.scale, gid="fitted")
    page.hatch(axes, uncovered_spans(at, covered))
    top = np.nanmax(np.append(share, 1e-6))
    high_enough = np.nanquantile(np.append(high, top), 0.9)
    axes.set(xlim=(at.min() - 0.5, at.max() + 0.5), ylim=(0, 1.08 * max(top, high_enough)))
    axes.xaxis.set_major_locator(_few_ticks(3))
    axes.yaxis.set_major_locator(_few_ticks(3))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")


def _alt_text(shown: pd.DataFrame, sentences: Sequence[str], *, generated: bool) -> str:
    def told(kind: str, rows: pd.DataFrame) -> str:
        named = ", ".join(
            f"{clean_name(row.label)} ({_percent_a_year(row.slope):+.0f}% a year)"
            for row in rows.head(6).itertuples()
        )
        return f"{kind}: {named}." if named else f"{kind}: none."

    emerging = shown[shown["class"] == "emerging"]
    fading = shown[shown["class"] == "fading"].iloc[::-1]
    warning = f"{GENERATED} " if generated else ""
    return (
        f"{warning}Chart of topics in time. {' '.join(sentences)} "
        f"{told('Emerging', emerging)} {told('Fading', fading)}"
    )
