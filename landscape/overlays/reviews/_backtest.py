"""Whether regions ranked high as gaps in the past got reviews in the following years."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.overlays._periods import UNKNOWN_YEAR, count_years, paper_years
from landscape.overlays.reviews._gaps import (
    add_labels,
    describe_corpus,
    rank_gaps,
    review_mask,
    warn_of_few_reviews,
)
from landscape.overlays.reviews._recognition import read_signs
from landscape.overlays.thesaurus._extents import area_under_curve
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_METHODS = ("gaps", "size", "age of the last review")
_FEWEST_REGIONS = 5


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
    """Rank gaps with data up to a year, and count the reviews that came in the years after.

    Parameters
    ----------
    atlas : Atlas
    year : int
        Last year that the ranking sees.
    horizon : int, default 5
        Years after it in which reviews are counted.
    top : int, default 10
        Regions at the head of each ranking that are compared.
    weights : mapping of str to float, optional
        As for `review_gaps`; citations are left out unless weighted here, as counts of today would
        give the past knowledge of its future.
    n_resamples : int, default 1000
        Random rankings that say what chance reaches, and resamples of regions for intervals.
    seed : int, default 0

    Returns
    -------
    Analysis
        ``table``: by method (``gaps``, ``size``, ``age of the last review``, ``chance``) the
        ``reviews`` that the first ``top`` regions got, the ``share`` of all later reviews, the
        ``lift`` over the mean region, ``auc`` (chance that a region that got a review was ranked
        above one that did not), ``rank_correlation`` with the number of reviews (Spearman), 95%
        intervals of lift and AUC, and ``p_chance`` (random rankings that reach that share).
        ``tables["regions"]``: scores and later reviews by region; ``tables["differences"]``: gaps
        against size, with interval.

    Raises
    ------
    InputError
        If the corpus has no papers up to the year, or none after it, or too few regions.
    """
    year_of = paper_years(atlas)
    is_review = review_mask(atlas)
    _check(year_of, year, horizon)
    later = _later(year_of, year, horizon)
    earlier = (year_of <= year) & (year_of != UNKNOWN_YEAR)
    chosen = {"citations": 0.0} | dict(weights or {})
    seen = is_review & earlier
    signs = read_signs(atlas, seen, until=year, citations=chosen["citations"] > 0, seed=seed)
    ranked = rank_gaps(signs, weights=chosen, n_resamples=1, seed=seed)
    topic = atlas.map["topic_id"].to_numpy()
    regions = _outcomes(ranked, topic, earlier, later & is_review)
    if len(regions) < _FEWEST_REGIONS:
        raise InputError(
            f"Only {len(regions)} regions have papers up to {year}; a backtest takes at least "
            f"{_FEWEST_REGIONS}: give a later year."
        )
    table, differences = compare_rankings(regions, top=top, n_resamples=n_resamples, seed=seed)
    came = int(regions["later_reviews"].sum())
    return Analysis(
        kind="review_backtest",
        table=table,
        caption=(
            f"Regions of {describe_corpus(atlas)} ranked with papers up to {year}, against the "
            f"reviews of {year + 1} to {year + horizon}: what the first {min(top, len(regions))} "
            f"of {len(regions)} regions got."
        ),
        denominators={
            f"papers up to {year}": int(earlier.sum()),
            f"reviews up to {year}": int(seen.sum()),
            "reviews after": came,
            "regions": len(regions),
        },
        bounds=atlas.coverage,
        warnings=(
            "The regions were drawn on a map of all years, later ones included.",
            *warn_of_few_reviews(came),
            *_uncovered(year_of, year, horizon),
            *(
                ("Citations are those of today, not of that year.",)
                if chosen["citations"] > 0
                else ()
            ),
        ),
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
    """Measure how well scores predict the reviews that regions got."""
    import pandas as pd

    random = np.random.default_rng(seed)
    outcome = regions["later_reviews"].to_numpy(np.float64)
    top = min(top, len(outcome))
    ranks = {name: regions[name].to_numpy(np.float64) for name in _METHODS}
    shuffled = [random.permutation(len(outcome)).astype(float) for _ in range(n_resamples)]
    by_chance = np.array([_share_at(one, outcome, top) for one in shuffled])
    picks = random.integers(0, len(outcome), size=(n_resamples, len(outcome)))
    drawn = {
        name: np.array([_measures(score[pick], outcome[pick], top) for pick in picks])
        for name, score in ranks.items()
    }
    rows = []
    for name, score in ranks.items():
        share = _share_at(score, outcome, top)
        lift, auc = _measures(score, outcome, top)
        (lift_low, auc_low), (lift_high, auc_high) = _interval(drawn[name])
        p_chance = (1 + int((by_chance >= share - 1e-12).sum())) / (1 + n_resamples)
        rows.append((name, share * outcome.sum(), share, lift, lift_low, lift_high, auc, auc_low,
                     auc_high, _spearman(score, outcome), p_chance))  # fmt: skip
    share = top / len(outcome)
    rows.append(("chance", share * outcome.sum(), share, 1.0, np.nan, np.nan, 0.5, np.nan, np.nan,
                 0.0, np.nan))  # fmt: skip
    names = ["method", "reviews", "share", "lift", "lift_low", "lift_high", "auc", "auc_low",
             "auc_high", "rank_correlation", "p_chance"]  # fmt: skip
    differences = [
        (other, measure, ours - theirs, *_interval(drawn["gaps"][:, i] - drawn[other][:, i]))
        for other in _METHODS[1:]
        for i, measure in enumerate(("lift", "auc"))
        for ours, theirs in [
            (_measures(ranks["gaps"], outcome, top)[i], _measures(ranks[other], outcome, top)[i])
        ]
    ]
    against = pd.DataFrame(
        differences,
        columns=["against", "measure", "difference", "difference_low", "difference_high"],
    )
    return pd.DataFrame(rows, columns=names), against


def _later(year_of: NDArray[np.int64], year: int, horizon: int) -> NDArray[np.bool_]:
    return (year_of > year) & (year_of <= year + horizon)


def _check(year_of: NDArray[np.int64], year: int, horizon: int) -> None:
    first, last = (int(one) for one in count_years(year_of).years[[0, -1]])
    if horizon < 1:
        raise InputError(f"The horizon is {horizon} years; give one year or more.")
    if not first <= year < last:
        raise InputError(
            f"No backtest with data up to {year}: the papers are of {first} to {last}; give a "
            f"year from {first} to {last - 1}."
        )
    if not _later(year_of, year, horizon).any():
        raise InputError(f"There is no paper of {year + 1} to {year + horizon}; give another year.")


def _outcomes(
    ranked: pd.DataFrame, topic: NDArray[np.int64], seen: NDArray[np.bool_],
    came: NDArray[np.bool_],
) -> pd.DataFrame:  # fmt: skip
    """Scores of each ranking, and the reviews that came, by region."""
    import pandas as pd

    table = ranked[["topic_id", "score", "years_without"]].rename(
        columns={"score": "gaps", "years_without": "age of the last review"}
    )
    topics = table["topic_id"]
    for name, counted in (("size", seen), ("later_reviews", came)):
        numbers = pd.Series(topic[counted]).value_counts()
        table[name] = topics.map(numbers).fillna(0).astype(int)
    return table


def _measures(
    score: NDArray[np.float64], outcome: NDArray[np.float64], top: int
) -> tuple[float, float]:
    """Lift of the first regions, and AUC."""
    return _share_at(score, outcome, top) * len(outcome) / top, _auc(score, outcome > 0)


def _share_at(score: NDArray[np.float64], outcome: NDArray[np.float64], top: int) -> float:
    """Share of the reviews in the top regions; ties get their mean."""
    total = float(outcome.sum())
    if total <= 0:
        return 0.0
    limit = np.sort(score)[::-1][top - 1]
    above, tied = score > limit, score == limit
    places = top - int(above.sum())
    return float((outcome[above].sum() + outcome[tied].mean() * places) / total)


def _auc(score: NDArray[np.float64], hit: NDArray[np.bool_]) -> float:
    """Area under the ROC curve; 0.5 where all regions or none got a review."""
    area, _ = area_under_curve(score, hit)
    return 0.5 if np.isnan(area) else area


def _spearman(score: NDArray[np.float64], outcome: NDArray[np.float64]) -> float:
    from scipy.stats import rankdata

    a, b = rankdata(score), rankdata(outcome)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _interval(values: NDArray[np.float64]) -> tuple[Any, Any]:
    low, high = np.percentile(values, (2.5, 97.5), axis=0)
    return low, high


def _uncovered(year_of: NDArray[np.int64], year: int, horizon: int) -> tuple[str, ...]:
    years = count_years(year_of)
    looked_at = (years.years > year) & (years.years <= year + horizon)
    gaps = years.years[looked_at & ~years.covered].tolist()
    said = [
        f"The corpus hardly covers {', '.join(map(str, gaps))}; reviews of these years are missing."
    ]
    beyond = year + horizon - int(years.years[-1])
    late = [f"The corpus ends in {years.years[-1]}, {beyond} years before the horizon."]
    return tuple((said if gaps else []) + (late if beyond > 0 else []))
