"""New papers on an existing map, without moving the others and without a stored model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def place(
    new_vectors: NDArray[np.float32],
    vectors: NDArray[np.float32],
    coordinates: NDArray[np.float32],
    *,
    k: int = 15,
) -> NDArray[np.float32]:
    r"""Place new papers among the papers of a finished map.

    Each new paper goes to the weighted mean of its `k` nearest neighbours in the full
    dimension. The weights are UMAP's fuzzy memberships (McInnes, Healy & Melville 2018, eq. 1):
    :math:`w_i = \exp(-\max(0, d_i - \rho)/\sigma)` with :math:`\rho` the nearest distance and
    :math:`\sigma` such that :math:`\sum_i w_i = \log_2 k`. That is where umap-learn's own
    ``transform`` starts, and it needs nothing but the atlas's arrays: no pickled reducer.

    Parameters
    ----------
    new_vectors : array of float, shape (n_new, n_dims)
        Embeddings of the new papers, L2-normalised, from the same model.
    vectors : array of float, shape (n_papers, n_dims)
        Embeddings of the papers on the map. May be memory-mapped.
    coordinates : array of float, shape (n_papers, 2)
        Their places.
    k : int, default 15
        Neighbours per paper.

    Returns
    -------
    array of float32, shape (n_new, 2)

    Examples
    --------
    >>> vectors = np.eye(3, dtype="float32")
    >>> spots = np.array([[0, 0], [1, 0], [0, 1]], dtype="float32")
    >>> place(vectors[:1], vectors, spots, k=1).tolist()
    [[0.0, 0.0]]
    """
    from landscape.embeddings._neighbours import nearest

    if len(new_vectors) == 0:
        return np.zeros((0, 2), dtype=np.float32)
    k = min(k, len(vectors))
    indices, similarities = nearest(vectors, new_vectors, k=k)
    weights = memberships(1.0 - similarities)
    placed = np.einsum("ij,ijk->ik", weights, coordinates[indices].astype(np.float64))
    return (placed / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def memberships(distances: NDArray[np.floating]) -> NDArray[np.float64]:
    """Fuzzy memberships of neighbours, from their distances sorted or not.

    Parameters
    ----------
    distances : array of float, shape (n_papers, k)
        Cosine distances to the k nearest neighbours.

    Returns
    -------
    array of float, shape (n_papers, k)
        Between 0 and 1; the nearest neighbour has 1, each row sums to about log2(k).

    Examples
    --------
    >>> w = memberships(np.array([[0.1, 0.2, 0.3, 0.4]]))
    >>> round(float(w.sum()), 3)
    2.0
    """
    distances = np.asarray(distances, dtype=np.float64)
    excess = np.maximum(distances - distances.min(axis=1, keepdims=True), 0.0)
    target = max(np.log2(distances.shape[1]), 1.0)
    low = np.full(len(distances), 1e-8)
    high = np.full(len(distances), max(excess.max(), 1e-6) * 64)
    for _ in range(64):  # bisection on sigma, all rows at once
        sigma = 0.5 * (low + high)
        too_wide = np.exp(-excess / sigma[:, None]).sum(axis=1) > target
        high = np.where(too_wide, sigma, high)
        low = np.where(too_wide, low, sigma)
    weights: NDArray[np.float64] = np.exp(-excess / (0.5 * (low + high))[:, None])
    return weights
