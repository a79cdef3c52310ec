"""Read source files, merge duplicates, and write the parts of papers.parquet."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

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
from landscape.corpus._scanning import KEYS, Scan, part_names, scan_input
from landscape.corpus.records import COLUMNS, IngestReport, PartReport, Row, papers_schema, to_table
from landscape.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


_MIN_CHUNKS = 8
_MAX_FILES = 200


@dataclass(frozen=True, slots=True)
class Layout:
    """Chunks of all inputs, and the result of the search for duplicates.

    `bounds` contains the first row of each chunk. `representative` contains, for each record, the
    row of the record into which it is merged.
    """

    chunks: Sequence[tuple[Scan, int]]
    bounds: NDArray[np.int64]
    representative: NDArray[np.int64]
    ambiguous: NDArray[np.bool_]

    def kept(self, chunk: int) -> NDArray[np.int64]:
        """Return the row numbers of the records in a chunk that are not merged into others."""
        start, stop = self.bounds[chunk : chunk + 2]
        rows = np.arange(start, stop)
        return np.asarray(rows[self.representative[start:stop] == rows])

    def papers(self, chunk: int) -> pa.Table:
        """Read the papers of a chunk with the columns of ``papers.parquet``."""
        scan, number = self.chunks[chunk]
        return scan.papers(number, columns=COLUMNS)

    def ready(self, chunk: int, kind: str) -> NDArray[np.float32] | None:
        """Return the precomputed vectors or coordinates of a chunk, or None if it has none."""
        scan, number = self.chunks[chunk]
        return scan.ready(number, kind)


class PartWriter:
    """Writer of the parts of ``papers.parquet`` that keeps only a few chunks in memory."""

    def __init__(self, folder: Path, work: Path, layout: Layout) -> None:
        self._folder = folder
        self._spill = work / "merging"
        self._ready = work / "ready"
        self._layout = layout
        n_chunks = len(layout.bounds) - 1
        self._chunks_per_file = max(_MIN_CHUNKS, -(-n_chunks // _MAX_FILES))
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

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._spill, ignore_errors=True)

    def write(self, scan: Scan, *, read: int, rejected: int) -> PartReport:
        """Write the part of one input, and its precomputed vectors and coordinates."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        chunks = [n for n, (owner, _) in enumerate(self._layout.chunks) if owner is scan]
        n_rows = sum(len(self._layout.kept(chunk)) for chunk in chunks)
        dates: list[str] = []  # earliest and latest date of each chunk
        categories: Counter[str] = Counter()
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
            for chunk in chunks:
                table, merged_from = self._papers(chunk)
                if table.num_rows:
                    writer.write_table(table)
                span = pc.min_max(table["date"]).as_py().values()
                dates += [day.isoformat() for day in span if day is not None]
                categories.update(names[0] for names in table["categories"].to_pylist() if names)
                for matrix, kind in zip(matrices, ("vectors", "positions"), strict=True):
                    matrix.add(self._ready_rows(chunk, kind, merged_from))
        return PartReport(
            name=scan.part,
            source=scan.reader,
            path=scan.path,
            rows=n_rows,
            read=read,
            merged=read - rejected - n_rows,
            rejected=rejected,
            oldest=min(dates, default=None),
            newest=max(dates, default=None),
            categories=dict(categories.most_common()),
            ready_vectors=matrices[0].n_known,
        )

    def remove_others(self, names: Sequence[str]) -> None:
        """Remove parts that no longer have an input, and files of an interrupted run."""
        wanted = {f"{name}.parquet" for name in names}
        for path in self._folder.iterdir():
            if path.is_file() and path.name not in wanted:
                path.unlink()

    def _papers(self, chunk: int) -> tuple[pa.Table, dict[int, list[int]]]:
        """Return the papers of a chunk, and the rows that were merged into each of them."""
        import pyarrow as pa

        kept = self._layout.kept(chunk)
        table = self._layout.papers(chunk).take(kept - self._layout.bounds[chunk])
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
            records = [rows[index], *(row for _, row in merged.get(int(kept[place]), ()))]
            rows[index] = one = merge_records(records) if len(records) > 1 else rows[index]
            if self._layout.ambiguous[kept[place]]:
                names = possible_ids(one, given=[record["paper_id"] for record in records])
                one["paper_id"] = next(name for name in names if name not in self._taken)
                self._taken.add(one["paper_id"])
        untouched = np.setdiff1d(np.arange(table.num_rows), touched)
        order = np.argsort(np.r_[untouched, touched], kind="stable")
        joined = pa.concat_tables([table.take(untouched).cast(papers_schema()), to_table(rows)])
        sources = {row: [origin for origin, _ in found] for row, found in merged.items()}
        return joined.take(order).combine_chunks(), sources

    def _ready_rows(
        self, chunk: int, kind: str, merged_from: dict[int, list[int]]
    ) -> NDArray[np.float32] | int:
        """Return the precomputed vectors of a chunk. If there are none, return the paper count."""
        layout = self._layout
        kept = layout.kept(chunk)
        ready = layout.ready(chunk, kind)
        if ready is None:
            return len(kept)
        rows = np.array(ready[kept - layout.bounds[chunk]], dtype=np.float32)
        for place in np.flatnonzero(np.isnan(rows).any(axis=1)).tolist():
            for origin in merged_from.get(int(kept[place]), ()):
                other = int(np.searchsorted(layout.bounds, origin, side="right")) - 1
                there = layout.ready(other, kind)
                if there is not None and there.shape[1] == rows.shape[1]:
                    rows[place] = there[origin - layout.bounds[other]]
                    break
        return rows

    def _sort_merged(self) -> None:
        """Sort by target chunk the records that will be merged. Write them to temporary files."""
        import pyarrow as pa

        layout = self._layout
        schema = (
            papers_schema()
            .append(pa.field("row", pa.int64()))
            .append(pa.field("target", pa.int64()))
        )
        with ExitStack() as stack:
            writers: dict[int, pa.RecordBatchStreamWriter] = {}
            for chunk in range(len(layout.chunks)):
                start, stop = layout.bounds[chunk : chunk + 2]
                targets = layout.representative[start:stop]
                gone = np.flatnonzero(targets != np.arange(start, stop))
                if not len(gone):
                    continue
                table = layout.papers(chunk).take(gone)
                table = table.append_column("row", pa.array(gone + start))
                table = table.append_column("target", pa.array(targets[gone])).cast(schema)
                goes = np.searchsorted(layout.bounds, targets[gone], side="right") - 1
                files = goes // self._chunks_per_file
                for file in np.unique(files).tolist():
                    if file not in writers:
                        target = str(self._spill / f"{file:04d}.arrow")
                        sink = stack.enter_context(pa.OSFile(target, "wb"))
                        writers[file] = stack.enter_context(pa.ipc.new_stream(sink, schema))
                    writers[file].write_table(table.take(np.flatnonzero(files == file)))

    def _merged(self, chunk: int) -> dict[int, list[tuple[int, Row]]]:
        """Return the records that are merged into each row of a chunk."""
        import pyarrow as pa

        file = chunk // self._chunks_per_file
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


class Matrix:
    """Writer that appends rows to an ``.npy`` file. If all values are missing, no file is kept."""

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
        """Append rows. An integer appends this number of NaN rows."""
        n_rows = rows if isinstance(rows, int) else len(rows)
        if self._stream is None:
            if isinstance(rows, int) or not n_rows:
                self._waiting += n_rows
                return
            self._width = rows.shape[1]
            self._stream = self._unfinished.open("wb")
            header = {"descr": "<f4", "fortran_order": False, "shape": (self._n_rows, self._width)}
            np.lib.format.write_array_header_1_0(self._stream, header)
            self.add(self._waiting)
        if isinstance(rows, int) or rows.shape[1] != self._width:
            rows = np.full((n_rows, self._width), np.nan, np.float32)
        self.n_known += int(np.isfinite(rows).all(axis=1).sum())
        self._stream.write(np.ascontiguousarray(rows, dtype="<f4").tobytes())

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._stream is None:
            return
        whole = False
        try:
            self._stream.close()  # close() can fail, because it writes the rest of the buffer
            whole = kind is None and self.n_known > 0
        finally:
            if whole:
                put_in_place(self._unfinished, self._path)
            else:
                self._unfinished.unlink(missing_ok=True)


def ingest(
    inputs: Sequence[Path],
    folder: Path,
    *,
    work: Path,
    workers: int = 1,
    advance: Callable[[float], object] | None = None,
) -> IngestReport:
    r"""Convert source files to ``papers.parquet`` and ``rejected.jsonl``.

    The inputs are read into chunks under ``work/scan``. Then duplicates are merged, and one part
    per input is written. A paper that occurs in several inputs is written to the part of the first
    input. The result does not depend on `workers` or on interruptions.

    Parameters
    ----------
    inputs : sequence of pathlib.Path
        Files of any supported kind.
    folder : pathlib.Path
        Directory of the atlas. Its files ``papers.parquet/<part>.parquet`` are replaced or removed.
    work : pathlib.Path
        Directory for temporary files, on the same file system. Vectors and coordinates of the
        inputs are written to ``ready/<part>.npy``, float32 (rows, d), and
        ``ready/coordinates/<part>.npy``, float32 (rows, 2), with NaN for missing rows.
    workers : int, default 1
        Number of processes that clean records.
    advance : callable, optional
        Called with the number of bytes read since the last call.

    Returns
    -------
    IngestReport
        Counts in total and per part.

    Raises
    ------
    landscape.errors.InputError
        If a file cannot be read or no record is usable. Existing files are not changed.
    OSError
        If a file cannot be written, for example because the disk is full. No partial file
        is left.

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
    for leftover in (work / "scan").iterdir() if (work / "scan").is_dir() else ():
        if leftover.name not in names:
            shutil.rmtree(leftover)
    scans = [
        scan_input(path, part=name, work=work, workers=workers, advance=advance)
        for path, name in zip(inputs, names, strict=True)
    ]
    chunks = [(scan, chunk) for scan in scans for chunk in range(scan.n_chunks)]
    keys, bounds = _load_keys(chunks)
    representative = find_duplicates(keys, lambda rows: _authors_of(rows, chunks, bounds))
    layout = Layout(chunks, bounds, representative, ambiguous_rows(keys, representative))
    read, rejected, reasons = _count_records(scans)
    if not len(keys):
        raise InputError(_nothing_usable(inputs, sum(read), reasons))
    folder.mkdir(parents=True, exist_ok=True)
    with unfinished_file(folder / "rejected.jsonl") as path, path.open("wb") as stream:
        for scan, chunk in chunks:
            rejections = scan.facts(chunk)["rejected"]
            stream.writelines(orjson.dumps(rejection) + b"\n" for rejection in rejections)
    with PartWriter(folder / "papers.parquet", work, layout) as writer:
        reports = [
            writer.write(scan, read=n_read, rejected=n_rejected)
            for scan, n_read, n_rejected in zip(scans, read, rejected, strict=True)
        ]
        writer.remove_others(names)
    ready = {name: work / "ready" / f"{name}.npy" for name in names}
    coordinates = {name: path.parent / "coordinates" / path.name for name, path in ready.items()}
    return IngestReport(
        parts=reports,
        read=sum(read),
        kept=sum(report.rows for report in reports),
        merged=sum(report.merged for report in reports),
        rejected=sum(rejected),
        embeddings={name: path if path.exists() else None for name, path in ready.items()},
        coordinates={name: path if path.exists() else None for name, path in coordinates.items()},
    )


_Chunks = Sequence[tuple[Scan, int]]


def _load_keys(chunks: _Chunks) -> tuple[Keys, NDArray[np.int64]]:
    """Return the keys of all records, and the bounds of the chunks, shape (n_chunks + 1,)."""
    kinds = {**{f"key_{name}": np.uint64 for name in KEYS}, "year": np.int16}
    tables = [scan.papers(chunk, columns=list(kinds)) for scan, chunk in chunks]
    joined: dict[str, np.ndarray] = {}
    for name, kind in kinds.items():
        pieces = [table[name].fill_null(0).to_numpy().astype(kind) for table in tables]
        joined[name.removeprefix("key_")] = np.concatenate([np.empty(0, kind), *pieces])
    return Keys(**joined), np.cumsum([0, *map(len, tables)], dtype=np.int64)


def _authors_of(
    rows: NDArray[np.int64], chunks: _Chunks, bounds: NDArray[np.int64]
) -> list[frozenset[int]]:
    """Return the hashed surnames of some rows. The rows must be sorted."""
    which = np.searchsorted(bounds, rows, side="right") - 1
    found: list[frozenset[int]] = []
    for number in np.unique(which):
        scan, chunk = chunks[number]
        column = scan.papers(chunk, columns=["key_authors"])["key_authors"]
        local = rows[which == number] - bounds[number]
        found.extend(frozenset(hashes or ()) for hashes in column.take(local).to_pylist())
    return found


def _count_records(scans: Sequence[Scan]) -> tuple[list[int], list[int], Counter[str]]:
    """Count the records read and rejected for each input, and the reasons for rejections."""
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


def _nothing_usable(inputs: Sequence[Path], n_read: int, reasons: Counter[str]) -> str:
    names = ", ".join(str(path) for path in inputs)
    if not reasons:
        return f"No papers in {names or 'the inputs'}; pass a file with at least one paper."
    reason, count = reasons.most_common(1)[0]
    return (
        f"None of the {n_read:,} records in {names} is a usable paper. Most frequent reason "
        f"({count:,} records): {reason}. Every paper needs a title and an abstract."
    )
