"""Draw the papers found by a search on the map, with a numbered list and enlarged parts.

Based on figure 4 of Iyer et al. 2024, ApJS 275, 38.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape._author_names import short_names
from landscape._wording import count
from landscape.embeddings.neighbours import MAX_LENGTH
from landscape.errors import InputError
from landscape.figures.caption import Caption, MapFacts, explanation, facts_of, headline, place_of
from landscape.figures.colours import theme
from landscape.figures.export import figure
from landscape.figures.labels import boxes_overlap, clean_name
from landscape.figures.maps import (
    FEW,
    add_density,
    add_names,
    chosen_topics,
    density_key,
    legend_of,
    map_panel,
    mark_papers,
    outline_style,
    positions,
)
from landscape.figures.page import SMALL, Page, PageOptions, Ranking, Row
from landscape.figures.scene import Arrows, Axis, Bools, Box, Floats, Lines, Panel, Points, Scene
from landscape.mapping.density import DensityGrid, contour_lines, count_grid
from landscape.search import Spread, spread_of
from landscape.search.outliers import find_papers
from landscape.store.years import format_spans

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Results

_MAX_QUESTION, _MAX_NOTE = 240, 160
_REGIONS_NAMED, _FOR_ORIENTATION = 16, 8
_BESIDE = 0.36  # width of the list, as a fraction of the page width
_LISTED_FROM = 560.0  # smallest page width in points with a list
_INSETS, _INSET_HEIGHT = 2, 0.36  # maximum number of enlarged parts, and their share of the height
_OVERLAP = 8.0  # two marks closer than this, in points, cannot be told apart with their numbers
_MIN_ZOOM, _MAX_ZOOM = 2.0, 9.0
_PAPERS_DESCRIBED, _RANKS_LISTED = 10, 12
_ENOUGH_TO_OUTLINE = 3
_CELL = 1.0  # cell size of the grid for outlines, in points
_LINE_BELOW = 10.0  # height of a line below the map or the list, in points
_MIN_ARROW = 6.0  # minimum length in points; symbols would hide a shorter arrow
_LED = "Arrows point from a paper to the papers found through it."


@figure
def query_map(
    atlas: AtlasStore,
    results: Results,
    *,
    links: Sequence[tuple[int, int]] = (),
    how: str | None = None,
    scored: bool = False,
    **look: Unpack[PageOptions],
) -> Scene:
    """Draw the papers found by a search on the map.

    The background is the density of all papers in the atlas. Every paper found is marked, and the
    best papers are numbered by rank. A list beside the map names them, and parts of the map where
    marks overlap are enlarged, unless the page is narrow. Outliers have a different symbol. If
    most papers found are in one or two regions, these regions are outlined.

    Parameters
    ----------
    atlas : AtlasStore
    results : Results
        Results of ``atlas.search``.
    links : sequence of (int, int)
        Pairs of indices of hits, starting at 0. Each pair is drawn as an arrow.
    how : str, optional
        Text after the query in the title, such as ``"9 of 100 judged papers were selected"``.
    scored : bool, default False
        Whether the list has the scores of the papers.
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
    best = "best paper" if len(table) == 1 else f"{len(table):,} best papers"
    how = how or f"the {best} of {results.coverage.n_searched:,}"
    head = f"“{clean_name(results.query, most=_MAX_QUESTION)}”: {how}."
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
    has_list = page.onto is None and page.width >= _LISTED_FROM * page.scale
    box, column = page.divided(beside=_BESIDE) if has_list else (page.area, None)
    at = table["x"].to_numpy(), table["y"].to_numpy()
    panel, windows = _map_with_windows(page, box, x, y, at, include=shown, enlarge=has_list)
    page.write_key(density_key(page, add_density(page, panel, x, y)))
    for topic in outlined:
        inside = atlas.map["topic_id"].to_numpy() == topic
        found = atlas.map["paper_id"][inside].isin(table["paper_id"]).to_numpy()
        _outline(page, panel, x[inside], y[inside], found=found)
    _add_links(page, panel, np.column_stack(at), links)
    hover = [f"{row.rank}. {row.title}\n{row.region}" for row in table.itertuples()]
    frames = _frame_windows(page, panel, windows)
    numbered = table["rank"].to_numpy() <= FEW
    enlarged, without = np.zeros(len(table), bool), table["rank"][~numbered].tolist()
    for window in windows:
        part = ~enlarged & window.contains(*at)
        enlarged |= part
        without += _draw_window(page, panel, window, (x, y), table[part], outliers[part])
    boxes, omitted = mark_papers(
        page,
        panel,
        *at,
        outliers=outliers,
        hover=hover,
        ranks=table["rank"].tolist(),
        numbered=numbered & ~enlarged,
        reserved=frames,
    )
    add_names(
        page,
        panel,
        topics,
        reserved=np.vstack([boxes, frames]),
        emphasized=[one for one, *_ in spread.inside],
    )
    without = sorted([*without, *omitted])
    more = [_LED] if links else []
    if without:
        ranks = ", ".join(format_spans(without))
        more.append(f"{count(len(without), 'paper')} without a number on the map: {ranks}.")
    notes = more[-1:] if without else []
    _write_list(page, column or panel.box, results, notes, listed=has_list, scored=scored)
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
    """Return the regions with the most papers found, then others spread over the map.

    Each next region is the one with the largest product of its distance from the regions chosen
    before and the square root of its papers.
    """
    import pandas as pd

    regions = chosen_topics(topics, levels=(1,))
    order = {topic: place for place, (topic, *_) in enumerate(spread.inside)}
    place = regions["topic_id"].map(order)
    held = regions[place.notna()].iloc[np.argsort(place.dropna().to_numpy(), kind="stable")]
    others = regions[place.isna()]
    at, weight = others[["x", "y"]].to_numpy(float), np.sqrt(others["n_papers"].to_numpy(float))
    chosen, named = [], held[["x", "y"]].to_numpy(float)
    away = np.full(len(at), np.inf) if not len(named) else _nearest(at, named)
    for _ in range(min(_FOR_ORIENTATION, len(at))):
        chosen.append(int(np.argmax(np.minimum(away, 1e9) * weight)))
        away = np.minimum(away, _nearest(at, at[chosen[-1:]]))
    return pd.concat([held.head(_REGIONS_NAMED), others.iloc[chosen]], ignore_index=True)


def _nearest(points: Floats, others: Floats) -> Floats:
    """Return the distance of each point from the nearest of other points."""
    return np.asarray(np.hypot(*(points[:, None] - others[None]).transpose(2, 0, 1)).min(axis=1))


# -- enlarged parts of the map


@dataclass(frozen=True)
class _Window:
    """A part of the map, and the box on the page where it is enlarged."""

    letter: str
    extent: Box
    box: Box

    def contains(self, x: Floats, y: Floats) -> Bools:
        """Return whether positions are in the window."""
        x0, y0, x1, y1 = self.extent
        return (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)


def _map_with_windows(
    page: Page,
    box: Box,
    x: Floats,
    y: Floats,
    at: tuple[Floats, Floats],
    *,
    include: pd.DataFrame,
    enlarge: bool,
) -> tuple[Panel, list[_Window]]:
    """Add the map; if marks overlap, leave space below it for windows that are enlarged."""
    left, bottom, right, top = box
    if page.onto is None and not enlarge:  # space for the ranks without a number
        bottom += _LINE_BELOW * page.scale
    panel = map_panel(page, (left, bottom, right, top), x, y, include=include)
    if not enlarge or not _groups(panel, *at, page.scale):
        return panel, []
    whole = panel
    page.panels.remove(whole)
    cut = bottom + math.ceil(_INSET_HEIGHT * (top - bottom) / page.pixel) * page.pixel
    panel = map_panel(page, (left, cut, right, top), x, y, include=include)
    strip = (left + page.margin, bottom, right, cut - 14 * page.scale)
    windows = _windows(panel, strip, _groups(panel, *at, page.scale), page.scale)
    if not windows:  # no group can be enlarged
        page.panels.remove(panel)
        page.panels.append(whole)
        return whole, []
    return panel, windows


def _groups(panel: Panel, x: Floats, y: Floats, scale: float) -> list[Floats]:
    """Return the positions (n, 2) of groups of marks that overlap, the largest group first."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    if len(x) < 2:
        return []
    tree = cKDTree(panel.to_page(x, y))
    first, second = tree.query_pairs(_OVERLAP * scale, output_type="ndarray").T
    close = csr_matrix((np.ones(len(first)), (first, second)), shape=(len(x), len(x)))
    _, group = connected_components(close, directed=False)
    numbers, sizes = np.unique(group, return_counts=True)
    order = numbers[sizes > 1][np.argsort(-sizes[sizes > 1], kind="stable")]
    return [np.column_stack([x, y])[group == number] for number in order]


def _windows(panel: Panel, strip: Box, groups: Sequence[Floats], scale: float) -> list[_Window]:
    """Return a window around each of the largest groups, side by side in a strip of the page."""
    left, bottom, right, top = strip
    gap, most = 14 * scale, min(_INSETS, len(groups))
    width = min((right - left - gap * (most - 1)) / most, 2.4 * (top - bottom))
    sides, windows = np.array([width, top - bottom]), list[_Window]()
    for points in groups:
        if len(windows) == most:
            break
        on_page = panel.to_page(*points.T)
        size = (np.ptp(on_page, axis=0) / (sides - 36 * scale)).max()
        zoom = 1 / max(size, 1 / _MAX_ZOOM)
        middle = (on_page.min(axis=0) + on_page.max(axis=0)) / 2
        around = np.concatenate([middle - sides / zoom / 2, middle + sides / zoom / 2])
        extent = panel.to_data(around.reshape(2, 2)).ravel()
        others = np.array([window.extent for window in windows]).reshape(-1, 4)
        if zoom < _MIN_ZOOM or boxes_overlap(extent, others, gap=0).any():
            continue
        x0 = left + len(windows) * (width + gap)
        box = (x0, bottom, x0 + width, top)
        x1, y1, x2, y2 = extent.tolist()
        windows.append(_Window("AB"[len(windows)], (x1, y1, x2, y2), box))
    return windows


def _frame_windows(page: Page, panel: Panel, windows: Sequence[_Window]) -> Floats:
    """Draw the frames of the windows and their letters on the map; return the occupied boxes."""
    taken = [np.empty((0, 4))]
    for window in windows:
        x0, y0, x1, y1 = window.extent
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])
        width = 0.8 * page.scale
        panel.layers.append(
            Lines(lines=[corners], colour=page.colours.ink, width=width, gid="window", order=1.5)
        )
        (low, high), size = panel.to_page([x0, x1], [y0, y1]), 9.0
        letter = page.extent(window.letter, size=size, weight="bold")
        at = low[0] - letter.width - 2 * page.scale, high[1] - letter.ascent
        page.write(window.letter, *at, size=size, weight="bold", gid="window", in_panel=True)
        taken += [np.array([[*low, *high], [at[0], at[1], low[0], high[1]]])]
    return np.concatenate(taken)


def _draw_window(
    page: Page,
    panel: Panel,
    window: _Window,
    papers: tuple[Floats, Floats],
    found: pd.DataFrame,
    outliers: Bools,
) -> list[int]:
    """Draw an enlarged window with its papers; return the ranks without space for a number."""
    x0, y0, x1, y1 = window.extent
    inset = page.add(Panel(window.box, Axis((x0, x1)), Axis((y0, y1)), gid="inset", edge="box"))
    zoom = (window.box[2] - window.box[0]) / np.ptp(panel.to_page([x0, x1], [y0, y1])[:, 0])
    page.write_heading(window.box, window.letter, f"{zoom:.2g} times larger; grey: other papers")
    inside = window.contains(*papers)
    inset.layers.append(
        Points(
            x=papers[0][inside],
            y=papers[1][inside],
            size=2.0 * page.scale,
            colour=page.colours.faint,
            opacity=0.45,
            gid="papers",
            order=1.0,
        )
    )
    inset.layers.extend(layer for layer in panel.layers if layer.gid.startswith("outline"))
    _, omitted = mark_papers(
        page,
        inset,
        found["x"].to_numpy(),
        found["y"].to_numpy(),
        outliers=outliers,
        ranks=found["rank"].tolist(),
        numbered=found["rank"].to_numpy() <= FEW,
    )
    return omitted


def _write_list(
    page: Page, box: Box, results: Results, notes: Sequence[str], *, listed: bool, scored: bool
) -> None:
    """Write the numbered list of the papers, and below it what is not listed or not numbered."""
    left, bottom, right, top = box
    if listed:
        rows = []
        for hit in results.hits:
            names = short_names(hit.paper.authors, link="&")
            title = f"{names}: {hit.paper.title}" if names else hit.paper.title
            numbers = (str(hit.paper.year or "–"), *[f"{hit.score:.2f}"] * scored)
            rows.append(Row(title, numbers, str(hit.rank)))
        headings = ("First authors and title", "Year", *["Score"] * scored)
        ranking = Ranking("Papers by rank", headings, rows)
        room = (left, bottom + 2.4 * _LINE_BELOW * page.scale, right, top)
        written = page.write_ranking(ranking, room)
        if written < len(rows):
            notes = [f"The list has the best {written:,} of {len(rows):,} papers.", *notes]
    else:
        left, right = left + page.margin, right - page.margin
        bottom -= _LINE_BELOW * page.scale
    lines = page.wrapped(" ".join(notes), size=SMALL, width=right - left, most=2 if listed else 1)
    for place, line in enumerate(reversed(lines) if notes else ()):
        up = bottom + (2 + place * 1.18 * SMALL) * page.scale
        page.write(line, left, up, size=SMALL, colour=page.colours.faint, gid="not numbered")


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
    density = gaussian_filter(counts, np.clip(spread, 10.5, 36.0), mode="constant", truncate=4.0)
    order = np.argsort(density[rows, columns])
    held = np.cumsum(counts[rows, columns][order])
    level = density[rows, columns][order][int(np.searchsorted(held, 0.15 * held[-1]))]
    marks = count_grid(x[found], y[found], bounds=panel.extent, shape=shape) > 0
    level = min(float(level), float(density[marks].min(initial=np.inf)))
    grid = DensityGrid.of_window(panel.extent, density.astype(np.float64))
    style = outline_style(page.colours, page.scale)
    lines = contour_lines(grid, 0.9 * level)
    halo = {"colour": page.colours.halo, "width": 2.5 * style["width"]}
    panel.layers.append(Lines(lines=lines, gid="outline halo", order=1.4, **halo))
    panel.layers.append(Lines(lines=lines, gid="outline", order=1.4, **style))


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
