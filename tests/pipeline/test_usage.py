"""Measured time and memory."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from landscape._io import measured


def test_the_memory_of_all_workers_is_counted() -> None:
    holding = "x = bytearray(b'x') * 50_000_000; print(flush=True); input()"
    with measured() as alone:
        pass
    with measured() as together:
        command = [sys.executable, "-c", holding]
        pipe = subprocess.PIPE
        children = [subprocess.Popen(command, stdin=pipe, stdout=pipe) for _ in range(3)]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()  # it holds its memory now
        time.sleep(0.6)
        for child in children:
            child.communicate(b"\n")
    assert together.peak_memory_mb > alone.peak_memory_mb + 3 * 45


def test_the_memory_of_the_parent_is_not_that_of_its_children() -> None:
    held = bytearray(b"x") * 300_000_000
    with measured() as usage:
        subprocess.run([sys.executable, "-c", "import time; time.sleep(0.5)"], check=True)
    with measured() as alone:
        pass
    assert len(held) == 300_000_000
    assert usage.peak_memory_mb < alone.peak_memory_mb + 100


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets peaks")
def test_the_peak_of_earlier_work_is_forgotten() -> None:
    with measured() as large:
        bytearray(b"x") * 300_000_000
    with measured() as small:
        pass
    assert small.peak_memory_mb < large.peak_memory_mb - 200
