"""What a piece of work costs: seconds, and megabytes at its peak."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.2  # seconds between two looks at the child processes


@dataclass
class Usage:
    """What a piece of work cost: wall-clock seconds and peak resident memory in megabytes."""

    seconds: float = 0.0
    peak_memory_mb: float = 0.0


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure the time and the peak memory of a piece of work.

    Yields
    ------
    Usage
        Filled in at the end. The memory is the peak of this process during the work, and the
        largest sum over its child processes that was seen, five times a second: memory that
        processes share is counted in each.

    Examples
    --------
    >>> with measured() as usage:
    ...     _ = bytearray(1000)
    >>> usage.seconds >= 0
    True
    """
    usage, start = Usage(), time.perf_counter()
    # Linux can forget the earlier peak; elsewhere a stage shows the peak of the build so far.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    try:
        with _watched_children() as largest:
            yield usage
    finally:
        usage.seconds = time.perf_counter() - start
        usage.peak_memory_mb = _own_peak_mb() + max(largest)


@contextmanager
def _watched_children() -> Iterator[list[float]]:
    """Look at the memory of the child processes from time to time.

    What the operating system keeps of children that have ended does not do: on Linux the peak of
    a process counts what its parent held when it was started.
    """
    largest, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY):
            largest[0] = max(largest[0], _children_mb())

    watcher = threading.Thread(target=watch, name="memory of child processes", daemon=True)
    watcher.start()
    try:
        yield largest
    finally:
        done.set()
        watcher.join()


def _children_mb() -> float:
    import psutil

    total = 0.0
    with contextlib.suppress(psutil.Error):  # all of it: a process of others, or one that has gone
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                total += child.memory_info().rss / 1e6
    return total


def _own_peak_mb() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024  # bytes there, kibibytes elsewhere
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / unit
