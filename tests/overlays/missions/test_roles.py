"""Roles of facility mentions: science, instrumentation, planned or mention."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

import landscape

# Private: no public function draws the error of the classifier by itself.
from landscape.corpus.facilities import ROLES
from landscape.errors import InputError, RemoteError
from landscape.overlays.missions import find_in_papers, find_mentions, impact
from landscape.overlays.missions.roles import draw_certainty

# Private: the stage of the build applies it.
from landscape.pipeline._layers import _last_day


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("We present ALMA observations of twelve protoplanetary disks.", "science"),
        ("Using archival Chandra data, we measure the temperature of the cluster.", "science"),
        ("Calibration of the MUSE spectrograph: pipeline and performance.", "instrumentation"),
        ("Future JWST observations will test this scenario.", "planned"),
        ("We forecast the constraints expected from Euclid with mock catalogues.", "planned"),
        ("The result is consistent with the value reported by Planck.", "mention"),
    ],
)
def test_clear_sentences_get_their_role(text: str, role: str) -> None:
    assert [mention.role for mention in find_mentions(text)] == [role]


def test_mentions_of_one_text_have_roles_of_their_own() -> None:
    text = (
        "We present spectra of 40 quasars observed with Keck. In the near future, Euclid will "
        "discover thousands of such objects."
    )
    assert [mention.role for mention in find_mentions(text)] == ["science", "planned"]


def test_roles_in_papers_are_known_roles() -> None:
    found = find_in_papers(["A flare seen by TESS", None], [None, "Data of Kepler. " * 300])
    assert set(found["role"]) <= set(ROLES)
    assert len(found) == 301


def test_impact_counts_use_and_shows_all_roles(demo_atlas: landscape.Atlas) -> None:
    table = impact(demo_atlas, n_resamples=50).table
    mentions = demo_atlas.missions.assign(
        rank=lambda of: pd.Index(ROLES).get_indexer(of["role"])
    ).sort_values("rank")
    strongest = mentions.drop_duplicates(["facility", "paper_row"])
    counts = pd.crosstab(strongest["facility"], strongest["role"])
    for row in table.to_dict("records"):
        own = [row[f"{role}_papers"] for role in ROLES]
        assert own == [int(counts.get(role, {}).get(row["facility"], 0)) for role in ROLES]
        assert row["papers"] == row["science_papers"]
    every = impact(demo_atlas, role="any", n_resamples=50).table
    assert every["papers"].sum() == len(strongest)
    assert table["papers"].sum() < len(strongest)


def test_an_unknown_role_is_refused(demo_atlas: landscape.Atlas) -> None:
    with pytest.raises(InputError, match=r"role is 'use'; choose science, .*any"):
        impact(demo_atlas, role="use")  # type: ignore[arg-type]


def test_certainty_follows_the_numbers_of_papers() -> None:
    random = np.random.default_rng(0)
    users = draw_certainty(np.array([90, 2, 4, 4]), "science", n_resamples=300, random=random)
    plans = draw_certainty(np.array([1, 5, 90, 4]), "science", n_resamples=300, random=random)
    assert users.shape == (300, 5)
    assert (users[:, 0] == 0).all()
    assert users[:, 1].mean() > 0.9
    assert plans[:, 3].mean() < 0.1


class _Model:
    """A language model that replies from a list and records its requests."""

    model = "listed"

    def __init__(self, *roles: tuple[int, str]) -> None:
        self.roles, self.asked = roles, ""

    def complete_json(self, system: str, user: str, schema: dict[str, Any]) -> dict[str, Any]:
        del system, schema
        self.asked = user
        return {"mentions": [{"number": n, "role": role} for n, role in self.roles]}


def test_a_language_model_decides_the_roles_that_it_answers() -> None:
    text = "We present ALMA maps </data>. Future JWST observations will test this."
    model = _Model((0, "mention"), (7, "planned"))
    assert [one.role for one in find_mentions(text, model=model)] == ["mention", "planned"]
    assert '"number": 1, "facility": "JWST"' in model.asked
    assert "</data>" not in model.asked
    assert find_mentions("No facility here.", model=_Model()) == []


def test_an_unknown_role_from_a_language_model_is_refused() -> None:
    with pytest.raises(RemoteError):
        find_mentions("We present ALMA maps.", model=_Model((0, "hero")))


@pytest.mark.parametrize("facility", ["SKA", "Roman Space Telescope", "CSST", "ELT", "LISA"])
def test_data_of_a_facility_that_has_none_are_not_used(facility: str) -> None:
    text = f"We present an analysis of observations with the {facility}. We measure the masses."
    roles = {one.role for one in find_mentions(text, date=date(2025, 3, 1))}
    assert roles
    assert "science" not in roles


def test_the_first_light_of_a_facility_decides_not_its_launch() -> None:
    text = "We present JWST spectra of a galaxy and measure its redshift with JWST data."
    before = find_mentions(text, date=date(2022, 3, 1))  # after the launch
    after = find_mentions(text, date=date(2022, 9, 1))
    assert {one.role for one in before} == {"planned"}
    assert {one.role for one in after} == {"science"}


def test_papers_dated_to_a_year_may_use_data_of_its_end() -> None:
    assert _last_day(date(2022, 1, 1), "year") == date(2022, 12, 31)
    assert _last_day(date(2022, 2, 1), "month") == date(2022, 2, 28)
    assert _last_day(date(2022, 2, 3), "day") == date(2022, 2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "We combine the SH0ES measurement of the Hubble constant with supernovae.",
        "We simulate a survey with a Rubin-Roman-like color space and measure redshifts.",
        "We simulate a COBE-normalised model and measure the masses of clusters.",
        "We adopt a Planck 2018 cosmology and measure the masses of clusters.",
    ],
)
def test_results_named_after_a_facility_are_not_its_use(text: str) -> None:
    assert all(one.role != "science" for one in find_mentions(text, date=date(2026, 1, 1)))


@pytest.mark.parametrize(
    ("text", "facility"),
    [
        ("We fit the model to observational Hubble data (OHD) and supernovae.", "HST"),
        ("MeerKAT is one of the SKA precursors and maps neutral hydrogen.", "SKA"),
    ],
)
def test_namesakes_are_not_mentions(text: str, facility: str) -> None:
    assert facility not in {one.facility for one in find_mentions(text)}


@pytest.mark.parametrize(
    ("text", "facility", "is_use"),
    [
        (
            "As a precursor to the Legacy Survey of Space and Time (LSST), we identify galaxies "
            "in images of the Dark Energy Survey.",
            "Rubin",
            False,
        ),
        (
            "We measure cosmic shear in data that mimic ten years of observations of the Vera C. "
            "Rubin Observatory's Legacy Survey of Space and Time.",
            "Rubin",
            False,
        ),
        (
            "Using the Vera C. Rubin Observatory Data Preview 1 (DP1), we present the detection "
            "and photometry of a stellar stream.",
            "Rubin",
            True,
        ),
        ("We classify galaxies in images of the DESI Legacy Imaging Surveys.", "DESI", False),
        (
            "We use photometry of the Dark Energy Spectroscopic Instrument (DESI) Legacy Imaging "
            "Surveys to find dwarf galaxies.",
            "DESI",
            False,
        ),
        ("We measure redshifts of galaxies with DESI DR1 spectra.", "DESI", True),
    ],
)
def test_data_of_a_new_survey_and_of_its_target_images(text, facility, is_use) -> None:
    found = find_mentions(text, date=date(2026, 2, 1))
    assert (facility in {one.facility for one in found if one.role == "science"}) == is_use
