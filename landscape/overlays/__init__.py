"""What the map is asked: thesaurus, missions, reviews and trends.

Each question is a function of an atlas and gives an `Analysis`: a table with its denominators, the
bounds of the corpus and warnings. The science below is pure functions of arrays and data frames.

- `landscape.overlays.thesaurus`: concepts of papers, where they live on the map, what is missing;
- `landscape.overlays.missions`: facilities that papers name, and what these did to the literature;
- `landscape.overlays.reviews`: which papers review, where, and where one would help most;
- `landscape.overlays.trends`: topics, authors and places over time, and two selections compared.

>>> from landscape import overlays
>>> overlays.missions.find_mentions("Observed with ALMA.")[0].facility
'ALMA'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays import missions, reviews, thesaurus, trends
    from landscape.types import Analysis

__all__ = ["Analysis", "missions", "reviews", "thesaurus", "trends"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name == "Analysis":
        return importlib.import_module("landscape.types").Analysis
    if name in __all__:
        return importlib.import_module(f"landscape.overlays.{name}")
    raise AttributeError(f"module 'landscape.overlays' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
