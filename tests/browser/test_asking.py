"""Notebook 03 in the browser: questions, evidence, connection of a model, interruption."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from tests.browser.conftest import Lab
from tests.browser.jupyter_page import JupyterPage, button
from tests.servers.openai_server import KEY, OpenAIServer, word_by_word
from tests.widgets.asking import script

NAME = "03_ask_the_literature.ipynb"
QUESTION = "What drives the winds of massive stars?"
LONG = "Winds strip the envelopes of massive stars and slow them down, word by word. " * 20


@pytest.fixture(scope="module")
def panel(jupyter: JupyterPage) -> Locator:
    """The panel at the end of the notebook, after all cells have run."""
    jupyter.open_notebook(NAME)
    jupyter.run_all()
    found = jupyter.page.locator(".landscape-panel:has(.landscape-ask-question)").last
    found.wait_for()
    return found


@pytest.fixture
def server(model_server: OpenAIServer) -> OpenAIServer:
    model_server.always = None
    script(model_server)
    return model_server


def ask(jupyter: JupyterPage, panel: Locator, question: str) -> None:
    box = panel.locator(".landscape-ask-question input")
    box.scroll_into_view_if_needed()
    box.fill(question)
    panel.locator("button.landscape-ask-button").click()


def wait_for_answer(jupyter: JupyterPage, panel: Locator, question: str) -> None:
    jupyter.until(
        lambda: (
            panel.locator(f".landscape-asked:text-is('{question}')").count() > 0
            and panel.locator("details > summary .badge").count() > 0
            and not button(panel, "Stop").is_visible()
        ),
        "the answer stands on the page",
        seconds=60,
    )


def fold(panel: Locator, title: str) -> None:
    """Open or close a part of the panel."""
    panel.locator(".jupyter-widget-Collapse-header", has_text=title).first.click()


def test_every_step_shows_something(jupyter: JupyterPage, panel: Locator) -> None:
    outputs = jupyter.page.locator(".jp-CodeCell .jp-OutputArea-output")
    assert outputs.count() >= 11
    assert "answers are quoted" in outputs.first.inner_text()
    assert "No language model is connected" in panel.inner_text()


def test_a_claim_opens_on_its_sentence(jupyter: JupyterPage, panel: Locator) -> None:
    ask(jupyter, panel, QUESTION)
    wait_for_answer(jupyter, panel, QUESTION)
    claims = panel.locator("details:has(> summary .badge)")
    assert claims.count() >= 1
    first = claims.first
    assert not first.locator("mark").first.is_visible()
    first.locator("summary").click()
    evidence = first.locator("mark").first
    evidence.wait_for()
    said = first.locator("summary").inner_text()
    assert evidence.inner_text()[:60] in said
    # Papers that state the same are cited together, and each shows its own sentence.
    cited = re.search(r"\[(.+?)(?:; \d{4})?\]", said)
    assert cited, said
    assert first.locator("mark").count() == len(cited[1].split(", "))
    first.scroll_into_view_if_needed()
    jupyter.picture("03_claim")
    assert f'atlas.ask("{QUESTION}")' in panel.inner_text()


def test_papers_and_map_of_the_answer(jupyter: JupyterPage, panel: Locator, tmp_path: Path) -> None:
    panel.get_by_role("tab", name="Papers (").click()
    papers = panel.locator(".landscape-paper")
    papers.first.wait_for()
    n = papers.count()
    assert f"Papers ({n})" in panel.inner_text()
    jupyter.picture("03_papers")
    panel.get_by_role("tab", name="Map").click()
    panel.locator(".js-plotly-plot .nsewdrag").first.wait_for()
    jupyter.still(panel.locator(".js-plotly-plot").first)
    jupyter.picture("03_map")
    panel.get_by_role("tab", name="Save").click()
    link = panel.locator("a[download='answer.ipynb']")
    link.wait_for()
    with jupyter.page.expect_download() as coming:
        link.click()
    coming.value.save_as(tmp_path / "answer.ipynb")
    saved = json.loads((tmp_path / "answer.ipynb").read_text("utf-8"))
    assert any(QUESTION in "".join(cell["source"]) for cell in saved["cells"])
    panel.get_by_role("tab", name="Answer").click()


def test_a_model_is_connected_and_its_key_stays_out_of_the_notebook(
    jupyter: JupyterPage, panel: Locator, server: OpenAIServer, lab: Lab
) -> None:
    fold(panel, "Language model")
    boxes = {"Server address": server.url, "Model": "small-chat", "Key": KEY}
    for name, text in boxes.items():
        box = panel.locator(f".widget-text:has(label:text-is('{name}')) input").first
        box.fill(text)
        box.press("Enter")
    jupyter.until(lambda: "A key is held in memory" in panel.inner_text(), "the key is taken")
    button(panel, "Test the connection").click()
    jupyter.until(lambda: "answered in" in panel.inner_text(), "the test says that it works")
    jupyter.picture("03_connection")
    fold(panel, "Language model")

    question = "How do winds change massive stars?"
    ask(jupyter, panel, question)
    wait_for_answer(jupyter, panel, question)
    written = "Winds strip the envelopes of stars, word by word"
    jupyter.until(lambda: written in panel.inner_text(), "the answer of the model stands there")
    jupyter.picture("03_written")

    stored = jupyter.save(lab.folder / NAME)
    assert "application/vnd.jupyter.widget-view+json" in stored
    assert KEY not in stored
    assert KEY not in lab.log.read_text()


def test_a_question_that_is_stopped_keeps_the_answer_before(
    jupyter: JupyterPage, panel: Locator, server: OpenAIServer
) -> None:
    script(server, text=LONG)
    server.always = word_by_word(0.05)
    before = panel.locator("details:has(> summary .badge)").count()
    ask(jupyter, panel, "What slows winds down?")
    jupyter.until(lambda: "Being written; not checked yet" in panel.inner_text(), "it is written")
    jupyter.picture("03_being_written")
    button(panel, "Stop").click()
    jupyter.until(lambda: "Stopped." in panel.inner_text(), "it says that it stopped")
    server.always = None
    assert "Written so far (unfinished, unchecked)" in panel.inner_text()
    assert panel.locator("details:has(> summary .badge)").count() == before
    assert "How do winds change massive stars?" in panel.inner_text()
    jupyter.picture("03_stopped")
    script(server)
    ask(jupyter, panel, "What slows winds down, then?")
    wait_for_answer(jupyter, panel, "What slows winds down, then?")
    assert jupyter.errors() == []
