"""A small atlas in memory, for maps of few papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from landscape.errors import AtlasError


@dataclass(frozen=True)
class SmallAtlas:
    """The parts of an atlas that the outreach map reads."""

    map: pd.DataFrame
    topics: pd.DataFrame
    keywords: list[list[str] | None]
    title: str = "Small"

    def __len__(self) -> int:
        return len(self.map)

    @property
    def coverage(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "papers": len(self),
            "sources": {"made up": len(self)},
            "first_date": "2001-01-01",
            "last_date": "2024-01-01",
            "generated": True,
        }

    @property
    def thesaurus(self) -> Any:
        raise AtlasError("It has no thesaurus.")

    def read_papers(
        self, columns: list[str] | None = None, *, rows: list[int] | None = None
    ) -> pd.DataFrame:
        years = pd.array(2001 + np.arange(len(self)) % 24, dtype="Int64")
        table = pd.DataFrame({"keywords": self.keywords, "year": years})
        table = table if rows is None else table.iloc[rows]
        return table if columns is None else table[columns]


def small_atlas(
    labels: list[str], *, papers: int = 10, title: str = "Small", seed: int = 0
) -> SmallAtlas:
    """Return an atlas with regions on a circle, `papers` papers each."""
    random = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, len(labels), endpoint=False)
    centres = 4 * np.column_stack([np.cos(angles), np.sin(angles)]) * (len(labels) > 1)
    topic = np.repeat(np.arange(len(labels)), papers)
    spots = centres[topic] + random.normal(0, 0.7, (len(topic), 2))
    return SmallAtlas(
        map=pd.DataFrame(
            {
                "paper_id": [f"p{i}" for i in range(len(topic))],
                "x": spots[:, 0].astype(np.float32),
                "y": spots[:, 1].astype(np.float32),
                "topic_id": topic.astype(np.int32),
            }
        ),
        topics=pd.DataFrame(
            {
                "topic_id": np.arange(len(labels)),
                "x": centres[:, 0],
                "y": centres[:, 1],
                "label": labels,
                "keywords": [[f"word {i}"] for i in range(len(labels))],
                "n_papers": papers,
                "parent_id": -1,
                "level": 1,
                "label_source": "keywords",
            }
        ),
        keywords=[[f"word {chr(97 + i)}", "stars"] for i in topic],
        title=title,
    )
