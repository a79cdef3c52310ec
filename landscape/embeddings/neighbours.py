"""Exact and approximate nearest-neighbour search in the full dimension of the embedding."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import AtlasError, InputError

if TYPE_CHECKING:
    import faiss
    from numpy.typing import NDArray

_BLOCK = 32_768  # number of rows read from disk at a time (50 MB if d = 384)
_QUERIES = 4_096  # number of queries compared with a block at a time


def nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], *, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the k vectors most similar to each query by an exact search.

    Parameters
    ----------
    vectors : numpy.ndarray
        (n, d) float32, L2-normalised. A memory-mapped array is read once, in blocks.
    queries : numpy.ndarray
        (m, d) float32, L2-normalised. A query that is in `vectors` is its own nearest neighbour.
    k : int
        Number of vectors to find, at most n.

    Returns
    -------
    indices : numpy.ndarray
        (m, k) int64, row numbers in `vectors`. The most similar vectors are first, and ties are
        sorted by row number.
    similarities : numpy.ndarray
        (m, k) float32, inner products of the unit vectors, which are cosine similarities.

    Raises
    ------
    InputError
        If k is not between 1 and n, or the dimensions differ.

    Examples
    --------
    >>> vectors = np.eye(3, dtype=np.float32)
    >>> indices, similarities = nearest(vectors, vectors[[2]], k=1)
    >>> int(indices[0, 0]), float(similarities[0, 0])
    (2, 1.0)
    """
    import faiss

    if queries.ndim != 2 or vectors.ndim != 2 or queries.shape[1] != vectors.shape[1]:
        raise InputError(
            f"The queries have shape {queries.shape} and the vectors {vectors.shape}; "
            "both need rows of the same length. Use the same embedding model for both."
        )
    if not 1 <= k <= len(vectors):
        raise InputError(
            f"k={k} neighbours of {len(vectors)} papers requested. Use k from 1 to {len(vectors)}."
        )
    n_queries = len(queries)
    if n_queries == 0:
        return np.empty((0, k), dtype=np.int64), np.empty((0, k), dtype=np.float32)
    indices = np.empty((n_queries, 0), dtype=np.int64)
    similarities = np.empty((n_queries, 0), dtype=np.float32)
    for start in range(0, len(vectors), _BLOCK):
        block = np.ascontiguousarray(vectors[start : start + _BLOCK], dtype=np.float32)
        parts = [
            faiss.knn(
                np.ascontiguousarray(queries[at : at + _QUERIES], dtype=np.float32),
                block,
                min(k, len(block)),
                metric=faiss.METRIC_INNER_PRODUCT,
            )
            for at in range(0, n_queries, _QUERIES)
        ]
        closeness, found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        indices = np.hstack([indices, found + start])
        similarities = np.hstack([similarities, closeness])
        # Keep the k best vectors of each query. Ties are sorted by row.
        order = np.lexsort((indices, -similarities), axis=1)[:, :k]
        indices = np.take_along_axis(indices, order, 1)
        similarities = np.take_along_axis(similarities, order, 1)
    return indices, similarities


def overlap(found: NDArray[np.int64], exact: NDArray[np.int64]) -> float:
    """Return the recall, which is the fraction of the exact neighbours that were found.

    >>> overlap(np.array([[1, 2], [5, 6]]), np.array([[2, 1], [6, 7]]))
    0.75
    """
    if exact.size == 0:
        return 1.0
    return float((found[:, :, None] == exact[:, None, :]).any(axis=1).mean())


def without_self(
    found: NDArray[np.integer], sample: NDArray[np.integer], k: int
) -> NDArray[np.int64]:
    """Remove each paper from its neighbours. If it is not among them, remove the last neighbour."""
    own = found == sample[:, None]
    own[~own.any(axis=1), -1] = True
    return np.asarray(found[~own].reshape(len(found), -1)[:, :k], dtype=np.int64)


MAX_LENGTH = 100
"""Largest k for which a distance is stored. See `neighbour_distances`."""

_SUBSET = 2_000  # number of papers in the random sample


@dataclass(frozen=True)
class Sample:
    """Randomly chosen papers and their nearest papers, which include the paper itself.

    `rows` has shape (m,), and `near` (rows) and `similarities` (cosines) have shape (m, k + 1).
    """

    rows: NDArray[np.int64]
    near: NDArray[np.int64]
    similarities: NDArray[np.float32]


def sample_neighbours(
    vectors: NDArray[np.float32], *, n_sample: int = _SUBSET, k: int = MAX_LENGTH, seed: int = 0
) -> Sample:
    """Find the `k` nearest other papers of a random sample by an exact search."""
    n = len(vectors)
    rows = np.sort(np.random.default_rng(seed).choice(n, size=min(n_sample, n), replace=False))
    if not n:
        return Sample(rows, np.zeros((0, 0), np.int64), np.zeros((0, 0), np.float32))
    return Sample(rows, *nearest(vectors, np.asarray(vectors[rows]), k=min(k + 1, n)))


def neighbour_distances(sample: Sample) -> NDArray[np.float32]:
    """Return typical distances within a subject, D95(k) for all k of the sample, shape (k,).

    D95(k) is the 95th percentile, over a random sample of papers, of the distances to the k nearest
    neighbours in the full dimension (Iyer et al. 2024, section 4).
    """
    similarities = sample.similarities[:, 1:]  # without the paper itself
    distances = np.sqrt(np.maximum(2.0 - 2.0 * similarities, 0.0))
    lengths = range(1, distances.shape[1] + 1)
    return np.array([np.percentile(distances[:, :k], 95) for k in lengths], dtype=np.float32)


MAX_EXACT = 150_000_000
"""Maximum number of values for which a query is compared with all vectors (about 30 ms)."""

_INDEX_BLOCK = 16_384  # number of rows read from disk at a time
_TRAINED_ON = 40  # number of training vectors per cell
_CANDIDATES = 10  # number of candidates per requested paper; candidates are scored exactly
_RECALL_OF, _SAMPLE = 100, 200  # nearest papers of which the recall is measured; queries
_WANTED_RECALL = 0.99  # minimum share of the nearest papers that a search finds


@dataclass(frozen=True)
class Found:
    """Rows and cosine similarities of the papers nearest to a query."""

    rows: NDArray[np.int64]
    similarities: NDArray[np.float32]


class VectorIndex:
    """Semantic search over the vectors of an atlas.

    Parameters
    ----------
    parts : sequence of ndarray of float32, shape (n_rows, n_dims)
        Unit vectors of each part of the atlas. They can be memory-mapped.
    index : faiss.IndexIVF, optional
        Approximate index of these vectors; see `read_index`. By default, the search is exact.
    n_probe : int, default 1
        Number of cells to search, as reported by `join_index`.

    Examples
    --------
    >>> index = VectorIndex([np.eye(4, dtype=np.float32)])
    >>> index.search(np.array([0.6, 0.8, 0, 0], np.float32), k=2).rows.tolist()
    [1, 0]
    """

    def __init__(
        self, parts: Sequence[NDArray[np.float32]], *, index: Any = None, n_probe: int = 1
    ) -> None:
        self._parts = [part for part in parts if len(part)]
        self._starts = np.cumsum([0, *(len(part) for part in self._parts)])
        self._index, self._n_probe = index, n_probe

    def search(
        self, query: NDArray[np.float32], *, k: int, rows: NDArray[np.int64] | None = None
    ) -> Found:
        """Find the k papers most similar to a query, among the given rows or all papers."""
        if rows is not None and (self._index is None or len(rows) * len(query) < MAX_EXACT):
            return _best_rows(rows, self.similarities(query, rows), k=k)
        if self._index is None:
            every = np.concatenate([part @ query for part in self._parts] or [np.zeros(0)])
            return _best_rows(np.arange(len(self)), every.astype(np.float32, copy=False), k=k)
        candidates = self._candidates(query, _CANDIDATES * k, rows)
        return _best_rows(candidates, self.similarities(query, candidates), k=k)

    def similarities(
        self, query: NDArray[np.float32], rows: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the cosine similarities between a query and selected papers."""
        result = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _INDEX_BLOCK):
            some = rows[start : start + _INDEX_BLOCK]
            result[start : start + _INDEX_BLOCK] = self.vectors(some) @ query
        return result

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of selected papers."""
        if len(self._parts) == 1:
            return np.asarray(self._parts[0][rows])
        of_part = np.searchsorted(self._starts, rows, side="right") - 1
        found = np.empty((len(rows), self._parts[0].shape[1]), dtype=np.float32)
        for number in np.unique(of_part):
            chosen = of_part == number
            found[chosen] = self._parts[number][rows[chosen] - self._starts[number]]
        return found

    def __len__(self) -> int:
        return int(self._starts[-1])

    def _candidates(
        self, query: NDArray[np.float32], k: int, rows: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        import faiss

        library: Any = faiss  # these arguments are missing in the type hints of faiss
        selected = None if rows is None else library.IDSelectorBatch(rows)
        n_probe = self._n_probe
        while True:
            settings = library.SearchParametersIVF(nprobe=n_probe, sel=selected)
            found = self._index.search(query[None], min(k, len(self)), params=settings)[1][0]
            found = found[(found >= 0) & (found < len(self))]
            enough = min(k, len(self) if rows is None else len(rows))
            # A filter can exclude most of the nearest papers. Then more cells are searched.
            if len(found) >= enough // _CANDIDATES or n_probe >= self._index.nlist:
                return np.sort(found)
            n_probe = min(4 * n_probe, self._index.nlist)


@dataclass(frozen=True)
class IndexReport:
    """Number of searched cells, number of cells, and recall of the approximate index."""

    n_probe: int
    n_cells: int
    recall: float


def cells_for(n_vectors: int) -> int:
    """Return the number of k-means cells for so many vectors."""
    return int(np.clip(2 * np.sqrt(n_vectors), 1, max(1, n_vectors // _TRAINED_ON)))


def train_index(
    parts: Sequence[NDArray[np.float32]], file: Path, *, known: Path | None = None
) -> None:
    """Write an empty approximate index for these vectors, or an empty copy of a known index.

    The index has k-means cells (Jégou et al. 2011, doi:10.1109/TPAMI.2010.57), which are found in
    a sample of the vectors, and stores one byte per value.
    """
    import faiss

    index: Any
    if known is not None:
        index = faiss.read_index(str(known))
        index.reset()
    else:
        n, dimension = sum(map(len, parts)), parts[0].shape[1]
        n_cells = cells_for(n)
        index = faiss.index_factory(dimension, f"IVF{n_cells},SQ8", faiss.METRIC_INNER_PRODUCT)
        index.cp.seed, index.cp.niter = 1, 6
        sample = np.random.default_rng(1).choice(n, size=_TRAINED_ON * n_cells, replace=False)
        index.train(VectorIndex(parts).vectors(np.sort(sample)))
    faiss.write_index(index, str(file))


def write_shard(vectors: NDArray[np.float32], first: int, trained: Path, file: Path) -> None:
    """Write an index of some vectors, whose row numbers begin with `first`."""
    import faiss

    index: Any = faiss.read_index(str(trained))
    for start in range(0, len(vectors), _INDEX_BLOCK):
        some = np.ascontiguousarray(vectors[start : start + _INDEX_BLOCK])
        rows = np.arange(first + start, first + start + len(some))
        index.add_with_ids(some, rows)
    faiss.write_index(index, str(file))


def join_index(
    parts: Sequence[NDArray[np.float32]],
    shards: Sequence[Path],
    file: Path,
    *,
    recall: float = _WANTED_RECALL,
) -> IndexReport:
    """Join indexes with the same cells, and find how many cells to search for the given recall.

    A search finds 10 k candidates and ranks them by the exact vectors on disk.
    """
    import faiss

    index: Any = faiss.read_index(str(shards[0]))
    for shard in shards[1:]:
        index.merge_from(faiss.read_index(str(shard)), 0)
    faiss.write_index(index, str(file))
    n, n_cells = index.ntotal, index.nlist
    k = min(_RECALL_OF, n)
    exact = VectorIndex(parts)
    asked = exact.vectors(np.sort(np.random.default_rng(2).permutation(n)[:_SAMPLE]))
    true = _nearest_in_parts(parts, asked, k=k)
    n_probe = 1
    while True:
        search = VectorIndex(parts, index=index, n_probe=n_probe).search
        found = np.full((len(asked), k), -1, dtype=np.int64)
        for place, query in enumerate(asked):
            rows = search(query, k=k).rows
            found[place, : len(rows)] = rows
        reached = overlap(found, true)
        if reached >= recall or n_probe >= n_cells:
            return IndexReport(n_probe, n_cells, round(reached, 4))
        n_probe = min(2 * n_probe, n_cells)


@dataclass(frozen=True)
class Neighbours:
    """Finds the nearest of many vectors by their exact similarities, for many queries at a time.

    The vectors are in k-means cells, and only the nearest cells of a query are searched, so that a
    few of the nearest vectors are missed; `recall` is the measured share that is found. All queries
    of a cell are compared at once, which takes a tenth of the time of an inverted file of FAISS
    (benchmarks/scale.py).
    """

    folder: Path
    n_probe: int
    recall: float

    def search(
        self, queries: NDArray[np.float32], *, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the row numbers and the similarities of the k nearest vectors, shape (m, k)."""
        centroids, vectors, rows, starts = (
            np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in _CELL_FILES
        )
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        shape = len(queries), self.n_probe, k
        rows_in, similar_in = np.zeros(shape, np.int64), np.full(shape, -np.inf, np.float32)
        far = -(queries @ np.asarray(centroids).T)
        cells = np.argpartition(far, self.n_probe - 1, axis=1)[:, : self.n_probe]
        order = np.argsort(cells, axis=None, kind="stable")
        bounds = np.searchsorted(cells.ravel()[order], np.arange(len(centroids) + 1))
        for cell, (first, last) in enumerate(pairwise(bounds.tolist())):
            start, stop = starts[cell : cell + 2].tolist()
            if first == last or start == stop:
                continue
            query, probe = np.divmod(order[first:last], self.n_probe)
            near = queries[query] @ np.asarray(vectors[start:stop]).T
            n = min(k, stop - start)
            best = np.argpartition(-near, n - 1, axis=1)[:, :n]
            rows_in[query, probe, :n] = rows[start:stop][best]
            similar_in[query, probe, :n] = np.take_along_axis(near, best, axis=1)
        found = rows_in.reshape(len(queries), -1)
        similarities = similar_in.reshape(len(queries), -1)
        nearest_first = np.lexsort((found, -similarities), axis=1)[:, :k]
        found = np.take_along_axis(found, nearest_first, axis=1)
        similarities = np.take_along_axis(similarities, nearest_first, axis=1)
        few = ~np.isfinite(similarities).all(axis=1)  # the cells have fewer than k vectors
        if few.any():
            inside, similarities[few] = nearest(vectors, queries[few], k=k)
            found[few] = rows[inside]
        return found, similarities


_CELL_FILES = ("centroids", "vectors", "rows", "starts")


def write_neighbours(vectors: NDArray[np.float32], folder: Path, *, k: int) -> Neighbours:
    """Divide vectors into cells so that at least 99% of the k nearest vectors are found."""
    import faiss

    library: Any = faiss
    n, dimension = vectors.shape
    n_cells = cells_for(n)
    rng = np.random.default_rng(1)
    kmeans = library.Kmeans(dimension, n_cells, niter=6, seed=1, spherical=True)
    kmeans.train(vectors[np.sort(rng.permutation(n)[: _TRAINED_ON * n_cells])])
    cells = kmeans.index.search(np.ascontiguousarray(vectors), 1)[1][:, 0]
    rows = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[rows], np.arange(n_cells + 1))
    folder.mkdir(parents=True, exist_ok=True)
    arrays = (kmeans.centroids, vectors[rows], rows, starts)
    for name, array in zip(_CELL_FILES, arrays, strict=True):
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    asked = vectors[np.sort(rng.permutation(n)[: 5 * _SAMPLE])]
    true, _ = nearest(vectors, asked, k=k)
    n_probe = 1
    while True:
        made = Neighbours(folder, n_probe, 0.0)
        reached = overlap(made.search(asked, k=k)[0], true)
        if reached >= _WANTED_RECALL or n_probe >= n_cells:
            return replace(made, recall=round(reached, 4))
        n_probe = min(2 * n_probe, n_cells)


def _check_format(file: Path) -> None:
    """Raise ValueError unless a file has the format that `train_index` chooses.

    For other kinds of indexes or wrong sizes, FAISS can crash or read other files.
    """
    with file.open("rb") as stream:
        kind, dimension, n, n_cells = struct.unpack("<4siq21xQ", stream.read(45))
        if kind != b"IwSq" or not 0 < dimension < 2**20 or not 0 < n_cells < 2**32:
            raise ValueError("not an inverted file with 8-bit values")
        # Header, centroids of the cells, no direct map, and the ranges of the 8-bit values.
        lists = 152 + 4 * n_cells * dimension + 8 * dimension
        stream.seek(53)
        cells = struct.unpack("<4siq", stream.read(16))
        stream.seek(lists - 8 * dimension - 54)
        direct_map = stream.read(1)
        stream.seek(lists)
        *kind_of_lists, layout, n_sizes = struct.unpack("<4sQQ4sQ", stream.read(32))
        sizes = np.frombuffer(stream.read(8 * min(n_sizes, 2 * n_cells)), dtype="<u8")
    whole = lists + 32 + 8 * n_sizes + n * (dimension + 8)  # a byte per value, and a row number
    numbers = np.arange(n_cells)
    if layout == b"sprs":  # if most cells are empty: the number of a cell, then its size
        numbers, sizes, n_sizes = sizes[::2], sizes[1::2], n_sizes // 2
    if (
        cells != (b"IxFI", dimension, n_cells)
        or direct_map != b"\0"
        or kind_of_lists != [b"ilar", n_cells, dimension]
        or layout not in (b"full", b"sprs")
        or not 0 < len(sizes) == len(numbers) == n_sizes
        or int(numbers.max()) >= n_cells
        or int(sizes.max()) > n
        or int(sizes.sum()) != n
        or file.stat().st_size != whole
    ):
        raise ValueError("the parts of the index do not have the sizes that a build writes")


def read_index(file: Path, *, n_papers: int, dimension: int) -> faiss.Index:
    """Open an index that `join_index` has written, as a memory-mapped file."""
    import faiss

    try:
        _check_format(file)
        index = faiss.read_index(str(file), faiss.IO_FLAG_MMAP)
        if index.d != dimension:
            raise ValueError(f"{index.d} dimensions instead of {dimension}")
    except (RuntimeError, OSError, ValueError, struct.error) as error:
        raise AtlasError(f"The index {file} cannot be read; build the atlas again.") from error
    if index.ntotal != n_papers:
        raise AtlasError(
            f"The index {file} has {index.ntotal:,} papers, but the atlas has {n_papers:,}; "
            "build the atlas again."
        )
    return index


def _nearest_in_parts(
    parts: Sequence[NDArray[np.float32]], asked: NDArray[np.float32], *, k: int
) -> NDArray[np.int64]:
    rows, scores, start = [], [], 0
    for part in parts:
        if len(part):
            found, closeness = nearest(part, asked, k=min(k, len(part)))
            rows.append(found + start)
            scores.append(closeness)
        start += len(part)
    order = np.argsort(-np.hstack(scores), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(np.hstack(rows), order, axis=1)


def _best_rows(rows: NDArray[np.int64], scores: NDArray[np.float32], *, k: int) -> Found:
    if len(rows) > k:
        kept = np.argpartition(-scores, k - 1)[:k]
        rows, scores = rows[kept], scores[kept]
    order = np.lexsort((rows, -scores))
    return Found(rows[order], scores[order])
