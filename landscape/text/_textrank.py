"""Compute TextRank for many documents at once, with the same results as pytextrank.

pytextrank builds one networkx graph per document, which is slow. Here, the graphs of hundreds of
abstracts are blocks of one sparse matrix.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape.text.tagger import TaggedText

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

POS_KEPT = ["ADJ", "NOUN", "PROPN"]
"""Parts of speech in the graph. Verbs reduce the quality (Mihalcea and Tarau 2004)."""

LOOKBACK = 3
"""Number of following words to which a word is connected, as in pytextrank."""

_DAMPING = 0.85  # probability to follow an edge; default of networkx, which pytextrank uses
_TOLERANCE = 1e-6  # maximum mean change of a rank at convergence; default of networkx
_MAX_ITERATIONS = 100  # maximum number of iterations; default of networkx


def rank_text(text: TaggedText) -> Floats:
    """Return the pytextrank rank of every word of a text. Words not in the graph have rank 0."""
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    # pytextrank prints a directory if it is not in a git checkout. This would mix with results.
    with contextlib.redirect_stdout(io.StringIO()):
        from pytextrank import BaseTextRank, Lemma

    if not any(tag in POS_KEPT for tag in text.tags):
        return np.zeros(len(text.words))  # pytextrank fails if the graph is empty
    starts: list[bool | int | None] = list(text.starts)
    document = Doc(Vocab(), words=text.words, pos=text.tags, lemmas=text.lemmas, sent_starts=starts)
    ranker = BaseTextRank(
        document,
        edge_weight=1.0,
        pos_kept=POS_KEPT,
        token_lookback=LOOKBACK,
        scrubber=None,
        stopwords={},
    )
    document.vocab.get_noun_chunks = lambda _: iter(())  # noun chunks of pytextrank are not used
    ranker.calc_textrank()
    return np.array(
        [ranker.ranks.get(Lemma(*pair), 0.0) for pair in zip(text.lemmas, text.tags, strict=True)]
    )


def rank_words(
    words: Integers, sentences: Integers, documents: Integers, *, window: int = LOOKBACK
) -> Floats:
    """Return the TextRank of the words of many documents. Each document has its own graph."""
    if not len(words):
        return np.zeros(0)
    keys = documents * (words.max() + 1) + words
    _, firsts, nodes = np.unique(keys, return_index=True, return_inverse=True)
    graphs = np.unique(documents[firsts], return_inverse=True)[1]
    weights = cooccurrences(nodes, sentences, n_nodes=len(firsts), window=window)
    return pagerank(weights, graphs)[nodes]


def score_chunks(
    ranks: Floats, kept: NDArray[np.bool_], chunks: Sequence[tuple[int, int]] | Integers
) -> Floats:
    """Return the scores of noun chunks, computed as in pytextrank."""
    if not len(chunks):
        return np.zeros(0)
    begins, ends = np.asarray(chunks).T
    total = np.concatenate([[0.0], np.cumsum(ranks)])
    n_others = np.concatenate([[0], np.cumsum(~kept)])
    length = ends - begins
    n_other = n_others[ends] - n_others[begins]
    sums = np.maximum(total[ends] - total[begins], 0.0)
    return np.sqrt(sums / (length + n_other)) * length / (length + 2.0 * n_other + 1)


def cooccurrences(
    nodes: Integers, sentences: Integers, *, n_nodes: int, window: int
) -> csr_array[np.float64, tuple[int, int]]:
    """Count how often two nodes occur in the same window of a sentence."""
    from scipy.sparse import csr_array

    n_words = len(nodes)
    first = np.broadcast_to(np.arange(n_words), (window, n_words))
    second = first + np.arange(1, window + 1)[:, None]
    joined = sentences[first] == sentences.take(second, mode="clip")
    joined &= second < n_words
    first, second = first[joined], second[joined]
    # Sort by sentence, distance and word, as in pytextrank.
    order = np.argsort(sentences[first], kind="stable")
    codes = (nodes[first] * n_nodes + nodes[second])[order]
    codes, met, counts = np.unique(codes, return_index=True, return_counts=True)
    rows, columns = np.divmod(codes, n_nodes)
    mirrored = columns * n_nodes + rows
    place = np.minimum(np.searchsorted(codes, mirrored), max(0, len(codes) - 1))
    overwritten = (codes[place] == mirrored) & (met[place] > met)
    rows, columns, counts = (part[~overwritten] for part in (rows, columns, counts))
    off_diagonal = rows != columns
    data = np.concatenate([counts, counts[off_diagonal]]).astype(float)
    places = (np.append(rows, columns[off_diagonal]), np.append(columns, rows[off_diagonal]))
    return csr_array((data, places), shape=(n_nodes, n_nodes))


def pagerank(weights: csr_array[np.float64, tuple[int, int]], graphs: Integers) -> Floats:
    """Compute the PageRank of undirected graphs by power iteration.

    The iteration stops at the same tolerance as in networkx.
    """
    if not len(graphs):
        return np.zeros(0)
    begins = np.flatnonzero(np.diff(graphs, prepend=-1))
    sizes = np.diff(begins, append=len(graphs))
    jump = (1.0 / sizes)[graphs]
    strength = np.asarray(weights.sum(axis=1)).ravel()
    dangling = strength == 0
    share = np.where(dangling, 0.0, _DAMPING / np.where(dangling, 1.0, strength))
    step = jump.copy()
    ranks = np.zeros(len(graphs))
    moving = np.ones(len(sizes), dtype=bool)
    for _ in range(_MAX_ITERATIONS):
        # The rank of a node without edges is distributed to all nodes, so the ranks sum to one.
        lost = np.add.reduceat(np.where(dangling, step, 0.0), begins)
        following = weights @ (step * share)
        following += ((_DAMPING * lost + 1.0 - _DAMPING)[graphs]) * jump
        changes = np.add.reduceat(np.abs(following - step), begins)
        step = following
        settled = moving & (changes < sizes * _TOLERANCE)
        ranks = np.where(settled[graphs], step, ranks)
        moving &= ~settled
        if not moving.any():
            break
    return np.where(moving[graphs], step, ranks)
