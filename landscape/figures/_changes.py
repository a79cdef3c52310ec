"""Draw what updates have changed: regions, proposed regions and added papers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape._render import render
from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.caption import caption_of, place_of
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_names,
    chosen_topics,
    fitted_page,
    map_panel,
    positions,
)
from landscape.figures.page import BESIDE, SMALL, Page, PageOptions, Ranking
from landscape.figures.scene import Box, Floats, Panel, Points, Scene
from landscape.overlays.changes import region_changes

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Analysis

_NAMED = 25  # changed regions with names; more names hide the papers
_SYMBOLS = {  # kinds of changes with the same symbol, the symbol and its meaning
    ("born", "split"): ("D", "new region"),
    ("grew",): ("^", "region that grew"),
    ("shrank",): ("v", "region that shrank"),
    ("renamed",): ("s", "region with a new name"),
}
_DOT, _SYMBOL, _RING = 3.2, 8.5, 16.0  # diameters in points
_LINE = 11.5  # line height of the legend in points
_SHARE = 0.3  # part of the column that is kept for each of the following lists
_LISTS = (  # table, title, heading of the names, and columns
    (
        "regions",
        "Changed regions, largest change first",
        "Region",
        (
            ("kind", "Change", "{}"),
            ("papers_before", "Papers\nbefore", "{:,}"),
            ("papers", "Papers\nnow", "{:,}"),
        ),
    ),
    ("proposed_regions", "Proposed regions", "Phrase", (("papers", "Papers", "{:,}"),)),
    (
        "added_by_region",
        "Regions with added papers",
        "Region",
        (("added", "Added", "{:,}"), ("papers", "Papers\nnow", "{:,}")),
    ),
)


@figure
def changes(
    atlas: AtlasStore,
    *,
    analysis: Analysis | None = None,
    since: str | None = None,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the regions that updates have changed, the proposed regions and the added papers.

    Parameters
    ----------
    atlas : AtlasStore
    analysis : Analysis, optional
        Known result of `landscape.overlays.changes.region_changes`, which is then not computed
        again.
    since : str, optional
        First day of the changes of regions, such as ``"2026-11-01"``; see
        `landscape.overlays.changes.region_changes`.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with the ``table`` of `region_changes`, or `ax`. As an HTML file, the
        tables of changes and of proposed regions are below the figure.

    Raises
    ------
    InputError
        If nothing has changed, `since` is not a day, the colours are unknown, or the page is too
        small.

    Examples
    --------
    >>> import landscape as ls
    >>> ls.figures.changes(ls.open("my.atlas"), since="2026-11-01")  # doctest: +SKIP
    """
    found = analysis or region_changes(atlas, since=since)
    regions, proposals, added = (
        found.tables[name] for name in ("regions", "proposed_regions", "added")
    )
    if not len(regions) + len(proposals) + len(added):
        raise InputError(
            "Nothing to plot: no region has changed and no paper was added since the last fit of "
            "the map. Update the atlas, or give an earlier day."
        )
    x, y = positions(atlas.map["x"], atlas.map["y"])
    notes = [
        (added, "The background is the density of the papers of the last fit of the map."),
        (
            proposals,
            "Proposed regions are groups of added papers that are nearer to each other than to "
            "papers of the last fit.",
        ),
    ]
    caption = caption_of(found, *(note for table, note in notes if len(table)))
    page = Page(caption, look, size=fitted_page(x, y, 1, beside=BESIDE), soft=True)
    # The names of continents are for orientation only.
    page.colours = replace(page.colours, continent=page.colours.faint)
    box, column = page.divided()
    panel = map_panel(page, box, x, y, include=proposals)
    is_new = np.zeros(len(x), dtype=bool)
    is_new[added["paper_row"]] = True
    # If all papers are new, the density is that of all papers.
    before = ~is_new if (~is_new).any() else np.ones_like(is_new)
    add_density(page, panel, x[before], y[before])
    drawn = _add_symbols(page, panel, atlas, regions, proposals, added)
    _write_names(page, panel, atlas, regions, proposals)
    if column is not None:
        _write_column(page, column, drawn, found)
    words = caption.describe("Map of what updates have changed.", _describe(found, panel))
    scene = page.scene(alt_text=words, table=found.table)
    return replace(scene, below=render("analysis_tables.html", sections=found.sections))


def _add_symbols(
    page: Page,
    panel: Panel,
    atlas: AtlasStore,
    regions: pd.DataFrame,
    proposals: pd.DataFrame,
    added: pd.DataFrame,
) -> list[Points]:
    """Mark added papers, changed regions and proposed regions; return the layers drawn."""
    colours, scale = page.colours, page.scale
    rows = added["paper_row"].to_numpy(dtype=np.int64)

    def titles() -> list[str]:
        papers = atlas.read_papers(["title", "year"]).iloc[rows]
        return [f"{paper.title} ({paper.year})" for paper in papers.itertuples()]

    layers = [
        Points(
            x=added["x"].to_numpy(float),
            y=added["y"].to_numpy(float),
            size=_DOT * scale,
            colour=colours.found,
            edge=colours.halo,
            edge_width=0.3 * scale,
            hover=titles,
            name="added paper",
            gid="added",
        )
    ]
    there = regions.dropna(subset=["x", "y"])
    for kinds, (marker, words) in _SYMBOLS.items():
        some = there[there["kind"].isin(kinds)]
        layers.append(
            Points(
                x=some["x"].to_numpy(float),
                y=some["y"].to_numpy(float),
                marker=marker,
                size=_SYMBOL * scale,
                colour=colours.ink,
                edge=colours.halo,
                edge_width=0.7 * scale,
                hover=[
                    f"{row.label} ({row.kind})\n{row.papers_before:,} to "
                    f"{count(row.papers, 'paper')}\n{row.reason}"
                    for row in some.itertuples()
                ],
                name=words,
                gid=kinds[0],
                order=2.2,
            )
        )
    layers.append(
        Points(
            x=proposals["x"].to_numpy(float),
            y=proposals["y"].to_numpy(float),
            size=_RING * scale,
            filled=False,
            colour=colours.apart,
            edge_width=1.6 * scale,
            hover=[
                "\n".join(filter(None, [f"proposed: {row.label}", size, row.warning]))
                for row in proposals.itertuples()
                for size in [count(row.papers, "paper")]
            ],
            name="proposed region",
            gid="proposed",
            order=2.3,
        )
    )
    drawn = [layer for layer in layers if len(layer.x)]
    panel.layers.extend(drawn)
    return drawn


def _write_names(
    page: Page, panel: Panel, atlas: AtlasStore, regions: pd.DataFrame, proposals: pd.DataFrame
) -> None:
    """Name proposed regions, the regions with the largest changes, and continents."""
    import pandas as pd

    there = regions.dropna(subset=["x", "y"])
    names = [
        proposals.assign(level=2, n_papers=proposals["papers"], topic_id=-1 - proposals.index),
        there.head(_NAMED).assign(level=1, n_papers=there["papers"]),
        chosen_topics(atlas.topics, levels=(0,)),
    ]
    columns = ["topic_id", "label", "x", "y", "n_papers", "level"]
    wanted = pd.concat([one[columns] for one in names if len(one)], ignore_index=True)
    sizes = ((proposals, _RING), (there, _SYMBOL + 2))
    taken = [_boxes(panel, table, size * page.scale) for table, size in sizes]
    add_names(page, panel, wanted, most=len(wanted), reserved=np.concatenate(taken))
    names = panel.layers.pop()
    last = {f"topic-{topic}" for topic in wanted.loc[wanted["level"] == 0, "topic_id"]}
    is_continent = np.array([name.gid in last for name in names.names], dtype=bool)
    # Regions have symbols at their peaks; continents have dots where their leader lines end.
    for mask, colour in ((is_continent, page.colours.faint), (~is_continent, page.colours.ink)):
        kept = [names.names[place] for place in np.flatnonzero(mask).tolist()]
        panel.layers.append(
            replace(
                names,
                names=kept,
                leaders=names.leaders[mask],
                leader_colour=colour,
                peaks=mask is is_continent,
            )
        )


def _boxes(panel: Panel, table: pd.DataFrame, size: float) -> Floats:
    """Return the boxes of symbols of a size, which names must not overlap."""
    at = panel.to_page(table["x"], table["y"])
    return np.hstack([at - size / 2, at + size / 2])


def _write_column(page: Page, box: Box, drawn: list[Points], found: Analysis) -> None:
    """Write the legend and the lists of regions into the column."""
    scale = page.scale
    left, bottom, right, top = box
    for layer in drawn:
        top -= _LINE * scale
        style = {
            name: getattr(layer, name)
            for name in ("marker", "colour", "edge", "edge_width", "filled")
        }
        size = min(float(layer.size), 8 * scale)
        page.sample({**style, "size": size}, left, left + 10 * scale, top + 2.4 * scale)
        words = f"{layer.name} ({len(layer.x):,})"
        page.write(words, left + 15 * scale, top, size=SMALL, gid="key", colour=page.colours.faint)
    top -= 8 * scale
    proposals = found.tables["proposed_regions"]
    warnings = [f" ({warning})" if warning else "" for warning in proposals["warning"]]
    warned = proposals.assign(label=proposals["label"] + warnings)
    tables = {**found.tables, "proposed_regions": warned}
    lists = [
        Ranking.of_table(f"{title} ({len(table):,})", heading, table, columns)
        for name, title, heading, columns in _LISTS
        if len(table := tables[name])
    ]
    needs = [min((34 + 16 * len(one.rows)) * scale, _SHARE * (top - bottom)) for one in lists]
    for place, ranking in enumerate(lists):
        page.write_ranking(ranking, (left, bottom + sum(needs[place + 1 :]), right, top))
        top = min(text.y for text in page.texts if text.gid == "ranking") - 12 * scale


def _describe(found: Analysis, panel: Panel) -> str:
    """Describe the changes for readers who cannot see the map."""
    parts = [
        f"{clean_name(row.label)} {row.kind} ({row.papers_before:,} to {row.papers:,} papers)"
        for row in found.tables["regions"].head(_NAMED).itertuples()
    ]
    proposals = [
        f"{clean_name(row.label)} ({count(row.papers, 'paper')}, "
        f"{place_of(row.x, row.y, panel.extent)})"
        for row in found.tables["proposed_regions"].itertuples()
    ]
    return (
        f"Changed regions: {'; '.join(parts) or 'none'}. "
        f"Proposed regions: {'; '.join(proposals) or 'none'}."
    )
