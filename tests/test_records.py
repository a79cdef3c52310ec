"""JSON keys and table columns of records, which scripts of users read."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import replace

import pandas as pd
import pytest

from landscape import types
from landscape._serializer import plain
from landscape.types import (
    Analysis,
    Answer,
    Asked,
    Attribution,
    BibliographyEntry,
    CitationSuggestions,
    CitingSentence,
    Claim,
    ClaimCheck,
    Consensus,
    Coverage,
    Crawled,
    Digest,
    DigestGroup,
    DigestPaper,
    DraftCheck,
    Evidence,
    FullText,
    Guess,
    Highlight,
    Hit,
    Judgement,
    Linked,
    Paper,
    Reference,
    Results,
    Section,
    Spent,
    Stance,
    Step,
    Suggestion,
    Survey,
)

PAPER = Paper(row=7, paper_id="a", title="Dust", abstract="It cools.", authors=("A", "B"), cites=3)
COVERAGE = Coverage("Atlas", 9, 4, {"arxiv": 9}, None, None)
EVIDENCE = Evidence("a", "a", 0, 9, "It cools.")
SECTION = Section(0, "data", "Data", "We use HST.", references=(0,))
REFERENCE = Reference(0, "Smith 2020, ApJ, 1, 2", year=2020)
SENTENCE = CitingSentence("Dust cools.", (EVIDENCE,), "supported")
HIGHLIGHT = Highlight("It cools.", 0, 9, 0.5, "paper")
SUGGESTION = Suggestion(1, PAPER, "Atlas", 0.5, highlights=(HIGHLIGHT,), sentence=SENTENCE)
GUESS = Guess(PAPER, 0.5, "It fits.")
JUDGEMENT = Judgement("key", 3, "Dust cools.", "Dust cools.", "near", PAPER, (EVIDENCE,))
CLAIM_CHECK = ClaimCheck("Dust cools.", "supported", 0.8, (0.8, 0.1, 0.1), (0,), ("Dust cools.",))
ASKED = Asked("dust", "question", found=5, new=4)
STUB = Linked("b", 12, "Old", 1993, 3.0, True)
CRAWLED = Crawled(PAPER, 0.5, True, "It fits.", "similarity", "search", query=0, expanded=True)
RESULTS = Results("dust", (Hit(1, PAPER, 0.5, {"words": 2.0}, False),), COVERAGE, seconds=0.123456)
STEP = Step("thought", "action", "observation")
DIGEST_PAPER = DigestPaper(PAPER, ("cites “Dust” of yours",))
STANCE = Stance("a", "a", "supports", EVIDENCE)
TABLE = pd.DataFrame({"name": ["ALMA"], "papers": [1]})
RECORDS = [
    PAPER,
    COVERAGE,
    EVIDENCE,
    SENTENCE,
    HIGHLIGHT,
    SUGGESTION,
    GUESS,
    CLAIM_CHECK,
    JUDGEMENT,
    ASKED,
    STUB,
    CRAWLED,
    RESULTS,
    RESULTS.hits[0],
    STEP,
    STANCE,
    Spent(),
    SECTION,
    REFERENCE,
    FullText("LaTeX", (SECTION,), (REFERENCE,)),
    Claim("Dust cools.", ("a",), (EVIDENCE,), "supported", "for"),
    Consensus("Dust cools.", "Agreement", "All agree.", 1.0, (STANCE,)),
    Answer("Does dust cool?", "Yes.", (), RESULTS, "tables", table=TABLE),
    Attribution(
        "Excerpt",
        "Sentence",
        "Clause",
        PAPER,
        (GUESS,),
        "offline",
        COVERAGE,
        seconds=0.123456,
        chance=0.98765,
    ),
    CitationSuggestions("Dust", None, (SUGGESTION,), {"Atlas": COVERAGE}, "offline"),
    BibliographyEntry("key", "Dust", "in the atlas", PAPER),
    DraftCheck((JUDGEMENT,), "offline", n_sentences=2),
    Survey("Does dust cool?", (CRAWLED,), (ASKED,), (STUB,), COVERAGE, n_found=6),
    DIGEST_PAPER,
    DigestGroup("Close to your papers", (DIGEST_PAPER,), 1),
    Digest(
        reader="mine",
        since=None,
        until=None,
        n_new=1,
        groups=(DigestGroup("Close to your papers", (DIGEST_PAPER,), 1),),
        coverage=COVERAGE,
    ),
    Analysis("impact", TABLE, "Papers.", {"papers": 1}, {"title": "Atlas"}),
]

# A key is part of the public format. Do not change it when a field gets another name.
_PAPER = (
    "paper_id label arxiv_id bibcode doi title authors year date cites journal categories keywords "
    "source abstract url"
)
KEYS = {
    "Paper": _PAPER,
    "Hit": f"rank {_PAPER} score parts outlier",
    "Coverage": (
        "title papers searched filtered_away sources first_date last_date in_part generated notes"
    ),
    "Results": "query matched note results coverage settings expansion seconds",
    "Evidence": "paper_id label start end text",
    "Claim": "text citations verdict evidence",
    "Stance": "paper_id label position evidence",
    "Consensus": "statement level explanation relevance stances",
    "Step": "thought action observation labels",
    "Answer": (
        "question text abstained claims method style question_type consensus trace ads_query notes "
        "settings results table sub_questions"
    ),
    "Guess": "paper score reason",
    "Attribution": (
        "excerpt sentence clause abstained partial paper chance guesses method trace notes "
        "settings coverage seconds runs"
    ),
    "Highlight": "text start end score matters",
    "CitingSentence": "text verdict evidence",
    "Suggestion": f"rank {_PAPER} corpus also_in score highlights sentence quotation",
    "CitationSuggestions": ("context keywords suggestions method partial notes coverage seconds"),
    "ClaimCheck": (
        "claim label probability probabilities places sentences mismatch is_certain "
        "missing_numbers verdict"
    ),
    "Section": "number kind heading text first_page last_page references",
    "Reference": "number text title authors year bibcode doi arxiv_id",
    "FullText": "format sections references",
    "Judgement": (
        "key line sentence part verdict paper evidence nearness why deciding draft_says paper_says"
    ),
    "BibliographyEntry": "key title status published_as other_title paper",
    "DraftCheck": "citations bibliography counts sentences method partial notes",
    "Linked": "paper_id node title year score is_stub",
    "Asked": "text by parent found new",
    "Crawled": ("paper score selected reason judged_by how parent query depth expanded section"),
    "Spent": "calls tokens money papers seconds",
    "Survey": "question partial papers searches beyond found spent settings coverage notes outside",
    "DigestPaper": "paper reasons region unusual status score",
    "DigestGroup": "name n_papers papers",
    "Digest": "reader since until n_new topics changes groups notes coverage",
    "Analysis": "kind caption denominators bounds warnings table tables",
}
COLUMNS = {
    "Results": ("rank title authors year label bibcode arxiv_id doi cites score outlier url"),
    "Attribution": "rank selected title authors year label score reason url",
    "CitationSuggestions": (
        "rank title authors year label corpus also_in score highlights sentence url"
    ),
    "DraftCheck": ("line key verdict sentence evidence title why deciding draft_says paper_says"),
    "Digest": "group title authors year region reasons unusual status score paper_id",
    "Survey": (
        "rank paper_id title authors year bibcode arxiv_id doi selected score reason judged_by how "
        "parent search depth section url"
    ),
}
BY_NAME = {type(record).__name__: record for record in RECORDS}


@pytest.mark.parametrize("name", KEYS)
def test_json_keys_are_those_of_the_public_format(name: str) -> None:
    document = plain(BY_NAME[name])
    assert list(document) == KEYS[name].split()
    if name in COLUMNS:
        assert list(BY_NAME[name].table) == COLUMNS[name].split()


def test_every_record_has_a_row_in_this_table() -> None:
    records = {name for name, kind in inspect.getmembers(types, dataclasses.is_dataclass)}
    assert records == KEYS.keys() == BY_NAME.keys()


def test_values_of_keys_with_another_name_or_form_than_the_field() -> None:
    results, survey = BY_NAME["Results"].to_dict(), BY_NAME["Survey"].to_dict()
    assert results["results"][0] == PAPER.to_dict() | {
        "rank": 1,
        "score": 0.5,
        "parts": {"words": 2.0},
        "outlier": False,
    }
    assert results["seconds"] == 0.1235
    coverage = {"title": "Atlas", "papers": 9, "searched": 4, "filtered_away": 5}
    assert results["coverage"].items() >= coverage.items()
    attribution = BY_NAME["Attribution"].to_dict()
    assert (attribution["seconds"], attribution["chance"]) == (0.1235, 0.99)
    ranked = PAPER.to_dict() | {"rank": 1, "score": 0.5, "reason": "It fits."}
    assert attribution["guesses"] == [ranked]
    check = BY_NAME["DraftCheck"].to_dict()
    assert check["citations"] == [plain(JUDGEMENT)]
    assert (check["sentences"], check["counts"]) == (2, {"near": 1})
    assert survey["found"] == 6
    assert survey["beyond"] == [{"name": "b", "title": "Old", "year": 1993, "citing": 3}]
    row = {**BY_NAME["Survey"].table.iloc[0], "authors": ["A", "B"], "year": None, "expanded": True}
    assert survey["papers"] == [row]


@pytest.mark.parametrize("name", COLUMNS)
def test_tables_without_rows_have_the_same_columns(name: str) -> None:
    empty = {
        field.name: ()
        for field in dataclasses.fields(BY_NAME[name])
        if field.name in ("hits", "guesses", "suggestions", "judgements", "crawled", "groups")
    }
    table = dataclasses.replace(BY_NAME[name], **empty).table
    assert table.shape == (0, len(COLUMNS[name].split()))


def test_an_analysis_without_rows_is_written_as_latex() -> None:
    empty = dataclasses.replace(BY_NAME["Analysis"], table=TABLE.head(0))
    assert "tabular" in empty.to_latex()


def test_the_link_of_a_paper_is_that_of_its_bibcode_in_every_format() -> None:
    paper = replace(PAPER, bibcode="2021A&A...645L..11A", arxiv_id="2101.01542")
    address = "https://ui.adsabs.harvard.edu/abs/2021A%26A...645L..11A/abstract"
    results = replace(RESULTS, hits=(replace(RESULTS.hits[0], paper=paper),))
    survey = BY_NAME["Survey"]
    survey = replace(survey, crawled=(replace(survey.crawled[0], paper=paper, selected=True),))
    answer = replace(BY_NAME["Answer"], results=results, table=None)
    for text in (results.to_text(), results._repr_html_(), survey.to_text(), answer._repr_html_()):
        assert address in text
    linked = f"[2021A&A...645L..11A]({address})"
    assert linked in survey.to_markdown()
    assert linked in answer.to_markdown()
    assert results.to_bibtex().startswith("@article{2021A&A...645L..11A,")
    assert "adsurl = {https://ui.adsabs.harvard.edu/abs/2021A&A...645L..11A/" in results.to_bibtex()
    without = replace(paper, bibcode=None)
    assert (without.url, replace(without, arxiv_id=None, doi="10.1/a<b").url) == (
        "https://arxiv.org/abs/2101.01542",
        "https://doi.org/10.1/a%3Cb",
    )
