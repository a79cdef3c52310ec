from ._compare import compare
from ._density_map import heatmap, query_map
from ._export import save_figure, save_table
from ._impact import impact
from ._interactive import interactive
from ._intervals import intervals
from ._report import report
from ._reviews import reviews
from ._survey import survey_map, survey_tree
from ._time_slices import animate, time_slices
from ._trends import author, trends
from ._uat import uat

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
