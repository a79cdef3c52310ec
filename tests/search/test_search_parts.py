"""Functions of landscape.search that other tests reach only indirectly."""

from __future__ import annotations

import numpy as np

# Private modules: no public function exposes the steps tested here by themselves.
from landscape._bibliography import find_journal, journal_of_bibcode
from landscape.search import SearchSettings, Weights
from landscape.search._filter_patterns import journal_patterns, word_patterns
from landscape.search._filters import Years, pointed_error
from landscape.search.outliers import spread_on_map
from landscape.search.ranking import (
    Ranking,
    apply_weights,
    fuse_ranks,
    fuse_scores,
    fused,
    pathfinder_recency,
    pathfinder_standing,
    standardised,
    standing,
    weighed,
)
from landscape.search.sentences import mixed_nearness, shares_of_names, word_weights
from landscape.search.settings import query_text, readable_text


def test_shares_of_names() -> None:
    assert shares_of_names(["JWST", "NGC 1275"], ["With JWST.", "NGC 12750"]) == [0.5, 0.0]


def test_word_patterns() -> None:
    assert [len(word_patterns(text)) for text in ("dark matter halo", "Hα*")] == [3, 2]


def test_journal_patterns() -> None:
    assert journal_patterns((find_journal("MNRAS"),))[2].endswith("(?:MNRAS)")


def test_pointed_error() -> None:
    error = pointed_error("filter", "dust;|gas", 5, "a term is missing before '|'")
    assert str(error).splitlines() == [
        "The filter cannot be read at character 6 ('|'): a term is missing before '|'.",
        "    dust;|gas",
        "         ^",
    ]


def test_years() -> None:
    assert (
        " ".join(
            map(str, [Years(1999, 2004), Years(2015, None), Years(None, 2004), Years(2010, 2010)])
        )
        == "1999..2004 2015.. ..2004 year:2010"
    )


def test_find_journal() -> None:
    assert (find_journal("The Astrophysical Journal").stem, find_journal("mnras").stem) == (
        "ApJ",
        "MNRAS",
    )
    assert (find_journal("Phys.Rev.D").macro, find_journal("Wine Spectator")) == ("prd", None)


def test_journal_of_bibcode() -> None:
    assert journal_of_bibcode("2022ApJ...931L..10S").names[0] == "Astrophysical Journal Letters"
    assert journal_of_bibcode("2024arXiv240102345A") is None


def test_spread_on_map() -> None:
    assert spread_on_map(np.array([3, 3, 3, 7])).kind == "one region"


def test_fuse_scores() -> None:
    assert fuse_scores(np.array([0.8, 0.4]), np.array([0.0, 20.0]), share=0.5).tolist() == [
        0.4,
        0.7,
    ]


def test_fuse_ranks() -> None:
    fused = fuse_ranks([np.array([3.0, 2.0, 1.0]), np.array([-np.inf, 2.0, 1.0])])
    assert int(fused.argmax()) == 1


def test_standardised() -> None:
    assert standardised(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]


def test_ranking() -> None:
    ranking = Ranking(np.array([7, 9]), np.array([0.1, 0.2]), {})
    assert ranking.sorted().rows.tolist() == [9, 7]


def test_fused() -> None:
    found = fused(np.array([7]), np.array([np.nan]), np.array([9.0]), SearchSettings())
    assert found.scores.tolist() == [1.0]


def test_weighed() -> None:
    ranking = Ranking(np.array([7, 9]), np.array([0.9, 0.5]), {})
    assert weighed(ranking, Weights(time=1), {"age": np.array([60.0, 0.0])}).scores.round(
        2
    ).tolist() == [0.9, 0.56]


def test_word_weights() -> None:
    weights = word_weights([["dust"], ["dust", "gas"]], ["dust", "gas"])
    assert weights["gas"] > weights["dust"] > 0


def test_mixed_nearness() -> None:
    assert mixed_nearness("dust", ["Dust cools.", "Stars."], np.array([0.6, 0.0])).round(
        2
    ).tolist() == [0.8, 0.0]


def test_apply_weights() -> None:
    scores = np.array([0.9, 0.5])
    assert apply_weights(scores, Weights(time=1.0), age=np.array([60.0, 0.0])).round(
        2
    ).tolist() == [0.9, 0.56]


def test_standing() -> None:
    assert standing(np.array([0.0, 1000.0, np.nan])).tolist() == [0.0, 1.0, 0.0]


def test_pathfinder_recency() -> None:
    assert pathfinder_recency(np.array([0.0, 0.7])).round(3).tolist() == [0.5, 0.269]


def test_pathfinder_standing() -> None:
    assert pathfinder_standing(np.array([300.0, 342.0])).round(3).tolist() == [0.5, 0.731]


def test_query_text() -> None:
    assert query_text("  dust  in quasars ") == ("dust in quasars", ())


def test_readable_text() -> None:
    assert readable_text("query", "dust") == "dust"
