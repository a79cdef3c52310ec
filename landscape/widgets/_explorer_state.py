"""The state of a map explorer: its checked settings, scene, controls and figure in step."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._wording import count
from landscape.errors import AtlasError, InputError, LandscapeError, require
from landscape.figures._colours import theme as find_theme
from landscape.widgets import _explorer_controls as telling
from landscape.widgets._explorer_controls import Controls
from landscape.widgets._jobs import Latest
from landscape.widgets._map_figure import legend_html, view_line
from landscape.widgets._panel import Panel
from landscape.widgets._scene import Drawn, Found, MapData, Period, Scene
from landscape.widgets._selection import summarise, summary_html
from landscape.widgets._view import View, view_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.atlas import Atlas

    Rows = NDArray[np.int64]

LAYERS = ("names", "papers", "reviews")
USUAL_SIZE = (740, 560)
_SMALLEST, _LARGEST = (320, 240), (2400, 1800)


def checked_size(size: Sequence[int]) -> tuple[int, int]:
    """Width and height of a map in pixels."""
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


def checked_name(kind: str, name: Any) -> str | None:
    """The name of a concept or facility; None for an empty one."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"The {kind} is {name!r}; give its name.")
    return (name or "").strip() or None


def checked_outline(outline: Any) -> list[tuple[float, float]]:
    """Corners of an outline in map units."""
    try:
        return [(float(x), float(y)) for x, y in outline]
    except (TypeError, ValueError):
        raise InputError(
            f"The outline is {outline!r}; give its corners as a list of (x, y) in map units."
        ) from None


def checked_factor(factor: Any) -> float:
    """How many times closer to look."""
    try:
        times = float(factor)
    except (TypeError, ValueError):
        times = 0.0
    if not 0 < times < float("inf"):
        raise InputError(f"The zoom is {factor!r}; give a number above 0, such as 2 or 0.5.")
    return times


def checked_layers(names: Iterable[str]) -> frozenset[str]:
    """Some of `LAYERS`."""
    try:
        chosen = [names] if isinstance(names, str) else list(names)
    except TypeError:
        raise InputError(
            f"The layers are {names!r}; give a list of some of {', '.join(LAYERS)}."
        ) from None
    unknown = [name for name in chosen if name not in LAYERS]
    if unknown:
        raise InputError(f"There is no layer {unknown[0]!r}; there are {', '.join(LAYERS)}.")
    return frozenset(chosen)


def checked_time(period: Sequence[int] | None, known: Period | None) -> Period | None:
    """First and last year; None where that leaves out no paper."""
    if period is None:
        return None
    try:
        first, last = (int(year) for year in period)
    except (TypeError, ValueError):
        raise InputError(f"The time is {period!r}; give the first and the last year.") from None
    if last < first:
        raise InputError(f"The time ends in {last}, before it begins in {first}.")
    return None if known is None or (first <= known[0] and last >= known[1]) else (first, last)


def time_within(period: Period | None, known: Period | None) -> Period | None:
    """What of a time window lies within all years; None where that is nothing, or everything."""
    if period is None or known is None:
        return None
    first, last = max(period[0], known[0]), min(period[1], known[1])
    return checked_time((first, last), known) if first <= last else None


def written_at(atlas: Atlas) -> int:
    """When the atlas on disk was last written; 0 where it is gone."""
    from landscape.store._manifest import MANIFEST_NAME

    try:
        return int((atlas.path / MANIFEST_NAME).stat().st_mtime_ns)
    except OSError:
        return 0


_MOST_ROWS = 300


def line_of_code(
    scene: Scene,
    whole: View,
    *,
    colour_by: str,
    concept: str | None,
    facility: str | None,
    searched: tuple[str, str, int] | None,
    chosen_by: tuple[str, Any] | None,
) -> str:
    """Write the call that makes the same view; what is as usual is left out."""
    said = []
    if scene.view.differs_from(whole):
        digits = max(2, 3 - int(np.floor(np.log10(scene.view.width))))
        box = ", ".join(f"{side:.{digits}f}" for side in scene.view.box)
        said.append(f"view=({box})")
    if colour_by != "density":
        said.append(f"colour_by={colour_by!r}")
    if scene.time is not None:
        said.append(f"time={scene.time}")
    layers = tuple(name for name in LAYERS if name in scene.layers)
    if layers != ("names", "papers"):
        said.append(f"layers={layers!r}")
    said += [
        f"{kind}={name!r}"
        for kind, name in (("concept", concept), ("facility", facility))
        if name and kind in scene.overlays
    ]
    if searched is not None:
        query, method, k = searched
        said.append(f"search={query!r}")
        said += [f"method={method!r}"] if method != "hybrid" else []
        said += [f"k={k}"] if k != 30 else []
    if chosen_by is not None:
        said.append(f"{chosen_by[0]}={chosen_by[1]!r}")
    if scene.theme != "light":
        said.append(f"theme={scene.theme!r}")
    if scene.size != USUAL_SIZE:
        said.append(f"size={scene.size}")
    line = f"MapExplorer({', '.join(['atlas', *said])})"
    n = len(scene.selected)
    if chosen_by is not None or not n:
        return line
    if n > _MOST_ROWS:
        return f"{line}  # and {count(n, 'paper')} selected, too many to be written here"
    return f"{line}.select({scene.selected.tolist()})"


_HISTORY = 60
_ONE_MOVE = 0.7  # seconds within which steps of the wheel are one move to go back from


class ExplorerState(Panel):
    """The scene of an explorer, its controls and its figure, kept in step with each other."""

    def __init__(
        self,
        atlas: Atlas,
        *,
        view: Sequence[float] | None,
        time: Sequence[int] | None,
        layers: Sequence[str],
        concept: str | None,
        facility: str | None,
        theme: str,
        size: tuple[int, int],
    ) -> None:
        require("plotly", "lab")
        from landscape.widgets._map_figure import Painter

        find_theme(theme)
        self.atlas = atlas
        self._size = checked_size(size)
        self._lock = threading.RLock()
        self._data = MapData(atlas, self._size)
        self._built = written_at(atlas)
        self._is_old = False
        self._scene = Scene(
            view=self._data.whole if view is None else view_of(view, self._size),
            size=self._size, theme=theme, time=checked_time(time, self._data.period),
            layers=checked_layers(layers),
        )  # fmt: skip
        self._colour_by, self._concept, self._facility = "density", concept, facility
        self._searched: tuple[str, str, int] | None = None
        self._chosen_by: tuple[str, Any] | None = None
        self._chosen_in: Period | None = None  # the time window of that
        self._history: list[View] = []
        self._moved = 0.0
        # Of each thread how often it sets controls just now: what it hears then is no user.
        self._setting_in = threading.local()
        self._painter = Painter(self._scene, self._data)
        self.figure = self._painter.figure
        self.figure.publish(self._seen_on_page)
        self._controls = Controls(self.figure, self._size)
        self._drawing = Latest(self._redraw, failed=self._tell)
        self._summing = Latest(self._sum_up, failed=self._tell)
        super().__init__(heading_of(atlas), self._controls.body)
        self.add_class("landscape-explorer")
        self.say(self._offer())
        self._tell_drawn(self._drawn)
        self._drawing.request()  # what is told of papers under the pointer comes after the picture

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
    def theme(self) -> str:
        """Colours of the map, "light" or "dark"."""
        return self._scene.theme

    @theme.setter
    def theme(self, name: str) -> None:
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

    def _some_rows(self) -> NDArray[np.int64]:
        if not len(self._scene.selected):
            raise InputError(
                "No paper is selected; draw round some with the lasso, or give select() a filter."
            )
        return self._scene.selected

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

    def _choose(self, rows: Rows, by: tuple[str, Any] | None) -> None:
        if by is None or by[0] != "outline":
            self.figure.clear_outline()
        with self._lock:
            self._chosen_by, self._chosen_in = by, self._scene.time
            self._change(selected=rows)
        controls = self._controls
        controls.links.value = controls.outcome.value = ""
        if len(rows):
            controls.tabs.selected_index = 1
        self._summing.request()

    def _choose_nothing(self) -> None:
        self._take_back("select")
        self._choose(np.zeros(0, dtype=np.int64), None)

    def _take_back(self, kind: str) -> None:
        """End what is read in the background of a kind: the user no longer wants it."""
        if self._turns.drop(kind) and self._turns.now is None:
            self._working.layout.display = "none"

    def _clear_search(self) -> None:
        self._take_back("search")
        self._searched = None
        self._change(found=None)
        with self._setting():
            self._controls.query.value = ""
        telling.list_nothing(self._controls)
        self._painter.focus(None, self._data)

    def _drop_overlay(self, kind: str) -> None:
        kept = {key: value for key, value in self._scene.overlays.items() if key != kind}
        self._change(overlays=kept)

    # -- drawing

    def _redraw(self) -> None:
        """Draw the scene as it is now, and tell of it."""
        self._check_atlas()
        with self._lock:  # all of one atlas: another may take its place meanwhile
            atlas, texts = self.atlas, self._painter.texts
            scene, data = self._scene, self._data
        self._tell_drawn(self._painter.draw(scene, data))
        if not self._drawing.is_outdated:
            self._painter.tell_papers(
                atlas.engine.papers, texts, lambda: self._drawing.is_outdated
            )  # fmt: skip

    def _draw(self) -> Drawn:
        """Put the scene as it is now into the figure."""
        with self._lock:
            scene, data = self._scene, self._data
        return self._painter.draw(scene, data)

    @property
    def _drawn(self) -> Drawn:
        return self._painter.drawn

    def _seen_on_page(self) -> None:
        """The page shows the figure for the first time: what it missed meanwhile is sent again."""
        self._painter.start_anew()
        self._drawing.request()

    def _check_atlas(self) -> None:
        """Say so, once, where the atlas was built again under the open panel."""
        if self._is_old:
            return
        atlas, stamp = self.atlas, written_at(self.atlas)
        if stamp == self._built:
            return
        try:
            atlas.check_unchanged()
            self._built = stamp
        except LandscapeError:
            if self.atlas is not atlas:
                return  # it was opened again just now
            self._offer_reload()
            self.say("This atlas was built again since it was opened: the map is of the old one. "
                     "Reload it to see the new one.", "warning")  # fmt: skip

    def _offer_reload(self) -> None:
        self._is_old = True
        self._controls.reload.layout.display = ""

    # -- what the panel says

    def _offer(self) -> str:
        """Put what the atlas has into the controls; what it lacks, in sentences."""
        with self._setting():
            return telling.offer(self._controls, self.atlas, self._data, self._scene)

    def _tell_drawn(self, drawn: Drawn) -> None:
        data = self._painter.data
        n_all, zoom = len(data), data.zoom(drawn.scene.view)
        _set(self._controls.legend, legend_html(drawn, n_all=n_all))
        _set(self._controls.view_line, view_line(drawn, n_all=n_all, zoom=zoom))
        _set(self._controls.found_note, telling.found_note(drawn.scene, data))

    def _tell_state(self) -> None:
        """Controls and the line of code follow the state, whoever changed it."""
        with self._setting():
            told: dict[str, Any] = {
                "colour_by": self._colour_by, "concept": self._concept,
                "facility": self._facility, "searched": self._searched,
            }  # fmt: skip
            telling.follow(self._controls, self._scene, self._data, **told)
            by = self._chosen_by
            if by is not None and by[0] == "outline" and self._chosen_in != self._scene.time:
                by = None  # the same outline in these years would select other papers
            line = line_of_code(self._scene, self._data.whole, **told, chosen_by=by)
            if line != self.code:
                self.code = line

    def _list_found(self, found: Found) -> None:
        _set(self._controls.found_note, telling.found_note(self._scene, self._data))
        telling.list_found(self._controls, found, chosen=self._show_paper)

    def _show_paper(self, row: int) -> None:
        """Tell a paper in full, and ring it on the map."""
        try:
            telling.tell_paper(self._controls, row, self.atlas, self._data)
        except (LandscapeError, OSError) as error:
            self._tell(error)
            return
        self._painter.focus(row, self._data)

    def _sum_up(self) -> None:
        with self._lock:
            atlas, rows, years = self.atlas, self._scene.selected, self._data.years
        shown = self._controls.summary
        if not len(rows):
            shown.value = telling.NOTHING_CHOSEN
            return
        shown.value = f"<div><b>{count(len(rows), 'paper')} selected</b></div>"
        told = summary_html(summarise(atlas, rows, years))
        if not self._summing.is_outdated:
            shown.value = told

    def _tell(self, error: Exception) -> None:
        if isinstance(error, LandscapeError):
            self._tell_state()  # controls fall back to what is shown
        if isinstance(error, AtlasError) and written_at(self.atlas) != self._built:
            self._offer_reload()
        super()._tell(error)

    def _setting(self) -> _Setting:
        return _Setting(self)

    @property
    def _is_setting(self) -> bool:
        """Whether this thread sets controls; a user's change comes in another."""
        return getattr(self._setting_in, "depth", 0) > 0


class _Setting:
    """While controls are set from here, nobody is to hear of it."""

    def __init__(self, explorer: ExplorerState) -> None:
        self._explorer = explorer

    def __enter__(self) -> None:
        self._explorer._lock.acquire()
        thread = self._explorer._setting_in
        thread.depth = getattr(thread, "depth", 0) + 1

    def __exit__(self, *_: object) -> None:
        self._explorer._setting_in.depth -= 1
        self._explorer._lock.release()


def heading_of(atlas: Atlas) -> str:
    """What stands above the map."""
    return f"Map of {atlas.title}"


def _set(widget: Any, value: str) -> None:
    if widget.value != value:
        widget.value = value
