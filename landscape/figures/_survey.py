"""Figures of a survey: a tree that shows how its papers were found, and a map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from landscape._author_names import short_names
from landscape._wording import count
from landscape.errors import InputError
from landscape.figures._query_map import query_map
from landscape.figures.caption import Caption
from landscape.figures.export import figure
from landscape.figures.labels import clean_name
from landscape.figures.page import NORMAL, SIZE_INCHES, SMALL, Page, PageOptions
from landscape.figures.scene import Axis, Box, Lines, Panel, Points, Scene

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Crawled, Survey

_MAX_LENGTH = 240  # maximum number of characters of a label
_INDENT = 15.0  # points for each level of the tree
_ROW_INCHES = 0.185
_MIN_LETTERS = 6.0  # points
_WAYS = {
    "reference": "cited by it",
    "citation": "cites it",
    "cited together": "cited with it",
    "similar": "similar to it",
    "section": "cited in a section",
    "search": "by a search",
}


@dataclass
class _Node:
    """A node of the tree: the question, a search or a paper."""

    label: str
    column: int
    how: str = "search"
    one: Crawled | None = None
    children: list[_Node] = field(default_factory=list)
    row: int = 0

    @property
    def selected(self) -> bool:
        """Whether the node is the question, a search, or a selected paper."""
        return self.one is None or self.one.selected


@figure
def survey_tree(survey: Survey, *, most: int = 30, **look: Unpack[PageOptions]) -> Scene:
    """Draw the searches of a survey, and below each the papers that it led to, one per line.

    Parameters
    ----------
    survey : Survey
    most : int, default 30
        Number of best papers to draw. The papers through which they were found are also drawn.
    **look
        ``colours``, ``size_inches``, ``title`` and ``ax``; see `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure, with ``alt_text`` and a ``table`` of the nodes: ``label, paper_id,
        how, parent, column, row, selected, score``; or `ax`.

    Raises
    ------
    InputError
        If the survey judged no papers, the colours are unknown, or the page is too small.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.survey_tree(atlas.survey("Does dust cool?"))  # doctest: +SKIP
    """
    if not survey.crawled:
        raise InputError("Nothing to plot: the survey judged no papers. Ask another question.")
    nodes = _nodes(survey, most=most)
    caption = _write_bounds(survey, [node for node in nodes if node.one is not None])
    height = float(np.clip(_ROW_INCHES * (len(nodes) + 8), 3.0, 24.0))
    page = Page(caption, look, size=(SIZE_INCHES[0], height), smallest=(4.0, 3.0))
    left, bottom, right, top = page.chart_area
    _draw(page, (left, bottom, right, top - (SMALL + 3) * page.scale), nodes)
    ways = Counter(one.how for one in survey.selected)
    found = ", ".join(f"{n} {_WAYS.get(how, how)}" for how, n in ways.items())
    more = f"Selected papers by way of discovery: {found or 'none'}."
    words = caption.describe("Tree of a survey.", more)
    return page.scene(alt_text=words, table=_table(nodes), on_screen=("tree",))


def _nodes(survey: Survey, *, most: int) -> list[_Node]:
    """Return the nodes of the tree with their columns and rows; parents are before children."""
    by_key = {one.key: one for one in survey.crawled}
    wanted: dict[str, Crawled] = {}
    for one in survey.crawled[:most]:
        way: Crawled | None = one
        while way is not None and way.key not in wanted:
            wanted[way.key] = way
            way = by_key.get(way.parent)
    root = _Node(clean_name(survey.question, most=_MAX_LENGTH), 0)
    searches = [
        _Node(
            "Search for the whole question"
            if asked.by == "question"
            else f"Search for “{clean_name(asked.text, most=_MAX_LENGTH)}”",
            1,
        )
        for asked in survey.searches
    ]
    nodes = {key: _Node(_label(one), 0, one.how, one) for key, one in wanted.items()}
    for one in survey.crawled:
        node = nodes.get(one.key)
        if node is None:
            continue
        if one.parent in nodes:
            nodes[one.parent].children.append(node)
        elif one.query is not None:
            searches[one.query].children.append(node)
        else:
            root.children.append(node)
    root.children += [search for search in searches if search.children]
    listed: list[_Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        listed.append(node)
        for child in node.children:
            child.column = node.column + 1
        waiting += reversed(node.children)
    listed.remove(root)  # the question is in the title
    for row, node in enumerate(listed):
        node.row = row
    return listed


def _draw(page: Page, box: Box, nodes: list[_Node]) -> None:
    """Draw one row per node; the indent is the level of the node, as in a list of folders."""
    left, bottom, right, top = box
    least = min(node.column for node in nodes)
    pitch, indent = (top - bottom) / len(nodes), _INDENT * page.scale
    x, y = Axis((0, right - left)), Axis((len(nodes) - 0.5, -0.5))
    panel = page.add(Panel(box, x, y, gid="tree", edge="none"))
    size = float(np.clip(0.72 * pitch, _MIN_LETTERS, NORMAL * page.scale)) / page.scale
    across = {id(node): (node.column - least + 0.5) * indent for node in nodes}
    lines = []
    for node in nodes:
        if node.children:
            down = across[id(node)]
            lines.append(np.array([[down, node.row + 0.3], [down, node.children[-1].row]]))
        for child in node.children:
            start, end = across[id(node)], across[id(child)]
            lines.append(np.array([[start, child.row], [end, child.row]]))
    if lines:
        panel.layers.append(
            Lines(
                lines=lines,
                colour=page.colours.faint,
                width=0.5 * page.scale,
                opacity=0.6,
                gid="led to",
                order=1,
            )
        )
    for selected in (True, False):
        some = [node for node in nodes if node.one and node.one.selected == selected]
        _add_dots(page, panel, some, across, selected=selected, size=min(0.5 * pitch, 5.0))
    noted = max((page.extent(_note(node), size=size).width for node in nodes), default=0.0)
    # The scores are next to the longest label.
    ends = [
        across[id(node)]
        + page.extent(node.label, size=size, weight="normal" if node.one else "bold").width
        for node in nodes
    ]
    right = min(right, left + max(ends) + noted + 24 * page.scale)
    faint, heading = page.colours.faint, top + 3 * page.scale
    page.write("Score", right, heading, size=SMALL, align="right", colour=faint, in_panel=True)
    for node in nodes:
        if pitch < 0.85 * _MIN_LETTERS and node.one is not None:
            continue
        start = across[id(node)] + (6 * page.scale if node.one else -3 * page.scale)
        ((at, up),) = panel.to_page([start], [node.row])
        up -= 0.32 * size * page.scale
        ink = page.colours.ink if node.selected else page.colours.faint
        page.write(
            node.label,
            at,
            up,
            size=size,
            weight="normal" if node.one else "bold",
            gid="label",
            in_panel=True,
            colour=ink,
            width=right - at - noted - 8 * page.scale,
        )
        page.write(
            _note(node),
            right,
            up,
            size=size,
            gid="note",
            in_panel=True,
            align="right",
            colour=page.colours.faint,
        )


def _note(node: _Node) -> str:
    """Return the score of a paper, and how it was found if not by a search."""
    if node.one is None:
        return ""
    way = "" if node.how == "search" else f"{_WAYS.get(node.how, node.how)}, "
    return f"{way}{node.one.score:.2f}"


def _add_dots(
    page: Page,
    panel: Panel,
    some: list[_Node],
    across: dict[int, float],
    *,
    selected: bool,
    size: float,
) -> None:
    """Draw filled dots for selected papers, and open dots for other papers."""
    colours = page.colours
    if some:
        panel.layers.append(
            Points(
                x=[across[id(node)] for node in some],
                y=[node.row for node in some],
                order=3,
                colour=colours.found if selected else colours.halo,
                gid="paper",
                edge=colours.found if selected else colours.faint,
                edge_width=0.6 * page.scale,
                size=size * (1.0 if selected else 0.8),
                hover=[f"{node.label}\n{_note(node)}" for node in some],
            )
        )


def _label(judged: Crawled) -> str:
    """Return the label of a paper: short author names, year and title."""
    names = short_names(judged.paper.authors, link="&") or "(no authors known)"
    head = f"{names} {judged.paper.year or ''}".strip()
    return clean_name(f"{head}: {judged.paper.title}", most=_MAX_LENGTH)


def _write_bounds(survey: Survey, papers: Sequence[_Node]) -> Caption:
    """Return the caption, which explains the indentation if papers led to other papers."""
    drawn, is_flat = len(papers), len({node.column for node in papers}) == 1
    question = clean_name(survey.question, most=240)
    chosen, judged = len(survey.selected), len(survey.crawled)
    sentences = [
        *(["The survey is incomplete."] if survey.partial else []),
        *(
            [f"The best {drawn:,} papers are drawn; the table of the survey has all."]
            if drawn < judged
            else []
        ),
        "All papers drawn were found by a search."
        if is_flat and all(node.how == "search" for node in papers)
        else "Papers are indented below the search or the paper that led to them.",
        "Filled dots are selected papers; open dots are papers that were judged but not selected.",
        survey.coverage.bounds,
        *survey.coverage.notes,
    ]
    head = f"“{question}”: {chosen:,} of {count(judged, 'judged paper')} were selected."
    return Caption(head, sentences, survey.coverage.generated)


def _table(nodes: list[_Node]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            "label": node.label,
            "paper_id": node.one.key if node.one else "",
            "how": node.how if node.one else "",
            "parent": node.one.parent if node.one else "",
            "column": node.column,
            "row": node.row,
            "selected": node.one is not None and node.selected,
            "score": node.one.score if node.one else float("nan"),
        }
        for node in nodes
    ]
    return pd.DataFrame(rows)


@figure
def survey_map(
    atlas: AtlasStore, survey: Survey, *, most: int = 100, **look: Unpack[PageOptions]
) -> Scene:
    """Draw the selected papers of a survey on the map, with arrows to papers found through them.

    Parameters
    ----------
    atlas : AtlasStore
    survey : Survey
    most : int, default 100
        Number of best papers to mark.
    **look
        ``colours``, ``size_inches``, ``title``, ``raster_dpi`` and ``ax``; see
        `landscape.figures.heatmap`.

    Returns
    -------
    Sheet or matplotlib.axes.Axes
        A matplotlib Figure, with ``alt_text`` and a ``table``, or `ax`.

    Raises
    ------
    InputError
        If the survey selected no papers or is from another atlas.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.survey_map(atlas, atlas.survey("Does dust cool?"))  # doctest: +SKIP
    """
    chosen = survey.selected[:most]
    if not chosen:
        raise InputError(
            "Nothing to plot: the survey selected no papers. Use other words or a lower threshold."
        )
    places = {one.key: place for place, one in enumerate(chosen)}
    links = [
        (places[one.parent], place) for place, one in enumerate(chosen) if one.parent in places
    ]
    results = survey.results
    shown = replace(results, hits=results.hits[: len(chosen)])
    how = f"{len(survey):,} of {count(len(survey.crawled), 'judged paper')} were selected"
    if len(chosen) < len(survey):
        how += f", the best {len(chosen):,} marked"
    return query_map.scene(atlas, shown, links=links, how=how, scored=True, **look)
