"""Interactive figures for notebooks, drawn with plotly from the layers of the printed figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError
from landscape.figures._compare import compare
from landscape.figures._density_map import heatmap, query_map
from landscape.figures._impact import impact
from landscape.figures._intervals import KINDS, intervals
from landscape.figures._reviews import draw_coverage, reviews
from landscape.figures._time_slices import time_slices
from landscape.figures._trends import author, trends
from landscape.figures._uat import uat
from landscape.figures.matplotlib_backend import DRAWS
from landscape.figures.plotly_backend import draw_panels
from landscape.overlays.missions.usage import read_usage
from landscape.overlays.reviews import reviews as count_reviews

if TYPE_CHECKING:
    from landscape.store import AtlasStore


def interactive(kind: str, atlas: AtlasStore, *arguments: Any, **options: Any) -> Any:
    """Draw an interactive figure for a notebook.

    Parameters
    ----------
    kind : str
        ``"heatmap"``, ``"query"`` (with the results of a search), ``"uat"``, ``"impact"`` (with
        ``facilities``), ``"reviews"``, ``"trends"``, ``"compare"`` (with two filters),
        ``"author"`` (with a name), ``"time_slices"``, ``"coverage"`` (by reviews), or a kind of
        `landscape.figures.intervals`.
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
    if kind not in _KINDS:
        raise InputError(f"Unknown interactive figure: {kind!r}. Use one of {', '.join(_KINDS)}.")
    token = DRAWS.set(False)
    try:
        scene = _KINDS[kind](atlas, *arguments, **options).scene
    finally:
        DRAWS.reset(token)
    return draw_panels(scene)


def _impact(atlas: AtlasStore, **options: Any) -> Any:
    """Draw the share map of a facility, by default the most used facility."""
    if "facilities" not in options:
        options["facilities"] = read_usage(atlas).facilities[0].name
    return impact(atlas, **options)


def _coverage(atlas: AtlasStore, **options: Any) -> Any:
    return draw_coverage(atlas, count_reviews(atlas), **options)


_KINDS: dict[str, Callable[..., Any]] = {
    "heatmap": heatmap,
    "query": query_map,
    "uat": uat,
    "impact": _impact,
    "reviews": reviews,
    "trends": trends,
    "compare": compare,
    "author": author,
    "time_slices": time_slices,
    "coverage": _coverage,
    **{kind: partial(intervals, kind) for kind in KINDS},
}
