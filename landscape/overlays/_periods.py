"""The years that a corpus covers: growth of the corpus is not growth of a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore

UNKNOWN_YEAR = -1
_LEAST_SHARE = 0.2
_JUMP = 3.0
_ENOUGH_FOR_A_JUMP = 50  # papers a year; fewer jump by chance


@dataclass(frozen=True)
class Years:
    """How many papers a corpus has of each year, and which years it covers."""

    years: NDArray[np.int64]
    counts: NDArray[np.int64]
    covered: NDArray[np.bool_]

    @property
    def jumps(self) -> NDArray[np.int64]:
        """Indices of the years after which the corpus changes threefold or more."""
        return np.flatnonzero(abrupt_changes(self.counts))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What these years do not allow to conclude, one sentence each."""
        said = []
        if not self.covered.all():
            gaps = ", ".join(format_spans(self.years[~self.covered]))
            said.append(f"The corpus hardly covers {gaps}; an apparent fall there is not real.")
        jumps = self.jumps
        if len(jumps):
            listed = ", ".join(
                f"{self.years[i]}-{self.years[i + 1]} ({self.counts[i]:,} to "
                f"{self.counts[i + 1]:,} papers)"
                for i in jumps[:4]
            )
            said.append(
                f"The corpus itself changes abruptly in {listed}: its composition may "
                "differ before and after."
            )
        return tuple(said)


def paper_years(atlas: AtlasStore) -> NDArray[np.int64]:
    """The year of every paper of an atlas, `UNKNOWN_YEAR` (-1) where it has no date."""
    import pandas as pd

    years = pd.to_numeric(atlas.read_papers(["year"])["year"]).fillna(UNKNOWN_YEAR)
    found: NDArray[np.int64] = years.to_numpy(np.int64)
    return found


def count_years(years: ArrayLike) -> Years:
    """Count the papers of each year and find the years that the corpus does not cover."""
    given = np.asarray(years, dtype=np.int64)
    if not len(given):
        raise InputError("No papers are selected; give a wider selection.")
    given = given[given != UNKNOWN_YEAR]
    if not len(given):
        raise InputError("No paper of this corpus has a date; trends and periods need dates.")
    first, last = int(given.min()), int(given.max())
    counts = np.bincount(given - first, minlength=last - first + 1)
    before = np.maximum.accumulate(counts)
    after = np.maximum.accumulate(counts[::-1])[::-1]
    covered = counts >= np.maximum(_LEAST_SHARE * np.minimum(before, after), 1)
    return Years(np.arange(first, last + 1), counts, covered)


def abrupt_changes(counts: ArrayLike) -> NDArray[np.bool_]:
    """Find between which years a corpus changes threefold or more."""
    papers = np.asarray(counts, dtype=np.float64)
    larger = np.maximum(papers[1:], papers[:-1])
    smaller = np.maximum(np.minimum(papers[1:], papers[:-1]), 1)
    changes: NDArray[np.bool_] = (larger >= _ENOUGH_FOR_A_JUMP) & (larger >= _JUMP * smaller)
    return changes


def format_spans(years: ArrayLike) -> list[str]:
    """Format years as spans: 2001-2003."""
    numbers = np.unique(np.asarray(years, dtype=np.int64))
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs if len(run)]
