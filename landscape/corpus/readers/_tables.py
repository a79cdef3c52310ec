"""Readers of tables: CSV, JSON lines and Parquet, including the pathfinder corpus."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from landscape.corpus.author_lists import list_in_text
from landscape.corpus.identifiers import find_date, parse_arxiv_id, parse_doi
from landscape.corpus.readers._files import (
    MAX_RECORD,
    PARQUET_MAGIC,
    checked,
    first_objects,
    open_input,
    raw_records,
    sample,
)
from landscape.corpus.readers._formats import (
    FORMATS,
    TABLE,
    VECTORS,
    Format,
    canonical,
    fields_of,
    guess_names,
    has_titles,
)
from landscape.corpus.records import RawRecord, Rejection
from landscape.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


POSITIONS = ("umap_x", "umap_y")
_ROWS = 1000  # number of rows of a Parquet file read at a time
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
        return _header(head) is not None

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Yield the rows of the table as records."""
        head = sample(path)
        if head.startswith(PARQUET_MAGIC):
            return checked(path, parquet_records(path, on_bytes=on_bytes))
        if head.lstrip()[:1] in (b"{", b"["):
            return checked(path, raw_records(path, _record, on_bytes=on_bytes))
        return checked(path, _csv_rows(path, *(_header(head) or (",", {})), on_bytes))


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
    return RawRecord(line, fields_of(others, _form_of(tuple(row))), vector, position)


@lru_cache(maxsize=64)
def _form_of(header: tuple[str, ...]) -> Format:
    """Return the format of a table of a service with these columns, or the general one."""
    forms = (form for form in FORMATS.values() if form.container == "table")
    return next((form for form in forms if form.marks(dict.fromkeys(header))), TABLE)


def _csv_rows(
    path: Path, delimiter: str, guessed: dict[str, str], on_bytes: Callable[[int], None] | None
) -> Iterator[RawRecord | Rejection]:
    said = tuple(f"the column {name!r} is read as {field}" for name, field in guessed.items())
    with open_input(path, on_bytes=on_bytes) as stream:
        lines = _TextLines(stream)
        rows = csv.reader(lines, delimiter=delimiter)
        try:
            header = next((row for row in rows if not _is_blank(row) and row[0][:4] != "sep="), [])
        except csv.Error as error:
            raise InputError(
                f"The header of {path} cannot be read as CSV: {error}. Correct the first line."
            ) from error
        header = [guessed.get(name.strip(), name) for name in header]
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
                record = _csv_record(path, line, header, row, delimiter)
                if said and isinstance(record, RawRecord):
                    record, said = replace(record, repairs=(*said, *record.repairs)), ()
                yield record


def _is_blank(row: list[str]) -> bool:
    # Other control characters do not count as white space, because they indicate damage.
    return not any(field.strip(" \t\r\n") for field in row)


def _csv_record(
    path: Path, line: int, header: list[str], row: list[str], delimiter: str
) -> RawRecord | Rejection:
    repairs: tuple[str, ...] = ()
    if any("\udc80" <= character <= "\udcff" for field in row for character in field):
        row = [cell.encode("utf-8", "surrogateescape").decode("cp1252", "replace") for cell in row]
        repairs = ("not UTF-8 text; the row is read as Windows-1252",)
    if len(row) < len(header):
        row = row + [""] * (len(header) - len(row))  # spreadsheets omit empty cells at the end
    elif len(row) > len(header) and _is_blank(row[len(header) :]):
        row = row[: len(header)]
    elif len(row) > len(header):
        joined = _rejoined(header, row, delimiter)
        if joined is None:
            reason = f"{len(row)} fields, but the header has {len(header)}"
            return Rejection(path.name, line, reason, delimiter.join(row)[:200])
        repairs += (f"{len(row)} fields, but the header has {len(header)}; one text is not quoted",)
        row = joined
    row = ["" if cell.strip() in _MISSING else cell for cell in row]
    record = _record(line, dict(zip(header, row, strict=True)))
    return replace(record, repairs=(*repairs, *record.repairs)) if repairs else record


_MISSING = {"NA", "N/A", "#N/A", "#NAME?", "#VALUE!", "NaN", "nan", "NULL", "null", "None"}


def _rejoined(header: list[str], row: list[str], delimiter: str) -> list[str] | None:
    """Join the cells of a text that contains the delimiter, if all other cells then fit."""
    extra = len(row) - len(header)
    names = [canonical(name) for name in header]
    texts = [
        place
        for kind in ("abstract", "authors", "title")
        for place, name in enumerate(names)
        if name in TABLE.names[kind]
    ]
    fit: list[tuple[int, int, list[str]]] = []
    for place in texts:
        pieces = row[place : place + extra + 1]
        joined = [*row[:place], delimiter.join(pieces), *row[place + extra + 1 :]]
        checked_cells = [
            parse(cell.strip())
            for field, cell in zip(names, joined, strict=True)
            if (parse := _CHECKS.get(field)) and cell.strip()
        ]
        if checked_cells and all(checked_cells):
            # Within a text, a space follows the delimiter.
            fit.append((sum(piece.startswith(" ") for piece in pieces[1:]), -len(fit), joined))
    return max(fit)[2] if fit else None


_CHECKS: dict[str, Callable[[str], object]] = {
    **dict.fromkeys((*TABLE.names["years"], *TABLE.names["dates"]), find_date),
    **dict.fromkeys(TABLE.names["doi"], parse_doi),
    **dict.fromkeys(TABLE.names["arxiv_id"], parse_arxiv_id),
    **dict.fromkeys(TABLE.names["cites"], str.isdecimal),
}


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


def _header(head: bytes) -> tuple[str, dict[str, str]] | None:
    """Return the delimiter of a CSV file, and the fields of columns with unknown names.

    None is returned if no column contains titles, by its name or by its content.
    """
    lines = [line for line in io.BytesIO(head) if line.strip()][:_SAMPLE_LINES]
    text = [line.decode("utf-8", "replace") for line in lines if line[:4] != b"sep="]  # Excel
    if not text or len(text[0]) > 10_000:
        return None
    unnamed = None
    for delimiter in (",", "\t", ";", "|"):
        try:
            rows = list(csv.reader(text, delimiter=delimiter))
        except csv.Error:  # the file is not text
            return None
        header = [name.strip() for name in rows[0]]
        if len(header) > 1:
            guessed = guess_names(header, [row for row in rows[1:] if len(row) == len(header)])
            if has_titles(header):
                return delimiter, guessed
            has_abstracts = not _ABSTRACTS.isdisjoint(map(canonical, [*header, *guessed.values()]))
            if unnamed is None and "title" in guessed.values() and has_abstracts:
                unnamed = delimiter, guessed
    return unnamed


_SAMPLE_LINES = 200  # maximum number of lines read to detect the columns
_ABSTRACTS = frozenset(TABLE.names["abstract"])
