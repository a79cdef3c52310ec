"""The papers of an answer: sorted as one likes, chosen by ticking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.widgets.paper_list import Item, PaperList

if TYPE_CHECKING:
    from landscape.types import Hit, Results

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
    >>> from landscape.types import Coverage, Hit, Paper, Results
    >>> hits = tuple(Hit(n, Paper(n, f"p{n}", f"Title {n}", ""), 1.0) for n in (1, 2))
    >>> view = PapersView()
    >>> view.show(Results("dust", hits, Coverage("A", 9, 9, {}, None, None)))
    >>> view.chosen
    ()
    """

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
