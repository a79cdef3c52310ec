"""Compare the processor time for a text with that for a text of 4 times the length."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
FACTOR, MAX_GROWTH, TRIES = 4, 10.0, 4


def growth(use: Callable[[T], object], make: Callable[[int], T], n: int) -> float:
    """Return how much longer `use` takes for 4 times the input: 4 if linear, 16 if quadratic.

    A ratio above the limit is measured again, because other tests use the processor.
    """
    least = float("inf")
    for _ in range(TRIES):
        short, long = (min(_seconds(use, make(k)) for _ in range(3)) for k in (n, FACTOR * n))
        least = min(least, long / max(short, 1e-4))
        if least < MAX_GROWTH:
            break
    return least


def _seconds(use: Callable[[T], object], value: T) -> float:
    start = time.thread_time()
    use(value)
    return time.thread_time() - start
