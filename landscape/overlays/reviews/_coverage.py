"""The density of reviews against that of papers, region by region."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays._periods import UNKNOWN_YEAR, count_years, paper_years
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_PRIOR = 1.0  # reviews at the average rate that are added to each region
_FEW_REVIEWS = 30


def review_coverage(
    region: NDArray[np.integer], year: NDArray[np.integer], is_review: NDArray[np.bool_]
) -> pd.DataFrame:
    """Count papers and reviews of each region, and compare their densities."""
    import pandas as pd
    from scipy.special import gammaincinv

    topics, place = np.unique(region[region >= 0], return_inverse=True)
    inside = region >= 0
    reviewed, when = is_review[inside], year[inside].astype(np.int64)
    papers = np.bincount(place, minlength=len(topics))
    reviews = np.bincount(place, weights=reviewed, minlength=len(topics)).astype(np.int64)
    rate = float(is_review.mean()) if len(is_review) else 0.0
    expected = papers * rate
    last = np.full(len(topics), -1)
    np.maximum.at(last, place[reviewed], when[reviewed])
    since = np.bincount(place, weights=when > last[place], minlength=len(topics)).astype(np.int64)
    low, high = (gammaincinv(reviews + _PRIOR, q) / (expected + _PRIOR) for q in (0.025, 0.975))
    known = pd.Series(last).astype("Int64").mask(last < 0)
    return pd.DataFrame(
        {
            "topic_id": topics,
            "papers": papers,
            "reviews": reviews,
            "share": reviews / np.maximum(papers, 1),
            "expected": expected,
            "density_ratio": (reviews + _PRIOR) / (expected + _PRIOR),
            "density_ratio_low": low,
            "density_ratio_high": high,
            "last_review": known,
            "years_since": (int(year.max()) if len(year) else 0) - known,
            "papers_since": since,
        }
    )


def reviews(atlas: AtlasStore) -> Analysis:
    """Compare the density of reviews with that of papers, over the regions of a map.

    Parameters
    ----------
    atlas : Atlas

    Returns
    -------
    Analysis
        ``table``: the columns of `review_coverage` with ``label, x, y``, the least reviewed first.
        ``tables["reviews"]``: the reviews and where they are; ``tables["years"]``: papers and
        reviews by year, and whether the corpus covers it.

    Examples
    --------
    >>> import landscape
    >>> found = landscape.overlays.reviews(atlas)          # doctest: +SKIP
    """
    import pandas as pd

    year = paper_years(atlas)
    is_review = review_mask(atlas)
    place = atlas.map
    table = review_coverage(place["topic_id"].to_numpy(), year, is_review)
    table = add_labels(table, atlas.topics).sort_values(
        ["density_ratio", "papers"], ascending=[True, False], ignore_index=True
    )
    found = atlas.reviews.sort_values("paper_row", ignore_index=True)
    rows = found["paper_row"].to_numpy(np.int64)
    listed = place.iloc[rows].reset_index(drop=True)
    listed = listed.assign(year=year[rows], score=found["score"], evidence=found["evidence"])
    years = count_years(year)
    counted = np.bincount(
        year[is_review & (year != UNKNOWN_YEAR)] - years.years[0], minlength=len(years.years)
    )
    by_year = pd.DataFrame(
        {
            "year": years.years, "papers": years.counts, "reviews": counted,
            "covered": years.covered,
        }
    )  # fmt: skip
    return Analysis(
        kind="reviews",
        table=table,
        caption=(
            f"Reviews and papers in the {len(table)} regions of {describe_corpus(atlas)}; a "
            "density ratio below 1 is fewer reviews than the papers of the region would have at "
            "the rate of the whole corpus."
        ),
        denominators={
            "papers": len(year),
            "reviews": int(is_review.sum()),
            "papers in regions": int((place["topic_id"] >= 0).sum()),
        },
        bounds=atlas.coverage,
        warnings=(*warn_of_few_reviews(int(is_review.sum())), *years.warnings),
        tables={"reviews": listed, "years": by_year},
    )


def review_mask(atlas: AtlasStore) -> NDArray[np.bool_]:
    """Whether each paper of an atlas is a recognised review."""
    mask = np.zeros(len(atlas.map), dtype=np.bool_)
    mask[atlas.read_layer("reviews", [])["paper_row"].to_numpy(np.int64)] = True
    return mask


def add_labels(table: pd.DataFrame, topics: pd.DataFrame) -> pd.DataFrame:
    """Add ``label, x, y`` of regions behind their ``topic_id``."""
    places = topics.loc[topics["level"] == 1, ["topic_id", "label", "x", "y"]]
    joined = table.merge(places, on="topic_id", how="inner")
    others = [name for name in joined.columns if name not in places.columns]
    return joined[[*places.columns, *others]]


def describe_corpus(atlas: AtlasStore) -> str:
    """The corpus and its dates, for captions."""
    bounds = atlas.coverage
    return f"{bounds['title']} ({bounds['first_date']} to {bounds['last_date']})"


def warn_of_few_reviews(n_reviews: int) -> tuple[str, ...]:
    """Warn where the corpus holds too few reviews to speak of their absence."""
    if n_reviews >= _FEW_REVIEWS:
        return ()
    held = "no recognised review" if n_reviews == 0 else f"only {n_reviews} recognised reviews"
    return (f"The corpus holds {held}: a region without reviews means little.",)
