"""Measure the density of reviews by region, and rank regions that need a review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape._wording import did_you_mean, no_verdict
from landscape.errors import InputError
from landscape.overlays.periods import (
    UNKNOWN_YEAR,
    count_by_year,
    describe_corpus,
    paper_months,
    paper_years,
    read_years,
    warn,
)
from landscape.overlays.reviews.signs import (
    RECENT_YEARS,
    divide_reviews,
    read_signs,
    smallest_regions,
)
from landscape.statistics import ENDS, poisson_interval
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

_FEW_REVIEWS = 30  # warn if the corpus has fewer reviews than this
_LACK = "their lack of reviews is"
_DIFFER = "the difference of their reviews from the expected number is"
_COUNTED = "A review counts for the regions of its nearest papers."
_SHARE_OF_LAST = 0.5  # minimum share of the papers near a review for the year of the last review
_NEWER = 0.2  # minimum number of papers since the last review, in papers of the corpus per review
_PRIOR_STRENGTH = 2.0, 20.0  # limits of the shape of the gamma prior of reviews to expected


def review_coverage(
    region: NDArray[np.integer],
    year: NDArray[np.integer],
    is_review: NDArray[np.bool_],
    vectors: NDArray[np.float32] | None = None,
    *,
    date: NDArray[np.floating] | None = None,
    rows: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Count the papers and the reviews of each region, and the years since the last review.

    The subject of a review is often wider than a region, or the review lies in the region
    beside it. With `vectors`, a review therefore counts for the regions of its nearest papers,
    in proportion to their number (``reviews_near``). The last review is the latest in the region,
    or the latest that has half of these papers in it. The expected number of reviews depends on
    the years of the papers. The ratio of reviews to expected has a gamma prior, so it is close to
    1 for small regions (Clayton & Kaldor 1987, Biometrics 43, 671). Years without a review count
    from the last review to the end of the corpus; if there is none, from the year by which a tenth
    of the papers was published. Papers since the last review are counted by `date`, in years.
    """
    import pandas as pd

    inside = region >= 0
    topics, place = np.unique(region[inside], return_inverse=True)
    n = len(topics)
    when = year[inside].astype(np.int64)
    papers = np.bincount(place, minlength=n)
    own = np.bincount(place, weights=is_review[inside], minlength=n).astype(np.int64)
    shares = divide_reviews(region, is_review, vectors, rows=rows, seed=seed).tocoo()
    found = np.asarray(shares.sum(axis=0)).ravel()
    expected = np.bincount(place, weights=chance_of_review(year, is_review)[inside], minlength=n)
    exact = (year if date is None else date).astype(np.float64)
    latest = np.full(n, float(UNKNOWN_YEAR))
    enough = shares.data >= _SHARE_OF_LAST
    written = exact[np.flatnonzero(is_review)[shares.row[enough]]]
    np.maximum.at(latest, shares.col[enough], written)
    in_region = is_review[inside]
    np.maximum.at(latest, place[in_region], exact[inside][in_region])
    last = np.floor(latest).astype(np.int64)
    dated = pd.Series(when).mask(when == UNKNOWN_YEAR)
    first = dated.groupby(place).quantile(0.1).to_numpy()
    since = np.where(last == UNKNOWN_YEAR, np.floor(first), last)
    end = int(year.max()) if len(year) else 0
    # The scatter of whole reviews beyond chance.
    scatter = float(((own - expected) ** 2 - expected).sum())
    prior = np.clip(float((expected**2).sum()) / max(scatter, 1e-9), *_PRIOR_STRENGTH)
    # A sum of shares of reviews scatters less than a number of reviews (compound Poisson).
    dispersion = float((shares.data**2).sum() / max(shares.data.sum(), 1e-9)) or 1.0
    counted, usual = found / dispersion + prior, expected / dispersion + prior
    low, high = (bound / usual for bound in poisson_interval(counted, counted))
    is_newer = exact[inside] > latest[place]
    newer = np.bincount(place, weights=is_newer, minlength=n).astype(np.int64)
    return pd.DataFrame(
        {
            "topic_id": topics,
            "papers": papers,
            "reviews": own,
            "reviews_near": found,
            "share": own / np.maximum(papers, 1),
            "expected": expected,
            "density_ratio": counted / usual,
            "density_ratio_low": low,
            "density_ratio_high": high,
            "last_review": pd.Series(last).astype("Int64").mask(last == UNKNOWN_YEAR),
            "years_without": np.nan_to_num(end - since),
            "papers_since": newer,
        }
    )


def _exact_dates(atlas: AtlasStore) -> NDArray[np.float64]:
    """Return the dates of papers in years, to a month if it is known."""
    return paper_years(atlas) + np.maximum(paper_months(atlas) - 1, 0) / 12


def chance_of_review(
    year: NDArray[np.integer], is_review: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the share of reviews among the papers of the same year, for each paper."""
    _, place = np.unique(year, return_inverse=True)
    found = np.bincount(place, weights=is_review)
    papers_of_one = len(year) / max(int(is_review.sum()), 1)
    # One review at the mean rate is added to each year, because many years have few papers.
    chance: NDArray[np.float64] = ((found + 1) / (np.bincount(place) + papers_of_one))[place]
    return chance * (int(is_review.sum()) / max(float(chance.sum()), 1e-12))


def define_reviews(year: NDArray[np.integer]) -> str:
    """Return the definition of years without a review (see `review_coverage`), for captions."""
    end = int(year.max()) if len(year) else 0
    return (
        "Years without a review count from the last review in the region, or whose nearest papers "
        f"are mostly in it, to {end}, the last year of the corpus (from the first papers if there "
        "is none)."
    )


def reviews(atlas: AtlasStore) -> Analysis:
    """Compare the numbers of reviews and of papers in each region of a map.

    Parameters
    ----------
    atlas : Atlas

    Returns
    -------
    Analysis
        ``table``: ``topic_id, label, x, y, papers, reviews, reviews_near, share, expected,
        density_ratio, density_ratio_low, density_ratio_high, last_review, years_without,
        papers_since``, sorted by increasing density ratio. ``reviews`` are in the region;
        ``reviews_near`` counts each review for the regions of its nearest papers, and is compared
        with ``expected``. ``tables["reviews"]`` has the reviews and their positions.
        ``tables["years"]`` has the papers and reviews of each year, and whether the corpus covers
        the year.

    Examples
    --------
    >>> import landscape
    >>> found = landscape.overlays.reviews(atlas)          # doctest: +SKIP
    """
    import pandas as pd

    year = paper_years(atlas)
    is_review = review_mask(atlas)
    place = atlas.map
    table = review_coverage(
        place["topic_id"].to_numpy(), year, is_review, atlas.vectors(), date=_exact_dates(atlas)
    )
    table = add_labels(table, atlas.topics).sort_values(
        ["density_ratio", "papers"], ascending=[True, False], ignore_index=True
    )
    n_usual = int(((table["density_ratio_low"] <= 1) & (table["density_ratio_high"] >= 1)).sum())
    found = atlas.reviews.sort_values("paper_row", ignore_index=True)
    rows = found["paper_row"].to_numpy(np.int64)
    listed = place.iloc[rows].reset_index(drop=True)
    listed = listed.assign(year=year[rows], score=found["score"], evidence=found["evidence"])
    years = read_years(atlas)
    (counted,) = count_by_year(np.zeros(len(rows)), year[rows], ids=[0], calendar=years.years)
    by_year = pd.DataFrame(
        {"year": years.years, "papers": years.counts, "reviews": counted, "covered": years.covered}
    )
    return Analysis(
        kind="reviews",
        table=table,
        caption=(
            f"Reviews and papers in the {len(table)} regions of {describe_corpus(atlas)}; a "
            "density ratio below 1 means that a region has fewer reviews than expected from its "
            f"papers and their years.{no_verdict(n_usual, len(table), _DIFFER)} "
            f"{_COUNTED} {define_reviews(year)}"
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
    """Return a boolean mask of the papers that are recognised as reviews."""
    mask = np.zeros(len(atlas.map), dtype=np.bool_)
    mask[atlas.read_layer("reviews", [])["paper_row"].to_numpy(np.int64)] = True
    return mask


def add_labels(table: pd.DataFrame, topics: pd.DataFrame) -> pd.DataFrame:
    """Insert the columns ``label, x, y`` of the regions after ``topic_id``."""
    places = topics[["topic_id", "label", "x", "y"]]
    joined = table.merge(places, on="topic_id", how="inner")
    others = [name for name in joined.columns if name not in places.columns]
    return joined[[*places.columns, *others]]


def warn_of_few_reviews(n_reviews: int) -> tuple[str, ...]:
    """Return a warning if the corpus has too few reviews to interpret regions without reviews."""
    return warn(
        "reviews", {"none": not n_reviews, "few": 0 < n_reviews < _FEW_REVIEWS}, n=n_reviews
    )


_N_EXEMPLARS = 5  # number of typical papers per region
_FEW_PAPERS = 30  # warn if a region has fewer papers than this


def review_gaps(
    atlas: AtlasStore,
    *,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
    signs: pd.DataFrame | None = None,
) -> Analysis:
    """Rank the regions of a map by their need for a review.

    Regions with subregions of 100 papers or more are replaced by their subregions, because reviews
    have narrow subjects. The number of papers that wait for a review predicts the reviews of the
    next two years best, and readers look for what is missing relative to the size of a region
    (``benchmarks/review_backtest.py`` compares both). The ranking uses a mean of the two.

    Parameters
    ----------
    atlas : Atlas
    weights : mapping of str to float, optional
        Exponents of the components of the score, which are ``volume, growth, citations,
        years_without, disagreement``. Other components have default weights.
    n_resamples : int, default 200
        Number of bootstrap resamples for the intervals of score and rank.
    seed : int, default 0
    signs : pandas.DataFrame, optional
        Result of `read_signs` for this atlas and seed. Use it to compare several weights without
        repeating the slow step.

    Returns
    -------
    Analysis
        ``table`` has the regions sorted by ``gap``, but gaps with a review in the last year come
        after the others. The gap is the geometric mean of ``need``, which
        increases with the number of papers that are newer than the reviews near them, and
        ``score``, which has their share instead, times the ratio of expected to known reviews (the
        gap relative to the size of the region). The mean is divided by ``density_ratio_high``, so
        regions that certainly lack reviews come first. Only regions with less than 80% of the
        expected reviews, both in the region and near it, and with papers newer than their last
        review, have a ``rank``. ``reviews_near`` counts each review for the regions of its
        nearest papers; ``expected`` is the number expected from
        the papers and their years. Further columns are the components, those of `reviews`, and
        titles of ``exemplars``.
        ``tables["exemplars"]`` has up to five papers per region that are newer than the reviews
        near them. ``tables["weights"]`` has the weights.

    Raises
    ------
    InputError
        If a weight has an unknown name, is negative, or is not a number.

    Examples
    --------
    >>> import landscape
    >>> gaps = landscape.overlays.review_gaps(atlas, weights={"growth": 0})  # doctest: +SKIP
    """
    import pandas as pd

    chosen = check_weights(weights)
    is_review = review_mask(atlas)
    year = paper_years(atlas)
    years = read_years(atlas)
    topic = smallest_regions(atlas)
    signs = read_signs(atlas, is_review, seed=seed) if signs is None else signs
    with progress("Ranking the regions", total=2, unit="steps") as advance:
        coverage = review_coverage(
            topic, year, is_review, atlas.vectors(), date=_exact_dates(atlas), seed=seed
        )
        ranked = rank_gaps(signs, coverage, weights=chosen, n_resamples=n_resamples, seed=seed)
        advance(1)
        kept = ["topic_id", *(name for name in coverage.columns if name not in ranked.columns)]
        table = add_labels(ranked.merge(coverage[kept], on="topic_id"), atlas.topics)
        order = ["rank", "gap", "topic_id"]
        table = table.sort_values(order, ascending=[True, False, True], ignore_index=True)
        exemplars = _waiting_exemplars(atlas, signs, table["topic_id"].tolist())
        titles = exemplars.groupby("topic_id")["title"].agg(list)
        table["exemplars"] = [titles.get(topic_id, []) for topic_id in table["topic_id"]]
        advance(1)
    cited = float(signs["cited"].notna().mean())
    ranked = table[table["rank"].notna()]
    n_doubtful = int((ranked["density_ratio_high"] >= 1).sum())
    small = table.loc[table["papers"] < _FEW_PAPERS, "label"].tolist()
    warnings = warn(
        "reviews",
        {"cited": cited < 0.5, "small": small, "uncovered": not years.covered.all()},
        cited=cited,
        limit=_FEW_PAPERS,
        regions=", ".join(small[:5]),
    )
    return Analysis(
        kind="review_gaps",
        table=table,
        caption=(
            f"Regions that need a review, of the {len(table)} regions and subregions of "
            f"{describe_corpus(atlas)}.{no_verdict(n_doubtful, len(ranked), _LACK)} "
            f"{_COUNTED} {define_reviews(year)} Only regions with less than {_LACKING:.0%} of "
            "the expected reviews, in the region and near it, and with a fifth as many papers "
            "since their last review as the corpus has per review, have a rank; those without a "
            "verdict come later, and those with a review in the last year last. "
            "The need compares a "
            "region with the mean region: "
            "papers newer than the reviews near them (volume), "
            f"growth in {RECENT_YEARS} covered years, "
            "citations, years without a review, disagreement. The relative gap has the share of "
            "newer papers instead of their number, times the ratio of expected to known reviews; "
            "the gap is a mean of both, divided by the upper limit of known to expected reviews. "
            "Weights: "
            + ", ".join(
                f"{name.replace('_', ' ')} {value:g}" for name, value in chosen.items() if value
            )
            + "; 95% bootstrap intervals."
        ),
        denominators={
            "papers": len(year),
            "reviews": int(is_review.sum()),
            "sampled papers": len(signs),
            "sampled papers with known citations": int(signs["cited"].notna().sum()),
        },
        bounds=atlas.coverage,
        warnings=(*warn_of_few_reviews(int(is_review.sum())), *warnings, *years.warnings),
        tables={
            "exemplars": exemplars,
            "weights": pd.DataFrame({"component": list(chosen), "weight": list(chosen.values())}),
        },
    )


def _waiting_exemplars(atlas: AtlasStore, signs: pd.DataFrame, topics: list[int]) -> pd.DataFrame:
    """Return typical papers of each region that are newer than the reviews near them."""
    import pandas as pd

    vectors = atlas.vectors()
    waiting = signs[signs["waiting"]].groupby("topic_id")["row"]
    rows_by_topic = {topic: np.sort(rows.to_numpy()) for topic, rows in waiting}
    picked: list[tuple[int, int, int]] = []
    for topic in topics:
        if topic in rows_by_topic:
            rows = rows_by_topic[topic]
            own = np.asarray(vectors[rows], dtype=np.float32)
            best = rows[np.argsort(-(own @ own.mean(axis=0)), kind="stable")[:_N_EXEMPLARS]]
            picked.extend((topic, place, int(row)) for place, row in enumerate(best, start=1))
    table = pd.DataFrame(picked, columns=["topic_id", "place", "paper_row"])
    rows = table["paper_row"].to_numpy(np.int64)
    shown = atlas.read_papers(["paper_id", "title", "year", "cites"], rows=rows)
    return pd.concat([table, shown.reset_index(drop=True)], axis=1)


COMPONENTS = ("volume", "growth", "citations", "years_without", "disagreement")
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "volume": 1.0,
    "growth": 1.0,
    "citations": 0.5,
    "years_without": 0.0,
    "disagreement": 0.5,
}
"""Default exponents of the components; a component with exponent 0 is ignored.

Years without a review are ignored, because reviews of later years are predicted best without them
(``benchmarks/review_backtest.py``): regions with few papers have few reviews, and will have few.
"""

_MAX_CITED = 5.0  # maximum citations of a paper, relative to the mean of its year
_ENOUGH = 100.0  # newer papers at which a review is half as useful as with very many
_PRIOR_PAPERS = 10.0  # number of papers with average values added to each region
_N_SUMS = 8  # number of measures that `_sums` returns
_NEED = 0.5  # weight of the need in the gap; the rest is that of the relative gap
_LACKING = 0.8  # a gap has less than this share of the expected reviews


def rank_gaps(
    signs: pd.DataFrame,
    coverage: pd.DataFrame,
    *,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Rank the regions by their gaps; `coverage` is the result of `review_coverage`."""
    import pandas as pd

    chosen = check_weights(weights)
    if signs.empty:
        raise InputError("There is no paper in any region; build the atlas with more papers.")
    topics, place = np.unique(signs["topic_id"].to_numpy(), return_inverse=True)
    known = coverage.set_index("topic_id").loc[topics]
    one = _sums(signs, place, np.ones((1, len(signs))))
    totals = one[0].sum(axis=0)
    found = _components(one, totals, known)
    papers = one[0, :, 0]
    levels = {
        name: max(float(np.average(found[name][0], weights=papers)), 1e-12) for name in COMPONENTS
    }
    score = _score(found, levels, chosen)[0]
    random = np.random.default_rng(seed)
    drawn = random.poisson(1.0, size=(max(n_resamples, 1), len(signs))).astype(np.float64)
    sums = _sums(signs, place, drawn)
    resampled = _components(sums, totals, known)
    scores = _score(resampled, levels, chosen)
    newer = one[0, :, 1]
    # The level of the newer papers is a mean over regions. Other levels are means over papers.
    counted = {**levels, "volume": max(float(newer.mean()), 1e-12)}
    needs = _score(resampled | {"volume": sums[:, :, 1]}, counted, chosen)
    # The ratio of known to expected reviews belongs to the volume.
    ratio = known["density_ratio_high"].to_numpy() ** chosen["volume"]
    both = scores ** (1 - _NEED) * needs**_NEED / ratio
    # Without any review, each region lacks one.
    # A region with reviews of its own does not lack them, even if their subject is wider.
    most = known[["reviews", "reviews_near"]].max(axis=1)
    lacks = most < _LACKING * known["expected"]
    # A region with few papers since its last review does not wait for another one.
    per_review = known["papers"].sum() / max(known["reviews"].sum(), 1)
    waits = known["papers_since"] >= _NEWER * per_review
    is_gap = (lacks & waits | (known["reviews_near"].sum() == 0)).to_numpy()
    # Regions that may have enough reviews come later, and those with a recent review last.
    is_unclear = (known["density_ratio_high"] >= 1).to_numpy()
    later = np.where((known["years_without"] < 1).to_numpy(), 2, is_unclear)
    order = both - later * (both.max(initial=0.0) + 1.0)
    ranks = (-order[:, is_gap]).argsort(axis=1).argsort(axis=1) + 1
    columns: dict[str, Any] = {"topic_id": topics, "score": score}
    columns["score_low"], columns["score_high"] = np.quantile(scores, ENDS, axis=0)
    for name, q in zip(("rank_low", "rank_high"), ENDS, strict=True):
        columns[name] = pd.array([pd.NA] * len(topics), dtype="Int64")
        columns[name][is_gap] = np.quantile(ranks, q, axis=0).round().astype(int)
    columns |= {name: values[0] for name, values in found.items()}
    columns["years_without"] = known["years_without"].to_numpy()
    columns["newer_papers"] = newer
    columns["need"] = _score(found | {"volume": newer[None]}, counted, chosen)[0]
    columns["gap"] = score ** (1 - _NEED) * columns["need"] ** _NEED / ratio
    columns["gap_low"], columns["gap_high"] = np.quantile(both, ENDS, axis=0)
    columns["n_sampled"] = np.bincount(place)
    table = pd.DataFrame(columns | {"is_gap": is_gap, "later": later * is_gap})
    table = table.sort_values(
        ["later", "gap", "topic_id"], ascending=[True, False, True], ignore_index=True
    )
    lacks = table.pop("is_gap")
    del table["later"]
    table.insert(0, "rank", lacks.cumsum().astype("Int64").where(lacks))
    return table


def check_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """Check the weights, and add default weights for the other components."""
    chosen = dict(DEFAULT_WEIGHTS)
    for name, weight in (weights or {}).items():
        if name not in chosen:
            hint = did_you_mean(name, COMPONENTS)
            raise InputError(
                f"There is no component {name!r}{hint} Choose from: {', '.join(COMPONENTS)}."
            )
        if not (isinstance(weight, int | float) and np.isfinite(weight) and weight >= 0):
            raise InputError(f"The weight of {name} is {weight!r}; give a number of at least 0.")
        chosen[name] = float(weight)
    return chosen


def _sums(
    signs: pd.DataFrame, place: NDArray[np.int64], drawn: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum 8 measures over the papers of each region; shape (n_resamples, n_regions, 8)."""
    from scipy.sparse import csr_matrix

    waiting = signs["waiting"].to_numpy(np.float64)
    # A limit, because otherwise one famous paper determines the mean of a region.
    cited = np.minimum(signs["cited"].to_numpy(np.float64), _MAX_CITED)
    known = waiting * ~np.isnan(cited)
    stance = signs["stance"].to_numpy(np.float64)
    values = (
        np.column_stack(
            [
                np.ones(len(signs)),
                waiting,
                signs["recent"],
                np.nan_to_num(cited) * known,
                known,
                signs["contrast"],
                stance,
                np.abs(stance),
            ]
        ).astype(np.float64)
        * signs["stands_for"].to_numpy(np.float64)[:, None]
    )
    n_regions = int(place.max()) + 1
    cells = place[:, None] * _N_SUMS + np.arange(_N_SUMS)
    rows = np.repeat(np.arange(len(signs)), _N_SUMS)
    spread = csr_matrix(
        (values.ravel(), (rows, cells.ravel())), shape=(len(signs), n_regions * _N_SUMS)
    )
    return np.asarray(drawn @ spread).reshape(len(drawn), n_regions, _N_SUMS)


def _components(
    sums: NDArray[np.float64], totals: NDArray[np.float64], coverage: pd.DataFrame
) -> dict[str, NDArray[np.float64]]:
    """Compute the components, and shrink components of small regions to the mean of the corpus."""
    n, waiting, recent, cited, known, contrast, stance, taken = np.moveaxis(sums, -1, 0)
    mean = totals / max(totals[0], 1e-12)
    prior = _PRIOR_PAPERS
    ratio, years = (coverage[name].to_numpy() for name in ("density_ratio", "years_without"))
    mean_cited = totals[3] / totals[4] if totals[4] else 1.0
    padded = n + prior
    signed = (stance + prior * mean[6]) / padded
    spread = np.sqrt(np.maximum((taken + prior * mean[7]) / padded - signed**2, 0.0))
    disagreeing = (contrast + prior * mean[5]) / padded
    return {
        "volume": waiting / padded * waiting / (waiting + _ENOUGH) / ratio,
        "growth": (recent + prior * mean[2]) / np.maximum(padded * mean[2], 1e-12),
        "citations": (cited + prior * mean_cited) / (known + prior),
        # A year is added, so that a region with a review in the last year has a finite logarithm.
        "years_without": np.broadcast_to(years + 1.0, n.shape),
        "disagreement": (disagreeing + spread) / 2.0,
        "contrast": disagreeing,
        "stance_spread": spread,
    }


def _score(
    found: Mapping[str, NDArray[np.float64]],
    levels: Mapping[str, float],
    weights: Mapping[str, float],
) -> NDArray[np.float64]:
    logarithm: NDArray[np.float64] = sum(
        (
            weights[name] * np.log(np.maximum(found[name] / levels[name], 1e-3))
            for name in COMPONENTS
        ),
        start=np.zeros_like(found["volume"]),
    )
    return np.exp(logarithm)
