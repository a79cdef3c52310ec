"""Benchmarks in all known formats, and damaged files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from landscape import Atlas
from landscape.errors import InputError
from landscape.evaluation import Query, evaluate_retrieval, read_queries


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_own_json_lines(tmp_path: Path) -> None:
    lines = (
        '{"qid": 7, "question": "Does dust cool? ", "relevant": ["a", "b", "a"]}\n\n'
        '{"question": "Why?", "relevant": "c", "grades": {"c": 3}}\n'
    )
    first, second = read_queries(write(tmp_path, "q.jsonl", "\ufeff" + lines))
    assert first == Query("7", "Does dust cool?", ("a", "b"))
    assert second.qid == "3"  # the line
    assert second.grade("c") == 3
    assert second.grade("a") == 0


def test_papers_instead_of_a_question(tmp_path: Path) -> None:
    line = '{"qid": "s1", "similar_to": ["2401.00001v2"], "relevant": ["2401.00002"]}\n'
    (query,) = read_queries(write(tmp_path, "q.jsonl", line))
    assert query == Query("s1", "", ("2401.00002",), similar_to=("2401.00001v2",))


def test_a_single_line_is_no_pathfinder_file(tmp_path: Path) -> None:
    line = json.dumps({"qid": "1", "question": "Why?", "relevant": ["a"]})
    assert read_queries(write(tmp_path, "q.jsonl", line))[0].relevant == ("a",)


def test_pathfinders_two_files(tmp_path: Path) -> None:
    single = {
        "2401.00001": {"question_abstract": "Why?", "other": 1},
        "astro-ph/9901001": {"question_abstract": "How?"},
    }
    several = {"q1": {"question": "What?", "arxiv": ["2401.00001", "2401.00002"]}}
    found = read_queries(write(tmp_path, "single.json", json.dumps(single, indent=1)))
    assert [(q.qid, q.relevant) for q in found] == [
        ("2401.00001", ("2401.00001",)),
        ("astro-ph/9901001", ("astro-ph/9901001",)),
    ]
    found = read_queries(write(tmp_path, "several.json", json.dumps(several)))
    assert found == [Query("q1", "What?", ("2401.00001", "2401.00002"))]


def test_pasa(tmp_path: Path) -> None:
    rows = [
        {"qid": "A_0", "question": "Which?", "answer": ["One"], "answer_arxiv_id": ["2401.1"]},
        {"qid": "A_1", "question": "Which?", "answer": ["Title two", "Title three"]},
    ]
    path = write(tmp_path, "pasa.jsonl", "\n".join(map(json.dumps, rows)))
    first, second = read_queries(path)
    assert (first.relevant, first.by) == (("2401.1",), "id")
    assert (second.relevant, second.by) == (("Title two", "Title three"), "title")


def test_citeme(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "citeme.csv",
        'id,excerpt,target_paper_title,split\n5,"As [CITATION]\nshows, ""it"" cools",Dust,test\n',
    )
    (query,) = read_queries(path)
    assert (query.qid, query.relevant, query.by) == ("5", ("Dust",), "title")
    assert '"it" cools' in query.question


@pytest.mark.parametrize(
    ("name", "topics"),
    [
        ("queries.jsonl", '{"query_id": "1", "text": "wings"}\n{"query_id": 2, "text": "heat"}\n'),
        (
            "topics.txt",
            "<top>\n<num> Number: 1\n<title> wings\n<desc> x\n</top>\n"
            "<top><num>2</num><title>heat</title></top>",
        ),
        ("topics.tsv", "1\twings\n2\theat\n"),
    ],
)
def test_trec(tmp_path: Path, name: str, topics: str) -> None:
    write(tmp_path, name, topics)
    path = write(tmp_path, "qrels.txt", "1 0 d1 2\n1 0 d2 0\n1 0 d3 -1\n2 0 d4 0\n")
    for given in (path, tmp_path):
        (query,) = read_queries(given)  # nothing is relevant to the second
        assert query == Query("1", "wings", ("d1",), {"d1": 2.0})


def test_cranfield(real_data: Path) -> None:
    folder = real_data / "cranfield"
    if not folder.is_dir():
        pytest.skip(f"no Cranfield collection at {folder}")
    queries = read_queries(folder)
    assert len(queries) == 225
    assert queries[0].question.startswith("what similarity laws must be obeyed")
    assert "184" in queries[0].relevant
    # 1,837 judgements, of which 225 say "not relevant"
    assert sum(len(query.relevant) for query in queries) == 1612


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.jsonl", '{"qid": 1, "question": "x"}', 'no "relevant"'),
        ("a.jsonl", '{"qid": 1, "relevant": ["x"]}', 'no "question"'),
        ("a.jsonl", '{"question": "x", "relevant": []}', "list of papers"),
        ("a.jsonl", '{"question": "x", "relevant": [1]}', "list of papers"),
        ("a.jsonl", '{"question": "", "relevant": ["x"]}', "question in words"),
        ("a.jsonl", '{"question": "x", "relevant": ["x"]}\n{"quest', "line 2, is not JSON"),
        ("a.jsonl", '{"question": "x", "relevant": ["x"]}\n[1]', "not a JSON object"),
        ("a.jsonl", '{"qid":1,"question":"x","relevant":["x"]}\n' * 2, "two questions"),
        ("a.jsonl", '{"question":"x","relevant":["x"],"grades":{"x":"good"}}', "numbers"),
        ("a.json", '{"2401.1": {"text": "x"}}', "neither"),
        (
            "a.json",
            '{"k": {"question": "x", "arxiv": "2401.1"}, "l": {"question": "x"}}',
            "neither",
        ),
        ("a.csv", "excerpt,title\nx,y\n", "target_paper_title"),
        ("a.csv", "excerpt,target_paper_title\nx,\n", "no target_paper_title"),
        ("qrels", "1 0 d1 1\n", "no topics in the folder"),
        ("qrels", "1 0 d1 1\nnonsense\n", "line 2, is not a line of qrels"),
        ("a.txt", "hello", "is unknown"),
        ("a.txt", "", "is unknown"),
        ("a.json", "{" * 100_000, "is not JSON"),
        ("a.json", "[" * 100_000, "is unknown"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path: Path, name: str, text: str, problem: str) -> None:
    path = write(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_queries(path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_not_text_and_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(InputError, match="not UTF-8"):
        read_queries(tmp_path / "a.bin")
    with pytest.raises(InputError, match="There is no file"):
        read_queries(tmp_path / "b")
    with pytest.raises(InputError, match="one file of qrels"):
        read_queries(tmp_path)


def test_topics_must_have_every_query(tmp_path: Path) -> None:
    write(tmp_path, "topics.tsv", "1\twings\n")
    with pytest.raises(InputError, match="query '2'"):
        read_queries(write(tmp_path, "qrels", "2 0 d1 1\n"))


class Named(Atlas):
    """The demo atlas with identifiers for its first three papers and one paper without title."""

    given = (
        ("arxiv_id", 0, "2205.00001"),
        ("arxiv_id", 1, "2401.00001"),
        ("doi", 2, "10.1234/ABC"),
        ("title", 3, None),
    )

    def read_papers(self, columns=None, *, rows=None):
        papers = super().read_papers(columns, rows=rows)
        numbers = np.arange(len(self)) if rows is None else np.asarray(rows)
        for column, row, value in self.given:
            if column in papers:
                papers[column] = papers[column].astype(object).mask(numbers == row, value)
        return papers


@pytest.fixture(scope="module")
def named(demo_atlas: Atlas) -> Atlas:
    return Named(demo_atlas.path, demo_atlas.manifest)


def values_of(atlas: Atlas, *queries: Query) -> dict[str, list[float]]:
    """Return the measures of each query that has a relevant paper in the atlas."""
    found = evaluate_retrieval(atlas, queries, steps={"default": {}}, tf_idf=False)
    scores = found.scores["default"]
    return {name: scores.values[name].tolist() for name in scores.summary() if name != "n"}


def test_relevant_papers_are_named_as_the_atlas_does(named: Atlas) -> None:
    papers = named.read_papers(["paper_id", "title"])
    ids, titles = papers["paper_id"], papers["title"]
    other = named.search(titles[0], k=4).papers[3].paper_id  # found, but not first
    arxiv = "arXiv:2205.00001v2"
    queries = [
        Query("1", titles[0], (arxiv, ids[0], other), {arxiv: 2}),
        Query("2", titles[2], ("https://doi.org/10.1234/abc", "nowhere")),
        Query("3", titles[1], (f"{titles[1].upper()} --.",), by="title"),
        Query("4", "?", ("nowhere",)),
        Query("5", "?", ("",), by="title"),
    ]
    by_id = [
        Query("1", titles[0], (ids[0], other), {ids[0]: 2}),
        Query("2", titles[2], (ids[2],)),
        Query("3", titles[1], (ids[1],)),
    ]
    found = evaluate_retrieval(named, queries, steps={"default": {}}, tf_idf=False)
    assert found.scores["default"].qids == ("1", "2", "3")
    assert found.counts == {"queries": 5, "queries_known": 3, "relevant": 8, "relevant_known": 4}
    assert values_of(named, *queries) == values_of(named, *by_id)
    assert min(values_of(named, *by_id)["mrr"]) >= 0.5  # each paper is found by its own title
    equal = replace(by_id[0], grades={})
    assert values_of(named, equal)["ndcg@10"] != values_of(named, by_id[0])["ndcg@10"]


def test_papers_that_the_others_are_like_are_named_as_the_atlas_does(named: Atlas) -> None:
    ids = named.read_papers(["paper_id"])["paper_id"]
    query = Query("1", "", ("2401.00001",), similar_to=("2205.00001v2",))
    by_id = Query("1", "", (ids[1],), similar_to=(ids[0],))
    assert values_of(named, query) == values_of(named, by_id)
    unknown = replace(query, similar_to=("9999.99999",))
    with pytest.raises(InputError, match="None of the 1 questions"):
        values_of(named, unknown)


@pytest.mark.parametrize("grade", ["Infinity", "-Infinity", "NaN", "1e999", "0", "-1", '"high"'])
def test_grades_that_measure_nothing_are_told(tmp_path: Path, grade: str) -> None:
    line = f'{{"question": "Why?", "relevant": ["c"], "grades": {{"c": {grade}}}}}'
    with pytest.raises(InputError, match=r"line 1, needs numbers above 0"):
        read_queries(write(tmp_path, "q.jsonl", line))
