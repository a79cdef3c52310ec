"""Notebooks 00 and 02 in the browser, from the start page to an exported map."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.conftest import Lab
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import JupyterPage, box_of, nameless, too_wide

INSIDE = [(0.35, 0.35), (0.6, 0.35), (0.6, 0.6), (0.35, 0.6), (0.35, 0.37)]
LASSO = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8), (0.2, 0.25)]
_FOUND = ".landscape-paper-line"


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
    assert sentences.locator("a[href*='adsabs']").count() >= 1
    jupyter.picture("00_answer", sentences)

    explorer = ExplorerOnPage(jupyter, page.locator(".landscape-explorer").last)
    assert explorer.in_view() == 400
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
    assert tour.n_selected() > 0
    assert tour.in_view() == 400
    assert tour.marks("found") > 0
    assert "search='winds of massive stars'" in tour.panel.inner_text()
    tour.jupyter.picture("02_after_all_cells")


def test_zooming_counts_anew_and_a_paper_tells_its_title(tour: ExplorerOnPage) -> None:
    tour.press("Whole map")
    before, window = tour.in_view(), tour.window()
    tour.zoom(6)
    tour.jupyter.until(lambda: 0 < tour.in_view() < before, "fewer papers are in view")
    assert tour.window()[1] - tour.window()[0] < 0.7 * (window[1] - window[0])
    assert "times enlarged" in tour.panel.inner_text()
    tour.jupyter.until(lambda: tour.marks("papers") > 0, "single papers are drawn")
    tour.jupyter.picture("02_zoomed")

    tour.settled()
    number, text = tour.mark_in_the_middle("papers")
    title = text.split("<br>")[0].removeprefix("<b>").removesuffix("</b>")
    tour.page.mouse.move(*tour.place_of("papers", number))
    tour.jupyter.until(lambda: title[:20] in tour.under_the_pointer(), f"{title!r} is told")
    assert re.search(r"\b(19|20)\d\d\b", tour.under_the_pointer())
    tour.jupyter.picture("02_hover")

    tour.page.mouse.click(*tour.place_of("papers", number))
    record = tour.panel.locator(".landscape-record a[href*='adsabs']").first
    record.wait_for()
    tour.jupyter.picture("02_paper")


def test_search_lights_up_and_lists(tour: ExplorerOnPage) -> None:
    tour.press("Whole map")
    query = tour.panel.get_by_placeholder("a question, key words, or a filter")
    query.fill("fast radio bursts")
    query.press("Enter")
    tour.says("“fast radio bursts”")
    assert tour.panel.locator(_FOUND).count() == 30
    assert tour.marks("found") + tour.marks("apart") == 30
    tour.jupyter.picture("02_search")
    tour.press("Clear")
    tour.jupyter.until(lambda: tour.marks("found") == 0, "the search is off the map")
    assert tour.panel.locator(_FOUND).count() == 0


def test_the_lasso_selects_and_the_selection_is_exported(
    tour: ExplorerOnPage, tmp_path: Path
) -> None:
    tour.drag_to("Lasso", "lasso")
    tour.draw(INSIDE)
    tour.wander()  # plotly tells of the dots below in the place of the lasso
    tour.panel.get_by_role("tab", name="Selected").click()
    tour.jupyter.until(lambda: "outline=" in tour.code(), "the outline is told")
    n = tour.n_selected()
    assert 0 < n < 200
    tour.draw(LASSO)
    tour.jupyter.until(lambda: n < tour.n_selected() < 400, "a wider outline takes its place")
    n = tour.n_selected()
    assert tour.outlines() == 1
    tour.draw(INSIDE)
    tour.jupyter.until(lambda: 0 < tour.n_selected() < n, "an outline can be drawn in another")
    tour.panel.locator("button").filter(has_text="Clear").last.click()
    tour.jupyter.until(lambda: tour.n_selected() == tour.outlines() == 0, "the outline is gone")
    tour.draw(LASSO)
    tour.jupyter.until(lambda: tour.n_selected() == n, "the same outline selects the same")
    tour.jupyter.picture("02_lasso")

    tour.press("CSV, BibTeX")
    link = tour.panel.locator("a[download='selection.csv']")
    link.wait_for()
    csv = tour.download(link, tmp_path).read_text("utf-8")
    rows = [line for line in csv.splitlines() if line and not line.startswith("#")]
    assert len(rows) == n + 1
    bib = tour.download(tour.panel.locator("a[download='selection.bib']"), tmp_path)
    assert bib.read_text("utf-8").count("\n@") + 1 == n

    tour.panel.get_by_role("tab", name="Save").click()
    tour.press("Make the file")
    picture = tour.panel.locator("a[download$='.png']")
    picture.wait_for(timeout=60_000)
    assert tour.download(picture, tmp_path).read_bytes().startswith(b"\x89PNG")
    tour.drag_to("Move", "pan")


def test_the_time_window_hides_papers_of_other_years(tour: ExplorerOnPage) -> None:
    before = tour.in_view()
    handle = tour.panel.locator(".noUi-handle-lower").first
    handle.scroll_into_view_if_needed()
    box = box_of(handle)
    middle = box["y"] + box["height"] / 2
    tour.page.mouse.move(box["x"] + box["width"] / 2, middle)
    tour.page.mouse.down()
    tour.page.mouse.move(box["x"] + 150, middle, steps=6)
    tour.page.mouse.up()
    tour.jupyter.until(lambda: 0 < tour.in_view() < before, "fewer papers are in view")
    assert "time=(" in tour.panel.inner_text()
    tour.jupyter.picture("02_years")
    tour.press("All years")
    tour.jupyter.until(lambda: tour.in_view() == before, "all papers are back")


def test_play_moves_the_window_until_it_is_paused(tour: ExplorerOnPage) -> None:
    play = tour.panel.locator(".widget-play button").first
    play.scroll_into_view_if_needed()
    play.click()
    tour.jupyter.until(lambda: "time=(" in tour.code(), "the window has begun to move")
    first = tour.code()
    tour.jupyter.until(lambda: tour.code() != first, "the window moves on")
    tour.jupyter.picture("02_play")
    play.click()
    tour.settled()
    tour.press("All years")
    tour.jupyter.until(lambda: "time=(" not in tour.code(), "all years are back")


def test_the_keyboard_is_enough_and_every_control_has_a_name(tour: ExplorerOnPage) -> None:
    keys, page = tour.page.keyboard, tour.page
    tour.panel.get_by_placeholder("a question, key words, or a filter").focus()
    keys.press("Control+a")
    keys.type("dark matter")
    keys.press("Enter")
    tour.says("“dark matter”")
    for _ in range(12):
        keys.press("Tab")
        if page.evaluate("() => document.activeElement.innerText.trim()") == "Clear":
            break
    else:
        raise AssertionError("Tab does not lead from the search to its buttons")
    keys.press("Enter")
    tour.jupyter.until(lambda: tour.marks("found") == 0, "the search is off the map")
    assert nameless(tour.panel) == []


def test_nothing_is_wider_than_its_cell(tour: ExplorerOnPage) -> None:
    width = tour.panel.evaluate(
        "panel => panel.closest('.jp-OutputArea-output').getBoundingClientRect().width"
    )
    assert width < 900, "the side bar is open: this is a narrow cell"
    assert too_wide(tour.panel) == []


def test_a_page_that_comes_back_has_lost_nothing(tour: ExplorerOnPage, lab: Lab) -> None:
    n_selected = tour.n_selected()
    tour.zoom(4)
    tour.jupyter.until(lambda: tour.in_view() < 400, "it is zoomed in")
    tour.jupyter.until(tour.kernel_knows_the_window, "the kernel has heard of every turn")
    in_view, window = tour.settled(), tour.window()
    assert "Traceback" not in tour.jupyter.logged()
    assert "widget-view+json" in tour.jupyter.save(lab.folder / "02_explore_the_map.ipynb")
    tour.page.reload(wait_until="domcontentloaded")
    tour.jupyter.ready("02_explore_the_map.ipynb")
    panels = tour.page.locator(".landscape-explorer")
    tour.jupyter.until(lambda: panels.count() > 0, "the panel is back")
    again = ExplorerOnPage(tour.jupyter, panels.first)
    again.says("papers in view")
    assert again.in_view() == in_view
    # The page draws what was saved, and then what the kernel says of the size that it has now.
    same = pytest.approx(window, rel=1e-3)
    tour.jupyter.until(lambda: again.window() == same, "the window is where it was", seconds=30)
    assert again.n_selected() == n_selected > 0
    tour.jupyter.picture("02_page_came_back")
    again.press("Whole map")
    tour.jupyter.until(lambda: again.in_view() == 400, "the panel still answers")
    assert tour.jupyter.errors() == []
