"""Without a language model, answers quote sentences exactly, or abstain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from landscape.answers.citations import read_citations
from landscape.answers.extractive import ONE_SIDE, QUOTED, SIDES_UNREAD, extract_answer
from landscape.search.sentences import word_scores
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
        assert f"“{claim.text}” " in answer.text
        assert f"[{evidence.label}]" in answer.text


def test_papers_that_do_not_match_are_no_answer() -> None:
    near = extract_answer(QUESTION, found(COOLING))
    far = extract_answer(QUESTION, replace(found(COOLING), matched=False, note="Nothing."))
    assert not near.abstained
    assert far.abstained
    assert far.claims == ()
    assert far.notes[-1] == "Nothing."


def _answer(
    question: str, *abstracts: str, day: date = date(2020, 5, 1), status: str | None = None
) -> list[str]:
    papers = [
        Paper(
            row=n,
            paper_id=f"p{n}",
            title="A paper",
            abstract=text,
            authors=(),
            date=day,
            status=status,
            bibcode=f"2020ApJ...900....{n + 1}A",
        )
        for n, text in enumerate(abstracts)
    ]
    return extract_answer(question, found(*papers)).text.splitlines()


def test_the_value_that_is_asked_for_comes_first_with_its_year() -> None:
    lines = _answer(
        "What is the Hubble constant from SH0ES?",
        "Our model gives a Hubble constant of 69.8 km/s/Mpc, below the value of SH0ES.",
        "The Hubble constant from SH0ES = 73.0 ± 1.0 km/s/Mpc is above that of Planck.",
    )
    assert "73.0 ± 1.0" in lines[0]
    assert "(2020)" in lines[0]


def test_questions_and_sentences_about_the_paper_are_not_quoted() -> None:
    text = "\n".join(
        _answer(
            "Why do magnetars flare?",
            "In this paper we attempt to answer a deceptively simple question about magnetars. "
            "Why do magnetars flare at all, and how often? "
            "Magnetars flare because their crust breaks under magnetic stress.",
        )
    )
    assert "crust breaks" in text
    assert "deceptively" not in text
    assert "how often" not in text


def test_a_definition_is_asked_for() -> None:
    lines = _answer(
        "What is a magnetar?",
        "A magnetar burst was seen by a small satellite in its first orbit. "
        "Magnetars are neutron stars with extremely strong magnetic fields.",
    )
    assert lines[0].startswith("- “Magnetars are neutron stars")


def test_both_sides_of_a_question_are_shown() -> None:
    lines = _answer(
        "Does dark energy evolve?",
        "The data suggest that dark energy may evolve with time in this sample.",
        "We find no evidence that dark energy evolves over the last eight billion years.",
    )
    assert lines[0] == "For:"
    assert "Against:" in lines
    assert "no evidence" in lines[lines.index("Against:") + 1]


def test_one_side_is_not_agreement() -> None:
    paper = Paper(
        row=0,
        paper_id="a",
        title="Dark energy",
        abstract="The data suggest that dark energy may evolve with time.",
    )
    answer = extract_answer("Does dark energy evolve?", found(paper))
    assert ONE_SIDE in answer.notes
    unread = "Dark energy and its evolution with time depend on the supernovae of the sample."
    answer = extract_answer(
        "Does dark energy evolve?", found(replace(paper, abstract=f"{paper.abstract} {unread}"))
    )
    assert len(answer.claims) == 2
    assert SIDES_UNREAD in answer.notes
    assert ONE_SIDE not in answer.notes


def test_a_premise_that_no_paper_states_is_named() -> None:
    text = "JWST observations of early galaxies constrain models of warm dark matter halos."
    answer = extract_answer(
        "Why did JWST rule out dark matter?",
        found(Paper(row=0, paper_id="a", title="Early galaxies", abstract=text)),
    )
    assert any("asks or assumes; it may not be so" in note for note in answer.notes)


def test_popular_papers_of_the_first_of_april_are_no_evidence() -> None:
    text = "The value of pi is 3.2 in circles of the largest observable size in the sky."
    joke = Paper(
        row=0,
        paper_id="a",
        title="Pi",
        abstract=text,
        authors=(),
        date=date(2012, 4, 1),
        categories=("physics.pop-ph",),
    )
    assert extract_answer("What is the value of pi?", found(joke)).abstained


@pytest.mark.parametrize("question", ["", "the of and", "🚀", "Wer kocht Suppe?", "x" * 20_000])
def test_a_question_that_shares_no_word_is_not_answered(question: str) -> None:
    assert extract_answer(question, found(COOLING, HEATING)).abstained


def test_no_papers_and_no_abstracts_are_no_answer() -> None:
    assert extract_answer(QUESTION, found()).abstained
    assert extract_answer(
        QUESTION, found(Paper(row=0, paper_id="a", title="Dust", abstract=""))
    ).abstained


def test_papers_that_state_the_same_are_one_statement() -> None:
    texts = (
        "Little red dots are a population of compact red sources discovered by JWST.",
        "JWST discovered a population of compact red galaxies, the little red dots.",
        "Little red dots have broad Balmer lines and a V-shaped spectral energy distribution.",
        "We measure that 341 little red dots host massive black holes at high redshift.",
        "We measure that 117 little red dots host massive black holes at high redshift.",
    )
    papers = [
        Paper(row=row, paper_id=f"p{row}", title=f"Little red dots {row}", abstract=text)
        for row, text in enumerate(texts)
    ]
    answer = extract_answer("What are little red dots?", found(*papers), least=0.0)
    groups = [claim.citations for claim in answer.claims]
    labels = [paper.label for paper in papers]
    assert any({labels[0], labels[1]} <= set(group) for group in groups)
    assert (labels[2],) in groups
    assert not any({labels[3], labels[4]} <= set(group) for group in groups), "other numbers"
    assert "more paper" in answer.text
    assert [hit.rank for hit in answer.results.hits] == list(range(1, 6))


def test_a_sentence_is_not_said_twice() -> None:
    twin = Paper(row=5, paper_id="twin", title="Twin", abstract=COOLING.abstract)
    texts = [claim.text for claim in extract_answer(QUESTION, found(COOLING, twin)).claims]
    assert len(texts) == len(set(texts))


def test_a_given_score_decides() -> None:
    def by_shock(question: str, sentences: Sequence[str]) -> np.ndarray:
        return np.array(["shocks" in sentence for sentence in sentences], dtype=float)

    answer = extract_answer(QUESTION, found(COOLING, HEATING), score=by_shock)
    assert [claim.citations for claim in answer.claims] == [(HEATING.label,)]


def test_papers_are_shared_out_and_few_sentences_are_enough() -> None:
    papers = [
        Paper(
            row=i,
            paper_id=f"p{i}",
            title="",
            abstract=" ".join(
                f"Dust {w} cools in outflow {i}{j}."
                for j, w in enumerate(("grey", "black", "red", "hot"))
            ),
        )
        for i in range(9)
    ]
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


def test_papers_on_another_object_are_not_quoted() -> None:
    question = "How do the winds of massive stars in NGC 3603 evolve?"
    other = "The winds of massive stars in NGC 1333 evolve quickly."
    plain = "The winds of massive stars evolve because of their metallicity."
    quoted = "\n".join(_answer(question, other, plain))
    assert "metallicity" in quoted
    assert "NGC 1333" not in quoted
    assert "NGC 1333" in "\n".join(_answer(question.replace("3603", "1333"), other, plain))


def test_retracted_papers_are_not_quoted() -> None:
    text = "Magnetars flare because their crust breaks under magnetic stress."
    question = "Why do magnetars flare?"
    assert "crust" in "\n".join(_answer(question, text, status="corrected"))
    for status in ("retracted", "withdrawn"):
        assert "crust" not in "\n".join(_answer(question, text, status=status))
