"""Find the papers whose text has not changed since the last version, and process the others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import replacing
from landscape.corpus.identifiers import WHOLE_TEXT, whole_text_hash
from landscape.pipeline._executor import Executor, Slice

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.store.manifest import StageRecord

KEYS = "keys.parquet"
_BATCH = 8192
_HASH_KEY = "landscape-rows-1"


def row_keys(part: Path) -> NDArray[np.uint64]:
    """Return a hash of the text (title and abstract) of every paper in a part, shape (n, 2)."""
    import pyarrow.parquet as pq

    keys = part.parents[1] / KEYS / part.name
    hashes: list[bytes] = []
    if keys.is_file() and WHOLE_TEXT in pq.read_schema(keys).names:
        hashes = pq.read_table(keys, columns=[WHOLE_TEXT])[WHOLE_TEXT].to_pylist()
    n_papers = pq.read_metadata(part).num_rows
    if len(hashes) != n_papers or any(not one or len(one) != 16 for one in hashes):
        # An atlas of an earlier version has no hashes.
        table = pq.read_table(part, columns=["title", "abstract"])
        hashes = [*map(whole_text_hash, *(table[name].to_pylist() for name in table.column_names))]
    return np.frombuffer(b"".join(hashes), dtype=np.uint64).reshape(-1, 2)


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


_GROUPS = {"sections.parquet": 256, "references.parquet": 1024}  # rows that are read at a time


def join_tables(files: Sequence[Path], target: Path, schema: pa.Schema) -> None:
    """Write the rows of several Parquet files to one file."""
    import pyarrow.parquet as pq

    size = _GROUPS.get(target.parent.name)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for file in files:
            writer.write_table(pq.read_table(file, schema=schema), row_group_size=size)


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


def column_digest(parts: Sequence[Path], columns: Sequence[str]) -> str:
    """Return a hash of the given columns of all parts."""
    from pandas.util import hash_array

    whole = hashlib.sha256()
    for part in parts:
        for batch in read_batches(part, columns, _BATCH):
            for column in batch.columns:
                text = np.asarray(_as_strings(column).to_pylist(), dtype=object)
                whole.update(hash_array(text, hash_key=_HASH_KEY, categorize=False).tobytes())
    return whole.hexdigest()[:32]


def texts_of(part: Path, rows: NDArray[np.int64]) -> list[str]:
    """Return the texts (title and abstract) of some rows of a part, which are sorted."""
    import pyarrow.compute as pc

    first = int(rows[0])
    table = Slice(part, first, int(rows[-1]) + 1).read(["title", "abstract"]).take(rows - first)
    title, abstract = (pc.fill_null(table[name], "") for name in table.column_names)
    texts: list[str] = pc.binary_join_element_wise(title, abstract, ". ").to_pylist()
    return texts


def known_by_part(record: StageRecord | None, name: str) -> dict[str, Any]:
    """Return a detail of a stage of the last version that has a value for each part."""
    found = record.details.get(name) if record else None
    return found if isinstance(found, dict) else {}


def part_digests(
    parts: Sequence[Path], columns: Sequence[str], known: StageRecord | None, kept: Collection[str]
) -> dict[str, list[str]]:
    """Return the digests of the columns of each part. Those of kept parts are known."""
    earlier = known_by_part(known, "digests")
    return {
        path.stem: [*map(str, found)]
        if path.stem in kept
        and isinstance(found := earlier.get(path.stem), list)
        and len(found) == len(columns)
        else [column_digest([path], [name]) for name in columns]
        for path in parts
    }


def _as_strings(column: pa.Array) -> pa.Array:
    """Convert a column to strings. The items of a list are joined with a control character."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        column = pc.binary_join(column, "\x1f")
    return pc.fill_null(column.cast(pa.string()), "\x00")


CHUNK = 1000
"""Number of papers per chunk. An interrupted build repeats at most one chunk per process."""


@dataclass(frozen=True)
class Chunk:
    """Some rows of a part, and the file of the result of a stage for these rows."""

    part: Path
    rows: NDArray[np.int64]
    file: Path

    def texts(self) -> list[str]:
        """Return the texts of the papers."""
        return texts_of(self.part, self.rows)


@dataclass(frozen=True)
class PartWork:
    """Resumable processing of those papers of a part whose result is not known yet.

    `places` is the row of each paper in an array of the known results and the new results.
    """

    part: Path
    places: NDArray[np.int64]
    n_reused: int
    chunks: list[Chunk]

    @classmethod
    def plan(
        cls,
        part: Path,
        known: NDArray[np.uint64],
        *,
        folder: Path,
        settings_digest: str,
        ending: str,
    ) -> PartWork:
        """Plan the work on the papers whose key is not in `known`."""
        keys = row_keys(part)
        places = match_rows(keys, known)
        new = np.flatnonzero(places < 0)
        places[new] = len(known) + np.arange(len(new))
        folder.mkdir(parents=True, exist_ok=True)
        chunks = []
        for start in range(0, len(new), CHUNK):
            rows = new[start : start + CHUNK]
            whole = np.ascontiguousarray(keys[rows]).tobytes() + settings_digest.encode()
            mark = hashlib.blake2b(whole, digest_size=12).hexdigest()
            chunks.append(Chunk(part, rows, folder / f"{start:09d}-{mark}{ending}"))
        return cls(part, places, len(keys) - len(new), chunks)


def finish(
    executor: Executor,
    work: Callable[[Chunk], object],
    planned: Sequence[PartWork],
    advance: Callable[[float], None],
    *,
    embeds: bool = False,
) -> None:
    """Process all chunks that have no file yet."""
    advance(sum(one.n_reused for one in planned))
    todo = []
    for chunk in chain.from_iterable(one.chunks for one in planned):
        if chunk.file.is_file():
            advance(len(chunk.rows))
        else:
            todo.append(chunk)
    n_papers = sum(len(chunk.rows) for chunk in todo)
    done = executor.map(work, todo, n_papers=n_papers, embeds=embeds)
    for chunk, _ in zip(todo, done, strict=True):
        advance(len(chunk.rows))
