"""Run the tasks of a build in this process, in several processes, or on a Dask cluster.

A task is a part of the atlas or some of its rows. It reads and writes files of the atlas, and
returns little, so that it can run in any process on any machine that sees the folder.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from landscape.errors import InputError, LandscapeError, require

if TYPE_CHECKING:
    import pyarrow as pa
    from distributed import Client

Task = TypeVar("Task")
Result = TypeVar("Result")
_WAITING = 4  # tasks per process
_FEW = 4_000  # number of papers for which one process is faster than the start of several

ROWS = 4096
"""Number of rows of a slice, and of a row group of ``papers.parquet``."""

EMBEDDING = "embedding"
"""Dask resource of the workers that embed; a worker has one, so that it embeds one task a time."""


@dataclass(frozen=True)
class Slice:
    """Some successive rows of a part."""

    part: Path
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def name(self) -> str:
        """Name of the slice, for a file; the names sort in the order of the rows of a part."""
        return f"{self.part.stem}-{self.start:09d}"

    def divide(self, size: int = ROWS) -> list[Slice]:
        """Divide the slice into smaller ones."""
        starts = range(self.start, self.stop, size)
        return [Slice(self.part, start, min(start + size, self.stop)) for start in starts]

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Read columns of these rows."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.part) as file:
            groups, first, skipped = [], 0, 0
            for number in range(file.num_row_groups):
                last = first + file.metadata.row_group(number).num_rows
                if last <= self.start:
                    skipped = last
                elif first < self.stop:
                    groups.append(number)
                first = last
            table = file.read_row_groups(groups, columns=list(columns))
        return table.slice(self.start - skipped, len(self))


def slices(part: Path, n_rows: int, *, size: int = ROWS) -> list[Slice]:
    """Divide the rows of a part into slices."""
    return Slice(part, 0, n_rows).divide(size)


class Executor:
    """Runs tasks in this process, one after another."""

    n_workers = 1
    is_cluster = False
    has_bf16 = False  # whether all workers of a cluster have the instructions for bf16

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        *,
        n_papers: int,
        embeds: bool = False,
    ) -> Iterator[Result]:
        """Apply a function to tasks, and yield the results in the order of the tasks.

        The tasks process `n_papers` papers in all. `embeds` says that a task uses a whole machine.
        """
        if not self._is_divided(len(tasks), n_papers, embeds):
            yield from map(function, tasks)
            return
        waiting: deque[Any] = deque()
        try:
            for task in tasks:
                waiting.append(self._submit(function, task, embeds))
                if len(waiting) > _WAITING * self.n_workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """Stop the processes of this executor."""

    def _is_divided(self, *_: Any) -> bool:
        return False

    def _submit(self, function: Callable[[Task], Any], task: Task, embeds: bool) -> Any:
        """Start a task and return its future. Only called if the tasks are divided."""
        raise NotImplementedError


class ProcessExecutor(Executor):
    """Runs tasks in processes of this machine, which are started when they are first needed."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _is_divided(self, n_tasks: int, n_papers: int, embeds: bool) -> bool:
        return not embeds and n_tasks > 1 and (self._pool is not None or n_papers > _FEW)

    def _submit(self, function: Callable[[Task], Result], task: Task, _embeds: bool) -> Any:
        if self._pool is None:
            # Processes are spawned, because a forked child of a process with threads can hang.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.n_workers, mp_context=context)
        return self._pool.submit(function, task)


class DaskExecutor(Executor):
    """Runs tasks on the workers of a Dask cluster, which see the folder of the atlas.

    Every task writes its result to the file system, so nothing but names passes the scheduler, and
    a task that was lost with its worker can run again on another one.
    """

    is_cluster = True

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._address = client.scheduler_info(n_workers=0)["address"]
        facts = self._check_workers(folder)
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        self._embeds_with = (
            {EMBEDDING: 1} if all(EMBEDDING in one["resources"] for one in workers) else None
        )
        self.has_bf16 = all(fact.has_bf16 for fact in facts.values())

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        *,
        n_papers: int,
        embeds: bool = False,
    ) -> Iterator[Result]:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            yield from super().map(function, tasks, n_papers=n_papers, embeds=embeds)
        except KilledWorker as error:
            raise LandscapeError(
                f"Several workers of the cluster stopped in the same task ({error.task}), probably "
                "because their memory was full. Start workers with more memory and fewer threads. "
                "The same command resumes the build."
            ) from error
        except (CommClosedError, FutureCancelledError, OSError, TimeoutError) as error:
            if isinstance(error, OSError) and self._client.status == "running":
                raise
            raise LandscapeError(
                f"The connection to the Dask scheduler {self._address} was lost. Check that the "
                "scheduler runs. The same command resumes the build."
            ) from error

    def _is_divided(self, *_: object) -> bool:
        return True

    def _submit(self, function: Callable[[Task], Result], task: Task, embeds: bool) -> Any:
        resources = self._embeds_with if embeds else None
        return self._client.submit(function, task, pure=False, resources=resources)

    def _check_workers(self, folder: Path) -> dict[str, _WorkerFacts]:
        """Raise InputError if a worker cannot do the work of this build."""
        from landscape import __version__

        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise InputError(
                f"The Dask scheduler {self._address} has no workers. Start some, for example with: "
                f"dask worker {self._address}"
            ) from error
        seen = folder / f".seen-by-workers-{os.getpid()}"
        seen.touch()
        try:
            facts = self._client.run(_facts_of_worker, str(seen.resolve()))
        except Exception as error:
            raise InputError(
                f"A worker of {self._address} cannot run Landscape ({type(error).__name__}: "
                f"{' '.join(str(error).split())[:120]}). Install the same version there: "
                f'pip install "landscape[cluster]=={__version__}"'
            ) from error
        finally:
            seen.unlink(missing_ok=True)
        here = _facts_of_worker("").versions
        for worker, fact in facts.items():
            if fact.versions != here:
                raise InputError(
                    f"The worker {worker} has {fact.versions}, but this process has {here}. "
                    "Install the same versions on all machines."
                )
            if not fact.sees_folder:
                raise InputError(
                    f"The worker {worker} cannot see the folder {folder.resolve()}. Put the inputs "
                    "and the atlas on a file system that all workers share, under the same path."
                )
        return facts


_PATIENCE = 30.0  # seconds to wait for a scheduler and its first worker


@dataclass(frozen=True)
class _WorkerFacts:
    """What a build needs to know about a worker."""

    versions: str
    sees_folder: bool
    has_bf16: bool


def _facts_of_worker(file: str) -> _WorkerFacts:
    from landscape import __version__
    from landscape.embeddings.minilm import has_bf16_instructions

    python = ".".join(map(str, sys.version_info[:2]))
    versions = f"Landscape {__version__} with Python {python}"
    return _WorkerFacts(versions, Path(file).is_file(), has_bf16_instructions())


@contextmanager
def open_executor(
    folder: Path, *, n_workers: int, scheduler: str | None = None, cluster: str | None = None
) -> Iterator[Executor]:
    """Yield the executor of a build, by default one with processes of this machine."""
    scheduler = scheduler or os.environ.get("DASK_SCHEDULER_ADDRESS")
    if not (scheduler or cluster):
        executor = ProcessExecutor(n_workers) if n_workers > 1 else Executor()
        try:
            yield executor
        finally:
            executor.close()
        return
    distributed = require("distributed", "cluster")
    if cluster:
        local = distributed.LocalCluster(
            n_workers=_n_local(cluster),
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=0,
            resources={EMBEDDING: 1},
            silence_logs=logging.CRITICAL,
        )
    else:
        local = nullcontext(scheduler)
    with local as address:
        try:
            client = distributed.Client(address, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"There is no Dask scheduler at {scheduler}. Check the address, or start one with: "
                "dask scheduler"
            ) from error
        with client:
            yield DaskExecutor(client, folder)


def _n_local(cluster: str) -> int:
    kind, _, number = cluster.partition(":")
    if kind != "local" or not (number or "1").isdecimal() or number == "0":
        raise InputError(
            f"There is no cluster {cluster!r}; use local:N for N processes of this machine, or "
            "--scheduler for the address of a Dask scheduler."
        )
    return int(number or len(os.sched_getaffinity(0)))
