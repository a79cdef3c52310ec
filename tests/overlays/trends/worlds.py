"""Small atlases in memory with known truth."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.overlays.trends._authors import place_in_byline


def atlas_of(papers: pd.DataFrame, *, vectors: np.ndarray | None = None) -> Any:
    """Return an atlas with the parts that trends need; papers have ``topic_id`` and ``year``."""
    n = len(papers)
    ids = sorted(set(papers["topic_id"]) - {-1})
    topics = pd.DataFrame(
        {
            "topic_id": [100, *ids],
            "label": ["Everything", *(f"Region {one}" for one in ids)],
            "level": [0] + [1] * len(ids),
            "parent_id": [-1] + [100] * len(ids),
        }
    )
    given = papers.assign(paper_id=[f"paper {row}" for row in range(n)])
    for column, default in {
        "title": "A title",
        "date": pd.NaT,
        "cites": 0,
        "categories": None,
    }.items():
        if column not in given:
            given[column] = default
    at = pd.DataFrame({"x": np.arange(n) * 1.0, "y": 0.0, "topic_id": papers["topic_id"]})

    def select(text: str) -> np.ndarray:
        name = text.removeprefix("author:").strip('"')
        places = [place_in_byline(names, name) for names in given["authors"]]
        return np.flatnonzero(np.array(places) >= 0)

    return SimpleNamespace(
        topics=topics,
        map=at.assign(paper_id=given["paper_id"]),
        coverage={"title": "A small world", "papers": n, "generated": True},
        read_papers=lambda columns: given[list(columns)],
        vectors=lambda: vectors,
        cached=lambda _name, _make: SimpleNamespace(select=select),  # its search engine
    )
