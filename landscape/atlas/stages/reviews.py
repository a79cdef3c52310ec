"""Layer of reviews: which papers review a field, and by what they were recognised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from landscape.atlas.graph import Context, Stage, StageResult
from landscape.atlas.layers import write_layer
from landscape.atlas.stages.ingest import PAPERS
from landscape.atlas.storage import sha256_of
from landscape.progress import progress

if TYPE_CHECKING:
    import pandas as pd

REVIEWS = "reviews.parquet"
_AT_ONCE = 5_000  # papers
_COLUMNS = ["title", "abstract", "doctype", "journal", "bibcode", "arxiv_id", "doi"]


def _parameters(context: Context) -> dict[str, Any]:
    return {"lists": [sha256_of(path) for path in context.options.known_reviews]}


def _inputs(context: Context) -> dict[str, str]:
    return {"papers": context.manifest.stages["ingest"].fingerprint}


def _run(context: Context) -> StageResult:
    from landscape.overlays.reviews._recognition import read_review_list

    known = frozenset[str]().union(*map(read_review_list, context.options.known_reviews))
    with progress("Reviews", total=context.manifest.n_papers) as advance:
        counted: list[int] = []
        names = write_layer(context, REVIEWS, _tables(context, known, advance, counted))
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={"reviews": sum(counted), "listed": len(known)},
    )


def _tables(
    context: Context, known: frozenset[str], advance: Any, counted: list[int]
) -> Iterator[pd.DataFrame]:
    import pandas as pd
    import pyarrow.parquet as pq

    from landscape.overlays.reviews._recognition import recognise

    for path in context.part_files(PAPERS):
        frames, start = [], 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=_COLUMNS):
                frame = recognise(batch.to_pandas(), known=known)
                frames.append(frame.assign(row=frame["row"] + start))
                start += batch.num_rows
                advance(batch.num_rows)
        found = pd.concat(frames or [recognise(pd.DataFrame({"title": [], "abstract": []}))])
        counted.append(len(found))
        yield found


STAGE = Stage(
    name="reviews",
    version=1,
    parameters=_parameters,
    inputs=_inputs,
    run=_run,
)
