"""Recognise reviews by lists and by texts; compare with 300 papers that readers labelled."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.quality import stratified_agreement
from landscape.corpus.reviews import score_papers
from landscape.errors import InputError
from landscape.overlays.reviews import read_review_list, recognise
from tests.timing import assert_growth

LABELS = Path(__file__).parent / "labels.jsonl"


def is_review(title, abstract="", **columns):
    papers = pd.DataFrame([{"title": title, "abstract": abstract, **columns}])
    return not recognise(papers).empty


@pytest.mark.parametrize(
    "where",
    [
        {"journal": "Research Notes of the AAS"},
        {"bibcode": "2020RNAAS...4...12S"},
        {"journal": "The Astronomer's Telegram"},
    ],
)
def test_some_journals_never_publish_reviews(where):
    assert is_review("Dust in galaxies: a review", "We review recent progress.")
    assert not is_review("Dust in galaxies: a review", "We review recent progress.", **where)
    assert is_review("Dust in galaxies", doctype="review", **where)


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("Betelgeuse: a review", ""),
        ("A short review on quintom dark energy theory", ""),
        ("Lecture notes on non-Gaussianity", ""),
        ("Weak lensing", "This chapter provides an overview. We review the recent progress."),
        ("Solar neutrinos", "The status of the solar neutrino problem is reviewed."),
        ("Dark matter", "In this review we discuss what is known of it."),
    ],
)
def test_papers_that_call_themselves_reviews(title, abstract):
    assert is_review(title, abstract)


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("AstroReview: a framework for telescope proposal peer review", "We present it."),
        ("The XYZ survey: survey overview and first results", "We present an overview of XYZ."),
        ("Bright star subtraction: progress review", "We present the pipeline."),
        ("PRIMER/UDS: a massive galaxy", "We report the discovery of a galaxy."),
        ("A new limit", "We briefly review the method. We find a new limit; our results improve."),
        ("A spectrum", "We present a spectrum."),
        ("", ""),
    ],
)
def test_papers_that_only_sound_like_reviews(title, abstract):
    assert not is_review(title, abstract)


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("Pulsars with the XYZ Array", "In this chapter we describe tests of gravity."),
        (
            "Cold gas in galaxies",
            "This chapter reviews recent surveys, and how much gas the Giant "
            "Metre Telescope (GMT) will find.",
        ),
        ("Dwarf galaxies in the ABC era", "We review recent surveys. In this chapter we forecast."),
        ("Cosmic dawn", "This chapter of the Science Book gives an overview of the 21-cm signal."),
        ("Magnetic fields", "In this chapter, we outline the science goals and requirements."),
        ("Conference summary: dust at all redshifts", "I review the talks of the conference."),
        ("Summary of the discussion sessions", "The invited review was followed by questions."),
    ],
)
def test_chapters_of_science_books_and_summaries_of_meetings(title, abstract):
    assert not is_review(title, abstract)


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("Galaxies with the XYZ Array: a review", "We review recent surveys."),
        ("The intergalactic medium", "In this chapter, we present an overview of the gas."),
        ("First galaxies", "In this review we discuss what the XYZ Array will find."),
        ("The cosmic microwave background", "This chapter reviews the CMB and future surveys."),
    ],
)
def test_handbook_chapters_and_reviews_of_one_facility(title, abstract):
    assert is_review(title, abstract)


@pytest.mark.parametrize(
    "columns",
    [
        {"doctype": "review"},
        {"journal": "Annual Review of Astronomy and Astrophysics"},
        {"journal": "Living Rev. Relativity 17, 4"},
        {"journal": "Physics Reports"},
        {"bibcode": "1998ARA&A..36..189K"},
        {"bibcode": "2019PhR...813....1A"},
    ],
)
def test_what_others_say_of_a_paper(columns):
    found = recognise(pd.DataFrame([{"title": "Stars", "abstract": "", **columns}]))
    assert found["score"].iloc[0] >= 0.75
    assert str(next(iter(columns.values())))[:10] in found["evidence"].iloc[0]


@pytest.mark.parametrize(
    "columns",
    [
        {"doctype": "bookreview"},
        {"doctype": None},
        {"journal": "Physical Review D"},
        {"journal": "Phys. Rev. Lett. 1"},
        {"journal": "Astronomy and Astrophysics"},
        {"bibcode": "2019PhRvD..99a1234A"},
    ],
)
def test_journals_and_types_that_are_not_for_reviews(columns):
    assert not is_review("Stars", "We measure stars.", **columns)


def test_a_list_makes_certain_and_rows_are_positions():
    papers = pd.DataFrame(
        {
            "title": ["Stars", "Star formation along the sequence"],
            "abstract": ["", None],
            "arxiv_id": [None, "astro-ph/9807187"],
        },
        index=[7, 9],
    )
    found = recognise(papers, known={"astro-ph/9807187"})
    assert found.to_dict("records") == [{"row": 1, "score": 1.0, "evidence": "list"}]


def test_no_paper_is_no_review():
    found = recognise(pd.DataFrame({"title": [], "abstract": []}))
    assert found.empty
    assert list(found.columns) == ["row", "score", "evidence"]


def test_lists_that_are_none(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("not an identifier\n{broken\n", "utf-8")
    with pytest.raises(InputError, match="names no paper"):
        read_review_list(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_review_list(tmp_path / "absent.jsonl")
    path.write_text('{"bibcode": ' + "[" * 100_000, "utf-8")
    with pytest.raises(InputError, match="names no paper"):
        read_review_list(path)
    path.write_bytes(b"\x1f\x8b1998ARA&A..36..189K")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_review_list(path)


def test_a_list_may_begin_with_the_mark_that_spreadsheets_write(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xef\xbb\xbf1998ARA&A..36..189K\n")
    assert read_review_list(path) == {"1998ARA&A..36..189K"}


def test_the_list_of_annual_reviews(real_data):
    known = read_review_list(real_data / "reviews" / "araa.jsonl")
    assert {"2009ARA&A..47..481A", "0909.0948", "10.1146/annurev.astro.46.060407.145222"} <= known
    assert not any(name.startswith("arXiv") for name in known)


def test_300_papers_judged_by_reading(real_papers):
    labels = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    wanted = {label["arxiv_id"] for label in labels}
    with gzip.open(real_papers, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["arxiv_id"] in wanted]
    papers = pd.DataFrame(rows)[["arxiv_id", "title", "abstract"]].map(
        lambda text: " ".join(text.split())
    )
    scored = score_papers(papers)
    flagged = {papers["arxiv_id"][row] for row, (score, _) in scored.items() if score >= 0.5}
    plain = set(papers.loc[papers["title"].str.contains(r"\breview", flags=re.I), "arxiv_id"])
    check = [label for label in labels if label["half"] == "check"]
    precision, recall = stratified_agreement(check, flagged)
    assert precision >= 0.7
    assert recall >= 0.65
    assert stratified_agreement(check, plain)[1] < 0.2, "the word in titles alone finds few of them"


@pytest.mark.parametrize("piece", ["A", "A-", "Ab ", "with SKA ("])
def test_the_time_is_proportional_to_the_length(piece):
    assert_growth(
        lambda text: is_review(text, f"In this chapter we review {text}"),
        lambda n: piece * (n // len(piece)),
        20_000,
    )
