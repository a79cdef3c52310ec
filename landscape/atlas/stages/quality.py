"""Last stage: how far the map can be trusted, in ``quality.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.atlas.graph import Context, Stage, StageResult
from landscape.atlas.manifest import Manifest
from landscape.atlas.matrix import joined_matrix
from landscape.atlas.stages.embeddings import EMBEDDINGS
from landscape.atlas.stages.ingest import PAPERS
from landscape.atlas.stages.projection import MAP, read_map
from landscape.atlas.stages.topics import TOPICS
from landscape.atlas.storage import write_bytes
from landscape.progress import progress

if TYPE_CHECKING:
    from landscape.mapping._quality import Measures

QUALITY = "quality.json"


def _parameters(context: Context) -> dict[str, Any]:
    return _how_made(context.manifest)


def _how_made(manifest: Manifest) -> dict[str, Any]:
    """How the map and its regions were made: runs that are compared with it are made alike."""
    projection = manifest.stages["projection"].parameters
    settings = ("layout", "n_neighbors", "min_dist")
    return {
        "topics_method": manifest.stages["topics"].parameters["method"],
        **{name: projection[name] for name in settings if name in projection},
    }


def _inputs(context: Context) -> dict[str, str]:
    return {
        "vectors": context.product("embeddings", "vectors"),
        "map": context.product("projection", "map"),
        "topics": context.product("topics", "topics"),
        "categories": context.product("ingest", "categories"),
    }


def _run(context: Context) -> StageResult:
    with progress("Map quality", total=None):
        quality = measure(context.folder, context.manifest)
    write_bytes(context.folder / QUALITY, (json.dumps(quality, indent=1) + "\n").encode())
    return StageResult(rows=context.manifest.n_papers, outputs=[QUALITY])


def measure(folder: Path, manifest: Manifest, *, seed: int = 0) -> Measures:
    """Measure the map of an atlas.

    Parameters
    ----------
    folder : pathlib.Path
        The atlas.
    manifest : Manifest
        Its manifest, for the order of the parts and for how the map was made.
    seed : int, default 0
        Of the random samples.

    Returns
    -------
    dict of str to float, int, str or None
        See `landscape.mapping._quality.measure_quality`.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    from landscape.mapping._quality import measure_quality

    _, coordinates, _ = read_map([folder / MAP / f"{p.name}.parquet" for p in manifest.parts])
    papers = pa.concat_tables(
        pq.read_table(folder / PAPERS / f"{part.name}.parquet", columns=["categories"])
        for part in manifest.parts
    )
    with joined_matrix([folder / EMBEDDINGS / f"{p.name}.npy" for p in manifest.parts]) as vectors:
        return measure_quality(
            vectors,
            coordinates[:, 0],
            coordinates[:, 1],
            categories=primary_categories(papers["categories"].to_pylist()),
            topics=pd.read_parquet(folder / TOPICS),
            **_how_made(manifest),
            seed=seed,
        )


def primary_categories(categories: list[list[str] | None]) -> list[str | None]:
    """Return the first, primary, category of each paper.

    Parameters
    ----------
    categories : list of (list of str or None), length n_papers

    Returns
    -------
    list of (str or None)

    Examples
    --------
    >>> primary_categories([["astro-ph.GA", "astro-ph.CO"], [], None])
    ['astro-ph.GA', None, None]
    """
    return [names[0] if names else None for names in categories]


STAGE = Stage(name="quality", version=2, parameters=_parameters, inputs=_inputs, run=_run)
