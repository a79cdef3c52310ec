"""Reviews by region: their density against that of papers, and where one would help most."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.errors import InputError
from landscape.overlays._periods import UNKNOWN_YEAR, Years, count_years, paper_years
from landscape.overlays.reviews._recognition import RECENT_YEARS, read_signs
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


_N_EXEMPLARS = 5
_FEW_PAPERS = 30


def review_gaps(
    atlas: AtlasStore,
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

    chosen = check_weights(weights)
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
        table = add_labels(ranked.merge(coverage, on="topic_id"), atlas.topics)
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
            f"Where a review would help most among the {len(table)} regions of "
            f"{describe_corpus(atlas)}: papers newer than every review near them (volume), growth "
            f"over the last {RECENT_YEARS} covered years, their citations, mean years since the "
            "latest review near each paper (years_without), and disagreement in abstracts, each "
            "relative to the mean region; weights "
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
            *warn_of_few_reviews(int(is_review.sum())),
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
    atlas: AtlasStore, signs: pd.DataFrame, topics: list[int], *, n: int = _N_EXEMPLARS
) -> pd.DataFrame:
    """The most typical of the papers of each region that wait for a review."""
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
    return (
        f"Citations are known for only {share:.0%} of the papers; that component is uncertain.",
    )


COMPONENTS = ("volume", "growth", "citations", "years_without", "disagreement")
DEFAULT_WEIGHTS: Mapping[str, float] = {
    "volume": 1.0, "growth": 0.5, "citations": 0.5, "years_without": 0.5, "disagreement": 0.5,
}  # fmt: skip
"""Exponents of the components; 0 leaves one out."""

_PRIOR_PAPERS = 10.0  # papers like the corpus's mean that are added to each region
_SUMS = 9


def rank_gaps(
    signs: pd.DataFrame,
    *,
    weights: Mapping[str, float] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Rank regions by how much a review is missing there."""
    import pandas as pd

    chosen = check_weights(weights)
    if signs.empty:
        raise InputError("There is no paper in any region to rank; build the atlas with more.")
    topics, place = np.unique(signs["topic_id"].to_numpy(), return_inverse=True)
    one = _sums(signs, place, np.ones((1, len(signs))))
    totals = one[0].sum(axis=0)
    found = _components(one, totals)
    levels = {name: max(float(_level(found, one, name)), 1e-12) for name in COMPONENTS}
    score = _score(found, levels, chosen)[0]
    random = np.random.default_rng(seed)
    drawn = random.poisson(1.0, size=(max(n_resamples, 1), len(signs))).astype(np.float64)
    scores = _score(_components(_sums(signs, place, drawn), totals), levels, chosen)
    ranks = (-scores).argsort(axis=1).argsort(axis=1) + 1
    columns: dict[str, Any] = {"topic_id": topics, "score": score}
    columns["score_low"], columns["score_high"] = np.percentile(scores, (2.5, 97.5), axis=0)
    columns["rank_low"], columns["rank_high"] = (
        np.percentile(ranks, q, axis=0).round().astype(int) for q in (2.5, 97.5)
    )
    columns |= {name: values[0] for name, values in found.items()}
    columns["n_sampled"] = np.bincount(place)
    table = pd.DataFrame(columns).sort_values(
        ["score", "topic_id"], ascending=[False, True], ignore_index=True
    )
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table


def check_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """Weights of all components; those not given are the default ones."""
    chosen = dict(DEFAULT_WEIGHTS)
    for name, weight in (weights or {}).items():
        if name not in chosen:
            near = difflib.get_close_matches(name, COMPONENTS, n=1)
            meant = f" did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"There is no component {name!r};{meant} There are: {', '.join(COMPONENTS)}."
            )
        if not (isinstance(weight, int | float) and np.isfinite(weight) and weight >= 0):
            raise InputError(f"The weight of {name} is {weight!r}; give a number from 0.")
        chosen[name] = float(weight)
    return chosen


def _sums(
    signs: pd.DataFrame, place: NDArray[np.int64], drawn: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What adds up over the papers of each region, shape (n_resamples, n_regions, 9)."""
    from scipy.sparse import csr_matrix

    waiting = signs["waiting"].to_numpy(np.float64)
    cited = signs["cited"].to_numpy(np.float64)
    known = waiting * ~np.isnan(cited)
    stance = signs["stance"].to_numpy(np.float64)
    values = np.column_stack([
        np.ones(len(signs)), waiting, signs["years_without"], signs["recent"],
        np.nan_to_num(cited) * known, known, signs["contrast"], stance, np.abs(stance),
    ]).astype(np.float64) * signs["stands_for"].to_numpy(np.float64)[:, None]  # fmt: skip
    n_regions = int(place.max()) + 1
    cells = place[:, None] * _SUMS + np.arange(_SUMS)
    rows = np.repeat(np.arange(len(signs)), _SUMS)
    spread = csr_matrix(
        (values.ravel(), (rows, cells.ravel())), shape=(len(signs), n_regions * _SUMS)
    )
    return np.asarray(drawn @ spread).reshape(len(drawn), n_regions, _SUMS)


def _components(
    sums: NDArray[np.float64], totals: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Components from sums; the mean of the corpus stands in for papers that are few."""
    n, waiting, years, recent, cited, known, contrast, stance, taken = np.moveaxis(sums, -1, 0)
    mean = totals / max(totals[0], 1e-12)
    prior = _PRIOR_PAPERS
    mean_cited = totals[4] / totals[5] if totals[5] else 1.0
    padded = n + prior
    signed = (stance + prior * mean[7]) / padded
    spread = np.sqrt(np.maximum((taken + prior * mean[8]) / padded - signed**2, 0.0))
    disagreeing = (contrast + prior * mean[6]) / padded
    return {
        "volume": waiting,
        "growth": (recent + prior * mean[3]) / np.maximum(padded * mean[3], 1e-12),
        "citations": (cited + prior * mean_cited) / (known + prior),
        "years_without": (years + prior * mean[2]) / padded,
        "disagreement": (disagreeing + spread) / 2.0,
        "contrast": disagreeing,
        "stance_spread": spread,
    }


def _level(found: Mapping[str, NDArray[np.float64]], sums: NDArray[np.float64], name: str) -> float:
    """Mean of a component: over regions for volume, over papers for the others."""
    papers = None if name == "volume" else sums[0, :, 0]
    return float(np.average(found[name][0], weights=papers))


def _score(
    found: Mapping[str, NDArray[np.float64]],
    levels: Mapping[str, float],
    weights: Mapping[str, float],
) -> NDArray[np.float64]:
    logarithm: NDArray[np.float64] = sum(
        (weights[name] * np.log(np.maximum(found[name] / levels[name], 1e-3))
         for name in COMPONENTS),
        start=np.zeros_like(found["volume"]),
    )  # fmt: skip
    return np.exp(logarithm)
