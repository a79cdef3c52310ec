"""How much a paper counts in the graph of citations, beyond its own number of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.overlays.citations.matrix import Links


def influence(
    references: Links, *, damping: float = 0.5, tolerance: float = 1e-8, most: int = 100
) -> NDArray[np.float32]:
    r"""Measure influence by a reader who follows references at random (PageRank).

    Parameters
    ----------
    references : Links
        From each paper to what it cites.
    damping : float, default 0.5
        Probability of following one more reference; a half, as readers of papers go two steps
        deep on average (Chen et al. 2007, J. Informetrics 1, 8), not 0.85 as on the web (Page et
        al. 1999).
    tolerance : float, default 1e-8
        Sum of changes, as a fraction, at which it ends.
    most : int, default 100
        Steps at most.

    Returns
    -------
    ndarray of float32, shape (n_nodes,)
        Solution of :math:`r = (1-d) + d\,(A^T D^{-1} r + \text{mean of nodes without references})`;
        1 on average, so that graphs of different sizes compare.

    Examples
    --------
    >>> from landscape.overlays.citations import link
    >>> cited = link(np.array([0, 1]), np.array([2, 2]), n_nodes=3)
    >>> influence(cited).round(2).tolist()
    [0.75, 0.75, 1.5]
    """
    from scipy.sparse import csr_array

    n = references.n_nodes
    if not n:
        return np.zeros(0, dtype=np.float32)
    degrees = references.degrees
    shape = (n, n)
    walk = csr_array(
        (np.ones(len(references.targets)), references.targets, references.starts), shape=shape
    ).T.tocsr()
    share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
    ends = degrees == 0
    rank = np.ones(n)
    for _ in range(most):
        spread = walk @ (rank * share) + rank[ends].sum() / n
        later = (1 - damping) + damping * spread
        change = np.abs(later - rank).sum() / n
        rank = later
        if change < tolerance:
            break
    return rank.astype(np.float32)
