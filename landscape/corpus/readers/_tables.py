"""Readers of tables: CSV, JSON lines and Parquet, including the pathfinder corpus."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from landscape._io import data_file, read_yaml
from landscape.corpus.identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.readers._files import (
    MAX_RECORD,
    PARQUET_MAGIC,
    checked,
    first_objects,
    open_input,
    raw_records,
    sample,
)
from landscape.corpus.records import (
    RawRecord,
    Rejection,
    first,
    list_in_text,
    read_author_list,
    texts_of,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


_NAMES: dict[str, Any] = read_yaml(data_file("columns.yaml"))
ALIASES: dict[str, list[str]] = _NAMES["columns"]
VECTORS: list[str] = _NAMES["vectors"]
POSITIONS = ("umap_x", "umap_y")


def fields_of(record: Mapping[str, object]) -> dict[str, object]:
    """Convert a row of a table to the fields of a record. Alternative column names are allowed."""
    row = {
        name.strip().lower(): value
        for name, value in record.items()
        if isinstance(name, str) and value is not None and value != ""
    }
    fields = {
        name: next((row[alias] for alias in aliases if alias in row), None)
        for name, aliases in ALIASES.items()
    }
    # Keywords in an atlas or in pathfinder are not the keywords of the authors.
    if "ads_keywords" not in row and ("paper_id" in row or "embed" in row):
        fields["ads_keywords"] = None
    for name in ("title", "doi"):
        fields[name] = first(fields[name])
    fields["authors"] = read_author_list(fields["authors"])
    fields["aff"] = texts_of(fields["aff"], separator=";")
    fields["ads_keywords"] = texts_of(fields["ads_keywords"])
    for name in ("categories", "cite_bibcodes", "ref_bibcodes"):
        fields[name] = texts_of(fields[name], separator=r"[\s,;]+")
    fields["dates"] = _dates(row)
    # If "id" is an arXiv id, a bibcode or a DOI, move it to the corresponding field.
    given = fields["given_id"]
    if isinstance(given, int) and not isinstance(given, bool):
        fields["given_id"] = given = str(given)
    parsers = (("bibcode", parse_bibcode), ("arxiv_id", parse_arxiv_id), ("doi", parse_doi))
    kind = next((name for name, parse in parsers if parse(given) is not None), None)
    if kind is not None:
        fields |= {kind: fields[kind] or given, "given_id": None}
    return fields


def has_titles(names: Mapping[str, object] | tuple[str, ...] | list[str]) -> bool:
    """Return whether one of the columns contains titles, based on its name."""
    lowered = {name.strip().lower() for name in names}
    return any(alias in lowered for alias in ALIASES["title"])


def _dates(row: Mapping[str, object]) -> list[Any]:
    dates = [row[n] for n in _NAMES["dates"] if n in row]
    dates = dates or [row[n] for n in _NAMES["years"] if n in row]
    # An atlas stores unknown months and days as 1. A separate column contains the precision.
    precision = row.get("date_precision")
    if dates and precision in ("year", "month"):
        return [str(dates[0])[: 4 if precision == "year" else 7]]
    return dates


_ROWS = 1000
# Exceptions for values that Python cannot represent, such as invalid UTF-8 (ValueError), dates out
# of range (ValueError or OverflowError) and time zones without a name (KeyError).
_UNREADABLE = (ValueError, OverflowError, KeyError)


def column_names(path: Path) -> tuple[str, ...]:
    """Return the column names of a Parquet file."""
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
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(path, error, 0) from None


def parquet_records(
    path: Path, *, on_bytes: Callable[[int], None] | None = None
) -> Iterator[RawRecord | Rejection]:
    """Yield the rows of a Parquet file as records. Row numbers start at 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    try:
        with pq.ParquetFile(path) as file:
            total, reported = max(file.metadata.num_rows, 1), 0
            size = path.stat().st_size
            for batch in file.iter_batches(batch_size=_ROWS, use_threads=False):
                for record in _rows_of(path, batch, row):
                    row = record.line
                    yield record
                if on_bytes is not None:
                    on_bytes(size * row // total - reported)
                    reported = size * row // total
    except pa.ArrowMemoryError:
        raise  # there is too little memory; the file is not damaged
    except pa.ArrowException as error:
        raise _damaged(path, error, row) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(path, error, row) from None  # the error is from Arrow, not from the system


def _rows_of(path: Path, batch: pa.RecordBatch, row: int) -> Iterator[RawRecord | Rejection]:
    names = {name.lower(): name for name in batch.schema.names}
    vectors = next((_matrix(batch, names[n]) for n in VECTORS if n in names), None)
    plain = [n for n in batch.schema.names if n.lower() not in VECTORS]
    for number, record in enumerate(_values_of(path, batch.select(plain), row)):
        if isinstance(record, Rejection):
            yield record
        else:
            vector = vectors[number] if vectors is not None else None
            yield _record(row + number + 1, record, vector)


def _values_of(path: Path, batch: pa.RecordBatch, row: int) -> list[dict[str, object] | Rejection]:
    """Convert a batch to rows. If this fails, convert single rows and reject invalid rows."""
    try:
        return list(batch.to_pylist())
    except _UNREADABLE:
        rows = [batch.slice(number, 1) for number in range(batch.num_rows)]
        return [_value_of(path, one, row + number + 1) for number, one in enumerate(rows)]


def _value_of(path: Path, batch: pa.RecordBatch, line: int) -> dict[str, object] | Rejection:
    record: dict[str, Any] = {}
    problem = None
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            record[name] = column.to_pylist()[0]
        except _UNREADABLE as error:
            problem = problem or f"unreadable cell in column {name!r} ({error})"
    if problem is None:
        return record
    shown = ", ".join(str(value) for value in record.values() if value is not None)
    return Rejection(path.name, line, problem, shown[:200])


def _matrix(batch: pa.RecordBatch, name: str) -> list[np.ndarray | None] | None:
    """Return a column of lists as float32 arrays. This is faster than Python lists."""
    import numpy as np
    import pyarrow as pa

    column = batch.column(name)
    kind, types = column.type, pa.types
    is_fixed = types.is_fixed_size_list(kind)
    is_list = is_fixed or types.is_list(kind) or types.is_large_list(kind)
    if not is_list or not types.is_floating(kind.value_type):
        return None
    if is_fixed:
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


class TableReader:
    """Reader of tables in CSV (comma, tab, semicolon), Parquet or JSON (lines or an array)."""

    name = "table"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file contains a column of titles."""
        if head.startswith(PARQUET_MAGIC):
            return has_titles(column_names(path))
        if head.lstrip()[:1] in (b"{", b"["):
            return any(has_titles(tuple(record)) for record in first_objects(head))
        return _delimiter(head) is not None

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Yield the rows of the table as records."""
        head = sample(path)
        if head.startswith(PARQUET_MAGIC):
            return checked(path, parquet_records(path, on_bytes=on_bytes))
        if head.lstrip()[:1] in (b"{", b"["):
            return checked(path, raw_records(path, _record, on_bytes=on_bytes))
        return checked(path, _csv_rows(path, _delimiter(head) or ",", on_bytes))


class PathfinderReader(TableReader):
    """Reader of ``kiyer/pathfinder_arxiv_data``, with embeddings and coordinates."""

    name = "pathfinder"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is a Parquet file with the columns of pathfinder."""
        if not head.startswith(PARQUET_MAGIC):
            return False
        # In other tables, the column "embed" can contain vectors of another model.
        return {"title", "abstract", "ads_id", "umap_x"} <= set(column_names(path))


def _record(line: int, row: dict[str, Any], vector: Any = None) -> RawRecord:
    lowered = {name.lower(): value for name, value in row.items()}
    if vector is None:
        listed = list_in_text(next((lowered[n] for n in VECTORS if n in lowered), None))
        vector = listed if isinstance(listed, list) and listed else None
    try:
        x, y = (float(lowered[name]) for name in POSITIONS)
        position = (x, y)
    except (KeyError, TypeError, ValueError):
        position = None
    others = {name: value for name, value in row.items() if name.lower() not in VECTORS}
    return RawRecord(line, fields_of(others), vector, position)


def _csv_rows(
    path: Path, delimiter: str, on_bytes: Callable[[int], None] | None
) -> Iterator[RawRecord | Rejection]:
    with open_input(path, on_bytes=on_bytes) as stream:
        lines = _TextLines(stream)
        rows = csv.reader(lines, delimiter=delimiter)
        try:
            header = next((row for row in rows if not _is_blank(row)), [])
        except csv.Error as error:
            raise InputError(
                f"The header of {path} cannot be read as CSV: {error}. Correct the first line."
            ) from error
        while True:
            line = lines.number + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Rejection(path.name, line, f"not a row of the table ({error})")
                continue
            if not _is_blank(row):
                yield _csv_record(path, line, header, row)


def _is_blank(row: list[str]) -> bool:
    # Other control characters do not count as white space, because they indicate damage.
    return not any(field.strip(" \t\r\n") for field in row)


def _csv_record(path: Path, line: int, header: list[str], row: list[str]) -> RawRecord | Rejection:
    snippet = ",".join(row)[:200].encode("utf-8", "replace").decode("utf-8")
    if any("\udc80" <= character <= "\udcff" for field in row for character in field):
        return Rejection(path.name, line, "not UTF-8 text", snippet)
    if len(row) != len(header):
        reason = f"{len(row)} fields, but the header has {len(header)}"
        return Rejection(path.name, line, reason, snippet)
    return _record(line, dict(zip(header, row, strict=True)))


class _TextLines:
    """Iterator of decoded lines. A line that is too long raises an error and is skipped."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
        self.number = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(MAX_RECORD)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) < MAX_RECORD:
            return line
        while not line.endswith(("\n", "\r")) and line:
            line = self._stream.readline(MAX_RECORD)
        raise csv.Error("the line is too long to be one paper")


def _delimiter(head: bytes) -> str | None:
    """Return the delimiter of a CSV file, or None if its header has no column of titles."""
    first = next((line for line in io.BytesIO(head) if line.strip()), b"")
    first_line = first.decode("utf-8", "replace").rstrip("\r\n")
    if len(first_line) > 10_000:
        return None
    for delimiter in (",", "\t", ";", "|"):
        try:
            header = next(csv.reader([first_line], delimiter=delimiter), [])
        except csv.Error:  # the file is not text
            return None
        if len(header) > 1 and has_titles(header):
            return delimiter
    return None
