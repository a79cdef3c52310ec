"""Read and clean inputs in chunks on disk, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import write_whole
from landscape._processes import start_processes
from landscape.corpus._duplicates import (
    block_hashes,
    content_hash,
    surname_hashes,
    text_hash,
    title_hash,
)
from landscape.corpus.identifiers import (
    WHOLE_TEXT,
    is_eprint_bibcode,
    is_eprint_doi,
    whole_text_hash,
    without_version,
)
from landscape.corpus.readers import Reader, choose_reader
from landscape.corpus.records import (
    COLUMNS,
    Batch,
    RawRecord,
    Rejection,
    Repair,
    Row,
    normalise,
    positions_of,
    to_table,
    vectors_of,
)
from landscape.corpus.status import document_kind, find_status

if TYPE_CHECKING:
    import pyarrow as pa


BATCH_SIZE = 2000  # records
_MIN_FOR_POOL = 2  # minimum number of batches for which several processes are faster


def read_papers(
    path: Path,
    *,
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
    reader: Reader | None = None,
    skip: int = 0,
) -> Iterator[Batch]:
    r"""Yield the cleaned papers of a file in batches.

    Parameters
    ----------
    path : pathlib.Path
        File in any supported format.
    batch_size : int, default 2000
        Number of records per batch, including rejected records.
    workers : int, default 1
        Number of processes that clean records. The result does not depend on it.
    reader : Reader, optional
        Reader to use. By default, it is chosen from the content of the file.
    skip : int, default 0
        Number of batches at the beginning to skip, to continue an earlier run.

    Yields
    ------
    Batch

    Raises
    ------
    landscape.errors.InputError
        If the file cannot be read or is truncated.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "papers.csv"
    >>> _ = path.write_text("title,abstract,year\nA title,Some text,2020\nAnother,,2021\n")
    >>> [batch] = read_papers(path)
    >>> batch.papers["title"].to_pylist(), batch.rejected[0].reason
    (['A title'], 'no abstract')
    """
    reader = reader or choose_reader(path)
    pieces = _pieces(path, reader, batch_size)
    for _ in itertools.islice(pieces, skip):
        pass
    yield from _cleaned(pieces, path.name, f"{reader.name}:{path.name}", workers)


_Piece = tuple[list[RawRecord | Rejection], int]


def _pieces(path: Path, reader: Reader, size: int) -> Iterator[_Piece]:
    read: list[int] = []  # bytes read for the current piece, one number per call
    records = reader.read(path, on_bytes=read.append)
    while piece := list(itertools.islice(records, size)):
        yield piece, sum(read)
        read.clear()


def _cleaned(pieces: Iterator[_Piece], file: str, source: str, workers: int) -> Iterator[Batch]:
    first = list(itertools.islice(pieces, _MIN_FOR_POOL))
    everything: Iterable[_Piece] = itertools.chain(first, pieces)
    if workers <= 1 or len(first) < _MIN_FOR_POOL:
        for piece, n_bytes in everything:
            yield _clean(piece, n_bytes, file, source)
        return
    with start_processes(workers) as pool:
        waiting: deque[Future[Batch]] = deque()
        for piece, n_bytes in everything:
            waiting.append(pool.submit(_clean, piece, n_bytes, file, source))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _clean(piece: list[RawRecord | Rejection], n_bytes: int, file: str, source: str) -> Batch:
    rows: list[Row] = []
    kept: list[RawRecord] = []
    rejected: list[Rejection] = []
    repaired: list[Repair] = []
    for record in piece:
        if isinstance(record, Rejection):
            rejected.append(record)
            continue
        result = normalise(record, file=file, source=source, repaired=repaired)
        if isinstance(result, Rejection):
            rejected.append(result)
        else:
            rows.append(result)
            kept.append(record)
    return Batch(
        papers=to_table(rows),
        rejected=rejected,
        n_read=len(piece),
        n_bytes=n_bytes,
        vectors=vectors_of(kept),
        positions=positions_of(kept),
        repaired=repaired,
        origins=[(raw.line, _own_key(raw)) for raw in kept],
    )


def _own_key(raw: RawRecord) -> str | None:
    """Return the key of a record in its file, such as that of a BibTeX entry."""
    key = raw.fields.get("given_id")
    return key[:200] if isinstance(key, str) else None


# Increase this number when readers or cleaning change, so that old chunks are not reused.
VERSION = 5

KEYS = (
    *("bibcode", "arxiv_id", "doi", "title", "text", "given", "own"),
    *("title_start", "title_end", "title_words"),
)
KEY_COLUMNS = (*(f"key_{name}" for name in KEYS), "key_authors", WHOLE_TEXT, "year")

_SUFFIXES = (
    ".gz",
    ".jsonl",
    ".ndjson",
    ".json",
    ".parquet",
    ".csv",
    ".tsv",
    ".txt",
    ".bib",
    ".ris",
    ".xml",
    ".enw",
    ".nbib",
)


@dataclass(frozen=True, slots=True)
class Scan:
    """Cleaned chunks of one input on disk."""

    part: str
    path: Path
    reader: str
    folder: Path
    n_chunks: int

    def papers(self, chunk: int, *, columns: Sequence[str] | None = None) -> pa.Table:
        """Read the papers of a chunk, with the hashed keys as columns ``key_...``."""
        import pyarrow.parquet as pq

        path = self.folder / f"{chunk:06d}.parquet"
        return pq.ParquetFile(path).read(columns=list(columns) if columns is not None else None)

    def facts(self, chunk: int) -> dict[str, Any]:
        """Read the numbers of records and the rejections of a chunk."""
        return json.loads((self.folder / f"{chunk:06d}.json").read_text("utf-8"))

    def ready(self, chunk: int, kind: str) -> np.ndarray | None:
        """Memory-map the precomputed ``"vectors"`` or ``"positions"`` of a chunk, if they exist."""
        path = self.folder / f"{chunk:06d}.{kind}.npy"
        return np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None


@dataclass(frozen=True, slots=True)
class KeptPart:
    """Part of an atlas that is updated. It is used like the `Scan` of an input, in one chunk."""

    part: str
    path: Path  # name of the input
    reader: str
    rows: int
    n_read: int
    rejected: tuple[dict[str, Any], ...]
    folder: Path  # folder of the atlas
    repaired: tuple[dict[str, Any], ...] = ()
    has_ready_vectors: bool = False
    n_chunks: int = 1

    @property
    def file(self) -> Path:
        """File of the papers."""
        return self.folder / "papers.parquet" / f"{self.part}.parquet"

    @property
    def keys(self) -> Path:
        """File of the hashed keys, which atlases of earlier versions do not have."""
        return self.folder / "keys.parquet" / self.file.name

    @property
    def has_keys(self) -> bool:
        """Whether the file of the hashed keys has all keys."""
        import pyarrow.parquet as pq

        return self.keys.is_file() and set(KEY_COLUMNS) <= set(pq.read_schema(self.keys).names)

    def papers(self, _chunk: int, *, columns: Sequence[str]) -> pa.Table:
        """Read columns of ``papers.parquet``, or of the hashed keys."""
        import pyarrow.parquet as pq

        if not set(columns) <= set(KEY_COLUMNS):
            return self._with_later_columns(columns)
        if self.has_keys:
            return pq.ParquetFile(self.keys).read(columns=list(columns))
        table = pq.ParquetFile(self.file).read(columns=[*_HASHED, "year"])
        return with_keys(table).select(list(columns))

    @property
    def is_current(self) -> bool:
        """Whether the file has all columns, and not only those of an earlier version."""
        import pyarrow.parquet as pq

        return set(COLUMNS) <= set(pq.read_schema(self.file).names)

    def _with_later_columns(self, columns: Sequence[str]) -> pa.Table:
        """Read columns. Kind and status are found in the texts of an atlas without them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = pq.ParquetFile(self.file)
        known = [name for name in columns if name in file.schema_arrow.names]
        table = file.read(columns=known)
        if len(known) < len(columns):
            texts = file.read(columns=["title", "abstract", "doctype", "arxiv_id", "journal"])
            rows = [
                [
                    document_kind(doctype, title, (), is_paper=bool(arxiv_id or journal)),
                    *find_status(title, abstract, [journal or ""]),
                ]
                for title, abstract, doctype, arxiv_id, journal in zip(
                    *(column.to_pylist() for column in texts.columns), strict=True
                )
            ]
            for place, name in enumerate(("kind", "status", "status_reason")):
                if name not in known and name in columns:
                    values = pa.array([row[place] for row in rows], pa.string())
                    table = table.append_column(name, values)
        return table.select(list(columns))

    def facts(self, _chunk: int) -> dict[str, Any]:
        """Return the numbers of records and the rejections."""
        return {"n_read": self.n_read, "rejected": self.rejected, "repaired": self.repaired}

    def ready(self, _chunk: int, kind: str) -> np.ndarray | None:
        """Memory-map the vectors, if they came with the input."""
        if kind != "vectors" or not self.has_ready_vectors:
            return None
        path = self.folder / "embeddings" / f"{self.part}.npy"
        return np.load(path, mmap_mode="r", allow_pickle=False)


def part_names(paths: Sequence[Path]) -> list[str]:
    """Return a unique part name for each input, based on the file name. The names are sorted."""
    names: list[str] = []
    for path in paths:
        stem = path.name
        while stem.lower().endswith(_SUFFIXES):
            stem = stem[: stem.rindex(".")]
        name = re.sub(r"[^a-z0-9_.]+", "-", stem.lower()).strip("-._") or "papers"
        if name in names:
            digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:6]
            name = f"{name}-{digest}"
        names.append(name if name not in names else f"{name}-{len(names)}")
    if names != sorted(names, key=lambda name: f"{name}."):  # other programs sort files by name
        width = len(str(len(names)))
        names = [f"{number:0{width}}-{name}" for number, name in enumerate(names, start=1)]
    return names


def scan_input(
    path: Path,
    *,
    part: str,
    work: Path,
    workers: int = 1,
    advance: Callable[[float], object] | None = None,
) -> Scan:
    """Read and clean one input in chunks under `work`. Finished chunks are reused."""
    reader = choose_reader(path)
    folder = work / "scan" / part
    status = path.stat()
    identity = {
        "version": VERSION,
        "path": str(path.resolve()),
        "bytes": status.st_size,
        "modified": status.st_mtime_ns,
        "reader": reader.name,
        "batch_size": BATCH_SIZE,
    }
    n_chunks = _count_finished_chunks(folder, identity)
    scan = Scan(part, path, reader.name, folder, n_chunks)
    for chunk in range(n_chunks):
        if advance is not None:
            advance(scan.facts(chunk)["n_bytes"])
    if not (folder / "finished").exists():
        for batch in read_papers(
            path, batch_size=BATCH_SIZE, workers=workers, reader=reader, skip=n_chunks
        ):
            _write_chunk(folder, n_chunks, batch)
            n_chunks += 1
            if advance is not None:
                advance(batch.n_bytes)
        write_whole(folder / "finished", b"")
    return Scan(part, path, reader.name, folder, n_chunks)


def _count_finished_chunks(folder: Path, identity: dict[str, object]) -> int:
    """Count the finished chunks in a folder. Chunks of another input are deleted."""
    note = folder / "input.json"
    if _load(note) != identity:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_whole(note, json.dumps(identity).encode())
    for leftover in folder.glob(".*.unfinished"):
        leftover.unlink()
    n_chunks = 0
    while _is_whole(folder, n_chunks):
        n_chunks += 1
    if (folder / f"{n_chunks:06d}.json").exists():  # the chunk is damaged: read it again
        (folder / "finished").unlink(missing_ok=True)
    return n_chunks


def _is_whole(folder: Path, number: int) -> bool:
    """Return whether a chunk is finished and its files can be opened."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts = _load(folder / f"{number:06d}.json")
    if facts is None or not {"n_read", "n_bytes", "rejected", "repaired"} <= set(facts):
        return False
    try:
        pq.read_metadata(folder / f"{number:06d}.parquet")
        for path in folder.glob(f"{number:06d}.*.npy"):
            np.load(path, mmap_mode="r", allow_pickle=False)
    except (pa.ArrowException, OSError, ValueError, EOFError):
        return False
    return True


def _load(path: Path) -> dict[str, object] | None:
    """Read a JSON object. Return None if the file is missing or damaged."""
    try:
        loaded = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _write_chunk(folder: Path, number: int, batch: Batch) -> None:
    """Write the files of a chunk. The JSON file is written last and marks the chunk as complete."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    for kind, array in (("vectors", batch.vectors), ("positions", batch.positions)):
        if array is not None:
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=False)
            write_whole(folder / f"{number:06d}.{kind}.npy", stream.getvalue())
    sink = pa.BufferOutputStream()
    lines, own = (
        ([*column] for column in zip(*batch.origins, strict=True)) if batch.origins else ([], [])
    )
    table = with_keys(batch.papers, own)
    table = table.append_column("line", pa.array(lines, pa.int64()))
    table = table.append_column("own_key", pa.array(own, pa.string()))
    pq.write_table(table, sink, compression="lz4")
    write_whole(folder / f"{number:06d}.parquet", sink.getvalue().to_pybytes())
    facts = {
        "n_read": batch.n_read,
        "n_bytes": batch.n_bytes,
        "rejected": [asdict(rejection) for rejection in batch.rejected],
        "repaired": [asdict(repair) for repair in batch.repaired],
    }
    write_whole(folder / f"{number:06d}.json", json.dumps(facts, ensure_ascii=False).encode())


_HASHED = ("bibcode", "arxiv_id", "doi", "title", "abstract", "paper_id", "authors")


def with_keys(papers: pa.Table, own: Sequence[str | None] = ()) -> pa.Table:
    """Add the hashed keys by which duplicates are recognised, as columns ``key_...``.

    `own` contains the keys of the records in their file.
    """
    import pyarrow as pa

    texts = {name: papers[name].to_pylist() for name in _HASHED}
    # Omit DOIs assigned by arXiv, because they repeat the arXiv id and differ from journal DOIs.
    dois = (None if doi and is_eprint_doi(doi) else without_version(doi) for doi in texts["doi"])
    bibcodes = (None if code and is_eprint_bibcode(code) else code for code in texts["bibcode"])
    hashed = {
        "bibcode": map(text_hash, bibcodes),
        "arxiv_id": map(text_hash, texts["arxiv_id"]),
        "doi": map(text_hash, dois),
        "title": map(title_hash, texts["title"]),
        "text": map(content_hash, texts["title"], texts["abstract"]),
        "given": map(text_hash, texts["paper_id"]),
        "own": map(text_hash, own or [None] * papers.num_rows),
        **dict(zip(KEYS[-3:], zip(*map(block_hashes, texts["title"]), strict=True), strict=False)),
    }
    for name in KEYS:
        column = pa.array(np.fromiter(hashed.get(name, ()), np.uint64, count=papers.num_rows))
        papers = papers.append_column(f"key_{name}", column)
    authors = [surname_hashes(names) for names in texts["authors"]]
    papers = papers.append_column("key_authors", pa.array(authors, pa.list_(pa.uint64())))
    whole = [*map(whole_text_hash, texts["title"], texts["abstract"])]
    return papers.append_column(WHOLE_TEXT, pa.array(whole, pa.binary(16)))
