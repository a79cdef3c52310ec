"""Find the years that a corpus covers, from the numbers of papers and their arXiv categories."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

UNKNOWN_YEAR = -1  # year of papers without a date
_MIN_SHARE = 0.2  # minimum papers of a year (month), relative to the years around it (median month)
_JUMP = 3.0  # minimum ratio of the numbers of papers of two successive years
_ENOUGH_FOR_A_JUMP = 50  # minimum number of papers per year
_OTHER = 0.25  # a year covered in part has more than this share of papers in other categories
_SIGMAS = 3.5  # and the difference is more significant than this: about 30 years are compared
_ENOUGH_FOR_A_MIX, _POOLED = 100, 5  # years with fewer papers are pooled, up to 5 on each side
_MIN_LENGTH = 3  # covered years of a period in which changes are measured
_MAX_SPANS = 3  # spans of years named in a text
# The months of a corpus are known if there are several, and in a year if most papers have one.
_MIN_MONTHS, _KNOWN_MONTHS = 3, 0.9
_ENOUGH_FOR_MONTHS = 60  # minimum number of papers with a month in a year of which months are named


@dataclass(frozen=True)
class Years:
    """Number of papers in each year, and whether the corpus covers the year.

    A covered year has at least 20% of the papers of the smaller of the two largest years before and
    after it, and its mix of primary categories is similar to that of the largest year, or of the
    next covered year towards it. `months` has the first and last covered month of years beside a
    gap that are covered from a later month on, or until an earlier month. `ends` has the numbers of
    months of the first and of the last year.
    """

    years: NDArray[np.int64]
    counts: NDArray[np.int64]
    covered: NDArray[np.bool_]
    months: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    ends: tuple[int, int] = (12, 12)

    @property
    def jumps(self) -> NDArray[np.int64]:
        """Indices of the covered years whose count differs from the next by a factor of 3.

        A first or last year of which the corpus has some months only is compared by its rate.
        """
        both = self.covered[1:] & self.covered[:-1]
        rates = self.counts.astype(np.float64)
        if len(rates):
            rates[[0, -1]] *= 12 / np.array(self.ends)
        return np.flatnonzero(abrupt_changes(self.counts) & abrupt_changes(rates) & both)

    @property
    def last_stretch(self) -> int | None:
        """First covered year after the last gap that a trend cannot bridge, or None.

        Such a gap is longer than the covered years before it, or the number of papers changes
        abruptly across it.
        """
        covered = self.years[self.covered]
        missing = np.diff(covered) - 1
        is_long = missing > np.arange(1, len(covered))
        breaks = (missing > 0) & (is_long | abrupt_changes(self.counts[self.covered]))
        if not breaks.any() or len(covered) - np.flatnonzero(breaks)[-1] < _MIN_LENGTH + 1:
            return None
        return int(covered[np.flatnonzero(breaks)[-1] + 1])

    @property
    def in_part(self) -> str:
        """Years that are not covered, or "" if all are; many spans are shortened to their ends."""
        missing = self.years[~self.covered]
        spans = [self._with_months(*run, inside=False) for run in _runs(missing)]
        if len(spans) <= _MAX_SPANS:
            return ", ".join(spans)
        return f"{len(missing)} years of {missing[0]}-{missing[-1]}"

    @property
    def text(self) -> str:
        """Which years the corpus covers, such as "1993-1994 and 2023-2026 well, 1995-2022 in part".

        If the corpus covers all years, they are given without a remark. A year beside a gap has its
        first or last covered month: "May 2023-2026 well, 1995-April 2023 in part".
        """
        spans = [self._with_months(*run, inside=True) for run in _runs(self.years[self.covered])]
        if not self.in_part:
            return spans[0]
        well = " and ".join(spans) if len(spans) <= _MAX_SPANS else "the other years"
        return f"{well} well, {self.in_part} in part"

    def _with_months(self, first: int, last: int, *, inside: bool) -> str:
        """Format a span of covered years (`inside`), or of years of a gap."""
        if inside:
            start, end = self.months.get(first, (1, 12))[0], self.months.get(last, (1, 12))[1]
        else:
            before, after = self.months.get(first - 1, (1, 12)), self.months.get(last + 1, (1, 12))
            start, end = before[1] % 12 + 1, (after[0] - 2) % 12 + 1
            first, last = first - (start > 1), last + (end < 12)
        name = [f"{month_name[start]} {first}" if start > 1 else str(first)]
        if last > first or start > 1 or end < 12:
            name.append(f"{month_name[end]} {last}" if end < 12 else str(last))
        return "-".join(name)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about gaps and abrupt changes in these years."""
        years, counts, gaps = self.years, self.counts, self.in_part
        jumps = ", ".join(
            f"{years[i]}-{years[i + 1]} ({counts[i]:,} to {counts[i + 1]:,} papers)"
            for i in self.jumps[:4]
        )
        return warn("years", {"gaps": gaps, "jumps": jumps}, gaps=gaps, jumps=jumps)

    def has_gap_at(self, year: int) -> bool:
        """Return whether the corpus does not cover a year or the year before it."""
        return bool((~self.covered & (self.years >= year - 1) & (self.years <= year)).any())


def warn(kind: str, needed: Mapping[str, object], /, **values: object) -> tuple[str, ...]:
    """Return the warnings from ``analyses.yaml`` whose conditions are true, with the values."""
    texts = _texts()[kind]
    return tuple(texts[name].format(**values) for name, holds in needed.items() if holds)


@cache
def _texts() -> dict[str, dict[str, str]]:
    return read_yaml(data_file("analyses.yaml"))


def count_years(
    years: ArrayLike,
    categories: Sequence[str] | NDArray[np.object_] | None = None,
    months: ArrayLike | None = None,
) -> Years:
    """Count the papers of each year and find the years that the corpus does not cover.

    Parameters
    ----------
    years : array_like of int, shape (n_papers,)
        Years, or -1 if unknown.
    categories : sequence of str, shape (n_papers,), optional
        Primary categories, or "" if unknown. Years in which most papers have no category are judged
        by their number of papers only.
    months : array_like of int, shape (n_papers,), optional
        Months from 1 to 12, or 0 if unknown. With them, the covered months of the years beside gaps
        are found.

    Returns
    -------
    Years

    Examples
    --------
    >>> count_years([2000] * 9 + [2001] + [2002] * 9).text
    '2000 and 2002 well, 2001 in part'
    """
    given = np.asarray(years, dtype=np.int64)
    if not len(given):
        raise InputError("No papers are selected; give a wider selection.")
    known = given != UNKNOWN_YEAR
    given = given[known]
    if not len(given):
        raise InputError(
            "No paper of this corpus has a date, so trends and periods are not available; build "
            "the atlas from papers with dates."
        )
    first, last = int(given.min()), int(given.max())
    counts = np.bincount(given - first, minlength=last - first + 1)
    before = np.maximum.accumulate(counts)
    after = np.maximum.accumulate(counts[::-1])[::-1]
    covered = counts >= np.maximum(_MIN_SHARE * np.minimum(before, after), 1)
    if categories is not None:
        named = np.asarray(categories, dtype=object)[known]
        covered &= _have_similar_mix(given - first, named, counts, covered)
    found = Years(np.arange(first, last + 1), counts, covered)
    if months is None:
        return found
    month = np.asarray(months, dtype=np.int64)[known]
    found = replace(found, ends=_months_at_ends(given, month))
    if covered.all():
        return found
    return replace(found, months=_months_beside_gaps(found, given, month))


def _months_at_ends(year: NDArray[np.int64], month: NDArray[np.int64]) -> tuple[int, int]:
    """Return the numbers of months from the first paper on, and until the last one.

    A year in which the months of some papers are unknown counts as whole.
    """
    if len(np.unique(month[month > 0])) < _MIN_MONTHS:
        return 12, 12
    first, last = (month[year == one] for one in (year.min(), year.max()))
    is_known = [(one > 0).mean() >= _KNOWN_MONTHS for one in (first, last)]
    return (
        13 - int(first[first > 0].min()) if is_known[0] else 12,
        int(last.max()) if is_known[1] else 12,
    )


def _months_beside_gaps(
    found: Years, year: NDArray[np.int64], month: NDArray[np.int64]
) -> dict[int, tuple[int, int]]:
    """Find the months that are covered as years are, in covered years beside a gap."""
    beside = {}
    for first, last in _runs(found.years[found.covered]):
        for one in {first, last}:
            n = np.bincount(month[(year == one) & (month > 0)], minlength=13)[1:]
            enough = np.flatnonzero(n >= _MIN_SHARE * np.median(n[n > 0])) + 1 if n.any() else n
            if n.sum() >= _ENOUGH_FOR_MONTHS and len(enough):
                start = int(enough[0]) if one == first > found.years[0] else 1
                end = int(enough[-1]) if one == last < found.years[-1] else 12
                beside[one] = start, end
    return {one: ends for one, ends in beside.items() if ends != (1, 12)}


def _have_similar_mix(
    year: NDArray[np.int64],
    category: NDArray[np.object_],
    counts: NDArray[np.int64],
    covered: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Compare the categories of each year with those of the next covered year, from the largest on.

    Fields change slowly, and a selection of papers changes at once. Therefore each year is compared
    with the nearest covered year on the side of the largest year, not with all years.
    """
    names, code = np.unique(category.astype(str), return_inverse=True)
    mixes = np.bincount(year * len(names) + code, minlength=len(counts) * len(names))
    mixes = mixes.reshape(len(counts), len(names))[:, names != ""]
    names, sizes = names[names != ""], mixes.sum(axis=1)
    has_categories = covered & (2 * sizes > counts)
    pooled = _pool_small_years(mixes)
    similar = np.ones(len(counts), dtype=bool)
    if has_categories.any():
        largest = int(np.argmax(sizes * has_categories))
        for side in (range(largest, -1, -1), range(largest, len(counts))):
            near = largest
            for one in side:
                if has_categories[one]:
                    similar[one] = any(
                        all(_is_similar(names, mix[one], pooled[other]) for mix in (mixes, pooled))
                        for other in (near, largest)
                    )
                    near = one if similar[one] else near
    return similar


def _pool_small_years(mixes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add the papers of up to 5 years on each side to years with few papers."""
    total = np.vstack([np.zeros_like(mixes[:1]), np.cumsum(mixes, axis=0)])
    pooled = mixes.copy()
    for reach in range(1, _POOLED + 1):
        small = np.flatnonzero(pooled.sum(axis=1) < _ENOUGH_FOR_A_MIX)
        ends = np.minimum(small + reach + 1, len(mixes))
        pooled[small] = total[ends] - total[np.maximum(small - reach, 0)]
    return pooled


def _is_similar(names: NDArray[np.str_], a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    """Return whether two years have similar numbers of papers in each category.

    The distance is the share of the papers that are in other categories (total variation). A
    category without a subcategory, such as astro-ph before 2009, matches all of its archive.
    """
    _, archive = np.unique([name.partition(".")[0] for name in names], return_inverse=True)
    is_sub = np.array(["." in name for name in names])
    p, q = a / a.sum(), b / b.sum()

    def by_archive(share: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(archive, share).astype(np.float64)

    same = by_archive(np.minimum(p, q) * is_sub)
    rest = np.minimum(by_archive(p), by_archive(q)) - same
    distance = 1 - float((same + np.minimum(rest, by_archive((p + q) * ~is_sub))).sum())
    both = (a + b) / (a + b).sum()
    variance = both * (1 - both) * (1 / a.sum() + 1 / b.sum())
    # The mean and the error of the distance of two samples of the same papers, from |x| of normal x
    by_chance = np.sqrt(variance / (2 * np.pi)).sum()
    error = np.sqrt((0.25 - 0.5 / np.pi) * variance.sum())
    return bool(distance <= max(_OTHER, by_chance + _SIGMAS * error))


def abrupt_changes(counts: ArrayLike) -> NDArray[np.bool_]:
    """Return whether the count changes by a factor of 3 or more between successive years."""
    papers = np.asarray(counts, dtype=np.float64)
    larger = np.maximum(papers[1:], papers[:-1])
    smaller = np.maximum(np.minimum(papers[1:], papers[:-1]), 1)
    return (larger >= _ENOUGH_FOR_A_JUMP) & (larger >= _JUMP * smaller)


def format_spans(years: ArrayLike) -> list[str]:
    """Format years as ranges, for example 2001-2003."""
    return [str(first) if first == last else f"{first}-{last}" for first, last in _runs(years)]


def _runs(years: ArrayLike) -> list[tuple[int, int]]:
    """Return the first and last year of each run of successive years."""
    numbers = np.unique(np.asarray(years, dtype=np.int64))
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return [(int(run[0]), int(run[-1])) for run in runs if len(run)]
