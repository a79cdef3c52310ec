"""Which years a corpus covers: growth of a corpus must not pose as growth of a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

UNKNOWN_YEAR = -1
_LEAST_SHARE = 0.2
_JUMP = 3.0
_ENOUGH_FOR_A_JUMP = 50  # papers a year; fewer jump by chance


@dataclass(frozen=True)
class Years:
    """How many papers a corpus has of each year, and which years it covers.

    Attributes
    ----------
    years : ndarray of int, shape (n_years,)
        Every year from the first to the last, without a hole.
    counts : ndarray of int, shape (n_years,)
        Papers of that year.
    covered : ndarray of bool, shape (n_years,)
        False where the corpus has a gap: fewer than a fifth of the papers of a year before it
        and of a year after it.
    """

    years: NDArray[np.int64]
    counts: NDArray[np.int64]
    covered: NDArray[np.bool_]

    @property
    def jumps(self) -> NDArray[np.int64]:
        """Places of years behind which the corpus changes threefold or more."""
        return np.flatnonzero(abrupt_changes(self.counts))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What these years forbid to conclude, one sentence each."""
        said = []
        if not self.covered.all():
            gaps = ", ".join(spans(self.years[~self.covered]))
            said.append(f"The corpus hardly covers {gaps}; what seems to fall there does not.")
        jumps = self.jumps
        if len(jumps):
            listed = ", ".join(
                f"{self.years[i]}-{self.years[i + 1]} ({self.counts[i]:,} to "
                f"{self.counts[i + 1]:,} papers)"
                for i in jumps[:4]
            )
            said.append(
                f"The corpus itself changes abruptly in {listed}: its make-up may differ before "
                "and after."
            )
        return tuple(said)


def paper_years(atlas: Any) -> NDArray[np.int64]:
    """The year of every paper of an atlas, `UNKNOWN_YEAR` (-1) where it has no date.

    Examples
    --------
    >>> import pandas as pd
    >>> from types import SimpleNamespace as Atlas
    >>> atlas = Atlas(read_papers=lambda columns: pd.DataFrame({"year": [2020, None]}))
    >>> paper_years(atlas).tolist()
    [2020, -1]
    """
    import pandas as pd

    years = pd.to_numeric(atlas.read_papers(["year"])["year"]).fillna(UNKNOWN_YEAR)
    found: NDArray[np.int64] = years.to_numpy(np.int64)
    return found


def count_years(years: ArrayLike) -> Years:
    """Count the papers of each year and find the years that the corpus does not cover.

    Parameters
    ----------
    years : array_like of int, shape (n_papers,)
        Papers whose year is `UNKNOWN_YEAR` are left out.

    Returns
    -------
    Years

    Raises
    ------
    InputError
        If there is no paper, or none with a date.

    Examples
    --------
    >>> import numpy as np
    >>> found = count_years(np.repeat([2018, 2019, 2020, 2021], [100, 120, 3, 130]))
    >>> found.covered.tolist()
    [True, True, False, True]
    >>> print(found.warnings[0])
    The corpus hardly covers 2020; what seems to fall there does not.
    """
    given = np.asarray(years, dtype=np.int64)
    if not len(given):
        raise InputError("There is no paper to count the years of; give a wider selection.")
    given = given[given != UNKNOWN_YEAR]
    if not len(given):
        raise InputError("No paper of this corpus has a date, which an answer in time needs.")
    first, last = int(given.min()), int(given.max())
    counts = np.bincount(given - first, minlength=last - first + 1)
    before = np.maximum.accumulate(counts)
    after = np.maximum.accumulate(counts[::-1])[::-1]
    covered = counts >= np.maximum(_LEAST_SHARE * np.minimum(before, after), 1)
    return Years(np.arange(first, last + 1), counts, covered)


def abrupt_changes(counts: ArrayLike) -> NDArray[np.bool_]:
    """Say between which years a corpus changes threefold or more.

    Parameters
    ----------
    counts : array_like of int, shape (n_years,)

    Returns
    -------
    ndarray of bool, shape (n_years - 1,)
        False between years of fewer than 50 papers, which jump by chance.

    Examples
    --------
    >>> abrupt_changes([100, 120, 500]).tolist()
    [False, True]
    """
    papers = np.asarray(counts, dtype=np.float64)
    larger = np.maximum(papers[1:], papers[:-1])
    smaller = np.maximum(np.minimum(papers[1:], papers[:-1]), 1)
    changes: NDArray[np.bool_] = (larger >= _ENOUGH_FOR_A_JUMP) & (larger >= _JUMP * smaller)
    return changes


def spans(years: ArrayLike) -> list[str]:
    """Write years as spans.

    Examples
    --------
    >>> spans([1999, 2003, 2004, 2005])
    ['1999', '2003-2005']
    """
    numbers = np.unique(np.asarray(years, dtype=np.int64))
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs if len(run)]
