"""Find the regions of the map, and group regions into continents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.mapping._density import density_grid, find_basins
from landscape.mapping._naming import choose_names, pair_names, phrase_table, score_phrases
from landscape.text._words import normal_forms

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.llm._client import LanguageModel

Method = Literal["density", "hdbscan"]
BY_KEYWORDS = "keywords"  # label_source of names chosen from keywords

#: Number of the first continent; regions have lower numbers.
FIRST_CONTINENT = 1000

#: Default maximum number of regions, so that their names fit on a page.
MOST_REGIONS = 90


@dataclass(frozen=True)
class Topics:
    """Regions and continents of a map."""

    topic_id: NDArray[np.int32]
    table: pd.DataFrame


def build_topics(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    keywords: Any,
    titles: Sequence[str] = (),
    *,
    vectors: NDArray[np.float32] | None = None,
    method: Method = "density",
    max_regions: int | None = None,
    n_continents: int | None = None,
    previous: NDArray[np.integer] | None = None,
    language_model: LanguageModel | None = None,
    note: Callable[[str], None] | None = None,
) -> Topics:
    """Find the regions of a map, group regions into continents, and name regions and continents.

    Parameters
    ----------
    x, y : array of float, shape (n_papers,)
        Map coordinates.
    keywords : pyarrow.ListArray or sequence of sequence of str, length n_papers
        Keywords of each paper. The names are chosen from them.
    titles : sequence of str, length n_papers
        Titles of the papers; the language model receives the titles of typical papers.
    vectors : array of float32, shape (n_papers, n_dims), optional
        Embeddings. If given, continents group neighbouring regions whose embeddings are similar;
        otherwise, continents group regions that are close on the map.
    method : {"density", "hdbscan"}, default "density"
        Method that finds the regions: basins around the peaks of the smoothed density, or
        clusters found by HDBSCAN (Campello et al. 2013).
    max_regions, n_continents : int, optional
        Maximum number of regions and of continents. The defaults depend on the number of papers.
    previous : array of int, shape (n_papers, 2), optional
        Region and continent of each paper in an earlier build, -1 for new papers. A topic gets
        the number of the old topic that contains most of its papers, so that manual labels remain
        valid. A topic without old papers gets an unused number.
    language_model : LanguageModel, optional
        Language model that improves the names, using keywords and titles of typical papers.
    note : callable, optional
        Function that receives a message about names that the language model could not improve.

    Returns
    -------
    Topics

    Raises
    ------
    InputError
        If the method is unknown.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(0, 1, 300), rng.normal(20, 1, 300)])
    >>> y = rng.normal(0, 1, 600)
    >>> topics = build_topics(x, y, [["pulsars"]] * 300 + [["comets"]] * 300)
    >>> sorted(topics.table.label[topics.table.level == 1])
    ['Comets', 'Pulsars']
    """
    import pandas as pd

    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if max_regions is None:
        max_regions = int(np.clip(round(3.0 * len(x) ** (1 / 3)), 1, MOST_REGIONS))
    region, places = find_regions(x, y, method=method, max_regions=max_regions)
    n_regions = len(places)

    # Ignore phrases in fewer papers than 5% of the smallest possible region.
    fewest = max(2 if len(x) >= 100 else 1, round(0.05 * smallest_region(len(x))))
    table = phrase_table(keywords, fewest=fewest)
    near = nearest_regions(places.x.to_numpy(), places.y.to_numpy(), k=5)
    ranked = score_phrases(table, region, near)
    names, words = choose_names(table, ranked, n_regions)

    profile: NDArray[np.floating] = places[["x", "y"]].to_numpy()
    if vectors is not None:
        profile = _mean_vectors(vectors, region, n_regions)
    continent = gather_continents(profile, near, places.n_papers.to_numpy(), n_continents)
    n_large = int(continent.max()) + 1 if n_regions else 0
    large_of_paper = np.where(region >= 0, continent[region], -1) if n_regions else region
    all_large = [[other for other in range(n_large) if other != one] for one in range(n_large)]
    taken = set(normal_forms(names))
    large_names, large_words = pair_names(table, large_of_paper, all_large, taken=taken)
    regions = places.assign(
        topic_id=places.index.to_numpy(),
        level=1,
        parent_id=FIRST_CONTINENT + continent,
        label=names,
        keywords=words,
        exemplars=_exemplars(x, y, region, places),
    )
    continents = _continent_rows(regions, continent, n_large, x, y, large_of_paper)
    continents = continents.assign(label=large_names, keywords=large_words)
    whole = pd.concat([continents, regions], ignore_index=True)
    whole["label_source"] = BY_KEYWORDS
    if language_model is not None:
        whole = _polish(whole, titles, language_model, note)
    if previous is not None:
        region, whole = _keep_numbers(region, large_of_paper, whole, previous)
    columns = ["topic_id", "level", "parent_id", "x", "y", "label", "label_source", "keywords"]
    return Topics(region.astype(np.int32), whole[[*columns, "n_papers", "density", "exemplars"]])


def smallest_region(n_papers: int) -> float:
    """Return the minimum number of papers per region; smaller regions are merged."""
    return max(3.0, 0.0015 * n_papers)


def find_regions(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    *,
    method: Method = "density",
    max_regions: int | None = None,
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Divide a map into regions, each around a peak of the density."""
    import pandas as pd

    if method not in ("density", "hdbscan"):
        raise InputError(f"There is no topic method {method!r}; choose one of: density, hdbscan.")
    if len(x) == 0:
        return np.zeros(0, dtype=np.int64), pd.DataFrame(
            {"x": [], "y": [], "density": [], "n_papers": []}
        )
    grid = density_grid(x, y)
    smallest = smallest_region(len(x))
    rows, columns = grid.cells_of(x, y)
    if method == "density":
        basins = find_basins(grid, min_papers=smallest, max_peaks=max_regions)
        region = basins.labels[rows, columns].astype(np.int64)
        peak_x, peak_y, height = basins.x, basins.y, basins.height
    else:
        region = _hdbscan_clusters(x, y, smallest=smallest, most=max_regions)
        at_papers = grid.density[rows, columns]
        of_region = (np.flatnonzero(region == one) for one in range(int(region.max()) + 1))
        peaks = [int(papers[np.argmax(at_papers[papers])]) for papers in of_region]
        peak_x, peak_y = grid.centre_of(rows[peaks], columns[peaks])
        height = at_papers[peaks]
    n_regions = len(peak_x)
    n_papers = np.bincount(region[region >= 0], minlength=n_regions)
    places = pd.DataFrame(
        {"x": peak_x, "y": peak_y, "density": height / grid.cell_width**2, "n_papers": n_papers}
    )
    return region, places


def _hdbscan_clusters(
    x: NDArray[np.floating], y: NDArray[np.floating], *, smallest: float, most: int | None
) -> NDArray[np.int64]:
    """Cluster papers with HDBSCAN; increase the minimum size if there are too many clusters."""
    import hdbscan

    plane = np.column_stack([x, y]).astype(np.float64)
    size = max(int(smallest), 5)
    while True:
        if len(plane) <= size:
            return np.zeros(len(plane), dtype=np.int64)
        found = hdbscan.HDBSCAN(
            min_cluster_size=size, min_samples=min(10, size), core_dist_n_jobs=-1
        ).fit_predict(plane)
        if found.max() < 0:
            return np.zeros(len(plane), dtype=np.int64)
        if most is None or found.max() < most:
            return np.asarray(found, dtype=np.int64)
        size = int(size * 1.5) + 1


def nearest_regions(
    x: NDArray[np.floating], y: NDArray[np.floating], *, k: int = 5
) -> list[list[int]]:
    """Return the `k` nearest regions of each region, by the distance of their peaks."""
    from scipy.spatial import KDTree

    if len(x) < 2:
        return [[] for _ in x]
    points = np.column_stack([x, y])
    _, found = KDTree(points).query(points, k=min(k + 1, len(x)))
    return [[int(j) for j in row if j != i][:k] for i, row in enumerate(found)]


def gather_continents(
    profile: NDArray[np.floating],
    neighbours: Sequence[Sequence[int]],
    n_papers: NDArray[np.integer],
    n_continents: int | None = None,
) -> NDArray[np.int64]:
    """Group regions that are adjacent and similar into continents."""
    from scipy import sparse
    from sklearn.cluster import AgglomerativeClustering

    n_regions = len(profile)
    if n_continents is None:
        n_continents = int(np.clip(round(1.6 * np.sqrt(n_regions)), 2, 14))
    if n_regions <= n_continents:
        return np.arange(n_regions)
    rows = np.repeat(np.arange(n_regions), [len(near) for near in neighbours])
    columns = np.concatenate([np.asarray(near, dtype=np.int64) for near in neighbours])
    touching = sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), (n_regions, n_regions))
    touching = touching + touching.T + sparse.identity(n_regions)
    n_pieces, _ = sparse.csgraph.connected_components(touching)
    # Ward clustering has no weights, so regions are repeated in proportion to paper counts.
    copies = np.maximum(np.round(12 * np.asarray(n_papers) / np.max(n_papers)), 1).astype(int)
    original = np.repeat(np.arange(n_regions), copies)
    found = AgglomerativeClustering(
        n_clusters=max(n_continents, n_pieces),
        # None for a disconnected graph, because scikit-learn would issue a warning
        connectivity=touching.tocsr()[original][:, original] if n_pieces == 1 else None,
        linkage="ward",
    ).fit_predict(np.asarray(profile)[original])
    found = found[np.searchsorted(original, np.arange(n_regions))]
    _, found = np.unique(found, return_inverse=True)
    # Number the continents by size: the rank is the inverse permutation of the sorted order.
    rank = np.argsort(np.argsort(-np.bincount(found, weights=n_papers), kind="stable"))
    return np.asarray(rank[found], dtype=np.int64)


def _mean_vectors(
    vectors: NDArray[np.float32], region: NDArray[np.int64], n_regions: int, block: int = 65536
) -> NDArray[np.float64]:
    """Return the mean embedding of each region; the vectors are read in blocks."""
    from scipy import sparse

    sums = np.zeros((n_regions, vectors.shape[1]))
    for start in range(0, len(vectors), block):
        here = region[start : start + block]
        rows = np.flatnonzero(here >= 0)
        member = sparse.csr_matrix(
            (np.ones(len(rows), dtype=np.float32), (here[rows], rows)), (n_regions, len(here))
        )
        sums += member @ np.asarray(vectors[start : start + block])
    papers = np.bincount(region[region >= 0], minlength=n_regions)
    return np.asarray(sums / np.maximum(papers, 1)[:, None])


def _keep_numbers(
    region: NDArray[np.int64],
    continent: NDArray[np.int64],
    table: pd.DataFrame,
    previous: NDArray[np.integer],
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Give each topic the number of the old topic that contains most of its papers."""
    regions = match_numbers(region, np.asarray(previous)[:, 0], first=0)
    continents = match_numbers(continent, np.asarray(previous)[:, 1], first=FIRST_CONTINENT)
    number = dict(enumerate(regions))
    number |= {FIRST_CONTINENT + old: new for old, new in enumerate(continents)} | {-1: -1}
    renumbered = table.assign(
        topic_id=table.topic_id.map(number), parent_id=table.parent_id.map(number)
    )
    inside = region >= 0
    kept = np.full(len(region), -1, dtype=np.int64)
    kept[inside] = np.asarray(regions, dtype=np.int64)[region[inside]]
    return kept, renumbered.sort_values(["level", "topic_id"], ignore_index=True)


def match_numbers(
    new: NDArray[np.integer], old: NDArray[np.integer], *, first: int = 0
) -> list[int]:
    """Match new groups to old numbers so that most papers keep their number (Kuhn 1955)."""
    from scipy.optimize import linear_sum_assignment

    n_new = int(new.max(initial=-1)) + 1
    known = np.unique(old[old >= 0])
    overlap = np.zeros((n_new, len(known)))
    both = (new >= 0) & (old >= 0)
    np.add.at(overlap, (new[both], np.searchsorted(known, old[both])), 1.0)
    numbers = [-1] * n_new
    for one, other in zip(*linear_sum_assignment(-overlap), strict=True):
        if overlap[one, other] > 0:
            numbers[one] = int(known[other])
    fresh = max(int(known.max(initial=first - 1)) + 1, first)
    for one in range(n_new):
        if numbers[one] < 0:
            numbers[one], fresh = fresh, fresh + 1
    return numbers


def _exemplars(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    region: NDArray[np.int64],
    places: pd.DataFrame,
) -> list[list[int]]:
    """Return the rows of the papers nearest to the peak of each region."""
    away = np.full(len(x), np.inf)
    inside = region >= 0
    away[inside] = np.hypot(
        x[inside] - places.x.to_numpy()[region[inside]],
        y[inside] - places.y.to_numpy()[region[inside]],
    )
    order = np.lexsort((away, region))
    starts = np.searchsorted(region[order], np.arange(len(places)))
    counts = places.n_papers.to_numpy()
    return [
        order[start : start + min(int(n), 8)].tolist()
        for start, n in zip(starts, counts, strict=True)
    ]


def _continent_rows(
    regions: pd.DataFrame,
    continent: NDArray[np.int64],
    n_large: int,
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    large_of_paper: NDArray[np.int64],
) -> pd.DataFrame:
    """Return one row per continent, at the median position of its papers."""
    import pandas as pd

    rows = []
    for number in range(n_large):
        inside = large_of_paper == number
        parts = regions[continent == number]
        rows.append(
            {
                "topic_id": FIRST_CONTINENT + number,
                "level": 0,
                "parent_id": -1,
                "x": float(np.median(x[inside])),
                "y": float(np.median(y[inside])),
                "n_papers": int(inside.sum()),
                "density": float(parts.density.max()),
                "exemplars": [rows_[0] for rows_ in parts.exemplars if rows_][:8],
            }
        )
    return pd.DataFrame(rows)


def _polish(
    table: pd.DataFrame,
    titles: Sequence[str],
    language_model: LanguageModel,
    note: Callable[[str], None] | None,
) -> pd.DataFrame:
    """Improve the names with a language model; keep the old name if the answer is rejected."""
    from landscape.llm._region_names import polish_names

    siblings = table.groupby("parent_id").label.apply(list).to_dict()
    regions = [
        {
            "id": int(row["topic_id"]),
            "name": row["label"],
            "neighbours": [n for n in siblings[row["parent_id"]] if n != row["label"]],
            "keywords": list(row["keywords"]),
            "titles": [titles[i] for i in row["exemplars"]] if len(titles) else [],
        }
        for row in table.to_dict("records")
    ]
    better = polish_names(language_model, regions, note=note)
    polished = table.copy()
    named = polished.topic_id.map(better)
    polished["label"] = named.fillna(polished.label)
    polished["label_source"] = np.where(named.notna(), "language model", polished.label_source)
    return polished
