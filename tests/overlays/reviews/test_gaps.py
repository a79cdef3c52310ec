"""Coverage and ranked gaps of atlases with a planted gap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.overlays.reviews import review_gaps, reviews
from landscape.overlays.reviews.gaps import COMPONENTS, rank_gaps, review_coverage
from landscape.overlays.reviews.signs import find_contrast, find_stances

from .conftest import world


def test_a_gap_that_hides_in_a_region_with_reviews_is_first(gap_world):
    found = review_gaps(gap_world, n_resamples=100)
    first = found.table.iloc[0]
    assert first["topic_id"] == 3
    assert first["reviews"] == 2, "the other theme of the region has reviews"
    assert first["rank_high"] <= 2
    assert first["score_low"] < first["score"] < first["score_high"]
    exemplars = found.tables["exemplars"].query("topic_id == 3")
    assert (gap_world.theme[exemplars["paper_row"]] == 3).all()
    assert first["exemplars"] == exemplars["title"].tolist()
    assert set(COMPONENTS) <= set(found.table.columns)
    assert found.denominators["reviews"] == 24
    assert len(found.to_dict()["table"]) == 12
    assert "Region 3" in found.to_latex()


def test_a_growing_region_is_before_a_shrinking_one_of_the_same_size():
    early, late = np.arange(1990, 2006), np.arange(2008, 2021)
    atlas = world(
        sizes=[80] * 10,
        years=[late, early, *([np.arange(1990, 2021)] * 8)],
        reviewed=[(), (), *([(2000, 2015)] * 8)],
    )
    table = review_gaps(atlas, n_resamples=10).table.set_index("topic_id")
    assert table.loc[0, "growth"] > 1.5 > table.loc[1, "growth"]
    only = {name: 0 for name in COMPONENTS if name != "growth"}
    assert review_gaps(atlas, n_resamples=10, weights=only).table["topic_id"].iloc[0] == 0


def test_growth_of_the_whole_corpus_is_no_growth_of_a_region():
    grown = np.repeat(np.arange(1990, 2021), np.arange(1, 32) ** 2)
    atlas = world(sizes=[150] * 6, years=[grown] * 6, reviewed=[(2015,)] * 6)
    growth = review_gaps(atlas, n_resamples=10).table["growth"]
    assert growth.between(0.75, 1.3).all()


def test_disagreement_counts():
    atlas = world(sizes=[60] * 6, years=[np.arange(2000, 2021)] * 6, reviewed=[(2015,)] * 6)
    papers = atlas.papers
    torn = np.where(np.arange(len(papers)) % 2, "This confirms it.", "The two are in tension with.")
    papers.loc[atlas.theme == 4, "abstract"] = torn[atlas.theme == 4]
    only = {name: 0 for name in COMPONENTS if name != "disagreement"}
    table = review_gaps(atlas, n_resamples=10, weights=only).table
    assert table["topic_id"].iloc[0] == 4
    assert table["stance_spread"].iloc[0] > 0.5


def test_size_counts_for_the_need_and_not_for_the_gap():
    """Five regions differ only in size; each has one review per 100 papers."""
    sizes = [200, 300, 400, 600, 800]
    years = np.arange(1995, 2021)
    reviewed = [(2008,) * (size // 100) for size in sizes]
    atlas = world(sizes=sizes, years=[years] * 5, reviewed=reviewed)
    table = review_gaps(atlas, n_resamples=10).table.sort_values("papers")
    need, gap = (table[name] / table[name].mean() for name in ("need", "score"))
    assert need.max() / need.min() > 2 > gap.max() / gap.min()
    assert table["expected"].sum() == pytest.approx(table["reviews"].sum(), rel=0.2)


def test_the_same_seed_gives_the_same_and_a_sample_does(gap_world):
    one, other = (review_gaps(gap_world, n_resamples=30, seed=4).table for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("weights", [{"volumes": 1}, {"volume": -1}, {"volume": float("nan")}])
def test_weights_that_cannot_be(gap_world, weights):
    with pytest.raises(InputError, match="volume"):
        review_gaps(gap_world, weights=weights)


def test_no_paper_in_any_region():
    atlas = world(sizes=[30], years=[np.arange(2000, 2010)], reviewed=[()], region_of=[-1])
    with pytest.raises(InputError, match="no paper in any region"):
        review_gaps(atlas)
    assert reviews(atlas).table.empty


def test_one_paper_in_a_region_and_unknown_citations():
    atlas = world(
        sizes=[60, 1, 60],
        years=[np.arange(2000, 2010)] * 3,
        reviewed=[(2008,), (), ()],
        cites=[None] * 121,
    )
    found = review_gaps(atlas, n_resamples=20)
    assert np.isfinite(found.table[[*COMPONENTS, "score"]].to_numpy(float)).all()
    assert (found.table["citations"] == 1.0).all()
    assert found.table["topic_id"].iloc[0] == 2
    assert any("Citations are known for only 0%" in said for said in found.warnings)
    assert any("only 1 recognised review" in said for said in found.warnings)
    assert any("Fewer than 30 papers in Region 1" in said for said in found.warnings)


def test_coverage_counts_and_says_how_sure(gap_world):
    found = reviews(gap_world)
    table = found.table.set_index("topic_id")
    assert table.loc[3, ["papers", "reviews"]].tolist() == [160, 2]
    assert table.loc[0, ["papers", "reviews"]].tolist() == [80, 2]
    assert found.table["topic_id"].iloc[0] == 3
    assert (table["density_ratio_low"] < table["density_ratio"]).all()
    assert (table["density_ratio"] < table["density_ratio_high"]).all()
    assert found.tables["years"][["papers", "reviews"]].sum().tolist() == [1040, 24]
    assert len(found.tables["reviews"]) == 24


def test_both_tables_have_the_same_reviews_and_years():
    atlas = world(
        sizes=[90] * 6,
        years=[np.arange(1990, 2021)] * 6,
        reviewed=[(), (1995,), (2020,), (2003, 2008, 2019), (2001,), (2012,)],
        region_of=[0, 1, 2, 3, 4, 4],
    )
    counted = reviews(atlas)
    ranked = review_gaps(atlas, n_resamples=10)
    first, second = (
        found.table.sort_values("topic_id", ignore_index=True) for found in (counted, ranked)
    )
    same = [name for name in first.columns if name in second.columns]
    assert set(first.columns) == set(same)
    pd.testing.assert_frame_equal(first[same], second[same])
    year, region = atlas.papers["year"].to_numpy(), atlas.map["topic_id"].to_numpy()
    rows = atlas.reviews["paper_row"].to_numpy()
    for row in first.itertuples():
        own = year[rows[region[rows] == row.topic_id]]
        start = own.max() if len(own) else np.quantile(year[region == row.topic_id], 0.1)
        assert row.years_without == year.max() - np.floor(start)
    for found in (counted, ranked):
        assert "Years without a review count from" in found.caption
        assert "to 2020, the last year of the corpus" in found.caption


def test_regions_with_the_expected_number_of_reviews_are_not_gaps():
    atlas = world(
        sizes=[100] * 4,
        years=[np.arange(1990, 2021)] * 4,
        reviewed=[(), (2015,), (2014, 2016), (2005, 2010, 2013, 2016)],
    )
    table = review_gaps(atlas, n_resamples=10).table.set_index("topic_id")
    rich = table["reviews_near"] >= 0.8 * table["expected"]
    assert rich.any()
    assert (table["reviews_near"].round() == table["reviews"]).all()
    assert (table["rank"].isna() == rich).all()
    assert table["rank"].dropna().tolist() == list(range(1, 1 + (~rich).sum()))
    assert (table.loc[~rich, "density_ratio"] < 1).all()
    none = world(sizes=[60] * 3, years=[np.arange(2000, 2021)] * 3, reviewed=[()] * 3)
    assert review_gaps(none, n_resamples=5).table["rank"].tolist() == [1, 2, 3]


def test_expected_reviews_depend_on_the_years_of_the_papers():
    year = np.repeat([1994, 2018], 1000)
    is_review = np.zeros(2000, dtype=bool)
    is_review[:50] = is_review[1000:1010] = True
    table = review_coverage(np.repeat([0, 1], 1000), year, is_review)
    assert table["expected"].tolist() == pytest.approx([50, 10], abs=2)
    assert table["density_ratio"].tolist() == pytest.approx([1, 1], abs=0.1)


def test_a_review_beside_a_region_counts_for_it():
    """Papers of one subject are in region 0, its only review is in region 1.

    The review is then the last one of both regions.
    """
    atlas = world(
        sizes=[100, 100, 100], years=[np.arange(1990, 2021)] * 3, reviewed=[(2010,), (), (2015,)]
    )
    region = atlas.map["topic_id"].to_numpy().copy()
    is_review = np.zeros(300, dtype=bool)
    is_review[atlas.reviews["paper_row"]] = True
    region[is_review & (region == 0)] = 1
    year = atlas.papers["year"].to_numpy()
    table = review_coverage(region, year, is_review, atlas.vectors()).set_index("topic_id")
    assert table["reviews"].tolist() == [0, 1, 1]
    assert table["reviews_near"].tolist() == pytest.approx([1, 0, 1], abs=0.2)
    assert table.loc[0, "last_review"] == 2010
    assert table.loc[1, "last_review"] == 2010


def test_a_region_without_papers_since_its_last_review_is_no_gap():
    years = [np.arange(1990, 2021)] * 3
    late = world(sizes=[300, 100, 100], years=years, reviewed=[(2020,), (2010,) * 4, (2015,) * 4])
    table = review_gaps(late, n_resamples=5).table.set_index("topic_id")
    assert table.loc[0, "papers_since"] == 0
    assert pd.isna(table.loc[0, "rank"])


def test_coverage_of_papers_outside_every_region():
    region = np.array([0, 0, -1, -1])
    table = review_coverage(region, np.full(4, 2000), np.array([True, False, True, True]))
    assert table[["papers", "reviews", "papers_since"]].to_numpy().tolist() == [[2, 1, 0]]


def test_ranking_needs_papers(gap_world):
    with pytest.raises(InputError):
        rank_gaps(pd.DataFrame({"topic_id": []}), pd.DataFrame())


def test_words_of_disagreement():
    texts = ["This remains unclear.", "Rival models are debated.", "We made a catalogue."]
    assert find_contrast(texts).tolist() == [True, True, False]
    assert find_stances(["It agrees with theory but is at odds with data."]).tolist() == [0]
