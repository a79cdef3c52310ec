"""Comparisons of times within one run, and time limits that follow the speed of the machine.

No test asserts a number of seconds: a slow or busy machine needs many times those of a fast one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

Input = TypeVar("Input")

_ATTEMPTS = 6
_QUICK = 0.012  # seconds of `_fixed_work` on the machines for which the time limits are written


def assert_growth(
    function: Callable[[Input], Any], make_input: Callable[[int], Input], n: int, *, power: int = 1
) -> None:
    """Assert that the time of a function grows like its input, or like a `power` of its size.

    Inputs of the sizes n / 4 and n are compared. A linear function takes 4 times as long for the
    large one and may take 10 times as long; a quadratic one takes 16 times as long.
    """
    small, large = make_input(n // 4), make_input(n)
    assert_cost(lambda: function(large), lambda: function(small), most=2.5 * 4**power)


def assert_cost(
    ours: Callable[[], Any],
    plain: Callable[[], Any],
    *,
    most: float,
    repeats: int = 3,
    clock: Callable[[], float] = time.process_time,
) -> None:
    """Assert that a function takes at most `most` times as long as a plain one.

    Both are repeated, and their shortest times are compared: other programs only make them longer.
    """

    def time_of(function: Callable[[], Any]) -> float:
        start = clock()
        function()
        return clock() - start

    plain()  # loads and compiles what it needs
    shortest_plain = min(time_of(plain) for _ in range(repeats))
    shortest = float("inf")
    for _ in range(_ATTEMPTS):
        shortest = min(shortest, time_of(ours))
        if shortest <= most * shortest_plain:
            return
        shortest_plain = min(shortest_plain, time_of(plain))
    ratio = shortest / shortest_plain
    raise AssertionError(f"it takes {ratio:.1f} times as long, and {most:g} times are allowed")


def time_limit(seconds: float) -> float:
    """Return a time limit in seconds: longer where the machine is slower or busy."""
    return seconds * _slowness()


def until(is_true: Callable[[], Any], seconds: float = 20.0) -> bool:
    """Wait until a condition holds, within a time limit; return whether it does."""
    deadline = time.monotonic() + time_limit(seconds)
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@cache
def _slowness() -> float:
    """Return how many times as long as a fast machine this one takes now; at least 1."""
    times = []
    for _ in range(9):
        start = time.perf_counter()  # it also counts the time that other programs take
        _fixed_work()
        times.append(time.perf_counter() - start)
    return max(1.0, statistics.median(times) / _QUICK)


def _fixed_work() -> int:
    return sum(number * number % 7 for number in range(200_000))
