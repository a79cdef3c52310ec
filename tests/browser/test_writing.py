"""Notebook 12 in the browser: papers to cite, a paragraph about them, a checked draft."""

from __future__ import annotations

from pathlib import Path

from tests.browser.jupyter_page import JupyterPage, button, nameless, too_wide


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
