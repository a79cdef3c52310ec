"""The backtest distinguishes reviews that follow gaps from random reviews."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.overlays.reviews import backtest_reviews
from landscape.overlays.reviews.backtest import compare_rankings

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
    found = backtest_reviews(history(follows_gaps=True, seed=1), year=2010, n_resamples=200)
    table = found.table.set_index("method")
    assert table.loc["gaps", "auc"] > 0.9
    assert table.loc["gaps", "share"] > 0.8
    assert table.loc["gaps", "p_chance"] < 0.01
    assert table.loc["size", "auc"] < 0.3
    differences = found.tables["differences"].set_index(["against", "measure"])
    assert differences.loc[("size", "auc"), "difference_low"] > 0
    assert table.loc["chance", "lift"] == 1.0
    assert found.denominators["reviews after"] == 10


def test_reviews_that_come_at_random_are_not_foretold():
    found = [
        backtest_reviews(history(follows_gaps=False, seed=seed), year=2010, n_resamples=50)
        for seed in range(5)
    ]
    aucs = [one.table.set_index("method").loc["gaps", "auc"] for one in found]
    assert 0.3 < np.mean(aucs) < 0.7


def test_what_comes_later_does_not_change_the_ranking():
    one, other = (
        backtest_reviews(history(follows_gaps=kind, seed=2), year=2010, n_resamples=5)
        for kind in (True, False)
    )
    scores = [found.tables["regions"].set_index("topic_id")["gaps"] for found in (one, other)]
    pd.testing.assert_series_equal(scores[0].sort_index(), scores[1].sort_index())


@pytest.mark.parametrize(
    ("year", "horizon", "said"),
    [(2020, 5, "1990 to 2020"), (1980, 5, "1990 to 2020"), (2010, 0, "horizon is 0")],
)
def test_years_that_cannot_be(year, horizon, said):
    with pytest.raises(InputError, match=said):
        backtest_reviews(history(follows_gaps=True, seed=1), year=year, horizon=horizon)


def test_bounds_are_said():
    found = backtest_reviews(
        history(follows_gaps=True, seed=1),
        year=2010,
        horizon=15,
        n_resamples=5,
        weights={"citations": 1},
    )
    assert any("ends in 2020, 5 years before the horizon" in said for said in found.warnings)
    assert any("Citations are those of today" in said for said in found.warnings)
    assert any("later ones included" in said for said in found.warnings)


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
