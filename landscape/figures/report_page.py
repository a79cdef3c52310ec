"""One page about a facility, ready for the appendix of a proposal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import GENERATED
from landscape.figures.chart_page import sentences_of
from landscape.figures.colours import theme
from landscape.figures.names import clean_name

if TYPE_CHECKING:
    from landscape.figures.chart_page import ChartPage
    from landscape.figures.report_numbers import Number
    from landscape.figures.sheet import Sheet
    from landscape.overlays.missions._facilities import Facility
    from landscape.types import Analysis

SIZE_INCHES = (8.5, 11.0)
_LEAST_SIZE = (7.0, 9.0)
_TOP_REGIONS, _EXEMPLARS = 12, 7


def report(
    atlas: Any,
    facility: str,
    path: str | os.PathLike[str],
    *,
    since: int | None = None,
    until: int | None = None,
    **options: Any,
) -> Path:
    """Write a one-page report on what a facility did to the literature.

    Key numbers with intervals, its share of the local literature as a map, its share in time, the
    regions where it works, papers to begin with, and method and bounds.

    Parameters
    ----------
    atlas : Atlas
        With its layer of facilities.
    facility : str
        Any of its names.
    path : path
        File to write: ``.pdf``, or ``.png`` or ``.svg``. The table of regions goes beside it.
    since, until : int, optional
        First and last year, both included.
    **options
        As for `draw_report`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For an unknown facility (nearest names are suggested), one that no paper of the period
        mentions, or a file that cannot be written.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.report(ls.open("my.atlas"), "ALMA", "alma.pdf")  # doctest: +SKIP
    """
    from landscape.figures.export import check_kind, save_figure

    check_kind(path)
    return save_figure(draw_report(atlas, facility, since=since, until=until, **options), path)


def draw_report(
    atlas: Any,
    facility: str,
    *,
    since: int | None = None,
    until: int | None = None,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Sheet:
    """Draw the page of `report`.

    Parameters
    ----------
    atlas : Atlas
    facility : str
    since, until : int, optional
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    size_inches : (float, float), default (8.5, 11)
        Upright; at least 7 by 9.
    n_resamples : int, default 1000
        Bootstrap samples of the intervals.
    seed : int, default 0

    Returns
    -------
    Sheet
        A matplotlib Figure; its ``table`` is that of the regions.

    Raises
    ------
    InputError
        As for `report`, and for a page too small.
    """
    import matplotlib as mpl

    from landscape.figures.chart_page import ChartPage
    from landscape.figures.report_numbers import key_numbers
    from landscape.figures.sheet import SETTINGS
    from landscape.overlays.missions._facilities import find_facility
    from landscape.overlays.missions._impact import impact

    if size_inches[0] < _LEAST_SIZE[0] or size_inches[1] < _LEAST_SIZE[1]:
        raise InputError(
            f"A report does not fit on {size_inches[0]:g} x {size_inches[1]:g} inches; use at "
            f"least {_LEAST_SIZE[0]:g} x {_LEAST_SIZE[1]:g}."
        )
    of = find_facility(facility)
    found = impact(atlas, [of.name], since=since, until=until, n_resamples=n_resamples, seed=seed)
    row = found.table.iloc[0]
    if not int(row["papers"]):
        raise InputError(
            f"No paper of this period mentions {of.name}; choose another period or facility."
        )
    numbers = key_numbers(row)
    generated = bool(found.bounds.get("generated"))
    sentences = [*sentences_of(found), *_method(of)]
    with mpl.rc_context(SETTINGS):
        page = ChartPage(size_inches, theme(colours), title=_title(of))
        page.reserve_caption(sentences, generated=generated)
        _set(page, atlas, of, found, numbers, since=since, until=until)
    sheet = page.sheet
    sheet.table = _regions_table(found)
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _alt_text(of, numbers, found, sentences, generated=generated)
    return sheet


def _set(
    page: ChartPage,
    atlas: Any,
    of: Facility,
    found: Analysis,
    numbers: list[Number],
    *,
    since: int | None,
    until: int | None,
) -> None:
    """Set the parts of a report below each other: numbers, map and regions, years and papers."""
    from landscape.figures import report_parts as parts
    from landscape.figures.report_numbers import write_numbers
    from landscape.overlays.missions._usage import in_period, read_usage

    left, bottom, right, top = page.room
    gap = 14 * page.scale
    page.write(_about(of), left, top - 4 * page.scale, size=8.5, colour=page.colours.faint)
    y = write_numbers(page, (left, bottom, right, top - 14 * page.scale), numbers)
    middle = left + 0.56 * (right - left)
    usage = read_usage(atlas, [of.name])
    inside, uses = in_period(usage, since, until), usage.uses(0)
    rest = y - bottom
    foot = parts.draw_share_map(
        page, (left, y - 0.56 * rest, middle - gap, y - gap), atlas, uses, inside
    )
    end = parts.write_regions(
        page, (middle, y - 0.56 * rest, right, y - gap), found.tables["regions"], most=_TOP_REGIONS
    )
    second = min(foot, end) - gap
    parts.draw_years(page, (left, bottom, middle - gap, second), found.tables["years"], of)
    core = found.tables["regions"].query("papers > 0").sort_values("papers", ascending=False)
    rows = parts.exemplar_rows(
        atlas, np.flatnonzero(uses & inside), core["topic_id"].tolist(), most=_EXEMPLARS
    )
    parts.write_papers(page, (middle, bottom, right, second), atlas, rows)


def _title(of: Facility) -> str:
    return of.full_name if of.full_name == of.name else f"{of.full_name} ({of.name})"


def _about(of: Facility) -> str:
    """Band, agency and years of operation in one line."""
    until = f" to {of.end.year}" if of.end else ""
    first = f"First light {of.first_light.year}{until}"
    band = of.band[:1].upper() + of.band[1:]
    return clean_name(f"{band}. {of.agency}. {first}.", most=160)


def _method(of: Facility) -> list[str]:
    home = ", ".join(of.home_fields)
    return [
        "Intervals hold 95% of bootstrap samples of the papers; those of regions and years are "
        "Wilson's. On the map shares are shrunk towards the overall share where papers are few; "
        "near means similar, directions mean nothing.",
        *([f"Home fields: {home}."] if home else []),
    ]


def _regions_table(found: Analysis) -> Any:
    return (
        found.tables["regions"]
        .query("papers > 0")
        .sort_values("papers", ascending=False, ignore_index=True)
    )


def _alt_text(
    of: Facility, numbers: list[Number], found: Analysis, sentences: list[str], *, generated: bool
) -> str:
    told = "; ".join(number.in_words for number in numbers)
    top = ", ".join(
        f"{clean_name(row.label)} ({row.papers:,} of {row.region_papers:,} papers)"
        for row in _regions_table(found).head(5).itertuples()
    )
    warning = f"{GENERATED} " if generated else ""
    return (
        f"{warning}Report on {_title(of)}. {' '.join(sentences)} {told}. "
        f"Regions with most of its papers: {top or 'none'}."
    )
