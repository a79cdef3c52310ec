"""Rates of topics relative to the whole corpus, and their slopes in time.

A topic's rate is its share of all papers of a year, so growth of the field is no growth of a topic.
Where the corpus itself changes abruptly (another source begins), shares before and after cannot be
compared: each such era gets its own level, and a slope is what shares do within the eras.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.periods import abrupt_changes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_STEEPEST = 1.0  # standard deviation of the prior of a slope: one e-fold a year
_NEARLY_FLAT = 1e-3  # precision of the prior of a level: only so that absent eras can be solved
_MOST_STEPS = 60
_LONGEST_STEP = 2.0


@dataclass(frozen=True)
class Lines:
    """Straight lines in log odds, one for each row of counts.

    Attributes
    ----------
    slope : ndarray of float, shape (n_rows,)
        Change of the log odds a year; for small shares the relative growth a year.
    slope_error : ndarray of float, shape (n_rows,)
        Standard error, without overdispersion.
    fitted : ndarray of float, shape (n_rows, n_years)
        Share that the line gives for each year.
    log_likelihood : ndarray of float, shape (n_rows,)
        Binomial, without the constant.
    chi_square : ndarray of float, shape (n_rows,)
        Pearson's, over the years of each row.
    n_parameters : ndarray of int, shape (n_rows,)
    """

    slope: NDArray[np.float64]
    slope_error: NDArray[np.float64]
    fitted: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    chi_square: NDArray[np.float64]
    n_parameters: NDArray[np.int64]


def count_by_year(
    groups: ArrayLike, years: ArrayLike, *, ids: ArrayLike, calendar: ArrayLike
) -> NDArray[np.int64]:
    """Count the papers of each group in each year.

    Parameters
    ----------
    groups : array_like of int, shape (n_papers,)
    years : array_like of int, shape (n_papers,)
    ids : array_like of int, shape (n_groups,)
        Groups to count; papers of others are left out.
    calendar : array_like of int, shape (n_years,)
        Years to count, ascending.

    Returns
    -------
    ndarray of int, shape (n_groups, n_years)

    Examples
    --------
    >>> count_by_year([5, 5, -1], [2001, 2003, 2001], ids=[5], calendar=[2001, 2002, 2003])
    array([[1, 0, 1]])
    """
    wanted, columns = np.asarray(ids, dtype=np.int64), np.asarray(calendar, dtype=np.int64)
    row, is_group = _positions(np.asarray(groups, dtype=np.int64), wanted)
    column, is_year = _positions(np.asarray(years, dtype=np.int64), columns)
    cell = (row * len(columns) + column)[is_group & is_year]
    counts = np.bincount(cell, minlength=len(wanted) * len(columns))
    return counts.reshape(len(wanted), len(columns)).astype(np.int64)


def share_interval(
    counts: ArrayLike, totals: ArrayLike, *, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Jeffreys' interval of a share (Brown, Cai & DasGupta 2001, Stat. Sci. 16, 101).

    Parameters
    ----------
    counts, totals : array_like of int
        Arrays that broadcast; where a total is zero the interval is not a number.
    level : float, default 0.95

    Returns
    -------
    low, high : ndarray of float

    Examples
    --------
    >>> low, high = share_interval([0, 10], [20, 20])
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.29], [0.12, 0.71])
    """
    from scipy.stats import beta

    k, n = np.broadcast_arrays(np.asarray(counts, float), np.asarray(totals, float))
    tail = (1 - level) / 2
    low = np.where(k > 0, beta.ppf(tail, k + 0.5, n - k + 0.5), 0.0)
    high = np.where(k < n, beta.ppf(1 - tail, k + 0.5, n - k + 0.5), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def find_eras(totals: ArrayLike) -> NDArray[np.int64]:
    """Number the stretches of years between abrupt changes of the corpus.

    Parameters
    ----------
    totals : array_like of int, shape (n_years,)
        Papers of each covered year.

    Returns
    -------
    ndarray of int, shape (n_years,)
        0 for the first era; a new one begins where the corpus grows or shrinks threefold.

    Examples
    --------
    >>> find_eras([100, 120, 500, 480, 60]).tolist()
    [0, 0, 1, 1, 2]
    """
    breaks = abrupt_changes(totals)
    return np.concatenate([[0], np.cumsum(breaks)]).astype(np.int64)


def fit_lines(
    counts: ArrayLike, totals: ArrayLike, years: ArrayLike, eras: ArrayLike | None = None
) -> Lines:
    """Fit a logistic line in time to each row of counts.

    The log odds of a year are a level (one for each era) and a slope times the year. A normal
    prior of one e-fold a year keeps the slope finite where all papers are of the last years.

    Parameters
    ----------
    counts : array_like of int, shape (n_rows, n_years)
    totals : array_like of int, shape (n_years,) or (n_rows, n_years)
        Papers of the corpus; a year with total 0 does not count for that row.
    years : array_like of int, shape (n_years,)
    eras : array_like of int, shape (n_years,), optional
        See `find_eras`.

    Returns
    -------
    Lines

    Examples
    --------
    >>> lines = fit_lines([[10, 20, 40], [30, 30, 30]], [1000, 1000, 1000], [2001, 2002, 2003])
    >>> lines.slope.round(1).tolist()
    [0.7, 0.0]
    """
    k = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    n = np.broadcast_to(np.asarray(totals, dtype=np.float64), k.shape)
    k = np.where(n > 0, k, 0.0)
    design, era_of = _design(np.asarray(years), eras)
    precision = np.r_[np.full(design.shape[1] - 1, _NEARLY_FLAT), 1 / _STEEPEST**2]
    found, information = _newton(k, n, design, precision)
    odds = found @ design.T
    fitted = _expit(odds)
    spread = n * fitted * (1 - fitted)
    chi_square = ((k - n * fitted) ** 2 / np.maximum(spread, 1e-12)).sum(axis=1, where=n > 0)
    eras_seen = ((n > 0).astype(np.float64) @ era_of > 0).sum(axis=1)
    return Lines(
        slope=found[:, -1],
        slope_error=np.sqrt(np.linalg.inv(information)[:, -1, -1]),
        fitted=fitted,
        log_likelihood=(k * odds - n * np.logaddexp(0, odds)).sum(axis=1),
        chi_square=chi_square,
        n_parameters=eras_seen + 1,
    )


def _positions(
    values: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each value is among those wanted, and whether it is there at all."""
    order = np.argsort(wanted, kind="stable")
    at = np.minimum(np.searchsorted(wanted[order], values), max(len(wanted) - 1, 0))
    if not len(wanted):
        return at, np.zeros(len(values), dtype=bool)
    return order[at], wanted[order][at] == values


def _design(
    years: NDArray[np.int64], eras: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A column for each era and one for the year; and the columns of the eras alone."""
    t = years.astype(np.float64)
    t = t - t.mean()
    era = np.zeros(len(t), dtype=np.int64) if eras is None else np.asarray(eras, dtype=np.int64)
    era_of = (era[:, None] == np.unique(era)[None, :]).astype(np.float64)
    return np.column_stack([era_of, t]), era_of


def _newton(
    k: NDArray[np.float64],
    n: NDArray[np.float64],
    design: NDArray[np.float64],
    precision: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Most probable coefficients and their information, all rows at once."""
    whole = k.sum(axis=1) + 0.5
    level = np.log(whole / (n.sum(axis=1) + 1.0 - whole))
    found = np.zeros((len(k), design.shape[1]))
    found[:, :-1] = level[:, None]
    products = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    shape = (len(k), design.shape[1], design.shape[1])
    for _ in range(_MOST_STEPS):
        fitted = _expit(found @ design.T)
        weight = n * fitted * (1 - fitted)
        information = (weight @ products).reshape(shape) + np.diag(precision)
        gradient = (k - n * fitted) @ design - precision * found
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        found = found + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max(initial=0.0) < 1e-6:
            break
    return found, information


def _expit(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import expit

    fitted: NDArray[np.float64] = expit(odds)
    return fitted
