"""The result of a panel that a saved notebook keeps, and the sentence beside it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("ipywidgets")

import IPython.display

from landscape import Atlas
from landscape.widgets import AskPanel, ImpactPanel
from landscape.widgets._controls import MAX_SAVED_BYTES, css_of, cut_text_html
from landscape.widgets._panel import Panel
from tests.timing import time_limit

SENTENCE = "Run this cell again to use the panel."


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Record what is displayed: the identifier, and HTML or the data of a widget."""
    seen: list[tuple[str, Any]] = []

    def display(what: Any, *, display_id: str = "", **_: Any) -> None:
        seen.append((display_id, getattr(what, "data", what)))

    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.setattr(IPython.display, "update_display", display)
    return seen


def test_the_sentence_is_a_separate_output(outputs: list[tuple[str, Any]]) -> None:
    panel = Panel("Map of <b>stars</b>", [])
    panel.code = "<script>alert(1)</script>"
    panel._ipython_display_()
    (saved_id, saved), (widget_id, widget) = outputs
    assert SENTENCE in saved
    assert saved_id
    assert not widget_id
    assert "application/vnd.jupyter.widget-view+json" in widget
    assert "<script>" not in saved
    assert "<b>stars" not in saved
    assert ".landscape-saved" in css_of("panel")  # hides the sentence above a live panel


def test_a_result_replaces_the_saved_one(outputs: list[tuple[str, Any]], demo_atlas: Atlas) -> None:
    panel = ImpactPanel(demo_atlas, what="ranking")
    panel._ipython_display_()
    assert panel.wait(time_limit(60))
    saved_id = outputs[0][0]
    last_id, last = outputs[-1]
    assert last_id == saved_id
    assert str(panel.table["facility"].iloc[0]) in last
    assert "<table" in last
    assert len(last.encode()) < 30_000


def test_an_answer_is_saved_as_text(demo_atlas: Atlas) -> None:
    panel = AskPanel(demo_atlas)
    assert SENTENCE in panel.saved_html()
    panel.ask("How do stars form?")
    assert panel.wait(time_limit(60))
    assert "How do stars form?" in panel.saved_html()
    assert len(panel.saved_html().encode()) < 30_000


def test_a_panel_that_is_not_shown_writes_no_output(outputs: list[tuple[str, Any]]) -> None:
    panel = Panel("Map", [])
    panel.run("Adding", lambda: 1, lambda _: None)
    assert panel.wait(time_limit(5))
    assert outputs == []


@pytest.mark.parametrize("text", ["<" * 50_000, "é" * 50_000])
def test_a_long_text_is_cut(text: str) -> None:
    page = cut_text_html(text)
    assert len(page.encode()) < MAX_SAVED_BYTES + 100
    assert "…" in page
    assert "<<" not in page
