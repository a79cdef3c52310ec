"""Inputs of any kind become the parts of ``papers.parquet``: read, cleaned, deduplicated."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from landscape._io import put_in_place
from landscape.corpus.deduplication import Keys, ambiguous_rows, find_duplicates
from landscape.corpus.parts import Layout, PartWriter
from landscape.corpus.reading import read_papers
from landscape.corpus.scanning import KEYS, Scan, part_names, scan_input
from landscape.corpus.schema import IngestReport, PartReport
from landscape.errors import InputError

__all__ = ["IngestReport", "PartReport", "ingest", "read_papers"]


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

    Every input is streamed into chunks under ``work/scan`` (a run that was killed goes on after
    the last whole chunk), duplicates are found among all of them, and one part an input is
    written. A paper found in several inputs stands, merged, in the part of the first that holds
    it. The same inputs give the same bytes, however often the work was interrupted and whatever
    `workers` is. Nothing but `folder` and `work` is written; `work` may be removed afterwards,
    and must be on the same file system.

    Parameters
    ----------
    inputs : sequence of pathlib.Path
        Files of any supported kind.
    folder : pathlib.Path
        The atlas. ``papers.parquet/<part>.parquet`` are replaced one by one, each whole; parts
        that no longer have an input are removed.
    work : pathlib.Path
        Folder for unfinished work and for ready-made vectors: ``work/ready/<part>.npy``, float32
        (rows, d), and coordinates ``work/ready/coordinates/<part>.npy``, float32 (rows, 2), for
        inputs that bring them (pathfinder Parquet; a column ``embed`` or ``embedding``). Rows are
        those of the part; a paper without a vector is a row of NaN (see
        `PartReport.ready_vectors`).
    workers : int, default 1
        Processes that clean.
    advance : callable, optional
        Told the bytes of the inputs done since the last call; their sum is that of the sizes of
        the files.
    begin_writing : callable, optional
        Called once all inputs were read and found usable, before anything in `folder` changes.

    Returns
    -------
    IngestReport
        With ``read = kept + merged + rejected``, for the whole and for each part.

    Raises
    ------
    landscape.errors.InputError
        If a file cannot be read or breaks off, or no record of any of them can be used. The
        files of an earlier run are then still as they were.
    OSError
        As the system raises it, for example when the disk is full; no half file is left.

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
    _forget_others(work / "scan", names)
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


def _forget_others(folder: Path, names: Sequence[str]) -> None:
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
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as stream:
            for scan in scans:
                for chunk in range(scan.n_chunks):
                    rejected = scan.facts(chunk)["rejected"]
                    stream.writelines(orjson.dumps(r) + b"\n" for r in rejected)
        put_in_place(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _nothing_usable(inputs: Sequence[Path], n_read: int, reasons: Counter[str]) -> str:
    names = ", ".join(str(path) for path in inputs)
    if not reasons:
        return f"There is no paper in {names or 'no input'}; give a file with at least one."
    reason, count = reasons.most_common(1)[0]
    return (
        f"None of the {n_read:,} records in {names} is a usable paper, most often ({count:,} "
        f"times) because of: {reason}; every paper needs a title and an abstract."
    )
