"""A model server cannot make a request hang, fill the memory, or redirect the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from landscape._io import measured
from landscape.embeddings import OpenAIEmbedder
from landscape.errors import InputError, RemoteError
from landscape.llm import HttpReranker, connect, connect_from_environment
from landscape.llm.reranking import RetryPolicy
from tests.servers.hostile_server import MODES, HostileServer, redirecting
from tests.servers.openai_server import KEY, OpenAIServer
from tests.timing import time_limit

SCHEMA = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}
LIMIT = 1.0  # seconds
ANSWERED = {"answers the key", "nests an object in the text", "sends invalid UTF-8"}


def connected(server: HostileServer, **options: object) -> object:
    limits = {"timeout": LIMIT, "retries": 1, **options}
    return connect(model="m", base_url=server.url, api_key="sk-secret-key", **limits)


@pytest.mark.parametrize("mode", MODES)
def test_a_request_ends_within_its_limits(mode: str) -> None:
    with measured() as idle:
        pass
    with measured() as usage, HostileServer(MODES[mode]) as server:
        model = connected(server)
        for ask in (
            lambda: model.complete("Be brief.", "What?"),
            lambda: list(model.stream("Be brief.", "What?")),
            lambda: model.complete_json("Be brief.", "What?", SCHEMA),
        ):
            message = ""
            with server.ending_after(time_limit(10 * LIMIT)):
                try:
                    ask()
                except RemoteError as error:
                    message = str(error)
            assert not server.ended, "it waited for the end of the server"
            assert message or mode in ANSWERED
            assert "\n" not in message
            assert "sk-secret-key" not in message
    assert usage.peak_memory_mb - idle.peak_memory_mb < 400


@pytest.mark.parametrize(
    "mode",
    [
        "never answers",
        "sends a byte a second",
        "sends without end",
        "sends a gzip bomb",
        "nests arrays",
        "sends 100 MB",
    ],
)
def test_rerankers_and_embedders_have_the_same_limits(mode: str) -> None:
    with HostileServer(MODES[mode]) as server:
        policy = RetryPolicy(attempts=1, timeout=LIMIT, time_limit=LIMIT, largest_reply=10**6)
        reranker = HttpReranker(base_url=server.url, policy=policy)
        embedder = OpenAIEmbedder(
            "m",
            base_url=server.url,
            api_key="k",
            time_limit=LIMIT,
            retries=0,
            confirm=lambda _: True,
        )
        for ask in (lambda: reranker.scores("q", ["a"]), lambda: embedder.embed(["a"])):
            with server.ending_after(time_limit(10 * LIMIT)), pytest.raises(RemoteError):
                ask()
            assert not server.ended, "it waited for the end of the server"


@pytest.mark.parametrize("stream", [False, True])
def test_the_prompt_is_not_sent_to_another_host(server: OpenAIServer, stream: bool) -> None:
    with HostileServer(redirecting(server.url + "/chat/completions")) as hostile:
        model = connected(hostile)
        with pytest.raises(RemoteError, match="redirects to another host or port"):
            list(model.stream("", "What?")) if stream else model.complete("", "What?")
        assert hostile.requests == 1
    assert server.requests == []


def test_a_large_answer_is_described_with_its_limit() -> None:
    with HostileServer(MODES["streams words without end"]) as server:
        stream = connected(server, timeout=time_limit(20.0), most_bytes=100_000).stream("", "What?")
        with pytest.raises(RemoteError, match=r"sent more than 0\.1 MB in one answer"):
            list(stream)


def test_a_slow_stream_ends_at_the_total_limit_with_its_pieces() -> None:
    with HostileServer(MODES["streams words slowly"]) as server:
        pieces: list[str] = []
        with pytest.raises(RemoteError, match=r"gave no answer within [\d.]+ s"):
            pieces.extend(connected(server, timeout=time_limit(LIMIT)).stream("", "What?"))
    assert len(pieces) >= 2


def test_a_key_in_an_answer_is_not_stored(tmp_path: Path) -> None:
    with HostileServer(MODES["answers the key"]) as server:
        assert (
            connected(server, cache=tmp_path, timeout=time_limit(20.0)).complete("", "What?")
            == "Your key is ***."
        )
    (file,) = tmp_path.rglob("*.json")
    assert "sk-secret-key" not in file.read_text()


def test_the_limits_are_settings(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.reply = lambda _: "word " * 1000
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("LANDSCAPE_LLM_CACHE", "")
    monkeypatch.setenv("LANDSCAPE_LLM_MOST_BYTES", "1000")
    with pytest.raises(RemoteError, match=r"sent more than 0\.001 MB"):
        connect_from_environment().complete("", "What?")
    monkeypatch.setenv("LANDSCAPE_LLM_TIMEOUT", "soon")
    with pytest.raises(InputError, match="LANDSCAPE_LLM_TIMEOUT is 'soon'"):
        connect_from_environment()
    with pytest.raises(InputError, match="timeout is 0"):
        connect(timeout=0.0)
