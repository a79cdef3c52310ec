"""Benchmarks that users make from the full texts of their atlas, and the tables that read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from landscape.atlas import Atlas, build
from landscape.cli import main
from landscape.errors import InputError, RemoteError
from landscape.evaluation import (
    evaluate_attribution,
    evaluate_citing,
    evaluate_retrieval,
    evaluate_survey,
    make_benchmark,
)
from landscape.evaluation._making import find_cited
from landscape.llm import ChatModel, connect
from landscape.types import Reference
from tests.pipeline.conftest import QUICK, paper
from tests.servers.openai_server import KEY, OpenAIServer, failing

NAMES = ("Adams", "Baker", "Clark", "Davis", "Evans", "Fiske")


def source(number: int) -> str:
    """Return LaTeX whose entries name the papers after this one."""
    cited = [paper((number + n) % 28) for n in range(1, 7)]
    entries = "".join(
        f"\\bibitem[{name}(20{n}0)]{{{name}}} {name}, J. 20{n}0, ApJ, 1, {n}, "
        f"arXiv:{one['arxiv_id']}\n"
        for n, (name, one) in enumerate(zip(NAMES, cited, strict=True))
    )
    return (
        "\\documentclass{article}\\begin{document}\\section{Introduction} "
        "The mass of cool gas in distant haloes is still known only within a factor of two "
        "\\citep{Adams}. It was also measured by two groups in many other ways at that time "
        "\\citep{Baker,Clark}. "
        f"{cited[3]['authors'][0][:-4]} is famous for a long list of objects in the northern sky "
        "\\citep{Davis}."
        "\n\nMany groups have observed these objects with large telescopes on the ground "
        "\\citep{Adams,Baker,Clark,Davis,Evans}.\n"
        "\\section{Acknowledgements} We thank the authors of the code for their patience and their "
        "good advice \\citep{Fiske}.\n"
        f"\\begin{{thebibliography}}{{6}}{entries}\\end{{thebibliography}}\\end{{document}}"
    )


def made_atlas(folder: Path) -> Atlas:
    """Build an atlas of 28 papers; four have full texts that cite other papers."""
    texts = folder / "texts"
    texts.mkdir()
    for number in range(4):
        (texts / f"{paper(number)['arxiv_id']}.tex").write_text(source(number))
    papers = [{**paper(n), "title": f"A review of {paper(n)['title']}"} for n in range(2)]
    papers += [paper(n) for n in range(2, 28)]
    (folder / "few.jsonl").write_text("".join(json.dumps(one) + "\n" for one in papers))
    return build(folder / "few.jsonl", folder / "few.atlas", full_text=texts, **QUICK)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    return made_atlas(tmp_path_factory.mktemp("made"))


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_excerpts_cite_one_paper_of_the_atlas(atlas: Atlas, tmp_path: Path) -> None:
    made = make_benchmark(atlas, "excerpts", tmp_path / "e.jsonl")
    answers = {row["answer"] for row in made.rows}
    # Two references, an acknowledgement and the name of the author are no excerpts.
    assert {row["excerpt"].count("[CITATION]") for row in made.rows} == {1}
    assert all("cool gas in distant haloes" in row["sentence"] for row in made.rows)
    assert answers == {paper(n + 1)["arxiv_id"] for n in range(4)}
    assert all("Adams" not in row["excerpt"] for row in made.rows)
    found = evaluate_attribution(atlas, tmp_path / "e.jsonl")
    assert found.counts["known"] == 4
    assert set(found.groups["error"]) <= {
        "",
        "found the right paper, but did not select it",
        "did not find the right paper",
    }
    assert sum(found.to_dict()["errors"].values()) == 4
    assert set(found.groups["year"]) == {"2024"}
    citing = evaluate_citing(atlas, tmp_path / "e.jsonl", n_texts=2)
    assert citing.counts["known"] == 4
    assert set(citing.highlights) == {"highlights", "first sentences"}
    assert all(0 <= one["rouge1"].mean() <= 1 for one in citing.highlights.values())
    assert "left out: ROUGE of citing sentences" in citing.to_text()


def test_a_run_continues_where_it_stopped(atlas: Atlas, tmp_path: Path) -> None:
    whole = make_benchmark(atlas, "excerpts", tmp_path / "whole.jsonl")
    path = tmp_path / "e.jsonl"
    assert len(make_benchmark(atlas, "excerpts", path, n=1).rows) == 1
    again = make_benchmark(atlas, "excerpts", path)
    assert again.n_earlier == 1
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert "made by an earlier run: 1" in again.to_text()
    assert whole.to_dict()["sections"] == {"introduction": 4}
    with pytest.raises(InputError, match="is not a benchmark of the kind reviews"):
        make_benchmark(atlas, "reviews", path)


def test_a_run_that_was_stopped_while_writing_a_row_is_continued(
    atlas: Atlas, tmp_path: Path
) -> None:
    path = tmp_path / "e.jsonl"
    make_benchmark(atlas, "excerpts", path, n=2)
    whole = path.read_text("utf-8")
    for broken in (whole.rstrip("\n"), whole + '{"qid": "half'):
        path.write_text(broken, "utf-8")
        assert len(make_benchmark(atlas, "excerpts", path).rows) == 4
        assert len(rows_of(path)) == 4


@pytest.mark.parametrize("text", ['{"mine": 1}', "my notes", '{"mine": 1}\nhalf'])
def test_a_file_of_something_else_is_not_changed(atlas: Atlas, tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match="is not a benchmark"):
        make_benchmark(atlas, "excerpts", path)
    assert path.read_text("utf-8") == text


def test_numbers_in_brackets_cite_only_in_papers_that_cite_by_number() -> None:
    known = {n: Reference(n, "", authors=("Doe, J.",), year=2000 + n) for n in range(6)}
    assert find_cited("in the interval [1, 5]", known, numbered=False) == []
    assert find_cited("as shown before [1, 3-5]", known) == [0, 2, 3, 4]
    assert find_cited("by Doe (2001, 2003a)", known, numbered=False) == [1, 3]
    nobody = {0: Reference(0, "", authors=("",), year=2001)}
    assert find_cited("in 2001", nobody) == []


def test_reviews_and_surveys_are_read_by_their_tables(atlas: Atlas, tmp_path: Path) -> None:
    reviews = make_benchmark(atlas, "reviews", tmp_path / "r.jsonl")
    assert {row["source"] for row in reviews.rows} == {paper(n)["arxiv_id"] for n in range(2)}
    assert all(len(row["relevant"]) == 5 for row in reviews.rows)
    assert all("Adams" not in row["question"] for row in reviews.rows)
    table = evaluate_retrieval(atlas, tmp_path / "r.jsonl")
    assert table.counts["queries_known"] == 2
    assert set(table.left_out) == {"HyDE", "HyDE, reranker"}
    assert "left out: HyDE, which needs a language model" in table.to_text()
    surveys = make_benchmark(atlas, "surveys", tmp_path / "s.jsonl")
    assert {len(row["relevant"]) for row in surveys.rows} <= {4, 5}
    found = evaluate_survey(atlas, tmp_path / "s.jsonl", most=2, papers=20)
    assert set(found.means()) >= {"survey", "ensemble of two", "one search"}


def test_an_atlas_without_full_texts_says_what_is_missing(
    demo_atlas: Atlas, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="build it with --full-text"):
        make_benchmark(demo_atlas, "surveys", tmp_path / "s.jsonl")
    made = make_benchmark(demo_atlas, "questions", tmp_path / "q.jsonl", n=3)
    assert all(row["question"].count(", ") == 3 for row in made.rows)
    again = make_benchmark(demo_atlas, "questions", tmp_path / "again.jsonl", n=3)
    assert again.rows == made.rows
    other = make_benchmark(demo_atlas, "questions", tmp_path / "other.jsonl", n=3, seed=1)
    assert other.rows != made.rows
    found = evaluate_retrieval(
        demo_atlas, tmp_path / "q.jsonl", steps={"default": {}}, tf_idf=False
    )
    assert found.scores["default"].summary()["success@10"] > 0.5


@pytest.fixture
def model(server: OpenAIServer) -> ChatModel:
    return connect(base_url=server.url, api_key=KEY, model="small-chat", retries=0)


def reply(body: dict[str, Any]) -> str:
    """Ask in other words, but copy the abstract of one paper; know one title."""
    data = json.loads(body["messages"][1]["content"])
    if "abstract" in data:
        copied = "sample 1" in data["title"]
        return json.dumps({"question": data["abstract"] if copied else "What is going on there?"})
    form = json.dumps(body["response_format"])
    if "attributable" in form:
        good = {"attributable": True, "unambiguous": True, "trivial": False, "reasonable": True}
        return json.dumps({**good, "trivial": data["title"] == paper(2)["title"]})
    return json.dumps({"title": paper(3)["title"]})


def test_a_model_writes_questions_in_other_words(
    atlas: Atlas, server: OpenAIServer, model: ChatModel, tmp_path: Path
) -> None:
    server.reply, said = reply, []
    path = tmp_path / "q.jsonl"
    made = make_benchmark(
        atlas, "questions", path, n=8, model=model, prices=(1.0, 2.0), notify=said.append
    )
    assert {row["question"] for row in made.rows} == {"What is going on there?"}
    assert made.omitted.get("with a question in the words of its source", 0) >= 1
    assert said[0].startswith("about 8 requests, ")
    assert "in money" in said[0]
    server.always = failing()
    with pytest.raises(RemoteError):
        make_benchmark(atlas, "questions", path, n=12, model=model)
    assert len(rows_of(path)) == 8


def test_a_model_filters_excerpts_and_marks_those_that_it_knows(
    atlas: Atlas, server: OpenAIServer, model: ChatModel, tmp_path: Path
) -> None:
    server.reply = reply
    made = make_benchmark(atlas, "excerpts", tmp_path / "e.jsonl", model=model)
    assert made.omitted == {"trivial, for the model": 1}
    assert {row["answer"]: row["known"] for row in made.rows} == {
        paper(1)["arxiv_id"]: False,
        paper(3)["arxiv_id"]: True,
        paper(4)["arxiv_id"]: False,
    }
    assert "known to the model, and marked: 1" in made.to_text()
    scores = evaluate_attribution(atlas, tmp_path / "e.jsonl")
    assert sorted(scores.groups["known"]) == ["known", "unknown", "unknown"]


def test_the_command_prints_the_counts(
    atlas: Atlas, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "make", "excerpts", str(atlas.path), "-o", str(tmp_path / "e.jsonl")]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 4
    assert main([*words[:-1], str(tmp_path / "e.csv")]) == 2
    assert main([*words, "--n", "0"]) == 2
