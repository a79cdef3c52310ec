import difflib
from datetime import date

import pytest

from landscape._io import read_yaml
from landscape.corpus import find_facility, load_facilities
from landscape.corpus.demo.cards import load_facilities as load_demo_facilities
from landscape.corpus.facilities import missions_file
from landscape.errors import InputError
from landscape.overlays.missions import find_mentions

TOP_CONCEPTS = {
    "Cosmology",
    "Exoplanet astronomy",
    "Galactic and extragalactic astronomy",
    "High energy astrophysics",
    "Interstellar medium",
    "Solar physics",
    "Solar system astronomy",
    "Stellar astronomy",
}


def test_there_are_far_more_than_sixty_facilities_with_all_their_facts():
    facilities = load_facilities()
    assert len(facilities) >= 200
    for name, facility in facilities.items():
        assert facility.name == name
        assert facility.band, name
        assert facility.agency, name
        assert facility.home_fields, name
        assert set(facility.home_fields) <= TOP_CONCEPTS, name
        assert facility.ambiguous <= set(facility.names), name
        assert facility.end is None or facility.end > facility.first_light, name


def test_a_name_of_the_facility_itself_belongs_to_one_facility_only():
    owners: dict[str, str] = {}
    for facility in load_facilities().values():
        for name in {facility.name, facility.full_name, *facility.aliases}:
            assert owners.setdefault(name, facility.name) == facility.name, name


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("hubble space telescope", "HST"),
        ("the VLA", "VLA"),
        ("H.E.S.S.", "HESS"),
        ("PanSTARRS1", "Pan-STARRS"),
        ("lsst", "Rubin"),
        ("Keck", "Keck"),
        ("XMM Newton", "XMM-Newton"),
        ("Paranal", "Paranal Observatory"),
        ("HERMES (AAT)", "HERMES (AAT)"),
        ("AAT/HERMES", "HERMES (AAT)"),
        ("HerMES", "HerMES"),
        ("herschel/hermes", "HerMES"),
        ("muse", "MUSE"),
        ("VLT/MUSE", "MUSE"),
    ],
)
def test_a_facility_is_found_by_any_of_its_names_at_the_level_that_is_named(asked, name):
    assert find_facility(asked).name == name


@pytest.mark.parametrize(
    ("asked", "facility"),
    [("MaNGA", "SDSS"), ("LASCO", "SOHO"), ("HARPS", "ESO 3.6m"), ("NIRSpec", "JWST")],
)
def test_an_instrument_counts_for_its_telescope_and_selects_its_own_mentions(asked, facility):
    one = find_facility(asked)
    assert one.is_part
    assert one.counted_as == (facility,)
    assert one.includes(facility, asked)
    assert one.includes(facility, f"{facility}/{asked}")
    assert not one.includes(facility, facility)
    assert not one.includes("VLA", asked)
    assert find_facility(facility).includes(facility, asked)


def test_an_observatory_selects_its_telescopes():
    paranal = find_facility("Paranal Observatory")
    assert {"VLT", "VISTA"} < set(paranal.counted_as)
    assert paranal.includes("VLT", "MUSE")
    assert not paranal.includes("Keck", "LRIS")


def test_a_name_of_several_facilities_is_answered_with_the_choices():
    with pytest.raises(InputError, match="3 facilities 'HERMES'") as failed:
        find_facility("HERMES")
    choices = str(failed.value).partition("give one of: ")[2].rstrip(".").split(", ")
    assert len({find_facility(choice).name for choice in choices}) == 3


def test_every_facility_of_the_demo_corpus_is_known():
    for key, facility in load_demo_facilities().items():
        known = {find_facility(name).counted_as for name in facility.names}
        assert len(known) == 1, key


def test_an_unknown_facility_is_answered_with_the_nearest_names():
    with pytest.raises(
        InputError, match=r"no facility 'Chandar'; the nearest names are: .*Chandra"
    ):
        find_facility("Chandar")
    assert not difflib.get_close_matches("qqqqqq", load_facilities())
    with pytest.raises(InputError, match="known are listed"):
        find_facility("qqqqqq")


def test_dates_are_as_precise_as_they_are_known():
    assert find_facility("Gaia").start == date(2013, 12, 19)
    assert find_facility("Gaia").first_light == date(2014, 7, 25)
    assert find_facility("JWST").first_light == date(2022, 7, 12)
    assert find_facility("NIRSpec").first_light == date(2022, 7, 12)
    assert find_facility("Kepler").end == date(2018, 10, 30)
    assert find_facility("ALMA").end is None


def test_instruments_count_for_their_telescope_and_telescopes_for_themselves() -> None:
    text = "Spectra were taken with the MagE spectrograph on Magellan and with NEID at Kitt Peak."
    found = {mention.surface: mention.facility for mention in find_mentions(text)}
    assert found["MagE"] == "Magellan"
    known = load_facilities()
    assert "Apache Point Observatory" in known  # a site: its telescopes are facilities
    assert "Magellan Echellette" in known["Magellan"].instruments
    entries = read_yaml(missions_file())
    assert len(entries) >= 900
    assert all(entry.get("parent", name) in entries for name, entry in entries.items())


def test_names_of_authors_and_platforms_are_no_facilities() -> None:
    assert find_mentions("Stars in the bulge from data by Luna et al. (2019)") == []
    assert find_mentions("As part of the ASTEP Platform we measured soft errors.") == []
    text = "Doppler shifts from the EUV Imaging Spectrometer (EIS) on Hinode"
    assert {mention.facility for mention in find_mentions(text)} == {"Hinode"}
