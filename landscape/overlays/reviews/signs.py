"""Signs of a missing review: distance in time from the nearest reviews, words of disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape._progress import progress
from landscape.corpus.reviews import clue_pattern
from landscape.corpus.reviews import read_review_list as read_review_list
from landscape.corpus.reviews import recognise as recognise
from landscape.overlays.periods import UNKNOWN_YEAR, paper_years, read_years

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from landscape.store import AtlasStore


def find_contrast(abstracts: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether each abstract mentions disagreement, tension or an open question."""
    import pyarrow.compute as pc

    found = pc.match_substring_regex(_lowered(abstracts), clue_pattern("contrast"))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def find_stances(abstracts: Sequence[str]) -> NDArray[np.int8]:
    """Return 1 if an abstract mostly confirms other results, -1 if it contradicts them, else 0."""
    import pyarrow.compute as pc

    lowered = _lowered(abstracts)
    pro, con = (
        pc.count_substring_regex(lowered, clue_pattern(name)).to_numpy(zero_copy_only=False)
        for name in ("pro", "con")
    )
    return np.sign(pro - con).astype(np.int8)


def _lowered(texts: Sequence[str]) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lower(pa.array(texts, type=pa.large_string()))


RECENT_YEARS = 5  # number of last covered years whose papers are recent
_MAX_SAMPLED = 6000  # maximum number of sampled papers, unless the minima of the regions need more
_MIN_OF_A_REGION = 60  # minimum number of papers sampled per region, if it has so many
_MIN_OF_A_SUBREGION = 100  # papers; smaller ones have less than one or two expected reviews


def smallest_regions(atlas: AtlasStore) -> NDArray[np.int64]:
    """Return the subregion of each paper, or its region if not all of the subregions are large."""
    subregions = atlas.topics[atlas.topics["level"] == 2]
    if subregions.empty:
        return atlas.map["topic_id"].to_numpy(np.int64)
    smallest = subregions.groupby("parent_id")["n_papers"].min()
    divided = atlas.map["topic_id"].isin(smallest.index[smallest >= _MIN_OF_A_SUBREGION])
    ids = atlas.map["subregion_id"].where(divided, atlas.map["topic_id"])
    return ids.to_numpy(np.int64)


def read_signs(
    atlas: AtlasStore,
    is_review: NDArray[np.bool_],
    *,
    until: int | None = None,
    citations: bool = True,
    most: int = _MAX_SAMPLED,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure signs that a review is missing, for a sample of papers.

    The signs are whether the paper is newer than the latest review among the nearest papers, the
    citations of the paper, and words of disagreement in the abstract.
    """
    import pandas as pd

    with progress("Finding the reviews near each paper", total=3, unit="steps") as advance:
        year = paper_years(atlas)
        cites = atlas.read_papers(["cites"])["cites"].to_numpy(np.float64, na_value=np.nan)
        topic = smallest_regions(atlas)
        inside = year != UNKNOWN_YEAR
        if until is not None:
            inside &= year <= until
        years = read_years(atlas, inside)
        recent = years.years[years.covered][-RECENT_YEARS:]
        random = np.random.default_rng(seed)
        rows, stands_for = sample_rows(topic, inside & ~is_review & (topic >= 0), most, random)
        advance(1)
        # Search only among the papers in `inside`.
        vectors = atlas.vectors() if inside.all() else atlas.vectors()[inside]
        place = np.cumsum(inside) - 1
        _, latest = near_reviews(vectors, year[inside], is_review[inside], place[rows], seed=seed)
        advance(1)
        cited = relative_citations(cites, year)
        abstracts = atlas.read_papers(["abstract"], rows=rows)["abstract"].fillna("").tolist()
        advance(1)
    return pd.DataFrame(
        {
            "row": rows,
            "topic_id": topic[rows],
            "year": year[rows],
            "stands_for": stands_for,
            "waiting": np.isnan(latest) | (year[rows] > latest),
            "recent": np.isin(year[rows], recent),
            "cited": cited[rows] if citations else np.nan,
            "contrast": find_contrast(abstracts),
            "stance": find_stances(abstracts),
        }
    )


def relative_citations(cites: NDArray[np.float64], year: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide the citations of each paper by the mean citations of the papers of the same year."""
    known = ~np.isnan(cites)
    place = year - (year.min() if len(year) else 0)
    total = np.bincount(place[known], weights=cites[known], minlength=place.max() + 1)
    number = np.bincount(place[known], minlength=place.max() + 1)
    mean = total / np.maximum(number, 1)
    return cites / np.where(mean > 0, mean, 1.0)[place]


def sample_rows(
    topic: NDArray[np.int64], wanted: NDArray[np.bool_], most: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sample papers from each region; return rows and the number of papers that each represents."""
    candidates = np.flatnonzero(wanted)
    mixed = candidates[random.permutation(len(candidates))]
    order = mixed[np.argsort(topic[mixed], kind="stable")]
    topics, start, size = np.unique(topic[order], return_index=True, return_counts=True)
    even = most // max(len(topics), 1)
    taken = size if size.sum() <= most else np.minimum(size, max(_MIN_OF_A_REGION, even))
    place = np.arange(len(order)) - np.repeat(start, size)
    chosen = place < np.repeat(taken, size)
    weights = np.repeat(size / np.maximum(taken, 1), size)[chosen]
    return order[chosen], weights


_MIN_NEAR = 20  # minimum number of papers near a review
_MAX_NEAR = 500  # maximum number of papers near a review
_MAX_REFERENCES = 50_000  # maximum number of papers with which the others are compared
_MIN_REACHED = 16  # expected number of sampled papers among the k nearest papers
_BLOCK = 2048  # number of papers compared at a time


def near_reviews(
    vectors: NDArray[np.float32],
    years: NDArray[np.int64],
    is_review: NDArray[np.bool_],
    rows: NDArray[np.int64],
    *,
    k: int | None = None,
    n_references: int | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the number and the latest year of the reviews among the nearest papers of each row."""
    import faiss

    n_papers = len(years)
    reviews = np.flatnonzero(is_review)
    k = choose_n_nearest(n_papers, len(reviews)) if k is None else k
    k = max(1, min(k, n_papers - 1))
    n_near = np.zeros(len(rows), dtype=np.int64)
    latest = np.full(len(rows), np.nan)
    if not len(reviews):
        return n_near, latest
    references = np.arange(n_papers)
    n_references = n_references or choose_n_references(n_papers, k)
    if n_references < n_papers:
        random = np.random.default_rng(seed)
        references = np.sort(random.choice(n_papers, n_references, replace=False))
    corpus = np.asarray(vectors[references], dtype=np.float32)
    of_reviews = np.asarray(vectors[reviews], dtype=np.float32)
    in_sample = np.isin(rows, references)
    kth = max(1, round(k * len(references) / n_papers))
    # Search for one more neighbour, because the paper itself can be in the sample.
    most = min(kth + 1, len(references))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        queries = np.asarray(vectors[rows[block]], dtype=np.float32)
        # A sampled paper is its own nearest neighbour and is not counted.
        nearest = faiss.knn(queries, corpus, most, metric=faiss.METRIC_INNER_PRODUCT)[0]
        wanted = np.minimum(kth + in_sample[block], most) - 1
        reach = np.take_along_axis(nearest, wanted[:, None], axis=1)[:, 0]
        near = (queries @ of_reviews.T >= reach[:, None] - 1e-6) & (
            reviews[None, :] != rows[block][:, None]
        )
        n_near[block] = near.sum(axis=1)
        found = np.where(near, years[reviews][None, :], -1).max(axis=1)
        latest[block] = np.where(found >= 0, found, np.nan)
    return n_near, latest


def divide_reviews(
    region: NDArray[np.integer],
    is_review: NDArray[np.bool_],
    vectors: NDArray[np.float32] | None,
    *,
    rows: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> csr_matrix:
    """Return the share of each region among the papers nearest to each review.

    The shape is (n_reviews, n_regions). Without `vectors`, a review has its own region only. `rows`
    are the rows of the papers in `vectors`; default: all rows.
    """
    import faiss
    from scipy.sparse import csr_matrix

    topics = np.unique(region[region >= 0])
    reviews = np.flatnonzero(is_review)
    near = reviews[:, None]
    candidates = np.flatnonzero((region >= 0) & ~is_review)
    if vectors is not None and len(reviews) and len(candidates):
        k = min(choose_n_nearest(len(region), len(reviews)), len(candidates))
        n = choose_n_references(len(candidates), k)
        if n < len(candidates):
            random = np.random.default_rng(seed)
            k = max(1, round(k * n / len(candidates)))
            candidates = np.sort(random.choice(candidates, n, replace=False))
        rows = np.arange(len(region)) if rows is None else rows
        corpus = np.asarray(vectors[rows[candidates]], dtype=np.float32)
        queries = np.asarray(vectors[rows[reviews]], dtype=np.float32)
        near = candidates[faiss.knn(queries, corpus, k, metric=faiss.METRIC_INNER_PRODUCT)[1]]
    of_review, nth = np.nonzero(region[near] >= 0)
    column = np.searchsorted(topics, region[near[of_review, nth]])
    share = np.full(len(column), 1 / near.shape[1])
    return csr_matrix((share, (of_review, column)), shape=(len(reviews), len(topics)))


def choose_n_nearest(n_papers: int, n_reviews: int) -> int:
    """Return the number of papers per review, between 20 and 500 and at most 5% of the corpus."""
    most = np.clip(n_papers // 20, _MIN_NEAR, _MAX_NEAR)
    return int(np.clip(round(n_papers / max(n_reviews, 1)), _MIN_NEAR, most))


def choose_n_references(n_papers: int, k: int) -> int:
    """Return the sample size needed to estimate the distance of the k-th nearest paper."""
    if n_papers <= _MAX_REFERENCES:
        return n_papers
    return min(_MAX_REFERENCES, round(_MIN_REACHED * n_papers / k))
