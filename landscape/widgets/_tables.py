"""Tables and lists of papers in panels."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._render import render
from landscape._serializer import heading, name_bounds, shown_columns, with_units
from landscape._wording import DIGIT_SPACE, MAX_COLUMNS, align_decimals, count
from landscape.widgets._controls import close_all, make_control, style_sheet

if TYPE_CHECKING:
    import pandas as pd

    from landscape.types import Hit, Results

_MAX_ROWS = 200


def table_html(table: pd.DataFrame, kind: str, *, about: str) -> str:
    """Return HTML of the first 200 rows: seven columns, and all columns in a folded table."""
    rows = name_bounds(table.dropna(axis="columns", how="all").head(_MAX_ROWS))
    names = shown_columns(rows, kind)
    first = _columns_html(rows, kind, names[:MAX_COLUMNS], about, len(table))
    if len(names) <= MAX_COLUMNS:
        return first
    whole = _columns_html(rows, kind, names, f"{about}, all columns", len(table))
    return f"{first}<details><summary>all columns</summary>{whole}</details>"


def _columns_html(
    rows: pd.DataFrame, kind: str, names: Sequence[str], about: str, n_all: int
) -> str:
    """Return HTML of some columns of a table."""
    text = with_units(rows, kind, names)
    is_number = {name: rows[name].dtype.kind in "iuf" for name in text}
    bounded = [name for name in text if {f"{name}_low", f"{name}_high"} <= set(rows)]
    return render(
        "panel_table.html",
        about=about,
        columns=[(heading(kind, name), is_number[name]) for name in text],
        rows=zip(
            *(_cells(text[name], is_number[name], name in bounded) for name in text), strict=True
        ),
        n_bounded=len(bounded),
        n_shown=len(rows),
        n_all=n_all,
    )


def _cells(text: pd.Series, is_number: bool, is_bounded: bool) -> list[tuple[str, str]]:
    """Return the value and the interval of each cell, padded so that decimal points align."""
    values, intervals = text.tolist(), [""] * len(text)
    if is_bounded:
        parts = [cell.removesuffix(")").partition(" (") for cell in values]
        values, intervals = [part[0] for part in parts], [part[2] for part in parts]
        width = max(map(len, intervals), default=0)
        intervals = [cell and cell.rjust(width, DIGIT_SPACE) for cell in intervals]
    if is_number:
        values = align_decimals(values, in_page=True)
    return [*zip(values, intervals, strict=True)]


_SHOWN = 30  # number of papers that are shown initially


@dataclass(frozen=True)
class Item:
    """One paper of a list."""

    key: str
    number: str
    title: str
    page: str


class PaperList(widgets.VBox):
    """List of papers with checkboxes."""

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        *,
        controls: Sequence[widgets.Widget] = (),
    ) -> None:
        self._on_change = on_change
        self._note = ""
        self._is_quiet = False  # True while many boxes are ticked at once
        self._items: tuple[Item, ...] = ()
        self._n_shown = _SHOWN
        self._boxes: dict[str, widgets.Checkbox] = {}
        self._rows: dict[str, widgets.HBox] = {}
        self._all = make_control("shared.choose_all", self._choose_all)
        self._summary, self._list = widgets.HTML(), widgets.VBox()
        self._more = make_control("shared.more", self._show_more)
        self._head = widgets.HBox([*controls, self._all, self._summary])
        super().__init__([style_sheet(render("results.css")), self._head, self._list, self._more])
        self._more.layout.display = "none"

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the ticked papers, in the order of the list."""
        return tuple(
            item.key
            for item in self._items
            if item.key in self._boxes and self._boxes[item.key].value
        )

    @property
    def shown(self) -> tuple[Item, ...]:
        """The papers that are currently visible, in the order of the list."""
        return self._items[: self._n_shown]

    def show(self, items: Sequence[Item], *, note: str = "") -> None:
        """Show papers, and replace the previous ones."""
        old = tuple(self._rows.values())
        self._items, self._n_shown, self._note = tuple(items), _SHOWN, note
        self._boxes, self._rows = {}, {}
        self._head.layout.display = "" if items else "none"
        self._draw()
        close_all(*old)

    def sort(self, order: Callable[[Item], Any]) -> None:
        """Sort the papers; ticks are kept."""
        self._items = tuple(sorted(self._items, key=order))
        self._draw()

    def tick(self, key: str, *, on: bool = True) -> None:
        """Tick or untick a paper, if it is in the list."""
        for place, item in enumerate(self._items):
            if item.key == key:
                if place >= self._n_shown:
                    self._n_shown = place + 1
                    self._draw()
                self._boxes[key].value = on

    def _draw(self) -> None:
        self._list.children = [self._row(one) for one in self.shown]
        self._more.layout.display = "" if len(self._items) > self._n_shown else "none"
        self._summarise()

    def _row(self, item: Item) -> widgets.HBox:
        if item.key in self._rows:
            return self._rows[item.key]
        box = widgets.Checkbox(
            value=False,
            indent=False,
            description=item.number,
            tooltip=f"Choose paper {item.number} {item.title[:120]}",
            layout={"width": "58px", "flex": "0 0 58px"},
        )
        box.observe(lambda _: self._summarise(), "value")
        page = widgets.HTML(
            f"<div class='tex2jax_ignore mathjax_ignore'>{item.page}</div>",
            layout={"flex": "1 1 0", "min_width": "0"},
        )
        row = widgets.HBox([box, page])
        row.add_class("landscape-paper")
        self._boxes[item.key], self._rows[item.key] = box, row
        return row

    def _choose_all(self) -> None:
        on = not all(self._boxes[one.key].value for one in self.shown)
        self._is_quiet = True
        try:
            for one in self.shown:
                self._boxes[one.key].value = on
        finally:
            self._is_quiet = False
        self._summarise()

    def _show_more(self) -> None:
        self._n_shown += 2 * _SHOWN
        self._draw()

    def _summarise(self) -> None:
        if self._is_quiet:
            return
        n = len(self.chosen)
        chosen = f"; {n} chosen" if n else ""
        summary = html.escape(f"{count(len(self._items), 'paper')}{self._note}{chosen}")
        self._summary.value = f"<span class='landscape-quiet' role='status'>{summary}</span>"
        self._on_change()


_ORDERS: dict[str, Callable[[Hit], Any]] = {
    "best first": lambda hit: hit.rank,
    "newest first": lambda hit: -(hit.paper.year or 0),
    "oldest first": lambda hit: hit.paper.year or 9999,
    "most cited first": lambda hit: -(hit.paper.cites if hit.paper.cites is not None else -1),
    "by first author": lambda hit: (hit.paper.authors or ("\uffff",))[0].lower(),
    "by title": lambda hit: hit.paper.title.lower(),
    "outliers first": lambda hit: not hit.outlier,
}


class PapersView(PaperList):
    """List of papers from a search, with links and abstracts; the user can choose the order."""

    def __init__(self) -> None:
        self._hits: dict[str, Hit] = {}
        self._order = make_control("shared.sort", self._sort_hits, options=list(_ORDERS))
        super().__init__(controls=[self._order])

    def show_results(self, results: Results) -> None:
        """Show the papers of a search; no paper is ticked."""
        self._hits = {str(hit.rank): hit for hit in results.hits}
        n_apart = sum(bool(hit.outlier) for hit in results.hits)
        self.show(
            [
                Item(str(hit.rank), f"{hit.rank}.", hit.paper.title, hit.to_html())
                for hit in sorted(results.hits, key=_ORDERS[self._order.value])
            ],
            note=f", {count(n_apart, 'outlier')}" if n_apart else "",
        )

    def _sort_hits(self) -> None:
        order = _ORDERS[self._order.value]
        self.sort(lambda one: order(self._hits[one.key]))
