"""What a piece of work costs: seconds, and megabytes at its peak."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Usage:
    """What a piece of work cost: wall-clock seconds and peak resident memory in megabytes."""

    seconds: float = 0.0
    peak_memory_mb: float = 0.0


@contextmanager
def measured(*, workers: int = 1) -> Iterator[Usage]:
    """Measure the time and the peak memory of a piece of work.

    Parameters
    ----------
    workers : int, default 1
        Processes that run at the same time, if any do.

    Yields
    ------
    Usage
        Filled in at the end. The memory is the peak of this process during the work and, where
        child processes worked in it, `workers` times the peak of the largest child so far: an
        upper bound, as memory that processes share is counted in each.

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
    children_before = _seconds_of_children()
    try:
        yield usage
    finally:
        usage.seconds = time.perf_counter() - start
        n_children = workers if _seconds_of_children() > children_before else 0
        usage.peak_memory_mb = _peak_memory_mb(n_children)


def _seconds_of_children() -> float:
    """Processor time of the child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _peak_memory_mb(n_children: int) -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024  # bytes there, kibibytes elsewhere
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return float(own + n_children * children) / unit
