"""Confidence intervals and tests of all tables and figures. Intervals are 95% unless stated.

==========================  =====================================  ================================
function                    method                                 used for
==========================  =====================================  ================================
`share_interval`            score (Wilson 1927)                    shares of papers
`newcombe_interval`         square and add (Newcombe 1998)         differences of shares
`growth_interval`           logarithm (Katz et al. 1978)           ratios of shares
`odds_ratio_interval`       logarithm (Woolf 1955)                 comparison of selections
`poisson_interval`          exact (Garwood 1936)                   bridges, and reviews by region
`poisson_range`             quantiles                              expected numbers of papers
`corrected_count_interval`  Dirichlet posterior (Rogan 1978)       papers outside a bibliography
`normal_interval`           standard error                         separability, spread of authors
`percentile_interval`       percentile bootstrap                   impact, gaps between reviews
`bootstrap_interval`        percentile bootstrap of a mean         evaluation of searches
`paired_difference`         Fisher's randomisation test            comparison of two searches
`false_discovery_rates`     Benjamini & Hochberg (1995)            trends, comparisons, new topics
==========================  =====================================  ================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
"""Probabilities below the lower and the upper bound."""
Z_95 = 1.959964
"""Quantile of the normal distribution for a 95% interval."""


def ratio(above: ArrayLike, below: ArrayLike) -> Floats:
    """Divide element by element; the result is NaN if the denominator is 0."""
    above, below = np.asarray(above, np.float64), np.asarray(below, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def share_interval(counts: ArrayLike, totals: ArrayLike) -> tuple[Floats, Floats]:
    """Return the score interval of shares (Wilson 1927, J. Am. Stat. Assoc. 22, 209)."""
    n = np.asarray(totals, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.asarray(counts, dtype=np.float64) / n
        centre = (share + Z_95**2 / (2 * n)) / (1 + Z_95**2 / n)
        half = Z_95 / (1 + Z_95**2 / n) * np.sqrt(share * (1 - share) / n + Z_95**2 / (4 * n**2))
    # Rounding errors must not put a share of 0 or 1 outside its interval.
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)


def newcombe_interval(
    after: Sequence[float | np.ndarray], before: Sequence[float | np.ndarray]
) -> tuple[Floats, Floats]:
    """Return the interval of a difference of shares (Newcombe 1998, Stat. Med. 17, 873).

    Each share is given with its lower and upper bound.
    """
    (share, low_1, high_1), (share_0, low_0, high_0) = after, before
    rise = share - share_0
    return (
        rise - np.hypot(share - low_1, high_0 - share_0),
        rise + np.hypot(high_1 - share, share_0 - low_0),
    )


def growth_interval(
    hits: ArrayLike, trials: ArrayLike, hits_before: ArrayLike, trials_before: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Return the ratio of two proportions and its interval (Katz 1978, Biometrics 34, 469)."""
    k, n, k_0, n_0 = (
        np.asarray(values, dtype=np.float64) + 0.5
        for values in (hits, trials, hits_before, trials_before)
    )
    spread = np.exp(Z_95 * np.sqrt(np.maximum(1 / k - 1 / n + 1 / k_0 - 1 / n_0, 0)))
    growth = np.where((n > 0.5) & (n_0 > 0.5), (k / n) / (k_0 / n_0), np.nan)
    return growth, growth / spread, growth * spread


def odds_ratio_interval(cells: Floats, *, scatter: ArrayLike = 0.0) -> Floats:
    """Return the factor from the odds ratio to its bounds (Woolf 1955, Ann. Hum. Genet. 19, 251).

    `cells` has the numbers of the table in its first dimension. `scatter` is the variance of the
    logarithm beyond that of counts.
    """
    return np.asarray(np.exp(Z_95 * np.sqrt((1 / cells).sum(axis=0) + scatter)))


def poisson_interval(low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    """Return the bounds of Poisson means (Garwood 1936, Biometrika 28, 437).

    For k events, `low` is k and `high` is k + 1. With a gamma prior, both are its shape.
    """
    from scipy.special import gammaincinv

    lower = np.where(np.asarray(low) > 0, gammaincinv(np.maximum(low, 1e-300), ENDS[0]), 0.0)
    return lower, gammaincinv(high, ENDS[1])


def corrected_count_interval(
    count: int, both: int, missed: int, false: int, *, draws: int = 4000
) -> tuple[float, float]:
    """Return the interval of a count that is corrected for its precision and recall.

    The corrected count is ``count * (both + missed) / (both + false)``, the estimator of Rogan &
    Gladen (1978, Am. J. Epidemiol. 107, 71) for rare cases. The three numbers of papers, on which
    precision and recall were measured, are drawn from their Dirichlet posterior.

    >>> low, high = corrected_count_interval(100, both=80, missed=20, false=0)
    >>> 95 < low < 125 < high < 160
    True
    """
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.array([both, missed, false]) + 0.5, size=draws)
    factor = (shares[:, 0] + shares[:, 1]) / (shares[:, 0] + shares[:, 2])
    low, high = percentile_interval(random.gamma(count + 0.5, size=draws) * factor)
    return (low if count else 0.0), high


def poisson_range(expected: ArrayLike) -> tuple[Floats, Floats]:
    """Return the range that contains 95% of the counts with these means."""
    from scipy.stats import poisson

    return poisson.ppf(ENDS[0], expected), poisson.ppf(ENDS[1], expected)


def normal_interval(value: ArrayLike, error: ArrayLike) -> tuple[Floats, Floats]:
    """Return the interval of a normal distribution with a known standard error."""
    value, reach = np.asarray(value, np.float64), Z_95 * np.asarray(error, np.float64)
    return value - reach, value + reach


def percentile_interval(draws: NDArray[np.floating]) -> tuple[float, float]:
    """Return the central interval of the finite bootstrap values (Efron & Tibshirani 1993)."""
    kept = draws[np.isfinite(draws)]
    low, high = np.quantile(kept, ENDS) if len(kept) else (np.nan, np.nan)
    return float(low), float(high)


def false_discovery_rates(p: ArrayLike) -> Floats:
    """Return the q values of Benjamini & Hochberg (1995); NaN stays NaN."""
    from scipy.stats import false_discovery_control

    q = np.array(p, dtype=np.float64)
    known = np.isfinite(q)
    if known.any():
        q[known] = false_discovery_control(q[known])
    return q


@dataclass(frozen=True)
class Interval:
    """Mean and its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Difference:
    """Difference between two methods on the same questions, with an interval and a p value."""

    mean: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p = {self.p:.3g}"


def bootstrap_interval(
    values: ArrayLike, *, level: float = LEVEL, samples: int = 10_000, seed: int = 0
) -> Interval:
    """Return the mean with a percentile bootstrap interval (Efron & Tibshirani 1993)."""
    from scipy import stats

    array = _numbers(values)
    mean = float(array.mean())
    if len(array) == 1:
        return Interval(mean, mean, mean)
    found = stats.bootstrap(
        (array,),
        np.mean,
        n_resamples=samples,
        batch=_batch(array),
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(mean, float(found.low), float(found.high))


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    level: float = LEVEL,
    samples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """Compare two methods on the same questions with Fisher's randomisation test.

    See Smucker, Allan & Carterette 2007, doi:10.1145/1321440.1321528.
    """
    from scipy import stats

    before, after = _numbers(first), _numbers(second)
    if before.shape != after.shape:
        raise InputError(
            f"The two methods were measured on {len(before)} and {len(after)} questions; use the "
            "same questions for both methods."
        )
    change = after - before
    interval = bootstrap_interval(change, level=level, samples=samples, seed=seed)
    if len(change) == 1:  # the test needs at least two values
        return Difference(interval.mean, interval.low, interval.high, 1.0)
    test = stats.permutation_test(
        (change,),
        lambda flipped, axis: np.abs(flipped.sum(axis=axis)),
        vectorized=True,
        permutation_type="samples",
        alternative="greater",
        n_resamples=samples,
        batch=_batch(change),
        rng=np.random.default_rng(seed + 1),
    )
    return Difference(interval.mean, interval.low, interval.high, float(test.pvalue))


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    array: np.ndarray = np.asarray(values, float)
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise InputError("The scores must be a list of finite numbers, one per question.")
    return array


def _batch(array: NDArray[np.float64]) -> int:
    """Return the number of resamples that fit into a batch of 32 MB."""
    return max(1, 4_000_000 // len(array))
