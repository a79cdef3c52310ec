"""The map while the kernel is busy, and after the kernel is gone."""

from __future__ import annotations

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import SECOND, JupyterPage
from tests.timing import time_limit

CODE = (
    "import landscape as ls\nfrom landscape.widgets import MapExplorer\natlas = ls.open_demo()",
    "explorer = MapExplorer(atlas)\nexplorer",
    "import time\nwhile explorer.map.coming:\n    time.sleep(0.1)",
    "from pathlib import Path\ntime.sleep(600 if Path('sleep').exists() else 0)",
)


@pytest.fixture(scope="module")
def busy(jupyter: JupyterPage, lab: Lab) -> ExplorerOnPage:
    """An explorer whose kernel runs a long cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CODE])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / "busy.ipynb")
    jupyter.open_notebook("busy.ipynb")
    jupyter.run_all()
    panel = jupyter.show(".landscape-explorer")
    explorer = ExplorerOnPage(jupyter, panel)
    explorer.until("v.kernel.model.get('coming') === false")
    (lab.folder / "sleep").touch()
    jupyter.choose("Run", "Run Selected Cell")  # the last one
    return explorer


def test_a_busy_kernel_is_not_needed_for_the_map(busy: ExplorerOnPage) -> None:
    busy.jupyter.until(lambda: busy.jupyter.kernel_status() == "busy", "a cell runs")
    before = busy.scale()
    busy.zoom(5)
    assert busy.scale() > 2 * before
    point = busy.in_the_middle()
    busy.page.mouse.move(*busy.place_of(point))
    expect(busy.viewer.locator(".tooltip strong")).not_to_be_empty()
    busy.search("planets")
    busy.until("v.model.found.length > 0")
    expect(busy.viewer.locator(".status")).to_contain_text("the kernel is busy")
    expect(busy.viewer.locator(".list")).to_contain_text("these titles have the words")
    busy.viewer.locator(".list .paper").first.click()
    expect(busy.viewer.locator(".record h2")).not_to_be_empty()
    expect(busy.viewer.locator(".record .abstract")).to_contain_text("The abstract is loading")
    busy.jupyter.picture("busy")


def test_a_kernel_that_is_gone_is_said_and_the_map_still_moves(busy: ExplorerOnPage) -> None:
    busy.jupyter.choose("Kernel", "Shut Down Kernel")
    expect(busy.viewer.locator(".status")).to_contain_text(
        "the kernel is gone", timeout=time_limit(30) * SECOND
    )
    before = busy.scale()
    busy.zoom(3)
    assert busy.scale() > before
    busy.jupyter.picture("kernel_gone")
