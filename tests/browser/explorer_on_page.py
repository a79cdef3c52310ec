"""A map explorer on a page, operated with the mouse."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator

from tests.browser.jupyter_page import JupyterPage, box_of, button

_PLACE = """
(plot, [trace, number]) => {
  const found = plot._fullData.find(one => one.name === trace);
  const {xaxis, yaxis} = plot._fullLayout;
  const area = plot.querySelector('.nsewdrag').getBoundingClientRect();
  return [area.left + xaxis.l2p(found.x[number]), area.top + yaxis.l2p(found.y[number])];
}
"""
_MIDDLE = """
(plot, trace) => {
  const found = plot._fullData.find(one => one.name === trace);
  const {xaxis, yaxis} = plot._fullLayout;
  const away = Array.from(found.x, (x, number) => Math.hypot(
    xaxis.l2p(x) - xaxis._length / 2, yaxis.l2p(found.y[number]) - yaxis._length / 2));
  const number = away.indexOf(Math.min(...away));
  return [number, (found.hovertext ?? [])[number] ?? ""];
}
"""
_COUNT = "(plot, trace) => (plot._fullData.find(one => one.name === trace)?.x ?? []).length"
_RANGE = "plot => [...plot._fullLayout.xaxis.range, ...plot._fullLayout.yaxis.range]"
_SELECTED = re.compile(r"([\d,]+) selected")
_CODE_VIEW = re.compile(r"view=\(([^)]*)\)")
_IN_VIEW = re.compile(r"([\d,]+) of ([\d,]+) papers in view")


class ExplorerOnPage:
    """A map explorer in one cell."""

    def __init__(self, jupyter: JupyterPage, panel: Locator) -> None:
        self.jupyter, self.panel = jupyter, panel
        self.page = jupyter.page
        panel.wait_for()
        panel.scroll_into_view_if_needed()
        self.plot = panel.locator(".js-plotly-plot").first
        self.area = self.plot.locator(".nsewdrag").first
        self.area.wait_for()

    def to_the_middle(self) -> None:
        """Scroll until the whole map is visible."""
        self.plot.evaluate("plot => plot.scrollIntoView({block: 'center'})")
        self.jupyter.still(self.area)

    def n_selected(self) -> int:
        """Return the number of selected papers in the legend."""
        found = _SELECTED.search(self.panel.inner_text())
        return int(found[1].replace(",", "")) if found else 0

    def in_view(self) -> int:
        """Return the number of papers in view, as shown by the panel."""
        found = _IN_VIEW.search(self.panel.inner_text())
        return int(found[1].replace(",", "")) if found else -1

    def marks(self, trace: str) -> int:
        """Return the number of marks of a kind."""
        return int(self.plot.evaluate(_COUNT, trace))

    def outlines(self) -> int:
        """Return the number of outlines of lassos and boxes."""
        return self.plot.locator(".selectionlayer path").count() // 2  # a line, and one to grasp

    def window(self) -> list[float]:
        """Return the limits of the map: x_min, x_max, y_min, y_max."""
        return [float(side) for side in self.plot.evaluate(_RANGE)]

    def place_of(self, trace: str, number: int) -> tuple[float, float]:
        """Return the position of a mark on the page, in pixels."""
        self.to_the_middle()
        x, y = self.plot.evaluate(_PLACE, [trace, number])
        return float(x), float(y)

    def mark_in_the_middle(self, trace: str) -> tuple[int, str]:
        """Return the mark nearest to the middle of the map, and its hover text."""
        self.jupyter.until(
            lambda: bool(self.plot.evaluate(_MIDDLE, trace)[1]), "marks know their texts"
        )
        number, text = self.plot.evaluate(_MIDDLE, trace)
        return int(number), str(text)

    def under_the_pointer(self) -> str:
        """Return the hover text."""
        told = self.plot.locator(".hoverlayer .hovertext").all_text_contents()
        return " ".join(" ".join(told).split())

    def download(self, link: Locator, folder: Path) -> Path:
        """Click a link and return the downloaded file."""
        link.scroll_into_view_if_needed()
        with self.page.expect_download() as coming:
            link.click()
        path = folder / coming.value.suggested_filename
        coming.value.save_as(path)
        return path

    def zoom(self, notches: int) -> None:
        """Turn the wheel over the middle of the map."""
        self.to_the_middle()
        box = box_of(self.area)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for _ in range(abs(notches)):
            self.page.mouse.wheel(0, -240 if notches > 0 else 240)
            self.page.wait_for_timeout(60)

    def code(self) -> str:
        """Return the line of code below the panel."""
        return self.panel.locator(".landscape-code").last.inner_text()

    def kernel_knows_the_window(self) -> bool:
        """Return whether the line of code contains the limits that the page shows.

        A busy kernel receives changes of the page in one message, after the previous message.
        """
        told = _CODE_VIEW.search(self.code())
        if not told:
            return False
        there = [float(side) for side in told[1].split(",")]
        x0, x1, y0, y1 = self.window()
        here, slack = (x0, y0, x1, y1), 0.01 * (x1 - x0)
        return all(abs(one - other) < slack for one, other in zip(there, here, strict=True))

    def press(self, name: str) -> None:
        """Click a button of the panel."""
        found = button(self.panel, name)
        found.scroll_into_view_if_needed()
        found.click()

    def drag_to(self, name: str, mode: str) -> None:
        """Choose the mode of dragging, and wait until the map uses it."""
        self.press(name)
        self.jupyter.until(
            lambda: self.plot.evaluate("plot => plot._fullLayout.dragmode") == mode,
            f"dragging is a {mode}",
        )

    def settled(self) -> int:
        """Wait until the number of papers in view is constant; return it."""
        seen = [-2, -1]
        while len(set(seen[-4:])) > 1:
            self.page.wait_for_timeout(300)
            seen.append(self.in_view())
        return seen[-1]

    def draw(self, corners: list[tuple[float, float]]) -> None:
        """Drag the pointer along corners, given as fractions of the width and height."""
        self.to_the_middle()
        box = box_of(self.area)
        for number, (x, y) in enumerate(corners):
            self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
            if number == 0:
                self.page.mouse.down()
        self.page.mouse.up()

    def wander(self) -> None:
        """Move the pointer over the map."""
        box = box_of(self.area)
        for y in (0.4, 0.5, 0.6):
            self.page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + y * box["height"])
            self.page.mouse.move(
                box["x"] + 0.9 * box["width"], box["y"] + y * box["height"], steps=24
            )

    def says(self, words: str, *, seconds: float = 120) -> None:
        """Wait until the panel shows a message."""
        self.jupyter.until(
            lambda: words in self.panel.inner_text(), f"the panel says {words!r}", seconds=seconds
        )
