"""Benchmarks in every format that is known, and broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.evaluation import Query, read_queries
from landscape.evaluation._questions import resolve_queries


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
    papers = pd.DataFrame({"paper_id": ["p1", "p2"], "arxiv_id": ["2401.00001", "2401.00002"]})
    (found,), _ = resolve_queries([query], papers)
    assert (found.similar_to, found.relevant) == (("p1",), ("p2",))
    assert resolve_queries([query], papers[1:])[0] == []  # its paper is not in the atlas


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


def test_relevant_papers_are_named_as_the_atlas_does() -> None:
    papers = pd.DataFrame(
        {
            "paper_id": ["2022ApJ...931L..10S", "2401.00001", "x"],
            "bibcode": ["2022ApJ...931L..10S", None, None],
            "arxiv_id": ["2205.00001", "2401.00001", None],
            "doi": [None, None, "10.1234/ABC"],
            "title": ["The H₀ tension", "Dust & gas: a study", None],
        }
    )
    queries = [
        Query("1", "?", ("arXiv:2205.00001v2", "2022ApJ...931L..10S"), {"arXiv:2205.00001v2": 2}),
        Query("2", "?", ("https://doi.org/10.1234/abc", "nowhere")),
        Query("3", "?", ("Dust & Gas -- A Study.",), by="title"),
        Query("4", "?", ("nowhere",)),
        Query("5", "?", ("",), by="title"),
    ]
    found, counts = resolve_queries(queries, papers)
    assert [(q.qid, q.relevant) for q in found[:3]] == [
        ("1", ("2022ApJ...931L..10S",)),
        ("2", ("x",)),
        ("3", ("2401.00001",)),
    ]
    assert found[0].grade("2022ApJ...931L..10S") == 2
    assert counts == {"queries": 5, "queries_known": 3, "relevant": 7, "relevant_known": 3}


@pytest.mark.parametrize("grade", ["Infinity", "-Infinity", "NaN", "1e999", "0", "-1", '"high"'])
def test_grades_that_measure_nothing_are_told(tmp_path: Path, grade: str) -> None:
    line = f'{{"question": "Why?", "relevant": ["c"], "grades": {{"c": {grade}}}}}'
    with pytest.raises(InputError, match=r"line 1, needs numbers above 0"):
        read_queries(write(tmp_path, "q.jsonl", line))
