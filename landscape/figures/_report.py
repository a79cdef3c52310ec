"""One page about a facility, ready for the appendix of a proposal."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from landscape._author_names import short_names
from landscape.errors import InputError
from landscape.figures._caption import NEARNESS, caption_of
from landscape.figures._colours import share_ramp, theme
from landscape.figures._export import check_kind, save_figure
from landscape.figures._impact import add_shares, scale_top, share_maps, views_of
from landscape.figures._labels import clean_name
from landscape.figures._maps import add_few_names, chosen_topics, map_box, map_panel, positions
from landscape.figures._page import SMALL, Page
from landscape.figures._scene import Box, Rule
from landscape.figures._trends import share_panel

if TYPE_CHECKING:
    import pandas as pd

    from landscape.corpus._facilities import Facility
    from landscape.figures._matplotlib import Sheet
    from landscape.overlays.missions._usage import Usage
    from landscape.store import AtlasStore
    from landscape.types import Analysis

    Ints = NDArray[np.int64]

SIZE_INCHES = (8.5, 11.0)
_LEAST_SIZE = (7.0, 9.0)
_TOP_REGIONS, _EXEMPLARS, _NAMES_ON_MAP = 12, 7, 7
_A_ROW = 4
_BIG, _TILE = 16.0, 56.0  # font size of a number; height of a tile
_HEADING = 9.0
_NOT_KNOWN = "–"
_METHOD = (
    "Intervals hold 95% of bootstrap samples of the papers; those of regions and years are "
    "Wilson's. On the map shares are shrunk towards the overall share where papers are few.",
    NEARNESS,
)


def report(
    atlas: AtlasStore,
    facility: str,
    path: str | os.PathLike[str],
    *,
    since: int | None = None,
    until: int | None = None,
    **options: Any,
) -> Path:
    """Write a one-page report on the impact of a facility on the literature.

    The page has key numbers with intervals, a map of the share of the local literature, the share
    by year, the main regions, suggested papers, and method and bounds.

    Parameters
    ----------
    atlas : AtlasStore
    facility : str
        Name or alias.
    path : path
        File to write: ``.pdf``, ``.png``, ``.svg`` or ``.html``. The table of regions is
        written next to it.
    since, until : int, optional
        First and last year, both included.
    **options
        ``colours``, ``size_inches`` (upright, 8.5 by 11), ``n_resamples`` and ``seed`` of the
        intervals.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For an unknown facility (similar names are suggested), one that no paper of the period
        mentions, or a file that is not writable.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.report(ls.open("my.atlas"), "ALMA", "alma.pdf")  # doctest: +SKIP
    """
    check_kind(path)
    return save_figure(draw_report(atlas, facility, since=since, until=until, **options), path)


def draw_report(
    atlas: AtlasStore,
    facility: str,
    *,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Sheet:
    """Draw the page of `report`."""
    from landscape.corpus._facilities import find_facility
    from landscape.overlays.missions._impact import measure_usage
    from landscape.overlays.missions._usage import read_usage

    if size_inches[0] < _LEAST_SIZE[0] or size_inches[1] < _LEAST_SIZE[1]:
        raise InputError(
            f"A report does not fit on {size_inches[0]:g} x {size_inches[1]:g} inches; use at "
            f"least {_LEAST_SIZE[0]:g} x {_LEAST_SIZE[1]:g}."
        )
    of = find_facility(facility)
    usage = read_usage(atlas, [of.name])
    found = measure_usage(
        atlas, usage, since=since, until=until, n_resamples=n_resamples, seed=seed
    )
    row = found.table.iloc[0]
    if not int(row["papers"]):
        raise InputError(
            f"No paper of this period mentions {of.name}; choose another period or facility."
        )
    numbers = key_numbers(row)
    home = [f"Home fields: {', '.join(of.home_fields)}."] if of.home_fields else []
    caption = caption_of(found, *_METHOD, *home)
    title = of.full_name if of.full_name == of.name else f"{of.full_name} ({of.name})"
    page = Page(size_inches, theme(colours), caption, title=title)
    _compose(page, atlas, of, found, numbers, usage, since=since, until=until)
    table = _regions_table(found)
    told = "; ".join(number.in_words for number in numbers)
    top = ", ".join(
        f"{clean_name(one.label)} ({one.papers:,} of {one.region_papers:,} papers)"
        for one in table.head(5).itertuples()
    )
    more = f"{told}. Regions with most of its papers: {top or 'none'}."
    words = caption.describe(f"Report on {title}.", more)
    return page.draw(alt_text=words, table=table, on_screen=("map",))


def _compose(
    page: Page, atlas: AtlasStore, of: Facility, found: Analysis, numbers: list[Number],
    usage: Usage, *, since: int | None, until: int | None,
) -> None:  # fmt: skip
    """Draw the parts of the page: numbers, map and regions, years and papers."""
    from landscape.overlays.missions._usage import in_period

    left, bottom, right, top = page.room
    gap = 14 * page.scale
    page.write(_about(of), left, top - 4 * page.scale, size=8.5, colour=page.colours.faint)
    y = write_numbers(page, (left, bottom, right, top - 14 * page.scale), numbers)
    middle, rest = left + 0.56 * (right - left), y - bottom
    foot = _draw_share_map(
        page, (left, y - 0.56 * rest, middle - gap, y - gap), atlas, usage, (since, until)
    )
    end = _write_regions(
        page, (middle, y - 0.56 * rest, right, y - gap), found.tables["regions"], most=_TOP_REGIONS
    )
    second = min(foot, end) - gap
    _draw_years(page, (left, bottom, middle - gap, second), found.tables["years"], of)
    core = found.tables["regions"].query("papers > 0").sort_values("papers", ascending=False)
    own = np.flatnonzero(usage.uses(0) & in_period(usage, since, until))
    rows = exemplar_rows(atlas, own, core["topic_id"].tolist(), most=_EXEMPLARS)
    _write_papers(page, (middle, bottom, right, second), atlas, rows)


def _about(of: Facility) -> str:
    """Return band, agency and years of operation in one line."""
    until = f" to {of.end.year}" if of.end else ""
    first = f"First light {of.first_light.year}{until}"
    band = of.band[:1].upper() + of.band[1:]
    return clean_name(f"{band}. {of.agency}. {first}.", most=160)


def _regions_table(found: Analysis) -> Any:
    return (
        found.tables["regions"]
        .query("papers > 0")
        .sort_values("papers", ascending=False, ignore_index=True)
    )


# -- key numbers


@dataclass(frozen=True)
class Number:
    """A formatted number with its interval and meaning."""

    value: str
    interval: str
    meaning: str

    @property
    def in_words(self) -> str:
        """The number in one phrase."""
        within = f" ({self.interval})" if self.interval else ""
        return f"{self.meaning}: {self.value}{within}"


def key_numbers(row: Mapping[str, Any]) -> list[Number]:
    """Return the key numbers of a row of an impact table."""
    regions = f"{_whole(row, 'core_regions')} main regions"
    first_light = str(row.get("first_light", ""))[:4]
    return [
        Number(_whole(row, "papers"), "", f"papers of {_whole(row, 'corpus_papers')}"),
        _number(row, "share", _percent, "of all papers"),
        _number(
            row, "local_share", _percent,
            f"of {_whole(row, 'local_corpus')} papers in the {regions}",
        ),
        _rise(row, first_light),
        _number(
            row, "citations_share", _percent,
            f"of all citations ({_whole(row, 'cited_papers')} of its papers known)",
        ),
        _number(
            row, "effective_regions", "{:.1f}".format,
            f"regions, effectively (papers in {_whole(row, 'regions')})",
        ),
        _number(
            row, "outside_home", _percent,
            f"outside its home fields, of {_whole(row, 'fields_known')} papers",
        ),
        _number(
            row, "bridging", "×{:.2f}".format, "regions reached by a paper, against others there"
        ),
    ]  # fmt: skip


def write_numbers(page: Page, box: Box, numbers: list[Number]) -> float:
    """Write numbers as tiles, four per row, and return their lower edge in points."""
    left, _, right, top = box
    scale = page.scale
    pitch = (right - left) / _A_ROW
    for place, number in enumerate(numbers):
        row, column = divmod(place, _A_ROW)
        x, y = left + column * pitch, top - row * _TILE * scale - _BIG * scale
        page.write(number.value, x, y, size=_BIG, weight="bold", gid="number")
        beside = x + page.extent(number.value, size=_BIG, weight="bold").width + 4 * scale
        room = pitch - (beside - x) - 6 * scale
        interval = page.shortened(number.interval, width=room, size=SMALL)
        page.write(interval, beside, y, size=SMALL, colour=page.colours.faint, gid="interval")
        lines = page.wrapped(number.meaning, size=7.5, weight="normal", width=pitch - 8 * scale)
        for line_number, line in enumerate(lines[:2]):
            page.write(
                line, x, y - (10 + 9 * line_number) * scale, size=7.5, colour=page.colours.faint,
                gid="meaning",
            )  # fmt: skip
    return top - math.ceil(len(numbers) / _A_ROW) * _TILE * scale


def _number(
    row: Mapping[str, Any], name: str, written: Callable[[float], str], meaning: str
) -> Number:
    value, low, high = (_float(row.get(f"{name}{end}")) for end in ("", "_low", "_high"))
    if not math.isfinite(value):
        return Number(_NOT_KNOWN, "not known", meaning)
    bounded = math.isfinite(low) and math.isfinite(high)
    return Number(written(value), f"{written(low)} to {written(high)}" if bounded else "", meaning)


def _rise(row: Mapping[str, Any], first_light: str) -> Number:
    """Return the rise of the share since first light, if the corpus is comparable."""
    if not row.get("rise_comparable", True):
        meaning = f"rise since first light, {first_light}: the corpus itself changed meanwhile"
        return Number(_NOT_KNOWN, "not comparable", meaning)
    return _number(
        row,
        "rise",
        lambda value: f"{100 * value:+.1f} pts",
        f"in that share since first light, {first_light}",
    )


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _whole(row: Mapping[str, Any], name: str) -> str:
    value = _float(row.get(name))
    return f"{value:,.0f}" if math.isfinite(value) else _NOT_KNOWN


def _percent(value: float) -> str:
    return f"{value:.0%}" if abs(value) >= 0.1 else f"{value:.1%}"


# -- map, years, regions and papers


def _draw_share_map(
    page: Page, box: Box, atlas: AtlasStore, usage: Usage, period: tuple[int | None, int | None]
) -> float:
    """Draw the map of the share of the local literature; return its lower edge in points."""
    scale = page.scale
    x, y = positions(atlas.map["x"], atlas.map["y"])
    _heading(page, box, "Share of the local literature")
    left, bottom, right, top = box
    room = map_box((left, bottom + 22 * scale, right, top - 14 * scale), x, y, least=0.7)
    panel = map_panel(page, room, x, y, border=8 * scale, framed=True)
    (found,), _ = share_maps(page, panel, x, y, views_of(usage, [period]))
    most = scale_top([found])
    add_shares(page, panel, found, most, outline=False)
    names = chosen_topics(atlas.topics, levels=(0,))
    add_few_names(page, panel, names, most=_NAMES_ON_MAP, size=6.4)
    words = f"{'≥' if most < 1 else ''}{100 * most:.3g}% of the papers there"
    page.colour_bar(left, panel.box[1] - 12 * scale, share_ramp(page.colours), "0%", words)
    return panel.box[1] - 22 * scale


def _draw_years(page: Page, box: Box, years: pd.DataFrame, of: Facility) -> None:
    """Draw the share of papers by year with intervals; years not covered are hatched."""
    scale = page.scale
    _heading(page, box, "Share of all papers by year")
    left, bottom, right, top = box
    bottom = max(bottom, top - 220 * scale)
    panel = share_panel(
        page, (left + 24 * scale, bottom + 14 * scale, right, top - 16 * scale),
        years.rename(columns={"low": "share_low", "high": "share_high"}),
        colour=page.colours.found, gid="years", n_ticks=6,
    )  # fmt: skip
    first = of.first_light.year + of.first_light.month / 12 - 0.5
    if panel.x.limits[0] < first < panel.x.limits[1]:
        panel.layers.append(
            Rule(x=first, colour=page.colours.ink, width=0.7 * scale, dashes="dotted",
                 label="first light", gid="first light")
        )  # fmt: skip


def _write_regions(page: Page, box: Box, regions: pd.DataFrame, *, most: int) -> float:
    """List the regions with the most papers; return the lower edge in points."""
    scale = page.scale
    left, bottom, right, top = box
    _heading(page, box, "Main regions")
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
        room = columns[0] - left - page.extent(counts, size=7.5).width - 6 * scale
        page.write(page.shortened(row.label, width=room, size=7.5), left, y, size=7.5, gid="region")
        page.write(counts, columns[0], y, size=7.5, align="right")
        share = f"{row.share:.0%} ({row.share_low:.0%} to {row.share_high:.0%})"
        page.write(share, columns[1], y, size=7.5, align="right")
    return y


def exemplar_rows(
    atlas: AtlasStore, rows: Ints, topic_ids: Sequence[int], *, most: int
) -> list[int]:
    """Choose one paper of each of the first regions: the most cited or the most central."""
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


def _write_papers(page: Page, box: Box, atlas: AtlasStore, rows: Sequence[int]) -> None:
    """List papers with authors, year, region and title."""
    scale = page.scale
    left, bottom, right, top = box
    _heading(page, box, "Suggested papers, one per region")
    told = atlas.read_papers(["title", "authors", "year", "paper_id"]).iloc[list(rows)]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    topics = atlas.map["topic_id"].to_numpy()[list(rows)]
    y = top - 12 * scale
    for paper, topic in zip(told.itertuples(), topics, strict=True):
        title = clean_name(paper.title, most=300)
        lines = page.wrapped(title, size=7.5, weight="normal", width=right - left)
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
    return clean_name(short_names(listed, link="&"), most=40) if listed else "Unknown author"


def _heading(page: Page, box: Box, words: str) -> None:
    page.write(
        words, box[0], box[3] - 8 * page.scale, size=_HEADING, weight="bold", gid="heading"
    )  # fmt: skip
