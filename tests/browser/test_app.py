"""A notebook as a page without code."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

import landscape
from tests.browser.explorer_on_page import ExplorerOnPage
from tests.browser.jupyter_page import WINDOW, JupyterPage
from tests.processes import Running


def test_the_explorer_works_on_a_page_without_code(
    browser: Browser, tmp_path: Path, demo_atlas: landscape.Atlas
) -> None:
    words = ("app", "02", "--notebooks", "notebooks", "--atlas", str(demo_atlas.path))
    with Running(*words, folder=tmp_path) as address:
        context = browser.new_context(viewport=WINDOW)
        page = JupyterPage(context.new_page(), address, "")
        requests: list[str] = []
        said: list[str] = []
        page.page.on("console", lambda message: said.append(message.text))
        page.page.on("requestfinished", lambda request: requests.append(request.url))
        page.page.goto(address, timeout=400_000, wait_until="domcontentloaded")
        panel = page.page.locator(".landscape-explorer").first
        panel.wait_for(timeout=400_000)
        explorer = ExplorerOnPage(page, panel)
        assert "400 papers" in explorer.status()
        assert page.page.locator(".jp-InputArea-editor").count() == 0
        explorer.press("Show the whole map")
        explorer.zoom(5)
        assert explorer.scale() > 1.5
        page.picture("02_app")
        assert page.errors() == []
        assert page.console == []
        # The header of the server forbids the font that the template of Voila links.
        refused = [line for line in said if "Content Security Policy" in line]
        assert any("jsdelivr" in line for line in refused)
        own = (address.split("/?")[0], "data:", "blob:")
        assert requests
        assert [url for url in requests if not url.startswith(own)] == []
        context.close()
