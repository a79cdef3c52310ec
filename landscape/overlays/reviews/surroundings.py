"""Which reviews stand near a paper, in the full dimension of the embedding and not on the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST_NEAR = 20
_MOST_NEAR = 500
_MOST_REFERENCES = 50_000
_FEWEST_REACHED = 16  # references nearer than the reach: its rank is then right to a quarter
_BLOCK = 2048


@dataclass(frozen=True)
class Surroundings:
    """The reviews among the nearest papers of each of some papers.

    Attributes
    ----------
    n_near : ndarray of int, shape (n_rows,)
        Reviews among the nearest papers.
    latest : ndarray of float, shape (n_rows,)
        Year of the latest of them; NaN where there is none.
    k : int
        How many papers count as the nearest.
    """

    n_near: NDArray[np.int64]
    latest: NDArray[np.float64]
    k: int


def near_reviews(
    vectors: NDArray[np.float32],
    years: NDArray[np.int64],
    is_review: NDArray[np.bool_],
    rows: NDArray[np.int64],
    *,
    k: int | None = None,
    n_references: int | None = None,
    seed: int = 0,
) -> Surroundings:
    """Find the reviews among the nearest papers of each paper of ``rows``.

    How near the k-th nearest paper is, is estimated from a random sample of a large corpus; reviews
    are all compared.

    Parameters
    ----------
    vectors : ndarray of float, shape (n_papers, n_dims)
        L2-normalised; may be memory-mapped.
    years : ndarray of int, shape (n_papers,)
    is_review : ndarray of bool, shape (n_papers,)
    rows : ndarray of int, shape (n_rows,)
        The papers whose surroundings are wanted.
    k : int, optional
        Papers that count as near; by default as many as hold one review on average.
    n_references : int, optional
        Papers that nearness is estimated from; by default all of at most 50,000, and of more as
        many as have some sixteen within reach.
    seed : int, default 0
        For drawing these.

    Returns
    -------
    Surroundings

    Examples
    --------
    >>> angles = np.radians([0, 5, 10, 80, 85, 90])
    >>> vectors = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    >>> years = np.array([2000, 2001, 2002, 2000, 2001, 2002])
    >>> is_review = np.array([False, True, False, False, False, False])
    >>> near_reviews(vectors, years, is_review, np.array([0, 3]), k=2).latest.tolist()
    [2001.0, nan]
    """
    import faiss

    n_papers = len(years)
    reviews = np.flatnonzero(is_review)
    k = near_enough(n_papers, len(reviews)) if k is None else k
    k = max(1, min(k, n_papers - 1))
    n_near = np.zeros(len(rows), dtype=np.int64)
    latest = np.full(len(rows), np.nan)
    if not len(reviews):
        return Surroundings(n_near, latest, k)
    references = _drawn(n_papers, n_references or enough_references(n_papers, k), seed)
    corpus = np.asarray(vectors[references], dtype=np.float32)
    of_reviews = np.asarray(vectors[reviews], dtype=np.float32)
    in_sample = np.isin(rows, references)
    kth = max(1, round(k * len(references) / n_papers))
    most = min(kth + 1, len(references))  # the paper itself may be one of them
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        queries = np.asarray(vectors[rows[block]], dtype=np.float32)
        # A paper is the nearest to itself, and does not count.
        nearest = faiss.knn(queries, corpus, most, metric=faiss.METRIC_INNER_PRODUCT)[0]
        wanted = np.minimum(kth + in_sample[block], most) - 1
        reach = np.take_along_axis(nearest, wanted[:, None], axis=1)[:, 0]
        near = (queries @ of_reviews.T >= reach[:, None] - 1e-6) & (
            reviews[None, :] != rows[block][:, None]
        )
        n_near[block] = near.sum(axis=1)
        found = np.where(near, years[reviews][None, :], -1).max(axis=1)
        latest[block] = np.where(found >= 0, found, np.nan)
    return Surroundings(n_near, latest, k)


def near_enough(n_papers: int, n_reviews: int) -> int:
    """Papers among which one review is expected: 20 to 500, and at most a twentieth of a corpus.

    Examples
    --------
    >>> near_enough(4000, 80), near_enough(4000, 0), near_enough(100, 50)
    (50, 200, 20)
    """
    most = np.clip(n_papers // 20, _FEWEST_NEAR, _MOST_NEAR)
    return int(np.clip(round(n_papers / max(n_reviews, 1)), _FEWEST_NEAR, most))


def enough_references(n_papers: int, k: int) -> int:
    """Papers of a random sample that tell how near the k-th nearest of all is.

    Examples
    --------
    >>> enough_references(43_000, 60), enough_references(350_000, 500)
    (43000, 11200)
    """
    if n_papers <= _MOST_REFERENCES:
        return n_papers
    return min(_MOST_REFERENCES, round(_FEWEST_REACHED * n_papers / k))


def _drawn(n_papers: int, n_references: int, seed: int) -> NDArray[np.int64]:
    if n_papers <= n_references:
        return np.arange(n_papers)
    random = np.random.default_rng(seed)
    return np.sort(random.choice(n_papers, n_references, replace=False))
