"""Questions about counts are answered from the tables of the atlas, or refused with the reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import landscape as ls
from landscape import Atlas

COLUMNS = {
    "papers": ["year", "papers", "all_papers"],
    "facilities": ["facility"],
    "authors": ["author"],
    "countries": ["country"],
    "concepts": ["concept"],
    "regions": ["region"],
    "journals": ["journal"],
    "reviews": ["title", "year", "paper_id"],
    "cited": ["title", "year", "cites", "paper_id"],
}


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("How many papers per year are about dust?", "papers"),
        ("What fraction of papers use ALMA?", "papers"),
        ("How has the number of papers on dust changed?", "papers"),
        ("Which telescopes are most used for dust?", "facilities"),
        ("Who publishes most on dust?", "authors"),
        ("Top 5 authors on dust", "authors"),
        ("Which countries publish most on dust?", "countries"),
        ("What are the main topics of papers that use ALMA?", "concepts"),
        ("Which regions have the most papers?", "regions"),
        ("In which journals are papers on dust published?", "journals"),
        ("How many reviews of dust are there?", "reviews"),
        ("What are the most cited papers on dust?", "cited"),
        ("How many planets orbit TRAPPIST-1?", ""),
        ("Who discovered pulsars?", ""),
        ("How does dust cool?", ""),
        ("What is the mission of Gaia?", ""),
    ],
)
def test_what_a_question_counts(demo_atlas: Atlas, question: str, measure: str) -> None:
    answer = demo_atlas.ask(question, model=None)
    assert (answer.method == "tables") == bool(measure)
    assert (answer.table is None) == (not measure)
    if answer.table is not None:
        assert list(answer.table)[: len(COLUMNS[measure])] == COLUMNS[measure]


def test_papers_per_year_have_denominators_and_a_line_of_code(demo_atlas: Atlas) -> None:
    answer = demo_atlas.ask("How many papers per year are about galaxies?", model=None)
    assert answer.method == "tables"
    assert isinstance(answer.table, pd.DataFrame)
    rows = demo_atlas.select('"galaxies"')
    assert answer.table["papers"].sum() == len(rows)
    assert f"{len(rows)} papers with the words" in answer.text
    assert f"of {len(demo_atlas)} papers of the atlas" in answer.text
    assert "95% interval" in answer.text
    assert (answer.table["share_low"] <= answer.table["share"]).all()
    code = answer.text.split("Code: ")[1]
    counted = eval(code, {"atlas": demo_atlas})  # noqa: S307 - the line that users run
    assert counted.sum() == len(rows)


@pytest.mark.parametrize(
    "question",
    [
        "Which telescopes are most used?",
        "Who writes most about galaxies?",
        "What are the main topics of the papers?",
        "Which regions have the most papers?",
        "How many reviews are there?",
        "What are the most cited papers?",
        "How many papers use ALMA since 2015?",
    ],
)
def test_every_measure_has_a_table_text_and_code(demo_atlas: Atlas, question: str) -> None:
    answer = demo_atlas.ask(question, model=None)
    assert answer.method == "tables"
    assert not answer.abstained
    assert answer.table is not None
    assert len(answer.table)
    assert answer.text.startswith("Counted in the tables")
    code = answer.text.split("Code: ")[1]
    assert len(eval(code, {"atlas": demo_atlas, "ls": ls}))  # noqa: S307 - the line that users run
    html = answer._repr_html_()
    assert "<table" in html
    assert answer.to_dict()["table"]


def test_facilities_are_counted_by_the_strongest_role(demo_atlas: Atlas) -> None:
    table = demo_atlas.ask("Which telescopes are most used in papers?", model=None).table
    assert table is not None
    row = table[table["facility"] == "HST"].iloc[0]
    assert row["papers"] == len(demo_atlas.select("facility:HST; role:science"))
    assert row["planned"] == len(demo_atlas.select("facility:HST; role:planned"))


def test_a_share_of_a_subject_has_its_papers_as_denominator(demo_atlas: Atlas) -> None:
    answer = demo_atlas.ask("What percentage of papers on galaxies use HST?", model=None)
    every = len(demo_atlas.select('"galaxies"'))
    n = len(demo_atlas.select('"galaxies"; facility:HST; role:science'))
    assert f"{n} papers" in answer.text
    assert f"of {every} papers with the words" in answer.text


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            "What is the h-index of papers? How many papers?",
            "Questions with “h-index” are not counted",
        ),
        ("How many papers on asdfqwer are there?", "No paper with the words"),
    ],
)
def test_what_no_table_has_is_refused_with_the_reason(
    demo_atlas: Atlas, question: str, reason: str
) -> None:
    answer = demo_atlas.ask(question, model=None)
    assert answer.abstained
    assert answer.method == "tables"
    assert reason in answer.text


def test_a_filter_restricts_what_is_counted(demo_atlas: Atlas) -> None:
    answer = demo_atlas.ask("How many papers are about galaxies?", model=None, filter="2015..")
    assert answer.table is not None
    assert answer.table["papers"].sum() == len(demo_atlas.select('"galaxies"; 2015..'))
    assert np.all(answer.table.loc[answer.table["papers"] > 0, "year"] >= 2015)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("How many papers per year use JSWT?", "“JSWT”; did you mean 'JWST'?"),
        ("How many papers use Chandr data?", "“Chandr”; did you mean 'Chandra'?"),
        ("What has Spitzr found about debris disks?", "“Spitzr”; did you mean 'Spitzer'?"),
        ("Which quokkas orbit Jupiter?", ""),
    ],
)
def test_a_mistyped_facility_is_named(demo_atlas: Atlas, question: str, meant: str) -> None:
    said = " ".join(demo_atlas.ask(question, model=None).to_text().split())
    assert (meant in said) if meant else ("did you mean" not in said), said
