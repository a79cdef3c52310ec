"""Changes of regions, proposed regions and added papers, with their positions on the map."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError
from landscape.overlays.periods import describe_corpus
from landscape.types import Analysis

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore

# Kinds of changes that decide how a region is marked, the least important ones first.
_IMPORTANCE = {"renamed": 0, "grew": 1, "shrank": 1, "merged": 2, "dissolved": 2}
_NEW = 2  # regions that were born or split
_GONE = ("merged", "dissolved")


def region_changes(atlas: AtlasStore, *, since: str | None = None) -> Analysis:
    """List the regions that updates have changed, proposed regions and added papers.

    Parameters
    ----------
    atlas : Atlas
    since : str, optional
        First day of the changes of regions, such as ``"2026-11-01"``. By default, all changes are
        listed. Proposed regions and added papers are always those since the last fit of the map.

    Returns
    -------
    Analysis
        ``table``: ``date, kind, topic_id, label, x, y, papers, papers_before, reason``, the newest
        and largest changes first. Regions that are not on the map any more have no position.
        ``tables["regions"]`` has one row per region: its most important kind of change, its
        papers before the first and after the last change, and all reasons.
        ``tables["proposed_regions"]`` has ``label, papers, x, y, warning`` of groups of added
        papers, and ``tables["proposed_papers"]`` has ``label, title, date, paper_id`` of their
        papers. ``tables["added"]`` has ``paper_id, paper_row, x, y, topic_id`` of the papers that
        were added since the last fit of the map; it is empty if they are unknown.
        ``tables["added_by_region"]`` has ``topic_id, label, added, papers, share``.

    Raises
    ------
    InputError
        If `since` is not a day.

    Examples
    --------
    >>> import landscape
    >>> atlas = landscape.open("my.atlas")  # doctest: +SKIP
    >>> landscape.overlays.changes.region_changes(atlas, since="2026-11-01")  # doctest: +SKIP
    """
    import pandas as pd

    if since:
        try:
            date.fromisoformat(since)
        except ValueError as error:
            raise InputError(f"since is {since!r}; give a day such as 2026-11-01.") from error
    listed = atlas.changes
    listed = listed[listed["date"] >= (since or "")].reset_index(drop=True)
    regions = atlas.topics[atlas.topics["level"] == 1]
    places = regions.set_index("topic_id")[["x", "y"]]
    # The number of a region that has gone may be that of another region now.
    at = places.reindex(listed["topic_id"]).reset_index(drop=True).astype(float)
    at[listed["kind"].isin(_GONE)] = np.nan
    table = listed.assign(x=at["x"], y=at["y"])[
        ["date", "kind", "topic_id", "label", "x", "y", "papers", "papers_before", "reason"]
    ]
    details = atlas.stages["projection"].details
    added = _added_papers(atlas, details.get("base"))
    columns = ["label", "papers", "x", "y", "warning", "paper_ids"]
    proposals = pd.DataFrame(details.get("proposals") or [], columns=columns)
    kinds = Counter(table["kind"])
    words = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()) or "none"
    when = f" since {since}" if since else ""
    size = (table["papers"] - table["papers_before"]).abs()
    ordered = table.assign(size=size).sort_values(
        ["date", "size"], ascending=[False, False], kind="stable", ignore_index=True
    )
    return Analysis(
        kind="changes",
        table=ordered.drop(columns="size"),
        caption=f"Changes of regions of {describe_corpus(atlas)}{when}: {words}.",
        denominators={
            "regions": len(regions),
            "papers": len(atlas.map),
            **({"papers added since the last fit of the map": len(added)} if len(added) else {}),
        },
        bounds=atlas.coverage,
        tables={
            "regions": _by_region(table),
            "proposed_regions": proposals[columns[:-1]],
            "proposed_papers": _list_papers(atlas, proposals),
            "added": added,
            "added_by_region": _count_added(added, regions),
        },
    )


def _added_papers(atlas: AtlasStore, base: Any) -> pd.DataFrame:
    """Return the papers of the parts that are not in `base`, a list of names or None."""
    parts = atlas.manifest.parts
    later = [isinstance(base, list) and part.name not in base for part in parts]
    rows = np.flatnonzero(np.repeat(later, [part.rows for part in parts]))
    return atlas.map.iloc[rows].assign(paper_row=rows)[
        ["paper_id", "paper_row", "x", "y", "topic_id"]
    ]


def _list_papers(atlas: AtlasStore, proposals: pd.DataFrame) -> pd.DataFrame:
    """Return the papers of proposed regions that are in the atlas."""
    import pandas as pd

    of = proposals[["label", "paper_ids"]].explode("paper_ids")
    rows = pd.Index(atlas.map["paper_id"]).get_indexer(of["paper_ids"])
    papers = atlas.read_papers(["title", "date", "paper_id"], rows=rows[rows >= 0].tolist())
    papers.insert(0, "label", of["label"].to_numpy()[rows >= 0])
    return papers.assign(date=pd.to_datetime(papers["date"]).dt.strftime("%Y-%m-%d"))


def _count_added(added: pd.DataFrame, regions: pd.DataFrame) -> pd.DataFrame:
    """Count the added papers of each region, the most papers first."""
    counts = added["topic_id"].value_counts()
    table = regions.rename(columns={"n_papers": "papers"})[["topic_id", "label", "papers"]]
    table.insert(2, "added", table["topic_id"].map(counts).fillna(0).astype(int))
    table = table[table["added"] > 0].assign(share=lambda some: some["added"] / some["papers"])
    return table.sort_values("added", ascending=False, kind="stable", ignore_index=True)


def _by_region(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per region with its most important change, the largest change first."""
    importance = table["kind"].map(_IMPORTANCE).fillna(_NEW)
    last = table.assign(importance=importance).sort_values("importance", kind="stable")
    chosen = last.drop_duplicates("topic_id", keep="last").set_index("topic_id")
    of = table.groupby("topic_id")
    chosen = chosen.assign(
        papers=of["papers"].last(),
        papers_before=of["papers_before"].first(),
        reason=of["reason"].agg("; ".join),
    )
    change = chosen["papers"] - chosen["papers_before"]
    # Several changes of the size count as one.
    resized = chosen["kind"].isin(["grew", "shrank"])
    chosen["kind"] = chosen["kind"].mask(resized & (change > 0), "grew")
    chosen["kind"] = chosen["kind"].mask(resized & (change < 0), "shrank")
    columns = ["topic_id", "label", "x", "y", "kind", "papers", "papers_before", "reason"]
    ordered = chosen.assign(size=change.abs()).sort_values("size", ascending=False, kind="stable")
    return ordered.reset_index()[columns]
