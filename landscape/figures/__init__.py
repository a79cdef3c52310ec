"""One function per figure, loaded when first asked for.

>>> from landscape import figures
>>> figures.heatmap.__name__
'heatmap'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from landscape.figures._animation import animate
    from landscape.figures._author import author
    from landscape.figures._compare import compare
    from landscape.figures._export import save_figure, save_table
    from landscape.figures._heatmap import heatmap
    from landscape.figures._impact import impact
    from landscape.figures._interactive import interactive
    from landscape.figures._intervals import intervals
    from landscape.figures._query_map import query_map
    from landscape.figures._report import report
    from landscape.figures._reviews import reviews
    from landscape.figures._survey import survey_map, survey_tree
    from landscape.figures._time_slices import time_slices
    from landscape.figures._trends import trends
    from landscape.figures._uat import uat

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

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_animation": ["animate"],
        "_author": ["author"],
        "_compare": ["compare"],
        "_export": ["save_figure", "save_table"],
        "_heatmap": ["heatmap"],
        "_impact": ["impact"],
        "_interactive": ["interactive"],
        "_intervals": ["intervals"],
        "_query_map": ["query_map"],
        "_report": ["report"],
        "_reviews": ["reviews"],
        "_survey": ["survey_map", "survey_tree"],
        "_time_slices": ["time_slices"],
        "_trends": ["trends"],
        "_uat": ["uat"],
    },
)
