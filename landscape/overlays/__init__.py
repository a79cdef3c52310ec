"""What the map is asked: thesaurus, missions, reviews and trends.

Each question is a function of an atlas and gives an `Analysis`: a table with its denominators, the
bounds of the corpus and warnings. The science below is pure functions of arrays and data frames.

>>> from landscape import overlays
>>> overlays.Analysis.__name__
'Analysis'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays.analysis import Analysis

__all__ = ["Analysis"]

_HOMES = {
    "Analysis": "landscape.overlays.analysis",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.overlays' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
