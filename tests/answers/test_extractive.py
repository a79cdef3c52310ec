"""Without a language model sentences are quoted exactly, or nothing is said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.answers._citations import read_citations
from landscape.answers._extractive import QUOTED, extract_answer
from landscape.search._sentences import word_scores
from landscape.types import Paper
from tests.answers.answering_papers import COOLING, HEATING, HOSTILE, found

QUESTION = "How does dust cool in quasar outflows?"


def test_sentences_are_quoted_exactly_with_their_papers() -> None:
    answer = extract_answer(QUESTION, found(COOLING, HEATING))
    assert (answer.method, answer.abstained, answer.notes) == ("extractive", False, (QUOTED,))
    assert "The dust cools mainly by infrared line emission" in answer.text
    abstracts = {paper.paper_id: paper.abstract for paper in (COOLING, HEATING)}
    for claim in answer.claims:
        (evidence,) = claim.evidence
        assert abstracts[evidence.paper_id][evidence.start : evidence.end] == evidence.text
        assert claim.text == evidence.text
        assert claim.citations == (evidence.label,)
        assert f"“{claim.text}” [{evidence.label}]" in answer.text


def test_nothing_similarity_threshold_is_no_answer() -> None:
    near = extract_answer(QUESTION, found(COOLING), nearest=0.5, threshold=0.4)
    far = extract_answer(QUESTION, found(COOLING), nearest=0.3, threshold=0.4)
    assert not near.abstained
    assert far.abstained
    assert far.claims == ()
    assert "0.30" in far.notes[-1]


@pytest.mark.parametrize("question", ["", "the of and", "🚀", "Wer kocht Suppe?", "x" * 20_000])
def test_a_question_that_shares_no_word_is_not_answered(question: str) -> None:
    assert extract_answer(question, found(COOLING, HEATING)).abstained


def test_no_papers_and_no_abstracts_are_no_answer() -> None:
    assert extract_answer(QUESTION, found()).abstained
    assert extract_answer(QUESTION, found(Paper(0, "a", "Dust", ""))).abstained


def test_a_sentence_is_not_said_twice() -> None:
    twin = Paper(5, "twin", "Twin", COOLING.abstract)
    texts = [claim.text for claim in extract_answer(QUESTION, found(COOLING, twin)).claims]
    assert len(texts) == len(set(texts))


def test_a_given_score_decides() -> None:
    def by_shock(question: str, sentences: Sequence[str]) -> np.ndarray:
        return np.array(["shocks" in sentence for sentence in sentences], dtype=float)

    answer = extract_answer(QUESTION, found(COOLING, HEATING), score=by_shock)
    assert [claim.citations for claim in answer.claims] == [(HEATING.label,)]


def test_papers_are_shared_out_and_few_sentences_are_enough() -> None:
    papers = [
        Paper(i, f"p{i}", "", " ".join(f"Dust {w} cools in outflow {i}{j}." for j, w in
              enumerate(("grey", "black", "red", "hot"))))
        for i in range(9)
    ]  # fmt: skip
    answer = extract_answer(QUESTION, found(*papers))
    labels = [claim.citations[0] for claim in answer.claims]
    assert len(labels) == 6
    assert max(labels.count(label) for label in labels) <= 2


def test_a_hostile_paper_is_only_quoted() -> None:
    results = found(HOSTILE, COOLING)
    answer = extract_answer(QUESTION, results)
    labels = [paper.label for paper in results.papers]
    for passage in read_citations(answer.text, labels):
        assert passage.unknown == ()
    for claim in answer.claims:
        assert claim.citations == (claim.evidence[0].label,)
    assert "[2020Fake..1A]" not in answer.text


def test_word_scores_prefer_rare_words() -> None:
    sentences = ["Dust is there.", "Dust is here.", "Cheese is here.", "Nothing."]
    scores = word_scores("dust cheese", sentences)
    assert scores[2] > scores[0] == scores[1] > scores[3] == 0
    assert (scores <= 1).all()
