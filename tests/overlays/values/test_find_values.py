"""Statements of values: numbers, errors, units, quantities, and whose values they are."""

from __future__ import annotations

import math

import pytest
from astropy import units
from hypothesis import given
from hypothesis import strategies as st

from landscape.overlays.values import ValueStatement, asked_quantity, find_values
from tests.timing import assert_growth


def only(text: str) -> ValueStatement:
    found = find_values(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "quantity", "value", "plus", "minus", "unit"),
    [
        ("We find H0 = 70 ± 1 km/s/Mpc.", "H0", 70, 1, 1, "km / (Mpc s)"),
        ("H₀=71.9 (+2.4/-3.0) km s⁻¹ Mpc⁻¹", "H0", 71.9, 2.4, 3.0, "km / (Mpc s)"),
        (r"$H_0=71.9_{-3.0}^{+2.4}$ km s$^{-1}$ Mpc$^{-1}$", "H0", 71.9, 2.4, 3.0, "km / (Mpc s)"),
        ("a Hubble constant of 63.1±2.5 kms⁻¹ Mpc⁻¹", "H0", 63.1, 2.5, 2.5, "km / (Mpc s)"),
        ("S₈≡σ₈(Ω_m/0.3)^0.5=0.776 (+0.017/-0.018)", "S8", 0.776, 0.017, 0.018, ""),
        ("σ₈ = 0.81 ± 0.01 at z=0", "sigma8", 0.81, 0.01, 0.01, ""),
        ("Omega_m=0.266+0.025-0.023", "Omega_m", 0.266, 0.025, 0.023, ""),
        ("a mass of (9.4 ± 3.8) × 10⁻⁴ M_sun", "mass", 9.4e-4, 3.8e-4, 3.8e-4, "solMass"),
        ("a mass of 6.5 × 10⁹ ± 0.7 × 10⁹ M⊙", "mass", 6.5e9, 7e8, 7e8, "solMass"),
        ("a mass of 1.0e12 ± 1.0e11 M⊙", "mass", 1e12, 1e11, 1e11, "solMass"),
        ("a mass of 5.0e9 (+3e8/-2e8) M⊙", "mass", 5e9, 3e8, 2e8, "solMass"),
        ("4.3 ± 0.2 million solar masses", "mass", 4.3e6, 2e5, 2e5, "solMass"),
        ("a mass of 5.0 (+0.3/-0.2) × 10⁹ M⊙", "mass", 5e9, 3e8, 2e8, "solMass"),
        ("a planet of 1.25 +/- 0.3 Earth masses", "mass", 1.25, 0.3, 0.3, "earthMass"),
        ("a radius of 1.31±0.05 R⊕", "radius", 1.31, 0.05, 0.05, "earthRad"),
        ("the orbital period is 1.337(2) d", "period", 1.337, 0.002, 0.002, "d"),
        ("a distance of 1,200 ± 100 pc", "distance", 1200, 100, 100, "pc"),
        ("an age of 13.7±0.13 billion years", "age", 13.7, 0.13, 0.13, "Gyr"),
        ("T_eff=5778±50 K", "temperature", 5778, 50, 50, "K"),
        ("footpoints of about 5 900 K", "temperature", 5900, math.nan, math.nan, "K"),
        ("[Fe/H] = -2.3 ± 0.1", "metallicity", -2.3, 0.1, 0.1, ""),
        ("at redshift z = 7.085", "redshift", 7.085, math.nan, math.nan, ""),
        ("a rate of 23.9 (+14.3/-8.6) Gpc⁻³ yr⁻¹", "rate", 23.9, 14.3, 8.6, "1/(Gpc3 yr)"),
        ("H₀=76.6 (+7.7/-7.0)km/(Mpc s)", "H0", 76.6, 7.7, 7.0, "km/(Mpc s)"),
        ("log₁₀(⟨M_h⟩/M⊙)=13.44 ± 0.08", "mass", 13.44, 0.08, 0.08, "dex(solMass)"),
        ("progenitors (<2 M_sun)", "mass", 2, math.nan, math.nan, "solMass"),
        ("a 5 Jupiter-mass planet", "mass", 5, math.nan, math.nan, "jupiterMass"),
        ("a temperature of 2.5 million K", "temperature", 2.5e6, math.nan, math.nan, "K"),
        ("the group NGC 55 (2.1 Mpc)", "distance", 2.1, math.nan, math.nan, "Mpc"),
        ("waves from 6 to 14 R⊙", "distance", 10, 4, 4, "solRad"),
        ("the nearest star (3 pc)", "distance", 3, math.nan, math.nan, "pc"),
        ("young stars (∼20 Myr)", "age", 20, math.nan, math.nan, "Myr"),
        ("a star was born 12 Myr ago", "age", 12, math.nan, math.nan, "Myr"),
        ("a rate of 21.2Gpc⁻³yr⁻¹", "rate", 21.2, math.nan, math.nan, "1/(Gpc3 yr)"),
        ("an accretion rate of 2×10⁻⁵ M⊙ yr⁻¹", "rate", 2e-5, math.nan, math.nan, "solMass/yr"),
    ],
)  # fmt: skip
def test_notations(
    text: str, quantity: str, value: float, plus: float, minus: float, unit: str
) -> None:
    one = only(text.replace(" at z=0", ""))
    assert one.quantity == quantity
    assert (one.value, one.plus, one.minus) == pytest.approx((value, plus, minus), nan_ok=True)
    assert units.Unit(one.unit) == units.Unit(unit)


def test_statistical_and_systematic_errors_are_added_in_quadrature() -> None:
    one = only("H₀=73.2±1.3 (stat)±0.5 (sys) km s⁻¹ Mpc⁻¹")
    assert one.plus == pytest.approx(math.hypot(1.3, 0.5))


@pytest.mark.parametrize(
    ("text", "limit", "value", "plus"),
    [
        ("we find ∑m_ν < 0.12 eV", "upper", 0.12, math.nan),
        ("a mass of at least 8 M⊙", "lower", 8, math.nan),
        ("galaxies at 0.5 < z < 1.5", "range", 1.0, 0.5),
        ("masses 10⁵ M⊙≲M_BH≲10⁷M⊙", "range", 5.05e6, 4.95e6),
        ("a distance between 1 and 3 kpc", "range", 2, 1),
        ("a mass-loss rate of 3.3-3.7x10^(-3) Msun/yr", "range", 3.5e-3, 2e-4),
        ("a mass of (1-6) × 10⁵ solar masses", "range", 3.5e5, 2.5e5),
        ("a mass between 2 and 4 × 10⁶ M⊙", "range", 3e6, 1e6),
        ("galaxies at 10 < z < 6", "range", 8, 2),
        ("H₂ reservoirs (∼1-5 × 10¹⁰ M⊙)", "range", 3e10, 2e10),
    ],
)
def test_limits_and_ranges(text: str, limit: str, value: float, plus: float) -> None:
    one = only(text)
    assert one.limit == limit
    assert (one.value, one.plus) == pytest.approx((value, plus), nan_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "with a resolution of 10 pc",
        "the temperature increases by 500 K",
        "radii are 5% larger, by 0.1 R⊙",
        "a total of 34.5 hours of observations",
        "frequencies from 20 Hz to 200 Hz",
        "over a period of 318 days",
        "a precision of 2% on H₀",
        "the detector at 0.1 K, a receiver temperature",
        "in 2019 we found 12 galaxies",
        "temperature residuals below 10 μK",
        "data over a 10-year period",
        "the redshift evolution (1+z)^k of d_L(z) = (1+z)² D_A",
        "the neutrino mass is known to σ(M_ν)=0.1 eV",
        "an average difference of 0.2±0.3 Gyr, difference 0.2±0.3 Gyr",
        "a mass resolution of m = 0.4 M⊙ per particle",
        "an outburst period around the 1620s",
        "a dust-to-gas ratio of Z = 0.01",
        "fields of 10¹⁴ G and temperature ramps of 5 K per min",
        "log₁₀(P_c) = -3.04",
        "a mass of 10^99 ± 10% × 10^99 M⊙",
        "a mass of 1.5e+100 M⊙",
    ],
)
def test_no_statement(text: str) -> None:
    assert find_values(text) == []


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("We measure H₀ = 70 ± 1 km/s/Mpc.", "measured"),
        ("It is consistent with H₀ = 67.4 ± 0.5 km/s/Mpc.", "compared"),
        ("Smith et al. (2019) find H₀ = 67.4 ± 0.5 km/s/Mpc.", "cited"),
        ("We assume H₀ = 70 km/s/Mpc.", "assumed"),
        ("LISA will measure H₀ = 70 ± 1 km/s/Mpc.", "forecast"),
        ("We study galaxies at z = 2.", "sample"),
        ("We simulate a galaxy of mass 10¹² M⊙.", "simulated"),
    ],
)
def test_status(text: str, status: str) -> None:
    one = only(text)
    assert (one.status, one.own) == (status, status == "measured")


def test_lists_share_their_unit_and_quantity() -> None:
    found = find_values(
        "We run models with masses of 0.25, 0.50 and 1.0 M⊙ at z=5.0, 4.6, and 4.2."
    )
    assert [(one.quantity, one.value) for one in found] == [
        ("mass", 0.25), ("mass", 0.5), ("mass", 1.0),
        ("redshift", 5.0), ("redshift", 4.6), ("redshift", 4.2),
    ]  # fmt: skip


def test_a_list_in_parentheses_has_one_unit() -> None:
    found = find_values("The median masses are (6.4, 24, 76) M⊕.")
    assert [(one.value, one.unit) for one in found] == [
        (6.4, "earthMass"), (24, "earthMass"), (76, "earthMass"),
    ]  # fmt: skip


def test_a_list_shares_its_power_of_ten() -> None:
    found = find_values("We find masses of 1.2, 1.5 and 2.0 × 10⁸ M⊙.")
    assert [one.value for one in found] == pytest.approx([1.2e8, 1.5e8, 2e8])


def test_values_of_a_list_of_objects_and_of_a_host() -> None:
    found = find_values("The distances to M31 and M33 are 776 ± 22 and 840 ± 20 kpc, respectively.")
    assert [(one.object, one.value) for one in found] == [("NGC 224", 776), ("NGC 598", 840)]
    assert only("The host star of K2-18 b has a mass of 0.36 ± 0.02 M⊙.").object == "K2-18"
    found = find_values("K2-18 b has a mass of 8.63 ± 1.35 M⊕ and orbits a 0.36 M⊙ star.")
    assert [one.object for one in found] == ["K2-18 b", "K2-18"]
    assert only("We observe discs in Upper Scorpius. The disc mass is 0.1 ± 0.02 M⊙.").object == ""


@pytest.mark.parametrize(
    ("question", "quantity"),
    [
        ("What is the mass loss rate of Betelgeuse?", "rate"),
        ("How big is the sample of K2-18?", ""),
        ("How hot is the debate about K2-18 b?", ""),
        ("What is the best way to measure the Hubble constant?", ""),
        ("What is the cause of the S8 tension?", ""),
        ("What is the current value of the Hubble constant?", "H0"),
        ("What are the measured values of S8?", "S8"),
        ("What redshift does J0100+2802 have?", "redshift"),
    ],
)
def test_a_question_asks_for_its_head_noun(question: str, quantity: str) -> None:
    assert asked_quantity(question) == quantity


@pytest.mark.parametrize(
    "piece", ["z = 1, ", "mass 1 Msun ", "H0 = 70 ± 1 km/s/Mpc, ", "1 km/(Mpc/(s ", "$z$ a b "]
)
def test_reading_takes_linear_time(piece: str) -> None:
    assert_growth(find_values, lambda n: piece * (n // len(piece)), n=8_000)


def test_object_is_named_before_or_in_an_earlier_sentence() -> None:
    assert only("K2-18 b has a mass of 8.6 Earth masses.").object == "K2-18 b"
    text = "We observe the planet WASP-107b. Its mass is 30.5 ± 1.7 Earth masses."
    assert only(text).object == "WASP-107 b"
    assert only("In the Coma cluster we find H₀ = 70 ± 3 km/s/Mpc.").object == ""


def test_places_in_latex() -> None:
    text = r"We find $T_{\rm eff} = 5778 \pm 50$ K and more."
    one = only(text)
    assert text[one.start : one.end].startswith("5778")
    assert text[one.start : one.end].endswith("K")


@given(st.text(alphabet="HzM⊙=<>≲±+-−(0123456789.,) /^⁰⁶pcKyr×eT_", max_size=120))
def test_any_text_gives_finite_statements_in_order(text: str) -> None:
    end = 0
    for one in find_values(f"We find a mass of {text} M⊙"):
        assert one.start >= end
        assert math.isfinite(one.value)
        assert not one.plus < 0
        assert not one.minus < 0
        end = one.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we find Ω_m = 0.30 ± 0.01, h = 0.69 ± 0.01", ("Omega_m", 0.30, "", "")),
        ("a mass of log(M200/Msun) < 11.5", ("mass", 11.5, "dex(solMass)", "upper")),
        ("an ultra-compact ∼1 h orbit", ("period", 1.0, "h", "")),
        ("the 291-day orbit", ("period", 291.0, "d", "")),
        ("redshifts from z=2 to z=0.", ("redshift", 1.0, "", "range")),
        ("between M_h=1 M⊙ and M_h=2 M⊙", ("mass", 1.5, "solMass", "range")),
        ("stars within 40 pc", ("distance", 40.0, "pc", "upper")),
        ("S₈ ≡ σ₈ √(Ω_m / 0.3) = 0.83 ± 0.05", ("S8", 0.83, "", "")),
        ("planets of 1 R⊕ < R_p < 1 R_J", ("radius", 0.5446, "jupiterRad", "range")),
    ],
)
def test_repeated_symbols_and_units(text: str, expected: tuple[str, float, str, str]) -> None:
    one, *more = find_values(text)
    assert not more
    assert (one.quantity, one.unit, one.limit) == (expected[0], *expected[2:])
    assert one.value == pytest.approx(expected[1], abs=1e-3)


def test_changes_are_no_values() -> None:
    assert not find_values("the temperature changed by no more than 200 K")
