"""Stage that fills the ``keywords`` column of ``papers.parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import replacing
from landscape._progress import progress
from landscape.pipeline._executor import PartWork
from landscape.pipeline._ingest import PAPERS
from landscape.pipeline._rows import column_digest, match_rows, read_columns, row_keys, write_table
from landscape.pipeline._stages import (
    Context,
    Previous,
    Stage,
    StageResult,
    clear_work,
    inputs_from,
    recall,
)  # fmt: skip
from landscape.store._manifest import digest

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.text._keywords import KeywordExtractor

VERSION = 2
_ROW_GROUP = 16384


def _parameters(context: Context) -> dict[str, Any]:
    from landscape.text._tagger import tagger_name

    return {
        "limit": context.options.keywords_limit,
        "tagger": tagger_name(tagger=context.options.tagger),
    }


def _run(context: Context) -> StageResult:
    parameters = _parameters(context)
    known = _Known(recall(context.folder), parameters)
    files = context.part_files(PAPERS)
    n_reused = 0
    with ExitStack() as stack:
        advance = stack.enter_context(progress("Keywords", total=context.manifest.n_papers))
        extractor = _LazyExtractor(context, stack)
        for path in files:
            keys = row_keys(path)
            found = match_rows(keys, known.keys)
            new = np.flatnonzero(found < 0)
            n_reused += len(keys) - len(new)
            advance(len(keys) - len(new))
            work = PartWork(
                path,
                new,
                keys,
                folder=context.work("keywords", path.stem),
                settings_digest=digest([VERSION, parameters]),
                ending=".parquet",
            )
            chunks = work.finish(extractor.write, advance)
            _fill_column(path, _in_order(known.keywords, chunks, found))
    clear_work(context, "keywords")
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[f"{PAPERS}/{path.name}" for path in files],
        products={"keywords": column_digest(files, ["keywords"])},
        model={"name": parameters["tagger"]},
        details={"reused": n_reused},
    )


class _Known:
    """Keywords of the last finished build, if its parameters were the same."""

    def __init__(self, previous: Previous | None, parameters: dict[str, Any]) -> None:
        record = previous.stage("keywords") if previous else None
        usable = record and (record.version, record.parameters) == (VERSION, parameters)
        self.keywords = _read_keywords(previous.files(PAPERS) if previous and usable else [])
        self.keys = previous.keys() if previous and usable else np.zeros((0, 2), np.uint64)


class _LazyExtractor:
    """Extractor that starts its processes for the first chunk."""

    def __init__(self, context: Context, stack: ExitStack) -> None:
        self._context, self._stack = context, stack
        self._extractor: KeywordExtractor | None = None

    def write(self, texts: list[str], path: Path) -> None:
        import pyarrow as pa

        if self._extractor is None:
            from landscape.text._keywords import KeywordExtractor

            options = self._context.options
            self._extractor = self._stack.enter_context(
                KeywordExtractor(
                    limit=options.keywords_limit, workers=options.n_workers, tagger=options.tagger
                )
            )
        column = pa.array(self._extractor.extract(texts), type=pa.list_(pa.string()))
        write_table(path, pa.table({"keywords": column}))


def _read_keywords(files: list[Path]) -> pa.Array:
    import pyarrow as pa

    chunks = [chunk for path in files for chunk in read_columns([path], ["keywords"])[0].chunks]
    return pa.chunked_array(chunks, type=pa.list_(pa.string())).combine_chunks()


def _in_order(known: pa.Array, chunks: list[Path], found: NDArray[np.int64]) -> pa.Array:
    """Keywords of a part: row ``i`` has the known entry ``found[i]``, or the next new one."""
    import pyarrow as pa

    old, new = np.flatnonzero(found >= 0), np.flatnonzero(found < 0)
    place = np.empty(len(found), dtype=np.int64)
    place[np.concatenate([old, new])] = np.arange(len(found))
    return pa.concat_arrays([known.take(pa.array(found[old])), _read_keywords(chunks)]).take(
        pa.array(place)
    )


def _fill_column(path: Path, keywords: pa.Array) -> None:
    """Write the keywords into a part."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as source, replacing(path) as temporary:
        schema = source.schema_arrow
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            start = 0
            for batch in _row_groups(source):
                column = keywords.slice(start, batch.num_rows)
                field = schema.field("keywords")
                filled = batch.set_column(
                    schema.get_field_index("keywords"), field, column.cast(field.type)
                )
                writer.write_table(filled, row_group_size=_ROW_GROUP)
                start += batch.num_rows


def _row_groups(source: Any) -> Iterator[pa.Table]:
    """Yield tables of a fixed number of rows, so that the file is reproducible."""
    import pyarrow as pa

    for batch in source.iter_batches(batch_size=_ROW_GROUP):
        yield pa.Table.from_batches([batch])


KEYWORDS_STAGE = Stage(
    name="keywords",
    version=VERSION,
    parameters=_parameters,
    # The whole stage, not only the texts, because the column is in the files of the records.
    inputs=inputs_from(papers="ingest"),
    run=_run,
)
