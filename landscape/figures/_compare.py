"""Compare two selections of papers by the regions in which each is over-represented."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.caption import NEARNESS, Caption, caption_of
from landscape.figures.colours import Theme
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import add_density, add_few_names, map_box, map_panel, positions
from landscape.figures.page import SMALL, Page, PageOptions
from landscape.figures.scene import (
    Axis,
    Box,
    Intervals,
    Lines,
    Panel,
    Points,
    Rule,
    Scene,
    power_ticks,
)
from landscape.overlays.trends import compare as find_differences
from landscape.overlays.trends.comparison import Side, find_sides

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_SIZE = (11.0, 5.9)
_ROW, _ROOMY_ROW = 13.0, 20.0  # points
_MAX_ROWS = 30
_NAMES_ON_MAP = 24
_HOW = (
    "The regions with the smallest p values are listed, ordered by odds ratio.",
    "Bars are 95% intervals; open marks are not significant after correction for multiple tests.",
)
_CUT = (
    "An interval with an arrow has no end, because one selection has no papers in the region, so "
    "the odds ratio has no mark.",
)
_ARROW = 5.0  # size of an arrow in points
_USES = "Papers of a facility use its data."


@figure
def compare(
    atlas: AtlasStore,
    a: str | ArrayLike | AtlasStore,
    b: str | ArrayLike | AtlasStore,
    *,
    analysis: Analysis | None = None,
    q: float = 0.05,
    level: int = 1,
    n_regions: int = 24,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the regions in which one selection of papers is over-represented relative to another.

    The left side shows the odds ratios, with 95% intervals, of the regions with the most
    significant differences. The right side shows these regions on the map; if two atlases on one
    basemap are compared, it also shows the papers of both. Filled symbols are
    differences that are significant at the false discovery rate `q`. A region without papers in
    one selection has an interval, but no symbol.

    Parameters
    ----------
    atlas : AtlasStore
    a, b : str, array_like or Atlas
        Two filters such as ``"year:2000-2010"``, or two arrays of rows. ``"facility:JWST"`` selects
        the papers that use data of JWST, and ``"mentions:JWST"`` all that mention it. An empty
        filter selects all papers. Another atlas on the same basemap, or the path of its folder,
        stands for all its papers.
    analysis : Analysis, optional
        Known result of `landscape.overlays.compare`, which is then not computed again.
    q : float, default 0.05
        False discovery rate over all regions.
    level : int, default 1
        Level of the regions: 0 for continents, 1 for regions.
    n_regions : int, default 24
        Number of regions in the ranking.
    **look
        ``colours``, ``size_inches`` and ``title``; see `landscape.figures.heatmap`.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and the ``table`` of the comparison.

    Raises
    ------
    InputError
        If a selection is empty, both selections are the same, another atlas has other regions, or
        the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.compare(ls.open("my.atlas"), "..2010", "2011..")  # doctest: +SKIP
    """
    if analysis is None:
        analysis = find_differences(atlas, a, b, q=q, level=level)
    tested = analysis.table[analysis.table["p"].notna()]
    if tested.empty:
        raise InputError("No region contains papers of these selections. Use wider filters.")
    names = {
        row.selection: short_name(row.name) for row in analysis.tables["selections"].itertuples()
    }
    numbers = analysis.caption.partition(": ")[2]
    notes = caption_of(replace(analysis, caption="")).sentences
    lines = [re.sub(r"\b[ab]\b", lambda side: names[side[0]], line) for line in (numbers, *notes)]
    sides = find_sides(atlas, a, b)
    dots = () if sides[0].store is sides[1].store else (_PAPERS,)
    filters = analysis.tables["selections"]["name"]
    facilities = any("facility:" in name and "role:" not in name for name in filters)
    uses = (_USES,) * facilities
    has_zero = (tested[["a_papers", "b_papers"]] == 0).any(axis=None)
    how = (*_HOW, *(_CUT if has_zero else ()))
    sentences = [*filter(None, lines[:1]), *how, *dots, *uses, *lines[1:], NEARNESS]
    title = f"{names['a']} against {names['b']}: regions with different shares of papers."
    generated = bool(analysis.bounds.get("generated"))
    caption = Caption(title[:1].upper() + title[1:], sentences, generated)
    page = Page(caption, look, size=_SIZE, soft=True, smallest=(4.0, 3.0))
    left, bottom, right, top = page.chart_area
    middle = left + 0.53 * (right - left)
    n = int(np.clip(min(n_regions, (top - bottom - 60) / (_ROW * page.scale)), 1, _MAX_ROWS))
    shown = tested.sort_values(["p", "odds_ratio"], ascending=[True, False]).head(n)
    shown = shown.sort_values("odds_ratio", ascending=False, ignore_index=True)
    _draw_forest(page, (left, bottom, middle - 12 * page.scale, top), shown, analysis, names)
    _draw_map(page, (middle, bottom, right, top - 18 * page.scale), shown, sides, names)
    words = _describe(shown, caption, names)
    return page.scene(alt_text=words, table=analysis.table, on_screen=("odds ratios",))


def short_name(words: str) -> str:
    """Return a name for a filter, such as ``JWST`` for ``facility:JWST``."""
    years = re.fullmatch(r"(?:year:)?(\d{4})?(?:\.\.|-)(\d{4})?", words)
    if years and any(years.groups()):
        first, last = years.groups()
        return f"{first or 'until'} {'to ' if first and last else ''}{last or 'and later'}"
    simple = re.fullmatch(r"(?!mentions)\w+:\s*\"?([^;|:\"]+)\"?", words)
    return simple[1] if simple else words


def _colour(row: Any, colours: Theme) -> str:
    return {"a": colours.found, "b": colours.apart}.get(row.over_in, colours.faint)


def _draw_forest(
    page: Page, box: Box, shown: pd.DataFrame, analysis: Analysis, names: Mapping[str, str]
) -> None:
    """Draw names, counts and odds ratios with intervals, one region per row."""
    left, bottom, right, top = box
    scale, colours = page.scale, page.colours
    ends = [left + share * (right - left) for share in (0.38, 0.49, 0.60)]
    y = top
    sides = (colours.found, colours.apart)
    for row, colour in zip(analysis.tables["selections"].itertuples(), sides, strict=True):
        y -= 11 * scale
        words = f"{names[row.selection]} ({count(row.compared, 'paper')})"
        page.write(
            words,
            left,
            y,
            size=8.5,
            weight="bold",
            colour=colour,
            gid="heading",
            width=right - left,
        )
    y -= 4 * scale
    page.write("papers in", ends[0], y - 9 * scale, size=SMALL, align="right", colour=colours.faint)
    for x, words, colour in zip(ends[1:], names.values(), sides, strict=True):
        page.write(
            words,
            x,
            y - 9 * scale,
            size=SMALL,
            align="right",
            colour=colour,
            weight="bold",
            width=ends[1] - ends[0] - 4 * scale,
        )
    upper = y - 13 * scale
    pitch = min(_ROOMY_ROW * scale, (upper - bottom - 30 * scale) / len(shown))
    # If a selection has no paper in a region, the odds ratio is 0 or infinite.
    bounded = (shown[["a_papers", "b_papers"]] > 0).all(axis=1).to_numpy()
    # The limits of the axis include all dots and bars; an open bar has one end.
    logs = np.log2(shown[["odds_ratio_low", "odds_ratio", "odds_ratio_high"]].to_numpy(float))
    ends_open = np.where(shown["b_papers"] == 0, logs[:, 0], logs[:, 2])
    reach = float(2 ** (np.abs(np.append(logs[bounded], ends_open[~bounded])).max() + 0.3))
    limits = 1 / reach, reach
    marks = power_ticks(limits, lambda v: f"{v:g}" if v >= 1 else f"1/{1 / v:g}")
    panel = page.chart(
        (ends[2] + 6 * scale, upper - pitch * len(shown), right, upper),
        Axis(limits, marks, f"odds ratio, {names['a']} against {names['b']}", log=True),
        Axis((len(shown) - 0.5, -0.5)),
        gid="odds ratios",
        rows=list(enumerate(shown["label"])),
    )
    tones = [_colour(row, colours) for row in shown.itertuples()]
    panel.layers.append(Rule(x=1.0, colour=colours.faint, width=0.6 * scale, order=0.0))
    value, low, high = (
        shown[name].to_numpy(float) for name in ("odds_ratio", "odds_ratio_low", "odds_ratio_high")
    )
    hover = [
        f"{row.label}\n{row.a_papers:,} against {row.b_papers:,} papers\n"
        f"odds ratio {row.odds_ratio:.2f} ({row.odds_ratio_low:.2f} to {row.odds_ratio_high:.2f})"
        + (f", q {row.q:.2g}" if "q" in shown else "")
        for row in shown.itertuples()
    ]
    at = np.flatnonzero(bounded)
    panel.layers.append(
        Intervals(
            at=at,
            value=value[at],
            low=low[at],
            high=high[at],
            colours=[tones[row] for row in at],
            filled=[bool(over) for over in shown["over_in"].iloc[at]],
            width=1.1 * scale,
            size=3.8 * scale,
            gid="odds ratio",
            hover=[hover[row] for row in at],
        )
    )
    # The tip of an arrow is at the end of the axis.
    tip = reach ** (1 - _ARROW * scale / (panel.box[2] - panel.box[0]))
    for row in np.flatnonzero(~bounded):
        is_above = shown["b_papers"].iloc[row] == 0
        ends_of = (low[row], tip) if is_above else (1 / tip, high[row])
        panel.layers.append(
            Points(
                x=[tip if is_above else 1 / tip],
                y=[float(row)],
                marker=">" if is_above else "<",
                colour=tones[row],
                size=_ARROW * scale,
                gid="open end",
                hover=[hover[row]],
            )
        )
        panel.layers.append(
            Lines(
                lines=[np.array([[end, row] for end in ends_of])],
                colour=tones[row],
                width=1.1 * scale,
                gid="open interval",
                hover=hover[row],
            )
        )
    for place, (row, tone) in enumerate(zip(shown.itertuples(), tones, strict=True)):
        y = upper - (place + 0.5) * pitch - 2.5 * scale
        page.write(
            row.label,
            ends[0],
            y,
            size=7.5,
            align="right",
            colour=tone,
            gid="region",
            width=ends[0] - left,
        )
        for x, n_papers in zip(ends[1:], (row.a_papers, row.b_papers), strict=True):
            page.write(f"{n_papers:,}", x, y, size=SMALL, align="right")


def _draw_map(
    page: Page, box: Box, shown: pd.DataFrame, sides: Sequence[Side], names: Mapping[str, str]
) -> None:
    """Mark the regions that differ on a map. Of two atlases, it also shows the papers."""
    scale, colours = page.scale, page.colours
    stores = list({id(side.store): side.store for side in sides}.values())
    x, y = (
        np.concatenate(parts)
        for parts in zip(
            *(positions(store.map["x"], store.map["y"]) for store in stores), strict=True
        )
    )
    lower = 0.5 * max(0.0, map_box(box, x, y)[1] - box[1])  # centre the map in its column
    box = box[0], box[1] + lower, box[2], box[3] - lower
    panel = map_panel(page, map_box(box, x, y), x, y, border=10 * scale, framed=True)
    add_density(page, panel, x, y)
    if len(stores) > 1:
        for side, tone in zip(sides, (colours.found, colours.apart), strict=True):
            _draw_papers(panel, side, tone, scale)
    places = pd.concat([store.topics[["topic_id", "x", "y"]] for store in stores])
    differ = shown[shown["over_in"] != ""].merge(places.drop_duplicates("topic_id"))
    keys = (("a", "^", colours.found), ("b", "v", colours.apart))
    for over, marker, colour in keys:
        part = differ[differ["over_in"] == over]
        panel.layers.append(
            Points(
                x=part["x"].to_numpy(float),
                y=part["y"].to_numpy(float),
                marker=marker,
                colour=colour,
                size=6 * scale,
                gid=f"over in {over}",
                edge=colours.halo,
                edge_width=0.6 * scale,
                hover=[
                    f"{row.label}\nodds ratio {row.odds_ratio:.2f}" for row in part.itertuples()
                ],
            )
        )
    at, half = panel.to_page(differ["x"], differ["y"]), 4 * scale
    add_few_names(
        page,
        panel,
        differ.sort_values("p"),
        most=_NAMES_ON_MAP,
        size=7,
        reach=9 * scale,
        reserved=np.hstack([at - half, at + half]),
    )
    across = box[0]
    for (_, _, colour), words in zip(
        keys, (f"▲ larger share: {names['a']}", f"▼ larger share: {names['b']}"), strict=True
    ):
        page.write(words, across, box[3] + 5 * scale, size=SMALL + 1, colour=colour, gid="key")
        across += page.extent(words, size=SMALL + 1).width + 10 * scale


def _draw_papers(panel: Panel, side: Side, colour: str, scale: float) -> None:
    """Draw some papers of a selection as dots."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(side.rows)[:_DOTS]
    x, y = positions(side.store.map["x"], side.store.map["y"])
    panel.layers.append(
        Points(x=x[rows], y=y[rows], colour=colour, size=1.8 * scale, gid="papers", order=1.0)
    )


_DOTS = 2000  # papers of each atlas on the map
_PAPERS = f"Dots are papers, at most {_DOTS:,} of each atlas."


def _describe(shown: pd.DataFrame, caption: Caption, names: Mapping[str, str]) -> str:
    parts = []
    for side, rows in (("a", shown), ("b", shown.iloc[::-1])):
        named = ", ".join(
            f"{clean_name(row.label)} (odds ratio {row.odds_ratio:.2g}, "
            f"{row.a_papers:,} against {row.b_papers:,} papers)"
            for row in rows[rows["over_in"] == side].head(6).itertuples()
        )
        parts.append(f"Over-represented in {names[side]}: {named or 'none'}.")
    return caption.describe("Chart that compares two selections.", " ".join(parts))
