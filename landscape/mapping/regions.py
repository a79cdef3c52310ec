"""Find the regions of the map, with their subregions and the continents that contain them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.mapping.density import DensityGrid, default_bandwidth, density_grid, find_basins
from landscape.mapping.naming import Namer, mean_vectors
from landscape.mapping.phrases import phrase_table
from landscape.mapping.projection import MIN_FOR_A_GRAPH
from landscape.text.words import normal_form, normal_forms

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from landscape.llm import LanguageModel

Method = Literal["density", "hdbscan"]
BY_KEYWORDS = "keywords"  # label_source of names chosen from keywords

#: Numbers of the first continent and of the first subregion; regions have lower numbers.
FIRST_CONTINENT = 1000
FIRST_SUBREGION = 100_000

# Subregions: kernel width and minimum size relative to those of regions, and the minimum rise of a
# peak above its saddle in standard deviations. Selected with benchmarks/regions.py.
_DETAIL, _SIZE, _RISE = 0.55, 0.5, 1.5
_MIN_PAPERS = 10  # papers of a subregion
_CONCEPTS = 0.4  # weight of the thesaurus concepts in the profiles of subregions
_CLEARLY = 0.99  # maximum ratio of the distances to the new and to the old continent
_STEP = 1.2  # kernel widths are powers of it, so that they do not change with a few papers

_ALL_PAPERS = "All papers"  # name of the only region if its papers share no subject
_SAME_TEXT = 0.95  # least cosine to the mean of papers with one abstract and different titles
_BLOCK = 65_536  # number of vectors compared at a time

#: Default maximum number of regions, so that their names fit on a page.
MAX_REGIONS = 90


@dataclass(frozen=True)
class Topics:
    """Continents, regions and subregions of a map, and the region and subregion of each paper."""

    topic_id: NDArray[np.int32]
    subregion_id: NDArray[np.int32]
    table: pd.DataFrame


def build_topics(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    keywords: pa.Array | Sequence[Sequence[str]],
    titles: Sequence[str] = (),
    *,
    vectors: NDArray[np.float32] | None = None,
    method: Method = "density",
    max_regions: int | None = None,
    n_continents: int | None = None,
    previous: NDArray[np.integer] | None = None,
    old_names: Mapping[int, str] | None = None,
    embed: Callable[[Sequence[str]], NDArray[np.float32] | None] | None = None,
    language_model: LanguageModel | None = None,
    note: Callable[[str], None] | None = None,
) -> Topics:
    """Find the continents (level 0), regions (1) and subregions (2) of a map, and name them.

    Subregions surround the peaks of a narrowly smoothed density. Neighbouring subregions with
    similar papers are merged to regions, and regions to continents (Ward 1963). A region that is
    more similar to an adjacent continent is moved there. A region with a single subregion has no
    rows at level 2.

    Parameters
    ----------
    x, y : array of float, shape (n_papers,)
        Map coordinates.
    keywords : pyarrow.ListArray or sequence of sequence of str, length n_papers
        Keywords of each paper. The names are chosen from them.
    titles : sequence of str, length n_papers
        Titles of the papers; the language model receives the titles of typical papers.
    vectors : array of float32, shape (n_papers, n_dims), optional
        Embeddings. If given, neighbouring subregions are merged by the similarity of embeddings and
        of the thesaurus concepts in the keywords, otherwise by their distance on the map.
    method : {"density", "hdbscan"}, default "density"
        Method that finds the regions: basins around the peaks of the smoothed density, or
        clusters found by HDBSCAN (Campello et al. 2013).
    max_regions, n_continents : int, optional
        Maximum number of regions and of continents. The defaults depend on the number of papers.
    previous : array of int, shape (n_papers, 3), optional
        Region, continent and subregion of each paper in an earlier build, -1 for none. A topic gets
        the number of the old topic that contains most of its papers, so that manual labels remain
        valid. A topic without old papers gets an unused number.
    old_names : mapping of int to str, optional
        Names of the topics of the earlier build, by number. An old name remains unless another
        name is clearly better.
    embed : callable, optional
        Function that embeds a list of texts with the model of `vectors`, or returns None. Names are
        compared with the papers by their embeddings.
    language_model : LanguageModel, optional
        Language model that improves the names, using keywords and titles of typical papers.
    note : callable, optional
        Function that receives messages: why there is one region only, and which names the language
        model could not improve.

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
        max_regions = int(np.clip(round(3.0 * len(x) ** (1 / 3)), 1, MAX_REGIONS))
    # Ignore phrases in fewer papers than 5% of the smallest possible region.
    fewest = max(2 if len(x) >= 100 else 1, round(0.05 * smallest_region(len(x))))
    reason = _why_one_region(len(x), vectors)
    if reason:
        fewest = len(x) // 2 + 1  # a subject of most of the papers, or the name "All papers"
        (note or str)(f"{reason}, so one region contains them all.")
    leaf, peaks = _whole_map(x, y) if reason else _find_leaves(x, y, method, max_regions)
    namer = Namer(phrase_table(keywords, fewest=fewest), vectors, embed)
    profile: NDArray[np.floating] = peaks[["x", "y"]].to_numpy()
    if vectors is not None:
        concepts = namer.concept_shares(leaf, len(peaks))
        profile = np.hstack([mean_vectors(vectors, leaf, len(peaks)), _CONCEPTS * concepts])
    near = nearest_regions(peaks.x.to_numpy(), peaks.y.to_numpy(), k=5)
    merges = merge_order(profile, peaks.n_papers.to_numpy(), near)
    region_of = _numbered(len(peaks), merges, max_regions, peaks.density.to_numpy())
    if n_continents is None:
        n_continents = int(np.clip(round(1.3 * np.sqrt(region_of.max(initial=0) + 1)), 2, 12))
    continent_of = _numbered(len(peaks), merges, n_continents, peaks.n_papers.to_numpy(), sums=True)
    if vectors is not None:
        sizes = peaks.n_papers.to_numpy()
        continent_of = settle_regions(profile, sizes, region_of, continent_of, near)
    levels = [
        np.where(leaf >= 0, parent[leaf], -1) if len(parent) else leaf
        for parent in (continent_of, region_of, _several(region_of))
    ]

    tables: dict[int, pd.DataFrame] = {}
    taken: list[str] = []
    parts = (levels[1], leaf, None)
    # Continents are named before and after their regions: a region leaves them a name that is good
    # for both, such as "cosmic rays", if it has another one, such as "galactic cosmic rays".
    wanted: list[str] = []
    for level, fallback in ((0, ""), (1, "Region"), (0, "Continent"), (2, "Subregion")):
        table = _places(x, y, levels[level], leaf, peaks, vectors)
        if level == 0:  # a name in the middle of the continent
            middle = pd.DataFrame({"x": x, "y": y}).groupby(levels[0]).median()
            table[["x", "y"]] = middle.loc[middle.index >= 0].to_numpy()
        others = nearest_regions(
            table.x.to_numpy(), table.y.to_numpy(), k=5 if level else len(table)
        )
        old = _kept_names(levels[level], level, previous, old_names or {})
        names, words = namer.name(
            levels[level],
            others,
            # Second subjects of regions are available, because they are removed below.
            taken=taken if level else [name.split(" and ")[0] for name in taken],
            wanted=wanted if level == 1 else (),
            old=old,
            fields=level == 0,
            pairs=level < 2,
            parts=parts[level],
            above=levels[level - 1] if level else None,
            fallback=fallback,
        )
        if not fallback:
            wanted = names
            continue
        names = [_ALL_PAPERS if reason and name == f"{fallback} 1" else name for name in names]
        taken += names
        tables[level] = table.assign(
            topic_id=table.index + _FIRST[level], level=level, label=names, keywords=words
        )
    tables[1]["label"] = _without(tables[1]["label"], tables[0]["label"])
    for level in (1, 2):
        above = np.full(len(tables[level]), -1, dtype=np.int64)
        inside = levels[level] >= 0
        above[levels[level][inside]] = levels[level - 1][inside]
        tables[level] = tables[level].assign(parent_id=above + _FIRST[level - 1])
    regions = tables[1].groupby("parent_id")["label"].agg(["first", "size"])
    only = regions.loc[regions["size"] == 1, "first"]  # a continent of one region has its name
    tables[0]["label"] = tables[0]["topic_id"].map(only).fillna(tables[0]["label"])
    whole = pd.concat([tables[0].assign(parent_id=-1), tables[1], tables[2]], ignore_index=True)
    whole["label_source"] = BY_KEYWORDS
    if language_model is not None:
        whole = _polish(whole, titles, language_model, note)
    if previous is None:
        ids = [np.where(group >= 0, group + _FIRST[n], -1) for n, group in enumerate(levels)]
    else:
        ids, whole = _keep_numbers(levels, whole, np.asarray(previous)[:, _COLUMN])
    columns = ["topic_id", "level", "parent_id", "x", "y", "label", "label_source", "keywords"]
    whole = whole[[*columns, "n_papers", "density", "exemplars"]]
    return Topics(ids[1].astype(np.int32), ids[2].astype(np.int32), whole)


_FIRST = (FIRST_CONTINENT, 0, FIRST_SUBREGION)  # number of the first topic of each level
_COLUMN = [1, 0, 2]  # column of `previous` for each level


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Remove the second subject of each name if another name has this subject too."""
    used = set(normal_forms([part for name in others for part in name.split(" and ")]))
    split = [(name, name.partition(" and ")) for name in names]
    return [first if normal_form(second) in used else name for name, (first, _, second) in split]


def _kept_names(
    group: NDArray[np.int64],
    level: int,
    previous: NDArray[np.integer] | None,
    old_names: Mapping[int, str],
) -> dict[int, str]:
    """Return the names in an earlier build of the groups of a level."""
    if previous is None or not old_names:
        return {}
    before = np.asarray(previous)[:, _COLUMN[level]]
    numbers = match_numbers(group, before, first=_FIRST[level])
    return {new: old_names[n] for new, n in enumerate(numbers) if n in old_names}


def _several(region_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the subregions of regions with at least two subregions; others get -1."""
    split = np.bincount(region_of)[region_of] > 1 if len(region_of) else np.zeros(0, dtype=bool)
    return np.where(split, np.cumsum(split) - 1, -1)


def _why_one_region(n_papers: int, vectors: NDArray[np.float32] | None) -> str:
    """Return why the papers cannot be divided, or an empty text if they can."""
    if 0 < n_papers < MIN_FOR_A_GRAPH:
        return f"The corpus has {count(n_papers, 'paper')}, too few for several regions"
    if vectors is None or not n_papers:
        return ""
    centre = np.asarray(vectors[:_BLOCK], dtype=np.float64).mean(axis=0)
    centre /= np.linalg.norm(centre) or 1.0
    for start in range(0, n_papers, _BLOCK):
        if (vectors[start : start + _BLOCK] @ centre).min() < _SAME_TEXT:
            return ""
    return "All papers have nearly the same text"


def _find_leaves(
    x: NDArray[np.floating], y: NDArray[np.floating], method: Method, max_regions: int
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Find the subregions, or the regions of a small corpus, where finer peaks are noise."""
    leaf, peaks = find_regions(x, y, method=method, detail=_DETAIL)
    if len(peaks) <= max_regions:
        return find_regions(x, y, method=method, max_regions=max_regions)
    return leaf, peaks


def _whole_map(
    x: NDArray[np.floating], y: NDArray[np.floating]
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Return one region with all papers, as `find_regions` does."""
    import pandas as pd

    highest = _lattice(x, y, 1.0)
    peak = {"x": [np.median(x)], "y": [np.median(y)], "n_papers": [len(x)]}
    density = [highest.density.max() / highest.cell_width**2]
    return np.zeros(len(x), dtype=np.int64), pd.DataFrame(peak | {"density": density})


def smallest_region(n_papers: int) -> float:
    """Return the minimum number of papers per region; smaller regions are merged."""
    return max(3.0, 0.0015 * n_papers)


def find_regions(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    *,
    method: Method = "density",
    max_regions: int | None = None,
    detail: float = 1.0,
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Divide a map into regions, each around a peak of the density.

    A `detail` below one gives a narrower kernel, and smaller regions that rise above the noise.
    """
    import pandas as pd

    if method not in ("density", "hdbscan"):
        raise InputError(f"There is no topic method {method!r}; choose one of: density, hdbscan.")
    if len(x) == 0:
        return np.zeros(0, dtype=np.int64), pd.DataFrame(
            {"x": [], "y": [], "density": [], "n_papers": []}
        )
    grid = _lattice(x, y, detail)
    smallest = (
        smallest_region(len(x))
        if detail == 1.0
        else max(_MIN_PAPERS, _SIZE * smallest_region(len(x)))
    )
    rows, columns = grid.cells_of(x, y)
    if method == "density":
        basins = find_basins(
            grid, min_papers=smallest, max_peaks=max_regions, noise=0.0 if detail == 1.0 else _RISE
        )
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


def _lattice(x: NDArray[np.floating], y: NDArray[np.floating], detail: float) -> DensityGrid:
    """Smooth the papers on a grid that does not move if a few papers are added or removed."""
    bandwidth = detail * _STEP ** round(np.log(default_bandwidth(x, y)) / np.log(_STEP))
    span = max(np.ptp(x), np.ptp(y)) + 8 * bandwidth
    cell = max(bandwidth / 3, span / 4000)
    tile = 24 * cell
    low = [np.floor((side.min() - 4 * bandwidth) / tile) for side in (x, y)]
    high = [np.ceil((side.max() + 4 * bandwidth) / tile) for side in (x, y)]
    bounds = (low[0] * tile, low[1] * tile, high[0] * tile, high[1] * tile)
    shape = (round(24 * (high[1] - low[1])), round(24 * (high[0] - low[0])))
    return density_grid(x, y, bounds=bounds, shape=shape, bandwidth=bandwidth)


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


def merge_order(
    profile: NDArray[np.floating],
    n_papers: NDArray[np.integer],
    neighbours: Sequence[Sequence[int]],
) -> list[tuple[int, int]]:
    """Merge adjacent groups by Ward's criterion; return the pairs, of which the first remains.

    Two groups of n and m papers with mean profiles a and b are merged at the cost
    nm / (n + m) |a - b|^2 (Ward 1963, J. Am. Stat. Assoc. 58, 236).
    """
    means = np.array(profile, dtype=np.float64)
    size = np.maximum(np.array(n_papers, dtype=np.float64), 1.0)
    touching: list[set[int]] = [set() for _ in size]
    for one, near in enumerate(neighbours):
        for other in near:
            touching[one].add(other)
            touching[other].add(one)

    def cost(one: int, other: int) -> float:
        away = means[one] - means[other]
        return float(size[one] * size[other] / (size[one] + size[other]) * (away @ away))

    costs = {(a, b): cost(a, b) for a, near in enumerate(touching) for b in near if a < b}
    alive, merges = set(range(len(size))), []
    while len(alive) > 1:
        if not costs:  # separate parts of the map
            for one, other in itertools.combinations(sorted(alive), 2):
                touching[one].add(other)
                touching[other].add(one)
                costs[one, other] = cost(one, other)
        one, other = min(costs, key=lambda pair: (costs[pair], pair))
        merges.append((one, other))
        alive.remove(other)
        means[one] = np.average(means[[one, other]], axis=0, weights=size[[one, other]])
        size[one] += size[other]
        for third in touching[other]:
            touching[third].discard(other)
            del costs[min(third, other), max(third, other)]
        touching[one] |= touching[other] - {one}
        for third in touching[one]:
            touching[third].add(one)
            costs[min(one, third), max(one, third)] = cost(one, third)
    return merges


def _numbered(
    n_leaves: int,
    merges: Sequence[tuple[int, int]],
    most: int,
    weight: NDArray[np.number],
    *,
    sums: bool = False,
) -> NDArray[np.int64]:
    """Cut a tree into at most `most` groups, numbered by the sum or maximum of their weights."""
    group = np.arange(n_leaves)
    for one, other in merges[: max(0, n_leaves - most)]:
        group[group == other] = one
    _, group = np.unique(group, return_inverse=True)
    heights = np.zeros(int(group.max(initial=-1)) + 1)
    (np.add if sums else np.maximum).at(heights, group, weight)
    rank = np.argsort(np.argsort(-heights, kind="stable"))
    return np.asarray(rank[group], dtype=np.int64)


def settle_regions(
    profile: NDArray[np.floating],
    n_papers: NDArray[np.integer],
    region_of: NDArray[np.int64],
    continent_of: NDArray[np.int64],
    neighbours: Sequence[Sequence[int]],
) -> NDArray[np.int64]:
    """Move regions to the adjacent continent with the nearest mean profile.

    Merging is greedy: a region that was merged early stays, even if the continent becomes different
    from it. The mean of its own continent is computed without the region, as by Hartigan (1975,
    Clustering Algorithms). The rest of a continent must remain connected.

    Returns the new continent of each subregion, numbered by the number of papers.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    n_regions, n_continents = (
        int(region_of.max(initial=-1)) + 1,
        int(continent_of.max(initial=-1)) + 1,
    )
    size = np.bincount(region_of, weights=n_papers, minlength=n_regions)
    sums = np.zeros((n_regions, profile.shape[1]))
    np.add.at(sums, region_of, profile * np.asarray(n_papers)[:, None])
    touches = np.zeros((n_regions, n_regions), dtype=bool)
    for one, near in enumerate(neighbours):
        touches[region_of[one], region_of[list(near)]] = True
    touches |= touches.T
    home = np.zeros(n_regions, dtype=np.int64)
    home[region_of] = continent_of

    def n_parts(regions: NDArray[np.int64]) -> int:
        return int(connected_components(sparse.csr_matrix(touches[np.ix_(regions, regions)]))[0])

    for _ in range(n_regions):  # each round moves the region with the largest gain
        moves: list[tuple[float, int, int]] = []
        for region in range(n_regions):
            rest = np.flatnonzero((home == home[region]) & (np.arange(n_regions) != region))
            own = np.append(rest, region)
            if len(rest) == 0 or n_parts(rest) > n_parts(own):
                continue
            mean = sums[region] / size[region]
            away = np.linalg.norm(mean - sums[rest].sum(axis=0) / size[rest].sum())
            for other in set(home[touches[region]].tolist()) - {int(home[region])}:
                there = np.flatnonzero(home == other)
                near_by = np.linalg.norm(mean - sums[there].sum(axis=0) / size[there].sum())
                if near_by < _CLEARLY * away:
                    moves.append((float(near_by / away), region, other))
        if not moves:
            break
        _, region, other = min(moves)
        home[region] = other
    totals = np.bincount(home, weights=size, minlength=n_continents)
    return np.asarray(np.argsort(np.argsort(-totals, kind="stable"))[home[region_of]])


def _keep_numbers(
    levels: Sequence[NDArray[np.int64]], table: pd.DataFrame, previous: NDArray[np.integer]
) -> tuple[list[NDArray[np.int64]], pd.DataFrame]:
    """Give each topic the number of the old topic that contains most of its papers."""
    number, ids = {-1: -1}, []
    for group, old, first in zip(levels, previous.T, _FIRST, strict=True):
        kept = np.array([*match_numbers(group, old, first=first), -1], dtype=np.int64)
        number |= {first + place: int(new) for place, new in enumerate(kept[:-1])}
        ids.append(kept[group])  # the last element is for papers without a topic
    renumbered = table.assign(
        topic_id=table.topic_id.map(number), parent_id=table.parent_id.map(number)
    )
    return ids, renumbered.sort_values(["level", "topic_id"], ignore_index=True)


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


def _places(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    group: NDArray[np.int64],
    leaf: NDArray[np.int64],
    peaks: pd.DataFrame,
    vectors: NDArray[np.float32] | None,
) -> pd.DataFrame:
    """Return the highest peak, the number of papers and the typical papers of each group."""
    import pandas as pd

    n_groups = int(group.max(initial=-1)) + 1
    height = peaks.density.to_numpy()
    highest = np.full(n_groups, -1, dtype=np.int64)
    inside = np.flatnonzero(group >= 0)
    for number, peak in np.unique(np.column_stack([group, leaf])[inside], axis=0).tolist():
        if highest[number] < 0 or height[peak] > height[highest[number]]:
            highest[number] = peak
    places = peaks.iloc[highest].reset_index(drop=True)
    if vectors is None:
        away = np.hypot(
            x[inside] - places.x.to_numpy()[group[inside]],
            y[inside] - places.y.to_numpy()[group[inside]],
        )
    else:
        away = _distances_to_means(vectors, group, inside, n_groups)
    counts = np.bincount(group[inside], minlength=n_groups)
    typical = _nearest_of_each(inside, group[inside], away, counts)
    return places.assign(n_papers=counts, exemplars=pd.Series(typical, dtype=object))


def count_papers(topics: pd.DataFrame, regions: NDArray[np.integer]) -> NDArray[np.int64]:
    """Count the papers of each topic from the region and the subregion of each paper."""
    sizes = np.zeros(len(topics), dtype=np.int64)
    for place, topic in enumerate(topics.itertuples()):
        column = regions[:, 1 if topic.level == 2 else 0]
        below = topics.loc[topics["parent_id"] == topic.topic_id, "topic_id"]
        own = below if topic.level == 0 else [topic.topic_id]
        sizes[place] = int(np.isin(column, own).sum())
    return sizes


def typical_papers(
    vectors: NDArray[np.float32], group: NDArray[np.integer], n_groups: int
) -> list[list[int]]:
    """Return up to eight rows of each group, those nearest to its mean vector first."""
    inside = np.flatnonzero(group >= 0)
    away = _distances_to_means(vectors, group, inside, n_groups)
    counts = np.bincount(group[inside], minlength=n_groups)
    return _nearest_of_each(inside, group[inside], away, counts)


def _distances_to_means(
    vectors: NDArray[np.float32],
    group: NDArray[np.integer],
    inside: NDArray[np.int64],
    n_groups: int,
) -> NDArray[np.float64]:
    """Return the negative similarity of papers to the mean vector of their group."""
    means = mean_vectors(vectors, group, n_groups).astype(np.float32)
    return np.concatenate(
        [
            -np.einsum("ij,ij->i", vectors[rows], means[group[rows]])
            for rows in np.array_split(inside, len(inside) // 65536 + 1)
        ]
    )


def _nearest_of_each(
    rows: NDArray[np.int64],
    group: NDArray[np.integer],
    away: NDArray[np.floating],
    counts: NDArray[np.int64],
) -> list[list[int]]:
    order = rows[np.lexsort((away, group))]
    starts = (np.cumsum(counts) - counts).tolist()
    return [
        order[start : start + min(_TYPICAL, n)].tolist()
        for start, n in zip(starts, counts.tolist(), strict=True)
    ]


_TYPICAL = 8  # papers of a region that are named


def _polish(
    table: pd.DataFrame,
    titles: Sequence[str],
    language_model: LanguageModel,
    note: Callable[[str], None] | None,
) -> pd.DataFrame:
    """Improve the names with a language model; keep the old name if the answer is rejected."""
    from landscape.llm.region_names import polish_names

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
