"""Values with their intervals for print: one row a facility, region, country or proposal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.figures.caption import GENERATED
from landscape.figures.chart_page import SMALL, sentences_of
from landscape.figures.colours import theme
from landscape.figures.hues import series
from landscape.figures.interval_rows import IntervalRows, ask, interval_rows
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    from landscape.figures.chart_page import Box, ChartPage
    from landscape.figures.sheet import Sheet
    from landscape.overlays._analysis import Analysis

WIDTH_INCHES, _LOWEST, _HIGHEST = 11.0, 3.0, 8.5
_ROOMIEST = 26.0  # points between rows
_AROUND = 78.0  # points of a page beside rows, heading and caption
_CAPTION_LINE, _LETTERS_A_LINE = 11.0, 165
_APART = 0.3  # rows between two groups of one label


def intervals(
    kind: str,
    atlas: Any,
    *arguments: Any,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
    **options: Any,
) -> Sheet:
    """Draw values with their intervals, one row each.

    Parameters
    ----------
    kind : str
        ``"facilities"``, ``"before_after"`` (with a facility), ``"compare_facilities"`` (with two
        or more), ``"countries"``, ``"institutions"`` or ``"uat_gaps"``.
    atlas : Atlas
    *arguments, **options
        What the analysis of that kind takes beside the atlas.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), optional
        Width and height of the page; by default 11 inches wide and as high as the rows need, at
        most 8.5.
    title : str, optional
        Heading above the chart.

    Returns
    -------
    Sheet
        A matplotlib Figure; its ``table`` is that of the analysis.

    Raises
    ------
    InputError
        For an unknown kind, and whatever the analysis refuses.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.intervals("before_after", ls.open("my.atlas"), "ALMA")  # doctest: +SKIP
    """
    found = ask(kind, atlas, *arguments, **options)
    return draw_intervals(kind, found, colours=colours, size_inches=size_inches, title=title)


def draw_intervals(
    kind: str,
    found: Analysis,
    *,
    colours: str = "light",
    size_inches: tuple[float, float] | None = None,
    title: str | None = None,
) -> Sheet:
    """Draw what an analysis found, see `intervals`.

    Parameters
    ----------
    kind : str
    found : Analysis
    colours, size_inches, title
        As for `intervals`.

    Returns
    -------
    Sheet
    """
    import matplotlib as mpl

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.sheet import SETTINGS

    shown = interval_rows(kind, found)
    generated = bool(found.bounds.get("generated"))
    sentences = sentences_of(found)
    with mpl.rc_context(SETTINGS):
        size = size_inches or (WIDTH_INCHES, _height(shown, sentences, title=title))
        page = ChartPage(size, theme(colours), title=title)
        page.reserve_caption(sentences, generated=generated)
        _draw_rows(page, page.room, shown)
    sheet = page.sheet
    sheet.table = found.table
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _in_words(shown, sentences, generated=generated)
    return sheet


def _height(shown: IntervalRows, sentences: list[str], *, title: str | None) -> float:
    """Inches that a page of so many rows needs."""
    n_lines = 2 + sum(map(len, sentences)) // _LETTERS_A_LINE
    points = _AROUND + _ROOMIEST * len(shown.labels) + _CAPTION_LINE * n_lines
    inches = (points + (36 if title else 0)) / 72
    # A lower page is lettered smaller, by the root of its area, and needs less room for it.
    return min(max(inches * min(1.0, max(0.8, inches / _HIGHEST)), _LOWEST), _HIGHEST)


def _draw_rows(page: ChartPage, box: Box, shown: IntervalRows) -> None:
    """Draw names and what is told of them on the left, values with intervals on the right."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    labels, groups = shown.labels, shown.groups
    tones = [style.colour for style in series(colours, max(len(groups), 1))]
    upper = top - (16 * scale if len(groups) > 1 else 4 * scale)
    pitch = min(_ROOMIEST * scale, (upper - bottom - 26 * scale) / len(labels))
    told_alone = len(groups) == 1
    name_end = left + (0.26 if told_alone else 0.34) * (right - left)
    start = left + (0.52 if told_alone else 0.36) * (right - left)
    floor = upper - pitch * len(labels)
    axes = page.axes((start, floor, right, upper), gid="intervals")
    place_of = {label: place for place, label in enumerate(labels)}
    for label, place in place_of.items():
        baseline = upper - (place + 0.5) * pitch - 2.5 * scale
        name = page.shortened(label, width=name_end - left, size=8)
        page.write(name, name_end, baseline, size=8, align="right", gid="name")
    for number, group in enumerate(groups):
        part = shown.rows[shown.rows["group"] == group]
        shift = (number - (len(groups) - 1) / 2) * _APART
        for row in part.itertuples():
            height = place_of[str(row.label)] + shift
            axes.plot([row.low, row.high], [height] * 2, color=tones[number], lw=1.2 * scale)
            axes.plot(row.value, height, "o", color=tones[number], ms=4 * scale, clip_on=False)
            if told_alone:
                baseline = upper - (place_of[str(row.label)] + 0.5) * pitch - 2.5 * scale
                told = page.shortened(
                    str(row.told), width=start - name_end - 18 * scale, size=SMALL
                )
                page.write(
                    told, name_end + 9 * scale, baseline, size=SMALL, colour=colours.faint
                )  # fmt: skip
    across = start
    for number, group in enumerate(groups if len(groups) > 1 else []):
        page.write(f"● {group}", across, top - 8 * scale, size=8, colour=tones[number], gid="key")
        across += page.setter.extent(f"● {group}", size=8).width + 14 * scale
    if shown.reference is not None:
        axes.axvline(shown.reference, color=colours.faint, lw=0.6 * scale, zorder=0)
    _dress_axis(axes, shown, n_labels=len(labels))
    foot = floor - 21 * scale
    words = page.shortened(shown.axis, width=right - start, size=SMALL)
    page.write(words, (start + right) / 2, foot, size=SMALL, align="center", colour=colours.faint)


def _dress_axis(axes: Any, shown: IntervalRows, *, n_labels: int) -> None:
    from matplotlib.ticker import NullLocator

    axes.set(ylim=(n_labels - 0.5, -0.5), yticks=[])
    axes.spines["left"].set_visible(False)
    values = shown.rows[["low", "value", "high"]].to_numpy(dtype=float)
    if shown.is_ratio:
        positive = values[np.isfinite(values) & (values > 0)]
        axes.set_xscale("log", base=2)
        axes.set_xlim(max(float(positive.min()) / 1.2, 1 / 64), min(positive.max() * 1.2, 64))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        return
    if shown.reference is None:
        axes.set_xlim(left=0)
    if shown.is_share:
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")


def _in_words(shown: IntervalRows, sentences: list[str], *, generated: bool) -> str:
    warning = f"{GENERATED} " if generated else ""
    told = "; ".join(
        f"{clean_name(str(row.label))}{f' ({row.group})' if row.group else ''} "
        f"{shown.written(row.value)}"
        for row in shown.rows.head(12).itertuples()
    )
    return f"{warning}Chart of values with their intervals. {' '.join(sentences)} {told}."
