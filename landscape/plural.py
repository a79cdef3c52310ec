"""A number with its noun, for whatever is told to people."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        In the singular; its plural ends in s.

    Returns
    -------
    str

    Examples
    --------
    >>> count(1, "paper"), count(2000, "paper")
    ('1 paper', '2,000 papers')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
