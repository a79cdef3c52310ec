"""Free text, streams, budgets and cached replies, over a real connection."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from landscape.errors import InputError, RemoteError
from landscape.llm import ChatModel, ReplyCache, connect
from tests.servers.openai_server import (
    OpenAIServer,
    cut_off,
    empty,
    failing,
    invalid_json,
    rate_limited,
    slow,
    web_page,
)
from tests.timing import time_limit

TEXT = "Dust cools in quasars. " * 20
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def writer(server: OpenAIServer) -> ChatModel:
    server.reply = lambda _: TEXT
    return connect(retries=1, timeout=time_limit(1.5))


def streamed(model: ChatModel) -> str:
    return "".join(model.stream("Be brief.", "What?"))


def test_text_comes_whole_and_in_pieces(writer: ChatModel, server: OpenAIServer) -> None:
    assert writer.complete("Be brief.", "What?") == TEXT
    pieces = list(writer.stream("Be brief.", "What?"))
    assert len(pieces) > 50
    assert "".join(pieces) == TEXT
    assert writer.tokens_used == 200
    assert [m["content"] for m in server.requests[0].body["messages"]] == ["Be brief.", "What?"]


def test_a_stream_that_is_not_counted_is_estimated(writer: ChatModel, server: OpenAIServer) -> None:
    server.counts_streams = False
    assert streamed(writer) == TEXT
    assert streamed(writer) == TEXT
    assert len(server.requests) == 3  # what the server cannot do is remembered
    assert writer.tokens_used > 2 * len(TEXT) // 4


@pytest.mark.parametrize("fault", [failing(500), rate_limited(0.05)])
def test_a_stream_overcomes_a_passing_fault(
    writer: ChatModel, server: OpenAIServer, fault: Any
) -> None:
    server.script = [fault]
    assert streamed(writer) == TEXT


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (failing(500), "with status 500"),
        (rate_limited(0.01), "still limits the rate"),
        (slow(2), "gave no answer within"),
        (cut_off, "incomplete answer|cannot be reached"),
        (invalid_json, "incomplete answer|not the OpenAI protocol"),
        (empty, "incomplete answer|empty|not the OpenAI protocol"),
        (web_page, "incomplete answer|empty|not the OpenAI protocol"),
    ],
)
@pytest.mark.parametrize("ask", [streamed, lambda model: model.complete("Be brief.", "What?")])
def test_a_lasting_fault_is_one_sentence(
    writer: ChatModel, server: OpenAIServer, fault: Any, sentence: str, ask: Any
) -> None:
    server.always = fault
    with pytest.raises(RemoteError, match=sentence) as caught:
        ask(writer)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reason", ["length"])
def test_half_a_text_is_none(writer: ChatModel, server: OpenAIServer, reason: str) -> None:
    server.finish_reason = reason
    for ask in (streamed, lambda model: model.complete("", "What?")):
        with pytest.raises(RemoteError, match="incomplete answer"):
            ask(writer)


def test_a_stream_that_nobody_finishes_is_paid_and_not_kept(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.reply = lambda _: TEXT
    model = connect(cache=tmp_path)
    pieces = model.stream("Be brief.", "What?")
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]  # a generator
    assert model.tokens_used > 0
    assert not list(tmp_path.rglob("*.json"))


def test_the_same_request_is_free(server: OpenAIServer, tmp_path: Path) -> None:
    server.reply = lambda body: '{"n": 1}' if "response_format" in body else TEXT
    for _ in range(2):
        model = connect(cache=tmp_path / "replies")
        assert model.complete("Be brief.", "What?") == TEXT
        assert streamed(model) == TEXT
        assert model.complete_json("Be brief.", "What?", SCHEMA) == {"n": 1}
        assert len(server.requests) == 2
    assert model.tokens_used == 0
    model.complete("Be brief.", "And what else?")
    connect(cache=tmp_path / "replies", model="text-embedding-3-small").complete(
        "Be brief.", "What?"
    )
    model.complete_json("Be brief.", "What?", SCHEMA | {"additionalProperties": False})
    assert len(server.requests) == 5  # another question, another model, another schema


def test_wrong_and_broken_replies_are_not_kept(server: OpenAIServer, tmp_path: Path) -> None:
    model = connect(cache=tmp_path, retries=0)
    server.reply = lambda _: '{"n": "one"}'
    with pytest.raises(RemoteError):
        model.complete_json("", "What?", SCHEMA)
    server.reply = lambda _: TEXT
    server.always = cut_off
    with pytest.raises(RemoteError):
        streamed(model)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"reply": 7}', '{"key": "x", "reply": "y"}'])
def test_a_damaged_file_is_asked_again(server: OpenAIServer, tmp_path: Path, damage: str) -> None:
    server.reply = lambda _: TEXT
    connect(cache=tmp_path).complete("", "What?")
    (file,) = tmp_path.rglob("*.json")
    file.write_text(damage)
    assert connect(cache=tmp_path).complete("", "What?") == TEXT
    assert json.loads(file.read_text())["reply"] == TEXT


def test_keys_are_not_kept_and_files_are_private(server: OpenAIServer, tmp_path: Path) -> None:
    server.reply = lambda _: TEXT
    connect(cache=tmp_path).complete("", "What?")
    (file,) = tmp_path.rglob("*.json")
    assert server.requests[0].key not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ReplyCache(tmp_path / "file")
    cache.keep({"a": 1}, "x")
    assert cache.find({"a": 1}) is None


def test_money_is_counted_and_limited(server: OpenAIServer) -> None:
    server.reply = lambda _: TEXT
    prices = {"small-chat": (1000.0, 10_000.0)}  # for a million tokens
    model = connect(money_budget=0.3, prices=prices)
    model.complete("", "What?")
    assert model.budget.money_spent == pytest.approx((90 * 1000 + 10 * 10_000) / 1e6)
    assert str(model.budget) == "100 of 500,000 tokens, 0.1900 of 0.30 in money"
    model.complete("", "What?")
    with pytest.raises(RemoteError, match=r"budget of 0\.30 in money for small-chat is spent"):
        model.complete("", "What?")
    with pytest.raises(RemoteError, match="in money"):
        streamed(model)
    assert len(server.requests) == 2


def test_money_without_a_price_is_refused(server: OpenAIServer) -> None:
    with pytest.raises(InputError, match="price of 'small-chat'"):
        connect(money_budget=1.0, prices={"large-chat": (1.0, 2.0)})


def test_many_threads_do_not_overdraw_a_budget(server: OpenAIServer) -> None:
    together = threading.Barrier(8)
    server.reply = lambda _: TEXT
    server.always = slow(0.2)
    question = "What? " * 200  # 300 tokens
    model = connect(token_budget=1000)

    def ask(_: int) -> bool:
        together.wait()
        try:
            return bool(model.complete("", question))
        except RemoteError:
            return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(ask, range(8))) == 3
    assert len(server.requests) == 3


def test_threads_that_learn_what_a_server_cannot_do_do_not_disturb_each_other(
    server: OpenAIServer,
) -> None:
    server.forms = {"json_object"}
    server.reply = lambda body: json.dumps({"n": int(body["messages"][1]["content"])})
    model = connect()
    with ThreadPoolExecutor(6) as threads:
        replies = threads.map(lambda n: model.complete_json("", str(n), SCHEMA), range(12))
        assert [reply["n"] for reply in replies] == list(range(12))
