"""The bootstrap, fast: equal papers are counted together and drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.95
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
) -> NDArray[np.int64]:
    """Draw bootstrap samples of all papers.

    Drawing n papers with replacement (Efron 1979, Annals of Statistics 7, 1) and counting them by
    cell is one draw of a multinomial: the work grows with the cells, not with the papers.

    Parameters
    ----------
    counts : ndarray of int, shape (n_cells,)
        Papers of each cell.
    n_resamples : int
    random : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (n_resamples, n_cells)
        Papers of each cell in each sample; each row adds up to the papers there are.

    Examples
    --------
    >>> drawn = draw_cells(np.array([90, 10]), n_resamples=3, random=np.random.default_rng(0))
    >>> drawn.sum(axis=1).tolist()
    [100, 100, 100]
    """
    total = int(counts.sum())
    if not total:
        return np.zeros((n_resamples, len(counts)), dtype=np.int64)
    return random.multinomial(total, counts / total, size=n_resamples)


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
    >>> percentile_interval(np.arange(101.0), level=0.9)
    (5.0, 95.0)
    """
    kept = draws[np.isfinite(draws)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
