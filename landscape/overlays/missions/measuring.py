"""What a facility did to the literature: papers, shares, rise, citations, spread and bridges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.overlays.missions.accounts import Period, account_for
from landscape.overlays.missions.bridges import Reach, reach_by_citations, reach_by_vectors
from landscape.overlays.missions.gathering import Usage, gather, in_period, said_period
from landscape.overlays.missions.home_fields import flag_home
from landscape.overlays.missions.impact_tables import bridge_table, count_years_of, region_table
from landscape.overlays.missions.wording import impact_warnings
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

Links = Literal["vectors", "citations"]
_THREADS = 2  # NumPy draws and sorts outside the interpreter's lock; more would fill the memory


def impact(
    atlas: Any,
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
        stand before what they divide:

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
    return impact_of(
        atlas, gather(atlas, facilities),
        since=since, until=until, slices=slices, links=links, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip


def impact_of(
    atlas: Any,
    usage: Usage,
    *,
    since: int | None = None,
    until: int | None = None,
    slices: Sequence[tuple[int, int]] | None = None,
    links: Links = "vectors",
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Measure the impact of facilities whose papers have been gathered: see `impact`.

    Parameters
    ----------
    atlas : Atlas
    usage : Usage
        From `landscape.overlays.missions.gathering.gather`.
    since, until, slices, links, n_resamples, seed
        As for `impact`.

    Returns
    -------
    Analysis

    Raises
    ------
    InputError
        As `impact`.

    Examples
    --------
    >>> impact_of(atlas, gather(atlas, ["ALMA"]), since=2014)  # doctest: +SKIP
    """
    _check(links, n_resamples)
    windows = [(since, until)] if slices is None else [_slice(pair) for pair in slices]
    if not windows:
        raise InputError("There is no time slice; give pairs of years, for example (2015, 2019).")
    insides = [in_period(usage, *window) for window in windows]
    home = flag_home(atlas, [one.home_fields for one in usage.facilities], usage.rows)
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
    labels = [said_period(*window) for window in windows]
    table, regions, years, bridges = (
        _stacked([one[at] for one in found], labels if slices is not None else None)
        for at in range(4)
    )
    table["rise_comparable"] = not len(usage.years.jumps)
    return Analysis(
        kind="impact",
        table=table,
        caption=_caption(atlas, labels, links),
        denominators=_denominators(
            usage, [in_period(usage, *window) for window in windows], labels
        ),
        bounds=atlas.coverage,
        warnings=impact_warnings(usage, table, links=links),
        tables={"regions": regions, "years": years, "bridges": bridges},
    )


def read_reach(atlas: Any, usage: Usage, links: Links) -> Reach:
    """Find which regions the papers of an atlas reach.

    Parameters
    ----------
    atlas : Atlas
    usage : Usage
    links : {"vectors", "citations"}

    Returns
    -------
    Reach
    """
    n_regions = len(usage.regions)
    if links == "vectors":
        return reach_by_vectors(atlas.vectors(), usage.region, n_regions)
    papers = atlas.read_papers(["bibcode", "ref_bibcodes"])
    return reach_by_citations(
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
        told = account_for(
            usage, period, index, home[index], n_resamples=n_resamples, random=own
        )  # fmt: skip
        return told | {"bridges": int((bridges[index]["q"] < 0.05).sum())}

    # Each facility has random numbers of its own: threads change none of them.
    with ThreadPoolExecutor(_THREADS) as threads:
        accounts = list(threads.map(account, numbers, random.spawn(len(numbers))))
    table = pd.DataFrame(accounts).sort_values("papers", ascending=False, kind="stable")
    regions = [region_table(usage, period, index) for index in range(len(usage.facilities))]
    years = [count_years_of(usage, index, period.inside) for index in range(len(usage.facilities))]
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
        raise InputError(f"There are no links {links!r}; choose vectors or citations.")
    if n_resamples < 1:
        raise InputError(f"{n_resamples} resamples give no interval; ask for 1000.")


def _caption(atlas: Any, labels: Sequence[str], links: Links) -> str:
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
