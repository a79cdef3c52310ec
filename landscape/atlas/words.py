"""Files of word vectors: the words of a part one paper after the other, and how many each has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape.atlas.matrix import write_matrix
from landscape.embeddings._word_vectors import DIMENSION, WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS, COUNTS = "words", "word_counts"


def write_words(
    vectors: Path, counts: Path, sources: Sequence[WordVectors], rows: NDArray[np.int64]
) -> None:
    """Write the word vectors of chosen texts, a run of texts at a time.

    Parameters
    ----------
    vectors, counts : pathlib.Path
        The two ``.npy`` files, int8 (n_words, 64) and uint16 (n_texts,), each written atomically.
    sources : sequence of WordVectors
        May be memory-mapped.
    rows : ndarray of int64, shape (n_texts,)
        Texts in the stack of sources.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> source = WordVectors(np.eye(64, dtype=np.int8)[:3], np.array([1, 2]))
    >>> write_words(folder / "v.npy", folder / "c.npy", [source], np.array([1, 0, 0]))
    >>> open_words(folder / "v.npy", folder / "c.npy").lengths.tolist()
    [2, 1, 1]
    """
    every = np.concatenate([np.asarray(s.lengths, np.int64) for s in sources] or [np.zeros(0, int)])
    lengths = every[rows]
    total = int(lengths.sum())
    runs = _runs(sources, rows)
    write_matrix(vectors, runs, rows=total, columns=DIMENSION, dtype="|i1")
    column = lengths[:, None]
    write_matrix(counts, iter([column]), rows=len(rows), columns=1, dtype="<u2")


def open_words(vectors: Path, counts: Path) -> WordVectors:
    """Open word vectors, memory-mapped.

    Parameters
    ----------
    vectors, counts : pathlib.Path
        As `write_words` wrote them.

    Returns
    -------
    WordVectors
    """
    return WordVectors(
        np.load(vectors, mmap_mode="r", allow_pickle=False),
        np.load(counts, allow_pickle=False)[:, 0].astype(np.int64),
    )


def _runs(sources: Sequence[WordVectors], rows: NDArray[np.int64]) -> Iterator[NDArray[np.int8]]:
    """Slices of the sources: texts that stand together are read together."""
    sizes = np.cumsum([len(source) for source in sources])
    place = np.searchsorted(sizes, rows, side="right")
    breaks = (np.diff(rows) != 1) | (np.diff(place) != 0)
    begins = np.flatnonzero(np.concatenate([[True], breaks])) if len(rows) else np.zeros(0, int)
    ends = np.append(begins[1:], len(rows))
    known = [np.concatenate([[0], np.cumsum(s.lengths, dtype=np.int64)]) for s in sources]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        source = int(place[begin])
        first = int(rows[begin] - (sizes[source] - len(sources[source])))
        bounds = known[source]
        last = first + end - begin
        for start in range(first, last, _TEXTS):
            stop = min(start + _TEXTS, last)
            yield np.asarray(sources[source].vectors[bounds[start] : bounds[stop]])


_TEXTS = 4096  # read at a time: some 40 MB
