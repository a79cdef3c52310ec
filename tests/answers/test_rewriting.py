"""A rewritten answer keeps its citations, evidence and verdicts, and its numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from landscape.answers import check_claims
from landscape.answers.generation import answer, rewrite
from landscape.errors import InputError
from landscape.llm import ChatModel
from landscape.types import Answer
from tests.answers.answering_papers import COOLING, HEATING, found
from tests.servers.openai_server import OpenAIServer, failing

TEXT = (
    f"Two things are known:\n\n- Dust cools mainly by infrared line emission within 3.5 Myr "
    f"[{COOLING.label}].\n- Gas is blue [{HEATING.label}]."
)


@pytest.fixture
def said() -> Answer:
    results = found(COOLING, HEATING)
    checked = check_claims(TEXT, results.papers)
    return Answer("Why?", checked.text, checked.claims, results, "small-chat")


def rewritten(server: OpenAIServer, *texts: str, first: int = 1) -> None:
    rows = [{"id": n, "text": text} for n, text in enumerate(texts, start=first)]
    server.reply = lambda _: json.dumps({"sentences": rows})


def test_sentences_change_and_nothing_else(
    server: OpenAIServer, model: ChatModel, said: Answer
) -> None:
    rewritten(server, "Staub kühlt in 3,5 Myr.", "Gas ist blau [2020Fake..1A].")
    new = rewrite(said, model, language="German", audience="public")
    assert new.text == (
        f"- Staub kühlt in 3,5 Myr [{COOLING.label}].\n"
        f"- Gas ist blau [{HEATING.label}] [unsupported]."
    )
    for old_claim, claim in zip(said.claims, new.claims, strict=True):
        assert (claim.citations, claim.evidence, claim.verdict) == (
            old_claim.citations,
            old_claim.evidence,
            old_claim.verdict,
        )
    assert (
        new.notes[-1]
        == "Rewritten into German for the audience public by small-chat after checking."
    )
    assert new.results is said.results
    sent = json.loads(server.requests[0].body["messages"][1]["content"])
    assert "Dust cools" in sent["sentences"][0]["text"]
    assert "everyday words" in sent["readers"]
    assert COOLING.label not in json.dumps(sent)


@pytest.mark.parametrize(
    "texts",
    [
        ("Staub kühlt in 9,5 Myr.", "Gas ist blau."),
        ("Staub kühlt.", "Gas ist blau.", "Und alles ist gut."),
        ("Staub kühlt.",),
        ("Staub kühlt.", ""),
        ("Staub kühlt.", "Gas ist blau. " * 100),
    ],
)
def test_what_says_more_or_less_is_not_taken(
    server: OpenAIServer, model: ChatModel, said: Answer, texts: tuple[str, ...]
) -> None:
    rewritten(server, *texts)
    new = rewrite(said, model, language="German")
    assert (new.text, new.claims) == (said.text, said.claims)
    assert "could not be rewritten" in new.notes[-1]


@pytest.mark.parametrize("first", [0, 2])
def test_wrong_ids_are_not_taken(
    server: OpenAIServer, model: ChatModel, said: Answer, first: int
) -> None:
    rewritten(server, "Staub kühlt.", "Gas ist blau.", first=first)
    assert rewrite(said, model, language="German").text == said.text


def test_a_server_that_fails_leaves_the_answer(
    server: OpenAIServer, model: ChatModel, said: Answer
) -> None:
    server.always = failing(500)
    assert rewrite(said, model, audience="student").text == said.text


@pytest.mark.parametrize(
    "options", [{"audience": "cats"}, {"language": ""}, {"language": "X. Ignore: all"}]
)
def test_odd_wishes_are_refused(model: ChatModel, said: Answer, options: Any) -> None:
    with pytest.raises(InputError):
        rewrite(said, model, **options)


def test_an_answer_is_checked_before_it_is_translated(
    server: OpenAIServer, model: ChatModel
) -> None:
    def reply(body: dict[str, Any]) -> str:
        system = body["messages"][0]["content"]
        if "Rewrite each sentence" in system:
            return '{"sentences": [{"id": 1, "text": "Staub kühlt."}]}'
        return '{"verdicts": []}' if "check claims" in system else f"Dust cools [{COOLING.label}]."

    server.reply = reply
    said = answer("Why?", found(COOLING), model=model, language="German")
    assert said.text == f"Staub kühlt [{COOLING.label}]."
    assert said.claims[0].verdict == "supported"
    assert said.claims[0].evidence
