"""Proposals for the thesaurus: a planted gap is found, known names are not proposed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.corpus.thesaurus import Concept, Thesaurus
from landscape.errors import InputError
from landscape.overlays.thesaurus import backtest_gaps, thesaurus_gaps, to_uat_csv, to_uat_form
from landscape.overlays.thesaurus._candidates import (
    complete_name,
    expected_shares,
    find_abbreviations,
    growth,
    index_names,
    is_synonym,
    quote_definition,
    singular_words,
    suggest_parents,
    word_bag,
)
from landscape.overlays.thesaurus._gaps import added_forms

STARS = Thesaurus("1", {"1": Concept("1", "Stars"), "2": Concept("2", "Nebulae")})


def _atlas() -> SimpleNamespace:
    """Return papers on stars, nebulae and odd rings; no concept covers the growing odd rings."""
    rng = np.random.default_rng(5)
    n = 300
    kind = np.repeat([0, 1, 2], n // 3)
    names = np.array(["stars", "nebulae", "odd rings"], dtype=object)[kind]
    vectors = np.eye(3)[kind] + rng.normal(0, 0.2, (n, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    common = np.where(rng.random(n) < 0.6, "careful measurements", "large samples")
    years = np.where(kind == 2, 2022, rng.integers(2018, 2024, n))
    papers = pd.DataFrame(
        {
            "paper_id": [f"p{i}" for i in range(n)],
            "title": [f"=On {name} number {i}" for i, name in enumerate(names)],
            "abstract": [
                f"We see {name} (ORs) here." if name == "odd rings" else "" for name in names
            ],
            "keywords": [[name, other] for name, other in zip(names, common, strict=True)],
            "year": years,
            "categories": None,
        }
    )
    topics = pd.DataFrame(
        {"topic_id": [0, 1, 2], "label": ["A", "B", "C"], "level": 1, "n_papers": n // 3}
    )
    coverage = {"title": "Rings", "first_date": "2018", "last_date": "2023", "generated": True}
    return SimpleNamespace(
        read_papers=lambda columns: papers[columns],
        vectors=lambda: vectors,
        thesaurus=STARS,
        topics=topics,
        map=pd.DataFrame({"topic_id": kind}),
        coverage=coverage,
    )


def test_the_subject_without_a_concept_is_proposed_first() -> None:
    gaps = thesaurus_gaps(_atlas())
    first = gaps.table.iloc[0]
    assert first["name"] == "odd rings"
    assert first["alternatives"] == ("ORs",)
    assert first["papers"] == 100
    assert first["growth_low"] > 2
    assert (first["region"], first["region_share"]) == ("C", 1.0)
    assert not {"stars", "nebulae"} & set(gaps.table["name"])
    assert gaps.tables["regions"]["label"].iloc[0] == "C"


def test_a_proposal_can_be_handed_in() -> None:
    gaps = thesaurus_gaps(_atlas(), limit=2)
    form = to_uat_form(gaps, "odd rings")
    assert form.startswith("Preferred term: Odd rings\nAlternative terms: ORs\nBroader term: ")
    assert "\nDefinition: \n" in form
    assert "generated papers" in form
    assert len(to_uat_csv(gaps).splitlines()) == 3
    with pytest.raises(InputError, match="odd rings"):
        to_uat_form(gaps, "odd ring")


def test_a_backtest_finds_what_was_added() -> None:
    later = Thesaurus("2", {**STARS.concepts, "3": Concept("3", "Rings (odd)", ("Odd rings",))})
    assert set(added_forms(STARS, later).values()) == {"3"}
    found = backtest_gaps(_atlas(), STARS, later, limits=(1, 3))
    best = found.table.set_index(["method", "proposals"])
    assert best.loc[("landscape", 1), "found"] == 1
    assert best.loc[("landscape", 1), "recall_reachable"] == 1.0
    assert best.loc[("frequency", 1), "found"] == 0


def test_no_limit_below_one() -> None:
    with pytest.raises(InputError, match="limit"):
        thesaurus_gaps(_atlas(), limit=0)


def test_names_are_compared_by_their_words() -> None:
    assert word_bag("Stellar clusters") == word_bag("star cluster") == word_bag("clusters of stars")
    assert word_bag("odd rings") != word_bag("odd radio rings")
    assert find_abbreviations(["the dark matter halo (ABC) and dark matter (DM)"]) == {
        "dark matter": {"DM": 1}
    }


def test_a_word_that_is_nearly_always_there_belongs_to_the_name() -> None:
    texts = ["We saw odd radio circles.", "An odd radio circle", "Many radio galaxies"]
    assert complete_name("radio circles", texts) == "odd radio circles"
    assert complete_name("radio galaxies", texts) == "radio galaxies"


KNOWN = Thesaurus(
    "1",
    {
        "1": Concept("1", "Quenched galaxies"),
        "2": Concept("2", "Star formation"),
        "3": Concept("3", "Galaxies"),
        "4": Concept("4", "Galaxy masses", broader=("3",)),
        "5": Concept("5", "Main sequence"),
    },
)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("quiescent galaxies", True),
        ("massive galaxies", True),
        ("star formation rates", True),
        ("star formation quenching", False),
        ("warm galaxies", False),
    ],
)
def test_synonyms_of_concepts_are_known(phrase: str, expected: bool) -> None:
    assert is_synonym(singular_words(phrase), index_names(KNOWN)) is expected


FAMILY = Thesaurus(
    "1",
    {
        "1": Concept("1", "Galactic astronomy"),
        "2": Concept("2", "Galaxies", broader=("1",)),
        "3": Concept("3", "Ring galaxies", broader=("2",)),
        "4": Concept("4", "Dwarf galaxies", broader=("2",)),
        "5": Concept("5", "Galaxy winds", broader=("1",)),
        "6": Concept("6", "Solar astronomy"),
        "7": Concept("7", "A stars", broader=("8",)),
        "8": Concept("8", "Stars", broader=("6",)),
    },
)


def test_the_parent_contains_most_of_the_concepts_with_similar_papers_and_words() -> None:
    near = [("3", 0.9), ("4", 0.8), ("5", 0.7), ("2", 0.7), ("8", 0.1)]
    mixed = [("5", 0.9), ("3", 0.7)]
    alone = [("5", 0.9), *((one, 0.02) for one in "123467")]
    names = ["odd galaxies", "odd outflows", "odd winds"]
    parents = suggest_parents(names, [near, mixed, alone], FAMILY, index_names(FAMILY))
    # The broader concept of siblings, the narrower of two broad ones, and a concept at the top if
    # no other has a quarter of the votes.
    assert parents == ["2", "2", "1"]


def test_a_spectral_class_is_not_the_concept_of_all_stars() -> None:
    assert index_names(FAMILY)["star"] == "8"


def test_growth_is_relative_to_papers_of_the_same_categories() -> None:
    categories = np.repeat(np.array(["a", "b"], dtype=object), 1000)
    late = np.concatenate([np.arange(1000) < 900, np.arange(1000) < 100])
    expected = expected_shares(late, np.ones(2000, dtype=bool), categories)
    assert expected[0] == pytest.approx(0.9, abs=0.01)
    low, value = growth(np.array([10.0, 50]), np.array([90.0, 50]), 100 * expected[[0, 1500]])
    assert value[0] == pytest.approx(1.0, abs=0.05)  # usual in its category
    assert low[1] > 5


def test_a_definition_is_quoted_from_the_sentence_that_says_what_the_term_is() -> None:
    texts = [
        "Odd rings are one of the most important problems. We study odd rings here.",
        "We solve a problem. Odd rings (ORs) are a class of circular radio sources. They are rare.",
    ]
    assert quote_definition("odd rings", texts) == (
        1,
        "Odd rings (ORs) are a class of circular radio sources.",
    )
    assert quote_definition("odd rings", texts[:1]) == (-1, "")


@pytest.mark.parametrize(
    "sentence",
    [
        "JWST revealed a population of small red sources known as 'Odd Rings' (ORs).",
        "It was found with odd rings, a class of sources that have no counterpart.",
        "Odd rings (ORs) are dense, compact stellar systems at centers of galaxies.",
        "Odd rings, caused by the velocities of galaxies, are a key challenge.",
    ],
)
def test_sentences_that_define_a_term(sentence: str) -> None:
    assert quote_definition("odd rings", [f"Context. {sentence} We agree."]) == (0, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "In odd rings, a class of operators that were overlooked may lead to signals.",
        "Giant odd rings (GORs), a class of sources that are large, are rare.",
        "It has a component of noisy sources known as the odd ring noise.",
        "We use dwarfs, stars, odd rings, the method of moments, and lenses.",
        "Odd rings are studied with a method of ours.",
    ],
)
def test_sentences_that_only_contain_a_term(sentence: str) -> None:
    assert quote_definition("odd rings", [sentence]) == (-1, "")
