"""A facility region by region, year by year, and the regions that it connects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.missions.bridges import find_bridges
from landscape.overlays.missions.measures import eras
from landscape.overlays.missions.proportions import wilson_interval
from landscape.overlays.missions.share_map import shrink_shares
from landscape.overlays.missions.spread import core_regions

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.overlays.missions.accounts import Period
    from landscape.overlays.missions.gathering import Usage


def region_table(usage: Usage, period: Period, index: int) -> pd.DataFrame:
    """Measure a facility in each region.

    Parameters
    ----------
    usage : Usage
    period : Period
    index : int
        Number of the facility.

    Returns
    -------
    pandas.DataFrame
        ``facility, topic_id, label, x, y, papers, region_papers, share, share_low, share_high,
        shrunk_share, of_facility`` (share of the facility's papers), ``core`` (where it works),
        ``papers_before, region_papers_before, share_before, rise``: papers of covered years
        before first light, and how much more the share is since. Shares are bounded by Wilson's
        95% interval and shrunk as in `share_map.shrink_shares`.
    """
    import pandas as pd

    uses = usage.uses(index)
    era = eras(usage, index, period.inside)
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


def count_years_of(usage: Usage, index: int, inside: NDArray[np.bool_]) -> pd.DataFrame:
    """Count a facility's papers year by year.

    Parameters
    ----------
    usage : Usage
    index : int
        Number of the facility.
    inside : ndarray of bool, shape (n_papers,)
        Papers of the period.

    Returns
    -------
    pandas.DataFrame
        ``facility, year, papers, corpus_papers, share, low, high`` (Wilson's 95% interval),
        ``covered`` (False where the corpus has a gap).
    """
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
    """Name the regions that a facility connects.

    Parameters
    ----------
    usage : Usage
    period : Period
    index : int

    Returns
    -------
    pandas.DataFrame
        ``facility, topic_a, label_a, topic_b, label_b, papers, expected, ratio, low, high, p, q``,
        see `bridges.find_bridges`; ``low`` and ``high`` bound the ratio by the exact 95% interval
        of a Poisson count (Garwood 1936).
    """
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
