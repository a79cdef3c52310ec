"""The map explorer: its public class, and the events of its page and controls."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from landscape._io import expand_home, write_output
from landscape.errors import InputError, LandscapeError
from landscape.widgets import _explorer_tasks as tasks
from landscape.widgets._explorer_state import (
    LAYERS,
    USUAL_SIZE,
    ExplorerState,
    checked_factor,
    checked_layers,
    checked_name,
    checked_outline,
    checked_time,
)
from landscape.widgets._panel import checked_atlas
from landscape.widgets._selection import Summary, selection_table, summarise
from landscape.widgets._view import CLOSEST, FARTHEST, rows_of_selection, view_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Answer
    from landscape.widgets._explorer_controls import Controls
    from landscape.widgets._map_figure import MapFigure
    from landscape.widgets._scene import Period

T = TypeVar("T")
_NO_ROWS = np.zeros(0, dtype=np.int64)


def show_window(explorer: MapExplorer, box: tuple[float, float, float, float]) -> None:
    """The page shows another window."""
    if not (np.isfinite(box).all() and box[2] > box[0] and box[3] > box[1]):
        return
    view = view_of(box, explorer._size)
    if explorer._data.zoom(view) > CLOSEST or not view.differs_from(explorer._scene.view):
        return
    explorer._remember()
    explorer._change(view=view)


def select_outline(explorer: MapExplorer, xs: Sequence[float], ys: Sequence[float]) -> None:
    """The page drew an outline: all papers in it are selected, drawn or not."""
    unit = explorer._scene.view.width / explorer._size[0]
    corners = tasks.simple_outline(xs, ys, unit=unit)
    explorer._choose(explorer._rows_inside(corners), ("outline", corners))
    if not len(explorer.rows):
        explorer.say("No paper lies in this outline.")


def show_clicked(explorer: MapExplorer, name: str, number: int) -> None:
    """The page tells which mark was clicked."""
    if explorer._painter.data is not explorer._data:
        return  # the marks of another atlas, which takes the place of this one just now
    rows = explorer._drawn.marks.get(name, _NO_ROWS)
    if name in ("found", "apart"):
        rows = rows[::-1]
    if number < len(rows):
        explorer._show_paper(int(rows[number]))


_CLICKABLE = ("papers", "reviews", "selected", "found", "apart")
_STEP = 1.8  # zoom of one click


def connect(explorer: MapExplorer, controls: Controls, figure: MapFigure) -> None:
    """Tell an explorer what the user does with its map and its controls."""
    _connect_map(explorer, controls, figure)
    _connect_clicks(explorer, figure)
    _connect_search(explorer, controls)
    _connect_looks(explorer, controls)
    _connect_moves(explorer, controls, figure)
    _connect_time(explorer, controls)
    _connect_selection(explorer, controls)


def _connect_map(explorer: MapExplorer, controls: Controls, figure: MapFigure) -> None:
    def moved(*_: Any) -> None:
        show_window(explorer, figure.box())

    figure.layout.on_change(moved, "xaxis.range", "yaxis.range")

    def mode_changed(_: Any, mode: str) -> None:
        if mode in [value for _, value in controls.mode.options]:
            with explorer._setting():
                controls.mode.value = mode

    figure.layout.on_change(mode_changed, "dragmode")

    def selected(_trace: Any, _points: Any, selector: Any) -> None:
        if selector is None:
            return
        if hasattr(selector, "xs"):
            select_outline(explorer, selector.xs, selector.ys)
        else:
            (x0, x1), (y0, y1) = sorted(selector.xrange), sorted(selector.yrange)
            select_outline(explorer, [x0, x1, x1, x0], [y0, y0, y1, y1])

    # plotly tells every trace of every outline, whether or not it has points inside.
    figure.data[0].on_selection(selected)


def _connect_clicks(explorer: MapExplorer, figure: MapFigure) -> None:
    for name in _CLICKABLE:

        def clicked(_trace: Any, points: Any, _state: Any, name: str = name) -> None:
            if points.point_inds:
                show_clicked(explorer, name, points.point_inds[0])

        figure.trace(name).on_click(clicked)
    for name, level in (("regions", 1), ("continents", 0)):

        def went(_trace: Any, points: Any, _state: Any, level: int = level) -> None:
            if points.point_inds:
                there = [one for one in explorer._drawn.names if one.level == level]
                if points.point_inds[0] < len(there):
                    explorer.go_to(there[points.point_inds[0]].topic_id)

        figure.trace(name).on_click(went)


def _connect_search(explorer: MapExplorer, controls: Controls) -> None:
    def search(*_: Any) -> None:
        query = controls.query.value.strip()
        if query:
            explorer.search(query, method=controls.method.value, k=controls.n_found.value)
        else:
            explorer._clear_search()

    _on_user(explorer, controls.query, lambda _: search())
    controls.search.on_click(search)
    controls.clear_search.on_click(lambda _: explorer._clear_search())

    def zoom_to_found(_: Any) -> None:
        found = explorer.results
        if found is not None:
            x, y = explorer._data.x[found.rows], explorer._data.y[found.rows]
            room = 0.06 * max(float(x.max() - x.min()), float(y.max() - y.min())) or 0.01
            explorer.view = (
                float(x.min()) - room, float(y.min()) - room,
                float(x.max()) + room, float(y.max()) + room,
            )  # fmt: skip

    controls.zoom_found.on_click(zoom_to_found)

    def select_found(_: Any) -> None:
        if explorer.results is not None:
            explorer.select(explorer.results.rows)

    controls.select_found.on_click(select_found)


def _connect_looks(explorer: MapExplorer, controls: Controls) -> None:
    def colour(name: str) -> None:
        explorer.colour_by = name

    _on_user(explorer, controls.colour, colour)
    _on_user(explorer, controls.concept, lambda name: setattr(explorer, "concept", name))
    _on_user(explorer, controls.facility, lambda name: setattr(explorer, "facility", name))
    _on_user(
        explorer, controls.dark, lambda on: setattr(explorer, "theme", "dark" if on else "light")
    )

    def layers(_: Any) -> None:
        explorer.layers = [name for name, box in controls.layers.items() if box.value]

    for box in controls.layers.values():
        _on_user(explorer, box, layers)


def _connect_moves(explorer: MapExplorer, controls: Controls, figure: MapFigure) -> None:
    def mode(value: str) -> None:
        with figure.drawing():
            figure.layout.dragmode = value

    _on_user(explorer, controls.mode, mode)
    controls.zoom_in.on_click(lambda _: explorer.zoom(_STEP))
    controls.zoom_out.on_click(lambda _: explorer.zoom(1 / _STEP))
    controls.home.on_click(lambda _: explorer.home())
    controls.back.on_click(lambda _: explorer.back())

    def go(topic: int) -> None:
        if topic >= 0:
            explorer.go_to(topic)
            with explorer._setting():
                controls.regions.value = -1  # so that the same can be chosen again

    _on_user(explorer, controls.regions, go)


def _connect_time(explorer: MapExplorer, controls: Controls) -> None:
    _on_user(explorer, controls.time, lambda years: setattr(explorer, "time", years))

    def play(year: int) -> None:
        """Move the window, as wide as it is, so that it ends in this year."""
        period = explorer._data.period
        if period is None:
            return
        first, last = explorer.time or (period[0], period[0] + max(1, (period[1] - period[0]) // 8))
        width = last - first
        explorer.time = (max(period[0], year - width), max(year, period[0]))

    _on_user(explorer, controls.play, play)
    controls.all_times.on_click(lambda _: setattr(explorer, "time", None))


def _connect_selection(explorer: MapExplorer, controls: Controls) -> None:
    def choose(text: str) -> None:
        if text.strip():
            tasks.select(explorer, text)

    _on_user(explorer, controls.filter, choose)

    def clear(_: Any) -> None:
        explorer._choose_nothing()
        with explorer._setting():
            controls.filter.value = ""

    def gently(do: Callable[[MapExplorer], Any]) -> None:
        try:
            do(explorer)
        except LandscapeError as error:
            explorer._tell(error)

    controls.clear_selection.on_click(clear)
    controls.compare.on_click(lambda _: gently(tasks.compare_selection))
    controls.export.on_click(lambda _: gently(tasks.make_links))
    _on_user(
        explorer, controls.question,
        lambda text: tasks.ask_selection(explorer, text) if text.strip() else None,
    )  # fmt: skip
    controls.make.on_click(lambda _: tasks.make_file(explorer, controls.format.value))
    controls.reload.on_click(lambda _: explorer.reload())


def _on_user(explorer: MapExplorer, control: Any, told: Callable[[Any], Any]) -> None:
    """Hear of a change of a control unless the explorer made it; an error is one sentence."""

    def heard(change: Any) -> None:
        if explorer._is_setting:
            return
        try:
            told(change["new"])
        except LandscapeError as error:
            explorer._tell(error)

    control.observe(heard, "value")


class MapExplorer(ExplorerState):
    """The map of an atlas, to zoom, search, select and save.

    The density is counted anew from all papers at every move. What the constructor is told is the
    state that `code` repeats.

    Parameters
    ----------
    atlas : Atlas
    view : sequence of 4 float, optional
        ``(x0, y0, x1, y1)`` in map units; the whole map when not given.
    colour_by : str, default "density"
        ``"density"``, ``"topic"``, ``"year"``, ``"citations"``, ``"concept"``, ``"facility"`` or
        any column of the papers.
    time : (int, int), optional
        First and last year to show.
    layers : sequence of str, default ("names", "papers")
        Of ``"names"``, ``"papers"`` and ``"reviews"``.
    concept, facility : str, optional
        Outline where the papers on a concept, or naming a facility, lie.
    search : str, optional
        Search for this.
    method : {"hybrid", "semantic", "words", "filter"}, default "hybrid"
    k : int, default 30
        Papers to find.
    select : str, optional
        Select the papers that a filter lets through.
    outline : sequence of (float, float), optional
        Select the papers inside these corners, in map units.
    theme : {"light", "dark"}, default "light"
    size : (int, int), default (740, 560)
        Of the map, in pixels.

    Attributes
    ----------
    selection : pandas.DataFrame
        The selected papers; set it with rows, a mask, a filter or such a table.
    results : Found or None
        What the last search found.

    Raises
    ------
    InputError
        For a state that cannot be.

    Examples
    --------
    >>> import landscape as ls
    >>> from landscape.widgets import MapExplorer
    >>> explorer = MapExplorer(ls.open("my.atlas"), colour_by="year")  # doctest: +SKIP
    >>> explorer.select("2015..; facility:ALMA").selection  # doctest: +SKIP
    """

    def __init__(
        self,
        atlas: Atlas,
        *,
        view: Sequence[float] | None = None,
        colour_by: str = "density",
        time: Sequence[int] | None = None,
        layers: Sequence[str] = ("names", "papers"),
        concept: str | None = None,
        facility: str | None = None,
        search: str | None = None,
        method: str = "hybrid",
        k: int = 30,
        select: str | None = None,
        outline: Sequence[Sequence[float]] | None = None,
        theme: str = "light",
        size: tuple[int, int] = USUAL_SIZE,
    ) -> None:
        checked_atlas(atlas)
        concept, facility = checked_name("concept", concept), checked_name("facility", facility)
        corners = None if outline is None else checked_outline(outline)
        super().__init__(
            atlas, view=view, time=time, layers=layers, concept=concept, facility=facility,
            theme=theme, size=size,
        )  # fmt: skip
        connect(self, self._controls, self.figure)
        for kind, name in (("concept", concept), ("facility", facility)):
            if name:
                tasks.read_overlay(self, kind, name)
        if "reviews" in self._scene.layers:
            tasks.read_reviews(self)
        if colour_by != "density":
            tasks.read_colours(self, colour_by)
        if corners is not None:
            self._choose(self._rows_inside(corners), ("outline", corners))
        if select:
            tasks.select(self, select)
        if search:
            tasks.search(self, search, method, k)
        self._tell_state()

    @property
    def selection(self) -> pd.DataFrame:
        """The selected papers, one row each; see `landscape.widgets._selection.selection_table`."""
        return selection_table(self.atlas, self._scene.selected)

    @selection.setter
    def selection(self, selection: Any) -> None:
        self.select(selection)

    @property
    def colour_by(self) -> str:
        """Variable shown as colour."""
        return self._colour_by

    @colour_by.setter
    def colour_by(self, name: str) -> None:
        tasks.read_colours(self, name)

    @property
    def time(self) -> Period | None:
        """First and last year shown; None shows all papers, those of unknown years too."""
        return self._scene.time

    @time.setter
    def time(self, period: Sequence[int] | None) -> None:
        chosen = checked_time(period, self._data.period)
        if chosen == self._scene.time:
            return
        self._change(time=chosen)
        # Only the papers that are shown are searched; a search under way sees to it itself.
        if self._searched is not None and not self._turns.holds("search"):
            tasks.search(self, *self._searched)

    @property
    def layers(self) -> tuple[str, ...]:
        """Which of names, papers and reviews are shown."""
        return tuple(name for name in LAYERS if name in self._scene.layers)

    @layers.setter
    def layers(self, names: Sequence[str]) -> None:
        chosen = checked_layers(names)
        self._change(layers=chosen)
        if "reviews" in chosen:
            tasks.read_reviews(self)
        else:
            self._take_back("reviews")
            self._drop_overlay("reviews")

    @property
    def concept(self) -> str | None:
        """The concept whose papers are outlined."""
        return self._concept

    @concept.setter
    def concept(self, name: str | None) -> None:
        self._overlay("concept", name)

    @property
    def facility(self) -> str | None:
        """The facility whose papers are outlined."""
        return self._facility

    @facility.setter
    def facility(self, name: str | None) -> None:
        self._overlay("facility", name)

    # -- actions

    def go_to(self, region: str | int) -> MapExplorer:
        """Show a region, by its name or number.

        Raises
        ------
        InputError
            If there is none.
        """
        table = self._data.labels.table
        if isinstance(region, str):
            found = table[[str(name).casefold() == region.casefold() for name in table["label"]]]
        else:
            found = table[table["topic_id"] == region]
        if found.empty:
            raise InputError(f"There is no region {region!r} on this map.")
        topic = int(found["topic_id"].iloc[0])
        self._go(view_of(self._box_of_topic(topic), self._size))
        return self

    def zoom(self, factor: float) -> MapExplorer:
        """Look `factor` times closer, as far as places can be told apart.

        Raises
        ------
        InputError
            If the factor is no number above 0.
        """
        now = self._data.zoom(self._scene.view)
        wanted = now * checked_factor(factor)
        bounded = min(max(wanted, min(now, FARTHEST)), max(now, CLOSEST))
        if bounded != now:
            self._go(self._scene.view.zoomed(bounded / now))
        return self

    def home(self) -> MapExplorer:
        """Show the whole map."""
        self._go(self._data.whole)
        return self

    def back(self) -> MapExplorer:
        """Back to the view before."""
        if self._history:
            view = self._history.pop()
            self._go(view, remember=False)
        return self

    def search(self, query: str, *, method: str = "hybrid", k: int = 30) -> MapExplorer:
        """Search in the background, and light up what is found; see `results`.

        Parameters
        ----------
        query : str
        method : {"hybrid", "semantic", "words", "filter"}, default "hybrid"
            By words and meaning, by either, or a Boolean filter.
        k : int, default 30
            Papers to find.
        """
        tasks.search(self, query, method, k)
        return self

    def select(self, selection: Any) -> MapExplorer:
        """Select papers.

        Parameters
        ----------
        selection : str, array_like or pandas.DataFrame
            A filter such as ``"2015..; author:Rubin"``, rows, a mask, or a table like `selection`.

        Returns
        -------
        MapExplorer

        Raises
        ------
        InputError
            If it is no selection of this atlas.
        """
        if isinstance(selection, str):
            self._choose(self.atlas.select(selection), ("select", selection))
        else:
            given = selection.index if hasattr(selection, "columns") else selection
            self._choose(rows_of_selection(given, len(self._data)), None)
        return self

    def clear(self) -> MapExplorer:
        """Clear the selection and the search."""
        self._choose_nothing()
        self._clear_search()
        return self

    def summarise(self) -> Summary:
        """Count what the selection is about.

        Raises
        ------
        InputError
            If nothing is selected.
        """
        return summarise(self.atlas, self._some_rows(), self._data.years)

    def compare(self) -> Analysis:
        """Compare the selection with all other papers, region by region.

        Raises
        ------
        InputError
            If nothing, or everything, is selected.
        """
        return tasks.compare_with_rest(self.atlas, self._some_rows())

    def ask(self, question: str, *, model: Any = "auto", **settings: Any) -> Answer:
        """Answer a question from the selected papers alone, or from all if none is selected.

        Parameters
        ----------
        question : str
        model : WritingModel, "auto" or None, default "auto"
            As for ``atlas.ask``.
        **settings
            As for ``atlas.ask``.

        Returns
        -------
        Answer
        """
        return tasks.ask_papers(self.atlas, self.rows, question, model=model, **settings)

    def save(self, path: str | Path) -> Path:
        """Save what is seen, or the selected papers.

        Parameters
        ----------
        path : path
            ``.png``, ``.pdf`` or ``.svg`` for the map in print, ``.html`` for a page that needs no
            network, ``.csv`` or ``.bib`` for the selected papers.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, or a folder that cannot be written.
        """
        from landscape.widgets._saving import save_view

        target = expand_home(path)
        ending = target.suffix.lower()
        if ending == ".csv":
            return write_output(target, tasks.papers_as_csv(self.atlas, self._some_rows()))
        if ending == ".bib":
            return write_output(target, tasks.papers_as_bibtex(self.atlas, self._some_rows()))
        return save_view(
            self.atlas, self._scene, self._data, target, texts=self._painter.texts
        )  # fmt: skip

    def reload(self) -> MapExplorer:
        """Open the atlas anew, as it is now on disk; colours, outlines and search stay."""
        tasks.open_again(self)
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is found, read and drawn; False if that takes longer than `seconds`."""
        end = None if seconds is None else clock.monotonic() + seconds
        for waiting in (super().wait, self._drawing.wait, self._summing.wait):
            left = None if end is None else max(0.0, end - clock.monotonic())
            if not waiting(left):
                return False
        return True

    # -- internals

    def _overlay(self, kind: str, name: str | None) -> None:
        if chosen := checked_name(kind, name):
            tasks.read_overlay(self, kind, chosen)
            return
        self._take_back(kind)
        setattr(self, f"_{kind}", None)
        self._drop_overlay(kind)
        if self._colour_by == kind:
            tasks.read_colours(self, "density")

    def _rows_inside(self, corners: Sequence[tuple[float, float]]) -> NDArray[np.int64]:
        points = self._data.in_time(self._scene.time)
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return points.inside(xs, ys).astype(np.int64)

    def _box_of_topic(self, topic: int) -> tuple[float, float, float, float]:
        """Where the middle 96 in 100 papers of a region or continent lie."""
        table = self.atlas.topics
        own = {topic, *table.loc[table["parent_id"] == topic, "topic_id"].tolist()}
        inside = np.isin(self.atlas.map["topic_id"].to_numpy(), list(own))
        here = table[table["topic_id"] == topic].iloc[0]
        x = np.append(self._data.x[inside], np.float32(here["x"]))
        y = np.append(self._data.y[inside], np.float32(here["y"]))
        (x0, x1), (y0, y1) = (np.quantile(side, [0.02, 0.98]) for side in (x, y))
        room = max(0.12 * max(x1 - x0, y1 - y0), 1e-3 * self._data.whole.width)
        return float(x0 - room), float(y0 - room), float(x1 + room), float(y1 + room)
