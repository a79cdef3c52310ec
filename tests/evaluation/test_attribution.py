"""Evaluation of attribution on CiteME and JSON lines, with the scores of CiteME."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from landscape import Atlas
from landscape.cli import main
from landscape.errors import InputError
from landscape.evaluation import evaluate_attribution
from tests.agents.citing_models import excerpt_of, some_paper

EXCERPTS = Path(__file__).parent / "attribution.jsonl"


@pytest.fixture(scope="module")
def citeme(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four excerpts that cite papers of the atlas, and one that cites another paper."""
    lines = ["id,excerpt,target_paper_title,source_paper_title,year,split"]
    for n, row in enumerate((3, 50, 120, 300)):
        paper = some_paper(demo_atlas, row)
        cells = [excerpt_of(paper), f"{paper.title}.[TITLE_SEPARATOR]Another", "Source", "2027"]
        quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
        lines.append(f"{n},{quoted},{'test' if n % 2 else 'train'}")
    lines.append('9,"Nothing is known [CITATION].","A title that is nowhere",,,test')
    path = tmp_path_factory.mktemp("citeme") / "DATASET.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_citeme(demo_atlas: Atlas, citeme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[Any] = []
    scores = evaluate_attribution(demo_atlas, citeme, on_result=lambda case, _: cases.append(case))
    assert [case.before for case in cases][:2] == ["2027", "2027"]
    assert cases[0].titles[1] == "Another"
    found = scores.to_dict()
    assert found["counts"] == {"excerpts": 5, "known": 4}
    assert found["n"] == 4
    assert found["guess@1"] >= 0.75
    assert found["accuracy"] <= found["selected"]
    assert found["accuracy"] <= found["guess@1"] <= found["guess@5"]
    assert set(found["halves"]) == {"train", "test"}
    command = ["evaluate", "attribution", str(demo_atlas.path), "--excerpts", str(citeme)]
    assert main([*command, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["accuracy"] == found["accuracy"]
    assert "4 of 5 excerpts" in scores.to_text()


def test_titles_match_as_in_citeme(demo_atlas: Atlas, tmp_path: Path) -> None:
    cited, other = some_paper(demo_atlas, 50), some_paper(demo_atlas, 3)
    path = tmp_path / "citeme.csv"
    for title, is_right in (
        (f"The {cited.title.swapcase()}", True),
        (" ".join(reversed(cited.title.split())), False),
    ):
        cells = (excerpt_of(cited), f"{title}[TITLE_SEPARATOR]{other.title}")
        row = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
        path.write_text(f"id,excerpt,target_paper_title\n1,{row}\n", encoding="utf-8")
        scores = evaluate_attribution(demo_atlas, path).to_dict()
        assert scores["guess@1"] == scores["accuracy"] == float(is_right)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2", "needs the columns excerpt"),
        ("id,excerpt,target_paper_title\n1,No mark,T", "has no"),
        ("id,excerpt,target_paper_title\n1,[CITATION] x,", "no target_paper_title"),
        ('{"excerpt": "x [CITATION]"}', "answer"),
    ],
)
def test_other_files_are_refused(demo_atlas: Atlas, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        evaluate_attribution(demo_atlas, path)


def test_the_excerpts_of_the_repository() -> None:
    cases = [json.loads(line) for line in EXCERPTS.read_text(encoding="utf-8").splitlines()]
    assert len(cases) >= 60
    assert len({case["answer"] for case in cases}) == len(cases)
    halves = [case["half"] for case in cases]
    assert abs(halves.count("first") - halves.count("second")) <= 1
    assert all(case["excerpt"].count("[CITATION]") == 1 for case in cases)


def test_json_lines_name_the_paper_and_the_half(demo_atlas: Atlas, tmp_path: Path) -> None:
    papers = [some_paper(demo_atlas, row) for row in (3, 50)]
    lines = [
        {"qid": f"{n}", "excerpt": excerpt_of(paper), "answer": paper.paper_id, "half": half}
        for n, (paper, half) in enumerate(zip(papers, ("first", "second"), strict=True))
    ]
    path = tmp_path / "excerpts.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    cases: list[Any] = []
    scores = evaluate_attribution(demo_atlas, path, on_result=lambda case, _: cases.append(case))
    assert [case.titles for case in cases] == [(paper.title,) for paper in papers]
    assert set(scores.to_dict()["halves"]) == {"first", "second"}
