"""Score the claims of earlier months: what became of them two years later.

A claim is scored as a forecast. It holds if, in the two years after its month, the share of the
term or region (relative to the papers of the same categories) is on the side that the claim says.
The same number of terms is chosen by two simple forecasts: the largest growth in the last year, and
the size (as Brontide 2026 does for arXiv).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.statistics import share_interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HORIZON = 24  # months after a claim in which it is scored
_YEAR = 12
_BETWEEN = 6  # months between the earlier months that are scored


class Score(NamedTuple):
    """Claims of one or more months that held, and those of the simple forecasts."""

    claims: int = 0
    held: int = 0
    by_growth: int = 0
    by_size: int = 0
    months: tuple[str, ...] = ()

    def __add__(self, other: object) -> Score:
        """Add the claims of other months."""
        if not isinstance(other, Score):
            return NotImplemented
        claims, held, growth, size = (
            one + two for one, two in zip(self[:4], other[:4], strict=True)
        )
        return Score(claims, held, growth, size, (*self.months, *other.months))

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the share of claims that held.

        The two years after neighbouring months overlap, so their claims count in part.
        """
        windows = 1 + max(len(self.months) - 1, 0) * _BETWEEN / HORIZON
        part = windows / max(len(self.months), 1)
        low, high = share_interval(np.array([self.held * part]), np.array([self.claims * part]))
        return float(low[0]), float(high[0])

    def describe(self, what: str) -> str:
        """Say how many claims held, and whether the simple forecasts did better."""
        when = f"{self.months[0]} to {self.months[-1]}" if self.months[1:] else "".join(self.months)
        if not self.claims:
            return f"No {what} of an earlier month can be scored two years later."
        low, high = self.interval
        best = max(self.by_growth, self.by_size) / self.claims
        verdict = "better than" if low > best else "no better than"
        return (
            f"Two years after {when}, {self.held:,} of {self.claims:,} such claims held "
            f"({self.held / self.claims:.0%}, 95% interval {low:.0%} to {high:.0%}): {verdict} the "
            f"simple forecasts (as many by last year's growth: {self.by_growth:,}; by size: "
            f"{self.by_size:,})."
        )


def score_claims(
    counts: Floats, expected: Floats, now: int, up: Iterable[int], down: Iterable[int] = ()
) -> tuple[Score, Floats]:
    """Score claims that terms are above or below their earlier rate.

    Parameters
    ----------
    counts, expected : ndarray of float, shape (n_terms, n_months)
        Papers of each term, and papers expected at a constant share of each category.
    now : int
        Number of months that the claims know.
    up, down : iterable of int
        Rows of the terms that the claims say will be above, or below, their rate of the months
        before the last year that the claims know.

    Returns
    -------
    score : Score
    later : ndarray of float, shape (n_terms,)
        Rate in the two years after the claim, relative to the rate before the last year.
    """
    before, last, after = slice(0, now - _YEAR), slice(now - _YEAR, now), slice(now, now + HORIZON)
    earlier = slice(max(now - 2 * _YEAR, 0), now - _YEAR)

    def rate(months: slice) -> Floats:
        sums = counts[:, months].sum(axis=1) + 0.5, expected[:, months].sum(axis=1) + 0.5
        return np.asarray(sums[0] / sums[1], dtype=np.float64)

    later = rate(after) / rate(before)
    up, down = list(up), list(down)
    n = len(up) + len(down)
    growth = np.argsort(-rate(last) / rate(earlier), kind="stable")[:n]
    size = np.argsort(-counts[:, :now].sum(axis=1), kind="stable")[:n]
    held = int((later[up] > 1).sum() + (later[down] < 1).sum())
    return Score(n, held, int((later[growth] > 1).sum()), int((later[size] > 1).sum())), later


def earlier_months(length: int, least: int) -> list[int]:
    """Return the numbers of months after which claims can be scored, the first first."""
    return list(range(length - HORIZON, least - 1, -_BETWEEN))[::-1]


def total_score(score: Callable[[int], Score], months: Iterable[int]) -> Score:
    """Add the scores of earlier months."""
    return sum(map(score, months), Score())


def with_score(
    table: pd.DataFrame, score: Score | None, later: pd.Series, is_claim: pd.Series | None = None
) -> pd.DataFrame:
    """Add the hit rate of claims with its interval, and what became of each claim."""
    if score is None:
        return table
    has_rate = score.claims > 0
    low, high = score.interval if has_rate else (np.nan, np.nan)
    rate = score.held / score.claims if has_rate else np.nan
    columns = dict(
        zip(("hit_rate", "hit_rate_low", "hit_rate_high"), (rate, low, high), strict=True)
    )
    mask = np.ones(len(table), dtype=bool) if is_claim is None else is_claim.to_numpy()
    table = table.assign(**{name: np.where(mask, value, np.nan) for name, value in columns.items()})
    return table.assign(later=later.astype(float))


def monthly_counts(
    group: NDArray[np.int64],
    ids: NDArray[np.int64],
    month: NDArray[np.int64],
    category: NDArray[np.int64],
) -> tuple[Floats, Floats, int]:
    """Count the papers of groups by month, and those expected from the categories of the papers.

    Parameters
    ----------
    group, month, category : ndarray of int, shape (n_papers,)
        Group, number of the month (0 if unknown) and category of each paper.
    ids : ndarray of int
        Numbers of the groups.

    Returns
    -------
    counts, expected : ndarray of float, shape (n_groups, n_months)
    first : int
        Number of the first month.
    """
    known = month > 0
    first = int(month[known].min()) if known.any() else 1
    length, n_categories = int(month.max(initial=1)) - first + 1, int(category.max(initial=0)) + 1
    at = month - first
    mix = np.zeros((n_categories, length))
    np.add.at(mix, (category[known], at[known]), 1)
    order = np.argsort(ids)
    inside = known & np.isin(group, ids)
    place = order[np.searchsorted(ids[order], group[inside])]
    counts, share = np.zeros((len(ids), length)), np.zeros((len(ids), n_categories))
    np.add.at(counts, (place, at[inside]), 1)
    np.add.at(share, (place, category[inside]), 1)
    return counts, share / np.maximum(mix.sum(axis=1), 1) @ mix, first
