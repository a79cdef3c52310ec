"""A list of papers with what is said of each; papers are chosen by ticking."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from landscape._render import render
from landscape._wording import count
from landscape.widgets.closing import close_all

_SHOWN = 30  # papers at first, and more on request


@dataclass(frozen=True)
class Item:
    """One paper of a list.

    Attributes
    ----------
    key : str
        Names it among the others.
    number : str
        What stands before it.
    title : str
        For screen readers.
    page : str
        HTML; whatever is of papers is escaped in it.
    """

    key: str
    number: str
    title: str
    page: str


class PaperList(widgets.VBox):
    """Papers in an order, each with a box to tick.

    Parameters
    ----------
    on_change : callable, optional
        Told when other papers are ticked.
    controls : sequence of widgets, optional
        What stands above the papers, before the button that chooses all.

    Examples
    --------
    >>> listed = PaperList()
    >>> listed.show([Item("p1", "1.", "Dust", "<b>Dust</b>"), Item("p2", "2.", "Gas", "Gas")])
    >>> listed.tick("p2")
    >>> listed.chosen
    ('p2',)
    """

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
        """Show other papers.

        Parameters
        ----------
        items : sequence of Item
        note : str, optional
            What is told behind their number.
        """
        old = tuple(self._rows.values())
        self._items, self._n_shown, self._note = tuple(items), _SHOWN, note
        self._boxes, self._rows = {}, {}
        self._head.layout.display = "" if items else "none"
        self._draw()
        close_all(*old)

    def sort(self, order: Callable[[Item], Any]) -> None:
        """Bring the papers into another order; what is ticked stays so.

        Parameters
        ----------
        order : callable
            What an item is sorted by, ascending.
        """
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
        told = widgets.HTML(
            f"<div class='tex2jax_ignore mathjax_ignore'>{one.page}</div>",
            layout=widgets.Layout(flex="1 1 0", min_width="0"),
        )
        row = widgets.HBox([box, told])
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
        told = html.escape(f"{papers}{self._note}{chosen}")
        self._says.value = f"<span class='landscape-quiet' role='status'>{told}</span>"
        self._on_change()
