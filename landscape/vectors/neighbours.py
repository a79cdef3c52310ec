"""Nearest neighbours in the full dimension: exact, or approximate with its recall told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 32_768  # rows read from disk at a time: 50 MB at 384 dimensions
_QUERIES = 4_096  # compared with a block at a time
_RECALL_SAMPLE = 200  # papers whose exact neighbours tell the recall: its error is about 1%


def nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], *, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the k vectors most similar to each query, exactly.

    Parameters
    ----------
    vectors : numpy.ndarray
        (n, d) float32, L2-normalised. May be memory-mapped: it is read once, in blocks.
    queries : numpy.ndarray
        (m, d) float32, L2-normalised. A query that is itself among `vectors` finds itself.
    k : int
        At most n.

    Returns
    -------
    indices : numpy.ndarray
        (m, k) int64, rows of `vectors`, most similar first, and of those found the lower row first
        among equals.
    similarities : numpy.ndarray
        (m, k) float32, inner products (cosines, as all have unit length).

    Raises
    ------
    InputError
        k or the shapes do not fit.

    Examples
    --------
    >>> vectors = np.eye(3, dtype=np.float32)
    >>> indices, similarities = nearest(vectors, vectors[[2]], k=1)
    >>> int(indices[0, 0]), float(similarities[0, 0])
    (2, 1.0)
    """
    import faiss

    _check(vectors, queries, k=k)
    n_queries = len(queries)
    indices = np.empty((n_queries, 0), dtype=np.int64)
    similarities = np.empty((n_queries, 0), dtype=np.float32)
    for start in range(0, len(vectors), _BLOCK):
        block = np.ascontiguousarray(vectors[start : start + _BLOCK], dtype=np.float32)
        parts = [
            faiss.knn(
                np.ascontiguousarray(queries[at : at + _QUERIES], dtype=np.float32),
                block,
                min(k, len(block)),
                metric=faiss.METRIC_INNER_PRODUCT,
            )
            for at in range(0, n_queries, _QUERIES)
        ]
        if parts:
            found = np.concatenate([part[1] for part in parts]) + start
            closeness = np.concatenate([part[0] for part in parts])
            indices, similarities = _best(
                np.hstack([indices, found]), np.hstack([similarities, closeness]), k=k
            )
    if n_queries == 0:
        return np.empty((0, k), dtype=np.int64), np.empty((0, k), dtype=np.float32)
    return indices, similarities


@dataclass(frozen=True, kw_only=True)
class Approximate:
    """Neighbours found with an index, and how many of the true ones they are.

    Attributes
    ----------
    indices : numpy.ndarray
        (m, k) int64, most similar first; -1 where the index found fewer than k.
    similarities : numpy.ndarray
        (m, k) float32, inner products.
    recall : float
        Fraction of the exact k neighbours found, over a sample of the queries.
    n_sample : int
        Queries in that sample.
    """

    indices: NDArray[np.int64]
    similarities: NDArray[np.float32]
    recall: float
    n_sample: int


def nearest_approximate(
    vectors: NDArray[np.float32],
    queries: NDArray[np.float32],
    *,
    k: int,
    recall: float = 0.95,
    seed: int = 0,
) -> Approximate:
    """Find similar vectors for very many queries, in a small fraction of the exact time.

    Parameters
    ----------
    vectors, queries : numpy.ndarray
        As for :func:`nearest`.
    k : int
    recall : float, default 0.95
        Wanted fraction of the exact neighbours. More cells are searched until a sample of the
        queries reaches it; what was reached is returned.
    seed : int, default 0
        Of the samples for training and measuring.

    Returns
    -------
    Approximate

    Raises
    ------
    InputError
        k or the shapes do not fit.

    Notes
    -----
    An inverted file of about 2 sqrt(n) cells (Jégou et al. 2011, doi:10.1109/TPAMI.2010.57) that
    holds a copy of the vectors as 16-bit floats: 0.8 kB a paper at 384 dimensions.

    Examples
    --------
    >>> vectors = np.random.default_rng(1).normal(size=(500, 8)).astype(np.float32)
    >>> vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    >>> found = nearest_approximate(vectors, vectors[:50], k=5)
    >>> found.recall >= 0.95
    True
    """
    _check(vectors, queries, k=k)
    random = np.random.default_rng(seed)
    index = _inverted_file(vectors, random=random)
    sample = np.sort(random.permutation(len(queries))[:_RECALL_SAMPLE])
    asked = np.ascontiguousarray(queries[sample], dtype=np.float32)
    exact, _ = nearest(vectors, asked, k=k)
    reached, index.nprobe = 0.0, 4
    while True:
        reached = overlap(index.search(asked, k)[1], exact)
        if reached >= recall or index.nprobe >= index.nlist:
            break
        index.nprobe = min(2 * index.nprobe, index.nlist)
    parts = [
        index.search(np.ascontiguousarray(queries[at : at + _QUERIES], dtype=np.float32), k)
        for at in range(0, len(queries), _QUERIES)
    ] or [(np.empty((0, k), np.float32), np.empty((0, k), np.int64))]
    return Approximate(
        indices=np.concatenate([found for _, found in parts]),
        similarities=np.concatenate([closeness for closeness, _ in parts]),
        recall=reached,
        n_sample=len(sample),
    )


def overlap(found: NDArray[np.int64], exact: NDArray[np.int64]) -> float:
    """Measure which fraction of the exact neighbours was found.

    Parameters
    ----------
    found, exact : numpy.ndarray
        (m, k) int64, rows of the same matrix, without repetition in a row.

    Returns
    -------
    float
        Between 0 and 1; 1 where there is nothing to find.

    Examples
    --------
    >>> overlap(np.array([[1, 2], [5, 6]]), np.array([[2, 1], [6, 7]]))
    0.75
    """
    if exact.size == 0:
        return 1.0
    return float((found[:, :, None] == exact[:, None, :]).any(axis=1).mean())


def _check(vectors: NDArray[np.float32], queries: NDArray[np.float32], *, k: int) -> None:
    if queries.ndim != 2 or vectors.ndim != 2 or queries.shape[1] != vectors.shape[1]:
        message = (
            f"The queries have shape {queries.shape} and the vectors {vectors.shape}; "
            "both need rows of the same length, from the same embedding model."
        )
        raise InputError(message)
    if not 1 <= k <= len(vectors):
        message = (
            f"k={k} neighbours were asked of {len(vectors)} papers; use k from 1 to {len(vectors)}."
        )
        raise InputError(message)


def _best(
    indices: NDArray[np.int64], similarities: NDArray[np.float32], *, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Keep the k best columns of each row; lexsort breaks ties by row number."""
    order = np.lexsort((indices, -similarities), axis=1)[:, :k]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(similarities, order, 1)


def _inverted_file(vectors: NDArray[np.float32], *, random: np.random.Generator) -> Any:
    import faiss

    n, dimension = vectors.shape
    n_cells = int(np.clip(2 * np.sqrt(n), 1, max(1, n // 40)))
    index: Any = faiss.index_factory(dimension, f"IVF{n_cells},SQfp16", faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = 1 + int(random.integers(2**20))
    index.cp.niter = 6
    sample = np.sort(random.permutation(n)[: 40 * n_cells])
    index.train(np.ascontiguousarray(vectors[sample], dtype=np.float32))
    for start in range(0, n, _BLOCK):
        index.add(np.ascontiguousarray(vectors[start : start + _BLOCK], dtype=np.float32))
    return index
