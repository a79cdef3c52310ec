"""Panels for notebooks: each a public class that a user puts into a notebook in one line.

>>> import landscape.widgets
>>> "MapExplorer" in dir(landscape.widgets)
True
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "AskPanel",
    "CitationPanel",
    "Connection",
    "ImpactPanel",
    "MapExplorer",
    "OutreachPanel",
    "ReviewPanel",
    "SurveyPanel",
    "ThesaurusPanel",
    "TrendsPanel",
    "WritingPanel",
]

_HOMES = {
    "AskPanel": "ask",
    "CitationPanel": "citation",
    "Connection": "connection",
    "ImpactPanel": "impact",
    "MapExplorer": "explorer",
    "OutreachPanel": "outreach",
    "ReviewPanel": "review",
    "SurveyPanel": "survey",
    "ThesaurusPanel": "thesaurus",
    "TrendsPanel": "trends",
    "WritingPanel": "writing",
}


def __getattr__(name: str) -> Any:
    """Import a panel when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.widgets' has no attribute {name!r}")
    from landscape.errors import require

    require("ipywidgets", "lab")
    return getattr(importlib.import_module(f"landscape.widgets.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
