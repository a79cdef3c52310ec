"""Private functions of the agents, for inputs that no public function can pass to them."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from landscape.agents import AtlasCollection
from landscape.agents._attribution import agent_instructions, wordings
from landscape.agents._citing_sentences import highlight
from landscape.agents._survey import split_question
from landscape.agents._survey_model import one_line_each, parse_decision, parse_tokens, pasa_message
from landscape.agents.bounded_search import Wording, search_wordings
from landscape.agents.collection import family_names, is_same, merge_duplicates, title_key
from landscape.agents.excerpts import read_excerpt
from landscape.agents.settings import AttributeSettings, SurveySettings, last_day
from landscape.agents.survey_requests import ReplyLog, Request, RequestBudget
from landscape.agents.survey_scoring import (
    SurveyEvidence,
    citation_weight,
    likelihood_words,
    names_subject,
    probabilities,
    scores,
)
from landscape.errors import InputError

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.types import Coverage, Hit, Paper, Results, Suggestion, check_results_file


def test_a_question_is_split_into_its_subjects() -> None:
    question = "How do stellar winds change the evolution of massive stars in metal-poor galaxies?"
    phrases = ["stellar winds change", "evolution", "massive stars", "metal-poor galaxies"]
    assert split_question(question) == phrases
    subjects = ["flare", "planet", "M dwarf planet"]
    found = split_question("How early do flares of M dwarfs strip planets?", subjects=subjects)
    assert found == ["flares", "M dwarfs strip planets"]


def test_scores_of_papers() -> None:
    none = np.zeros(2)
    evidence = SurveyEvidence(none, np.array([0.3, 0.7]), *[none] * 7)
    assert scores(evidence).round(1).tolist() == [0.7, 1.0]
    far, close = probabilities(evidence)
    assert close > far
    assert citation_weight(np.array([0.0, 0.1, 0.7])).round(2).tolist() == [0.0, 0.13, 0.5]
    fitting = np.array([1.0, 0.9, 0.8, 0.9])
    named = np.ones(4, dtype=bool)
    words = likelihood_words(np.array([0.9, 0.3, 0.9, 0.1]), fitting, named)
    assert words == ["very likely", "likely", "possible", "unlikely"]
    assert likelihood_words(np.ones(4), fitting, ~named) == ["unlikely"] * 4


def test_a_paper_that_names_little_of_the_subject_needs_a_high_score() -> None:
    shares = np.array([1.0] * 10 + [0.5, 0.5, 0.2])
    found = names_subject(np.array([0.2] * 10 + [0.4, 0.6, 0.9]), shares)
    assert found[:10].all()
    assert found[10:].tolist() == [False, True, False]


def test_replies_of_pasa_are_parsed() -> None:
    searches = parse_tokens("[Search] dust in quasars [Search]cold gas[StopSearch]", "Search")
    assert searches == ["dust in quasars", "cold gas"]
    sections = parse_tokens("[Expand] 2. Dust models [Expand]Discussion [StopExpand]", "Expand")
    assert sections == ["2. Dust models", "Discussion"]
    said = parse_decision("Decision: True\nReason: It measures the dust.")
    assert said == (True, "It measures the dust.")
    assert parse_decision("I like this paper.") is None
    assert one_line_each([" dust\nlines ", "", "Dust lines"]) == ["dust lines"]
    prompt = pasa_message("pasa_judge", {"title": "<b>Obey</b>"})
    assert prompt.endswith('\n{"title": "\\u003cb\\u003eObey\\u003c/b\\u003e"}')


def test_settings_budget_and_log() -> None:
    assert SurveySettings(depth=2).depth == 2
    with pytest.raises(InputError, match=r"'dept'.*depth, breadth"):
        SurveySettings(dept=2)
    assert last_day("2019-06") == date(2019, 6, 1)
    budget = RequestBudget(SurveySettings(calls=1), ReplyLog(None, {}))
    asked = [Request(lambda: "yes", str.upper, "a?"), Request(lambda: "no", str.upper, "b?")]
    replies = [reply.fault or reply.value for reply in budget.ask(asked)]
    assert replies == ["YES", "The budget of 1 calls is spent."]
    log = ReplyLog(None, {"question": "?"})
    log.keep("asked", {"queries": []})
    assert log.find("asked") == {"queries": []}
    assert log.find("else") is None


def test_records_of_one_paper_are_merged() -> None:
    quasars = "Dust in distant quasars"
    first = Suggestion(
        1, Paper(row=0, paper_id="x", title=quasars, abstract="", authors=("Rubin, V.",)), "A", 2.0
    )
    title = "Dust in Distant Quasars."
    again = Suggestion(
        2, Paper(row=7, paper_id="y", title=title, abstract="", authors=("Vera Rubin",)), "B", 1.0
    )
    other = Suggestion(
        3, Paper(row=8, paper_id="z", title=quasars, abstract="", authors=("Ford, K.",)), "B", 0.5
    )
    merged = merge_duplicates([first, again, other])
    kept = [(one.rank, one.paper.paper_id, one.also_in) for one in merged]
    assert kept == [(1, "x", ("B",)), (2, "z", ())]
    assert is_same(
        Paper(row=0, paper_id="x", title="A", abstract="", doi="10.1/2"),
        Paper(row=9, paper_id="y", title="B", abstract="", doi="10.1/2"),
    )
    assert title_key("Étoiles, and: Dust!") == "etoilesanddust"
    assert sorted(family_names(["Rubin, V.", "Kent Ford"])) == ["ford", "rubin"]


def test_excerpts_and_wordings() -> None:
    assert not AtlasCollection().corpora
    excerpt = "Dust cools by lines (Rubin 1980) and gas by shocks [CITATION]."
    assert read_excerpt(excerpt).clause == "and gas by shocks"
    read = read_excerpt("Gas is hot. [CITATION] showed that jets heat it (Ford 1999).")
    assert read.sentence == "showed that jets heat it."
    assert read.clause == "showed that jets heat it"
    texts = wordings(read_excerpt("Gas is hot. Dust cools fast [CITATION]."))
    assert texts == [("Gas is hot. Dust cools fast.", 1.0), ("Dust cools fast.", 0.5)]
    with_example = agent_instructions(AttributeSettings(demonstration=True))
    assert "An example" in with_example
    assert "thought:" in with_example
    alone = agent_instructions(AttributeSettings(thoughts=False, only="search"))
    assert "thought:" not in alone
    assert "You cannot read papers" in alone
    text = "Quasars are bright. We find that dust in them cools by lines. Gas is hot there."
    highlights = highlight(text, "How dust cools", n=1)
    assert [one.text for one in highlights] == ["We find that dust in them cools by lines."]


def test_several_wordings_are_ranked_together() -> None:
    class Fixed:
        def search(self, query: str, _settings: Any) -> Results:
            papers = [Paper(row=n, paper_id=f"p{n}", title="", abstract="") for n in (0, 1)]
            values = (2.0, 1.0) if query == "dust" else (1.0, 2.0)
            pairs = enumerate(zip(papers, values, strict=True), start=1)
            hits = tuple(Hit(rank, paper, value) for rank, (paper, value) in pairs)
            return Results(query, hits, Coverage("", 2, 2, {}, None, None))

    found = search_wordings(Fixed(), [Wording("dust"), Wording("gas", 0.5)])  # type: ignore[arg-type]  # a stand-in
    assert [hit.paper.paper_id for hit in found.hits] == ["p0", "p1"]


def test_files_of_results() -> None:
    assert check_results_file("papers.BIB", is_survey=True).name == "papers.BIB"
    with pytest.raises(InputError, match=r"A survey cannot be written as 'survey\.doc'"):
        check_results_file("survey.doc", is_survey=True)
