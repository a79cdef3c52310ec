"""Stage that fills the ``keywords`` column of ``papers.parquet``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import replacing
from landscape._progress import progress
from landscape.pipeline._executor import PartWork
from landscape.pipeline._ingest import PAPERS
from landscape.pipeline._rows import column_digest, read_columns, write_table
from landscape.pipeline.stages import Context, Stage, StageResult, clear_work, inputs_from, recall
from landscape.store.manifest import digest
from landscape.text.keywords import KeywordExtractor
from landscape.text.tagger import tagger_name

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

VERSION = 2
_ROW_GROUP = 16384


def _parameters(context: Context) -> dict[str, object]:
    options = context.options
    return {"limit": options.keywords_limit, "tagger": tagger_name(tagger=options.tagger)}


def _run(context: Context) -> StageResult:
    parameters, options = _parameters(context), context.options
    previous = recall(context.folder)
    record = previous.stage("keywords") if previous else None
    if record and (record.version, record.parameters) != (VERSION, parameters):
        record = None
    known = _read_keywords(previous.files(PAPERS) if previous and record else [])
    known_keys = previous.keys() if previous and record else np.zeros((0, 2), np.uint64)
    files, n_reused = context.part_files(PAPERS), 0
    with (
        progress("Keywords", total=context.manifest.n_papers) as advance,
        KeywordExtractor(
            limit=options.keywords_limit, workers=options.n_workers, tagger=options.tagger
        ) as extractor,
    ):
        for path in files:
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
    parameters=_parameters,
    # This stage changes the files of the ingest stage, so it depends on all outputs of that stage.
    inputs=inputs_from(papers="ingest"),
    run=_run,
)
