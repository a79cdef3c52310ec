"""The bootstrap, fast: equal papers are counted together and drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
