"""A loopback server of chat for the tests of agents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from landscape.llm.client import ChatModel, connect
from tests.servers.openai_server import KEY, OpenAIServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """The environment points at it, as a user's would."""
    with OpenAIServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("LANDSCAPE_LLM_MODEL", "small-chat")
        yield running


@pytest.fixture
def model(server: OpenAIServer) -> ChatModel:
    """A connection that gives up soon."""
    return connect(timeout=2, retries=0)
