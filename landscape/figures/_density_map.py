"""Draw the density of papers on the map (figure 2 of Iyer et al. 2024, ApJS 275, 38)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.caption import Caption, alt_text, explanation, facts_of, headline
from landscape.figures.colours import FEW_ENOUGH_TO_SEE
from landscape.figures.export import draw
from landscape.figures.maps import (
    add_density,
    add_names,
    add_papers,
    chosen_topics,
    density_key,
    label_table,
    map_panel,
    positions,
)
from landscape.figures.page import RASTER_DPI, SIZE_INCHES, Page, PageOptions
from landscape.figures.scene import Points, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from landscape.store import AtlasStore


def heatmap(
    atlas: AtlasStore,
    *,
    colours: str = "light",
    colour: str = "density",
    levels: Sequence[int] = (0, 1),
    size_inches: tuple[float, float] = SIZE_INCHES,
    labels: bool = True,
    max_labels: int | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
    ax: Axes | None = None,
) -> Any:
    """Draw the density of the papers of an atlas, with the names of its regions.

    Parameters
    ----------
    atlas : AtlasStore
        Atlas with a map. Its ``topics``, ``quality`` and ``coverage`` are also used.
    colours : {"light", "dark"}, default "light"
        Theme: ``"light"`` for print, ``"dark"`` for screens.
    colour : {"density", "regions"}, default "density"
        ``"regions"`` gives each region one of seven colours, which is stronger where there are more
        papers. Neighbours have different colours as far as seven colours allow it.
    levels : sequence of int, default (0, 1)
        Levels of the topics to name: 0 for continents, 1 for regions.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    labels : bool, default True
        Whether to draw the names.
    max_labels : int, optional
        Maximum number of names; larger topics have priority. The default depends on the page.
    title : str, optional
        Heading above the map; by default the name and the dates of the corpus.
    raster_dpi : int, default 200
        Pixels per inch of the density picture; names are always drawn as text.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into. By default a new page is made.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with ``alt_text`` and ``table`` for `save_figure`, or `ax`.

    Raises
    ------
    InputError
        If the colours or `colour` are unknown, the page is too small, or the atlas has no map.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.heatmap(ls.open("my.atlas"))  # doctest: +SKIP
    """
    scene = heatmap_scene(
        atlas,
        colour=colour,
        levels=levels,
        labels=labels,
        max_labels=max_labels,
        colours=colours,
        size_inches=size_inches,
        title=title,
        raster_dpi=raster_dpi,
        ax=ax,
    )
    return draw(scene, ax=ax)


def heatmap_scene(
    atlas: AtlasStore,
    *,
    colour: str = "density",
    levels: Sequence[int] = (0, 1),
    labels: bool = True,
    max_labels: int | None = None,
    **look: Unpack[PageOptions],
) -> Scene:
    """Return the scene of `heatmap`."""
    if colour not in ("density", "regions"):
        raise InputError(f"colour is {colour!r}; choose density or regions.")
    x, y = positions(atlas.map["x"], atlas.map["y"])
    facts, chosen = facts_of(atlas), chosen_topics(atlas.topics, levels=levels)
    specks = len(x) < FEW_ENOUGH_TO_SEE
    caption = Caption(headline(facts), explanation(facts, specks=specks), facts.generated)
    page = Page(caption, look, has_key=colour == "density")
    panel = map_panel(page, page.area, x, y, include=chosen)
    regions = atlas.map["topic_id"].to_numpy(np.int64) if colour == "regions" else None
    tones = add_density(page, panel, x, y, specks=True, regions=regions)
    if regions is None:
        page.write_key(density_key(page, tones))
    add_papers(panel, atlas, page.colours)
    boxes = add_names(page, panel, chosen, most=max_labels if labels else 0, by_papers=True)
    table = label_table(chosen, boxes, panel, len(x))
    hidden = chosen[(chosen["level"] == 1) & ~table["shown"].to_numpy(dtype=bool)]
    if len(hidden):
        panel.layers.append(
            Points(
                x=hidden["x"].to_numpy(float),
                y=hidden["y"].to_numpy(float),
                size=5.0,
                colour=page.colours.halo,
                edge=page.colours.ink,
                edge_width=1.0,
                gid="regions",
                screen=True,
                hover=[
                    f"{row.label}: {count(row.n_papers, 'paper')}" for row in hidden.itertuples()
                ],
            )
        )
    sentences = explanation(
        facts,
        not_shown=int((~table["shown"]).sum()) if labels else 0,
        outside=panel.outside(x, y),
        specks=specks,
    )
    x0, y0, x1, y1 = panel.extent
    seen = chosen.assign(x=(chosen["x"] - x0) / (x1 - x0), y=(chosen["y"] - y0) / (y1 - y0))
    return page.scene(
        alt_text=f"{alt_text(facts, seen)} {' '.join(sentences)}",
        table=table,
        caption=replace(caption, sentences=sentences),
    )
