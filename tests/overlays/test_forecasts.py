"""Claims of earlier months are scored by the two years after them."""

from __future__ import annotations

import numpy as np

from landscape.overlays.trends._forecasts import (
    HORIZON,
    Score,
    earlier_months,
    monthly_counts,
    score_claims,
    total_score,
)

NOW = 48


def world() -> np.ndarray:
    """Return the papers of four terms by month: one rises, one falls, two are steady."""
    months = np.arange(NOW + HORIZON)
    rises = 2.0 + 6.0 * (months >= NOW - 6)
    return np.stack(
        [rises, 8.0 - rises * 0.9, np.full(len(months), 5.0), np.full(len(months), 50.0)]
    )


def test_claims_and_simple_forecasts_are_scored_alike() -> None:
    counts = world()
    expected = counts.mean(axis=1, keepdims=True) * np.ones_like(counts)
    score, later = score_claims(counts, expected, NOW, [0], [1])
    assert (score.claims, score.held) == (2, 2)
    assert later[0] > 1 > later[1]
    assert score.by_growth == 1  # the riser and one that is steady or falls
    wrong, _ = score_claims(counts, expected, NOW, [1], [0])
    assert wrong.held == 0


def test_the_sentence_says_whether_the_claims_are_better() -> None:
    good = Score(10, 9, 5, 4, ("2020-01",))
    assert "9 of 10 such claims held (90%" in good.describe("trend")
    assert "better than the simple forecasts" in good.describe("trend")
    assert "no better than" in Score(10, 5, 5, 4, ("2020-01",)).describe("trend")
    assert (
        Score().describe("trend") == "No trend of an earlier month can be scored two years later."
    )
    low, high = good.interval
    assert low < 0.9 < high


def test_scores_of_months_add_up() -> None:
    months = earlier_months(100, 40)
    assert months[-1] == 100 - HORIZON
    assert min(months) >= 40
    total = total_score(lambda now: Score(1, 1, 0, 0, (str(now),)), months)
    assert (total.claims, len(total.months)) == (len(months), len(months))


def test_expected_papers_follow_the_categories() -> None:
    group = np.array([7, 7, 9, -1])
    month, category = np.array([24000, 24001, 24001, 0]), np.array([0, 0, 1, 1])
    counts, expected, first = monthly_counts(group, np.array([7, 9]), month, category)
    assert first == 24000
    assert counts.tolist() == [[1, 1], [0, 1]]
    assert expected.tolist() == [[1, 1], [0, 1]]
