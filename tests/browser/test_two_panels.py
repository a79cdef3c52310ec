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
    "first = MapExplorer(atlas)\nfirst",
    "second = MapExplorer(atlas, colour_by='year')\nsecond",
)

LOW = "second = MapExplorer(atlas, height=400)\nsecond"


def show(jupyter: JupyterPage, lab: Lab, name: str, *codes: str) -> list[ExplorerOnPage]:
    """Return the two explorers of a new notebook with some cells."""
    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / name)
    jupyter.open_notebook(name)
    jupyter.run_all()
    found = jupyter.page.locator(".landscape-explorer")
    jupyter.until(lambda: found.count() == 2, "both panels are shown")
    return [ExplorerOnPage(jupyter, found.nth(number)) for number in range(2)]


def test_linked_panels_share_window_filters_and_selection(jupyter: JupyterPage, lab: Lab) -> None:
    first, second = show(jupyter, lab, "linked.ipynb", *CODE[:2], LOW, "first.link(second)")
    first.zoom(5)
    zoomed = first.scale()
    second.until("v.map.camera.view.scale > 2 * v.map.camera.whole")
    second.rest()
    # The second is lower and shows more of the map; the first must not follow it.
    assert second.state("v.map.camera.height") < first.state("v.map.camera.height")
    assert first.scale() == pytest.approx(zoomed, rel=1e-4)
    second.press("Show the whole map")
    second.rest()
    second.press("Select")
    second.draw([(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8), (0.2, 0.25)])
    n = second.n_selected()
    assert n > 0
    first.until(f"v.model.state.selected.length === {n}")
    first.jupyter.until(lambda: f"{n} selected" in first.status(), "the first shows it")
    assert jupyter.errors() == []


@pytest.fixture(scope="module")
def panels(jupyter: JupyterPage, lab: Lab) -> list[ExplorerOnPage]:
    return show(jupyter, lab, "two_panels.ipynb", *CODE)


def test_what_one_does_leaves_the_other_alone(panels: list[ExplorerOnPage]) -> None:
    first, second = panels
    first.zoom(5)
    assert first.scale() > 2
    assert second.scale() < 1.1
    second.turn_to("Tools")
    field = second.viewer.get_by_label("Filter", exact=True)
    field.fill("2015..")
    field.press("Enter")
    second.jupyter.until(lambda: second.n_selected() > 0, "the second has a selection")
    assert first.n_selected() == 0
    assert "colour_by='year'" in second.code()
    assert first.jupyter.errors() == []


def test_a_region_is_renamed_by_a_click(panels: list[ExplorerOnPage], lab: Lab) -> None:
    _, second = panels
    label = second.state("v.source.regions[0].label")
    second.state("v.toRegion(0)")
    second.viewer.get_by_role("button", name="Rename").click()
    field = second.viewer.get_by_label(f"Another name of {label}")
    field.fill("My own field")
    field.press("Enter")
    second.until("v?.source.regions.some((one) => one.label === 'My own field')")
    labels = lab.folder.parent / "demo.atlas" / "labels.csv"
    assert "My own field" in labels.read_text("utf-8")
    labels.unlink()
    second.viewer.get_by_role("button", name="Clear").click()
    assert second.jupyter.errors() == []


def test_a_rebuilt_atlas_is_noticed_and_loses_nothing(
    panels: list[ExplorerOnPage], lab: Lab, demo_atlas: landscape.Atlas
) -> None:
    first, second = panels
    folder = lab.folder.parent / "demo.atlas"
    options = {"seed": 1, "workers": 1, "tagger": "rules", "title": "Built again"}
    source = demo_atlas.path.parent / "demo-corpus" / "papers.jsonl.gz"
    landscape.build(source, folder, **options)
    n_selected = second.n_selected()
    first.press("Show the whole map")
    first.says("Reload the atlas")
    first.jupyter.picture("rebuilt")
    first.turn_to("Tools")
    first.press("Reload the atlas")
    first.until("v?.source.manifest.title === 'Built again'")
    assert "400 papers" in first.status()
    assert second.n_selected() == n_selected
    assert first.jupyter.errors() == []
