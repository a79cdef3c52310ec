"""Rows of Parquet files, streamed row group by row group, vectors beside the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.corpus.readers.columns import POSITIONS, VECTORS, fields_of
from landscape.corpus.schema import RawRecord, Rejection
from landscape.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_ROWS = 1000
# What Arrow holds and Python does not: text that is not UTF-8 and dates out of range (both
# ValueErrors, some dates OverflowErrors), time zones without a name.
_UNREADABLE = (ValueError, OverflowError, KeyError)


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
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, error, 0) from None


def parquet_records(
    path: Path, *, on_bytes: Callable[[int], None] | None = None
) -> Iterator[RawRecord | Rejection]:
    """Stream the rows of a Parquet file; the line of a record is its row, from 1.

    A row with a cell that Python cannot hold (a date after the year 9999, text that is not
    UTF-8) becomes a rejection.

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
                for record in _rows_of(path, batch, row):
                    row = record.line
                    yield record
                if on_bytes is not None:
                    on_bytes(size * row // total - told)
                    told = size * row // total
    except pa.ArrowMemoryError:
        raise  # the file is not to blame
    except pa.ArrowException as error:
        raise _damaged(path, error, row) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(path, error, row) from None  # Arrow's own, not the system's


def _rows_of(path: Path, batch: pa.RecordBatch, row: int) -> Iterator[RawRecord | Rejection]:
    names = {name.lower(): name for name in batch.schema.names}
    vectors = next((_matrix(batch, names[n]) for n in VECTORS if n in names), None)
    plain = [n for n in batch.schema.names if n.lower() not in VECTORS]
    for number, record in enumerate(_values_of(path, batch.select(plain), row)):
        if isinstance(record, Rejection):
            yield record
            continue
        xy = [record.pop(names[n]) for n in POSITIONS if n in names]
        position = (xy[0], xy[1]) if len(xy) == 2 and None not in xy else None
        yield RawRecord(
            row + number + 1,
            fields_of(record),
            vectors[number] if vectors is not None else None,
            position,
        )


def _values_of(path: Path, batch: pa.RecordBatch, row: int) -> list[dict[str, Any] | Rejection]:
    """Convert a batch at once; where that fails row by row, so that only the bad ones are lost."""
    try:
        return list(batch.to_pylist())
    except _UNREADABLE:
        rows = [batch.slice(number, 1) for number in range(batch.num_rows)]
        return [_value_of(path, one, row + number + 1) for number, one in enumerate(rows)]


def _value_of(path: Path, one: pa.RecordBatch, line: int) -> dict[str, Any] | Rejection:
    record: dict[str, Any] = {}
    problem = None
    for name, column in zip(one.schema.names, one.columns, strict=True):
        try:
            record[name] = column.to_pylist()[0]
        except _UNREADABLE as error:
            problem = problem or f"unreadable cell in column {name!r} ({error})"
    if problem is None:
        return record
    shown = ", ".join(str(value) for value in record.values() if value is not None)
    return Rejection(path.name, line, problem, shown[:200])


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
