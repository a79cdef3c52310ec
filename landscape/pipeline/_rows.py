"""Compute hashes of the texts of papers, to find papers that were already processed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import replacing

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_BATCH = 8192
# Two independent 64-bit SipHash values give 128 bits. A collision is unlikely for 1e9 papers.
_HASH_KEYS = ("landscape-rows-1", "landscape-rows-2")


def row_keys(part: Path) -> NDArray[np.uint64]:
    """Hash the text (title and abstract) of every paper in a part."""
    from pandas.util import hash_array

    blocks = []
    for text in _text_batches(part):
        column = np.asarray(text.to_pylist(), dtype=object)
        pair = [hash_array(column, hash_key=key, categorize=False) for key in _HASH_KEYS]
        blocks.append(np.column_stack(pair))
    return np.concatenate(blocks) if blocks else np.zeros((0, 2), dtype=np.uint64)


def read_columns(parts: Iterable[Path], columns: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa.concat_tables(pq.read_table(path, columns=list(columns)) for path in parts)


def read_batches(part: Path, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
    """Yield the given columns of a part in batches of `size` rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(part) as file:
        yield from file.iter_batches(size, columns=list(columns))


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table to a temporary Parquet file, then rename the file."""
    import pyarrow.parquet as pq

    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def paper_ids(parts: Sequence[Path]) -> list[str]:
    return read_columns(parts, ["paper_id"])["paper_id"].to_pylist()


def match_ids(ids: Sequence[str], known: Sequence[str]) -> NDArray[np.int64]:
    """Return the position of each id in `known`, or -1 if the id is missing."""
    import pandas as pd

    return np.asarray(pd.Index(known, dtype=object).get_indexer(list(ids)), dtype=np.int64)


def keys_digest(keys: NDArray[np.uint64]) -> str:
    return hashlib.sha256(np.ascontiguousarray(keys).tobytes()).hexdigest()[:32]


def match_rows(keys: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the position of each key in `known`, or -1 if the key is missing."""
    if len(known) == 0 or len(keys) == 0:
        return np.full(len(keys), -1, dtype=np.int64)
    order = np.argsort(known[:, 0], kind="stable")
    place = np.searchsorted(known[order, 0], keys[:, 0])
    found = order[np.minimum(place, len(order) - 1)]
    return np.where((known[found] == keys).all(axis=1), found, -1).astype(np.int64)


def texts_in_chunks(part: Path, rows: NDArray[np.int64], *, size: int) -> Iterator[list[str]]:
    """Yield the texts of the given rows of a part in lists of `size` texts."""
    waiting: list[str] = []
    start = 0
    for text in _text_batches(part):
        inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + len(text))]
        waiting.extend(text.take(inside - start).to_pylist())
        start += len(text)
        while len(waiting) >= size:
            yield waiting[:size]
            del waiting[:size]
    if waiting:
        yield waiting


def column_digest(parts: Sequence[Path], columns: Sequence[str]) -> str:
    """Return a hash of the given columns of all parts."""
    from pandas.util import hash_array

    whole = hashlib.sha256()
    for part in parts:
        for batch in read_batches(part, columns, _BATCH):
            for column in batch.columns:
                text = np.asarray(_as_strings(column).to_pylist(), dtype=object)
                whole.update(hash_array(text, hash_key=_HASH_KEYS[0], categorize=False).tobytes())
    return whole.hexdigest()[:32]


def _text_batches(part: Path) -> Iterator[pa.Array]:
    import pyarrow.compute as pc

    for batch in read_batches(part, ["title", "abstract"], _BATCH):
        title, abstract = (pc.fill_null(batch.column(i), "") for i in (0, 1))
        yield pc.binary_join_element_wise(title, abstract, ". ")


def _as_strings(column: pa.Array) -> pa.Array:
    """Convert a column to strings. The items of a list are joined with a control character."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        column = pc.binary_join(column, "\x1f")
    return pc.fill_null(column.cast(pa.string()), "\x00")
