"""Emerging and fading topics: their yearly change, ranked, and their shares in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures._caption import Caption, caption_of
from landscape.figures._colours import Theme, theme
from landscape.figures._labels import clean_name
from landscape.figures._page import SIZE_INCHES, SMALL, Page
from landscape.figures._scene import (
    Axis,
    Band,
    Box,
    Curve,
    Intervals,
    Panel,
    Points,
    Rule,
    Spans,
    ticks,
    uncovered_spans,
)
from landscape.figures._time_slices import tile

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures._matplotlib import Sheet
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Analysis

_MOST_ROWS, _MOST_PANELS = 30, 12
_HEADING, _ROW, _ROOMY_ROW = 12.0, 13.0, 20.0  # points
_HOW = (
    "Change is that of a topic's share of all papers of a year; bars and bands are 95% intervals, "
    "thin lines the fit, dotted lines changes of course.",
    "Shares have scales of their own, each from zero; years that the corpus does not cover are "
    "hatched.",
)


def trends(
    atlas: AtlasStore,
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
    atlas : AtlasStore
    since, until : int, optional
        First and last year.
    n_topics : int, default 24
        Topics in the ranking: half of them the steepest risers, half the steepest fallers.
    **options
        Passed on to `landscape.overlays.trends`.
    colours, size_inches, title
        As for `landscape.figures.heatmap`.

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
    """Draw an analysis of trends: ``slope`` (change of the log odds a year) and ``class``."""
    if not analysis.table["slope"].notna().any():
        raise InputError(
            "No topic has papers in enough years to have a trend; give a longer period."
        )
    caption = caption_of(analysis, *_HOW)
    page = Page(size_inches, theme(colours), caption, title=title, smallest=(4.0, 3.0))
    left, bottom, right, top = page.room
    middle = left + 0.47 * (right - left)
    shown = _ranked(analysis.table, n=_fitting(n_topics, top - bottom, page.scale))
    _draw_ranking(page, (left, bottom, middle - 14 * page.scale, top), shown)
    _draw_panels(page, (middle + 4 * page.scale, bottom, right, top), shown, analysis)
    words = _describe(shown, caption)
    return page.draw(alt_text=words, table=analysis.table, on_screen=("chart",))


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


def _draw_ranking(page: Page, box: Box, shown: pd.DataFrame) -> None:
    """Draw a dot and a bar for each topic, its name to the left."""
    left, bottom, right, top = box
    scale, faint = page.scale, page.colours.faint
    names = left + 0.52 * (right - left)
    page.write("Change of share a year", left, top - 9 * scale, weight="bold", size=9)
    pitch = min(_ROOMY_ROW * scale, (top - bottom - 40 * scale) / len(shown))
    upper = top - 18 * scale
    middle, low, high = (
        _percent_a_year(shown[name]) for name in ("slope", "slope_low", "slope_high")
    )
    limits = _sensible_limits(middle, low, high)
    marks = ticks(limits, 5, lambda v: f"{v:+.0f}%" if v else "0")
    panel = page.chart(
        (names, upper - pitch * len(shown), right, upper), Axis(limits, marks),
        Axis((len(shown) - 0.5, -0.5)), gid="slopes", rows=list(enumerate(shown["label"])),
    )  # fmt: skip
    colours = [colour_of(kind, page.colours) for kind in shown["class"]]
    panel.layers.extend([
        Rule(x=0.0, colour=faint, width=0.6 * scale, order=0.0),
        Intervals(
            at=np.arange(len(shown)), value=middle, low=low, high=high, colours=colours,
            filled=[colour != faint for colour in colours], width=1.1 * scale, size=3.6 * scale,
            gid="slope",
            hover=[f"{label}: {kind}\n{m:+.1f}% a year ({a:+.1f}% to {b:+.1f}%)"
                   for label, kind, m, a, b in zip(shown["label"], shown["class"], middle, low,
                                                   high, strict=True)],
        ),
    ])  # fmt: skip
    for row, (words, colour) in enumerate(zip(shown["label"], colours, strict=True)):
        label = page.shortened(words, width=names - left - 6 * scale, size=7.5)
        y = upper - (row + 0.5) * pitch - 2.5 * scale
        page.write(label, names - 4 * scale, y, size=7.5, align="right", colour=colour, gid="topic")
    x, y = left, max(bottom, upper - pitch * len(shown) - 26 * scale)
    for kind, words in (("emerging", "● emerging"), ("fading", "● fading"), ("", "○ neither")):
        page.write(words, x, y, size=SMALL, colour=colour_of(kind, page.colours), gid="key")
        x += page.extent(words, size=SMALL).width + 8 * scale


def _sensible_limits(middle: Any, low: Any, high: Any) -> tuple[float, float]:
    """Range that holds all dots and zero, and bars unless they are far longer than that."""
    least, most = min(0.0, float(np.min(middle))), max(0.0, float(np.max(middle)))
    lower = max(min(least, float(np.min(low))), 1.8 * least - 5)
    upper = min(max(most, float(np.max(high))), 1.8 * most + 5)
    border = 0.03 * (upper - lower)
    return lower - border, upper + border


def _draw_panels(page: Page, box: Box, shown: pd.DataFrame, analysis: Analysis) -> None:
    """Draw the yearly shares of the steepest topics as small multiples."""
    years, changes = analysis.tables["years"], analysis.tables.get("changes")
    steep = _steepest(shown, _MOST_PANELS)
    scale = page.scale
    boxes = tile(box, len(steep), heading=_HEADING * scale, gap=16 * scale)
    for row, cell in zip(steep.to_dict("records"), boxes, strict=True):
        left, bottom, right, top = cell
        colour = colour_of(row["class"], page.colours)
        words = page.shortened(row["label"], width=right - left, size=7.5, weight="bold")
        page.write(
            words, left, top + 3 * scale, size=7.5, weight="bold", colour=colour, gid="heading"
        )
        panel = share_panel(
            page, (left + 16 * scale, bottom + 4 * scale, right, top - 2 * scale),
            years[years["topic_id"] == row["topic_id"]], colour=colour, heading=str(row["label"]),
        )  # fmt: skip
        if changes is not None and len(changes):
            panel.layers.extend([
                Rule(x=float(year) - 0.5, colour=page.colours.ink, width=0.6 * scale,
                     dashes="dotted", gid="change")
                for year in changes.loc[changes["topic_id"] == row["topic_id"], "year"]
            ])  # fmt: skip


def _steepest(shown: pd.DataFrame, n: int) -> pd.DataFrame:
    """The topics of which the trend is surest, then steepest, in the order of their slopes."""
    order = shown.assign(steepness=shown["slope"].abs())
    first = order.sort_values(["doubt", "steepness"], ascending=[True, False]).head(n)
    return first.sort_values("slope", ascending=False)


def share_panel(
    page: Page, box: Box, years: pd.DataFrame, *, colour: str, heading: str = "",
    gid: str = "chart", n_ticks: int = 3,
) -> Panel:  # fmt: skip
    """Chart shares by year (``year, share, share_low, share_high, covered``) with intervals."""
    ordered = years.sort_values("year")
    at = ordered["year"].to_numpy(dtype=float)
    covered = ordered["covered"].to_numpy(dtype=bool)
    share, low, high = (
        np.where(covered, 100 * ordered[name].to_numpy(dtype=float), np.nan)
        for name in ("share", "share_low", "share_high")
    )
    most = float(np.nanmax(np.append(share, 1e-6)))
    high_enough = float(np.nanquantile(np.append(high, most), 0.9))
    across, up = (at.min() - 0.5, at.max() + 0.5), (0.0, 1.08 * max(most, high_enough))
    panel = page.chart(
        box, Axis(across, ticks(across, n_ticks, lambda v: f"{v:.0f}", whole=True)),
        Axis(up, ticks(up, n_ticks, lambda v: f"{v:g}%")), gid=gid, heading=heading,
    )  # fmt: skip
    told = [
        f"{heading + ', ' if heading else ''}{int(year)}\n{s:.2f}% ({a:.2f}% to {b:.2f}%)"
        for year, s, a, b in zip(at, share, low, high, strict=True)
    ]
    panel.layers.extend(
        [
            Curve(x=at, y=share, colour=colour, width=1.1 * page.scale, gid="share"),
            Band(x=at, low=low, high=high, colour=colour, gid="interval", order=1.0),
            # A covered year between two gaps has no line to be seen by.
            Points(x=at, y=share, colour=colour, size=2.2 * page.scale, gid="share", hover=told),
            Spans(spans=uncovered_spans(at, covered), colour=page.colours.faint, gid="not covered"),
        ]
    )
    if "fitted" in ordered:
        fitted = 100 * ordered["fitted"].to_numpy(dtype=float)
        panel.layers.append(Curve(x=at, y=fitted, colour=page.colours.ink,
                                  width=0.6 * page.scale, gid="fitted"))  # fmt: skip
    return panel


def _describe(shown: pd.DataFrame, caption: Caption) -> str:
    def told(kind: str, rows: pd.DataFrame) -> str:
        named = ", ".join(
            f"{clean_name(row.label)} ({_percent_a_year(row.slope):+.0f}% a year)"
            for row in rows.head(6).itertuples()
        )
        return f"{kind}: {named}." if named else f"{kind}: none."

    emerging = shown[shown["class"] == "emerging"]
    fading = shown[shown["class"] == "fading"].iloc[::-1]
    more = f"{told('Emerging', emerging)} {told('Fading', fading)}"
    return caption.describe("Chart of topics in time.", more)
