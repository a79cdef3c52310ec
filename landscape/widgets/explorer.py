"""The map to wander in: every paper of an atlas, at every zoom, to search, select and save."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import at_home, write_output
from landscape.errors import InputError
from landscape.widgets import explorer_tasks as tasks
from landscape.widgets import explorer_work as work
from landscape.widgets.checking import checked_atlas
from landscape.widgets.explorer_checks import (
    USUAL_SIZE,
    checked_factor,
    checked_name,
    checked_outline,
    time_within,
)
from landscape.widgets.explorer_events import connect
from landscape.widgets.explorer_state import ExplorerState, heading_of
from landscape.widgets.explorer_telling import list_nothing
from landscape.widgets.picking import rows_of_selection
from landscape.widgets.summary import Summary, selection_table, summarise
from landscape.widgets.views import CLOSEST, FARTHEST, view_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.atlas import Atlas as Atlas
    from landscape.types import Analysis, Answer

_NO_ROWS = np.zeros(0, dtype=np.int64)


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
        """Select nothing, and take the search off the map."""
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
        return work.compare_with_rest(self.atlas, self._some_rows())

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
        return work.ask_papers(self.atlas, self.rows, question, model=model, **settings)

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

        target = at_home(path)
        ending = target.suffix.lower()
        if ending == ".csv":
            return write_output(target, work.papers_as_csv(self.atlas, self._some_rows()))
        if ending == ".bib":
            return write_output(target, work.papers_as_bibtex(self.atlas, self._some_rows()))
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

    # -- behind it

    def _replace_atlas(self, opened: tasks.Reopened) -> None:
        data, found, overlays = opened.data, opened.found, opened.overlays
        with self._lock:  # in one step: a drawing is of the old atlas or of the new one
            time = time_within(self._scene.time, data.period)
            layers = self._scene.layers - ({"reviews"} - set(overlays))
            self.atlas, self._data, self._built = opened.atlas, data, opened.built
            self._is_old = False
            self._painter.forget()
            self._history, self._chosen_by = [], None
            self._colour_by = opened.colouring.name
            self._concept = self._concept if "concept" in overlays else None
            self._facility = self._facility if "facility" in overlays else None
            self._searched = self._searched if found is not None else None
            self._scene = replace(
                self._scene, view=data.whole, time=time, colouring=opened.colouring,
                overlays=overlays, layers=layers, found=found, selected=_NO_ROWS,
            )  # fmt: skip
        controls = self._controls
        controls.links.value = controls.outcome.value = ""
        controls.reload.layout.display = "none"
        self.heading = heading_of(opened.atlas)
        lacking = self._offer()
        self._tell_state()
        if found is None:
            list_nothing(controls)
        else:
            self._list_found(found)
        self.figure.clear_outline()
        self._painter.focus(None, data)
        self._painter.start_anew()
        self.figure.look(data.whole)
        self._drawing.request()
        self._summing.request()
        told = "The atlas is open as it is now; the selection was of the old one and is gone."
        self.say(" ".join([told, *opened.problems, lacking]).strip())
        if self._searched is not None and time != opened.time:
            tasks.search(self, *self._searched)

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
