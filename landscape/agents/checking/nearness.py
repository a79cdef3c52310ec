"""How near sentences of a draft are to the papers they cite, and what counts as near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape.embeddings._embedder import embedding_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.cite.desk import Corpus
    from landscape.embeddings._embedder import Embedder
    from landscape.query.records import Paper

    Floats = NDArray[np.float64]

_SAMPLE = 2_000  # papers that a sentence is compared with
_PERCENTILE = 99.0
_LEAST, _MOST = 0.30, 0.55  # bounds of what counts as near, as a cosine
_WITHOUT_ATLAS = 0.45


def thresholds(vectors: NDArray[np.float32], corpus: Corpus | None) -> Floats:
    """Say for each sentence which cosine counts as near.

    What only one in a hundred papers of the corpus reaches, drawn evenly from its rows, between
    0.30 and 0.55; 0.45 where there is no corpus to compare with.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, n_dims)
        Of the sentences.
    corpus : Corpus or None

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> thresholds(np.zeros((2, 3), np.float32), None).tolist()
    [0.45, 0.45]
    """
    if corpus is None or not len(vectors):
        return np.full(len(vectors), _WITHOUT_ATLAS)
    n = len(corpus.atlas)
    rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64))
    others = corpus.atlas.engine.holdings.vectors.vectors(rows)
    cosines = vectors @ others.T
    found: Floats = np.percentile(cosines, _PERCENTILE, axis=1)
    return np.clip(found, _LEAST, _MOST)


def paper_vectors(
    papers: Sequence[tuple[Corpus | None, Paper]], embedder: Embedder
) -> NDArray[np.float32]:
    """Vectors of papers: those of the atlas, and new ones of entries that are in none.

    Parameters
    ----------
    papers : sequence of (Corpus or None, Paper)
    embedder : Embedder

    Returns
    -------
    ndarray of float32, shape (n, n_dims)
    """
    vectors = np.zeros((len(papers), embedder.dimension), dtype=np.float32)
    outside = []
    for place, (corpus, paper) in enumerate(papers):
        if corpus is not None and corpus.atlas.engine.holdings.embedder.model == embedder.model:
            row = np.array([paper.row], dtype=np.int64)
            vectors[place] = corpus.atlas.engine.holdings.vectors.vectors(row)[0]
        else:
            outside.append(place)
    if outside:
        texts = [embedding_text(papers[p][1].title, papers[p][1].abstract) for p in outside]
        vectors[outside] = embedder.embed(texts)
    return vectors
