"""A loopback server of embeddings, and texts to embed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.openai_server import KEY, OpenAIServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A loopback server of embeddings, set in the environment."""
    with OpenAIServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Short, long, unusual and empty texts."""
    sentence = (
        "We measure the $\\Lambda$CDM growth rate of structure at redshift z = {} with DESI. "
    )
    return [
        "",
        "Dust",
        "Über die Größe der Wolken – 星系.",
        *("".join(sentence.format(i) for i in range(n)) for n in (1, 2, 3, 5, 8, 30)),
    ]
