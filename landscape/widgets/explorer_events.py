"""What happens on the page, and what the explorer does then."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from landscape.errors import LandscapeError
from landscape.widgets import explorer_page as page
from landscape.widgets import explorer_tasks as tasks

if TYPE_CHECKING:
    from landscape.widgets.explorer import MapExplorer
    from landscape.widgets.explorer_controls import Controls
    from landscape.widgets.map_figure import MapFigure

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
        page.moved(explorer, figure.box())

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
            page.outlined(explorer, selector.xs, selector.ys)
        else:
            (x0, x1), (y0, y1) = sorted(selector.xrange), sorted(selector.yrange)
            page.outlined(explorer, [x0, x1, x1, x0], [y0, y0, y1, y1])

    # plotly tells every trace of every outline, whether or not it has points inside.
    figure.data[0].on_selection(selected)


def _connect_clicks(explorer: MapExplorer, figure: MapFigure) -> None:
    for name in _CLICKABLE:

        def clicked(_trace: Any, points: Any, _state: Any, name: str = name) -> None:
            if points.point_inds:
                page.clicked(explorer, name, points.point_inds[0])

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
    controls.compare.on_click(lambda _: gently(page.compare))
    controls.export.on_click(lambda _: gently(page.make_links))
    _on_user(
        explorer, controls.question,
        lambda text: page.ask(explorer, text) if text.strip() else None,
    )  # fmt: skip
    controls.make.on_click(lambda _: page.make_file(explorer, controls.format.value))
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
