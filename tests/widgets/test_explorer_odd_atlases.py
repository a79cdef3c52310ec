"""Atlases without some parts can be explored; one sentence names what is missing."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("plotly")
pytest.importorskip("ipywidgets")

from benchmarks.literature import open_made_up_atlas, write_made_up_atlas
from landscape.atlas import Atlas
from landscape.widgets import MapExplorer


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
    (papers,) = (folder / "papers.parquet").iterdir()
    table = pq.read_table(papers)
    years = pa.nulls(50, pa.int16())
    pq.write_table(table.set_column(table.schema.get_field_index("year"), "year", years), papers)
    manifest = open_made_up_atlas(folder).manifest
    layers = ("uat", "missions", "reviews")
    stages = {name: one for name, one in manifest.stages.items() if name not in layers}
    return Atlas(folder, dataclasses.replace(manifest, stages=stages))


def test_one_paper_is_a_map(tmp_path):
    atlas = write_made_up_atlas(tmp_path / "one.atlas", n_papers=1, n_facilities=2)
    explorer = MapExplorer(atlas)
    assert explorer.wait(60)
    explorer.zoom(3)
    assert explorer.wait(60)
    assert explorer._drawn.picture.n_papers == 1
    assert len(explorer._drawn.marks["papers"]) == 1


def test_what_an_atlas_lacks_is_said(bare, tmp_path):
    explorer = MapExplorer(bare)
    assert explorer.wait(60)
    for lack in ("no layer of thesaurus, missions, reviews", "no named regions", "has a date"):
        assert lack in explorer.status
    assert explorer._controls.times.layout.display == "none"
    assert explorer._controls.facility.disabled
    explorer.colour_by = "topic"
    assert explorer.wait(60)
    assert explorer.status == "This atlas has no named regions to colour by."
    explorer.concept = "Galaxies"
    assert explorer.wait(60)
    assert "no layer 'uat'" in explorer.status
    explorer.select([1, 2, 3])
    assert explorer.wait(60)
    assert "No year is known" in explorer._controls.summary.value
    assert explorer.save(tmp_path / "bare.png").stat().st_size > 5_000
