"""Small atlases with known truth: each theme is a direction, and reviews are planted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest


def world(*, sizes, years, reviewed, region_of=None, seed=0, n_dims=24, cites=None):
    """Return an atlas-like object with one cluster of papers per theme.

    ``years`` gives the years of the papers of each theme, ``reviewed`` the years of its reviews.
    """
    random = np.random.default_rng(seed)
    centres = random.normal(size=(len(sizes), n_dims))
    theme = np.repeat(np.arange(len(sizes)), sizes)
    year = np.concatenate([np.sort(random.choice(years[t], n)) for t, n in enumerate(sizes)])
    vectors = centres[theme] + 0.35 * random.normal(size=(len(theme), n_dims))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = []
    for t, wanted in enumerate(reviewed):
        own = np.flatnonzero(theme == t)
        for one in wanted:
            free = own[~np.isin(own, rows)]
            rows.append(int(free[np.argmin(abs(year[free] - one))]))
    regions = np.arange(len(sizes)) if region_of is None else np.asarray(region_of)
    number = len(theme)
    papers = pd.DataFrame(
        {
            "paper_id": [f"p{i}" for i in range(number)],
            "title": [f"Theme {t}, paper {i}" for i, t in enumerate(theme)],
            "abstract": ["We present a map."] * number,
            "year": year,
            "categories": None,
            "cites": pd.array(random.poisson(5, number) if cites is None else cites, dtype="Int32"),
        }
    )
    place = pd.DataFrame(
        {
            "paper_id": papers["paper_id"],
            "x": vectors[:, 0],
            "y": vectors[:, 1],
            "topic_id": regions[theme],
        }
    )
    named = np.unique(regions[regions >= 0])
    topics = pd.DataFrame(
        {
            "topic_id": [*named, 1000],
            "label": [*(f"Region {r}" for r in named), "Continent"],
            "x": 0.0,
            "y": 0.0,
            "level": [1] * len(named) + [0],
        }
    )
    found = pd.DataFrame(
        {
            "paper_id": papers["paper_id"].iloc[rows].to_list(),
            "paper_row": rows,
            "score": 0.9,
            "evidence": "title: a review",
        }
    )
    return SimpleNamespace(
        map=place,
        topics=topics,
        reviews=found,
        theme=theme,
        papers=papers,
        read_papers=lambda columns=None, rows=slice(None): papers.iloc[rows][
            columns or list(papers.columns)
        ],
        read_layer=lambda _, columns: found[["paper_row", *columns]],
        vectors=lambda: vectors.astype(np.float32),
        coverage={
            "title": "A world",
            "papers": number,
            "sources": {},
            "first_date": "1990-01-01",
            "last_date": "2020-12-31",
            "generated": True,
        },
    )


@pytest.fixture(scope="session")
def gap_world():
    """Return 13 themes of equal age; theme 3 has no review and shares region 3 with theme 12."""
    n = 13
    return world(
        sizes=[80] * n,
        years=[np.arange(1990, 2021)] * n,
        reviewed=[() if t == 3 else (2005, 2017) for t in range(n)],
        region_of=[*range(12), 3],
    )
