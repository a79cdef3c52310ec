"""The map explorer, driven by messages of a page: views, names, selection, state, files."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("plotly")
pytest.importorskip("ipywidgets")

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.figures.labels import boxes_overlap
from landscape.widgets import MapExplorer
from landscape.widgets._colours import colouring_of
from landscape.widgets._view import Points, View


def from_page(explorer: MapExplorer, **state: Any) -> None:
    """Send a message of the browser to the kernel."""
    data = {"method": "update", "state": state, "buffer_paths": []}
    explorer.figure._handle_msg({"content": {"data": data}, "buffers": []})
    assert explorer.wait(60)


def zoom_on_page(explorer: MapExplorer, box: tuple[float, ...]) -> None:
    x0, y0, x1, y1 = box
    ranges = {
        "xaxis.range[0]": x0,
        "xaxis.range[1]": x1,
        "yaxis.range[0]": y0,
        "yaxis.range[1]": y1,
    }
    from_page(explorer, _js2py_relayout={"relayout_data": ranges, "source_view_id": "a"})


def draw_on_page(explorer: MapExplorer, kind: str, **state: Any) -> None:
    points: dict[str, list[Any]] = {"trace_indexes": [], "point_indexes": [], "xs": [], "ys": []}
    message = {
        "event_type": "plotly_selected",
        "points": points,
        "device_state": None,
        "selector": {"type": kind, "selector_state": state},
    }
    from_page(explorer, _js2py_pointsCallback=message)


def click_on_page(explorer: MapExplorer, trace: str, number: int) -> None:
    from landscape.widgets._map_figure import TRACES

    points = {
        "trace_indexes": [TRACES.index(trace)],
        "point_indexes": [number],
        "xs": [0],
        "ys": [0],
    }
    message = {
        "event_type": "plotly_click",
        "points": points,
        "device_state": None,
        "selector": None,
    }
    from_page(explorer, _js2py_pointsCallback=message)


def source(explorer: MapExplorer) -> str:
    return str(explorer.figure.layout.images[1].source)


def test_an_outline_goes_when_another_selection_takes_its_place(explorer):
    x0, y0, x1, y1 = explorer.view
    draw_on_page(explorer, "lasso", xs=[x0, x1, x1, x0], ys=[y0, y0, y1, y1])
    outline = {"type": "path", "xref": "x", "yref": "y", "path": f"M{x0},{y0}L{x1},{y0}L{x1},{y1}Z"}
    from_page(
        explorer,
        _js2py_relayout={"relayout_data": {"selections": [outline]}, "source_view_id": "a"},
    )
    told = []
    explorer.figure.observe(lambda change: told.append(change["new"]), "_py2js_relayout")
    explorer.select([])
    assert [one["relayout_data"] for one in told if one] == [{"selections": []}]
    assert explorer.figure.get_state()["_widget_layout"]["selections"] == []


def test_a_zoom_on_the_page_is_drawn_anew_from_all_papers(explorer):
    before = source(explorer)
    x, y = explorer._data.x, explorer._data.y
    box = View(explorer.view).zoomed(3).box
    zoom_on_page(explorer, box)
    assert source(explorer) != before
    assert np.allclose(explorer.view, box)
    inside = View(box).holds(x, y).sum()
    assert abs(explorer._drawn.picture.n_papers - inside) <= 1  # float32 at the edges
    assert "view=(" in explorer.code


def test_single_papers_are_told_once_few_are_in_view(explorer):
    rows = explorer._drawn.marks["papers"]  # 400 papers are few
    texts = explorer.figure.trace("papers").hovertext
    assert len(rows) == len(texts) == len(explorer.figure.trace("papers").x)
    paper = explorer.atlas.engine.papers([int(rows[7])])[0]
    assert paper.title.split()[0] in texts[7]
    assert str(paper.year) in texts[7]


@pytest.mark.parametrize("name", ["MUSE", "VLT/MUSE", "VLT", "GPI", "JWST"])
def test_a_facility_outlines_the_papers_that_its_filter_selects(explorer, name):
    explorer.facility = name
    assert explorer.wait(60)
    rows = explorer._state.overlays["facility"].rows.tolist()
    assert rows == explorer.atlas.select(f'facility:"{name}"').tolist()


@pytest.mark.parametrize(
    ("name", "message"),
    [("HERMES", "3 facilities 'HERMES'; give one of"), ("ALMO", "no facility 'ALMO'; the nearest")],
)
def test_an_unclear_facility_is_reported(explorer, name, message):
    explorer.facility = name
    assert explorer.wait(60)
    assert message in explorer.status
    assert "facility" not in explorer._state.overlays


def test_a_click_shows_the_record(explorer):
    row = int(explorer._drawn.marks["papers"][3])
    click_on_page(explorer, "papers", 3)
    paper = explorer.atlas.engine.papers([row])[0]
    assert paper.abstract[:20] in explorer._controls.record.value
    assert list(explorer.figure.trace("focus").x) == [explorer._data.x[row]]


@pytest.mark.parametrize("kind", ["lasso", "box"])
def test_an_outline_selects_all_papers_in_it(explorer, kind):
    explorer.layers = []  # nothing is drawn singly: the outline alone has to do
    x0, y0, x1, y1 = View(explorer.view).zoomed(2).box
    if kind == "box":
        draw_on_page(explorer, "box", xrange=[x0, x1], yrange=[y0, y1])
    else:
        draw_on_page(explorer, "lasso", xs=[x0, x1, x1, x0], ys=[y0, y0, y1, y1])
    unit = View(explorer.view).width / explorer._size[0]
    expected = View((x0, y0, x1, y1)).holds(explorer._data.x, explorer._data.y).sum()
    loose = View((x0 - unit, y0 - unit, x1 + unit, y1 + unit))
    assert len(explorer.rows) > 0
    assert (
        abs(len(explorer.rows) - expected)
        <= loose.holds(explorer._data.x, explorer._data.y).sum() - expected + 3
    )
    table = explorer.selection
    assert len(table) == len(explorer.rows)
    assert table["paper_id"].tolist() == [
        explorer.atlas.map["paper_id"][row] for row in explorer.rows
    ]
    assert "outline=[" in explorer.code


def test_the_code_makes_the_same_view(demo_atlas, explorer):
    explorer.search("dark matter", k=10)
    assert explorer.wait(60)
    explorer.time = (2005, 2015)
    explorer.select("2010..")
    explorer.colour_by = "year"
    assert explorer.wait(60)
    explorer.zoom(2)
    assert explorer.wait(60)
    again = eval(explorer.code, {"MapExplorer": MapExplorer, "atlas": demo_atlas})  # noqa: S307
    assert again.wait(60)
    assert again.code == explorer.code
    assert again.rows.tolist() == explorer.rows.tolist()
    assert again.results.rows.tolist() == explorer.results.rows.tolist()
    assert again.colour_by == "year"
    assert np.allclose(again.view, explorer.view, atol=1e-2 * View(explorer.view).width)


def test_names_never_touch_at_any_zoom(explorer):
    for factor in (1.0, 1.7, 3.0, 5.0, 9.0):
        explorer.home().zoom(factor)
        assert explorer.wait(60)
        boxes = np.array([name.box for name in explorer._drawn.names]).reshape(-1, 4)
        assert len(boxes) or factor > 2  # few papers have few names
        overlap = boxes_overlap(boxes[:, None], boxes[None], gap=0)
        np.fill_diagonal(overlap, False)
        assert not overlap.any()
        assert (boxes >= 0).all()
        assert (boxes[:, 2] <= explorer._size[0]).all()


@pytest.mark.parametrize(
    "name", ["density", "topic", "year", "citations", "journal", "facility", "concept"]
)
def test_every_colouring_is_drawn_with_its_legend(explorer, name):
    if name == "facility":
        explorer.facility = "HST"
    if name == "concept":
        explorer.concept = next(iter(explorer.atlas.thesaurus.concepts.values())).label
    assert explorer.wait(60)
    explorer.colour_by = name
    assert explorer.wait(60)
    if explorer._state.colouring.kind == "density" and name != "density":
        assert "No paper" in explorer.status  # the corpus has none
        return
    assert explorer.colour_by == name
    assert explorer._drawn.picture.pixels.ndim == (2 if name == "density" else 3)
    assert "swatch" in explorer._controls.legend.value or "ramp" in explorer._controls.legend.value


def test_errors_are_sentences_and_nothing_changes(explorer):
    explorer.search("citations>", method="filter")
    assert explorer.wait(60)
    assert "whole number is missing" in explorer.status
    assert explorer.results is None
    explorer.facility = "ALMO"
    assert explorer.wait(60)
    assert "ALMO" in explorer.status
    assert explorer._controls.facility.value == ""
    with pytest.raises(InputError, match="There is no colour 'colour'"):
        colouring_of(explorer.atlas, "colour")
    with pytest.raises(InputError, match="ends in 1999"):
        explorer.time = (2005, 1999)


def test_the_time_window_and_play(explorer):
    explorer.time = (2000, 2005)
    assert explorer.wait(60)
    years = explorer._data.years
    assert explorer._drawn.picture.n_papers <= ((years >= 2000) & (years <= 2005)).sum()
    explorer._controls.play.value = 2010
    assert explorer.wait(60)
    assert explorer.time == (2005, 2010)
    assert explorer._controls.time.value == (2005, 2010)


def test_summary_comparison_answer_and_files(explorer, tmp_path):
    explorer.select("2010..")
    assert explorer.wait(60)
    assert "Regions" in explorer._controls.summary.value
    summary = explorer.summarise()
    alone = summary._repr_html_()  # shown by itself, without the styles of the panel
    assert "fill='#" in alone
    assert "justify-content: space-between" in alone
    assert summary.n_papers == len(explorer.rows) == summary.years.sum()
    assert len(explorer.compare().table)
    answer = explorer.ask("What is known about dark matter?", model=None)
    chosen = set(explorer.rows.tolist())
    assert answer.results.papers
    assert all(paper.row in chosen for paper in answer.results.papers)
    lines = explorer.save(tmp_path / "some.csv").read_text().splitlines()
    assert len([line for line in lines if not line.startswith("#")]) >= len(chosen) + 1
    assert explorer.save(tmp_path / "some.bib").read_text().count("@") >= len(chosen)


def test_what_is_seen_is_saved(explorer, tmp_path):
    explorer.search("dark matter", k=10)
    assert explorer.wait(60)
    page = explorer.save(tmp_path / "view.html").read_text()
    assert len(page) < 8_000_000
    assert "cdn.plot.ly" not in page.split("<div class='map'")[0]
    assert "Found for" in page
    assert "these papers do not exist" in page
    assert explorer.save(tmp_path / "view.png").stat().st_size > 10_000
    with pytest.raises(InputError, match="cannot be written"):
        explorer.save(tmp_path / "view.doc")


def test_a_page_that_comes_back_gets_the_figure_as_it_is(explorer):
    zoom_on_page(explorer, View(explorer.view).zoomed(4).box)
    state = explorer.figure.get_state()
    assert np.allclose(state["_widget_layout"]["xaxis"]["range"], explorer.view[::2])
    assert state["_widget_layout"]["images"][1]["source"] == source(explorer)


def test_two_explorers_share_nothing(demo_atlas, explorer):
    other = MapExplorer(demo_atlas, theme="dark")
    assert other.wait(60)
    before = explorer.view, explorer.rows.tolist()
    other.select("2010..").zoom(3)
    assert other.wait(60)
    assert (explorer.view, explorer.rows.tolist()) == before
    assert explorer.theme == "light"


def test_an_atlas_built_again_is_said_once_and_can_be_reloaded(demo_atlas, tmp_path):
    import shutil

    import landscape

    folder = tmp_path / "copy.atlas"
    shutil.copytree(demo_atlas.path, folder)
    explorer = MapExplorer(landscape.open(folder))
    assert explorer.wait(60)
    explorer.atlas.engine.papers([0])
    from landscape.pipeline.stages import write_manifest
    from landscape.store.manifest import read_manifest

    time.sleep(0.01)
    manifest = read_manifest(folder)
    write_manifest(folder, dataclasses.replace(manifest, title="Built again"))
    explorer.zoom(2)
    assert explorer.wait(60)
    assert "rebuilt" in explorer.status
    assert explorer._controls.reload.layout.display == ""
    explorer.reload()
    assert explorer.wait(60)
    assert explorer.heading == "Map of Built again"
    assert explorer._controls.reload.layout.display == "none"


def test_papers_are_escaped_and_the_repr_is_short(explorer):
    from landscape.types import Paper
    from landscape.widgets._selection import hover_text, record_html

    paper = Paper(
        row=0,
        paper_id="x",
        title="<script>alert(1)</script>$x$",
        abstract="<img src=x onerror=alert(1)>",
    )
    assert "<script" not in hover_text(paper) + record_html(paper)
    assert "<img" not in record_html(paper)
    assert "$" not in hover_text(paper)
    assert len(repr(explorer)) < 200


def test_selected_papers_stand_out_on_a_map_of_any_colours(explorer):
    from landscape.figures.colours import theme
    from landscape.widgets._raster import draw_picture

    colouring, view = colouring_of(explorer.atlas, "year"), View(explorer.view)
    points = explorer._data.points
    lit = points.only(explorer._data.x < np.median(explorer._data.x))

    def drawn(lit):
        return draw_picture(
            points, view, (300, 220), colours=theme("light"), colouring=colouring, lit=lit
        ).rgb.astype(int)

    plain, shown = drawn(None), drawn(lit)
    ink = np.array([int(theme("light").ink[i : i + 2], 16) for i in (1, 3, 5)])
    assert (shown == ink).all(axis=2).sum() > 50  # a dark line around them
    assert not (plain == ink).all(axis=2).any()
    assert shown.mean() > plain.mean()  # the others fade into the page


def test_what_is_found_stands_above_the_names(explorer):
    from landscape.widgets._map_figure import TRACES

    order = [TRACES.index(name) for name in ("selected", "regions", "continents", "found", "apart")]
    assert order == sorted(order)
    explorer.search("dark matter", k=100)
    assert explorer.wait(60)
    found = explorer.results.rows[:12]
    best = View(explorer.view).to_pixels(
        explorer._data.x[found], explorer._data.y[found], explorer._size
    )
    boxes = np.array([name.box for name in explorer._drawn.names])
    for x, y in best:
        assert not (
            (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
        ).any()


def test_a_file_is_made_after_the_search_that_runs(explorer, monkeypatch):
    import threading

    from landscape.widgets import _explorer_tasks as work

    go_on, find = threading.Event(), work.find_papers
    monkeypatch.setattr(work, "find_papers", lambda *a, **k: go_on.wait() and find(*a, **k))
    explorer.search("dark matter", k=10)
    explorer._make_file(".png")
    assert "comes next, after: Searching" in explorer.status
    go_on.set()
    assert explorer.wait(120)
    assert len(explorer.results.rows) == 10
    assert "download=" in explorer._controls.file.value


def test_points_find_what_a_plain_search_finds():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5_000)).astype(np.float32)
    x[:3] = np.nan
    points = Points(x, y)
    box = (-0.5, -0.2, 0.7, 1.1)
    inside = (x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])
    assert points.within(box).tolist() == np.flatnonzero(inside).tolist()
    half = points.only(np.arange(5_000) % 2 == 0)
    assert half.within(box).tolist() == [row for row in np.flatnonzero(inside) if row % 2 == 0]
    from matplotlib.path import Path

    corners = [(-1, -1), (1, -0.5), (0.2, 0.3), (0.9, 1.5), (-0.7, 0.8)]
    expected = Path([*corners, corners[0]]).contains_points(np.column_stack([x, y]))
    found = points.inside([a for a, _ in corners], [b for _, b in corners])
    assert found.tolist() == np.flatnonzero(expected).tolist()


def test_a_chosen_region_is_described(explorer):
    topic = explorer.atlas.topics[explorer.atlas.topics["level"] == 1].iloc[0]
    explorer._controls.regions.value = int(topic["topic_id"])
    record = explorer._controls.record.value
    assert f"{topic['n_papers']} papers" in record
    assert "Typical: " in record
