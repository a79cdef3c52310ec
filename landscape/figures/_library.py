"""Draw the papers of a library on the map: its regions, and the links between its papers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape._wording import count
from landscape.corpus.libraries import open_library
from landscape.figures.caption import Caption, explanation, facts_of
from landscape.figures.colours import theme
from landscape.figures.export import figure
from landscape.figures.maps import (
    add_density,
    add_names,
    add_own_papers,
    chosen_topics,
    density_key,
    map_panel,
    own_papers,
    positions,
)
from landscape.figures.page import LegendEntry, Page, PageOptions
from landscape.figures.scene import Lines, Scene
from landscape.overlays.library import library_graph, library_regions, library_rows

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_NAMED = 24  # regions
_MAX_LINES = 150


@figure
def library_map(
    atlas: AtlasStore,
    library: str,
    *,
    analysis: Analysis | None = None,
    links: bool = True,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the papers of a library on the map, with the regions that its owner knows.

    The background is the density of all papers. Regions with three or more papers of the library
    and those that border on them are named. Lines join papers of the library that cite each other
    (solid) or whose texts are similar (dotted).

    Parameters
    ----------
    atlas : AtlasStore
    library : str
        Name of the library, or a file of papers; see `landscape.overlays.library`.
    analysis : Analysis, optional
        Result of `landscape.overlays.library.library_regions`, if it is known.
    links : bool, default True
        Whether to draw the lines.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with ``alt_text`` and the ``table`` of
        `landscape.overlays.library.library_regions`; or `ax`.

    Raises
    ------
    InputError
        If the library cannot be read, or the atlas has none of its papers.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.library_map(ls.open("my.atlas"), "mine")  # doctest: +SKIP
    """
    found = open_library(library)
    rows = library_rows(atlas, found)
    regions = analysis if analysis is not None else library_regions(atlas, found)
    graph = library_graph(atlas, found).tables["rows"] if links else None
    drawn = graph if graph is None else graph.nlargest(_MAX_LINES, "weight")
    x, y = positions(atlas.map["x"], atlas.map["y"])
    facts, palette = facts_of(atlas), theme(look.get("colours", "light"))
    states = regions.table["state"].value_counts()
    n_links = 0 if graph is None else len(graph)
    head = f"{count(len(rows), 'paper')} of the library {found.name} on the map of {facts.title}"
    sentences = [
        f"The library has 3 or more papers in {count(states.get('known', 0), 'region')}, and "
        f"borders on {count(states.get('bordering', 0), 'region')}.",
        *(
            [f"The {_MAX_LINES} strongest of {n_links:,} links are drawn."]
            if n_links > _MAX_LINES
            else []
        ),
        *explanation(replace(facts, share_named=None)),
    ]
    legend = [LegendEntry("paper of the library", own_papers(palette, 1.0))]
    lines = _lines(drawn, x, y)
    kinds = {"cites": ("cites", "-"), "similar": ("similar text", "dotted")}
    legend += [
        LegendEntry(words, {"colour": palette.ink, "width": 0.8, "dashes": dashes})
        for kind, (words, dashes) in kinds.items()
        if lines.get(kind)
    ]
    page = Page(
        Caption(head, sentences, facts.generated), look, soft=True, legend=legend, has_key=True
    )
    wanted = regions.table[regions.table["state"] != "unknown"].head(_NAMED)
    topics = chosen_topics(atlas.topics, levels=(1,))
    topics = topics[topics["topic_id"].isin(wanted["topic_id"])]
    panel = map_panel(page, page.area, x, y, include=topics, border=2.2 * page.margin)
    page.write_key(density_key(page, add_density(page, panel, x, y)))
    for kind, (_, dashes) in kinds.items():
        if lines.get(kind):
            layer = Lines(
                lines=lines[kind],
                colour=page.colours.ink,
                width=0.8 * page.scale,
                dashes=dashes,
                opacity=0.6,
                gid=kind,
                order=2.0,
            )
            panel.layers.append(layer)
    titles = atlas.read_papers(["title"], rows=rows)["title"].tolist()
    add_own_papers(page, panel, x[rows], y[rows], hover=titles)
    known = wanted.loc[wanted["state"] == "known", "topic_id"].tolist()
    add_names(page, panel, topics, emphasized=known)
    words = page.caption.describe("Map of the papers of a library.", regions.caption)
    return page.scene(alt_text=words, table=regions.table, caption=page.caption)


def _lines(graph: pd.DataFrame | None, x: np.ndarray, y: np.ndarray) -> dict[str, list[np.ndarray]]:
    """Return the lines between linked papers, each of shape (2, 2), by the kind of link."""
    if graph is None:
        return {}
    found: dict[str, list[np.ndarray]] = {}
    for link in graph.itertuples():
        ends = [link.source_row, link.target_row]
        found.setdefault(link.kind, []).append(np.column_stack([x[ends], y[ends]]))
    return found
