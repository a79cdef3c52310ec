"""Landscape: map a research literature, from a pile of abstracts to a labelled atlas.

The public names are loaded on first use, so that ``import landscape`` stays instant:

>>> import landscape as ls
>>> ls.__version__ == ls.__version__.strip()
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape import agents, figures, outreach, overlays
    from landscape.atlas.build import build
    from landscape.atlas.demo import open_demo
    from landscape.atlas.reading import Atlas
    from landscape.atlas.reading import open_atlas as open  # noqa: A004 - ls.open reads as meant

__version__ = "0.1.0"

__all__ = [
    "Atlas",
    "__version__",
    "agents",
    "build",
    "figures",
    "open",
    "open_demo",
    "outreach",
    "overlays",
]

_HOMES = {
    "Atlas": ("landscape.atlas.reading", "Atlas"),
    "build": ("landscape.atlas.build", "build"),
    "open": ("landscape.atlas.reading", "open_atlas"),
    "open_demo": ("landscape.atlas.demo", "open_demo"),
    "agents": ("landscape.agents", None),
    "figures": ("landscape.figures", None),
    "outreach": ("landscape.outreach", None),
    "overlays": ("landscape.overlays", None),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape' has no attribute {name!r}")
    module_name, attribute = _HOMES[name]
    module = importlib.import_module(module_name)
    return module if attribute is None else getattr(module, attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
