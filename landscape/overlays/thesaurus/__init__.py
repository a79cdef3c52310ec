"""The Unified Astronomy Thesaurus: its concepts, papers tagged with them, and what it lacks.

Of an atlas: `concept_counts`, `thesaurus_overlay`, `thesaurus_gaps`, `backtest_gaps`. Of texts:
`tag_papers`.

>>> from landscape.overlays.thesaurus import embedded_thesaurus
>>> embedded_thesaurus().find("Galaxies").concept_id
'573'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.overlays.thesaurus.backtest import backtest_gaps
    from landscape.overlays.thesaurus.concepts import Concept, Thesaurus
    from landscape.overlays.thesaurus.counts import concept_counts
    from landscape.overlays.thesaurus.extents import thesaurus_overlay
    from landscape.overlays.thesaurus.forms import to_uat_csv, to_uat_form
    from landscape.overlays.thesaurus.gaps import thesaurus_gaps
    from landscape.overlays.thesaurus.reading import embedded_thesaurus, read_thesaurus
    from landscape.overlays.thesaurus.tagging import concept_texts, tag_papers

__all__ = [
    "Concept",
    "Thesaurus",
    "backtest_gaps",
    "concept_counts",
    "concept_texts",
    "embedded_thesaurus",
    "read_thesaurus",
    "tag_papers",
    "thesaurus_gaps",
    "thesaurus_overlay",
    "to_uat_csv",
    "to_uat_form",
]

_HOMES = {
    "Concept": "landscape.overlays.thesaurus.concepts",
    "Thesaurus": "landscape.overlays.thesaurus.concepts",
    "backtest_gaps": "landscape.overlays.thesaurus.backtest",
    "concept_counts": "landscape.overlays.thesaurus.counts",
    "concept_texts": "landscape.overlays.thesaurus.tagging",
    "embedded_thesaurus": "landscape.overlays.thesaurus.reading",
    "read_thesaurus": "landscape.overlays.thesaurus.reading",
    "tag_papers": "landscape.overlays.thesaurus.tagging",
    "thesaurus_gaps": "landscape.overlays.thesaurus.gaps",
    "thesaurus_overlay": "landscape.overlays.thesaurus.extents",
    "to_uat_csv": "landscape.overlays.thesaurus.forms",
    "to_uat_form": "landscape.overlays.thesaurus.forms",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.overlays.thesaurus' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
