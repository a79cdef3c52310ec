"""Home fields by category, or by the thesaurus, or unknown."""

from __future__ import annotations

import numpy as np
import pandas as pd

from landscape.corpus import load_facilities
from landscape.corpus.thesaurus import Concept, Thesaurus
from landscape.overlays.missions.usage import (
    match_home_fields,
    read_category_fields,
    read_fields,
    read_tag_fields,
)

CONCEPTS = {
    "1": Concept("1", "Stellar astronomy"),
    "2": Concept("2", "Astrophysical processes"),
    "3": Concept("3", "Cosmology"),
    "4": Concept("4", "Pulsars", broader=("1", "2")),
    "5": Concept("5", "Accretion", broader=("2",)),
}


def test_tags_tell_the_field_of_papers_without_a_telling_category() -> None:
    tags = pd.DataFrame(
        {
            "paper_row": [7, 7, 7, 8, 9],
            "concept_id": ["5", "4", "3", "2", "unknown"],
            "score": [0.9, 0.8, 0.7, 0.9, 0.9],
        }
    )
    fields = read_tag_fields(tags, Thesaurus("1", CONCEPTS), np.array([9, 7, 8, 6]))
    # The best concept of a field wins; processes are no field.
    assert match_home_fields(["Stellar astronomy"], fields).tolist() == [-1, 1, -1, -1]
    assert match_home_fields(["Cosmology"], fields).tolist() == [-1, 0, -1, -1]


def test_cross_lists_count_as_home() -> None:
    categories = [["astro-ph.HE", "astro-ph.SR"], ["astro-ph.GA"], ["physics.space-ph"], None, []]
    fields = read_category_fields(categories)
    assert match_home_fields(["Solar physics"], fields).tolist() == [1, 0, 1, -1, -1]
    assert match_home_fields([], fields).tolist() == [-1] * 5


def test_every_facility_has_a_home_that_categories_can_tell() -> None:
    told = {field for fields in read_fields().values() for field in fields}
    lost = [name for name, one in load_facilities().items() if not told & set(one.home_fields)]
    assert lost == []
