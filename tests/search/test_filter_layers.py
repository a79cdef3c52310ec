"""Filters by facility and review use the layers of the atlas."""

from __future__ import annotations

import numpy as np
import pytest

from landscape import Atlas
from landscape.errors import InputError
from landscape.overlays.missions import impact
from landscape.overlays.missions.usage import read_usage


def test_a_facility_is_found_by_its_mentions_not_by_the_word(demo_atlas: Atlas) -> None:
    mentions = demo_atlas.missions
    rows = mentions.loc[mentions["facility"] == "HST", "paper_row"].unique()
    assert len(rows) > 3
    assert demo_atlas.select("mentions:HST").tolist() == sorted(rows)
    assert demo_atlas.select('mentions:"Hubble Space Telescope"').tolist() == sorted(rows)
    words = demo_atlas.read_papers(["title", "abstract"]).agg(" ".join, axis=1)
    constant = np.flatnonzero(words.str.contains(r"\bHubble (?:constant|flow|tension)"))
    only_constant = np.setdiff1d(constant, rows)
    assert len(only_constant)
    assert not set(only_constant) & set(demo_atlas.select("mentions:Hubble"))


def test_a_facility_without_a_role_means_that_its_data_are_used(demo_atlas: Atlas) -> None:
    mentioned = demo_atlas.select("facility:HST; role:mention").tolist()
    used = demo_atlas.select("facility:HST").tolist()
    assert set(mentioned) - set(used), "some papers name HST without using its data"
    assert set(mentioned) | set(used) <= set(demo_atlas.select("mentions:HST"))
    assert demo_atlas.select("facility:HST; role:science").tolist() == used
    either = demo_atlas.select("(facility:HST | facility:MAGIC); -role:planned")
    assert set(mentioned) < set(either), "beside a role, a facility is any mention"


@pytest.mark.parametrize("name", ["MUSE", "VLT/MUSE", "VLT", "Keck", "JWST"])
def test_filters_tables_and_figures_select_the_same_papers(demo_atlas: Atlas, name: str) -> None:
    for field, role in (("facility", "science"), ("mentions", "any")):
        rows = demo_atlas.select(f'{field}:"{name}"').tolist()
        usage = read_usage(demo_atlas, [name], role=role)  # used by all figures of facilities
        assert rows == usage.rows[0].tolist()
        table = impact(demo_atlas, [name], role=role, n_resamples=1).table
        assert table["papers"].tolist() == [len(rows)]
    assert rows


def test_an_instrument_has_fewer_papers_than_its_telescope(demo_atlas: Atlas) -> None:
    words = demo_atlas.read_papers(["title", "abstract"]).agg(" ".join, axis=1)
    named = np.flatnonzero(words.str.contains(r"\bMUSE\b"))
    whole = demo_atlas.select("mentions:VLT").tolist()
    assert demo_atlas.select("mentions:MUSE").tolist() == named.tolist()
    assert len(named)
    assert set(named) < set(whole)


@pytest.mark.parametrize(
    ("name", "message"),
    [("HERMES", "3 facilities 'HERMES'; give one of"), ("ALMO", "no facility 'ALMO'; the nearest")],
)
def test_unclear_names_are_refused_by_filters_and_tables(
    demo_atlas: Atlas, name: str, message: str
) -> None:
    for ask in (lambda: demo_atlas.select(f"facility:{name}"), lambda: impact(demo_atlas, [name])):
        with pytest.raises(InputError, match=message):
            ask()


def test_reviews_are_those_of_the_layer(demo_atlas: Atlas) -> None:
    rows = sorted(demo_atlas.reviews["paper_row"])
    assert demo_atlas.select("review").tolist() == rows
    assert len(demo_atlas.select("-review")) == len(demo_atlas) - len(rows)
    found = demo_atlas.search("stars", k=len(demo_atlas), filter="review")
    assert sorted(paper.row for paper in found.papers) == rows


def test_roles_are_those_of_the_facility_beside_them(demo_atlas: Atlas) -> None:
    order = {"science": 0, "instrumentation": 1, "planned": 2, "mention": 3}
    mentions = demo_atlas.missions[demo_atlas.missions["facility"] == "HST"]
    strongest = mentions["role"].map(order).groupby(mentions["paper_row"]).min()
    science = sorted(strongest.index[strongest == 0])
    assert science
    assert demo_atlas.select("facility:HST; role:science").tolist() == science
    rest = sorted(strongest.index[strongest > 0])
    assert demo_atlas.select("facility:HST; -role:science").tolist() == rest


def test_concepts_include_narrower_ones(demo_atlas: Atlas) -> None:
    tags = demo_atlas.uat[demo_atlas.uat["score"] >= 0.25]
    top = demo_atlas.thesaurus.find("Exoplanet astronomy")
    wanted = {top.concept_id, *demo_atlas.thesaurus.descendants(top.concept_id)}
    rows = sorted(set(tags.loc[tags["concept_id"].astype(str).isin(wanted), "paper_row"]))
    assert rows
    assert demo_atlas.select('concept:"Exoplanet astronomy"').tolist() == rows
    with pytest.raises(InputError, match="has no concept"):
        demo_atlas.select("concept:Cheese")


def test_regions_are_found_by_name_and_number(demo_atlas: Atlas) -> None:
    region = demo_atlas.topics[demo_atlas.topics["level"] == 1].iloc[0]
    rows = np.flatnonzero(demo_atlas.map["topic_id"] == region["topic_id"]).tolist()
    assert demo_atlas.select(f"region:{region['topic_id']}").tolist() == rows
    assert set(rows) <= set(demo_atlas.select(f'region:"{region["label"]}"'))
    with pytest.raises(InputError, match="no region 'Cheese'"):
        demo_atlas.select("region:Cheese")


def test_days_and_months_select_by_date(demo_atlas: Atlas) -> None:
    dates = demo_atlas.read_papers(["date"])["date"].astype("datetime64[ns]")
    day = sorted(dates)[len(dates) // 2]
    later = np.flatnonzero(dates >= day).tolist()
    assert demo_atlas.select(f"{day:%Y-%m-%d}..").tolist() == later
    month = np.flatnonzero(dates.dt.to_period("M") == day.to_period("M")).tolist()
    assert demo_atlas.select(f"{day:%Y-%m}").tolist() == month
    assert demo_atlas.select(f"date>={day:%Y-%m-%d}").tolist() == later


def test_results_are_sorted_by_date_or_citations(demo_atlas: Atlas) -> None:
    newest = demo_atlas.search("stars", sort="date").papers
    days = [paper.date for paper in newest]
    assert days == sorted(days, reverse=True)
    cites = [paper.cites or -1 for paper in demo_atlas.search("stars", sort="citations").papers]
    assert cites == sorted(cites, reverse=True)
    with pytest.raises(InputError, match="Unknown sort 'age'"):
        demo_atlas.search("stars", sort="age")


def test_a_filter_that_no_paper_passes_says_so(demo_atlas: Atlas) -> None:
    found = demo_atlas.search("stars", filter="author:Nobodyatall")
    assert not found.matched
    assert found.note.startswith("No paper passes the filter 'author:Nobodyatall'.")
