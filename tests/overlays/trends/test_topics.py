"""Emerging and fading regions of small atlases and of the demo corpus."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from landscape.corpus.demo import write_demo
from landscape.errors import InputError
from landscape.overlays.trends import trends

from .worlds import atlas_of


def _world(*, seed: int = 1, gap: tuple[int, ...] = ()) -> pd.DataFrame:
    """Return twelve regions over 25 years; region 1 grows and region 2 shrinks by 8% per year."""
    rng = np.random.default_rng(seed)
    rows = []
    for year in range(2000, 2025):
        papers = 10 if year in gap else 400 + 40 * (year - 2000)
        weights = np.ones(12)
        weights[1] = np.exp(0.08 * (year - 2012))
        weights[2] = np.exp(-0.08 * (year - 2012))
        topics = rng.choice(12, papers, p=weights / weights.sum())
        rows.append(pd.DataFrame({"year": year, "topic_id": topics}))
    return pd.concat(rows, ignore_index=True)


def test_the_growing_and_the_shrinking_region_are_named() -> None:
    found = trends(atlas_of(_world()))
    classes = found.table.set_index("topic_id")["class"]
    assert classes[1] == "emerging"
    assert classes[2] == "fading"
    assert (classes.drop([1, 2]) == "steady").all()
    assert found.table.topic_id.iloc[0] == 1
    assert found.table.topic_id.iloc[-1] == 2
    rising = found.table.iloc[0]
    assert rising.slope_low < 0.085 < rising.slope_high
    assert rising.change == pytest.approx(np.exp(24 * rising.slope))
    fitted = found.tables["years"].query("topic_id == 1 and covered")["fitted"]
    ends = [rising.share_first, rising.share_last]
    assert ends == pytest.approx([fitted.iloc[0], fitted.iloc[-1]], abs=5e-5)
    assert ends[0] < ends[1]


def test_a_gap_of_the_corpus_is_no_decline() -> None:
    found = trends(atlas_of(_world(gap=(2010, 2011))))
    years = found.tables["years"]
    assert set(years.loc[~years.covered, "year"]) == {2010, 2011}
    assert years.loc[~years.covered, ["share", "share_low", "fitted"]].isna().all().all()
    assert years.loc[years.covered, ["share", "fitted"]].notna().all().all()
    assert any("2010-2011" in warning for warning in found.warnings)
    assert found.denominators["covered years"] == 23
    assert found.table.set_index("topic_id")["class"].loc[[1, 2]].tolist() == ["emerging", "fading"]


def test_counts_and_denominators_add_up() -> None:
    papers = _world()
    found = trends(atlas_of(papers), since=2005, until=2014)
    inside = papers[papers.year.between(2005, 2014)]
    assert found.denominators["papers"] == len(inside)
    assert found.table.papers.sum() == len(inside)
    assert found.tables["years"].papers.sum() == len(inside)
    assert found.table.share.sum() == pytest.approx(1)
    assert len(found.tables["years"]) == 12 * 10


def test_continents_are_counted_through_their_regions() -> None:
    found = trends(atlas_of(_world()), level=0)
    assert found.table.label.tolist() == ["Everything"]
    assert found.table.share.tolist() == [1.0]
    assert found.table["class"].tolist() == [""], "the share of everything cannot change"


def test_a_region_of_one_paper_has_no_class() -> None:
    papers = pd.concat([_world(), pd.DataFrame({"year": [2024], "topic_id": [50]})])
    found = trends(atlas_of(papers.reset_index(drop=True)))
    assert found.table.set_index("topic_id").loc[50, "class"] == ""
    assert found.table.set_index("topic_id").loc[50, "why"] == "fewer than 10 papers"
    assert any("fewer than 10 papers" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"since": 2030}, "no paper from 2030"),
        ({"since": 2010, "until": 2005}, "ends before it begins"),
        ({"since": 2010, "until": 2011}, "at least 3 years .* has 2"),
        ({"level": 2}, "level is 2"),
        ({"q": 0}, "between 0 and 1"),
        ({"least_change": 0.5}, "1 or more"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        trends(atlas_of(_world()), **options)


def test_quarters_are_fitted_in_a_short_period() -> None:
    papers = _world()
    month = np.random.default_rng(0).integers(1, 13, len(papers))
    papers["date"] = pd.to_datetime({"year": papers["year"], "month": month, "day": 2})
    found = trends(atlas_of(papers), since=2022)
    years = found.tables["years"]
    assert sorted(set(years["year"])) == [2022 + quarter / 4 for quarter in range(12)]
    assert found.denominators["covered years"] == 3
    assert found.table["slope_low"].min() > -1
    assert found.table["slope_high"].max() < 1
    unknown = found.table[found.table["class"] == ""]
    assert len(unknown) >= 6, "three years do not show a trend of 8% per year"
    assert unknown["why"].str.startswith("the interval is too wide").all()
    assert (found.table.loc[found.table["class"] != "", "why"] == "").all()


def test_a_corpus_with_another_composition_gives_no_verdict_on_its_sources() -> None:
    """After a gap, a second category is added; the shares within each category are constant."""
    rng = np.random.default_rng(2)
    rows = []
    for year, sizes in [(y, (200, 0)) for y in range(2000, 2010)] + [
        (2020 + i, (900, 300 * i)) for i in range(1, 9)
    ]:
        for category, size in enumerate(sizes):
            topics = rng.integers(6, size=size) + 6 * category
            rows.append(pd.DataFrame({"year": year, "topic_id": topics, "category": category}))
    papers = pd.concat(rows, ignore_index=True)
    papers["categories"] = papers.pop("category").map(lambda one: [f"cat-{one}"])
    found = trends(atlas_of(papers))
    assert found.tables["years"]["year"].min() == 2021
    assert not found.table["class"].isin(["emerging", "fading"]).any()
    assert any("Years before 2021 are omitted" in said for said in found.warnings)
    assert trends(atlas_of(papers), since=2000).tables["years"]["year"].min() == 2000


def test_themes_of_the_demo_corpus_that_rise_and_fall_are_found(tmp_path) -> None:
    """Themes are used as regions, because the truth contains their planted activity."""
    import gzip
    import json

    write_demo(tmp_path, n_papers=4000)
    truth = json.loads((tmp_path / "truth.json").read_text())
    lines = gzip.decompress((tmp_path / "papers.jsonl.gz").read_bytes()).splitlines()
    themes = {theme["id"]: number for number, theme in enumerate(truth["themes"])}
    planted = {number: theme["activity"] for number, theme in enumerate(truth["themes"])}
    of_paper = {paper["paper_id"]: themes[paper["theme"]] for paper in truth["papers"]}
    papers = pd.DataFrame(map(json.loads, lines))
    topic = papers["bibcode"].map(of_paper)
    assert topic.notna().mean() > 0.95
    world = pd.DataFrame({"year": papers["year"], "topic_id": topic.fillna(-1).astype(int)})
    table = trends(atlas_of(world)).table
    by_kind = pd.crosstab(table.topic_id.map(planted), table["class"])
    assert by_kind.loc["falling", "fading"] >= 0.8 * by_kind.loc["falling"].sum()
    assert by_kind.loc["rising", "emerging"] >= 0.5 * by_kind.loc["rising"].sum()
    assert by_kind.loc["rising", "fading"] == 0
    assert by_kind.loc[["falling", "steady"], "emerging"].sum() == 0
    # Steady themes lose a little of their share to those that rise: shares add up.
    assert by_kind.loc["steady", "steady"] >= 0.8 * by_kind.loc["steady"].sum()
