"""Questions that ask several things, and the tools with which an agent answers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from landscape.answers.reading import sub_questions
from landscape.atlas import Atlas, build
from landscape.cli import main
from landscape.llm import ChatModel
from tests.pipeline.conftest import QUICK, paper, write_papers
from tests.servers.openai_server import OpenAIServer


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a magnetar, and what is a kilonova caused by?", 0),  # too short to stand alone
        ("How massive is WASP-12b and how hot is HD 189733 b?", 2),
        ("What are the radii of WASP-12b, HD 189733 b and K2-18 b?", 3),
        ("What is known about the atmospheres of GJ 1214 b and K2-18 b?", 2),
        ("How fast does NGC 5506 vary, and what does its spectrum show?", 0),  # "its" refers back
        ("What drives the formation and evolution of galaxies?", 0),
        ("papers by Kumar and Goodman", 0),  # together
        ("What is the mass ratio of M 31 and M 33?", 0),  # a relation
        ("Which galaxies host AGN and are detected by JWST in the infrared?", 0),
        ("Which stars host hot Jupiters and do not show lithium absorption lines?", 0),
        ("What do we know about where planets form and when gas giants migrate inwards?", 0),
        ("Compare the ages of M 67 and NGC 188", 0),  # compared, not divided
        ("x" * 300 + " and what is M 67?", 0),
    ],
)
def test_only_parts_that_can_be_answered_alone_are_divided(question: str, parts: int) -> None:
    assert len(sub_questions(question)) == parts


def test_each_part_is_answered_and_shown(
    demo_atlas: Atlas, capsys: pytest.CaptureFixture[str]
) -> None:
    question = (
        "What drives the winds of massive stars in clusters and which process strips gas from "
        "satellite galaxies?"
    )
    parts = sub_questions(question)
    found = demo_atlas.ask(question, model=None)
    assert found.sub_questions == parts
    again = demo_atlas.ask(found.question, model=None, **found.settings)
    assert again.text == found.text
    assert all(part in found.text for part in parts)
    alone = [demo_atlas.ask(part, model=None) for part in parts]
    assert [claim.text for claim in found.claims] == [
        claim.text for one in alone for claim in one.claims
    ]
    ids = [one.paper_id for one in found.papers]
    assert len(set(ids)) == len(ids)
    assert "Sub-questions: " in found.to_text()
    assert parts[1] in found.to_html("method")
    assert main(["ask", str(demo_atlas.path), question, "--generation", "quoted", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sub_questions"] == list(parts)


def test_the_sides_of_a_comparison_are_its_parts(demo_atlas: Atlas) -> None:
    found = demo_atlas.ask("MOND versus cold dark matter: which fits better?", model=None)
    assert found.sub_questions == ("MOND", "cold dark matter")


SOURCE = (
    "\\section{{Introduction}} Much is known.\\section{{Methods}} A tungsten lamp was used in {0}. "
    "\\begin{{figure}}\\includegraphics{{a}}\\caption{{The spectrum of {0} in the blue arm.}}"
    "\\end{{figure}}"
)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    folder = tmp_path_factory.mktemp("parts")
    texts = folder / "texts"
    texts.mkdir()
    for number in range(3):
        one = paper(number)
        (texts / f"{one['arxiv_id']}.tex").write_text(SOURCE.format(one["title"]))
    return build(
        write_papers(folder / "few.jsonl", range(28)),
        folder / "few.atlas",
        full_text=texts,
        **QUICK,
    )


def step(action: str, query: str = "", filter: str = "", answer: str = "") -> str:  # noqa: A002
    fields = {"action": action, "query": query, "filter": filter, "answer": answer}
    return json.dumps({"thought": "Let me see.", **fields})


def test_an_agent_reads_sections_and_captions_and_counts_what_passes_a_filter(
    atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    one = paper(1)
    label = f"arXiv:{one['arxiv_id']}"
    final = f"The lamp was used in sample 1 [{label}]."
    left = [
        step("sections", label),
        step("search", one["title"]),
        step("sections", label),
        step("figures", label),
        step("filter", filter=f"date:{atlas.papers['year'].iloc[0]}"),
        step("answer", answer=final),
    ]

    def reply(body: dict[str, Any]) -> str:
        form = json.dumps(body.get("response_format", ""))
        if '"parts"' in form:
            return json.dumps({"parts": ["Which lamp was used?", "Where was it used?"]})
        if '"action"' in form:
            return left.pop(0)
        return json.dumps({"verdicts": []}) if "verdicts" in form else final

    server.reply = reply
    found = atlas.ask(
        "Which lamp do the papers use, compared with others?", model=model, generation="react",
        question_type="compositional",
    )  # fmt: skip
    told = {one.action: one.observation for one in found.trace}
    assert found.trace[0].observation == "No search has shown a paper with this label."
    assert "Sections: Introduction; Methods" in found.trace[2].observation
    assert "tungsten lamp" in found.trace[2].observation
    assert told[f"figures: {label}"].startswith("The spectrum of ")
    passing = next(text for action, text in told.items() if action.startswith("filter"))
    year = atlas.papers["year"].iloc[0]
    assert f"{(atlas.papers['year'] == year).sum()} papers pass the filter." in passing
    assert found.sub_questions == ("Which lamp was used?", "Where was it used?")
    asked = [json.loads(one.body["messages"][1]["content"]) for one in server.requests]
    assert any(one.get("sub_questions") == list(found.sub_questions) for one in asked)


def test_a_paper_without_a_full_text_is_named(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel, tmp_path: Path
) -> None:
    label = demo_atlas.search("winds of massive stars", k=1).papers[0].label
    left = [step("search", "winds of massive stars"), step("sections", label),
            step("figures", label), step("answer", answer=f"Winds blow [{label}].")]  # fmt: skip

    def reply(body: dict[str, Any]) -> str:
        form = json.dumps(body.get("response_format", ""))
        if '"action"' in form:
            return left.pop(0)
        return json.dumps({"verdicts": []}) if "verdicts" in form else "NO ANSWER: none"

    server.reply = reply
    found = demo_atlas.ask(
        "What drives winds?", model=model, generation="react", question_type="consensus"
    )
    assert found.trace[1].observation == f"The atlas has no full text of {label}."
    assert found.trace[2].observation == f"The atlas has no captions of {label}."


def test_a_question_without_an_answer_gets_other_questions(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    other = "Which winds do massive stars have?"

    def reply(body: dict[str, Any]) -> str:
        form = json.dumps(body.get("response_format", ""))
        if '"parts"' in form:
            subjects = json.loads(body["messages"][1]["content"])["subjects"]
            return json.dumps({"parts": [other, *subjects[:1]]})
        return "NO ANSWER: The papers say nothing about this."

    server.reply = reply
    settings: dict[str, Any] = {"question_type": "single-paper factual", "hyde": False}
    found = demo_atlas.ask("Which cheese do massive stars like?", model=model, **settings)
    assert found.abstained
    assert any(note.startswith(f"Other questions to try: “{other}”") for note in found.notes)
    offline = demo_atlas.ask("Do Wolf-Rayet stars eat cheddar from Wisconsin?", model=None)
    assert not any("Other questions" in note for note in offline.notes)
