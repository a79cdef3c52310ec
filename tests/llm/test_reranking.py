"""Scores from a reranking server, including its failures."""

from __future__ import annotations

import socket
from typing import Any

import numpy as np
import pytest

from landscape._http import RetryPolicy  # waits that take no time
from landscape.errors import InputError, RemoteError
from landscape.llm import HttpReranker
from tests.servers.openai_server import (
    KEY,
    OpenAIServer,
    cut_off,
    empty,
    failing,
    invalid_json,
    other,
    rate_limited,
    slow,
    web_page,
)
from tests.timing import time_limit

TEXTS = ["stars shine", "dust cools in quasars", "", "dust heats"]


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def reranker(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> HttpReranker:
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    monkeypatch.setenv("LANDSCAPE_RERANK_URL", server.url.replace("/v1", "/v2"))
    return HttpReranker(policy=quick(pauses))


def quick(pauses: list[float], *, attempts: int = 3, jitter: float = 1.0) -> RetryPolicy:
    """The policy of the reranker without waiting."""
    return RetryPolicy(
        attempts=attempts,
        connect_attempts=2,
        first_wait=0.5,
        longest_retry_after=30.0,
        cap_retry_after=True,
        timeout=time_limit(0.5),
        sleep=pauses.append,
        jitter=lambda: jitter,
    )


def test_scores_come_in_the_order_of_the_texts(
    reranker: HttpReranker, server: OpenAIServer
) -> None:
    assert reranker.scores("dust cools", TEXTS).tolist() == [0.0, 1.0, 0.0, 0.5]
    assert reranker.scores("dust", []).shape == (0,)
    (request,) = server.requests
    assert request.body["model"] == "rerank-v3.5"


def test_many_texts_go_in_parts(reranker: HttpReranker, server: OpenAIServer) -> None:
    scores = reranker.scores("dust", [("dust" if n % 3 else "gas") for n in range(1201)])
    assert np.array_equal(scores, [float(bool(n % 3)) for n in range(1201)])
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", [failing(500), failing(503), cut_off, slow(1.0)])
def test_a_passing_fault_is_overcome(
    reranker: HttpReranker, server: OpenAIServer, pauses: list[float], fault: Any
) -> None:
    server.script = [fault, fault]
    assert reranker.scores("dust cools", TEXTS)[1] == 1.0
    assert pauses == [0.5, 1.0]


def test_the_server_says_how_long_to_wait(
    reranker: HttpReranker, server: OpenAIServer, pauses: list[float]
) -> None:
    reranker = HttpReranker(policy=quick(pauses, jitter=0.0))
    server.script = [rate_limited(7), rate_limited(10_000)]
    assert reranker.scores("dust cools", TEXTS)[1] == 1.0
    assert pauses == [7.0, 30.0]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (failing(500), "status 500"),
        (failing(400), "status 400"),
        (failing(404), "does not rerank"),
        (failing(401), "refused the key"),
        (rate_limited(0), "still limits the rate"),
        (slow(1.0), r"no answer within [\d.]+ s"),
        (cut_off, "cannot be reached"),
        (invalid_json, "not Cohere's protocol"),
        (empty, "not Cohere's protocol"),
        (web_page, "not Cohere's protocol"),
        (other([]), "not Cohere's protocol"),
        (other({"results": None}), "not Cohere's protocol"),
        (other({"results": []}), "no score for some"),
        (other({"results": [{"index": 99, "relevance_score": 1}]}), "the index 99"),
        (other({"results": [{"index": 0, "relevance_score": "high"}]}), "not Cohere's protocol"),
        (other({"results": [{"index": i, "relevance_score": 1e999} for i in range(4)]}), "no sc"),
    ],
)
def test_a_lasting_fault_is_one_sentence(
    reranker: HttpReranker, server: OpenAIServer, fault: Any, sentence: str
) -> None:
    server.always = fault
    with pytest.raises(RemoteError, match=sentence) as caught:
        reranker.scores("dust", TEXTS)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_no_server_at_all(reranker: HttpReranker, pauses: list[float]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = HttpReranker(
            base_url=f"http://127.0.0.1:{unused.getsockname()[1]}", policy=quick(pauses, attempts=2)
        )
        with pytest.raises(RemoteError, match="cannot be reached"):
            nobody.scores("dust", TEXTS)


def test_cohere_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    monkeypatch.delenv("LANDSCAPE_RERANK_URL", raising=False)
    with pytest.raises(InputError, match="COHERE_API_KEY"):
        HttpReranker()


@pytest.mark.parametrize("url", ["nonsense", "http://[", "ftp://a.example"])
def test_a_bad_address_is_one_sentence(url: str, pauses: list[float]) -> None:
    with pytest.raises((RemoteError, InputError)):
        HttpReranker(base_url=url, policy=quick(pauses)).scores("dust", TEXTS)


def test_nobody_there_is_tried_twice(server: OpenAIServer, pauses: list[float]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v2"
        reranker = HttpReranker(base_url=url, policy=quick(pauses, attempts=6))
        with pytest.raises(RemoteError, match="cannot be reached"):
            reranker.scores("dust", TEXTS)
    assert len(pauses) == 1
