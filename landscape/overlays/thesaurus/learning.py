"""Learn what a concept looks like from the papers that name it, and see it where it is not named.

No tag given by an author is needed: papers which name a concept teach what papers about it look
like (distant supervision; Mintz et al. 2009, ACL 2009, 1003), by ridge regression on embeddings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_RIDGE = 10.0
_SPREAD_POWER = 0.3  # of a concept's variance: 0.5 favours rare concepts, 0 common ones
_FEWEST_PAPERS = 4
_ROWS_AT_ONCE = 16_384


@dataclass(frozen=True)
class Meaning:
    """A linear reading of embeddings: how much a paper is about each concept.

    Attributes
    ----------
    centre : ndarray of float32, shape (n_dims,)
        Mean embedding of the corpus.
    directions : ndarray of float32, shape (n_dims, n_concepts)
        Zero for a concept that fewer than four papers name.
    """

    centre: NDArray[np.float32]
    directions: NDArray[np.float32]

    def scores(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """How much papers are about each concept, shape (n, n_concepts)."""
        centred = np.asarray(vectors, dtype=np.float32) - self.centre
        found: NDArray[np.float32] = np.asarray(centred @ self.directions, dtype=np.float32)
        return found


def learn_meaning(vectors: NDArray[np.float32], named: csr_matrix) -> Meaning:
    """Learn from the papers that name concepts.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, n_dims)
        Embeddings; read in blocks, so they may be memory-mapped.
    named : scipy.sparse.csr_matrix, shape (n, n_concepts)
        How surely a paper is about a concept, 0 to 1.

    Returns
    -------
    Meaning

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> vectors = np.repeat(np.eye(2, dtype=np.float32), 50, axis=0)
    >>> named = csr_matrix(np.repeat([[1.0], [0.0]], [20, 80], axis=0))
    >>> scores = learn_meaning(vectors, named).scores(vectors)[:, 0]
    >>> bool(scores[49] > scores[50])  # like those that name it, without naming it
    True
    """
    n, dims = vectors.shape
    centre = np.zeros(dims)
    for start in range(0, n, _ROWS_AT_ONCE):
        centre += np.asarray(vectors[start : start + _ROWS_AT_ONCE], dtype=np.float64).sum(0)
    centre /= max(n, 1)
    products = np.zeros((dims, dims))
    targets = np.zeros((dims, named.shape[1]))
    for start in range(0, n, _ROWS_AT_ONCE):
        block = np.asarray(vectors[start : start + _ROWS_AT_ONCE], dtype=np.float32)
        block = block - centre.astype(np.float32)
        products += block.T @ block
        targets += (named[start : start + _ROWS_AT_ONCE].T @ block).T
    directions = np.linalg.solve(products + _RIDGE * np.eye(dims), targets)
    variance = (directions * (products / max(n, 1) @ directions)).sum(0)
    directions /= (variance + 1e-9) ** _SPREAD_POWER
    directions[:, np.diff(named.tocsc().indptr) < _FEWEST_PAPERS] = 0.0
    return Meaning(centre.astype(np.float32), directions.astype(np.float32))
