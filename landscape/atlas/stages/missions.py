"""Layer of missions: where papers name telescopes, spacecraft and surveys."""

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

MISSIONS = "missions.parquet"
_AT_ONCE = 5_000  # papers


def _parameters(_context: Context) -> dict[str, Any]:
    from landscape.overlays.missions.facilities import missions_file

    return {"facilities": sha256_of(missions_file())}


def _inputs(context: Context) -> dict[str, str]:
    return {"papers": context.manifest.stages["ingest"].fingerprint}


def _run(context: Context) -> StageResult:
    found: set[str] = set()
    with progress("Missions", total=context.manifest.n_papers) as advance:
        names = write_layer(context, MISSIONS, _tables(context, advance, found))
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={"facilities": len(found)},
    )


def _tables(context: Context, advance: Any, found: set[str]) -> Iterator[pd.DataFrame]:
    import pandas as pd
    import pyarrow.parquet as pq

    from landscape.overlays.missions.mentions import find_in_papers

    for path in context.part_files(PAPERS):
        frames, start = [find_in_papers([], [])], 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=["title", "abstract"]):
                frame = find_in_papers(*(batch[name].to_pylist() for name in ("title", "abstract")))
                frames.append(frame.assign(row=frame["row"] + start))
                found.update(frame["facility"].unique())
                start += batch.num_rows
                advance(batch.num_rows)
        yield pd.concat(frames, ignore_index=True)


STAGE = Stage(name="missions", version=1, parameters=_parameters, inputs=_inputs, run=_run)
