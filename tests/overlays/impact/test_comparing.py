"""Comparison of two facilities, and of a facility before and after a date."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from landscape.errors import InputError
from landscape.overlays.missions import before_after, compare_facilities, impact


def _uses(random: Any, region: Any, shares: list[float]) -> Any:
    return random.random(len(region)) < np.array(shares)[region]


def test_differences_have_sign_interval_and_probability(make: Any) -> None:
    random = np.random.default_rng(0)
    region, year = random.integers(0, 4, 3000), np.full(3000, 2015)
    wide = _uses(random, region, [0.1, 0.1, 0.1, 0.1])
    narrow = _uses(random, region, [0.2, 0.0, 0.0, 0.0])
    atlas = make(region, year, {"ALMA": wide, "NuSTAR": narrow}, cites=random.poisson(3.0, 3000))
    found = compare_facilities(atlas, ["ALMA", "NuSTAR"], n_resamples=300)
    assert "of ALMA and NuSTAR, so a rise since then cannot be measured." in found.warnings[-1]
    table = found.table.set_index("measure")
    assert table.loc["share", "difference"] == pytest.approx(wide.mean() - narrow.mean())
    assert table.loc["share", "low"] > 0
    assert table.loc["share", "probability"] > 0.99
    assert table.loc["effective_regions", "difference"] == pytest.approx(3, abs=0.2)
    assert table.loc["local_share", "high"] < 0
    assert table.loc["citation_percentile", "low"] < 0 < table.loc["citation_percentile", "high"]
    for _, row in table.dropna().iterrows():
        assert row["low"] <= row["difference"] <= row["high"]
    turned = compare_facilities(atlas, ["NuSTAR", "ALMA"], n_resamples=300).table
    assert np.allclose(turned["difference"], -found.table["difference"], equal_nan=True)
    regions = found.tables["regions"].set_index("label")
    assert regions.loc["Pulsars", "difference"] < 0 < regions.loc["Quasars", "difference"]


def test_papers_of_both_leave_no_difference(make: Any) -> None:
    random = np.random.default_rng(1)
    region = random.integers(0, 4, 500)
    uses = _uses(random, region, [0.2, 0.1, 0.1, 0.1])
    atlas = make(region, np.full(500, 2015), {"ALMA": uses, "MeerKAT": uses})
    row = compare_facilities(atlas, ["ALMA", "MeerKAT"], n_resamples=50).table.iloc[1]
    assert (row["measure"], row["difference"], row["low"], row["high"]) == ("share", 0, 0, 0)
    assert row["probability"] == 0.5


def test_one_facility_is_not_compared(make: Any) -> None:
    atlas = make(np.zeros(9, dtype=int), np.full(9, 2015), {"ALMA": np.ones(9, dtype=bool)})
    with pytest.raises(InputError, match="at least two"):
        compare_facilities(atlas, ["ALMA", "alma"])


def test_before_and_after_tells_share_from_growth(make: Any) -> None:
    random = np.random.default_rng(2)
    year = np.repeat([2010, 2011, 2012, 2013], 1000)
    late = year > 2011
    # Pulsars double their part of the corpus; ALMA enters Galaxies, which do not grow.
    shares = np.where(late[:, None], [0.4, 0.2, 0.2, 0.2], [0.2, 0.2, 0.3, 0.3]).cumsum(axis=1)
    region = np.minimum((random.random(4000)[:, None] > shares).sum(axis=1), 3)
    uses = (region == 2) & late & (random.random(4000) < 0.5)
    found = before_after(make(region, year, {"ALMA": uses}), "alma")
    assert found.table.loc[0, "label"] == "All regions"
    assert found.table.loc[0, "corpus_after"] == 2000
    assert found.table.loc[0, "growth"] == pytest.approx(1)
    assert found.table.loc[1, "label"] == "Galaxies"
    regions = found.table.set_index("label")
    assert regions.loc["Galaxies", "rise"] == pytest.approx(0.5, abs=0.06)
    assert regions.loc["Galaxies", "rise_low"] > 0.4
    assert regions.loc["Galaxies", "growth_high"] < 1 < regions.loc["Pulsars", "growth_low"]
    assert regions.loc["Pulsars", "growth"] == pytest.approx(2, abs=0.3)
    assert regions.loc["Pulsars", "rise"] == 0 < regions.loc["Pulsars", "rise_high"]
    assert found.tables["years"]["papers"].sum() == uses.sum()


def test_no_growth_is_computed_across_a_gap_of_the_corpus(make: Any) -> None:
    year = np.repeat([2005, 2006, 2015, 2016], 100)
    region = np.where(year < 2010, 0, np.arange(400) % 2)
    found = before_after(make(region, year, {"ALMA": region == 1}), "ALMA")
    assert found.table[["growth", "growth_low", "growth_high"]].isna().all(axis=None)
    assert found.table.loc[0, "rise"] == 0.5
    assert "the growth of regions is unknown" in found.warnings[-1]
    measured = impact(make(region, year, {"ALMA": region == 1}), n_resamples=10)
    assert not measured.table["rise_comparable"].any()


def test_uncovered_years_are_no_decline(make: Any) -> None:
    year = np.repeat([2005, 2006, 2008, 2013, 2014, 2015], [40, 40, 4, 40, 2, 40])
    uses = year == 2014
    found = before_after(make(np.zeros(len(year), dtype=int), year, {"ALMA": uses}), "ALMA")
    row = found.table.iloc[0]
    assert (row["corpus_before"], row["corpus_after"], row["papers_after"]) == (80, 80, 0)
    assert "The corpus covers 2007-2012, 2014 in part" in found.warnings[0]


def test_another_year_can_part_the_corpus_and_must_lie_inside(make: Any) -> None:
    year = np.repeat([2015, 2016, 2017], 20)
    uses = year == 2017
    atlas = make(np.zeros(60, dtype=int), year, {"ALMA": uses})
    assert before_after(atlas, "ALMA", year=2017).table.loc[0, "share_after"] == 1
    with pytest.raises(InputError, match="no paper before 2011-09-30, its first light"):
        before_after(atlas, "ALMA")
    with pytest.raises(InputError, match="no paper since 2030"):
        before_after(atlas, "ALMA", year=2030)
