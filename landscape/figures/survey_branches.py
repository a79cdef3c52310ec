"""Who led to whom in a survey: from the question by its searches to the papers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from landscape._author_names import short_names
from landscape._wording import count
from landscape.errors import InputError
from landscape.figures.chart_page import SMALL, ChartPage
from landscape.figures.colours import theme
from landscape.figures.names import FONTS, clean_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from landscape.figures.chart_page import Box
    from landscape.figures.sheet import Sheet
    from landscape.types import Crawled, Survey

SIZE_INCHES = (11.0, 8.5)
_LONGEST = 90  # characters of a label, before it is cut to its column
_PITCH = 1.18  # rows, in font sizes
_NARROW = 0.62  # width of the columns before the papers
_SMALLEST_LETTERS = 4.6  # points
_WAYS = {
    "reference": "cited by it",
    "citation": "cites it",
    "cited together": "cited together with it",
    "similar": "like it",
    "section": "cited in a section of it",
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
    """A dot of the tree with what hangs on it."""

    label: str
    column: int
    how: str = "search"
    one: Crawled | None = None
    children: list[_Node] = field(default_factory=list)
    row: float = 0.0


def survey_tree(
    survey: Survey,
    *,
    most: int = 60,
    colours: str = "light",
    size_inches: tuple[float, float] = SIZE_INCHES,
    title: str | None = None,
) -> Sheet:
    """Draw which search or paper led to each paper of a survey.

    Parameters
    ----------
    survey : Survey
    most : int, default 60
        Papers drawn, the best first, besides those on the way to them.
    colours : {"light", "dark"}, default "light"
    size_inches : (float, float), default (11, 8.5)
    title : str, optional
        Heading above the tree.

    Returns
    -------
    Sheet
        A matplotlib Figure, with ``alt_text`` and a ``table`` of what is drawn: ``label, paper_id,
        how, parent, column, row, selected, score``.

    Raises
    ------
    InputError
        If the survey judged no paper, for unknown colours, or for a page too small to letter.

    Examples
    --------
    >>> import landscape as ls
    >>> atlas = ls.open("my.atlas")  # doctest: +SKIP
    >>> ls.figures.survey_tree(atlas.survey("Does dust cool?"))  # doctest: +SKIP
    """
    import matplotlib as mpl

    from landscape.figures.sheet import SETTINGS

    if not survey.crawled:
        raise InputError("The survey judged no paper, so there is no tree to draw.")
    root, drawn = _tree(survey, most=most)
    n_rows = _place(root)
    with mpl.rc_context(SETTINGS):
        page = ChartPage(size_inches, theme(colours), title=title)
        sentences = _sentences(survey, drawn)
        page.reserve_caption(sentences, generated=survey.coverage.generated)
        axes = _axes(page, page.room, root, n_rows)
        _draw(page, axes, root, n_rows)
    sheet = page.sheet
    sheet.table = _table(root)
    sheet.caption = "\n".join(sentences)
    sheet.alt_text = _alt_text(survey, sentences)
    return sheet


def _tree(survey: Survey, *, most: int) -> tuple[_Node, int]:
    """Hang papers on what led to them; gives the root and the number of papers."""
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
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for child in node.children:
            child.column = node.column + 1
        waiting += node.children
    return root, len(wanted)


def _place(root: _Node) -> int:
    """Give every end a row, and every other node the middle of its own; gives the rows."""
    n_rows = 0

    def place(node: _Node) -> None:
        nonlocal n_rows
        for child in node.children:
            place(child)
        if node.children:
            node.row = float(np.mean([node.children[0].row, node.children[-1].row]))
        else:
            node.row = float(n_rows)
            n_rows += 1

    place(root)
    return n_rows


def _across(column: int) -> float:
    """Where a column stands, in widths of a column of papers: searches need less room."""
    return _NARROW * min(column, 2) + max(column - 2, 0)


def _axes(page: ChartPage, room: Box, root: _Node, n_rows: int) -> Axes:
    axes = page.axes(room, gid="tree")
    last = max(node.column for node in _all(root))
    axes.set(xlim=(0, _across(last) + 1.0), ylim=(n_rows - 0.4, -0.6))
    axes.axis("off")
    return axes


def _draw(page: ChartPage, axes: Axes, root: _Node, n_rows: int) -> None:
    left, bottom, right, top = page.room
    pitch = (top - bottom) / max(n_rows, 1)
    size = float(np.clip(pitch / _PITCH, _SMALLEST_LETTERS, SMALL * page.scale)) / page.scale
    column = (right - left) / axes.get_xlim()[1]
    for node in _all(root):
        _draw_branches(page, axes, node)
        chosen = node.one is None or node.one.selected
        blue = page.colours.found
        axes.plot(
            [_across(node.column)], [node.row], linestyle="none", marker="o", zorder=3,
            markersize=(4.4 if chosen else 3.2) * page.scale * min(1.0, pitch / 7),
            markerfacecolor=blue if chosen else page.colours.halo,
            markeredgecolor=blue if chosen else page.colours.faint,
            markeredgewidth=0.6 * page.scale, gid="paper", clip_on=False,
        )  # fmt: skip
        if pitch >= 0.85 * _SMALLEST_LETTERS or node.one is None:
            free = (_across(node.column + 1) - _across(node.column)) if node.children else 1.0
            width = column * free * (0.87 if node.children else 0.97) - 6 * page.scale
            _write_label(page, axes, node, width=width, size=size, loud=chosen)


def _draw_branches(page: ChartPage, axes: Axes, node: _Node) -> None:
    for child in node.children:
        start, end = _across(node.column), _across(child.column)
        axes.plot(
            [start, start + 0.9 * (end - start), end], [node.row, child.row, child.row],
            color=page.colours.faint, linewidth=0.45 * page.scale, alpha=0.7, zorder=1,
            linestyle=_DASHES.get(child.how, "-"), gid="led to",
        )  # fmt: skip


def _write_label(
    page: ChartPage, axes: Axes, node: _Node, *, width: float, size: float, loud: bool
) -> None:
    weight = "bold" if node.one is None else "normal"
    axes.annotate(
        page.shortened(node.label, width=width, size=size, weight=weight),
        (_across(node.column), node.row), xytext=(4.5 * page.scale, 0),
        textcoords="offset points", va="center", ha="left", zorder=4, gid="label",
        fontsize=size * page.scale, fontweight=weight, fontfamily=list(FONTS),
        color=page.colours.ink if loud else page.colours.faint, annotation_clip=False,
        bbox={"facecolor": page.colours.page, "edgecolor": "none", "pad": 0.4, "alpha": 0.85},
    )  # fmt: skip


def _label(one: Crawled) -> str:
    """First author, year and title, as room allows."""
    names = short_names(one.paper.authors, link="&")
    head = f"{names} {one.paper.year or ''}".strip()
    return clean_name(f"{head}: {one.paper.title}" if names else one.paper.title, most=_LONGEST)


def _sentences(survey: Survey, drawn: int) -> list[str]:
    question = clean_name(survey.question, most=240)
    chosen, judged = len(survey.selected), len(survey.crawled)
    sentences = [
        f"“{question}”: {count(chosen, 'paper')} selected of {judged:,} judged.",
        "From left to right: the question, the searches, and the papers that each led to first. "
        "Filled dots are selected papers, open ones were judged and left out.",
        "Lines: solid, found by a search or in a list of references; dashed, citing it; dots and "
        "dashes, cited together with it; dotted, like it.",
    ]
    if drawn < judged:
        sentences.append(f"The best {drawn:,} papers are drawn.")
    if survey.partial:
        sentences.append("The survey is partial.")
    sentences.append(survey.coverage.summary)
    return sentences


def _table(root: _Node) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            "label": node.label,
            "paper_id": node.one.key if node.one else "",
            "how": node.how if node.one else "",
            "parent": node.one.parent if node.one else "",
            "column": node.column,
            "row": node.row,
            "selected": bool(node.one.selected) if node.one else False,
            "score": node.one.score if node.one else float("nan"),
        }
        for node in _all(root)
    ]
    return pd.DataFrame(rows)


def _all(root: _Node) -> list[_Node]:
    listed, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        listed.append(node)
        waiting += reversed(node.children)
    return listed


def _alt_text(survey: Survey, sentences: list[str]) -> str:
    ways: dict[str, int] = {}
    for one in survey.selected:
        ways[one.how] = ways.get(one.how, 0) + 1
    told = ", ".join(f"{n} {_WAYS.get(how, how)}" for how, n in ways.items())
    return f"Tree of a survey. {' '.join(sentences)} Selected papers were found: {told or 'none'}."
