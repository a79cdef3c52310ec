"""The parts of a report on a facility: share map, years, regions and papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._author_names import short_names
from landscape.figures.chart_page import SMALL, frame_in, map_box, uncovered_spans
from landscape.figures.density_map import chosen_topics, positions
from landscape.figures.hues import share_ramp
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.figures.chart_page import Box, ChartPage
    from landscape.overlays.missions._facilities import Facility

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

_HEADING = 9.0
_NAMES_ON_MAP = 7
_LITERATURE = (0.5, 3.0)  # papers under the kernel: below is no literature, above is enough
_BAR = (70.0, 6.0)


def draw_share_map(page: ChartPage, box: Box, atlas: Any, uses: Bools, inside: Bools) -> float:
    """Draw which share of the local literature uses a facility; return where it ends, in points."""
    from landscape.figures.small_maps import letter_few, paint
    from landscape.overlays.missions._measures import share_map

    scale = page.scale
    x, y = positions(atlas.map["x"], atlas.map["y"])
    _heading(page, box, "Share of the local literature")
    left, bottom, right, top = box
    room = (left, bottom + 22 * scale, right, top - 14 * scale)
    frame = frame_in(map_box(room, x, y, least=0.7), x, y)
    width, height = right - left, frame.page[3] - frame.page[1]
    shape = (max(32, round(300 * height / width)), 300)
    found = share_map(x[inside], y[inside], uses[inside], extent=frame.box, shape=shape)
    held = np.clip(
        (found.papers - _LITERATURE[0]) / (_LITERATURE[1] - _LITERATURE[0]), 0, 1
    )  # fmt: skip
    most = max(
        float(np.quantile(found.share[held > 0.5], 0.995)) if (held > 0.5).any() else 0, 1e-6
    )
    paint(page, frame, np.clip(found.share / most, 0, 1), ramp=share_ramp(page.colours), held=held)
    letter_few(page, frame, chosen_topics(atlas.topics, levels=(0,)), most=_NAMES_ON_MAP, size=6.4)
    _share_bar(page, left, frame.page[1] - 12 * scale, most)
    return frame.page[1] - 22 * scale


def _share_bar(page: ChartPage, left: float, y: float, most: float) -> None:
    """Draw the key of the share map."""
    scale = page.scale
    width, height = (length * scale for length in _BAR)
    x = left + page.setter.extent("0%", size=SMALL).width + 3 * scale
    page.write("0%", left, y, size=SMALL, colour=page.colours.faint, gid="key")
    axes = page.axes((x, y, x + width, y + height), gid="key")
    axes.imshow(share_ramp(page.colours)[None], aspect="auto", extent=(0, 1, 0, 1))
    axes.set_axis_off()
    words = f"{most:.1%} of the papers there" if most < 0.1 else f"{most:.0%} of the papers there"
    page.write(
        words, x + width + 4 * scale, y, size=SMALL, colour=page.colours.faint, gid="key"
    )  # fmt: skip


def draw_years(page: ChartPage, box: Box, years: pd.DataFrame, of: Facility) -> None:
    """Draw the yearly share of papers with its interval; years not covered are hatched."""
    scale = page.scale
    _heading(page, box, "Share of all papers by year")
    left, bottom, right, top = box
    bottom = max(bottom, top - 220 * scale)
    axes = page.axes((left + 24 * scale, bottom + 14 * scale, right, top - 16 * scale), gid="years")
    at = years["year"].to_numpy(dtype=float)
    covered = years["covered"].to_numpy(dtype=bool)
    share, low, high = (
        np.where(covered, 100 * years[name].to_numpy(dtype=float), np.nan)
        for name in ("share", "low", "high")
    )
    colour = page.colours.found
    axes.fill_between(at, low, high, color=colour, alpha=0.22, linewidth=0, gid="interval")
    axes.plot(at, share, color=colour, lw=1.3 * scale, gid="share")
    axes.plot(at, share, ".", color=colour, ms=3 * scale, gid="share")
    page.hatch(axes, uncovered_spans(at, covered))
    most = float(np.nanmax(np.append(share, 0.0)))
    ceiling = 1.1 * max(most, float(np.nanquantile(np.append(high, most), 0.9)), 1e-3)
    axes.set(xlim=(at.min() - 0.5, at.max() + 0.5), ylim=(0, ceiling))
    first = of.first_light.year + of.first_light.month / 12 - 0.5
    if at.min() < first < at.max():
        axes.axvline(first, color=page.colours.ink, lw=0.7 * scale, ls=":", gid="first light")
        axes.annotate(
            "first light", (first, ceiling), xytext=(3, -7), textcoords="offset points",
            fontsize=SMALL * scale, color=page.colours.ink, gid="first light",
            fontfamily=axes.get_xticklabels()[0].get_fontfamily(),
        )  # fmt: skip
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")


def write_regions(page: ChartPage, box: Box, regions: pd.DataFrame, *, most: int) -> float:
    """Write the regions with most of a facility's papers; return where they end, in points."""
    scale = page.scale
    left, bottom, right, top = box
    _heading(page, box, "Where it works")
    ranked = regions[regions["papers"] > 0].sort_values("papers", ascending=False).head(most)
    columns = [right - 74 * scale, right]
    y = top - 24 * scale
    for x, words in zip(columns, ("papers", "share of region"), strict=True):
        page.write(words, x, y, size=6.5, align="right", colour=page.colours.faint)
    pitch = min(15.0 * scale, max(9.5 * scale, (y - bottom) / (len(ranked) + 1)))
    for row in ranked.itertuples():
        if y - pitch < bottom:
            break
        y -= pitch
        counts = f"{row.papers:,} of {row.region_papers:,}"
        room = columns[0] - left - page.setter.extent(counts, size=7.5).width - 6 * scale
        page.write(page.shortened(row.label, width=room, size=7.5), left, y, size=7.5, gid="region")
        page.write(counts, columns[0], y, size=7.5, align="right")
        share = f"{row.share:.0%} ({row.share_low:.0%} to {row.share_high:.0%})"
        page.write(share, columns[1], y, size=7.5, align="right")
    return y


def exemplar_rows(atlas: Any, rows: Ints, topic_ids: Sequence[int], *, most: int) -> list[int]:
    """Choose papers to begin with: one of each of the first regions.

    The most cited where citations are known of most; else the most typical, nearest in the full
    dimension to the mean of the facility's papers there.

    Parameters
    ----------
    atlas : Atlas
    rows : ndarray of int, shape (n,)
        The facility's papers.
    topic_ids : sequence of int
        Regions, that with most papers first.
    most : int

    Returns
    -------
    list of int
        Rows of the atlas.
    """
    import pandas as pd

    region = atlas.map["topic_id"].to_numpy()[rows]
    cites = pd.to_numeric(atlas.read_papers(["cites"])["cites"].iloc[rows]).to_numpy(
        dtype=float, na_value=np.nan
    )
    chosen = []
    for topic in list(topic_ids)[:most]:
        there = np.flatnonzero(region == topic)
        known = np.isfinite(cites[there])
        if known.mean() > 0.5:
            chosen.append(int(rows[there[np.nanargmax(cites[there])]]))
        else:
            vectors = np.asarray(atlas.vectors()[rows[there]], dtype=np.float64)
            chosen.append(int(rows[there[np.argmax(vectors @ vectors.mean(axis=0))]]))
    return chosen


def write_papers(page: ChartPage, box: Box, atlas: Any, rows: Sequence[int]) -> None:
    """Write papers one below the other: who, when, where on the map, and the title."""
    scale = page.scale
    left, bottom, right, top = box
    _heading(page, box, "Papers to begin with, one a region")
    told = atlas.read_papers(["title", "authors", "year", "paper_id"]).iloc[list(rows)]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    topics = atlas.map["topic_id"].to_numpy()[list(rows)]
    y = top - 12 * scale
    for paper, topic in zip(told.itertuples(), topics, strict=True):
        title = clean_name(paper.title, most=300)
        lines = page.setter.wrapped(title, size=7.5, weight="normal", width=right - left)
        if len(lines) > 2:
            second = page.shortened(" ".join(lines[1:]), width=right - left, size=7.5)
            lines = [lines[0], second if second.endswith("…") else f"{second}…"]
        if y - (13 + 9 * len(lines)) * scale < bottom:
            return
        y -= 11 * scale
        who = f"{_authors(paper.authors)} {paper.year} · {names.get(topic, '')} · {paper.paper_id}"
        page.write(
            page.shortened(who, width=right - left, size=SMALL, weight="bold"), left, y,
            size=SMALL, weight="bold", colour=page.colours.faint, gid="paper",
        )  # fmt: skip
        for line in lines:
            y -= 9 * scale
            page.write(line, left, y, size=7.5, gid="paper title")


def _authors(authors: Any) -> str:
    listed = [] if authors is None else [str(name) for name in authors]
    if not listed:
        return "Unknown author"
    return clean_name(short_names(listed, link="&"), most=40)


def _heading(page: ChartPage, box: Box, words: str) -> None:
    page.write(
        words, box[0], box[3] - 8 * page.scale, size=_HEADING, weight="bold", gid="heading"
    )  # fmt: skip
