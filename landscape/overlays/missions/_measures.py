"""Bounds of proportions and of their differences that hold for small counts too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_Z = 1.959964  # of a normal's middle 95%


def wilson_interval(
    hits: ArrayLike, trials: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound proportions, also where the count is 0 or few.

    The 95% score interval of Wilson (1927, J. Am. Stat. Assoc. 22, 209).

    Parameters
    ----------
    hits, trials : array_like of int, same shape

    Returns
    -------
    low, high : ndarray of float
        NaN without a trial.

    Examples
    --------
    >>> low, high = wilson_interval([0], [10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0], [0.278])
    """
    z = _Z
    k, n = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = k / n
        centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def newcombe_interval(
    hits: ArrayLike, trials: ArrayLike, hits_before: ArrayLike, trials_before: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the difference of two proportions.

    The 95% interval of Newcombe (1998, Statistics in Medicine 17, 873), method 10, made of
    Wilson's bounds; where papers are of both samples it is too wide rather than too narrow.

    Parameters
    ----------
    hits, trials : array_like of int, same shape
        Of the proportion from which the other is taken away.
    hits_before, trials_before : array_like of int, same shape
        Of the other.

    Returns
    -------
    low, high : ndarray of float
        NaN where either has no trial.

    Examples
    --------
    >>> low, high = newcombe_interval([56], [70], [48], [80])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0524], [0.3339])
    """
    low_1, high_1 = wilson_interval(hits, trials)
    low_0, high_0 = wilson_interval(hits_before, trials_before)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.asarray(hits, dtype=np.float64) / np.asarray(trials, dtype=np.float64)
        before = np.asarray(hits_before, np.float64) / np.asarray(trials_before, np.float64)
    rise = share - before
    return (
        rise - np.hypot(share - low_1, high_0 - before),
        rise + np.hypot(high_1 - share, before - low_0),
    )


def growth_interval(
    hits: ArrayLike, trials: ArrayLike, hits_before: ArrayLike, trials_before: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Bound the ratio of two proportions.

    The 95% interval of Katz et al. (1978, Biometrics 34, 469) on the logarithm, half a paper
    added to both counts so that a count of 0 has bounds too.

    Returns
    -------
    ratio, low, high : ndarray of float
        NaN where either has no trial.

    Examples
    --------
    >>> ratio, low, high = growth_interval([200], [1000], [100], [1000])
    >>> ratio.round(2).tolist(), low.round(2).tolist(), high.round(2).tolist()
    ([2.0], [1.6], [2.49])
    """
    k, n, k_0, n_0 = (
        np.asarray(values, dtype=np.float64)
        for values in (hits, trials, hits_before, trials_before)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = ((k + 0.5) / (n + 0.5)) / ((k_0 + 0.5) / (n_0 + 0.5))
        variance = 1 / (k + 0.5) - 1 / (n + 0.5) + 1 / (k_0 + 0.5) - 1 / (n_0 + 0.5)
        spread = np.exp(_Z * np.sqrt(np.maximum(variance, 0)))
    known = (n > 0) & (n_0 > 0)
    low, high = ratio / spread, ratio * spread
    ratio, low, high = (np.where(known, values, np.nan) for values in (ratio, low, high))
    return ratio, low, high


LEVEL = 0.95
_MOST_TABLED = 100
_MOST_CODES = 4_000_000  # beyond it codes are sorted, not counted


def collapse(
    columns: Sequence[NDArray[np.integer]],
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Count equal papers together.

    Parameters
    ----------
    columns : sequence of ndarray of int, each of shape (n_papers,)
        What distinguishes papers; -1 may stand for "not known", nothing is below it.

    Returns
    -------
    values : list of ndarray of int, each of shape (n_cells,)
        The columns of each cell of equal papers.
    counts : ndarray of int, shape (n_cells,)
        Papers in it.

    Examples
    --------
    >>> values, counts = collapse([np.array([0, 1, 0, 0]), np.array([2, -1, 2, 2])])
    >>> [value.tolist() for value in values], counts.tolist()
    ([[0, 1], [2, -1]], [3, 1])
    """
    sizes = [int(column.max(initial=-1)) + 2 for column in columns]
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        code = code * size + (column + 1)
    if np.prod(sizes, dtype=np.float64) <= _MOST_CODES:
        every = np.bincount(code)
        codes = np.flatnonzero(every)
        counts = every[codes]
    else:
        codes, counts = np.unique(code, return_counts=True)
    values = []
    for size in reversed(sizes):
        codes, value = np.divmod(codes, size)
        values.append(value - 1)
    return values[::-1], counts.astype(np.int64)


def draw_cells(
    counts: NDArray[np.int64], *, n_resamples: int, random: np.random.Generator
) -> NDArray[np.float32]:
    """Draw bootstrap samples of all papers.

    In a Poisson bootstrap each paper is drawn a Poisson number of times with mean 1 (Hanley &
    MacGibbon 2006, Computer Methods and Programs in Biomedicine 83, 57): a cell of c equal papers
    a Poisson number with mean c, whatever the other cells. Ratios are distributed as in drawing
    with replacement, and the work grows with the cells, not with the papers. Means up to 100
    are read from tables of quantiles, larger ones rounded from a normal.

    Parameters
    ----------
    counts : ndarray of int, shape (n_cells,)
        Papers of each cell.
    n_resamples : int
    random : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_resamples, n_cells)
        Papers of each cell in each sample, whole numbers.

    Examples
    --------
    >>> drawn = draw_cells(np.array([900, 4]), n_resamples=9999, random=np.random.default_rng(0))
    >>> bool(abs(drawn[:, 0].mean() - 900) < 2), drawn.std(axis=0).round().tolist()
    (True, [30.0, 2.0])
    """
    drawn = np.empty((len(counts), n_resamples), dtype=np.float32)
    for mean in np.unique(counts[counts <= _MOST_TABLED]).tolist():
        places = np.flatnonzero(counts == mean)
        random_bits = random.integers(0, 1 << 16, size=(len(places), n_resamples), dtype=np.uint16)
        drawn[places] = _poisson_quantiles(mean)[random_bits]
    large = np.flatnonzero(counts > _MOST_TABLED)
    means = counts[large, None].astype(np.float32)
    noise = random.standard_normal((len(large), n_resamples), dtype=np.float32)
    drawn[large] = np.maximum(np.rint(means + np.sqrt(means) * noise), 0)
    return drawn.T


@cache
def _poisson_quantiles(mean: int) -> NDArray[np.float32]:
    """Quantiles of a Poisson at the midpoints of 65,536 equal steps of probability."""
    most = int(mean + 8 * np.sqrt(mean) + 10)
    logs = np.cumsum(np.log(np.maximum(np.arange(most + 1), 1)))
    chance = np.exp(np.arange(most + 1) * np.log(mean) - mean - logs) if mean else np.ones(1)
    steps = (np.arange(1 << 16) + 0.5) / (1 << 16)
    return np.searchsorted(np.cumsum(chance), steps).astype(np.float32)


def percentile_interval(
    draws: NDArray[np.floating], *, level: float = LEVEL
) -> tuple[float, float]:
    """Find the interval that holds the middle of the bootstrap values.

    Parameters
    ----------
    draws : ndarray of float, shape (n_resamples,)
        Values that are not finite (a sample without a denominator) are left out.
    level : float, default 0.95

    Returns
    -------
    low, high : float
        NaN where no value is left.

    Examples
    --------
    >>> percentile_interval(np.arange(101.0), level=0.5)
    (25.0, 75.0)
    """
    kept = draws[np.isfinite(draws)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


_CORE = 0.8


def entropy(counts: ArrayLike) -> NDArray[np.float64]:
    """Entropy of papers over regions, in nats, corrected for small numbers.

    Few papers reach few regions, so the plain entropy of a small facility is too low; Miller
    (1955) adds (regions reached - 1) / (2 papers). Never more than all papers evenly spread.

    Parameters
    ----------
    counts : array_like of int, shape (..., n_regions)
        Papers in each region.

    Returns
    -------
    ndarray of float, shape (...)
        NaN where there is no paper.

    Examples
    --------
    >>> entropy([[5000, 5000, 0], [10000, 0, 0]]).round(2).tolist()
    [0.69, 0.0]
    """
    given = np.asarray(counts, dtype=np.float64)
    total = given.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = given / total[..., None]
        plain = -np.where(share > 0, share * np.log(share), 0.0).sum(axis=-1)
        corrected = plain + ((given > 0).sum(axis=-1) - 1) / (2 * total)
    capped = np.minimum(corrected, np.log(max(given.shape[-1], 1)))
    return np.where(total > 0, capped, np.nan)


def effective_regions(counts: ArrayLike) -> NDArray[np.float64]:
    """Count the regions that equally many papers each would have the same entropy.

    The true diversity of order 1 (Hill 1973, Ecology 54, 427): the exponential of the entropy.

    Parameters
    ----------
    counts : array_like of int, shape (..., n_regions)

    Returns
    -------
    ndarray of float, shape (...)

    Examples
    --------
    >>> effective_regions([8000, 8000, 8000, 0]).round(2).item()
    3.0
    """
    return np.exp(entropy(counts))


def core_regions(counts: ArrayLike, *, share: float = _CORE) -> NDArray[np.bool_]:
    """Find where a facility works: the fewest regions that hold most of its papers.

    Parameters
    ----------
    counts : array_like of int, shape (n_regions,)
        Its papers in each region.
    share : float, default 0.8
        Fraction of its papers that the regions must hold together.

    Returns
    -------
    ndarray of bool, shape (n_regions,)

    Examples
    --------
    >>> core_regions([1, 60, 9, 30]).tolist()
    [False, True, False, True]
    """
    given = np.asarray(counts, dtype=np.int64)
    chosen = np.zeros(len(given), dtype=bool)
    order = np.argsort(-given, kind="stable")
    held = np.cumsum(given[order])
    if len(held) and held[-1]:
        needed = int(np.searchsorted(held, share * held[-1] - 1e-9)) + 1
        chosen[order[:needed]] = True
    return chosen


_MOST_BLOCKS = 1_000_000
_STRENGTHS = (0.5, 1e5)  # bounds of the prior's weight, in papers


@dataclass(frozen=True)
class ShareMap:
    """Share of the local literature on a window of the map.

    Attributes
    ----------
    extent : tuple of float
        ``(x0, y0, x1, y1)`` in map units.
    share : ndarray of float, shape (n_rows, n_columns)
        Fraction of the papers around each cell, shrunk towards the overall share where papers
        are few; row 0 is the lowest y.
    papers : ndarray of float, shape (n_rows, n_columns)
        Papers of the corpus under the kernel: what the share is a share of. Below about one
        there is no literature to speak of.
    facility_papers : ndarray of float, shape (n_rows, n_columns)
        The facility's papers under the kernel.
    overall : float
        Share of all papers.
    prior_papers : float
        Weight of the overall share, in papers.
    bandwidth : float
        Standard deviation of the kernel, in map units.
    """

    extent: tuple[float, float, float, float]
    share: NDArray[np.float64]
    papers: NDArray[np.float64]
    facility_papers: NDArray[np.float64]
    overall: float
    prior_papers: float
    bandwidth: float


def share_map(
    x: ArrayLike,
    y: ArrayLike,
    mask: ArrayLike,
    *,
    extent: tuple[float, float, float, float] | None = None,
    shape: tuple[int, int] = (256, 256),
    bandwidth: float | None = None,
) -> ShareMap:
    r"""Divide smoothed counts, shrunk where papers are few.

    With k of n papers under the kernel using the facility, the share is the posterior mean of a
    beta-binomial model, :math:`(k + m\mu)/(n + m)`, whose mean :math:`\mu` is the overall share
    and whose weight m is fitted to the map itself by `fit_prior_papers` (empirical Bayes).
    n is the smoothed density times the kernel's effective area, :math:`4\pi h^2`.

    Parameters
    ----------
    x, y : array_like of float, shape (n_papers,)
        Map coordinates of all papers of the period.
    mask : array_like of bool, shape (n_papers,)
        Which of them use the facility.
    extent : tuple of float, optional
        Window ``(x0, y0, x1, y1)`` in map units; what holds all papers when not given. Slices of
        time need one window and one bandwidth.
    shape : tuple of int, default (256, 256)
        Rows and columns.
    bandwidth : float, optional
        Standard deviation of the kernel in map units; from all papers when not given.

    Returns
    -------
    ShareMap

    Raises
    ------
    InputError
        If there is no paper, or mask and coordinates differ in length.

    Examples
    --------
    >>> x = np.repeat([0.0, 5.0], 400)
    >>> found = share_map(x, np.zeros(800), x > 3, extent=(-2, -3, 7, 3), bandwidth=0.5)
    >>> float(found.share.min()) < 0.05, float(found.share.max()) > 0.95
    (True, True)
    """
    from landscape.mapping.density import default_bandwidth
    from landscape.overlays._contours import density_grid, kernel_within, map_extent

    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    uses = np.asarray(mask, dtype=bool)
    if len(uses) != len(x):
        raise InputError(f"There are {len(x):,} papers, but a mask of {len(uses):,}.")
    window = map_extent(x, y) if extent is None else extent
    kernel = kernel_within(window, default_bandwidth(x, y) if bandwidth is None else bandwidth)
    every = density_grid(x, y, extent=window, shape=shape, bandwidth=kernel)
    its = density_grid(x[uses], y[uses], extent=window, shape=shape, bandwidth=kernel)
    width, height = every.cell
    area = max(4 * np.pi * kernel**2 / (width * height), 1.0)
    papers, hits = every.density * area, its.density * area
    overall = float(uses.mean())
    weight = fit_prior_papers(*_blocks(x, y, uses, side=2 * kernel), mean=overall)
    share = (hits + weight * overall) / (papers + weight)
    return ShareMap(window, share, papers, hits, overall, weight, float(kernel))


def fit_prior_papers(hits: ArrayLike, papers: ArrayLike, *, mean: float) -> float:
    """Weigh the overall share against local counts, from how much shares really differ.

    Maximises the likelihood of a beta-binomial with the given mean (type II maximum likelihood,
    empirical Bayes: Casella 1985, The American Statistician 39, 83). If places differ no more than
    by chance the weight is large and all are shrunk to the mean.

    Parameters
    ----------
    hits, papers : array_like of int, shape (n_places,)
        Papers of the facility and all papers, of independent places.
    mean : float
        The overall share.

    Returns
    -------
    float
        The prior's weight in papers, 0.5 to 100,000.

    Examples
    --------
    >>> fit_prior_papers([0, 50, 0, 50], [50, 50, 50, 50], mean=0.5) < 1
    True
    >>> fit_prior_papers([25, 24, 26, 25], [50, 50, 50, 50], mean=0.5) > 1000
    True
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    k, n = np.asarray(hits, dtype=np.float64), np.asarray(papers, dtype=np.float64)
    kept = n > 0
    if not kept.any() or not 0 < mean < 1:
        return 1.0
    pairs, repeats = np.unique(np.column_stack([k[kept], n[kept]]), axis=0, return_counts=True)
    k, n = pairs.T

    def unlikelihood(log_weight: float) -> float:
        a, b = np.exp(log_weight) * mean, np.exp(log_weight) * (1 - mean)
        return -float(np.sum(repeats * (betaln(k + a, n - k + b) - betaln(a, b))))

    found = minimize_scalar(unlikelihood, bounds=np.log(_STRENGTHS), method="bounded")
    return float(np.exp(found.x))


def shrink_shares(hits: ArrayLike, papers: ArrayLike, *, mean: float) -> NDArray[np.float64]:
    """Shrink the shares of places with few papers towards the overall share.

    Parameters
    ----------
    hits, papers : array_like of int, shape (n_places,)
    mean : float
        The overall share.

    Returns
    -------
    ndarray of float, shape (n_places,)

    Examples
    --------
    >>> shares = shrink_shares([1, 400, 0, 90], [1, 1000, 800, 900], mean=0.18)
    >>> bool(shares[0] < 1), shares[1].round(1).item()
    (True, 0.4)
    """
    weight = fit_prior_papers(hits, papers, mean=mean)
    shrunk: NDArray[np.float64] = (np.asarray(hits) + weight * mean) / (np.asarray(papers) + weight)
    return shrunk


def _blocks(
    x: NDArray[np.float64], y: NDArray[np.float64], uses: NDArray[np.bool_], *, side: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count papers in square blocks: unlike smoothed cells they are independent."""
    column = np.floor((x - x.min()) / side).astype(np.int64)
    row = np.floor((y - y.min()) / side).astype(np.int64)
    code = row * (int(column.max(initial=0)) + 1) + column
    if code.max(initial=0) > _MOST_BLOCKS:  # a paper far off; empty blocks would fill the memory
        code = np.unique(code, return_inverse=True)[1]
    return np.bincount(code, uses).astype(np.int64), np.bincount(code)


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
