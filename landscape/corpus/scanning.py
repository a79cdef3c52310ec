"""Inputs read and cleaned into chunks on disk, so that a killed run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import write_whole
from landscape.corpus.deduplication import (
    content_hash,
    surname_hashes,
    text_hash,
    title_hash,
)
from landscape.corpus.identifiers import is_eprint_bibcode, is_eprint_doi
from landscape.corpus.readers import choose_reader
from landscape.corpus.reading import BATCH_SIZE, read_papers
from landscape.corpus.schema import Batch

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 3
"""Raised when readers or cleaning change what they give, so that no chunk of old is taken over."""

KEYS = ("bibcode", "arxiv_id", "doi", "title", "text", "given")

_SUFFIXES = (".gz", ".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv", ".txt", ".bib")


@dataclass(frozen=True, slots=True)
class Scan:
    """One input, read into chunks.

    Attributes
    ----------
    part : str
        Name of the part it becomes.
    path : pathlib.Path
    reader : str
    folder : pathlib.Path
        Where its chunks are.
    n_chunks : int
    """

    part: str
    path: Path
    reader: str
    folder: Path
    n_chunks: int

    def papers(self, chunk: int, *, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a chunk: the columns of ``papers.parquet`` and the ``key_`` columns."""
        import pyarrow.parquet as pq

        path = self.folder / f"{chunk:06d}.parquet"
        return pq.ParquetFile(path).read(columns=list(columns) if columns is not None else None)

    def facts(self, chunk: int) -> dict[str, Any]:
        """Read the counts of a chunk and its rejections."""
        facts: dict[str, Any] = json.loads((self.folder / f"{chunk:06d}.json").read_text("utf-8"))
        return facts

    def ready(self, chunk: int, kind: str) -> np.ndarray[Any, Any] | None:
        """Memory-map the ready-made ``"vectors"`` or ``"positions"`` of a chunk."""
        path = self.folder / f"{chunk:06d}.{kind}.npy"
        return np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None


def part_names(paths: Sequence[Path]) -> list[str]:
    """Name the part of each input after its file, no two alike.

    Examples
    --------
    >>> part_names([Path("a/arXiv 2025.jsonl.gz"), Path("papers.csv")])
    ['arxiv-2025', 'papers']
    """
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
    return names


def scan_input(
    path: Path,
    *,
    part: str,
    work: Path,
    workers: int = 1,
    advance: Callable[[float], object] | None = None,
) -> Scan:
    """Read and clean one input into chunks under `work`; finished chunks are not done again.

    Parameters
    ----------
    path : pathlib.Path
    part : str
        From :func:`part_names`.
    work : pathlib.Path
        Folder for unfinished work; chunks of an input that has changed since are thrown away.
    workers : int, default 1
    advance : callable, optional
        Told the bytes of the input done since the last call.

    Returns
    -------
    Scan

    Raises
    ------
    landscape.errors.InputError
        If the file cannot be read.
    """
    reader = choose_reader(path)
    folder = work / "scan" / part
    n_chunks = _take_over(folder, _identity(path, reader.name))
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


def _identity(path: Path, reader: str) -> dict[str, Any]:
    status = path.stat()
    return {
        "version": VERSION,
        "path": str(path.resolve()),
        "bytes": status.st_size,
        "modified": status.st_mtime_ns,
        "reader": reader,
        "batch_size": BATCH_SIZE,
    }


def _take_over(folder: Path, identity: dict[str, Any]) -> int:
    """Count the finished chunks of the same input; clear the folder if it was another."""
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
    if (folder / f"{n_chunks:06d}.json").exists():  # but damaged: read the input on from there
        (folder / "finished").unlink(missing_ok=True)
    return n_chunks


def _is_whole(folder: Path, number: int) -> bool:
    """Whether a chunk is finished and its files can be opened."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts = _load(folder / f"{number:06d}.json")
    if facts is None or not {"n_read", "n_bytes", "rejected"} <= set(facts):
        return False
    try:
        pq.read_metadata(folder / f"{number:06d}.parquet")
        for path in folder.glob(f"{number:06d}.*.npy"):
            np.load(path, mmap_mode="r", allow_pickle=False)
    except (pa.ArrowException, OSError, ValueError, EOFError):
        return False
    return True


def _load(path: Path) -> dict[str, Any] | None:
    """Read a note; None where there is none, or none that can be read."""
    try:
        loaded = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _write_chunk(folder: Path, number: int, batch: Batch) -> None:
    """Write what a batch holds; the JSON file comes last and says that the chunk is whole."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    for kind, array in (("vectors", batch.vectors), ("positions", batch.positions)):
        if array is not None:
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=False)
            write_whole(folder / f"{number:06d}.{kind}.npy", stream.getvalue())
    sink = pa.BufferOutputStream()
    pq.write_table(_with_keys(batch.papers), sink, compression="lz4")
    write_whole(folder / f"{number:06d}.parquet", sink.getvalue().to_pybytes())
    facts = {
        "n_read": batch.n_read,
        "n_bytes": batch.n_bytes,
        "rejected": [rejection.as_dict() for rejection in batch.rejected],
    }
    write_whole(folder / f"{number:06d}.json", json.dumps(facts, ensure_ascii=False).encode())


def _with_keys(papers: pa.Table) -> pa.Table:
    import pyarrow as pa

    texts = {
        name: papers[name].to_pylist()
        for name in ("bibcode", "arxiv_id", "doi", "title", "abstract", "paper_id", "authors")
    }
    hashed: dict[str, Iterator[int]] = {
        "bibcode": (
            text_hash(None if bibcode and is_eprint_bibcode(bibcode) else bibcode)
            for bibcode in texts["bibcode"]
        ),
        "arxiv_id": map(text_hash, texts["arxiv_id"]),
        "doi": (
            # arXiv's own DOI says no more than the arXiv id, and differs from the journal's.
            text_hash(None if doi and is_eprint_doi(doi) else doi)
            for doi in texts["doi"]
        ),
        "title": map(title_hash, texts["title"]),
        "text": map(content_hash, texts["title"], texts["abstract"]),
        "given": map(text_hash, texts["paper_id"]),
    }
    for name in KEYS:
        column = pa.array(np.fromiter(hashed[name], np.uint64, count=papers.num_rows))
        papers = papers.append_column(f"key_{name}", column)
    authors = [surname_hashes(names) for names in texts["authors"]]
    return papers.append_column("key_authors", pa.array(authors, pa.list_(pa.uint64())))
