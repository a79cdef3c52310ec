"""Independent streams of random numbers, named, so that one part never shifts another."""

from __future__ import annotations

from random import Random


def stream(name: str, seed: int, index: int = 0) -> Random:
    """Random numbers for one purpose.

    Python seeds from the SHA-512 of the text, so that the numbers are the same everywhere.

    Examples
    --------
    >>> stream("paper", 1, 5).random() == stream("paper", 1, 5).random()
    True
    """
    return Random(f"{name} {seed} {index}")  # noqa: S311 - invented papers are no secrets
