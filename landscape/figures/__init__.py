"""One function per figure, loaded when first asked for.

>>> from landscape import figures
>>> figures.heatmap.__name__
'heatmap'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from landscape.figures.animation import animate
    from landscape.figures.author_map import author
    from landscape.figures.comparison_chart import compare
    from landscape.figures.concept_map import uat
    from landscape.figures.density_map import heatmap
    from landscape.figures.export import save_figure
    from landscape.figures.found_papers import query_map
    from landscape.figures.impact_map import impact
    from landscape.figures.interval_chart import intervals
    from landscape.figures.report_page import report
    from landscape.figures.review_map import reviews
    from landscape.figures.slice_maps import time_slices
    from landscape.figures.survey_branches import survey_tree
    from landscape.figures.survey_on_map import survey_map
    from landscape.figures.tables import save_table
    from landscape.figures.trend_chart import trends
    from landscape.figures.twins import interactive

__all__ = [
    "animate",
    "author",
    "compare",
    "heatmap",
    "impact",
    "interactive",
    "intervals",
    "query_map",
    "report",
    "reviews",
    "save_figure",
    "save_table",
    "survey_map",
    "survey_tree",
    "time_slices",
    "trends",
    "uat",
]

# No module has the name of its function: importing the module would hide the function.
_HOMES = {
    "animate": "landscape.figures.animation",
    "author": "landscape.figures.author_map",
    "compare": "landscape.figures.comparison_chart",
    "heatmap": "landscape.figures.density_map",
    "impact": "landscape.figures.impact_map",
    "interactive": "landscape.figures.twins",
    "intervals": "landscape.figures.interval_chart",
    "query_map": "landscape.figures.found_papers",
    "report": "landscape.figures.report_page",
    "reviews": "landscape.figures.review_map",
    "save_figure": "landscape.figures.export",
    "save_table": "landscape.figures.tables",
    "survey_map": "landscape.figures.survey_on_map",
    "survey_tree": "landscape.figures.survey_branches",
    "time_slices": "landscape.figures.slice_maps",
    "trends": "landscape.figures.trend_chart",
    "uat": "landscape.figures.concept_map",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'landscape.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
