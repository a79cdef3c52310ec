"""Questions to an atlas, from the search to the checked answer, with a model and without."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import pytest

from landscape.atlas import Atlas
from landscape.cli import main
from landscape.errors import InputError
from landscape.llm import ChatModel, connect
from tests.servers.openai_server import OpenAIServer, failing

QUESTION = "How do stellar winds change the evolution of massive stars?"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANDSCAPE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)


def labels_shown(body: dict[str, Any]) -> list[str]:
    """Return the labels of the papers in a prompt."""
    return re.findall(r'"label": ?"([^"]+)"', body["messages"][-1]["content"])


def scripted(server: OpenAIServer, kind: str = "multi-paper factual") -> list[dict[str, Any]]:
    """Let the model classify, write an abstract, and cite the first paper and an unknown paper."""
    asked: list[dict[str, Any]] = []

    def reply(body: dict[str, Any]) -> str:
        asked.append(body)
        form = json.dumps(body.get("response_format", {}))
        if '"flags"' in form:
            return json.dumps({"type": kind, "flags": []})
        if "verdicts" in form:
            return '{"verdicts": []}'
        if '"stances"' in form:
            return json.dumps(
                {
                    "statement": "Winds matter.",
                    "stances": [],
                    "relevance": 0.5,
                    "level": "Weak Agreement",
                    "explanation": "Some say so.",
                }
            )
        shown = labels_shown(body)
        if not shown:
            return "We show that line-driven winds strip the envelopes of massive stars."
        return f"Winds strip stars [{shown[0]}]. Dragons do too [2020Fake..1A]."

    server.reply = reply
    return asked


def test_offline_the_answer_is_quoted_and_every_offset_is_true(
    demo_atlas: Atlas, offline: None
) -> None:
    said = demo_atlas.ask(QUESTION)
    assert said.method == "extractive"
    assert said.claims
    abstracts = {paper.paper_id: paper.abstract for paper in said.papers}
    for claim in said.claims:
        for sentence in claim.evidence:
            shown = abstracts[sentence.paper_id][sentence.start : sentence.end]
            assert shown == sentence.text
    assert any("no language model is connected" in note for note in said.notes)
    assert said.results.coverage.n_papers == len(demo_atlas)


def test_offline_it_abstains_where_nothing_is_near(demo_atlas: Atlas, offline: None) -> None:
    said = demo_atlas.ask("Which recipe makes the best sourdough bread?")
    assert said.abstained
    assert not said.claims
    assert any("No paper in this atlas" in note for note in said.notes)


def test_a_model_writes_and_inventions_are_stripped(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    asked = scripted(server)
    said = demo_atlas.ask(QUESTION, model=model, k=4)
    assert said.method == "small-chat"
    assert said.question_type == "multi-paper factual"
    assert "2020Fake" not in said.text
    assert said.claims[0].citations == (said.papers[0].label,)
    assert said.results.expansion.startswith("We show that line-driven winds")
    assert len(said.papers) == 4
    assert any(len(labels_shown(body)) == 4 for body in asked)


def test_consensus_is_judged_for_questions_of_consensus(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    scripted(server, kind="consensus")
    said = demo_atlas.ask("Do astronomers agree that winds matter?", model=model)
    assert said.consensus is not None
    assert said.consensus.statement == "Winds matter."


def test_a_model_that_fails_costs_its_part_and_nothing_else(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    server.always = failing()
    said = demo_atlas.ask(QUESTION, model=model)
    assert said.method == "extractive"
    assert said.claims
    assert any("hypothetical abstract" in note for note in said.notes)


def test_bibliographic_questions_give_an_ads_query(demo_atlas: Atlas, offline: None) -> None:
    said = demo_atlas.ask("How many papers on stellar winds were published between 2010 and 2015?")
    assert said.ads_query
    assert "2010-2015" in said.ads_query


def test_the_command_answers(
    demo_atlas: Atlas, offline: None, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ask", str(demo_atlas.path), QUESTION, "-k", "5"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["question"] == QUESTION
    assert found["claims"][0]["evidence"]
    assert main(words) == 0
    assert "these papers do not exist" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"style": "rhyme"}, "rhyme"),
        ({"kk": 3}, "Unknown setting 'kk'"),
        ({"audience": "cats"}, "Unknown audience 'cats'"),
        ({"language": 7}, "language is 7; choose text"),
        ({"t_now": "today"}, "t_now is 'today'"),
        ({"k": "many"}, "k is 'many'"),
    ],
)
def test_wrong_settings_are_told(
    demo_atlas: Atlas, offline: None, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        demo_atlas.ask(QUESTION, **wrong)
    with pytest.raises(InputError, match="question is empty"):
        demo_atlas.ask("  ")


def test_offline_other_readers_need_a_model(demo_atlas: Atlas, offline: None) -> None:
    said = demo_atlas.ask(QUESTION, audience="public", language="German")
    assert any("language and audience needs a language model" in note for note in said.notes)


def test_a_server_that_is_not_there_costs_a_moment(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        model = connect(base_url=url, api_key="none", model="any")
        pauses: list[float] = []
        monkeypatch.setattr("time.sleep", pauses.append)
        said = demo_atlas.ask(QUESTION, model=model)
    assert sum(pauses) < 8  # asked for, not measured; with all its tries, openai asks for more
    assert said.method == "extractive"
    assert any("connection refused" in note for note in said.notes)


def test_what_it_was_answered_with_asks_so_again(demo_atlas: Atlas, offline: None) -> None:
    said = demo_atlas.ask(QUESTION, keywords=["Wolf-Rayet"], method="words")
    assert said.settings["k"] == said.results.settings["k"] == 10
    assert len(said.papers) >= 10
    assert said.settings["weights"]["keyword"] == 0.5
    assert said.results.settings["method"] == "words"
    again = demo_atlas.ask(said.question, **said.settings)
    assert again.papers == said.papers
    assert again.text == said.text
    assert again.settings == said.settings
    json.dumps(said.to_dict(), allow_nan=False)


def test_keywords_lift_papers_that_name_them(demo_atlas: Atlas, offline: None) -> None:
    weights = {"keyword": 1.0}
    plain = demo_atlas.ask(QUESTION, weights=weights, k=30)
    word = plain.papers[-1].title.split()[-1]
    lifted = demo_atlas.ask(QUESTION, weights=weights, k=30, keywords=(word,))
    parts = {hit.paper.paper_id: hit.parts.get("keyword") for hit in lifted.results.hits}
    assert parts[plain.papers[-1].paper_id] == 1.0
    assert all("keyword" not in hit.parts for hit in plain.results.hits)


def test_the_caller_chooses_kind_and_way(
    demo_atlas: Atlas, server: OpenAIServer, model: ChatModel
) -> None:
    asked = scripted(server)
    said = demo_atlas.ask(
        QUESTION, model=model, question_type="consensus (jargon)", hyde=False, generation="rag"
    )
    assert said.question_type == "consensus (jargon)"
    assert said.consensus is not None
    assert said.results.expansion is None
    assert not [body for body in asked if '"flags"' in json.dumps(body.get("response_format"))]
    n_asked = len(asked)
    quoted = demo_atlas.ask(QUESTION, model=model, generation="quoted")
    assert len(asked) == n_asked
    assert quoted.method == "extractive"
    assert "Sentences quoted from the papers found, as requested." in quoted.notes


def test_what_needs_a_model_says_so(demo_atlas: Atlas, offline: None) -> None:
    said = demo_atlas.ask(QUESTION, generation="react", hyde=True)
    assert "An agent needs a language model; none is connected." in said.notes
    assert "A hypothetical abstract needs a language model; none is connected." in said.notes


@pytest.mark.parametrize(
    "settings",
    [
        {"generation": "magic"},
        {"question_type": "riddle"},
        {"question_type": "consensus (rude)"},
        {"keywords": "dust"},
        {"keywords": ("",)},
        {"method": "magic"},
    ],
)
def test_settings_that_cannot_be_are_refused(demo_atlas: Atlas, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        demo_atlas.ask(QUESTION, model=None, **settings)


def test_people_and_period_of_a_request_for_papers_restrict_the_search(demo_atlas: Atlas) -> None:
    paper = demo_atlas.papers.iloc[0]
    family = paper["authors"][0].partition(",")[0]
    found = demo_atlas.ask(f"Summarise the papers by {family} on galaxies.", model=None)
    assert all(any(family in name for name in one.authors) for one in found.results.papers)
    assert f"Only papers by {family} were searched." in found.notes
    found = demo_atlas.ask("Which articles from 2019 explain galaxies?", model=None)
    assert {one.year for one in found.results.papers} <= {2019}
    assert "Only papers from 2019 were searched." in found.notes
    found = demo_atlas.ask("What happened to galaxies in 2019?", model=None)
    assert not any(note.startswith("Only papers") for note in found.notes)
