"""Evaluation of surveys on a generated corpus whose citations follow its themes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from landscape.cli import main
from landscape.errors import InputError
from landscape.evaluation import evaluate_survey, questions_from_citations
from landscape.store import AtlasStore as Atlas


def test_questions_are_papers_and_their_references(demo_atlas: Atlas) -> None:
    questions = questions_from_citations(demo_atlas, fewest=4)
    first = questions[0]
    listed = {one.paper_id for one in demo_atlas.citations.references(first.qid)}
    assert set(first.relevant) == listed
    assert len(first.relevant) >= 4
    halves = [questions_from_citations(demo_atlas, half=half) for half in ("first", "second")]
    ids = [{query.qid for query in half} for half in halves]
    assert not ids[0] & ids[1]
    assert abs(len(ids[0]) - len(ids[1])) <= 1


def test_a_survey_is_measured_beside_one_search_of_as_many_papers(demo_atlas: Atlas) -> None:
    found = evaluate_survey(demo_atlas, half="second", most=8, papers=40)
    means = found.means()
    assert set(means) == {
        "survey",
        "without expand",
        "without selector",
        "ensemble of two",
        "one search",
    }
    assert np.array_equal(
        found.values["survey"]["returned"], found.values["one search"]["returned"]
    )
    assert means["survey"]["crawler recall"] >= means["survey"]["recall"]
    assert all(0 <= value <= 1 for value in found.values["survey"]["recall@50"])
    assert "gain over one search, recall@20" in found.to_text()
    json.dumps(found.to_dict())


def test_the_command_reads_pasas_lines(
    demo_atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    papers = demo_atlas.read_papers(["title"]).head(3)["title"].tolist()
    path = tmp_path / "auto.jsonl"
    line = {
        "qid": "AutoScholarQuery_0",
        "question": "Which papers are about this?",
        "answer": papers,
        "answer_arxiv_id": [],
    }
    path.write_text(json.dumps(line) + "\n")
    words = ["evaluate", "survey", str(demo_atlas.path), "--queries", str(path), "--papers", "20"]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["relevant_known"] == 3
    assert told["survey"]["crawler recall"] >= 0
    path.write_text(json.dumps({**line, "answer": ["Nobody wrote this"]}) + "\n")
    assert main(words) == 2


def test_an_atlas_without_citations_makes_no_questions(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match="has 5000 references within it"):
        questions_from_citations(demo_atlas, fewest=5000)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["survey", "--most", "0"], "most is 0; choose at least one question."),
        (["citing", "--n", "0"], "n is 0; choose at least one citation context."),
    ],
)
def test_a_sample_of_nothing_is_refused(
    demo_atlas: Atlas, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    kind, *rest = words
    assert main(["evaluate", kind, str(demo_atlas.path), *rest]) == 2
    assert capsys.readouterr().err == f"landscape: {sentence}\n"
