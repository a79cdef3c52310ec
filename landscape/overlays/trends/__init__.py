"""Topics over time, authors, places, and what sets two selections of papers apart.

Each front takes an atlas and gives a `landscape.overlays.Analysis`:

- `trends`: which regions grow or shrink relative to the whole corpus, and when that changed;
- `author_path`: an author's papers over the map and through its regions in time;
- `institutions`, `countries`: who works where on the map, where affiliations are known;
- `compare`: in which regions one selection is over-represented against another.

>>> from landscape.overlays.trends import trends
>>> trends.__name__
'trends'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays.trends.authors import author_path
    from landscape.overlays.trends.comparison import compare
    from landscape.overlays.trends.places import countries, institutions
    from landscape.overlays.trends.topics import trends

__all__ = ["author_path", "compare", "countries", "institutions", "trends"]

_HOMES = {
    "author_path": "landscape.overlays.trends.authors",
    "compare": "landscape.overlays.trends.comparison",
    "countries": "landscape.overlays.trends.places",
    "institutions": "landscape.overlays.trends.places",
    "trends": "landscape.overlays.trends.topics",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.overlays.trends' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
