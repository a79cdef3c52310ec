"""Extents and separability of groups with known truth."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from landscape.corpus.thesaurus import Concept, Thesaurus
from landscape.errors import InputError
from landscape.overlays.thesaurus import thesaurus_overlay

COVERAGE = {
    "title": "Two clumps",
    "papers": 2000,
    "sources": {},
    "first_date": "2000",
    "last_date": "2001",
    "generated": True,
}


def _atlas() -> SimpleNamespace:
    """Return an atlas with stars in one cluster, galaxies in two, and dust everywhere."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, 2000)
    centre = np.array([[0, 0], [10, 0], [5, 9]])[kind]
    points = centre + rng.normal(size=(2000, 2))
    concepts = {
        "1": Concept("1", "Stars"),
        "2": Concept("2", "Galaxies"),
        "3": Concept("3", "Dwarf galaxies", broader=("2",)),
        "4": Concept("4", "Dust"),
    }
    tagged = {"1": kind == 0, "2": kind == 1, "3": kind == 2, "4": rng.random(2000) < 0.3}
    tags = pd.concat(
        pd.DataFrame({"paper_row": np.flatnonzero(rows), "concept_id": one, "score": 0.9})
        for one, rows in tagged.items()
    )
    vectors = np.column_stack([points, np.ones(2000)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    atlas = SimpleNamespace(
        map=pd.DataFrame({"x": points[:, 0], "y": points[:, 1]}),
        uat=tags,
        thesaurus=Thesaurus("9", concepts),
        coverage=COVERAGE,
        vectors=lambda: vectors.astype(np.float32),
    )
    atlas.read_layer = lambda layer, columns: getattr(atlas, layer)[["paper_row", *columns]]
    return atlas


def test_pieces_areas_and_separability_are_those_of_the_clumps() -> None:
    atlas = _atlas()
    table = thesaurus_overlay(atlas).table.set_index("label")
    assert list(table.index) == ["Dust", "Galaxies", "Stars"]
    # Narrower concepts count: galaxies are the clump of their own and that of the dwarfs.
    assert table.loc["Galaxies", "papers"] == len(atlas.uat[atlas.uat.concept_id.isin(["2", "3"])])
    assert table.loc["Stars", "pieces_80"] == 1
    assert table.loc["Galaxies", "pieces_80"] == 2
    assert table.loc["Stars", "area_50"] < table.loc["Stars", "area_80"]
    assert table.loc["Stars", "separability_map"] > 0.98
    assert (
        table.loc["Dust", "separability_map_low"] < 0.5 < table.loc["Dust", "separability_map_high"]
    )


def test_contours_are_closed_lines_of_each_concept() -> None:
    contours = thesaurus_overlay(_atlas(), concepts=["Stars", "stars"]).tables["contours"]
    assert set(contours.columns) == {"concept_id", "label", "share", "piece", "order", "x", "y"}
    assert set(contours["share"]) == {0.5, 0.8}
    for _, line in contours.groupby(["share", "piece"]):
        assert line[["x", "y"]].iloc[0].tolist() == line[["x", "y"]].iloc[-1].tolist()
    inner = contours[contours["share"] == 0.5]
    assert np.hypot(inner["x"], inner["y"]).max() < 3


def test_bad_input_is_said() -> None:
    atlas = _atlas()
    with pytest.raises(InputError, match="Galaxies"):
        thesaurus_overlay(atlas, concepts=["Galaxees"])
    atlas.uat = atlas.uat.head(0)
    with pytest.raises(InputError, match="No paper"):
        thesaurus_overlay(atlas)


def test_few_papers_are_warned_of() -> None:
    atlas = _atlas()
    atlas.uat = atlas.uat[atlas.uat.concept_id == "1"].head(1)
    found = thesaurus_overlay(atlas, concepts=["Stars", "Dust"])
    assert "Stars (1)" in found.warnings[0]
    assert found.table["papers"].tolist() == [1, 0]
