"""Read and write embedding files in blocks. Each part of the atlas has one ``.npy`` file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from landscape._io import replacing
from landscape.embeddings.vectors import DIMENSION, WordVectors
from landscape.errors import AtlasError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 4096  # number of papers or texts whose vectors are read at a time


def write_matrix(
    path: Path, blocks: Iterable[np.ndarray], *, rows: int, columns: int, dtype: str = "<f4"
) -> None:
    """Write a matrix to a `.npy` file block by block."""
    written = 0
    with replacing(path) as temporary, temporary.open("wb") as stream:
        header = {"descr": dtype, "fortran_order": False, "shape": (rows, columns)}
        np.lib.format.write_array_header_1_0(stream, header)
        for block in blocks:
            if block.shape[1] != columns:
                raise ValueError(f"expected {columns} columns for {path}, got {block.shape[1]}")
            stream.write(np.ascontiguousarray(block, dtype=dtype).tobytes())
            written += len(block)
        if written != rows:
            raise ValueError(f"expected {rows} rows for {path}, got {written}")


def open_matrix(path: Path) -> NDArray[np.float32]:
    """Open an embedding file as a read-only memory map."""
    return cast("NDArray[np.float32]", np.load(path, mmap_mode="r", allow_pickle=False))


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read an ``.npz`` file, which a build does not compress, so that it cannot fill the memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [member.file_size for member in archive.infolist()]
            if sum(sizes) > path.stat().st_size:
                raise ValueError("it is compressed, which a build never does")
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, ValueError, EOFError, MemoryError, TokenError, zipfile.BadZipFile) as error:
        raise AtlasError(
            f"{path} cannot be read ({error}); build the atlas again in a new folder."
        ) from error


class _Joined:
    """Matrices that are memory-mapped and indexed as if they were concatenated."""

    ndim = 2
    dtype = np.dtype(np.float32)

    def __init__(self, parts: Sequence[NDArray[np.float32]]) -> None:
        self._parts = parts
        self._ends = np.cumsum([len(part) for part in parts])
        self.shape = (int(self._ends[-1]), parts[0].shape[1])
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        for part in self._parts:
            yield from part

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        if isinstance(rows, int | np.integer):
            return self[np.array([rows])][0]
        if isinstance(rows, tuple):
            raise TypeError("only rows can be selected")
        if isinstance(rows, slice):
            numbers = np.arange(*rows.indices(len(self)))
        else:
            numbers = np.asarray(rows)
            numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers
        flat = gather_rows(self._parts, numbers.ravel())
        return flat.reshape(*numbers.shape, self.shape[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.concatenate(self._parts).astype(dtype or np.float32, copy=False)


def open_matrices(paths: Sequence[Path]) -> NDArray[np.float32]:
    """Open the embedding files of all parts as one read-only matrix, which is not in memory.

    The result has the methods of an array that select rows.
    """
    parts = [open_matrix(path) for path in paths]
    parts = [part for part in parts if len(part)] or parts[:1]
    return parts[0] if len(parts) == 1 else cast("NDArray[np.float32]", _Joined(parts))


def gather_rows(
    sources: Sequence[NDArray[np.float32]], rows: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Gather rows of several matrices as if they were concatenated."""
    ends = np.cumsum([len(source) for source in sources])
    if len(rows) and not 0 <= rows.min() <= rows.max() < ends[-1]:
        raise AtlasError("The vectors have fewer rows than the papers. Build the atlas again.")
    place = np.searchsorted(ends, rows, side="right")
    picked = np.empty((len(rows), sources[0].shape[1]), dtype=np.float32)
    for number, source in enumerate(sources):
        here = np.flatnonzero(place == number)
        if len(here):
            picked[here] = source[rows[here] - (ends[number] - len(source))]
    return picked


WORDS, COUNTS = "words", "word_counts"


def write_words(
    vectors: Path, counts: Path, sources: Sequence[WordVectors], rows: NDArray[np.int64]
) -> None:
    """Write the word vectors of selected texts; contiguous texts are copied together."""
    every = np.concatenate([np.asarray(s.lengths, np.int64) for s in sources] or [np.zeros(0, int)])
    lengths, runs = every[rows], _runs(sources, rows)
    write_matrix(vectors, runs, rows=int(lengths.sum()), columns=DIMENSION, dtype="|i1")
    write_matrix(counts, iter([lengths[:, None]]), rows=len(rows), columns=1, dtype="<u2")


def open_words(vectors: Path, counts: Path) -> WordVectors:
    """Open the word vectors of a part, memory-mapped."""
    return WordVectors(
        np.load(vectors, mmap_mode="r", allow_pickle=False),
        # If the shape exceeds the file, a memory map raises an error and does not allocate memory.
        np.load(counts, mmap_mode="r", allow_pickle=False)[:, 0].astype(np.int64),
    )


def _runs(sources: Sequence[WordVectors], rows: NDArray[np.int64]) -> Iterator[NDArray[np.int8]]:
    """Yield the vectors of the rows in blocks; contiguous rows of a source share a block."""
    sizes = np.cumsum([len(source) for source in sources])
    place = np.searchsorted(sizes, rows, side="right")
    breaks = (np.diff(rows) != 1) | (np.diff(place) != 0)
    begins = np.flatnonzero(np.concatenate([[True], breaks])) if len(rows) else np.zeros(0, int)
    ends = np.append(begins[1:], len(rows))[: len(begins)]  # a part may have no papers
    known = [np.concatenate([[0], np.cumsum(s.lengths, dtype=np.int64)]) for s in sources]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        source = int(place[begin])
        first = int(rows[begin] - (sizes[source] - len(sources[source])))
        bounds = known[source]
        last = first + end - begin
        for start in range(first, last, BLOCK):  # at most 4096 texts, about 40 MB
            stop = min(start + BLOCK, last)
            yield np.asarray(sources[source].vectors[bounds[start] : bounds[stop]])
