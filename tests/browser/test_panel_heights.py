"""All panels in one notebook: each fits the window, and its long parts scroll inside."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest

from tests.browser.conftest import Lab
from tests.browser.jupyter_page import WINDOW, JupyterPage, box_of, too_wide
from tests.timing import time_limit

WIDE = {"width": 1440, "height": 900}
MAX_HEIGHT = 840
_ROOM = ".landscape-scrolls"
SHOWN = {
    "impact": "w.ImpactPanel(atlas)",
    "ranking": "w.ImpactPanel(atlas, what='ranking')",
    "report": "w.ImpactPanel(atlas, what='report')",
    "gaps": "w.ReviewPanel(atlas)",
    "coverage": "w.ReviewPanel(atlas, what='coverage')",
    "thesaurus": "w.ThesaurusPanel(atlas)",
    "thesaurus_gaps": "w.ThesaurusPanel(atlas, what='gaps')",
    "trends": "w.TrendsPanel(atlas)",
    "new topics": "w.TrendsPanel(atlas, what='new', months=36)",
    "compare": "w.TrendsPanel(atlas, what='compare')",
    "ask": "w.AskPanel(atlas); panel.ask('Are Wolf-Rayet winds clumped?', k=20)",
    "survey": "w.SurveyPanel(atlas); panel.survey('winds of massive stars')",
    "citation": "w.CitationPanel(atlas); panel.find('O star winds are clumped [CITATION].')",
    "writing": "w.WritingPanel(atlas); panel.cite('Massive stars lose mass in winds', k=30)",
    "outreach": "w.OutreachPanel(atlas)",
    "library": "w.LibraryPanel(atlas, 'mine.bib')",
    "digest": "w.DigestPanel(atlas, 'mine.bib', since='2000-01-01')",
}
FIRST = """
from pathlib import Path
import landscape as ls
from landscape import widgets as w
atlas = ls.open_demo()
Path("mine.bib").write_text(atlas.search("galaxies", k=40).to_bibtex())
"""


_NESTED = """
panel => {
  const scrolls = one => one.scrollHeight > one.clientHeight + 1
    && ['auto', 'scroll'].includes(getComputedStyle(one).overflowY);
  const all = [...panel.querySelectorAll(':not(textarea, select)'), panel].filter(scrolls);
  return all.filter(one => all.some(other => other !== one && other.contains(one)))
    .map(one => one.outerHTML.slice(0, 160));
}
"""


@pytest.fixture(scope="module")
def page(jupyter: JupyterPage, lab: Lab) -> Iterator[JupyterPage]:
    """A notebook with one cell for each panel, in a wide window."""
    cells = [FIRST.strip()]
    cells += [f"panel = {code}; panel.wait({time_limit(240)}); panel" for code in SHOWN.values()]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, lab.folder / "panels.ipynb")
    jupyter.page.set_viewport_size(WIDE)
    jupyter.open_notebook("panels.ipynb")
    jupyter.run_all()
    yield jupyter
    jupyter.page.set_viewport_size(WINDOW)


@pytest.mark.parametrize("name", SHOWN)
def test_a_panel_fits_the_window(page: JupyterPage, name: str) -> None:
    cell = page.page.locator(".jp-CodeCell").nth(1 + list(SHOWN).index(name))
    cell.scroll_into_view_if_needed()
    panel = cell.locator(".landscape-panel").first
    panel.wait_for()
    panel.scroll_into_view_if_needed()
    page.still(panel)
    page.picture(f"panel_{name}", panel)
    assert box_of(panel)["height"] <= MAX_HEIGHT
    assert too_wide(panel) == []
    assert panel.evaluate(_NESTED) == [], "two scroll bars"
    if panel.locator(".js-plotly-plot").count() and name in ("impact", "coverage", "thesaurus"):
        figure, room = (box_of(panel.locator(one).first) for one in (".js-plotly-plot", _ROOM))
        assert figure["height"] <= room["height"], "a map is seen as a whole"
    panel.locator(".landscape-scrolls").evaluate("box => box.scrollTo(0, box.scrollHeight / 2)")
    page.picture(f"panel_{name}_scrolled", panel)
