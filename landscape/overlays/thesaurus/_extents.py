"""Measure the extent and separability of concepts on the map, and count their papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus.thesaurus import MIN_SCORE, Thesaurus
from landscape.errors import InputError
from landscape.mapping import density_grid
from landscape.mapping.density import (
    DensityGrid,
    contour_lines,
    count_pieces,
    default_bandwidth,
    highest_density_levels,
    map_extent,
)
from landscape.mapping.quality import area_under_curve
from landscape.overlays.periods import describe_corpus, warn
from landscape.statistics import normal_interval
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from landscape.corpus.thesaurus import Concept
    from landscape.store import AtlasStore

_OCCUPIED = 0.98  # share of papers in the occupied area of the map
_FEW_PAPERS = 30  # warn if a concept has fewer papers than this
_CONTOUR_KERNEL = 2.0  # width of the kernel of contours, relative to the default
_MIN_PIECE = 0.01  # minimum share of the concept's papers in a counted piece
_MARGIN = 0.12  # margin of the grids, so that no contour reaches their edge
# Borders of territories: width of the kernel relative to the default, prior papers of a group,
# least ratio of shares, minimum papers in a kernel, minimum share of all papers in a territory,
# cells along the longer side.
_BORDER_KERNEL, _PRIOR, _OVER, _LAND, _MIN_SHARE = 1.8, 3.0, 1.3, 3.0, 0.007
_CELLS = 300


def thesaurus_overlay(
    atlas: AtlasStore,
    *,
    concepts: Sequence[str] | None = None,
    shares: Sequence[float] = (0.5, 0.8),
    least_score: float = MIN_SCORE,
    seed: int = 0,
) -> Analysis:
    """Find the extent of each concept on the map.

    Parameters
    ----------
    atlas : Atlas
        Atlas with a thesaurus and tagged papers.
    concepts : sequence of str, optional
        Names or ids of concepts; default: top concepts of the thesaurus.
    shares : sequence of float, default (0.5, 0.8)
        Shares of a concept's papers inside the contours.
    least_score : float, default 0.25
        Minimum probability that a paper is about the concept or a narrower concept. It is computed
        from the scores of the tags; see `concept_members`.
    seed : int, default 0
        Seed for the sample of papers used for the separability.

    Returns
    -------
    Analysis
        Table with one row per concept: ``concept_id, label, papers, share`` (of all papers). For
        each contour, for example 50%, ``area_50`` is the area as a fraction of the occupied map
        (the smallest area with 98% of all papers), and ``pieces_50`` is the number of pieces with
        at least 1% of the concept's papers. ``separability_full`` and ``separability_map``, with
        ``_low`` and ``_high``, are areas under the ROC curve in the embedding space and on
        the map. Papers are classified by the share of the concept among their 15 nearest
        neighbours in a sample of 4,000 papers.
        ``tables["contours"]``: ``concept_id, label, share, piece, order, x, y``.
        ``tables["territories"]``: the borders of the places in which a concept is the most
        over-represented one, ``concept_id, label, piece, order, x, y``. Places with less than
        0.7% of the papers belong to their neighbours; the coast of the map has no concept.
        ``tables["places"]``: each connected territory, ``concept_id, label, x, y, papers,
        ratio`` (share of the concept there, relative to all papers).

    Raises
    ------
    InputError
        If a concept is unknown, or if no paper has a tag.
    """
    import pandas as pd

    tags = atlas.read_layer("uat", ["concept_id", "score"])
    if not len(tags):
        raise InputError(
            f"No paper of {atlas.coverage['title']} is tagged with a concept of the thesaurus; "
            "build the atlas with another thesaurus."
        )
    uat: Thesaurus = atlas.thesaurus
    wanted = [uat.find(one) for one in (uat.top if concepts is None else concepts)]
    wanted = list({one.concept_id: one for one in wanted}.values())
    x, y = (atlas.map[axis].to_numpy(dtype=np.float64) for axis in "xy")
    members = concept_members(tags, uat, wanted, n_papers=len(x), least_score=least_score)
    table, contours = measure_extents(x, y, members, shares=shares)
    names = pd.DataFrame(
        {"concept_id": [one.concept_id for one in wanted], "label": [one.label for one in wanted]}
    )
    table = names.join(table)
    for space, points in (("full", atlas.vectors()), ("map", np.column_stack([x, y]))):
        table = table.join(measure_separability(points, members, space=space, seed=seed))
    held = members.any(axis=1)
    few = table[table["papers"] < _FEW_PAPERS]
    named = ", ".join(f"{row.label} ({row.papers})" for row in few.itertuples())
    return Analysis(
        "thesaurus_overlay",
        table,
        f"Extents of {len(wanted)} concepts of the thesaurus on the map of "
        f"{describe_corpus(atlas)}: highest-density contours that contain "
        f"{' and '.join(f'{share:.0%}' for share in shares)} of the papers tagged with the "
        f"concept or a narrower concept. A paper counts if the combined score of these "
        f"concepts is at least {least_score:g}.",
        {"papers": len(x), "papers with one of these concepts": int(held.sum())},
        atlas.coverage,
        warn(
            "extents",
            {"few": named, "untagged": not held.all()},
            concepts=named,
            share=1 - held.mean(),
        ),
        {
            name: names.merge(part, "right", left_index=True, right_on="group").drop(
                columns="group"
            )
            for name, part in {"contours": contours, **trace_territories(x, y, members)}.items()
        },
    )


def concept_members(
    tags: pd.DataFrame,
    thesaurus: Thesaurus,
    concepts: Sequence[Concept],
    *,
    n_papers: int,
    least_score: float = MIN_SCORE,
) -> NDArray[np.bool_]:
    r"""Return a mask of the papers about each concept or its narrower concepts.

    The mask is True if the probability is at least `least_score`. The probability is
    :math:`1 - \prod (1 - s)` over the scores s of the tags.
    """
    surprise = _surprise(tags, thesaurus, n_papers) @ _upwards(thesaurus)
    column_of = {concept_id: column for column, concept_id in enumerate(thesaurus.concepts)}
    columns = [column_of[concept.concept_id] for concept in concepts]
    return _likely(surprise, least_score)[:, columns].toarray()


def measure_extents(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    members: NDArray[np.bool_],
    *,
    shares: Sequence[float] = (0.5, 0.8),
    shape: tuple[int, int] = (256, 256),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure the area of groups of papers, and trace their contours."""
    import pandas as pd

    extent = map_extent(x, y, margin=_MARGIN)
    everything = density_grid(x, y, bounds=extent, shape=shape)
    occupied = (everything.density >= highest_density_levels(everything, (_OCCUPIED,))[0]).sum()
    rows: list[dict[str, float]] = []
    lines: list[pd.DataFrame] = []
    nothing = pd.DataFrame(columns=["group", "share", "piece", "order", "x", "y"], dtype=float)
    for group in members.T:
        # Contours need a wider kernel than the default, which resolves many peaks.
        width = _CONTOUR_KERNEL * default_bandwidth(x[group], y[group])
        grid = density_grid(x[group], y[group], bounds=extent, shape=shape, bandwidth=width)
        levels = highest_density_levels(grid, shares)
        row = {"papers": int(group.sum()), "share": float(group.mean())}
        for share, level in zip(shares, levels, strict=True):
            cells = int((grid.density >= level).sum())
            row[f"area_{share * 100:g}"] = cells / max(int(occupied), 1)
            row[f"pieces_{share * 100:g}"] = count_pieces(grid, level, least_share=_MIN_PIECE)
            lines += [
                pd.DataFrame(
                    {
                        "group": len(rows),
                        "share": share,
                        "piece": piece,
                        "order": np.arange(len(line)),
                        "x": line[:, 0],
                        "y": line[:, 1],
                    }
                )
                for piece, line in enumerate(contour_lines(grid, level))
            ]
        rows.append(row)
    return pd.DataFrame(rows), pd.concat(lines or [nothing], ignore_index=True)


def trace_territories(
    x: NDArray[np.float64], y: NDArray[np.float64], members: NDArray[np.bool_]
) -> dict[str, pd.DataFrame]:
    """Trace the places in which each group of papers is the most over-represented one."""
    import pandas as pd
    from scipy.ndimage import distance_transform_edt, gaussian_filter, label

    extent = x0, y0, x1, y1 = map_extent(x, y, margin=_MARGIN)
    cell = max(x1 - x0, y1 - y0) / _CELLS
    shape = max(8, round((y1 - y0) / cell)), max(8, round((x1 - x0) / cell))
    kernel = max(_BORDER_KERNEL * default_bandwidth(x, y), 1.2 * cell)
    n, overall = len(x), np.maximum(members.mean(axis=0), 1e-9)
    papers, *own = (
        density_grid(x[inside], y[inside], bounds=extent, shape=shape, bandwidth=kernel).density
        * max(4 * np.pi * kernel**2 / cell**2, 1.0)
        for inside in (np.ones(n, dtype=bool), *members.T)
    )
    # Logarithms of the ratios of shares, shrunk to 1 if papers are few; the last is for no group.
    ratios = [
        np.log((its + _PRIOR) / (mean * papers + _PRIOR))
        for its, mean in zip(own, overall, strict=True)
    ]
    scores = np.stack([*ratios, np.where(papers >= 4 * _LAND, np.log(_OVER), 0.0)])
    rows, columns = DensityGrid.of_window(extent, papers).cells_of(x, y)
    land = min(_LAND, papers.max() / 2)
    leader = np.where(papers >= land, scores.argmax(axis=0), -1)
    is_large = np.zeros(shape, dtype=bool)
    for group in range(len(scores)):
        pieces, n_pieces = label(leader == group)
        counts = np.bincount(pieces[rows, columns], minlength=n_pieces + 1)
        is_large |= (pieces > 0) & (counts >= _MIN_SHARE * n)[pieces]
    if is_large.any():  # small places and the sea belong to the nearest large place
        row, column = distance_transform_edt(~is_large, return_distances=False, return_indices=True)
        nearest = scores.argmax(axis=0)[row, column]
        scores += ~is_large * 99.0 * (np.arange(len(scores))[:, None, None] == nearest)
        leader = np.where(leader >= 0, nearest, -1)
    places = []
    for group, inside in enumerate(members.T):
        pieces, n_pieces = label(leader == group)
        held = pieces[rows, columns]
        counts = np.bincount(held, minlength=n_pieces + 1)
        for piece in np.flatnonzero(counts[1:] >= _MIN_SHARE * n) + 1:
            depth = distance_transform_edt(np.pad(pieces == piece, 1))[1:-1, 1:-1]
            row, column = np.unravel_index(int(depth.argmax()), shape)
            places.append(
                {
                    "group": group,
                    "x": x0 + (column + 0.5) * cell,
                    "y": y0 + (row + 0.5) * cell,
                    "papers": counts[piece],
                    "ratio": inside[held == piece].mean() / overall[group],
                }
            )
    coast = np.log(np.maximum(papers, 1e-12) / land)
    lines = []
    for group in range(-1, len(overall)):
        others = np.delete(scores, group, axis=0).max(axis=0)
        margin = gaussian_filter(np.clip(scores[group] - others, -0.05, 0.05), 1.2)
        own_side = np.minimum(margin, coast / 5) if group >= 0 else coast
        contours = contour_lines(DensityGrid.of_window(extent, np.exp(own_side)), 1.0)
        lines += [
            pd.DataFrame(
                {
                    "group": group,
                    "piece": piece,
                    "order": np.arange(len(line)),
                    "x": line[:, 0],
                    "y": line[:, 1],
                }
            )
            for piece, line in enumerate(contours)
            if np.ptp(line, axis=0).max() > 3 * cell
        ]
    table = pd.DataFrame(places, columns=["group", "x", "y", "papers", "ratio"])
    return {
        "territories": pd.concat(lines, ignore_index=True),
        "places": table.sort_values("papers", ascending=False, ignore_index=True),
    }


def measure_separability(
    points: NDArray[np.floating], members: NDArray[np.bool_], *, space: str, seed: int = 0
) -> pd.DataFrame:
    """Return the ROC area for predicting each group from its share among the nearest neighbours."""
    import pandas as pd

    scores, belongs = neighbour_shares(points, members, seed=seed)
    areas = np.array(
        [area_under_curve(score, inside) for score, inside in zip(scores.T, belongs.T, strict=True)]
    )
    middle, error = areas.reshape(-1, 2).T
    name, (low, high) = f"separability_{space}", normal_interval(middle, error)
    return pd.DataFrame(
        {name: middle, f"{name}_low": np.clip(low, 0, 1), f"{name}_high": np.clip(high, 0, 1)}
    )


def concept_counts(atlas: AtlasStore, *, least_score: float = MIN_SCORE) -> Analysis:
    """Count the papers of each concept, with and without its narrower concepts.

    Papers are selected as in `concept_members`, so that the table agrees with `thesaurus_overlay`.

    Parameters
    ----------
    atlas : Atlas
    least_score : float, default 0.25
        Minimum score of the tag of a paper.

    Returns
    -------
    Analysis
        One row per concept with papers: ``concept_id, label, level, papers`` (papers tagged
        with the concept), ``with_narrower`` (papers tagged with the concept or a narrower concept),
        and ``share`` (share of these papers in the corpus).
    """
    thesaurus: Thesaurus = atlas.thesaurus
    tags = atlas.read_layer("uat", ["concept_id", "score"])
    n = len(atlas.map)
    table = count_concepts(tags, thesaurus, n_papers=n, least_score=least_score)
    tagged = int(tags.loc[tags["score"] >= least_score, "paper_row"].nunique())
    bounds = atlas.coverage
    dates = f"{str(bounds['first_date'])[:10]} to {str(bounds['last_date'])[:10]}"
    release = f" (release {thesaurus.version})" if thesaurus.version else ""
    caption = (
        f"Papers of {bounds['title']} ({dates}) by concept of the Unified Astronomy "
        f"Thesaurus{release}; a paper may have several concepts. A paper counts if the score of "
        f"the concept or of a narrower one is at least {least_score:g}."
    )
    without = f"{n - tagged:,} papers have no tag with a score of {least_score:g} or more."
    warnings = (without,) if n > tagged else ()
    counts = {"papers": n, "papers with a concept": tagged}
    return Analysis("concepts", table, caption, counts, bounds, warnings)


def count_concepts(
    tags: pd.DataFrame, thesaurus: Thesaurus, *, n_papers: int, least_score: float = MIN_SCORE
) -> pd.DataFrame:
    """Count the papers of each concept; each paper counts at most once per broader concept."""
    import pandas as pd

    direct = _surprise(tags, thesaurus, n_papers)
    own, with_narrower = (
        _likely(surprise, least_score).getnnz(axis=0)
        for surprise in (direct, direct @ _upwards(thesaurus))
    )
    table = pd.DataFrame(
        {
            "concept_id": list(thesaurus.concepts),
            "label": [concept.label for concept in thesaurus.concepts.values()],
            "level": _levels(thesaurus),
            "papers": own.astype(np.int64),
            "with_narrower": with_narrower.astype(np.int64),
            "share": with_narrower / max(n_papers, 1),
        }
    )
    found = table[table["with_narrower"] > 0]
    return found.sort_values(
        ["with_narrower", "level", "label"], ascending=[False, True, True], ignore_index=True
    )


def _surprise(tags: pd.DataFrame, thesaurus: Thesaurus, n_papers: int) -> csr_matrix:
    """Return -log(1 - score) of each tag. The sum combines independent probabilities."""
    import pandas as pd
    from scipy.sparse import csr_matrix

    columns = pd.Index(list(thesaurus.concepts)).get_indexer(tags["concept_id"].astype(object))
    known = columns >= 0
    scores = tags["score"].to_numpy(dtype=np.float64)[known]
    places = (tags["paper_row"].to_numpy()[known], columns[known])
    surprise = -np.log1p(-np.clip(scores, 0.0, 1 - 1e-9))
    return csr_matrix((surprise, places), shape=(n_papers, len(thesaurus.concepts)))


def _likely(surprise: csr_matrix, least_score: float) -> csr_matrix:
    """Return a sparse mask of papers (rows) with a sufficient probability of concepts (columns)."""
    least = -np.log1p(-min(least_score, 1 - 1e-12)) - 1e-12
    return surprise >= max(least, np.finfo(np.float64).tiny)


def _upwards(thesaurus: Thesaurus) -> csr_matrix:
    """Return a sparse 0/1 matrix from each concept (row) to itself and all broader concepts."""
    from scipy.sparse import csr_matrix

    column_of = {concept_id: column for column, concept_id in enumerate(thesaurus.concepts)}
    pairs = [
        (column, column_of[above])
        for one, column in column_of.items()
        for above in (one, *thesaurus.ancestors(one))
    ]
    lower, upper = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(column_of), len(column_of))
    return csr_matrix((np.ones(len(pairs), np.int32), (lower, upper)), shape=shape)


def _levels(thesaurus: Thesaurus) -> list[int]:
    """Return the number of steps from each concept to the nearest top concept."""
    level = dict.fromkeys(thesaurus.top, 0)
    waiting = list(thesaurus.top)
    for one in waiting:
        for below in thesaurus.narrower(one):
            if below not in level:
                level[below] = level[one] + 1
                waiting.append(below)
    return [level[concept_id] for concept_id in thesaurus.concepts]


def neighbour_shares(
    points: NDArray[np.floating],
    members: NDArray[np.bool_],
    *,
    k: int = 15,
    n_sampled: int = 4000,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the share of each group among the nearest neighbours of sampled papers."""
    n = len(points)
    drawn = np.arange(n)
    if n > n_sampled:
        drawn = np.sort(np.random.default_rng(seed).choice(n, n_sampled, replace=False))
    own = np.asarray(points[drawn], dtype=np.float32)
    belongs = members[drawn]
    k = min(k, len(own) - 1)
    if k < 1:
        return np.zeros(belongs.shape), belongs
    squared = np.square(own).sum(axis=1)
    distance = squared[:, None] - 2 * own @ own.T + squared
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
    shares = np.stack(
        [group[nearest].mean(axis=1) for group in belongs.T.astype(np.float64)], axis=1
    )
    return shares, belongs
