from __future__ import annotations

import pandas as pd
import pytest

from landscape.corpus.thesaurus import Concept, Thesaurus
from landscape.errors import InputError


def make(*concepts: Concept) -> Thesaurus:
    return Thesaurus("5.1.0", {one.concept_id: one for one in concepts})


@pytest.fixture
def small() -> Thesaurus:
    return make(
        Concept("1", "Stars"),
        Concept("2", "Binary stars", broader=("1",)),
        Concept("3", "White dwarf stars", ("White dwarfs",), ("1",), definition="Hot and small."),
        Concept("4", "Cataclysmic variables", broader=("2", "3"), related=("1",)),
        Concept("9", "Galaxies", ("Stars of galaxies",)),
    )


def test_hierarchy_with_several_parents(small):
    assert small.top == ("9", "1")
    assert small.narrower("1") == ("2", "3")
    assert small.ancestors("4") == {"1", "2", "3"}
    assert small.descendants("1") == {"2", "3", "4"}
    assert small.near("2") == {"1", "4"}
    assert small.near("9") == small.descendants("9") == frozenset()


@pytest.mark.parametrize(
    "name",
    [
        "3",
        3,
        "white dwarf STARS",
        "White dwarfs",
        "White dwarf stars (3)",
        "http://astrothesaurus.org/uat/3",
    ],
)
def test_find_by_any_name(small, name):
    assert small.find(name).concept_id == "3"


def test_unknown_concept_names_the_nearest(small):
    with pytest.raises(InputError, match=r"no concept 'White dwarfes'.*White dwarfs \(3\)"):
        small.find("White dwarfes")
    with pytest.raises(InputError, match="no concept '77'"):
        small.near("77")


def test_cycle_is_named():
    with pytest.raises(InputError, match=r"cycle: .*A \(1\).* < .*B \(2\)"):
        make(Concept("1", "A", broader=("2",)), Concept("2", "B", broader=("1",)))
    with pytest.raises(InputError, match=r"cycle: A \(1\) < A \(1\)"):
        make(Concept("1", "A", broader=("1",)))


def test_lacking_parent_is_named():
    with pytest.raises(InputError, match=r"'A' \(1\) has the broader concept '5'"):
        make(Concept("1", "A", broader=("5",)))


def test_frame_and_back_through_parquet(small, tmp_path):
    small.to_frame().to_parquet(tmp_path / "thesaurus.parquet")
    assert Thesaurus.from_frame(pd.read_parquet(tmp_path / "thesaurus.parquet")) == small
    assert len(Thesaurus.from_frame(make().to_frame())) == 0
