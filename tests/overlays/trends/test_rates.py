"""Rates, slopes and changes of counts with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from landscape.overlays.periods import count_by_year
from landscape.overlays.trends._topics import (
    find_all_changes,
    find_changes,
    find_eras,
    fit_lines,
    fit_slopes,
)

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.statistics import share_interval

YEARS = np.arange(1990, 2020)
TOTALS = np.linspace(300, 3000, 30).astype(int)  # the field grows tenfold


def _share(start: float, slope: float) -> np.ndarray:
    odds = np.log(start / (1 - start)) + slope * (YEARS - YEARS[0])
    return 1 / (1 + np.exp(-odds))


def test_growth_of_the_field_is_no_growth_of_a_topic() -> None:
    counts = np.round(0.05 * TOTALS)[None].astype(int)
    table, _ = fit_slopes(counts, TOTALS, YEARS, np.zeros(30))
    assert abs(table.slope[0]) < 0.001
    assert table.p[0] > 0.5


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.05])
def test_intervals_of_the_slope_cover_the_truth(slope: float) -> None:
    rng = np.random.default_rng(3)
    counts = rng.binomial(TOTALS, _share(0.03, slope), size=(600, 30))
    table, _ = fit_slopes(counts, TOTALS, YEARS, np.zeros(30))
    inside = (table.slope_low <= slope) & (slope <= table.slope_high)
    assert 0.93 <= inside.mean() <= 0.985
    assert abs(table.slope.mean() - slope) < 0.002


def test_overdispersion_widens_the_interval_enough() -> None:
    rng = np.random.default_rng(4)
    shares = rng.beta(0.03 * 100, 0.97 * 100, size=(600, 30))  # years vary beyond chance
    counts = rng.binomial(TOTALS, shares)
    table, _ = fit_slopes(counts, TOTALS, YEARS, np.zeros(30))
    assert table.overdispersion.median() > 5
    assert ((table.slope_low <= 0) & (table.slope_high >= 0)).mean() > 0.9


def test_a_change_of_the_corpus_does_not_pose_as_a_trend() -> None:
    """A second source is five times as large, and the topic is four times as common in it."""
    totals = np.where(YEARS < 2005, 200, 1000)
    counts = np.where(YEARS < 2005, 4, 80)[None]
    eras = find_eras(totals)
    assert eras.tolist() == [0] * 15 + [1] * 15
    within, _ = fit_slopes(counts, totals, YEARS, eras)
    without, _ = fit_slopes(counts, totals, YEARS, np.zeros(30))
    assert abs(within.slope[0]) < 0.01
    assert without.slope_low[0] > 0.02
    assert find_changes(counts[0], totals, YEARS, eras) == []
    assert [one.year for one in find_changes(counts[0], totals, YEARS)] == [2005]


def test_a_topic_only_of_the_last_years_has_a_finite_slope() -> None:
    counts = np.zeros((1, 30), dtype=int)
    counts[0, -2:] = 40, 90
    table, fitted = fit_slopes(counts, TOTALS, YEARS, np.zeros(30))
    assert 0.3 < table.slope[0] < 3
    assert np.isfinite(fitted).all()


def test_a_topic_without_papers_shows_nothing() -> None:
    table, _ = fit_slopes(np.zeros((1, 30), dtype=int), TOTALS, YEARS, np.zeros(30))
    assert table.p[0] > 0.9
    assert find_changes(np.zeros(30), TOTALS, YEARS) == []


def test_steps_and_turns_are_found_where_they_are() -> None:
    rng = np.random.default_rng(5)
    step = np.where(YEARS < 2008, 0.02, 0.06)
    turn = np.where(YEARS < 2004, _share(0.01, 0.2), _share(0.01, 0.2)[14] * 0.8 ** (YEARS - 2004))
    found = {"step": [], "turn": []}
    for _ in range(20):
        for name, share in (("step", step), ("turn", turn)):
            changes = find_changes(rng.binomial(TOTALS, share), TOTALS, YEARS)
            found[name].append(changes)
    steps = [changes[0] for changes in found["step"] if len(changes) == 1]
    turns = [changes[0] for changes in found["turn"] if len(changes) == 1]
    assert len(steps) >= 17
    assert all(abs(one.year - 2008) <= 1 and one.turn == "up" for one in steps)
    assert len(turns) >= 17
    assert all(abs(one.year - 2004) <= 2 and one.turn == "down" for one in turns)
    assert np.mean([one.year_low <= 2008 <= one.year_high for one in steps]) > 0.8


def test_straight_trends_rarely_show_a_change() -> None:
    rng = np.random.default_rng(6)
    counts = np.concatenate(
        [rng.binomial(TOTALS, _share(0.03, slope), size=(40, 30)) for slope in (-0.1, 0.0, 0.08)]
    )
    changes = find_all_changes(counts, TOTALS, YEARS, np.zeros(30, dtype=int))
    assert changes["row"].nunique() <= 0.1 * len(counts)


def test_few_years_have_no_change() -> None:
    assert find_changes([1, 50, 1], [100] * 3, [2001, 2002, 2003]) == []


def test_counting_leaves_out_other_groups_and_years() -> None:
    counts = count_by_year(
        [3, 9, 3, -1, 4], [2001, 2001, 1999, 2001, 2002], ids=[4, 3], calendar=[2001, 2002]
    )
    assert counts.tolist() == [[0, 1], [1, 0]]
    assert count_by_year([1], [2000], ids=[], calendar=[2000]).shape == (0, 1)


def test_shares_of_no_papers_are_not_numbers() -> None:
    low, high = share_interval([0, 5], [0, 5])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert high[1] == 1.0


def test_rows_are_fitted_on_their_own() -> None:
    counts = np.array([[5, 9, 20, 31], [40, 30, 20, 10]])
    both = fit_lines(counts, [500] * 4, [2001, 2002, 2003, 2004])
    alone = fit_lines(counts[1:], [500] * 4, [2001, 2002, 2003, 2004])
    assert both.slope[1] == pytest.approx(alone.slope[0], abs=1e-6)
