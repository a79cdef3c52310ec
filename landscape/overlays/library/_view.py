"""The library of a user on an atlas: its papers, its regions, and the links between its papers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count, join_names
from landscape.corpus.libraries import Library, open_library
from landscape.embeddings.neighbours import nearest
from landscape.errors import InputError
from landscape.overlays.citations import citation_graph
from landscape.search import open_engine
from landscape.types import Analysis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store import AtlasStore

    Rows = NDArray[np.int64]

_PAPERS = ["key", "title", "year", "in_atlas", "region", "mark", "paper_id"]
_PAPERS += ["collections", "tags", "notes"]
_Link = tuple[int, int, str, float]  # rows of two papers, kind and weight
_KNOWN = 3  # papers of the library in a region that its owner knows
_NEIGHBOURS = 10  # papers of the atlas around each paper of the library
_MAX_COMPARED = 1_000  # papers of the library whose neighbours are searched
_LINKED, _LEAST_SIMILAR = 3, 0.5  # similar papers of each paper in the graph, least cosine


def library_rows(atlas: AtlasStore, library: Library | str | os.PathLike[str]) -> Rows:
    """Return the rows of the papers of a library that an atlas has, in ascending order.

    Parameters
    ----------
    atlas : AtlasStore
    library : Library, str or path
        Library, its name, or a file of papers.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    InputError
        If the library cannot be read, or the atlas has none of its papers.

    Examples
    --------
    >>> import landscape
    >>> library_rows(landscape.open("my.atlas"), "mine")  # doctest: +SKIP
    """
    found = open_library(library)
    rows = open_engine(atlas).indexes.rows_of_entries(found.entries)
    rows = np.unique(rows[rows >= 0])
    if not len(rows):
        raise InputError(
            f"None of the {count(len(found), 'paper')} in the library {found.name} is in this "
            f"atlas ({atlas.path}); use an atlas of the same field."
        )
    return rows


def library_papers(atlas: AtlasStore, library: str | Library) -> Analysis:
    """List the papers of a library, and whether an atlas has them.

    Parameters
    ----------
    atlas : AtlasStore
    library : str
        Name of the library, or a file of papers.

    Returns
    -------
    Analysis
        One row per entry: ``key, title, year, in_atlas, region, mark, paper_id, collections, tags,
        notes``. The papers that the atlas lacks come last.
    """
    import pandas as pd

    found = open_library(library)
    indexes = open_engine(atlas).indexes
    rows = indexes.rows_of_entries(found.entries)
    topics, ids = atlas.map["topic_id"].to_numpy(), atlas.map["paper_id"].to_numpy()
    of_row = {
        row: mark for mark in sorted({*found.marks.values()})
        for row in indexes.rows_of_marks(found, mark).tolist()
    }  # fmt: skip
    table = pd.DataFrame(
        [
            {
                "key": entry.key,
                "title": entry.title,
                "year": entry.year,
                "in_atlas": row >= 0,
                "region": atlas.region_names.get(int(topics[row]), "") if row >= 0 else "",
                "mark": of_row.get(row, ""),
                "paper_id": ids[row] if row >= 0 else next(iter(entry.names), ""),
                "collections": "; ".join(entry.collections),
                "tags": "; ".join(entry.tags),
                "notes": " ".join(entry.notes),
            }
            for entry, row in zip(found.entries, rows.tolist(), strict=True)
        ],
        columns=_PAPERS,
    ).astype({"year": "Int64", "in_atlas": bool})
    table = table.sort_values("in_atlas", ascending=False, kind="stable", ignore_index=True)
    n_here = int(table["in_atlas"].sum())
    return Analysis(
        kind="library",
        table=table,
        caption=f"The library {found.name}: the atlas has {n_here:,} of its "
        f"{count(len(table), 'paper')}, and lacks {len(table) - n_here:,}.",
        denominators={"papers in the library": len(table), "papers": len(atlas)},
        bounds=atlas.coverage,
        warnings=found.problems[:3],
    )


def library_regions(atlas: AtlasStore, library: str | Library) -> Analysis:
    """List the regions that the owner of a library knows, borders on, and does not know.

    A region is known if it has at least three papers of the library. It borders on the library if
    at least three of the ten nearest papers (by their vectors) of papers of the library are in it.

    Parameters
    ----------
    atlas : AtlasStore
    library : str
        Name of the library, or a file of papers.

    Returns
    -------
    Analysis
        One row per region: ``topic_id, region, state, mine, near, papers, share``. `near` counts
        papers of the region near those of the library, and `share` is the share of the library.
    """
    found = open_library(library)
    mine = library_rows(atlas, found)
    topics = atlas.map["topic_id"]
    regions = atlas.topics[atlas.topics["level"] == 1]
    ids = regions["topic_id"].to_numpy()
    own, near = (
        topics.iloc[rows].value_counts().reindex(ids, fill_value=0).to_numpy()
        for rows in (mine, _around(atlas, mine))
    )
    known, borders = own >= _KNOWN, near >= _KNOWN
    state = np.select([known, borders], ["known", "bordering"], "unknown")
    table = regions[["topic_id"]].assign(
        region=regions["label"],
        state=state,
        mine=own,
        near=near,
        papers=regions["n_papers"],
        share=own / len(mine),
    )
    order = {"known": 0, "bordering": 1, "unknown": 2}
    table = table.assign(order=table["state"].map(order)).sort_values(
        ["order", "mine", "near", "papers"],
        ascending=[True, False, False, False],
        kind="stable",
        ignore_index=True,
    )
    counts = table["state"].value_counts()
    words = join_names([f"{counts.get(name, 0):,} {name}" for name in order])
    return Analysis(
        kind="library_regions",
        table=table.drop(columns="order"),
        caption=f"Regions for the library {found.name}: {words}.",
        denominators={"papers of the library": len(mine), "papers": len(atlas)},
        bounds=atlas.coverage,
    )


def _around(atlas: AtlasStore, mine: Rows) -> Rows:
    """Return the rows of the papers nearest to those of a library, without its own."""
    vectors = open_engine(atlas).indexes.vectors
    some = mine[:: max(1, len(mine) // _MAX_COMPARED)]
    found = [vectors.search(one, k=_NEIGHBOURS + 1).rows for one in vectors.vectors(some)]
    return np.setdiff1d(np.concatenate(found), mine)


def library_graph(atlas: AtlasStore, library: str | Library) -> Analysis:
    """List the links between the papers of a library: citations and similar texts.

    Parameters
    ----------
    atlas : AtlasStore
    library : str
        Name of the library, or a file of papers.

    Returns
    -------
    Analysis
        One row per link: ``source, target, kind, weight, source_title, target_title``; `kind` is
        "cites" or "similar", with the cosine as weight. ``tables["papers"]`` has ``paper_id, title,
        year, region, links, x, y``.
    """
    import pandas as pd

    found = open_library(library)
    mine = library_rows(atlas, found)
    columns = ["source_row", "target_row", "kind", "weight"]
    links = pd.DataFrame([*_citations(atlas, mine), *_similar(atlas, mine)], columns=columns)
    links = links.astype({"source_row": int, "target_row": int, "weight": float})
    papers = atlas.read_papers(["paper_id", "title", "year"], rows=mine)
    place = atlas.map.iloc[mine]
    ends = links[["source_row", "target_row"]].to_numpy(np.int64)
    degree = pd.Series(ends.ravel()).value_counts()
    papers = papers.assign(
        region=[atlas.region_names.get(int(topic), "") for topic in place["topic_id"]],
        links=[int(degree.get(row, 0)) for row in mine.tolist()],
        x=place["x"].to_numpy(),
        y=place["y"].to_numpy(),
    )
    at = np.searchsorted(mine, ends)
    names, titles = papers["paper_id"].to_numpy(), papers["title"].to_numpy()
    table = links.assign(
        source=names[at[:, 0]],
        target=names[at[:, 1]],
        source_title=titles[at[:, 0]],
        target_title=titles[at[:, 1]],
    )
    n_cites = int((table["kind"] == "cites").sum())
    no_links = not citation_graph(atlas).n_links
    return Analysis(
        kind="library_graph",
        table=table[["source", "target", "kind", "weight", "source_title", "target_title"]],
        caption=f"Links between the papers of the library {found.name}: "
        f"{count(n_cites, 'citation')} and {count(len(table) - n_cites, 'pair')} of similar texts.",
        denominators={"papers of the library": len(mine)},
        bounds=atlas.coverage,
        warnings=("The atlas has no citations.",) if no_links else (),
        tables={"papers": papers, "rows": links},
    )


def _citations(atlas: AtlasStore, mine: Rows) -> list[_Link]:
    graph = citation_graph(atlas)
    return [
        (row, int(node), "cites", 1.0)
        for row in (mine.tolist() if graph.n_links else ())
        for node in np.intersect1d(graph.reference_links.of(row), mine)
    ]


def _similar(atlas: AtlasStore, mine: Rows) -> list[_Link]:
    """Return pairs of papers of which each is among the three nearest of the other."""
    vectors = open_engine(atlas).indexes.vectors.vectors(mine)
    k = min(_LINKED + 1, len(mine))
    places, cosines = nearest(vectors, vectors, k=k)
    near = {
        (row, int(place)): float(cosine)
        for row, (own, values) in enumerate(zip(places, cosines, strict=True))
        for place, cosine in zip(own, values, strict=True)
        if place != row and cosine >= _LEAST_SIMILAR
    }
    return [
        (int(mine[one]), int(mine[other]), "similar", round(cosine, 3))
        for (one, other), cosine in near.items()
        if one < other and (other, one) in near
    ]
