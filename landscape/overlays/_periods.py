"""Find the years covered by a corpus, and compute shares of papers by year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore

UNKNOWN_YEAR = -1
_LEAST_SHARE = 0.2
_JUMP = 3.0
_ENOUGH_FOR_A_JUMP = 50  # minimum number of papers per year


@dataclass(frozen=True)
class Years:
    """Number of papers in each year, and whether the corpus covers the year."""

    years: NDArray[np.int64]
    counts: NDArray[np.int64]
    covered: NDArray[np.bool_]

    @property
    def jumps(self) -> NDArray[np.int64]:
        """Indices of the years whose count differs from the next year by a factor of 3 or more."""
        return np.flatnonzero(abrupt_changes(self.counts))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about gaps and abrupt changes in these years."""
        gaps = ", ".join(format_spans(self.years[~self.covered]))
        years, counts = self.years, self.counts
        jumps = ", ".join(
            f"{years[i]}-{years[i + 1]} ({counts[i]:,} to {counts[i + 1]:,} papers)"
            for i in self.jumps[:4]
        )
        return warn("years", {"gaps": gaps, "jumps": jumps}, gaps=gaps, jumps=jumps)


def describe_corpus(atlas: AtlasStore, *, with_size: bool = False) -> str:
    """Return the title and the dates of a corpus, for captions."""
    bounds = atlas.coverage
    size = f"{bounds['papers']:,} papers, " if with_size else ""
    return f"{bounds['title']} ({size}{bounds['first_date']} to {bounds['last_date']})"


def warn(kind: str, needed: Mapping[str, Any], /, **values: Any) -> tuple[str, ...]:
    """Return the warnings from ``analyses.yaml`` whose conditions are true, with the values."""
    texts = _texts()[kind]
    return tuple(texts[name].format(**values) for name, holds in needed.items() if holds)


@cache
def _texts() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = read_yaml(data_file("analyses.yaml"))
    return texts


def paper_years(atlas: AtlasStore) -> NDArray[np.int64]:
    """Return the year of each paper of an atlas, or `UNKNOWN_YEAR` (-1) if unknown."""
    import pandas as pd

    years = pd.to_numeric(atlas.read_papers(["year"])["year"]).fillna(UNKNOWN_YEAR)
    found: NDArray[np.int64] = years.to_numpy(np.int64)
    return found


def check_period(since: int | None, until: int | None) -> None:
    """Raise InputError if a period ends before it begins."""
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since} to {until} ends before it begins; swap the years.")


def count_years(years: ArrayLike) -> Years:
    """Count the papers of each year and find the years that the corpus does not cover."""
    given = np.asarray(years, dtype=np.int64)
    if not len(given):
        raise InputError("No papers are selected; give a wider selection.")
    given = given[given != UNKNOWN_YEAR]
    if not len(given):
        raise InputError(
            "No paper of this corpus has a date, so trends and periods are not available; build "
            "the atlas from papers with dates."
        )
    first, last = int(given.min()), int(given.max())
    counts = np.bincount(given - first, minlength=last - first + 1)
    before = np.maximum.accumulate(counts)
    after = np.maximum.accumulate(counts[::-1])[::-1]
    covered = counts >= np.maximum(_LEAST_SHARE * np.minimum(before, after), 1)
    return Years(np.arange(first, last + 1), counts, covered)


def abrupt_changes(counts: ArrayLike) -> NDArray[np.bool_]:
    """Return whether the count changes by a factor of 3 or more between successive years."""
    papers = np.asarray(counts, dtype=np.float64)
    larger = np.maximum(papers[1:], papers[:-1])
    smaller = np.maximum(np.minimum(papers[1:], papers[:-1]), 1)
    changes: NDArray[np.bool_] = (larger >= _ENOUGH_FOR_A_JUMP) & (larger >= _JUMP * smaller)
    return changes


def format_spans(years: ArrayLike) -> list[str]:
    """Format years as ranges, for example 2001-2003."""
    numbers = np.unique(np.asarray(years, dtype=np.int64))
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs if len(run)]


def ratio(above: ArrayLike, below: ArrayLike) -> NDArray[np.float64]:
    """Divide element by element; the result is NaN if the denominator is 0."""
    above, below = np.asarray(above, np.float64), np.asarray(below, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def count_by_year(
    groups: ArrayLike, years: ArrayLike, *, ids: ArrayLike, calendar: ArrayLike
) -> NDArray[np.int64]:
    """Count the papers of each group in each year; the shape is (n_ids, n_years)."""
    import pandas as pd

    rows, columns = pd.Index(np.asarray(ids, np.int64)), pd.Index(np.asarray(calendar, np.int64))
    row = rows.get_indexer(np.asarray(groups, np.int64))
    column = columns.get_indexer(np.asarray(years, np.int64))
    cell = (row * len(columns) + column)[(row >= 0) & (column >= 0)]
    counts = np.bincount(cell, minlength=len(rows) * len(columns))
    return counts.reshape(len(rows), len(columns)).astype(np.int64)


def share_interval(
    counts: ArrayLike, totals: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Jeffreys 95% interval of a share (Brown et al. 2001, Stat. Sci. 16, 101)."""
    from scipy.stats import beta

    k, n = np.broadcast_arrays(np.asarray(counts, float), np.asarray(totals, float))
    low = np.where(k > 0, beta.ppf(0.025, k + 0.5, n - k + 0.5), 0.0)
    high = np.where(k < n, beta.ppf(0.975, k + 0.5, n - k + 0.5), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def tabulate_years(
    names: pd.DataFrame, counts: NDArray[np.int64], period: Years, *, total: str
) -> pd.DataFrame:
    """Return a table with one row per group and year; shares are NaN in years without coverage."""
    n_groups, n_years = counts.shape
    low, high = share_interval(counts, period.counts)
    shares = {"share": ratio(counts, period.counts), "share_low": low, "share_high": high}
    return names.loc[names.index.repeat(n_years)].reset_index(drop=True).assign(
        year=np.tile(period.years, n_groups),
        papers=counts.ravel(),
        **{total: np.tile(period.counts, n_groups)},
        **{name: np.where(period.covered, of, np.nan).ravel() for name, of in shares.items()},
        covered=np.tile(period.covered, n_groups),
    )  # fmt: skip
