"""Table of the coordinates and the regions of papers, one file per part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape.pipeline._ingest_stage import PAPERS, renamed_papers
from landscape.pipeline._rows import match_ids, paper_ids, read_columns, write_table
from landscape.pipeline.stages import Context, Previous, keep_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.mapping.regions import Topics

MAP = "map.parquet"


def write_map(
    context: Context, coordinates: NDArray[np.float32], topics: Topics | None = None
) -> list[str]:
    """Write ``map.parquet``, one file per part."""
    import pyarrow as pa

    nothing = np.full(len(coordinates), -1, dtype=np.int32)
    topic_id, subregion_id = nothing, nothing
    if topics is not None:
        topic_id, subregion_id = topics.topic_id, topics.subregion_id
    files, start = context.part_files(PAPERS), 0
    for part in files:
        papers = read_columns([part], ["paper_id"])["paper_id"]
        rows = slice(start, start + len(papers))
        table = pa.table(
            {
                "paper_id": papers,
                "x": pa.array(coordinates[rows, 0], pa.float32()),
                "y": pa.array(coordinates[rows, 1], pa.float32()),
                "topic_id": pa.array(topic_id[rows], pa.int32()),
                "subregion_id": pa.array(subregion_id[rows], pa.int32()),
            }
        )
        write_table(context.folder / MAP / part.name, table)
        start = rows.stop
    keep_only(context.folder / MAP, {part.name for part in files})
    return [f"{MAP}/{part.name}" for part in files]


def read_map(files: list[Path]) -> tuple[list[str], NDArray[np.float32], NDArray[np.int32]]:
    """Read paper ids, coordinates (shape (n_papers, 2)) and topic numbers."""
    table = read_columns(files, ["paper_id", "x", "y", "topic_id"])
    coordinates = np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()])
    return table["paper_id"].to_pylist(), coordinates, table["topic_id"].to_numpy()


def old_rows(context: Context, previous: Previous) -> NDArray[np.int64]:
    """Return the row of each paper in the last finished atlas, or -1 if the paper is new."""
    ids, known = paper_ids(context.part_files(PAPERS)), paper_ids(previous.files(PAPERS))
    rows = match_ids(ids, known)
    # An update changes the key of a preprint that was published meanwhile.
    was = {new: old for old, new in renamed_papers(context).items()}
    renamed = [row for row in np.flatnonzero(rows < 0).tolist() if ids[row] in was]
    rows[renamed] = match_ids([was[ids[row]] for row in renamed], known)
    return rows
