"""Papers in an order, and the steps that change it: fusing, weighing, reranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.query.fusion import fuse_ranks, fuse_scores, standardised
from landscape.query.weights import Weights, apply_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.query.settings import SearchSettings

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_WORD_BY_WORD = 1.5  # weight of late interaction beside words and cosines


@dataclass(frozen=True)
class Ranking:
    """Papers with what each step says of them.

    Attributes
    ----------
    rows : ndarray of int64, shape (n,)
    scores : ndarray of float64, shape (n,)
        What the order goes by; higher is better.
    parts : mapping of str to ndarray of float64, shape (n,)
        What the scores are made of; nan where a step says nothing of a paper. ``semantic`` are
        cosines, ``words`` BM25, ``relevance`` both together.

    Examples
    --------
    >>> ranking = Ranking(np.array([7, 9]), np.array([0.1, 0.2]), {})
    >>> ranking.sorted().rows.tolist()
    [9, 7]
    """

    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]

    def sorted(self) -> Ranking:
        """Put the best first."""
        return self.taken(np.argsort(-self.scores, kind="stable"))

    def taken(self, which: NDArray[np.integer] | slice) -> Ranking:
        """Take some of the papers, or all in another order."""
        parts = {name: values[which] for name, values in self.parts.items()}
        return Ranking(self.rows[which], self.scores[which], parts)

    def __len__(self) -> int:
        return len(self.rows)


def fused(rows: Rows, semantic: Floats, words: Floats, settings: SearchSettings) -> Ranking:
    """Rank papers by meaning and words together.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
    semantic : ndarray of float64, shape (n,)
        Cosines; nan where the query has no vector.
    words : ndarray of float64, shape (n,)
        BM25; 0 where no word of the query is in the paper.
    settings : SearchSettings

    Returns
    -------
    Ranking
        Not sorted.

    Examples
    --------
    >>> from landscape.query.settings import SearchSettings
    >>> found = fused(np.array([7]), np.array([np.nan]), np.array([9.0]), SearchSettings())
    >>> found.scores.tolist()
    [1.0]
    """
    relevance = _relevance(semantic, words, settings)
    parts = {"semantic": semantic, "words": words, "relevance": relevance}
    return Ranking(rows, relevance, parts)


def _relevance(semantic: Floats, words: Floats, settings: SearchSettings) -> Floats:
    if np.isnan(semantic).any() or settings.method == "words":
        return fuse_scores(np.zeros(len(words)), words, share=0.0)
    if settings.method == "semantic":
        return semantic
    if settings.fusion == "ranks":
        return fuse_ranks([semantic, np.where(words > 0, words, -np.inf)])
    return fuse_scores(semantic, words)


def weighed(ranking: Ranking, weights: Weights, facts: Mapping[str, Floats]) -> Ranking:
    """Lift papers by what weights count.

    Parameters
    ----------
    ranking : Ranking
    weights : Weights
    facts : mapping of str to ndarray of float64, shape (n,)
        ``keyword``, ``age`` and ``citations``, as far as they are known.

    Returns
    -------
    Ranking
        Not sorted.

    Examples
    --------
    >>> ranking = Ranking(np.array([7, 9]), np.array([0.9, 0.5]), {})
    >>> weighed(ranking, Weights(time=1), {"age": np.array([60.0, 0.0])}).scores.round(2).tolist()
    [0.9, 0.56]
    """
    scores = apply_weights(ranking.scores, weights, **facts)
    return Ranking(ranking.rows, scores, {**ranking.parts, **facts})


def reranked(ranking: Ranking, judged: Floats, total: Floats) -> Ranking:
    """Put the first papers into a new order; the others stay behind them.

    Parameters
    ----------
    ranking : Ranking
        Best first.
    judged : ndarray of float64, shape (m,)
        What the reranker says of the first m papers.
    total : ndarray of float64, shape (m,)
        What they are ordered by.

    Returns
    -------
    Ranking
        Best first.

    Examples
    --------
    >>> ranking = Ranking(np.array([7, 8, 9]), np.array([0.3, 0.2, 0.1]), {})
    >>> judged = np.array([1.0, 5.0])
    >>> reranked(ranking, judged, judged).rows.tolist()
    [8, 7, 9]
    """
    order = np.argsort(-total, kind="stable")
    tail = np.arange(len(total), len(ranking))
    behind = total.min(initial=0.0) - 1.0 - np.arange(len(tail))
    whole = ranking.taken(np.concatenate([order, tail]))
    said = np.concatenate([judged[order], np.full(len(tail), np.nan)])
    return Ranking(
        whole.rows, np.concatenate([total[order], behind]), {**whole.parts, "rerank": said}
    )


def word_by_word(first: Ranking, matched: Floats, weights: Weights) -> Floats:
    """Add up how well the words of papers match, and what was known of them before.

    Parameters
    ----------
    first : Ranking
        The papers to rerank.
    matched : ndarray of float64, shape (n,)
        See `landscape.embeddings._word_vectors.late_interaction`.
    weights : Weights
        Those of `first`: the bounded ones count after reranking as well, pathfinder's only choose
        what is reranked.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    before = standardised(first.parts["words"]) + standardised(first.parts["semantic"])
    total: Floats = before + _WORD_BY_WORD * standardised(matched)
    relevance = first.parts["relevance"]
    is_pathfinder = weights.compat == "pathfinder"
    lift = np.zeros(len(first)) if is_pathfinder else first.scores - relevance
    spread = float(np.ptp(relevance)) or 1.0
    return total + lift * (float(np.ptp(total)) / spread)
