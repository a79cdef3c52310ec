"""One function per figure, loaded when first asked for.

>>> from landscape import figures
>>> figures.heatmap.__name__
'heatmap'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.figures.density_map import heatmap
    from landscape.figures.export import save_figure
    from landscape.figures.found_papers import query_map

__all__ = ["heatmap", "query_map", "save_figure"]

# No module has the name of its function: importing the module would hide the function.
_HOMES = {
    "heatmap": "landscape.figures.density_map",
    "query_map": "landscape.figures.found_papers",
    "save_figure": "landscape.figures.export",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
