"""Adding citations to an existing atlas builds only their layer."""

from __future__ import annotations

from pathlib import Path

import pytest

import landscape as ls
from landscape.atlas import add_citations
from landscape.cli import main
from landscape.errors import InputError


def test_citations_are_added_to_an_atlas_that_stands(atlas_copy: Path, tmp_path: Path) -> None:
    before = ls.open(atlas_copy)
    assert before.citations.note.startswith("This atlas has no citations")
    first, second, third = before.read_papers(["paper_id"])["paper_id"][:3]
    assert before.citations.references(first) == []
    assert before.citations.cocited([first, second]) == []
    edges = tmp_path / "edges.csv"
    edges.write_text(
        f"citing,cited,cited_title\n{first},arXiv:{second},\n{first},1973ApJ...179..427S,Disks\n"
        f"{third},1973ApJ...179..427S,\n{third},{second},\n1999far..away,1998far..away,\n"
    )
    lines: list[str] = []
    atlas = add_citations(atlas_copy, edges, say=lines.append)
    assert "4 (2 within the atlas), 1 paper beyond it" in lines[-1]
    listed = atlas.citations.references(first)
    assert [one.paper_id for one in listed] == [second, "1973ApJ...179..427S"]
    assert (listed[1].title, listed[1].year, listed[1].is_stub) == ("Disks", 1973, True)
    assert [one.paper_id for one in atlas.citations.citations("1973ApJ...179..427S")] == [
        first,
        third,
    ]
    assert atlas.citations.coupled(first)[0].paper_id == third
    assert atlas.citations.cocited(second)[0].score == pytest.approx(1)
    assert atlas.citations.cocited(second, stubs=False) == []
    assert atlas.stages["citations"].details["outside"] == 1
    assert before.stages["search"] == atlas.stages["search"], "nothing else was made again"
    with pytest.raises(InputError, match="no paper '1998far"):
        atlas.citations.references("1998far..away")


def test_the_command_adds_them_too(
    atlas_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = ls.open(atlas_copy).read_papers(["paper_id"])["paper_id"][:2]
    edges = tmp_path / "edges.csv"
    edges.write_text(f"citing,cited\n{first},{second}\n")
    assert main(["build", "--out", str(atlas_copy), "--citations", str(edges)]) == 0
    assert "1 citation\n" in capsys.readouterr().out
    assert main(["info", str(atlas_copy), "--verify"]) == 0
    assert main(["build", "--out", str(atlas_copy), "--citations", "no-such.csv"]) == 2
    assert main(["build", "--out", str(atlas_copy)]) == 2
