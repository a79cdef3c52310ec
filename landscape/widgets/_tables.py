"""Tables for panels: columns that people read, intervals in words, everything escaped."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import ipywidgets as widgets

from landscape._render import render
from landscape._wording import count
from landscape.widgets._panel import close_all

if TYPE_CHECKING:
    import pandas as pd

    from landscape.types import Hit, Results

Form = Literal["text", "count", "number", "share", "year", "points", "list"]
_MOST_ROWS = 200
_LONGEST_LIST = 5
_MANY_INTERVALS = 3


@dataclass(frozen=True)
class Column:
    """How one column of a table is read."""

    name: str
    heading: str
    form: Form = "text"
    low: str | None = None
    high: str | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is aligned as numbers are."""
        return self.form not in ("text", "list")


def table_html(table: pd.DataFrame, columns: Sequence[Column], *, about: str) -> str:
    """Write a table that scrolls; of a long one the first 200 rows."""
    shown = [one for one in columns if one.name in table and not table[one.name].isna().all()]
    rows = table.head(_MOST_ROWS)
    head = "".join(
        f"<th scope='col'{_aligned(column)}>{html.escape(column.heading)}</th>" for column in shown
    )
    cells = [_cells(rows, column) for column in shown]
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_aligned(column)}>{cell}</td>" for column, cell in zip(shown, row, strict=True)
        )
        + "</tr>"
        for row in zip(*cells, strict=True)
    )
    # Many intervals stand below their values, so that the table stays narrow.
    n_bounded = sum(_bounds(one)[0] in rows and _bounds(one)[1] in rows for one in shown)
    stacked = " landscape-stacked" if n_bounded >= _MANY_INTERVALS else ""
    more = len(table) - len(rows)
    rest = (
        f"<p class='landscape-quiet'>The first {len(rows):,} of {len(table):,} rows; the CSV file "
        "has all.</p>"
        if more
        else ""
    )
    return (
        f"<div class='landscape-scroll' tabindex='0' role='region' "
        f"aria-label='{html.escape(about, quote=True)}'>"
        f"<table class='landscape-table{stacked}'><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{rest}"
    )


def _aligned(column: Column) -> str:
    return " class='number'" if column.is_number else ""


def _bounds(column: Column) -> tuple[str, str]:
    return column.low or f"{column.name}_low", column.high or f"{column.name}_high"


def _cells(rows: pd.DataFrame, column: Column) -> list[str]:
    texts = [_written(value, column.form) for value in rows[column.name]]
    low, high = _bounds(column)
    if low not in rows or high not in rows:
        return texts
    return [
        f"{text} {_interval(a, b, column.form)}" if text else ""
        for text, a, b in zip(texts, rows[low], rows[high], strict=True)
    ]


def _interval(low: Any, high: Any, form: Form) -> str:
    if _is_missing(low) or _is_missing(high):
        return ""
    words = " to ".join(_written(value, form).removesuffix("%") for value in (low, high))
    return f"<span class='landscape-quiet'>({words})</span>"


def _written(value: Any, form: Form) -> str:
    if form == "list":
        return _listed(value)
    if _is_missing(value):
        return ""
    if form == "text":
        return html.escape(str(value))
    if form == "year":
        return f"{int(value)}"
    if form == "count":
        return f"{value:,.0f}"
    if form == "share":
        return f"{value:.1%}"
    if form == "points":
        return f"{100 * value:+.1f}"
    if value and not 1e-3 <= abs(value) < 1e4:
        return f"{value:.1e}"
    return f"{value:.3g}"


def _listed(value: Any) -> str:
    items = [str(one) for one in (() if _is_missing(value) else value)]
    more = f"; and {len(items) - _LONGEST_LIST} more" if len(items) > _LONGEST_LIST else ""
    return html.escape("; ".join(items[:_LONGEST_LIST]) + more)


def _is_missing(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return False
    if hasattr(value, "__len__") and not isinstance(value, str):
        return False
    return value is None or str(value) in ("<NA>", "NaT", "nan")


_SHOWN = 30  # papers at first, and more on request


@dataclass(frozen=True)
class Item:
    """One paper of a list."""

    key: str
    number: str
    title: str
    page: str


class PaperList(widgets.VBox):
    """Papers in an order, each with a box to tick."""

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        *,
        controls: Sequence[widgets.Widget] = (),
    ) -> None:
        self._on_change = on_change
        self._note = ""
        self._is_quiet = False  # while many boxes are ticked at once
        self._items: tuple[Item, ...] = ()
        self._n_shown = _SHOWN
        self._boxes: dict[str, widgets.Checkbox] = {}
        self._rows: dict[str, widgets.HBox] = {}
        self._all = widgets.Button(
            description="Choose all", tooltip="Choose all papers that are shown, or none",
            layout=widgets.Layout(width="110px"),
        )  # fmt: skip
        self._says = widgets.HTML()
        self._more = widgets.Button(
            description="Show more papers", tooltip="Show the next papers",
            layout=widgets.Layout(width="170px", display="none"),
        )  # fmt: skip
        self._list = widgets.VBox()
        self._all.on_click(lambda _: self._choose_all())
        self._more.on_click(lambda _: self._show_more())
        self._head = widgets.HBox([*controls, self._all, self._says])
        style = widgets.HTML(
            f"<style>{render('results.css')}</style>", layout=widgets.Layout(display="none")
        )
        super().__init__([style, self._head, self._list, self._more])

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the papers that are ticked, in the order of the list."""
        return tuple(one.key for one in self._items if self._is_ticked(one.key))

    @property
    def shown(self) -> tuple[Item, ...]:
        """The papers on the page, in its order."""
        return self._items[: self._n_shown]

    def show(self, items: Sequence[Item], *, note: str = "") -> None:
        """Show other papers."""
        old = tuple(self._rows.values())
        self._items, self._n_shown, self._note = tuple(items), _SHOWN, note
        self._boxes, self._rows = {}, {}
        self._head.layout.display = "" if items else "none"
        self._draw()
        close_all(*old)

    def sort(self, order: Callable[[Item], Any]) -> None:
        """Bring the papers into another order; what is ticked stays so."""
        self._items = tuple(sorted(self._items, key=order))
        self._draw()

    def tick(self, key: str, *, on: bool = True) -> None:
        """Choose a paper, if it is in the list."""
        places = {one.key: place for place, one in enumerate(self._items)}
        if key not in places:
            return
        if places[key] >= self._n_shown:
            self._n_shown = places[key] + 1
            self._draw()
        self._boxes[key].value = on

    def _draw(self) -> None:
        self._list.children = [self._row(one) for one in self.shown]
        self._more.layout.display = "" if len(self._items) > self._n_shown else "none"
        self._tell()

    def _row(self, one: Item) -> widgets.HBox:
        if one.key in self._rows:
            return self._rows[one.key]
        box = widgets.Checkbox(
            value=False, indent=False, description=one.number,
            tooltip=f"Choose paper {one.number} {one.title[:120]}",
            layout=widgets.Layout(width="58px", flex="0 0 58px"),
        )  # fmt: skip
        box.observe(lambda _: self._tell(), "value")
        page = widgets.HTML(
            f"<div class='tex2jax_ignore mathjax_ignore'>{one.page}</div>",
            layout=widgets.Layout(flex="1 1 0", min_width="0"),
        )
        row = widgets.HBox([box, page])
        row.add_class("landscape-paper")
        self._boxes[one.key], self._rows[one.key] = box, row
        return row

    def _is_ticked(self, key: str) -> bool:
        box = self._boxes.get(key)
        return bool(box and box.value)

    def _choose_all(self) -> None:
        on = not all(self._is_ticked(one.key) for one in self.shown)
        self._is_quiet = True
        try:
            for one in self.shown:
                self._boxes[one.key].value = on
        finally:
            self._is_quiet = False
        self._tell()

    def _show_more(self) -> None:
        self._n_shown += 2 * _SHOWN
        self._draw()

    def _tell(self) -> None:
        if self._is_quiet:
            return
        n = len(self.chosen)
        chosen = f"; {n} chosen" if n else ""
        papers = count(len(self._items), "paper")
        summary = html.escape(f"{papers}{self._note}{chosen}")
        self._says.value = f"<span class='landscape-quiet' role='status'>{summary}</span>"
        self._on_change()


_LAST = float("inf")

_ORDERS: dict[str, Callable[[Hit], Any]] = {
    "best first": lambda hit: hit.rank,
    "newest first": lambda hit: -(hit.paper.year or 0),
    "oldest first": lambda hit: hit.paper.year or _LAST,
    "most cited first": lambda hit: -(hit.paper.cites if hit.paper.cites is not None else -1),
    "by first author": lambda hit: (hit.paper.authors or ("\uffff",))[0].lower(),
    "by title": lambda hit: hit.paper.title.lower(),
    "outliers first": lambda hit: not hit.outlier,
}


class PapersView(widgets.VBox):
    """Papers with their links and abstracts."""

    def __init__(self) -> None:
        self._hits: dict[str, Hit] = {}
        self._order = widgets.Dropdown(
            options=list(_ORDERS), description="Sort", tooltip="Order of the papers",
            style={"description_width": "40px"}, layout=widgets.Layout(width="220px"),
        )  # fmt: skip
        self._order.observe(lambda _: self._sort(), "value")
        self._list = PaperList(controls=[self._order])
        super().__init__([self._list])

    @property
    def chosen(self) -> tuple[Hit, ...]:
        """The papers that are ticked, best first."""
        hits = (self._hits[key] for key in self._list.chosen)
        return tuple(sorted(hits, key=lambda hit: hit.rank))

    @property
    def shown(self) -> tuple[Hit, ...]:
        """The papers on the page, in its order."""
        return tuple(self._hits[one.key] for one in self._list.shown)

    def sort(self, order: str) -> None:
        """Bring the papers into an order, as the page names it."""
        self._order.value = order

    def show(self, results: Results) -> None:
        """Show other papers; none of them is ticked."""
        self._hits = {str(hit.rank): hit for hit in results.hits}
        n_apart = sum(bool(hit.outlier) for hit in results.hits)
        self._list.show(
            [_item(hit) for hit in sorted(results.hits, key=_ORDERS[self._order.value])],
            note=f", {n_apart} apart from the others" if n_apart else "",
        )

    def _sort(self) -> None:
        order = _ORDERS[self._order.value]
        self._list.sort(lambda one: order(self._hits[one.key]))


def _item(hit: Hit) -> Item:
    return Item(str(hit.rank), f"{hit.rank}.", hit.paper.title, hit.to_html())
