"""Excerpts: the text before a citation mark is attributed to the cited paper."""

from __future__ import annotations

import pytest

from landscape.agents.excerpts import read_excerpt
from landscape.errors import InputError


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Dust cools by lines (Rubin 1980) and gas by shocks [CITATION].", "and gas by shocks"),
        (
            "Dust cools by lines \\citep[e.g.][]{a,b}, gas is heated by shocks [CITATION], and "
            "stars form late [3].",
            "gas is heated by shocks",
        ),
        (
            "[CITATION] showed that jets heat the gas (Ford et al. 1999).",
            "showed that jets heat the gas",
        ),
        ("Jets heat the gas of clusters (Ford 1999; [CITATION]).", "Jets heat the gas of clusters"),
        (
            "Rubin et al. (1980) saw flat curves, while the arcs of the cluster were modelled "
            "by [CITATION].",
            "the arcs of the cluster were modelled by",
        ),
        (
            "We use the code of [CITATION] for radiative transfer.",
            "We use the code of for radiative transfer",
        ),
    ],
)
def test_the_part_that_a_mark_stands_for(text: str, clause: str) -> None:
    assert read_excerpt(text).clause.rstrip(".") == clause


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    read = read_excerpt("Gas is hot. Jets heat it within a gigayear. [CITATION]")
    assert "Jets heat it" in read.sentence


def test_one_of_several_marks_is_chosen() -> None:
    text = "Dust cools by infrared lines [CITATION]. Gas is heated by strong shocks (citation)."
    first, second = read_excerpt(text), read_excerpt(text, mark=2)
    assert first.n_marks == second.n_marks == 2
    assert first.sentence == "Dust cools by infrared lines."
    assert second.sentence == "Gas is heated by strong shocks."


def test_a_long_sentence_is_cut_where_it_turns() -> None:
    text = (
        "The gas in the haloes of massive galaxies is hot and thin and radiates in X-rays for many "
        "gigayears before it can cool, whereas cold streams feed galaxies of lower mass directly "
        "along filaments [CITATION]."
    )
    clause = read_excerpt(text).clause
    assert clause.startswith("cold streams")


@pytest.mark.parametrize("text", ["No mark here.", "[CITATION]", "([CITATION])", ""])
def test_an_excerpt_without_words_or_mark_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="CITATION"):
        read_excerpt(text)


def test_hostile_characters_do_no_harm() -> None:
    read = read_excerpt("A \ue000 trap \ue001 of dust in quasars [CITATION]")
    assert read.sentence == "A trap of dust in quasars"


def test_what_follows_counts_only_where_it_goes_on_about_the_same() -> None:
    said = "Gas is hot. Shocks heat it [CITATION]. Their jets are fast. We fit dust. It cools."
    assert read_excerpt(said).plain == "Gas is hot. Shocks heat it. Their jets are fast."
    behind = "Gas is hot. Shocks heat it. [CITATION] We fit dust."
    assert "We fit dust" in read_excerpt(behind).plain  # in one sentence with the mark
