"""How much a facility's papers are cited, with bootstrap values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.missions.resampling import draw_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 200  # percentiles are resampled in steps of half a per cent


@dataclass(frozen=True)
class CitationSamples:
    """Bootstrap samples of the citation counts of a period.

    Attributes
    ----------
    values : ndarray of float, shape (n_values,)
        Citation counts that occur, ascending.
    counts : ndarray of int, shape (n_values,)
        Papers with each.
    drawn : ndarray of int, shape (n_resamples, n_values)
        Papers with each in each sample.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    drawn: NDArray[np.int64]


def sample_citations(
    cites: NDArray[np.float64], *, n_resamples: int, random: np.random.Generator
) -> CitationSamples:
    """Draw samples of the papers whose citations are known.

    Parameters
    ----------
    cites : ndarray of float, shape (n_papers,)
        Citations of the papers of the period, NaN where not known.
    n_resamples : int
    random : numpy.random.Generator
    """
    values, counts = np.unique(cites[np.isfinite(cites)], return_counts=True)
    drawn = draw_cells(counts, n_resamples=n_resamples, random=random)
    return CitationSamples(values, counts.astype(np.int64), drawn)


def measure_citations(
    cites: NDArray[np.float64], samples: CitationSamples, *, random: np.random.Generator
) -> tuple[dict[str, float], dict[str, NDArray[np.float64]]]:
    """Sum, median and share of the citations of a facility's papers.

    Given a sample of the corpus, the papers of a facility among those with the same count follow
    a binomial: so one set of samples serves all facilities.

    Parameters
    ----------
    cites : ndarray of float, shape (n_facility_papers,)
        NaN where not known.
    samples : CitationSamples
    random : numpy.random.Generator

    Returns
    -------
    estimates : dict of str to float
        ``cited_papers`` (papers whose citations are known), ``citations``, ``citations_median``,
        ``citations_share``.
    draws : dict of str to ndarray of float, shape (n_resamples,)
    """
    known = cites[np.isfinite(cites)]
    places, its = np.unique(np.searchsorted(samples.values, known), return_counts=True)
    values = samples.values[places]
    drawn = random.binomial(samples.drawn[:, places], its / samples.counts[places])
    total = float(samples.counts @ samples.values)
    estimates = {
        "cited_papers": float(len(known)),
        "citations": float(known.sum()) if len(known) else float("nan"),
        "citations_median": float(np.median(known)) if len(known) else float("nan"),
        "citations_share": float(known.sum()) / total if total and len(known) else float("nan"),
    }
    sums = drawn @ values if len(known) else np.full(len(samples.drawn), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = sums / (samples.drawn @ samples.values)
    draws = {
        "citations": sums,
        "citations_median": median_of_counts(values, drawn),
        "citations_share": share,
    }
    return estimates, draws


def citation_percentiles(
    cites: NDArray[np.float64], year: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Rank citations among the papers of the same year: old papers had more time.

    Parameters
    ----------
    cites : ndarray of float, shape (n_papers,)
    year : ndarray of int, shape (n_papers,)

    Returns
    -------
    ndarray of float, shape (n_papers,)
        Fraction of the year's papers that are cited less, ties counting half (Waltman &
        Schreiber 2013, JASIST 64, 372): 0.5 on average. NaN where citations are not known.

    Examples
    --------
    >>> citation_percentiles(np.array([0.0, 9.0, 3.0]), np.array([1990, 1990, 2020])).tolist()
    [0.25, 0.75, 0.5]
    """
    import pandas as pd

    groups = pd.Series(cites).groupby(year)
    ranks = groups.rank(method="average")
    share: NDArray[np.float64] = ((ranks - 0.5) / groups.transform("count")).to_numpy()
    return share


def measure_percentile(
    percentiles: NDArray[np.float64], *, n_resamples: int, random: np.random.Generator
) -> tuple[float, NDArray[np.float64]]:
    """Average the percentiles of a facility's papers, with bootstrap values.

    Parameters
    ----------
    percentiles : ndarray of float, shape (n_facility_papers,)
        See `citation_percentiles`.
    n_resamples : int
    random : numpy.random.Generator

    Returns
    -------
    estimate : float
    draws : ndarray of float, shape (n_resamples,)
    """
    known = percentiles[np.isfinite(percentiles)]
    if not len(known):
        return float("nan"), np.full(n_resamples, np.nan)
    steps, counts = np.unique(np.round(known * _STEPS), return_counts=True)
    drawn = draw_cells(counts.astype(np.int64), n_resamples=n_resamples, random=random)
    return float(known.mean()), drawn @ (steps / _STEPS) / len(known)


def median_of_counts(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Find the medians of samples that are given as counts of values.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        Ascending.
    counts : ndarray of int, shape (n_samples, n_values)

    Returns
    -------
    ndarray of float, shape (n_samples,)
        NaN where a sample is empty.

    Examples
    --------
    >>> median_of_counts(np.array([0.0, 5.0, 9.0]), np.array([[1, 1, 2], [3, 1, 0]])).tolist()
    [7.0, 0.0]
    """
    if not len(values):
        return np.full(len(counts), np.nan)
    held = np.cumsum(counts, axis=1)
    papers = held[:, -1:]
    lower = values[np.argmax(held >= (papers + 1) // 2, axis=1)]
    upper = values[np.argmax(held >= papers // 2 + 1, axis=1)]
    return np.where(papers[:, 0] > 0, (lower + upper) / 2, np.nan)
