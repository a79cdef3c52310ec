"""Which share of the local literature uses a facility, place by place on the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
    from landscape.mapping._density import default_bandwidth
    from landscape.overlays.contours import density_grid, kernel_within, map_extent

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
