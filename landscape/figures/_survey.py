"""Figures of a survey: a tree that shows how its papers were found, and a map."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from landscape._author_names import short_names
from landscape._wording import count
from landscape.errors import InputError
from landscape.figures._caption import Caption
from landscape.figures._density_map import query_map
from landscape.figures._labels import clean_name
from landscape.figures._page import SMALL, Page, PageOptions
from landscape.figures._scene import Axis, Box, Lines, Panel, Points

if TYPE_CHECKING:
    import pandas as pd

    from landscape.store import AtlasStore
    from landscape.types import Crawled, Survey

_LONGEST = 90  # maximum number of characters of a label
_PITCH = 1.18  # distance between rows, in font sizes
_NARROW = 0.62  # width of the first two columns, relative to the others
_SMALLEST_LETTERS = 4.6  # points
_WAYS = {
    "reference": "cited by it",
    "citation": "cites it",
    "cited together": "cited together with it",
    "similar": "similar to it",
    "section": "cited in one of its sections",
    "search": "by a search",
}
_DASHES = {
    "reference": "-",
    "section": "-",
    "citation": (0, (4, 1.5)),
    "cited together": (0, (4, 1.5, 1, 1.5)),
    "similar": (0, (1, 1.5)),
    "search": "-",
}


@dataclass
class _Node:
    """A node of the tree: the question, a search or a paper."""

    label: str
    column: int
    how: str = "search"
    one: Crawled | None = None
    children: list[_Node] = field(default_factory=list)
    row: float = 0.0

    @property
    def selected(self) -> bool:
        """Whether the node is the question, a search, or a selected paper."""
        return self.one is None or self.one.selected


def survey_tree(survey: Survey, *, most: int = 60, **look: Unpack[PageOptions]) -> Any:
    """Draw the tree of searches and papers through which a survey found its papers.

    Parameters
    ----------
    survey : Survey
    most : int, default 60
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
    caption = _write_bounds(survey, sum(node.one is not None for node in nodes))
    page = Page(caption, look, smallest=(4.0, 3.0))
    _draw(page, page.chart_area, nodes)
    ways = Counter(one.how for one in survey.selected)
    found = ", ".join(f"{n} {_WAYS.get(how, how)}" for how, n in ways.items())
    more = f"Selected papers by way of discovery: {found or 'none'}."
    words = caption.describe("Tree of a survey.", more)
    return page.draw(alt_text=words, table=_table(nodes), on_screen=("tree",))


def _nodes(survey: Survey, *, most: int) -> list[_Node]:
    """Return the nodes of the tree with their columns and rows; parents are before children."""
    by_key = {one.key: one for one in survey.crawled}
    wanted: dict[str, Crawled] = {}
    for one in survey.crawled[:most]:
        way: Crawled | None = one
        while way is not None and way.key not in wanted:
            wanted[way.key] = way
            way = by_key.get(way.parent)
    root = _Node(clean_name(survey.question, most=_LONGEST), 0)
    searches = [
        _Node("the whole question" if asked.by == "question" else
              clean_name(asked.text, most=_LONGEST), 1)
        for asked in survey.searches
    ]  # fmt: skip
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
    # Each leaf has its own row; other nodes are at the middle row of their children.
    for row, node in enumerate(node for node in listed if not node.children):
        node.row = float(row)
    for node in reversed(listed):
        if node.children:
            node.row = (node.children[0].row + node.children[-1].row) / 2
    return listed


def _across(column: int) -> float:
    """Return the x position of a column, in units of the width of a paper column."""
    return _NARROW * min(column, 2) + max(column - 2, 0)


def _draw(page: Page, box: Box, nodes: list[_Node]) -> None:
    """Draw the dots, branches and labels of the tree."""
    left, bottom, right, top = box
    n_rows = sum(not node.children for node in nodes)
    width = _across(max(node.column for node in nodes)) + 1.0
    x, y = Axis((-0.008 * width, width)), Axis((n_rows - 0.4, -0.6))
    panel = page.add(Panel(box, x, y, gid="tree", edge="none"))
    pitch, column = (top - bottom) / n_rows, (right - left) / width
    size = float(np.clip(pitch / _PITCH, _SMALLEST_LETTERS, SMALL * page.scale)) / page.scale
    _add_branches(page, panel, nodes)
    for selected in (True, False):
        _add_dots(page, panel, nodes, selected=selected, shrink=min(1.0, pitch / 7))
    for node in nodes:
        if pitch < 0.85 * _SMALLEST_LETTERS and node.one is not None:
            continue
        free = (_across(node.column + 1) - _across(node.column)) if node.children else 1.0
        free = column * free * (0.87 if node.children else 0.97) - 6 * page.scale
        weight = "bold" if node.one is None else "normal"
        ((across, up),) = panel.to_page([_across(node.column)], [node.row])
        page.write(node.label, across + 4.5 * page.scale, up - 0.3 * size * page.scale, size=size,
                   weight=weight, gid="label", in_panel=True, width=free,
                   colour=page.colours.ink if node.selected else page.colours.faint)  # fmt: skip


def _add_branches(page: Page, panel: Panel, nodes: list[_Node]) -> None:
    """Draw lines from each node to its children; the style shows how the children were found."""
    lines: dict[str, list[Any]] = {}
    for node in nodes:
        for child in node.children:
            start, end = _across(node.column), _across(child.column)
            bent = [[start, node.row], [start + 0.9 * (end - start), child.row], [end, child.row]]
            lines.setdefault(child.how, []).append(np.array(bent))
    for how, some in lines.items():
        panel.layers.append(
            Lines(lines=some, colour=page.colours.faint, width=0.45 * page.scale, opacity=0.7,
                  dashes=_DASHES.get(how, "-"), gid="led to", order=1)
        )  # fmt: skip


def _add_dots(
    page: Page, panel: Panel, nodes: list[_Node], *, selected: bool, shrink: float
) -> None:
    """Draw filled dots for selected papers and searches, and open dots for other papers."""
    some = [node for node in nodes if node.selected == selected]
    if not some:
        return
    colours = page.colours
    panel.layers.append(
        Points(
            x=[_across(node.column) for node in some], y=[node.row for node in some], order=3,
            colour=colours.found if selected else colours.halo, gid="paper",
            edge=colours.found if selected else colours.faint, edge_width=0.6 * page.scale,
            size=(4.4 if selected else 3.2) * page.scale * shrink,
            hover=[
                node.label if node.one is None
                else f"{node.label}\n{_WAYS.get(node.how, node.how)}, score {node.one.score:.2f}"
                for node in some
            ],
        )
    )  # fmt: skip


def _label(one: Crawled) -> str:
    """Return the label of a paper: short author names, year and title."""
    names = short_names(one.paper.authors, link="&")
    head = f"{names} {one.paper.year or ''}".strip()
    return clean_name(f"{head}: {one.paper.title}" if names else one.paper.title, most=_LONGEST)


def _write_bounds(survey: Survey, drawn: int) -> Caption:
    question = clean_name(survey.question, most=240)
    chosen, judged = len(survey.selected), len(survey.crawled)
    sentences = [
        *(["The survey is incomplete."] if survey.partial else []),
        *([f"Only the best {drawn:,} papers are drawn."] if drawn < judged else []),
        survey.coverage.bounds,
        *survey.coverage.notes,
        "The columns show, from left to right, the question, the searches, and the papers found "
        "through each of them. Filled dots are selected papers; open dots are papers that were "
        "judged but not selected.",
        "Solid lines lead to papers found by a search or in a list of references, dashed lines to "
        "citing papers, lines of dots and dashes to papers cited together with the paper on the "
        "left, and dotted lines to similar papers.",
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


def survey_map(
    atlas: AtlasStore, survey: Survey, *, most: int = 100, **look: Unpack[PageOptions]
) -> Any:
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
    return query_map(atlas, shown, links=links, how=how, **look)
