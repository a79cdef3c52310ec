"""A figure is drawn on a busy page even if anywidget times out."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest

from tests.browser.conftest import Lab
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import GIVEN_UP, JupyterPage

# Anywidget waits two seconds for a module; here, none.
TOO_LATE = """
const timeout = AbortSignal.timeout;
AbortSignal.timeout = wait => timeout.call(AbortSignal, wait === 2000 ? 0 : wait);
"""
PICTURE = "plot => plot._fullLayout.images.map(one => one.source).join()"
CODE = (
    "import landscape as ls\nfrom landscape.widgets import MapExplorer\natlas = ls.open_demo()",
    "MapExplorer(atlas)",
)


@pytest.fixture
def busy(jupyter: JupyterPage, lab: Lab) -> Iterator[JupyterPage]:
    page = jupyter.page.context.new_page()
    page.add_init_script(TOO_LATE)
    yield JupyterPage(page, lab.address, lab.token)
    page.close()


def test_a_figure_that_was_given_up_is_drawn_all_the_same(busy: JupyterPage, lab: Lab) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CODE])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / "busy.ipynb")
    busy.open_notebook("busy.ipynb")
    busy.run_all()
    explorer = ExplorerOnPage(busy, busy.page.locator(".landscape-explorer").first)
    busy.until(lambda: any(GIVEN_UP in error for error in busy.page_errors), "it is given up")
    whole = explorer.plot.evaluate(PICTURE)
    explorer.zoom(8)
    busy.until(lambda: 0 < explorer.in_view() < 400, "the kernel has heard the page")
    busy.until(
        lambda: explorer.plot.evaluate(PICTURE) != whole, "the page hears the kernel", seconds=60
    )
    assert busy.errors() == []
