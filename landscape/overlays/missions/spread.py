"""How widely a facility's papers are spread over the regions of the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
