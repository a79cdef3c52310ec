"""Find outliers in search results, and describe the distribution of the results on the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore
    from landscape.types import Results

_ONE_REGION, _TWO_REGIONS = 0.7, 0.8  # minimum share of the papers in one or in two regions
_REGIONS_NAMED = 3  # maximum number of regions named in a sentence


def find_outliers(
    vectors: NDArray[np.float32], cutoffs: NDArray[np.float32], *, gamma: float = 0.1
) -> NDArray[np.bool_]:
    """Return the mask of papers with an unusually large distance to the other papers.

    A paper is an outlier if its distance to the centroid of the other papers is larger than
    D95(k) - gamma; see `landscape.embeddings.neighbours.neighbour_distances`. Fewer than three
    papers have no outliers.

    >>> vectors = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], np.float32)
    >>> find_outliers(vectors, np.full(10, 1.0, np.float32)).tolist()
    [False, False, False, True]
    """
    k = len(vectors)
    if k < 3 or not len(cutoffs):
        return np.zeros(k, dtype=bool)
    others = (vectors.sum(axis=0) - vectors) / (k - 1)
    distances = np.linalg.norm(vectors - others, axis=1)
    return distances > cutoffs[min(k, len(cutoffs)) - 1] - gamma


@dataclass(frozen=True)
class Spread:
    """Distribution of search results over the regions of the map.

    Attributes
    ----------
    kind : {"one region", "two regions", "scattered"}
    regions : tuple of (int, int)
        ``topic_id`` and number of papers of each region, most papers first. The id -1 means
        papers outside of all regions.
    labels : tuple of str
        Names of these regions in the same order; the name is empty for -1.
    """

    kind: Literal["one region", "two regions", "scattered"]
    regions: tuple[tuple[int, int], ...]
    labels: tuple[str, ...] = ()

    @property
    def n_papers(self) -> int:
        """Number of papers inside and outside of regions."""
        return sum(count for _, count in self.regions)

    @property
    def inside(self) -> tuple[tuple[int, str, int], ...]:
        """``topic_id``, name and number of papers of each region, most papers first."""
        names = self.labels or ("",) * len(self.regions)
        return tuple(
            (topic, name, count)
            for (topic, count), name in zip(self.regions, names, strict=True)
            if topic >= 0
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as JSON values."""
        return {
            "kind": self.kind,
            "regions": [
                {"topic_id": topic, "label": name, "papers": count}
                for topic, name, count in self.inside
            ],
            "outside": self.n_papers - sum(count for *_, count in self.inside),
        }

    def to_text(self) -> str:
        """Describe the distribution in a sentence.

        >>> Spread("two regions", ((4, 5), (2, 3), (-1, 1)), ("Dust", "Jets", "")).to_text()
        'On the map, 8 of 9 papers lie in two regions: Dust (5) and Jets (3).'
        """
        inside, total = self.inside, self.n_papers
        papers = "the paper" if total == 1 else f"the {total:,} papers"
        if not inside:
            verb = "lies" if total == 1 else "lie"
            return f"On the map, {papers} {verb} outside of every named region."
        if total == 1:
            return f"On the map, the paper lies in the region {inside[0][1]}."
        if self.kind == "scattered":
            places = ", ".join(_region(name, n) for _, name, n in inside[:_REGIONS_NAMED])
            if len(inside) > _REGIONS_NAMED:
                places = f"{len(inside)} regions, among them {places}"
            if outside := total - sum(n for *_, n in inside):
                places += f"; {outside:,} outside of every region"
            return f"On the map, {papers} are scattered: {places}."
        chosen = inside[: 1 if self.kind == "one region" else 2]
        held = sum(n for *_, n in chosen)
        which = papers if held == total else f"{held:,} of {total:,} papers"
        if len(chosen) == 1:
            return f"On the map, {which} lie in one region, {chosen[0][1]}."
        named = " and ".join(_region(name, n) for _, name, n in chosen)
        return f"On the map, {which} lie in two regions: {named}."


def _region(name: str, n: int) -> str:
    return f"{name} ({n:,})"


def spread_of(atlas: AtlasStore, results: Results) -> Spread:
    """Return the distribution of search results on the map of an atlas.

    Parameters
    ----------
    atlas : Atlas
        Atlas with the layers ``map`` and ``topics``.
    results : Results
        Results of a search in the same atlas.

    Returns
    -------
    Spread
        Distribution with the names of the regions.

    Raises
    ------
    InputError
        If a paper is not on the map.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> spread_of(atlas, atlas.search("dust in quasars")).kind  # doctest: +SKIP
    'one region'
    """
    places = find_papers(atlas.regions_of_papers, [paper.paper_id for paper in results.papers])
    spread = spread_on_map(places)
    labels = tuple(str(atlas.region_names.get(topic, "")) for topic, _ in spread.regions)
    return replace(spread, labels=labels)


def find_papers(on_map: Mapping[str, int], wanted: Sequence[str]) -> list[int]:
    """Look up papers of the map in a mapping; raise InputError if one is not on the map."""
    missing = [paper for paper in wanted if paper not in on_map]
    if missing:
        raise InputError(
            f"{len(missing):,} of {len(wanted):,} papers found are not on this map, such as "
            f"{missing[0]!r}. The results are from another atlas. Search in this atlas."
        )
    return [on_map[paper] for paper in wanted]


def spread_on_map(topic_ids: Sequence[int] | NDArray[np.int32]) -> Spread:
    """Classify papers as being in one region of the map, in two regions, or scattered."""
    counts = Counter(int(topic) for topic in topic_ids).most_common()
    inside = [n for topic, n in counts if topic >= 0] + [0, 0]
    total = max(1, len(topic_ids))
    kind: Literal["one region", "two regions", "scattered"] = "scattered"
    if inside[0] >= _ONE_REGION * total:
        kind = "one region"
    elif inside[0] + inside[1] >= _TWO_REGIONS * total:
        kind = "two regions"
    return Spread(kind, tuple(counts))
