"""Two explorers of one atlas, and an atlas that is rebuilt while they are open."""

from __future__ import annotations

import nbformat
import pytest

import landscape
from tests.browser.conftest import Lab
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import JupyterPage

CODE = (
    "import landscape as ls\nfrom landscape.widgets import MapExplorer\natlas = ls.open_demo()",
    "MapExplorer(atlas)",
    "MapExplorer(atlas, colour_by='year')",
)


@pytest.fixture(scope="module")
def panels(jupyter: JupyterPage, lab: Lab) -> list[ExplorerOnPage]:
    cells = [nbformat.v4.new_code_cell(code) for code in CODE]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / "two_panels.ipynb")
    jupyter.open_notebook("two_panels.ipynb")
    jupyter.run_all()
    found = jupyter.page.locator(".landscape-explorer")
    jupyter.until(lambda: found.count() == 2, "both panels are shown")
    return [ExplorerOnPage(jupyter, found.nth(number)) for number in range(2)]


def test_what_one_does_leaves_the_other_alone(panels: list[ExplorerOnPage]) -> None:
    first, second = panels
    first.zoom(5)
    first.jupyter.until(lambda: 0 < first.in_view() < 400, "the first is zoomed in")
    assert second.in_view() == 400
    select = second.panel.get_by_placeholder("filter, such as 2015..; author:Rubin")
    second.panel.get_by_role("tab", name="Selected").click()
    select.fill("2015..")
    select.press("Enter")
    second.jupyter.until(lambda: second.n_selected() > 0, "the second has a selection")
    assert first.n_selected() == 0
    assert "colour_by='year'" in second.panel.inner_text()
    assert first.jupyter.errors() == []


def test_a_rebuilt_atlas_is_noticed_and_loses_nothing(
    panels: list[ExplorerOnPage], lab: Lab, demo_atlas: landscape.Atlas
) -> None:
    first, second = panels
    folder = lab.folder.parent / "demo.atlas"
    options = {"seed": 1, "workers": 1, "tagger": "rules", "title": "Built again"}
    source = demo_atlas.path.parent / "demo-corpus" / "papers.jsonl.gz"
    landscape.build(source, folder, **options)
    n_selected = second.n_selected()
    first.press("Whole map")
    first.jupyter.until(lambda: first.in_view() == 400, "the panel goes on with what it has")
    first.says("Reload the atlas")
    first.jupyter.picture("rebuilt")
    first.press("Reload the atlas")
    first.says("Map of Built again")
    assert first.in_view() == 400
    assert second.n_selected() == n_selected
    assert first.jupyter.errors() == []
