"""A language model on the loopback interface, including its failures."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from landscape.errors import InputError, RemoteError
from landscape.llm import ReplyForm, connect, request_reply
from landscape.llm.prompts import (  # odd replies are tested without a server
    find_fault,
    first_object,
    reply_schema,
)
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

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
GOOD = '{"answer": 42}'
NESTED = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}


class Number(ReplyForm):
    """A reply form with the same fields as SCHEMA."""

    answer: int


class Numbers(ReplyForm):
    numbers: list[Number]
    title: str


def ask(**options: Any) -> dict[str, Any]:
    return connect(**{"retries": 1, "timeout": time_limit(5.0), **options}).complete_json(
        "Be brief.", "What?", SCHEMA
    )


def test_the_server_is_held_to_the_schema(server: OpenAIServer) -> None:
    server.reply = lambda _: GOOD
    assert ask() == {"answer": 42}
    (request,) = server.requests
    assert request.key == KEY
    assert request.body["model"] == "small-chat"
    assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert [message["content"] for message in request.body["messages"]] == ["Be brief.", "What?"]


def test_a_form_is_the_schema_that_it_stands_for(server: OpenAIServer) -> None:
    assert reply_schema(Number) == SCHEMA
    assert reply_schema(Numbers) == {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": SCHEMA}, "title": {"type": "string"}},
        "required": ["numbers", "title"],
        "additionalProperties": False,
    }
    server.reply = lambda _: GOOD
    assert request_reply(connect(), "Be brief.", "What?", Number).answer == 42
    assert server.requests[0].body["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize("forms", [{"json_object"}, set()])
def test_servers_without_schemas_are_told_it_in_words(
    server: OpenAIServer, forms: set[str]
) -> None:
    server.forms = forms
    server.reply = lambda _: f"Of course! Here you are:\n```json\n{GOOD}\n```\nAnything else?"
    model = connect(retries=0)
    assert model.complete_json("Be brief.", "What?", SCHEMA) == {"answer": 42}
    assert json.dumps(SCHEMA) in server.requests[-1].body["messages"][0]["content"]
    n_tried = len(server.requests)
    model.complete_json("Be brief.", "And?", SCHEMA)
    assert len(server.requests) == n_tried + 1  # what the server cannot do is remembered


def test_a_misfit_is_asked_for_once_more(server: OpenAIServer) -> None:
    replies = ['{"answer": "forty-two"}', GOOD]
    server.reply = lambda _: replies.pop(0)
    assert ask() == {"answer": 42}
    assert (
        "answer: Input should be a valid integer"
        in server.requests[1].body["messages"][-1]["content"]
    )


@pytest.mark.parametrize("fault", [failing(500), cut_off, rate_limited(0.2)])
def test_a_passing_fault_is_overcome(server: OpenAIServer, fault: Any) -> None:
    server.reply = lambda _: GOOD
    server.script = [fault]
    assert ask() == {"answer": 42}


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (failing(500), "with status 500"),
        (failing(400), "with status 400"),
        (rate_limited(0.01), "still limits the rate"),
        (slow(2), r"gave no answer within [\d.]+ s"),
        (cut_off, "cannot be reached"),
        (invalid_json, "not the OpenAI protocol"),
        (empty, "not the OpenAI protocol"),
        (web_page, "not the OpenAI protocol"),
        (other({"choices": []}), "not the OpenAI protocol"),
        (other({"choices": [{"message": None}]}), "not the OpenAI protocol"),
        (other(7), "not the OpenAI protocol"),
    ],
)
def test_a_lasting_fault_is_one_sentence(server: OpenAIServer, fault: Any, sentence: str) -> None:
    server.reply = lambda _: GOOD
    server.always = fault
    with pytest.raises(RemoteError, match=sentence) as caught:
        ask(timeout=time_limit(1.2))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ("I would rather not.", "twice in the wrong form: it contains no JSON object"),
        ('{"answer": 42, "extra": 1}', "a key that the schema does not have"),
        ("{}", "has no 'answer'"),
        ("  ", "empty answer"),
    ],
)
def test_nonsense_is_one_sentence(server: OpenAIServer, reply: str, sentence: str) -> None:
    server.reply = lambda _: reply
    with pytest.raises(RemoteError, match=sentence):
        ask()


def test_half_an_answer_is_none(server: OpenAIServer) -> None:
    server.reply = lambda _: GOOD
    server.finish_reason = "length"
    with pytest.raises(RemoteError, match="incomplete answer"):
        ask()


@pytest.mark.parametrize("counts", [True, False])
def test_the_token_budget_holds(server: OpenAIServer, counts: bool) -> None:
    server.reply = lambda _: GOOD
    server.counts_tokens = counts
    model = connect(token_budget=150)
    for _ in range(2):
        model.complete_json("Be brief.", "What? " * 20 * (1 + 3 * (not counts)), SCHEMA)
        if model.tokens_used > 110:
            break
    with pytest.raises(RemoteError, match="token budget of 150 for small-chat is spent"):
        model.complete_json("Be brief.", "What? " * 100, SCHEMA)
    assert model.tokens_used < 300


def test_parts_of_a_connection_count_apart_and_learn_together(server: OpenAIServer) -> None:
    server.forms = set()
    server.reply = lambda _: GOOD
    model = connect(retries=0)
    one, other = model.part(), model.part()
    one.complete_json("Be brief.", "What?", SCHEMA)
    n_tried = len(server.requests)
    other.complete_json("Be brief.", "And what else?", SCHEMA)
    other.complete("Be brief.", "What?")
    assert len(server.requests) == n_tried + 2  # nothing is turned down once more
    assert (one.tokens_used, other.tokens_used, model.tokens_used) == (100, 200, 300)
    assert str(other.budget) == ("200 tokens (this connection so far: 300 of 500,000 tokens)")


def test_no_key_is_not_the_key_of_openai(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(RemoteError, match="refused the key"):
        ask(api_key="")
    assert server.requests[-1].key != KEY
    with pytest.raises(InputError, match="OpenAI needs a key"):
        connect(base_url="https://api.openai.com/v1", api_key="")


def test_a_wrong_key_is_said_and_not_shown(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-wrong-key")
    with pytest.raises(RemoteError, match="refused the key") as caught:
        ask()
    assert "sk-a-wrong-key" not in str(caught.value)


def test_no_server_at_all(server: OpenAIServer) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(RemoteError, match="cannot be reached"):
            ask(base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1", retries=0)


def test_what_is_missing_to_connect_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        connect()
    with pytest.raises(InputError, match="LANDSCAPE_LLM_MODEL"):
        connect(base_url="http://localhost:11434/v1")
    assert connect(api_key=KEY).model == "gpt-4o-mini"


@pytest.mark.parametrize("text", ["", "{", "{" * 5000, "null", '"{}"x', "[{]"])
def test_no_object_in_odd_text(text: str) -> None:
    assert first_object(text) in (None, {})


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        (True, {"type": "integer"}, "the answer: Input should be a valid integer"),
        ([1, "2"], {"type": "array", "items": {"type": "integer"}}, "1: Input should be a valid"),
        ("c", {"enum": ["a", "b"]}, "the answer: Input should be 'a' or 'b'"),
        ({"a": {"b": 1}}, {"type": "object", "properties": {"a": NESTED}}, "a.b: Input should be"),
        ({"a": {}}, {"type": "object", "properties": {"a": NESTED}}, "a has no 'b'"),
        ({"a": 1}, {"type": "object"}, ""),
        (1, {"type": "number"}, ""),
    ],
)
def test_faults(value: object, schema: dict[str, Any], fault: str) -> None:
    assert find_fault(value, schema).startswith(fault)
    assert bool(find_fault(value, schema)) is bool(fault)


def test_a_server_that_starts_between_two_knocks_is_found(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = lambda _: GOOD
    refusals = [True, False]
    monkeypatch.setattr("landscape.llm.server.is_refused", lambda _: refusals.pop(0))
    model = connect(retries=0)
    assert model.complete_json("Be brief.", "What?", SCHEMA) == {"answer": 42}
    model.complete_json("Be brief.", "And?", SCHEMA)  # whoever answered once is not asked again
    assert refusals == []
