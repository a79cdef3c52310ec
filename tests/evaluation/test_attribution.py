"""The benchmark of attribution reads CiteME and its own lines, and counts as CiteME does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape import Atlas
from landscape.cli import main
from landscape.errors import InputError
from landscape.evaluation import evaluate_attribution
from landscape.evaluation._attribution import read_cases, title_matches
from tests.agents.citing_models import excerpt_of, some_paper

EXCERPTS = Path(__file__).parent / "attribution.jsonl"


@pytest.fixture(scope="module")
def citeme(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four excerpts about papers of the atlas, and one about a paper that it has not."""
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
    cases = read_cases(citeme)
    assert [case.before for case in cases][:2] == ["2027", "2027"]
    assert cases[0].titles[1] == "Another"
    scores = evaluate_attribution(demo_atlas, cases)
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


def test_titles_match_as_in_citeme() -> None:
    assert title_matches("The dust of Quasars", ["Dust of quasars"])
    assert not title_matches("Gas in quasars", ["Dust of comets"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2", "needs the columns excerpt"),
        ("id,excerpt,target_paper_title\n1,No mark,T", "has no"),
        ("id,excerpt,target_paper_title\n1,[CITATION] x,", "no target_paper_title"),
        ('{"excerpt": "x [CITATION]"}', "answer"),
    ],
)
def test_other_files_are_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_cases(path)


def test_the_excerpts_of_the_repository() -> None:
    cases = read_cases(EXCERPTS)
    assert len(cases) >= 60
    assert len({case.answer for case in cases}) == len(cases)
    halves = [case.half for case in cases]
    assert abs(halves.count("first") - halves.count("second")) <= 1
    assert all(case.excerpt.count("[CITATION]") == 1 for case in cases)
