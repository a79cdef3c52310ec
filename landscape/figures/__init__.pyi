from ._changes import changes
from ._compare import compare
from ._density_map import heatmap
from ._impact import impact
from ._interactive import interactive
from ._intervals import intervals
from ._library import library_map
from ._new_topics import new_topics
from ._query_map import query_map
from ._report import report, report_scene
from ._reviews import coverage_scene, reviews
from ._survey import survey_map, survey_tree
from ._time_slices import animate, time_slices
from ._trends import author, trends
from ._uat import uat
from ._values import values
from .export import save_figure, save_table

__all__ = [
    "animate",
    "author",
    "changes",
    "compare",
    "coverage_scene",
    "heatmap",
    "impact",
    "interactive",
    "intervals",
    "library_map",
    "new_topics",
    "query_map",
    "report",
    "report_scene",
    "reviews",
    "save_figure",
    "save_table",
    "survey_map",
    "survey_tree",
    "time_slices",
    "trends",
    "uat",
    "values",
]
