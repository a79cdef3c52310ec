"""Notebook 11 in the browser: the cited paper or the best guesses for an excerpt."""

from __future__ import annotations

from tests.browser.jupyter_page import JupyterPage, button, nameless, too_wide


def test_a_citation_is_found_on_the_page(jupyter: JupyterPage) -> None:
    jupyter.open_notebook("11_find_the_citation.ipynb")
    jupyter.run_all()
    panel = jupyter.page.locator(".landscape-scholar").first
    panel.locator(".landscape-paper").first.wait_for()
    panel.scroll_into_view_if_needed()
    jupyter.picture("11_found")
    box = panel.locator("textarea").first
    box.fill("Statins lower mortality.")
    jupyter.until(lambda: "has no mark" in panel.inner_text(), "it says that the mark is missing")
    box.fill("Statins lower mortality in a trial of four thousand patients [CITATION].")
    jupyter.until(lambda: "Sought by: Statins" in panel.inner_text(), "it says what is sought")
    button(panel, "Find the paper").click()
    jupyter.until(
        lambda: "No paper was selected. The best guesses:" in panel.inner_text(), "it abstains"
    )
    jupyter.until(
        lambda: "Statins" in panel.locator(".landscape-code").last.inner_text(), "all of it is new"
    )
    panel.locator("summary", has_text="How it was found").click()
    assert panel.locator("code:has-text('search')").first.is_visible()
    panel.locator(".landscape-paper input[type=checkbox]").first.check()
    jupyter.until(lambda: "1 chosen" in panel.inner_text(), "a guess is chosen")
    jupyter.picture("11_abstained")
    assert "atlas.attribute(" in panel.locator(".landscape-code").last.inner_text()
    assert too_wide(panel) == []
    assert nameless(panel) == []
    assert jupyter.errors() == []
