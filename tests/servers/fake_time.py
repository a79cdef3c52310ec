"""A clock that advances only when code sleeps."""

from __future__ import annotations


class FakeTime:
    def __init__(self) -> None:
        self.now = 1_704_000_000.0  # the last day of 2023
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now
