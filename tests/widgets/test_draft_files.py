"""Files of a draft: names with commas, and uploads that are not saved in the notebook."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipywidgets")

import ipywidgets as widgets

from landscape import Atlas
from landscape.errors import InputError
from landscape.widgets import WritingPanel
from tests.timing import time_limit
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


@pytest.fixture
def panel(demo_atlas: Atlas) -> WritingPanel:
    return WritingPanel(demo_atlas)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Record the bibliography and drafts of each `check_draft` call instead of checking."""
    given: list[tuple[str, list[str]]] = []

    def check(bibliography: str, drafts: list[str], **_: object) -> None:
        given.append((bibliography, drafts))
        raise InputError("Not checked.")

    monkeypatch.setattr("landscape.agents.check_draft", check)
    return given


def is_saved() -> bool:
    saved = json.dumps(widgets.Widget.get_manager_state(), default=str)
    return base64.b64encode(SECRET).decode() in saved or SECRET.decode()[1:] in saved


def test_what_is_brought_is_written_and_in_no_state_that_is_saved(
    panel: WritingPanel, checked: list[tuple[str, list[str]]]
) -> None:
    bib, tex = (part for part in inside(panel) if isinstance(part, widgets.FileUpload))
    bib.value = (brought("refs.bib"),)
    tex.value = (brought("draft, final.tex"), brought("more.tex"))
    panel.check()
    assert panel.wait(time_limit(60))
    [(bibliography, drafts)] = checked
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
def test_commas_separate_files_but_not_the_names_of_folders(
    panel: WritingPanel, checked: list[tuple[str, list[str]]], typed: str, named: list[str]
) -> None:
    panel.check("refs.bib", [typed])
    assert panel.wait(time_limit(60))
    assert checked == [("refs.bib", named)]
