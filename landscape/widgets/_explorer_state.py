"""The state of the map explorer, kept consistent with its figure and controls."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from landscape._wording import count
from landscape.errors import AtlasError, InputError, LandscapeError, require
from landscape.figures.colours import theme as find_theme
from landscape.store.manifest import current_version
from landscape.widgets import _explorer_tasks as tasks
from landscape.widgets._colours import Colouring, colouring_of, share_colouring
from landscape.widgets._explorer_controls import NOTHING_SELECTED, Controls, found_note
from landscape.widgets._jobs import Debouncer
from landscape.widgets._map_figure import Painter, legend_html, view_line
from landscape.widgets._map_state import Drawn, Found, MapData, MapState, Overlay, Period
from landscape.widgets._panel import Panel, checked_atlas
from landscape.widgets._selection import summarise, summary_html
from landscape.widgets._view import View, view_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas

    Rows = NDArray[np.int64]

_NO_ROWS = np.zeros(0, dtype=np.int64)
_HISTORY = 60
_ONE_MOVE = 0.7  # seconds in which all turns of the mouse wheel count as one move


class ExplorerState(Panel):
    """State, figure and controls of a map explorer, which are kept consistent."""

    def __init__(
        self,
        atlas: Atlas,
        *,
        view: Sequence[float] | None,
        time: Sequence[int] | None,
        layers: Sequence[str],
        theme: str,
        size: tuple[int, int],
    ) -> None:
        require("plotly", "lab")
        self.atlas = checked_atlas(atlas)
        find_theme(theme)
        self._size = tasks.checked_size(size)
        self._data = MapData(atlas, self._size)
        self._state = MapState(
            view=self._data.whole if view is None else view_of(view, self._size),
            size=self._size,
            theme=theme,
            time=tasks.checked_time(time, self._data.period),
            layers=tasks.checked_layers(layers),
        )
        self._built, self._is_old = current_version(atlas.path)[1], False
        self._history: list[View] = []
        self._moved = 0.0
        self._lock = threading.RLock()
        self._setting_in = threading.local()  # nesting depth of `_setting` in each thread
        self._painter = Painter(self._state, self._data)
        self.figure = self._painter.figure
        self.figure.publish(self._seen_on_page)
        self._controls = Controls(self.figure, self._size)
        self._drawing = Debouncer(self._redraw, failed=self._show_error)
        self._summing = Debouncer(self._sum_up, failed=self._show_error)
        super().__init__(f"Map of {atlas.title}", self._controls.body)
        self.add_class("landscape-explorer")
        self.say(self._offer())
        self._tell_drawn(self._drawn)
        self._drawing.request()  # adds the hover texts

    def __repr__(self) -> str:
        chosen = f", {len(self.rows):,} selected" if len(self.rows) else ""
        found = f", {len(self.results.rows):,} found" if self.results else ""
        return f"<MapExplorer of {self.atlas.title!r}: {len(self._data):,} papers{found}{chosen}>"

    # -- properties of the state

    @property
    def view(self) -> tuple[float, float, float, float]:
        """The window, ``(x0, y0, x1, y1)`` in map units."""
        return self._state.view.box

    @view.setter
    def view(self, box: Sequence[float]) -> None:
        self._go(view_of(box, self._size))

    @property
    def theme(self) -> str:
        """Colours of the map, "light" or "dark"."""
        return self._state.theme

    @theme.setter
    def theme(self, name: str) -> None:
        find_theme(name)
        self._change(theme=name)

    @property
    def results(self) -> Found | None:
        """Result of the last search."""
        return self._state.found

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows of the selected papers in the atlas."""
        return self._state.selected

    @property
    def colour_by(self) -> str:
        """Variable shown as colour."""
        return self._state.colouring.name

    @colour_by.setter
    def colour_by(self, name: str) -> None:
        def then(colouring: Colouring) -> None:
            with self._lock:
                # The overlay may have been removed in the meantime.
                if name not in tasks.OVERLAYS or name in self._state.overlays:
                    self._change(colouring=colouring)

        self.run(
            "Reading the colours",
            lambda: colouring_of(self.atlas, name, self._state.overlays),
            then,
            kind="colours",
        )

    @property
    def time(self) -> Period | None:
        """First and last year to show; None shows all papers, including papers without a year."""
        return self._state.time

    @time.setter
    def time(self, period: Sequence[int] | None) -> None:
        chosen = tasks.checked_time(period, self._data.period)
        if chosen == self._state.time:
            return
        self._change(time=chosen)
        # Search again with the new range of years. A running search checks the range when it ends.
        if self.results is not None and not self._turns.holds("search"):
            self._search_again(self.results)

    @property
    def layers(self) -> tuple[str, ...]:
        """The visible layers: any of names, papers and reviews."""
        return tuple(name for name in tasks.LAYERS if name in self._state.layers)

    @layers.setter
    def layers(self, names: Sequence[str]) -> None:
        chosen = tasks.checked_layers(names)
        self._change(layers=chosen)
        if "reviews" in chosen:
            self._read_overlay("reviews")
        else:
            self._drop_overlay("reviews")

    @property
    def concept(self) -> str | None:
        """Concept whose papers are outlined."""
        return self._state.name_of("concept")

    @concept.setter
    def concept(self, name: str | None) -> None:
        self._outline("concept", name)

    @property
    def facility(self) -> str | None:
        """Facility whose papers are outlined."""
        return self._state.name_of("facility")

    @facility.setter
    def facility(self, name: str | None) -> None:
        self._outline("facility", name)

    def search(self, query: str, *, method: str = "hybrid", k: int = 30) -> Self:
        """Search in the background, and mark the papers found; see `results`.

        Parameters
        ----------
        query : str
        method : {"hybrid", "semantic", "words", "filter"}, default "hybrid"
            Search by words and meaning, by meaning, by words, or with a Boolean filter.
        k : int, default 30
            Number of papers to find.
        """

        def read() -> tuple[Found, Period | None]:
            time = self.time
            return tasks.find_papers(self.atlas, query, method=method, k=k, time=time), time

        def then(result: tuple[Found, Period | None]) -> None:
            found, time = result
            with self._lock:
                self._change(found=found)
                is_of_other_years = self.time != time
            self._list_found(found)
            if is_of_other_years:
                self._search_again(found)

        self.run("Searching", read, then, kind="search")
        return self

    def reload(self) -> Self:
        """Open the atlas again after a rebuild; keep the colours, the outlines and the search."""
        self.run(
            "Opening the atlas",
            lambda: tasks.reopen(self.atlas, self._state),
            self._replace_atlas,
            kind="open",
        )
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for all background work; return False after a timeout of `seconds`."""
        end = None if seconds is None else clock.monotonic() + seconds
        for waiting in (super().wait, self._drawing.wait, self._summing.wait):
            left = None if end is None else max(0.0, end - clock.monotonic())
            if not waiting(left):
                return False
        return True

    # -- changes of the state

    def _change(self, **fields: Any) -> None:
        with self._lock:
            self._state = replace(self._state, **fields)
        self._tell_state()
        self._drawing.request()

    def _go(self, view: View, *, remember: bool = True) -> None:
        if remember:
            self._remember()
        self._change(view=view)
        self.figure.look(view)

    def _remember(self) -> None:
        """Store the view for `back`."""
        now = clock.monotonic()
        if now - self._moved > _ONE_MOVE or not self._history:
            self._history = [*self._history[-_HISTORY:], self._state.view]
        self._moved = now

    def _choose(self, rows: Rows, by: tuple[str, object] | None) -> None:
        if by is None or by[0] != "outline":
            self.figure.clear_outline()
        with self._lock:
            self._change(selected=rows, selected_by=by, selected_in=self._state.time)
        self._controls.links.value = self._controls.outcome.value = ""
        if len(rows):
            self._controls.tabs.selected_index = 1
        self._summing.request()

    def _choose_nothing(self) -> None:
        self._cancel("select")
        self._choose(_NO_ROWS, None)

    def _some_rows(self) -> NDArray[np.int64]:
        if not len(self.rows):
            raise InputError(
                "No paper is selected. Draw around papers with the lasso, or use select(filter)."
            )
        return self.rows

    def _select_inside(self, corners: Sequence[tuple[float, float]]) -> None:
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        rows = self._data.in_time(self._state.time).inside(xs, ys).astype(np.int64)
        self._choose(rows, ("outline", corners))

    def _select_in_background(self, filter_text: str) -> None:
        if not filter_text.strip():
            return
        before = self.rows

        def then(rows: NDArray[np.int64]) -> None:
            if self.rows is before:  # the selection has not changed meanwhile
                self._choose(rows, ("select", filter_text))

        self.run("Selecting", lambda: self.atlas.select(filter_text), then, kind="select")

    def _cancel(self, kind: str) -> None:
        if self._turns.drop(kind) and self._turns.now is None:
            self._working.layout.display = "none"

    def _clear_search(self) -> None:
        self._cancel("search")
        self._change(found=None)
        with self._setting():
            self._controls.query.value = ""
        self._list_found(None)
        self._painter.focus(None, self._data)

    def _search_again(self, found: Found) -> None:
        self.search(found.query, method=found.method, k=found.k)

    def _outline(self, kind: str, name: str | None) -> None:
        if chosen := tasks.checked_name(kind, name):
            self._read_overlay(kind, chosen)
            return
        self._drop_overlay(kind)
        if self.colour_by == kind:
            self.colour_by = "density"

    def _read_overlay(self, kind: str, name: str = "") -> None:
        def then(overlay: Overlay) -> None:
            with self._lock:
                fields: dict[str, object] = {"overlays": {**self._state.overlays, kind: overlay}}
                if kind == "reviews":
                    fields["layers"] = self._state.layers | {kind}
                elif self.colour_by == kind:
                    fields["colouring"] = share_colouring(
                        kind, overlay.title, overlay.rows, len(self._data)
                    )
                self._change(**fields)
            if kind != "reviews" and not len(overlay.rows):
                self.say(f"No paper of this atlas is about {overlay.title}.")

        self.run(
            f"Reading the {kind}",
            lambda: tasks.read_overlay(self.atlas, kind, name),
            then,
            kind=kind,
        )

    def _drop_overlay(self, kind: str) -> None:
        self._cancel(kind)
        kept = {key: value for key, value in self._state.overlays.items() if key != kind}
        self._change(overlays=kept)

    # -- drawing

    def _redraw(self) -> None:
        """Draw the current state, and add the hover texts."""
        self._check_atlas()
        with self._lock:  # atlas, texts and state must belong to the same build
            atlas, texts = self.atlas, self._painter.texts
            drawn = self._state, self._data
        self._tell_drawn(self._painter.draw(*drawn))
        if not self._drawing.is_outdated:
            self._painter.add_texts(atlas.engine.papers, texts, lambda: self._drawing.is_outdated)

    @property
    def _drawn(self) -> Drawn:
        return self._painter.drawn

    def _seen_on_page(self) -> None:
        """Send the map again when a page first shows it; the page did not get earlier changes."""
        self._painter.restart()
        self._drawing.request()

    # -- texts and controls

    def _offer(self) -> str:
        """Set the options of the controls, and return sentences about missing data."""
        with self._setting():
            return self._controls.offer(self.atlas, self._data, self._state)

    def _tell_drawn(self, drawn: Drawn) -> None:
        controls, data = self._controls, self._painter.data
        n_all, zoom = len(data), data.zoom(drawn.state.view)
        controls.legend.value = legend_html(drawn, n_all=n_all)
        controls.view_line.value = view_line(drawn, n_all=n_all, zoom=zoom)
        controls.found_note.value = found_note(drawn.state, data)

    def _tell_state(self) -> None:
        with self._setting():
            self._controls.follow(self._state, self._data)
            line = tasks.line_of_code(self._state, self._data.whole)
            if line != self.code:
                self.code = line

    def _list_found(self, found: Found | None) -> None:
        self._controls.list_found(found, self._show_paper)
        self._controls.found_note.value = found_note(self._state, self._data)

    def _show_paper(self, row: int) -> None:
        """Show the record of a paper, and mark the paper on the map with a ring."""
        try:
            self._controls.show_paper(row, self.atlas, self._data)
        except (LandscapeError, OSError) as error:
            self._show_error(error)
            return
        self._painter.focus(row, self._data)

    def _sum_up(self) -> None:
        with self._lock:
            atlas, rows, years = self.atlas, self.rows, self._data.years
        shown = self._controls.summary
        if not len(rows):
            shown.value = NOTHING_SELECTED
            return
        shown.value = f"<div><b>{count(len(rows), 'paper')} selected</b></div>"
        page = summary_html(summarise(atlas, rows, years))
        if not self._summing.is_outdated:
            shown.value = page

    def _show_error(self, error: Exception) -> None:
        if isinstance(error, LandscapeError):
            self._tell_state()  # resets the controls to the current state
        if isinstance(error, AtlasError) and current_version(self.atlas.path)[1] != self._built:
            self._offer_reload()
        super()._show_error(error)

    @contextmanager
    def _setting(self) -> Iterator[None]:
        """Ignore changes of controls in this thread; the user's changes use another thread."""
        with self._lock:
            self._setting_in.depth = getattr(self._setting_in, "depth", 0) + 1
            try:
                yield
            finally:
                self._setting_in.depth -= 1

    # -- an atlas that was rebuilt

    def _check_atlas(self) -> None:
        """Report once if the atlas was rebuilt since it was opened."""
        atlas = self.atlas
        _, stamp = current_version(atlas.path)
        if self._is_old or stamp == self._built:
            return
        try:
            atlas.check_unchanged()
            self._built = stamp
        except LandscapeError:
            if self.atlas is not atlas:
                return  # the atlas was opened again meanwhile
            self._offer_reload()
            self.say(
                "This atlas was rebuilt since it was opened, and the map shows the old atlas. "
                "Reload to see the new atlas.",
                "warning",
            )

    def _offer_reload(self) -> None:
        self._is_old = True
        self._controls.reload.layout.display = ""

    def _replace_atlas(self, opened: tasks.Reopened) -> None:
        data, found, controls = opened.data, opened.state.found, self._controls
        with self._lock:  # a drawing must not mix the old and the new atlas
            time = tasks.time_within(self._state.time, data.period)
            layers = self._state.layers - ({"reviews"} - set(opened.state.overlays))
            self.atlas, self._data, self._built = opened.atlas, data, opened.built
            self._is_old, self._history = False, []
            self._painter.forget()
            self._state = replace(opened.state, time=time, layers=layers, theme=self.theme)
        controls.links.value = controls.outcome.value = ""
        controls.reload.layout.display = "none"
        self.heading = f"Map of {opened.atlas.title}"
        missing = self._offer()
        self._tell_state()
        self._list_found(found)
        self.figure.clear_outline()
        self._painter.focus(None, data)
        self._painter.restart()
        self.figure.look(data.whole)
        self._drawing.request()
        self._summing.request()
        opened_again = "The atlas was opened again; the selection of the old atlas was cleared."
        self.say(" ".join([opened_again, *opened.problems, missing]).strip())
        if found is not None and time != opened.state.time:
            self._search_again(found)
