"""Notebook 12 in the browser: papers to cite, a paragraph about them, a checked draft."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator

from tests.browser.jupyter_page import JupyterPage, button, nameless, too_wide

BEFORE, AFTER = "The \U0001d6fc winds blow.", " They end soon."


def assert_inserts_at_the_cursor(jupyter: JupyterPage, panel: Locator) -> None:
    """Type a text, place the cursor after its first sentence, and insert a paper there."""
    area = panel.get_by_label("Your text, in LaTeX")
    area.fill("")
    area.press_sequentially(BEFORE + AFTER)
    for _ in AFTER:
        area.press("ArrowLeft")
    panel.locator(".landscape-paper:visible input[type=checkbox]").nth(1).check()
    button(panel, "Insert").click()
    jupyter.until(lambda: "citep" in area.input_value(), "the paper is inserted")
    text = area.input_value()
    assert text.startswith(f"{BEFORE} According to ")
    assert text.endswith(f"}}.{AFTER}")
    place = area.evaluate("area => area.selectionStart")
    assert area.evaluate("(area, at) => area.value.slice(at)", place) == AFTER
    assert panel.locator("a[download='paragraph.tex']").count() == 1
    with jupyter.page.expect_download() as loaded:
        panel.locator("a[download='paragraph.bib']").click()
    key = text.split("\\citep{")[1].split("}")[0]
    assert f"{{{key}," in loaded.value.path().read_text("utf-8")
    panel.scroll_into_view_if_needed()
    jupyter.picture("12_inserted", panel)


def test_a_writer_cites_writes_and_checks(jupyter: JupyterPage, tmp_path: Path) -> None:
    jupyter.open_notebook("12_write_with_citations.ipynb")
    jupyter.run_all()
    panel = jupyter.page.locator(".landscape-scholar").first
    panel.scroll_into_view_if_needed()
    panel.get_by_role("tab", name="Papers to cite").click()
    panel.locator(".landscape-paper:visible").first.wait_for()
    panel.locator("textarea:visible").fill("Comets far from the Sun are active. They are driven by")
    button(panel, "Find papers to cite").click()
    code = panel.locator(".landscape-code").last
    jupyter.until(lambda: "Comets" in code.inner_text(), "other papers stand there")
    assert panel.locator(".landscape-paper:visible li").count() > 0, "no highlights"
    assert "none are made up" in panel.inner_text()
    jupyter.picture("12_papers")
    assert_inserts_at_the_cursor(jupyter, panel)
    other = panel.locator("input[placeholder='other keywords for this paper']")
    other.fill("outgassing of ices")
    button(panel, "Write again").click()
    jupyter.until(lambda: "desk.rewrite(" in code.inner_text(), "one sentence is written again")
    panel.locator(".landscape-paper:visible").first.wait_for()
    boxes = panel.locator(".landscape-paper:visible input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    button(panel, "Put the ticked papers into the paragraph").click()
    panel.get_by_role("tab", name="Related work").click()
    write = button(panel, "Write the paragraph")
    write.scroll_into_view_if_needed()
    jupyter.still(write)  # the list of papers above it has its place
    write.click()
    jupyter.until(lambda: "desk.related_work(" in code.inner_text(), "a paragraph is written")
    assert "\\citep{" in panel.locator(".landscape-latex").inner_text()
    jupyter.picture("12_paragraph")
    panel.get_by_role("tab", name="Check a draft").click()
    (tmp_path / "mine.bib").write_text(
        "@article{a, title={Cheese}, author={N, N.}, year={2001}, abstract={Cheese ripens.}}"
    )
    (tmp_path / "mine.tex").write_text("Cheese ripens in caves \\cite{a}. It has been shown.")
    for ending in ("bib", "tex"):
        with jupyter.page.expect_file_chooser() as asked:
            panel.locator("button:visible", has_text=f"or upload the .{ending}").click()
        asked.value.set_files(tmp_path / f"mine.{ending}")
        name = f"mine.{ending}"
        field = "Bibliography" if ending == "bib" else "Draft"
        typed = panel.locator(f".widget-text:has(label:text-is('{field}')) input")
        jupyter.until(lambda t=typed, n=name: n in t.input_value(), f"{name} was brought")
    button(panel, "Check the draft").click()
    jupyter.until(lambda: "mine.bib" in code.inner_text(), "the draft is checked")
    assert panel.locator("table:visible td", has_text="Cheese ripens in caves").count() == 1
    jupyter.picture("12_checked")
    assert too_wide(panel) == []
    assert nameless(panel) == []
    assert jupyter.errors() == []
