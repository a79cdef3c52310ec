"""Late interaction: a small vector for every word of a paper, to rerank what a search found.

One vector a paper blurs what it says; with one a word, each word of the query finds its match
(ColBERT: Khattab and Zaharia 2020, arXiv:2004.12832). The states that the embedding model computes
anyway are kept: pieces joined to words, stop words left out, projected to 64 dimensions and rounded
to a byte a number. That is some 9 kB a paper, and comparing a query with a hundred papers takes
milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.int8]

DIMENSION = 64
"""Numbers in the vector of a word."""


@dataclass(frozen=True)
class WordVectors:
    """Vectors of the words of several texts, one text after the other.

    Attributes
    ----------
    vectors : ndarray of int8, shape (n_words, 64)
        Of no particular length: only their directions count.
    lengths : ndarray of int, shape (n_texts,)
        Words of each text.

    Examples
    --------
    >>> words = WordVectors(np.eye(64, dtype=np.int8)[:3], np.array([1, 2]))
    >>> len(words)
    2
    """

    vectors: Bytes
    lengths: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class Vocabulary:
    """For each piece of the vocabulary: whether it continues a word, and whether it counts."""

    continues: NDArray[np.bool_]
    counts: NDArray[np.bool_]

    @classmethod
    def of(cls, pieces: Mapping[str, int], *, stop_words: frozenset[str]) -> Vocabulary:
        """Read the vocabulary of a WordPiece tokenizer."""
        size = 1 + max(pieces.values())
        continues, counts = np.zeros(size, bool), np.zeros(size, bool)
        for piece, number in pieces.items():
            continues[number] = piece.startswith("##")
            counts[number] = piece[0].isalnum() and piece not in stop_words
        return cls(continues, counts)


def join_pieces(
    states: Floats, pieces: NDArray[np.int64], vocabulary: Vocabulary
) -> tuple[Floats, NDArray[np.int64]]:
    """Join the states of pieces to those of the words that count.

    >>> known = Vocabulary.of({"the": 0, "quas": 1, "##ar": 2}, stop_words=frozenset(["the"]))
    >>> join_pieces(np.ones((3, 2), np.float32), np.array([0, 1, 2]), known)[0].tolist()
    [[2.0, 2.0]]
    """
    begins = np.flatnonzero(~vocabulary.continues[pieces])
    if not len(begins):
        return np.zeros((0, states.shape[1]), np.float32), begins
    joined = np.add.reduceat(states, begins, axis=0)
    counted = vocabulary.counts[pieces[begins]]
    return joined[counted], begins[counted]


@cache
def basis() -> Floats:
    """Axes onto which the states of MiniLM are projected, shape (384, 64), orthonormal columns.

    The principal axes of the states of words in astronomy abstracts; ``benchmarks/word_basis.py``
    computes them. The sum of a word's pieces may be projected, or the pieces summed after it.
    """
    path = files("landscape.embeddings") / "minilm_words.npy"
    with path.open("rb") as stream:
        stored: NDArray[np.float16] = np.load(stream, allow_pickle=False)
    return stored.astype(np.float32)


def unit_rows(vectors: Floats) -> Floats:
    """Scale vectors to unit length."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def round_to_bytes(vectors: Floats) -> Bytes:
    """Round vectors to bytes, each scaled to use their whole range.

    >>> round_to_bytes(np.array([[0.6, -0.8]], np.float32)).tolist()
    [[95, -127]]
    """
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0), 1e-12)
    return np.rint(vectors * (127.0 / largest)).astype(np.int8)


def late_interaction(query: Floats, weights: Floats, words: WordVectors) -> Floats:
    """Score texts by how well each word of a query is matched by their best word.

    Parameters
    ----------
    query : ndarray of float32, shape (n_query, 64)
        Unit vectors of the query's words.
    weights : ndarray of float32, shape (n_query,)
        How much each counts, for example by its rarity.
    words : WordVectors
        Of n texts.

    Returns
    -------
    ndarray of float32, shape (n,)
        Weighted mean of the largest cosines (MaxSim of ColBERT, eq. 3), -1 to 1; 0 for a text or a
        query without words.

    Examples
    --------
    >>> words = WordVectors(np.array([[1, 0], [0, 1], [1, 1]], np.int8), np.array([2, 1]))
    >>> late_interaction(np.eye(2, dtype=np.float32), np.ones(2, np.float32), words).round(2)
    array([1.  , 0.71], dtype=float32)
    """
    scores = np.zeros(len(words), dtype=np.float32)
    total = float(weights.sum())
    filled = np.flatnonzero(words.lengths)
    if total <= 0 or not len(filled):
        return scores
    vectors = unit_rows(words.vectors.astype(np.float32))
    begins = np.concatenate([[0], np.cumsum(words.lengths, dtype=np.int64)[:-1]])[filled]
    best = np.maximum.reduceat(vectors @ query.T, begins, axis=0)
    scores[filled] = best @ (weights / total)
    return scores


def gather_words(
    parts: Sequence[WordVectors], ends: Sequence[NDArray[np.int64]], rows: Sequence[tuple[int, int]]
) -> WordVectors:
    """Pick the words of chosen texts out of memory-mapped parts.

    >>> part = WordVectors(np.array([[1, 0], [0, 1], [1, 1]], np.int8), np.array([2, 1]))
    >>> gather_words([part], [np.array([2, 3])], [(0, 1)]).vectors.tolist()
    [[1, 1]]
    """
    pieces, lengths = [], []
    for part, text in rows:
        end = int(ends[part][text])
        length = int(parts[part].lengths[text])
        pieces.append(parts[part].vectors[end - length : end])
        lengths.append(length)
    empty = np.zeros((0, DIMENSION), dtype=np.int8)
    return WordVectors(np.concatenate(pieces) if pieces else empty, np.array(lengths, dtype=int))
