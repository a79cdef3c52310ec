"""One facility's row of an impact table: estimates, intervals and their denominators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.overlays.missions.bridges import crossing_rates
from landscape.overlays.missions.citations import (
    citation_percentiles,
    measure_citations,
    measure_percentile,
)
from landscape.overlays.missions.measures import collapse_cases, make_case, measure_samples
from landscape.overlays.missions.proportions import newcombe_interval, wilson_interval
from landscape.overlays.missions.resampling import percentile_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.overlays.missions.bridges import Reach
    from landscape.overlays.missions.gathering import Usage

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
    """The papers of a period, and what all facilities are compared with.

    Attributes
    ----------
    usage : Usage
    inside : ndarray of bool, shape (n_papers,)
    reach : Reach
    """

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
        """How often papers of one region reach another, see `bridges.crossing_rates`."""
        return crossing_rates(self.reach, self.usage.region, self.inside)


def account_for(
    usage: Usage,
    period: Period,
    index: int,
    home: NDArray[np.int8],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> dict[str, Any]:
    """Measure one facility in a period.

    Parameters
    ----------
    usage : Usage
    period : Period
    index : int
        Number of the facility.
    home : ndarray of int
        Of its papers, see `home_fields.in_home_fields`.
    n_resamples : int
    random : numpy.random.Generator

    Returns
    -------
    dict
        The columns of `impact.impact`, except ``bridges``.
    """
    case = make_case(usage, index, period.inside, home, period.reach.n_reached)
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


def interval_of(
    name: str, estimates: dict[str, float], draws: dict[str, NDArray[np.float64]]
) -> tuple[float, float]:
    """Bound one measure by its bootstrap values.

    The entropy of a sample is lower than that of what it was drawn from, so its values are
    centred on the estimate. A share of nothing or all has no spread: Wilson's bounds instead,
    and for a rise from or to it Newcombe's, see `proportions`.
    """
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
        low, high = interval_of("entropy", estimates, draws)
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
            row[f"{name}_low"], row[f"{name}_high"] = interval_of(name, estimates, draws)
    return row
