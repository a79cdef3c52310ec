"""Split texts into numbered words and stems; each distinct token is processed once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus._thesaurus import Thesaurus
from landscape.text._words import normal_form, readable, singular, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_PIECE = re.compile(r"[^\W_](?:[\w'’.+‐‑–−-]*[\w+])?|[.,;:!?()]")
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_STOPS = frozenset(".,;:!?()")
_Piece = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # words, stems, where written
_NOTHING: _Piece = ((0,), (-1,), (-1,))  # not part of any term: it only ends a phrase
_MOST = 300_000  # tokens kept


@dataclass(frozen=True)
class Split:
    """Texts as one sequence of numbered words, separated by the word 0."""

    words: NDArray[np.int64]
    stems: NDArray[np.int64]
    written: NDArray[np.int64]
    rows: NDArray[np.int64]
    pieces: Sequence[str]


class Lexicon(dict[str, int]):
    """Numbers of words and stems, and the parts of each token seen so far."""

    def __init__(
        self, words: Mapping[str, int], stems: Mapping[str, int], spellings: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._known, self._stems, self._spellings = words, stems, spellings
        self.forget()

    def forget(self) -> None:
        """Forget the tokens seen, so that memory stays bounded."""
        self.clear()
        self._pieces: dict[str, _Piece] = {}
        self.places = {piece: place for place, piece in enumerate(self._spellings)}
        self.words, self.stems, self.written = (array("q", one) for one in _NOTHING)
        self.starts = array("q", [0, 1])

    def __missing__(self, token: str) -> int:
        """Process a token that is new."""
        found = [self._pieces.get(one) or self._read(one) for one in _PIECE.findall(token)]
        if found and all(one is _NOTHING for one in found):
            self[token] = 0
            return 0
        number = self[token] = len(self.starts) - 1
        for words, stems, written in found:
            self.words.extend(words)
            self.stems.extend(stems)
            self.written.extend(written)
        self.starts.append(len(self.words))
        return number

    def _read(self, piece: str) -> _Piece:
        words = _normal(piece)
        numbers = tuple([self._known.get(word, 0) for word in words])
        stems = tuple([self._stems.get(stem(word), -1) for word in words])
        if words and not any(numbers) and max(stems) < 0:
            known = _NOTHING
        else:
            place = self.places.setdefault(piece, len(self.places))
            known = numbers, stems, (place,) * len(words)
        self._pieces[piece] = known
        return known


def split(text: str) -> tuple[list[str], list[str]]:
    """Split a text into words in their normal form, and the words as they are written."""
    pieces = _PIECE.findall(text)
    normal = list(map(_normal, pieces))
    written = [piece for piece, words in zip(pieces, normal, strict=True) for _ in words]
    return list(chain.from_iterable(normal)), written


def split_texts(texts: Sequence[str], lexicon: Lexicon) -> Split:
    """Split many texts at once, as `split` does one."""
    if len(lexicon) > _MOST:
        lexicon.forget()
    numbers = array("q")
    counts = np.empty(len(texts), dtype=np.int64)
    # A piece has no space: tokens are processed one by one.
    for row, text in enumerate(texts):
        tokens = readable(text).split()
        numbers.extend(map(lexicon.__getitem__, tokens))
        numbers.append(0)
        counts[row] = len(tokens) + 1
    tokens_ = np.array(numbers, dtype=np.int64)
    starts = np.array(lexicon.starts, dtype=np.int64)
    lengths = starts[tokens_ + 1] - starts[tokens_]
    before = np.cumsum(lengths) - lengths
    at = np.repeat(starts[tokens_] - before, lengths)
    at += np.arange(len(at))
    words, stems, written = (
        np.array(one, dtype=np.int64)[at] for one in (lexicon.words, lexicon.stems, lexicon.written)
    )
    rows = np.repeat(np.repeat(np.arange(len(texts)), counts), lengths)
    return Split(words, stems, written, rows, list(lexicon.places))


@lru_cache(maxsize=300_000)
def _normal(piece: str) -> tuple[str, ...]:
    if piece in _STOPS:
        return ("",)
    if _NUMERAL.fullmatch(piece):
        return (piece,)  # its normal form, without the slow call
    return tuple(singular(word) for word in normal_form(piece).split())


@dataclass(frozen=True)
class TermStems:
    """The stems of all terms of a thesaurus."""

    stems: dict[str, int]
    terms: csr_matrix
    first: NDArray[np.int64]


def stem_terms(thesaurus: Thesaurus) -> TermStems:
    """Take the stems of every term; terms of one concept are adjacent."""
    from scipy.sparse import csr_matrix

    stems: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    first = []
    n_terms = 0
    for concept in thesaurus.concepts.values():
        first.append(n_terms)
        for name in concept.names:
            found = {stem(word) for word in split(name)[0] if word}
            pairs += [(stems.setdefault(one, len(stems)), n_terms) for one in sorted(found)]
            n_terms += 1
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(stems), n_terms)
    terms = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    return TermStems(stems, terms, np.array(first, dtype=np.int64))


def find_stems(texts: Split, stems: TermStems, *, n: int) -> csr_matrix:
    """Which stems of terms each of n texts has, shape (n, n_stems), of int8."""
    from scipy.sparse import csr_matrix

    known = texts.stems >= 0
    n_stems = len(stems.stems)
    found = np.sort(texts.rows[known] * n_stems + texts.stems[known])
    found = found[np.diff(found, prepend=-1) > 0]
    rows, columns = np.divmod(found, max(n_stems, 1))
    ends = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    ones = np.ones(len(columns), np.int8)
    return csr_matrix((ones, columns.astype(np.int32), ends), shape=(n, n_stems))


def covered(
    found: csr_matrix, stems: TermStems, weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Share of each concept's best covered term that a text has, rare stems counting more."""
    from scipy.sparse import diags

    n, m = found.shape[0], len(stems.first)
    weighted = diags(weights) @ stems.terms
    whole = np.maximum(np.asarray(weighted.sum(0)).ravel(), 1e-6)
    shares = found.astype(np.float32) @ (weighted @ diags(1.0 / whole)).tocsr()
    # Few terms have any stem of a text: only these are looked through for the best.
    concept = np.searchsorted(stems.first, np.arange(stems.terms.shape[1]), side="right") - 1
    places = np.repeat(np.arange(n) * m, np.diff(shares.indptr)) + concept[shares.indices]
    best = np.zeros(n * m, dtype=np.float32)
    np.maximum.at(best, places, shares.data.astype(np.float32))
    made: NDArray[np.float32] = np.minimum(best, np.float32(1.0)).reshape(n, m)
    return made


def rarity(found: csr_matrix) -> NDArray[np.float32]:
    """Weight of each stem: the logarithm of the inverse share of texts that have it."""
    n = found.shape[0]
    frequency = found.getnnz(axis=0).astype(np.float32)
    weights: NDArray[np.float32] = (np.log((1 + n) / (1 + frequency)) + 0.1).astype(np.float32)
    return weights
