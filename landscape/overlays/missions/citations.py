"""How much a facility's papers are cited, with bootstrap values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.missions.resampling import draw_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MEASURES = ("citations", "citations_median", "citations_share")
_STEPS = 200  # percentiles are resampled in steps of half a per cent


def measure_citations(
    cites: NDArray[np.float64],
    corpus: tuple[NDArray[np.float64], NDArray[np.int64]],
    *,
    n_resamples: int,
    random: np.random.Generator,
) -> tuple[dict[str, float], dict[str, NDArray[np.float64]]]:
    """Sum, median and share of the citations of a facility's papers.

    Parameters
    ----------
    cites : ndarray of float, shape (n_facility_papers,)
        NaN where not known.
    corpus : tuple of ndarray, each of shape (n_values,)
        Citation counts that occur in the period, ascending, and papers with each, these included.
    n_resamples : int
    random : numpy.random.Generator

    Returns
    -------
    estimates : dict of str to float
        ``cited_papers`` (papers whose citations are known), ``citations``, ``citations_median``,
        ``citations_share``.
    draws : dict of str to ndarray of float, shape (n_resamples,)
        Without ``cited_papers``.
    """
    known = cites[np.isfinite(cites)]
    estimates = {"cited_papers": float(len(known))}
    if not len(known):
        nothing = np.full(n_resamples, np.nan)
        return (
            estimates | dict.fromkeys(_MEASURES, float("nan")),
            dict.fromkeys(_MEASURES, nothing),
        )
    values, papers = corpus
    places, its = np.unique(np.searchsorted(values, known), return_counts=True)
    others = papers.copy()
    others[places] -= its
    drawn = draw_cells(its.astype(np.int64), n_resamples=n_resamples, random=random)
    rest = draw_cells(others, n_resamples=n_resamples, random=random) @ values
    sums = drawn @ values[places]
    total, every = float(known.sum()), float(papers @ values)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (total, float(np.median(known)), total / every if every else float("nan"))
        draws = (sums, median_of_counts(values[places], drawn), sums / (sums + rest))
    return (
        estimates | dict(zip(_MEASURES, found, strict=True)),
        dict(zip(_MEASURES, draws, strict=True)),
    )


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
    with np.errstate(invalid="ignore"):
        return float(known.mean()), drawn @ (steps / _STEPS) / drawn.sum(axis=1)


def median_of_counts(
    values: NDArray[np.float64], counts: NDArray[np.number]
) -> NDArray[np.float64]:
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
