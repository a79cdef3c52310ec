"""Figures to explore in a notebook, drawn by plotly from the same layers as those for print."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from landscape import figures
from landscape.errors import InputError
from landscape.figures import _intervals, _plotly, _reviews

if TYPE_CHECKING:
    from landscape.store import AtlasStore


def interactive(kind: str, atlas: AtlasStore, *arguments: Any, **options: Any) -> Any:
    """Draw a figure to explore in a notebook.

    Parameters
    ----------
    kind : str
        ``"heatmap"``, ``"query"`` (with the results of a search), ``"uat"``, ``"impact"`` (with
        ``facilities``), ``"reviews"``, ``"trends"``, ``"compare"`` (with two filters),
        ``"author"`` (with a name), ``"time_slices"``, ``"coverage"`` (by reviews), or a kind of
        `landscape.figures.intervals`.
    atlas : AtlasStore
    *arguments, **options
        What that figure takes beside the atlas; ``colours="light"`` or ``"dark"`` for all.

    Returns
    -------
    plotly.graph_objects.Figure
        With at most 20,000 marks (points, vertices of lines, bars), whatever the corpus.

    Raises
    ------
    InputError
        For an unknown kind, and whatever the figure of that kind refuses.
    MissingExtraError
        If plotly is not installed.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.interactive("heatmap", ls.open("my.atlas"))  # doctest: +SKIP
    """
    names = ("heatmap", "query", "uat", "impact", "reviews", "trends", "compare", "author",
             "time_slices", "coverage", *_intervals.KINDS)  # fmt: skip
    if kind not in names:
        raise InputError(f"There is no interactive {kind!r}; use one of {', '.join(names)}.")
    draw: Callable[..., Any]
    if kind in _intervals.KINDS:
        sheet = figures.intervals(kind, atlas, *arguments, **options)
    elif kind == "coverage":
        sheet = _coverage(atlas, **options)
    else:
        draw = getattr(figures, "query_map" if kind == "query" else kind)
        if kind == "impact":
            options = {"facilities": _most_named(atlas), **options}
        sheet = draw(atlas, *arguments, **options)
    return _plotly.draw_panels(sheet.scene)


def _coverage(atlas: AtlasStore, **options: Any) -> Any:
    from landscape.overlays.reviews import reviews

    return _reviews.draw_coverage(atlas, reviews(atlas), **options)


def _most_named(atlas: AtlasStore) -> str:
    """The facility that most papers mention."""
    named = atlas.read_layer("missions", ["facility"]).drop_duplicates()["facility"]
    return str(next(iter(named.value_counts().index), ""))
