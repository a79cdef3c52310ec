"""Files of a draft: named with commas between and within, and brought without staying anywhere."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

import ipywidgets as widgets

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.widgets._writing_panel import DraftFiles
from tests.widgets.asking import inside

SECRET = b"\\section{Nobody has read this yet}"


def brought(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "",
        "size": len(SECRET),
        "content": memoryview(SECRET),
        "last_modified": datetime(2026, 1, 1, tzinfo=UTC),
    }


def uploads(files: DraftFiles) -> list[widgets.FileUpload]:
    return [one for one in inside(files) if isinstance(one, widgets.FileUpload)]


def is_saved() -> bool:
    saved = json.dumps(widgets.Widget.get_manager_state(), default=str)
    return base64.b64encode(SECRET).decode() in saved or SECRET.decode()[1:] in saved


def test_what_is_brought_is_written_and_in_no_state_that_is_saved() -> None:
    files = DraftFiles()
    bib, tex = uploads(files)
    bib.value = (brought("refs.bib"),)
    tex.value = (brought("draft, final.tex"), brought("more.tex"))
    bibliography, drafts = files.given()
    assert [Path(one).read_bytes() for one in (bibliography, *drafts)] == [SECRET] * 3
    assert bib.value == tex.value == ()
    assert not is_saved()
    tex.unobserve_all()
    tex.value = (brought("draft.tex"),)  # as if it were not yet read
    assert not is_saved()
    tex.value = ()


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("/home/a/Smith, J/draft.tex", ["/home/a/Smith, J/draft.tex"]),
        ("Smith, J/a.tex, Smith, J/b.tex", ["Smith, J/a.tex", "Smith, J/b.tex"]),
        ("a.tex;b.v2.tex ,, c.tex,", ["a.tex", "b.v2.tex", "c.tex"]),
        ("draft", ["draft"]),
    ],
)
def test_commas_part_files_and_no_names_of_folders(typed: str, named: list[str]) -> None:
    files = DraftFiles()
    files.put("refs.bib", [typed])
    assert files.given()[1] == named
