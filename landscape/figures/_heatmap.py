"""The labelled density map of a literature (after figure 2 of Iyer et al. 2024, ApJS 275, 38)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.figures._caption import Account, MapFacts, alt_text, explanation, facts_of, headline
from landscape.figures._colours import theme
from landscape.figures._maps import (
    add_density,
    add_names,
    add_papers,
    chosen_topics,
    density_key,
    label_table,
    map_panel,
    positions,
)
from landscape.figures._page import RASTER_DPI, SIZE_INCHES, Page
from landscape.figures._scene import Points
from landscape.figures._shading import FEW_ENOUGH_TO_SEE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from landscape.store import AtlasStore


def heatmap(
    atlas: AtlasStore,
    *,
    colours: str = "light",
    levels: Sequence[int] = (0, 1),
    size_inches: tuple[float, float] = SIZE_INCHES,
    labels: bool = True,
    max_labels: int | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
    ax: Axes | None = None,
) -> Any:
    """Draw the density of an atlas's papers, with its regions named.

    Parameters
    ----------
    atlas : AtlasStore
        With its ``map``, ``topics``, ``quality`` and ``coverage``.
    colours : {"light", "dark"}, default "light"
        For print or for screens.
    levels : sequence of int, default (0, 1)
        Which names: 0 continents, 1 regions.
    size_inches : (float, float), default (11, 8.5)
        Width and height of the page.
    labels : bool, default True
        False omits the names.
    max_labels : int, optional
        Most names, the largest topics first; by default as many as suit the size of the page.
    title : str, optional
        Heading above the map; by default the corpus with its dates.
    raster_dpi : int, default 200
        Pixels per inch of the density picture; names are always drawn as text.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, instead of a page.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with ``alt_text`` and ``table`` for `save_figure`, or `ax`.

    Raises
    ------
    InputError
        For unknown colours, too small a page, or an atlas without a map.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.heatmap(ls.open("my.atlas"))  # doctest: +SKIP
    """
    return draw_heatmap(
        atlas.map["x"], atlas.map["y"], atlas.topics, facts=facts_of(atlas), colours=colours,
        levels=levels, size_inches=size_inches, labels=labels, max_labels=max_labels, title=title,
        raster_dpi=raster_dpi, ax=ax, atlas=atlas,
    )  # fmt: skip


def draw_heatmap(
    x: ArrayLike,
    y: ArrayLike,
    topics: pd.DataFrame | None = None,
    *,
    facts: MapFacts | None = None,
    colours: str = "light",
    levels: Sequence[int] = (0, 1),
    size_inches: tuple[float, float] = SIZE_INCHES,
    labels: bool = True,
    max_labels: int | None = None,
    title: str | None = None,
    raster_dpi: int = RASTER_DPI,
    ax: Axes | None = None,
    atlas: AtlasStore | None = None,
) -> Any:
    """Draw a density map of points, with named topics; `atlas` has what can be pointed at."""
    across, up = positions(x, y)
    facts = facts or MapFacts(n_papers=len(across))
    chosen, palette = chosen_topics(topics, levels=levels), theme(colours)
    specks = len(across) < FEW_ENOUGH_TO_SEE
    account = Account(headline(facts), explanation(facts, specks=specks), facts.generated)
    page = Page(
        size_inches, palette, account, title=title, raster_dpi=raster_dpi, has_key=True, onto=ax
    )
    panel = map_panel(page, page.area, across, up, include=chosen)
    page.write_key(density_key(page, add_density(page, panel, across, up, specks=True)))
    if atlas is not None:
        add_papers(panel, atlas, palette)
    boxes = add_names(page, panel, chosen, labels=labels, most=max_labels)
    table = label_table(chosen, boxes, panel, len(across))
    hidden = chosen[(chosen["level"] == 1) & ~table["shown"].to_numpy(dtype=bool)]
    if len(hidden):
        panel.layers.append(
            Points(x=hidden["x"].to_numpy(float), y=hidden["y"].to_numpy(float), size=5.0,
                   colour=palette.halo, edge=palette.ink, edge_width=1.0, gid="regions",
                   screen=True, hover=[f"{row.label}: {count(row.n_papers, 'paper')}"
                                       for row in hidden.itertuples()])
        )  # fmt: skip
    sentences = explanation(
        facts, not_shown=int((~table["shown"]).sum()) if labels else 0,
        outside=panel.outside(across, up), specks=specks,
    )  # fmt: skip
    account = replace(account, sentences=sentences)
    x0, y0, x1, y1 = panel.extent
    seen = chosen.assign(x=(chosen["x"] - x0) / (x1 - x0), y=(chosen["y"] - y0) / (y1 - y0))
    words = f"{alt_text(facts, seen)} {' '.join(account.sentences)}"
    return page.draw(alt_text=words, table=table, account=account)
