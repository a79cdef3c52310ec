"""Processes that run functions of the package."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any


def n_usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_processes(n: int, initializer: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """Return a pool of processes, which do not run the script of the user again.

    They are spawned, because a forked child of a process with threads can hang. Python lets each
    spawned process run the main script, so a script that builds an atlas outside of
    ``if __name__ == "__main__"`` would build it again. The functions of the package do not need
    this script.
    """
    return ProcessPoolExecutor(n, mp_context=_Context(), initializer=initializer)


class _Process(SpawnProcess):
    def start(self) -> None:
        with hidden_script():
            super().start()


class _Context(SpawnContext):
    Process = _Process


@contextmanager
def hidden_script() -> Iterator[None]:
    """Hide the file of the main module, so that processes that are spawned do not run it."""
    main = vars(sys.modules["__main__"])
    known: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(known)
