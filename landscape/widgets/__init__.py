"""Interactive panels for notebooks. Each panel is a class that is created in one line.

>>> import landscape.widgets
>>> "MapExplorer" in dir(landscape.widgets)
True
"""

from typing import Any

import lazy_loader

from landscape.errors import require

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import a panel on first use; the error names the extra to install if it is missing."""
    if name in __all__:
        require("ipywidgets", "lab")
    return _load(name)
