"""Explorers of an atlas that is rebuilt while it is open, and of atlases without some parts."""

from __future__ import annotations

import dataclasses
import shutil
import time
from pathlib import Path

import pytest

import landscape
from benchmarks.literature import open_made_up_atlas, write_made_up_atlas
from landscape.atlas import Atlas
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import read_manifest
from landscape.widgets import MapExplorer
from tests.timing import time_limit


@pytest.fixture
def explorer(demo_atlas: Atlas, tmp_path: Path) -> MapExplorer:
    """An explorer of an atlas that can be replaced."""
    folder = tmp_path / "own.atlas"
    shutil.copytree(demo_atlas.path, folder)
    return MapExplorer(landscape.open(folder))


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


def test_a_region_is_renamed_and_named_as_before(explorer: MapExplorer) -> None:
    region = explorer.atlas.topics.query("level == 1").iloc[0]
    labels = explorer.atlas.path / "labels.csv"
    labels.write_text("topic_id,label,by\n100000,The sky,me\n", encoding="utf-8")
    explorer.rename(int(region.topic_id), " Mine,\n not yours ").wait()
    assert labels.read_text("utf-8").splitlines()[:2] == ["topic_id,label,by", "100000,The sky,me"]
    topics = landscape.open(explorer.atlas.path).topics.set_index("topic_id")
    assert topics.label[region.topic_id] == "Mine, not yours"
    assert explorer.atlas.topics.set_index("topic_id").label[region.topic_id] == "Mine, not yours"
    explorer.rename("Mine, not yours", "").wait()
    assert explorer.atlas.topics.set_index("topic_id").label[region.topic_id] == region.label
    with pytest.raises(InputError, match="no region 'Atlantis'"):
        explorer.rename("Atlantis", "x")
    labels.write_text("a,b\n", encoding="utf-8")
    with pytest.raises(AtlasError, match="needs the columns"):
        explorer.rename(int(region.topic_id), "x")
    assert labels.read_text("utf-8") == "a,b\n"


def test_no_papers_of_a_new_build_are_given_for_those_selected(
    explorer: MapExplorer, tmp_path: Path
) -> None:
    explorer.select([300, 301])
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


def test_the_page_offers_to_open_a_new_build(explorer: MapExplorer) -> None:
    build_anew(explorer)
    assert not explorer.map.is_old
    explorer.map.set_state({"given": {"colour": "year"}})
    assert "rebuilt since it was opened" in explorer.status
    assert explorer.map.notice == explorer.status
    assert explorer.map.is_old


def test_what_was_shown_is_shown_of_the_new_build(explorer: MapExplorer) -> None:
    explorer.facility, explorer.colour_by = "HST", "facility"
    explorer.layers, explorer.time = ("names", "papers", "reviews"), (2000, 2020)
    explorer.search("dust", k=10)
    assert explorer.wait(time_limit(60))
    line, old = explorer.code, explorer.results
    explorer.zoom(2).select("2010..")
    put_same(explorer, "Built again")
    explorer.reload()
    assert explorer.wait(time_limit(60))
    assert explorer.map.source.manifest["title"] == "Built again"
    assert explorer.status == ""  # the search that followed replaces the message
    assert explorer.code == line
    assert explorer.results is not old
    assert old is not None
    assert explorer.results is not None
    assert explorer.results.rows.tolist() == old.rows.tolist()
    assert len(explorer.rows) == 0
    assert not explorer.map.is_old
    explorer.back()
    assert "view" not in explorer.map.given, "no window of the old map to go back to"


def test_what_the_new_build_lacks_is_said_and_gone(explorer: MapExplorer) -> None:
    explorer.facility = "Keck"
    build_anew(explorer)
    explorer.reload()
    assert explorer.wait(time_limit(60))
    assert explorer.status.startswith("The atlas was opened again; the selection of the old")
    assert "no list of the papers of 'Keck'" in explorer.status
    assert explorer.facility is None
    assert len(explorer.map.source.order) == 60


def test_an_atlas_that_is_gone_is_said_in_a_sentence(explorer: MapExplorer) -> None:
    shutil.rmtree(explorer.atlas.path)
    explorer.map._hear(explorer.map, {"do": "select", "filter": "2010.."}, [])
    assert explorer.wait(time_limit(60))
    assert "There is no atlas" in explorer.status


@pytest.fixture
def bare(tmp_path: Path) -> Atlas:
    """An atlas without regions, dates and layers."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "bare.atlas"
    write_made_up_atlas(folder, n_papers=50, n_facilities=2)
    topics = folder / "topics.parquet"
    pd.read_parquet(topics)[:0].to_parquet(topics)
    (places,) = (folder / "map.parquet").iterdir()
    table = pq.read_table(places)
    outside = pa.array([-1] * 50, table.schema.field("topic_id").type)
    pq.write_table(
        table.set_column(table.schema.get_field_index("topic_id"), "topic_id", outside), places
    )
    (papers,) = (folder / "papers.parquet").iterdir()
    table = pq.read_table(papers)
    years = pa.nulls(50, pa.int16())
    pq.write_table(table.set_column(table.schema.get_field_index("year"), "year", years), papers)
    manifest = open_made_up_atlas(folder).manifest
    layers = ("uat", "missions", "reviews")
    stages = {name: one for name, one in manifest.stages.items() if name not in layers}
    return Atlas(folder, dataclasses.replace(manifest, stages=stages))


def test_one_paper_is_a_map(tmp_path: Path) -> None:
    atlas = write_made_up_atlas(tmp_path / "one.atlas", n_papers=1, n_facilities=2)
    explorer = MapExplorer(atlas).zoom(3)
    assert explorer.map.source.manifest["papers"] == 1
    assert explorer.save(tmp_path / "one.png").stat().st_size > 5_000


def test_an_atlas_without_regions_dates_and_layers_is_a_map(bare: Atlas, tmp_path: Path) -> None:
    explorer = MapExplorer(bare)
    sets = explorer.map.source.manifest["sets"]
    assert not any(sets.values())
    with pytest.raises(LandscapeError, match="no layer 'uat'"):
        explorer.concept = "Galaxies"
    with pytest.raises(InputError, match="too few papers have it"):
        explorer.facility = "HST"
    explorer.select([1, 2, 3])
    assert "No year is known" in explorer.summarise()._repr_html_()
    assert explorer.save(tmp_path / "bare.png").stat().st_size > 5_000
