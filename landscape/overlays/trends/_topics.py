"""Regions of the map that grow or shrink relative to the whole corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError
from landscape.overlays._periods import Years, count_years, format_spans, paper_years
from landscape.overlays.trends._rates import (
    FEW,
    count_by_year,
    false_discovery_rates,
    find_all_changes,
    find_eras,
    fit_slopes,
    share_interval,
)
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore


def trends(
    atlas: AtlasStore,
    *,
    since: int | None = None,
    until: int | None = None,
    level: int = 1,
    q: float = 0.05,
    least_change: float = 1.25,
) -> Analysis:
    """Find emerging and fading regions, and the years in which their course changed.

    A rate is the share of a region in all papers of a year; its slope is that of a logistic
    regression with quasi-binomial errors (McCullagh & Nelder 1989, section 4.5), fitted to the
    years that the corpus covers, with a level of its own for each era between abrupt changes of
    the corpus. Shares add up: where some regions grow, the others must shrink.

    Parameters
    ----------
    atlas : Atlas
    since, until : int, optional
        First and last year; all when not given.
    level : int, default 1
        1 for regions, 0 for continents.
    q : float, default 0.05
        False discovery rate among the regions called emerging or fading (Benjamini & Hochberg
        1995).
    least_change : float, default 1.25
        Factor by which the odds must have changed over the period for it to be called a trend.

    Returns
    -------
    Analysis
        One row a region, the fastest growing first: ``topic_id, label, papers, share``;
        ``slope`` (change of the log odds a year: 0.05 is about 5 per cent a year), ``change``
        (factor over the period), each with its interval; ``overdispersion, p, q``;
        ``class`` ("emerging", "fading", or "steady" where no trend is shown); ``change_years``
        and ``latest_slope`` (since the last of them). ``tables["years"]`` has every region and
        year, ``tables["changes"]`` the changes of course.

    Raises
    ------
    InputError
        If no paper is of this period, too few years are covered, or a setting cannot be.

    Examples
    --------
    >>> from landscape.overlays.trends import trends
    >>> trends(None, since=2020, until=2010)
    Traceback (most recent call last):
    landscape.errors.InputError: The period 2020 to 2010 ends before it begins; ...
    """
    _check(since, until, level=level, q=q, least_change=least_change)
    years = paper_years(atlas)
    topics = atlas.topics
    chosen = topics[topics["level"] == level][["topic_id", "label"]].reset_index(drop=True)
    groups = read_groups(atlas, level)
    period = _within(count_years(years), since, until)
    table, tables = _trends_of(chosen, groups, years, period, q=q, least_change=least_change)
    n_papers = int(period.counts.sum())
    placed = int(tables["years"]["papers"].sum())
    return Analysis(
        kind="trends",
        table=table,
        caption=(
            f"Regions of {atlas.coverage['title']} by their share of the papers of a year, "
            f"{period.years[0]} to {period.years[-1]}: {(table['class'] == 'emerging').sum()} "
            f"emerging, {(table['class'] == 'fading').sum()} fading of {len(table)} "
            f"(false discovery rate {q:g}, odds changed at least {least_change:g}-fold)."
        ),
        denominators={
            "papers": n_papers,
            "papers in regions": placed,
            "covered years": int(period.covered.sum()),
        },
        bounds=atlas.coverage,
        warnings=(*period.warnings, *_warnings(period, table)),
        tables=tables,
    )


def read_groups(atlas: AtlasStore, level: int = 1) -> NDArray[np.int64]:
    """The region (level 1) or continent (level 0) of every paper, -1 outside."""
    regions = atlas.map["topic_id"]
    if level == 0:
        topics = atlas.topics
        parent = topics.set_index("topic_id")["parent_id"].where(
            topics.set_index("topic_id")["level"] == 1
        )
        regions = regions.map(parent).fillna(-1)
    groups: NDArray[np.int64] = regions.to_numpy(dtype=np.int64)
    return groups


def _check(
    since: int | None, until: int | None, *, level: int, q: float, least_change: float
) -> None:
    if since is not None and until is not None and since > until:
        raise InputError(
            f"The period {since} to {until} ends before it begins; exchange the two years."
        )
    if level not in (0, 1):
        raise InputError(f"level is {level!r}; give 1 for regions or 0 for continents.")
    if not 0 < q < 1:
        raise InputError(f"The false discovery rate is {q!r}; give a number between 0 and 1.")
    if not least_change >= 1:
        raise InputError(
            f"The least change is {least_change!r}; give a factor of 1 or more, such as 1.25."
        )


def _within(whole: Years, since: int | None, until: int | None) -> Years:
    """The years of a period, with what the whole corpus says about their coverage."""
    first = whole.years[0] if since is None else since
    last = whole.years[-1] if until is None else until
    inside = (whole.years >= first) & (whole.years <= last)
    if not whole.counts[inside].sum():
        raise InputError(
            f"The atlas has no paper from {first} to {last}; its papers are of {whole.years[0]} "
            f"to {whole.years[-1]}."
        )
    period = Years(whole.years[inside], whole.counts[inside], whole.covered[inside])
    covered = period.years[period.covered]
    n_eras = len(np.unique(find_eras(period.counts[period.covered])))
    if len(covered) < n_eras + 2:
        named = ", ".join(format_spans(covered)) or "none"
        raise InputError(
            f"A trend needs at least {n_eras + 2} years that the corpus covers, and from {first} "
            f"to {last} there are {len(covered)} ({named}); give a longer period."
        )
    return period


def _trends_of(
    topics: pd.DataFrame,
    groups: NDArray[np.int64],
    years: NDArray[np.int64],
    period: Years,
    *,
    q: float,
    least_change: float,
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    counts = count_by_year(groups, years, ids=topics["topic_id"], calendar=period.years)
    covered = period.covered
    calendar, totals = period.years[covered], period.counts[covered]
    eras = find_eras(totals)
    slopes, fitted = fit_slopes(counts[:, covered], totals, calendar, eras)
    changes = find_all_changes(counts[:, covered], totals, calendar, eras)
    papers = counts.sum(axis=1)
    table = topics.assign(papers=papers, share=papers / period.counts.sum())
    table = table.join(slopes.drop(columns="slope_error"))
    table["q"] = false_discovery_rates(np.where(papers > 0, table["p"], np.nan))
    table["class"] = _classes(table, q=q, least_change=least_change)
    found = changes.groupby("row")
    table["change_years"] = [
        found.get_group(row)["year"].tolist() if row in found.groups else []
        for row in range(len(table))
    ]
    table["latest_slope"] = table.index.map(found["slope_after"].last())
    table["latest_slope"] = table["latest_slope"].astype(float).fillna(table["slope"])
    tables = {
        "years": _years_table(topics, counts, period, fitted),
        "changes": topics.loc[changes["row"]]
        .reset_index(drop=True)
        .join(changes.drop(columns="row").reset_index(drop=True)),
    }
    return table.sort_values("slope", ascending=False, ignore_index=True), tables


def _classes(table: pd.DataFrame, *, q: float, least_change: float) -> NDArray[np.str_]:
    shown = (table["q"] <= q) & (table["papers"] >= FEW)
    emerging = shown & (table["change"] >= least_change)
    fading = shown & (table["change"] <= 1 / least_change)
    return np.where(emerging, "emerging", np.where(fading, "fading", "steady"))


def _years_table(
    topics: pd.DataFrame, counts: NDArray[np.int64], period: Years, fitted: NDArray[np.float64]
) -> pd.DataFrame:
    """A row for each topic and year; no share where the corpus does not cover the year."""
    n_topics, n_years = counts.shape
    low, high = share_interval(counts, period.counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / period.counts
    line = np.full(counts.shape, np.nan)
    line[:, period.covered] = fitted
    table = topics.loc[topics.index.repeat(n_years)].reset_index(drop=True)
    columns = {"share": share, "share_low": low, "share_high": high, "fitted": line}
    return table.assign(
        year=np.tile(period.years, n_topics),
        papers=counts.ravel(),
        corpus_papers=np.tile(period.counts, n_topics),
        covered=np.tile(period.covered, n_topics),
        **{
            name: np.where(period.covered, values, np.nan).ravel()
            for name, values in columns.items()
        },
    )


def _warnings(period: Years, table: pd.DataFrame) -> tuple[str, ...]:
    said = []
    if len(np.unique(find_eras(period.counts[period.covered]))) > 1:
        said.append("Slopes are those within the eras between abrupt changes of the corpus.")
    small = int((table["papers"] < FEW).sum())
    if small:
        have = "region has" if small == 1 else "regions have"
        said.append(f"{small} {have} fewer than {FEW} papers of this period: no class.")
    return tuple(said)
