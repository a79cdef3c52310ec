"""Read the years of the papers of an atlas, and compute shares of papers by year."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.errors import InputError
from landscape.statistics import ratio, share_interval
from landscape.store.years import UNKNOWN_YEAR as UNKNOWN_YEAR
from landscape.store.years import Years as Years
from landscape.store.years import abrupt_changes as abrupt_changes
from landscape.store.years import count_years as count_years
from landscape.store.years import format_spans as format_spans
from landscape.store.years import warn as warn

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from landscape.store import AtlasStore


def describe_corpus(atlas: AtlasStore, *, with_size: bool = False) -> str:
    """Return the title and the dates of a corpus, for captions."""
    bounds = atlas.coverage
    size = f"{bounds['papers']:,} papers, " if with_size else ""
    part = f", {bounds['in_part']} in part" if bounds.get("in_part") else ""
    return f"{bounds['title']} ({size}{bounds['first_date']} to {bounds['last_date']}{part})"


def paper_years(atlas: AtlasStore) -> NDArray[np.int64]:
    """Return the year of each paper of an atlas, or `UNKNOWN_YEAR` (-1) if unknown.

    Retracted and withdrawn papers have no year, so that they are counted in no year.
    """
    import pandas as pd

    years = pd.to_numeric(atlas.read_papers(["year"])["year"]).fillna(UNKNOWN_YEAR)
    found = years.to_numpy(np.int64, copy=True)
    found[invalid_papers(atlas)] = UNKNOWN_YEAR
    return found


def paper_months(atlas: AtlasStore) -> NDArray[np.int64]:
    """Return the month of each paper, 0 if unknown. A table of papers alone has none."""
    table = getattr(atlas, "paper_table", None)
    if table is None:
        return np.zeros(len(atlas.read_papers(["year"])), np.int64)
    return np.array(table.months(), np.int64)


def invalid_papers(atlas: AtlasStore) -> NDArray[np.int64]:
    """Return the rows of retracted and withdrawn papers. A table of papers alone has none."""
    return getattr(atlas, "invalid_papers", np.zeros(0, np.int64))


def primary_categories(lists: pd.Series) -> NDArray[np.object_]:
    """Return the first category of each paper, or "" if it has none."""
    return np.array([of[0] if of is not None and len(of) else "" for of in lists], dtype=object)


def read_years(atlas: AtlasStore, rows: np.ndarray | None = None) -> Years:
    """Find the years that an atlas covers, or some of its papers (row numbers or a mask)."""
    primary = primary_categories(atlas.read_papers(["categories"])["categories"])
    years, months = paper_years(atlas), paper_months(atlas)
    some = slice(None) if rows is None else rows
    return count_years(years[some], primary[some], months[some])


def check_period(since: int | None, until: int | None) -> None:
    """Raise InputError if a period ends before it begins."""
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since} to {until} ends before it begins; swap the years.")


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


def tabulate_years(
    names: pd.DataFrame, counts: NDArray[np.int64], period: Years, *, total: str
) -> pd.DataFrame:
    """Return a table with one row per group and year; shares are NaN in years without coverage."""
    n_groups, n_years = counts.shape
    low, high = share_interval(counts, period.counts)
    shares = {"share": ratio(counts, period.counts), "share_low": low, "share_high": high}
    return (
        names.loc[names.index.repeat(n_years)]
        .reset_index(drop=True)
        .assign(
            year=np.tile(period.years, n_groups),
            papers=counts.ravel(),
            **{total: np.tile(period.counts, n_groups)},
            **{name: np.where(period.covered, of, np.nan).ravel() for name, of in shares.items()},
            covered=np.tile(period.covered, n_groups),
        )
    )
