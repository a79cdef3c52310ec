"""Types of questions, by rules or by a model, and the settings of their presets."""

from __future__ import annotations

import json

import pytest

from landscape.answers import QuestionKind, classify, preset_for
from landscape.answers.questions import FLAGS, PRESETS, TYPES
from landscape.llm import ChatModel
from tests.servers.openai_server import OpenAIServer, failing


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the mass of the black hole in M87?", "single-paper factual"),
        ("How many planets orbit TRAPPIST-1?", "single-paper factual"),
        ("Who discovered the first pulsar?", "single-paper factual"),
        ("What are the main mechanisms of galaxy quenching?", "multi-paper factual"),
        ("Why do some quasars change their look?", "multi-paper factual"),
        ("How is dust formed in the early universe?", "multi-paper factual"),
        ("Is there a Hubble tension?", "consensus"),
        ("Do astronomers agree that dark energy evolves?", "consensus"),
        ("Is dark matter made of axions?", "consensus"),
        ("What is the evidence against MOND?", "consensus"),
        ("Is there a consensus on how massive stars of NGC 3603 evolve?", "consensus"),
        ("How massive are the largest black holes?", "single-paper factual"),
        ("How far away is Betelgeuse?", "single-paper factual"),
        ("What if dark matter interacted with itself?", "counterfactual"),
        ("What would happen to spirals if there were no dark matter?", "counterfactual"),
        ("If reionisation ended late, what would the forest look like?", "counterfactual"),
        ("How do winds of AGN compare to those of starbursts?", "compositional"),
        ("What is the difference between long and short gamma-ray bursts?", "compositional"),
        ("How are masses of clusters measured, and what does that say of S8?", "compositional"),
        ("galaxies", "unclassified"),
        ("", "unclassified"),
        ("🚀🚀", "unclassified"),
    ],
)
def test_types_by_rule(question: str, kind: str) -> None:
    assert classify(question).type == kind


@pytest.mark.parametrize(
    ("question", "flag", "not_flag"),
    [
        ("How bright is NGC 1275 in the infrared?", "named entity", "bibliographic"),
        ("What did JWST find in galaxies?", "named entity", "bibliographic"),
        ("What drives quenching of metals?", "jargon", "named entity"),
        ("Which are the most cited papers on lensing?", "bibliographic", "time-sensitive"),
        ("Papers by Rubin on rotation curves", "bibliographic", "time-sensitive"),
        ("What are the latest constraints on inflation?", "time-sensitive", "bibliographic"),
        ("What was learned since 2019 of comets?", "time-sensitive", "bibliographic"),
        ("How large is the Hubble constant?", "", "named entity"),
        ("How are planets formed?", "", "jargon"),
    ],
)
def test_flags_by_rule(question: str, flag: str, not_flag: str) -> None:
    flags = classify(question).flags
    assert flag in (*flags, "")
    assert not_flag not in flags


def test_the_table() -> None:
    """Settings of the presets: k, keyword, time, citation, HyDE, reranking, generation."""
    table = {
        "single-paper factual": (5, 1, 1, 0, 1, 1, "rag"),
        "multi-paper factual": (10, 1, 1, 1, 1, 1, "rag"),
        "consensus": (20, 1, 0, 1, 1, 0, "rag"),
        "counterfactual": (15, 1, 1, 0, 1, 0, "react"),
        "compositional": (15, 1, 0, 1, 1, 1, "react"),
        "named entity": (7, 1, 0, 0, 1, 0, None),
        "jargon": (10, 1, 1, 1, 1, 1, None),
        "bibliographic": (15, 1, 0, 1, 0, 0, None),
        "time-sensitive": (7, 0, 1, 0, 1, 0, "rag"),
    }
    for name, row in table.items():
        p = PRESETS[name]
        assert row == (p.top_k, p.keyword, p.time, p.citation, p.hyde, p.rerank, p.generation)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("flag", [*FLAGS, None])
def test_every_kind_has_complete_settings(kind: str, flag: str | None) -> None:
    preset = preset_for(QuestionKind(kind, (flag,) if flag else ()))  # type: ignore[arg-type]
    assert preset.generation in ("rag", "react")
    if kind in ("compositional", "counterfactual", "consensus"):
        assert preset == PRESETS[kind]


def test_a_model_decides_where_there_is_one(server: OpenAIServer, model: ChatModel) -> None:
    server.reply = lambda _: json.dumps(
        {"type": "compositional", "flags": ["time-sensitive", "jargon", "jargon"]}
    )
    assert classify("dust?", model=model) == QuestionKind(
        "compositional", ("jargon", "time-sensitive"), "small-chat"
    )


@pytest.mark.parametrize("reply", ["", '{"type": "silly", "flags": []}', '{"type": "consensus"}'])
def test_a_model_that_fails_leaves_the_rules(
    server: OpenAIServer, model: ChatModel, reply: str
) -> None:
    server.reply = lambda _: reply
    assert classify("Is there a Hubble tension?", model=model).by == "rules"
    server.always = failing(500)
    assert classify("Is there a Hubble tension?", model=model).type == "consensus"


def test_long_questions_take_no_long_time() -> None:
    assert classify("dust and if " * 2000).type
    assert classify("x" * 20_000).type == "unclassified"
