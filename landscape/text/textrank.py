"""TextRank with arrays: what pytextrank computes, without its graph objects.

pytextrank builds a networkx graph of lemmas for every document and runs a general PageRank on it,
which takes longer than all the rest of the keyword stage. The graph of an abstract has some eighty
nodes: here it is a few integer arrays, and the power iteration a handful of `numpy.bincount` calls.
The ranks are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pytextrank import BaseTextRank, BaseTextRankFactory, Lemma, Phrase

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from spacy.tokens import Doc, Span

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
        kept = np.flatnonzero(np.isin(table[:, 0], _part_of_speech_ids(tuple(self.pos_kept))))
        if self.stopwords:
            kept = np.array(
                [i for i in kept if not self._is_stopword(self._lemma(i), self.doc[int(i)])],
                dtype=np.int64,
            )
        nodes = np.full(len(table), -1, dtype=np.int64)
        if not len(kept):
            return nodes, np.zeros(0)
        # One number for lemma and part of speech: the lemma's hash, moved by the part of speech.
        keys = table[kept, 1] + table[kept, 0] * np.uint64(0x9E3779B97F4A7C15)
        _, nodes[kept] = np.unique(keys, return_inverse=True)
        sentences = np.cumsum(table[:, 2] == 1)[kept]
        n_nodes = int(nodes.max()) + 1
        edges = cooccurrences(nodes[kept], sentences, n_nodes=n_nodes, window=self.token_lookback)
        return nodes, pagerank(*edges, n_nodes=n_nodes, weight=self.edge_weight)

    def _lemma(self, place: int) -> str:
        lemma: str = self.doc[int(place)].lemma_
        return lemma.lower().strip()

    def _name_ranks(self, nodes: Integers, ranks: Floats) -> dict[Lemma, float]:
        named = {}
        for place in np.flatnonzero(nodes >= 0):
            token = self.doc[int(place)]
            named[Lemma(token.lemma_, token.pos_)] = float(ranks[nodes[place]])
        return named

    def _score(
        self, nodes: Integers, ranks: Floats, chunks: Sequence[tuple[int, int]]
    ) -> Floats:
        """Discounted, normalised rank of chunks, as ``_calc_discounted_normalised_rank`` has it."""
        if not len(chunks):
            return np.zeros(0)
        of_word = np.where(nodes >= 0, np.append(ranks, 0.0)[nodes], 0.0)
        part_of_speech = self.doc.to_array(["POS"]).ravel()
        other = ~np.isin(part_of_speech, _part_of_speech_ids(tuple(self.pos_kept)))
        begins, ends = np.array(chunks, dtype=np.int64).T
        total = np.concatenate([[0.0], np.cumsum(of_word)])
        n_others = np.concatenate([[0], np.cumsum(other)])
        length = ends - begins
        n_other = n_others[ends] - n_others[begins]
        sums = np.maximum(total[ends] - total[begins], 0.0)
        scores: Floats = np.sqrt(sums / (length + n_other)) * length / (length + 2.0 * n_other + 1.0)
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


def cooccurrences(
    nodes: Integers, sentences: Integers, *, n_nodes: int, window: int
) -> tuple[Integers, Integers, Integers]:
    """Count which nodes follow each other within a window of one sentence.

    Parameters
    ----------
    nodes : ndarray of int64, shape (n_words,)
        Node of every kept word, in reading order.
    sentences : ndarray of int64, shape (n_words,)
        Sentence of every kept word, rising.
    n_nodes : int
        Number of nodes.
    window : int
        How many kept words ahead a word is joined to.

    Returns
    -------
    first, second, counts : ndarray of int64, shape (n_edges,)
        Edges without direction, each once. Where both directions occur, the count is that of the
        direction met last for the first time, as in pytextrank, whose graph overwrites the other.

    Examples
    --------
    >>> cooccurrences(np.array([0, 1, 0]), np.zeros(3, int), n_nodes=2, window=1)
    (array([0]), array([1]), array([1]))
    """
    pairs, places = [], []
    for hop in range(1, window + 1):
        same = np.flatnonzero(sentences[:-hop] == sentences[hop:])
        pairs.append(nodes[same] * n_nodes + nodes[same + hop])
        # pytextrank reads sentence by sentence, in each hop by hop, in each word by word
        places.append((sentences[same] * window + hop) * (len(nodes) + 1) + same)
    directed = np.concatenate(pairs)[np.argsort(np.concatenate(places))]
    codes, met, counts = np.unique(directed, return_index=True, return_counts=True)
    latest = np.argsort(-met)
    codes, counts = codes[latest], counts[latest]
    first, second = np.divmod(codes, n_nodes)
    first, second = np.minimum(first, second), np.maximum(first, second)
    _, keep = np.unique(first * n_nodes + second, return_index=True)
    return first[keep], second[keep], counts[keep]


def pagerank(
    first: Integers, second: Integers, counts: Integers, *, n_nodes: int, weight: float = 1.0
) -> Floats:
    """PageRank of an undirected graph by power iteration, stopping where networkx stops.

    Parameters
    ----------
    first, second : ndarray of int64, shape (n_edges,)
        The two ends of each edge; equal for a loop.
    counts : ndarray of int64, shape (n_edges,)
        Weight of each edge.
    n_nodes : int
        Number of nodes, those without edges included.
    weight : float, default 1.0
        Factor on all counts (it cancels out, unless zero).

    Returns
    -------
    ndarray of float64, shape (n_nodes,)
        Sums to one (Page et al. 1999, eq. 1, with damping 0.85).

    Examples
    --------
    >>> pagerank(np.array([0]), np.array([1]), np.array([3]), n_nodes=2)
    array([0.5, 0.5])
    """
    if n_nodes == 0:
        return np.zeros(0)
    two_way = first != second
    source = np.concatenate([first, second[two_way]])
    target = np.concatenate([second, first[two_way]])
    weights = np.concatenate([counts, counts[two_way]]) * float(weight)
    strength = np.bincount(source, weights, minlength=n_nodes)
    shares = np.divide(weights, strength[source], out=np.zeros(len(weights)), where=weights != 0)
    dangling = strength == 0
    ranks = np.full(n_nodes, 1.0 / n_nodes)
    for _ in range(_MOST_ITERATIONS):
        before = ranks
        inflow = np.bincount(target, shares * before[source], minlength=n_nodes)
        lost = before[dangling].sum() / n_nodes
        ranks = _DAMPING * (inflow + lost) + (1.0 - _DAMPING) / n_nodes
        if np.abs(ranks - before).sum() < n_nodes * _TOLERANCE:
            break
    return ranks


_IDS: dict[tuple[str, ...], Any] = {}


def _part_of_speech_ids(names: tuple[str, ...]) -> Any:
    if names not in _IDS:
        from spacy.symbols import IDS

        _IDS[names] = np.array([IDS[name] for name in names], dtype=np.uint64)
    return _IDS[names]
