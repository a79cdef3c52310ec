"""One-page report on a facility, for example for the appendix of a proposal."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from landscape._author_names import short_names
from landscape._wording import count, join_names
from landscape.corpus import Facility, find_facility
from landscape.errors import InputError
from landscape.figures._impact import (
    add_shares,
    draw_years,
    limits_first,
    scale_top,
    share_maps,
    spot_boxes,
    views_of,
)
from landscape.figures.caption import NEARNESS, caption_of
from landscape.figures.colours import share_ramp
from landscape.figures.export import check_kind, draw, save_figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import add_few_names, chosen_topics, map_panel, positions
from landscape.figures.page import SMALL, Page
from landscape.figures.scene import Box, Scene
from landscape.overlays.missions import measure_usage
from landscape.overlays.missions.usage import Usage, in_period, read_usage

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore

    Ints = NDArray[np.int64]

SIZE_INCHES = (8.5, 11.0)
_MIN_SIZE = (7.0, 9.0)
_TOP_REGIONS, _EXEMPLARS, _NAMES_ON_MAP = 12, 12, 7
_MIN_PAPERS = 3  # minimum papers of a listed region
_A_ROW, _MOST_NUMBERS = (5, 3, 4), 6  # numbers per row; the first that leaves no gap is used
_BIG, _PITCH = 16.0, 9.0  # font size of a key number; line height of its meaning in points
_HEADING, _LEAD, _HEADED = 9.0, 10.0, 12.0  # font sizes; height of the heading of the papers
_CHART, _A_YEAR = (90.0, 175.0), 20.0  # height of the chart of years, and for each year, in points
_LEAST_MAP = 0.7  # minimum height of the map, relative to its width
_METHOD = (
    "Intervals are 95% bootstrap intervals; those of regions and years are Wilson intervals, "
    "widened by the errors of roles. On the map, shares are shrunk towards the overall share where "
    "there are few papers.",
    NEARNESS,
)


def report(
    atlas: AtlasStore,
    facility: str,
    path: str | os.PathLike[str],
    *,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Path:
    """Write a one-page report on the impact of a facility on the literature.

    The page contains a summary, key numbers with intervals, a map of the share of the local
    literature, the share by year, the main regions and suggested papers. The caption describes the
    method and its limitations.

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
    colours : {"light", "dark"}, default "light"
    size_inches : (float, float), default (8.5, 11)
    n_resamples : int, default 1000
        Number of bootstrap samples for the intervals.
    seed : int, default 0

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the facility is unknown (the message suggests similar names), no paper of the period
        uses it, or the file is not writable.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.report(ls.open("my.atlas"), "ALMA", "alma.pdf")  # doctest: +SKIP
    """
    check_kind(path)
    scene = report_scene(
        atlas,
        facility,
        since=since,
        until=until,
        colours=colours,
        size_inches=size_inches,
        n_resamples=n_resamples,
        seed=seed,
    )
    return save_figure(draw(scene), path)


def report_scene(
    atlas: AtlasStore,
    facility: str,
    *,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Scene:
    """Return the scene of `report`."""
    if size_inches[0] < _MIN_SIZE[0] or size_inches[1] < _MIN_SIZE[1]:
        raise InputError(
            f"A report does not fit on {size_inches[0]:g} x {size_inches[1]:g} inches. Use at "
            f"least {_MIN_SIZE[0]:g} x {_MIN_SIZE[1]:g} inches."
        )
    of = find_facility(facility)
    usage = read_usage(atlas, [of.name])
    found = measure_usage(
        atlas, usage, since=since, until=until, n_resamples=n_resamples, seed=seed
    )
    row = found.table.iloc[0]
    if not int(row["papers"]):
        raise InputError(
            f"No paper of this period uses {of.name}. Choose another period or facility."
        )
    numbers = key_numbers(row)
    title = of.full_name if of.full_name == of.name else f"{of.full_name} ({of.name})"
    caption = limits_first(caption_of(found, *_METHOD), usage)  # bridges are not in the report
    kept = [sentence for sentence in caption.sentences if not sentence.startswith("Bridges")]
    page = Page(
        replace(caption, sentences=kept),
        {"colours": colours, "size_inches": size_inches, "title": title},
    )
    regions = found.tables["regions"].query("papers > 0")
    regions = regions.sort_values("papers", ascending=False, ignore_index=True)
    summary = summarize(row, regions, usage.verb)

    left, bottom, right, top = page.chart_area
    gap = 14 * page.scale
    for line in page.wrapped(_about(of), size=8.5, width=right - left):
        page.write(line, left, top - 4 * page.scale, size=8.5, colour=page.colours.faint)
        top -= 11 * page.scale
    top += 11 * page.scale
    for line in page.wrapped(summary, size=_LEAD, width=right - left, most=3):
        top -= 1.35 * _LEAD * page.scale
        page.write(line, left, top - 10 * page.scale, size=_LEAD, gid="summary")
    y = write_numbers(page, (left, bottom, right, top - 22 * page.scale), numbers)
    middle, upper = left + 0.56 * (right - left), y - 0.52 * (y - bottom)
    end = _write_regions(page, (middle, upper, right, y - gap), regions) - gap
    own = np.flatnonzero(usage.uses(0) & in_period(usage, since, until))
    rows = exemplar_rows(atlas, own, regions["topic_id"].tolist(), most=_EXEMPLARS)
    papers = _paper_columns(page, atlas, rows, width=right - middle)
    # The chart of years has the space that the papers leave, depending on the number of years.
    years = found.tables["years"]
    low, high = _CHART[0], float(np.clip(_A_YEAR * years["covered"].sum(), *_CHART))
    spare = end - bottom - gap - _HEADED * page.scale - max(map(_height, papers)) * page.scale
    cut = end - float(np.clip(spare, low * page.scale, high * page.scale))
    cut = min(cut, y - gap - 36 * page.scale - _LEAST_MAP * (middle - gap - left))
    draw_years(page, (middle, cut, right, end), years, of)
    _draw_share_map(page, (left, cut, middle - gap, y - gap), atlas, usage, (since, until))
    _heading(page, (left, bottom, right, cut - gap), "Suggested papers, one per region")
    for x, column in zip((left, middle), papers, strict=True):
        _write_papers(page, (x, bottom, right, cut - gap - _HEADED * page.scale), column)

    most = ", ".join(
        f"{clean_name(one.label)} ({one.papers:,} of {one.region_papers:,} papers)"
        for one in regions.head(5).itertuples()
    )
    more = (
        f"{summary} {'; '.join(map(str, numbers))}. Regions with the most papers: {most or 'none'}."
    )
    words = page.caption.describe(f"Report on {title}.", more)
    return page.scene(alt_text=words, table=regions)


def _about(of: Facility) -> str:
    """Return band, agency, years of operation and research fields."""
    until = f" to {of.end.year}" if of.end else ""
    first = f"First light {of.first_light.year}{until}"
    band = of.band[:1].upper() + of.band[1:]
    fields = f" Main research fields: {', '.join(of.home_fields)}." if of.home_fields else ""
    return clean_name(f"{band}. {of.agency}. {first}.{fields}", most=300)


# -- key numbers


@dataclass(frozen=True)
class Number:
    """A formatted number with its interval and meaning."""

    value: str
    interval: str
    meaning: str

    def __str__(self) -> str:
        within = f" ({self.interval})" if self.interval else ""
        return f"{self.meaning}: {self.value}{within}"


_OTHER_ROLES = {
    "planned_papers": "plan or forecast its use",
    "instrumentation_papers": "are about the facility itself",
    "mention_papers": "mention it as context",
}


def summarize(row: Mapping[str, Any], regions: pd.DataFrame, verb: str) -> str:
    """Return the main results in sentences that can be quoted."""
    share, interval = share_words(row["share"], row["share_low"], row["share_high"])
    words = (
        f"{row['papers']:,} of {count(row['corpus_papers'], 'paper')} {verb} {row['facility']}: "
        f"{share} (95% interval {interval})."
    )
    known = regions[regions["papers"] >= _MIN_PAPERS]
    if len(known):
        best = known.sort_values("share_low", ascending=False).iloc[0]
        share, interval = share_words(best["share"], best["share_low"], best["share_high"])
        words += (
            f" The largest share is in the region {clean_name(best['label'])}: {share} of its "
            f"{count(best['region_papers'], 'paper')} ({interval})."
        )
    others = [
        f"{row[column]:,} {meaning}" for column, meaning in _OTHER_ROLES.items() if row[column]
    ]
    if others and row["papers"] == row["science_papers"]:
        words += f" Of the other papers, {join_names(others)}."
    return words


def share_words(
    value: float, low: float, high: float, *, digits: int | None = None
) -> tuple[str, str]:
    """Format a share and its interval in per cent, with digits that tell the bounds apart."""
    if digits is None:
        wanted = round(0.7 - math.log10(max(100 * (high - low), 1e-3)))
        digits = min(max(wanted, int(abs(value) < 0.1)), 2)
    return f"{value:.{digits}%}", f"{low:.{digits}%} to {high:.{digits}%}"


def common_digits(shares: Sequence[tuple[float, float, float]]) -> int:
    """Return the fewest decimals with which no bound is 0% and all bounds differ, at most 2."""
    return next(
        digits
        for digits in range(3)
        if digits == 2
        or all(0 < round(100 * low, digits) < round(100 * high, digits) for _, low, high in shares)
    )


def key_numbers(row: Mapping[str, Any]) -> list[Number]:
    """Return the known key numbers of a facility from its row in an impact table."""
    import pandas as pd

    def share(name: str, meaning: str) -> Number | None:
        values = [row.get(f"{name}{end}") for end in ("", "_low", "_high")]
        known = [float(value) for value in values if value is not None and not pd.isna(value)]
        return Number(*share_words(*known), meaning) if len(known) == len(values) else None

    def whole(name: str) -> str:
        return f"{int(row[name]):,}" if not pd.isna(row.get(name)) else "unknown"

    numbers = [
        Number(whole("papers"), "", f"papers of {whole('corpus_papers')}"),
        share("share", "of all papers"),
        share(
            "local_share",
            f"of the papers in the {whole('core_regions')} regions that have 80% of its papers",
        ),
        share(
            "citations_share", f"of the known citations go to {whole('cited_papers')} of its papers"
        ),
        share("outside_home", "of its papers are outside its main research fields"),
    ]
    rise = [row.get(f"rise{end}", math.nan) for end in ("", "_low", "_high")]
    if row.get("rise_comparable", True) and (rise[1] > 0 or rise[2] < 0):
        value, low, high = (f"{100 * one:+.0f}".replace("-", "−") for one in rise)
        since = f"percentage points in these regions since first light in {row['first_light']!s:.4}"
        numbers.insert(3, Number(value, f"{low} to {high}", since))
    if not pd.isna(row.get("regions")):
        numbers.append(Number(whole("regions"), "", "regions have at least one of its papers"))
    return [number for number in numbers if number is not None][:_MOST_NUMBERS]


def write_numbers(page: Page, box: Box, numbers: list[Number]) -> float:
    """Write numbers with their meanings in rows, and return the lower edge in points."""
    left, _, right, top = box
    scale = page.scale
    a_row = min(_A_ROW, key=lambda columns: -len(numbers) % columns)
    pitch = (right - left) / a_row
    for start in range(0, len(numbers), a_row):
        y, n_lines = top - _BIG * scale, 1
        for column, number in enumerate(numbers[start : start + a_row]):
            x = left + column * pitch
            page.write(number.value, x, y, size=_BIG, weight="bold", gid="number")
            beside = x + page.extent(number.value, size=_BIG, weight="bold").width + 4 * scale
            page.write(
                number.interval,
                beside,
                y,
                size=SMALL,
                colour=page.colours.faint,
                gid="interval",
                width=pitch - (beside - x) - 6 * scale,
            )
            lines = page.wrapped(number.meaning, size=7.5, width=pitch - 8 * scale)
            n_lines = max(n_lines, len(lines))
            for place, line in enumerate(lines):
                down = (10 + _PITCH * place) * scale
                page.write(line, x, y - down, size=7.5, colour=page.colours.faint, gid="meaning")
        top = y - (10 + _PITCH * n_lines) * scale
    return top


# -- map, years, regions and papers


def _draw_share_map(
    page: Page, box: Box, atlas: AtlasStore, usage: Usage, period: tuple[int | None, int | None]
) -> None:
    """Draw the map of the share of the local literature, as high as the box."""
    scale = page.scale
    x, y = positions(atlas.map["x"], atlas.map["y"])
    _heading(page, box, "Share of the local literature")
    left, bottom, right, top = box
    inner = (left, bottom + 22 * scale, right, top - 14 * scale)
    panel = map_panel(page, inner, x, y, border=8 * scale, framed=True)
    (found,), _ = share_maps(page, panel, x, y, views_of(usage, [period]))
    most = scale_top([found])
    add_shares(page, panel, found, most, outline=False)
    names = chosen_topics(atlas.topics, levels=(0,))
    spots = spot_boxes(panel, found, most)
    reach = 60 * scale
    add_few_names(page, panel, names, most=_NAMES_ON_MAP, size=6.4, reserved=spots, reach=reach)
    words = f"{'≥' if most < 1 else ''}{100 * most:.3g}% of nearby papers"
    page.colour_bar(left, panel.box[1] - 12 * scale, share_ramp(page.colours), "0%", words)


def _write_regions(page: Page, box: Box, regions: pd.DataFrame) -> float:
    """List the regions with the most papers; return the lower edge of the list in points."""
    scale = page.scale
    left, bottom, right, top = box
    _heading(page, box, "Regions with the most papers")
    regions = regions[regions["papers"] >= min(_MIN_PAPERS, regions["papers"].max())]
    regions = regions.head(_TOP_REGIONS)
    shares = list(zip(*(regions[f"share{end}"] for end in ("", "_low", "_high")), strict=True))
    digits = common_digits(shares)
    cells = ["{} ({})".format(*share_words(*share, digits=digits)) for share in shares]
    widest = max((page.extent(words, size=7.5).width for words in cells), default=0.0)
    columns = [right - max(widest + 14 * scale, 76 * scale), right]
    y = top - 24 * scale
    for x, words in zip(columns, ("papers", "share of region"), strict=True):
        page.write(words, x, y, size=6.5, align="right", colour=page.colours.faint)
    counts = [f"{row.papers:,} of {row.region_papers:,}" for row in regions.itertuples()]
    widest = max((page.extent(words, size=7.5).width for words in counts), default=0.0)
    names = [
        page.wrapped(clean_name(name), size=7.5, width=columns[0] - left - widest - 6 * scale)
        for name in regions["label"]
    ]
    spare = (y - bottom) / scale - _PITCH * sum(map(len, names))
    gap = min(4.5, max(1.0, spare / max(len(names), 1))) * scale
    for lines, words, cell in zip(names, counts, cells, strict=True):
        height = gap + _PITCH * scale * len(lines)
        if y - height < bottom:
            break
        first = y - gap - _PITCH * scale
        for place, line in enumerate(lines):
            page.write(line, left, first - place * _PITCH * scale, size=7.5, gid="region")
        page.write(words, columns[0], first, size=7.5, align="right", gid="counts")
        page.write(cell, columns[1], first, size=7.5, align="right", gid="share")
        y -= height
    return y


def exemplar_rows(
    atlas: AtlasStore, rows: Ints, topic_ids: Sequence[int], *, most: int
) -> list[int]:
    """Choose the most cited paper of each region, or the most central if counts are unknown."""
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


_Lines = tuple[list[str], list[str]]  # authors, year and region of a paper; its title


def _height(papers: Sequence[_Lines]) -> float:
    """Return the height of a column of papers in points, at scale 1."""
    return float(sum(4 + 9 * (len(head) + len(title)) for head, title in papers))


def _paper_columns(
    page: Page, atlas: AtlasStore, rows: Sequence[int], *, width: float
) -> tuple[list[_Lines], list[_Lines]]:
    """Break authors, year, region and title into lines, and divide papers into two columns."""
    papers = atlas.read_papers(["title", "authors", "year", "paper_id"]).iloc[list(rows)]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    topics = atlas.map["topic_id"].to_numpy()[list(rows)]
    lines = []
    for paper, topic in zip(papers.itertuples(), topics, strict=True):
        who = f"{_authors(paper.authors)} {paper.year} · {names.get(topic, '')} · {paper.paper_id}"
        head = page.wrapped(who, size=SMALL, weight="bold", width=width)
        lines.append((head, page.wrapped(clean_name(paper.title, most=300), size=7.5, width=width)))
    cut = min(
        range(len(lines), -1, -1), key=lambda cut: max(_height(lines[:cut]), _height(lines[cut:]))
    )
    return lines[:cut], lines[cut:]


def _write_papers(page: Page, box: Box, papers: Sequence[_Lines]) -> None:
    """Write a column of papers; omit the last ones if there is no space."""
    scale = page.scale
    left, bottom, _, y = box
    for head, title in papers:
        if y - (4 + 9 * (len(head) + len(title))) * scale < bottom:
            return
        y -= 2 * scale
        for line in head:
            y -= 9 * scale
            page.write(
                line, left, y, size=SMALL, weight="bold", colour=page.colours.faint, gid="paper"
            )
        for line in title:
            y -= 9 * scale
            page.write(line, left, y, size=7.5, gid="paper title")


def _authors(authors: Sequence[str] | None) -> str:
    listed = [] if authors is None else [str(name) for name in authors]
    return clean_name(short_names(listed, link="&"), most=40) if listed else "Unknown author"


def _heading(page: Page, box: Box, words: str) -> None:
    page.write(words, box[0], box[3] - 8 * page.scale, size=_HEADING, weight="bold", gid="heading")
