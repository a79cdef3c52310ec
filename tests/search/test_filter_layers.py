"""Filters by facility and by review read the atlas's layers."""

from __future__ import annotations

import numpy as np

from landscape import Atlas


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


def test_an_instrument_is_sought_by_its_word(demo_atlas: Atlas) -> None:
    words = demo_atlas.read_papers(["title", "abstract"]).agg(" ".join, axis=1)
    named = np.flatnonzero(words.str.contains(r"\bNIRSpec\b", case=False))
    assert demo_atlas.select("facility:NIRSpec").tolist() == named.tolist()


def test_reviews_are_those_of_the_layer(demo_atlas: Atlas) -> None:
    rows = sorted(demo_atlas.reviews["paper_row"])
    assert demo_atlas.select("review").tolist() == rows
    assert len(demo_atlas.select("-review")) == len(demo_atlas) - len(rows)
    found = demo_atlas.search("stars", k=len(demo_atlas), filter="review")
    assert sorted(paper.row for paper in found.papers) == rows
