"""Measure time, messages and memory of the map explorer after a move.

The benchmark makes an atlas of 350,000 papers and positions of 10 million papers; `--atlas FOLDER`
stores the atlas for the next run. The time of a move begins with the message of the page and ends
when the figure, with its names, is updated.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.literature import made_up_plan, open_made_up_atlas, write_made_up_atlas
from benchmarks.measuring import measured
from benchmarks.results import print_table, save

_ZOOMS = (1.0, 2.0, 4.0, 8.0, 16.0, 40.0)
_COLOURS = ("density", "year", "topic")
_LARGE = 10_000_000


def run_explorer(folder: Path) -> dict[str, Any]:
    """Open an explorer, and move it as a page does."""
    import landscape.widgets._explorer  # noqa: F401 - imports are not what is timed
    from landscape.widgets import MapExplorer

    atlas = open_made_up_atlas(folder)
    start = time.perf_counter()
    explorer = MapExplorer(atlas)
    opened = time.perf_counter() - start
    explorer.wait(120)
    moves = []
    for colour in _COLOURS:
        explorer.colour_by = colour
        explorer.wait(120)
        moves += [{"colour": colour, "zoom": zoom, **_move(explorer, zoom)} for zoom in _ZOOMS]
    return {"opened": opened, "moves": moves}


def _move(explorer: Any, zoom: float) -> dict[str, float]:
    """Process one message of the page in this thread."""
    from landscape.widgets._view import View

    explorer.wait(120)
    explorer._drawing.request = lambda: None  # timed here, not in the thread beside
    box = View(explorer._data.whole.box).zoomed(zoom).moved(0.03, 0.02).box
    ranges = dict(
        zip(
            ("xaxis.range[0]", "yaxis.range[0]", "xaxis.range[1]", "yaxis.range[1]"),
            box,
            strict=True,
        )
    )
    message = {"relayout_data": ranges, "source_view_id": "page"}
    sent: list[Any] = []
    explorer.figure.observe(lambda change: sent.append(change["new"]), "_py2js_update")
    start, cpu = time.perf_counter(), time.thread_time()
    data = {"method": "update", "state": {"_js2py_relayout": message}, "buffer_paths": []}
    explorer.figure._handle_msg({"content": {"data": data}, "buffers": []})
    drawn = explorer._painter.draw(explorer._state, explorer._data)
    explorer._tell_drawn(drawn)
    seconds, spent = time.perf_counter() - start, time.thread_time() - cpu
    explorer.figure.unobserve_all("_py2js_update")
    del explorer._drawing.request
    n_bytes = sum(_size(one) for one in sent if one)
    return {"seconds": seconds, "cpu": spent, "bytes": n_bytes, "papers": drawn.picture.n_papers}


def run_places(n_papers: int) -> dict[str, Any]:
    """Measure pictures and labels of `n_papers` made-up positions, without an atlas."""
    import pandas as pd

    from landscape.figures.colours import theme
    from landscape.widgets._colours import DENSITY
    from landscape.widgets._map_state import Labels
    from landscape.widgets._raster import draw_picture
    from landscape.widgets._view import Points, whole_view

    plan = made_up_plan(n_papers, 100)
    topics = pd.DataFrame(
        {
            "topic_id": np.arange(100),
            "label": [f"Region {i}" for i in range(100)],
            "level": 1,
            "x": plan.centres[:, 0],
            "y": plan.centres[:, 1],
            "n_papers": np.bincount(plan.region),
        }
    )
    start = time.perf_counter()
    points, labels, size = Points(plan.x, plan.y), Labels(topics), (740, 560)
    sorted_in = time.perf_counter() - start
    whole, moves = whole_view(points.x, points.y, size), []
    draw_picture(points, whole, size, colours=theme("light"), colouring=DENSITY)  # compiles
    for zoom in _ZOOMS:
        start, cpu = time.perf_counter(), time.thread_time()
        view = whole.zoomed(zoom)
        picture = draw_picture(points, view, size, colours=theme("light"), colouring=DENSITY)
        labels.place(view, size, zoom=zoom)
        n_bytes = len(picture.link)
        moves.append(
            {
                "zoom": zoom,
                "seconds": time.perf_counter() - start,
                "cpu": time.thread_time() - cpu,
                "bytes": n_bytes,
                "papers": picture.n_papers,
            }
        )
    return {"sorted": sorted_in, "moves": moves}


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(_size(one) + len(str(key)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return int(value.nbytes) if isinstance(value, np.ndarray) else len(str(value))


def _rows(moves: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [
            f"{one.get('colour', 'density')} x{one['zoom']:g}",
            f"{one['papers']:,}",
            f"{1000 * one['seconds']:.0f}",
            f"{1000 * one['cpu']:.0f}",
            f"{one['bytes'] / 1e6:.2f}",
        ]
        for one in moves
    ]


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=350_000)
    parser.add_argument("--places", type=int, default=_LARGE)
    parser.add_argument("--atlas", type=Path, help="keep the made-up atlas here for the next run")
    options = parser.parse_args()
    head = ["view", "papers", "ms", "CPU ms", "MB sent"]
    with tempfile.TemporaryDirectory() as place:
        folder = options.atlas or Path(place) / "made-up.atlas"
        if not (folder / "manifest.json").is_file():
            write_made_up_atlas(folder, n_papers=options.papers)
        explorer = measured(run_explorer, folder)
    found = explorer["result"]
    title = (
        f"MapExplorer, {options.papers:,} papers: opened in {found['opened']:.1f} s (goal: 3), "
        f"{explorer['peak_mb']:,.0f} MB (goal: 3,000); a move (goals: 150 ms, 2 MB)"
    )
    print_table(title, head, _rows(found["moves"]))
    places = measured(run_places, options.places)
    title = (
        f"{options.places:,} places: sorted in {places['result']['sorted']:.1f} s; "
        "a move (goals: 500 ms, 2 MB)"
    )
    print_table(title, head, _rows(places["result"]["moves"]))
    print(f"\n{save('widgets', {'explorer': explorer, 'places': places})}")


if __name__ == "__main__":
    main()
