"""The papers of an answer: sorted as one likes, chosen by ticking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.query.html import STYLE, paper_as_html

if TYPE_CHECKING:
    from landscape.query.records import Hit, Results

_SHOWN = 30  # papers at first, and more on request
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
    """Papers with their links and abstracts.

    Examples
    --------
    >>> from landscape.query.records import Coverage, Hit, Paper, Results
    >>> hits = tuple(Hit(n, Paper(n, f"p{n}", f"Title {n}", ""), 1.0) for n in (1, 2))
    >>> view = PapersView()
    >>> view.show(Results("dust", hits, Coverage("A", 9, 9, {}, None, None)))
    >>> view.chosen
    ()
    """

    def __init__(self) -> None:
        self._hits: tuple[Hit, ...] = ()
        self._n_shown = _SHOWN
        self._boxes: dict[int, widgets.Checkbox] = {}
        self._rows: dict[int, widgets.HBox] = {}
        self._order = widgets.Dropdown(
            options=list(_ORDERS), description="Sort", tooltip="Order of the papers",
            style={"description_width": "40px"}, layout=widgets.Layout(width="220px"),
        )  # fmt: skip
        self._all = widgets.Button(
            description="Choose all", tooltip="Choose all papers, or none",
            layout=widgets.Layout(width="110px"),
        )  # fmt: skip
        self._says = widgets.HTML()
        self._more = widgets.Button(
            description="Show more papers", layout=widgets.Layout(width="170px"),
            tooltip="Show the next papers of this order",
        )  # fmt: skip
        self._list = widgets.VBox()
        self._order.observe(lambda _: self._draw(), "value")
        self._all.on_click(lambda _: self._choose_all())
        self._more.on_click(lambda _: self._show_more())
        super().__init__(
            [
                widgets.HTML(f"<style>{STYLE}</style>", layout=widgets.Layout(display="none")),
                widgets.HBox([self._order, self._all, self._says]),
                self._list,
                self._more,
            ]
        )
        self._more.layout.display = "none"

    @property
    def chosen(self) -> tuple[Hit, ...]:
        """The papers that are ticked, best first."""
        return tuple(hit for hit in self._hits if self._is_ticked(hit))

    @property
    def shown(self) -> tuple[Hit, ...]:
        """The papers on the page, in its order."""
        ordered = sorted(self._hits, key=_ORDERS[self._order.value])
        return tuple(ordered[: self._n_shown])

    def sort(self, order: str) -> None:
        """Bring the papers into an order, as the page names it."""
        self._order.value = order

    def show(self, results: Results) -> None:
        """Show other papers; none of them is ticked."""
        for row in self._rows.values():
            row.close()
        self._hits, self._n_shown = results.hits, _SHOWN
        self._boxes, self._rows = {}, {}
        self._draw()

    def _draw(self) -> None:
        self._list.children = [self._row(hit) for hit in self.shown]
        left = len(self._hits) - self._n_shown
        self._more.layout.display = "" if left > 0 else "none"
        self._tell_chosen()

    def _row(self, hit: Hit) -> widgets.HBox:
        if hit.rank in self._rows:
            return self._rows[hit.rank]
        box = widgets.Checkbox(
            value=False, indent=False, description=f"{hit.rank}.",
            tooltip=f"Choose paper {hit.rank}: {hit.paper.title[:120]}",
            layout=widgets.Layout(width="58px", flex="0 0 58px"),
        )  # fmt: skip
        box.observe(lambda _: self._tell_chosen(), "value")
        told = widgets.HTML(paper_as_html(hit), layout=widgets.Layout(flex="1 1 0", min_width="0"))
        row = widgets.HBox([box, told])
        row.add_class("landscape-paper")
        self._boxes[hit.rank], self._rows[hit.rank] = box, row
        return row

    def _is_ticked(self, hit: Hit) -> bool:
        box = self._boxes.get(hit.rank)
        return bool(box and box.value)

    def _choose_all(self) -> None:
        ticked = not all(self._is_ticked(hit) for hit in self.shown)
        for hit in self.shown:
            self._boxes[hit.rank].value = ticked

    def _show_more(self) -> None:
        self._n_shown += 2 * _SHOWN
        self._draw()

    def _tell_chosen(self) -> None:
        n_apart = sum(bool(hit.outlier) for hit in self._hits)
        apart = f", {n_apart} apart from the others" if n_apart else ""
        n = len(self.chosen)
        chosen = f"; {n} chosen" if n else ""
        self._says.value = (
            f"<span class='landscape-quiet' role='status'>{len(self._hits):,} papers{apart}{chosen}"
            "</span>"
        )
