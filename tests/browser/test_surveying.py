"""Notebook 10 in the browser: survey a question, read the tree of papers, save the papers."""

from __future__ import annotations

from pathlib import Path

from tests.browser.jupyter_page import JupyterPage, button, nameless, too_wide


def test_a_question_is_surveyed_on_the_page(jupyter: JupyterPage, tmp_path: Path) -> None:
    jupyter.open_notebook("10_survey_a_question.ipynb")
    jupyter.run_all()
    page = jupyter.page
    panel = page.locator(".landscape-scholar").first
    panel.locator(".landscape-paper").first.wait_for()
    panel.scroll_into_view_if_needed()
    assert "No language model is connected" in panel.inner_text()
    assert page.locator(".jp-RenderedImage img").count() >= 2
    jupyter.picture("10_papers")
    box = panel.locator(".landscape-ask-question input")
    box.fill("How is dust made in supernovae?")
    box.press("Enter")
    code = panel.locator(".landscape-code").last
    jupyter.until(
        lambda: 'atlas.survey("How is dust made in supernovae?")' in code.inner_text(),
        "the survey stands on the page",
    )
    assert panel.locator(".landscape-asked:has-text('How is dust made')").count() == 1
    assert not button(panel, "Stop").is_visible()
    for tab, shown in (("Who led to whom", "img[alt*='Tree of a survey']"), ("Map", "img[alt]")):
        panel.get_by_role("tab", name=tab).click()
        panel.locator(f"{shown}:visible").first.wait_for()
        jupyter.still(panel)
        jupyter.picture(f"10_{tab.split()[0].lower()}")
    panel.get_by_role("tab", name="Table").click()
    assert "selected" in panel.locator("table:visible td").first.inner_text()
    jupyter.picture("10_table")
    panel.get_by_role("tab", name="Save").click()
    link = panel.locator("a[download='survey.bib']")
    link.wait_for()
    with page.expect_download() as coming:
        link.click()
    coming.value.save_as(tmp_path / "survey.bib")
    assert (tmp_path / "survey.bib").read_text("utf-8").startswith("@")
    assert too_wide(panel) == []
    assert nameless(panel) == []
    assert jupyter.errors() == []
