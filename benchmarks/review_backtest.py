"""Test rankings of regions by the reviews of later years.

Regions are ranked with the papers up to a year, and compared by the number of reviews in the years
after it. The map is that of all papers, and citations are not used, because both know later years.

Run: python -m benchmarks.review_backtest ATLAS [--year 2015] [--horizon 5]
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import landscape as ls
from benchmarks.results import print_table, save
from landscape.mapping.quality import area_under_curve
from landscape.overlays.periods import UNKNOWN_YEAR, paper_years
from landscape.overlays.reviews.gaps import rank_gaps, review_coverage, review_mask
from landscape.overlays.reviews.signs import read_signs, smallest_regions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_METHODS = ("gaps", "need", "relative gap", "size", "age of the last review")
_BOUNDS = (2.5, 97.5)  # percentiles of a 95% interval


def rank_and_count(
    atlas: AtlasStore, year: int, *, horizon: int = 5, seed: int = 0
) -> pd.DataFrame:
    """Return the scores of each region up to a year, and its reviews in the years after it."""
    year_of, is_review = paper_years(atlas), review_mask(atlas)
    later = (year_of > year) & (year_of <= year + horizon)
    earlier = (year_of <= year) & (year_of != UNKNOWN_YEAR)
    seen = is_review & earlier
    signs = read_signs(atlas, seen, until=year, citations=False, seed=seed)
    topic = pd.Series(smallest_regions(atlas))
    known = review_coverage(
        topic.to_numpy()[earlier],
        year_of[earlier],
        seen[earlier],
        atlas.vectors(),
        rows=np.flatnonzero(earlier),
        seed=seed,
    )
    ranked = rank_gaps(signs, known, weights={"citations": 0.0}, n_resamples=1, seed=seed)
    regions = ranked[["topic_id", "gap", "need", "score", "years_without"]].set_axis(
        ["topic_id", "gaps", "need", "relative gap", "age of the last review"], axis=1
    )
    for name, counted in (("size", earlier), ("later_reviews", later & is_review)):
        numbers = regions["topic_id"].map(topic[counted].value_counts())
        regions[name] = numbers.fillna(0).astype(int)
    return regions


def compare_rankings(
    regions: pd.DataFrame, *, top: int = 10, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure how well each score predicts the number of later reviews of each region."""
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


def main() -> None:
    """Compare the rankings, and print lift and AUC with 95% intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("--year", type=int, default=2015)
    parser.add_argument("--horizon", type=int, default=5)
    options = parser.parse_args()
    regions = rank_and_count(ls.open(options.atlas), options.year, horizon=options.horizon)
    table, differences = compare_rankings(regions)
    for title, found in (("Rankings of regions", table), ("Differences", differences)):
        rows = [[f"{one:.3g}" if isinstance(one, float) else str(one) for one in row]
                for row in found.itertuples(index=False)]  # fmt: skip
        print_table(f"{title} up to {options.year}, and later reviews", list(found), rows)
    print(f"\n{save('review_backtest', table.to_dict('list'))}")


if __name__ == "__main__":
    main()
