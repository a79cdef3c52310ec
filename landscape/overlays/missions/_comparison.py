"""Two facilities compared, and the literature before and after first light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.overlays.missions._impact import (
    Period,
    collapse_cases,
    count_facility_years,
    describe_case,
    measure_samples,
    read_reach,
    region_table,
    warn_of_rise,
)
from landscape.overlays.missions._measures import (
    PERCENTILE_STEPS,
    count_equal_rows,
    draw_cells,
    growth_interval,
    median_of_counts,
    newcombe_interval,
    percentile_interval,
    wilson_interval,
)
from landscape.overlays.missions._usage import (
    Usage,
    flag_home_papers,
    format_period,
    in_period,
    read_usage,
)
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_MEASURES = (
    "papers", "share", "local_share", "rise", "entropy", "effective_regions", "outside_home",
    "bridging",
)  # fmt: skip


def compare_facilities(
    atlas: AtlasStore,
    facilities: Sequence[str],
    *,
    since: int | None = None,
    until: int | None = None,
    links: Literal["vectors", "citations"] = "vectors",
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Compare the first facility with each of the others.

    Both are measured in the same bootstrap samples, so papers that mention both count for both
    and the interval of a difference is not the sum of two intervals.

    Parameters
    ----------
    atlas : Atlas
    facilities : sequence of str
        Two or more, by any of their names.
    since, until : int, optional
        First and last year of the period, both included.
    links : {"vectors", "citations"}, default "vectors"
        See `impact`.
    n_resamples : int, default 1000
    seed : int, default 0

    Returns
    -------
    Analysis
        ``measure, facility, other, value, other_value, difference, low, high, probability``
        (share of the samples in which the first is larger, ties half; 0.5 is no difference).
        ``tables["regions"]``: the shares of both in each region and their difference with
        Newcombe's 95% interval.

    Raises
    ------
    InputError
        For fewer than two facilities, an unknown one, or a period without a paper.

    Examples
    --------
    >>> compare_facilities(atlas, ["HST", "JWST"], since=2023)  # doctest: +SKIP
    """
    import pandas as pd

    usage = read_usage(atlas, facilities)
    if len(usage.facilities) < 2:
        raise InputError(
            f"Only {usage.facilities[0].name} is given; name at least two facilities to compare."
        )
    inside = in_period(usage, since, until)
    home = flag_home_papers(atlas, [one.home_fields for one in usage.facilities], usage.rows)
    period = Period(usage, inside, read_reach(atlas, usage, links))
    tables = []
    before: dict[str, float] = {}
    for other in range(1, len(usage.facilities)):
        pair = (0, other)
        random = np.random.default_rng(seed)
        values, draws, known = _measures(usage, period, pair, home, n_resamples, random)
        cited, cited_draws = _citations(usage, period, pair, n_resamples, random)
        names = [usage.facilities[index].name for index in pair]
        before |= dict(zip(names, known, strict=True))
        tables.append(_differences(names, values | cited, draws | cited_draws))
    bounds = atlas.coverage
    return Analysis(
        kind="compare_facilities",
        table=pd.concat(tables, ignore_index=True),
        caption=(
            f"{usage.facilities[0].name} beside "
            f"{', '.join(one.name for one in usage.facilities[1:])} in {bounds['title']} "
            f"({bounds['papers']:,} papers, {bounds['first_date']} to {bounds['last_date']}), "
            f"{format_period(since, until)}: differences with 95% bootstrap intervals."
        ),
        denominators={
            "papers of the period": int(period.inside.sum()),
            **{
                f"papers with {one.name}": int(period.inside[rows].sum())
                for one, rows in zip(usage.facilities, usage.rows, strict=True)
            },
        },
        bounds=bounds,
        warnings=(*usage.years.warnings, *warn_of_rise(before)),
        tables={"regions": _regions(usage, period)},
    )


Values = dict[str, tuple[float, float]]
Draws = dict[str, tuple["NDArray[np.float64]", "NDArray[np.float64]"]]


def _measures(
    usage: Usage,
    period: Period,
    pair: tuple[int, int],
    home: Sequence[NDArray[np.int8]],
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[Values, Draws, tuple[float, float]]:
    """Values and bootstrap values of both, from the same samples; papers before."""
    reached = period.reach.n_reached
    cases = [describe_case(usage, one, period.inside, home[one], reached) for one in pair]
    cells, counts = collapse_cases(cases)
    values, draws = measure_samples(
        cells, counts, period.crossing, n_resamples=n_resamples, random=random
    )
    return (
        {name: (values[0][name], values[1][name]) for name in _MEASURES},
        {name: (draws[0][name], draws[1][name]) for name in _MEASURES},
        (values[0]["corpus_before"], values[1]["corpus_before"]),
    )


def _citations(
    usage: Usage,
    period: Period,
    pair: tuple[int, int],
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[Values, Draws]:
    """Median and mean percentile of the citations of both."""
    either = np.union1d(*(usage.rows[index] for index in pair))
    rows = either[(period.inside & np.isfinite(usage.cites))[either]]
    uses = [np.isin(rows, usage.rows[index]) for index in pair]
    levels, level = np.unique(usage.cites[rows], return_inverse=True)
    steps = np.round(period.percentiles[rows] * PERCENTILE_STEPS).astype(np.int64)
    columns = [uses[0].astype(np.int64), uses[1].astype(np.int64), level.astype(np.int64), steps]
    cells, counts = count_equal_rows(columns)
    drawn = draw_cells(counts, n_resamples=n_resamples, random=random)
    medians, means = [], []
    for column in cells[:2]:
        its = column == 1
        order = np.argsort(cells[2][its], kind="stable")
        ranked = levels[cells[2][its][order]]
        step = cells[3][its][order] / PERCENTILE_STEPS
        both = np.vstack([counts[its][order], drawn[:, its][:, order]])
        medians.append(median_of_counts(ranked, both))
        with np.errstate(divide="ignore", invalid="ignore"):
            means.append((both @ step) / both.sum(axis=1))
    found = {"citations_median": medians, "citation_percentile": means}
    return (
        {name: (float(a[0]), float(b[0])) for name, (a, b) in found.items()},
        {name: (a[1:], b[1:]) for name, (a, b) in found.items()},
    )


def _differences(names: Sequence[str], values: Values, draws: Draws) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for name, (value, other) in values.items():
        a, b = draws[name]
        if name == "entropy":  # samples have less of it, see `measure_interval`
            a, b = a + (value - np.nanmean(a)), b + (other - np.nanmean(b))
        if name == "effective_regions":  # the exponential of the entropy
            a = a * (value / np.exp(np.nanmean(np.log(a))))
            b = b * (other / np.exp(np.nanmean(np.log(b))))
        low, high = percentile_interval(a - b)
        both = np.isfinite(a) & np.isfinite(b)
        larger = (a[both] > b[both]) + 0.5 * (a[both] == b[both])
        rows.append(
            {
                "measure": name, "facility": names[0], "other": names[1], "value": value,
                "other_value": other, "difference": value - other, "low": low, "high": high,
                "probability": float(larger.mean()) if both.any() else float("nan"),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _regions(usage: Usage, period: Period) -> pd.DataFrame:
    """Shares of the first facility and of each other, region by region."""
    import pandas as pd

    first = region_table(usage, period, 0)
    tables = []
    for index in range(1, len(usage.facilities)):
        second = region_table(usage, period, index)
        low, high = newcombe_interval(
            first["papers"], first["region_papers"], second["papers"], second["region_papers"]
        )
        table = first[
            ["facility", "topic_id", "label", "x", "y", "region_papers", "papers", "share"]
        ].assign(
            other=second["facility"],
            other_papers=second["papers"],
            other_share=second["share"],
            difference=first["share"] - second["share"],
            low=low,
            high=high,
        )
        tables.append(table.sort_values("difference", ascending=False, kind="stable"))
    return pd.concat(tables, ignore_index=True)


OVERALL = "All regions"


def before_after(atlas: AtlasStore, facility: str, *, year: int | None = None) -> Analysis:
    """Compare the literature before a facility's first light with that since.

    Two things are distinguished: how much of a region's literature mentions the facility (its
    share), and whether the region itself grew relative to the whole corpus (growth). Neither says
    that the facility was the cause.

    Parameters
    ----------
    atlas : Atlas
    facility : str
        Any of its names.
    year : int, optional
        Compare the years before this one with it and those after, instead of first light: for a
        facility whose first papers came late, or to see a new instrument.

    Returns
    -------
    Analysis
        First the row of all regions (``topic_id`` -1), then one row a region, the largest rise
        first: ``facility, topic_id, label, corpus_before, papers_before, share_before,
        share_before_low, share_before_high``, the same ``_after``, ``rise, rise_low, rise_high``
        (difference of the shares, Newcombe's interval), ``growth, growth_low, growth_high``
        (ratio of the region's shares of the corpus). 95% intervals that hold for small counts;
        years that the corpus does not cover are left out. ``tables["years"]`` counts by year.

    Raises
    ------
    InputError
        For an unknown facility, or where the corpus has no paper before or since.

    Examples
    --------
    >>> before_after(atlas, "ALMA")  # doctest: +SKIP
    """
    usage = read_usage(atlas, [facility])
    one = usage.facilities[0]
    since = np.datetime64(one.first_light if year is None else f"{year:04d}-01-01", "D")
    said = f"{one.first_light:%Y-%m-%d}, its first light" if year is None else f"{year}"
    before, after = usage.covered & (usage.date < since), usage.covered & (usage.date >= since)
    for mask, side in ((before, "before"), (after, "since")):
        if not mask.any():
            first, last = usage.years.years[[0, -1]]
            raise InputError(
                f"The corpus ({first} to {last}) has no paper {side} {said}; there is nothing to "
                f"compare {one.name} with: give a year between."
            )
    bounds = atlas.coverage
    return Analysis(
        kind="before_after",
        table=_table(usage, before, after),
        caption=(
            f"{one.name} in {bounds['title']} ({bounds['papers']:,} papers, "
            f"{bounds['first_date']} to {bounds['last_date']}): the literature before and since "
            f"{said}, with 95% intervals."
        ),
        denominators={
            f"papers before {said}": int(before.sum()),
            "papers since": int(after.sum()),
            f"papers with {one.name}": len(usage.rows[0]),
        },
        bounds=bounds,
        warnings=usage.years.warnings,
        tables={"years": count_facility_years(usage, 0, np.ones(usage.n_papers, dtype=bool))},
    )


def _table(usage: Usage, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> pd.DataFrame:
    import pandas as pd

    uses = usage.uses(0)
    all_before, all_after = _counts(usage, before), _counts(usage, after)
    its_before, its_after = _counts(usage, before & uses), _counts(usage, after & uses)
    growth = growth_interval(all_after, all_after[0], all_before, all_before[0])
    columns: dict[str, Any] = {
        "facility": usage.facilities[0].name,
        "topic_id": np.append(-1, usage.regions["topic_id"]),
        "label": [OVERALL, *usage.regions["label"]],
        **_side("before", its_before, all_before),
        **_side("after", its_after, all_after),
    }
    columns["rise"] = columns["share_after"] - columns["share_before"]
    columns["rise_low"], columns["rise_high"] = newcombe_interval(
        its_after, all_after, its_before, all_before
    )
    columns |= dict(zip(("growth", "growth_low", "growth_high"), growth, strict=True))
    table = pd.DataFrame(columns)
    # Regions without a paper on one side have no rise and go last.
    ranked = table.iloc[1:].sort_values("rise", ascending=False, kind="stable")
    return pd.concat([table.iloc[:1], ranked], ignore_index=True)


def _side(
    name: str, papers: NDArray[np.int64], every: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    low, high = wilson_interval(papers, every)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            f"corpus_{name}": every,
            f"papers_{name}": papers,
            f"share_{name}": papers / every,
            f"share_{name}_low": low,
            f"share_{name}_high": high,
        }


def _counts(usage: Usage, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Papers overall, those outside every region too, and of each region."""
    placed = usage.region[mask & (usage.region >= 0)]
    by_region = np.bincount(placed, minlength=len(usage.regions))
    return np.append(int(mask.sum()), by_region).astype(np.int64)
