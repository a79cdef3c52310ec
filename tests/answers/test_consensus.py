"""The level of agreement is based on sentences of the papers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from landscape.answers import AskSettings
from landscape.answers.asking import ask
from landscape.llm import ChatModel
from landscape.types import Answer, Paper, Results
from tests.answers.answering_papers import COOLING, HEATING, HOSTILE, found
from tests.servers.openai_server import OpenAIServer, failing

PAPERS = [COOLING, HEATING, HOSTILE]
LEVELS = [
    "Strong Agreement",
    "Moderate Agreement",
    "Weak Agreement",
    "No Clear Consensus",
    "Weak Disagreement",
    "Moderate Disagreement",
    "Strong Disagreement",
]


class Engine:
    """A search engine that always finds the same papers."""

    is_restricted = True
    atlas = SimpleNamespace(manifest=SimpleNamespace(files={}))
    indexes = SimpleNamespace(papers_named=lambda text: ((), (), text))

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.papers = papers

    def select(self, _filter: str) -> Any:
        return np.arange(len(self.papers))

    def search(self, query: str, *_: object, **__: object) -> Results:
        return found(*self.papers, query=query)

    def nearness(self, _question: str, sentences: Sequence[str]) -> Any:
        return np.zeros(len(sentences))


def answered(papers: Sequence[Paper], model: ChatModel) -> Answer:
    settings = AskSettings(
        question_type="consensus", generation="rag", hyde=False, check_with_model=False
    )
    return ask(Engine(papers), "Does dust cool?", settings, model=model)


def judge_consensus(papers: Sequence[Paper], model: ChatModel) -> Any:
    consensus = answered(papers, model).consensus
    assert consensus is not None
    return consensus


def judged(server: OpenAIServer, *stances: tuple[str, str, str], **other: Any) -> None:
    document = {
        "statement": "Dust cools.",
        "level": "Strong Agreement",
        "explanation": "Two papers say so.",
        "relevance": 0.8,
        "stances": [{"paper": p, "position": v, "sentence": s} for p, v, s in stances],
    }
    reply = json.dumps(document | other)
    server.reply = lambda body: reply if "response_format" in body else "Dust cools."


def test_each_paper_has_a_stance_with_its_sentence(server: OpenAIServer, model: ChatModel) -> None:
    judged(server, ("p1", "supports", "p1s2"), ("p2", "mixed", "p2s1"), ("p3", "irrelevant", ""))
    consensus = judge_consensus(PAPERS, model)
    assert consensus.level == "Strong Agreement"
    assert (consensus.statement, consensus.relevance) == ("Dust cools.", 0.8)
    assert [stance.position for stance in consensus.stances] == ["supports", "mixed", "irrelevant"]
    assert [stance.label for stance in consensus.stances] == [paper.label for paper in PAPERS]
    evidence = consensus.stances[0].evidence
    assert evidence
    assert COOLING.abstract[evidence.start : evidence.end] == evidence.text
    assert evidence.text.startswith("The dust cools mainly")
    assert "<script>" not in server.requests[-1].body["messages"][1]["content"]


@pytest.mark.parametrize(
    "stances",
    [
        [("p1", "supports", "p1s99"), ("p2", "supports", "p1s1")],
        [("p7", "supports", "p7s1"), ("2020Fake..1A", "supports", "p1s1")],
        [("p1", "supports", "")],
        [],
    ],
)
def test_a_stance_without_a_sentence_of_its_paper_is_none(
    server: OpenAIServer, model: ChatModel, stances: list[tuple[str, str, str]]
) -> None:
    judged(server, *stances)
    consensus = judge_consensus(PAPERS, model)
    assert {stance.position for stance in consensus.stances} == {"irrelevant"}
    assert consensus.level == "No Clear Consensus"
    assert consensus.relevance == 0.0
    assert "model chose Strong Agreement" in consensus.explanation


def test_a_level_against_its_own_papers_is_replaced(server: OpenAIServer, model: ChatModel) -> None:
    judged(server, ("p1", "refutes", "p1s2"), ("p2", "refutes", "p2s1"), relevance=7)
    consensus = judge_consensus(PAPERS, model)
    assert consensus.level == "Strong Disagreement"
    assert "model chose Strong Agreement" in consensus.explanation
    assert consensus.relevance == 1.0


@pytest.mark.parametrize("other", [{"level": "Total Agreement"}, {"stances": None}, {"x": 1}])
def test_another_form_is_one_sentence(server: OpenAIServer, model: ChatModel, other: Any) -> None:
    judged(server, **other)
    said = answered(PAPERS, model)
    assert said.consensus is None
    assert any("was not judged" in note and "wrong form" in note for note in said.notes)


def test_a_server_that_fails_is_one_sentence(server: OpenAIServer, model: ChatModel) -> None:
    server.always = failing(500)
    said = answered(PAPERS, model)
    assert said.consensus is None
    assert any("was not judged" in note and "status 500" in note for note in said.notes)


def test_no_papers_no_request(server: OpenAIServer, model: ChatModel) -> None:
    assert answered([], model).consensus is None
    assert not server.requests


@pytest.mark.parametrize(
    ("n_for", "n_against", "n_mixed", "level"),
    [
        (8, 0, 0, 0),
        (8, 1, 0, 0),
        (6, 2, 0, 1),
        (5, 3, 0, 2),
        (4, 4, 0, 3),
        (0, 0, 5, 3),
        (3, 5, 0, 4),
        (2, 6, 0, 5),
        (0, 8, 0, 6),
    ],
)
def test_levels_by_count(
    server: OpenAIServer, model: ChatModel, n_for: int, n_against: int, n_mixed: int, level: int
) -> None:
    positions = ["supports"] * n_for + ["refutes"] * n_against + ["mixed"] * n_mixed
    positions += ["irrelevant"] * 9
    papers = [replace(COOLING, row=n, paper_id=f"{n}") for n in range(len(positions))]
    stances = [(f"p{n}", position, f"p{n}s1") for n, position in enumerate(positions, 1)]
    for of_model in (LEVELS[0], LEVELS[6]):
        judged(server, *stances, level=of_model)
        is_kept = level == 3 or (level < 3) == (of_model == LEVELS[0])
        wanted = of_model if is_kept else LEVELS[level]
        assert judge_consensus(papers, model).level == wanted
