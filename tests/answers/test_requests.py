"""Questions about counts are read into a measure and a filter, in whatever words they are asked."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest

from landscape import Atlas
from landscape.answers._requests import read_request
from landscape.errors import InputError
from landscape.search import parse_ads

TODAY = date(2026, 11, 15)
with (Path(__file__).parent / "count_questions.tsv").open(encoding="utf-8") as lines:
    QUESTIONS = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
COUNTS = [(row["question"], row["filter"]) for row in QUESTIONS if row["filter"] != "no count"]
OTHERS = [row["question"] for row in QUESTIONS if row["filter"] == "no count"]


@pytest.mark.parametrize(("question", "truth"), COUNTS)
def test_the_papers_of_a_count_are_those_of_a_filter(
    demo_atlas: Atlas, question: str, truth: str
) -> None:
    found = read_request(demo_atlas, question, today=TODAY)
    assert found.measure in ("papers", "reviews")
    assert not found.unknown
    assert not found.refused
    every = range(len(demo_atlas))
    papers = demo_atlas.select(found.filter) if found.filter else every
    assert set(papers) == set(demo_atlas.select(truth) if truth else every), found.filter


@pytest.mark.parametrize("question", OTHERS)
def test_other_questions_count_nothing(demo_atlas: Atlas, question: str) -> None:
    assert read_request(demo_atlas, question).measure in ("", "countries")


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("since 2020", "2020.."),
        ("since May 2020", "2020-05.."),
        ("since June", "2026-06.."),
        ("since December", "2025-12.."),
        ("between 2010 and 2015", "2010..2015"),
        ("from March to June 2021", "2021-03..2021-06"),
        ("in 2010-2015", "2010..2015"),
        ("before 2005", "date<2005"),
        ("until 2005", "..2005"),
        ("after 2020", "date>2020"),
        ("in the 1990s", "1990..1999"),
        ("in the last 5 years", "2021-11.."),
        ("this year", "date:2026"),
        ("in 2024-05", "date:2024-05"),
    ],
)
def test_periods(demo_atlas: Atlas, words: str, written: str) -> None:
    found = read_request(demo_atlas, f"How many papers on dust {words}?", today=TODAY)
    assert found.filter == f'"dust";{written}'
    assert parse_ads(found.ads).text == found.ads


def test_words_that_are_not_understood_are_said_and_not_searched(demo_atlas: Atlas) -> None:
    answer = demo_atlas.ask("How many papers have a conclusion about dust?", model=None)
    assert "Not understood, and ignored: “conclusion”." in answer.text
    assert answer.table is not None
    assert answer.table["papers"].sum() == len(demo_atlas.select('"dust"'))


def test_two_periods_are_refused(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match="several periods"):
        read_request(demo_atlas, "How many papers in 2010 and since 2015?")


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("Which regions lack a review?", "gaps"),
        ("What is missing?", "gaps"),
        ("Which regions need a review?", "gaps"),
        ("Which topics are growing fastest?", "growth"),
        ("What is new since June?", "new"),
        ("What's new?", "new"),
    ],
)
def test_questions_of_the_readme_have_their_analysis(
    demo_atlas: Atlas, question: str, measure: str
) -> None:
    assert read_request(demo_atlas, question).measure == measure
    answer = demo_atlas.ask(question, model=None)
    assert answer.method == "tables"
    assert any("landscape figure" in note for note in answer.notes) or answer.abstained


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Which facility has the largest impact?", ""),
        ("Which telescope plays the biggest role?", ""),
        ("How many papers are about impact craters?", "impact craters"),
    ],
)
def test_an_impact_ranks_what_is_counted(demo_atlas: Atlas, question: str, subject: str) -> None:
    found = read_request(demo_atlas, question).filter
    assert subject in found if subject else not found


def test_a_quoted_phrase_cannot_leave_its_filter(demo_atlas: Atlas) -> None:
    found = read_request(demo_atlas, 'How many papers have "dust\\" | author:x"?')
    demo_atlas.select(found.filter)  # it is a valid filter


@pytest.mark.parametrize(
    ("question", "unknown", "kept"),
    [
        ("How many recent papers are on dark energy?", "recent", '"dark energy"'),
        ("How many papers on quasars at redshift above 6?", "above", '"quasars"'),
        ("How many papers address dust cooling theoretically?", "theoretically", "dust cooling"),
        ("How many papers on comets are there since Gaia's launch?", "since", '"comets"'),
    ],
)
def test_what_restricts_a_count_and_is_not_understood_is_named(
    demo_atlas: Atlas, question: str, unknown: str, kept: str
) -> None:
    found = read_request(demo_atlas, question, today=TODAY)
    assert unknown in found.unknown
    assert kept in found.filter
    assert unknown not in found.filter
