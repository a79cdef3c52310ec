"""Names of celestial objects: grammar of catalogues, normal forms, kinds, and what is no object."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landscape.corpus.objects import coordinates_of, find_objects, normal_name, object_key
from tests.timing import assert_growth


def names(text: str) -> list[tuple[str, str]]:
    return [(one.surface, one.name) for one in find_objects(text)]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("NGC1068", "NGC 1068", "galaxy"),
        ("M31", "NGC 224", "galaxy"),
        ("Messier 13", "NGC 6205", "globular cluster"),
        ("NGC 104", "NGC 104", "globular cluster"),
        ("HD 209458b", "HD 209458 b", "planet"),
        ("WASP-19b", "WASP-19 b", "planet"),
        ("Kepler-186f", "Kepler-186 f", "planet"),
        ("16 Cyg A", "16 Cyg A", "star"),
        ("V404 Cygni", "V404 Cyg", "star"),
        ("beta Pictoris b", "β Pic b", "planet"),
        ("α Orionis", "Betelgeuse", "star"),
        ("PSR B1937+21", "PSR B1937+21", "pulsar"),
        ("PSRs J1909−3744", "PSR J1909-3744", "pulsar"),
        ("SDSSJ0100+2802", "SDSS J0100+2802", ""),
        ("4FGL J1646.5-4406", "4FGL J1646.5-4406", "gamma-ray source"),
        ("GRB170817A", "GRB 170817A", "gamma-ray burst"),
        ("GW170817", "GW170817", "gravitational-wave event"),
        ("FRB 20121102A", "FRB 20121102A", "fast radio burst"),
        ("AT2018cow", "AT 2018cow", "transient"),
        ("SN 1987A", "SN 1987A", "supernova"),
        ("4U 1636–53", "4U 1636-53", "X-ray source"),
        ("SNR G1.9+0.3", "SNR G1.9+0.3", "supernova remnant"),
        ("A2744", "Abell 2744", "galaxy cluster"),
        ("(101955) Bennu", "Bennu", "asteroid"),
        ("2014 MU69", "Arrokoth", "dwarf planet"),
        ("67P/Churyumov–Gerasimenko", "67P/Churyumov-Gerasimenko", "comet"),
        ("C/2025 N1", "3I/ATLAS", "interstellar object"),
        ("Large Magellanic Cloud", "LMC", "galaxy"),
        ("Sagittarius A*", "Sgr A*", "black hole"),
        ("GOODS-South", "GOODS-S", "field"),
        ("Galactic centre", "Galactic Center", "region"),
        ("Cen X−4", "Cen X-4", "X-ray source"),
        ("NGC 6334I", "NGC 6334I", "nebula"),
        ("NGC 1052-DF2", "NGC 1052-DF2", "galaxy"),
        ("SN IIb 1993J", "SN 1993J", "supernova"),
        ("supernova (SN) 1993J", "SN 1993J", "supernova"),
        ("Cyg OB3", "Cyg OB3", "stellar association"),
        ("Pisces overdensity", "Pisces overdensity", "stellar stream"),
        ("OGLE-BLG-RRLYR-12345", "OGLE-BLG-RRLYR-12345", "star"),
        ("I Zwicky 18", "I Zw 18", "galaxy"),
        ("Haro 6-10", "Haro 6-10", "star"),
        ("AD Leo", "AD Leo", "star"),
        ("MW disc", "Galactic disk", "region"),
    ],
)
def test_name_kind_and_place(text: str, name: str, kind: str) -> None:
    sentence = f"We observe {text} in the cluster of galaxies and stars."
    found = find_objects(sentence)
    assert [(one.name, one.kind) for one in found] == [(name, kind)]
    assert sentence[found[0].start : found[0].end] == found[0].surface == text


@pytest.mark.parametrize(
    "text",
    [
        "An M1 model of M5 dwarfs",
        "C IV and Fe XXV lines at z = 2",
        "5 M⊙ stars and 2 Earth masses",
        "T Tauri stars, RR Lyrae variables and BL Lac objects",
        "a super-Earth, a mini-Neptune and an Earth-like planet",
        "The SDSS, Kepler, Gaia DR3 and NIRSpec data",
        "IceCube IC86 data",
        "Sun et al. (2019) and HD video",
        "Mars Express images",
        "3D/NLTE models; (4) The ratio",
        "HST-AR-13888 and AR-14282",
        "For 1 M⊙ and 5 Per cent",
        "R Coronae Borealis Stars (RCB) fade",
        "an ultrahot Jupiter and low-Earth orbits",
        "the Rhea simulations, Mercury cadmium detectors",
        "C(3P) + NO and an Emission Nebula",
        "the streamer G1-2-3 of stars",
        "NVIDIA A100 GPUs and L 10–100 L⊙",
        "the Draco supercomputer for dwarf galaxies",
    ],
)
def test_no_object(text: str) -> None:
    assert names(text) == []


def test_lists_planets_and_components() -> None:
    assert names("NGC 1068, 4151 and 7469 were observed") == [
        ("NGC 1068", "NGC 1068"), ("4151", "NGC 4151"), ("7469", "NGC 7469"),
    ]  # fmt: skip
    assert [name for _, name in names("SNe 1993J, 2013df and 2016gkg.")] == [
        "SN 1993J", "SN 2013df", "SN 2016gkg",
    ]  # fmt: skip
    assert [name for _, name in names("TRAPPIST-1 b, c, and d")] == [
        "TRAPPIST-1 b", "TRAPPIST-1 c", "TRAPPIST-1 d",
    ]  # fmt: skip
    assert [name for _, name in names("planets HR 8799 bcde")] == [
        f"HR 8799 {letter}" for letter in "bcde"
    ]
    assert [name for _, name in names("stars CI, CY and IQ Tau")] == ["CI Tau", "CY Tau", "IQ Tau"]


def test_short_names_get_the_full_designation() -> None:
    text = "1SWASP J140747.93-394542.6 (J1407) hosts J1407b."
    assert [name for _, name in names(text)] == [
        "1SWASP J140747.93-394542.6", "1SWASP J140747.93-394542.6", "1SWASP J140747.93-394542.6 b",
    ]  # fmt: skip
    assert names("The Galactic Center (GC) is near; the GC flares.")[1:] == [
        ("GC", "Galactic Center"), ("GC", "Galactic Center"),
    ]  # fmt: skip
    assert names("WISE 1049AB") == [("WISE 1049AB", "WISE 1049 AB")]


def test_bare_coordinates_are_a_pulsar_only_among_pulsars() -> None:
    assert names("timing of the millisecond pulsar J1909-3744")[0][1] == "PSR J1909-3744"
    assert names("the quasar J0100+2802 at z = 6.3")[0][1] == "J0100+2802"
    assert normal_name("J1909-3744") == normal_name("PSR J1909-3744")


def test_keys_ignore_acronym_and_precision() -> None:
    assert object_key("SDSS J010013.02+280225.8") == object_key("J0100+2802")
    assert object_key("PSR J0024-7204A") != object_key("PSR J0024-7204B")
    assert object_key(normal_name("M 77")) == object_key(normal_name("NGC1068"))
    assert object_key(normal_name("m1")) == object_key(normal_name("Crab nebula"))
    assert object_key("FRB 121102") == object_key("FRB 20121102A")
    assert object_key("γ Cep B") != object_key("γ Cep b")
    assert object_key("2MASS J1207-3932 b") != object_key("2MASS J1207-3932")


def test_coordinates() -> None:
    precise = coordinates_of("SDSS J010013.02+280225.8")
    assert precise == pytest.approx((15.05425, 28.04050, 0.13239), abs=1e-5)
    assert coordinates_of("2MASS J01001302+2802258") == pytest.approx(precise)
    assert coordinates_of("4FGL J1646.5-4406") == pytest.approx((251.625, -44.1, 64.63), abs=1e-2)
    assert coordinates_of("PSR J1124-59") == pytest.approx((171, -59, 3600))
    assert coordinates_of("MAXI J1820+070") == pytest.approx((275, 7, 893.3), abs=0.1)
    assert coordinates_of("NGC 1068") is None
    assert coordinates_of("J9999+9999") is None


@given(st.text(alphabet="NGCM J0123456789+-–HD.WASPabc ,;()*αZ1", max_size=200))
def test_mentions_are_places_without_overlap(text: str) -> None:
    end = 0
    for one in find_objects(text):
        assert one.start >= end
        assert text[one.start : one.end] == one.surface
        end = one.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The M dwarf StKM 1-1262 flares. StKM 1-1262 is young.", ["StKM 1-1262"] * 2),
        ("Winds of FTM 0830+3759 are fast.", ["FTM 0830+3759"]),
        ("The flares SOL 2014-12-18 and UT 2019-10-30 at the blazar Band 3", []),
        ("The star Gaia DR3 and the galaxy Seyfert 2", []),
        ("eFEDS J0842+0010 (hereafter ID830) is loud: ID830", ["eFEDS J0842+0010"] * 3),
        ("GRBs 090926A, 131108A, and 160509A can be fitted", ["GRB 131108A", "GRB 160509A"]),
        ("supernova 1987A and Fast Radio Burst 20201124A", ["SN 1987A", "FRB 20201124A"]),
        ("the moon and the sun as seen from a moon", ["Moon", "Sun"]),
        ("clumps M1 and M2 of the galaxy cluster lens", []),
        ("the globular cluster M2", ["NGC 7089"]),
        ("the Auriga simulations of star formation", []),
    ],
)
def test_designations_of_unknown_catalogues_and_other_spellings(
    text: str, expected: list[str]
) -> None:
    names = [one.name for one in find_objects(text)]
    assert names[-len(expected) :] == expected if expected else not names


@pytest.mark.parametrize("number", ["HD 12345", "HIP 1234", "WR 7", "HR 8799", "Trumpler 14"])
@pytest.mark.parametrize("after", [".", ". It is a Wolf star in a cluster.", ", which", ") and"])
def test_a_name_ends_at_a_full_stop(number: str, after: str) -> None:
    text = f"The Wolf star in a cluster: {number}{after}"
    assert number in [name for _, name in names(text)]


def test_a_noun_beside_a_number_is_the_kind() -> None:
    text = "The open cluster NGC 2345, NGC 6309, a planetary nebula, and NGC 4701."
    assert [one.kind for one in find_objects(text)] == [
        "open cluster", "planetary nebula", "galaxy",
    ]  # fmt: skip


def test_short_names_in_context() -> None:
    assert names("16 Cyg A and B are alike")[1] == ("B", "16 Cyg B")
    assert names("We image HR 8799; planet e and planets b and c are bright")[1:] == [
        ("planet e", "HR 8799 e"), ("planets b", "HR 8799 b"), ("c", "HR 8799 c"),
    ]  # fmt: skip
    assert names("calibrated with the quasar 1924-292") == [("1924-292", "1924-292")]
    assert names("between 1924-292 and more in years") == []
    assert names("pulsars such as 1913+16") == [("1913+16", "PSR B1913+16")]
    assert names("Epoch J2000 and the source J0840") == [("J0840", "J0840")]
    assert names("The dwarf galaxies Fornax and Sgr have streams") == [
        ("Fornax", "Fornax dwarf"), ("Sgr", "Sagittarius dwarf"),
    ]  # fmt: skip
    assert names("Pulsations of Crab and Vela, two pulsars")[0] == ("Crab", "Crab pulsar")
    assert names("the dwarf satellites And XIX and Leo I")[0] == ("And XIX", "Andromeda XIX")
    assert names("star-forming clumps W51-IRS2 and the core B335") == [
        ("W51-IRS2", "W51-IRS2"), ("B335", "Barnard 335"),
    ]  # fmt: skip
    assert names("the planets Mercury and Venus")[0] == ("Mercury", "Mercury")
    assert names("M31 dwarfs and an M5 dwarf") == [("M31", "NGC 224")]


def test_a_long_text_is_read_in_pieces() -> None:
    text = "We observe NGC 1068 for a while. " * 500
    found = find_objects(text)
    assert len(found) == 500
    assert all(text[one.start : one.end] == "NGC 1068" for one in found)


@pytest.mark.parametrize("piece", ["Mira ", "AA, RR Lyr ", "the Moon ", "comet 12P "])
def test_repeated_names_take_linear_time(piece: str) -> None:
    assert_growth(find_objects, lambda n: piece * (n // len(piece)), n=8_000)
