"""The backtest distinguishes reviews that follow gaps from random reviews."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.review_backtest import compare_rankings, rank_and_count

from .conftest import world

N = 30
YEARS = np.arange(1990, 2021)


def history(*, follows_gaps: bool, seed: int):
    """Return themes with reviews until 2010, and ten new reviews in 2013."""
    random = np.random.default_rng(seed)
    waits = np.arange(N) % 3 == 0
    sizes = np.where(waits, 70, 100)
    then = np.flatnonzero(waits) if follows_gaps else random.choice(N, 10, replace=False)
    reviewed = [
        (*(() if waits[t] else (2003, 2009)), *((2013,) if t in then else ())) for t in range(N)
    ]
    return world(sizes=sizes, years=[YEARS] * N, reviewed=reviewed, seed=seed)


def test_reviews_that_follow_gaps_are_foretold_better_than_by_size():
    regions = rank_and_count(history(follows_gaps=True, seed=1), 2010)
    table, differences = compare_rankings(regions, n_resamples=200)
    table = table.set_index("method")
    assert table.loc["gaps", "auc"] > 0.9
    assert table.loc["gaps", "share"] > 0.8
    assert table.loc["gaps", "p_chance"] < 0.01
    assert table.loc["size", "auc"] < 0.3
    against = differences.set_index(["against", "measure"])
    assert against.loc[("size", "auc"), "difference_low"] > 0
    assert table.loc["chance", "lift"] == 1.0
    assert regions["later_reviews"].sum() == 10


def test_reviews_that_come_at_random_are_not_foretold():
    found = [
        compare_rankings(
            rank_and_count(history(follows_gaps=False, seed=seed), 2010), n_resamples=5
        )
        for seed in range(5)
    ]
    aucs = [table.set_index("method").loc["gaps", "auc"] for table, _ in found]
    assert 0.3 < np.mean(aucs) < 0.7


def test_what_comes_later_does_not_change_the_ranking():
    one, other = (
        rank_and_count(history(follows_gaps=kind, seed=2), 2010) for kind in (True, False)
    )
    scores = [found.set_index("topic_id")["gaps"] for found in (one, other)]
    pd.testing.assert_series_equal(scores[0].sort_index(), scores[1].sort_index())


def test_ties_share_what_they_have():
    regions = pd.DataFrame(
        {
            "gaps": [1.0] * 4,
            "need": [1.0] * 4,
            "size": [4, 3, 2, 1],
            "age of the last review": [0] * 4,
            "later_reviews": [1, 0, 0, 0],
        }
    )
    table, _ = compare_rankings(regions, top=2, n_resamples=20)
    assert table.set_index("method").loc["gaps", ["share", "auc"]].tolist() == [0.5, 0.5]
