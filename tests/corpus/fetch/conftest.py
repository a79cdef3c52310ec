"""Fixtures for fetching: a fake clock, retries without waiting, and a closed port."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from landscape.corpus.fetch import RetryPolicy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "servers"))

from fake_time import FakeTime


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def policy(fake_time: FakeTime) -> RetryPolicy:
    """The real policy without waiting."""
    return RetryPolicy(sleep=fake_time.sleep, clock=fake_time.clock, jitter=lambda: 1.0, timeout=10)


@pytest.fixture
def closed_port() -> str:
    """An address at which no server listens, as on a machine without a network."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def notify(notes: list[str]) -> Callable[[str], None]:
    return notes.append
