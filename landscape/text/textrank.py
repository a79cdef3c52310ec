"""TextRank with arrays: what pytextrank computes, without its graph objects.

pytextrank builds a networkx graph of lemmas for every document and runs a general PageRank on it,
which takes longer than all the rest of the keyword stage. The graph of an abstract has some eighty
nodes: here it is a small matrix, and the power iteration a handful of products with it.
The ranks are the same.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

# pytextrank prints its folder when that is no git checkout; standard output is for our users' JSON.
with contextlib.redirect_stdout(io.StringIO()):
    from pytextrank import BaseTextRank, BaseTextRankFactory, Lemma, Phrase

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from spacy.tokens import Doc, Span, Token

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

POS_KEPT = ["ADJ", "NOUN", "PROPN"]
"""Parts of speech that enter the graph (Mihalcea and Tarau 2004 found verbs to do harm)."""

_DAMPING = 0.85
_TOLERANCE = 1e-6
_MOST_ITERATIONS = 100


class ArrayTextRank(BaseTextRank):  # type: ignore[misc]  # pytextrank ships no types
    """pytextrank's TextRank of one document, computed with arrays.

    A drop-in for `pytextrank.BaseTextRank`: `calc_textrank` returns the same phrases with the same
    ranks (Mihalcea and Tarau 2004, EMNLP, 404). The ``lemma_graph`` stays empty.

    Examples
    --------
    >>> from landscape.text.pipeline import load_pipeline
    >>> doc = load_pipeline(tagger="rules")("Dark matter haloes host galaxies.")
    >>> [phrase.text for phrase in doc._.phrases]
    ['Dark matter haloes', 'galaxies']
    """

    def calc_textrank(self) -> list[Phrase]:
        """Rank the noun chunks and entities of the document.

        Returns
        -------
        list of pytextrank.Phrase
            Best first.
        """
        self.reset()
        spans = list(self.doc.noun_chunks) + list(self.doc.ents)
        nodes, ranks = self._rank_nodes()
        self.ranks = self._name_ranks(nodes, ranks)
        scores = self._score(nodes, ranks, [(span.start, span.end) for span in spans])
        ranked: dict[Span, float] = dict(zip(spans, scores.tolist(), strict=True))
        phrases: list[Phrase] = self._get_min_phrases(ranked)
        return sorted(phrases, key=lambda phrase: phrase.rank, reverse=True)

    def score_chunks(self, chunks: Sequence[tuple[int, int]]) -> Floats:
        """Rank any runs of words as pytextrank ranks noun chunks.

        Parameters
        ----------
        chunks : sequence of (int, int)
            First word and the one behind the last.

        Returns
        -------
        ndarray of float64, shape (n_chunks,)
            Higher is more central; comparable within one document only.
        """
        return self._score(*self._rank_nodes(), chunks)

    def _rank_nodes(self) -> tuple[Integers, Floats]:
        """Give the node of every word (-1 for none) and the rank of every node."""
        table = self.doc.to_array(["POS", "LEMMA", "SENT_START"])
        kept = np.flatnonzero(_kept_parts(tuple(self.pos_kept))[table[:, 0]])
        if self.stopwords:
            tokens = [(place, self.doc[int(place)]) for place in kept]
            kept = np.array(
                [p for p, token in tokens if not self._is_stopword(_lemma(token), token)], dtype=int
            )
        nodes = np.full(len(table), -1)
        if not len(kept):
            return nodes, np.zeros(0)
        # One number for lemma and part of speech: the lemma's hash, moved by the part of speech.
        keys = table[kept, 1] + table[kept, 0] * _SPREAD
        distinct, of_kept = np.unique(keys, return_inverse=True)
        nodes[kept] = of_kept
        sentences = np.cumsum(table[:, 2] == 1)[kept]
        weights = cooccurrences(
            of_kept, sentences, n_nodes=len(distinct), window=self.token_lookback
        )
        return nodes, pagerank(weights * self.edge_weight)

    def _name_ranks(self, nodes: Integers, ranks: Floats) -> dict[Lemma, float]:
        named = {}
        for place in np.flatnonzero(nodes >= 0):
            token = self.doc[int(place)]
            named[Lemma(token.lemma_, token.pos_)] = float(ranks[nodes[place]])
        return named

    def _score(self, nodes: Integers, ranks: Floats, chunks: Sequence[tuple[int, int]]) -> Floats:
        """Discounted, normalised rank of chunks, as ``_calc_discounted_normalised_rank`` has it."""
        if not len(chunks):
            return np.zeros(0)
        of_word = np.append(ranks, 0.0)[nodes]  # node -1, the last, is no node
        other = ~_kept_parts(tuple(self.pos_kept))[self.doc.to_array("POS")]
        begins, ends = np.array(chunks).T
        total = np.concatenate([[0.0], np.cumsum(of_word)])
        n_others = np.concatenate([[0], np.cumsum(other)])
        length = ends - begins
        n_other = n_others[ends] - n_others[begins]
        sums = np.maximum(total[ends] - total[begins], 0.0)
        scores: Floats = np.sqrt(sums / (length + n_other)) * length / (length + 2.0 * n_other + 1)
        return scores


class ArrayTextRankFactory(BaseTextRankFactory):  # type: ignore[misc]  # pytextrank ships no types
    """The pipeline component that gives every document its `ArrayTextRank`.

    Examples
    --------
    >>> ArrayTextRankFactory(pos_kept=["NOUN"]).pos_kept
    ['NOUN']
    """

    def __call__(self, doc: Doc) -> Doc:
        """Set ``doc._.textrank`` and ``doc._.phrases``."""
        from spacy.tokens import Doc as SpacyDoc

        for name, default in (("textrank", None), ("phrases", [])):
            if not SpacyDoc.has_extension(name):
                SpacyDoc.set_extension(name, default=default)
        doc._.textrank = self.rank(doc)
        doc._.phrases = doc._.textrank.calc_textrank()
        return doc

    def rank(self, doc: Doc) -> ArrayTextRank:
        """Make the TextRank of one document without collecting its phrases yet."""
        return ArrayTextRank(
            doc,
            edge_weight=self.edge_weight,
            pos_kept=self.pos_kept,
            token_lookback=self.token_lookback,
            scrubber=self.scrubber,
            stopwords=self.stopwords,
        )


def cooccurrences(nodes: Integers, sentences: Integers, *, n_nodes: int, window: int) -> Floats:
    """Count which nodes follow each other within a window of one sentence.

    Parameters
    ----------
    nodes : ndarray of int, shape (n_words,)
        Node of every kept word, in reading order.
    sentences : ndarray of int, shape (n_words,)
        Sentence of every kept word, rising.
    n_nodes : int
        Number of nodes.
    window : int
        How many kept words ahead a word is joined to.

    Returns
    -------
    ndarray of float64, shape (n_nodes, n_nodes)
        Symmetric. Where both directions of an edge occur, the count is that of the direction that
        was met first the later, as in pytextrank, whose graph overwrites the other.

    Examples
    --------
    >>> cooccurrences(np.array([0, 1, 0]), np.zeros(3, int), n_nodes=2, window=1)
    array([[0., 1.],
           [1., 0.]])
    """
    n_words = len(nodes)
    first = np.broadcast_to(np.arange(n_words), (window, n_words))
    second = first + np.arange(1, window + 1)[:, None]
    joined = sentences[first] == sentences.take(second, mode="clip")
    joined &= second < n_words
    first, second = first[joined], second[joined]
    # pytextrank reads sentence by sentence, in each hop by hop, in each word by word
    order = np.argsort(sentences[first], kind="stable")
    codes = (nodes[first] * n_nodes + nodes[second])[order]
    met = np.full(n_nodes * n_nodes, -1)
    met[codes[::-1]] = np.arange(len(codes))[::-1]  # the earliest stays
    order = met.reshape(n_nodes, n_nodes)
    counts = np.bincount(codes, minlength=n_nodes * n_nodes).reshape(n_nodes, n_nodes)
    return np.where(order >= order.T, counts, counts.T).astype(float)


def pagerank(weights: Floats) -> Floats:
    """PageRank of an undirected graph by power iteration, stopping where networkx stops.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_nodes, n_nodes)
        Symmetric weights of the edges; loops on the diagonal. An abstract has some eighty nodes,
        so that the full matrix is both smaller and faster than a sparse one.

    Returns
    -------
    ndarray of float64, shape (n_nodes,)
        Sums to one (Page et al. 1999, eq. 1, with damping 0.85).

    Examples
    --------
    >>> pagerank(np.array([[0.0, 3.0], [3.0, 0.0]]))
    array([0.5, 0.5])
    """
    n_nodes = len(weights)
    if n_nodes == 0:
        return np.zeros(0)
    strength = weights.sum(axis=1)
    dangling = strength == 0
    strength[dangling] = 1.0
    flow = weights * (_DAMPING / strength)[:, None]
    flow[dangling] = _DAMPING / n_nodes  # a node without edges gives its rank to all
    flow += (1.0 - _DAMPING) / n_nodes  # the ranks sum to one, so that the jumps fit in here
    steps = np.full((_STRIDE + 1, n_nodes), 1.0 / n_nodes)
    for _ in range(_MOST_ITERATIONS // _STRIDE):
        for step in range(_STRIDE):
            np.matmul(steps[step], flow, out=steps[step + 1])
        changes = np.abs(steps[1:] - steps[:-1]).sum(axis=1)
        small = np.flatnonzero(changes < n_nodes * _TOLERANCE)
        if len(small):
            steps = steps[small[0] + 1 :]
            break
        steps[0] = steps[_STRIDE]
    ranks: Floats = steps[0].copy()
    return ranks


_STRIDE = 5  # iterations between two looks at the change
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number of 64 mixed bits


def _lemma(token: Token) -> str:
    lemma: str = token.lemma_
    return lemma.lower().strip()


@cache
def _kept_parts(names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Whether the part of speech with a number is kept."""
    from spacy.strings import StringStore

    numbers = StringStore()  # knows the parts of speech from the start
    kept = np.zeros(256, dtype=bool)
    kept[[numbers[name] for name in names]] = True
    return kept
