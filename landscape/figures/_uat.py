"""Concepts of a thesaurus on the map (figure 3 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape.errors import InputError
from landscape.figures.areas import choose_colours, measure_borders
from landscape.figures.caption import caption_of, place_of
from landscape.figures.colours import Theme, series, theme
from landscape.figures.export import figure
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
from landscape.figures.page import LegendEntry, Page, PageOptions
from landscape.figures.scene import Floats, Lines, Panel, Scene
from landscape.overlays.periods import describe_corpus
from landscape.overlays.thesaurus import thesaurus_overlay

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_MAX_CONCEPTS, _HUES = 21, 7  # on one map; each colour is used with three fills
_FILLS = (0.6, 0.3, 0.12)  # opacities of territories; each hue has all three
_BARE = 0.1  # opacity of places without a concept
_NEAR = 0.012  # largest distance of adjacent outlines, relative to the map
_SHARES = ((0.5, 0.9), (0.8, 0.4))  # shares of a concept's papers, and widths of their lines
_TITLE = "Concepts of the Unified Astronomy Thesaurus on the map."
_PLACES = (
    "Each place has the colour of the concept that is most over-represented there, relative to "
    "all papers. Places with less than 0.7% of the papers belong to their neighbours.",
)
_GREY = "Grey: no concept has 1.3 times its share of all papers."
_LEAST_GREY = 0.01  # share of the map
_CONTOURS = (
    "Thick lines contain 50% and thin lines 80% of a concept's papers, in the smallest possible "
    "area.",
    "A paper can have several concepts.",
)


@figure
def uat(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    concepts: Sequence[str] | None = None,
    multiples: bool = False,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw concepts of the Unified Astronomy Thesaurus on the map.

    Each place of the map has the colour of the concept that is most over-represented there. The
    colours of adjacent concepts differ for all readers, also with a colour-vision deficiency.

    Parameters
    ----------
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of `landscape.overlays.thesaurus_overlay`, which is then not computed again.
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
    if analysis is None:
        analysis = thesaurus_overlay(atlas, concepts=concepts)
    table = analysis.table
    if not len(table):
        raise InputError(
            "Nothing to plot: there are no concepts. Choose concepts with tagged papers."
        )
    if len(table) > _MAX_CONCEPTS:
        raise InputError(
            f"{len(table)} concepts are too many for one map. Choose at most {_MAX_CONCEPTS}."
        )
    x, y = positions(atlas.map["x"], atlas.map["y"])
    size = fitted_page(x, y, len(table) if multiples else 1)
    caption = caption_of(analysis)
    how = _CONTOURS if multiples else _PLACES
    if not multiples and _share_without_concept(analysis.tables["territories"]) > _LEAST_GREY:
        how = (*how, _GREY)
    bounds = f"{describe_corpus(atlas, with_size=True)}."
    rest = [
        sentence for sentence in caption.sentences if not sentence.startswith("Highest-density")
    ]
    caption = replace(caption, head=_TITLE, sentences=[*how, bounds, *rest])
    ink = theme(look.get("colours", "light")).found
    legend = [
        LegendEntry(f"contains {share:.0%} of its papers", {"colour": ink, "width": width})
        for share, width in _SHARES
    ]
    page = Page(
        caption, look, size=size, soft=True, has_key=multiples, legend=legend if multiples else ()
    )
    add_concepts = _draw_multiples if multiples else _draw_places
    panel = add_concepts(page, x, y, analysis)
    words = caption.describe("Map of concepts.", _describe(analysis, panel))
    return page.scene(alt_text=words, table=table)


def _draw_places(page: Page, x: Floats, y: Floats, analysis: Analysis) -> Panel:
    """Draw the territory of each concept in its colour, with its name."""
    borders, places = analysis.tables["territories"], analysis.tables["places"]
    panel = map_panel(page, page.area, x, y, include=borders, border=10 * page.scale)
    lines = {concept: pieces(own) for concept, own in borders.groupby("concept_id", sort=False)}
    coast = Lines(
        lines=pieces(borders[borders["concept_id"].isna()]),
        colour=page.colours.faint,
        width=0.5 * page.scale,
        order=1.0,
        fill=_BARE,
        gid="land",
    )
    panel.layers.append(coast)
    names = dict(zip(borders["concept_id"], borders["label"], strict=True))
    styles = territory_colours(page.colours, list(lines.values()))
    for (concept, own), (ink, opacity) in zip(lines.items(), styles, strict=True):
        panel.layers.append(
            Lines(
                lines=own,
                colour=ink,
                width=0.8 * page.scale,
                order=1.0,
                name=names[concept],
                hover=names[concept],
                fill=opacity,
                gid=f"concept-{concept}",
            )
        )
    first = ~places["concept_id"].duplicated()
    named = places.assign(
        topic_id=range(len(places)), level=np.where(first, 0, 1), n_papers=places["papers"]
    )
    add_names_inside(page, panel, named.sort_values("level", kind="stable"), lines)
    return panel


def _share_without_concept(borders: pd.DataFrame) -> float:
    """Return the share of the map outside all territories."""

    def area(own: pd.DataFrame) -> float:  # holes have the other orientation
        shifted = ((line, np.roll(line, 1, axis=0)) for line in pieces(own))
        return abs(sum(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()) for a, b in shifted))

    is_coast = borders["concept_id"].isna()
    held = sum(area(own) for _, own in borders[~is_coast].groupby("concept_id"))
    return 1 - held / max(area(borders[is_coast]), 1e-12)


def territory_colours(
    colours: Theme, territories: Sequence[Sequence[Floats]]
) -> list[tuple[str, float]]:
    """Choose the colour and the opacity of each territory, so that adjacent ones differ."""
    from matplotlib.colors import to_rgb

    outlines = [np.concatenate(lines) for lines in territories]
    if not outlines:
        return []
    near = _NEAR * float(np.ptp(np.concatenate(outlines), axis=0).max())
    styles = [(ink, fill) for fill in _FILLS for ink in series(colours, _HUES)]
    page = np.array(to_rgb(colours.page))
    fills = np.array([page + opacity * (np.array(to_rgb(ink)) - page) for ink, opacity in styles])
    return [styles[n] for n in choose_colours(measure_borders(outlines, near=near), [fills])]


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
                    width=_SHARES[0 if inner else 1][1] * page.scale,
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
