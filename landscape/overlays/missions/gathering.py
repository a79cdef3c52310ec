"""Who used what, when and where on the map: what every measure of impact is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.overlays.periods import UNKNOWN_YEAR, Years, count_years

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.overlays.missions.facilities import Facility


@dataclass(frozen=True)
class Usage:
    """The papers of an atlas, and which of them mention each facility.

    Attributes
    ----------
    facilities : tuple of Facility
    rows : tuple of ndarray of int
        For each facility the rows of the papers that mention it in title or abstract, ascending.
    region : ndarray of int, shape (n_papers,)
        Number of the paper's region, a row of ``regions``; -1 outside every region.
    regions : pandas.DataFrame
        ``topic_id, label, x, y`` of the regions (level 1).
    year : ndarray of int, shape (n_papers,)
        -1 where not known.
    date : ndarray of datetime64[D], shape (n_papers,)
        Not-a-time where not known.
    cites : ndarray of float, shape (n_papers,)
        Citations; NaN where not known.
    years : Years
        Which years the corpus covers.
    """

    facilities: tuple[Facility, ...]
    rows: tuple[NDArray[np.int64], ...]
    region: NDArray[np.int64]
    regions: pd.DataFrame
    year: NDArray[np.int64]
    date: NDArray[np.datetime64]
    cites: NDArray[np.float64]
    years: Years

    @property
    def n_papers(self) -> int:
        """Papers of the corpus."""
        return len(self.region)

    @cached_property
    def covered(self) -> NDArray[np.bool_]:
        """Which papers are of a year that the corpus covers, shape (n_papers,)."""
        covered = np.isin(self.year, self.years.years[self.years.covered])
        return covered & (self.year != UNKNOWN_YEAR)

    def uses(self, index: int) -> NDArray[np.bool_]:
        """Which papers mention a facility, shape (n_papers,)."""
        mask = np.zeros(self.n_papers, dtype=bool)
        mask[self.rows[index]] = True
        return mask


def gather(atlas: Any, facilities: Sequence[str] | None = None) -> Usage:
    """Read from an atlas which papers mention which facility.

    Parameters
    ----------
    atlas : Atlas
    facilities : sequence of str, optional
        Any names of facilities; all that the corpus mentions when not given.

    Returns
    -------
    Usage
        The facilities in the order given, or those with most papers first.

    Raises
    ------
    InputError
        If a facility is unknown, or the corpus mentions none.

    Examples
    --------
    >>> gather(atlas, ["ALMA", "MUSE"]).n_papers  # doctest: +SKIP
    43020
    """
    import pandas as pd

    pairs = atlas.read_layer("missions", ["facility"]).drop_duplicates()
    chosen = _chosen(pairs["facility"], facilities)
    regions = atlas.topics.loc[atlas.topics["level"] == 1, ["topic_id", "label", "x", "y"]]
    regions = regions.reset_index(drop=True)
    papers = atlas.read_papers(["date", "year", "cites"])
    year = pd.to_numeric(papers["year"]).fillna(UNKNOWN_YEAR).to_numpy(np.int64)
    by_name = pairs.groupby("facility", observed=True)["paper_row"]
    rows = {str(name): np.sort(group.to_numpy(np.int64)) for name, group in by_name}
    return Usage(
        facilities=chosen,
        rows=tuple(rows.get(one.name, np.zeros(0, dtype=np.int64)) for one in chosen),
        region=pd.Index(regions["topic_id"])
        .get_indexer(atlas.map["topic_id"])
        .astype(np.int64),
        regions=regions,
        year=year,
        date=pd.to_datetime(papers["date"]).to_numpy("datetime64[D]"),
        cites=pd.to_numeric(papers["cites"]).to_numpy(np.float64, na_value=np.nan),
        years=count_years(year),
    )  # fmt: skip


def in_period(usage: Usage, since: int | None, until: int | None) -> NDArray[np.bool_]:
    """Find the papers of a period, both years included.

    Parameters
    ----------
    usage : Usage
    since, until : int or None
        Years; None leaves that end open. With both open papers without a year count too.

    Returns
    -------
    ndarray of bool, shape (n_papers,)

    Raises
    ------
    InputError
        If the period ends before it begins, or holds no paper.
    """
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since}-{until} ends before it begins; swap the years.")
    inside = np.ones(usage.n_papers, dtype=bool)
    if since is not None:
        inside &= usage.year >= since
    if until is not None:
        inside &= (usage.year <= until) & (usage.year != UNKNOWN_YEAR)
    if not inside.any():
        first, last = usage.years.years[[0, -1]]
        raise InputError(
            f"The corpus has no paper of {said_period(since, until)}; it holds {first} to {last}."
        )
    return inside


def said_period(since: int | None, until: int | None) -> str:
    """Say a period in words.

    Examples
    --------
    >>> said_period(2014, None), said_period(2005, 2009), said_period(None, None)
    ('2014 and later', '2005 to 2009', 'all years')
    """
    if since is None and until is None:
        return "all years"
    if until is None:
        return f"{since} and later"
    return f"{until} and earlier" if since is None else f"{since} to {until}"


def _chosen(mentioned: pd.Series, names: Sequence[str] | None) -> tuple[Facility, ...]:
    from landscape.overlays.missions.facilities import find_facility, load_facilities

    if names is not None:
        given = [names] if isinstance(names, str) else list(names)
        if not given:
            raise InputError("No facility is given; name at least one, for example ALMA.")
        return tuple({one.name: one for one in map(find_facility, given)}.values())
    known = load_facilities()
    counts = mentioned.value_counts()
    found = sorted((-int(n), str(name)) for name, n in counts.items() if n and name in known)
    if not found:
        raise InputError("No paper of this corpus mentions a facility; there is no impact to show.")
    return tuple(known[name] for _, name in found)
