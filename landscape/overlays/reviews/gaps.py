"""Where a review would help most, ranked, with every reason in a column of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.overlays.periods import Years, count_years, paper_years
from landscape.overlays.reviews.coverage import (
    described,
    few_reviews,
    review_coverage,
    review_mask,
    with_labels,
)
from landscape.overlays.reviews.ranking import checked_weights, rank_gaps
from landscape.overlays.reviews.signs import RECENT_YEARS, read_signs
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd

_N_EXEMPLARS = 5
_FEW_PAPERS = 30


def review_gaps(
    atlas: Any,
    *,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
    signs: pd.DataFrame | None = None,
) -> Analysis:
    """Rank the regions of a map by how much a review would help there.

    Parameters
    ----------
    atlas : Atlas
    weights : mapping of str to float, optional
        ``volume, growth, citations, years_without, disagreement``: how much each counts, see
        `rank_gaps`.
    n_resamples : int, default 200
        Bootstrap resamples behind the intervals of score and rank.
    seed : int, default 0
    signs : pandas.DataFrame, optional
        What `read_signs` gave for this atlas and seed, which takes most of the time: other weights
        need no new ones.

    Returns
    -------
    Analysis
        ``table``: regions by rank, with the columns of `rank_gaps` and `review_coverage` and the
        titles of ``exemplars``; ``tables["exemplars"]``: papers that wait for a review, five a
        region; ``tables["weights"]``.

    Raises
    ------
    InputError
        If a weight is of no component, negative or no number.

    Examples
    --------
    >>> import landscape
    >>> gaps = landscape.overlays.review_gaps(atlas, weights={"growth": 0})  # doctest: +SKIP
    """
    import pandas as pd

    chosen = checked_weights(weights)
    is_review = review_mask(atlas)
    year = paper_years(atlas)
    years = count_years(year)
    topic = atlas.map["topic_id"].to_numpy()
    signs = read_signs(atlas, is_review, seed=seed) if signs is None else signs
    with progress("Ranking the regions", total=2, unit="steps") as advance:
        ranked = rank_gaps(signs, weights=chosen, n_resamples=n_resamples, seed=seed)
        advance(1)
        coverage = review_coverage(topic, year, is_review)[
            ["topic_id", "papers", "reviews", "density_ratio", "last_review", "years_since"]
        ]
        table = with_labels(ranked.merge(coverage, on="topic_id"), atlas.topics)
        table = table.sort_values("rank", ignore_index=True)
        exemplars = waiting_exemplars(atlas, signs, table["topic_id"].tolist())
        titles = exemplars.groupby("topic_id")["title"].agg(list)
        table["exemplars"] = [titles.get(topic_id, []) for topic_id in table["topic_id"]]
        advance(1)
    few = table.loc[table["papers"] < _FEW_PAPERS, "label"].tolist()
    return Analysis(
        kind="review_gaps",
        table=table,
        caption=(
            f"Where a review would help most among the {len(table)} regions of {described(atlas)}: "
            "papers newer than every review near them (volume), growth over the last "
            f"{RECENT_YEARS} covered years, their citations, mean years since the latest review "
            "near each paper (years_without), and "
            "disagreement in abstracts, each relative to the mean region; weights "
            + ", ".join(f"{name} {value:g}" for name, value in chosen.items())
            + ". Intervals are 95%, from resampled papers."
        ),
        denominators={
            "papers": len(year),
            "reviews": int(is_review.sum()),
            "papers sampled": len(signs),
            "papers sampled with known citations": int(signs["cited"].notna().sum()),
        },
        bounds=atlas.coverage,
        warnings=(
            *few_reviews(int(is_review.sum())),
            *_few_citations(signs["cited"]),
            *([f"Fewer than {_FEW_PAPERS} papers in {', '.join(few[:5])}."] if few else []),
            *_unseen_reviews(years),
            *years.warnings,
        ),
        tables={
            "exemplars": exemplars,
            "weights": pd.DataFrame({"component": list(chosen), "weight": list(chosen.values())}),
        },
    )


def waiting_exemplars(
    atlas: Any, signs: pd.DataFrame, topics: list[int], *, n: int = _N_EXEMPLARS
) -> pd.DataFrame:
    """The most typical of the papers of each region that wait for a review.

    Returns
    -------
    pandas.DataFrame
        ``topic_id, place, paper_row, paper_id, title, year, cites``, nearest to the centroid of
        the region's waiting papers first.
    """
    import pandas as pd

    vectors = atlas.vectors()
    picked: list[tuple[int, int, int]] = []
    rows_by_topic = signs[signs["waiting"]].groupby("topic_id")["row"]
    waiting = {int(topic): rows.to_numpy() for topic, rows in rows_by_topic}
    for topic in topics:
        rows = np.sort(waiting.get(topic, np.array([], dtype=np.int64)))
        if len(rows):
            own = np.asarray(vectors[rows], dtype=np.float32)
            best = rows[np.argsort(-(own @ own.mean(axis=0)), kind="stable")[:n]]
            picked.extend((topic, place, int(row)) for place, row in enumerate(best, start=1))
    table = pd.DataFrame(picked, columns=["topic_id", "place", "paper_row"])
    rows = table["paper_row"].to_numpy(np.int64)
    shown = atlas.read_papers(["paper_id", "title", "year", "cites"], rows=rows)
    shown = shown.reset_index(drop=True)
    return pd.concat([table, shown], axis=1)


def _unseen_reviews(years: Years) -> tuple[str, ...]:
    if bool(years.covered.all()):
        return ()
    return (
        "Reviews outside the corpus are not seen: a region may have one of the years that the "
        "corpus hardly covers, so years without a review are at most so many.",
    )


def _few_citations(cited: pd.Series[Any]) -> tuple[str, ...]:
    share = float(cited.notna().mean()) if len(cited) else 0.0
    if share >= 0.5:
        return ()
    return (f"Citations are known of {share:.0%} of the papers only; that component says little.",)
