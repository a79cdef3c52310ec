"""Fixture with a connection to the scripted server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from landscape.llm import ChatModel, connect
from tests.servers.openai_server import OpenAIServer
from tests.timing import time_limit

# The servers of arXiv and ADS import their base class by its name alone.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "servers"))


@pytest.fixture
def model(server: OpenAIServer) -> ChatModel:
    """A connection with a short time limit and no retries."""
    return connect(timeout=time_limit(2.0), retries=0)
