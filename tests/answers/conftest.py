"""A connection to the scripted server, for the tests of answers."""

from __future__ import annotations

import pytest

from landscape.llm import ChatModel, connect
from tests.servers.openai_server import OpenAIServer


@pytest.fixture
def model(server: OpenAIServer) -> ChatModel:
    """A connection that gives up soon."""
    return connect(timeout=0.5, retries=0)
