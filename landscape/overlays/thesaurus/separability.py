"""How well papers of a concept stand apart, in the embedding and on the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def neighbour_shares(
    points: NDArray[np.floating],
    members: NDArray[np.bool_],
    *,
    k: int = 15,
    n_sampled: int = 4000,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Share of each group among the nearest neighbours of sampled papers.

    Parameters
    ----------
    points : ndarray of float, shape (n_papers, n_dims)
        Embeddings or map coordinates; the neighbours are the Euclidean ones (for vectors of
        unit length the same as by cosine).
    members : ndarray of bool, shape (n_papers, n_groups)
        Which papers belong to each group; groups may overlap.
    k : int, default 15
        Neighbours, the paper itself left out.
    n_sampled : int, default 4000
        Papers that are drawn; they are each other's neighbours.
    seed : int, default 0

    Returns
    -------
    shares : ndarray of float, shape (n_drawn, n_groups)
    drawn_members : ndarray of bool, shape (n_drawn, n_groups)
        `members` of the papers drawn.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> members = np.array([[True], [True], [False], [False]])
    >>> neighbour_shares(points, members, k=1)[0].ravel().tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    n = len(points)
    drawn = np.arange(n)
    if n > n_sampled:
        drawn = np.sort(np.random.default_rng(seed).choice(n, n_sampled, replace=False))
    own = np.asarray(points[drawn], dtype=np.float32)
    belongs = members[drawn]
    k = min(k, len(own) - 1)
    if k < 1:
        return np.zeros(belongs.shape), belongs
    squared = np.square(own).sum(axis=1)
    distance = squared[:, None] - 2 * own @ own.T + squared
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
    shares = np.stack(
        [group[nearest].mean(axis=1) for group in belongs.T.astype(np.float64)], axis=1
    )
    return shares, belongs


def area_under_curve(
    scores: NDArray[np.floating], belongs: NDArray[np.bool_]
) -> tuple[float, float]:
    """Probability that a paper of a group scores above one outside it, and its standard error.

    The area under the ROC curve by ranks, ties counted half, with the standard error of
    Hanley & McNeil (1982, Radiology 143, 29).

    Returns
    -------
    area, error : float
        0.5 is chance, 1 perfect; NaN where one side has no paper.

    Examples
    --------
    >>> area, error = area_under_curve(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]) > 0)
    >>> area
    1.0
    """
    inside, outside = int(belongs.sum()), int((~belongs).sum())
    if not inside or not outside:
        return float("nan"), float("nan")
    ranks = _ranks(scores)
    area = (ranks[belongs].sum() - inside * (inside + 1) / 2) / (inside * outside)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area) + (inside - 1) * (q1 - area**2) + (outside - 1) * (q2 - area**2)
    ) / (inside * outside)
    return float(area), float(np.sqrt(max(variance, 0.0)))


def _ranks(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Ranks from 1, the mean of theirs for ties; SciPy's would first import all its statistics."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = (last - (counts - 1) / 2)[place]
    return means
