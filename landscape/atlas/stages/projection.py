"""Fourth stage: coordinates of every paper in ``map.parquet``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.atlas.graph import Context, Stage, StageResult, keep_only
from landscape.atlas.matrix import gather_rows, joined_matrix, open_matrix
from landscape.atlas.previous import Previous, recall
from landscape.atlas.rows import column_digest, match_ids, paper_ids
from landscape.atlas.stages.embeddings import EMBEDDINGS
from landscape.atlas.stages.ingest import PAPERS, brings_all, ready_files
from landscape.atlas.storage import replacing
from landscape.progress import progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAP = "map.parquet"


def layout_of(context: Context) -> str:
    """Return the layout that this build uses: the one asked for, else the fitting default."""
    asked = context.options.layout
    if asked is not None:
        return asked
    return "ready" if brings_all(context, "coordinates") else "umap"


def vectors_of(context: Context) -> AbstractContextManager[NDArray[np.float32]]:
    """Return all embeddings of the atlas being built, memory-mapped, for a with statement."""
    return joined_matrix(context.part_files(EMBEDDINGS, ".npy"))


def write_map(
    context: Context,
    coordinates: NDArray[np.float32],
    topic_id: NDArray[np.int32] | None = None,
) -> list[str]:
    """Write ``map.parquet``, one part a source.

    Parameters
    ----------
    context : Context
        The build.
    coordinates : array of float32, shape (n_papers, 2)
        Places of the papers, in map units.
    topic_id : array of int32, shape (n_papers,), optional
        Region of each paper; -1 everywhere when not given.

    Returns
    -------
    list of str
        The files, relative to the atlas.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if topic_id is None:
        topic_id = np.full(len(coordinates), -1, dtype=np.int32)
    names, start = [], 0
    for part in context.part_files(PAPERS):
        papers = pq.read_table(part, columns=["paper_id"])["paper_id"]
        rows = slice(start, start + len(papers))
        table = pa.table(
            {
                "paper_id": papers,
                "x": pa.array(coordinates[rows, 0], pa.float32()),
                "y": pa.array(coordinates[rows, 1], pa.float32()),
                "topic_id": pa.array(topic_id[rows], pa.int32()),
            }
        )
        with replacing(context.folder / MAP / part.name) as beside:
            pq.write_table(table, beside, compression="zstd")
        names.append(f"{MAP}/{part.name}")
        start = rows.stop
    keep_only(context.folder / MAP, {Path(name).name for name in names})
    return names


def read_map(files: list[Path]) -> tuple[list[str], NDArray[np.float32], NDArray[np.int32]]:
    """Read a map back: ids, coordinates of shape (n_papers, 2) and topic numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.concat_tables(pq.read_table(path) for path in files)
    coordinates = np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()])
    return table["paper_id"].to_pylist(), coordinates, table["topic_id"].to_numpy()


def _parameters(context: Context) -> dict[str, Any]:
    options, layout = context.options, layout_of(context)
    parameters: dict[str, Any] = {"layout": layout}
    if layout not in ("ready", "pca"):
        parameters["seed"] = options.seed
    if layout in ("umap", "keep"):
        parameters |= {"n_neighbors": options.n_neighbors, "min_dist": options.min_dist}
    return parameters


def _inputs(context: Context) -> dict[str, str]:
    inputs = {"papers": context.product("ingest", "papers")}
    if layout_of(context) == "ready":
        products = context.manifest.stages["ingest"].products
        return inputs | {k: v for k, v in products.items() if k.startswith("coordinates/")}
    return inputs | {"vectors": context.product("embeddings", "vectors")}


def _run(context: Context) -> StageResult:
    layout, placed = layout_of(context), 0
    if layout == "ready":
        coordinates = _ready_coordinates(context)
    else:
        with vectors_of(context) as vectors:
            if layout == "keep":
                coordinates, placed = _keep(context, vectors)
            else:
                coordinates = _project(context, vectors, layout)
    names = write_map(context, coordinates)
    files = context.part_files(MAP)
    return StageResult(
        rows=len(coordinates),
        outputs=names,
        products={"map": column_digest(files, ["paper_id", "x", "y"])},
        details={"placed": placed} if layout == "keep" else {},
    )


def _project(context: Context, vectors: NDArray[np.float32], layout: str) -> NDArray[np.float32]:
    from landscape.mapping._projection import project

    options = context.options
    with progress("Map", total=None) as _:
        return project(
            vectors,
            method=layout,
            seed=options.seed,
            n_neighbors=options.n_neighbors,
            min_dist=options.min_dist,
        )


def _keep(context: Context, vectors: NDArray[np.float32]) -> tuple[NDArray[np.float32], int]:
    """Leave every paper of the last map where it is, and place only the new ones."""
    from landscape.mapping._projection import place

    previous = recall(context.folder)
    if previous is None or not (previous.stage("projection") and previous.stage("ingest")):
        context.say("There is no earlier map to keep: laid out by UMAP.")
        return _project(context, vectors, "umap"), 0
    old_row = old_rows(context, previous)
    _, old_coordinates, _ = read_map(previous.files(MAP))
    kept, new = np.flatnonzero(old_row >= 0), np.flatnonzero(old_row < 0)
    if len(kept) == 0:
        context.say("No paper of the earlier map is left: laid out anew by UMAP.")
        return _project(context, vectors, "umap"), 0
    coordinates = np.empty((len(vectors), 2), dtype=np.float32)
    coordinates[kept] = old_coordinates[old_row[kept]]
    if len(new):
        coordinates[new] = place(
            gather_rows([vectors], new), gather_rows([vectors], kept), coordinates[kept]
        )
    return coordinates, len(new)


def _ready_coordinates(context: Context) -> NDArray[np.float32]:
    files = ready_files(context, "coordinates")
    return np.concatenate([np.asarray(open_matrix(path)) for path in files if path is not None])


def old_rows(context: Context, previous: Previous) -> NDArray[np.int64]:
    """Return the row that each paper had in the last finished atlas.

    Parameters
    ----------
    context : Context
        The build.
    previous : Previous
        The last finished state.

    Returns
    -------
    array of int64, shape (n_papers,)
        -1 for a paper that is new.
    """
    return match_ids(paper_ids(context.part_files(PAPERS)), paper_ids(previous.files(PAPERS)))


STAGE = Stage(
    name="projection",
    version=1,
    parameters=_parameters,
    inputs=_inputs,
    run=_run,
    shares=MAP,
    completed_by="topics",
)
