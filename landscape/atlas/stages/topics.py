"""Fifth stage: the regions of the map, their names, and the region of every paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.atlas.graph import Context, Stage, StageResult
from landscape.atlas.previous import recall
from landscape.atlas.stages.ingest import PAPERS
from landscape.atlas.stages.projection import MAP, old_rows, read_map, vectors_of, write_map
from landscape.atlas.storage import replacing, sha256_of
from landscape.errors import LandscapeError
from landscape.progress import progress

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.mapping._regions import Topics

TOPICS = "topics.parquet"


def topics_schema() -> pa.Schema:
    """Return the columns of ``topics.parquet``.

    Returns
    -------
    pyarrow.Schema

    Examples
    --------
    >>> topics_schema().names[:4]
    ['topic_id', 'x', 'y', 'label']
    """
    import pyarrow as pa

    words = pa.list_(pa.string())
    return pa.schema(
        [
            ("topic_id", pa.int32()),
            ("x", pa.float32()),
            ("y", pa.float32()),
            ("label", pa.string()),
            ("keywords", words),
            ("n_papers", pa.int32()),
            ("parent_id", pa.int32()),
            ("label_source", pa.string()),
            ("level", pa.int8()),
            ("density", pa.float32()),
            ("exemplars", words),
        ]
    )


def _parameters(context: Context) -> dict[str, Any]:
    options = context.options
    return {
        "method": options.topics_method,
        "max_regions": options.max_regions,
        "n_continents": options.n_continents,
        "polish": options.polish,
    }


def _inputs(context: Context) -> dict[str, str]:
    return {
        "map": context.product("projection", "map"),
        "keywords": context.product("keywords", "keywords"),
        "titles": context.product("ingest", "titles"),
        "vectors": context.product("embeddings", "vectors"),
    }


def _run(context: Context) -> StageResult:
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids, coordinates, _ = read_map(context.part_files(MAP))
    papers = pa.concat_tables(
        pq.read_table(path, columns=["title", "keywords"]) for path in context.part_files(PAPERS)
    )
    with progress("Topics", total=None), vectors_of(context) as vectors:
        topics, model = _find(context, coordinates, papers, vectors)
    names = write_map(context, coordinates, topics.topic_id)
    _write_table(context.folder / TOPICS, topics.table, ids)
    return StageResult(
        rows=len(topics.table),
        outputs=[TOPICS, *names],
        products={"topics": sha256_of(context.folder / TOPICS)},
        model=model,
        makeshift=context.options.polish and model is None,
        details={"papers_outside": int((topics.topic_id < 0).sum())},
    )


def _find(
    context: Context,
    coordinates: NDArray[np.float32],
    papers: pa.Table,
    vectors: NDArray[np.float32],
) -> tuple[Topics, dict[str, Any] | None]:
    """Find and name the topics; a language model that fails costs its polish and nothing else."""
    from landscape.mapping._regions import build_topics

    def find(language_model: Any) -> Topics:
        return build_topics(
            coordinates[:, 0],
            coordinates[:, 1],
            papers["keywords"].combine_chunks(),
            papers["title"].to_pylist() if language_model else (),
            vectors=vectors,
            method=context.options.topics_method,
            max_regions=context.options.max_regions,
            n_continents=context.options.n_continents,
            previous=_previous_topics(context),
            language_model=language_model,
            note=context.say,
        )

    if context.options.polish:
        from landscape.llm.client import connect

        try:
            language_model = connect()
            return find(language_model), {"name": language_model.model}
        except LandscapeError as error:
            context.say(f"The names of topics are not polished: {error}")
    return find(None), None


def _previous_topics(context: Context) -> NDArray[np.int64] | None:
    """Region and continent of each paper in the last finished atlas, -1 for new papers."""
    import pyarrow.parquet as pq

    previous = recall(context.folder)
    if previous is None or not (previous.stage("topics") and previous.stage("ingest")):
        return None
    rows = old_rows(context, previous)
    _, _, topic_id = read_map(previous.files(MAP))
    region = np.where(rows >= 0, topic_id[rows], -1).astype(np.int64)
    table = pq.read_table(previous.folder / TOPICS, columns=["topic_id", "parent_id"]).to_pydict()
    parent = dict(zip(table["topic_id"], table["parent_id"], strict=True))
    continent = np.array([parent.get(number, -1) for number in region.tolist()], dtype=np.int64)
    return np.column_stack([region, continent])


def _write_table(path: Path, table: pd.DataFrame, ids: list[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = table.assign(exemplars=[[ids[row] for row in rows] for rows in table["exemplars"]])
    schema = topics_schema()
    with replacing(path) as beside:
        pq.write_table(
            pa.Table.from_pandas(named[schema.names], schema=schema, preserve_index=False), beside
        )


STAGE = Stage(
    name="topics",
    version=2,
    parameters=_parameters,
    inputs=_inputs,
    run=_run,
    unit="topics",
)
