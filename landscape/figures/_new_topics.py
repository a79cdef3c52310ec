"""Draw what is new in the last months as small multiples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape._wording import count
from landscape.figures.caption import caption_of
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.page import Page, PageOptions, sentence_scene
from landscape.figures.scene import Axis, Band, Box, Curve, Points, Rule, Scene, ticks, tile
from landscape.mapping.naming import capitalised
from landscape.overlays.trends import new_topics as find_new_topics

if TYPE_CHECKING:
    import pandas as pd

    from landscape.figures.colours import Theme
    from landscape.store import AtlasStore
    from landscape.types import Analysis

_MAX_PANELS = 20
_HEADING = 20.0  # points
_HOW = (
    "Lines are papers per {step}; grey bands are the 95% intervals at the share that a topic has "
    "in other months; dotted lines are beginnings. Axes differ."
)
_STEPS = {1: "month", 3: "quarter", 12: "year"}


@figure
def new_topics(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    months: int = 12,
    until: str | None = None,
    n_topics: int = 12,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the papers of each new topic over time, the largest topics first.

    The band is the number of papers expected at the share that the topic has, in other months, in
    the papers of the same categories. Only topics with a verdict are drawn. If nothing is new, the
    page has one sentence.

    Parameters
    ----------
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of `landscape.overlays.new_topics`, which is then not computed again.
    months : int, default 12
        Number of months in which a topic can become new; see
        `landscape.overlays.trends.new_topics`.
    until : str, optional
        Last month, such as ``"2025-09"``.
    n_topics : int, default 12
        Maximum number of topics, up to 20.
    **look
        ``colours``, ``size_inches``, ``title`` and ``raster_dpi``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of `new_topics`.

    Raises
    ------
    InputError
        If a setting is invalid, the corpus has too few months, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.new_topics(ls.open("my.atlas"), months=24)  # doctest: +SKIP
    """
    found = analysis or find_new_topics(atlas, months=months, until=until, scored=False)
    if not len(found.table):
        sentence = "Nothing is new: no phrase, concept or region has a significant change."
        return sentence_scene(caption_of(found), sentence, look, table=found.table)
    times = found.tables["times"]
    months = round(12 * float(times["year"].diff().abs().min()))
    caption = caption_of(found)
    how = _HOW.format(step=_STEPS.get(months, "quarter"))
    caption = replace(caption, sentences=[how, *caption.sentences])
    page = Page(caption, look, smallest=(4.0, 3.0))
    scale = page.scale
    shown = found.table.head(max(1, min(n_topics, _MAX_PANELS)))
    boxes = tile(page.chart_area, len(shown), heading=_HEADING * scale, gap=16 * scale)
    for row, (left, bottom, right, top) in zip(shown.to_dict("records"), boxes, strict=True):
        colour = colour_of(row["class"], page.colours)
        width = right - left
        name = clean_name(capitalised(row["term"]))
        page.write(
            name, left, top + 11 * scale, size=7.5, weight="bold", gid="heading", width=width
        )
        about = describe_topic(row)
        page.write(about, left, top + 2 * scale, size=6.5, colour=colour, gid="class", width=width)
        _draw_papers(
            page,
            (left + 16 * scale, bottom + 4 * scale, right, top - 2 * scale),
            times[times["term"] == row["term"]],
            colour=colour,
            since=row["since"],
        )
    named = "; ".join(
        f"{clean_name(row['term'])} ({describe_topic(row)})" for row in shown.to_dict("records")
    )
    words = caption.describe("Charts of new topics over time.", f"{named}.")
    return page.scene(alt_text=words, table=found.table, on_screen=("chart",))


def _draw_papers(page: Page, box: Box, times: pd.DataFrame, *, colour: str, since: str) -> None:
    """Draw the papers over time, with the interval expected at a constant share."""
    kept = times[times["covered"]]
    at, papers = (kept[name].to_numpy(dtype=float) for name in ("year", "papers"))
    expected, low, high = (
        kept[name].to_numpy(dtype=float) for name in ("expected", "expected_low", "expected_high")
    )
    step = float(np.min(np.diff(at), initial=1.0))
    across, up = (
        (at.min() - step / 2, at.max() + step / 2),
        (0.0, 1.1 * max(*papers, *high[~np.isnan(high)], 1)),
    )
    panel = page.chart(
        box,
        Axis(across, ticks(across, 3, lambda v: f"{v:.0f}", whole=True)),
        Axis(up, ticks(up, 3, lambda v: f"{v:.0f}", whole=True)),
        gid="chart",
    )
    faint, scale = page.colours.faint, page.scale
    year, month = (int(part) for part in since.split("-"))
    hover = [
        f"{year:.2f}: {count(int(n), 'paper')}" + ("" if np.isnan(m) else f", {m:.1f} expected")
        for year, n, m in zip(at, papers, expected, strict=True)
    ]
    band = Band(x=at, low=low, high=high, colour=faint, gid="expected", order=1.0)
    panel.layers.extend(
        [
            *([] if np.isnan(low).all() else [band]),
            Curve(x=at, y=papers, colour=colour, width=1.1 * scale, gid="papers"),
            Points(x=at, y=papers, colour=colour, size=2.6 * scale, gid="papers", hover=hover),
            Rule(
                x=year + (month - 1) / 12,
                colour=page.colours.ink,
                width=0.6 * scale,
                dashes="dotted",
                gid="since",
            ),
        ]
    )


def describe_topic(row: dict[str, Any]) -> str:
    """Describe a topic in some words.

    >>> describe_topic({"class": "burst", "since": "2025-07", "last": "2025-09", "papers": 40})
    'burst of 40 papers, 2025-07 to 2025-09'
    """
    papers = count(int(row["papers"]), "paper")
    if row["class"] == "burst":
        return f"burst of {papers}, {' to '.join(dict.fromkeys([row['since'], row['last']]))}"
    name = " (date in the name)" if row.get("why") else ""
    return f"{row['class']}: {papers} since {row['since']}{name}"


def colour_of(kind: str, colours: Theme) -> str:
    """Return the colour of a class: blue if it is new or grows, orange after a burst."""
    return colours.apart if kind == "burst" else colours.found
