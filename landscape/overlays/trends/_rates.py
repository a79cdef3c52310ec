"""Rates of topics relative to the whole corpus, and their slopes in time.

A topic's rate is its share of all papers of a year: growth of the corpus is not growth of a topic.
Where the corpus itself changes abruptly (another source begins), shares before and after cannot be
compared: each such era gets its own level, and a slope is what shares do within the eras.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays._periods import abrupt_changes

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

_STEEPEST = 1.0  # standard deviation of the prior of a slope: one e-fold a year
_NEARLY_FLAT = 1e-3  # precision of the prior of a level: keeps the system solvable for absent eras
_MOST_STEPS = 60
_LONGEST_STEP = 2.0


@dataclass(frozen=True)
class Lines:
    """Straight lines in log odds, one for each row of counts."""

    slope: NDArray[np.float64]
    slope_error: NDArray[np.float64]
    fitted: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    chi_square: NDArray[np.float64]
    n_parameters: NDArray[np.int64]


def count_by_year(
    groups: ArrayLike, years: ArrayLike, *, ids: ArrayLike, calendar: ArrayLike
) -> NDArray[np.int64]:
    """Count the papers of each group in each year."""
    wanted, columns = np.asarray(ids, dtype=np.int64), np.asarray(calendar, dtype=np.int64)
    row, is_group = _positions(np.asarray(groups, dtype=np.int64), wanted)
    column, is_year = _positions(np.asarray(years, dtype=np.int64), columns)
    cell = (row * len(columns) + column)[is_group & is_year]
    counts = np.bincount(cell, minlength=len(wanted) * len(columns))
    return counts.reshape(len(wanted), len(columns)).astype(np.int64)


def share_interval(
    counts: ArrayLike, totals: ArrayLike, *, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Jeffreys' interval of a share (Brown, Cai & DasGupta 2001, Stat. Sci. 16, 101)."""
    from scipy.stats import beta

    k, n = np.broadcast_arrays(np.asarray(counts, float), np.asarray(totals, float))
    tail = (1 - level) / 2
    low = np.where(k > 0, beta.ppf(tail, k + 0.5, n - k + 0.5), 0.0)
    high = np.where(k < n, beta.ppf(1 - tail, k + 0.5, n - k + 0.5), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def find_eras(totals: ArrayLike) -> NDArray[np.int64]:
    """Number the eras: years between abrupt changes of the corpus."""
    breaks = abrupt_changes(totals)
    return np.concatenate([[0], np.cumsum(breaks)]).astype(np.int64)


def fit_lines(
    counts: ArrayLike, totals: ArrayLike, years: ArrayLike, eras: ArrayLike | None = None
) -> Lines:
    """Fit a logistic line in time to each row of counts."""
    k = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    n = np.broadcast_to(np.asarray(totals, dtype=np.float64), k.shape)
    k = np.where(n > 0, k, 0.0)
    design, era_of = _design(np.asarray(years), eras)
    precision = np.r_[np.full(design.shape[1] - 1, _NEARLY_FLAT), 1 / _STEEPEST**2]
    found, information = _newton(k, n, design, precision)
    odds = found @ design.T
    fitted = _expit(odds)
    spread = n * fitted * (1 - fitted)
    chi_square = ((k - n * fitted) ** 2 / np.maximum(spread, 1e-12)).sum(axis=1, where=n > 0)
    eras_seen = ((n > 0).astype(np.float64) @ era_of > 0).sum(axis=1)
    return Lines(
        slope=found[:, -1],
        slope_error=np.sqrt(np.linalg.inv(information)[:, -1, -1]),
        fitted=fitted,
        log_likelihood=(k * odds - n * np.logaddexp(0, odds)).sum(axis=1),
        chi_square=chi_square,
        n_parameters=eras_seen + 1,
    )


def _positions(
    values: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each value is among those wanted, and whether it is there at all."""
    order = np.argsort(wanted, kind="stable")
    at = np.minimum(np.searchsorted(wanted[order], values), max(len(wanted) - 1, 0))
    if not len(wanted):
        return at, np.zeros(len(values), dtype=bool)
    return order[at], wanted[order][at] == values


def _design(
    years: NDArray[np.int64], eras: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A column for each era and one for the year; and the columns of the eras alone."""
    t = years.astype(np.float64)
    t = t - t.mean()
    era = np.zeros(len(t), dtype=np.int64) if eras is None else np.asarray(eras, dtype=np.int64)
    era_of = (era[:, None] == np.unique(era)[None, :]).astype(np.float64)
    return np.column_stack([era_of, t]), era_of


def _newton(
    k: NDArray[np.float64],
    n: NDArray[np.float64],
    design: NDArray[np.float64],
    precision: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Most probable coefficients and their information, all rows at once."""
    whole = k.sum(axis=1) + 0.5
    level = np.log(whole / (n.sum(axis=1) + 1.0 - whole))
    found = np.zeros((len(k), design.shape[1]))
    found[:, :-1] = level[:, None]
    products = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    shape = (len(k), design.shape[1], design.shape[1])
    for _ in range(_MOST_STEPS):
        fitted = _expit(found @ design.T)
        weight = n * fitted * (1 - fitted)
        information = (weight @ products).reshape(shape) + np.diag(precision)
        gradient = (k - n * fitted) @ design - precision * found
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        found = found + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max(initial=0.0) < 1e-6:
            break
    return found, information


def _expit(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import expit

    fitted: NDArray[np.float64] = expit(odds)
    return fitted


FEW = 10  # papers of a topic; fewer are not tested
_CHANGES = [
    "row", "year", "year_low", "year_high", "share_before", "share_after", "slope_before",
    "slope_after", "turn",
]  # fmt: skip


def fit_slopes(
    counts: NDArray[np.int64], totals: ArrayLike, years: NDArray[np.int64], eras: ArrayLike
) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Slopes with intervals that allow for overdispersion, and the fitted shares."""
    import pandas as pd
    from scipy.stats import t as student

    lines = fit_lines(counts, totals, years, eras)
    free = np.maximum(len(years) - lines.n_parameters, 1)
    overdispersion = np.maximum(lines.chi_square / free, 1.0)
    error = lines.slope_error * np.sqrt(overdispersion)
    reach = student.ppf(0.975, free) * error
    length = int(years[-1] - years[0])
    ends = {"": lines.slope, "_low": lines.slope - reach, "_high": lines.slope + reach}
    table = pd.DataFrame({f"slope{end}": slope for end, slope in ends.items()})
    table["slope_error"] = error
    for end, slope in ends.items():
        table[f"change{end}"] = np.exp(np.clip(slope * length, -700, 700))
    table["overdispersion"] = overdispersion
    table["p"] = 2 * student.sf(np.abs(lines.slope) / error, free)
    return table, lines.fitted


def find_all_changes(
    counts: NDArray[np.int64], totals: ArrayLike, years: ArrayLike, eras: ArrayLike
) -> pd.DataFrame:
    """The changes of course of all topics, one row each; ``row`` is the topic's row in counts."""
    from dataclasses import asdict

    import pandas as pd

    found = [
        {"row": row, **asdict(change)}
        for row, of in enumerate(counts)
        if of.sum() >= FEW
        for change in find_changes(of, totals, years, eras)
    ]
    return pd.DataFrame(found, columns=_CHANGES)


def false_discovery_rates(p: ArrayLike) -> NDArray[np.float64]:
    """The q values of Benjamini & Hochberg (1995); NaN stays NaN."""
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=np.float64)
    q = np.full(len(values), np.nan)
    made = np.isfinite(values)
    if made.any():
        q[made] = false_discovery_control(values[made])
    return q


_WITHIN = 1.92  # half of the 95% point of chi-square with one degree of freedom


@dataclass(frozen=True)
class Change:
    """One year in which a rate changes its course."""

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
    """Find the years in which a topic's share of the corpus changes its course."""
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
