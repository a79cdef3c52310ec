"""Concepts of a thesaurus on the map (figure 3 of Iyer et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape.errors import InputError
from landscape.figures._caption import caption_of, place_of
from landscape.figures._colours import Series, series
from landscape.figures._labels import clean_name
from landscape.figures._maps import (
    add_density,
    add_names,
    density_key,
    map_panel,
    map_panels,
    pieces,
    positions,
)
from landscape.figures._page import BESIDE_A_TABLE, SIZE_INCHES, Page, PageOptions, Ranking
from landscape.figures._scene import Floats, Lines, Panel
from landscape.overlays.thesaurus._extents import thesaurus_overlay

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_MOST = 21  # number of distinct combinations of colour and dashes
_HOW = (
    "The thick line contains 50% of a concept's papers, and the thin line 80%, both in the "
    "smallest possible area. The background is the density of all papers."
)
_COLUMNS = [
    ("papers", "Papers", "{:,.0f}"),
    ("share", "Share", "{:.1%}"),
    ("area_50", "Area", "{:.1%}"),
    ("separability_full", "Separable\n(full)", "{:.2f}"),
    ("separability_map", "Separable\n(map)", "{:.2f}"),
]


def uat(
    atlas: AtlasStore,
    *,
    concepts: Sequence[str] | None = None,
    multiples: bool = False,
    **look: Unpack[PageOptions],
) -> Any:
    """Draw concepts of the Unified Astronomy Thesaurus on the map.

    The thick line of a concept contains 50% of its papers, and the thin line 80% (highest-density
    regions).

    Parameters
    ----------
    atlas : AtlasStore
    concepts : sequence of str, optional
        Names or ids; by default the top concepts.
    multiples : bool, default False
        Draw one small map per concept, instead of one map with a table.
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
    analysis = thesaurus_overlay(atlas, concepts=concepts)
    return draw_concepts(atlas, analysis, multiples=multiples, **look)


def draw_concepts(
    atlas: AtlasStore, analysis: Analysis, *, multiples: bool = False, **look: Unpack[PageOptions]
) -> Any:
    """Draw the contours of the concepts in a result of `thesaurus_overlay`."""
    table = analysis.table
    if not len(table):
        raise InputError(
            "Nothing to plot: there are no concepts. Choose concepts with tagged papers."
        )
    if len(table) > _MOST:
        raise InputError(f"{len(table)} concepts are too many for one map. Choose at most {_MOST}.")
    x, y = positions(atlas.map["x"], atlas.map["y"])
    size = SIZE_INCHES if multiples else BESIDE_A_TABLE
    caption = caption_of(analysis, _HOW)
    page = Page(caption, look, size=size, soft=True, has_key=True)
    styles = series(page.colours, len(table))
    draw = _draw_multiples if multiples else _draw_together
    panel = draw(page, x, y, analysis, styles)
    words = caption.describe("Map of concepts.", _describe(analysis, panel))
    return page.draw(alt_text=words, table=table)


def _draw_together(
    page: Page, x: Floats, y: Floats, analysis: Analysis, styles: Sequence[Series]
) -> Panel:
    """Draw all concepts and their names on one map, with the table next to it."""
    box, column = page.divided()
    peaks = concept_peaks(analysis)
    known = np.isfinite(peaks["x"])
    panel = map_panel(page, box, x, y, include=peaks[known])
    page.write_key(density_key(page, add_density(page, panel, x, y)))
    for row, style in zip(analysis.table.itertuples(), styles, strict=True):
        _add_concept(page, panel, analysis, row, style, fill=0.0)
    add_names(page, panel, peaks.assign(colour=[style.colour for style in styles])[known])
    title = "Concepts of the Unified Astronomy Thesaurus"
    ranking = Ranking.of_table(title, "Concept", analysis.table, _COLUMNS, styles=styles)
    page.write_ranking(ranking, column)
    return panel


def _draw_multiples(
    page: Page, x: Floats, y: Floats, analysis: Analysis, styles: Sequence[Series]
) -> Panel:
    """Draw one small map per concept, on the same axes."""
    peaks = concept_peaks(analysis)
    peaks = peaks[np.isfinite(peaks["x"])]
    panels = map_panels(page, page.tiled(len(styles)), x, y, include=peaks)
    page.write_key(density_key(page, add_density(page, panels[0], x, y)))
    for panel in panels[1:]:
        panel.layers.append(panels[0].layers[0])  # the same density
    for panel, row, style in zip(panels, analysis.table.itertuples(), styles, strict=True):
        _add_concept(page, panel, analysis, row, Series(style.colour, "-"), fill=0.30)
        page.write_heading(panel.box, row.label, f"{row.papers:,} papers", colour=style.colour)
    return panels[0]


def _add_concept(
    page: Page, panel: Panel, analysis: Analysis, row: Any, style: Series, *, fill: float
) -> None:
    """Add the contours of a concept; the inner contour is thicker."""
    contours = analysis.tables["contours"]
    own = contours[contours["concept_id"] == row.concept_id]
    for share in sorted(own["share"].unique(), reverse=True):
        tightest = share == own["share"].min()
        width = (1.7 if tightest else 0.7) * page.scale * (0.55 if fill else 1.0)
        panel.layers.append(
            Lines(
                lines=pieces(own[own["share"] == share]), colour=style.colour, dashes=style.dashes,
                width=width, halo=page.colours.halo if tightest and not fill else None,
                fill=fill if tightest else fill / 3, order=1.6, gid=f"concept-{row.concept_id}",
                hover=f"{row.label}: {share:.0%} of its papers",
                name=str(row.label) if tightest and not fill else "",
            )
        )  # fmt: skip


def concept_peaks(analysis: Analysis) -> pd.DataFrame:
    """Return the centre of the largest inner contour of each concept, or NaN if it has none."""
    import pandas as pd

    contours = analysis.tables["contours"]
    places = []
    for concept in analysis.table["concept_id"]:
        own = contours[contours["concept_id"] == concept]
        tight = own[own["share"] == own["share"].min()]
        largest = max(pieces(tight), key=_area, default=np.full((1, 2), np.nan))
        places.append((largest.min(axis=0) + largest.max(axis=0)) / 2)
    at = np.array(places)
    return pd.DataFrame(
        {
            "topic_id": np.arange(len(at)),
            "label": analysis.table["label"].astype(str).to_numpy(),
            "level": 1,
            "x": at[:, 0],
            "y": at[:, 1],
            "n_papers": analysis.table["papers"].to_numpy(),
        }
    )


def _area(line: Floats) -> float:
    """Return the area inside a closed line, computed with the shoelace formula."""
    x, y = line.T
    return float(abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2)


def _describe(analysis: Analysis, panel: Panel) -> str:
    """Describe the positions of the concepts, for the alternative text."""
    places = [
        f"{clean_name(row.label)} ({row.n_papers:,} papers, {place_of(row.x, row.y, panel.extent)})"
        for row in concept_peaks(analysis).itertuples()
        if row.x == row.x
    ]
    return f"Concepts: {'; '.join(places)}." if places else ""
