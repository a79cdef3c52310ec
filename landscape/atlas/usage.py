"""What a piece of work costs: seconds, and megabytes at its peak."""

from __future__ import annotations

import contextlib
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
def measured() -> Iterator[Usage]:
    """Measure the time and the peak memory of a piece of work.

    Yields
    ------
    Usage
        Filled in at the end. The memory is that of this process plus that of its largest child
        so far, because workers run beside it.

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
        yield usage
    finally:
        usage.seconds = time.perf_counter() - start
        usage.peak_memory_mb = _peak_memory_mb()


def _peak_memory_mb() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024  # bytes there, kibibytes elsewhere
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return float(own + children) / unit
