"""The comparisons of times find growth and cost, and time limits never become shorter."""

from __future__ import annotations

import pytest

from tests.timing import assert_cost, assert_growth, time_limit, until


def test_growth_is_told_from_linear_time() -> None:
    def pairs(n: int) -> int:
        return sum(sum(range(n)) >= 0 for _ in range(n))

    assert_growth(lambda n: sum(range(n)), int, 400_000)
    assert_growth(pairs, int, 2000, power=2)
    with pytest.raises(AssertionError, match="times as long, and 10 times are allowed"):
        assert_growth(pairs, int, 2000)


def test_a_costly_way_is_found() -> None:
    def some_work() -> int:
        return sum(range(100_000))

    assert_cost(some_work, some_work, most=3)
    with pytest.raises(AssertionError, match="3 times are allowed"):
        assert_cost(lambda: [some_work() for _ in range(9)], some_work, most=3)


def test_time_limits_are_at_least_what_is_asked_for() -> None:
    assert time_limit(2.0) >= 2.0
    assert until(lambda: True)
    assert not until(lambda: False, 0.01)
