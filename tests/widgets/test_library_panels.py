"""The panels of the library and of the digest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import landscape as ls
from landscape import Atlas
from landscape.corpus.libraries import Library, entry_of_name, find_library, write_library
from landscape.overlays.library import library_regions, make_digest
from landscape.widgets import DigestPanel, LibraryPanel, MapExplorer, Workbench
from tests.timing import time_limit

WAIT = time_limit(240)


@pytest.fixture
def name(demo_atlas: Atlas) -> str:
    papers = (paper.label for paper in demo_atlas.engine.papers(range(0, 90, 3)))
    write_library(Library("panels", tuple(map(entry_of_name, papers))))
    return "panels"


@pytest.mark.parametrize("what", ["regions", "papers", "graph"])
def test_the_library_is_shown_with_a_table_and_code(
    demo_atlas: Atlas, name: str, what: str
) -> None:
    panel = LibraryPanel(demo_atlas, name, what=what)
    assert panel.wait(WAIT)
    assert panel.selection == {"library": name, "what": what}
    made: dict[str, Any] = {"atlas": demo_atlas, "ls": ls}
    exec(panel.code, made)  # noqa: S102 - the code of the panel
    assert panel.table is not None
    assert panel.table.equals(made["found"].table)
    assert made["figure"].data


def test_without_a_library_the_panels_say_what_to_type(
    demo_atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANDSCAPE_LIBRARIES", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    panel, digest = LibraryPanel(demo_atlas), DigestPanel(demo_atlas)
    assert panel.wait(WAIT)
    for one in (panel, digest):
        assert one.status.startswith("You have no library yet. Type a file")
    digest.show()
    assert "library is missing" in digest.status


def test_a_digest_is_shown_and_papers_are_marked(demo_atlas: Atlas, name: str) -> None:
    panel = DigestPanel(demo_atlas, name, since="2000-01-01")
    assert panel.wait(WAIT)
    digest = panel.digest
    assert digest is not None
    assert digest.table.equals(make_digest(demo_atlas, name, since="2000-01-01").table)
    made: dict[str, Any] = {"atlas": demo_atlas}
    exec(panel.code, made)  # noqa: S102 - the code of the panel
    assert made["digest"].to_dict() == digest.to_dict()
    paper = digest.papers[0]
    panel.mark([paper.paper_id], "not interested")
    assert find_library(name).marks
    panel.show()
    assert panel.wait(WAIT)
    assert panel.digest is not None
    assert paper.paper_id not in {one.paper_id for one in panel.digest.papers}
    panel.mark_seen()
    assert panel.wait(WAIT)
    assert make_digest(demo_atlas, name).n_new == 0
    saved = json.dumps(panel.saved_html())
    assert digest.headline in saved


def test_marks_need_a_library_of_the_user(demo_atlas: Atlas, tmp_path: Path) -> None:
    file = tmp_path / "other.bib"
    file.write_text(demo_atlas.search("galaxies", k=8).to_bibtex())
    panel = DigestPanel(demo_atlas, str(file), since="2000-01-01")
    assert panel.wait(WAIT)
    assert panel.digest is not None
    with pytest.raises(ls.errors.InputError, match="read it first: landscape library read"):
        panel.mark([panel.digest.papers[0].paper_id], "read")


def test_the_explorer_and_the_workbench_know_libraries(demo_atlas: Atlas, name: str) -> None:
    explorer = MapExplorer(demo_atlas, mine=name)
    assert len(explorer.map.source.mine) == 30
    bench = Workbench(demo_atlas, page="library")
    assert isinstance(bench.panels["library"], LibraryPanel)
    bench.page = "digest"
    assert isinstance(bench.panels["digest"], DigestPanel)
    assert len(library_regions(demo_atlas, name).table) > 3
