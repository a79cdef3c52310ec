"""Bounds of proportions and of their differences that hold for small counts too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
