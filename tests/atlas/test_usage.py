"""Time and memory of a piece of work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from landscape.atlas.usage import measured


def test_the_memory_of_all_workers_is_counted() -> None:
    with measured(workers=8) as alone:
        pass
    with measured(workers=8) as together:
        subprocess.run([sys.executable, "-c", "x = bytearray(50_000_000)"], check=True)
    assert together.peak_memory_mb > alone.peak_memory_mb + 8 * 40


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets peaks")
def test_the_peak_of_earlier_work_is_forgotten() -> None:
    with measured() as large:
        bytearray(b"x") * 300_000_000
    with measured() as small:
        pass
    assert small.peak_memory_mb < large.peak_memory_mb - 200
