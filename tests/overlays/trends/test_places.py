"""Institutions and countries from affiliations as journals print them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.overlays.trends import countries, institutions
from landscape.overlays.trends.affiliations import locate, read_affiliation

from .worlds import atlas_of

LEIDEN = "Leiden Observatory, Leiden University, P.O. Box 9513, 2300 RA Leiden, The Netherlands"


@pytest.mark.parametrize(
    ("text", "institution", "country"),
    [
        (LEIDEN, "Leiden University", "Netherlands"),
        (
            "Max-Planck-Institut für Astronomie, Königstuhl 17, D-69117 Heidelberg, Germany",
            "Max-Planck-Institut für Astronomie",
            "Germany",
        ),
        (
            "Department of Astronomy, University of Washington, Seattle, WA 98195, USA",
            "University of Washington",
            "United States",
        ),
        (
            "California Institute of Technology, Jet Propulsion Laboratory, Pasadena, CA",
            "California Institute of Technology",
            "United States",
        ),
        ("University of Washington", "University of Washington", ""),
        (
            "National Astronomical Observatory of Japan, Mitaka, Tokyo 181-8588 Japan",
            "National Astronomical Observatory of Japan",
            "Japan",
        ),
        (
            "Kavli IPMU, University of Tokyo, Kashiwa, Japan; someone@ipmu.example",
            "University of Tokyo",
            "Japan",
        ),
        ("Physics Department, P.R. China", "Physics Department", "China"),
        (
            "Institute of Astronomy, Madingley Road, Cambridge CB3 0HA, UK",
            "Institute of Astronomy",
            "United Kingdom",
        ),
        ("ESO, Karl-Schwarzschild-Str. 2, 85748 Garching bei München, Germany", "ESO", "Germany"),
    ],
)
def test_affiliations_are_read(text: str, institution: str, country: str) -> None:
    assert read_affiliation(text)[0] == (institution, country)


def test_several_addresses_and_unknown_ones() -> None:
    both = read_affiliation("Queen's University, Kingston, Canada; STScI, Baltimore, MD")
    assert [country for _, country in both] == ["Canada", "United States"]
    assert read_affiliation("-") == ()
    assert read_affiliation("") == ()
    assert read_affiliation("someone@example.org") == ()


def test_a_paper_is_shared_out_once() -> None:
    table = locate([[LEIDEN, "ESO, Chile; ESO, Garching, Germany", "-"], [LEIDEN.upper()], []])
    assert table.groupby("row").weight.sum().tolist() == pytest.approx([1, 1])
    first = table[table.row == 0].set_index("country").weight
    assert first.to_dict() == pytest.approx({"Netherlands": 0.5, "Chile": 0.25, "Germany": 0.25})
    assert set(table[table.country == "Netherlands"].institution) == {"Leiden University"}


def _world() -> Any:
    """Return an atlas: Chile has papers in region 0, Japan in all; a third have no affiliation."""
    n = 300
    rows = np.arange(n)
    places = [["ALMA Centre, Santiago, Chile", "Kyoto University, Japan"], ["Kyoto University"], []]
    papers = pd.DataFrame(
        {
            "aff": [places[row % 3] for row in rows],
            "year": 2000 + rows // 30,
            "topic_id": np.where(rows % 3 == 0, 0, rows % 5),
        }
    )
    return atlas_of(papers)


def test_countries_are_counted_with_their_denominators() -> None:
    found = countries(_world())
    table = found.table.set_index("country")
    assert table.papers.to_dict() == {"Chile": 100, "Japan": 100}
    assert found.denominators == {"papers with a known country": 100, "papers": 300}
    assert table.fractional.tolist() == pytest.approx([50, 50])
    assert any("Only 33%" in warning for warning in found.warnings)
    assert table.loc["Chile", "main_region"] == "Region 0"
    assert table.loc["Chile", "effective_regions"] == pytest.approx(1)


def test_an_institution_without_country_gets_its_only_one() -> None:
    found = institutions(_world())
    table = found.table.set_index("institution")
    assert table.loc["Kyoto University", "country"] == "Japan"
    assert table.papers.to_dict() == {"Kyoto University": 200, "ALMA Centre": 100}
    assert table.loc["Kyoto University", "share"] == 1
    regions = found.tables["regions"].set_index(["institution", "topic_id"])
    at_zero = regions.loc[("ALMA Centre", 0)]
    assert at_zero.papers == 100
    assert at_zero.activity_index == pytest.approx(1 / (at_zero.papers / at_zero.share / 200))
    years = found.tables["years"]
    assert years[years.institution == "Kyoto University"].papers.sum() == 200
    assert years.papers.le(years.located_papers).all()


def test_namesakes_in_two_countries_stay_two() -> None:
    aff = [["Observatory One, Chile"], ["Observatory One, Japan"]] * 10
    papers = pd.DataFrame({"aff": aff, "year": 2000, "topic_id": 1})
    assert sorted(institutions(atlas_of(papers)).table.country) == ["Chile", "Japan"]


def test_an_atlas_without_affiliations_says_so() -> None:
    papers = pd.DataFrame({"aff": [[]] * 5, "year": 2000, "topic_id": 1})
    with pytest.raises(InputError, match="No paper of A small world has an affiliation"):
        countries(atlas_of(papers))
    with pytest.raises(InputError, match="limit is 0"):
        institutions(_world(), limit=0)
