"""What questions ask for."""

from __future__ import annotations

import pytest

from landscape.answers.reading import aim_of, compared_things, with_nouns
from landscape.answers.sentence_scoring import fit_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is a kilonova?", "definition"),
        ("What is the radius valley?", "definition"),
        ("What is the mass of the Milky Way?", "value"),
        ("What is the optical depth of reionization?", "value"),
        ("How far away is the Crab pulsar?", "value"),
        ("MOND versus dark matter", "comparison"),
        ("Which methods are used to measure photometric redshifts?", "method"),
        ("How is machine learning used to classify supernovae?", "method"),
        ("What causes fast radio bursts?", "cause"),
        ("Why do galaxies stop forming stars?", "cause"),
        ("How do spiral arms form?", "cause"),
        ("Is dark energy evolving?", "consensus"),
        ("What did Gaia find about Enceladus?", ""),
    ],
)
def test_the_kind_of_a_question(question: str, kind: str) -> None:
    assert aim_of(question).kind == kind


@pytest.mark.parametrize(
    ("question", "dimension"),
    [
        ("How old is the cluster M 67?", "age"),
        ("How massive is Sgr A*?", "mass"),
        ("What fraction of massive stars are in binaries?", ""),
        ("What is the sum of neutrino masses?", ""),
        ("What is the mass function of galaxies?", ""),
    ],
)
def test_the_dimension_of_a_value(question: str, dimension: str) -> None:
    assert aim_of(question).dimension == dimension


def test_a_value_needs_its_dimension() -> None:
    aim = aim_of("What is the age of the globular cluster 47 Tuc?")
    right = fit_of(aim, "We obtain an age of 11.8 ± 0.5 Gyr.", "The globular cluster 47 Tuc")
    wrong = fit_of(aim, "The age depends on 4.5 ± 0.1 kpc.", "The globular cluster 47 Tuc")
    assert right > 1.0 > wrong == 0.0


def test_a_definition_comes_first() -> None:
    aim = aim_of("What is a kilonova?")
    defines = fit_of(aim, "Kilonovae (KNe) are transients powered by radioactive decay.", "")
    mentions = fit_of(aim, "Our models of the kilonova are uncertain at late times.", "")
    assert defines > 3 * mentions > 0.0


def test_a_sentence_that_depends_on_the_one_before_counts_less() -> None:
    aim = aim_of("How do spiral arms form?")
    alone = fit_of(aim, "Spiral arms form by swing amplification.", "")
    depends = fit_of(aim, "These spiral arms form by swing amplification.", "")
    assert depends < alone


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("What is the difference between core accretion and disc instability?",
         ("core accretion", "disc instability")),
        ("How do Cepheids compare with the TRGB for the distance scale?", ("Cepheids", "TRGB")),
        ("Compare single-degenerate and double-degenerate progenitors of type Ia supernovae.",
         ("single-degenerate", "double-degenerate progenitors")),
        ("Is photoevaporation or core-powered mass loss responsible for the radius gap?",
         ("photoevaporation", "core-powered mass loss")),
        ("Is dark energy evolving?", ()),
        ("between and", ()),
        ("What is the relation between black hole mass and bulge mass?", ()),
        ("Is there a planet or a brown dwarf around Proxima?", ()),
        ("MOND versus dark matter in galaxies. " * 9, ()),
    ],
)  # fmt: skip
def test_the_things_that_a_question_compares(question: str, things: tuple[str, ...]) -> None:
    assert compared_things(question) == things


def test_verbs_become_nouns() -> None:
    assert with_nouns("What heats the solar corona?") == "heating of the solar corona"
    assert with_nouns("How do galaxies form?") == "galaxies formation"
    assert with_nouns("Is dark energy evolving?") == ""
