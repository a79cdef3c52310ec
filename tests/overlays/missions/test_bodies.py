"""Use of facilities, programmes and software in the sections of full texts."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from landscape.overlays.missions import find_in_sections
from landscape.overlays.missions._bodies import find_in_section, find_software

_ESO = "La Silla Paranal Observatory"


def used(text: str, kind: str = "acknowledgements") -> set[str]:
    return {one.facility for one in find_in_section(kind, text) if one.role == "science"}


@pytest.mark.parametrize(
    ("text", "facilities"),
    [
        ("Based on observations obtained with XMM-Newton.", {"XMM-Newton"}),
        ("This work makes use of data from Gaia and 2MASS.", {"Gaia", "2MASS"}),
        ("Funding for the Sloan Digital Sky Survey has been provided by a foundation.", {"SDSS"}),
        ("The Liverpool Telescope is operated by a university.", {"Liverpool Telescope"}),
        ("The XMM-Newton project is an ESA Science Mission.", {"XMM-Newton"}),
        ("We thank the staff of the GMRT for their help.", {"GMRT"}),
        ("We thank the NuSTAR team for executing the observations.", {"NuSTAR"}),
        ("J.S. is a NASA Hubble Fellow.", set()),
        ("Support was provided by Chandra grant GO2-13160A.", set()),
        ("This work was supported by NASA through HST grant HST-GO-13578.", set()),
        ("We thank the CALIFA, SAMI and ATLAS3D teams for discussions.", set()),
        ("We thank A. Doe for information on the IceCube data.", set()),
        ("This paper makes use of software developed for the LSST.", set()),
        ("We thank S. O. Kepler for fruitful discussions.", set()),
        ("This project was developed at the 2018 NYC Gaia Sprint.", set()),
        ("Support for MAST for non-HST data is provided by NASA.", set()),
        ("Grant AYA2016-P. The European VLBI Network is a joint facility of institutes.", {"EVN"}),
    ],
)
def test_thanks_for_data_are_use_and_money_and_people_are_not(
    text: str, facilities: set[str]
) -> None:
    assert used(text) == facilities


@pytest.mark.parametrize(
    ("text", "facilities"),
    [
        ("HST (WFC3), Spitzer(IRAC), VLT:Kueyen, CTIO:1.3m, Kepler.", {"HST", "Spitzer", "VLT"}),
        ("ALMA", {"ALMA"}),
    ],
)
def test_the_macro_lists_facilities(text: str, facilities: set[str]) -> None:
    assert used(text, "facilities") >= facilities
    listed = f"We thank nobody. Facilities: {text}"
    assert used(listed) >= facilities  # as journals print it


@pytest.mark.parametrize(
    ("text", "programme", "facility"),
    [
        ("ADS/JAO.ALMA#2013.1.00001.S data are used.", "2013.1.00001.S", "ALMA"),
        ("Observations of programme 098.B-0123(A).", "098.B-0123(A)", _ESO),
        ("Observed at Gemini (GN-2016B-FT-28) by the staff.", "GN-2016B-FT-28", "Gemini"),
        ("Observations with HST in programs GO-13578.", "GO-13578", "HST"),
        ("JWST observations of program #1234.", "program #1234", "JWST"),
    ],
)
def test_programmes_name_the_facility(text: str, programme: str, facility: str) -> None:
    found = find_in_section("data", text)
    assert (programme, facility, "science") in [(m.surface, m.facility, m.role) for m in found]
    assert all(text[one.start : one.end] == one.surface for one in found)


def test_a_data_section_needs_words_of_use() -> None:
    assert used("We use light curves from TESS.", "data") == {"TESS"}
    assert used("TESS is a satellite with a wide field.", "data") == set()


def test_no_paper_uses_data_before_first_light() -> None:
    row = {"row": 0, "number": 3, "kind": "acknowledgements", "text": "We use JWST data."}
    for day, role in (
        (datetime.date(2015, 1, 1), "planned"),
        (datetime.date(2024, 1, 1), "science"),
    ):
        mentions, _ = find_in_sections(pd.DataFrame([row]), [day])
        assert mentions["role"].tolist() == [role]
        assert mentions[["field", "section", "surface"]].to_numpy().tolist() == [
            ["acknowledgements", 3, "JWST"]
        ]


def test_introductions_are_not_read() -> None:
    rows = [
        {"row": 0, "number": n, "kind": kind, "text": "We use TESS data and Astropy."}
        for n, kind in enumerate(("introduction", "discussion", "results"))
    ]
    mentions, software = find_in_sections(pd.DataFrame(rows), [None])
    assert mentions.empty
    assert software.empty


def test_software_by_name_and_number() -> None:
    text = "astropy (Doe 2013), mycode v2.1 (ascl:2001.002), emcee"
    found = [(one.name, one.ascl) for one in find_software("software", text)]
    assert found == [("Astropy", "1304.002"), ("mycode", "2001.002"), ("emcee", "1303.002")]
    plain = find_software("methods", "We fit with emcee and reduce with CASA in a casa.")
    assert [one.surface for one in plain] == ["emcee", "CASA"]


def test_a_long_acknowledgement_with_many_names_is_read_once() -> None:
    calls = 0

    class Counted:
        def search(self, _: str) -> None:
            nonlocal calls
            calls += 1

    text = "We thank " + " and ".join(["HST"] * 400)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("landscape.overlays.missions._bodies._PERSON_FOR", Counted())
        assert len(find_in_section("acknowledgements", text)) == 400
    assert calls == 1
