"""New papers on an existing map: their regions, and groups of novel papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from landscape.embeddings.neighbours import nearest, sample_neighbours
from landscape.mapping.naming import capitalised
from landscape.mapping.phrases import phrase_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

_NEIGHBOURS = 5  # papers of the map that decide the region of a new paper
_FEWEST = 5  # neighbours that must all be new; papers by which the size of a region changes
_GROUP, _CORE = 8, 3  # papers of a proposed region; neighbours that define its density
_CHANGED = 0.2  # smallest change of the size of a region that is listed
_ONE_SIDED = 0.9  # share of the papers of a cluster that come from one month or one source


@dataclass(frozen=True)
class Proposal:
    """Group of novel papers that may become a region.

    `rows` are rows of the new papers. `warning` says if the papers share a month or a source
    rather than a subject; otherwise it is empty.
    """

    label: str
    rows: NDArray[np.int64]
    warning: str


def place_in_regions(
    placed: NDArray[np.float32], coordinates: NDArray[np.float32], regions: NDArray[np.integer]
) -> NDArray[np.int32]:
    """Return the regions of new papers on a map whose regions stay the same.

    The five nearest papers on the map decide by majority; the nearest one decides a tie.

    Parameters
    ----------
    placed : array of float, shape (n_new, 2)
        Map coordinates of the new papers.
    coordinates : array of float, shape (n_papers, 2)
        Map coordinates of the papers on the map.
    regions : array of int, shape (n_papers, n_levels)
        Regions of the papers on the map, one column per level; -1 is outside every region.

    Returns
    -------
    array of int32, shape (n_new, n_levels)

    Examples
    --------
    >>> spots = np.array([[0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]], dtype="float32")
    >>> regions = np.array([[0], [0], [0], [3], [3], [3]])
    >>> place_in_regions(spots[[1, 3]] + 0.1, spots, regions).ravel().tolist()
    [0, 3]
    """
    from scipy.spatial import KDTree

    k = min(_NEIGHBOURS, len(coordinates))
    if k < 3:
        k = 1
    _, near = KDTree(coordinates).query(placed, k=[*range(1, k + 1)])
    votes = regions[near]  # (n_new, k, n_levels)
    agreeing = (votes[:, :, None, :] == votes[:, None, :, :]).sum(axis=2)
    winner = agreeing.argmax(axis=1)  # the first of equal counts is the nearest paper
    return np.take_along_axis(votes, winner[:, None, :], axis=1)[:, 0].astype(np.int32)


def find_novel(
    new_vectors: NDArray[np.float32],
    vectors: NDArray[np.float32],
    *,
    nearest_old: NDArray[np.float32] | None = None,
    threshold: float | None = None,
    quantile: float = 0.99,
    seed: int = 0,
) -> tuple[NDArray[np.bool_], float]:
    """Find the new papers that are far from all papers of a map.

    A paper is novel if its cosine distance to the nearest paper of the map exceeds the given
    quantile of the same distance between papers of the map.

    Parameters
    ----------
    new_vectors : array of float32, shape (n_new, n_dims)
        Embeddings of the new papers, L2-normalised.
    vectors : array of float32, shape (n_papers, n_dims)
        Embeddings of the papers of the map.
    nearest_old : array of float32, shape (n_new,), optional
        Cosine similarity of each new paper to the nearest paper of the map, if it is known.
    threshold : float, optional
        Threshold that an earlier call has returned for the same papers of the map.
    quantile : float, default 0.99
        Fraction of the papers of the map that are nearer to another one than the threshold.
    seed : int, default 0
        Seed of the sample of 2,000 papers from which the threshold is estimated.

    Returns
    -------
    novel : array of bool, shape (n_new,)
    threshold : float
        Cosine distance.

    Examples
    --------
    >>> vectors = np.array([[1, 0, 0], [1, 0.1, 0], [1, 0, 0.1]], dtype="float32")
    >>> vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    >>> new = np.array([[1, 0.05, 0], [0, 0, 1]], dtype="float32")
    >>> find_novel(new, vectors)[0].tolist()
    [False, True]
    """
    if len(vectors) < 2:
        return np.zeros(len(new_vectors), dtype=bool), 0.0
    if threshold is None:
        sample = sample_neighbours(vectors, k=1, seed=seed)
        # The first of the nearest papers is the paper itself.
        threshold = float(np.quantile(1.0 - sample.similarities[:, 1], quantile))
    if nearest_old is None:
        nearest_old = nearest(vectors, new_vectors, k=1)[1][:, 0]
    return 1.0 - nearest_old > threshold, threshold


def find_emerging(
    new_vectors: NDArray[np.float32],
    vectors: NDArray[np.float32],
    *,
    nearest_old: NDArray[np.float32] | None = None,
    chance: float = 0.001,
) -> NDArray[np.bool_]:
    """Find the new papers whose nearest neighbours are all new.

    The number of neighbours is at least five, and so large that neighbours drawn at random from all
    papers are all new with a probability of at most `chance`.

    Parameters
    ----------
    new_vectors : array of float32, shape (n_new, n_dims)
        Embeddings of the new papers, L2-normalised.
    vectors : array of float32, shape (n_papers, n_dims)
        Embeddings of the papers of the map.
    nearest_old : array of float32, shape (n_new,), optional
        Cosine similarity of each new paper to the nearest paper of the map, if it is known.
    chance : float, default 0.001
        Probability for a paper of a subject that the map knows.

    Returns
    -------
    array of bool, shape (n_new,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> vectors = rng.normal(size=(90, 3)).astype("float32") + np.float32([9, 0, 0])
    >>> new = rng.normal(size=(10, 3)).astype("float32") + np.float32([0, 9, 0])
    >>> unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (new, vectors)]
    >>> bool(find_emerging(*unit).all())
    True
    """
    n_new, n_old = len(new_vectors), len(vectors)
    share = n_new / max(n_new + n_old, 1)
    k = max(_FEWEST, int(np.ceil(np.log(chance) / np.log(share)))) if 0 < share < 1 else n_new
    if n_new <= k or not n_old:
        return np.zeros(n_new, dtype=bool)
    if nearest_old is None:
        nearest_old = nearest(vectors, new_vectors, k=1)[1][:, 0]
    _, own = nearest(new_vectors, new_vectors, k=k + 1)  # the first is the paper itself
    return own[:, k] > nearest_old


def propose_regions(
    vectors: NDArray[np.float32],
    novel: NDArray[np.bool_],
    keywords: pa.Array,
    months: Sequence[str],
    sources: Sequence[str],
) -> list[Proposal]:
    """Find groups of novel papers, and name each by its most distinctive keyphrase.

    Parameters
    ----------
    vectors : array of float32, shape (n_new, n_dims)
        Embeddings of the new papers.
    novel : array of bool, shape (n_new,)
        Which of them may form a group; see `find_novel` and `find_emerging`.
    keywords : pyarrow.ListArray, length n_papers
        Keyphrases of all papers. The new papers come last.
    months, sources : sequence of str, length n_new
        Month of publication and source of each new paper. A group that consists of one month or one
        source, though the other new papers do not, has a warning.

    Returns
    -------
    list of Proposal
        Largest groups first.
    """
    rows = np.flatnonzero(novel)
    if len(rows) < _GROUP:
        return []
    group = _group(np.asarray(vectors[rows], dtype=np.float64))
    n_groups = int(group.max()) + 1
    if n_groups == 0:
        return []
    names = _distinctive_phrases(keywords, len(keywords) - len(vectors), rows, group)
    proposals = [
        Proposal(
            names[number],
            found := rows[group == number],
            _one_sided(found, months, "month") or _one_sided(found, sources, "source"),
        )
        for number in range(n_groups)
    ]
    return sorted(proposals, key=lambda proposal: -len(proposal.rows))


def _group(vectors: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the group of each paper, or -1.

    On unit vectors, Euclidean distances are in the order of cosine distances. The leaves of the
    tree of HDBSCAN are subjects, and larger branches join several (benchmarks/updates.py). If the
    tree has no branches, all papers may be one group.
    """
    from hdbscan import HDBSCAN

    for method, single in (("leaf", False), ("eom", True)):
        group = HDBSCAN(
            min_cluster_size=_GROUP,
            min_samples=_CORE,
            cluster_selection_method=method,
            allow_single_cluster=single,
            core_dist_n_jobs=1,
        ).fit_predict(vectors)
        if group.max() >= 0:
            break
    return np.asarray(group, dtype=np.int64)


def _distinctive_phrases(
    keywords: pa.Array, n_map: int, rows: NDArray[np.int64], group: NDArray[np.int64]
) -> list[str]:
    """Name each group by the phrase that its papers have and the papers of the map do not.

    The score of a phrase is its contribution to the Kullback-Leibler divergence of the group from
    the map: its share in the group times the logarithm of its lift.
    """
    table = phrase_table(keywords)
    on_map = np.bincount(table.phrase[table.paper < n_map], minlength=len(table.forms))
    names = []
    for number in range(int(group.max()) + 1):
        papers = n_map + rows[group == number]
        uses = np.bincount(table.phrase[np.isin(table.paper, papers)], minlength=len(table.forms))
        share = uses / len(papers)
        lift = share / ((on_map + 0.5) / max(n_map, 1))
        score = share * np.log(np.maximum(lift, 1.0)) * table.promise
        names.append(capitalised(str(table.shown[score.argmax()])) if score.any() else "no phrase")
    return names


def _one_sided(rows: NDArray[np.int64], values: Sequence[str], what: str) -> str:
    """Return a warning if most papers share a value that most other papers do not have."""
    inside = [values[row] for row in rows.tolist()]
    value = max(sorted(set(inside)), key=inside.count)
    others = len(values) - len(rows)
    elsewhere = list(values).count(value) - inside.count(value)
    if inside.count(value) < _ONE_SIDED * len(rows) or not value:
        return ""
    if others == 0 or elsewhere >= 0.5 * others:
        return ""  # the new papers are all of this month or source
    return f"all of one {what} ({value})"


def compare_regions(
    old: pd.DataFrame,
    new: pd.DataFrame,
    before: NDArray[np.integer],
    after: NDArray[np.integer],
    *,
    known_sizes: Mapping[int, int] = MappingProxyType({}),
) -> list[dict[str, object]]:
    """List the regions that were born, split, merged, renamed, or changed their size, with reasons.

    Parameters
    ----------
    old, new : pandas.DataFrame
        Tables of topics of the old and the new version, with ``topic_id, level, label, n_papers``.
        The same number is the same region.
    before, after : array of int, shape (n_papers,)
        Region of each paper in both versions; -1 is outside every region, and -2 in `before` is a
        new paper.
    known_sizes : mapping of int to int, optional
        Numbers of papers of regions when they were last listed. By default, those in `old`.

    Returns
    -------
    list of dict
        ``kind, topic_id, label, papers, papers_before, reason`` for each change.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.DataFrame({"topic_id": [4], "level": 1, "label": ["Comets"], "n_papers": [9]})
    >>> new = old.assign(label="Interstellar comets", n_papers=20)
    >>> before, after = np.repeat([4, -2], [9, 11]), np.full(20, 4)
    >>> [(one["kind"], one["reason"]) for one in compare_regions(old, new, before, after)]
    [('renamed', 'was Comets'), ('grew', '11 new papers')]
    """
    old, new = (table.loc[table["level"] == 1].set_index("topic_id") for table in (old, new))
    changes: list[dict[str, object]] = []

    def add(kind: str, number: int, papers: int, papers_before: int, reason: str) -> None:
        label = str((new if number in new.index else old)["label"][number])
        changes.append(
            {
                "kind": kind,
                "topic_id": number,
                "label": label,
                "papers": papers,
                "papers_before": papers_before,
                "reason": reason,
            }
        )

    for number in map(int, new.index):
        own, size = after == number, int(new["n_papers"][number])
        came = before[own]
        n_new = int((came == -2).sum())
        if number not in old.index:
            largest, n = _largest(came)
            if n >= size / 2:
                reason = f"{n:,} of its {size:,} papers were in {old['label'][largest]}"
                add("split", number, size, 0, reason)
            else:
                add("born", number, size, 0, f"{n_new:,} of its {size:,} papers are new")
            continue
        size_before = int(known_sizes.get(number, old["n_papers"][number]))
        if new["label"][number] != old["label"][number]:
            reason = f"was {old['label'][number]}"
            add("renamed", number, size, size_before, reason)
        if abs(size - size_before) >= max(_CHANGED * size_before, _FEWEST):
            n_in = int(((came != number) & (came != -2)).sum())
            n_out = int((before[~own] == number).sum())
            parts = [(n_new, "new"), (n_in, "from elsewhere on the map"), (-n_out, "left")]
            texts = [_papers(n, what) for n, what in parts if n] or ["papers were removed"]
            add(
                "grew" if size > size_before else "shrank",
                number,
                size,
                size_before,
                ", ".join(texts),
            )
    for number in map(int, old.index.difference(new.index)):
        goes = after[before == number]
        largest, n = _largest(goes)
        size = int(old["n_papers"][number])
        if n >= len(goes) / 2 and n:
            reason = f"{n:,} of its {size:,} papers are now in {new['label'][largest]}"
            add("merged", number, 0, size, reason)
        else:
            add("dissolved", number, 0, size, "most of its papers are outside every region")
    return changes


def _largest(regions: NDArray[np.integer]) -> tuple[int, int]:
    """Return the most frequent region and its number of papers, or (-1, 0)."""
    values, counts = np.unique(regions[regions >= 0], return_counts=True)
    return (int(values[counts.argmax()]), int(counts.max())) if len(values) else (-1, 0)


def _papers(number: int, what: str) -> str:
    """Write a number of papers, such as "2 new papers" or "3 papers left"."""
    noun = "paper" if abs(number) == 1 else "papers"
    return f"{number:,} new {noun}" if what == "new" else f"{abs(number):,} {noun} {what}"


def register(
    coordinates: NDArray[np.float32], frame: NDArray[np.float32], rows: NDArray[np.integer]
) -> NDArray[np.float32]:
    r"""Move a new map onto the frame of the published one by a similarity transform.

    The rotation, reflection, scale and shift minimise the squared distances between the shared
    papers (Procrustes; Schönemann 1966, Psychometrika 31, 1).

    Parameters
    ----------
    coordinates : array of float, shape (n_papers, 2)
        The new map.
    frame : array of float, shape (n_shared, 2)
        Published coordinates of the shared papers.
    rows : array of int, shape (n_shared,)
        Rows of the shared papers in the new map.

    Returns
    -------
    array of float32, shape (n_papers, 2)

    Examples
    --------
    >>> old = np.array([[0, 0], [1, 0], [0, 2]], dtype="float32")
    >>> turned = np.array([[5, 5], [5, 7], [1, 5]], dtype="float32")
    >>> np.allclose(register(turned, old, np.arange(3)), old, atol=1e-5)
    True
    """
    shared = coordinates[rows].astype(np.float64)
    target = np.asarray(frame, dtype=np.float64)
    centre, goal = shared.mean(axis=0), target.mean(axis=0)
    left, sizes, right = np.linalg.svd((shared - centre).T @ (target - goal))
    spread = ((shared - centre) ** 2).sum()
    scale = sizes.sum() / spread if spread > 0 else 1.0
    moved = scale * (coordinates.astype(np.float64) - centre) @ (left @ right) + goal
    return cast("NDArray[np.float32]", moved.astype(np.float32))
