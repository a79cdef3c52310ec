"""Draw the density of papers on the map, alone or with the papers found by a search.

Based on figures 2 and 4 of Iyer et al. 2024, ApJS 275, 38.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape._wording import count
from landscape.embeddings.neighbours import MAX_LENGTH
from landscape.errors import InputError
from landscape.figures.caption import (
    Caption,
    MapFacts,
    alt_text,
    explanation,
    facts_of,
    headline,
    place_of,
)
from landscape.figures.colours import FEW_ENOUGH_TO_SEE, theme
from landscape.figures.export import draw
from landscape.figures.labels import clean_name
from landscape.figures.maps import (
    add_density,
    add_names,
    add_papers,
    chosen_topics,
    density_key,
    label_table,
    legend_of,
    map_panel,
    mark_papers,
    outline_style,
    positions,
)
from landscape.figures.page import RASTER_DPI, SIZE_INCHES, Page, PageOptions
from landscape.figures.scene import Arrows, Bools, Floats, Lines, Panel, Points, Scene
from landscape.mapping.density import DensityGrid, contour_lines, count_grid
from landscape.search import Spread, spread_of
from landscape.search.outliers import find_papers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from landscape.store import AtlasStore
    from landscape.types import Results


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


_MAX_QUESTION, _MAX_NOTE = 240, 160
_REGIONS_NAMED, _FOR_ORIENTATION = 16, 8
_PAPERS_DESCRIBED, _RANKS_LISTED = 10, 12
_ENOUGH_TO_OUTLINE = 3
_CELL = 3.0  # cell size of the grid for outlines, in points
_MIN_ARROW = 6.0  # minimum length in points; symbols would hide a shorter arrow
_LED = "Arrows point from a paper to the papers found through it."


def query_map(
    atlas: AtlasStore,
    results: Results,
    *,
    links: Sequence[tuple[int, int]] = (),
    how: str | None = None,
    **look: Unpack[PageOptions],
) -> Any:
    """Draw the papers found by a search on the map.

    The background is the density of all papers in the atlas. Every paper found is marked, and the
    best papers are numbered by rank. Outliers have a different symbol. If most papers found are in
    one or two regions, these regions are outlined.

    Parameters
    ----------
    atlas : AtlasStore
    results : Results
        Results of ``atlas.search``.
    links : sequence of (int, int)
        Pairs of indices of hits, starting at 0. Each pair is drawn as an arrow.
    how : str, optional
        Text after the query in the title, such as ``"9 of 100 judged papers were selected"``.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure with ``alt_text`` and a ``table`` of ``rank, paper_id, title, x, y,
        topic_id, region, score, outlier``; or `ax`.

    Raises
    ------
    InputError
        If the search found no papers, the results are from another atlas, the colours are
        unknown, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.query_map(atlas, atlas.search("dust in quasars", k=20))  # doctest: +SKIP
    """
    scene = query_map_scene(atlas, results, links=links, how=how, **look)
    return draw(scene, ax=look.get("ax"))


def query_map_scene(
    atlas: AtlasStore,
    results: Results,
    *,
    links: Sequence[tuple[int, int]] = (),
    how: str | None = None,
    **look: Unpack[PageOptions],
) -> Scene:
    """Return the scene of `query_map`."""
    import pandas as pd

    if not results.hits:
        raise InputError(
            "Nothing to plot: the search found no papers. Use other words or a wider filter."
        )
    x, y = positions(atlas.map["x"], atlas.map["y"])
    table, spread = _table(atlas, results), spread_of(atlas, results)
    topics = _topics_to_name(atlas.topics, spread)
    # Outline the regions that are named in the summary of the spread.
    most = {"one region": 1, "two regions": 2, "scattered": 0}[spread.kind]
    outlined = [topic for topic, _, n in spread.inside[:most] if n >= _ENOUGH_TO_OUTLINE]
    outliers = table["outlier"].fillna(False).to_numpy(dtype=bool)
    facts, palette = facts_of(atlas), theme(look.get("colours", "light"))
    best = (
        f"{count(len(table), 'paper')} found, the best of {results.coverage.n_searched:,} searched"
    )
    head = f"“{clean_name(results.query, most=_MAX_QUESTION)}”: {how or best}."
    caption = Caption(head, _sentences(results, spread, facts), facts.generated)
    legend = legend_of(
        palette,
        scale=1.0,
        n_papers=len(table),
        outliers=bool(outliers.any()),
        outlined=len(outlined),
    )
    page = Page(caption, look, soft=True, legend=legend, has_key=True)
    shown = pd.concat([topics[["x", "y"]], table[["x", "y"]]])
    panel = map_panel(page, page.area, x, y, include=shown)
    page.write_key(density_key(page, add_density(page, panel, x, y)))
    for topic in outlined:
        inside = atlas.map["topic_id"].to_numpy() == topic
        found = atlas.map["paper_id"][inside].isin(table["paper_id"]).to_numpy()
        _outline(page, panel, x[inside], y[inside], found=found)
    at = table["x"].to_numpy(), table["y"].to_numpy()
    _add_links(page, panel, np.column_stack(at), links)
    hover = [f"{row.rank}. {row.title}\n{row.region}" for row in table.itertuples()]
    boxes, not_numbered = mark_papers(page, panel, *at, outliers=outliers, hover=hover)
    add_names(page, panel, topics, reserved=boxes, emphasized=[one for one, *_ in spread.inside])
    more = [_LED] if links else []
    if not_numbered:
        more.append(f"{count(not_numbered, 'paper')} marked without a number.")
    if outside := panel.outside(x, y):
        more.append(explanation(MapFacts(), outside=outside)[-1])
    caption = replace(caption, sentences=[*caption.sentences, *more])
    words = caption.describe("Map of the papers found for a question.", _describe(table, panel))
    return page.scene(alt_text=words, table=table, caption=caption)


def _table(atlas: AtlasStore, results: Results) -> pd.DataFrame:
    """Return the data of the figure, one row per paper found."""
    import pandas as pd

    found = results.papers
    rows = {paper: row for row, paper in enumerate(atlas.map["paper_id"])}
    there = atlas.map.iloc[find_papers(rows, [paper.paper_id for paper in found])]
    names = dict(zip(atlas.topics["topic_id"], atlas.topics["label"], strict=True))
    return pd.DataFrame(
        {
            "rank": [hit.rank for hit in results.hits],
            "paper_id": [paper.paper_id for paper in found],
            "title": [paper.title for paper in found],
            "x": there["x"].to_numpy(dtype=float),
            "y": there["y"].to_numpy(dtype=float),
            "topic_id": there["topic_id"].to_numpy(dtype=np.int64),
            "region": [str(names.get(topic, "")) for topic in there["topic_id"]],
            "score": [hit.score for hit in results.hits],
            "outlier": pd.array([hit.outlier for hit in results.hits], dtype="boolean"),
        }
    )


def _topics_to_name(topics: pd.DataFrame, spread: Spread) -> pd.DataFrame:
    """Return the regions with the most papers found, then the largest other regions."""
    import pandas as pd

    regions = chosen_topics(topics, levels=(1,))
    order = {topic: place for place, (topic, *_) in enumerate(spread.inside)}
    place = regions["topic_id"].map(order)
    held = regions[place.notna()].iloc[np.argsort(place.dropna().to_numpy(), kind="stable")]
    others = regions[place.isna()].head(_FOR_ORIENTATION)
    return pd.concat([held.head(_REGIONS_NAMED), others], ignore_index=True)


def _outline(page: Page, panel: Panel, x: Floats, y: Floats, *, found: Bools) -> None:
    """Draw a contour around 85% of a region's papers, and around all papers found in the region."""
    from scipy.ndimage import gaussian_filter

    left, bottom, right, top = panel.box
    cell = _CELL * page.scale
    shape = (max(8, round((top - bottom) / cell)), max(8, round((right - left) / cell)))
    counts = count_grid(x, y, bounds=panel.extent, shape=shape)
    rows, columns = np.nonzero(counts)
    if not len(rows):
        return
    # Scott's rule for a Gaussian kernel in two dimensions (Scott 1992), with a lower and an upper
    # limit.
    spread = float(np.mean([np.std(rows), np.std(columns)])) * len(x) ** (-1 / 6)
    density = gaussian_filter(counts, np.clip(spread, 3.5, 12.0), mode="constant", truncate=4.0)
    order = np.argsort(density[rows, columns])
    held = np.cumsum(counts[rows, columns][order])
    level = density[rows, columns][order][int(np.searchsorted(held, 0.15 * held[-1]))]
    marks = count_grid(x[found], y[found], bounds=panel.extent, shape=shape) > 0
    level = min(float(level), float(density[marks].min(initial=np.inf)))
    grid = DensityGrid.of_window(panel.extent, density.astype(np.float64))
    style = outline_style(page.colours, page.scale)
    panel.layers.append(
        Lines(lines=contour_lines(grid, 0.9 * level), gid="outline", order=1.4, **style)
    )


def _add_links(page: Page, panel: Panel, places: Floats, links: Sequence[tuple[int, int]]) -> None:
    """Draw arrows below the symbols of papers; omit arrows that are too short to be visible."""
    if not len(links):
        return
    at = panel.to_page(places[:, 0], places[:, 1])
    start, end = np.array(links).T
    seen = np.hypot(*(at[end] - at[start]).T) >= _MIN_ARROW * page.scale
    panel.layers.append(
        Arrows(
            starts=places[start[seen]],
            ends=places[end[seen]],
            colour=page.colours.found,
            width=0.6 * page.scale,
            gid="led to",
            order=2.2,
        )
    )


def _sentences(results: Results, spread: Spread, facts: MapFacts) -> list[str]:
    """Return the sentences of the caption below the title."""
    nearness = {key: value for key, value in facts.quality.items() if key == "knn_recall_at_10"}
    how_to_read = explanation(replace(facts, share_named=None, quality=nearness))
    sentences = [
        clean_name(spread.to_text(), most=4 * _MAX_NOTE),
        headline(facts),
        *how_to_read,
        _settings_in_words(results),
        *(clean_name(note, most=_MAX_NOTE) for note in results.coverage.notes),
        _outliers_in_words(results, n_papers=facts.n_papers),
    ]
    return [sentence for sentence in sentences if sentence]


def _outliers_in_words(results: Results, *, n_papers: int) -> str:
    """Return a sentence on the outliers and the measure used."""
    known = [hit for hit in results.hits if hit.outlier is not None]
    if not known:
        return ""
    ranks = [hit.rank for hit in known if hit.outlier]
    gamma = results.settings.get("gamma")
    less = f" − {gamma:g}" if isinstance(gamma, (int, float)) else " − γ"
    k = min(len(results), MAX_LENGTH, n_papers - 1)  # cutoffs are stored for k up to MAX_LENGTH
    measure = (
        "further from the centroid of the others, in full dimension, than "
        f"D95({k}){less}, where D95(k) is the 95th percentile of the distances from papers "
        "to their k nearest neighbours"
    )
    if not ranks:
        return f"No paper is an outlier ({measure})."
    are = "is an outlier" if len(ranks) == 1 else "are outliers"
    more = f" and {len(ranks) - _RANKS_LISTED} more" if len(ranks) > _RANKS_LISTED else ""
    which = f"number{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks[:_RANKS_LISTED]))}"
    return f"{count(len(ranks), 'paper')} ({which}{more}) {are}: {measure}."


def _settings_in_words(results: Results) -> str:
    """Return a sentence on the filters and weights of a search, or "" if they are defaults."""
    settings = results.settings
    parts = []
    if settings.get("method") in ("semantic", "words"):
        parts.append({"semantic": "by meaning", "words": "by words"}[settings["method"]] + " only")
    if settings.get("filter"):
        parts.append(f"with the filter “{clean_name(settings['filter'], most=_MAX_NOTE)}”")
    weights = dict(settings.get("weights") or {})
    lifted = [name for name in ("keyword", "time", "citation") if weights.get(name)]
    if lifted:
        parts.append(f"weighted by {' and '.join(lifted)}")
    return f"Searched {', '.join(parts)}." if parts else ""


def _describe(table: pd.DataFrame, panel: Panel) -> str:
    """Describe the highest-ranked papers and their positions, for the alternative text."""
    outliers = set(table["rank"][table["outlier"].fillna(False).astype(bool)])
    papers = []
    for row in table.head(_PAPERS_DESCRIBED).itertuples():
        place = place_of(row.x, row.y, panel.extent)
        where = ", ".join(filter(None, [clean_name(str(row.region)), place]))
        mark = ", outlier" if row.rank in outliers else ""
        papers.append(f"{row.rank} {clean_name(row.title)} ({where}{mark})")
    first = "The highest-ranked papers are" if len(table) > _PAPERS_DESCRIBED else "They are"
    return f"{first}: {'; '.join(papers)}."
