"""Ingest source files: scan, deduplicate, merge, and write the parts of papers.parquet."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from landscape._io import put_in_place, unfinished_file
from landscape.corpus._duplicates import (
    Keys,
    ambiguous_rows,
    find_duplicates,
    merge_records,
    possible_ids,
)
from landscape.corpus._records import IngestReport, PartReport, Row, papers_schema, to_table
from landscape.corpus._scanning import KEYS, Scan, part_names, scan_input
from landscape.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


_FEWEST_CHUNKS = 8
_MOST_FILES = 200


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of every record, and the record it is merged into."""

    scans: Sequence[Scan]
    bounds: NDArray[np.int64]
    representative: NDArray[np.int64]
    ambiguous: NDArray[np.bool_]

    def chunks(self, number: int) -> range:
        """Return the chunks of one input, counted over all inputs."""
        start = sum(scan.n_chunks for scan in self.scans[:number])
        return range(start, start + self.scans[number].n_chunks)

    def locate(self, row: int) -> tuple[Scan, int, int]:
        """Return the input, its chunk, and the row in that chunk of a record."""
        chunk = int(np.searchsorted(self.bounds, row, side="right")) - 1
        local = row - int(self.bounds[chunk])
        for scan in self.scans:
            if chunk < scan.n_chunks:
                return scan, chunk, local
            chunk -= scan.n_chunks
        raise IndexError(row)


class PartWriter:
    """Writes the parts one after another; memory is that of a few chunks."""

    def __init__(self, folder: Path, work: Path, layout: Layout) -> None:
        self._folder = folder
        self._spill = work / "merging"
        self._ready = work / "ready"
        self._layout = layout
        n_chunks = len(layout.bounds) - 1
        self._chunks_a_file = max(_FEWEST_CHUNKS, -(-n_chunks // _MOST_FILES))
        self._loaded: tuple[int, dict[int, list[tuple[int, Row]]]] = (-1, {})
        self._taken: set[str] = set()

    def __enter__(self) -> Self:
        for folder in (self._spill, self._ready):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        (self._ready / "coordinates").mkdir()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._sort_merged()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._spill, ignore_errors=True)

    def write(self, number: int, *, read: int, rejected: int) -> PartReport:
        """Write the part of one input, its ready-made vectors and coordinates."""
        import pyarrow.parquet as pq

        scan = self._layout.scans[number]
        chunks = self._layout.chunks(number)
        n_rows = sum(len(self._kept(chunk)) for chunk in chunks)
        summary = _Summary()
        path = self._folder / f"{scan.part}.parquet"
        with ExitStack() as stack:
            target = stack.enter_context(unfinished_file(path))
            writer = stack.enter_context(
                pq.ParquetWriter(target, papers_schema(), compression="zstd")
            )
            matrices = [
                stack.enter_context(Matrix(folder / f"{scan.part}.npy", n_rows))
                for folder in (self._ready, self._ready / "coordinates")
            ]
            for local, chunk in enumerate(chunks):
                table, merged_from = self._papers(scan, local, chunk)
                if table.num_rows:
                    writer.write_table(table)
                summary.add(table)
                for matrix, kind in zip(matrices, ("vectors", "positions"), strict=True):
                    matrix.add(self._ready_rows(scan, local, chunk, kind, merged_from))
        return PartReport(
            name=scan.part,
            source=scan.reader,
            path=scan.path,
            rows=n_rows,
            read=read,
            merged=read - rejected - n_rows,
            rejected=rejected,
            oldest=summary.oldest,
            newest=summary.newest,
            categories=dict(summary.categories.most_common()),
            ready_vectors=matrices[0].n_known,
        )

    def remove_others(self, names: Sequence[str]) -> None:
        """Remove parts without an input, and files of a killed run."""
        wanted = {f"{name}.parquet" for name in names}
        for path in self._folder.iterdir():
            if path.is_file() and path.name not in wanted:
                path.unlink()

    def _kept(self, chunk: int) -> NDArray[np.int64]:
        """Rows of a chunk, counted over all inputs, that stay."""
        start, stop = self._layout.bounds[chunk : chunk + 2]
        rows = np.arange(start, stop)
        return np.asarray(rows[self._layout.representative[start:stop] == rows])

    def _papers(self, scan: Scan, local: int, chunk: int) -> tuple[pa.Table, dict[int, list[int]]]:
        """Return the kept rows of a chunk, and for merged rows the rows merged into them."""
        import pyarrow as pa

        start = int(self._layout.bounds[chunk])
        kept = self._kept(chunk)
        table = scan.papers(local, columns=papers_schema().names).take(kept - start)
        merged = self._merged(chunk)
        touched = [
            place
            for place, row in enumerate(kept.tolist())
            if row in merged or self._layout.ambiguous[row]
        ]
        if not touched:
            return table.cast(papers_schema()), {}
        rows = table.take(touched).to_pylist()
        for index, place in enumerate(touched):
            others = [row for _, row in merged.get(int(kept[place]), ())]
            rows[index] = self._named(
                rows[index], others, bool(self._layout.ambiguous[kept[place]])
            )
        untouched = np.setdiff1d(np.arange(table.num_rows), touched)
        order = np.argsort(np.r_[untouched, touched], kind="stable")
        joined = pa.concat_tables([table.take(untouched).cast(papers_schema()), to_table(rows)])
        sources = {row: [origin for origin, _ in found] for row, found in merged.items()}
        return joined.take(order).combine_chunks(), sources

    def _named(self, row: Row, others: list[Row], ambiguous: bool) -> Row:
        merged = merge_records([row, *others]) if others else row
        if ambiguous:
            given = (record["paper_id"] for record in (row, *others))
            merged["paper_id"] = next(
                name for name in possible_ids(merged, given=given) if name not in self._taken
            )
            self._taken.add(merged["paper_id"])
        return merged

    def _ready_rows(
        self, scan: Scan, local: int, chunk: int, kind: str, merged_from: dict[int, list[int]]
    ) -> NDArray[np.float32] | int:
        """Ready-made vectors of the kept rows of a chunk, or the number of rows without any."""
        kept = self._kept(chunk)
        ready = scan.ready(local, kind)
        if ready is None:
            return len(kept)
        rows = np.array(ready[kept - self._layout.bounds[chunk]], dtype=np.float32)
        for place in np.flatnonzero(np.isnan(rows).any(axis=1)).tolist():
            for origin in merged_from.get(int(kept[place]), ()):
                other, other_chunk, at = self._layout.locate(origin)
                there = other.ready(other_chunk, kind)
                if there is not None and there.shape[1] == rows.shape[1]:
                    rows[place] = there[at]
                    break
        return rows

    def _sort_merged(self) -> None:
        """Write merged records to the files of their target chunks."""
        import pyarrow as pa

        layout = self._layout
        schema = (
            papers_schema()
            .append(pa.field("row", pa.int64()))
            .append(pa.field("target", pa.int64()))
        )
        with ExitStack() as stack:
            writers: dict[int, Any] = {}
            for number, scan in enumerate(layout.scans):
                for local, chunk in enumerate(layout.chunks(number)):
                    start, stop = layout.bounds[chunk : chunk + 2]
                    targets = layout.representative[start:stop]
                    gone = np.flatnonzero(targets != np.arange(start, stop))
                    if not len(gone):
                        continue
                    table = scan.papers(local, columns=papers_schema().names).take(gone)
                    table = table.append_column("row", pa.array(gone + start))
                    table = table.append_column("target", pa.array(targets[gone])).cast(schema)
                    goes = np.searchsorted(layout.bounds, targets[gone], side="right") - 1
                    files = goes // self._chunks_a_file
                    for file in np.unique(files).tolist():
                        if file not in writers:
                            target = str(self._spill / f"{file:04d}.arrow")
                            sink = stack.enter_context(pa.OSFile(target, "wb"))
                            writers[file] = stack.enter_context(pa.ipc.new_stream(sink, schema))
                        writers[file].write_table(table.take(np.flatnonzero(files == file)))

    def _merged(self, chunk: int) -> dict[int, list[tuple[int, Row]]]:
        """Records that are merged into records of a chunk, by the row they go to."""
        import pyarrow as pa

        file = chunk // self._chunks_a_file
        if self._loaded[0] != file:
            found: defaultdict[int, list[tuple[int, Row]]] = defaultdict(list)
            path = self._spill / f"{file:04d}.arrow"
            if path.exists():
                with pa.OSFile(str(path), "rb") as source:
                    for batch in pa.ipc.open_stream(source):
                        for row in batch.to_pylist():
                            found[row.pop("target")].append((row.pop("row"), row))
            self._loaded = (file, dict(found))
        return self._loaded[1]


class _Summary:
    """Dates and categories of a part."""

    def __init__(self) -> None:
        self.oldest: str | None = None
        self.newest: str | None = None
        self.categories: Counter[str] = Counter()

    def add(self, table: pa.Table) -> None:
        import pyarrow.compute as pc

        dates = pc.min_max(table["date"]).as_py()
        if dates["min"] is not None:
            first, last = dates["min"].isoformat(), dates["max"].isoformat()
            self.oldest = min(first, self.oldest or first)
            self.newest = max(last, self.newest or last)
        self.categories.update(names[0] for names in table["categories"].to_pylist() if names)


class Matrix:
    """An ``.npy`` file written row by row; appears whole, and only if a row is known."""

    def __init__(self, path: Path, n_rows: int) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.unfinished")
        self._n_rows = n_rows
        self._waiting = 0
        self._width = 0
        self._stream: BinaryIO | None = None
        self.n_known = 0

    def __enter__(self) -> Self:
        return self

    def add(self, rows: NDArray[np.float32] | int) -> None:
        """Append rows, or this many rows of NaN."""
        if self._stream is None:
            if isinstance(rows, int) or not len(rows):
                self._waiting += rows if isinstance(rows, int) else 0
                return
            self._open(rows.shape[1])
        if isinstance(rows, int) or rows.shape[1] != self._width:
            self._blank(rows if isinstance(rows, int) else len(rows))
            return
        self.n_known += int(np.isfinite(rows).all(axis=1).sum())
        self._write(rows)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is None:
            return
        whole = False
        try:
            self._stream.close()  # flushes the buffer, which can fail
            whole = kind is None and self.n_known > 0
        finally:
            if whole:
                put_in_place(self._unfinished, self._path)
            else:
                self._unfinished.unlink(missing_ok=True)

    def _open(self, width: int) -> None:
        self._width = width
        self._stream = self._unfinished.open("wb")
        header = {"descr": "<f4", "fortran_order": False, "shape": (self._n_rows, width)}
        np.lib.format.write_array_header_1_0(self._stream, header)
        self._blank(self._waiting)

    def _blank(self, n_rows: int) -> None:
        self._write(np.full((n_rows, self._width), np.nan, np.float32))

    def _write(self, rows: NDArray[np.float32]) -> None:
        if self._stream is not None:
            self._stream.write(np.ascontiguousarray(rows, dtype="<f4").tobytes())


def ingest(
    inputs: Sequence[Path],
    folder: Path,
    *,
    work: Path,
    workers: int = 1,
    advance: Callable[[float], object] | None = None,
    begin_writing: Callable[[], object] | None = None,
) -> IngestReport:
    r"""Turn source files into ``papers.parquet`` and ``rejected.jsonl``.

    Every input is streamed into chunks under ``work/scan``, duplicates are found among all of
    them, and one part per input is written. A paper of several inputs is merged into the part of
    the first. The same inputs give the same bytes for any `workers`, also after an interruption.

    Parameters
    ----------
    inputs : sequence of pathlib.Path
        Files of any supported kind.
    folder : pathlib.Path
        The atlas; ``papers.parquet/<part>.parquet`` are replaced, parts without an input removed.
    work : pathlib.Path
        Folder on the same file system for unfinished work, and for vectors and coordinates that
        inputs contain: ``work/ready/<part>.npy``, float32 (rows, d), and
        ``work/ready/coordinates/<part>.npy``, float32 (rows, 2), with NaN for missing rows.
    workers : int, default 1
        Processes that clean.
    advance : callable, optional
        Called with the bytes of the inputs done since the last call.
    begin_writing : callable, optional
        Called when all inputs have been read, before anything in `folder` changes.

    Returns
    -------
    IngestReport
        With ``read = kept + merged + rejected``, in total and for each part.

    Raises
    ------
    landscape.errors.InputError
        If a file cannot be read or no record is usable; earlier files are then unchanged.
    OSError
        For example if the disk is full; no partial file is left.

    Examples
    --------
    >>> import tempfile
    >>> home = Path(tempfile.mkdtemp())
    >>> _ = (home / "a.csv").write_text("title,abstract\nOne,Text\nOne,Text\nTwo,\n")
    >>> report = ingest([home / "a.csv"], home / "x.atlas", work=home / "work")
    >>> report.read, report.kept, report.merged, report.rejected
    (3, 1, 1, 1)
    """
    inputs = [Path(path) for path in inputs]
    names = part_names(inputs)
    _remove_other_scans(work / "scan", names)
    scans = [
        scan_input(path, part=name, work=work, workers=workers, advance=advance)
        for path, name in zip(inputs, names, strict=True)
    ]
    keys, bounds = _load_keys(scans)
    representative = find_duplicates(keys, lambda rows: _authors_of(rows, scans, bounds))
    layout = Layout(scans, bounds, representative, ambiguous_rows(keys, representative))
    read, rejected, reasons = _count_records(scans)
    if not len(keys):
        raise InputError(_nothing_usable(inputs, sum(read), reasons))
    if begin_writing is not None:
        begin_writing()
    folder.mkdir(parents=True, exist_ok=True)
    _write_rejected(scans, folder / "rejected.jsonl")
    with PartWriter(folder / "papers.parquet", work, layout) as writer:
        reports = [
            writer.write(number, read=read[number], rejected=rejected[number])
            for number in range(len(scans))
        ]
        writer.remove_others(names)
    kept = sum(report.rows for report in reports)
    return IngestReport(
        parts=reports,
        read=sum(read),
        kept=kept,
        merged=sum(report.merged for report in reports),
        rejected=sum(rejected),
        embeddings={name: _existing(work / "ready" / f"{name}.npy") for name in names},
        coordinates={
            name: _existing(work / "ready" / "coordinates" / f"{name}.npy") for name in names
        },
    )


def _remove_other_scans(folder: Path, names: Sequence[str]) -> None:
    for leftover in folder.iterdir() if folder.is_dir() else ():
        if leftover.name not in names:
            shutil.rmtree(leftover)


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def _load_keys(scans: Sequence[Scan]) -> tuple[Keys, NDArray[np.int64]]:
    """Return the keys of all records, and the first row of each chunk (and the end)."""
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in (*KEYS, "year")}
    bounds = [0]
    for scan in scans:
        for chunk in range(scan.n_chunks):
            table = scan.papers(chunk, columns=[*(f"key_{name}" for name in KEYS), "year"])
            for name in KEYS:
                columns[name].append(table[f"key_{name}"].to_numpy())
            years = table["year"].fill_null(0).to_numpy()
            columns["year"].append(years.astype(np.int16))
            bounds.append(bounds[-1] + table.num_rows)
    joined = {
        name: np.concatenate([np.empty(0, np.int16 if name == "year" else np.uint64), *pieces])
        for name, pieces in columns.items()
    }
    return Keys(**joined), np.array(bounds, dtype=np.int64)


def _authors_of(
    rows: NDArray[np.int64], scans: Sequence[Scan], bounds: NDArray[np.int64]
) -> list[frozenset[int]]:
    """Read the hashed surnames of some rows (ascending), opening each chunk once."""
    chunks = [(scan, chunk) for scan in scans for chunk in range(scan.n_chunks)]
    which = np.searchsorted(bounds, rows, side="right") - 1
    found: list[frozenset[int]] = []
    for number in np.unique(which):
        scan, chunk = chunks[number]
        column = scan.papers(chunk, columns=["key_authors"])["key_authors"]
        local = rows[which == number] - bounds[number]
        found.extend(frozenset(hashes or ()) for hashes in column.take(local).to_pylist())
    return found


def _count_records(scans: Sequence[Scan]) -> tuple[list[int], list[int], Counter[str]]:
    """Return records read and rejected by input, and the reasons."""
    read, rejected, reasons = [], [], Counter[str]()
    for scan in scans:
        n_read = n_rejected = 0
        for chunk in range(scan.n_chunks):
            facts = scan.facts(chunk)
            n_read += facts["n_read"]
            n_rejected += len(facts["rejected"])
            reasons.update(rejection["reason"] for rejection in facts["rejected"])
        read.append(n_read)
        rejected.append(n_rejected)
    return read, rejected, reasons


def _write_rejected(scans: Sequence[Scan], path: Path) -> None:
    with unfinished_file(path) as unfinished, unfinished.open("wb") as stream:
        for scan in scans:
            for chunk in range(scan.n_chunks):
                rejected = scan.facts(chunk)["rejected"]
                stream.writelines(orjson.dumps(r) + b"\n" for r in rejected)


def _nothing_usable(inputs: Sequence[Path], n_read: int, reasons: Counter[str]) -> str:
    names = ", ".join(str(path) for path in inputs)
    if not reasons:
        return f"There is no paper in {names or 'no input'}; give a file with at least one."
    reason, count = reasons.most_common(1)[0]
    return (
        f"None of the {n_read:,} records in {names} is a usable paper, most often ({count:,} "
        f"times) because of: {reason}; every paper needs a title and an abstract."
    )
