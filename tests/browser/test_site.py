"""The web site of an atlas in a browser: nothing but its files, by mouse, touch and keys."""

from __future__ import annotations

import http.server
import json
import re
import runpy
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

import landscape.viewer
from landscape import Atlas
from landscape.viewer import PublishSettings, publish
from tests.browser.jupyter_page import SECOND
from tests.timing import time_limit

JS = Path(landscape.viewer.__file__).parent / "js"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site(demo_atlas: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the site of the demo atlas, on a server of files."""
    folder = tmp_path_factory.mktemp("web") / "site"
    publish(demo_atlas, folder, settings=PublishSettings(figures=False))
    handler = partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Visit:
    """A page, and what went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(time_limit(30) * SECOND)
        self.problems: list[str] = []
        self.hosts: set[str] = set()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._told)
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def _told(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def open(self, address: str) -> None:
        self.page.goto("about:blank")
        self.page.goto(address)
        self.until("v?.map.frames > 0")

    def state(self, expression: str) -> Any:
        return self.page.evaluate(
            f"(() => {{ const v = window.landscape; return {expression} }})()"
        )

    def rest(self) -> None:
        """Wait until the map does not move any more."""
        self.until("!v.map.camera.isMoving")

    def until(self, expression: str) -> None:
        """Wait for a condition; the policy of the page forbids Playwright's own function."""
        end = time.monotonic() + time_limit(20)
        while time.monotonic() < end:
            if self.page.evaluate(
                f"(() => {{ const v = window.landscape; return {expression} }})()"
            ):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it never became true: {expression}")

    def pixel_of(self, point: int) -> tuple[float, float]:
        """Position of a paper on the page."""
        x, y = self.state(f"v.map.camera.toPixel(...v.map.placeOf({point}))")
        box = self.page.locator(".map").bounding_box()
        assert box is not None
        return box["x"] + x, box["y"] + y


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    visit = Visit(context.new_page())
    visit.open(f"{site}/index.html")
    yield visit
    context.close()
    assert visit.problems == []
    assert len(visit.hosts) == 1, "everything comes from the site"


def test_a_search_lists_and_marks_papers(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("/")
    page.keyboard.type("planets AND NOT dust")
    page.keyboard.press("Enter")
    expect(page.locator(".list h2")).to_have_text(re.compile(r"^\d+ found$"))
    n_found = visit.state("v.model.found.length")
    assert 1 < n_found < 400
    assert page.locator(".list tbody tr").count() == min(50, n_found)
    assert visit.state("v.model.kinds.filter((kind) => kind === 2).length") == n_found
    page.get_by_role("button", name="Cited").click()
    shown = page.locator(".list tbody td:nth-child(3)").all_inner_texts()
    counts = [int(text.replace(",", "")) for text in shown if text]
    assert counts == sorted(counts, reverse=True)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".list .quiet").first).to_contain_text("Search, or draw")
    page.keyboard.press("Control+Shift+z")
    assert visit.state("v.model.found.length") == n_found
    search = page.get_by_role("searchbox")
    search.fill("unicornium")
    search.press("Enter")
    expect(page.locator(".notice")).to_have_text("No paper has “unicornium”.")


def test_a_paper_that_is_clicked_shows_its_record_and_its_links(visit: Visit) -> None:
    page = visit.page
    point = visit.state(
        "(async () => { for (let p = 0; p < 400; p++) { const d = await v.source.details(p); "
        "if (d.references?.length) return p; } })()"
    )
    title = visit.state(f"v.source.title({point}).then((t) => t.title)")
    place = visit.state(f"v.map.placeOf({point})")
    visit.state(f"v.map.camera.look({{x: {place[0]}, y: {place[1]}, scale: 60000}})")
    visit.rest()
    x, y = visit.pixel_of(point)
    page.mouse.move(x, y)
    expect(page.locator(".tooltip")).to_be_visible()
    expect(page.locator(".tooltip strong")).not_to_be_empty()
    page.mouse.click(x, y)
    record = page.locator(".record")
    expect(record.locator("h2")).not_to_be_empty()
    assert re.sub(r"[${}\\]", "", title)[:10] in re.sub(r"[${}\\]", "", record.inner_text())
    box = record.bounding_box()
    assert box is not None
    assert box["y"] < 250, "the record is beside the map"
    assert page.locator("svg .link").count() > 0, "references are lines"
    assert record.locator("a").count() == 0, "the identifiers of generated papers are invented"
    record.get_by_role("heading", name="References in the atlas").wait_for()
    followed = record.locator(".linked .paper").first
    wanted = followed.inner_text()
    followed.click()
    expect(record.locator("h2")).to_have_text(wanted)
    address = page.url
    assert "&paper=" in address
    assert "#view=" in address
    visit.open(address)
    expect(page.locator(".record h2")).to_have_text(wanted)
    page.keyboard.press("Escape")
    assert "paper=" not in page.url


def test_regions_are_reached_by_name_contents_and_address(visit: Visit, site: str) -> None:
    page = visit.page
    whole = visit.state("v.map.camera.view.scale")
    page.locator(".map .name").first.click()
    visit.rest()
    assert visit.state("v.map.camera.view.scale") > 1.2 * whole
    page.get_by_role("button", name="Show the whole map").click()
    visit.rest()
    page.locator(".contents .toggle").first.click()
    page.locator(".contents ul ul .region").first.click()
    visit.rest()
    region = visit.state("v.model.state.filters.region")
    papers = visit.state(f"v.source.regions[{region}].papers")
    expect(page.locator(".status")).to_contain_text(f"{papers} of 400 papers pass the filters")
    assert f"#region={visit.state(f'v.source.regions[{region}].id')}&view=" in page.url
    page.goto(f"{site}/regions.html")
    page.locator(".tree a").nth(3).click()
    page.get_by_role("link", name="Show on the map").click()
    visit.until("v?.model.state.filters.region >= 0")


def test_charts_filter_each_other(visit: Visit) -> None:
    page = visit.page
    bars = page.locator(".bars").first.locator(".bar")
    bars.first.wait_for()
    name = bars.first.locator(".label").inner_text()
    papers = int(bars.first.locator(".count").inner_text())
    bars.first.click()
    expect(page.locator(".status")).to_contain_text(f"{papers} of 400 papers pass")
    chart = page.locator("svg.years").bounding_box()
    assert chart is not None
    page.mouse.move(chart["x"] + 0.7 * chart["width"], chart["y"] + 20)
    page.mouse.down()
    page.mouse.move(chart["x"] + 0.98 * chart["width"], chart["y"] + 20)
    page.mouse.up()
    visit.until("v.model.state.filters.years")
    first, last = visit.state("v.model.state.filters.years")
    assert first < last
    both = visit.state("v.model.passes.reduce((sum, one) => sum + one, 0)")
    assert both < papers
    assert f"facility={name}" in page.url
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".status")).to_have_text(re.compile("^400 papers"))


def test_papers_are_selected_by_an_outline_and_exported(visit: Visit) -> None:
    page = visit.page
    box = page.locator(".map").bounding_box()
    assert box is not None

    def draw(x0: float, x1: float) -> None:
        corners = [(x0, 0.1), (x1, 0.1), (x1, 0.9), (x0, 0.9)]
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=4)
        page.mouse.up()

    page.get_by_role("button", name="Select", exact=True).click()
    draw(0.1, 0.55)
    left = visit.state("v.model.state.selected.length")
    assert 20 < left < 380
    page.get_by_role("button", name="Add", exact=True).click()
    draw(0.5, 0.95)
    both = visit.state("v.model.state.selected.length")
    assert both > left
    page.get_by_role("button", name="Remove", exact=True).click()
    draw(0.5, 0.95)
    assert visit.state("v.model.state.selected.length") < left
    page.get_by_role("button", name="Undo").click()
    assert visit.state("v.model.state.selected.length") == both
    with page.expect_download() as waiting:
        page.get_by_role("button", name="BibTeX").click()
    text = Path(waiting.value.path()).read_text()
    assert text.count("@article{") == both
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV").click()
    assert Path(waiting.value.path()).read_text().startswith("id,title,authors,year")


def test_back_undoes_a_search_a_filter_and_a_selection(visit: Visit, site: str) -> None:
    page = visit.page
    visit.open(f"{site}/index.html")
    every = visit.state("v.model.nPassing")
    search = page.get_by_role("searchbox")
    search.fill("dust; 2010.. | citations>=5")
    search.press("Enter")
    visit.until("v.model.found.length > 0")
    found = visit.state("v.model.found.length")
    years = visit.state("[...v.model.found].filter((p) => v.source.year[p] < 2010).length")
    rare = visit.state("[...v.model.found].filter((p) => v.source.citations[p] < 5).length")
    assert years, "papers before 2010 with five citations are found"
    assert rare, "papers since 2010 with fewer citations are found"
    visit.state("(v.model.filter({ years: [2015, 2026] }), 0)")
    visit.until(f"v.model.nPassing < {every}")
    corners = [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]
    visit.state(f"(v.map.selectInside({corners}), 0)")
    selected = visit.state("v.model.state.selected.length")
    assert selected > 5
    visit.until("location.hash.includes('outline=')")
    link = page.url
    chips = page.get_by_role("group", name="Search, filters and selection").get_by_role("button")
    expect(chips).to_have_count(3)
    expect(chips.nth(1)).to_have_text(f"selected ({selected}) ✕")
    expect(chips.nth(2)).to_have_text(re.compile(r"^2015–2026 \(\d+\) ✕$"))
    page.go_back()
    visit.until("!v.model.state.selected.length && v.model.state.filters.years")
    page.go_back()
    visit.until(f"!v.model.state.filters.years && v.model.nPassing === {every}")
    assert visit.state("v.model.found.length") == found
    page.go_back()
    visit.until("!v.model.state.query && !v.model.found.length")
    page.go_forward()
    visit.until(f"v.model.found.length === {found}")
    visit.open(link)
    visit.until(f"v.model.state.selected.length === {selected}")


def test_back_returns_to_the_papers_before(visit: Visit, site: str) -> None:
    page, ids = visit.page, list[str]()

    def back(address: str) -> None:
        page.go_back()
        visit.until(f"location.href.includes({json.dumps(address)})")
        page.wait_for_timeout(300)

    def shows(paper: str) -> None:
        visit.until(f"v?.record.id === {json.dumps(paper)}")
        visit.rest()
        assert f"paper={quote(paper, safe='')}" in page.url

    page.goto(f"{site}/about.html")
    page.goto(f"{site}/index.html")
    visit.until("v?.map.frames > 0")
    for point in (3, 30, 300):
        visit.state(f"(v.go({point}), 0)")
        visit.until(f"v.record.id && v.model.opened === {point} && v.record.id !== {ids[-1:]!r}[0]")
        ids.append(visit.state("v.record.id"))
        shows(ids[-1])
    for paper in (ids[1], ids[0]):
        back(quote(paper, safe=""))
        shows(paper)
    page.go_forward()
    shows(ids[1])
    back(quote(ids[0], safe=""))
    shows(ids[0])
    back("index.html")
    assert "paper=" not in page.url
    back("about.html")
    page.goto(f"{site}/index.html#paper={quote(ids[2], safe='')}")
    visit.until("v?.map.frames > 0")
    shows(ids[2])
    back("about.html")  # the paper of an address is one step


def test_keys_move_the_map(visit: Visit) -> None:
    page = visit.page
    page.locator(".map").focus()
    before = visit.state("v.map.camera.view")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("+")
    after = visit.state("v.map.camera.view")
    assert after["x"] > before["x"]
    assert after["y"] > before["y"]
    assert after["scale"] > before["scale"]
    page.keyboard.press("0")
    visit.rest()
    assert visit.state("v.map.camera.view.scale") == pytest.approx(before["scale"])


def test_a_map_that_is_not_seen_gives_its_context_back(visit: Visit) -> None:
    page = visit.page
    visit.state("v.model.filter({years: [2015, 2030]})")
    visit.until("v.map._points?.kinds.includes(0)")
    values = visit.state("v.map._points._values.reduce((sum, one) => sum + one, 0)")
    page.evaluate("document.querySelector('.map').style.display = 'none'")
    visit.until("v.map._points === null")
    page.evaluate("document.querySelector('.map').style.display = ''")
    visit.until("v.map._points?.kinds.includes(0)")
    assert visit.state("v.map._points._values.reduce((sum, one) => sum + one, 0)") == values


def test_without_webgl_the_density_has_names_records_and_search(
    browser: Browser, site: str
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        "return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest); };"
    )
    visit = Visit(context.new_page())
    visit.open(f"{site}/index.html#q=planets")
    page = visit.page
    expect(page.locator(".status")).to_contain_text("without WebGL")
    assert page.locator(".map .name").count() > 3
    page.locator(".list .paper").first.click()
    expect(page.locator(".record h2")).not_to_be_empty()
    colours = page.evaluate(
        "(() => { const c = document.querySelector('.map canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; const s = new Set();"
        "for (let k = 0; k < d.length; k += 404) s.add(d[k] * 65536 + d[k + 1] * 256 + d[k + 2]);"
        "return s.size; })()"
    )
    assert colours > 20, "the density is drawn"
    context.close()
    assert visit.problems == []


def test_on_a_phone(browser: Browser, site: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    visit = Visit(context.new_page())
    visit.open(f"{site}/index.html")
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".map").bounding_box()
    assert box is not None
    assert box["height"] > 300
    page.locator(".map .name").first.tap()
    visit.rest()
    assert visit.state("v.map.camera.view.scale > v.map.camera.whole")
    x, y = visit.state(
        "(([x, y]) => [x, y])([...Array(400).keys()].map((p) => v.map.camera.toPixel(...v.map"
        ".placeOf(p))).find(([x, y]) => x > 60 && x < 330 && y > 60 && y < 240 &&"
        "![...v.map.names.children].some((name) => { const of = name.getBoundingClientRect();"
        f"const [left, top] = [{box['x']} + x, {box['y']} + y];"
        "return left > of.left - 9 && left < of.right + 9 && top > of.top - 9"
        " && top < of.bottom + 9; })))"
    )
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    expect(page.locator(".tooltip")).to_be_visible()
    assert visit.state("v.model.opened") == -1, "the first tap shows what the paper is"
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    visit.until("v.record.id")
    heading = page.locator(".record-head h2")
    expect(heading).to_be_in_viewport()
    expect(page.locator(".tooltip")).to_be_hidden()
    for name in ("regions", "facilities", "about"):
        page.goto(f"{site}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
    assert visit.problems == []


def test_a_table_is_sorted_and_filtered(visit: Visit, site: str) -> None:
    page = visit.page
    page.goto(f"{site}/concepts.html")
    rows = page.locator("table.landscape-table tbody tr")
    name, papers = (rows.locator(f"td:nth-child({column})") for column in (1, 3))
    page.get_by_role("button", name="Papers").click()
    sizes = [int(text.replace(",", "")) for text in papers.all_text_contents()]
    assert len(sizes) > 12
    assert sizes == sorted(sizes)
    page.get_by_role("button", name="Papers").click()
    assert str(papers.first.text_content()).strip() == f"{max(sizes):,}"
    one = str(name.nth(5).text_content())
    page.get_by_label("Filter the rows").fill(one.upper())
    expect(page.get_by_role("status")).to_contain_text(f"of {len(sizes)} rows")
    shown = [text for text in name.all_text_contents() if one.lower() in text.lower()]
    expect(rows.filter(visible=True)).to_have_count(len(shown))
    assert visit.problems == []


def test_a_page_prints_without_controls_in_light_colours(browser: Browser, site: str) -> None:
    context = browser.new_context(color_scheme="dark")
    visit = Visit(context.new_page())
    visit.page.goto(f"{site}/concepts.html")
    controls = visit.page.locator(".top, .filter")
    body = visit.page.locator("body")
    page_colour = "getComputedStyle(document.body).backgroundColor"
    dark = visit.page.evaluate(page_colour)
    expect(controls.first).to_be_visible()
    visit.page.emulate_media(media="print")
    expect(controls.first).to_be_hidden()
    expect(body.locator("table")).to_be_visible()
    assert visit.page.evaluate(page_colour) != dark
    context.close()
    assert visit.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible(browser: Browser, site: str, scheme: Any) -> None:
    tools = runpy.run_path(str(JS / "build.py"))
    tools["install_tools"]()
    axe = (JS / "node_modules" / "axe-core" / "axe.min.js").read_text()
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    visit = Visit(context.new_page())
    visit.open(f"{site}/index.html#q=planets")
    visit.page.locator(".list tbody tr").first.wait_for()
    region = "regions/1000.html"
    problems: list[str] = []
    tables = ("facilities", "concepts", "trends", "reviews", "new", "about")
    for page in ("", "regions.html", region, *(f"{name}.html" for name in tables)):
        if page:
            visit.page.goto(f"{site}/{page}")
        visit.page.evaluate(axe)
        found = visit.page.evaluate("axe.run().then((result) => result.violations)")
        problems += [f"{page}: {one['id']}, {one['nodes'][0]['html']:.200}" for one in found]
    assert problems == []
    context.close()


def test_a_single_page_works_from_a_disk(
    browser: Browser, demo_atlas: Atlas, tmp_path: Path
) -> None:
    page = publish(demo_atlas, tmp_path / "map.html")
    context = browser.new_context(offline=True)
    visit = Visit(context.new_page())
    visit.page.goto(page.as_uri() + "#q=planets")
    visit.page.locator(".list tbody tr").first.wait_for()
    visit.page.locator(".list .paper").first.click()
    expect(visit.page.locator(".record h2")).not_to_be_empty()
    context.close()
    assert visit.problems == []
