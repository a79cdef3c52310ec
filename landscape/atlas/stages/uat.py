"""Layer of concepts: what each paper is about, in the terms of the Unified Astronomy Thesaurus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.atlas.graph import Context, Stage, StageResult
from landscape.atlas.layers import write_layer
from landscape.atlas.stages.ingest import PAPERS
from landscape.atlas.stages.projection import vectors_of
from landscape.atlas.storage import replacing, sha256_of
from landscape.errors import LandscapeError
from landscape.progress import progress

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.overlays.thesaurus.concepts import Thesaurus

UAT, THESAURUS = "uat.parquet", "thesaurus.parquet"


def _parameters(context: Context) -> dict[str, Any]:
    from landscape.overlays.thesaurus.reading import EMBEDDED, data_file

    path = context.options.thesaurus or data_file(EMBEDDED)
    return {"thesaurus": sha256_of(path)}


def _inputs(context: Context) -> dict[str, str]:
    return {
        "papers": context.manifest.stages["ingest"].fingerprint,
        "vectors": context.product("embeddings", "vectors"),
    }


def _run(context: Context) -> StageResult:
    from landscape.overlays.thesaurus.reading import embedded_thesaurus, read_thesaurus

    path = context.options.thesaurus
    thesaurus = embedded_thesaurus() if path is None else read_thesaurus(path)
    context.begin_writing()
    with progress("Thesaurus", total=None):
        tags = _tags(context, thesaurus)
    names = write_layer(context, UAT, _by_part(context, tags))
    with replacing(context.folder / THESAURUS) as beside:
        thesaurus.to_frame().to_parquet(beside, index=False)
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


def _tags(context: Context, thesaurus: Thesaurus) -> pd.DataFrame:
    """Tag all papers at once: what concepts look like is learned from the whole corpus."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from landscape.overlays.thesaurus.tagging import tag_papers

    columns = ["title", "abstract", "ads_keywords"]
    papers = pa.concat_tables(
        pq.read_table(path, columns=columns) for path in context.part_files(PAPERS)
    )
    titles, abstracts, keywords = (papers[name].to_pylist() for name in columns)
    with vectors_of(context) as vectors:
        return tag_papers(
            titles,
            abstracts,
            keywords,
            vectors,
            thesaurus,
            _concept_vectors(context, thesaurus),
        )


def _concept_vectors(context: Context, thesaurus: Thesaurus) -> NDArray[np.float32] | None:
    """Embed the concepts as the papers were, where that costs nothing."""
    from landscape.overlays.thesaurus.tagging import concept_texts
    from landscape.vectors.embedder import PaidEmbedder, embedder_for

    model = context.manifest.stages["embeddings"].model
    try:
        embedder = embedder_for(model) if model else None
        if embedder is None or isinstance(embedder, PaidEmbedder):
            return None
        return embedder.embed(concept_texts(thesaurus)[1])
    except LandscapeError as error:
        context.say(f"Concepts are found by words and by example alone: {error}")
        return None


def _by_part(context: Context, tags: pd.DataFrame) -> list[pd.DataFrame]:
    """Cut the tags of the whole corpus into those of its parts."""
    tags = tags.sort_values(["row", "score"], ascending=[True, False], kind="stable")
    starts = np.cumsum([0, *(part.rows for part in context.manifest.parts)])
    cuts = np.searchsorted(tags["row"].to_numpy(), starts)
    return [
        tags.iloc[first:last].assign(row=tags["row"].iloc[first:last] - start)
        for first, last, start in zip(cuts, cuts[1:], starts, strict=False)
    ]


STAGE = Stage(
    name="uat",
    version=1,
    parameters=_parameters,
    inputs=_inputs,
    run=_run,
    checks_first=True,
)
