"""Measure the impact of facilities: shares of papers, citations and connected regions.

A paper counts for a facility if it uses data of the facility, that is, if the strongest role of its
mentions is "science". Intervals include the errors of the classifier of roles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from landscape._wording import join_names
from landscape.corpus.facilities import ROLES
from landscape.errors import InputError
from landscape.overlays.missions._bibliography import describe_lists, list_columns
from landscape.overlays.missions.measures import (
    citation_percentiles,
    core_regions,
    count_equal_rows,
    draw_cells,
    entropy,
    measure_citations,
    measure_percentile,
    shrink_shares,
)
from landscape.overlays.missions.usage import (
    Reach,
    Role,
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
from landscape.overlays.periods import describe_corpus, warn
from landscape.statistics import (
    newcombe_interval,
    percentile_interval,
    poisson_interval,
    ratio,
    share_interval,
)
from landscape.store.facility_lists import LISTED, UNLISTED
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.corpus import Facility
    from landscape.overlays.periods import Years
    from landscape.store import AtlasStore

    Draw = Callable[[NDArray[np.int64]], NDArray[np.float32]]
    Draws = dict[str, NDArray[np.float64]]

Links = Literal["vectors", "citations"]
_THREADS = 2  # NumPy releases the interpreter lock; more threads need too much memory
_ERAS = _BEFORE, _AFTER = 0, 1
_MAIN_CATEGORY = 0.05  # minimum share of the papers of a category whose mix is kept constant
_FEW_OF_CATEGORY = 10  # papers of a category in a year, without which its share is unknown
FEW = 10  # warn if a facility has fewer papers than this
_FEW_CITED = 0.5  # share of papers with known citations below which results may not be valid

# Columns in the order of the table. Only one column of `_COUNTS`, "papers", has an interval.
_OF_LIST = {1: LISTED, len(ROLES): UNLISTED}  # by number of a role: science and mention
_ROLE_COLUMNS = tuple(f"{role}_papers" for role in ROLES)
_COLUMNS = (
    "corpus_papers",
    "papers",
    "share",
    *_ROLE_COLUMNS,
    "core_regions",
    "local_corpus",
    "local_papers",
    "local_share",
    "first_light",
    "corpus_before",
    "local_share_before",
    "corpus_after",
    "local_share_after",
    "rise",
    "cited_papers",
    "citations",
    "citations_median",
    "citations_share",
    "citation_percentile",
    "regions",
    "entropy",
    "effective_regions",
    "fields_known",
    "outside_home",
    "linked_papers",
    "bridging",
)
_COUNTS = {
    "corpus_papers",
    "papers",
    "core_regions",
    "local_corpus",
    "local_papers",
    "corpus_before",
    "corpus_after",
    "cited_papers",
    "regions",
    "fields_known",
    "linked_papers",
    *_ROLE_COLUMNS,
}
# Numerator and denominator of each share, used for the interval if the share is 0 or 1.
_SHARES = {
    "share": ("papers", "corpus_papers"),
    "local_share": ("local_papers", "local_corpus"),
    "local_share_before": ("papers_before", "corpus_before"),
    "local_share_after": ("papers_after", "corpus_after"),
    "outside_home": ("papers_outside", "fields_known"),
}


def impact(
    atlas: AtlasStore,
    facilities: Sequence[str] | None = None,
    *,
    since: int | None = None,
    until: int | None = None,
    slices: Sequence[tuple[int, int]] | None = None,
    links: Links = "vectors",
    role: Role = "science",
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Measure the impact of facilities on the literature, in the whole corpus and by region.

    A paper counts for a facility if it uses data or products of the facility according to the
    mentions of the facility, its instruments or its surveys in the title or the abstract. The
    share of these papers is a lower limit of the use of the facility.

    Parameters
    ----------
    atlas : Atlas
    facilities : sequence of str, optional
        Names of facilities; default: all facilities that the corpus mentions.
    since, until : int, optional
        First and last year of the period, both included.
    slices : sequence of (int, int), optional
        Periods to measure separately instead of one period from `since` to `until`. The tables
        get a column ``period``.
    links : {"vectors", "citations"}, default "vectors"
        Links between regions: papers whose embeddings lie between two regions ("vectors",
        available for every atlas), or references within the corpus ("citations").
    role : {"science", "instrumentation", "planned", "mention", "any"}, default "science"
        Role that a facility must have in a paper, see `Mention`. "any" counts every mention.
    n_resamples : int, default 1000
        Number of bootstrap samples of the papers.
    seed : int, default 0

    Returns
    -------
    Analysis
        One row per facility, in order of decreasing number of papers. ``_low`` and ``_high`` are
        95% bounds. Each share follows its denominator. The columns are:

        - ``corpus_papers``, ``papers``, ``share``;
        - ``science_papers``, ``instrumentation_papers``, ``planned_papers``, ``mention_papers``
          (papers by the strongest role of the facility);
        - ``core_regions`` (size of the smallest set of regions with 80% of the facility's papers),
          ``local_corpus``, ``local_papers``, ``local_share`` (in these regions);
        - ``first_light``, ``corpus_before``, ``local_share_before``, ``corpus_after``,
          ``local_share_after``, ``rise`` (``local_share_after`` minus ``local_share_before``, in
          covered years; without a value if the corpus has fewer than 10 papers before first
          light; "before" is the whole corpus before first light, and "after" is the part of the
          period after first light),
          ``rise_comparable`` (False if the corpus itself changes abruptly, or does not cover the
          year of first light or the year before);
        - ``corpus_since``, ``share_since`` (all papers since first light, and the share of them);
        - ``cited_papers`` (papers with known citations), ``citations``, ``citations_median``,
          ``citations_share`` (of all known citations of the period), ``citation_percentile``
          (among papers of the same year, 0.5 on average);
        - ``regions``, ``entropy`` (nats), ``effective_regions``;
        - ``fields_known``, ``outside_home`` (share of papers outside the main research
          fields of the facility);
        - for facilities with a bibliography: ``listed_papers`` (papers of the period in years
          for which the list is complete, where the list decides), ``list_papers``, ``text_papers``,
          ``both_papers`` (papers that count by the list, the text, or both), ``list_precision``,
          ``list_recall`` (of the text, measured against the list), and ``corrected_papers``,
          ``corrected_share`` (the papers outside the list corrected by both);
        - ``linked_papers``, ``bridging`` (mean number of linked other regions, relative to all
          papers of the same regions), ``bridges`` (pairs of regions that papers of the facility
          connect more often than other papers do, at a false discovery rate of 5%).

        ``tables``: ``regions``, ``years``, ``bridges``. In ``years``, ``share_constant`` is the
        share with the same mix of primary categories in each year since first light.

    Raises
    ------
    InputError
        If a facility is unknown, a period has no papers, or a setting is invalid.

    Examples
    --------
    >>> impact(atlas, ["ALMA", "Gaia"], since=2014)  # doctest: +SKIP
    """
    return measure_usage(
        atlas,
        read_usage(atlas, facilities, role=role),
        since=since,
        until=until,
        slices=slices,
        links=links,
        n_resamples=n_resamples,
        seed=seed,
    )


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
    """Measure the impact of facilities from the papers in a `Usage`; see `impact`."""
    import pandas as pd

    if links not in ("vectors", "citations"):
        raise InputError(f"links is {links!r}; choose vectors or citations.")
    if n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples}; give at least 1, for example 1000.")
    windows = [(since, until)] if slices is None else [_slice(pair) for pair in slices]
    if not windows:
        raise InputError("No time slices are given; give pairs of years, for example (2015, 2019).")
    labels = [format_period(*window) for window in windows]
    insides = [in_period(usage, *window) for window in windows]
    home = flag_home_papers(atlas, usage)
    reach = read_reach(atlas, usage, links)
    found: dict[str, list[pd.DataFrame]] = {}
    for inside, label in zip(insides, labels, strict=True):
        random = np.random.default_rng(seed)
        period = Period(usage, inside, reach)
        for name, frame in _tables(period, home, n_resamples=n_resamples, random=random).items():
            if slices is not None:
                frame.insert(0, "period", label)
            found.setdefault(name, []).append(frame)
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in found.items()}
    table = tables.pop("facilities")
    uneven = {facility.name: _is_uneven(usage.years, facility) for facility in usage.facilities}
    table["rise_comparable"] = ~table["facility"].map(uneven).astype(bool)
    few_before = table["corpus_before"] < FEW  # the warnings say that no rise can be measured
    table.loc[few_before, ["rise", "rise_low", "rise_high"]] = np.nan
    inside_of = dict(zip(labels, insides, strict=True))
    periods = table["period"] if slices is not None else [labels[0]] * len(table)
    table = table.join(_since_first_light(usage, table, [inside_of[one] for one in periods]))
    if usage.lists:
        table = table.join(list_columns(usage, table, [inside_of[one] for one in periods]))
    any_use = np.zeros(usage.n_papers, dtype=bool)
    any_use[np.concatenate(usage.rows)] = True
    which = usage.facilities[0].name if len(usage.facilities) == 1 else "one of these facilities"
    denominators = {}
    for inside, label in zip(insides, labels, strict=True):
        of = "" if labels == ["all years"] else f" of {label}"
        denominators[f"papers{of}"] = int(inside.sum())
        denominators[f"papers{of} that {usage.verb} {which}"] = int((inside & any_use).sum())
        known = inside & np.isfinite(usage.cites)
        denominators[f"papers{of} with known citations"] = int(known.sum())
    linked = "papers between two regions" if links == "vectors" else "references within the corpus"
    return Analysis(
        kind="impact",
        table=table,
        caption=(
            f"Impact of facilities on {describe_corpus(atlas, with_size=True)}, "
            f"{'; '.join(labels)}: papers that {usage.verb} a facility are counted; intervals are "
            f"95%. Bridges count {linked}.{describe_lists(usage)}"
        ),
        denominators=denominators,
        bounds=atlas.coverage,
        warnings=_warnings(usage, table, links=links),
        tables=tables,
    )


def _since_first_light(
    usage: Usage, table: pd.DataFrame, insides: Sequence[NDArray[np.bool_]]
) -> pd.DataFrame:
    """Return the papers of each row since first light, and the share that counts.

    `insides` has the mask of the period of each row.
    """
    import pandas as pd

    rows = []
    names = [facility.name for facility in usage.facilities]
    for name, inside in zip(table["facility"], insides, strict=True):
        index = names.index(name)
        light = np.datetime64(usage.facilities[index].first_light, "D")
        after = inside & (usage.date >= light)
        every = np.array([after.sum()])
        roles = usage.count_roles(index, after, np.zeros(len(after), np.int64), 1)
        low, high = usage.share_interval(index, roles, every)
        rows.append((every[0], ratio(roles @ usage.counted, every)[0], low[0], high[0]))
    columns = ["corpus_since", "share_since", "share_since_low", "share_since_high"]
    return pd.DataFrame(rows, columns=columns, index=table.index)


def _at_constant_mix(
    usage: Usage, uses: NDArray[np.bool_], inside: NDArray[np.bool_], since: int
) -> NDArray[np.float64]:
    """Return the share of papers of each year if the mix of categories were that of all years.

    This is direct standardisation: the shares of the categories in a year are weighted with their
    papers of all covered years from `since` on. It is NaN if a category has few papers in a year.
    """
    first = int(usage.years.years[0])
    counted = inside & usage.covered & (usage.year >= since) & (usage.category != "")
    names, code = np.unique(usage.category[counted], return_inverse=True)
    place, n_years = usage.year[counted] - first, len(usage.years.years)
    cells = code * n_years + place
    shape = (len(names), n_years)
    every = np.bincount(cells, minlength=shape[0] * n_years).reshape(shape)
    papers = np.bincount(cells, weights=uses[counted], minlength=every.size).reshape(shape)
    main = every.sum(axis=1) >= _MAIN_CATEGORY * every.sum()
    weights = every[main].sum(axis=1)
    shares = ratio(papers[main], np.where(every[main] >= _FEW_OF_CATEGORY, every[main], 0))
    return np.asarray(weights @ shares / max(weights.sum(), 1), dtype=np.float64)


def _is_uneven(years: Years, facility: Facility) -> bool:
    """Return whether the corpus differs before and after first light."""
    return bool(len(years.jumps)) or years.has_gap_at(facility.first_light.year)


def _slice(pair: Sequence[int]) -> tuple[int, int]:
    try:
        since, until = map(int, pair)
    except (TypeError, ValueError):
        message = f"A time slice is a pair of years, for example (2015, 2019), not {pair!r}."
        raise InputError(message) from None
    return since, until


def read_reach(atlas: AtlasStore, usage: Usage, links: Links) -> Reach:
    n_regions = len(usage.regions)
    if links == "vectors":
        return find_reach_by_vectors(atlas.vectors(), usage.region, n_regions)
    papers = atlas.read_papers(["bibcode", "ref_bibcodes"])
    return find_reach_by_citations(
        papers["bibcode"].tolist(), papers["ref_bibcodes"].tolist(), usage.region, n_regions
    )


@dataclass(frozen=True)
class Period:
    """Papers of a period, with averages over all papers for comparison with facilities."""

    usage: Usage
    inside: NDArray[np.bool_]
    reach: Reach

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Share of the papers of each region that are linked to each other region."""
        return crossing_rates(self.reach, self.usage.region, self.inside)

    @cached_property
    def crossing(self) -> NDArray[np.float64]:
        """Mean number of other regions to which a paper of each region is linked."""
        return self.rates.sum(axis=1)

    @cached_property
    def percentiles(self) -> NDArray[np.float64]:
        """Citation percentiles, shape (n_papers,)."""
        return citation_percentiles(self.usage.cites, self.usage.year)

    @cached_property
    def citations(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Distinct citation counts in ascending order, and the number of papers with each count."""
        cites = self.usage.cites[self.inside]
        values, counts = np.unique(cites[np.isfinite(cites)], return_counts=True)
        return values, counts.astype(np.int64)

    @cached_property
    def n_reached(self) -> NDArray[np.int64]:
        """Number of other regions to which each paper is linked, or -1 if unknown."""
        return self.reach.n_reached

    @cached_property
    def by_region(self) -> NDArray[np.int64]:
        """Number of papers of each region."""
        return self.usage.by_region(self.inside)

    @cached_property
    def by_year(self) -> NDArray[np.int64]:
        """Number of papers of each year."""
        return self.usage.by_year(self.inside)

    @cached_property
    def groups(self) -> Groups:
        """Groups of papers that are equal for every facility that they do not mention."""
        usage = self.usage
        dates = np.unique([_first_light(facility) for facility in usage.facilities])
        dated = usage.covered & ~np.isnat(usage.date)
        age = np.where(dated, 1 + np.searchsorted(dates, usage.date, side="right"), 0)
        code = (2 * age + self.inside) * (len(usage.regions) + 1) + usage.region + 1
        _, row, group, counts = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
        return Groups(group, row, counts)

    def eras(self, index: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return 0 for papers before first light, 1 for later papers in the period, else -1."""
        usage = self.usage
        first_light, date = _first_light(usage.facilities[index]), usage.date[rows]
        before = usage.covered[rows] & (date < first_light)
        after = usage.covered[rows] & (date >= first_light) & self.inside[rows]
        return np.select([before, after], [_BEFORE, _AFTER], -1).astype(np.int64)


class Groups(NamedTuple):
    """Groups of papers: the group of each paper, a row of each group, and its size."""

    group: NDArray[np.int64]
    row: NDArray[np.int64]
    size: NDArray[np.int64]


def _first_light(facility: Facility) -> np.datetime64:
    return np.datetime64(facility.first_light, "D")


def _tables(
    period: Period,
    home: Sequence[NDArray[np.int8]],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> dict[str, pd.DataFrame]:
    import pandas as pd

    usage = period.usage
    numbers = range(len(usage.facilities))
    # Each facility has its own random generator, so that the threads do not affect the results.
    measure = partial(_measure_facility, period, n_resamples=n_resamples)
    with ThreadPoolExecutor(_THREADS) as threads:
        rows = list(threads.map(measure, numbers, home, random.spawn(len(numbers))))
    bridges = _bridge_table(period, numbers)
    table = pd.DataFrame(rows)
    found = bridges.loc[bridges["q"] < 0.05, "facility"].value_counts()
    table["bridges"] = table["facility"].map(found).fillna(0).astype(np.int64)
    return {
        "facilities": table.sort_values("papers", ascending=False, kind="stable"),
        "regions": region_table(period, numbers),
        "years": year_table(usage, numbers, period.inside, period.by_year),
        "bridges": bridges,
    }


class Case(NamedTuple):
    """Integer columns that classify the papers for one facility and one period."""

    role: NDArray[np.int64]
    inside: NDArray[np.int64]
    core: NDArray[np.int64]
    era: NDArray[np.int64]
    region: NDArray[np.int64]
    home: NDArray[np.int64]
    reached: NDArray[np.int64]


def describe_cases(
    period: Period, numbers: Sequence[int], home: Sequence[NDArray[np.int8]]
) -> tuple[list[Case], NDArray[np.int64]]:
    """Group the papers with equal values for all facilities, and count each group.

    All papers that mention none of the facilities are described by one row of their group, which
    makes the time independent of the size of the corpus.
    """
    usage, groups = period.usage, period.groups
    mentions = np.unique(np.concatenate([usage.mentions(number)[0] for number in numbers]))
    others = groups.size - np.bincount(groups.group[mentions], minlength=len(groups.size))
    rows = np.append(groups.row, mentions)
    counts = np.append(others, np.ones(len(mentions), dtype=np.int64))

    def spread(papers: NDArray[np.int64], values: Any, rest: int) -> NDArray[np.int64]:
        column = np.full(len(rows), rest, dtype=np.int64)
        column[len(groups.row) + np.searchsorted(mentions, papers)] = values
        return column

    columns: list[NDArray[np.int64]] = []
    for number, fields in zip(numbers, home, strict=True):
        inside = period.inside[usage.rows[number]]
        its, fields = usage.rows[number][inside], fields[inside]
        # The last element belongs to papers outside every region (-1).
        core = np.append(core_regions(usage.by_region(its)), False)
        columns += Case(
            role=spread(*usage.mentions(number), 0),
            inside=period.inside[rows].astype(np.int64),
            core=core[usage.region[rows]].astype(np.int64),
            era=period.eras(number, rows),
            region=spread(its, usage.region[its], -1),
            home=spread(its, fields, -1),
            reached=spread(its, period.n_reached[its], -1),
        )
    values, counts = count_equal_rows(columns, counts)
    size = len(Case._fields)
    return [Case(*values[at : at + size]) for at in range(0, len(values), size)], counts


def _measure(
    cells: Case,
    weights: NDArray[np.number],
    crossing: NDArray[np.float64],
    certainty: NDArray[np.float64],
) -> dict[str, NDArray[np.float64]]:
    """Compute the counts of papers, and the ratios of these counts, for each sample.

    `certainty` is the probability that papers with each number of a role count for the facility.
    """
    before, after = (cells.core * (cells.era == era) for era in (_BEFORE, _AFTER))
    linked = cells.reached >= 0
    masks = {
        "corpus_papers": cells.inside,
        "local_corpus": cells.inside & cells.core,
        "corpus_before": before,
        "corpus_after": after,
    } | {
        name: cells.inside & ((cells.role == number) | (cells.role == _OF_LIST.get(number, -1)))
        for number, name in enumerate(_ROLE_COLUMNS, start=1)
    }
    own_masks = {
        "papers": cells.inside,
        "local_papers": cells.inside & cells.core,
        "papers_before": before,
        "papers_after": after,
        "fields_known": cells.home >= 0,
        "papers_outside": cells.home == 0,
        "linked_papers": linked,
        "reached": np.where(linked, cells.reached, 0),
        "expected": np.where(linked, np.append(crossing, 0.0)[cells.region], 0.0),
    }
    # Single precision is twice as fast, and exact for whole numbers below 2^24.
    given = weights.astype(np.float32)
    named = np.flatnonzero(cells.role)  # the certainty of the other cells is 0
    own = given[:, named] * certainty.astype(np.float32)[:, cells.role[named]]
    sums: dict[str, NDArray[np.float64]] = {}
    for papers, kept, of in ((given, slice(None), masks), (own, named, own_masks)):
        totals = papers @ np.column_stack(list(of.values())).astype(np.float32)[kept]
        sums |= zip(of, totals.T.astype(np.float64), strict=True)
    placed = np.flatnonzero(cells.region[named] >= 0)
    regions, place = np.unique(cells.region[named[placed]], return_inverse=True)
    by_region = np.zeros((len(placed), len(regions)), dtype=np.float32)
    by_region[np.arange(len(placed)), place] = 1.0
    counts = own[:, placed] @ by_region
    spread = entropy(counts, n_regions=len(crossing))
    shares = {name: ratio(sums[of], sums[all_]) for name, (of, all_) in _SHARES.items()}
    return {
        **sums,
        **shares,
        "regions": (counts > 0).sum(axis=1).astype(np.float64),
        "rise": shares["local_share_after"] - shares["local_share_before"],
        "entropy": spread,
        "effective_regions": np.exp(spread),
        "bridging": ratio(sums["reached"], sums["expected"]),
    }


def measure_samples(
    cells: Sequence[Case],
    counts: NDArray[np.int64],
    period: Period,
    draw: Draw,
    random: np.random.Generator,
) -> tuple[list[dict[str, float]], list[Draws]]:
    """Measure facilities in all papers, and in bootstrap samples common to all facilities."""
    drawn, counted = draw(counts), period.usage.counted[None]
    seed = int(random.integers(1 << 32))  # the same errors of the classifier for each facility
    estimates, draws = [], []
    for case in cells:
        whole = _measure(case, counts[None], period.crossing, counted)
        own = np.random.default_rng(seed)
        certainty = _draw_certainty(case, counts, period.usage, len(drawn), own)
        values = _measure(case, drawn, period.crossing, certainty)
        # The samples have different sizes, so the counts are scaled to the size of the corpus.
        values["papers"] = values["share"] * whole["corpus_papers"]
        estimates.append({name: float(value[0]) for name, value in whole.items()})
        draws.append(values)
    return estimates, draws


def _draw_certainty(
    cells: Case, counts: NDArray[np.int64], usage: Usage, n: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the certainty of roles by the text; papers that a list decides do not count there."""
    if usage.role == "any":
        return usage.counted[None]
    roles = np.bincount(cells.role, counts * cells.inside, minlength=1 + len(_ROLE_COLUMNS))
    return usage.certainty(roles[1 : 1 + len(_ROLE_COLUMNS)].astype(np.int64), n, random)


def _measure_facility(
    period: Period,
    index: int,
    home: NDArray[np.int8],
    random: np.random.Generator,
    n_resamples: int,
) -> dict[str, object]:
    usage = period.usage
    cases, counts = describe_cases(period, [index], [home])
    draw = partial(draw_cells, n_resamples=n_resamples, random=random)
    (estimates,), (draws,) = measure_samples(cases, counts, period, draw, random)
    rows = usage.rows[index][period.inside[usage.rows[index]]]
    cited, cited_draws = measure_citations(usage.cites[rows], period.citations, draw)
    percentile, percentile_draws = measure_percentile(period.percentiles[rows], draw)
    n_core = int(core_regions(usage.by_region(rows)).sum())
    estimates |= cited | {"citation_percentile": percentile, "core_regions": n_core}
    draws |= cited_draws | {"citation_percentile": percentile_draws}
    row: dict[str, Any] = {"facility": usage.facilities[index].name}
    for name in _COLUMNS:
        if name == "first_light":
            row[name] = usage.facilities[index].first_light.isoformat()
            continue
        row[name] = int(estimates[name]) if name in _COUNTS else estimates[name]
        if name not in _COUNTS or name == "papers":
            row[f"{name}_low"], row[f"{name}_high"] = _interval(name, estimates, draws)
    return row


def _interval(name: str, estimates: dict[str, float], draws: Draws) -> tuple[float, float]:
    """Return the bounds of one measure from its bootstrap values."""
    value = estimates[name]
    eras = ("local_share_after", "local_share_before")
    bounds: tuple[Any, Any] = percentile_interval(draws[name])
    if not np.isfinite(value):
        bounds = np.nan, np.nan
    elif name in _SHARES and value in (0.0, 1.0):
        score = share_interval(*(estimates[part] for part in _SHARES[name]))
        bounds = np.fmin(bounds[0], score[0]), np.fmax(bounds[1], score[1])
    elif name == "rise" and any(estimates[era] in (0.0, 1.0) for era in eras):
        bounds = newcombe_interval(
            *(
                (estimates[era], *share_interval(*(estimates[part] for part in _SHARES[era])))
                for era in eras
            )
        )
    elif name == "effective_regions":
        low, high = _interval("entropy", estimates, draws)
        bounds = np.exp(low), np.exp(high)
    elif name == "entropy":
        low, high = percentile_interval(draws[name] + (value - np.nanmean(draws[name])))
        bounds = max(low, 0.0), high
    # The count of classified papers can be outside the interval of the true number.
    return float(np.fmin(bounds[0], value)), float(np.fmax(bounds[1], value))


def _stack(
    usage: Usage, numbers: Sequence[int], parts: Sequence[Mapping[str, NDArray[Any]]]
) -> pd.DataFrame:
    """Join the columns of facilities; one table per facility would take most of the time."""
    import pandas as pd

    sizes = [len(next(iter(part.values()))) for part in parts]
    names = np.array([usage.facilities[number].name for number in numbers], dtype=object)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return pd.DataFrame({"facility": np.repeat(names, sizes), **columns})


def region_table(period: Period, numbers: Sequence[int]) -> pd.DataFrame:
    """Count the papers of facilities in each region, with one row per facility and region."""
    usage = period.usage
    table = _stack(usage, numbers, [_count_regions(period, number) for number in numbers])
    for place, name in enumerate(("topic_id", "label", "x", "y"), start=1):
        table.insert(place, name, usage.regions[name].take(table["region"]).to_numpy())
    return table.drop(columns="region")


def _count_regions(period: Period, index: int) -> dict[str, NDArray[Any]]:
    usage = period.usage
    its, groups, every = usage.rows[index], period.groups, period.by_region
    before, after = (usage.by_region(its[period.eras(index, its) == era]) for era in _ERAS)
    eras, region = period.eras(index, groups.row), usage.region[groups.row]
    all_before, all_after = (
        np.bincount(region + 1, groups.size * (eras == era), len(every) + 1)[1:].astype(np.int64)
        for era in _ERAS
    )
    roles = usage.count_roles(index, period.inside, usage.region, len(every))
    papers = (roles @ usage.counted).astype(np.int64)
    low, high = usage.share_interval(index, roles, every)
    return {
        "region": np.arange(len(every)),
        "papers": papers,
        "region_papers": every,
        "share": ratio(papers, every),
        "share_low": low,
        "share_high": high,
        "shrunk_share": shrink_shares(papers, every, mean=papers.sum() / max(every.sum(), 1)),
        "of_facility": ratio(papers, papers.sum()),
        "core": core_regions(papers),
        "papers_before": before,
        "region_papers_before": all_before,
        "share_before": ratio(before, all_before),
        "rise": ratio(after, all_after) - ratio(before, all_before),
    }


def year_table(
    usage: Usage, numbers: Sequence[int], inside: NDArray[np.bool_], every: NDArray[np.int64]
) -> pd.DataFrame:
    """Count the papers of facilities by year, beside all papers of each year in `every`."""
    spanned = np.flatnonzero(every)
    shown = slice(spanned[0], spanned[-1] + 1) if len(spanned) else slice(0)
    parts = []
    for index in numbers:
        roles = usage.count_roles(index, inside, usage.year - usage.years.years[0], len(every))
        papers = (roles @ usage.counted).astype(np.int64)
        low, high = usage.share_interval(index, roles, every)
        columns = {
            "year": usage.years.years,
            "papers": papers,
            "corpus_papers": every,
            "share": ratio(papers, every),
            "low": low,
            "high": high,
            "share_constant": _at_constant_mix(
                usage, usage.uses(index), inside, usage.facilities[index].first_light.year
            ),
            "covered": usage.years.covered,
        }
        parts.append({name: column[shown] for name, column in columns.items()})
    return _stack(usage, numbers, parts)


def _bridge_table(period: Period, numbers: Sequence[int]) -> pd.DataFrame:
    """Return the pairs of regions that each facility connects, with their names."""
    usage = period.usage
    parts = []
    for index in numbers:
        uses = usage.uses(index)
        found = find_bridges(period.reach, usage.region, uses, period.inside, rates=period.rates)
        parts.append({str(name): column.to_numpy() for name, column in found.items()})
    table = _stack(usage, numbers, parts)
    papers, expected = table["papers"], table["expected"]
    low, high = poisson_interval(papers, papers + 1)
    table = table.assign(low=low / expected, high=high / expected)
    for side in "ab":
        for name in ("topic_id", "label"):
            of_side = usage.regions[name].take(table[f"region_{side}"]).to_numpy()
            table[f"{name.removesuffix('_id')}_{side}"] = of_side
    columns = "facility topic_a label_a topic_b label_b papers expected ratio low high p q"
    return table[columns.split()]


def warn_of_rise(corpus_before: Mapping[str, float]) -> tuple[str, ...]:
    """Return a warning about facilities whose rise since first light cannot be measured."""
    few = [name for name, papers in corpus_before.items() if papers < FEW]
    return warn("impact", {"few_before": few}, names=join_names(few))


def _warnings(usage: Usage, table: pd.DataFrame, *, links: str) -> tuple[str, ...]:
    papers, cited = table["papers"], float(np.isfinite(usage.cites).mean())
    few = table.loc[papers < FEW, "facility"].unique()
    plans = table.loc[(table["corpus_since"] == 0) & (papers > 0), "facility"].unique()
    before = table.groupby("facility", sort=False)["corpus_before"].min()
    have = "has" if len(few) == 1 else "have"
    needed = {
        "roleless": not usage.has_roles,
        "plans": len(plans),
        "jumps": not table["rise_comparable"].all(),
        "few_cited": cited < _FEW_CITED,
        "some_cited": _FEW_CITED <= cited < 1,
        "unlinked": links == "citations" and not table["linked_papers"].any(),
    }
    return (
        *usage.years.warnings,
        *warn("impact", {"few": len(few)}, names=join_names(few), have=have, limit=FEW),
        *warn_of_rise(before.to_dict()),
        *warn("impact", needed, names=join_names(plans), cited=cited),
    )
