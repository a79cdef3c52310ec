"""Topics over time, and what sets two selections of papers apart.

Each front takes an atlas and gives a `landscape.overlays.Analysis`:

- `trends`: which regions grow or shrink relative to the whole corpus, and when that changed;
- `compare`: in which regions one selection is over-represented against another.

>>> from landscape.overlays.trends import trends
>>> trends.__name__
'trends'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays.trends.comparison import compare
    from landscape.overlays.trends.topics import trends

__all__ = ["compare", "trends"]

_HOMES = {
    "compare": "landscape.overlays.trends.comparison",
    "trends": "landscape.overlays.trends.topics",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.overlays.trends' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
