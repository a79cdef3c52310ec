"""Layer of missions: where papers name telescopes, spacecraft and surveys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscape.atlas.graph import Context, Stage, StageResult
from landscape.atlas.layers import write_layer
from landscape.atlas.parallel import in_order
from landscape.atlas.stages.ingest import PAPERS
from landscape.atlas.storage import sha256_of
from landscape.progress import progress

if TYPE_CHECKING:
    import pandas as pd

MISSIONS = "missions.parquet"
_AT_ONCE = 2_000  # papers
_FEW = 10_000  # papers, found sooner than processes start
_Batch = tuple[list[str], list[str]]


def _parameters(_context: Context) -> dict[str, Any]:
    from landscape.overlays.missions._facilities import missions_file

    return {"facilities": sha256_of(missions_file())}


def _inputs(context: Context) -> dict[str, str]:
    return {"papers": context.manifest.stages["ingest"].fingerprint}


def _run(context: Context) -> StageResult:
    found: list[pd.DataFrame] = []
    with progress("Missions", total=context.manifest.n_papers) as advance:
        names = write_layer(context, MISSIONS, _tables(context, advance, found))
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={
            "mentions": sum(len(table) for table in found),
            "papers": sum(table["row"].nunique() for table in found),
            "facilities": len(set[str]().union(*(table["facility"] for table in found))),
        },
    )


def _tables(context: Context, advance: Any, found: list[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    few = context.manifest.n_papers <= _FEW
    for path in context.part_files(PAPERS):
        frames, start = [_find(([], []))], 0
        for n, frame in in_order(
            _find_and_count, _batches(path), workers=1 if few else context.options.n_workers
        ):
            frames.append(frame.assign(row=frame["row"] + start))
            start += n
            advance(n)
        found.append(pd.concat(frames, ignore_index=True))
        yield found[-1]


def _batches(path: Path) -> Iterator[_Batch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_AT_ONCE, columns=["title", "abstract"]):
            yield batch["title"].to_pylist(), batch["abstract"].to_pylist()


def _find(batch: _Batch) -> pd.DataFrame:
    from landscape.overlays.missions._mentions import find_in_papers

    return find_in_papers(*batch)


def _find_and_count(batch: _Batch) -> tuple[int, pd.DataFrame]:
    return len(batch[0]), _find(batch)


STAGE = Stage(name="missions", version=2, parameters=_parameters, inputs=_inputs, run=_run)
