"""The impact of facilities: papers, shares, rise, citations, spread and bridges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.overlays.missions._measures import (
    citation_percentiles,
    core_regions,
    count_equal_rows,
    draw_cells,
    entropy,
    measure_citations,
    measure_percentile,
    newcombe_interval,
    percentile_interval,
    shrink_shares,
    wilson_interval,
)
from landscape.overlays.missions._usage import (
    Reach,
    Usage,
    crossing_rates,
    find_bridges,
    find_reach_by_citations,
    find_reach_by_vectors,
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

Links = Literal["vectors", "citations"]
_THREADS = 2  # NumPy draws and sorts outside the interpreter's lock; more would fill the memory


def impact(
    atlas: AtlasStore,
    facilities: Sequence[str] | None = None,
    *,
    since: int | None = None,
    until: int | None = None,
    slices: Sequence[tuple[int, int]] | None = None,
    links: Links = "vectors",
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Measure the impact of facilities on the literature, overall and region by region.

    A facility's papers are those that mention it, its instruments or its surveys in title or
    abstract: the share that *says* so, a lower bound of use.

    Parameters
    ----------
    atlas : Atlas
    facilities : sequence of str, optional
        Any of their names; all that the corpus mentions when not given.
    since, until : int, optional
        First and last year of the period, both included.
    slices : sequence of (int, int), optional
        Measure each of these periods instead; the tables get a column ``period``.
    links : {"vectors", "citations"}, default "vectors"
        What connects regions: papers that lie between two regions in the full dimension of the
        embedding, which every atlas has; or references within the corpus.
    n_resamples : int, default 1000
        Bootstrap samples of the papers.
    seed : int, default 0

    Returns
    -------
    Analysis
        One row a facility, most papers first; ``_low`` and ``_high`` bound 95%. Denominators
        come before what they divide:

        - ``corpus_papers``, ``papers``, ``share``;
        - ``core_regions`` (where it works: the fewest regions with 80% of its papers),
          ``local_corpus``, ``local_papers``, ``local_share``;
        - ``first_light``, ``corpus_before``, ``local_share_before``, ``corpus_after``,
          ``local_share_after``, ``rise`` (their difference, in covered years; "before" is all of
          the corpus before first light, "after" the period's papers since),
          ``rise_comparable`` (False where the corpus itself changes abruptly: the rise may be its);
        - ``cited_papers`` (citations known), ``citations``, ``citations_median``,
          ``citations_share`` (of all known citations of the period), ``citation_percentile``
          (among papers of the same year, 0.5 on average);
        - ``regions``, ``entropy`` (nats), ``effective_regions``;
        - ``fields_known``, ``outside_home`` (share outside its home fields);
        - ``linked_papers``, ``bridging`` (other regions its papers reach, over what papers of the
          same regions reach: 1 is as others), ``bridges`` (pairs of regions connected more than
          by others, false discovery rate 5%).

        ``tables``: ``regions``, ``years``, ``bridges``.

    Raises
    ------
    InputError
        For an unknown facility, a period without a paper, or a setting that cannot be.

    Examples
    --------
    >>> impact(atlas, ["ALMA", "Gaia"], since=2014)  # doctest: +SKIP
    """
    return measure_usage(
        atlas, read_usage(atlas, facilities),
        since=since, until=until, slices=slices, links=links, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip


def measure_usage(
    atlas: AtlasStore,
    usage: Usage,
    *,
    since: int | None = None,
    until: int | None = None,
    slices: Sequence[tuple[int, int]] | None = None,
    links: Links = "vectors",
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Measure the impact of facilities from their papers, see `impact`."""
    _check(links, n_resamples)
    windows = [(since, until)] if slices is None else [_slice(pair) for pair in slices]
    if not windows:
        raise InputError("There are no time slices; give pairs of years, for example (2015, 2019).")
    insides = [in_period(usage, *window) for window in windows]
    home = flag_home_papers(atlas, [one.home_fields for one in usage.facilities], usage.rows)
    reach = read_reach(atlas, usage, links)
    found = [
        _impact_of(
            usage,
            Period(usage, inside, reach),
            home,
            n_resamples=n_resamples,
            random=np.random.default_rng(seed),
        )
        for inside in insides
    ]
    labels = [format_period(*window) for window in windows]
    table, regions, years, bridges = (
        _stacked([one[at] for one in found], labels if slices is not None else None)
        for at in range(4)
    )
    table["rise_comparable"] = not len(usage.years.jumps)
    return Analysis(
        kind="impact",
        table=table,
        caption=_caption(atlas, labels, links),
        denominators=_denominators(usage, insides, labels),
        bounds=atlas.coverage,
        warnings=warn_of_impact(usage, table, links=links),
        tables={"regions": regions, "years": years, "bridges": bridges},
    )


def read_reach(atlas: AtlasStore, usage: Usage, links: Links) -> Reach:
    """Find which regions the papers of an atlas reach."""
    n_regions = len(usage.regions)
    if links == "vectors":
        return find_reach_by_vectors(atlas.vectors(), usage.region, n_regions)
    papers = atlas.read_papers(["bibcode", "ref_bibcodes"])
    return find_reach_by_citations(
        papers["bibcode"].tolist(), papers["ref_bibcodes"].tolist(), usage.region, n_regions
    )


def _impact_of(
    usage: Usage,
    period: Period,
    home: Sequence[NDArray[np.int8]],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The four tables of one period."""
    import pandas as pd

    numbers = range(len(usage.facilities))
    bridges = [bridge_table(usage, period, index) for index in numbers]

    def account(index: int, own: np.random.Generator) -> dict[str, Any]:
        row = measure_facility(
            usage, period, index, home[index], n_resamples=n_resamples, random=own
        )
        return row | {"bridges": int((bridges[index]["q"] < 0.05).sum())}

    # Each facility has random numbers of its own: threads change none of them.
    with ThreadPoolExecutor(_THREADS) as threads:
        accounts = list(threads.map(account, numbers, random.spawn(len(numbers))))
    table = pd.DataFrame(accounts).sort_values("papers", ascending=False, kind="stable")
    regions = [region_table(usage, period, index) for index in numbers]
    years = [count_facility_years(usage, index, period.inside) for index in numbers]
    return (
        table.reset_index(drop=True),
        pd.concat(regions, ignore_index=True),
        pd.concat(years, ignore_index=True),
        pd.concat(bridges, ignore_index=True),
    )


def _stacked(frames: Sequence[pd.DataFrame], labels: Sequence[str] | None) -> pd.DataFrame:
    """Tables of several periods as one, with the period as first column."""
    import pandas as pd

    if labels is None:
        return frames[0]
    for frame, label in zip(frames, labels, strict=True):
        frame.insert(0, "period", label)
    return pd.concat(frames, ignore_index=True)


def _slice(pair: Any) -> tuple[int, int]:
    try:
        since, until = (int(year) for year in pair)
    except (TypeError, ValueError):
        raise InputError(
            f"A time slice is a pair of years, for example (2015, 2019), not {pair!r}."
        ) from None
    return since, until


def _check(links: str, n_resamples: int) -> None:
    if links not in ("vectors", "citations"):
        raise InputError(f"links is {links!r}; choose vectors or citations.")
    if n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples}; give at least 1, for example 1000.")


def _caption(atlas: AtlasStore, labels: Sequence[str], links: Links) -> str:
    bounds = atlas.coverage
    linked = (
        "papers that lie between two regions"
        if links == "vectors"
        else "references within the corpus"
    )
    return (
        f"Impact of facilities on {bounds['title']} ({bounds['papers']:,} papers, "
        f"{bounds['first_date']} to {bounds['last_date']}), {'; '.join(labels)}: papers that "
        "mention them in title or abstract, with 95% bootstrap intervals. Bridges count "
        f"{linked}."
    )


def _denominators(
    usage: Usage, insides: Sequence[NDArray[np.bool_]], labels: Sequence[str]
) -> Mapping[str, int]:
    any_use = np.zeros(usage.n_papers, dtype=bool)
    for rows in usage.rows:
        any_use[rows] = True
    found = {}
    names = [one.name for one in usage.facilities]
    which = names[0] if len(names) == 1 else "one of these facilities"
    for inside, label in zip(insides, labels, strict=True):
        of = "" if len(labels) == 1 and label == "all years" else f" of {label}"
        found[f"papers{of}"] = int(inside.sum())
        found[f"papers{of} with {which}"] = int((inside & any_use).sum())
        found[f"papers{of} with known citations"] = int((inside & np.isfinite(usage.cites)).sum())
    return found


_BEFORE, _AFTER = 0, 1


@dataclass(frozen=True)
class Case:
    """One facility in one period: the integer columns that distinguish its papers from others."""

    uses: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    core: NDArray[np.bool_]
    era: NDArray[np.int64]
    region: NDArray[np.int64]
    home: NDArray[np.int64]
    reached: NDArray[np.int64]

    def columns(self) -> list[NDArray[np.int64]]:
        """All fields as integers, for `count_equal_rows`."""
        return [
            np.asarray(values, dtype=np.int64)
            for values in (
                self.uses, self.inside, self.core, self.era, self.region, self.home, self.reached,
            )
        ]  # fmt: skip

    @classmethod
    def from_columns(cls, columns: Sequence[NDArray[np.int64]]) -> Case:
        """The inverse of `columns`."""
        uses, inside, core = (values == 1 for values in columns[:3])
        return cls(uses, inside, core, *columns[3:])


def describe_case(
    usage: Usage,
    index: int,
    inside: NDArray[np.bool_],
    home: NDArray[np.int8],
    reached: NDArray[np.int64],
) -> Case:
    """Describe a facility in a period."""
    uses = usage.uses(index)
    its = uses & inside
    counts = np.bincount(usage.region[its & (usage.region >= 0)], minlength=len(usage.regions))
    # One more place for -1, the papers outside every region.
    core = np.append(core_regions(counts), False)[usage.region]
    homes = np.full(usage.n_papers, -1, dtype=np.int64)
    homes[usage.rows[index]] = home
    return Case(
        uses,
        inside,
        core,
        split_eras(usage, index, inside),
        np.where(its, usage.region, -1),
        np.where(its, homes, -1),
        np.where(its, reached, -1),
    )


def split_eras(usage: Usage, index: int, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Era of each paper: 0 before first light, 1 in the period since, -1 neither."""
    first_light = np.datetime64(usage.facilities[index].first_light, "D")
    before = usage.covered & (usage.date < first_light)
    after = usage.covered & (usage.date >= first_light) & inside
    return np.where(before, _BEFORE, np.where(after, _AFTER, -1)).astype(np.int64)


def collapse_cases(cases: Sequence[Case]) -> tuple[list[Case], NDArray[np.int64]]:
    """Count equal papers together, for one facility or for several at once."""
    columns = [column for case in cases for column in case.columns()]
    values, counts = count_equal_rows(columns)
    size = len(columns) // len(cases)
    cells = [Case.from_columns(values[at : at + size]) for at in range(0, len(values), size)]
    return cells, counts


def measure(
    cells: Case, weights: NDArray[np.number], crossing: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Compute the measures that are counts of papers and their ratios."""
    its = cells.uses & cells.inside
    before, after = cells.era == _BEFORE, cells.era == _AFTER
    linked = cells.reached >= 0
    field_known = cells.home >= 0
    masks = {
        "corpus_papers": cells.inside,
        "papers": its,
        "local_corpus": cells.inside & cells.core,
        "local_papers": its & cells.core,
        "corpus_before": before & cells.core,
        "papers_before": before & cells.core & cells.uses,
        "corpus_after": after & cells.core,
        "papers_after": after & cells.core & cells.uses,
        "fields_known": field_known,
        "papers_outside": field_known & (cells.home == 0),
        "linked_papers": linked,
        "reached": np.where(linked, cells.reached, 0),
        "expected": np.where(linked, np.append(crossing, 0.0)[cells.region], 0.0),
    }
    placed = np.flatnonzero(its & (cells.region >= 0))
    # Whole numbers below 2^24 are exact in single precision, and twice as fast.
    by_region = np.zeros((len(cells.region), len(crossing)), dtype=np.float32)
    by_region[placed, cells.region[placed]] = 1.0
    given = weights.astype(np.float32)
    totals = given @ np.column_stack(list(masks.values())).astype(np.float32)
    sums = dict(zip(masks, totals.T.astype(np.float64), strict=True))
    counts = given @ by_region
    spread = entropy(counts)
    local_before = _ratio(sums["papers_before"], sums["corpus_before"])
    local_after = _ratio(sums["papers_after"], sums["corpus_after"])
    return {
        **sums,
        "regions": (counts > 0).sum(axis=1).astype(np.float64),
        "share": _ratio(sums["papers"], sums["corpus_papers"]),
        "local_share": _ratio(sums["local_papers"], sums["local_corpus"]),
        "local_share_before": local_before,
        "local_share_after": local_after,
        "rise": local_after - local_before,
        "entropy": spread,
        "effective_regions": np.exp(spread),
        "outside_home": _ratio(sums["papers_outside"], sums["fields_known"]),
        "bridging": _ratio(sums["reached"], sums["expected"]),
    }


def measure_samples(
    cells: Sequence[Case],
    counts: NDArray[np.int64],
    crossing: NDArray[np.float64],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[list[dict[str, float]], list[dict[str, NDArray[np.float64]]]]:
    """Measure facilities in all papers, and in the same bootstrap samples."""
    drawn = draw_cells(counts, n_resamples=n_resamples, random=random)
    estimates, draws = [], []
    for case in cells:
        whole = measure(case, counts[None], crossing)
        values = measure(case, drawn, crossing)
        # Samples differ in size: scale to the number of papers.
        values["papers"] = values["share"] * whole["corpus_papers"]
        estimates.append({name: float(value[0]) for name, value in whole.items()})
        draws.append(values)
    return estimates, draws


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


# The columns in their order; `_WITH_INTERVAL` says which have bounds.
_COLUMNS = (
    "corpus_papers", "papers", "share", "core_regions", "local_corpus", "local_papers",
    "local_share", "first_light", "corpus_before", "local_share_before", "corpus_after",
    "local_share_after", "rise", "cited_papers", "citations", "citations_median",
    "citations_share", "citation_percentile", "regions", "entropy", "effective_regions",
    "fields_known", "outside_home", "linked_papers", "bridging",
)  # fmt: skip
# Shares of papers, with what is counted and of what: a bound even where the count is 0 or all.
_SHARES = {
    "share": ("papers", "corpus_papers"),
    "local_share": ("local_papers", "local_corpus"),
    "local_share_before": ("papers_before", "corpus_before"),
    "local_share_after": ("papers_after", "corpus_after"),
    "outside_home": ("papers_outside", "fields_known"),
}
_RISE = ("local_share_after", "local_share_before")
_RISE_OF = ("papers_after", "corpus_after", "papers_before", "corpus_before")
_WITH_INTERVAL = frozenset(_SHARES) | {
    "papers", "rise", "citations", "citations_median", "citations_share", "citation_percentile",
    "entropy", "effective_regions", "bridging",
}  # fmt: skip
_WHOLE = frozenset(
    {
        "corpus_papers", "papers", "core_regions", "local_corpus", "local_papers",
        "corpus_before", "corpus_after", "cited_papers", "regions", "fields_known",
        "linked_papers",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Period:
    """The papers of a period, and what all facilities are compared with."""

    usage: Usage
    inside: NDArray[np.bool_]
    reach: Reach

    @cached_property
    def crossing(self) -> NDArray[np.float64]:
        """Other regions that a paper of each region reaches on average, shape (n_regions,)."""
        return self.rates.sum(axis=1)

    @cached_property
    def percentiles(self) -> NDArray[np.float64]:
        """Citation percentiles, shape (n_papers,)."""
        return citation_percentiles(self.usage.cites, self.usage.year)

    @cached_property
    def citations(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Citation counts that occur in the period, ascending, and papers with each."""
        cites = self.usage.cites[self.inside]
        values, counts = np.unique(cites[np.isfinite(cites)], return_counts=True)
        return values, counts.astype(np.int64)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """How often papers of one region reach another, see `crossing_rates`."""
        return crossing_rates(self.reach, self.usage.region, self.inside)


def measure_facility(
    usage: Usage,
    period: Period,
    index: int,
    home: NDArray[np.int8],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> dict[str, Any]:
    """Measure one facility in a period."""
    case = describe_case(usage, index, period.inside, home, period.reach.n_reached)
    cells, counts = collapse_cases([case])
    (estimates,), (draws,) = measure_samples(
        cells, counts, period.crossing, n_resamples=n_resamples, random=random
    )
    rows = usage.rows[index][period.inside[usage.rows[index]]]
    cited, cited_draws = measure_citations(
        usage.cites[rows], period.citations, n_resamples=n_resamples, random=random
    )
    estimates |= cited
    draws |= cited_draws
    estimates["citation_percentile"], draws["citation_percentile"] = measure_percentile(
        period.percentiles[rows], n_resamples=n_resamples, random=random
    )
    estimates["core_regions"] = len(np.unique(usage.region[case.core & case.inside]))
    return {"facility": usage.facilities[index].name} | _row(
        estimates, draws, first_light=usage.facilities[index].first_light.isoformat()
    )


def measure_interval(
    name: str, estimates: dict[str, float], draws: dict[str, NDArray[np.float64]]
) -> tuple[float, float]:
    """Bound one measure by its bootstrap values."""
    value = estimates[name]
    if not np.isfinite(value):
        return float("nan"), float("nan")
    if name in _SHARES and value in (0.0, 1.0):
        hits, trials = (estimates[part] for part in _SHARES[name])
        return _pair(wilson_interval(hits, trials))
    if name == "rise" and not {estimates[part] for part in _RISE}.isdisjoint({0.0, 1.0}):
        after, of_after, before, of_before = (estimates[part] for part in _RISE_OF)
        return _pair(newcombe_interval(after, of_after, before, of_before))
    if name == "effective_regions":
        low, high = measure_interval("entropy", estimates, draws)
        return float(np.exp(low)), float(np.exp(high))
    if name == "entropy":
        shifted = draws[name] + (value - np.nanmean(draws[name]))
        low, high = percentile_interval(shifted)
        return max(low, 0.0), high
    return percentile_interval(draws[name])


def _pair(bounds: tuple[NDArray[np.float64], NDArray[np.float64]]) -> tuple[float, float]:
    return float(bounds[0]), float(bounds[1])


def _row(
    estimates: dict[str, float], draws: dict[str, NDArray[np.float64]], *, first_light: str
) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name in _COLUMNS:
        if name == "first_light":
            row[name] = first_light
            continue
        row[name] = int(estimates[name]) if name in _WHOLE else estimates[name]
        if name in _WITH_INTERVAL:
            row[f"{name}_low"], row[f"{name}_high"] = measure_interval(name, estimates, draws)
    return row


def region_table(usage: Usage, period: Period, index: int) -> pd.DataFrame:
    """Measure a facility in each region."""
    import pandas as pd

    uses = usage.uses(index)
    era = split_eras(usage, index, period.inside)
    papers = _by_region(usage, uses & period.inside)
    every = _by_region(usage, period.inside)
    its_before, all_before = _by_region(usage, uses & (era == 0)), _by_region(usage, era == 0)
    its_after, all_after = _by_region(usage, uses & (era == 1)), _by_region(usage, era == 1)
    low, high = wilson_interval(papers, every)
    mean = papers.sum() / max(every.sum(), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        before = its_before / all_before
        return pd.DataFrame(
            {
                "facility": usage.facilities[index].name,
                **{name: usage.regions[name] for name in ("topic_id", "label", "x", "y")},
                "papers": papers,
                "region_papers": every,
                "share": papers / every,
                "share_low": low,
                "share_high": high,
                "shrunk_share": shrink_shares(papers, every, mean=mean),
                "of_facility": papers / papers.sum(),
                "core": core_regions(papers),
                "papers_before": its_before,
                "region_papers_before": all_before,
                "share_before": before,
                "rise": its_after / all_after - before,
            }
        )


def count_facility_years(usage: Usage, index: int, inside: NDArray[np.bool_]) -> pd.DataFrame:
    """Count a facility's papers year by year."""
    import pandas as pd

    known = inside & (usage.year >= 0)
    first = int(usage.years.years[0])
    shape = len(usage.years.years)
    every = np.bincount(usage.year[known] - first, minlength=shape)
    its = np.bincount(usage.year[known & usage.uses(index)] - first, minlength=shape)
    low, high = wilson_interval(its, every)
    with np.errstate(divide="ignore", invalid="ignore"):
        table = pd.DataFrame(
            {
                "facility": usage.facilities[index].name,
                "year": usage.years.years,
                "papers": its,
                "corpus_papers": every,
                "share": its / every,
                "low": low,
                "high": high,
                "covered": usage.years.covered,
            }
        )
    spanned = np.flatnonzero(every)
    return table.iloc[spanned[0] : spanned[-1] + 1] if len(spanned) else table.iloc[:0]


def bridge_table(usage: Usage, period: Period, index: int) -> pd.DataFrame:
    """Name the regions that a facility connects."""
    from scipy.special import gammaincinv

    found = find_bridges(
        period.reach, usage.region, usage.uses(index), period.inside, rates=period.rates
    )
    topics, labels = (usage.regions[name].to_numpy() for name in ("topic_id", "label"))
    for side, number in (("a", found.pop("region_a")), ("b", found.pop("region_b"))):
        found.insert(0 if side == "a" else 2, f"topic_{side}", topics[number])
        found.insert(1 if side == "a" else 3, f"label_{side}", labels[number])
    found.insert(0, "facility", usage.facilities[index].name)
    place = int(found.columns.get_indexer(["ratio"])[0])
    papers, expected = found["papers"].to_numpy(), found["expected"].to_numpy()
    found.insert(place + 1, "low", gammaincinv(papers, 0.025) / expected)
    found.insert(place + 2, "high", gammaincinv(papers + 1, 0.975) / expected)
    return found


def _by_region(usage: Usage, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    placed = usage.region[mask & (usage.region >= 0)]
    return np.bincount(placed, minlength=len(usage.regions)).astype(np.int64)


FEW = 10
_MOST_NAMED = 8
_FEW_CITED = 0.5


def warn_of_rise(corpus_before: Mapping[str, float]) -> list[str]:
    """Warn of facilities whose rise since first light cannot be measured."""
    few = [name for name, papers in corpus_before.items() if papers < FEW]
    if not few:
        return []
    return [
        f"The corpus has too few papers before the first light of {join_names(few)}; "
        "a rise since then cannot be measured."
    ]


def warn_of_impact(usage: Usage, table: pd.DataFrame, *, links: str) -> tuple[str, ...]:
    """List what limits a table of impact."""
    said = list(usage.years.warnings)
    few = table.loc[table["papers"] < FEW, "facility"].unique()
    if len(few):
        said.append(
            f"{join_names(few)} {'has' if len(few) == 1 else 'have'} fewer than {FEW} papers; such "
            "measures are uncertain."
        )
    before = table.groupby("facility", sort=False)["corpus_before"].min()
    said += warn_of_rise(before.to_dict())
    no_after = table.loc[(table["corpus_after"] == 0) & (table["papers"] > 0), "facility"].unique()
    if len(no_after):
        said.append(
            f"{join_names(no_after)} had not seen first light in the period: these papers describe "
            "plans."
        )
    if len(usage.years.jumps):
        said.append(
            "As the corpus changes abruptly, a rise since first light may come from the corpus "
            "and not from the facility."
        )
    known = float(np.isfinite(usage.cites).mean())
    if known < 1:
        said.append(
            f"Citations are known for {known:.0%} of the papers"
            + ("; the results may not hold for the rest." if known < _FEW_CITED else ".")
        )
    if links == "citations" and not table["linked_papers"].any():
        said.append(
            "The corpus has no references between its papers; there are no bridges to find."
        )
    return tuple(said)


def join_names(names: Sequence[str]) -> str:
    """Join names with commas and "and"; a long list is cut."""
    given = [str(name) for name in names]
    if len(given) > _MOST_NAMED:
        given = [*given[: _MOST_NAMED - 1], f"{len(given) - _MOST_NAMED + 1} others"]
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
