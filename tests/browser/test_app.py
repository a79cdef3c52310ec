"""The pages for people who do not code, as `landscape app` serves them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from playwright.sync_api import Browser

import landscape
from landscape.corpus.libraries import Library, entry_of_name, write_library
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import SECOND, JupyterPage, box_of, button, nameless
from tests.processes import Running
from tests.timing import time_limit

WINDOW = {"width": 1440, "height": 900}


FILE = "mine.library.json"


def test_six_pages_in_one_frame(
    browser: Browser, tmp_path: Path, demo_atlas: landscape.Atlas
) -> None:
    names = (paper.label for paper in demo_atlas.engine.papers(range(30)))
    papers = Library("mine", tuple(map(entry_of_name, names)))
    surroundings = os.environ | {"LANDSCAPE_LIBRARIES": str(tmp_path / "libraries")}
    command = ("app", str(demo_atlas.path), "--page", "ask")
    with Running(*command, folder=tmp_path, env=surroundings) as address:
        context = browser.new_context(viewport=WINDOW)
        page = JupyterPage(context.new_page(), address, "")
        requests: list[str] = []
        said: list[str] = []
        page.page.on("console", lambda message: said.append(message.text))
        page.page.on("requestfinished", lambda request: requests.append(request.url))
        page.page.goto(address, timeout=time_limit(400) * SECOND, wait_until="domcontentloaded")
        frame = page.page.locator(".landscape-workbench")
        frame.wait_for(timeout=time_limit(400) * SECOND)
        assert "Demo corpus (generated)" in frame.inner_text()
        assert "400 papers" in frame.inner_text()
        assert page.page.locator(".jp-InputArea-editor").count() == 0

        question = frame.locator(".landscape-ask-question input")
        question.wait_for()
        box = box_of(question)
        assert box["y"] + box["height"] < WINDOW["height"] / 2
        question.fill("How do stars form?")
        button(frame, "Ask").click()
        frame.get_by_text(re.compile(r"^Papers \(\d+\)$")).first.wait_for()
        page.picture("app_ask")

        button(frame, "Map").click()
        explorer = ExplorerOnPage(page, frame.locator(".landscape-explorer"))
        assert "400 papers" in explorer.status()
        page.page.evaluate("scrollTo(0, 0)")
        box = box_of(explorer.viewer)
        assert box["y"] + box["height"] < WINDOW["height"]
        explorer.press("Show the whole map")
        explorer.zoom(5)
        assert explorer.scale() > 1.5
        page.picture("app_explorer")

        button(frame, "Impact of facilities").click()
        frame.locator(".js-plotly-plot .nsewdrag").first.wait_for()
        page.picture("app_impact")
        button(frame, "Outreach map").click()
        outreach = frame.locator(".landscape-analysis:visible")
        outreach.locator("img").first.wait_for()
        page.picture("app_outreach")
        button(frame, "My library").click()
        shown = frame.locator(".landscape-panel:visible")
        shown.get_by_text("You have no library yet.").first.wait_for()
        shown.get_by_placeholder("a name, or a file such as my.bib").first.fill(
            str(write_library(papers, tmp_path / FILE))
        )
        shown.get_by_placeholder("a name, or a file such as my.bib").first.press("Enter")
        frame.get_by_text("Regions for the library mine").first.wait_for()
        page.picture("app_library")
        button(frame, "New papers").click()
        frame.get_by_text("choose Show").first.wait_for()
        page.picture("app_digest")

        pages = ("Map", "Questions", "Impact of facilities", "Outreach map", "New papers")
        for name in pages:
            button(frame, name).click()
            page.until(lambda: frame.locator(".landscape-panel:visible").count() > 0, name)
            assert nameless(frame.locator(".landscape-frame")) == []
            wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not page.page.evaluate(wide)
        assert page.errors() == []
        assert page.console == []
        # The header of the server forbids the font that the template of Voila links.
        refused = [line for line in said if "Content Security Policy" in line]
        assert any("jsdelivr" in line for line in refused)
        own = (address.split("/?")[0], "data:", "blob:")
        assert requests
        assert [url for url in requests if not url.startswith(own)] == []
        context.close()
