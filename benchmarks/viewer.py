"""Time and memory of the viewer in a browser, beside regl-scatterplot and embedding-atlas.

Run: python -m benchmarks viewer [--sizes 4000,50000,350000,2000000] [--gpu] [--site FOLDER]
     [--notebook ATLAS]

regl-scatterplot, the engine of jupyter-scatter, and the map of embedding-atlas draw the same points
on the same page. embedding-atlas needs WebGPU. Without `--gpu`, Chromium draws in software. With
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

_SOFTWARE = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
_GPU = ("--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist", "--enable-unsafe-webgpu")
_WINDOW: ViewportSize = {"width": 1440, "height": 900}
_MOVES = 12
_SPEED = 1.25e6  # bytes a second
_LINE = {"offline": False, "latency": 40, "downloadThroughput": _SPEED, "uploadThroughput": _SPEED}
_PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<style>html, body {{margin: 0; height: 100%}}
#place {{width: 850px; height: 760px; position: relative}}</style>
<div id="{id}" data-source="./"></div>
<script type="module">{script}</script>"""
_POINTS = """
const start = performance.now();
const bytes = new Uint8Array(await (await fetch("points.bin")).arrayBuffer());
const values = new Float32Array(bytes.buffer);
const n = values.length / 3;
const [x, y, z] = [0, 1, 2].map((at) => values.slice(at * n, (at + 1) * n));
const place = document.getElementById("place");
"""
_SCATTERPLOT = """
const canvas = document.createElement("canvas");
place.append(canvas);
canvas.style.width = canvas.style.height = "100%";
const plot = createScatterplot({canvas, width: 850, height: 760, pointSize: 1.5, colorBy: "valueA",
  opacity: 0.5, pointColor: ["#003a7f", "#e47600", "#259dfb", "#721025", "#b3769a", "#b6341f"]});
await plot.draw({x, y, z});
window.drawn = performance.now() - start;
"""
# The map says neither when it is drawn nor that it cannot be, so its colours are counted.
_EMBEDDING_ATLAS = """
new EmbeddingView(place, {data: {x, y, category: Uint8Array.from(z)}, width: 850, height: 760,
  config: {mode: "points"}});
const copy = Object.assign(document.createElement("canvas"), {width: 85, height: 76})
  .getContext("2d", {willReadFrequently: true});
while (!window.drawn) {
  await new Promise(requestAnimationFrame);
  const canvas = place.querySelector("canvas");
  if (canvas) copy.drawImage(canvas, 0, 0, 85, 76);
  const pixels = new Uint32Array(copy.getImageData(0, 0, 85, 76).data.buffer);
  if (new Set(pixels).size > 20) window.drawn = performance.now() - start;
  else if (performance.now() - start > 20000) window.drawn = -1;
}
"""
_OTHERS = {  # what is imported, its version, what it needs beside, and the script that draws
    "regl-scatterplot": ("default as createScatterplot", "1.16.0", (), _SCATTERPLOT),
    "embedding-atlas": (
        "EmbeddingView",
        "0.26.0",
        ("@uwdata/mosaic-core@0.32.0",),
        _EMBEDDING_ATLAS,
    ),
}


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
        from landscape.viewer.settings import DEFAULTS
        from landscape.viewer.source import FORMAT
        from landscape.viewer.themes import viewer_themes

        regions = [
            {"id": k, "level": 0, "parent": -1, "label": f"R{k}", "papers": 1, "x": 0, "y": 0}
            | {"keywords": []}
            for k in range(6)
        ]
        return {
            "format": FORMAT,
            "title": "",
            "papers": len(self.order),
            "generated": True,
            "box": [0, 0, 1, 1],
            "parts": self.parts,
            "columns": [name for name, _ in self._columns],
            "years": None,
            "records": 512,
            "details": 128,
            "ids": 0,
            "regions": regions,
            "names": [],
            "fonts": {"sizes": [12, 12, 11], "line": 1.25},
            "themes": viewer_themes(),
            "sets": {},
            "defaults": DEFAULTS,
            "stop_words": [],
            "phrases": False,
        }

    @property
    def _columns(self) -> list[tuple[str, Any]]:
        nothing = np.zeros(len(self.order), np.uint16)
        region = (self.kinds % 6).astype(np.uint16)
        columns = (self._codes[:, 0], self._codes[:, 1], region, nothing, nothing)
        return [("", column) for column in columns]


def _write(folder: Path, n: int, libraries: dict[str, Path]) -> tuple[int, int]:
    """Write all pages, and return the bytes of the points of the viewer and of the others."""
    made = _Made(n)
    (folder / "source.json").write_bytes(gzip.compress(json.dumps(made.manifest).encode()))
    ours = 0
    for number in range(len(made.parts)):
        content = made.points(number)
        ours += len(content)
        (folder / f"points-{number}.bin").write_bytes(content)
    shutil.copy(bundle(), folder / "viewer.js")
    ours_page = _PAGE.format(id="landscape-map", script='import "./viewer.js"')
    (folder / "viewer.html").write_text(ours_page)

    for name, library in libraries.items():
        shutil.copy(library, folder / library.name)
        imported, *_, script = _OTHERS[name]
        script = f'import {{ {imported} }} from "./{library.name}";{_POINTS}{script}'
        (folder / f"{name}.html").write_text(_PAGE.format(id="place", script=script))
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


def _rate(page: Page, canvas: str) -> float:
    """Return the number of frames per second while the wheel turns all the time."""
    return float(
        page.evaluate(
            """async (selector) => {
              const target = document.querySelector(selector), box = target.getBoundingClientRect();
              const [clientX, clientY] = [box.x + box.width / 2, box.y + box.height / 2];
              const start = performance.now();
              let frames = 0;
              while (performance.now() - start < 3000) {
                const deltaY = Math.floor(frames++ / 30) % 2 ? 40 : -40;
                const turned = {deltaY, clientX, clientY, bubbles: true, cancelable: true};
                target.dispatchEvent(new WheelEvent("wheel", turned));
                await new Promise(requestAnimationFrame);
              }
              return (1000 * frames) / (performance.now() - start);
            }""",
            canvas,
        )
    )


def _heap(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    found = session.send("Runtime.getHeapUsage")
    return float(found["usedSize"] + found.get("backingStorageSize", 0)) / 1e6


def _measure(browser: Browser, address: str, done: str, canvas: str) -> dict[str, float] | None:
    """Measure a page; None if its map stays empty."""
    page = browser.new_page(viewport=_WINDOW)
    page.goto(address)
    page.wait_for_function(done, timeout=300_000)
    first = page.evaluate("performance.now()")
    found = None
    if page.evaluate("!(window.drawn < 0)"):
        page.wait_for_function("!window.landscape || window.landscape.source.missing === 0")
        page.wait_for_timeout(1500)
        found = {"first": first / 1000, "wheel": _frames(page, canvas), "heap": _heap(page)}
        found["rate"] = _rate(page, canvas)
    page.close()
    return found


def _libraries(folder: Path) -> dict[str, Path]:
    """Install the other engines, and bundle them with esbuild."""
    # flechette 2.7, a part of mosaic-core, requires a package that npm does not have.
    (folder / "package.json").write_text('{"overrides": {"@uwdata/flechette": "2.5.0"}}')
    wanted = [f"{name}@{version}" for name, (_, version, *_) in _OTHERS.items()]
    wanted += [other for _, _, others, _ in _OTHERS.values() for other in others]
    subprocess.run(
        ["npm", "install", "--ignore-scripts", "--legacy-peer-deps", *wanted, "esbuild@0.28.2"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    found = {}
    for name in _OTHERS:
        found[name] = folder / f"{name}.js"
        exported = _OTHERS[name][0].split()[0]
        (folder / "entry.js").write_text(f'export {{ {exported} }} from "{name}";')
        command = ["npx", "esbuild", "entry.js", "--bundle", "--minify", "--format=esm"]
        command.append(f"--outfile={found[name].name}")
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return found


def measure_points(browser: Browser, sizes: list[int]) -> list[dict[str, Any]]:
    """Draw made-up points with all engines."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        libraries = _libraries(Path(place))
        for size in sizes:
            folder = Path(place) / str(size)
            folder.mkdir()
            ours, theirs = _write(folder, size, libraries)
            with _served(folder) as host:
                for name, code in {"viewer": bundle(), **libraries}.items():
                    done = "window.drawn"
                    if name == "viewer":
                        done = "window.landscape && window.landscape.map.frames > 0"
                    canvas = ".map" if name == "viewer" else "canvas"
                    rows.append(
                        {
                            "papers": size,
                            "engine": name,
                            "measured": _measure(browser, f"{host}/{name}.html", done, canvas),
                            "bytes": ours if name == "viewer" else theirs,
                            "code": len(gzip.compress(code.read_bytes())),
                        }
                    )
    print_table(
        "Points in Chromium",
        ["papers", "engine", "s to the first picture", "ms from wheel to picture", "frames/s",
         "MB of points", "kB of code", "MB of memory"],
        [
            [
                f"{row['papers']:,}",
                row["engine"],
                f"{row['measured']['first']:.2f}" if row["measured"] else "map stays empty",
                f"{row['measured']['wheel']:.0f}" if row["measured"] else "",
                f"{row['measured']['rate']:.0f}" if row["measured"] else "",
                f"{row['bytes'] / 1e6:.2f}",
                f"{row['code'] / 1e3:.0f}",
                f"{row['measured']['heap']:.0f}" if row["measured"] else "",
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
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--site", type=Path, nargs="*", default=[])
    parser.add_argument("--notebook", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",") if size]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(),
            args=["--no-sandbox", "--disable-dev-shm-usage", *(_GPU if options.gpu else _SOFTWARE)],
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
