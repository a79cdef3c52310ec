"""The three planted gaps of the demo corpus have the first three ranks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import landscape
from landscape.overlays.reviews import backtest_reviews, recognise, review_gaps

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


def test_the_planted_gaps_are_the_first_three(demo):
    atlas, truth = demo
    theme = {paper["paper_id"]: paper["theme"] for paper in truth["papers"]}
    found = review_gaps(atlas, n_resamples=50)
    exemplars = found.tables["exemplars"]
    first = [
        {theme[paper] for paper in exemplars.loc[exemplars["topic_id"] == topic, "paper_id"]}
        for topic in found.table["topic_id"].head(3)
    ]
    assert sorted(first, key=sorted) == [{gap} for gap in sorted(truth["review_gaps"])]


def test_gaps_of_2020_got_the_reviews_of_the_years_after(demo):
    atlas, _ = demo
    table = backtest_reviews(atlas, year=2020, horizon=6, n_resamples=100).table
    by_method = table.set_index("method")
    assert by_method.loc["gaps", "auc"] > by_method.loc["size", "auc"]
    assert by_method.loc["gaps", "p_chance"] < 0.05
