"""How related papers are by citations alone: cited together, or citing the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.overlays.citations.matrix import Links

    Found = tuple[NDArray[np.int64], NDArray[np.float64]]


def cocited(
    references: Links, citations: Links, nodes: NDArray[np.integer], *, k: int | None = None
) -> Found:
    r"""Find what is cited together with some papers (co-citation: Small 1973, JASIS 24, 265).

    Parameters
    ----------
    references, citations : Links
        The same graph, both ways.
    nodes : ndarray of int, shape (n,)
        One paper, or several whose counts are added.
    k : int, optional
        Most nodes; all when not given.

    Returns
    -------
    nodes : ndarray of int64, shape (at most k,)
        Best first, without the given ones; of two alike the lower number first.
    scores : ndarray of float64, same shape
        Salton's cosine, :math:`c_{pq} / \sqrt{c_p c_q}` of the counts of citing papers, from 0
        to 1 (of several papers: the average).

    Examples
    --------
    >>> from landscape.overlays.citations import link
    >>> references = link(np.array([0, 0, 1, 1, 1]), np.array([2, 3, 2, 3, 4]), n_nodes=5)
    >>> found, scores = cocited(references, references.reversed(), np.array([2]))
    >>> found.tolist(), scores.round(2).tolist()
    ([3, 4], [1.0, 0.71])
    """
    return _shared(citations, references, nodes, k)


def coupled(
    references: Links, citations: Links, nodes: NDArray[np.integer], *, k: int | None = None
) -> Found:
    """Find what cites the same as some papers (bibliographic coupling: Kessler 1963).

    Parameters
    ----------
    references, citations : Links
        The same graph, both ways.
    nodes : ndarray of int, shape (n,)
        One paper, or several whose counts are added.
    k : int, optional
        Most nodes; all when not given.

    Returns
    -------
    nodes : ndarray of int64, shape (at most k,)
        Best first, without the given ones; of two alike the lower number first.
    scores : ndarray of float64, same shape
        Cosine of the two reference lists, from 0 to 1 (of several papers: the average).

    Examples
    --------
    >>> from landscape.overlays.citations import link
    >>> references = link(np.array([0, 0, 1, 1]), np.array([2, 3, 3, 4]), n_nodes=5)
    >>> found, scores = coupled(references, references.reversed(), np.array([0]))
    >>> found.tolist(), scores.tolist()
    ([1], [0.5])
    """
    return _shared(references, citations, nodes, k)


def _shared(there: Links, back: Links, nodes: NDArray[np.integer], k: int | None) -> Found:
    """Walk two steps, and weigh each end by how many ways lead to it."""
    given = np.unique(np.asarray(nodes, dtype=np.int64))
    scores = np.zeros(0)
    ends = np.zeros(0, dtype=np.int64)
    for node in given.tolist():
        between = there.of(node)
        reached, ways = np.unique(back.of_all(between), return_counts=True)
        degrees = there.starts[reached + 1] - there.starts[reached]
        ends = np.concatenate([ends, reached])
        scores = np.concatenate([scores, ways / np.sqrt(max(1, len(between)) * degrees)])
    found, place = np.unique(ends, return_inverse=True)
    total = np.bincount(place, weights=scores, minlength=len(found)) / max(1, len(given))
    others = ~np.isin(found, given)
    found, total = found[others], total[others]
    order = np.lexsort((found, -total))[:k]
    return found[order], total[order]
