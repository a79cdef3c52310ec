from ._changes import changes, changes_scene
from ._compare import compare, compare_scene
from ._density_map import heatmap, heatmap_scene
from ._impact import impact, impact_scene
from ._interactive import interactive
from ._intervals import intervals, intervals_scene
from ._new_topics import new_topics, new_topics_scene
from ._query_map import query_map, query_map_scene
from ._report import report, report_scene
from ._reviews import coverage_scene, reviews, reviews_scene
from ._survey import survey_map, survey_map_scene, survey_tree, survey_tree_scene
from ._time_slices import animate, time_slices, time_slices_scene
from ._trends import author, author_scene, trends, trends_scene
from ._uat import uat, uat_scene
from .export import save_figure, save_table

__all__ = [
    "animate",
    "author",
    "author_scene",
    "changes",
    "changes_scene",
    "compare",
    "compare_scene",
    "coverage_scene",
    "heatmap",
    "heatmap_scene",
    "impact",
    "impact_scene",
    "interactive",
    "intervals",
    "intervals_scene",
    "new_topics",
    "new_topics_scene",
    "query_map",
    "query_map_scene",
    "report",
    "report_scene",
    "reviews",
    "reviews_scene",
    "save_figure",
    "save_table",
    "survey_map",
    "survey_map_scene",
    "survey_tree",
    "survey_tree_scene",
    "time_slices",
    "time_slices_scene",
    "trends",
    "trends_scene",
    "uat",
    "uat_scene",
]
