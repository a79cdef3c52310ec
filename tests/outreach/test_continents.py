"""Continents are called after fields of the thesaurus, or by what no region is called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus._thesaurus import Concept, Thesaurus
from landscape.errors import AtlasError
from landscape.outreach._continents import Field, continent_names, fields_of
from landscape.outreach._places import find_places
from landscape.outreach._terrain import make_terrain
from landscape.store import AtlasStore as Atlas

REGIONS = {1: "Adaptive optics", 2: "Solar system", 3: "3I/ATLAS", 4: "Jets and black holes"}
CONCEPTS = (
    Concept("1", "Cosmology"),
    Concept("2", "Solar physics"),
    Concept("3", "Inflation", broader=("1",)),
    Concept("4", "Flares", broader=("2",)),
    # A concept with two parents: black holes would make half of the sky "Inflation".
    Concept("5", "Black holes", broader=("3", "4")),
)


@dataclass(frozen=True)
class Tagged:
    """What `fields_of` asks of an atlas."""

    tags: list[tuple[int, str]]
    thesaurus: Thesaurus = field(
        default_factory=lambda: Thesaurus("", {one.concept_id: one for one in CONCEPTS})
    )

    def read_layer(self, layer: str, columns: list[str]) -> pd.DataFrame:
        assert layer == "uat"
        rows, names = zip(*self.tags, strict=True)
        table = {"paper_row": rows, "concept_id": names, "score": 0.9}
        return pd.DataFrame(table)[["paper_row", *columns]]


@pytest.mark.parametrize(
    ("label", "called", "silent"),
    [
        ("Stars and molecular clouds", "Stars and molecular clouds", set()),
        ("Adaptive optics and focal plane", "Focal plane", set()),
        ("Comets and adaptive optics", "Comets", set()),
        ("Solar system and 3I/ATLAS", "Solar system", {2}),
        ("Adaptive optics and σ₈", "Adaptive optics", {1}),
        ("Black holes and σ₈", "Black holes", {4}),
        ("σ₈", "σ₈", set()),
    ],
)
def test_without_a_thesaurus_no_name_is_said_twice(
    label: str, called: str, silent: set[int]
) -> None:
    assert continent_names({9: label}, REGIONS, {}) == ({9: called}, silent)


def test_a_sure_field_names_one_continent_a_likely_one_only_where_it_must() -> None:
    labels = {7: "Comets and dust", 8: "Adaptive optics and dust", 9: "Solar system and 3I/ATLAS"}
    fields = {
        7: [Field("Optics", 0.4, 0.2, 0)],
        8: [Field("Optics", 0.35, 0.15, 0), Field("Solar system", 0.9, 0.5, 1)],
        9: [Field("Solar physics", 1.2, 0.4, 0)],
    }
    names, silent = continent_names(labels, REGIONS, fields)
    assert names == {7: "Comets and dust", 8: "Optics", 9: "Solar physics"}
    assert not silent


def test_a_field_has_to_be_borne_itself_by_papers_there() -> None:
    inflation = [(row, "3") for row in range(40)]
    holes = [(row, "5") for row in range(40, 80)]
    cosmology = [(row, "1") for row in range(30)]
    continents = np.repeat([5, 6, -1], [40, 40, 40])
    found = fields_of(Tagged([*inflation, *holes, *cosmology]), continents)
    assert {one.label for one in found[5]} == {"Cosmology", "Inflation"}
    assert 6 not in found  # "Inflation" stands above all of its papers, and none bears it
    assert {one.label: one.level for one in found[5]} == {"Cosmology": 0, "Inflation": 1}


def test_no_land_of_the_demo_is_called_like_another(demo_atlas: Atlas) -> None:
    places = [
        one
        for one in find_places(demo_atlas, make_terrain(demo_atlas, size=(300, 200)))
        if one.kind in ("continent", "region") and not one.silent
    ]
    names = [one.called({}).casefold() for one in places]
    assert len(set(names)) == len(names) > 5


def test_names_that_somebody_chose_stay(demo_atlas: Atlas, monkeypatch: Any) -> None:
    topics = demo_atlas.topics.copy()
    topics["label_source"] = "labels.csv"
    monkeypatch.setitem(demo_atlas.__dict__, "topics", topics)
    places = find_places(demo_atlas, make_terrain(demo_atlas, size=(300, 200)))
    assert not any(one.name or one.silent for one in places)


def test_an_atlas_without_a_thesaurus_has_no_fields() -> None:
    class Bare:
        @property
        def thesaurus(self) -> Thesaurus:
            raise AtlasError("It has none.")

    assert fields_of(Bare(), np.zeros(3, dtype=np.int64)) == {}
