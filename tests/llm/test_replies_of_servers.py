"""Replies as real servers send them: thoughts, parts, refused options, cut prompts, errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from landscape.errors import RemoteError
from landscape.llm import ChatModel, connect
from landscape.llm.prompts import AnswerFilter, first_object
from tests.servers.openai_server import OpenAIServer, Written, message, other, streaming

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
RIGHT = '{"a": "right"}'
LONG = "Dust cools in quasars. " * 1000  # about 5,750 tokens
THOUGHTS = {
    "think": "<think>\nmaybe {}\n</think>\n\n",
    "thinking": "<thinking>maybe {}</thinking>",
    "reasoning": "<reasoning>maybe {}</reasoning>\n",
    "upper case": "<THINK>maybe {}</THINK>",
    "Mistral": "[THINK]maybe {}[/THINK]",
    "no opening tag": "maybe {}\n</think>\n\n",
    "twice": "<think>maybe</think> <think>{}</think>",
    "gpt-oss": "<|channel|>analysis<|message|>maybe {}<|end|><|start|>assistant"
    "<|channel|>final<|message|>",
}


def streamed(model: ChatModel) -> str:
    return "".join(model.stream("Be brief.", "What?"))


def completed(model: ChatModel) -> str:
    return model.complete("Be brief.", "What?")


def decided(model: ChatModel) -> dict[str, Any]:
    return model.complete_json("Be brief.", "What?", SCHEMA)


@pytest.fixture
def model(server: OpenAIServer) -> ChatModel:
    server.reply = lambda _: RIGHT
    return connect(retries=0)


@pytest.mark.parametrize("form", THOUGHTS)
def test_thoughts_in_the_text_are_not_in_the_answer(
    server: OpenAIServer, model: ChatModel, form: str
) -> None:
    thoughts = THOUGHTS[form].replace("{}", '{"a": "wrong"}')
    server.reply = lambda _: thoughts + RIGHT
    assert streamed(model) == completed(model) == streamed(model) == RIGHT
    assert decided(model) == {"a": "right"}


@pytest.mark.parametrize("form", THOUGHTS)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_tags_that_are_split_are_found(
    server: OpenAIServer, model: ChatModel, form: str, size: int
) -> None:
    text = THOUGHTS[form].replace("{}", "x < 5") + "Dust [1] is < 5 K."
    server.always = streaming(
        *({"content": text[at : at + size]} for at in range(0, len(text), size))
    )
    assert streamed(model) == streamed(model) == "Dust [1] is < 5 K."


def test_an_answer_without_thoughts_is_yielded_as_it_comes() -> None:
    answer = AnswerFilter(held=False)
    pieces = ["Dust ", "[", "2020ApJ", "] <", " 5 <th", "e"]
    assert [answer.add(piece) for piece in pieces] == [
        ["Dust "], [], ["[2020ApJ"], ["] "], ["< 5 "], []
    ]  # fmt: skip
    assert answer.add("", last=True) == ["<the"]


def test_the_object_that_fits_is_chosen(server: OpenAIServer, model: ChatModel) -> None:
    server.reply = lambda _: f'The set {{1, 2}} and {{"b": {{"a": 1}}}} lead to:\n{RIGHT}'
    assert decided(model) == {"a": "right"}
    assert len(server.requests) == 1
    assert first_object('{"b": 1} {"c": 2}', SCHEMA) == {"b": 1}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_in_a_field_are_not_in_the_answer(
    server: OpenAIServer, model: ChatModel, field: str
) -> None:
    server.always = message(**{field: 'maybe {"a": "wrong"}'})
    assert completed(model) == RIGHT
    assert decided(model) == {"a": "right"}
    server.always = streaming(
        {"role": "assistant", "content": None, field: "maybe "},
        {"content": "", field: "wrong"},
        {"content": RIGHT[:5], field: None},
        {"content": RIGHT[5:]},
    )
    assert list(model.stream("Be brief.", "What?")) == [RIGHT[:5], RIGHT[5:]]


@pytest.mark.parametrize(
    ("option", "error"),
    [
        (
            "temperature",
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default "
            "(1) value is supported.",
        ),
        ("temperature", "Unsupported parameter: 'temperature' is not supported with this model."),
        ("stream_options", "Unrecognized request argument"),
    ],
)
@pytest.mark.parametrize("ask", [streamed, completed, decided])
def test_a_refused_option_is_not_sent_again(
    server: OpenAIServer, model: ChatModel, option: str, error: str, ask: Callable[..., object]
) -> None:
    server.refuses = lambda body: (400, error) if option in body else None
    assert ask(model) == ask(model) == (json.loads(RIGHT) if ask is decided else RIGHT)
    sent = [option in request.body for request in server.requests]
    assert sent in ([True, False, False], [False, False])
    completed(model.part())
    assert option not in server.requests[-1].body


def test_a_limit_of_tokens_is_sent_only_to_servers_that_demand_it(
    server: OpenAIServer, model: ChatModel
) -> None:
    completed(model)
    assert not [name for name in server.requests[-1].body if name.startswith("max")]

    def refuses(body: dict[str, Any]) -> tuple[int, str] | None:
        if "max_tokens" in body:
            return 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return None if "max_completion_tokens" in body else (400, "max_tokens: Field required")

    server.refuses = refuses
    assert decided(model) == decided(model) == {"a": "right"}
    assert len(server.requests) == 5


@pytest.mark.parametrize("status", [500, 501, 404, 415, 400, 422])
def test_a_server_that_fails_with_a_form_is_asked_for_the_next_one(
    server: OpenAIServer, model: ChatModel, status: int
) -> None:
    server.refuses = lambda body: (status, "failed") if "response_format" in body else None
    assert decided(model) == decided(model) == {"a": "right"}
    forms = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert forms == ["json_schema", "json_object", None, None]


def test_a_server_that_always_fails_is_an_error_and_not_remembered(
    server: OpenAIServer, model: ChatModel
) -> None:
    server.refuses = lambda _: (500, "out of memory")
    with pytest.raises(RemoteError, match=r"with status 500 .*out of memory"):
        decided(model)
    server.refuses = lambda _: None
    assert decided(model) == {"a": "right"}
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


def test_only_refusals_are_tried_in_another_form(server: OpenAIServer, model: ChatModel) -> None:
    server.refuses = lambda _: (503, "overloaded")
    with pytest.raises(RemoteError, match="with status 503"):
        decided(model)
    assert len(server.requests) == 1


def test_content_in_parts_is_joined(server: OpenAIServer, model: ChatModel) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": '{"a": "wrong"}'}]},
        {"type": "reasoning", "text": "maybe"},
        {"type": "text", "text": RIGHT[:5]},
        {"type": "text", "text": RIGHT[5:]},
    ]
    server.always = message(content=parts)
    assert completed(model) == RIGHT
    assert decided(model) == {"a": "right"}
    server.always = streaming(*({"content": [part]} for part in parts))
    assert streamed(model) == RIGHT


ONLY_THOUGHTS = {
    "tag": (message(content="<think>So"), streaming({"content": "<think>So"})),
    "empty": (message(content="<think></think>\n"), streaming({"content": "<think></think>"})),
    "field": (
        message(content=None, reasoning_content="So"),
        streaming({"content": None, "reasoning_content": "So"}, end="[DONE]"),
    ),
}


@pytest.mark.parametrize("reason", ["stop", "length"])
@pytest.mark.parametrize("kind", ONLY_THOUGHTS)
def test_thoughts_without_an_answer_are_explained(
    server: OpenAIServer, model: ChatModel, kind: str, reason: str
) -> None:
    server.finish_reason = reason
    for fault, ask in zip(ONLY_THOUGHTS[kind], (completed, streamed), strict=True):
        server.always = fault
        with pytest.raises(RemoteError, match=r"only its reasoning and no answer\. Increase the"):
            ask(model)


@pytest.mark.parametrize("n_read", [2048, 800])
def test_a_prompt_that_was_cut_is_reported(
    server: OpenAIServer, n_read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "write", lambda _: Written(RIGHT, n_read=n_read))
    for ask in (
        lambda: connect().complete("", LONG),
        lambda: list(connect().stream("", LONG)),
        lambda: connect().complete_json("", LONG, SCHEMA),
    ):
        cut = rf"read only {n_read:,} of about 5,750 tokens.* OLLAMA_CONTEXT_LENGTH=32768"
        with pytest.raises(RemoteError, match=cut):
            ask()


@pytest.mark.parametrize(
    ("question", "usage"),
    [
        (LONG, {"prompt_tokens": 3000}),
        (LONG, {"prompt_tokens": 10}),
        (LONG, {"prompt_tokens": 2000, "prompt_tokens_details": {"cached_tokens": 3500}}),
        (LONG, {"prompt_tokens": 5000, "prompt_tokens_details": {"cached_tokens": None}}),
        ("Why? " * 1000, {"prompt_tokens": 500}),
    ],
)
def test_other_counts_of_a_prompt_are_accepted(
    model: ChatModel, server: OpenAIServer, question: str, usage: dict[str, Any]
) -> None:
    counted = {"completion_tokens": 5, "total_tokens": usage["prompt_tokens"] + 5, **usage}
    server.always = streaming({"content": RIGHT}, usage=counted)
    assert "".join(model.stream("", question)) == RIGHT


ERROR = {"message": "Provider returned error", "code": 502}


@pytest.mark.parametrize(
    "document",
    [
        {"error": ERROR},
        {"error": ERROR, "choices": []},
        {"error": ERROR["message"], "choices": None},
        {"choices": [{"error": ERROR, "message": {"content": ""}, "finish_reason": "error"}]},
    ],
)
def test_an_error_in_a_reply_is_shown(
    server: OpenAIServer, model: ChatModel, document: dict[str, Any]
) -> None:
    server.always = other(document)
    with pytest.raises(RemoteError, match=r"with an error \(Provider returned error\)"):
        completed(model)


def test_an_error_in_a_stream_is_shown(server: OpenAIServer, model: ChatModel) -> None:
    def fail(answer: Any) -> Any:
        line = f"data: {json.dumps({'error': ERROR})}\n\n"
        body = streaming({"content": "Dust"}, end="cut")(answer).body + line.encode()
        return streaming()(answer).__class__(body, headers={"Content-Type": "text/event-stream"})

    server.always = fail
    with pytest.raises(RemoteError, match=r"with an error \(Provider returned error\)"):
        streamed(model)


@pytest.mark.parametrize("end", ["stop", "[DONE]"])
def test_streams_with_odd_chunks_are_read(server: OpenAIServer, model: ChatModel, end: str) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    server.always = streaming(
        {"role": "assistant"},
        {"content": None},
        {"content": "Dust "},
        {"content": ""},
        {"content": "cools."},
        end=end,
        usage=usage,
    )
    assert streamed(model) == "Dust cools."
    assert model.tokens_used == 100


def test_a_stream_without_an_end_is_incomplete(server: OpenAIServer, model: ChatModel) -> None:
    server.always = streaming({"content": "Dust "}, end="cut")
    with pytest.raises(RemoteError, match="incomplete answer"):
        streamed(model)
