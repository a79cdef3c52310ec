"""Which facilities papers name, and what these did to the literature.

Of an atlas: `impact`, `compare_facilities`, `before_after`. Of texts: `find_mentions`.

>>> from landscape.overlays.missions import find_mentions
>>> [mention.facility for mention in find_mentions("We observed it with ALMA.")]
['ALMA']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays.missions.comparing import compare_facilities
    from landscape.overlays.missions.eras import before_after
    from landscape.overlays.missions.facilities import Facility, find_facility, load_facilities
    from landscape.overlays.missions.measuring import impact
    from landscape.overlays.missions.mentions import Mention, find_in_papers, find_mentions

__all__ = [
    "Facility",
    "Mention",
    "before_after",
    "compare_facilities",
    "find_facility",
    "find_in_papers",
    "find_mentions",
    "impact",
    "load_facilities",
]

_HOMES = {
    "Facility": "landscape.overlays.missions.facilities",
    "Mention": "landscape.overlays.missions.mentions",
    "before_after": "landscape.overlays.missions.eras",
    "compare_facilities": "landscape.overlays.missions.comparing",
    "find_facility": "landscape.overlays.missions.facilities",
    "find_in_papers": "landscape.overlays.missions.mentions",
    "find_mentions": "landscape.overlays.missions.mentions",
    "impact": "landscape.overlays.missions.measuring",
    "load_facilities": "landscape.overlays.missions.facilities",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.overlays.missions' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
