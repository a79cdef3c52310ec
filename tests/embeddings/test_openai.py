"""Remote embeddings from a server on the loopback interface, including its failures."""

from __future__ import annotations

import importlib
import importlib.util
import socket
from typing import Any

import numpy as np
import pytest

from landscape.embeddings import OpenAIEmbedder, load_embedder
from landscape.errors import InputError, MissingExtraError, RemoteError
from tests.servers.openai_server import (
    KEY,
    OpenAIServer,
    cut_off,
    empty,
    failing,
    fine,
    invalid_json,
    other,
    rate_limited,
    slow,
    vector_of,
    vectors,
    web_page,
)
from tests.timing import time_limit

TEXTS = [f"Paper {i}. It has an abstract." for i in range(7)]


def agreeing(**options: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(confirm=lambda _: True, **options)


def test_vectors_come_back_in_order_over_several_requests(server: OpenAIServer) -> None:
    texts = [f"Paper {i}." for i in range(520)]
    steps: list[float] = []
    found = agreeing().embed(texts, advance=steps.append)
    assert np.allclose(found, [vector_of(text) for text in texts], atol=1e-6)
    assert found.dtype == np.float32
    assert [len(request.body["input"]) for request in server.requests] == [256, 256, 8] == steps


def test_it_asks_with_papers_tokens_and_cost_before_it_spends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    embedder = OpenAIEmbedder(confirm=no)
    with pytest.raises(InputError, match=r"Nothing was sent.*--yes"):
        embedder.embed(["x" * 3500] * 2000)
    (question,) = asked
    assert "2,000 papers, about 2,002,000 tokens, about $0.04" in question
    assert "text-embedding-3-small at https://api.openai.com/v1" in question


def test_nothing_is_sent_without_anybody_to_ask(server: OpenAIServer) -> None:
    with pytest.raises(InputError, match="Nothing was sent"):
        OpenAIEmbedder().embed(TEXTS)
    assert server.requests == []


def test_what_was_allowed_is_not_asked_again_and_not_exceeded(server: OpenAIServer) -> None:
    asked: list[str] = []

    def yes(question: str) -> bool:
        asked.append(question)
        return True

    embedder = OpenAIEmbedder(confirm=yes)
    embedder.allow(7)
    embedder.embed(TEXTS[:3])
    embedder.embed(TEXTS[3:])
    assert asked == []
    embedder.embed(TEXTS[:2])
    assert len(asked) == 1
    assert "2 papers" in asked[0]


@pytest.mark.parametrize(
    "fault", [failing(500), failing(503), cut_off], ids=["500", "503", "cut off"]
)
def test_a_passing_fault_is_overcome(server: OpenAIServer, fault: Any) -> None:
    server.script = [fault]
    assert np.allclose(agreeing().embed(TEXTS[:1])[0], vector_of(TEXTS[0]), atol=1e-6)
    assert len(server.requests) == 2


def test_a_slow_server_is_given_up_and_asked_again(server: OpenAIServer) -> None:
    server.script = [slow(2)]
    agreeing(timeout=time_limit(1.0)).embed(TEXTS[:1])
    assert len(server.requests) == 2


def test_retry_after_is_waited_for(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    server.script = [rate_limited(1.5)]
    agreeing().embed(TEXTS[:1])
    assert max(pauses) >= 1.5


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (rate_limited(0.01), r"still limits the rate.*after 2 tries \(.*Rate limit reached"),
        (failing(500), r"answered the request for 'text-embedding-3-small' with status 500"),
        (slow(2), r"gave no answer within [\d.]+ s, 2 times"),
        (cut_off, r"cannot be reached"),
        (invalid_json, r"not the OpenAI protocol"),
        (empty, r"not the OpenAI protocol"),
        (web_page, r"not the OpenAI protocol"),
        (other({"hello": "there"}), r"not the OpenAI protocol|No embedding data"),
        (other([]), r"not the OpenAI protocol"),
        (vectors(lambda data: data[:-1]), r"returned 1 vectors for 2 texts"),
        (vectors(lambda data: data * 2), r"returned 4 vectors for 2 texts"),
        (vectors(lambda data: [d | {"index": 0} for d in data]), r"2 vectors for 2 texts"),
        (
            vectors(lambda data: [d | {"embedding": [float("nan")] * 1536} for d in data]),
            r"row 0 is not finite",
        ),
        (vectors(lambda data: [d | {"embedding": [0.0] * 1536} for d in data]), r"row 0 is zero"),
        (
            vectors(lambda data: [d | {"embedding": [1.0, 2.0]} for d in data]),
            r"dimension 2 instead of 1536",
        ),
        (
            vectors(lambda data: [d | {"embedding": [1.0] * (2 + d["index"])} for d in data]),
            r"an invalid vector",
        ),
    ],
)
def test_a_lasting_fault_is_one_sentence(server: OpenAIServer, fault: Any, sentence: str) -> None:
    server.always = fault
    with pytest.raises(RemoteError, match=sentence) as caught:
        agreeing(retries=1, timeout=time_limit(0.5)).embed(TEXTS[:2])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 450


def test_what_was_embedded_before_a_failure_is_kept_and_not_paid_twice(
    server: OpenAIServer,
) -> None:
    texts = [f"Paper {i}." for i in range(520)]
    embedder = agreeing(retries=0)
    server.script = [fine, fine]
    server.always = failing()
    kept: list[np.ndarray] = []

    def keep() -> None:
        for batch in embedder.embed_batches(texts):
            kept.append(batch)  # noqa: PERF402 - extend would lose what came before the failure

    with pytest.raises(RemoteError):
        keep()
    n_done = sum(map(len, kept))
    assert n_done == 512
    server.always, server.requests = None, []
    rest = embedder.embed(texts[n_done:])
    assert np.allclose([*np.concatenate(kept), *rest], [vector_of(t) for t in texts], atol=1e-6)
    assert [text for request in server.requests for text in request.body["input"]] == texts[512:]


def test_a_wrong_key_is_said_and_not_shown(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-wrong-key")
    with pytest.raises(RemoteError, match=r"refused the key.*OPENAI_API_KEY") as caught:
        agreeing().embed(TEXTS)
    assert "sk-a-wrong-key" not in str(caught.value)
    assert len(server.requests) == 1


def test_an_unknown_model_is_said(server: OpenAIServer) -> None:
    with pytest.raises(RemoteError, match="has no model 'word2vec'"):
        agreeing(model="word2vec").embed(TEXTS)


def test_no_server_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
        with pytest.raises(RemoteError, match=r"cannot be reached.*check OPENAI_BASE_URL"):
            agreeing(retries=0).embed(TEXTS)


def test_secrets_in_the_address_are_used_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{unused.getsockname()[1]}/v1"
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:hunter2@{place}?token=hunter3")
        embedder = agreeing(retries=0)
        assert embedder.describe()["url"] == f"http://{place}"
        assert "hunter" not in str(embedder.estimate(TEXTS))
        assert "hunter2" in str(embedder._server.client.base_url)
        with pytest.raises(RemoteError, match="cannot be reached") as caught:
            embedder.embed(TEXTS)
    assert "hunter" not in str(caught.value)


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        load_embedder("openai:text-embedding-3-small")


def test_empty_and_endless_texts_are_made_acceptable(server: OpenAIServer) -> None:
    assert agreeing().embed(["", "ä" * 50_000]).shape == (2, 1536)
    sent = server.requests[0].body["input"]
    assert sent[0] == " "
    assert len(sent[1]) == 12_000


def test_the_price_of_a_server_of_ones_own_is_unknown(server: OpenAIServer) -> None:
    estimate = agreeing().estimate(TEXTS)
    assert (estimate.papers, estimate.cost) == (7, None)
    assert "an unknown price" in str(estimate)


def test_without_the_package_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module
    find = importlib.util.find_spec

    def missing(name: str, *rest: Any) -> Any:
        if name == "openai":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *r: None if name == "openai" else find(name, *r)
    )
    with pytest.raises(MissingExtraError, match=r"needs the package 'openai'") as caught:
        load_embedder("openai:any", base_url="http://127.0.0.1:9/v1")
    assert str(caught.value).endswith('pip install "openai>=1.60"')
