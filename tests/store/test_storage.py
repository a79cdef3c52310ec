from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from landscape._io import DiskFullError, locked, remove_leftovers, replacing, write_bytes
from landscape.errors import InputError
from tests.timing import assert_cost


def _write_half(target: Path, error: BaseException) -> None:
    with replacing(target) as beside:
        beside.write_text("half of the n")
        raise error


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "table.parquet"
    target.write_text("old")
    with pytest.raises(RuntimeError):
        _write_half(target, RuntimeError())
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def test_a_full_disk_is_told_with_the_room_that_is_left(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DiskFullError, match=r"Disk full while writing .*a\.npy: [\d,]+ MB are"):
        _write_half(tmp_path / "a.npy", full)
    assert DiskFullError.exit_status == 1


def test_other_errors_of_the_system_are_not_taken_for_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(PermissionError):
        _write_half(tmp_path / "a.npy", PermissionError(errno.EACCES, "Permission denied"))


def test_leftovers_of_a_killed_build_are_removed_and_nothing_else(tmp_path: Path) -> None:
    write_bytes(tmp_path / "embeddings" / "a.npy", b"whole")
    (tmp_path / "embeddings" / ".b.npy.part").write_bytes(b"hal")
    (tmp_path / ".hidden").write_bytes(b"of the user")
    remove_leftovers(tmp_path)
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == {"a.npy", ".hidden"}


_HOLD = """
import sys, time
from pathlib import Path
from landscape._io import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that has locked tmp_path."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(os.name == "nt", reason="no advisory locks on Windows")
def test_two_builds_on_one_folder_exclude_each_other(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    lock = locked(tmp_path)
    with pytest.raises(InputError, match=f"Another build .* \\(process {holder.pid}\\)"):
        lock.__enter__()


@pytest.mark.skipif(os.name == "nt", reason="no advisory locks on Windows")
def test_the_lock_of_a_killed_build_is_taken_over(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / ".lock").exists()
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())
    assert not (tmp_path / ".lock").exists()

    def take() -> None:
        with locked(tmp_path):
            pass

    def take_over() -> None:
        (tmp_path / ".lock").write_text(str(holder.pid))
        take()

    assert_cost(take_over, take, most=50, clock=time.perf_counter)
