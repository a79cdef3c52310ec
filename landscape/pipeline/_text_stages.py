"""Stages of the texts: keywords, and the indices of words and vectors with the paper table."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import link_file, replacing
from landscape._progress import progress
from landscape.errors import AtlasError
from landscape.pipeline._embeddings import EMBEDDINGS, sampled_neighbours
from landscape.pipeline._executor import ROWS, Slice, slices
from landscape.pipeline._ingest_stage import PAPERS
from landscape.pipeline._rows import (
    Chunk,
    PartWork,
    finish,
    part_digests,
    read_columns,
    write_table,
)
from landscape.pipeline.stages import (
    Context,
    Stage,
    StageResult,
    clear_work,
    inputs_from,
    keep_only,
)
from landscape.store.arrays import open_matrix
from landscape.store.manifest import StageRecord, check_once, digest
from landscape.text import extract_keywords
from landscape.text.keywords import Method
from landscape.text.tagger import tagger_name
from landscape.text.word_index import (
    Segment,
    index_row,
    list_segments,
    read_segments,
    segment_name,
    write_segment,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.embeddings.neighbours import IndexReport


LEXICAL, INDEX, CUTOFFS, PAPER_ROWS = "lexical", "index.faiss", "cutoffs.parquet", "rows.arrow"
_SEGMENT = 8 * ROWS  # maximum number of papers in a segment of the word index
_SHARD = 32 * ROWS  # number of papers that are added to the index of vectors at a time
_MOST_GROWTH = 1.5  # of the number of cells; then the papers have more than doubled
_TEXT = ("paper_id", "title", "abstract", "keywords", "ads_keywords")


def _index_run(context: Context) -> StageResult:
    words, n_indexed = _index_words(context)
    tables = _write_paper_tables(context)
    with progress("Search index", total=None):
        _write_cutoffs(context)
        report = _index_vectors(context)
    details: dict[str, object] = {"indexed": n_indexed, "exact": report is None}
    if report is not None:
        n_probe, n_cells, recall = astuple(report)
        details |= {"n_probe": n_probe, "n_cells": n_cells, "recall_at_100": recall}
    clear_work(context, LEXICAL)
    clear_work(context, INDEX)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[*words, *tables, CUTOFFS, *([INDEX] if report else [])],
        details=details,
    )


def _index_words(context: Context) -> tuple[list[str], int]:
    """Write the word index, whose segments contain some successive papers of a part each.

    The name of a segment contains a hash of its part, so the segments of parts that have not
    changed are linked. Return the names of all files and the number of papers that were indexed.
    """
    work, joined = context.work(LEXICAL), context.work(LEXICAL, "joined")
    shutil.rmtree(joined, ignore_errors=True)
    joined.mkdir(parents=True)
    files, version = context.manifest.files, SEARCH_STAGE.version
    pieces = {
        segment_name(f"{version} {files[f'{PAPERS}/{path.name}'].sha256} {piece.start}"): piece
        for path, part in zip(context.part_files(PAPERS), context.manifest.parts, strict=True)
        for piece in slices(path, part.rows, size=_SEGMENT)
    }
    known = _known_segments(context)
    todo = [(piece, name, work / name) for name, piece in pieces.items() if name not in known]
    n_indexed = sum(len(piece) for piece, *_ in todo)
    with context.progress("Word index", total=context.manifest.n_papers) as advance:
        advance(context.manifest.n_papers - n_indexed)
        for segment in context.executor.map(_write_segment, todo, n_papers=n_indexed):
            known[segment.name] = segment, work / segment.name
            advance(segment.n_papers)
    segments = [known[name] for name in pieces]
    for segment, folder in segments:
        for path in segment.files(folder):
            link_file(path, joined / path.name)
    list_segments(joined, [segment for segment, _ in segments])
    place = context.folder / LEXICAL
    shutil.rmtree(place, ignore_errors=True)
    joined.rename(place)
    return sorted(f"{LEXICAL}/{path.name}" for path in place.iterdir()), n_indexed


def _last_search(context: Context) -> StageRecord | None:
    """Return the record of the last version, if its indexes have the same format."""
    previous = context.previous
    record = previous.manifest.stages.get("search") if previous else None
    return record if record is not None and record.version == SEARCH_STAGE.version else None


def _known_segments(context: Context) -> dict[str, tuple[Segment, Path]]:
    """Return the undamaged segments of the last version, and their folder, by name."""
    previous = context.previous
    if previous is None or _last_search(context) is None:
        return {}
    folder, files = previous.folder / LEXICAL, previous.manifest.files

    def is_whole(path: Path) -> bool:
        name = f"{LEXICAL}/{path.name}"
        return name in files and not check_once(path, files[name])

    try:
        segments = read_segments(folder)
    except AtlasError:
        return {}  # all papers are indexed again
    found = {one.name: one.files(folder) for one in segments}
    return {
        one.name: (one, folder)
        for one in segments
        if found[one.name] and all(map(is_whole, found[one.name]))
    }


def _write_segment(task: tuple[Slice, str, Path]) -> Segment:
    piece, name, folder = task
    if not folder.exists():
        growing = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder.parent))
        write_segment(growing, _index_rows(piece), name=name)
        try:
            growing.rename(folder)
        except OSError:
            if not folder.exists():  # another worker has written the same segment
                raise
    (segment,) = read_segments(folder)
    return segment


def _index_rows(piece: Slice) -> Iterator[tuple[int, str, str]]:
    for some in piece.divide():
        columns = some.read(_TEXT).to_pydict()
        words = [
            [*(own or []), *(ads or [])]
            for own, ads in zip(columns["keywords"], columns["ads_keywords"], strict=True)
        ]
        titles, texts = ([t or "" for t in columns[name]] for name in ("title", "abstract"))
        yield from map(index_row, columns["paper_id"], titles, texts, words)


def _write_cutoffs(context: Context) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from landscape.embeddings.neighbours import neighbour_distances

    d95 = neighbour_distances(sampled_neighbours(context.folder, context.manifest))
    table = pa.table({"k": pa.array(range(1, len(d95) + 1), pa.int32()), "d95": d95})
    with replacing(context.folder / CUTOFFS) as temporary:
        pq.write_table(table, temporary)


def _index_vectors(context: Context) -> IndexReport | None:
    """Write the approximate index if there are too many vectors for an exact search."""
    from landscape.embeddings.neighbours import MAX_EXACT, join_index, train_index

    files = context.part_files(EMBEDDINGS, ".npy")
    parts = [open_matrix(path) for path in files]
    if sum(part.size for part in parts) <= MAX_EXACT:
        (context.folder / INDEX).unlink(missing_ok=True)
        return None
    # The folder has the hash of all vectors, so the files of an interrupted build fit.
    mark = digest([SEARCH_STAGE.version, context.product("embeddings", "vectors")])
    work = context.work(INDEX, mark)
    work.mkdir(parents=True, exist_ok=True)
    trained = work / "trained.faiss"
    known, n_known = _known_index(context)
    if not trained.is_file():
        with replacing(trained) as temporary:
            train_index(parts, temporary, known=known)
    tasks, start = [], 0
    for path, part in zip(files, parts, strict=True):
        if start >= n_known:
            tasks += [(piece, start, trained) for piece in slices(path, len(part), size=_SHARD)]
        start += len(part)
    shards = [*context.executor.map(_write_shard, tasks, n_papers=start - n_known)]
    with replacing(context.folder / INDEX) as temporary:
        return join_index(parts, [known or trained, *shards], temporary)


def _known_index(context: Context) -> tuple[Path | None, int]:
    """Return the index of the last version and its number of papers, if these are the first ones.

    An index is trained again when the atlas needs many more cells.
    """
    from landscape.embeddings.neighbours import cells_for, read_index

    previous, record = context.previous, _last_search(context)
    if previous is None or record is None or INDEX not in record.outputs:
        return None, 0
    old, new = previous.manifest.parts, context.manifest.parts[: len(previous.manifest.parts)]
    are_first = [one.name for one in old] == [one.name for one in new] and context.is_kept(
        *(f"{EMBEDDINGS}/{part.name}.npy" for part in old)
    )
    n_known, file = previous.manifest.n_papers, previous.folder / INDEX
    n_cells = record.details.get("n_cells")
    is_large_enough = isinstance(n_cells, int) and n_cells * _MOST_GROWTH >= cells_for(
        context.manifest.n_papers
    )
    if not (are_first and is_large_enough):
        return None, 0
    if check_once(file, record.outputs[INDEX]):
        return None, 0
    dimension = open_matrix(context.part_files(EMBEDDINGS, ".npy")[0]).shape[1]
    try:
        read_index(file, n_papers=n_known, dimension=dimension)
    except AtlasError:
        return None, 0
    return file, n_known


def _write_shard(task: tuple[Slice, int, Path]) -> Path:
    """Add the vectors of some papers to a copy of the trained index."""
    from landscape.embeddings.neighbours import write_shard

    piece, first, trained = task
    file = trained.with_name(f"{first + piece.start:012d}.faiss")
    if not file.is_file():
        with replacing(file) as temporary:
            rows = open_matrix(piece.part)[piece.start : piece.stop]
            write_shard(rows, first + piece.start, trained, temporary)
    return file


def _write_paper_tables(context: Context) -> list[str]:
    """Write the papers to Arrow files, which allow fast access to single rows."""
    files = context.part_files(PAPER_ROWS, ".arrow")
    (context.folder / PAPER_ROWS).mkdir(exist_ok=True)
    pairs = zip(context.part_files(PAPERS), files, strict=True)
    todo = [
        (papers, file)
        for papers, file in pairs
        if not context.is_kept(f"{PAPERS}/{papers.name}", f"{PAPER_ROWS}/{file.name}")
    ]
    rows = {part.name: part.rows for part in context.manifest.parts}
    with context.progress("Table of papers", total=context.manifest.n_papers) as advance:
        advance(sum(rows.values()) - sum(rows[papers.stem] for papers, _ in todo))
        n_papers = sum(rows[papers.stem] for papers, _ in todo)
        for papers, _ in zip(
            todo, context.executor.map(_write_paper_table, todo, n_papers=n_papers), strict=True
        ):
            advance(rows[papers[0].stem])
    keep_only(context.folder / PAPER_ROWS, {file.name for file in files})
    return [f"{PAPER_ROWS}/{file.name}" for file in files]


def _write_paper_table(task: tuple[Path, Path]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    papers, target = task
    with (
        pq.ParquetFile(papers) as file,
        replacing(target) as temporary,
        pa.ipc.new_file(str(temporary), file.schema_arrow) as writer,
    ):
        for batch in file.iter_batches(batch_size=ROWS):
            writer.write_batch(batch)


SEARCH_STAGE = Stage(
    name="search",
    version=3,
    inputs=inputs_from(papers="ingest", keywords="keywords.keywords", vectors="embeddings.vectors"),
    run=_index_run,
)


VERSION = 3


def _keyword_parameters(context: Context) -> dict[str, object]:
    options = context.options
    # Atlases of earlier versions do not name the method, and keep their keywords.
    other = {} if options.keywords == "landscape" else {"method": options.keywords}
    return {"limit": options.keywords_limit, "tagger": tagger_name(tagger=options.tagger), **other}


def _keywords_run(context: Context) -> StageResult:
    parameters, options = _keyword_parameters(context), context.options
    previous = context.previous
    record = previous.stage("keywords") if previous else None
    if record and (record.version, record.parameters) != (VERSION, parameters):
        record = None
    files = context.part_files(PAPERS)
    # The files of the last version that an update keeps contain their keywords already.
    kept = {path.stem for path in files if record and context.is_kept(f"{PAPERS}/{path.name}")}
    known, known_keys = _read_keywords([]), np.zeros((0, 2), np.uint64)
    if previous and record and len(kept) < len(files):
        known = _read_keywords(previous.files(PAPERS, without=kept))
        known_keys = previous.keys(without=kept)
    planned = [
        PartWork.plan(
            path,
            known_keys,
            folder=context.work("keywords", path.stem),
            settings_digest=digest([VERSION, parameters]),
            ending=".parquet",
        )
        for path in files
        if path.stem not in kept
    ]
    n_kept = sum(part.rows for part in context.manifest.parts if part.name in kept)
    extract = partial(
        _extract, limit=options.keywords_limit, tagger=options.tagger, method=options.keywords
    )
    with context.progress("Keywords", total=context.manifest.n_papers) as advance:
        advance(n_kept)
        finish(context.executor, extract, planned, advance)
    for one in planned:
        _fill_column(one.part, _in_order(known, [chunk.file for chunk in one.chunks], one.places))
    clear_work(context, "keywords")
    digests = part_digests(files, ["keywords"], record, kept)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[f"{PAPERS}/{path.name}" for path in files],
        products={"keywords": digest([*digests.values()])},
        model={"name": parameters.get("method", parameters["tagger"])},
        details={"reused": n_kept + sum(one.n_reused for one in planned), "digests": digests},
    )


def _extract(chunk: Chunk, *, limit: int, tagger: str, method: Method) -> None:
    import pyarrow as pa

    found = extract_keywords(chunk.texts(), limit=limit, tagger=tagger, method=method)
    column = pa.array(found, type=pa.list_(pa.string()))
    write_table(chunk.file, pa.table({"keywords": column}))


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
        keywords = keywords.cast(field.type)
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for batch in source.iter_batches(batch_size=ROWS):
                column = keywords.slice(start, batch.num_rows)
                filled = pa.Table.from_batches([batch]).set_column(place, field, column)
                writer.write_table(filled, row_group_size=ROWS)
                start += batch.num_rows


KEYWORDS_STAGE = Stage(
    name="keywords",
    version=VERSION,
    parameters=_keyword_parameters,
    # This stage changes the files of the ingest stage, so it depends on all outputs of that stage.
    inputs=inputs_from(papers="ingest"),
    run=_keywords_run,
)
