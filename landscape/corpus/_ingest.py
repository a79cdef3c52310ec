"""Read source files, merge duplicates, and write the parts of papers.parquet."""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from landscape._io import link_file, put_in_place, unfinished_file
from landscape.corpus._duplicates import (
    REASONS,
    Details,
    Duplicates,
    Keys,
    ambiguous_rows,
    find_duplicates,
    merge_records,
    possible_ids,
    text_hash,
)
from landscape.corpus._scanning import (
    KEY_COLUMNS,
    KEYS,
    KeptPart,
    Scan,
    part_names,
    scan_input,
    with_keys,
)
from landscape.corpus.identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.language import LANGUAGES, find_languages
from landscape.corpus.readers._files import open_input, sample
from landscape.corpus.records import (
    COLUMNS,
    WITHDRAWN,
    IngestReport,
    MergedPaper,
    PartReport,
    Rejection,
    Row,
    papers_schema,
    to_table,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


_IGNORED: Row = {"source": None, "keywords": None}  # they differ if a record is read again
_GONE = f"{WITHDRAWN} later"
_MIN_CHUNKS = 8  # minimum number of chunks whose merged records are in one file
_MAX_FILES = 200  # maximum number of these files, which are open at the same time


@dataclass(frozen=True)
class Layout:
    """Chunks of all inputs, and the result of the search for duplicates.

    `bounds` contains the first row of each chunk. `representative` contains, for each record, the
    row of the record into which it is merged, or -1 if its paper is withdrawn.
    """

    chunks: _Chunks
    bounds: NDArray[np.int64]
    representative: NDArray[np.int64]
    ambiguous: NDArray[np.bool_]

    @cached_property
    def targets(self) -> set[int]:
        """Rows into which other records are merged."""
        gone = self.representative != np.arange(len(self.representative))
        return set(self.representative[gone].tolist())

    def kept(self, chunk: int) -> NDArray[np.int64]:
        """Return the row numbers of the records in a chunk that are not merged into others."""
        start, stop = self.bounds[chunk : chunk + 2]
        rows = np.arange(start, stop)
        return np.asarray(rows[self.representative[start:stop] == rows])

    def papers(self, chunk: int, columns: Sequence[str] = COLUMNS) -> pa.Table:
        """Read the papers of a chunk, by default with the columns of ``papers.parquet``."""
        scan, number = self.chunks[chunk]
        return scan.papers(number, columns=columns)

    def chunk_of(self, row: int) -> int:
        """Return the number of the chunk that contains a row."""
        return int(np.searchsorted(self.bounds, row, side="right")) - 1

    def record(self, row: int, columns: Sequence[str]) -> Row:
        """Read columns of one record."""
        chunk = self.chunk_of(row)
        return self.papers(chunk, columns).slice(row - self.bounds[chunk], 1).to_pylist()[0]

    def ready(self, chunk: int, kind: str) -> NDArray[np.float32] | None:
        """Return the precomputed vectors or coordinates of a chunk, or None if it has none."""
        scan, number = self.chunks[chunk]
        return scan.ready(number, kind)


class PartWriter:
    """Writer of the parts of ``papers.parquet`` that keeps only a few chunks in memory."""

    def __init__(self, folder: Path, keys: Path, work: Path, layout: Layout) -> None:
        self._folder, self._keys = folder, keys
        self._spill = work / "merging"
        self._ready = work / "ready"
        self._layout = layout
        n_chunks = len(layout.bounds) - 1
        self._chunks_per_file = max(_MIN_CHUNKS, -(-n_chunks // _MAX_FILES))
        self._loaded: tuple[int, dict[int, list[tuple[int, Row]]]] = (-1, {})
        self._taken: set[str] = set()
        self._changed: set[str] = set()  # parts of the atlas that are written again
        self.merged: list[MergedPaper] = []

    def __enter__(self) -> Self:
        for folder in (self._spill, self._ready):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        (self._ready / "coordinates").mkdir()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._keys.mkdir(parents=True, exist_ok=True)
        self._sort_merged()
        self._reserve_ids()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._spill, ignore_errors=True)

    def write(self, scan: Scan | KeptPart, *, read: int, rejected: int) -> PartReport:
        """Write the part of one input, and its precomputed vectors and coordinates.

        The file of a part of the atlas that has not changed is not written again.
        """
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        chunks = [n for n, (owner, _) in enumerate(self._layout.chunks) if owner is scan]
        read_chunks = {chunk: self._papers(chunk) for chunk in chunks if self._is_changed(chunk)}
        if isinstance(scan, KeptPart) and scan.is_current and scan.part not in self._changed:
            name = f"{scan.part}.parquet"
            link_file(scan.file, self._folder / name)
            if scan.has_keys:
                link_file(scan.keys, self._keys / name)
            else:
                with unfinished_file(self._keys / name) as target:
                    pq.write_table(scan.papers(0, columns=KEY_COLUMNS), target, compression="zstd")
            return PartReport(
                name=scan.part,
                source=scan.reader,
                path=scan.path,
                rows=scan.rows,
                read=read,
                merged=read - rejected - scan.rows,
                rejected=rejected,
                is_kept=True,
            )
        n_rows = sum(len(self._layout.kept(chunk)) for chunk in chunks)
        dates: list[str] = []  # earliest and latest date of each chunk
        categories: Counter[str] = Counter()
        path = self._folder / f"{scan.part}.parquet"
        with ExitStack() as stack:
            target = stack.enter_context(unfinished_file(path))
            writer = stack.enter_context(
                pq.ParquetWriter(target, papers_schema(), compression="zstd")
            )
            keys = stack.enter_context(unfinished_file(self._keys / f"{scan.part}.parquet"))
            key_writer: pq.ParquetWriter | None = None
            matrices = [
                stack.enter_context(Matrix(folder / f"{scan.part}.npy", n_rows))
                for folder in (self._ready, self._ready / "coordinates")
            ]
            for chunk in chunks:
                read_before = read_chunks.get(chunk)
                table, merged_from = read_before or self._papers(chunk)
                if table.num_rows:
                    writer.write_table(table)
                key_table = self._key_table(chunk, table, merged_from)
                if key_writer is None:
                    key_writer = stack.enter_context(
                        pq.ParquetWriter(keys, key_table.schema, compression="zstd")
                    )
                key_writer.write_table(key_table)
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

    def _is_changed(self, chunk: int) -> bool:
        """Return whether records of a chunk of the atlas are merged with others."""
        layout, (scan, _) = self._layout, self._layout.chunks[chunk]
        if not isinstance(scan, KeptPart):
            return False
        start, stop = layout.bounds[chunk : chunk + 2].tolist()
        if len(layout.kept(chunk)) < stop - start:
            self._changed.add(scan.part)
            return True
        return not layout.targets.isdisjoint(range(start, stop))

    def remove_others(self, names: Sequence[str]) -> None:
        """Remove parts that no longer have an input, and files of an interrupted run."""
        wanted = {f"{name}.parquet" for name in names}
        for path in [*self._folder.iterdir(), *self._keys.iterdir()]:
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
        is_old = isinstance(self._layout.chunks[chunk][0], KeptPart)
        for index, place in enumerate(touched):
            was, added = rows[index], [row for _, row in merged.get(int(kept[place]), ())]
            records = [*added, was] if is_old else [was, *added]
            one = merge_records(records, newest_first=is_old) if added else was
            rows[index] = one
            if is_old and one | _IGNORED == was | _IGNORED:
                rows[index] = was  # the same record was read again
                continue
            if is_old:
                self._changed.add(self._layout.chunks[chunk][0].part)
                self.merged.append(MergedPaper(was["paper_id"], was["journal"], one))
                self._taken.discard(was["paper_id"])
            if self._layout.ambiguous[kept[place]]:
                names = possible_ids(one, given=[record["paper_id"] for record in records])
                one["paper_id"] = next(name for name in names if name not in self._taken)
                self._taken.add(one["paper_id"])
        untouched = np.setdiff1d(np.arange(table.num_rows), touched)
        order = np.argsort(np.r_[untouched, touched], kind="stable")
        joined = pa.concat_tables([table.take(untouched).cast(papers_schema()), to_table(rows)])
        sources = {row: [origin for origin, _ in found] for row, found in merged.items()}
        return joined.take(order).combine_chunks(), sources

    def _key_table(
        self, chunk: int, papers: pa.Table, merged_from: dict[int, list[int]]
    ) -> pa.Table:
        """Return the hashed keys of the papers of a chunk. They change if records are merged."""
        import pyarrow as pa

        kept, start = self._layout.kept(chunk), self._layout.bounds[chunk]
        keys = self._layout.papers(chunk, KEY_COLUMNS).take(kept - start)
        changed = np.flatnonzero(np.isin(kept, list(merged_from)) | self._layout.ambiguous[kept])
        if not len(changed):
            return keys
        same = np.setdiff1d(np.arange(len(kept)), changed)
        new = with_keys(papers.take(changed)).select(KEY_COLUMNS).cast(keys.schema)
        order = np.argsort(np.r_[same, changed], kind="stable")
        return pa.concat_tables([keys.take(same), new]).take(order).combine_chunks()

    def _reserve_ids(self) -> None:
        """Reserve the keys of papers of the atlas that share an identifier with another paper."""
        for chunk, (scan, _) in enumerate(self._layout.chunks):
            start, stop = self._layout.bounds[chunk : chunk + 2]
            rows = np.flatnonzero(self._layout.ambiguous[start:stop])
            if isinstance(scan, KeptPart) and len(rows):
                names = self._layout.papers(chunk, ["paper_id"])["paper_id"].take(rows)
                self._taken.update(names.to_pylist())
                # They keep their names, so they are not ambiguous any more, unless they are merged.
                alone = [row for row in (rows + start).tolist() if row not in self._layout.targets]
                self._layout.ambiguous[alone] = False

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
                other = layout.chunk_of(origin)
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
                gone = np.flatnonzero((targets != np.arange(start, stop)) & (targets >= 0))
                if not len(gone):
                    continue
                if (
                    layout.ready(chunk, "vectors") is None
                    and layout.ready(chunk, "positions") is None
                ):
                    gone = _without_repeats(layout.papers(chunk).take(gone), gone, targets[gone])
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


def _without_repeats(
    papers: pa.Table, rows: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows without exact repetitions, which change nothing but need memory."""
    seen: dict[bytes, int] = {}
    for row, target, record in zip(rows, targets.tolist(), papers.to_pylist(), strict=True):
        seen.setdefault(blake2b(orjson.dumps([target, record])).digest(), row)
    return np.array([*seen.values()], dtype=np.int64)


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
    inputs: Sequence[Path | KeptPart],
    folder: Path,
    *,
    work: Path,
    names: Sequence[str] | None = None,
    workers: int = 1,
    language: str | None = None,
    run: RunTasks | None = None,
    advance: Callable[[float], object] | None = None,
    never_merge: Sequence[tuple[str, str]] = (),
) -> IngestReport:
    r"""Convert source files to ``papers.parquet``, and list what was rejected, repaired or merged.

    The inputs are read into chunks under ``work/scan``. Then duplicates are merged, and one part
    per input is written. A paper that occurs in several inputs is written to the part of the first
    input. The result does not depend on `workers` or on interruptions.

    Parameters
    ----------
    inputs : sequence of pathlib.Path or KeptPart
        Files of any supported kind, and parts of an atlas that is updated.
    folder : pathlib.Path
        Directory of the atlas. Its files ``papers.parquet/<part>.parquet`` and
        ``keys.parquet/<part>.parquet`` are replaced or removed.
    work : pathlib.Path
        Directory for temporary files, on the same file system. Vectors and coordinates of the
        inputs are written to ``ready/<part>.npy``, float32 (rows, d), and
        ``ready/coordinates/<part>.npy``, float32 (rows, 2), with NaN for missing rows.
    names : sequence of str, optional
        Names of the parts; default: made from the names of the files.
    workers : int, default 1
        Number of processes that clean records.
    language : str, optional
        Code of a language, such as ``"en"``. New papers in other languages are rejected.
    run : callable, optional
        Function that applies a function to each of a list of tasks, for example on several
        machines, and yields the results in order. A task reads one input.
    advance : callable, optional
        Called with the number of bytes read since the last call.
    never_merge : sequence of tuple of str
        Pairs of identifiers of records that are different papers.

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
    if names is None:
        names = part_names([one.path if isinstance(one, KeptPart) else one for one in inputs])
    plan = plan_ingest(
        inputs,
        names,
        work=work,
        workers=workers,
        run=run,
        advance=advance,
        never_merge=never_merge,
        language=language,
    )
    layout, scans, rejected = plan.layout, plan.scans, plan.n_rejected
    if not (layout.representative >= 0).any():
        raise InputError(_nothing_usable([scan.path for scan in scans], sum(plan.n_read), plan))
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (
        ("rejected", plan.listed("rejected")),
        ("repaired", plan.listed("repaired")),
        ("merged", plan.merges()),
    ):
        with unfinished_file(folder / f"{name}.jsonl") as path, path.open("wb") as stream:
            stream.writelines(orjson.dumps(line) + b"\n" for line in lines)
    with PartWriter(folder / "papers.parquet", folder / "keys.parquet", work, layout) as writer:
        reports = [
            writer.write(scan, read=n_read, rejected=n_rejected)
            for scan, n_read, n_rejected in zip(scans, plan.n_read, rejected, strict=True)
        ]
        writer.remove_others(names)
    ready = {name: work / "ready" / f"{name}.npy" for name in names}
    coordinates = {name: path.parent / "coordinates" / path.name for name, path in ready.items()}
    return IngestReport(
        parts=reports,
        read=sum(plan.n_read),
        kept=sum(report.rows for report in reports),
        merged=sum(report.merged for report in reports),
        rejected=sum(rejected),
        repaired=sum(1 for _ in plan.listed("repaired")),
        embeddings={name: path if path.exists() else None for name, path in ready.items()},
        coordinates={name: path if path.exists() else None for name, path in coordinates.items()},
        merged_papers=writer.merged,
        withdrawn=[one.snippet for found in plan.removed for one in found if one.reason == _GONE],
    )


MAX_LISTED = 100_000  # maximum number of merged records that are listed


@dataclass(frozen=True)
class Plan:
    """Records of all inputs, and which of them are the same paper. Nothing is written yet."""

    scans: Sequence[Scan | KeptPart]
    layout: Layout
    reason: NDArray[np.int8]  # numbers of `REASONS`, by row
    n_read: list[int]
    n_rejected: list[int]
    removed: list[list[Rejection]]  # withdrawn later, or in another language

    def listed(self, kind: str) -> Iterator[dict[str, Any] | Rejection]:
        """Yield the rejected or the repaired records of all inputs."""
        for number, scan in enumerate(self.scans):
            for chunk in range(scan.n_chunks):
                yield from scan.facts(chunk)[kind]
            if kind == "rejected":
                yield from self.removed[number]

    def merges(self) -> Iterator[dict[str, Any]]:
        """Yield each merged record with the record that is kept, and the reason."""
        target = self.layout.representative
        gone = np.flatnonzero((target != np.arange(len(target))) & (target >= 0))[:MAX_LISTED]
        described = self._described(np.union1d(gone, target[gone]))
        for row in gone.tolist():
            kept, reason = described[int(target[row])], REASONS[self.reason[row]]
            yield {"kept": kept, "record": described[row], "reason": reason}

    def _described(self, rows: NDArray[np.int64]) -> dict[int, dict[str, Any]]:
        """Describe records by their own key or their identifier, their title, year and place."""
        bounds, found = self.layout.bounds, {}
        which = np.searchsorted(bounds, rows, side="right") - 1
        for chunk in np.unique(which).tolist():
            scan, _ = self.layout.chunks[chunk]
            place = () if isinstance(scan, KeptPart) else ("own_key", "line")
            here = rows[which == chunk]
            table = self.layout.papers(chunk, ["paper_id", "title", "year", *place])
            for row, one in zip(
                here.tolist(), table.take(here - bounds[chunk]).to_pylist(), strict=True
            ):
                own = one.pop("own_key", None)
                found[row] = {"id": own or one["paper_id"], **one, "file": scan.path.name}
        return found


def plan_ingest(
    inputs: Sequence[Path | KeptPart],
    names: Sequence[str],
    *,
    work: Path,
    workers: int = 1,
    run: RunTasks | None = None,
    advance: Callable[[float], object] | None = None,
    never_merge: Sequence[tuple[str, str]] = (),
    language: str | None = None,
) -> Plan:
    """Read the inputs into chunks under `work`, and find the records of the same paper."""
    for leftover in (work / "scan").iterdir() if (work / "scan").is_dir() else ():
        if leftover.name not in names:
            shutil.rmtree(leftover)
    todo = [(one, name) for one, name in zip(inputs, names, strict=True) if isinstance(one, Path)]
    if run is None:
        read_here = partial(_scan, work=work, workers=workers, advance=advance)
        scanned = iter([*map(read_here, todo)])
    else:
        scanned = _with_progress(run(partial(_scan, work=work), todo), advance)
    scans = [one if isinstance(one, KeptPart) else next(scanned) for one in inputs]
    chunks = [(scan, chunk) for scan in scans for chunk in range(scan.n_chunks)]
    keys, bounds = _load_keys(chunks)
    found: Duplicates = find_duplicates(
        keys, lambda rows: _details_of(rows, chunks, bounds), never=_vetoed(keys, never_merge)
    )
    representative = _without_old_pairs(found.representative, chunks, bounds)
    layout = Layout(chunks, bounds, representative, ambiguous_rows(keys, representative))
    n_read, n_rejected = _count_records(scans)
    withdrawn = _withdraw(layout, scans, keys.arxiv_id)
    foreign = _reject_foreign(layout, scans, language) if language else [[] for _ in scans]
    removed = [[*gone, *other] for gone, other in zip(withdrawn, foreign, strict=True)]
    n_rejected = [n + len(gone) for n, gone in zip(n_rejected, removed, strict=True)]
    return Plan(scans, layout, found.reason, n_read, n_rejected, removed)


def preview(
    files: Sequence[Path],
    *,
    never_merge: Sequence[tuple[str, str]] = (),
    workers: int = 1,
    advance: Callable[[float], object] | None = None,
) -> dict[str, Any]:
    r"""Return what a build would read, keep, repair, reject and merge. Nothing is kept on disk.

    Parameters
    ----------
    files : sequence of pathlib.Path
        Files of any supported kind.
    never_merge : sequence of tuple of str
        Pairs of identifiers or keys of records that are different papers.
    workers : int, default 1
        Number of processes that clean records.
    advance : callable, optional
        Called with the number of bytes read since the last call.

    Returns
    -------
    dict
        ``read`` and ``kept`` (numbers); ``rejected`` and ``repaired``, lists with ``file, line,
        reason, snippet``; ``merged``, a list with ``kept`` and ``record``, each with ``id,
        paper_id, title, year, line, file``, and ``reason``; ``without_abstract`` (number of
        records); ``files``, with ``file, format, read, rejected``; the numbers of papers by
        ``kinds`` and ``status``. At most 100,000 merged records are listed.

    Raises
    ------
    landscape.errors.InputError
        If a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("id,title,abstract\na,One title,Text\nb,One title,Text\nc,Two,\n")
    >>> found = preview([path])
    >>> found["read"], found["kept"], found["merged"][0]["reason"], found["without_abstract"]
    (3, 1, 'the same title and abstract', 1)
    """
    names = part_names(files)
    with tempfile.TemporaryDirectory(prefix="landscape-read-") as folder:
        plan = plan_ingest(
            files,
            names,
            work=Path(folder),
            workers=workers,
            advance=advance,
            never_merge=never_merge,
        )
        target = plan.layout.representative
        counts = {"kind": Counter[str](), "status": Counter[str]()}
        for chunk in range(len(plan.layout.chunks)):
            kept = plan.layout.kept(chunk) - plan.layout.bounds[chunk]
            table = plan.layout.papers(chunk, [*counts]).take(kept)
            for name, count in counts.items():
                count.update(value or "unknown" for value in table[name].to_pylist())
        rejected = [
            asdict(one) if isinstance(one, Rejection) else one for one in plan.listed("rejected")
        ]
        del counts["status"]["unknown"]
        return {
            "read": sum(plan.n_read),
            "kept": int((target == np.arange(len(target))).sum()),
            "rejected": rejected,
            "repaired": [*plan.listed("repaired")],
            "merged": [*plan.merges()],
            "without_abstract": sum(one["reason"].startswith("no abstract") for one in rejected),
            "files": [
                {"file": str(scan.path), "format": scan.reader, "read": read, "rejected": n}
                for scan, read, n in zip(plan.scans, plan.n_read, plan.n_rejected, strict=True)
            ],
            "kinds": dict(counts["kind"].most_common()),
            "status": dict(counts["status"].most_common()),
        }


def read_pairs(path: Path) -> list[tuple[str, str]]:
    r"""Read a table of pairs of identifiers, one pair a line, separated by a comma or a tab.

    Parameters
    ----------
    path : pathlib.Path
        Bibcodes, arXiv ids, DOIs, or keys of records, such as those of BibTeX entries. The header
        is optional, and further columns are ignored.

    Returns
    -------
    list of tuple of str

    Raises
    ------
    landscape.errors.InputError
        If the file cannot be read, or a line has no second identifier.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("Doe2020a,Doe2020b\n")
    >>> read_pairs(path)
    [('Doe2020a', 'Doe2020b')]
    """
    head = sample(path)
    with open_input(path) as stream:
        lines = io.TextIOWrapper(stream, "utf-8", errors="replace", newline="")
        rows = [*csv.reader(lines, delimiter="\t" if b"\t" in head.split(b"\n")[0] else ",")]
    pairs = []
    for number, row in enumerate(rows, start=1):
        if not "".join(row).strip():
            continue
        if len(row) < 2 or not (row[0].strip() and row[1].strip()):
            raise InputError(
                f"{path}, line {number}: {','.join(row)[:60]!r} is not a pair. Give two "
                "identifiers separated by a comma."
            )
        pairs.append((row[0].strip(), row[1].strip()))
    return pairs


def _vetoed(keys: Keys, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Return the rows of pairs of identifiers."""
    rows: defaultdict[int, list[int]] = defaultdict(list)
    wanted = {text_hash(name): name for pair in pairs for name in map(_plain_id, pair)}
    for name in ("bibcode", "arxiv_id", "doi", "given", "own") if wanted else ():
        values = getattr(keys, name)
        hits = np.flatnonzero(np.isin(values, np.array([*wanted], np.uint64)) & (values != 0))
        for row in hits.tolist():
            rows[int(values[row])].append(row)
    return [
        (min(i, j), max(i, j))
        for one, other in pairs
        for i in rows[text_hash(_plain_id(one))]
        for j in rows[text_hash(_plain_id(other))]
        if i != j
    ]


def _plain_id(name: str) -> str:
    name = name.strip()
    return parse_bibcode(name) or parse_arxiv_id(name) or parse_doi(name) or name


RunTasks = Callable[[Callable[[tuple[Path, str]], Scan], list[tuple[Path, str]]], Iterator[Scan]]


def _scan(
    task: tuple[Path, str],
    *,
    work: Path,
    workers: int = 1,
    advance: Callable[[float], object] | None = None,
) -> Scan:
    path, name = task
    return scan_input(path, part=name, work=work, workers=workers, advance=advance)


def _with_progress(
    scans: Iterator[Scan], advance: Callable[[float], object] | None
) -> Iterator[Scan]:
    for scan in scans:
        if advance is not None:
            advance(scan.path.stat().st_size)
        yield scan


_Chunks = Sequence[tuple[Scan | KeptPart, int]]


def _without_old_pairs(
    representative: NDArray[np.int64], chunks: _Chunks, bounds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Keep papers of the atlas apart, unless a new record shows that they are the same paper."""
    rows = np.arange(len(representative))
    lengths = np.diff(bounds)
    is_old = np.repeat([isinstance(scan, KeptPart) for scan, _ in chunks], lengths).astype(bool)
    has_new = np.zeros(len(representative), dtype=bool)
    has_new[representative[~is_old]] = True
    return np.where(is_old & ~has_new[representative], rows, representative)


def _withdraw(
    layout: Layout, scans: Sequence[Scan | KeptPart], arxiv_ids: NDArray[np.uint64]
) -> list[list[Rejection]]:
    """Remove papers that a later input lists as withdrawn, and return their rejections by input.

    Papers that have another source than arXiv stay.
    """
    owners = np.repeat(np.arange(len(scans)), [scan.n_chunks for scan in scans])
    found: list[list[Rejection]] = [[] for _ in scans]
    for number, (scan, chunk) in enumerate(layout.chunks):
        rejections = scan.facts(chunk)["rejected"] if scan.reader == "arxiv" else ()
        names = {text_hash(one["snippet"]) for one in rejections if one["reason"] == WITHDRAWN}
        if not (names := names - {0}):
            continue
        first = layout.bounds[np.searchsorted(owners, owners[number])]
        rows = np.flatnonzero(np.isin(arxiv_ids[:first], np.array([*names], np.uint64)))
        for paper in np.unique(layout.representative[rows]).tolist():
            members = np.flatnonzero(layout.representative == paper)
            records = [layout.record(row, ["arxiv_id", "source"]) for row in members.tolist()]
            sources = [name for record in records for name in record["source"]]
            is_known_elsewhere = not all(name.startswith("arxiv:") for name in sources)
            if paper < 0 or members[-1] >= first or is_known_elsewhere:
                continue
            layout.representative[members] = -1
            owner = owners[layout.chunk_of(paper)]
            name = str(records[0]["arxiv_id"])
            found[owner].append(Rejection(scans[owner].path.name, 0, _GONE, name))
    return found


def _reject_foreign(
    layout: Layout, scans: Sequence[Scan | KeptPart], language: str
) -> list[list[Rejection]]:
    """Remove new papers in other languages, and return their rejections by input."""
    found: list[list[Rejection]] = [[] for _ in scans]
    gone: list[int] = []
    for number, (scan, _) in enumerate(layout.chunks):
        if isinstance(scan, KeptPart):
            continue
        rows = layout.kept(number)
        table = layout.papers(number, ["title", "abstract"]).take(rows - layout.bounds[number])
        titles = table["title"].to_pylist()
        for row, title, code in zip(rows.tolist(), titles, find_languages(table), strict=True):
            if code != language:
                reason = f"written in {LANGUAGES[code]}"
                found[scans.index(scan)].append(Rejection(scan.path.name, 0, reason, title[:200]))
                gone.append(row)
    layout.representative[np.isin(layout.representative, gone)] = -1
    return found


def _load_keys(chunks: _Chunks) -> tuple[Keys, NDArray[np.int64]]:
    """Return the keys of all records, and the bounds of the chunks, shape (n_chunks + 1,)."""
    kinds = {**{f"key_{name}": np.uint64 for name in KEYS}, "year": np.int16}
    tables = [scan.papers(chunk, columns=list(kinds)) for scan, chunk in chunks]
    joined: dict[str, np.ndarray] = {}
    for name, kind in kinds.items():
        pieces = [table[name].fill_null(0).to_numpy().astype(kind) for table in tables]
        joined[name.removeprefix("key_")] = np.concatenate([np.empty(0, kind), *pieces])
    return Keys(**joined), np.cumsum([0, *map(len, tables)], dtype=np.int64)


def _details_of(
    rows: NDArray[np.int64], chunks: _Chunks, bounds: NDArray[np.int64]
) -> list[Details]:
    """Return what is compared of some records. The rows must be sorted."""
    which = np.searchsorted(bounds, rows, side="right") - 1
    found: list[Details] = []
    for number in np.unique(which):
        scan, chunk = chunks[number]
        local = rows[which == number] - bounds[number]
        surnames = scan.papers(chunk, columns=["key_authors"])["key_authors"].take(local)
        texts = scan.papers(chunk, columns=["title", "journal"]).take(local)
        found.extend(
            Details(frozenset(hashes or ()), title, journal)
            for hashes, title, journal in zip(
                surnames.to_pylist(),
                texts["title"].to_pylist(),
                texts["journal"].to_pylist(),
                strict=True,
            )
        )
    return found


def _count_records(scans: Sequence[Scan | KeptPart]) -> tuple[list[int], list[int]]:
    """Count the records read and rejected for each input."""
    facts = [[scan.facts(chunk) for chunk in range(scan.n_chunks)] for scan in scans]
    read = [sum(one["n_read"] for one in of) for of in facts]
    return read, [sum(len(one["rejected"]) for one in of) for of in facts]


def _nothing_usable(inputs: Sequence[Path], n_read: int, plan: Plan) -> str:
    reasons = Counter(
        one.reason if isinstance(one, Rejection) else one["reason"]
        for one in plan.listed("rejected")
    )
    names = ", ".join(str(path) for path in inputs)
    if not reasons:
        return f"No papers in {names or 'the inputs'}; pass a file with at least one paper."
    reason, count = reasons.most_common(1)[0]
    return (
        f"None of the {n_read:,} records in {names} is a usable paper. Most frequent reason "
        f"({count:,} records): {reason}. Every paper needs a title and an abstract; in ADS, export "
        "BibTeX ABS instead of BibTeX."
    )
