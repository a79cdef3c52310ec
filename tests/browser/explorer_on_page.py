"""A map explorer on a page, operated with the mouse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator

from tests.browser.jupyter_page import SECOND, JupyterPage, box_of
from tests.timing import time_limit

_SELECTED = re.compile(r"([\d,]+) selected")


class ExplorerOnPage:
    """A map explorer in one cell."""

    def __init__(self, jupyter: JupyterPage, panel: Locator) -> None:
        self.jupyter, self.panel = jupyter, panel
        self.page = jupyter.page
        panel.wait_for()
        panel.scroll_into_view_if_needed()
        self.viewer = panel.locator(".landscape-viewer").first
        self.map = self.viewer.locator(".map")
        jupyter.until(lambda: bool(self.state("v?.map.frames > 0")), "the map is drawn")

    def state(self, expression: str) -> Any:
        """Return the value of an expression of the viewer, `v`."""
        if not self.viewer.count():
            return None
        return self.viewer.evaluate(f"(root) => {{ const v = root.viewer; return {expression} }}")

    def until(self, expression: str, *, seconds: float = 60) -> None:
        """Wait until an expression of the viewer is true."""
        self.jupyter.until(lambda: bool(self.state(expression)), expression, seconds=seconds)

    def status(self) -> str:
        """Return the line below the map."""
        return self.viewer.locator(".status").inner_text()

    def n_selected(self) -> int:
        """Return the number of selected papers."""
        found = _SELECTED.search(self.status())
        return int(found[1].replace(",", "")) if found else 0

    def scale(self) -> float:
        """Return the magnification; 1 is the whole map."""
        return float(self.state("v.map.camera.view.scale / v.map.camera.whole"))

    def rest(self) -> None:
        """Wait until the map does not move any more."""
        self.until("!v.map.camera.isMoving")

    def zoom(self, notches: int) -> None:
        """Turn the wheel over the middle of the map."""
        self.map.scroll_into_view_if_needed()
        box = box_of(self.map)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        before = self.scale()
        for _ in range(abs(notches)):
            self.page.mouse.wheel(0, -100 if notches > 0 else 100)
            self.page.wait_for_timeout(30)
        # A busy browser passes the wheel on later.
        sign = ">" if notches > 0 else "<"
        self.until(f"v.map.camera.view.scale / v.map.camera.whole {sign} {before}")
        self.rest()

    def place_of(self, point: int) -> tuple[float, float]:
        """Return the position of a paper on the page, in pixels."""
        x, y = self.state(f"v.map.camera.toPixel(...v.map.placeOf({point}))")
        box = box_of(self.map)
        return box["x"] + x, box["y"] + y

    def in_the_middle(self) -> int:
        """Return the paper nearest to the middle of the map."""
        return int(
            self.state(
                "v.map.places.nearest(v.map.camera.view.x, v.map.camera.view.y, 2, v.model.passes)"
            )
        )

    def draw(self, corners: list[tuple[float, float]]) -> None:
        """Drag the pointer along corners, given as fractions of the width and height."""
        self.map.scroll_into_view_if_needed()
        box = box_of(self.map)
        for number, (x, y) in enumerate(corners):
            self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
            if number == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    def press(self, name: str) -> None:
        """Click a button of the viewer."""
        self.viewer.get_by_role("button", name=name, exact=True).first.click()

    def turn_to(self, page: str) -> None:
        """Show a page beside the map."""
        self.viewer.get_by_role("tab", name=page).click()

    def search(self, query: str) -> None:
        """Type a search, and press Enter."""
        field = self.viewer.get_by_role("searchbox")
        field.fill(query)
        field.press("Enter")

    def code(self) -> str:
        """Return the line of code below the panel."""
        return self.panel.locator(".landscape-code").last.inner_text()

    def download(self, press: str, folder: Path) -> Path:
        """Click a button, and return the file that the browser saves."""
        with self.page.expect_download(timeout=time_limit(120) * SECOND) as coming:
            self.press(press)
        path = folder / coming.value.suggested_filename
        coming.value.save_as(path)
        return path

    def says(self, words: str, *, seconds: float = 120) -> None:
        """Wait until the panel shows a message."""
        self.jupyter.until(
            lambda: words in self.panel.inner_text(), f"the panel says {words!r}", seconds=seconds
        )
