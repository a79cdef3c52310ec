"""Notebooks 00 and 02 in the browser, from the start page to an exported map."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from playwright.sync_api import expect

import landscape.viewer
from tests.browser.conftest import Lab
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import JupyterPage, box_of, nameless, too_wide

INSIDE = [(0.35, 0.35), (0.6, 0.35), (0.6, 0.6), (0.35, 0.6), (0.35, 0.37)]
LASSO = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8), (0.2, 0.25)]
JS = Path(landscape.viewer.__file__).parent / "js"


def test_the_start_page_leads_to_a_map_and_a_first_answer(jupyter: JupyterPage, lab: Lab) -> None:
    page = jupyter.page
    jupyter.open("README.md")
    table = page.locator(".jp-MarkdownViewer table")
    table.wait_for()
    jupyter.picture("start_page")
    assert table.locator("a").count() >= len(list(lab.folder.glob("[0-9]*.ipynb"))) > 3
    table.get_by_text("00 Quickstart").click()
    jupyter.ready("00_quickstart.ipynb")
    jupyter.run_all()

    maps = page.locator(".jp-RenderedImage img")
    assert maps.count() == 2
    assert "these papers do not exist" in jupyter.show(".jp-OutputArea-output").inner_text()
    jupyter.picture("00_map", maps.first)
    sentences = page.locator(".jp-OutputArea-output", has_text="Sentences quoted").last
    sentences.scroll_into_view_if_needed()
    assert sentences.locator("a[href*='adsabs']").count() == 0, "ADS has no generated papers"
    jupyter.picture("00_answer", sentences)

    explorer = ExplorerOnPage(jupyter, page.locator(".landscape-explorer").last)
    assert "400 papers" in explorer.status()
    jupyter.picture("00_explorer")
    assert jupyter.console == []


@pytest.fixture(scope="module")
def tour(jupyter: JupyterPage, lab: Lab) -> ExplorerOnPage:
    """Notebook 02 after all cells have run; the last cells search and select."""
    jupyter.open_notebook("02_explore_the_map.ipynb")
    jupyter.run_all()
    written = jupyter.page.locator(".jp-Notebook").inner_text()
    assert "map.html" in written
    return ExplorerOnPage(jupyter, jupyter.page.locator(".landscape-explorer").first)


def test_code_and_panel_show_the_same(tour: ExplorerOnPage) -> None:
    tour.until("v.model.found.length === 30 && !v.model.isWaiting")
    assert tour.n_selected() > 0
    assert "search='winds of massive stars'" in tour.code()
    assert tour.viewer.get_by_role("searchbox").input_value() == "winds of massive stars"
    tour.jupyter.picture("02_after_all_cells")


def test_the_panel_fits_a_screen(tour: ExplorerOnPage) -> None:
    assert box_of(tour.panel)["height"] < 800
    assert too_wide(tour.panel) == []


def test_a_paper_tells_its_title_and_opens_its_record(tour: ExplorerOnPage) -> None:
    tour.press("Show the whole map")
    tour.rest()
    tour.zoom(8)
    assert tour.scale() > 3
    point = tour.in_the_middle()
    title = tour.state(f"v.source.title({point}).then((paper) => paper.title)")
    tour.page.mouse.move(*tour.place_of(point))
    tooltip = tour.viewer.locator(".tooltip")
    expect(tooltip).to_contain_text(title.split("$")[0][:20].strip())
    expect(tooltip).to_contain_text(re.compile(r", (19|20)\d\d"))
    tour.jupyter.picture("02_hover")
    tour.page.mouse.click(*tour.place_of(point))
    record = tour.viewer.locator(".record")
    expect(record.locator("h3").last).to_contain_text("Similar papers")
    assert box_of(record)["y"] < 500, "the record is beside the map"
    tour.jupyter.picture("02_paper")
    tour.page.keyboard.press("Escape")


def test_a_search_lights_up_lists_and_can_be_undone(tour: ExplorerOnPage) -> None:
    tour.press("Show the whole map")
    tour.search("fast radio bursts")
    tour.until("v.model.found.length === 30 && !v.model.isWaiting")
    rows = tour.viewer.locator(".list tbody tr")
    expect(rows.first).to_be_visible()
    expect(tour.viewer.locator(".list")).to_contain_text("Best first")
    tour.jupyter.picture("02_search")
    tour.zoom(6)
    tour.press("Zoom to them")
    tour.rest()
    n_inside = """v.model.found.filter((point) => {
      const [x, y] = v.map.camera.toPixel(...v.map.placeOf(point));
      return x >= 0 && y >= 0 && x <= v.map.camera.width && y <= v.map.camera.height;
    }).length"""
    assert tour.state(n_inside) == 30
    tour.press("Clear")
    tour.until("v.model.found.length === 0")
    tour.press("Undo")
    tour.until("v.model.found.length === 30")
    tour.press("Clear")
    tour.search("citations>abc")
    tour.viewer.get_by_label("Method of the search").select_option("filter")
    expect(tour.viewer.locator(".notice")).to_contain_text("whole number")
    assert tour.viewer.get_by_role("searchbox").input_value() == "citations>abc"
    tour.viewer.get_by_label("Method of the search").select_option("hybrid")
    tour.press("Clear")


def test_outlines_select_and_the_selection_is_used(tour: ExplorerOnPage, tmp_path: Path) -> None:
    tour.press("Show the whole map")
    tour.rest()
    tour.press("Select")
    tour.draw(INSIDE)
    tour.jupyter.until(lambda: "outline=[" in tour.code(), "the outline is told")
    n = tour.n_selected()
    assert 0 < n < 200
    tour.draw(LASSO)
    tour.jupyter.until(lambda: n < tour.n_selected() < 400, "a wider outline takes its place")
    n = tour.n_selected()
    tour.press("Remove")
    tour.draw(INSIDE)
    tour.jupyter.until(lambda: 0 < tour.n_selected() < n, "papers are removed")
    tour.press("Undo")
    tour.jupyter.until(lambda: tour.n_selected() == n, "the selection is back")
    tour.press("Move")
    tour.turn_to("Papers")
    csv = tour.download("CSV", tmp_path).read_text("utf-8")
    assert len(csv.splitlines()) == n + 1
    assert tour.download("BibTeX", tmp_path).read_text("utf-8").count("\n@") + 1 == n
    tour.turn_to("Tools")
    tour.press("Summary")
    expect(tour.viewer.locator(".outcome")).to_contain_text(f"{n} of 400 papers")
    tour.jupyter.picture("02_selection")
    assert tour.download("Make the file", tmp_path).read_bytes().startswith(b"\x89PNG")
    field = tour.viewer.get_by_label("Filter", exact=True)
    field.fill("2015..")
    field.press("Enter")
    tour.jupyter.until(lambda: "select='2015..'" in tour.code(), "the filter is told")
    tour.press("Clear")


def test_colours_have_a_legend_that_filters(tour: ExplorerOnPage) -> None:
    colour = tour.viewer.get_by_label("Colour of the papers")
    colour.select_option("facility")
    key = tour.viewer.locator(".legend .key").first
    name = key.inner_text().strip()
    key.click()
    tour.jupyter.until(lambda: f"facility={name!r}" in tour.code(), "the facility is told")
    expect(tour.viewer.locator(".legend .key").first).to_contain_text(f"uses data of {name}")
    tour.jupyter.picture("02_facility")
    colour.select_option("journal")  # which the kernel reads
    expect(tour.viewer.locator(".legend")).to_contain_text("Journal of")
    tour.press("Clear")
    colour.select_option("region")


def test_years_and_reviews_filter_the_map(tour: ExplorerOnPage) -> None:
    tour.turn_to("Filters")
    box = box_of(tour.viewer.locator("svg.years"))
    tour.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20)
    tour.page.mouse.down()
    tour.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 20, steps=4)
    tour.page.mouse.up()
    tour.jupyter.until(lambda: "time=(" in tour.code(), "the years are told")
    assert "of 400 papers pass" in tour.status()
    tour.press("Clear")
    tour.turn_to("Filters")
    tour.viewer.get_by_label(re.compile("review")).first.check()
    tour.until("v.model.kinds.includes(4)")
    tour.jupyter.until(lambda: "'reviews'" in tour.code(), "the layer is told")
    tour.viewer.get_by_label(re.compile("^8 review|review")).first.uncheck()
    tour.press("Clear")


def test_the_keyboard_is_enough_and_the_panel_is_accessible(tour: ExplorerOnPage) -> None:
    keys = tour.page.keyboard
    tour.map.focus()
    before = tour.state("v.map.camera.view.x")
    keys.press("ArrowRight")
    keys.press("+")
    tour.rest()
    assert tour.state("v.map.camera.view.x") > before
    keys.press("/")
    keys.type("dark matter")
    keys.press("Enter")
    tour.until("v.model.found.length > 0")
    keys.press("Escape")
    tour.until("v.model.found.length === 0")
    assert nameless(tour.panel) == []
    tools = runpy.run_path(str(JS / "build.py"))
    tools["install_tools"]()
    tour.page.evaluate((JS / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = tour.page.evaluate("axe.run('.landscape-viewer').then((result) => result.violations)")
    # A notebook has headings of its own above the panel, so the order of headings is not ours.
    problems = [one for one in found if one["id"] not in ("heading-order", "region")]
    assert [f"{one['id']}: {one['nodes'][0]['html']:.200}" for one in problems] == []


def test_the_map_follows_the_theme_of_jupyterlab(tour: ExplorerOnPage) -> None:
    light = tour.viewer.evaluate("(root) => getComputedStyle(root).backgroundColor")
    tour.page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    tour.until("v.isDark")
    assert tour.viewer.evaluate("(root) => getComputedStyle(root).backgroundColor") != light
    tour.jupyter.picture("02_dark")
    tour.page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    tour.until("!v.isDark")


def test_a_page_that_comes_back_has_lost_nothing(tour: ExplorerOnPage, lab: Lab) -> None:
    tour.turn_to("Tools")
    field = tour.viewer.get_by_label("Filter", exact=True)
    field.fill("2015..")
    field.press("Enter")
    tour.jupyter.until(lambda: tour.n_selected() > 0, "papers are selected")
    tour.zoom(4)
    tour.jupyter.until(lambda: "view=(" in tour.code(), "the kernel knows the window")
    n_selected, window = tour.n_selected(), tour.state("v.map.window")
    assert "Traceback" not in tour.jupyter.logged()
    assert "widget-view+json" in tour.jupyter.save(lab.folder / "02_explore_the_map.ipynb")
    tour.page.reload(wait_until="domcontentloaded")
    tour.jupyter.ready("02_explore_the_map.ipynb")
    panels = tour.page.locator(".landscape-explorer")
    tour.jupyter.until(lambda: panels.count() > 0, "the panel is back")
    again = ExplorerOnPage(tour.jupyter, panels.first)
    again.until("v.model.state.selected.length > 0")
    assert again.n_selected() == n_selected
    again.rest()
    assert again.state("v.map.window") == pytest.approx(window, rel=0.02)
    tour.jupyter.picture("02_page_came_back")
    again.search("dust")
    again.until("v.model.found.length > 0 && !v.model.isWaiting")
    assert tour.jupyter.errors() == []
