"""Stages of the texts: keywords, and the indices of words and vectors with the paper table."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import replacing, sha256_of
from landscape._progress import progress
from landscape.pipeline._embeddings import EMBEDDINGS
from landscape.pipeline._executor import PartWork, in_order
from landscape.pipeline._ingest import PAPERS
from landscape.pipeline._rows import (
    column_digest,
    match_rows,
    paper_ids,
    read_batches,
    read_columns,
    row_keys,
    write_table,
)
from landscape.pipeline.stages import Context, Stage, StageResult, clear_work, inputs_from
from landscape.store.arrays import joined_matrix, open_matrix
from landscape.store.manifest import digest
from landscape.text import WordIndex
from landscape.text.keywords import KeywordExtractor
from landscape.text.tagger import tagger_name
from landscape.text.word_index import index_row, paper_key

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.embeddings.neighbours import IndexReport


LEXICAL, INDEX, CUTOFFS, PAPER_ROWS = "lexical", "index.faiss", "cutoffs.parquet", "papers.arrow"
_INDEXED, _MANAGED = "papers.npy", ".managed.json"
_ROWS = 500  # papers per batch
_TEXT = ("paper_id", "title", "abstract", "keywords", "ads_keywords")


def _index_run(context: Context) -> StageResult:
    n_indexed = _index_words(context)
    with progress("Search index", total=None):
        _write_cutoffs(context)
        report = _index_vectors(context)
        _write_paper_table(context)
    words = sorted(f"{LEXICAL}/{path.name}" for path in _files(context.folder / LEXICAL))
    outputs = [*words, CUTOFFS, PAPER_ROWS, *([INDEX] if report else [])]
    clear_work(context, LEXICAL)
    details: dict[str, object] = {"indexed": n_indexed, "exact": report is None}
    if report is not None:
        n_probe, n_cells, recall = astuple(report)
        details |= {"n_probe": n_probe, "n_cells": n_cells, "recall_at_100": recall}
    return StageResult(rows=context.manifest.n_papers, outputs=outputs, details=details)


def _files(folder: Path) -> list[Path]:
    """List the files of a word index, except lock files."""
    return [path for path in folder.iterdir() if path.is_file() and path.suffix != ".lock"]


def _index_words(context: Context) -> int:
    """Update the word index in a temporary directory, then rename the directory.

    Only new, removed and changed papers are processed. Tantivy never changes a file in place, so
    the old index is copied with hard links.
    """
    temporary, place = context.work(LEXICAL, "new"), context.folder / LEXICAL
    parts = context.part_files(PAPERS)
    named = np.array([paper_key(paper_id) for paper_id in paper_ids(parts)], dtype=np.uint64)
    texts = [row_keys(path) for path in parts]
    keys = np.column_stack([named, np.concatenate([*texts, np.zeros((0, 2), np.uint64)])])
    known = _link_old(context, temporary)
    is_new = match_rows(keys, known) < 0
    if len(known) == 0 or is_new.sum() > len(keys) // 2:
        shutil.rmtree(temporary, ignore_errors=True)
        index = WordIndex(temporary, create=True)
        is_new[:] = True
    else:
        index = WordIndex(temporary)
        index.remove(known[match_rows(known, keys) < 0, 0].tolist())
    with progress("Word index", total=len(keys)) as advance:
        advance(len(keys) - int(is_new.sum()))
        index.write(_rows(parts, is_new, workers=context.options.n_workers, advance=advance))
    del index
    np.save(temporary / _INDEXED, keys)
    mode = stat.S_IMODE((temporary / _INDEXED).stat().st_mode)
    for path in temporary.iterdir():
        if path.suffix == ".lock":
            path.unlink()
        else:
            path.chmod(mode)  # tantivy ignores the umask of the user
    shutil.rmtree(place, ignore_errors=True)
    temporary.rename(place)
    return int(is_new.sum())


def _link_old(context: Context, temporary: Path) -> NDArray[np.uint64]:
    """Link the files of the old index and return its keys, or no keys if it is damaged."""
    shutil.rmtree(temporary, ignore_errors=True)
    nothing = np.zeros((0, 3), dtype=np.uint64)
    previous = context.previous
    if previous is None:
        return nothing
    known_files, place = previous.manifest.files, previous.folder / LEXICAL
    try:
        known = np.load(place / _INDEXED, allow_pickle=False)
        temporary.mkdir(parents=True)
        linked = []
        for path in _files(place):
            if path.name == _MANAGED:
                continue
            if known_files[f"{LEXICAL}/{path.name}"].sha256 != sha256_of(path):
                return nothing
            if path.name != _INDEXED:  # this file is written again, and not by a rename
                os.link(path, temporary / path.name)
                linked.append(path.name)
        # Tantivy deletes the files on this list. Write a new list, because the list of a downloaded
        # atlas could contain any file.
        (temporary / _MANAGED).write_text(json.dumps(linked))
        # After an interrupted build, the files may not match, so the counts are compared.
        if known.ndim != 2 or known.shape[1] != 3 or len(WordIndex(temporary)) != len(known):
            return nothing
    except Exception:  # noqa: BLE001 - an unusable index is rebuilt
        return nothing
    return known.astype(np.uint64)


def _rows(
    parts: list[Path], is_new: NDArray[np.bool_], *, workers: int, advance: Callable[[int], None]
) -> Iterator[tuple[int, str, str]]:
    """Tokenise the texts of new papers in parallel."""
    alone = is_new.sum() <= 2 * _ROWS
    for rows in in_order(_tokenise, _batches(parts, is_new), workers=1 if alone else workers):
        advance(len(rows))
        yield from rows


def _batches(
    parts: list[Path], is_new: NDArray[np.bool_]
) -> Iterator[list[tuple[str, str, str, list[str]]]]:
    start = 0
    for path in parts:
        for table in read_batches(path, _TEXT, _ROWS):
            chosen = np.flatnonzero(is_new[start : start + table.num_rows])
            start += table.num_rows
            columns = table.take(chosen).to_pydict()
            words = [
                [*(own or []), *(ads or [])]
                for own, ads in zip(columns["keywords"], columns["ads_keywords"], strict=True)
            ]
            titles, texts = ([t or "" for t in columns[name]] for name in ("title", "abstract"))
            yield list(zip(columns["paper_id"], titles, texts, words, strict=True))


def _tokenise(batch: list[tuple[str, str, str, list[str]]]) -> list[tuple[int, str, str]]:
    return [index_row(*paper) for paper in batch]


def _write_cutoffs(context: Context) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from landscape.embeddings.neighbours import neighbour_distances

    with joined_matrix(context.part_files(EMBEDDINGS, ".npy")) as vectors:
        d95 = neighbour_distances(vectors)
    table = pa.table({"k": pa.array(range(1, len(d95) + 1), pa.int32()), "d95": d95})
    with replacing(context.folder / CUTOFFS) as temporary:
        pq.write_table(table, temporary)


def _index_vectors(context: Context) -> IndexReport | None:
    """Write the approximate index if there are too many vectors for an exact search."""
    from landscape.embeddings.neighbours import MAX_EXACT, write_index

    parts = [open_matrix(path) for path in context.part_files(EMBEDDINGS, ".npy")]
    if sum(part.size for part in parts) <= MAX_EXACT:
        (context.folder / INDEX).unlink(missing_ok=True)
        return None
    with replacing(context.folder / INDEX) as temporary:
        return write_index(parts, temporary)


def _write_paper_table(context: Context) -> None:
    """Write the papers to an Arrow file, which allows fast access to single rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with replacing(context.folder / PAPER_ROWS) as temporary:
        writer = None
        for path in context.part_files(PAPERS):
            with pq.ParquetFile(path) as file:
                if writer is None:
                    writer = pa.ipc.new_file(str(temporary), file.schema_arrow)
                for batch in file.iter_batches(batch_size=4096):
                    writer.write_batch(batch)
        if writer is not None:
            writer.close()


SEARCH_STAGE = Stage(
    name="search",
    version=2,
    inputs=inputs_from(papers="ingest", keywords="keywords.keywords", vectors="embeddings.vectors"),
    run=_index_run,
)


VERSION = 2
_ROW_GROUP = 16384


def _keyword_parameters(context: Context) -> dict[str, object]:
    options = context.options
    return {"limit": options.keywords_limit, "tagger": tagger_name(tagger=options.tagger)}


def _keywords_run(context: Context) -> StageResult:
    parameters, options = _keyword_parameters(context), context.options
    previous = context.previous
    record = previous.stage("keywords") if previous else None
    if record and (record.version, record.parameters) != (VERSION, parameters):
        record = None
    files, n_reused = context.part_files(PAPERS), 0
    # The files of the last version that an update keeps contain their keywords already.
    kept = {path.stem for path in files if record and context.is_kept(f"{PAPERS}/{path.name}")}
    known, known_keys = _read_keywords([]), np.zeros((0, 2), np.uint64)
    if previous and record and len(kept) < len(files):
        known = _read_keywords(previous.files(PAPERS, without=kept))
        known_keys = previous.keys(without=kept)
    with (
        progress("Keywords", total=context.manifest.n_papers) as advance,
        KeywordExtractor(
            limit=options.keywords_limit, workers=options.n_workers, tagger=options.tagger
        ) as extractor,
    ):
        for path, part in zip(files, context.manifest.parts, strict=True):
            if path.stem in kept:
                n_reused += part.rows
                advance(part.rows)
                continue
            work, rows = PartWork.plan(
                path,
                known_keys,
                folder=context.work("keywords", path.stem),
                settings_digest=digest([VERSION, parameters]),
                ending=".parquet",
            )
            n_reused += work.n_reused
            advance(work.n_reused)
            chunks = work.finish(partial(_write_chunk, extractor), advance)
            _fill_column(path, _in_order(known, chunks, rows))
    clear_work(context, "keywords")
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[f"{PAPERS}/{path.name}" for path in files],
        products={"keywords": column_digest(files, ["keywords"])},
        model={"name": parameters["tagger"]},
        details={"reused": n_reused},
    )


def _write_chunk(extractor: KeywordExtractor, texts: list[str], path: Path) -> None:
    import pyarrow as pa

    column = pa.array(extractor.extract(texts), type=pa.list_(pa.string()))
    write_table(path, pa.table({"keywords": column}))


def _read_keywords(files: list[Path]) -> pa.Array:
    import pyarrow as pa

    chunks = [chunk for path in files for chunk in read_columns([path], ["keywords"])[0].chunks]
    return pa.chunked_array(chunks, type=pa.list_(pa.string())).combine_chunks()


def _in_order(known: pa.Array, chunks: list[Path], rows: NDArray[np.int64]) -> pa.Array:
    """Return the keywords of a part. `rows` are indices of known keywords, then new keywords."""
    import pyarrow as pa

    old = rows < len(known)
    place = rows - len(known) + int(old.sum())  # reused keywords are first
    place[old] = np.arange(int(old.sum()))
    used = known.take(pa.array(rows[old]))
    return pa.concat_arrays([used, _read_keywords(chunks)]).take(pa.array(place))


def _fill_column(path: Path, keywords: pa.Array) -> None:
    """Write the keywords into a part. A fixed row-group size makes the file reproducible."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as source, replacing(path) as temporary:
        schema, start = source.schema_arrow, 0
        place, field = schema.get_field_index("keywords"), schema.field("keywords")
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for batch in source.iter_batches(batch_size=_ROW_GROUP):
                column = keywords.slice(start, batch.num_rows).cast(field.type)
                filled = pa.Table.from_batches([batch]).set_column(place, field, column)
                writer.write_table(filled, row_group_size=_ROW_GROUP)
                start += batch.num_rows


KEYWORDS_STAGE = Stage(
    name="keywords",
    version=VERSION,
    parameters=_keyword_parameters,
    # This stage changes the files of the ingest stage, so it depends on all outputs of that stage.
    inputs=inputs_from(papers="ingest"),
    run=_keywords_run,
)
