"""What tells of single papers that a review is missed: the material of ranked gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.overlays.periods import UNKNOWN_YEAR, count_years, paper_years
from landscape.overlays.reviews.language import speaks_of_contrast, stances
from landscape.overlays.reviews.surroundings import near_reviews

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

RECENT_YEARS = 5
_MOST_SAMPLED = 6000
_FEWEST_OF_A_REGION = 60
_LONGEST = 25.0  # years without a review beyond which it makes no difference


def read_signs(
    atlas: Any,
    is_review: NDArray[np.bool_],
    *,
    until: int | None = None,
    citations: bool = True,
    most: int = _MOST_SAMPLED,
    seed: int = 0,
) -> pd.DataFrame:
    """Read from single papers whether a review is missed around them.

    Every paper of a region in a corpus of at most ``most``; else a random sample of each region.
    Nearness is in the full dimension of the embedding.

    Parameters
    ----------
    atlas : Atlas
    is_review : ndarray of bool, shape (n_papers,)
    until : int, optional
        Look at papers up to this year only.
    citations : bool, default True
        Whether to use citation counts.
    most : int, default 6000
        Papers sampled, about; each region has at least 60 of them or all it has.
    seed : int, default 0

    Returns
    -------
    pandas.DataFrame
        Per sampled paper that is no review: ``row, topic_id, stands_for`` (papers of its region
        that it stands for), ``waiting`` (newer than every review near it), ``years_without``
        (years since the latest review near it, or since its region's literature began; at most
        25), ``recent`` (of the last five covered years), ``cited`` (citations relative to the mean
        of its year; NaN where unknown), ``contrast``, ``stance``.
    """
    import pandas as pd

    with progress("Looking for reviews near the papers", total=3, unit="steps") as advance:
        year = paper_years(atlas)
        cites = atlas.read_papers(["cites"])["cites"].to_numpy(np.float64, na_value=np.nan)
        topic = atlas.map["topic_id"].to_numpy(np.int64)
        inside = year != UNKNOWN_YEAR
        if until is not None:
            inside &= year <= until
        recent = recent_years(year[inside])
        now = int(year[inside].max())
        random = np.random.default_rng(seed)
        rows, stands_for = sampled_rows(topic, inside & ~is_review & (topic >= 0), most, random)
        advance(1)
        latest = _latest_reviews(atlas.vectors(), year, is_review, inside, rows, seed)
        advance(1)
        began = _beginnings(topic[inside], year[inside])
        without = now - np.where(np.isnan(latest), began.reindex(topic[rows]).to_numpy(), latest)
        cited = cited_relatively(cites, year)
        abstracts = atlas.read_papers(["abstract"], rows=rows)["abstract"].fillna("").tolist()
        advance(1)
    return pd.DataFrame(
        {
            "row": rows,
            "topic_id": topic[rows],
            "year": year[rows],
            "stands_for": stands_for,
            "waiting": np.isnan(latest) | (year[rows] > latest),
            "years_without": np.clip(without, 0.0, _LONGEST),
            "recent": np.isin(year[rows], recent),
            "cited": cited[rows] if citations else np.nan,
            "contrast": speaks_of_contrast(abstracts),
            "stance": stances(abstracts),
        }
    )


def recent_years(year: NDArray[np.int64], n: int = RECENT_YEARS) -> NDArray[np.int64]:
    """The last ``n`` years that a corpus covers.

    Examples
    --------
    >>> recent_years(np.repeat([2019, 2020, 2021, 2022], [90, 100, 1, 95]), 2).tolist()
    [2020, 2022]
    """
    years = count_years(year)
    return years.years[years.covered][-n:]


def cited_relatively(cites: NDArray[np.float64], year: NDArray[np.int64]) -> NDArray[np.float64]:
    """Citations relative to the mean of the papers of the same year.

    Examples
    --------
    >>> cited_relatively(np.array([1.0, 3.0, np.nan]), np.array([2020, 2020, 2020])).tolist()
    [0.5, 1.5, nan]
    """
    known = ~np.isnan(cites)
    place = year - (year.min() if len(year) else 0)
    total = np.bincount(place[known], weights=cites[known], minlength=place.max() + 1)
    number = np.bincount(place[known], minlength=place.max() + 1)
    mean = total / np.maximum(number, 1)
    relative: NDArray[np.float64] = cites / np.where(mean > 0, mean, 1.0)[place]
    return relative


def sampled_rows(
    topic: NDArray[np.int64], wanted: NDArray[np.bool_], most: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw papers of each region, and say how many each stands for.

    Examples
    --------
    >>> topic = np.repeat([0, 1], [900, 100])
    >>> rows, weight = sampled_rows(topic, topic >= 0, 200, np.random.default_rng(0))
    >>> len(rows), weight.sum().round().item()
    (200, 1000.0)
    """
    candidates = np.flatnonzero(wanted)
    mixed = candidates[random.permutation(len(candidates))]
    order = mixed[np.argsort(topic[mixed], kind="stable")]
    topics, start, size = np.unique(topic[order], return_index=True, return_counts=True)
    even = most // max(len(topics), 1)
    taken = size if size.sum() <= most else np.minimum(size, max(_FEWEST_OF_A_REGION, even))
    place = np.arange(len(order)) - np.repeat(start, size)
    chosen = place < np.repeat(taken, size)
    weights = np.repeat(size / np.maximum(taken, 1), size)[chosen]
    return order[chosen], weights


def _latest_reviews(
    vectors: NDArray[np.float32], year: NDArray[np.int64], is_review: NDArray[np.bool_],
    inside: NDArray[np.bool_], rows: NDArray[np.int64], seed: int,
) -> NDArray[np.float64]:  # fmt: skip
    """Year of the latest review near each paper, among the papers looked at."""
    if inside.all():
        return near_reviews(vectors, year, is_review, rows, seed=seed).latest
    kept = np.flatnonzero(inside)
    place = np.cumsum(inside) - 1
    found = near_reviews(vectors[kept], year[kept], is_review[kept], place[rows], seed=seed)
    return found.latest


def _beginnings(topic: NDArray[np.int64], year: NDArray[np.int64]) -> pd.Series[Any]:
    """When the literature of each region began: the year of its first tenth of papers."""
    import pandas as pd

    began: pd.Series[Any] = pd.Series(year).groupby(topic).quantile(0.1)
    return began
