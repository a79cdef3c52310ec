"""Concepts of a thesaurus on the map (figure 3 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape.errors import InputError
from landscape.figures.caption import caption_of, place_of
from landscape.figures.colours import quiet, series
from landscape.figures.export import draw
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_names_inside,
    density_key,
    fitted_page,
    map_panel,
    map_panels,
    pieces,
    positions,
)
from landscape.figures.page import Page, PageOptions
from landscape.figures.scene import Floats, Lines, Panel, Scene
from landscape.overlays.periods import describe_corpus
from landscape.overlays.thesaurus import thesaurus_overlay

if TYPE_CHECKING:
    from landscape.store import AtlasStore
    from landscape.types import Analysis

_MAX_NUMBER, _FILLS = 21, (0.45, 0.25, 0.12)  # opacity of the first 7 territories, and of the next
_TITLE = "Concepts of the Unified Astronomy Thesaurus on the map."
_PLACES = (
    "Each place has the colour of the concept whose share of the papers there is the largest, "
    "relative to its share of all papers; pale places have none with 1.3 times its share."
)
_CONTOURS = "The lines contain 50% and 80% of a concept's papers, in the smallest possible area."


def uat(
    atlas: AtlasStore,
    *,
    concepts: Sequence[str] | None = None,
    multiples: bool = False,
    **look: Unpack[PageOptions],
) -> Any:
    """Draw concepts of the Unified Astronomy Thesaurus on the map.

    Each place of the map has the colour of the concept that is most over-represented there, and
    neighbouring concepts have different colours.

    Parameters
    ----------
    atlas : AtlasStore
    concepts : sequence of str, optional
        Names or ids; by default the top concepts.
    multiples : bool, default False
        Draw one small map per concept instead, with contours that contain 50% and 80% of its
        papers (highest-density regions).
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`. ``ax`` cannot be combined with `multiples`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with the ``table`` of `landscape.overlays.thesaurus.thesaurus_overlay`,
        or `ax`.

    Raises
    ------
    InputError
        If a concept or the colours are unknown, there are more than 21 concepts, or the page is
        too small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.uat(ls.open("my.atlas"), concepts=["Exoplanets"])  # doctest: +SKIP
    """
    scene = uat_scene(atlas, concepts=concepts, multiples=multiples, **look)
    return draw(scene, ax=look.get("ax"))


def uat_scene(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    concepts: Sequence[str] | None = None,
    multiples: bool = False,
    **look: Unpack[PageOptions],
) -> Scene:
    """Return the scene of `uat`, of a known result of `thesaurus_overlay` if it is given."""
    if analysis is None:
        analysis = thesaurus_overlay(atlas, concepts=concepts)
    table = analysis.table
    if not len(table):
        raise InputError(
            "Nothing to plot: there are no concepts. Choose concepts with tagged papers."
        )
    if len(table) > _MAX_NUMBER:
        raise InputError(
            f"{len(table)} concepts are too many for one map. Choose at most {_MAX_NUMBER}."
        )
    x, y = positions(atlas.map["x"], atlas.map["y"])
    size = fitted_page(x, y, len(table) if multiples else 1)
    caption = caption_of(analysis)
    how = _CONTOURS if multiples else _PLACES
    bounds = f"{describe_corpus(atlas, with_size=True)}."
    rest = [
        sentence for sentence in caption.sentences if not sentence.startswith("Highest-density")
    ]
    caption = replace(caption, head=_TITLE, sentences=[how, bounds, *rest])
    page = Page(caption, look, size=size, soft=True, has_key=multiples)
    add_concepts = _draw_multiples if multiples else _draw_places
    panel = add_concepts(page, x, y, analysis)
    words = caption.describe("Map of concepts.", _describe(analysis, panel))
    return page.scene(alt_text=words, table=table)


def _draw_places(page: Page, x: Floats, y: Floats, analysis: Analysis) -> Panel:
    """Draw the territory of each concept in its colour, with its name."""
    borders, places = analysis.tables["territories"], analysis.tables["places"]
    panel = map_panel(page, page.area, x, y, include=borders, border=10 * page.scale)
    page.colours = quiet(page.colours)  # the density only gives the land a faint texture
    add_density(page, panel, x, y)
    styles = series(page.colours, 7)
    for (tint, label), own in borders.groupby(["tint", "label"], dropna=False):
        number, name = int(tint), str(label) if tint >= 0 else ""
        panel.layers.append(
            Lines(
                lines=pieces(own),
                colour=styles[number % 7] if name else page.colours.faint,
                width=(0.8 if name else 0.5) * page.scale,
                order=1.0,
                name=name,
                hover=name,
                fill=_FILLS[number // 7] if name else 0.06,
                gid=f"concept-{own['concept_id'].iloc[0]}" if name else "land",
            )
        )
    first = ~places["concept_id"].duplicated()
    named = places.assign(
        topic_id=range(len(places)), level=np.where(first, 0, 1), n_papers=places["papers"]
    )
    lines = {concept: pieces(own) for concept, own in borders.groupby("concept_id")}
    add_names_inside(page, panel, named.sort_values("level", kind="stable"), lines)
    return panel


def _draw_multiples(page: Page, x: Floats, y: Floats, analysis: Analysis) -> Panel:
    """Draw one small map per concept, on the same axes."""
    table, contours = analysis.table, analysis.tables["contours"]
    panels = map_panels(page, page.tiled(len(table)), x, y, include=contours)
    page.write_key(density_key(page, add_density(page, panels[0], x, y)))
    for panel in panels[1:]:
        panel.layers.append(panels[0].layers[0])  # the same density
    for panel, row in zip(panels, table.itertuples(), strict=True):
        own = contours[contours["concept_id"] == row.concept_id]
        for share in sorted(own["share"].unique(), reverse=True):
            inner = share == own["share"].min()
            panel.layers.append(
                Lines(
                    lines=pieces(own[own["share"] == share]),
                    colour=page.colours.found,
                    width=(0.9 if inner else 0.4) * page.scale,
                    fill=0.30 if inner else 0.1,
                    order=1.6,
                    gid=f"concept-{row.concept_id}",
                    hover=f"{row.label}: {share:.0%} of its papers",
                )
            )
        page.write_heading(panel.box, row.label, f"{row.papers:,} papers")
    return panels[0]


def _describe(analysis: Analysis, panel: Panel) -> str:
    """Describe the positions of the concepts, for the alternative text."""
    largest = analysis.tables["places"].drop_duplicates("concept_id")
    places = [
        f"{clean_name(row.label)} ({row.papers:,} papers, {place_of(row.x, row.y, panel.extent)})"
        for row in largest.itertuples()
    ]
    return f"Largest places: {'; '.join(places)}." if places else ""
