"""Rows of Parquet files, streamed row group by row group, vectors beside the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.corpus.readers.columns import POSITIONS, VECTORS, fields_of
from landscape.corpus.schema import RawRecord
from landscape.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_ROWS = 1000


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of a Parquet file's columns.

    Raises
    ------
    landscape.errors.InputError
        If the file only begins like Parquet.
    """
    status = path.stat()
    return _names(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def _names(path: Path, size: int, modified: int) -> tuple[str, ...]:  # noqa: ARG001  # the key
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return tuple(pq.read_schema(path).names)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, error, 0) from None


def parquet_records(
    path: Path, *, on_bytes: Callable[[int], None] | None = None
) -> Iterator[RawRecord]:
    """Stream the rows of a Parquet file; the line of a record is its row, from 1.

    Raises
    ------
    landscape.errors.InputError
        If the file is damaged, with the number of rows read before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        with pq.ParquetFile(path) as file:
            total, told = max(file.metadata.num_rows, 1), 0
            size = path.stat().st_size
            for batch in file.iter_batches(batch_size=_ROWS, use_threads=False):
                for record in _rows_of(batch, row):
                    row = record.line
                    yield record
                if on_bytes is not None:
                    on_bytes(size * row // total - told)
                    told = size * row // total
    except pa.ArrowInvalid as error:
        raise _damaged(path, error, row) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(path, error, row) from None  # Arrow's own, not the system's


def _rows_of(batch: pa.RecordBatch, row: int) -> Iterator[RawRecord]:
    names = {name.lower(): name for name in batch.schema.names}
    vectors = next((_matrix(batch, names[n]) for n in VECTORS if n in names), None)
    xy = [batch.column(names[n]).to_pylist() for n in POSITIONS if n in names]
    plain = [n for n in batch.schema.names if n.lower() not in (*VECTORS, *POSITIONS)]
    for number, record in enumerate(batch.select(plain).to_pylist()):
        position = (xy[0][number], xy[1][number]) if len(xy) == 2 else None
        if position is not None and None in position:
            position = None
        yield RawRecord(
            row + number + 1,
            fields_of(record),
            vectors[number] if vectors is not None else None,
            position,
        )


def _matrix(batch: pa.RecordBatch, name: str) -> list[np.ndarray[Any, Any] | None] | None:
    """Rows of a column of lists as float32, without going through Python numbers."""
    import numpy as np
    import pyarrow as pa

    column = batch.column(name)
    kind = column.type
    if not (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    ):
        return None
    if not pa.types.is_floating(kind.value_type):
        return None
    if pa.types.is_fixed_size_list(kind):
        column = column.cast(pa.list_(kind.value_type))
    values = column.values.to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    ends = column.offsets.to_numpy()
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return [None if missing[i] else values[ends[i] : ends[i + 1]] for i in range(len(column))]


def _damaged(path: Path, error: Exception, n_good: int) -> InputError:
    reason = str(error).strip().splitlines()[0].rstrip(".")[:160]
    return InputError(
        f"{path} is a damaged Parquet file ({reason}) after {n_good:,} good records; "
        "download or copy it again."
    )
