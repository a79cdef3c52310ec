"""Filters by facility and by review read the atlas's layers."""

from __future__ import annotations

import numpy as np
import pytest

from landscape import Atlas
from landscape.errors import InputError
from landscape.overlays.missions import impact

# Private: no public function returns the papers of a facility as figures and panels select them.
from landscape.overlays.missions._usage import read_usage
from landscape.widgets._colours import papers_of_facility


def test_a_facility_is_found_by_its_mentions_not_by_the_word(demo_atlas: Atlas) -> None:
    mentions = demo_atlas.missions
    rows = mentions.loc[mentions["facility"] == "HST", "paper_row"].unique()
    assert len(rows) > 3
    assert demo_atlas.select("facility:HST").tolist() == sorted(rows)
    assert demo_atlas.select('facility:"Hubble Space Telescope"').tolist() == sorted(rows)
    words = demo_atlas.read_papers(["title", "abstract"]).agg(" ".join, axis=1)
    constant = np.flatnonzero(words.str.contains(r"\bHubble (?:constant|flow|tension)"))
    only_constant = np.setdiff1d(constant, rows)
    assert len(only_constant)
    assert not set(only_constant) & set(demo_atlas.select("facility:Hubble"))


@pytest.mark.parametrize("name", ["MUSE", "VLT/MUSE", "VLT", "GPI", "JWST"])
def test_filters_tables_figures_and_panels_select_the_same_papers(
    demo_atlas: Atlas, name: str
) -> None:
    rows = demo_atlas.select(f'facility:"{name}"').tolist()
    usage = read_usage(demo_atlas, [name], role="any")  # used by all figures of facilities
    assert rows == usage.rows[0].tolist() == papers_of_facility(demo_atlas, name)[0].tolist()
    table = impact(demo_atlas, [name], role="any", n_resamples=1).table
    assert rows
    assert table["papers"].tolist() == [len(rows)]


def test_an_instrument_has_fewer_papers_than_its_telescope(demo_atlas: Atlas) -> None:
    words = demo_atlas.read_papers(["title", "abstract"]).agg(" ".join, axis=1)
    named = np.flatnonzero(words.str.contains(r"\bMUSE\b"))
    whole = demo_atlas.select("facility:VLT").tolist()
    assert demo_atlas.select("facility:MUSE").tolist() == named.tolist()
    assert len(named)
    assert set(named) < set(whole)


@pytest.mark.parametrize(
    ("name", "message"),
    [("HERMES", "3 facilities 'HERMES'; give one of"), ("ALMO", "no facility 'ALMO'; the nearest")],
)
def test_unclear_names_are_refused_by_filters_tables_and_panels(
    demo_atlas: Atlas, name: str, message: str
) -> None:
    for ask in (
        lambda: demo_atlas.select(f"facility:{name}"),
        lambda: impact(demo_atlas, [name]),
        lambda: papers_of_facility(demo_atlas, name),
    ):
        with pytest.raises(InputError, match=message):
            ask()


def test_reviews_are_those_of_the_layer(demo_atlas: Atlas) -> None:
    rows = sorted(demo_atlas.reviews["paper_row"])
    assert demo_atlas.select("review").tolist() == rows
    assert len(demo_atlas.select("-review")) == len(demo_atlas) - len(rows)
    found = demo_atlas.search("stars", k=len(demo_atlas), filter="review")
    assert sorted(paper.row for paper in found.papers) == rows
