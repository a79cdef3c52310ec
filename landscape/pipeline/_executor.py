"""Run the tasks of a build in this process, in several processes, or on a Dask cluster.

A task is a part of the atlas or some of its rows. It reads and writes files of the atlas, and
returns little, so that it can run in any process on any machine that sees the folder.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from landscape._io import TEMPORARY_SUFFIX
from landscape._processes import hidden_script, start_processes
from landscape.errors import DISTRIBUTION, InputError, LandscapeError, require

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
    precision = "float32"  # fastest one of the workers of a cluster, if all have the same
    without_weights: tuple[str, ...] = ()  # workers of a cluster without the default model

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
        most = 0
        with self._with_advice():
            try:
                for number, task in enumerate(tasks):
                    waiting.append(self._submit(function, task, embeds))
                    if number % _WAITING == 0:  # workers can join and leave
                        most = _WAITING * self.n_workers
                    while len(waiting) > most:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def close(self) -> None:
        """Stop the processes of this executor."""

    def _with_advice(self) -> AbstractContextManager[None]:
        """Replace errors of this executor by sentences that say what to do."""
        return nullcontext()

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
            self._pool = start_processes(self.n_workers, _start_worker)
        return self._pool.submit(function, task)


def _start_worker() -> None:
    """Use one thread per process, and end this process if that of the build ends."""
    from threadpoolctl import threadpool_limits

    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"  # of libraries that are loaded later
    threadpool_limits(1)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


class DaskExecutor(Executor):
    """Runs tasks on the workers of a Dask cluster, which see the folder of the atlas.

    Most tasks write their result to the file system and return little. A task that was lost with
    its worker runs again on another one.
    """

    is_cluster = True

    def __init__(self, client: Client, folder: Path) -> None:
        self._client, self._folder = client, folder
        self._address = client.scheduler_info(n_workers=0)["address"]
        facts = self._check_workers()
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        self._embeds_with = (
            {EMBEDDING: 1} if all(EMBEDDING in one["resources"] for one in workers) else None
        )
        found = {fact.precision for fact in facts.values()}
        self.precision = found.pop() if len(found) == 1 else "float32"
        self.without_weights = tuple(name for name, fact in facts.items() if not fact.has_weights)

    @property
    def n_workers(self) -> int:  # type: ignore[override]  # workers can join and leave
        """Current number of threads of all workers."""
        threads: dict[str, int] = self._client.nthreads()  # type: ignore[no-untyped-call]
        return max(1, sum(threads.values()))

    @contextmanager
    def _with_advice(self) -> Iterator[None]:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            yield
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
        return self._client.submit(
            _run_on_worker,
            function,
            task,
            versions=_versions(),
            folder=self._folder,
            pure=False,
            resources=resources,
        )

    def _check_workers(self) -> dict[str, _WorkerFacts]:
        """Raise InputError if a worker cannot do the work of this build."""
        from landscape import __version__

        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            raise InputError(
                f"The Dask scheduler {self._address} has no workers. Start some, for example with: "
                f"dask worker {self._address}"
            ) from error
        # The name is that of a temporary file, which the next build removes.
        seen = self._folder / f".seen-{os.getpid()}{TEMPORARY_SUFFIX}"
        seen.touch()
        try:
            facts: dict[str, _WorkerFacts] = self._client.run(_facts_of_worker, seen)
        except Exception as error:
            raise InputError(
                f"A worker of {self._address} cannot run Landscape ({type(error).__name__}: "
                f"{' '.join(str(error).split())[:120]}). Install the same version there: "
                f'pip install "{DISTRIBUTION}[cluster]=={__version__}"'
            ) from error
        finally:
            seen.unlink(missing_ok=True)
        for worker, fact in facts.items():
            _check_worker(worker, fact, _versions(), self._folder)
        return facts


_PATIENCE = 30.0  # seconds to wait for a scheduler and its first worker
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class _WorkerFacts:
    """What a build needs to know about a worker."""

    versions: str
    sees_folder: bool
    precision: str
    has_weights: bool = True


def _versions() -> str:
    from landscape import __version__

    return f"Landscape {__version__} with Python {'.'.join(map(str, sys.version_info[:2]))}"


def _facts_of_worker(file: Path) -> _WorkerFacts:
    from landscape.embeddings.minilm import fastest_precision
    from landscape.embeddings.weights import has_weights

    return _WorkerFacts(_versions(), file.exists(), fastest_precision(), has_weights())


def _check_worker(worker: str, fact: _WorkerFacts, versions: str, folder: Path) -> None:
    """Raise InputError if a worker has other versions or does not see the folder."""
    if fact.versions != versions:
        raise InputError(
            f"The worker {worker} has {fact.versions}, but this build has {versions}. Install the "
            "same versions on all machines."
        )
    if not fact.sees_folder:
        raise InputError(
            f"The worker {worker} cannot see the folder {folder}. Put the inputs and the atlas on "
            "a file system that all workers share, under the same path."
        )


_one_at_a_time = Lock()


def _run_on_worker(
    function: Callable[[Task], Result], task: Task, *, versions: str, folder: Path
) -> Result:
    """Run a task on a worker, which may have joined after the start of the build.

    Tasks of the same process run one after another, because their caches are not thread-safe.
    """
    with _one_at_a_time:
        fact = _WorkerFacts(_versions(), folder.is_dir(), precision="float32")
        _check_worker(socket.gethostname(), fact, versions, folder)
        return function(task)


@contextmanager
def open_executor(
    folder: Path, *, n_workers: int, scheduler: str | None = None, cluster: str | None = None
) -> Iterator[Executor]:
    """Yield the executor of a build, by default one with processes of this machine."""
    if scheduler and cluster:
        raise InputError("Pass either --scheduler or --cluster, not both.")
    scheduler = scheduler or (None if cluster else os.environ.get("DASK_SCHEDULER_ADDRESS"))
    if not (scheduler or cluster):
        executor = ProcessExecutor(n_workers) if n_workers > 1 else Executor()
        try:
            yield executor
        finally:
            executor.close()
        return
    distributed = require("distributed", "cluster")
    started: Any = nullcontext(scheduler)
    if cluster:
        started = _start_cluster(_n_local(cluster, n_workers))
    with started as address:
        try:
            client = distributed.Client(address, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"There is no Dask scheduler at {scheduler or address}. Check the address, or "
                "start one with: dask scheduler"
            ) from error
        with client:
            yield DaskExecutor(client, folder)


@contextmanager
def _start_cluster(n_workers: int) -> Iterator[Any]:
    """Start workers on this machine. The script is hidden until they end, as they can restart.

    A scheduler runs the code of anybody who can connect, so it accepts only the certificate of this
    build, which is in memory, and there are no pages of the dashboard and of metrics.
    """
    distributed = require("distributed", "cluster")
    require("cryptography", "cluster")
    import dask

    pages: dict[str, list[str]] = {
        f"distributed.{kind}.http.routes": [] for kind in ("scheduler", "worker")
    }
    with (
        hidden_script(),
        dask.config.set(pages),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host=_LOOPBACK,
            security=True,
            dashboard_address=f"{_LOOPBACK}:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            resources={EMBEDDING: 1},
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


def _n_local(cluster: str, usual: int) -> int:
    kind, _, number = cluster.partition(":")
    if kind != "local" or not (number or "1").isdecimal() or number == "0":
        raise InputError(
            f"There is no cluster {cluster!r}; use local:N for N processes of this machine, or "
            "--scheduler for the address of a Dask scheduler."
        )
    return int(number or usual)
