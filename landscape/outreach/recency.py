"""Where a literature is new: the share of recent papers on the map, sure of itself or silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.outreach.elevation import Ground, blurred

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Grid = NDArray[np.float32]
    Floats = NDArray[np.float64]

_WIDE = 2.0  # kernel of the recency beside the narrowest kernel of the heights
_PRIOR = 25.0  # papers: with fewer, a place is held to be as recent as the whole
_STRAY = 0.002  # share of the papers dated later than this is a slip of the pen
_TELLING = 0.02  # a share of recent papers this near to none or all says nothing of places


@dataclass(frozen=True)
class Dates:
    """What the years of a corpus tell.

    Attributes
    ----------
    years : ndarray of float64, shape (n_papers,)
        NaN where unknown.
    span : (int, int) or None
        First and last year; None without any.
    recent : (int, int) or None
        The years that count as recent; None when they tell one place from another nowhere.
    share : float
        Recent papers among the dated ones; NaN without recent years.
    """

    years: Floats
    span: tuple[int, int] | None
    recent: tuple[int, int] | None
    share: float

    @property
    def middle(self) -> int | None:
        """Latest year from which on at least half of the dated papers are; None without any."""
        known = np.sort(self.years[np.isfinite(self.years)])
        return int(known[len(known) // 2]) if len(known) else None

    @property
    def n_undated(self) -> int:
        """Papers without a year."""
        return int(np.isnan(self.years).sum())


def read_dates(years: ArrayLike, *, recent_years: int) -> Dates:
    """Choose the recent years: the last that the corpus covers, whatever the calendar says.

    A corpus that ends in 1999 has its newest papers then: what came later it does not cover, and
    nothing is made old by it. Nor are a few papers with a slip in the year let decide where it
    ends. A corpus without older papers, or without newer ones, cannot tell new from old.

    Parameters
    ----------
    years : array_like of float, shape (n_papers,)
        Year of each paper, NaN where unknown.
    recent_years : int
        How many years count as recent.

    Returns
    -------
    Dates

    Examples
    --------
    >>> dates = read_dates([1990, 1991, 1995, 1998, 1999, float("nan")], recent_years=5)
    >>> dates.recent, dates.share, dates.middle, dates.n_undated
    ((1995, 1999), 0.6, 1995, 1)
    >>> read_dates([2024, 2025, 2025], recent_years=5).recent is None
    True
    """
    year = np.asarray(years, dtype=np.float64)
    known = np.sort(year[np.isfinite(year)])
    if not len(known):
        return Dates(year, None, None, float("nan"))
    span = (int(known[0]), int(known[-1]))
    stray = int(_STRAY * len(known))
    last = int(known[len(known) - 1 - stray])
    recent = (last - recent_years + 1, last)
    share = float(np.mean(known >= recent[0]))
    if not _TELLING < share < 1 - _TELLING or len(known) < _PRIOR / 5:
        return Dates(year, span, None, float("nan"))
    return Dates(year, span, recent, share)


def map_recency(ground: Ground, x: Floats, y: Floats, dates: Dates) -> Grid:
    """Smooth the share of recent papers over the map.

    Each place is held to be as recent as the whole until its own papers say otherwise: the share
    is :math:`(r + k s) / (d + k)` with `r` recent among `d` dated papers within the kernel,
    :math:`s` the share of the whole and :math:`k` = 25 papers (the mean of a beta-binomial).

    Parameters
    ----------
    ground : Ground
    x, y : ndarray of float, shape (n_papers,)
        Map coordinates.
    dates : Dates

    Returns
    -------
    ndarray of float32, shape of the ground
        0 to 1; NaN everywhere when the dates do not tell.
    """
    shape = ground.height.shape
    if dates.recent is None:
        return np.full(shape, np.nan, dtype=np.float32)
    cells, inside = ground.cells_of(x, y)
    dated = inside & np.isfinite(dates.years)
    newer = dated & (dates.years >= dates.recent[0])

    def counted(chosen: Any) -> Grid:
        counts = np.bincount(cells[chosen], minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float32)

    sigma = _WIDE * ground.bandwidth
    within = np.float32(4 * np.pi * sigma**2)  # cells that a Gaussian averages over
    all_dated = blurred(counted(dated), sigma) * within
    recent = blurred(counted(newer), sigma) * within
    share = (recent + _PRIOR * dates.share) / (all_dated + _PRIOR)
    return np.clip(share, 0, 1).astype(np.float32)


def recency_position(recency: Any, *, whole: float) -> Any:
    """Place a share beside that of the whole: 0 is much older, 0.5 as the whole, 1 much newer.

    The scale is that of odds, the same on every map: odds seven times those of the whole, or a
    seventh, are the ends.

    Parameters
    ----------
    recency : ndarray of float or float
        Shares of recent papers; NaN is taken for 0.5.
    whole : float
        Share of the whole corpus.

    Returns
    -------
    ndarray of float or float
        0 to 1.

    Examples
    --------
    >>> [round(float(recency_position(share, whole=0.5)), 2) for share in (0.1, 0.5, 0.75)]
    [0.0, 0.5, 0.78]
    """
    if np.isnan(whole):
        return np.full_like(np.asarray(recency, dtype=np.float32), 0.5)
    share = np.clip(recency, 1e-4, 1 - 1e-4)
    odds = np.log(share / (1 - share)) - np.log(whole / (1 - whole))
    return np.clip(0.5 + odds / (2 * np.log(7)), 0, 1)
