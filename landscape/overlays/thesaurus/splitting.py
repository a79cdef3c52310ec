"""Split texts into numbered words, each token worked out once however often it stands there."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from landscape.text._words import normal_form, readable, singular, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECE = re.compile(r"[^\W_](?:[\w'’.+‐‑–−-]*[\w+])?|[.,;:!?()]")
_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_STOPS = frozenset(".,;:!?()")
_Piece = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # words, stems, where written
_NOTHING: _Piece = ((0,), (-1,), (-1,))  # no term has any of it: it only ends a phrase
_MOST = 300_000  # tokens kept


@dataclass(frozen=True)
class Split:
    """Texts as one sequence of numbered words; texts stand apart by a word 0.

    Of several unknown words that a piece gives, one may stand for all.

    Attributes
    ----------
    words : ndarray of int, shape (n_words,)
        Numbers in the lexicon; 0 for any other word and for what ends a phrase.
    stems : ndarray of int, shape (n_words,)
        Numbers of the words' stems in the lexicon, -1 for any other.
    written : ndarray of int, shape (n_words,)
        Places in `pieces` of what gave the word, -1 where no term has anything of it.
    rows : ndarray of int, shape (n_words,)
        Which text.
    pieces : sequence of str
        How words are written.
    """

    words: NDArray[np.int64]
    stems: NDArray[np.int64]
    written: NDArray[np.int64]
    rows: NDArray[np.int64]
    pieces: Sequence[str]


class Lexicon(dict[str, int]):
    """Numbers of words and stems, and what each token seen so far is made of.

    Parameters
    ----------
    words : mapping of str to int
        Number of each word in its normal form, from 1.
    stems : mapping of str to int
        Number of each stem, see `stem`.
    spellings : sequence of str
        The first pieces, so that their places in `Split.pieces` are known.
    """

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
        """Work out a token that is met for the first time."""
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
    """Split a text into words in their normal form, and the words as they are written.

    Returns
    -------
    words, written : list of str, shape (n_words,)
        What ends a phrase is an empty word, so that no term is found across it.

    Examples
    --------
    >>> split("Star-forming galaxies, haloes")[0]
    ['star', 'forming', 'galaxy', '', 'halo']
    """
    pieces = _PIECE.findall(text)
    normal = list(map(_normal, pieces))
    written = [piece for piece, words in zip(pieces, normal, strict=True) for _ in words]
    return list(chain.from_iterable(normal)), written


def split_texts(texts: Sequence[str], lexicon: Lexicon) -> Split:
    """Split many texts at once, as `split` does one.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
    lexicon : Lexicon
        Learns the tokens of the texts.

    Returns
    -------
    Split

    Examples
    --------
    >>> lexicon = Lexicon({"galaxy": 1, "cluster": 2}, {})
    >>> split_texts(["Galaxy clusters,", "galaxies"], lexicon).words.tolist()
    [1, 2, 0, 0, 1, 0]
    """
    if len(lexicon) > _MOST:
        lexicon.forget()
    numbers = array("q")
    counts = np.empty(len(texts), dtype=np.int64)
    # No piece goes across a space: tokens may be worked out one by one.
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
        return (piece,)  # as the normal form is, which takes its time
    return tuple(singular(word) for word in normal_form(piece).split())
