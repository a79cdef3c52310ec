"""The map to wander in: every paper of an atlas, at every zoom, to search, select and save."""

from __future__ import annotations

import contextlib
import threading
import time as clock
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError, LandscapeError, require
from landscape.widgets import explorer_work as work
from landscape.widgets.colouring import (
    DENSITY,
    NAMES,
    Colouring,
    colouring_of,
    columns_to_colour,
    papers_of_facility,
    papers_with_concept,
)
from landscape.widgets.explorer_controls import Controls
from landscape.widgets.export import download_link, write_file
from landscape.widgets.legend import legend_html, view_line
from landscape.widgets.panel import Panel
from landscape.widgets.paper_card import hover_text, record_html, short_line
from landscape.widgets.picking import rows_of_selection
from landscape.widgets.raster import draw_picture
from landscape.widgets.refreshing import Latest
from landscape.widgets.scene import Drawn, Found, MapData, Period, Scene, draw
from landscape.widgets.summary import Summary, selection_table, summarise, summary_html
from landscape.widgets.views import View, view_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas.reading import Atlas
    from landscape.overlays.analysis import Analysis
    from landscape.query.records import Answer
    from landscape.widgets.jobs import Job

LAYERS = ("names", "papers", "reviews")
_NO_ROWS = np.zeros(0, dtype=np.int64)
_BASE_FINE = (
    0.45  # pixels of the picture of the whole map, which shows until a sharper one is there
)
_HISTORY = 60
_ONE_MOVE = 0.7  # seconds within which steps of the wheel are one move to go back from
_KEPT_TEXTS = 20_000
_MOST_BIBTEX = 5_000
_SMALLEST, _LARGEST = (320, 240), (2400, 1800)
_CLOSEST = 2e4  # zoom beyond which float32 places fall apart

Task = tuple[str, Callable[[], Any], Callable[[Any], None]]


class MapExplorer(Panel):
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
        size: tuple[int, int] = (740, 560),
    ) -> None:
        require("plotly", "lab")
        from landscape.figures.colours import theme as find_theme
        from landscape.widgets.map_figure import MapFigure, figure_parts

        find_theme(theme)
        self.atlas = atlas
        self._size = _checked_size(size)
        self._lock = threading.RLock()
        self._data = MapData(atlas, self._size)
        self._built = _stamp(atlas)
        self._is_old = False
        chosen = self._data.whole if view is None else view_of(view, self._size)
        self._scene = Scene(
            view=chosen, size=self._size, theme=theme, time=self._checked_time(time),
            layers=_checked_layers(layers),
        )  # fmt: skip
        self._colour_by, self._concept, self._facility = "density", concept, facility
        self._searched: tuple[str, str, int] | None = None
        self._chosen_by: tuple[str, Any] | None = None
        self._history: list[View] = []
        self._moved = 0.0
        self._texts: dict[int, str] = {}
        self._pending: dict[str, Task] = {}
        self._base_key: Any = None
        self._quiet = 0  # above 0 while controls are set from here, not by the user
        self.figure = MapFigure(figure_parts(chosen, self._size, self._scene.colours))
        drawn = self._draw()
        self.figure.publish(self._seen_on_page)
        self._controls = Controls(self.figure, self._size)
        self._drawing = Latest(self._redraw, failed=self._tell)
        self._summing = Latest(self._sum_up, failed=self._tell)
        self._asking: Job[Any] | None = None
        super().__init__(_heading(atlas), self._controls.body)
        self.add_class("landscape-explorer")
        self._fill_controls()
        self._tell_drawn(drawn)
        self._drawing.request()  # what is told of papers under the pointer comes after the picture
        self._connect()
        self._restore(colour_by, search, method, k, select, outline)

    # -- the state, readable and settable from code

    def __repr__(self) -> str:
        chosen = f", {len(self._scene.selected):,} selected" if len(self._scene.selected) else ""
        found = f", {len(self._scene.found.rows):,} found" if self._scene.found else ""
        return f"<MapExplorer of {self.atlas.title!r}: {len(self._data):,} papers{found}{chosen}>"

    @property
    def view(self) -> tuple[float, float, float, float]:
        """The window, ``(x0, y0, x1, y1)`` in map units."""
        return self._scene.view.box

    @view.setter
    def view(self, box: Sequence[float]) -> None:
        self._go(view_of(box, self._size))

    @property
    def colour_by(self) -> str:
        """What the colours stand for."""
        return self._colour_by

    @colour_by.setter
    def colour_by(self, name: str) -> None:
        self._start([self._colour_task(name)])

    @property
    def time(self) -> Period | None:
        """First and last year shown; None shows all papers, those of unknown years too."""
        return self._scene.time

    @time.setter
    def time(self, period: Sequence[int] | None) -> None:
        chosen = self._checked_time(period)
        if chosen == self._scene.time:
            return
        self._change(time=chosen)
        if self._searched is not None:  # of the papers that are shown
            self._start([self._search_task(*self._searched)])

    @property
    def layers(self) -> tuple[str, ...]:
        """Which of names, papers and reviews are shown."""
        return tuple(name for name in LAYERS if name in self._scene.layers)

    @layers.setter
    def layers(self, names: Sequence[str]) -> None:
        chosen = _checked_layers(names)
        self._change(layers=chosen)
        if "reviews" in chosen:
            self._start([self._reviews_task()])
        else:
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

    @property
    def theme(self) -> str:
        """Colours of the map, "light" or "dark"."""
        return self._scene.theme

    @theme.setter
    def theme(self, name: str) -> None:
        from landscape.figures.colours import theme as find_theme

        find_theme(name)
        self._change(theme=name)

    @property
    def results(self) -> Found | None:
        """What the last search found."""
        return self._scene.found

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows of the selected papers in the atlas."""
        return self._scene.selected

    @property
    def selection(self) -> pd.DataFrame:
        """The selected papers, one row each; see `landscape.widgets.summary.selection_table`."""
        return selection_table(self.atlas, self._scene.selected)

    @selection.setter
    def selection(self, selection: Any) -> None:
        self.select(selection)

    # -- what one does with it

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
        """Look `factor` times closer."""
        self._go(self._scene.view.zoomed(factor))
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
        self._start([self._search_task(query, method, k)])
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
        """Select nothing, and take the search off the map."""
        self._choose(_NO_ROWS, None)
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
        from landscape.overlays.trends.comparison import compare

        rows = self._some_rows()
        rest = np.setdiff1d(np.arange(len(self._data)), rows, assume_unique=True)
        if not len(rest):
            raise InputError("Every paper is selected: there is no rest to compare with.")
        return compare(self.atlas, rows, rest)

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
        from landscape.llm.environment import connect_if_told
        from landscape.query.asking import ask, ask_settings
        from landscape.widgets.within import engine_of

        if not len(self._scene.selected):
            return self.atlas.ask(question, model=model, **settings)
        connected = connect_if_told() if model == "auto" else model
        engine = engine_of(self.atlas, self._scene.selected)
        return ask(engine, question, ask_settings(**settings), model=connected)

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
        from landscape.widgets.saving import save_view

        target = Path(path).expanduser()
        ending = target.suffix.lower()
        if ending == ".csv":
            return write_file(target, self._as_csv())
        if ending == ".bib":
            return write_file(target, self._as_bibtex())
        return save_view(self.atlas, self._scene, self._data, target, texts=self._texts)

    def reload(self) -> MapExplorer:
        """Open the atlas anew, as it is now on disk, in the same view."""
        from landscape.atlas.reading import open_atlas

        def read() -> Any:
            atlas = open_atlas(self.atlas.path)
            return atlas, MapData(atlas, self._size), _stamp(atlas)

        self._start([("Opening the atlas", read, self._replace_atlas)])
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is found, read and drawn; False if that takes longer than `seconds`."""
        end = None if seconds is None else clock.monotonic() + seconds
        for waiting in (super().wait, self._drawing.wait, self._summing.wait):
            left = None if end is None else max(0.0, end - clock.monotonic())
            if not waiting(left):
                return False
        return True

    # -- tasks: reading in a thread, then a change of the scene

    def _start(self, tasks: Sequence[Task]) -> None:
        """Do tasks one after the other in the background, after those that are not yet done.

        A task takes the place of an earlier one of its kind: only the last search is of interest.
        """
        if not tasks:
            return
        with self._lock:
            for task in tasks:
                self._pending.pop(task[0], None)
                self._pending[task[0]] = task
            doing = list(self._pending.values())

        def do() -> list[tuple[Callable[[Any], None], Any]]:
            done = []
            for _, read, then in doing:
                try:
                    done.append((then, read()))
                except LandscapeError as error:
                    done.append((self._tell_gently, error))
            return done

        def tell(found: list[tuple[Callable[[Any], None], Any]]) -> None:
            with self._lock:
                for task in doing:
                    if self._pending.get(task[0]) is task:
                        del self._pending[task[0]]
            for then, value in found:
                then(value)

        self.run(tasks[0][0], do, tell)

    def stop(self) -> None:
        """Stop what is running; what was there before stays."""
        self._pending.clear()
        super().stop()

    def _colour_task(self, name: str) -> Task:
        def read() -> Colouring:
            return colouring_of(self.atlas, name, concept=self._concept, facility=self._facility)

        def then(colouring: Colouring) -> None:
            self._colour_by = name
            self._change(colouring=colouring)

        return "Reading the colours", read, then

    def _overlay_task(self, kind: str, name: str) -> Task:
        read_rows = papers_with_concept if kind == "concept" else papers_of_facility

        def then(found: tuple[NDArray[np.int64], str]) -> None:
            rows, title = found
            setattr(self, f"_{kind}", name)
            overlays = {**self._scene.overlays, kind: (title, rows)}
            colouring = self._scene.colouring
            if self._colour_by == kind:
                from landscape.widgets.colouring import share_colouring

                colouring = share_colouring(kind, title, rows, len(self._data))
            self._change(overlays=overlays, colouring=colouring)
            if not len(rows):
                self.say(f"No paper of this atlas is about {title}.")

        return f"Reading {kind}", lambda: read_rows(self.atlas, name), then

    def _reviews_task(self) -> Task:
        def then(found: tuple[str, NDArray[np.int64]]) -> None:
            self._change(
                layers=self._scene.layers | {"reviews"},
                overlays={**self._scene.overlays, "reviews": found},
            )

        return "Reading the reviews", lambda: work.review_rows(self.atlas), then

    def _search_task(self, query: str, method: str, k: int) -> Task:
        def read() -> Found:
            return work.find_papers(self.atlas, query, method=method, k=k, time=self._scene.time)

        def then(found: Found) -> None:
            self._searched = (query, method, k)
            self._change(found=found)
            self._list_found(found)

        return "Searching", read, then

    def _select_task(self, filter_text: str) -> Task:
        return (
            "Selecting",
            lambda: self.atlas.select(filter_text),
            lambda rows: self._choose(rows, ("select", filter_text)),
        )

    def _restore(
        self, colour_by: str, search: str | None, method: str, k: int, select: str | None,
        outline: Sequence[Sequence[float]] | None,
    ) -> None:  # fmt: skip
        """Bring the panel to the state that the constructor was told."""
        tasks = []
        for kind in ("concept", "facility"):
            name = getattr(self, f"_{kind}")
            if name:
                tasks.append(self._overlay_task(kind, name))
        if "reviews" in self._scene.layers:
            tasks.append(self._reviews_task())
        if colour_by != "density":
            tasks.append(self._colour_task(colour_by))
        if outline is not None:
            corners = [(float(x), float(y)) for x, y in outline]
            rows = self._rows_inside(corners)
            self._choose(rows, ("outline", corners))
        if select:
            tasks.append(self._select_task(select))
        if search:
            tasks.append(self._search_task(search, method, k))
        self._start(tasks)
        self._tell_state()

    def _overlay(self, kind: str, name: str | None) -> None:
        if name and name.strip():
            self._start([self._overlay_task(kind, name.strip())])
        else:
            setattr(self, f"_{kind}", None)
            self._drop_overlay(kind)
            if self._colour_by == kind:
                self._start([self._colour_task("density")])

    def _drop_overlay(self, kind: str) -> None:
        if kind in self._scene.overlays:
            kept = {key: value for key, value in self._scene.overlays.items() if key != kind}
            self._change(overlays=kept)

    # -- changes of the scene

    def _change(self, **fields: Any) -> None:
        with self._lock:
            self._scene = replace(self._scene, **fields)
        self._tell_state()
        self._drawing.request()

    def _go(self, view: View, *, remember: bool = True) -> None:
        if remember:
            self._remember()
        self._change(view=view)
        self.figure.look(view)

    def _remember(self) -> None:
        """Keep the view for `back`; steps of the wheel are one move."""
        now = clock.monotonic()
        if now - self._moved > _ONE_MOVE or not self._history:
            self._history = [*self._history[-_HISTORY:], self._scene.view]
        self._moved = now

    def _choose(self, rows: NDArray[np.int64], by: tuple[str, Any] | None) -> None:
        self._chosen_by = by
        if by is None or by[0] != "outline":
            self._clear_outline()
        self._change(selected=rows)
        controls = self._controls
        controls.links.value = controls.outcome.value = ""
        if len(rows):
            controls.tabs.selected_index = 1
        self._summing.request()

    def _clear_outline(self) -> None:
        if self.figure.layout.selections:
            with self.figure.drawing():
                self.figure.layout.selections = ()

    def _clear_search(self) -> None:
        self._searched = None
        self._change(found=None)
        with self._setting():
            self._controls.query.value = ""
        self._controls.found_note.value = _NOTHING_FOUND
        self._controls.lines([], lambda _: None)
        self._controls.found_buttons.layout.display = "none"
        self._focus(None)

    def _replace_atlas(self, opened: Any) -> None:
        self.atlas, self._data, self._built = opened
        self._is_old = False
        self._texts.clear()
        self._base_key = None
        self._controls.reload.layout.display = "none"
        self.heading = _heading(self.atlas)
        again = self._searched
        self._chosen_by = None
        self._colour_by = "density"
        self._fill_controls()
        self._change(colouring=DENSITY, overlays={}, found=None, selected=_NO_ROWS,
                     layers=self._scene.layers - {"reviews"})  # fmt: skip
        self.home()
        self.say("The atlas is open as it is now; the selection was of the old one and is gone.")
        if again is not None:
            self._start([self._search_task(*again)])

    # -- drawing

    def _redraw(self) -> None:
        """Draw the scene as it is now, and tell of it."""
        self._check_atlas()
        drawn = self._draw()
        self._tell_drawn(drawn)
        if not self._drawing.is_outdated:
            self._tell_papers(drawn)

    def _seen_on_page(self) -> None:
        """The page shows the figure for the first time: what it missed meanwhile is sent again."""
        self._base_key = None
        self._drawing.request()

    def _draw(self) -> Drawn:
        """Put the scene as it is now into the figure."""
        scene = self._scene
        drawn = draw(scene, self._data)
        key = (id(scene.colouring), scene.colours.name, scene.time, scene.found is None,
               bool(scene.overlays), len(scene.selected))  # fmt: skip
        base = None
        if key != self._base_key:
            base = draw_picture(
                self._data.in_time(scene.time), self._data.whole.zoomed(0.6), self._size,
                colours=scene.colours, colouring=scene.colouring, fine=_BASE_FINE, specks=False,
            )  # fmt: skip
        if self._drawn_theme != scene.theme or self._drawn_quiet != (scene.colours.ramp[-1, 0]):
            self._dress(scene)
        self._drawn = drawn
        self.figure.show_drawn(drawn, self._data, base=base)
        self._base_key = key
        return drawn

    def _tell_drawn(self, drawn: Drawn) -> None:
        n_all, zoom = len(self._data), self._data.zoom(drawn.scene.view)
        _set(self._controls.legend, legend_html(drawn, n_all=n_all))
        _set(self._controls.view_line, view_line(drawn, n_all=n_all, zoom=zoom))

    _drawn: Drawn
    _drawn_theme: str | None = None
    _drawn_quiet: float = -1.0

    def _dress(self, scene: Scene) -> None:
        """Colours of the theme for everything but the picture."""
        from landscape.widgets.map_figure import TRACES, theme_part, trace_style

        self._drawn_theme, self._drawn_quiet = scene.theme, scene.colours.ramp[-1, 0]
        with self.figure.drawing():
            self.figure.layout.update(theme_part(scene.colours))
            for name in TRACES:
                self.figure.trace(name).update(trace_style(name, scene.colours))

    def _tell_papers(self, drawn: Drawn) -> None:
        """What is told of the marked papers under the pointer: read after they are drawn."""
        wanted = [int(row) for rows in drawn.marks.values() for row in rows]
        missing = [row for row in dict.fromkeys(wanted) if row not in self._texts]
        if len(self._texts) > _KEPT_TEXTS:
            self._texts.clear()
            missing = list(dict.fromkeys(wanted))
        for start in range(0, len(missing), 200):
            if self._drawing.is_outdated:
                return
            part = missing[start : start + 200]
            for row, paper in zip(part, self.atlas.engine.papers(part), strict=True):
                self._texts[row] = hover_text(paper)
        if self._drawing.is_outdated or drawn is not self._drawn:
            return
        with self.figure.drawing():
            for name, rows in drawn.marks.items():
                texts = [self._text_of(int(row), name, drawn) for row in rows]
                if texts:
                    trace = self.figure.trace(name)
                    trace.hovertext = texts[::-1] if name in ("found", "apart") else texts

    def _text_of(self, row: int, name: str, drawn: Drawn) -> str:
        told = self._texts.get(row, "")
        if name in ("found", "apart") and row in drawn.ranks:
            apart = "apart from the others, " if name == "apart" else ""
            told += f"<br><i>{apart}found as no. {drawn.ranks[row]}</i>"
        return told

    def _check_atlas(self) -> None:
        """Say so, once, where the atlas was built again under the open panel."""
        if self._is_old:
            return
        stamp = _stamp(self.atlas)
        if stamp == self._built:
            return
        try:
            self.atlas.select("")
            self._built = stamp
        except (LandscapeError, OSError):
            self._is_old = True
            self._controls.reload.layout.display = ""
            self.say("This atlas was built again since it was opened: the map is of the old one. "
                     "Reload it to see the new one.", "warning")  # fmt: skip

    # -- what the panel says

    def _fill_controls(self) -> None:
        controls, labels = self._controls, self._data.labels.table
        with self._setting():
            options = [(NAMES[name], name) for name in NAMES]
            with contextlib.suppress(LandscapeError, OSError):
                options += [
                    (name.replace("_", " ").capitalize(), name)
                    for name in columns_to_colour(self.atlas)
                ]
            controls.colour.options = options
            ordered = labels.sort_values(
                "label", key=lambda names: names.map(lambda name: str(name).casefold())
            )
            controls.regions.options = [
                ("Go to …", -1),
                *((f"{row.label} ({row.n_papers:,})", int(row.topic_id))
                  for row in ordered.itertuples()),
            ]  # fmt: skip
            controls.regions.value = -1
            period = self._data.period
            controls.times.layout.display = "" if period and period[0] < period[1] else "none"
            if period:
                controls.set_times(*period, self._scene.time or period)
        controls.found_note.value = _NOTHING_FOUND
        controls.summary.value = _NOTHING_CHOSEN
        controls.record.value = _NO_PAPER
        controls.save_note.value = (
            "<div class='landscape-quiet'>The picture shows this view with its colours, names and "
            "marks, and the bounds of the corpus below. The same from code: "
            "<code>explorer.save(&quot;map.pdf&quot;)</code>.</div>"
        )
        self._fill_names()
        controls.caption.value = self._caption()

    def _fill_names(self) -> None:
        """Concepts and facilities to choose from, as far as the atlas has them."""
        from landscape.overlays.missions.facilities import load_facilities

        controls, stages = self._controls, self.atlas.stages
        lacking = []
        for kind, stage, name in (("concept", "uat", "thesaurus"),
                                  ("facility", "missions", "missions")):  # fmt: skip
            control = getattr(controls, kind)
            control.disabled = stage not in stages
            if control.disabled:
                lacking.append(name)
        controls.layers["reviews"].disabled = "reviews" not in stages
        if "reviews" not in stages:
            lacking.append("reviews")
        if "missions" in stages:
            controls.facility.options = sorted(load_facilities())
        if "uat" in stages:
            with contextlib.suppress(LandscapeError):
                concepts = self.atlas.thesaurus.concepts.values()
                controls.concept.options = sorted(one.label for one in concepts)
        said = []
        if lacking:
            said.append(f"This atlas has no layer of {', '.join(lacking)}; the same landscape "
                        "build run again adds it.")  # fmt: skip
        if not len(self._data.labels.table):
            said.append("This atlas has no named regions, so the map has no names.")
        if self._data.period is None:
            said.append("No paper has a date, so there is no time window.")
        if said:
            self.say(" ".join(said))

    def _caption(self) -> str:
        import html

        from landscape.figures.caption import GENERATED, explanation, headline
        from landscape.figures.density_map import facts_of

        facts = facts_of(self.atlas)
        sentences = [headline(facts), *explanation(facts)]
        if self._data.undated:
            sentences.append(
                f"{self._data.undated:,} papers without a date show only with all years."
            )
        made_up = f"<b>{GENERATED}</b> " if facts.generated else ""
        return f"<div class='landscape-quiet'>{made_up}{html.escape(' '.join(sentences))}</div>"

    def _tell_state(self) -> None:
        """Controls and the line of code follow the state, whoever changed it."""
        scene, controls = self._scene, self._controls
        with self._setting():
            controls.colour.value = self._colour_by
            controls.concept.value = self._concept or ""
            controls.facility.value = self._facility or ""
            controls.dark.value = scene.theme == "dark"
            for name, box in controls.layers.items():
                box.value = name in scene.layers
            period = self._data.period
            if period is not None and controls.time.value != (scene.time or period):
                controls.time.value = scene.time or period
            if self._searched is not None:
                query, method, k = self._searched
                controls.query.value, controls.method.value = query, method
                if k in controls.n_found.options:
                    controls.n_found.value = k
        line = self._as_code()
        if line != self.code:
            self.code = line

    def _as_code(self) -> str:
        scene, said = self._scene, []
        if scene.view.differs_from(self._data.whole):
            digits = max(2, 3 - int(np.floor(np.log10(scene.view.width))))
            box = ", ".join(f"{side:.{digits}f}" for side in scene.view.box)
            said.append(f"view=({box})")
        if self._colour_by != "density":
            said.append(f"colour_by={self._colour_by!r}")
        if scene.time is not None:
            said.append(f"time={scene.time}")
        if self.layers != ("names", "papers"):
            said.append(f"layers={self.layers!r}")
        said += [f"{kind}={name!r}" for kind in ("concept", "facility")
                 if (name := getattr(self, f"_{kind}")) and kind in scene.overlays]  # fmt: skip
        if self._searched is not None:
            query, method, k = self._searched
            said.append(f"search={query!r}")
            said += [f"method={method!r}"] if method != "hybrid" else []
            said += [f"k={k}"] if k != 30 else []
        if self._chosen_by is not None:
            said.append(f"{self._chosen_by[0]}={self._chosen_by[1]!r}")
        if scene.theme != "light":
            said.append(f"theme={scene.theme!r}")
        if self._size != (740, 560):
            said.append(f"size={self._size}")
        return f"MapExplorer({', '.join(['atlas', *said])})"

    def _list_found(self, found: Found) -> None:
        import html

        controls = self._controls
        outside = int((~self._scene.view.holds(
            self._data.x[found.rows], self._data.y[found.rows])).sum())  # fmt: skip
        beyond = f" {outside:,} of them outside this view." if outside else ""
        said = html.escape(f"“{found.query}”: {found.note}{beyond}")
        controls.found_note.value = f"<div class='landscape-quiet'>{said}</div>"
        texts = [
            short_line(paper, rank=rank, apart=bool(found.apart[rank - 1]))
            for rank, paper in enumerate(found.papers, 1)
        ]
        controls.lines(texts, lambda number: self._show_paper(found.papers[number].row))
        controls.found_buttons.layout.display = ""
        controls.tabs.selected_index = 0

    def _show_paper(self, row: int) -> None:
        """Tell a paper in full, and ring it on the map."""
        try:
            (paper,) = self.atlas.engine.papers([row])
        except (LandscapeError, OSError) as error:
            self._tell(error)
            return
        names = self._data.labels.table
        topic = int(self.atlas.map["topic_id"].iloc[row]) if "topic_id" in self.atlas.map else -1
        found = names[names["topic_id"] == topic]["label"]
        region = str(found.iloc[0]) if len(found) else "outside every region"
        generated = bool(self.atlas.coverage.get("generated"))
        self._controls.record.value = record_html(paper, region=region, generated=generated)
        self._focus(row)

    def _focus(self, row: int | None) -> None:
        rows = [] if row is None else [row]
        with self.figure.drawing():
            trace = self.figure.trace("focus")
            trace.x, trace.y = self._data.x[rows], self._data.y[rows]

    def _sum_up(self) -> None:
        rows = self._scene.selected
        if not len(rows):
            self._controls.summary.value = _NOTHING_CHOSEN
            return
        self._controls.summary.value = f"<div><b>{len(rows):,} papers selected</b></div>"
        told = summary_html(summarise(self.atlas, rows, self._data.years))
        if not self._summing.is_outdated:
            self._controls.summary.value = told

    def _tell_gently(self, error: Exception) -> None:
        self._tell_state()  # controls fall back to what is shown
        self._tell(error)

    def _as_csv(self) -> str:
        from landscape.figures.caption import headline
        from landscape.figures.density_map import facts_of

        rows = self._some_rows()
        note = f"{len(rows)} papers selected of {headline(facts_of(self.atlas))}"
        return work.csv_of(self.selection, note=note)

    def _as_bibtex(self) -> str:
        from landscape.query.citing import to_bibtex

        rows = self._some_rows()
        if len(rows) > _MOST_BIBTEX:
            raise InputError(
                f"{len(rows):,} papers are too many for one bibliography; select at most "
                f"{_MOST_BIBTEX:,}, or save them as .csv."
            )
        return to_bibtex(self.atlas.engine.papers(rows.tolist()))

    def _some_rows(self) -> NDArray[np.int64]:
        if not len(self._scene.selected):
            raise InputError(
                "No paper is selected; draw round some with the lasso, or give select() a filter."
            )
        return self._scene.selected

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

    def _checked_time(self, period: Sequence[int] | None) -> Period | None:
        if period is None:
            return None
        try:
            first, last = (int(year) for year in period)
        except (TypeError, ValueError):
            raise InputError(f"The time is {period!r}; give the first and the last year.") from None
        if last < first:
            raise InputError(f"The time ends in {last}, before it begins in {first}.")
        known = self._data.period
        return None if known is None or (first <= known[0] and last >= known[1]) else (first, last)

    # -- the browser

    def _connect(self) -> None:
        """Hear what is done on the page."""
        from landscape.widgets.explorer_events import connect

        connect(self, self._controls, self.figure)

    def _setting(self) -> _Setting:
        return _Setting(self)

    def _moved_on_page(self, box: tuple[float, float, float, float]) -> None:
        """The page shows another window."""
        if not (np.isfinite(box).all() and box[2] > box[0] and box[3] > box[1]):
            return
        view = view_of(box, self._size)
        if self._data.zoom(view) > _CLOSEST or not view.differs_from(self._scene.view):
            return
        self._remember()
        self._change(view=view)

    def _selected_on_page(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """The page drew an outline: all papers in it are selected, drawn or not."""
        unit = self._scene.view.width / self._size[0]
        corners = work.simple_outline(xs, ys, unit=unit)
        self._choose(self._rows_inside(corners), ("outline", corners))
        if not len(self._scene.selected):
            self.say("No paper lies in this outline.")

    def _clicked_on_page(self, name: str, number: int) -> None:
        """The page tells which mark was clicked."""
        rows = self._drawn.marks.get(name, _NO_ROWS)
        if name in ("found", "apart"):
            rows = rows[::-1]
        if number < len(rows):
            self._show_paper(int(rows[number]))

    def _make_file(self, ending: str) -> None:
        import tempfile

        from landscape.widgets.saving import save_view

        scene, data, texts = self._scene, self._data, dict(self._texts)
        stem = "".join(c if c.isalnum() else "-" for c in self.atlas.title.lower())[:40].strip("-")
        name = f"{stem or 'map'}{ending}"

        def make() -> str:
            with tempfile.TemporaryDirectory() as folder:
                path = save_view(self.atlas, scene, data, Path(folder) / name, texts=texts)
                return download_link(name, path.read_bytes())

        def then(link: str) -> None:
            self._controls.file.value = link

        self._controls.file.value = ""
        self.run("Drawing the file", make, then)

    def _make_links(self) -> None:
        def make() -> str:
            links = [download_link("selection.csv", self._as_csv())]
            try:
                links.append(download_link("selection.bib", self._as_bibtex()))
            except InputError as error:
                links.append(f"<div class='landscape-quiet'>{_escaped(str(error))}</div>")
            return "".join(links)

        def then(links: str) -> None:
            self._controls.links.value = links

        self.run("Writing the files", make, then)

    def _ask_on_page(self, question: str) -> None:
        def then(answer: Answer) -> None:
            self._controls.outcome.value = answer._repr_html_()

        self.run("Asking the selected papers", lambda: self.ask(question), then)

    def _compare_on_page(self) -> None:
        def then(found: Analysis) -> None:
            self._controls.outcome.value = _comparison_html(found)

        self.run("Comparing", self.compare, then)


class _Setting:
    """While controls are set from here, nobody is to hear of it."""

    def __init__(self, explorer: MapExplorer) -> None:
        self._explorer = explorer

    def __enter__(self) -> None:
        self._explorer._lock.acquire()
        self._explorer._quiet += 1

    def __exit__(self, *_: object) -> None:
        self._explorer._quiet -= 1
        self._explorer._lock.release()


_NOTHING_FOUND = ("<div class='landscape-quiet'>Search above: what is found lights up on the map "
                  "and is listed here.</div>")  # fmt: skip
_NOTHING_CHOSEN = ("<div class='landscape-quiet'>Nothing is selected. Draw round papers with the "
                   "lasso or a box, or write a filter.</div>")  # fmt: skip
_NO_PAPER = "<div class='landscape-quiet'>Click a paper to read about it here.</div>"


def _comparison_html(found: Analysis) -> str:
    """Where the selection is over-represented, briefly."""
    shown = found.table[found.table["over_in"] == "a"].head(8)
    fewer = found.table[found.table["over_in"] == "b"].head(4)
    blocks = []
    for title, rows in (("More than elsewhere", shown), ("Less than elsewhere", fewer)):
        if len(rows):
            items = "".join(
                f"<li>{_escaped(row.label)}: {row.a_share:.1%} here, {row.b_share:.1%} of the rest"
                "</li>"
                for row in rows.itertuples()
            )
            blocks.append(f"<div class='landscape-fact'><b>{title}</b><ul>{items}</ul></div>")
    if not blocks:
        blocks.append("<div>No region differs from the rest beyond chance.</div>")
    notes = _escaped(" ".join([found.caption, *found.notes]))
    return "".join(blocks) + f"<div class='landscape-quiet'>{notes}</div>"


def _escaped(text: str) -> str:
    from landscape.query.html import escape

    return escape(text)


def _set(widget: Any, value: str) -> None:
    if widget.value != value:
        widget.value = value


def _heading(atlas: Any) -> str:
    return f"Map of {atlas.title}"


def _stamp(atlas: Any) -> int:
    """When the atlas on disk was last written; 0 where it is gone."""
    from landscape.atlas.manifest import MANIFEST_NAME

    try:
        return int((atlas.path / MANIFEST_NAME).stat().st_mtime_ns)
    except OSError:
        return 0


def _checked_size(size: Sequence[int]) -> tuple[int, int]:
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        raise InputError(f"The size is {size!r}; give width and height in pixels.") from None
    if not (_SMALLEST[0] <= width <= _LARGEST[0] and _SMALLEST[1] <= height <= _LARGEST[1]):
        raise InputError(
            f"The size is {width} x {height} pixels; give {_SMALLEST[0]} x {_SMALLEST[1]} to "
            f"{_LARGEST[0]} x {_LARGEST[1]}."
        )
    return width, height


def _checked_layers(names: Iterable[str]) -> frozenset[str]:
    chosen = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in chosen if name not in LAYERS]
    if unknown:
        raise InputError(f"There is no layer {unknown[0]!r}; there are {', '.join(LAYERS)}.")
    return frozenset(chosen)
