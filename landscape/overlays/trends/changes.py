"""Years in which a topic's rate changes its course.

The years are cut into segments, each with its own logistic line (level and slope), so that a
steady rise has no change and both a step and a turn have one. All cuts are tried exactly by dynamic
programming (Auger & Lawrence 1989; Jackson et al. 2005), which for some tens of years takes
milliseconds and needs no tuning; how many cuts are kept is decided by the Bayesian information
criterion with a quasi-likelihood that allows for overdispersion (Burnham & Anderson 2002, ch. 2).
In epidemiology the same question is asked by joinpoint regression (Kim et al. 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.trends.rates import Lines, fit_lines

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_WITHIN = 1.92  # half of the 95% point of chi-square with one degree of freedom


@dataclass(frozen=True)
class Change:
    """One year in which a rate changes its course.

    Attributes
    ----------
    year : int
        First year of the new course.
    year_low, year_high : int
        Years that fit nearly as well (within 1.92 of log likelihood).
    share_before, share_after : float
        Fitted shares in the year before (of those covered) and in the year itself.
    slope_before, slope_after : float
        Change of the log odds a year.
    turn : str
        ``"up"`` or ``"down"``: where the new course goes, against the old one continued.
    """

    year: int
    year_low: int
    year_high: int
    share_before: float
    share_after: float
    slope_before: float
    slope_after: float
    turn: str


@dataclass(frozen=True)
class _Segments:
    """Every possible segment: which years it has, and the line that fits it."""

    number: NDArray[np.int64]  # (first, last + 1) -> which one, -1 where it would be too short
    lines: Lines
    years: NDArray[np.int64]
    eras: NDArray[np.int64]


def find_changes(
    counts: ArrayLike,
    totals: ArrayLike,
    years: ArrayLike,
    eras: ArrayLike | None = None,
    *,
    most: int = 3,
    shortest: int = 4,
) -> list[Change]:
    """Find the years in which a topic's share of the corpus changes its course.

    Parameters
    ----------
    counts, totals : array_like of int, shape (n_years,)
        Papers of the topic and of the corpus, covered years only.
    years : array_like of int, shape (n_years,)
    eras : array_like of int, shape (n_years,), optional
        See `landscape.overlays.trends.rates.find_eras`: a step at their borders is the corpus's.
    most : int, default 3
        Changes allowed.
    shortest : int, default 4
        Years that a course lasts at least.

    Returns
    -------
    list of Change
        In the order of time; empty where one line does as well.

    Examples
    --------
    >>> years = list(range(2000, 2020))
    >>> counts = [10] * 10 + [40] * 10
    >>> [change.year for change in find_changes(counts, [1000] * 20, years)]
    [2010]
    >>> find_changes([20] * 20, [1000] * 20, years)
    []
    """
    k, n = np.asarray(counts, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    calendar = np.asarray(years, dtype=np.int64)
    era = np.zeros(len(k), dtype=np.int64) if eras is None else np.asarray(eras, dtype=np.int64)
    most = min(most, len(k) // shortest - 1)
    if most < 1 or not k.sum():
        return []
    segments = _fit_segments(k, n, calendar, era, shortest)
    best = [_best_cuts(segments, pieces) for pieces in range(1, most + 2)]
    dispersion = _dispersion(segments, best[-1], len(k))
    cuts = min(best, key=lambda one: _criterion(segments, one, dispersion, len(k)))
    return [
        _describe(segments, cuts[at - 1 : at + 2], dispersion) for at in range(1, len(cuts) - 1)
    ]


def _fit_segments(
    k: NDArray[np.float64],
    n: NDArray[np.float64],
    years: NDArray[np.int64],
    eras: NDArray[np.int64],
    shortest: int,
) -> _Segments:
    length = len(k)
    first, end = np.nonzero(np.arange(length + 1)[None, :] >= np.arange(length)[:, None] + shortest)
    at = np.arange(length)[None, :]
    inside = (at >= first[:, None]) & (at < end[:, None])
    number = np.full((length + 1, length + 1), -1, dtype=np.int64)
    number[first, end] = np.arange(len(first))
    lines = fit_lines(np.where(inside, k, 0.0), np.where(inside, n, 0.0), years, eras)
    return _Segments(number, lines, years, eras)


def _best_cuts(segments: _Segments, pieces: int) -> list[int]:
    """Cuts of the likeliest division into so many pieces, with 0 and the end."""
    gain = segments.lines.log_likelihood[segments.number]
    of = np.where(segments.number >= 0, gain, -np.inf)
    reached = of[0].copy()
    came_from = []
    for _ in range(pieces - 1):
        ways = reached[:, None] + of
        came_from.append(ways.argmax(axis=0))
        reached = ways.max(axis=0)
    cuts = [len(of) - 1]
    for source in reversed(came_from):
        cuts.append(int(source[cuts[-1]]))
    return [0, *reversed(cuts)]


def _pieces(segments: _Segments, cuts: list[int]) -> NDArray[np.int64]:
    return segments.number[cuts[:-1], cuts[1:]]


def _dispersion(segments: _Segments, cuts: list[int], n_years: int) -> float:
    """Pearson's chi-square a degree of freedom of the most flexible model, at least 1."""
    pieces = _pieces(segments, cuts)
    free = n_years - segments.lines.n_parameters[pieces].sum() - (len(pieces) - 1)
    return max(1.0, segments.lines.chi_square[pieces].sum() / max(free, 1))


def _criterion(segments: _Segments, cuts: list[int], dispersion: float, n_years: int) -> float:
    pieces = _pieces(segments, cuts)
    parameters = segments.lines.n_parameters[pieces].sum() + len(pieces) - 1
    likelihood = segments.lines.log_likelihood[pieces].sum() / dispersion
    return float(-2 * likelihood + parameters * np.log(n_years))


def _describe(segments: _Segments, cuts: list[int], dispersion: float) -> Change:
    start, cut, end = cuts
    lines, years = segments.lines, segments.years
    left, right = segments.number[start, cut], segments.number[cut, end]
    near = _near_cuts(segments, cuts, dispersion)
    return Change(
        year=int(years[cut]),
        year_low=int(years[near[0] - 1]) + 1,
        year_high=int(years[near[-1]]),
        share_before=float(lines.fitted[left, cut - 1]),
        share_after=float(lines.fitted[right, cut]),
        slope_before=float(lines.slope[left]),
        slope_after=float(lines.slope[right]),
        turn="up" if _goes_up(segments, cuts) else "down",
    )


def _goes_up(segments: _Segments, cuts: list[int]) -> bool:
    """Whether the new course leads above the old one continued."""
    start, cut, end = cuts
    left, right = segments.number[start, cut], segments.number[cut, end]
    later = min(cut + 3, end - 1)  # a few years on, for a turn begins with no step
    if segments.eras[later] != segments.eras[cut - 1]:  # no common level to compare
        return bool(segments.lines.slope[right] > segments.lines.slope[left])
    return bool(segments.lines.fitted[right, later] > segments.lines.fitted[left, later])


def _near_cuts(segments: _Segments, cuts: list[int], dispersion: float) -> NDArray[np.int64]:
    """Other places of the middle cut that fit nearly as well, its neighbours as they are."""
    start, cut, end = cuts
    left, right = segments.number[start], segments.number[:, end]
    possible = np.flatnonzero((left >= 0) & (right >= 0))
    fit = segments.lines.log_likelihood[left[possible]]
    fit = (fit + segments.lines.log_likelihood[right[possible]]) / dispersion
    return possible[fit >= fit[possible == cut][0] - _WITHIN]
