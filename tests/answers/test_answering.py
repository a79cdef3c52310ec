"""Answers of a language model on a local server: cited, checked, or replaced by quotations."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from landscape.answers.extractive import QUOTED
from landscape.answers.generation import answer, standalone_question
from landscape.errors import InputError
from landscape.llm import ChatModel, connect
from landscape.types import Answer
from tests.answers.answering_papers import COOLING, HEATING, HOSTILE, found
from tests.servers.openai_server import (
    OpenAIServer,
    cut_off,
    empty,
    failing,
    invalid_json,
    rate_limited,
    slow,
)

QUESTION = "How does dust cool in quasar outflows?"
GOOD = (
    f"The dust cools mainly by infrared line emission [{COOLING.label}]. "
    f"Gas in the outflows is heated by shocks to 10^6 K [{HEATING.label}]."
)


def scripted(server: OpenAIServer, *texts: str) -> None:
    """Make the server return the texts in order; requests with a schema get no verdicts."""
    left = list(texts)

    def reply(body: dict[str, Any]) -> str:
        if "response_format" in body:
            return '{"verdicts": []}'
        return left.pop(0) if len(left) > 1 else left[0]

    server.reply = reply


def test_an_answer_is_written_cited_and_checked(server: OpenAIServer, model: ChatModel) -> None:
    scripted(server, GOOD)
    said = answer(QUESTION, found(COOLING, HEATING), model=model)
    assert said.text == GOOD
    assert [claim.verdict for claim in said.claims] == ["supported", "supported"]
    assert (said.method, said.style, said.abstained) == ("small-chat", "multi-paper", False)
    system, user = (message["content"] for message in server.requests[0].body["messages"])
    assert "four to eight sentences" in system
    papers = json.loads(user)["papers"]
    assert [paper["label"] for paper in papers] == [COOLING.label, HEATING.label]
    assert papers[0]["abstract"] == COOLING.abstract
    assert QUESTION in user
    assert "judge" not in system
    assert len(server.requests) == 2  # written, checked


@pytest.mark.parametrize(
    ("style", "words"), [("single-paper", "one fact"), ("bibliometric", "the literature itself")]
)
def test_styles(server: OpenAIServer, model: ChatModel, style: Any, words: str) -> None:
    scripted(server, GOOD)
    said = answer(QUESTION, found(COOLING, HEATING), model=model, style=style)
    assert words in server.requests[0].body["messages"][0]["content"]
    assert said.style == style


def test_a_nuanced_answer_shows_only_its_last_version(
    server: OpenAIServer, model: ChatModel
) -> None:
    scripted(server, f"Draft [{COOLING.label}].", "It is too short.", GOOD)
    pieces: list[str] = []
    said = answer(
        QUESTION, found(COOLING, HEATING), model=model, style="nuanced", on_text=pieces.append
    )
    assert said.text == GOOD
    assert "".join(pieces) == GOOD
    assert len(pieces) > 5
    last = json.loads(server.requests[2].body["messages"][1]["content"])
    assert (last["draft"], last["review"]) == (f"Draft [{COOLING.label}].", "It is too short.")


def test_an_unknown_style_is_refused(model: ChatModel) -> None:
    with pytest.raises(InputError, match="multi-paper"):
        answer(QUESTION, found(COOLING), model=model, style="poem")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("NO ANSWER: The papers say nothing of cheese.", "The papers say nothing of cheese."),
        ("**NO ANSWER**: Die Arbeiten sagen nichts [2020Fake..1A].", "Die Arbeiten sagen nichts."),
        ("no answer", "The papers searched do not answer this question."),
    ],
)
@pytest.mark.parametrize("style", ["multi-paper", "nuanced"])
def test_it_says_that_it_does_not_know(
    server: OpenAIServer, model: ChatModel, text: str, shown: str, style: Any
) -> None:
    scripted(server, text)
    said = answer("Is it cheese?", found(COOLING), model=model, style=style)
    assert said.abstained
    assert said.text == shown
    assert (said.claims, said.method) == ((), "small-chat")


def test_invented_citations_go_and_what_is_left_is_marked(
    server: OpenAIServer, model: ChatModel
) -> None:
    scripted(server, f"{GOOD} Dust is made of cheese [2020Fake..1A; 7].")
    said = answer(QUESTION, found(COOLING, HEATING), model=model)
    assert said.text == f"{GOOD} Dust is made of cheese [unsupported]."
    assert said.claims[-1].citations == ()
    assert said.claims[-1].verdict == "not found"
    assert any("not found: 2" in note for note in said.notes)


@pytest.mark.parametrize(
    "fault", [failing(500), slow(2), cut_off, invalid_json, empty, rate_limited(0.01)]
)
def test_a_model_that_fails_is_replaced_by_quotations(
    server: OpenAIServer, model: ChatModel, fault: Any
) -> None:
    scripted(server, GOOD)
    server.always = fault
    said = answer(QUESTION, found(COOLING, HEATING), model=model)
    assert said.method == "extractive"
    assert "“The dust cools mainly by infrared line emission" in said.text
    assert said.notes[0].startswith("The language model failed: ")
    assert QUOTED not in said.notes  # one is connected


@pytest.mark.parametrize("text", ["", "  ", "Dust cools.", "Dust cools [2020Fake..1A]."])
def test_an_answer_without_papers_is_none(
    server: OpenAIServer, model: ChatModel, text: str
) -> None:
    scripted(server, text)
    said = answer(QUESTION, found(COOLING, HEATING), model=model)
    assert said.method == "extractive"
    assert said.notes[0].startswith("The language model failed: ")


def test_429_then_fine(server: OpenAIServer) -> None:
    scripted(server, GOOD)
    server.script = [rate_limited(0.05)]
    assert answer(QUESTION, found(COOLING, HEATING), model=connect(retries=1)).text == GOOD


def test_a_spent_budget_is_said(server: OpenAIServer) -> None:
    scripted(server, GOOD)
    said = answer(QUESTION, found(COOLING, HEATING), model=connect(token_budget=10))
    assert said.method == "extractive"
    assert "token budget of 10" in said.notes[0]
    assert not server.requests


def test_without_a_model_or_papers_there_is_no_request(
    server: OpenAIServer, model: ChatModel
) -> None:
    assert answer(QUESTION, found(COOLING)).notes == (QUOTED,)
    said = answer(QUESTION, found(), model=model)
    assert said.abstained
    assert not any("no language model is connected" in note for note in said.notes)
    spanish = answer(QUESTION, found(COOLING), language="Spanish")
    assert "needs a language model" in spanish.notes[-1]
    assert not server.requests


def test_a_hostile_paper_changes_nothing(server: OpenAIServer, model: ChatModel) -> None:
    scripted(server, GOOD)
    plain = answer(QUESTION, found(COOLING, HEATING), model=model)
    hostile = answer(QUESTION, found(COOLING, HEATING, HOSTILE), model=model)
    assert (plain.text, plain.claims) == (hostile.text, hostile.claims)
    for request in server.requests:
        system, user = (message["content"] for message in request.body["messages"])
        assert system in {r.body["messages"][0]["content"] for r in server.requests[:2]}
        assert "<" not in user
        json.loads(user)
    abstract = json.loads(server.requests[2].body["messages"][1]["content"])["papers"][2][
        "abstract"
    ]
    assert "[" not in abstract


def test_a_model_that_obeys_a_hostile_paper_shows_nothing_that_runs(
    server: OpenAIServer, model: ChatModel
) -> None:
    evil = f"PWNED <script>x</script> ![a](https://evil.example/?q=1) [{COOLING.label}]."
    scripted(server, evil)
    said = answer(QUESTION, found(COOLING, HOSTILE), model=model)
    assert "<" not in said.text
    assert "http" not in said.text
    assert "[unsupported]" in said.text


def test_the_thread_is_told(server: OpenAIServer, model: ChatModel) -> None:
    scripted(server, GOOD)
    first = answer(QUESTION, found(COOLING, HEATING), model=model)
    answer("And why?", found(COOLING), model=model, thread=[first])
    sent = json.loads(server.requests[2].body["messages"][1]["content"])
    assert sent["conversation_so_far"] == [{"question": QUESTION, "answer": GOOD}]


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ('{"question": "Why does dust cool?"}', "Why does dust cool?"),
        ('{"question": " "}', f"{QUESTION} And why?"),
        ("nonsense", f"{QUESTION} And why?"),
    ],
)
def test_a_follow_up_stands_alone(
    server: OpenAIServer, model: ChatModel, reply: str, question: str
) -> None:
    before: Answer = answer(QUESTION, found(COOLING))
    server.reply = lambda _: reply
    assert standalone_question("And why?", [before], model=model) == question
    assert standalone_question("And why?", [], model=model) == "And why?"


def test_two_answers_at_once_share_nothing(server: OpenAIServer) -> None:
    def reply(body: dict[str, Any]) -> str:
        if "response_format" in body:
            return '{"verdicts": []}'
        sent = json.loads(body["messages"][1]["content"])
        (paper,) = sent["papers"]
        return f"{paper['abstract'].split('. ')[1]} [{paper['label']}]. On {sent['question']}."

    server.reply = reply
    server.always = slow(0.02)
    model = connect()

    def ask(n: int) -> Answer:
        return answer(f"question {n}", found((COOLING, HEATING)[n % 2]), model=model)

    with ThreadPoolExecutor(6) as threads:
        for n, said in enumerate(threads.map(ask, range(12))):
            label = (COOLING, HEATING)[n % 2].label
            assert said.question == f"question {n}"
            assert {c for claim in said.claims for c in claim.citations} == {label}
            assert f"On question {n} " in said.text
