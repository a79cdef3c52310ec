"""Layer of concepts: what each paper is about, in the terms of the Unified Astronomy Thesaurus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.atlas.graph import Context, Stage, StageResult
from landscape.atlas.layers import write_layer
from landscape.atlas.parallel import in_order
from landscape.atlas.stages.ingest import PAPERS
from landscape.atlas.stages.projection import vectors_of
from landscape.atlas.storage import replacing, sha256_of
from landscape.errors import LandscapeError
from landscape.progress import progress

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.corpus._thesaurus import Thesaurus
    from landscape.overlays.thesaurus._matching import TermMatches, TermReader

UAT, THESAURUS = "uat.parquet", "thesaurus.parquet"
_TEXT = ("title", "abstract", "ads_keywords")
_AT_ONCE = 2_000  # papers
_FEW = 10_000  # papers, read sooner than processes start
_Batch = tuple[Path | None, list[str], list[str], list[list[str]]]


def _parameters(context: Context) -> dict[str, Any]:
    from landscape.corpus._thesaurus import EMBEDDED, data_file

    path = context.options.thesaurus or data_file(EMBEDDED)
    return {"thesaurus": sha256_of(path)}


def _inputs(context: Context) -> dict[str, str]:
    return {
        "papers": context.manifest.stages["ingest"].fingerprint,
        "vectors": context.product("embeddings", "vectors"),
    }


def _run(context: Context) -> StageResult:
    thesaurus = _thesaurus(context.options.thesaurus)
    context.begin_writing()
    with progress("Thesaurus", total=context.manifest.n_papers) as advance:
        tags = _tags(context, thesaurus, advance)
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


def _tags(context: Context, thesaurus: Thesaurus, advance: Any) -> pd.DataFrame:
    """Tag all papers at once: what concepts look like is learned from the whole corpus."""
    from landscape.overlays.thesaurus._matching import join_term_matches
    from landscape.overlays.thesaurus._tagging import tag_wording

    _reader.cache_clear()  # the file may have changed since
    read = []
    few = context.manifest.n_papers <= _FEW
    for wording in in_order(
        _read, _batches(context), workers=1 if few else context.options.n_workers
    ):
        read.append(wording)
        advance(wording.n_papers)
    _reader.cache_clear()
    wording = join_term_matches(read)
    read.clear()
    with vectors_of(context) as vectors:
        return tag_wording(wording, vectors, thesaurus, _concept_vectors(context, thesaurus))


def _batches(context: Context) -> Iterator[_Batch]:
    import pyarrow.parquet as pq

    path = context.options.thesaurus
    yield path, [], [], []
    for part in context.part_files(PAPERS):
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=list(_TEXT)):
                titles, abstracts, keywords = (batch[name].to_pylist() for name in _TEXT)
                yield path, titles, abstracts, keywords


def _read(batch: _Batch) -> TermMatches:
    path, titles, abstracts, keywords = batch
    return _reader(path).read(titles, abstracts, keywords)


@lru_cache(maxsize=1)
def _reader(path: Path | None) -> TermReader:
    """Arrange the terms once a process."""
    from landscape.overlays.thesaurus._matching import TermReader

    return TermReader(_thesaurus(path))


def _thesaurus(path: Path | None) -> Thesaurus:
    from landscape.corpus._thesaurus import embedded_thesaurus, read_thesaurus

    return embedded_thesaurus() if path is None else read_thesaurus(path)


def _concept_vectors(context: Context, thesaurus: Thesaurus) -> NDArray[np.float32] | None:
    """Embed the concepts as the papers were, where that costs nothing."""
    from landscape.overlays.thesaurus._tagging import concept_texts

    model = context.manifest.stages["embeddings"].model
    try:
        return _embedded(tuple(concept_texts(thesaurus)[1]), json.dumps(model)) if model else None
    except LandscapeError as error:
        context.say(f"Concepts are found by words and by example alone: {error}")
        return None


@lru_cache(maxsize=1)
def _embedded(texts: tuple[str, ...], model: str) -> NDArray[np.float32] | None:
    """Vectors of texts by a model, described in JSON: many atlases have the same concepts."""
    from landscape.vectors.embedder import PaidEmbedder, embedder_for

    embedder = embedder_for(json.loads(model))
    return None if isinstance(embedder, PaidEmbedder) else embedder.embed(texts)


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
