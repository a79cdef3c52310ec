"""Measures compared with numbers computed by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from landscape.errors import InputError
from landscape.evaluation import Query
from landscape.evaluation.retrieval import score_rankings
from landscape.statistics import bootstrap_interval, paired_difference

QUERIES = [
    Query("one", "?", ("a",)),
    Query("several", "?", ("a", "b", "c", "d")),
    Query("graded", "?", ("a", "b", "c"), {"a": 3, "b": 2, "c": 1}),
    Query("missed", "?", ("a",)),
    Query("unranked", "?", ("a",)),
]
RANKINGS = {
    "one": ["x", "y", "a"],
    "several": ["b", "x", "a", "y", "d"],
    "graded": ["c", "x", "a"],
    "missed": ["x", "y"],
}


def test_measures_by_hand() -> None:
    scores = score_rankings(
        QUERIES,
        RANKINGS,
        measures=["success@1", "success@3", "mrr", "mrr@2", "recall@3", "precision@2", "ndcg@3"],
    )
    assert scores.qids == ("one", "several", "graded", "missed", "unranked")
    by_hand = {
        "success@1": [0, 1, 1, 0, 0],
        "success@3": [1, 1, 1, 0, 0],
        "mrr": [1 / 3, 1, 1, 0, 0],
        "mrr@2": [0, 1, 1, 0, 0],
        "recall@3": [1, 2 / 4, 2 / 3, 0, 0],
        "precision@2": [0, 1 / 2, 1 / 2, 0, 0],
        "ndcg@3": [
            1 / log2(4),
            (1 + 1 / log2(4)) / (1 + 1 / log2(3) + 1 / log2(4)),
            (1 + 3 / log2(4)) / (3 + 2 / log2(3) + 1 / log2(4)),
            0,
            0,
        ],
    }
    for name, expected in by_hand.items():
        assert np.allclose(scores.values[name], expected), name
    summary = scores.summary()
    assert summary["n"] == 5
    assert summary["mrr"] == pytest.approx((1 / 3 + 2) / 5, abs=1e-6)


def test_a_perfect_ranking_is_perfect_and_order_matters() -> None:
    best = score_rankings(QUERIES[2:3], {"graded": ["a", "b", "c"]}).summary()
    assert set(best.values()) == {1}
    worse = score_rankings(QUERIES[2:3], {"graded": ["c", "b", "a"]}).values["ndcg@10"][0]
    assert 0.6 < worse < 1


def test_no_rankings_at_all() -> None:
    assert score_rankings(QUERIES, {}).summary()["success@10"] == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="no measure 'map'"):
        score_rankings(QUERIES, RANKINGS, measures=["map"])
    with pytest.raises(InputError, match="no measure 'recall'"):
        score_rankings(QUERIES, RANKINGS, measures=["recall"])
    with pytest.raises(InputError, match="duplicate papers"):
        score_rankings(QUERIES, {"one": ["a", "a"]})
    with pytest.raises(InputError, match="no questions"):
        score_rankings([], {})
    with pytest.raises(InputError, match="no relevant paper"):
        score_rankings([Query("1", "?", ())], {})
    with pytest.raises(InputError, match="finite number"):
        bootstrap_interval([])
    with pytest.raises(InputError, match="3 and 2 questions"):
        paired_difference([1, 2, 3], [1, 2])


def test_interval_is_as_wide_as_theory_says() -> None:
    values = np.array([1.0] * 60 + [0.0] * 40)
    found = bootstrap_interval(values)
    half = 1.96 * np.sqrt(0.6 * 0.4 / 100)
    assert found.mean == 0.6
    assert found.low == pytest.approx(0.6 - half, abs=0.02)
    assert found.high == pytest.approx(0.6 + half, abs=0.02)
    assert bootstrap_interval(values) == found
    assert str(found).startswith("0.600 [0.5")


def test_permutation_test_by_hand() -> None:
    """All four differences are 1; 2 of the 16 sign flips give a mean as large."""
    found = paired_difference([0, 0, 0, 0], [1, 1, 1, 1], samples=20_000)
    assert found.mean == 1
    assert found.p == pytest.approx(2 / 16, abs=0.01)
    mixed = paired_difference([0, 0, 0], [1, 1, -1], samples=20_000)
    assert mixed.p == pytest.approx(1, abs=0.01)  # every flip gives at least 1 in size


def test_one_question_says_nothing_about_chance() -> None:
    found = paired_difference([0.5], [0.75])
    assert (found.mean, found.low, found.high, found.p) == (0.25, 0.25, 0.25, 1.0)


def test_a_real_gain_is_told_from_noise() -> None:
    rng = np.random.default_rng(5)
    base = rng.random(160)
    noise = rng.normal(0, 0.1, 160)
    assert paired_difference(base, base + noise - noise.mean()).p > 0.9
    better = paired_difference(base, base + 0.05 + noise)
    assert better.p < 0.01
    assert better.low > 0
    assert paired_difference(base + 0.05 + noise, base).mean == pytest.approx(-better.mean)


def test_chance_gives_uniform_p_values() -> None:
    rng = np.random.default_rng(7)
    p = [
        paired_difference(np.zeros(40), rng.normal(size=40), samples=400, seed=seed).p
        for seed in range(200)
    ]
    assert np.mean(np.array(p) < 0.05) < 0.1
    assert 0.4 < np.mean(p) < 0.6
