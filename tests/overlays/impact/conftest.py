"""An atlas in memory with known truth: two fields of two regions each, and two facilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

REGIONS = ("Pulsars", "Magnetars", "Galaxies", "Quasars")
CATEGORIES = ("astro-ph.HE", "astro-ph.HE", "astro-ph.GA", "astro-ph.GA")


@dataclass
class AtlasInMemory:
    """The parts of an atlas that the overlays use."""

    papers: pd.DataFrame
    map: pd.DataFrame
    missions: pd.DataFrame
    topics: pd.DataFrame
    embedding: NDArray[np.float32]
    uat: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame({"paper_row": [], "concept_id": [], "score": []})
    )
    thesaurus: Any = None
    bibliographies: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame({"facility": [], "paper_id": []})
    )

    def read_papers(self, columns: list[str]) -> pd.DataFrame:
        return self.papers[columns]

    def read_layer(self, layer: str, columns: list[str]) -> pd.DataFrame:
        whole: pd.DataFrame = getattr(self, layer)
        return whole[["paper_row", *columns]]

    def vectors(self) -> NDArray[np.float32]:
        return self.embedding

    @property
    def coverage(self) -> dict[str, Any]:
        return {
            "title": "Synthetic",
            "papers": len(self.papers),
            "sources": {"synthetic": len(self.papers)},
            "first_date": "2000-01-01",
            "last_date": "2019-12-31",
            "generated": True,
        }


def make_atlas(
    region: NDArray[np.int64],
    year: NDArray[np.int64],
    uses: dict[str, NDArray[np.bool_]],
    *,
    cites: NDArray[np.float64] | None = None,
    vectors: NDArray[np.float32] | None = None,
    categories: list[list[str]] | None = None,
    references: list[list[str]] | None = None,
) -> AtlasInMemory:
    """Return an atlas of papers in regions (-1 for none); the topic ids are 10, 11, ..."""
    n = len(region)
    names = [f"paper-{row}" for row in range(n)]
    counts = pd.array([pd.NA] * n, dtype="Int32") if cites is None else cites
    papers = pd.DataFrame(
        {
            "paper_id": names,
            "bibcode": names,
            "date": pd.to_datetime([f"{when}-07-01" for when in year]),
            "year": year.astype(np.int16),
            "cites": counts,
            "categories": categories or [[CATEGORIES[place]] for place in region],
            "ref_bibcodes": references or [[] for _ in names],
        }
    )
    mentions = [
        (names[row], row, facility, part, 0, 4, facility, "science")
        for facility, mask in uses.items()
        for row in np.flatnonzero(mask)
        for part in ("title", "abstract")  # said twice, used once
    ]
    columns = ["paper_id", "paper_row", "facility", "field", "start", "end", "surface", "role"]
    if vectors is None:
        vectors = np.eye(len(REGIONS) + 1, dtype=np.float32)[region]
    return AtlasInMemory(
        papers=papers,
        map=pd.DataFrame(
            {
                "paper_id": names,
                "x": region * 1.0,
                "y": 0.0 * region,
                "topic_id": np.where(region >= 0, region + 10, -1),
            }
        ),
        missions=pd.DataFrame(mentions, columns=columns),
        topics=pd.DataFrame(
            {
                "topic_id": [1000, 10, 11, 12, 13],
                "label": ["Everything", *REGIONS],
                "level": [0, 1, 1, 1, 1],
                "x": [1.5, 0.0, 1.0, 2.0, 3.0],
                "y": 0.0,
            }
        ),
        embedding=vectors,
    )


@pytest.fixture
def make() -> Any:
    """The function `make_atlas`, as a fixture."""
    return make_atlas
