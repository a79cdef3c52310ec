"""A map explorer on a page, handled with the mouse."""

from __future__ import annotations

import re

from playwright.sync_api import Locator

from tests.browser.jupyter_page import JupyterPage, box_of

_PLACE = """
(plot, [trace, number]) => {
  const found = plot._fullData.find(one => one.name === trace);
  const {xaxis, yaxis} = plot._fullLayout;
  const area = plot.querySelector('.nsewdrag').getBoundingClientRect();
  return [area.left + xaxis.l2p(found.x[number]), area.top + yaxis.l2p(found.y[number])];
}
"""
_COUNT = "(plot, trace) => (plot._fullData.find(one => one.name === trace)?.x ?? []).length"
_RANGE = "plot => [...plot._fullLayout.xaxis.range, ...plot._fullLayout.yaxis.range]"
_IN_VIEW = re.compile(r"([\d,]+) of ([\d,]+) papers in view")


class ExplorerOnPage:
    """The panel of one cell."""

    def __init__(self, jupyter: JupyterPage, panel: Locator) -> None:
        self.jupyter, self.panel = jupyter, panel
        self.page = jupyter.page
        panel.wait_for()
        panel.scroll_into_view_if_needed()
        self.plot = panel.locator(".js-plotly-plot").first
        self.area = self.plot.locator(".nsewdrag").first
        self.area.wait_for()

    def in_view(self) -> int:
        """How many papers the panel says are in view."""
        found = _IN_VIEW.search(self.panel.inner_text())
        return int(found[1].replace(",", "")) if found else -1

    def marks(self, trace: str) -> int:
        """How many marks of a kind are drawn."""
        return int(self.plot.evaluate(_COUNT, trace))

    def window(self) -> list[float]:
        """x from, to, y from, to, in map units."""
        return [float(side) for side in self.plot.evaluate(_RANGE)]

    def place_of(self, trace: str, number: int) -> tuple[float, float]:
        """Where a mark is on the page, in pixels."""
        self.plot.scroll_into_view_if_needed()
        x, y = self.plot.evaluate(_PLACE, [trace, number])
        return float(x), float(y)

    def zoom(self, notches: int) -> None:
        """Turn the wheel over the middle of the map."""
        self.plot.scroll_into_view_if_needed()
        box = box_of(self.area)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for _ in range(abs(notches)):
            self.page.mouse.wheel(0, -240 if notches > 0 else 240)
            self.page.wait_for_timeout(60)

    def press(self, name: str) -> None:
        """Click a button of the panel."""
        button = self.panel.get_by_role("button", name=name, exact=True).first
        button.scroll_into_view_if_needed()
        button.click()

    def draw(self, corners: list[tuple[float, float]]) -> None:
        """Drag over the map along corners, in shares of its width and height."""
        self.plot.scroll_into_view_if_needed()
        box = box_of(self.area)
        for number, (x, y) in enumerate(corners):
            self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
            if number == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    def says(self, words: str, *, seconds: float = 30) -> None:
        """Wait until the panel says something."""
        self.jupyter.until(
            lambda: words in self.panel.inner_text(), f"the panel says {words!r}", seconds=seconds
        )
