"""Interactive figures for notebooks, drawn with plotly from the layers of the printed figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError
from landscape.figures._changes import changes
from landscape.figures._compare import compare
from landscape.figures._density_map import heatmap
from landscape.figures._impact import impact
from landscape.figures._intervals import KINDS, intervals
from landscape.figures._library import library_map
from landscape.figures._new_topics import new_topics
from landscape.figures._query_map import query_map
from landscape.figures._reviews import coverage_scene, reviews
from landscape.figures._time_slices import time_slices
from landscape.figures._trends import author, trends
from landscape.figures._uat import uat
from landscape.figures._values import values
from landscape.figures.export import draw
from landscape.overlays.missions.usage import read_usage

if TYPE_CHECKING:
    from landscape.figures.scene import Scene
    from landscape.store import AtlasStore


def interactive(kind: str, atlas: AtlasStore, *arguments: object, **options: object) -> Any:
    """Draw an interactive figure for a notebook.

    Parameters
    ----------
    kind : str
        ``"heatmap"``, ``"query"`` (with the results of a search), ``"uat"``, ``"impact"`` (with
        ``facilities``), ``"reviews"``, ``"trends"``, ``"new_topics"``, ``"library_map"`` (with a
        library), ``"compare"`` (with two
        filters), ``"author"`` (with a name), ``"time_slices"``, ``"changes"``, ``"coverage"`` (by
        reviews), or a kind of `landscape.figures.intervals`.
    atlas : AtlasStore
    *arguments, **options
        Further arguments of the figure. All figures accept ``colours="light"`` or ``"dark"``.

    Returns
    -------
    plotly.graph_objects.Figure
        Figure with at most 20,000 points, line vertices and bars, for a corpus of any size.

    Raises
    ------
    InputError
        If the kind is unknown or the arguments of the figure are invalid.
    MissingExtraError
        If plotly is not installed.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.interactive("heatmap", ls.open("my.atlas"))  # doctest: +SKIP
    """
    if kind not in _SCENES:
        raise InputError(f"Unknown interactive figure: {kind!r}. Use one of {', '.join(_SCENES)}.")
    return draw(_SCENES[kind](atlas, *arguments, **options), "plotly")


def _impact(atlas: AtlasStore, **options: Any) -> Scene:
    """Return the share map of a facility, by default the most used facility."""
    if "facilities" not in options:
        options["facilities"] = read_usage(atlas).facilities[0].name
    return impact.scene(atlas, **options)


_SCENES: dict[str, Callable[..., Scene]] = {
    "heatmap": heatmap.scene,
    "query": query_map.scene,
    "uat": uat.scene,
    "impact": _impact,
    "reviews": reviews.scene,
    "trends": trends.scene,
    "library_map": library_map.scene,
    "new_topics": new_topics.scene,
    "compare": compare.scene,
    "author": author.scene,
    "time_slices": time_slices.scene,
    "changes": changes.scene,
    "coverage": coverage_scene,
    "values": values.scene,
    **{kind: partial(intervals.scene, kind) for kind in KINDS},
}
