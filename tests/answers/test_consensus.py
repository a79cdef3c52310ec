"""The level of agreement stands on sentences that exist."""

from __future__ import annotations

import json
from typing import Any

import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.answers._evidence import LEVELS, judge_consensus, level_of
from landscape.errors import RemoteError
from landscape.llm import ChatModel
from landscape.types import Stance
from tests.answers.answering_papers import COOLING, HEATING, HOSTILE
from tests.servers.openai_server import OpenAIServer, failing

PAPERS = [COOLING, HEATING, HOSTILE]


def judged(server: OpenAIServer, *stances: tuple[str, str, str], **other: Any) -> None:
    document = {
        "statement": "Dust cools.",
        "level": "Strong Agreement",
        "explanation": "Two papers say so.",
        "relevance": 0.8,
        "stances": [{"paper": p, "position": v, "sentence": s} for p, v, s in stances],
    }
    server.reply = lambda _: json.dumps(document | other)


def test_each_paper_has_a_stance_with_its_sentence(server: OpenAIServer, model: ChatModel) -> None:
    judged(server, ("p1", "supports", "p1s2"), ("p2", "mixed", "p2s1"), ("p3", "irrelevant", ""))
    consensus = judge_consensus("Does dust cool?", PAPERS, model)
    assert consensus.level == "Strong Agreement"
    assert (consensus.statement, consensus.relevance) == ("Dust cools.", 0.8)
    assert [stance.position for stance in consensus.stances] == ["supports", "mixed", "irrelevant"]
    assert [stance.label for stance in consensus.stances] == [paper.label for paper in PAPERS]
    evidence = consensus.stances[0].evidence
    assert evidence
    assert COOLING.abstract[evidence.start : evidence.end] == evidence.text
    assert evidence.text.startswith("The dust cools mainly")
    assert "<script>" not in server.requests[0].body["messages"][1]["content"]


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
    consensus = judge_consensus("Does dust cool?", PAPERS, model)
    assert {stance.position for stance in consensus.stances} == {"irrelevant"}
    assert consensus.level == "No Clear Consensus"
    assert consensus.relevance == 0.0
    assert "model chose Strong Agreement" in consensus.explanation


def test_a_level_against_its_own_papers_is_replaced(server: OpenAIServer, model: ChatModel) -> None:
    judged(server, ("p1", "refutes", "p1s2"), ("p2", "refutes", "p2s1"), relevance=7)
    consensus = judge_consensus("Does dust cool?", PAPERS, model)
    assert consensus.level == "Strong Disagreement"
    assert "model chose Strong Agreement" in consensus.explanation
    assert consensus.relevance == 1.0


@pytest.mark.parametrize("other", [{"level": "Total Agreement"}, {"stances": None}, {"x": 1}])
def test_another_form_is_one_sentence(server: OpenAIServer, model: ChatModel, other: Any) -> None:
    judged(server, **other)
    with pytest.raises(RemoteError, match="wrong form"):
        judge_consensus("Does dust cool?", PAPERS, model)


def test_a_server_that_fails_is_one_sentence(server: OpenAIServer, model: ChatModel) -> None:
    server.always = failing(500)
    with pytest.raises(RemoteError, match="status 500"):
        judge_consensus("Does dust cool?", PAPERS, model)


def test_no_papers_no_request(server: OpenAIServer, model: ChatModel) -> None:
    assert judge_consensus("Does dust cool?", [], model).level == "No Clear Consensus"
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
def test_levels_by_count(n_for: int, n_against: int, n_mixed: int, level: int) -> None:
    stances = [Stance("a", "a", "supports")] * n_for + [Stance("b", "b", "refutes")] * n_against
    stances += [Stance("c", "c", "mixed")] * n_mixed + [Stance("d", "d", "irrelevant")] * 9
    assert level_of(stances) == LEVELS[level]
