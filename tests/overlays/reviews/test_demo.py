"""The planted gaps of the demo corpus are found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import landscape
from landscape.overlays.reviews import recognise, review_gaps

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def demo():
    """The demo of `make demo`: 4,000 papers, with topics found by the build."""
    folder = Path(os.environ.get("LANDSCAPE_DEMO", REPOSITORY))
    if not (folder / "demo.atlas").is_dir() or not (folder / "demo-corpus").is_dir():
        pytest.skip(f"no demo in {folder}: run make demo, or name its folder in LANDSCAPE_DEMO")
    atlas = landscape.open(folder / "demo.atlas")
    truth = json.loads((folder / "demo-corpus" / "truth.json").read_text("utf-8"))
    papers = atlas.read_papers(["paper_id", "title", "abstract", "doctype", "journal", "bibcode"])
    found = recognise(papers).rename(columns={"row": "paper_row"})
    found["paper_id"] = papers["paper_id"].to_numpy()[found["paper_row"]]
    seen = SimpleNamespace(
        map=atlas.map,
        topics=atlas.topics,
        read_papers=atlas.read_papers,
        vectors=atlas.vectors,
        coverage=atlas.coverage,
        reviews=found,
        read_layer=lambda _, columns: found[["paper_row", *columns]],
    )
    return seen, truth


def test_every_planted_review_is_recognised(demo):
    atlas, truth = demo
    planted = {paper["paper_id"] for paper in truth["papers"] if paper["kind"] == "review"}
    assert set(atlas.reviews["paper_id"]) == planted


def test_the_regions_of_the_planted_gaps_have_a_rank(demo):
    atlas, truth = demo
    found = review_gaps(atlas, n_resamples=50)
    ranked = set(found.table.loc[found.table["rank"].notna(), "topic_id"])
    assert 4 <= len(ranked) <= len(found.table) / 2
    themes = pd.Series({paper["paper_id"]: paper["question"] for paper in truth["papers"]})
    homes = atlas.map.groupby(themes.loc[atlas.map["paper_id"]].to_numpy())["topic_id"]
    planted = set(homes.agg(lambda topics: topics.mode()[0])[list(truth["review_gaps"])])
    first = set(found.table.sort_values("rank")["topic_id"].head(2))
    assert first <= planted, "the first two gaps are planted"
    assert len(ranked & planted) >= 3
