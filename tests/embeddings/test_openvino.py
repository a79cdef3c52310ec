"""OpenVINO is used without its statistics, and within the limits of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from landscape._processes import n_usable_cores
from landscape.embeddings import _openvino
from tests.timing import time_limit

PRIVATE = """
import multiprocessing, socket, sys

def refuse(*call, **_):
    raise SystemExit(f"a connection or a process: {call}")

socket.getaddrinfo = socket.socket.connect = multiprocessing.Process.start = refuse
from landscape.embeddings import MiniLM
MiniLM(device="cpu").read_query("dust")
assert "openvino_telemetry" not in sys.modules
import openvino_telemetry  # other programs of the process can still use it
"""


def test_nothing_is_sent_and_no_identifier_is_written(tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", PRIVATE], check=True, env=environment, timeout=time_limit(120)
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("limit", "n"), [("1", 1), ("", None), ("0", None), ("2,1", None)])
def test_the_threads_of_a_cluster_worker_are_limited(
    monkeypatch: pytest.MonkeyPatch, limit: str, n: int | None
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert _openvino._n_threads() == (n or n_usable_cores())
