"""Fixture with a connection to the scripted server."""

from __future__ import annotations

import pytest

from landscape.llm import ChatModel, connect
from tests.servers.openai_server import OpenAIServer
from tests.timing import time_limit


@pytest.fixture
def model(server: OpenAIServer) -> ChatModel:
    """A connection with a short time limit and no retries."""
    return connect(timeout=time_limit(1.0), retries=0)
