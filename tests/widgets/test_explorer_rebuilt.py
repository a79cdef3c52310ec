"""An atlas is rebuilt while an explorer is open: new and old papers are not confused."""

from __future__ import annotations

import dataclasses
import shutil
import time
from pathlib import Path

import pytest

pytest.importorskip("plotly")
pytest.importorskip("ipywidgets")

import landscape
from benchmarks.literature import write_made_up_atlas
from landscape.atlas import Atlas
from landscape.errors import AtlasError
from landscape.pipeline.stages import write_manifest
from landscape.store.manifest import read_manifest
from landscape.widgets import MapExplorer


@pytest.fixture
def explorer(demo_atlas: Atlas, tmp_path: Path) -> MapExplorer:
    """An explorer of an atlas that can be replaced."""
    folder = tmp_path / "own.atlas"
    shutil.copytree(demo_atlas.path, folder)
    made = MapExplorer(landscape.open(folder))
    assert made.wait(60)
    return made


def build_anew(explorer: MapExplorer) -> None:
    """Replace the atlas by an atlas of fewer papers without an index."""
    folder = explorer.atlas.path
    before = explorer.atlas.manifest.updated
    shutil.rmtree(folder)
    made = write_made_up_atlas(folder, n_papers=60, n_facilities=2)
    while made.manifest.updated == before:  # told to the second
        time.sleep(0.1)
        made = Atlas(folder, write_manifest(folder, made.manifest))


def put_same(explorer: MapExplorer, title: str) -> None:
    """Replace the atlas by an atlas of the same papers with another title."""
    folder, before = explorer.atlas.path, explorer.atlas.manifest.updated
    manifest = dataclasses.replace(read_manifest(folder), title=title)
    while write_manifest(folder, manifest).updated == before:
        time.sleep(0.1)


def test_no_papers_of_a_new_build_are_given_for_those_selected(explorer, tmp_path):
    explorer.select([300, 301])
    assert explorer.wait(60)
    build_anew(explorer)
    for give in (
        lambda: explorer.selection,
        explorer.summarise,
        explorer.compare,
        lambda: explorer.save(tmp_path / "selection.csv"),
    ):
        with pytest.raises(AtlasError, match="rebuilt since it was opened"):
            give()
    assert not (tmp_path / "selection.csv").exists()


@pytest.mark.parametrize("what", ["files", "colours", "summary"])
def test_the_page_offers_to_open_a_new_build(explorer, what):
    explorer.select([300, 301])
    assert explorer.wait(60)
    build_anew(explorer)
    assert explorer._controls.reload.layout.display == "none"
    if what == "files":
        explorer._controls.export.click()
    elif what == "colours":
        explorer.colour_by = "journal"
    else:
        explorer._summing.request()
    assert explorer.wait(60)
    assert "rebuilt since it was opened" in explorer.status
    assert explorer._controls.reload.layout.display == ""
    assert explorer._state.colouring.kind == "density"
    assert explorer._controls.links.value == ""


def test_an_atlas_that_is_gone_is_said_in_a_sentence(explorer):
    shutil.rmtree(explorer.atlas.path)
    explorer.colour_by = "journal"
    assert explorer.wait(60)
    assert "There is no atlas" in explorer.status


def test_what_was_shown_is_read_again(explorer):
    ids = explorer.atlas.uat["concept_id"].value_counts()
    explorer.concept = explorer.atlas.thesaurus.concepts[ids.index[0]].label
    explorer.facility, explorer.colour_by = "HST", "concept"
    explorer.layers = ("names", "papers", "reviews")
    explorer.time = (2000, 2020)
    explorer.search("dust", k=10)
    assert explorer.wait(60)
    line, old = explorer.code, explorer.results
    explorer.zoom(2).select("2010..")
    assert explorer.wait(60)
    put_same(explorer, "Built again")
    explorer.reload()
    assert explorer.wait(60)
    assert explorer.heading == "Map of Built again"
    assert explorer.status.startswith("The atlas was opened again; the selection of the old")
    assert explorer.code == line
    assert explorer._controls.colour.value == explorer.colour_by == "concept"
    assert set(explorer._drawn.lines) >= {"concept", "facility"}
    assert "reviews" in explorer._state.overlays
    assert explorer.results is not old
    assert explorer.results.rows.tolist() == old.rows.tolist()
    assert len(explorer._controls.found_list.children) == 10
    assert len(explorer.rows) == 0
    explorer.back()
    assert explorer.view == explorer._data.whole.box  # no view of the old map to go back to


def test_what_the_new_build_has_not_is_said_and_gone(explorer):
    explorer.concept = "Exoplanets"
    titles = explorer.atlas.read_papers(["title"])["title"]
    title = next(one for one in titles if one.replace(" ", "").isalpha())
    explorer.search(f'title:"{title}"', method="filter")
    assert explorer.wait(60)
    assert explorer.results is not None
    assert len(explorer._controls.found_list.children) > 0
    explorer._state = dataclasses.replace(explorer._state, time=(1950, 1960))
    build_anew(explorer)
    said, redrawn = [], []
    say, offer = explorer.say, explorer._offer

    def offer_late():
        explorer._drawing.request()  # as when the map is moved just now
        redrawn.append(explorer._drawing.wait(60))
        return offer()

    explorer.say = lambda text, kind="quiet": said.append(text) or say(text, kind)
    explorer._offer = offer_late
    explorer.reload()
    assert explorer.wait(60)
    assert redrawn == [True]
    assert not [text for text in said if "failed" in text]
    assert explorer.status.startswith("The atlas was opened again")
    assert len(explorer._data) == 60
    assert "No paper passes this filter" in explorer.status
    assert explorer.results is None
    assert explorer._controls.found_list.children == ()
    assert "search=" not in explorer.code
    known = explorer._data.period
    assert known[0] > 1960
    assert explorer.time is None
    assert (explorer._controls.concept.value or None) == explorer.concept


def test_texts_still_read_of_the_old_atlas_are_not_told_of_the_new_one(explorer):
    old = explorer._painter.texts
    assert old
    put_same(explorer, "Built again")
    explorer.reload()
    assert explorer.wait(60)
    assert explorer._painter.texts is not old
    assert explorer._painter.texts
