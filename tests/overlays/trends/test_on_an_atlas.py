"""Trends on a built atlas, with its filters, affiliations and regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from landscape.errors import InputError
from landscape.overlays.trends import author_path, compare, countries, institutions, trends

if TYPE_CHECKING:
    from landscape.store import AtlasStore as Atlas


def test_trends_count_every_paper_once(demo_atlas: Atlas) -> None:
    found = trends(demo_atlas)
    regions = demo_atlas.topics[demo_atlas.topics["level"] == 1]
    assert sorted(found.table.topic_id) == sorted(regions.topic_id)
    assert found.table.set_index("topic_id").papers.to_dict() == (
        regions.set_index("topic_id").n_papers.to_dict()
    )
    assert found.bounds["generated"]
    assert "generated" in found.caption or "Generated demo corpus" in found.to_text()
    assert found.to_csv()
    assert found.to_dict()["tables"]["years"]


def test_filters_are_compared(demo_atlas: Atlas) -> None:
    found = compare(demo_atlas, "..2009", "2010..")
    assert sum(found.denominators.values()) == len(demo_atlas)
    assert "..2009" in found.caption
    with pytest.raises(InputError, match=r"'\.\.1900' selects no paper"):
        compare(demo_atlas, "..1900", "2010..")


def test_an_author_of_the_atlas_is_followed(demo_atlas: Atlas) -> None:
    authors = demo_atlas.read_papers(["authors"])["authors"].explode()
    name = authors.value_counts().index[0]
    found = author_path(demo_atlas, name, n_resamples=50)
    assert len(found.table) == (authors == name).sum()
    assert found.table.spelled.unique().tolist() == [name]
    assert found.table.affiliation.ne("").all()
    with pytest.raises(InputError, match=f"nearest: .*{name.split(',')[0]}"):
        author_path(demo_atlas, name.replace(",", "x,", 1))


def test_generated_affiliations_are_all_understood(demo_atlas: Atlas) -> None:
    of_countries, of_institutions = countries(demo_atlas), institutions(demo_atlas)
    everywhere = demo_atlas.read_papers(["aff"])["aff"].explode()
    assert set(of_countries.table.country) == set(everywhere.str.rpartition(", ")[2])
    assert of_countries.denominators["papers with a known country"] == len(demo_atlas)
    assert of_countries.table.fractional.sum() == pytest.approx(len(demo_atlas))
    assert of_institutions.table.country.ne("").all()
