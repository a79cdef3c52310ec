"""Layers of an atlas: facility mentions, reviews and thesaurus concepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import data_file, replacing, sha256_of
from landscape._progress import progress
from landscape.corpus.facilities import missions_file
from landscape.corpus.thesaurus import EMBEDDED, embedded_thesaurus, read_thesaurus
from landscape.pipeline._executor import in_order
from landscape.pipeline._ingest import PAPERS
from landscape.pipeline._rows import paper_ids, read_batches, write_table
from landscape.pipeline.map_stages import embed_texts, vectors_of
from landscape.pipeline.stages import Context, Stage, StageResult, inputs_from, keep_only, read_once
from landscape.store.tables import layer_schema

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.corpus.thesaurus import Thesaurus
    from landscape.overlays.thesaurus.matching import TermMatches, TermReader

MISSIONS = "missions.parquet"
_AT_ONCE = 2_000  # number of papers per batch
_FEW = 10_000  # maximum number of papers for which one process is faster than several


def _missions_run(context: Context) -> StageResult:
    workers = 1 if context.manifest.n_papers <= _FEW else context.options.n_workers
    found: list[pd.DataFrame] = []
    with progress("Missions", total=context.manifest.n_papers) as advance:
        columns = ["title", "abstract", "date", "date_precision"]
        tables = _tables(context, _find, columns, found, advance, workers=workers)
        names = write_layer(context, MISSIONS, tables)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={
            "mentions": sum(len(table) for table in found),
            "papers": sum(table["row"].nunique() for table in found),
            "facilities": len(set[str]().union(*(table["facility"] for table in found))),
        },
    )


def _find(papers: pd.DataFrame) -> pd.DataFrame:
    from landscape.overlays.missions import find_in_papers

    days = map(_last_day, papers["date"], papers["date_precision"])
    return find_in_papers(papers["title"].tolist(), papers["abstract"].tolist(), days)


def _last_day(day: date | None, precision: str | None) -> date | None:
    """Return the last day of a date that is known to the year or the month."""
    if day is None or precision == "day":
        return day
    after = (
        date(day.year + 1, 1, 1)
        if precision == "year" or day.month == 12
        else (date(day.year, day.month + 1, 1))
    )
    return after - timedelta(days=1)


def _tables(
    context: Context,
    find: Callable[[pd.DataFrame], pd.DataFrame],
    columns: list[str],
    found: list[pd.DataFrame],
    advance: Callable[[int], None],
    *,
    workers: int = 1,
) -> Iterator[pd.DataFrame]:
    """Apply a function to the papers of each part in batches. Append the tables to `found`."""
    import pandas as pd

    for path in context.part_files(PAPERS):
        nothing = pd.DataFrame({name: [] for name in columns}, dtype=object)
        frames, start = [find(nothing)], 0
        batches = (batch.to_pandas() for batch in read_batches(path, columns, _AT_ONCE))
        for n, frame in in_order(partial(_apply, find), batches, workers=workers):
            frames.append(frame.assign(row=frame["row"] + start))
            start += n
            advance(n)
        found.append(pd.concat(frames, ignore_index=True))
        yield found[-1]


def _apply(
    find: Callable[[pd.DataFrame], pd.DataFrame], papers: pd.DataFrame
) -> tuple[int, pd.DataFrame]:
    return len(papers), find(papers)


MISSIONS_STAGE = Stage(
    name="missions",
    version=5,
    parameters=lambda _: {"facilities": sha256_of(missions_file())},
    inputs=inputs_from(papers="ingest"),
    run=_missions_run,
)


REVIEWS = "reviews.parquet"
_COLUMNS = ["title", "abstract", "doctype", "journal", "bibcode", "arxiv_id", "doi"]


def _reviews_run(context: Context) -> StageResult:
    from landscape.overlays.reviews import read_review_list, recognise

    lists = (read_once(read_review_list, path) for path in context.options.known_reviews)
    known = frozenset[str]().union(*lists)
    found: list[pd.DataFrame] = []
    with progress("Reviews", total=context.manifest.n_papers) as advance:
        tables = _tables(context, partial(recognise, known=known), _COLUMNS, found, advance)
        names = write_layer(context, REVIEWS, tables)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={"reviews": sum(map(len, found)), "listed": len(known)},
    )


REVIEWS_STAGE = Stage(
    name="reviews",
    version=2,
    parameters=lambda context: {"lists": [sha256_of(p) for p in context.options.known_reviews]},
    inputs=inputs_from(papers="ingest"),
    run=_reviews_run,
)


UAT, THESAURUS = "uat.parquet", "thesaurus.parquet"
_TEXT = ("title", "abstract", "ads_keywords")
_UatBatch = tuple[Path | None, list[str], list[str], list[list[str]]]


def _uat_run(context: Context) -> StageResult:
    thesaurus = _thesaurus(context.options.thesaurus)
    context.begin_writing()
    with progress("Thesaurus", total=context.manifest.n_papers) as advance:
        tags = _tags(context, thesaurus, advance)
    names = write_layer(context, UAT, _by_part(context, tags))
    with replacing(context.folder / THESAURUS) as temporary:
        thesaurus.to_frame().to_parquet(temporary, index=False)
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=[THESAURUS, *names],
        details={
            "version": thesaurus.version,
            "concepts": len(thesaurus),
            "concepts_found": int(tags["concept_id"].nunique()),
            "papers_tagged": int(tags["row"].nunique()),
        },
    )


def _tags(context: Context, thesaurus: Thesaurus, advance: Callable[[int], None]) -> pd.DataFrame:
    """Tag all papers with concepts at once, because the tagger learns from the whole corpus."""
    from landscape.overlays.thesaurus.matching import join_term_matches
    from landscape.overlays.thesaurus.tagging import tag_wording

    _reader.cache_clear()  # the file may have changed since the last build
    read = []
    workers = 1 if context.manifest.n_papers <= _FEW else context.options.n_workers
    for wording in in_order(_read, _uat_batches(context), workers=workers):
        read.append(wording)
        advance(wording.n_papers)
    _reader.cache_clear()
    wording = join_term_matches(read)
    read.clear()
    with vectors_of(context) as vectors:
        return tag_wording(wording, vectors, thesaurus, _concept_vectors(context, thesaurus))


def _uat_batches(context: Context) -> Iterator[_UatBatch]:
    path = context.options.thesaurus
    yield path, [], [], []
    for part in context.part_files(PAPERS):
        for batch in read_batches(part, _TEXT, _AT_ONCE):
            titles, abstracts, keywords = (batch[name].to_pylist() for name in _TEXT)
            yield path, titles, abstracts, keywords


def _read(batch: _UatBatch) -> TermMatches:
    path, titles, abstracts, keywords = batch
    return _reader(path).read(titles, abstracts, keywords)


@lru_cache(maxsize=1)
def _reader(path: Path | None) -> TermReader:
    """Return the term reader, which is created once per process."""
    from landscape.overlays.thesaurus.matching import TermReader

    return TermReader(_thesaurus(path))


def _thesaurus(path: Path | None) -> Thesaurus:
    return embedded_thesaurus() if path is None else read_once(read_thesaurus, path)


def _concept_vectors(context: Context, thesaurus: Thesaurus) -> NDArray[np.float32] | None:
    """Embed the concepts with the embedding model of the papers, unless the model is paid."""
    from landscape.overlays.thesaurus.tagging import concept_texts

    return embed_texts(context, concept_texts(thesaurus)[1], "Concepts")


def _by_part(context: Context, tags: pd.DataFrame) -> list[pd.DataFrame]:
    tags = tags.sort_values(["row", "score"], ascending=[True, False], kind="stable")
    starts = np.cumsum([0, *(part.rows for part in context.manifest.parts)])
    cuts = np.searchsorted(tags["row"].to_numpy(), starts)
    return [
        tags.iloc[first:last].assign(row=tags["row"].iloc[first:last] - start)
        for first, last, start in zip(cuts, cuts[1:], starts, strict=False)
    ]


UAT_STAGE = Stage(
    name="uat",
    version=4,
    parameters=lambda context: {
        "thesaurus": sha256_of(context.options.thesaurus or data_file(EMBEDDED))
    },
    inputs=inputs_from(papers="ingest", vectors="embeddings.vectors"),
    run=_uat_run,
    checks_first=True,
)


def write_layer(context: Context, layer: str, tables: Iterable[pd.DataFrame]) -> list[str]:
    """Write the tables of a layer, one table per part of the atlas."""
    import pyarrow as pa

    schema = layer_schema(layer)
    (context.folder / layer).mkdir(exist_ok=True)
    files = context.part_files(layer)
    for papers, path, table in zip(context.part_files(PAPERS), files, tables, strict=True):
        ids = np.array(paper_ids([papers]), dtype=object)
        named = table.assign(paper_id=ids[table["row"].to_numpy(dtype=np.int64)])
        content = pa.Table.from_pandas(named[schema.names], schema=schema, preserve_index=False)
        write_table(path, content)
    keep_only(context.folder / layer, {path.name for path in files})
    return [f"{layer}/{path.name}" for path in files]
