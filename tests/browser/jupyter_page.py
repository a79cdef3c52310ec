"""JupyterLab in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, ViewportSize

from tests.conftest import REPOSITORY
from tests.timing import time_limit

SCREENSHOTS = REPOSITORY / "build" / "screenshots"
WINDOW: ViewportSize = {"width": 1280, "height": 900}
SECOND = 1000.0  # in Playwright's milliseconds
_RAN = re.compile(r"\[\d+\]")
_LOST = time_limit(8)  # rest after which the requests of cells that have not run are lost
GIVEN_UP = "[anywidget] Failed to initialize model."
# JupyterLab's own, of a cell that is asked to run while its view is being taken away; that every
# cell has run is checked by itself.
_TAKEN_AWAY = "Cannot read properties of null (reading 'sharedModel')"
_FIRST_LOAD = time_limit(180) * SECOND


class JupyterPage:
    """One browser page on a running JupyterLab."""

    def __init__(self, page: Page, address: str, token: str) -> None:
        self.page = page
        self._address, self._token = address, token
        self.page_errors: list[str] = []
        page.on("pageerror", lambda error: self.page_errors.append(f"{error}: {error.stack}"))
        page.set_default_timeout(time_limit(120) * SECOND)

    def open(self, path: str) -> None:
        """Open a file in an empty workspace without side bar."""
        address = f"{self._address}/lab/tree/{path}?reset&token={self._token}"
        self.page.goto(address, timeout=_FIRST_LOAD, wait_until="domcontentloaded")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=_FIRST_LOAD)
        self.page.locator(".jp-MainAreaWidget:visible").first.wait_for(timeout=_FIRST_LOAD)
        self.dismiss_dialogs()

    def open_notebook(self, name: str) -> None:
        """Open a notebook and wait for its kernel."""
        self.open(name)
        self.ready(name)

    def ready(self, name: str) -> None:
        """Wait until a notebook is shown and its kernel answers."""
        self.page.locator(f".lm-TabBar-tab.jp-mod-current:has-text('{name}')").first.wait_for(
            timeout=_FIRST_LOAD
        )
        self.page.locator(".jp-NotebookPanel:visible .jp-Cell").first.wait_for(timeout=_FIRST_LOAD)
        self.until(lambda: self.kernel_status() == "idle", "the kernel is ready", seconds=120)
        self.dismiss_dialogs()

    def dismiss_dialogs(self) -> None:
        """Close dialogs, such as news and questions about kernels."""
        while self.page.locator(".jp-Dialog").count():
            self.page.keyboard.press("Escape")
            self.page.wait_for_timeout(200)

    def kernel_status(self) -> str:
        """Return the status of the kernel: idle, busy, starting, ..."""
        shown = self.page.locator(".jp-NotebookPanel:visible .jp-Notebook-ExecutionIndicator")
        return (shown.first.get_attribute("data-status") or "") if shown.count() else ""

    def run_all(self, *, seconds: float = 600) -> None:
        """Run all cells, and wait until the last cell is done or a cell fails."""
        busy = self._ask_to_run()

        def finished() -> bool:
            nonlocal busy
            self.dismiss_dialogs()
            if self.errors():
                return True
            if self.kernel_status() != "idle":
                busy = time.monotonic()
            elif not self.unrun():
                return True
            elif time.monotonic() - busy > _LOST:
                # Requests while the page connects may be lost: their cells stay at [ ] or [*].
                busy = self._ask_to_run()
            return False

        self.until(finished, "all cells have run", seconds=seconds)
        assert self.errors() == []

    def unrun(self) -> int:
        """Return the number of code cells that have not finished."""
        texts = self._prompts()
        return sum(not _RAN.search(text) for text in texts) if texts else -1

    def _ask_to_run(self) -> float:
        self.page.locator(".lm-MenuBar-itemLabel:text-is('Run')").click()
        self.page.locator(".lm-Menu-itemLabel:text-is('Run All Cells')").click()
        return time.monotonic()

    def _prompts(self) -> list[str]:
        """Return the prompts of the code cells: [ ], [3], or [*] while they wait or run."""
        prompts = self.page.locator(".jp-NotebookPanel:visible .jp-CodeCell .jp-InputPrompt")
        return prompts.all_text_contents()

    @property
    def console(self) -> list[str]:
        """Return the JavaScript errors of the page, except two known harmless ones."""
        known = (GIVEN_UP, _TAKEN_AWAY)
        return [error for error in self.page_errors if not any(one in error for one in known)]

    def errors(self) -> list[str]:
        """Return the tracebacks on the page."""
        return self.page.locator(
            ".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']"
        ).all_inner_texts()

    def logged(self) -> str:
        """Return the log of JupyterLab, which contains errors of callbacks in the kernel."""
        item = self.page.locator("#jp-main-statusbar [title*='log entries']")
        if not item.count():
            return ""
        item.first.click()
        log = self.page.locator(".jp-LogConsole").first
        log.wait_for()
        text = log.inner_text()
        item.first.click()
        return text

    def until(self, true: Callable[[], bool], what: str, *, seconds: float = 120) -> None:
        """Wait until a condition holds; otherwise fail with a screenshot."""
        seconds = time_limit(seconds)
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline:
                self.picture("failed")
                told = f"kernel: {self.kernel_status()}, errors: {self.errors()}"
                told += f", prompts: {self._prompts()}"
                raise AssertionError(f"not in {seconds:g} s: {what}; {told}")
            self.page.wait_for_timeout(150)

    def save(self, path: Path) -> str:
        """Save the notebook, and read its file."""
        before = path.stat().st_mtime_ns
        self.page.locator(".lm-MenuBar-itemLabel:text-is('File')").click()
        self.page.locator(".lm-Menu-itemLabel:text-is('Save Notebook')").click()

        def is_whole() -> bool:
            # The server writes in place, so the file is empty for a moment.
            return path.stat().st_mtime_ns > before and path.read_text("utf-8").endswith("}\n")

        self.until(is_whole, "the notebook is saved")
        self.dismiss_dialogs()
        return path.read_text("utf-8")

    def show(self, selector: str) -> Locator:
        """Scroll to the first element of a selector; JupyterLab draws only elements nearby."""
        found = self.page.locator(selector).first
        found.wait_for(state="attached")
        found.scroll_into_view_if_needed()
        return found

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return self.page.locator(selector).first.inner_text()

    def choose(self, *path: str) -> None:
        """Choose an entry of the menus."""
        bar, *items = path
        self.dismiss_dialogs()
        self.page.locator(f".lm-MenuBar-itemLabel:text-is('{bar}')").click()
        for item in items:
            self.page.locator(f".lm-Menu-itemLabel:text-is('{item}')").last.click()

    def still(self, what: Locator) -> None:
        """Wait until position and size of an element are constant."""
        seen: list[Any] = []

        def stays() -> bool:
            seen.append(what.bounding_box())
            return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]

        self.until(stays, "the page is still")

    def picture(self, name: str, of: Locator | None = None) -> Path:
        """Save a screenshot."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        (of or self.page).screenshot(path=path)
        return path


def button(panel: Locator, name: str) -> Locator:
    """Return a button by its text; the browser reads its icon as a letter."""
    return panel.locator("button").filter(has_text=re.compile(rf"^\s*{re.escape(name)}\s*$")).first


def box_of(where: Locator) -> dict[str, Any]:
    """Return the box of an element, in pixels: x, y, width, height."""
    box = where.bounding_box()
    assert box is not None, "it is not on the page"
    return dict(box)


_NAMELESS = """
panel => [...panel.querySelectorAll('input, select, textarea, button, a[href]')]
  .filter(one => one.offsetParent !== null)
  .filter(one => !(one.innerText || one.title || one.getAttribute('aria-label')
    || (one.labels && [...one.labels].some(label => label.innerText || label.title))
    || (one.closest('[title]') || {}).title))
  .map(one => one.outerHTML.slice(0, 160))
"""
_TOO_WIDE = """
panel => {
  const right = panel.closest('.jp-OutputArea-output').getBoundingClientRect().right + 1;
  const scrolls = one => one && one !== panel
    && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(one).overflowX)
      || scrolls(one.parentElement));
  return [...panel.querySelectorAll('*')]
    .filter(one => one.offsetParent !== null && !scrolls(one.parentElement))
    .filter(one => one.getBoundingClientRect().right > right)
    .map(one => one.outerHTML.slice(0, 120));
}
"""
_CONTRAST = """
(panel, selector) => {
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(one => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = one => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/rgba\\(.*, 0\\)|transparent/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...panel.querySelectorAll(selector)]
    .filter(one => one.offsetParent !== null && one.innerText.trim())
    .map(one => {
      const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.outerHTML.slice(0, 120)];
    })
    .sort((one, other) => one[0] - other[0])[0];
}
"""


def nameless(panel: Locator) -> list[str]:
    """Return the controls without a name for screen readers."""
    return list(panel.evaluate(_NAMELESS))


def too_wide(panel: Locator) -> list[str]:
    """Return elements that are wider than the cell and cannot be scrolled to."""
    return list(panel.evaluate(_TOO_WIDE))


def least_contrast(panel: Locator, selector: str) -> tuple[float, str]:
    """Return the lowest contrast of text and background (WCAG 2.1), and its place."""
    ratio, where = panel.evaluate(_CONTRAST, selector)
    return float(ratio), str(where)
