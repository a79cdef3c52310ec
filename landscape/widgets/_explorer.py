"""The map explorer: its public class, and the events of its figure and controls."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from landscape._io import expand_home, write_output
from landscape._render import escape
from landscape._wording import count
from landscape.errors import InputError, LandscapeError
from landscape.figures.caption import facts_of, headline
from landscape.widgets import _explorer_tasks as tasks
from landscape.widgets._explorer_state import ExplorerState
from landscape.widgets._figure_view import download_link
from landscape.widgets._map_figure import NAMED_LEVELS
from landscape.widgets._saving import save_view
from landscape.widgets._selection import Summary, comparison_html, selection_table, summarise
from landscape.widgets._view import CLOSEST, FARTHEST, rows_of_selection, view_of

if TYPE_CHECKING:
    import ipywidgets as widgets
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.types import Analysis, Answer

T = TypeVar("T")
_CLICKABLE = ("papers", "reviews", "selected", "found", "apart")
_STEP = 1.8  # zoom factor of one click


class MapExplorer(ExplorerState):
    """Interactive map of an atlas, with search and selection of papers.

    After each move, the density is computed from all papers in view. `code` contains the call that
    creates a map in the same state.

    Parameters
    ----------
    atlas : Atlas
    view : sequence of 4 float, optional
        Window ``(x0, y0, x1, y1)`` in map units. Default: the whole map.
    colour_by : str, default "density"
        ``"density"``, ``"topic"``, ``"year"``, ``"citations"``, ``"concept"``, ``"facility"`` or
        any column of the papers.
    time : (int, int), optional
        First and last year to show.
    layers : sequence of str, default ("names", "papers")
        Layers to show: ``"names"``, ``"papers"`` and ``"reviews"``.
    concept, facility : str, optional
        Concept or facility whose papers are outlined.
    search : str, optional
        Text to search for.
    method : {"hybrid", "semantic", "words", "filter"}, default "hybrid"
    k : int, default 30
        Number of papers to find.
    select : str, optional
        Filter of the papers to select.
    outline : sequence of (float, float), optional
        Corners of an outline in map units. The papers inside the outline are selected.
    theme : {"light", "dark"}, default "light"
    size : (int, int), default (740, 560)
        Size of the map in pixels.

    Attributes
    ----------
    selection : pandas.DataFrame
        The selected papers. It can be set to rows, a mask, a filter or a similar data frame.
    results : Found or None
        Result of the last search.

    Raises
    ------
    InputError
        If an argument is invalid.

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
        size: tuple[int, int] = tasks.DEFAULT_SIZE,
    ) -> None:
        concept = tasks.checked_name("concept", concept)
        facility = tasks.checked_name("facility", facility)
        corners = None if outline is None else tasks.checked_outline(outline)
        super().__init__(atlas, view=view, time=time, layers=layers, theme=theme, size=size)
        self._connect_figure()
        self._connect_controls()
        for kind, name in (("concept", concept), ("facility", facility)):
            if name:
                self._read_overlay(kind, name)
        if "reviews" in self._state.layers:
            self._read_overlay("reviews")
        if colour_by != "density":
            self.colour_by = colour_by
        if corners is not None:
            self._select_inside(corners)
        if select:
            self._select_in_background(select)
        if search:
            self.search(search, method=method, k=k)
        self._tell_state()

    @property
    def selection(self) -> pd.DataFrame:
        """The selected papers, one per row; see `landscape.widgets._selection.selection_table`."""
        return selection_table(self.atlas, self.rows)

    @selection.setter
    def selection(self, selection: Any) -> None:
        self.select(selection)

    def go_to(self, region: str | int) -> MapExplorer:
        """Show the region with the given name or number.

        Raises
        ------
        InputError
            If the region does not exist.
        """
        names = self._data.labels.table
        if isinstance(region, str):
            found = names[names["label"].astype(str).str.casefold() == region.casefold()]
        else:
            found = names[names["topic_id"] == region]
        if found.empty:
            raise InputError(f"There is no region {region!r} on this map; see atlas.topics.")
        # Show the window that contains the middle 96% of the papers.
        topics, here = self.atlas.topics, found.iloc[0]
        inside = topics["topic_id"][topics["parent_id"] == here["topic_id"]].tolist()
        column = "subregion_id" if here["level"] == 2 else "topic_id"
        own = np.isin(self.atlas.map[column].to_numpy(), [here["topic_id"], *inside])
        x, y = np.append(self._data.x[own], here["x"]), np.append(self._data.y[own], here["y"])
        (x0, x1), (y0, y1) = (np.quantile(side, [0.02, 0.98]) for side in (x, y))
        margin = max(0.12 * max(x1 - x0, y1 - y0), 1e-3 * self._data.whole.width)
        self.view = (float(x0 - margin), float(y0 - margin), float(x1 + margin), float(y1 + margin))
        return self

    def zoom(self, factor: float) -> MapExplorer:
        """Zoom in by `factor`, up to the limit at which positions can be distinguished.

        Raises
        ------
        InputError
            If the factor is not a positive number.
        """
        now = self._data.zoom(self._state.view)
        wanted = now * tasks.checked_factor(factor)
        bounded = min(max(wanted, min(now, FARTHEST)), max(now, CLOSEST))
        if bounded != now:
            self._go(self._state.view.zoomed(bounded / now))
        return self

    def home(self) -> MapExplorer:
        """Show the whole map."""
        self._go(self._data.whole)
        return self

    def back(self) -> MapExplorer:
        """Return to the previous view."""
        if self._history:
            self._go(self._history.pop(), remember=False)
        return self

    def select(self, selection: Any) -> MapExplorer:
        """Select papers.

        Parameters
        ----------
        selection : str, array_like or pandas.DataFrame
            Filter such as ``"2015..; author:Rubin"``, rows, a mask, or a table such as `selection`.

        Returns
        -------
        MapExplorer

        Raises
        ------
        InputError
            If the selection is invalid.
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
        """Count years, regions, keywords and facilities of the selected papers.

        Raises
        ------
        InputError
            If nothing is selected.
        """
        return summarise(self.atlas, self._some_rows(), self._data.years)

    def compare(self) -> Analysis:
        """Compare the selection with all other papers in each region.

        Raises
        ------
        InputError
            If no papers, or all papers, are selected.
        """
        return tasks.compare_with_rest(self.atlas, self._some_rows())

    def ask(self, question: str, *, model: object = "auto", **settings: object) -> Answer:
        """Answer a question from the selected papers, or from all papers if none is selected.

        Parameters
        ----------
        question : str
        model : WritingModel, "auto" or None, default "auto"
            Language model; see ``atlas.ask``.
        **settings
            Settings of ``atlas.ask``.

        Returns
        -------
        Answer
        """
        return tasks.ask_papers(self.atlas, self.rows, question, model=model, **settings)

    def save(self, path: str | Path) -> Path:
        """Save the view, or the selected papers.

        Parameters
        ----------
        path : path
            File name. ``.png``, ``.pdf`` and ``.svg`` save the map for print, ``.html`` saves a
            page that works offline, ``.csv`` and ``.bib`` save the selected papers.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            If the suffix is unknown, or the folder cannot be written.
        """
        target = expand_home(path)
        tables = {".csv": tasks.papers_as_csv, ".bib": tasks.papers_as_bibtex}
        if target.suffix.lower() in tables:
            content = tables[target.suffix.lower()](self.atlas, self._some_rows())
            return write_output(target, content)
        return save_view(self.atlas, self._state, self._data, target, texts=self._painter.texts)

    # -- files, answers and comparisons

    def _for_selection(
        self, title: str, kind: str, shown: Any, work: Callable[[], T], write: Callable[[T], str]
    ) -> None:
        """Run a function in the background. Show its result if the selection has not changed."""
        rows = self.rows

        def then(made: T) -> None:
            if self.rows is rows:
                shown.value = write(made)

        self.run(title, work, then, kind=kind)

    def _ask_selection(self, question: str) -> None:
        if not question.strip():
            return
        atlas, rows = self.atlas, self.rows
        self._for_selection(
            "Asking the selected papers",
            "ask",
            self._controls.outcome,
            lambda: tasks.ask_papers(atlas, rows, question),
            lambda answer: answer._repr_html_(),
        )

    def _compare_selection(self) -> None:
        atlas, rows = self.atlas, self._some_rows()
        self._for_selection(
            "Comparing",
            "compare",
            self._controls.outcome,
            lambda: tasks.compare_with_rest(atlas, rows),
            comparison_html,
        )

    def _make_links(self) -> None:
        atlas, rows = self.atlas, self._some_rows()

        def make() -> str:
            n_selected = count(len(rows), "paper")
            note = f"{n_selected} selected of {len(atlas):,}. {headline(facts_of(atlas))}"
            links = [download_link("selection.csv", tasks.papers_as_csv(atlas, rows))]
            try:
                links.append(download_link("selection.bib", tasks.papers_as_bibtex(atlas, rows)))
            except InputError as error:
                links.append(f"<div class='landscape-quiet'>{escape(str(error))}</div>")
            return "".join([*links, f"<div class='landscape-quiet'>{escape(note)}</div>"])

        self._for_selection("Writing the files", "links", self._controls.links, make, str)

    def _make_file(self, suffix: str) -> None:
        atlas, state, data = self.atlas, self._state, self._data
        texts, shown = dict(self._painter.texts), self._controls.file
        stem = "".join(c if c.isalnum() else "-" for c in atlas.title.lower())[:40].strip("-")
        name = f"{stem or 'map'}{suffix}"

        def make() -> str:
            with tempfile.TemporaryDirectory() as folder:
                path = save_view(atlas, state, data, Path(folder) / name, texts=texts)
                return download_link(name, path.read_bytes())

        shown.value = ""
        self.run("Drawing the file", make, lambda link: setattr(shown, "value", link), kind="file")

    # -- events of the figure

    def _connect_figure(self) -> None:
        figure = self.figure

        def mode_changed(_: object, mode: str) -> None:
            if mode in [value for _, value in self._controls.mode.options]:
                with self._setting():
                    self._controls.mode.value = mode

        def selected(_trace: object, _points: object, selector: Any) -> None:
            if hasattr(selector, "xs"):
                self._select_outline(selector.xs, selector.ys)
            elif selector is not None:
                (x0, x1), (y0, y1) = sorted(selector.xrange), sorted(selector.yrange)
                self._select_outline([x0, x1, x1, x0], [y0, y0, y1, y1])

        figure.layout.on_change(
            lambda *_: self._show_window(figure.box()), "xaxis.range", "yaxis.range"
        )
        figure.layout.on_change(mode_changed, "dragmode")
        # plotly reports all outlines to all traces, even if no point is inside.
        figure.data[0].on_selection(selected)
        for name in (*_CLICKABLE, *NAMED_LEVELS):

            def clicked(_trace: object, points: Any, _state: object, name: str = name) -> None:
                if points.point_inds:
                    self._click(name, points.point_inds[0])

            figure.trace(name).on_click(clicked)

    def _show_window(self, box: tuple[float, float, float, float]) -> None:
        if not (np.isfinite(box).all() and box[2] > box[0] and box[3] > box[1]):
            return
        view = view_of(box, self._size)
        if self._data.zoom(view) <= CLOSEST and view.differs_from(self._state.view):
            self._remember()
            self._change(view=view)

    def _select_outline(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """Select all papers inside an outline, including papers that are not shown as dots."""
        unit = self._state.view.width / self._size[0]
        self._select_inside(tasks.simple_outline(xs, ys, unit=unit))
        if not len(self.rows):
            self.say("No paper is inside this outline. Draw a larger outline.")

    def _click(self, name: str, number: int) -> None:
        """Show the paper or region that was clicked."""
        if self._painter.data is not self._data:
            return  # the map still shows the old atlas, which is being replaced
        if name in NAMED_LEVELS:
            names = [one for one in self._drawn.names if one.level == NAMED_LEVELS[name]]
            if number < len(names):
                self.go_to(names[number].topic_id)
                self._controls.show_region(names[number].topic_id, self.atlas)
            return
        rows = self._drawn.marks.get(name, np.zeros(0, dtype=np.int64))
        if name in ("found", "apart"):
            rows = rows[::-1]
        if number < len(rows):
            self._show_paper(int(rows[number]))

    def _connect_controls(self) -> None:
        controls = self._controls
        clicks: dict[widgets.Button, Callable[[], object]] = {
            controls.search: self._search_query,
            controls.clear_search: self._clear_search,
            controls.zoom_found: self._zoom_to_found,
            controls.select_found: self._select_found,
            controls.zoom_in: lambda: self.zoom(_STEP),
            controls.zoom_out: lambda: self.zoom(1 / _STEP),
            controls.home: self.home,
            controls.back: self.back,
            controls.all_times: lambda: setattr(self, "time", None),
            controls.clear_selection: self._clear_selection,
            controls.compare: self._compare_selection,
            controls.export: self._make_links,
            controls.make: lambda: self._make_file(controls.format.value),
            controls.reload: self.reload,
        }
        changes: dict[widgets.Widget, Callable[[Any], object]] = {
            controls.query: lambda _: self._search_query(),
            controls.colour: lambda name: setattr(self, "colour_by", name),
            controls.concept: lambda name: setattr(self, "concept", name),
            controls.facility: lambda name: setattr(self, "facility", name),
            controls.dark: lambda on: setattr(self, "theme", "dark" if on else "light"),
            controls.mode: self._set_mode,
            controls.regions: self._go_to_chosen,
            controls.time: lambda years: setattr(self, "time", years),
            controls.play: self._play,
            controls.filter: self._select_in_background,
            controls.question: self._ask_selection,
            **dict.fromkeys(controls.layers.values(), lambda _: self._set_layers()),
        }
        for button, action in clicks.items():
            button.on_click(lambda _, action=action: self._try(action))
        for control, reaction in changes.items():

            def changed(change: Any, reaction: Callable[[Any], object] = reaction) -> None:
                if not getattr(self._setting_in, "depth", 0):
                    self._try(lambda: reaction(change["new"]))

            control.observe(changed, "value")

    def _try(self, action: Callable[[], object]) -> None:
        """Run an action; show errors as one sentence."""
        try:
            action()
        except LandscapeError as error:
            self._show_error(error)

    def _search_query(self) -> None:
        controls = self._controls
        if query := controls.query.value.strip():
            self.search(query, method=controls.method.value, k=controls.n_found.value)
        else:
            self._clear_search()

    def _zoom_to_found(self) -> None:
        if self.results is not None:
            x, y = self._data.x[self.results.rows], self._data.y[self.results.rows]
            margin = 0.06 * max(float(np.ptp(x)), float(np.ptp(y))) or 0.01
            self.view = (
                float(x.min()) - margin,
                float(y.min()) - margin,
                float(x.max()) + margin,
                float(y.max()) + margin,
            )

    def _select_found(self) -> None:
        if self.results is not None:
            self.select(self.results.rows)

    def _set_mode(self, mode: str) -> None:
        with self.figure.drawing():
            self.figure.layout.dragmode = mode

    def _set_layers(self) -> None:
        self.layers = [name for name, box in self._controls.layers.items() if box.value]

    def _go_to_chosen(self, topic: int) -> None:
        if topic >= 0:
            self.go_to(topic)
            self._controls.show_region(topic, self.atlas)
            with self._setting():
                self._controls.regions.value = -1  # allows choosing the same region again

    def _play(self, year: int) -> None:
        """Move the time window so that it ends in `year`; its width does not change."""
        period = self._data.period
        if period is not None:
            first, last = self.time or (period[0], period[0] + max(1, (period[1] - period[0]) // 8))
            self.time = (max(period[0], year - (last - first)), max(year, period[0]))

    def _clear_selection(self) -> None:
        self._choose_nothing()
        with self._setting():
            self._controls.filter.value = ""
