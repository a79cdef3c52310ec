"""The outreach map: a literature as terrain, true to the data. Loaded when first asked for.

>>> from landscape import outreach
>>> outreach.render.__name__
'render'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.outreach._fidelity import Fidelity, judge
    from landscape.outreach.finished import Rendering
    from landscape.outreach.painting import paint
    from landscape.outreach.rendering import render
    from landscape.outreach.terrain import Terrain, make_terrain
    from landscape.outreach.themes import THEMES

__all__ = [
    "THEMES",
    "Fidelity",
    "Rendering",
    "Terrain",
    "judge",
    "make_terrain",
    "paint",
    "redraw",
    "render",
]

# No module has the name of its function: importing the module would hide the function.
_HOMES = {
    "THEMES": "landscape.outreach.themes",
    "Fidelity": "landscape.outreach._fidelity",
    "Rendering": "landscape.outreach.finished",
    "Terrain": "landscape.outreach.terrain",
    "judge": "landscape.outreach._fidelity",
    "make_terrain": "landscape.outreach.terrain",
    "paint": "landscape.outreach.painting",
    "redraw": "landscape.outreach._diffusion",
    "render": "landscape.outreach.rendering",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.outreach' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
