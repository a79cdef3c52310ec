"""Forms of a phrase have the same key; different phrases have different keys."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from landscape.text.words import normal_form, normal_forms


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("galaxies", "galaxy"),
        ("supernovae", "supernova"),
        ("novae", "nova"),
        ("nebulae", "nebula"),
        ("halos", "halo"),
        ("haloes", "halo"),
        ("masses", "mass"),
        ("AGNs", "agn"),
        ("spectra", "spectrum"),
        ("dwarfs", "dwarf"),
        ("analyses", "analysis"),
        ("axes", "axis"),
        ("lenses", "lens"),
        ("nuclei", "nucleus"),
        ("radii", "radius"),
        ("indices", "index"),
        ("waves", "wave"),
        ("fluxes", "flux"),
        ("phases", "phase"),
        ("phenomena", "phenomenon"),
        ("matrices", "matrix"),
        ("metrics", "metric"),
    ],
)
def test_plurals_of_astronomy(plural: str, singular: str) -> None:
    assert normal_form(plural) == singular
    assert normal_form(f"X-ray {plural}") == f"x ray {singular}"


UNCHANGED = [
    "data",
    "physics",
    "dynamics",
    "kinematics",
    "species",
    "series",
    "gas",
    "lens",
    "Gauss",
    "Virgo",
    "Venus",
    "Mars",
    "status",
    "mass",
    "Stokes",
    "chaos",
    "corona",
    "torus",
    "bias",
    "axis",
    "analysis",
    "Hyades",
    "Pleiades",
    "TESS",
]


@pytest.mark.parametrize("word", UNCHANGED)
def test_words_in_s_that_are_no_plurals(word: str) -> None:
    assert normal_form(word) == word.lower()


@pytest.mark.parametrize(
    "forms",
    [
        ("gamma-ray bursts", "γ-ray burst", "Gamma Ray Bursts", "gamma–ray burst"),
        ("Sérsic profiles", "Sersic profile"),
        ("H₂ molecules", "H2 molecule"),
        ("multi-wavelength surveys", "multiwavelength survey"),
        ("protoplanetary discs", "proto-planetary disks"),
        ("reionisation", "reionization"),
        ("Kepler's laws", "Kepler law"),
        ("  dark   matter ", "dark matter"),
    ],
)
def test_forms_of_one_phrase_have_one_key(forms: tuple[str, ...]) -> None:
    assert len({normal_form(form) for form in forms}) == 1


def test_different_phrases_keep_apart() -> None:
    phrases = ["H I", "H II", "He I", "HCO", "HCO+", "Sgr A", "Sgr A*", "star", "stars cluster"]
    assert len({normal_form(phrase) for phrase in phrases}) == len(phrases)


@given(st.text(max_size=60))
@example("_+")
def test_a_key_is_its_own_key(text: str) -> None:
    key = normal_form(text)
    assert normal_form(key) == key
    assert key == " ".join(key.split())


def test_many_phrases_at_once_are_the_same_as_one_by_one() -> None:
    phrases = ["Dwarf Galaxies", "dwarf galaxy", "CMB"] * 1000
    assert normal_forms(phrases) == [normal_form(phrase) for phrase in phrases]
