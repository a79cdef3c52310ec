"""Time and memory of the viewer in a browser, beside regl-scatterplot.

Run: python -m benchmarks viewer [--sizes 4000,50000,350000,2000000] [--site FOLDER]
     [--notebook ATLAS]

regl-scatterplot, the engine of jupyter-scatter, draws the same points on the same page. With
`--site`, the map page of a published site is opened on a line of 10 Mbit/s. With `--notebook`, the
explorer and jupyter-scatter (pip install jupyter-scatter) show an atlas in JupyterLab.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from benchmarks.results import print_table, save
from landscape.viewer import MapSource
from landscape.viewer.site import bundle
from tests.browser.chromium import executable
from tests.browser.conftest import wait_for_address
from tests.browser.jupyter_page import JupyterPage
from tests.processes import interruptible

_LIBRARY = "regl-scatterplot@1.16.0"
_WINDOW: ViewportSize = {"width": 1440, "height": 900}
_MOVES = 12
_SPEED = 1.25e6  # bytes a second
_LINE = {"offline": False, "latency": 40, "downloadThroughput": _SPEED, "uploadThroughput": _SPEED}
_PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<style>html, body {{margin: 0; height: 100%}}
#place {{width: 850px; height: 760px; position: relative}}</style>
<div id="{id}" data-source="./"></div>
<script type="module">{script}</script>"""
_THEIRS = """
import createScatterplot from "./library.js";
const start = performance.now();
const bytes = new Uint8Array(await (await fetch("points.bin")).arrayBuffer());
const values = new Float32Array(bytes.buffer);
const n = values.length / 3;
const [x, y, z] = [0, 1, 2].map((at) => values.subarray(at * n, (at + 1) * n));
const canvas = document.createElement("canvas");
document.getElementById("place").append(canvas);
canvas.style.width = canvas.style.height = "100%";
const plot = createScatterplot({canvas, width: 850, height: 760, pointSize: 1.5, colorBy: "valueA",
  opacity: 0.5, pointColor: ["#003a7f", "#e47600", "#259dfb", "#721025", "#b3769a", "#b6341f"]});
await plot.draw({x, y, z});
window.drawn = performance.now() - start;
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Made(MapSource):
    """Files of made-up points in clusters, without texts."""

    def __init__(self, n: int) -> None:
        from landscape.viewer import source

        rng = np.random.default_rng(0)
        centres = rng.uniform(0.1, 0.9, (60, 2))
        kinds = rng.integers(0, 60, n)
        places = np.clip(centres[kinds] + rng.normal(0, 0.03, (n, 2)), 0, 1)
        codes = np.round(places * 0xFFFF).astype(np.uint32)
        self.parts, self.order = source.order_points(codes, 0)
        self._codes = codes[self.order].astype(np.uint16)
        self.kinds = kinds[self.order]

    @property
    def manifest(self) -> dict[str, Any]:
        from landscape.viewer.themes import viewer_themes

        regions = [
            {"id": k, "level": 0, "parent": -1, "label": f"R{k}", "papers": 1, "x": 0, "y": 0}
            | {"keywords": []}
            for k in range(6)
        ]
        return {
            "format": 1,
            "title": "",
            "papers": len(self.order),
            "generated": True,
            "box": [0, 0, 1, 1],
            "parts": self.parts,
            "years": None,
            "records": 512,
            "details": 128,
            "ids": 0,
            "regions": regions,
            "names": [],
            "fonts": {"sizes": [12, 12, 11], "line": 1.25},
            "themes": viewer_themes(),
            "sets": {},
            "index": [],
            "stop_words": [],
        }

    @property
    def _columns(self) -> list[tuple[str, Any]]:
        nothing = np.zeros(len(self.order), np.uint16)
        region = (self.kinds % 6).astype(np.uint16)
        columns = (self._codes[:, 0], self._codes[:, 1], region, nothing, nothing)
        return [("", column) for column in columns]


def _write(folder: Path, n: int, library: Path) -> tuple[int, int]:
    """Write both pages, and return the bytes of their points."""
    made = _Made(n)
    (folder / "source.json").write_bytes(gzip.compress(json.dumps(made.manifest).encode()))
    ours = 0
    for number in range(len(made.parts)):
        content = made.points(number)
        ours += len(content)
        (folder / f"points-{number}.bin").write_bytes(content)
    shutil.copy(bundle(), folder / "viewer.js")
    shutil.copy(library, folder / "library.js")
    ours_page = _PAGE.format(id="landscape-map", script='import "./viewer.js"')
    (folder / "ours.html").write_text(ours_page)

    (folder / "theirs.html").write_text(_PAGE.format(id="place", script=_THEIRS))
    plane = made._codes.astype(np.float32).T / 0xFFFF * 2 - 1
    values = np.concatenate([plane.ravel(), (made.kinds % 6).astype(np.float32)])
    (folder / "points.bin").write_bytes(values.astype("<f4").tobytes())
    return ours, len(gzip.compress(values.tobytes(), 6))


def _frames(page: Page, canvas: str) -> float:
    """Return the median time in ms from a notch of the wheel until the next frame is drawn."""
    box = page.locator(canvas).first.bounding_box()
    if box is None:
        raise SystemExit(f"The page has no {canvas}.")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate(
        "window.times = []; addEventListener('wheel', () => { const start = performance.now();"
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>"
        "window.times.push(performance.now() - start)))); }, {capture: true, passive: true})"
    )
    for move in range(_MOVES):
        page.mouse.wheel(0, -100 if move % 2 else 100)
        page.wait_for_timeout(60)
    page.wait_for_function(f"window.times.length >= {_MOVES}", timeout=120_000)
    return statistics.median(page.evaluate("window.times"))


def _heap(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    found = session.send("Runtime.getHeapUsage")
    return float(found["usedSize"] + found.get("backingStorageSize", 0)) / 1e6


def _measure(browser: Browser, address: str, done: str, canvas: str) -> dict[str, float]:
    page = browser.new_page(viewport=_WINDOW)
    page.goto(address)
    page.wait_for_function(done, timeout=300_000)
    first = page.evaluate("performance.now()")
    page.wait_for_function("!window.landscape || window.landscape.source.missing === 0")
    page.wait_for_timeout(1500)
    found = {"first": first / 1000, "wheel": _frames(page, canvas), "heap": _heap(page)}
    page.close()
    return found


def _library(folder: Path) -> Path:
    """Install regl-scatterplot, and bundle it with esbuild."""
    subprocess.run(
        ["npm", "install", "--ignore-scripts", _LIBRARY, "esbuild@0.28.2"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (folder / "entry.js").write_text('export { default } from "regl-scatterplot";')
    command = ["npx", "esbuild", "entry.js", "--bundle", "--minify", "--format=esm"]
    subprocess.run([*command, "--outfile=library.js"], cwd=folder, check=True, capture_output=True)
    return folder / "library.js"


def measure_points(browser: Browser, sizes: list[int]) -> list[dict[str, Any]]:
    """Draw made-up points with both engines."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        library = _library(Path(place))
        code = [len(gzip.compress(path.read_bytes())) for path in (bundle(), library)]
        for size in sizes:
            folder = Path(place) / str(size)
            folder.mkdir()
            n_bytes = _write(folder, size, library)
            with _served(folder) as host:
                drawn = "window.landscape && window.landscape.map.frames > 0"
                ours = _measure(browser, f"{host}/ours.html", drawn, ".map")
                theirs = _measure(browser, f"{host}/theirs.html", "window.drawn > 0", "canvas")
            for name, one, n, size_of_code in (
                ("viewer", ours, n_bytes[0], code[0]),
                ("regl-scatterplot", theirs, n_bytes[1], code[1]),
            ):
                own = {"bytes": n, "code": size_of_code}
                rows.append({"papers": size, "engine": name, **one, **own})
    print_table(
        "Points in Chromium without a GPU (software rendering)",
        ["papers", "engine", "s to the first picture", "ms from wheel to picture", "MB of points",
         "kB of code", "MB of memory"],
        [
            [
                f"{row['papers']:,}",
                row["engine"],
                f"{row['first']:.2f}",
                f"{row['wheel']:.0f}",
                f"{row['bytes'] / 1e6:.2f}",
                f"{row['code'] / 1e3:.0f}",
                f"{row['heap']:.0f}",
            ]
            for row in rows
        ],
    )  # fmt: skip
    return rows


def measure_site(browser: Browser, folder: Path) -> dict[str, float]:
    """Open the map of a site on a slow line, until it can be moved."""
    with _served(folder) as host:
        page = browser.new_page(viewport=_WINDOW)
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", _LINE)
        loaded = [0.0]
        session.on(
            "Network.loadingFinished",
            lambda event: loaded.__setitem__(0, loaded[0] + event["encodedDataLength"]),
        )
        page.goto(f"{host}/index.html", wait_until="commit")
        while not page.evaluate("Boolean(window.landscape?.map.frames)"):
            page.wait_for_timeout(10)
        seconds, before = page.evaluate("performance.now()") / 1000, loaded[0] / 1e6
        page.wait_for_timeout(5000)
        found = {"seconds": seconds, "mb_before": before, "mb_after_5_s": loaded[0] / 1e6}
        page.close()
    papers = json.loads((folder / "landscape-site.json").read_text())["papers"]
    print_table(
        f"Site of {papers:,} papers on a line of 10 Mbit/s",
        ["s to the first interaction", "MB before", "MB after 5 s"],
        [[f"{found['seconds']:.2f}", f"{before:.2f}", f"{found['mb_after_5_s']:.2f}"]],
    )
    return {"papers": papers, **found}


_SETUP = """
import landscape as ls, jscatter
from landscape.widgets import MapExplorer
atlas = ls.open({path!r})
titles, regions = atlas.read_papers(["title"])["title"], atlas.map["topic_id"].astype(str)
table = atlas.map.assign(title=titles, region=regions.astype("category"))
""".strip()
_SHOWN = {
    "explorer": "MapExplorer(atlas)",
    "jupyter-scatter": (
        "shown = jscatter.Scatter(data=table, x='x', y='y', color_by='region', height=640); "
        "shown.tooltip(enable=True, properties=['title']); shown.show()"
    ),
}
_RUNS = 3


def measure_notebook(browser: Browser, atlas: Path) -> dict[str, float]:
    """Run the cell of each map in JupyterLab, and wait until its picture is complete."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "notebooks"
        folder.mkdir()
        for name, code in _SHOWN.items():
            cells = [_SETUP.format(path=str(atlas.resolve())), code]
            notebook = {
                "cells": [
                    {
                        "cell_type": "code",
                        "source": cell,
                        "metadata": {},
                        "execution_count": None,
                        "outputs": [],
                    }
                    for cell in cells
                ],
                "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
                "nbformat": 4,
                "nbformat_minor": 4,
            }
            text = json.dumps(notebook)
            (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
        log = Path(place) / "lab.log"
        words = [sys.executable, "-m", "landscape.cli", "lab", "--no-browser"]
        words += ["--notebooks", str(folder)]
        with log.open("w") as out:
            server = subprocess.Popen(words, stdout=out, stderr=out, preexec_fn=interruptible)
        try:
            port, token = wait_for_address(server, log)
            found = {name: _first_picture(browser, port, token, name) for name in _SHOWN}
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)
    print_table(
        f"Maps of {atlas.name} in JupyterLab, from running the cell to the picture "
        f"(median of {_RUNS})",
        ["map", "seconds"],
        [[name, f"{seconds:.1f}"] for name, seconds in found.items()],
    )
    return found


def _first_picture(browser: Browser, port: int, token: str, name: str) -> float:
    page = browser.new_context(viewport=_WINDOW).new_page()
    lab = JupyterPage(page, f"http://127.0.0.1:{port}", token)
    lab.open_notebook(f"{name}.ipynb")
    lab.run_all()
    cell = page.locator(".jp-CodeCell").nth(1)
    cell.locator("canvas").first.wait_for()
    page.wait_for_timeout(3000)
    whole = len(cell.screenshot())
    seconds = []
    for _ in range(_RUNS):
        cell.locator(".cm-content").first.click()
        page.keyboard.press("Escape")
        start = time.monotonic()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(400)
        # The picture of a complete map is as large as that of the first run.
        while not cell.locator("canvas").count() or len(cell.screenshot()) < 0.8 * whole:
            page.wait_for_timeout(50)
        seconds.append(time.monotonic() - start)
    page.context.close()
    return statistics.median(seconds)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="4000,50000,350000,2000000")
    parser.add_argument("--site", type=Path, nargs="*", default=[])
    parser.add_argument("--notebook", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",") if size]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        result = {
            "points": measure_points(browser, sizes),
            "sites": [measure_site(browser, folder) for folder in options.site],
            "notebooks": [measure_notebook(browser, atlas) for atlas in options.notebook],
        }
        browser.close()
    save("viewer", result)


if __name__ == "__main__":
    main()
