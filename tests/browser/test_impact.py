"""Notebook 04 in the browser: choose a facility and a period, read the table, save files."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator

from tests.browser.jupyter_page import JupyterPage, button, least_contrast, nameless, too_wide


@pytest.fixture(scope="module")
def panel(jupyter: JupyterPage) -> Locator:
    """The first panel of the notebook, after all cells have run."""
    jupyter.open_notebook("04_mission_impact.ipynb")
    jupyter.run_all()
    found = jupyter.page.locator(".landscape-analysis").first
    found.wait_for()
    found.scroll_into_view_if_needed()
    return found


def test_every_cell_shows_its_figure(jupyter: JupyterPage, panel: Locator) -> None:
    page = jupyter.page
    assert page.locator(".landscape-analysis").count() == 5
    jupyter.until(
        lambda: page.locator(".landscape-analysis .js-plotly-plot .nsewdrag").count() >= 3,
        "the figures are drawn",
    )
    assert page.locator(".jp-RenderedImage img").count() == 2
    assert "alma.pdf" in page.locator(".jp-Notebook").inner_text()
    for number in range(5):
        one = page.locator(".landscape-analysis").nth(number)
        one.scroll_into_view_if_needed()
        jupyter.still(one)
        assert too_wide(one) == []
        assert nameless(one) == []
        jupyter.picture(f"04_panel_{number}")


def test_another_facility_changes_figure_table_and_code(
    jupyter: JupyterPage, panel: Locator
) -> None:
    panel.scroll_into_view_if_needed()
    assert "HST" in panel.locator("table").first.inner_text() or "HST" in panel.inner_text()
    rows = panel.locator("tbody tr").count()
    assert rows > 0
    box = panel.get_by_placeholder("type a name, such as ALMA")
    box.fill("VLT")
    box.press("Enter")
    of = panel.locator(".widget-dropdown:has(label:text-is('Of')) select")
    jupyter.until(lambda: "VLT" in of.inner_text(), "the facility can be chosen")
    of.select_option(label="VLT")
    jupyter.until(lambda: '"VLT"' in panel.locator(".landscape-code").last.inner_text(), "code")
    jupyter.until(lambda: not button(panel, "Stop").is_visible(), "the map is drawn")
    jupyter.picture("04_vlt")


def test_the_table_is_exported(jupyter: JupyterPage, panel: Locator, tmp_path: Path) -> None:
    rows = panel.locator("tbody tr").count()
    csv = button(panel, "CSV")
    csv.scroll_into_view_if_needed()
    csv.click()
    link = panel.locator("a[download$='.csv']").first
    link.wait_for()
    with jupyter.page.expect_download() as coming:
        link.click()
    coming.value.save_as(tmp_path / "impact.csv")
    lines = (tmp_path / "impact.csv").read_text("utf-8").splitlines()
    told = [line for line in lines if not line.startswith("#")]
    assert len(told) - 1 >= rows > 0
    assert jupyter.errors() == []


@pytest.mark.parametrize(
    ("words", "suffix", "begins"),
    [("PNG", ".png", b"\x89PNG"), ("PDF", ".pdf", b"%PDF"), ("HTML", ".html", b"<")],
)
def test_the_figure_is_downloaded(
    jupyter: JupyterPage, panel: Locator, tmp_path: Path, words: str, suffix: str, begins: bytes
) -> None:
    button(panel, words).click()
    link = panel.locator(f"a[download$='{suffix}']").first
    link.wait_for()
    with jupyter.page.expect_download() as coming:
        link.click()
    coming.value.save_as(tmp_path / f"figure{suffix}")
    assert (tmp_path / f"figure{suffix}").read_bytes().startswith(begins)


def test_all_is_legible_in_the_dark_theme(jupyter: JupyterPage, panel: Locator) -> None:
    jupyter.choose("Settings", "Theme", "JupyterLab Dark")
    body = jupyter.page.locator("body")
    jupyter.until(
        lambda: body.get_attribute("data-jp-theme-light") == "false", "the dark theme is on"
    )
    try:
        panel.scroll_into_view_if_needed()
        jupyter.still(panel)
        jupyter.picture("04_dark")
        panel.locator("table").first.scroll_into_view_if_needed()
        jupyter.picture("04_dark_table")
        ratio, where = least_contrast(panel, "div, span, td, th, label, button, select, pre, a")
        assert ratio >= 4.0, where
    finally:
        jupyter.choose("Settings", "Theme", "JupyterLab Light")
    jupyter.until(
        lambda: body.get_attribute("data-jp-theme-light") == "true", "the light theme is back"
    )
