from ._compare import compare, draw_comparison
from ._density_map import heatmap, query_map
from ._impact import draw_impact, impact
from ._interactive import interactive
from ._intervals import draw_intervals, intervals
from ._report import draw_report, report
from ._reviews import draw_coverage, draw_reviews, reviews
from ._survey import survey_map, survey_tree
from ._time_slices import animate, time_slices
from ._trends import author, draw_author, draw_trends, trends
from ._uat import draw_concepts, uat
from .export import save_figure, save_table

__all__ = [
    "animate",
    "author",
    "compare",
    "draw_author",
    "draw_comparison",
    "draw_concepts",
    "draw_coverage",
    "draw_impact",
    "draw_intervals",
    "draw_report",
    "draw_reviews",
    "draw_trends",
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
