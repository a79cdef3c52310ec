"""Differences of two selections with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from landscape.errors import InputError
from landscape.overlays.trends import compare
from landscape.overlays.trends.comparison import compare_counts, separate_selections

from .worlds import atlas_of


def _world() -> pd.DataFrame:
    """Return an atlas in which papers 0-999 prefer region 3, and papers 1000-2999 region 4."""
    rng = np.random.default_rng(2)
    prefer_a, prefer_b = np.ones(10), np.ones(10)
    prefer_a[3] = prefer_b[4] = 3
    topics = np.r_[
        rng.choice(10, 1000, p=prefer_a / prefer_a.sum()),
        rng.choice(10, 2000, p=prefer_b / prefer_b.sum()),
    ]
    return pd.DataFrame({"topic_id": topics, "year": 2020})


def test_the_planted_differences_are_found_and_no_other() -> None:
    found = compare(atlas_of(_world()), np.arange(1000), np.arange(1000, 3000))
    over = found.table.set_index("topic_id")["over_in"]
    assert over[3] == "a"
    assert over[4] == "b"
    assert (over.drop([3, 4]) == "").sum() >= 7
    assert found.table.iloc[:2]["topic_id"].tolist() in ([3, 4], [4, 3])
    assert found.table.a_papers.sum() == 1000
    assert found.table.b_papers.sum() == 2000
    three = found.table.set_index("topic_id").loc[3]
    assert three.odds_ratio_low < (3 / 9) / (1 / 11) < three.odds_ratio_high
    assert three.a_share == pytest.approx(three.a_papers / 1000)


def test_false_discoveries_stay_below_the_rate_allowed() -> None:
    """Forty of fifty regions are equal; at most 5% of the reported regions are equal ones."""
    rng = np.random.default_rng(3)
    a_weights, b_weights = np.ones(50), np.ones(50)
    a_weights[:5] = b_weights[5:10] = 2.5
    wrong = []
    for _ in range(40):
        a = rng.multinomial(1500, a_weights / a_weights.sum())
        b = rng.multinomial(1500, b_weights / b_weights.sum())
        named = compare_counts(a, b, 1500, 1500)["over_in"] != ""
        wrong.append(named[10:].sum() / max(named.sum(), 1))
        assert named[:10].sum() >= 7
    assert np.mean(wrong) <= 0.05


def test_papers_of_both_are_left_out_of_both() -> None:
    found = compare(atlas_of(_world()), np.arange(1200), np.arange(1000, 3000))
    assert found.denominators == {"papers in a": 1000, "papers in b": 1800}
    assert "200 papers in both selections are excluded." in found.warnings
    assert found.tables["selections"].papers.tolist() == [1200, 2000]


def test_a_part_is_compared_with_the_rest() -> None:
    found = compare(atlas_of(_world()), np.arange(1000), np.ones(3000, dtype=bool))
    assert found.denominators == {"papers in a": 1000, "papers in b": 2000}
    assert "b contains all of a: a is compared with the other 2,000." in found.warnings
    rows, _ = separate_selections(np.arange(5), np.array([1]))
    assert rows[0].tolist() == [0, 2, 3, 4]


def test_exchanging_the_selections_mirrors_the_answer() -> None:
    atlas = atlas_of(_world())
    a, b = np.arange(1000), np.arange(1000, 3000)
    one = compare(atlas, a, b).table.set_index("topic_id").sort_index()
    other = compare(atlas, b, a).table.set_index("topic_id").sort_index()
    assert one.odds_ratio.to_numpy() == pytest.approx(1 / other.odds_ratio.to_numpy())
    assert one.p.to_numpy() == pytest.approx(other.p.to_numpy())
    assert one.over_in.replace({"a": "b", "b": "a"}).tolist() == other.over_in.tolist()


def test_p_values_are_those_of_fishers_test() -> None:
    from scipy.stats import fisher_exact

    a, b = [3, 0, 40, 17, 90], [9, 4, 41, 2, 150]
    found = compare_counts(a, b, 90, 170)["p"]
    right = [fisher_exact([[k, 90 - k], [m, 170 - m]])[1] for k, m in zip(a, b, strict=True)]
    assert found.to_numpy() == pytest.approx(right, rel=1e-6)


def test_regions_without_papers_are_not_tested() -> None:
    table = compare_counts([0, 5], [0, 5], 10, 10)
    assert np.isnan(table.q[0])
    assert table.over_in.tolist() == ["", ""]
    assert table.q[1] == 1


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([], [1], "selects no paper"),
        ([0], [99999], "rows 99999 to 99999"),
        ([1, 2], [2, 1], "select the same 2 papers"),
        ([True], [1], "mask of shape"),
        ([0.5], [1], "not a list of rows"),
    ],
)
def test_what_cannot_be_is_said(a: list[int], b: list[int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare(atlas_of(_world()), a, b)


def test_selections_of_other_times_are_warned_of() -> None:
    papers = _world().assign(year=np.repeat([2001, 2020], [1000, 2000]))
    found = compare(atlas_of(papers), np.arange(1000), np.arange(1000, 3000))
    assert any("median years 2001 and 2020" in warning for warning in found.warnings)
