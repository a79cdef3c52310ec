"""Measure how well a map agrees with the full-dimensional embeddings and with a second run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape.embeddings import nearest
from landscape.embeddings.neighbours import Sample, overlap, sample_neighbours, without_self
from landscape.mapping.density import default_bandwidth
from landscape.mapping.projection import project
from landscape.mapping.regions import Method, find_regions

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


Measures = dict[str, float | int | str | None]

#: Reasons why the stability is not measured, for layouts that are not computed.
_WITHOUT_RUNS = {
    "ready": "the map coordinates were read from the input files",
    "basemap": "the papers were placed on a basemap",
    "keep": "the map was kept from an earlier build",
    "refit": "the map was fitted from the positions of an earlier build",
}
_RESAMPLES: dict[Method, int] = {"density": 20, "hdbscan": 5}  # HDBSCAN takes longer


def measure_quality(
    vectors: NDArray[np.float32],
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    *,
    categories: Sequence[str | None] = (),
    topics: pd.DataFrame | None = None,
    topics_method: Method = "density",
    layout: str = "umap",
    n_neighbors: int = 15,
    min_dist: float = 0.05,
    n_sample: int = 2000,
    n_second_run: int | None = None,
    seed: int = 0,
    sample: Sample | None = None,
) -> Measures:
    """Compute the quality measures that are stored in the atlas and printed on figures.

    Parameters
    ----------
    vectors : array of float32, shape (n_papers, n_dims)
        L2-normalised embeddings, optionally memory-mapped.
    x, y : array of float, shape (n_papers,)
        Map coordinates.
    categories : sequence of str or None, length n_papers
        Primary category of each paper, for the accuracy measures.
    topics : pandas.DataFrame, optional
        Table of topics. If given, measure whether the peaks of the topics are recovered in
        resampled corpora.
    topics_method : {"density", "hdbscan"}, default "density"
        Method that found these topics.
    layout : str, default "umap"
        Projection method, used for the comparison of two runs. For "ready",
        "keep" and "refit", the stability is not measured.
    n_neighbors : int, default 15
    min_dist : float, default 0.05
        Settings of the map; see `project`.
    n_sample : int, default 2000
        Number of randomly sampled papers whose neighbours are compared.
    n_second_run : int, optional
        Number of papers in the two runs that are compared for stability. The default is a fifth
        of the papers, but at least 2,000 and at most 8,000.
    seed : int, default 0
    sample : Sample, optional
        Nearest papers of a sample, if they are known. `n_sample` is then not used.

    Returns
    -------
    dict of str to float, int, str or None
        ``knn_recall_at_10``, ``trustworthiness``, ``continuity``, ``category_accuracy_full``,
        ``category_accuracy_map``, ``category_accuracy_chance``, ``peak_recall``, ``stability``,
        all between 0 and 1, and the sample sizes. A measure is None if there are too few papers.
        If the stability is None for another reason, ``stability_reason`` explains it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> vectors = rng.normal(size=(200, 2)).astype("float32")
    >>> vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    >>> quality = measure_quality(vectors, vectors[:, 0], vectors[:, 1])
    >>> quality["knn_recall_at_10"] > 0.9
    True
    """
    n_papers = len(x)
    plane = np.column_stack([x, y]).astype(np.float64)
    measures: Measures = dict.fromkeys(
        (
            "knn_recall_at_10",
            "trustworthiness",
            "continuity",
            "category_accuracy_full",
            "category_accuracy_map",
            "category_accuracy_chance",
            "peak_recall",
            "stability",
        )
    )
    measures["n_papers"] = n_papers
    measures["n_sample"] = min(n_sample, n_papers) if sample is None else len(sample.rows)
    if n_papers < 30:
        return measures
    if sample is None:
        sample = sample_neighbours(vectors, n_sample=n_sample, k=10, seed=seed)
    rows = sample.rows
    near_full, near_map = neighbours_of_sample(sample, plane, k=10)
    measures["knn_recall_at_10"] = overlap(near_full, near_map)
    trust, continuity = rank_measures(vectors[rows], plane[rows], k=10)
    measures["trustworthiness"], measures["continuity"] = trust, continuity
    if len(categories):
        measures.update(category_accuracy(categories, rows, near_full, near_map))
    if topics is not None and len(topics):
        regions = topics[topics.level == 1] if "level" in topics else topics
        measures["peak_recall"] = peak_recall(
            plane,
            regions.x.to_numpy(),
            regions.y.to_numpy(),
            method=topics_method,
            n_resamples=_RESAMPLES[topics_method],
            seed=seed,
        )
    if layout in _WITHOUT_RUNS:
        measures["stability_reason"] = _WITHOUT_RUNS[layout]
        return measures
    if n_second_run is None:
        n_second_run = min(8000, max(2000, n_papers // 5))
    measures["stability"] = stability(
        vectors,
        layout=layout,
        n_neighbors=n_neighbors,
        min_dist=min_dist,
        n_sample=n_second_run,
        seed=seed,
    )
    measures["n_second_run"] = min(n_second_run, n_papers)
    return measures


def neighbours_of_sample(
    sample: Sample, plane: NDArray[np.float64], *, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the `k` nearest papers of each sampled paper, by embedding and by map position."""
    from scipy.spatial import KDTree

    rows = sample.rows
    _, in_map = KDTree(plane).query(plane[rows], k=k + 1, workers=-1)
    return without_self(sample.near[:, : k + 1], rows, k), without_self(in_map, rows, k)


def neighbours_kept(
    vectors: NDArray[np.float32],
    plane: NDArray[np.floating],
    of: NDArray[np.bool_],
    *,
    n_sample: int = 1000,
    seed: int = 0,
) -> float:
    """Return the share of the 10 nearest papers that some papers also have on the map."""
    rows = np.flatnonzero(of)
    if not len(rows):
        return float("nan")
    chosen = np.random.default_rng(seed).choice(rows, size=min(n_sample, len(rows)), replace=False)
    chosen.sort()
    sample = Sample(chosen, *nearest(vectors, np.asarray(vectors[chosen]), k=11))
    return overlap(*neighbours_of_sample(sample, plane.astype(np.float64), k=10))


def rank_measures(
    vectors: NDArray[np.float32], plane: NDArray[np.float64], *, k: int
) -> tuple[float, float]:
    """Return trustworthiness and continuity (Venna & Kaski 2001)."""
    from sklearn.manifold import trustworthiness

    k = max(1, min(k, (len(plane) - 1) // 2))
    # For normalised vectors, Euclidean and cosine distances give the same order.
    trust = trustworthiness(vectors, plane, n_neighbors=k)
    continuity = trustworthiness(plane, vectors, n_neighbors=k)  # arguments exchanged
    return float(trust), float(continuity)


def category_accuracy(
    categories: Sequence[str | None],
    sample: NDArray[np.integer],
    near_full: NDArray[np.integer],
    near_map: NDArray[np.integer],
) -> Measures:
    """Return the accuracy of categories predicted from neighbours, and the accuracy by chance."""
    import pandas as pd

    codes, names = pd.factorize(pd.Series(list(categories), dtype=object))
    known = codes[sample] >= 0
    if not known.any() or len(names) < 2:
        return {}

    def accuracy(near: NDArray[np.integer]) -> float:
        votes = np.zeros((len(sample), len(names)))
        neighbour = codes[near]
        rows = np.repeat(np.arange(len(sample)), near.shape[1])
        valid = neighbour.ravel() >= 0
        np.add.at(votes, (rows[valid], neighbour.ravel()[valid]), 1.0)
        return float((votes.argmax(axis=1) == codes[sample])[known].mean())

    commonest = np.bincount(codes[codes >= 0]).argmax()
    return {
        "category_accuracy_full": accuracy(near_full),
        "category_accuracy_map": accuracy(near_map),
        "category_accuracy_chance": float((codes[sample][known] == commonest).mean()),
        "n_categories": len(names),
    }


def peak_recall(
    plane: NDArray[np.float64],
    peak_x: NDArray[np.floating],
    peak_y: NDArray[np.floating],
    *,
    method: Method = "density",
    n_resamples: int = 20,
    seed: int = 0,
) -> float | None:
    """Return the mean fraction of peaks that are recovered in bootstrap samples of the papers."""
    from scipy.spatial import KDTree

    if len(peak_x) == 0:
        return None
    rng = np.random.default_rng(seed)
    reach = 2 * default_bandwidth(plane[:, 0], plane[:, 1])
    peaks = np.column_stack([peak_x, peak_y])
    recalled = []
    for _ in range(n_resamples):
        drawn = plane[rng.integers(0, len(plane), len(plane))]
        _, places = find_regions(drawn[:, 0], drawn[:, 1], method=method, max_regions=len(peaks))
        away, _ = KDTree(places[["x", "y"]].to_numpy()).query(peaks)
        recalled.append((away <= reach).mean())
    return float(np.mean(recalled))


def stability(
    vectors: NDArray[np.float32],
    *,
    layout: str = "umap",
    n_neighbors: int = 15,
    min_dist: float = 0.05,
    n_sample: int = 8000,
    seed: int = 0,
    share: float = 0.02,
) -> float | None:
    """Return the agreement of two runs of the layout with different random numbers."""
    from scipy.spatial import KDTree

    if len(vectors) < 30:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(vectors), size=min(n_sample, len(vectors)), replace=False))
    drawn = np.asarray(vectors[rows])
    k = int(np.clip(round(share * len(rows)), 10, 200))
    asked = rng.choice(len(rows), size=min(1000, len(rows)), replace=False)
    near = []
    for run in (1, 2):
        plane = project(
            drawn, method=layout, seed=seed + run, n_neighbors=n_neighbors, min_dist=min_dist
        )
        near.append(KDTree(plane).query(plane[asked], k=k, workers=-1)[1])
    return overlap(near[0], near[1])


def area_under_curve(
    scores: NDArray[np.floating], belongs: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the ROC area and its standard error (Hanley & McNeil 1982, Radiology 143, 29)."""
    from scipy.stats import rankdata

    inside, outside = int(belongs.sum()), int((~belongs).sum())
    if not inside or not outside:
        return float("nan"), float("nan")
    ranks = rankdata(scores)
    area = (ranks[belongs].sum() - inside * (inside + 1) / 2) / (inside * outside)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area) + (inside - 1) * (q1 - area**2) + (outside - 1) * (q2 - area**2)
    ) / (inside * outside)
    return float(area), float(np.sqrt(max(variance, 0.0)))
