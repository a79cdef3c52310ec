"""Test rankings of regions by the reviews of later years."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.mapping.quality import area_under_curve
from landscape.overlays.periods import UNKNOWN_YEAR, describe_corpus, paper_years, read_years, warn
from landscape.overlays.reviews.gaps import (
    add_labels,
    rank_gaps,
    review_coverage,
    review_mask,
    warn_of_few_reviews,
)
from landscape.overlays.reviews.recognition import read_signs, smallest_regions
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_METHODS = ("gaps", "need", "relative gap", "size", "age of the last review")
_MIN_REGIONS = 5
_BOUNDS = (2.5, 97.5)  # percentiles of a 95% interval


def backtest_reviews(
    atlas: AtlasStore,
    *,
    year: int,
    horizon: int = 5,
    top: int = 10,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Analysis:
    """Rank gaps with data up to a year, and count the reviews of the following years.

    Parameters
    ----------
    atlas : Atlas
    year : int
        Last year of the papers used by the ranking.
    horizon : int, default 5
        Number of years after `year` in which reviews are counted.
    top : int, default 10
        Number of top regions of each ranking whose reviews are counted.
    weights : mapping of str to float, optional
        Weights of the components; see `review_gaps`. The default weight of citations is 0, because
        present counts include citations after `year`.
    n_resamples : int, default 1000
        Number of random rankings, and of resamples of regions for the intervals.
    seed : int, default 0

    Returns
    -------
    Analysis
        ``table``: one row per method (``gaps``, ``need``, ``relative gap``, ``size``, ``age
        of the last review``, ``chance``). ``reviews`` is the number of later reviews in the top
        regions, ``share`` is their share of all later reviews, and ``lift`` is this share divided
        by the share expected by chance.
        ``auc`` is the probability that a region with a later review ranks above a region without
        one; ``rank_correlation`` is Spearman's correlation with the number of later reviews. Lift
        and AUC have 95% intervals. ``p_chance`` is the share of random rankings that reach at
        least the same share. ``tables["regions"]`` has the scores and the later reviews of each
        region. ``tables["differences"]`` has the differences between ``gaps`` and the other
        methods, with intervals.

    Raises
    ------
    InputError
        If the corpus has no papers up to the year, no papers after it, or too few regions.
    """
    import pandas as pd

    year_of = paper_years(atlas)
    is_review = review_mask(atlas)
    years = read_years(atlas)
    first, last = (int(one) for one in years.years[[0, -1]])
    if horizon < 1:
        raise InputError(f"The horizon is {horizon} years; give one year or more.")
    if not first <= year < last:
        raise InputError(
            f"A backtest with data up to {year} is not possible, because the papers are from "
            f"{first} to {last}; give a year from {first} to {last - 1}."
        )
    later = (year_of > year) & (year_of <= year + horizon)
    if not later.any():
        raise InputError(f"There is no paper of {year + 1} to {year + horizon}; give another year.")
    earlier = (year_of <= year) & (year_of != UNKNOWN_YEAR)
    chosen = {"citations": 0.0} | dict(weights or {})
    seen = is_review & earlier
    signs = read_signs(atlas, seen, until=year, citations=chosen["citations"] > 0, seed=seed)
    topic = pd.Series(smallest_regions(atlas))
    known = review_coverage(
        topic.to_numpy()[earlier],
        year_of[earlier],
        seen[earlier],
        atlas.vectors(),
        rows=np.flatnonzero(earlier),
        seed=seed,
    )
    ranked = rank_gaps(signs, known, weights=chosen, n_resamples=1, seed=seed)
    regions = ranked[["topic_id", "gap", "need", "score", "years_without"]].set_axis(
        ["topic_id", "gaps", "need", "relative gap", "age of the last review"], axis=1
    )
    for name, counted in (("size", earlier), ("later_reviews", later & is_review)):
        numbers = regions["topic_id"].map(topic[counted].value_counts())
        regions[name] = numbers.fillna(0).astype(int)
    if len(regions) < _MIN_REGIONS:
        raise InputError(
            f"Only {len(regions)} regions have papers up to {year}, but a backtest needs at "
            f"least {_MIN_REGIONS}; give a later year."
        )
    table, differences = compare_rankings(regions, top=top, n_resamples=n_resamples, seed=seed)
    n_later = int(regions["later_reviews"].sum())
    gaps = years.years[(years.years > year) & (years.years <= year + horizon) & ~years.covered]
    beyond = year + horizon - last
    warnings = warn(
        "reviews",
        {"missing": len(gaps), "ends": beyond > 0, "today": chosen["citations"] > 0},
        gaps=", ".join(map(str, gaps)),
        last=last,
        beyond=beyond,
    )
    return Analysis(
        kind="review_backtest",
        table=table,
        caption=(
            f"Regions of {describe_corpus(atlas)} ranked with papers up to {year}, compared with "
            f"the reviews of {year + 1} to {year + horizon} in the top {min(top, len(regions))} "
            f"of {len(regions)} regions."
        ),
        denominators={
            f"papers up to {year}": int(earlier.sum()),
            f"reviews up to {year}": int(seen.sum()),
            "reviews after": n_later,
            "regions": len(regions),
        },
        bounds=atlas.coverage,
        warnings=(*warn("reviews", {"later_map": True}), *warn_of_few_reviews(n_later), *warnings),
        tables={
            "regions": add_labels(regions, atlas.topics).sort_values(
                "gaps", ascending=False, ignore_index=True
            ),
            "differences": differences,
        },
    )


def compare_rankings(
    regions: pd.DataFrame, *, top: int = 10, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure how well each score predicts the number of later reviews of each region."""
    import pandas as pd
    from scipy.stats import rankdata

    random = np.random.default_rng(seed)
    outcome = regions["later_reviews"].to_numpy(np.float64)
    n = len(outcome)
    top = min(top, n)
    scores = {name: regions[name].to_numpy(np.float64) for name in _METHODS if name in regions}
    shuffled = [random.permutation(n).astype(float) for _ in range(n_resamples)]
    by_chance = np.array([_share_at(one, outcome, top) for one in shuffled])
    picks = random.integers(0, n, size=(n_resamples, n))
    rankings = {
        name: np.array(_lift_and_auc(score, outcome, top)) for name, score in scores.items()
    }
    drawn = {
        name: np.array([_lift_and_auc(score[pick], outcome[pick], top) for pick in picks])
        for name, score in scores.items()
    }
    rows: list[dict[str, Any]] = []
    for name, score in scores.items():
        share = _share_at(score, outcome, top)
        (lift_low, auc_low), (lift_high, auc_high) = np.percentile(drawn[name], _BOUNDS, axis=0)
        varies = np.ptp(score) and np.ptp(outcome)
        correlation = np.corrcoef(rankdata(score), rankdata(outcome))[0, 1] if varies else 0.0
        rows.append(
            {
                "method": name,
                "reviews": share * outcome.sum(),
                "share": share,
                "lift": rankings[name][0],
                "lift_low": lift_low,
                "lift_high": lift_high,
                "auc": rankings[name][1],
                "auc_low": auc_low,
                "auc_high": auc_high,
                "rank_correlation": float(correlation),
                "p_chance": (1 + int((by_chance >= share - 1e-12).sum())) / (1 + n_resamples),
            }
        )
    rows.append(
        {
            "method": "chance",
            "reviews": top / n * outcome.sum(),
            "share": top / n,
            "lift": 1.0,
            "auc": 0.5,
            "rank_correlation": 0.0,
        }
    )
    differences = []
    for other in list(scores)[1:]:
        low, high = np.percentile(drawn["gaps"] - drawn[other], _BOUNDS, axis=0)
        differences.append(
            pd.DataFrame(
                {
                    "against": other,
                    "measure": ["lift", "auc"],
                    "difference": rankings["gaps"] - rankings[other],
                    "difference_low": low,
                    "difference_high": high,
                }
            )
        )
    return pd.DataFrame(rows), pd.concat(differences, ignore_index=True)


def _lift_and_auc(
    score: NDArray[np.float64], outcome: NDArray[np.float64], top: int
) -> tuple[float, float]:
    """Return the lift and the AUC. The AUC is 0.5 if all or no regions received a review."""
    area, _ = area_under_curve(score, outcome > 0)
    lift = _share_at(score, outcome, top) * len(outcome) / top
    return lift, 0.5 if np.isnan(area) else area


def _share_at(score: NDArray[np.float64], outcome: NDArray[np.float64], top: int) -> float:
    """Return the share of reviews in the top regions; regions with equal scores get the mean."""
    total = float(outcome.sum())
    if total <= 0:
        return 0.0
    limit = np.sort(score)[::-1][top - 1]
    above, tied = score > limit, score == limit
    places = top - int(above.sum())
    return float((outcome[above].sum() + outcome[tied].mean() * places) / total)
