"""The literature before a facility's first light and since, region by region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.overlays.missions.gathering import Usage, gather
from landscape.overlays.missions.impact_tables import count_years_of
from landscape.overlays.missions.proportions import (
    growth_interval,
    newcombe_interval,
    wilson_interval,
)
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

OVERALL = "All regions"


def before_after(atlas: Any, facility: str, *, year: int | None = None) -> Analysis:
    """Compare the literature before a facility's first light with that since.

    Two things are told apart: how much of a region's literature mentions the facility (its
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
    usage = gather(atlas, [facility])
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
        tables={"years": count_years_of(usage, 0, np.ones(usage.n_papers, dtype=bool))},
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
