"""Measures of impact compared with papers counted by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.overlays.missions import impact

# NuSTAR: first light 2012, built for high energy astrophysics; ALMA: 2011, not for it.
YEAR = np.array([2005] * 10 + [2015] * 30)
REGION = np.array([0] * 5 + [2] * 5 + [0] * 10 + [1] * 10 + [2] * 8 + [-1] * 2)


@pytest.fixture
def atlas(make: Any) -> Any:
    nustar = np.zeros(40, dtype=bool)
    nustar[[0, 10, 11, 12, 13, 20, 30]] = True  # one before first light, five at home, one not
    alma = np.zeros(40, dtype=bool)
    alma[[30, 31, 32, 38]] = True  # the last outside every region
    cites = np.full(40, np.nan)
    cites[:38] = 1.0
    cites[[10, 11]] = 8.0, 4.0
    categories = [[("astro-ph.HE", "astro-ph.HE", "astro-ph.GA", "gr-qc")[r]] for r in REGION]
    return make(REGION, YEAR, {"NuSTAR": nustar, "ALMA": alma}, cites=cites, categories=categories)


def test_counts_papers_once_and_says_of_how_many(atlas: Any) -> None:
    found = impact(atlas, n_resamples=50)
    assert found.table["facility"].tolist() == ["NuSTAR", "ALMA"]
    row = found.table.iloc[0]
    assert (row["papers"], row["corpus_papers"]) == (7, 40)
    assert row["share"] == 7 / 40
    # Five of seven are in Pulsars, that is less than 80%; with the first of the others it is more.
    assert (row["core_regions"], row["local_papers"], row["local_corpus"]) == (2, 6, 25)
    assert found.denominators["papers that use data of one of these facilities"] == 10


def test_rise_compares_with_the_same_regions_before_first_light(
    atlas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = impact(atlas, ["nustar"], since=2010, n_resamples=300)
    assert few.table[["rise", "rise_low", "rise_high"]].isna().all(axis=None), "5 papers are few"
    assert any("cannot be measured" in warning for warning in few.warnings)
    monkeypatch.setattr("landscape.overlays.missions._impact.FEW", 5)
    row = impact(atlas, ["nustar"], since=2010, n_resamples=300).table.iloc[0]
    assert row["first_light"].startswith("2012")
    assert (row["corpus_before"], row["corpus_after"]) == (5, 20)
    assert row["local_share_before"] == 1 / 5
    assert row["local_share_after"] == 5 / 20
    assert row["rise"] == pytest.approx(0.05)
    assert row["rise_low"] < 0 < row["rise_high"]


def test_the_share_since_first_light_has_its_own_denominator(atlas: Any) -> None:
    found = impact(atlas, n_resamples=10)
    table = found.table.set_index("facility")
    assert (table.loc["NuSTAR", "corpus_since"], table.loc["ALMA", "corpus_since"]) == (30, 30)
    assert table.loc["NuSTAR", "share_since"] == 6 / 30
    assert table.loc["NuSTAR", "share_since_low"] < 0.2 < table.loc["NuSTAR", "share_since_high"]
    assert not any("had not seen first light" in warning for warning in found.warnings)


def test_a_change_of_the_mix_of_categories_is_taken_out(make: Any) -> None:
    """A tenth of the first field and no paper of the other use it; the other field doubles."""
    year = np.repeat([2013, 2014], [200, 300])
    field = np.concatenate([np.repeat([0, 1], 100), np.repeat([0, 1], [100, 200])])
    uses = (field == 0) & (np.arange(500) % 10 == 0)
    lists = [[("astro-ph.GA", "astro-ph.HE")[one]] for one in field]
    region = np.zeros(500, dtype=np.int64)
    found = impact(make(region, year, {"ALMA": uses}, categories=lists), n_resamples=10)
    years = found.tables["years"]
    assert years["share"].tolist() == pytest.approx([1 / 20, 1 / 30])
    assert years["share_constant"].tolist() == pytest.approx([0.1 * 200 / 500] * 2)


def test_no_use_before_first_light_is_no_certainty(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("landscape.overlays.missions._impact.FEW", 5)
    uses = np.zeros(40, dtype=bool)
    uses[10:16] = True
    row = impact(make(REGION, YEAR, {"ALMA": uses}), n_resamples=50).table.iloc[0]
    assert (row["local_share_before"], row["corpus_before"]) == (0.0, 5)
    assert row["local_share_before_high"] > 0.3  # Wilson's bound of 0 of 5
    assert row["rise_low"] < row["rise"] - 0.3


def test_citations_are_of_the_papers_whose_citations_are_known(atlas: Any) -> None:
    table = impact(atlas, n_resamples=200).table.set_index("facility")
    nustar, alma = table.loc["NuSTAR"], table.loc["ALMA"]
    assert (nustar["cited_papers"], nustar["citations"]) == (7, 17.0)
    assert nustar["citations_share"] == pytest.approx(17 / 48)
    assert nustar["citations_median"] == 1.0
    assert alma["cited_papers"] == 3  # of one it is not known
    assert nustar["citation_percentile"] > 0.5 > alma["citation_percentile"]
    assert nustar["citations_low"] < 17 < nustar["citations_high"]


def test_tells_uses_outside_the_home_fields(atlas: Any) -> None:
    table = impact(atlas, n_resamples=100).table.set_index("facility")
    assert table.loc["NuSTAR", "fields_known"] == 7
    assert table.loc["NuSTAR", "outside_home"] == pytest.approx(1 / 7)
    assert table.loc["ALMA", "fields_known"] == 3  # gr-qc tells nothing


def test_periods_select_years_and_regions_add_up(atlas: Any) -> None:
    found = impact(atlas, since=2010, until=2016, n_resamples=10)
    regions = found.tables["regions"]
    nustar = regions[regions["facility"] == "NuSTAR"]
    assert nustar["papers"].tolist() == [4, 1, 1, 0]
    assert nustar["region_papers"].tolist() == [10, 10, 8, 0]
    assert nustar["papers_before"].tolist() == [1, 0, 0, 0]
    assert nustar["of_facility"].sum() == pytest.approx(1)
    assert nustar["label"].tolist() == ["Pulsars", "Magnetars", "Galaxies", "Quasars"]
    assert found.table.iloc[0]["papers"] == 6


def test_years_show_what_the_corpus_does_not_cover(make: Any) -> None:
    year = np.repeat([2012, 2013, 2014, 2015], [40, 40, 2, 40])
    region = np.zeros(len(year), dtype=np.int64)
    uses = np.arange(len(year)) % 4 == 0
    found = impact(make(region, year, {"ALMA": uses}), n_resamples=10)
    years = found.tables["years"].set_index("year")
    assert years["covered"].tolist() == [True, True, False, True]
    assert years["papers"].sum() == uses.sum()
    assert years.loc[2012, "share"] == 0.25
    assert (years["low"] <= years["share"]).all()
    assert (years["share"] <= years["high"]).all()
    assert any("covers 2014 in part" in said for said in found.warnings)
    assert any("before the first light of ALMA" in said for said in found.warnings)


def test_slices_of_time_stack_with_their_period(atlas: Any) -> None:
    found = impact(atlas, ["NuSTAR"], slices=[(2000, 2009), (2010, 2019)], n_resamples=20)
    assert found.table["period"].tolist() == ["2000 to 2009", "2010 to 2019"]
    assert found.table["papers"].tolist() == [1, 6]
    assert set(found.tables["regions"]["period"]) == {"2000 to 2009", "2010 to 2019"}
    assert any("had not seen first light" in said for said in found.warnings)


def test_a_facility_without_papers_has_a_row_without_numbers(atlas: Any) -> None:
    found = impact(atlas, ["Gaia", "ALMA"], n_resamples=20)
    row = found.table.set_index("facility").loc["Gaia"]
    assert row["papers"] == 0
    assert row["share"] == 0
    assert row["share_high"] > 0
    assert np.isnan(row["entropy"])
    assert np.isnan(row["citations_median"])
    assert any("Gaia" in said and "fewer than 10" in said for said in found.warnings)
    json.dumps(found.to_dict(), allow_nan=False)
    assert "\\begin{table}" in found.to_latex()


def test_the_same_seed_gives_the_same_table(atlas: Any) -> None:
    one, two = (impact(atlas, n_resamples=50, seed=3).table for _ in range(2))
    assert one.equals(two)
    assert not one.equals(impact(atlas, n_resamples=50, seed=4).table)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"facilities": ["Almma"]}, "ALMA"),
        ({"facilities": []}, "No facility is given"),
        ({"since": 2018, "until": 2016}, "swap"),
        ({"since": 2030}, "2005 to 2015"),
        ({"slices": [(2010, 2011)]}, "no paper"),
        ({"slices": [2010]}, "pair of years"),
        ({"slices": []}, "No time slices"),
        ({"links": "threads"}, "vectors or citations"),
        ({"n_resamples": 0}, "1000"),
    ],
)
def test_bad_input_is_told_in_a_sentence(atlas: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        impact(atlas, **settings)


def test_a_corpus_without_facilities_says_so(make: Any) -> None:
    with pytest.raises(InputError, match="mentions a facility"):
        impact(make(REGION, YEAR, {}))


def test_intervals_include_the_error_of_the_classifier(make: Any) -> None:
    uses = np.arange(200) < 20
    lows = []
    for others in (0, 60):
        atlas = make(np.zeros(200, dtype=int), np.full(200, 2015), {"ALMA": uses})
        more = make(
            np.zeros(200, dtype=int),
            np.full(200, 2015),
            {"ALMA": (np.arange(200) >= 20) & (np.arange(200) < 20 + others)},
        ).missions.assign(role="mention")
        atlas.missions = pd.concat([atlas.missions, more], ignore_index=True)
        found = impact(atlas, n_resamples=300)
        for row in (found.table.iloc[0], found.tables["regions"].iloc[0]):
            assert row["share_low"] <= row["share"] == 0.1 <= row["share_high"]
            lows.append(row["share_low"])
        assert found.table["mention_papers"][0] == others
    # If most papers mention the facility only as context, so may some of those that seem to use it.
    assert lows[2] < 0.9 * lows[0]
    assert lows[3] < 0.9 * lows[1]
