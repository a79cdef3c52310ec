"""The frame with all panels of an atlas as pages."""

from __future__ import annotations

import re
from typing import get_args

import ipywidgets as widgets
import pytest

from landscape import Atlas
from landscape import widgets as panels
from landscape.cli._notebooks import Page
from landscape.errors import InputError
from landscape.widgets import Workbench
from landscape.widgets._workbench import _PANELS


def test_a_panel_is_made_when_its_page_is_opened_and_kept(demo_atlas: Atlas) -> None:
    bench = Workbench(demo_atlas)
    assert list(bench.panels) == ["explorer"]
    explorer = bench.panels["explorer"]
    bench.page = "ask"
    assert list(bench.panels) == ["explorer", "ask"]
    assert explorer.layout.display == "none"
    assert bench.children[-1] is bench.panels["ask"]
    bench.page = "explorer"
    assert bench.panels["explorer"] is explorer
    assert explorer.layout.display is None
    assert bench.panels["ask"].layout.display == "none"
    assert repr(bench) == "<Workbench: Demo corpus (generated), explorer>"


def test_the_header_names_the_atlas(demo_atlas: Atlas) -> None:
    bench = Workbench(demo_atlas, page="ask")
    head = bench.children[1].children[0].value
    assert "Demo corpus (generated)" in head
    assert "400 papers. Generated demo corpus: these papers do not exist." in head


def test_a_line_says_which_page_is_being_opened(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(demo_atlas, page="ask")
    seen: list[str] = []

    def panel(_: Atlas) -> widgets.Widget:
        seen.append(bench.children[2].value)
        return widgets.HTML()

    monkeypatch.setattr("landscape.widgets.ImpactPanel", panel, raising=False)
    bench.page = "impact"
    assert "Opening Impact of facilities" in seen[0]
    assert bench.children[2].value == ""


def test_a_panel_that_cannot_be_opened_is_a_sentence(
    demo_atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panel(_: Atlas) -> widgets.Widget:
        raise InputError("This atlas has no facilities.")

    monkeypatch.setattr("landscape.widgets.ImpactPanel", panel, raising=False)
    bench = Workbench(demo_atlas, page="impact")
    assert "This atlas has no facilities." in bench.children[2].value
    assert bench.panels == {}


def test_an_unknown_page_is_an_error_with_a_suggestion(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match=re.escape("There is no page 'nonsense'. Pages: explorer")):
        Workbench(demo_atlas, page="nonsense")
    with pytest.raises(InputError, match=re.escape("'asks'; did you mean 'ask'?")):
        Workbench(demo_atlas, page="asks")
    with pytest.raises(InputError, match="A panel needs an open atlas"):
        Workbench("my.atlas")  # type: ignore[arg-type]  # it is what is tested


def test_every_panel_of_an_atlas_has_a_page(demo_atlas: Atlas) -> None:
    bench = Workbench(demo_atlas, page="ask")
    pages = [name for _, name in bench._pages.options]
    assert {_PANELS[name] for name in pages} == {*panels.__all__} - {"Connection", "Workbench"}
    assert pages == [*get_args(Page)]  # of the command line


def test_the_address_and_the_page_follow_each_other(demo_atlas: Atlas) -> None:
    bench = Workbench(demo_atlas, page="ask")
    address = next(one for one in bench.children if hasattr(one, "pages"))
    assert address.page == "ask"
    address.page = "citations"
    assert bench.page == "citations"
    assert "citations" in bench.panels
    bench.page = "ask"
    assert address.page == "ask"
