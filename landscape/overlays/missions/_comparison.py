"""Compare facilities, and the literature before and after a facility's first light."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.overlays.missions._impact import (
    Period,
    describe_cases,
    measure_samples,
    read_reach,
    region_table,
    warn_of_rise,
    year_table,
)
from landscape.overlays.missions.measures import (
    PERCENTILE_STEPS,
    count_equal_rows,
    draw_cells,
    median_of_counts,
)
from landscape.overlays.missions.usage import (
    Usage,
    flag_home_papers,
    format_period,
    in_period,
    read_usage,
)
from landscape.overlays.periods import describe_corpus, warn
from landscape.statistics import growth_interval, newcombe_interval, percentile_interval, ratio
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.overlays.missions._impact import Draw
    from landscape.store import AtlasStore

    Samples = list[NDArray[np.float64]]  # one array per facility; element 0 is the estimate

_MEASURES = (
    "papers",
    "share",
    "local_share",
    "rise",
    "entropy",
    "effective_regions",
    "outside_home",
    "bridging",
)
OVERALL = "All regions"


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
    """Compare the first facility with each other facility.

    Both facilities are measured in the same bootstrap samples, because a paper that uses both
    counts for both. The interval of a difference is therefore not the sum of two intervals.

    Parameters
    ----------
    atlas : Atlas
    facilities : sequence of str
        Names of two or more facilities, in any spelling.
    since, until : int, optional
        First and last year of the period, both included.
    links : {"vectors", "citations"}, default "vectors"
        Type of the links between regions; see `impact`.
    n_resamples : int, default 1000
        Number of bootstrap samples.
    seed : int, default 0

    Returns
    -------
    Analysis
        The columns of the table are ``measure, facility, other, value, other_value, difference,
        low, high, probability``. ``probability`` is the share of the samples in which the first
        facility has the larger value; ties count half. ``tables["regions"]`` has the shares of
        both facilities in each region, and their difference with Newcombe's 95% interval.

    Raises
    ------
    InputError
        If fewer than two facilities are given, a facility is unknown, or the period has no papers.

    Examples
    --------
    >>> compare_facilities(atlas, ["HST", "JWST"], since=2023)  # doctest: +SKIP
    """
    import pandas as pd

    usage = read_usage(atlas, facilities)
    names = [facility.name for facility in usage.facilities]
    if len(names) < 2:
        raise InputError(f"Only {names[0]} is given; name at least two facilities to compare.")
    inside = in_period(usage, since, until)
    home = flag_home_papers(atlas, usage)
    period = Period(usage, inside, read_reach(atlas, usage, links))
    rows: list[dict[str, Any]] = []
    before: dict[str, float] = {}
    for pair in ((0, other) for other in range(1, len(names))):
        random = np.random.default_rng(seed)
        draw = partial(draw_cells, n_resamples=n_resamples, random=random)
        cases, counts = describe_cases(period, pair, [home[one] for one in pair])
        values, draws = measure_samples(cases, counts, period, draw, random)
        samples = {
            name: [np.append(values[side][name], draws[side][name]) for side in (0, 1)]
            for name in _MEASURES
        } | _citations(period, pair, draw)
        before |= {names[one]: of["corpus_before"] for one, of in zip(pair, values, strict=True)}
        compared = {"facility": names[0], "other": names[pair[1]]}
        rows += [
            {"measure": name} | compared | _difference(name, *of) for name, of in samples.items()
        ]
    return Analysis(
        kind="compare_facilities",
        table=pd.DataFrame(rows),
        caption=(
            f"{names[0]} compared with {', '.join(names[1:])} in "
            f"{describe_corpus(atlas, with_size=True)}, {format_period(since, until)}: "
            "differences with 95% bootstrap intervals."
        ),
        denominators={
            "papers of the period": int(inside.sum()),
            **{
                f"papers that {usage.verb} {name}": int(inside[rows].sum())
                for name, rows in zip(names, usage.rows, strict=True)
            },
        },
        bounds=atlas.coverage,
        warnings=(*usage.years.warnings, *warn_of_rise(before)),
        tables={"regions": _regions(period)},
    )


def _citations(period: Period, pair: tuple[int, int], draw: Draw) -> dict[str, Samples]:
    """Return the median citations and the mean citation percentile of the two facilities."""
    usage = period.usage
    either = np.union1d(*(usage.rows[index] for index in pair))
    rows = either[(period.inside & np.isfinite(usage.cites))[either]]
    levels, level = np.unique(usage.cites[rows], return_inverse=True)
    steps = np.round(period.percentiles[rows] * PERCENTILE_STEPS).astype(np.int64)
    uses = [np.isin(rows, usage.rows[index]).astype(np.int64) for index in pair]
    cells, counts = count_equal_rows([*uses, level.astype(np.int64), steps])
    weights = np.vstack([counts, draw(counts)])
    citations: dict[str, Samples] = {"citations_median": [], "citation_percentile": []}
    for column in cells[:2]:
        its = np.flatnonzero(column == 1)
        its = its[np.argsort(cells[2][its], kind="stable")]
        own = weights[:, its]
        citations["citations_median"].append(median_of_counts(levels[cells[2][its]], own))
        sums = own @ (cells[3][its] / PERCENTILE_STEPS)
        citations["citation_percentile"].append(ratio(sums, own.sum(axis=1)))
    return citations


def _difference(
    name: str, first: NDArray[np.float64], second: NDArray[np.float64]
) -> dict[str, float]:
    """Compare a measure of two facilities; the first value of each array is the estimate."""
    (value, *_), (other, *_) = first, second
    a, b = first[1:], second[1:]
    if name == "entropy":  # correct the bias of the bootstrap, as in `impact`
        a, b = a + (value - np.nanmean(a)), b + (other - np.nanmean(b))
    if name == "effective_regions":  # use logarithms, because it is the exponential of the entropy
        a = a * (value / np.exp(np.nanmean(np.log(a))))
        b = b * (other / np.exp(np.nanmean(np.log(b))))
    low, high = percentile_interval(a - b)
    both = np.isfinite(a) & np.isfinite(b)
    larger = (a[both] > b[both]) + 0.5 * (a[both] == b[both])
    return {
        "value": value,
        "other_value": other,
        "difference": value - other,
        "low": low,
        "high": high,
        "probability": float(larger.mean()) if both.any() else float("nan"),
    }


def _regions(period: Period) -> pd.DataFrame:
    """Compare the shares of the first facility and of each other facility in each region."""
    import pandas as pd

    first = region_table(period, [0])
    shown = ["facility", "topic_id", "label", "x", "y", "region_papers", "papers", "share"]
    tables = []
    for index in range(1, len(period.usage.facilities)):
        second = region_table(period, [index])
        bounds = ["share", "share_low", "share_high"]
        low, high = newcombe_interval(
            *((of[bounds[0]], of[bounds[1]], of[bounds[2]]) for of in (first, second))
        )
        table = first[shown].assign(
            other=second["facility"],
            other_papers=second["papers"],
            other_share=second["share"],
            difference=first["share"] - second["share"],
            low=low,
            high=high,
        )
        tables.append(table.sort_values("difference", ascending=False, kind="stable"))
    return pd.concat(tables, ignore_index=True)


def before_after(atlas: AtlasStore, facility: str, *, year: int | None = None) -> Analysis:
    """Compare the literature of each region before and after the first light of a facility.

    Two changes are measured separately. The rise is the change in the share of a region's papers
    that use the facility. The growth is the growth of the region relative to the whole corpus.
    Neither change shows that the facility is the cause.

    Parameters
    ----------
    atlas : Atlas
    facility : str
        Any name of the facility.
    year : int, optional
        First year of the later papers; default: date of first light. Set it for a new instrument,
        or for a facility whose first papers appeared late.

    Returns
    -------
    Analysis
        Table with one row for all regions (``topic_id`` -1), followed by one row per region in
        order of decreasing rise. The columns are ``facility, topic_id, label, corpus_before,
        papers_before, share_before, share_before_low, share_before_high``, the same columns with
        ``_after`` instead of ``_before``, ``rise, rise_low, rise_high`` (difference of the shares
        with Newcombe's interval), and ``growth, growth_low, growth_high`` (ratio of the region's
        shares of the corpus; missing if the corpus does not cover the year of first light or the
        year before). The 95% intervals are valid for small counts. Years that the corpus does not
        cover are omitted. ``tables["years"]`` has the counts by year.

    Raises
    ------
    InputError
        If the facility is unknown, or if the corpus has no earlier or no later papers.

    Examples
    --------
    >>> before_after(atlas, "ALMA")  # doctest: +SKIP
    """
    usage = read_usage(atlas, [facility])
    one = usage.facilities[0]
    since = np.datetime64(one.first_light if year is None else f"{year:04d}-01-01", "D")
    start = f"{one.first_light:%Y-%m-%d}, its first light" if year is None else f"{year}"
    before, after = usage.covered & (usage.date < since), usage.covered & (usage.date >= since)
    for mask, side in ((before, "before"), (after, "since")):
        if not mask.any():
            first, last = usage.years.years[[0, -1]]
            raise InputError(
                f"The corpus ({first} to {last}) has no paper {side} {start}; set year to a year "
                f"within this period to compare the literature before and after {one.name}."
            )
    table = _table(usage, before, after)
    every = np.ones(usage.n_papers, dtype=bool)
    has_gap = usage.years.has_gap_at(since.astype(object).year)
    if has_gap:
        table[["growth", "growth_low", "growth_high"]] = np.nan
    return Analysis(
        kind="before_after",
        table=table,
        caption=(
            f"{one.name} in {describe_corpus(atlas, with_size=True)}: the literature before and "
            f"since {start}, with 95% intervals."
        ),
        denominators={
            f"papers before {start}": int(before.sum()),
            f"papers since {start}": int(after.sum()),
            f"papers that {usage.verb} {one.name}": len(usage.rows[0]),
        },
        bounds=atlas.coverage,
        warnings=(*usage.years.warnings, *warn("impact", {"gap": has_gap}, start=start)),
        tables={"years": year_table(usage, [0], every, usage.by_year(every))},
    )


def _table(usage: Usage, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the table of `before_after`, with one row for all regions and one row per region."""
    import pandas as pd

    columns: dict[str, Any] = {
        "facility": usage.facilities[0].name,
        "topic_id": np.append(-1, usage.regions["topic_id"]),
        "label": [OVERALL, *usage.regions["label"]],
    }
    shares = []
    for side, mask in (("before", before), ("after", after)):
        # The first row counts all papers, including papers outside every region.
        every = np.append(int(mask.sum()), usage.by_region(mask))
        roles = usage.count_roles(0, mask, usage.region, len(usage.regions))
        whole = usage.count_roles(0, mask, np.zeros_like(usage.region), 1)
        roles = np.concatenate([whole, roles])
        papers = (roles @ usage.counted).astype(np.int64)
        low, high = usage.share_interval(0, roles, every)
        columns |= {
            f"corpus_{side}": every,
            f"papers_{side}": papers,
            f"share_{side}": ratio(papers, every),
            f"share_{side}_low": low,
            f"share_{side}_high": high,
        }
        shares.append((columns[f"share_{side}"], low, high))
    columns["rise"] = columns["share_after"] - columns["share_before"]
    columns["rise_low"], columns["rise_high"] = newcombe_interval(shares[1], shares[0])
    all_after, all_before = columns["corpus_after"], columns["corpus_before"]
    growth = growth_interval(all_after, all_after[0], all_before, all_before[0])
    columns |= dict(zip(("growth", "growth_low", "growth_high"), growth, strict=True))
    table = pd.DataFrame(columns)
    # If a region has no papers before or after first light, its rise is NaN. It is sorted last.
    ranked = table.iloc[1:].sort_values("rise", ascending=False, kind="stable")
    return pd.concat([table.iloc[:1], ranked], ignore_index=True)
