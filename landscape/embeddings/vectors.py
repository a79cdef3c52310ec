"""Compute vectors of texts and words, and checksums of model weights.

Late interaction reranks search results. It compares each word of a query with the best matching
word of a paper (ColBERT: Khattab and Zaharia 2020, arXiv:2004.12832). The vector of a word is the
sum of its token states, projected to 64 dimensions and rounded to one byte per number. Stop words
are omitted. The word vectors need about 9 kB per paper.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.models import read_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.int8]

DIMENSION = 64
"""Dimension of a word vector."""


class DescribedEmbedder:
    """Base class of embedders, which describes an embedder for the manifest."""

    name: str
    model: str
    dimension: int
    checksum: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return the name, model, dimension, checksum (sha256 of the weights) and precision."""
        return {
            "name": self.name,
            "model": self.model,
            "dimension": self.dimension,
            "checksum": self.checksum,
            "precision": getattr(self, "precision", "float32"),
        }


def normalised(vectors: ArrayLike) -> NDArray[np.float32]:
    """Scale each row to unit length.

    >>> normalised([[3.0, 4.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    >>> normalised([[1.0, 0.0], [0.0, float("nan")]])
    Traceback (most recent call last):
    ValueError: row 1 is not finite
    """
    rows = np.asarray(vectors, dtype=np.float64)  # float64, because squares of float32 can overflow
    if rows.ndim != 2:
        raise ValueError(f"shape {rows.shape} does not have one row per text")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    for wrong, reason in ((~np.isfinite(lengths), "is not finite"), (lengths == 0, "is zero")):
        if wrong.any():
            raise ValueError(f"row {int(np.argmax(wrong))} {reason}")
    return (rows / lengths).astype(np.float32)


_MODEL_FILES = (".safetensors", ".bin", ".json", ".txt")  # weights, settings and vocabulary


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file; it is computed again only if the file changed."""
    status = path.stat()
    return _sha256(path, size=status.st_size, modified=status.st_mtime_ns)


def folder_checksum(folder: Path) -> str | None:
    """Return the sha256 of the weights, settings and vocabulary of a saved model."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in _MODEL_FILES and p.is_file())
    if not files:
        return None
    known = [f"{path.relative_to(folder).as_posix()} {file_checksum(path)}" for path in files]
    return hashlib.sha256("\n".join(known).encode()).hexdigest()


@lru_cache(maxsize=256)
def _sha256(path: Path, *, size: int, modified: int) -> str:  # noqa: ARG001 - keys of the cache
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class WordVectors:
    """Word vectors of all texts, shape (n_words, 64), and the number of words per text, (n,).

    Only the directions of the vectors have a meaning.
    """

    vectors: Bytes
    lengths: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class Vocabulary:
    """Masks of the tokens that continue a word, and of the tokens that are not stop words."""

    continues: NDArray[np.bool_]
    counts: NDArray[np.bool_]

    @classmethod
    def of(cls, pieces: Mapping[str, int], *, stop_words: frozenset[str]) -> Vocabulary:
        """Return the masks for the vocabulary of a WordPiece tokenizer."""
        size = 1 + max(pieces.values())
        continues, counts = np.zeros(size, bool), np.zeros(size, bool)
        for piece, number in pieces.items():
            continues[number] = piece.startswith("##")
            counts[number] = piece[0].isalnum() and piece not in stop_words
        return cls(continues, counts)


def join_pieces(
    states: Floats, pieces: NDArray[np.int64], vocabulary: Vocabulary
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the sum of the token states of each word, and the position of its first token.

    Stop words are omitted.

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
    """Return the matrix that projects MiniLM states to word vectors, shape (384, 64).

    The columns are orthonormal. They are the principal axes of word states in astronomy abstracts,
    computed by ``benchmarks/word_basis.py``.
    """
    return read_weights("word_axes")["axes"].astype(np.float32)


def unit_rows(vectors: Floats) -> Floats:
    """Scale rows to unit length, shape (n, n_dims)."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def round_to_bytes(vectors: Floats) -> Bytes:
    """Scale each vector to the range of a signed byte and round it.

    >>> round_to_bytes(np.array([[0.6, -0.8]], np.float32)).tolist()
    [[95, -127]]
    """
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0), 1e-12)
    return np.rint(vectors * (127.0 / largest)).astype(np.int8)


def late_interaction(query: Floats, weights: Floats, words: WordVectors) -> Floats:
    """Return the late-interaction score of each text, shape (n_texts,).

    The score is the weighted mean, over the query words, of the largest cosine with a word of the
    text (MaxSim of ColBERT, eq. 3). It is 0 for a text or a query without words.

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
    """Read the word vectors of selected texts. `rows` contains pairs (part, text in the part)."""
    pieces, lengths = [], []
    for part, text in rows:
        end = int(ends[part][text])
        length = int(parts[part].lengths[text])
        pieces.append(parts[part].vectors[end - length : end])
        lengths.append(length)
    empty = np.zeros((0, DIMENSION), dtype=np.int8)
    return WordVectors(np.concatenate(pieces) if pieces else empty, np.array(lengths, dtype=int))
