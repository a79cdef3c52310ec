"""Scholars on top of the query engine: survey, attribute, cite, check.

>>> from landscape import agents
>>> agents.Desk().corpora
()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.agents.checking._check import check_draft
    from landscape.agents.cite.desk import Desk
    from landscape.agents.cite.paragraph import as_latex

__all__ = ["Desk", "as_latex", "check_draft"]

# No module has the name of its function: importing the module would hide the function.
_HOMES = {
    "Desk": "landscape.agents.cite.desk",
    "as_latex": "landscape.agents.cite.paragraph",
    "check_draft": "landscape.agents.checking._check",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.agents' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
