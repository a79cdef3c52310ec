"""Show the map in the browser, as a plotly figure widget with papers, names and legend.

plotly.py sends only the changes of a figure. A page that is not open yet, or is reloaded, misses
these changes (plotly/plotly.py#4956). This widget therefore sends the complete figure until the
page has answered, and again on request. plotly.js is loaded after the small module of the widget
(see map_figure.js). Messages from the page wait while another thread draws.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_hex
from plotly.basedatatypes import Undefined
from traitlets import Unicode

from landscape._io import data_file, read_yaml
from landscape._render import render
from landscape._wording import count
from landscape.figures.colours import THEMES
from landscape.figures.plotly_backend import hover_html
from landscape.viewer.names import SIZES
from landscape.widgets._figure_view import FONT, PageFigure
from landscape.widgets._map_state import MAX_POINTS, Drawn, MapData, MapState, draw
from landscape.widgets._raster import draw_picture
from landscape.widgets._selection import hover_text

if TYPE_CHECKING:
    from landscape.figures.colours import Theme
    from landscape.types import Paper
    from landscape.widgets._raster import Picture
    from landscape.widgets._view import Box, Size, View

    Part = dict[str, Any]  # of a figure of plotly

CONFIG = {"scrollZoom": True, "displayModeBar": False, "doubleClick": "reset", "responsive": False}
_STYLE = read_yaml(data_file("explorer_figure.yaml"))
TRACES = tuple(_STYLE["traces"])
NAMED_LEVELS = {"regions": 1, "continents": 0}
_NUMBERED = 10
_EMPTY_PICTURE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


class MapFigure(PageFigure):
    """Figure widget that shows a map."""

    _esm = Path(__file__).with_name("map_figure.js")
    _bundle = Unicode().tag(sync=True)
    _own_id = Unicode().tag(sync=True)  # identifies this widget in the JavaScript module
    _was_seen = False

    def __init__(self, parts: Part) -> None:
        self._drawing = threading.RLock()
        self._when_seen: Callable[[], object] = lambda: None
        super().__init__(**parts)
        self._model_id = self._own_id = uuid.uuid4().hex
        self._bundle = _plotly_js()
        self._config = dict(CONFIG)

    def publish(self, when_seen: Callable[[], object]) -> None:
        """Send the figure to the page; call `when_seen` when the page first answers."""
        self._is_whole, self._when_seen = True, when_seen
        self.open()

    def get_state(self, key: object = None, drop_defaults: bool = False) -> Part:
        """Return the complete current figure if a page requests the full state."""
        if key is None and self._is_whole:
            with self._drawing:
                self._trait_values["_widget_layout"] = _plain(self._layout_obj._props)
                self._trait_values["_widget_data"] = _plain(self._data)
        return super().get_state(key=key, drop_defaults=drop_defaults)

    def _handle_msg(self, msg: object) -> None:
        with self._drawing:
            super()._handle_msg(msg)
            if not self._was_seen:
                self._was_seen = True
                self._when_seen()

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Send the changes of a figure in one message, or the whole figure if no page shows it."""
        with self._drawing:
            with self.batch_update():
                yield
            if self._is_whole and not self._was_seen:
                self._widget_layout = _plain(self._layout_obj._props)
                self._widget_data = _plain(self._data)

    def trace(self, name: str) -> Any:
        """Return the trace with a name from `TRACES`."""
        return self.data[TRACES.index(name)]

    def look(self, view: View) -> None:
        """Zoom to a window of the map."""
        x0, y0, x1, y1 = view.box
        with self.drawing():
            self.layout.xaxis.range, self.layout.yaxis.range = (x0, x1), (y0, y1)

    def clear_outline(self) -> None:
        """Remove the outline of a lasso or box from the map.

        Outlines drawn on the page are missing from `layout.selections`, so plotly is called.
        """
        with self._drawing:
            self.plotly_relayout({"selections": []})

    def box(self) -> Box:
        """Return the visible window of the map."""
        (x0, x1), (y0, y1) = self.layout.xaxis.range, self.layout.yaxis.range
        return float(x0), float(y0), float(x1), float(y1)

    def show_drawn(self, drawn: Drawn, data: MapData, *, base: Picture | None) -> None:
        """Send a drawn map to the page in one message."""
        parts = trace_parts(drawn, data)
        with self.drawing():
            for place, picture in ((0, base), (1, drawn.picture)):
                if picture is not None:
                    self.layout.images[place].update(image_part(picture.box, picture.link))
            for name, part in parts.items():
                trace = self.trace(name)
                if not len(part["x"]) and not len(trace.x if trace.x is not None else ()):
                    continue
                for prop, value in part.items():
                    trace[prop] = value


def _plain(value: object) -> Any:
    """Copy a value without plotly's `Undefined`, which lasso selections contain.

    plotly compares `Undefined` by identity, so a deep copy cannot be serialised when a page
    requests the full state.
    """
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if one is not Undefined}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value if one is not Undefined]
    return value


@cache
def _plotly_js() -> str:
    """Return the module that plotly.py sends with every figure widget."""
    return files("plotly").joinpath("package_data", "widgetbundle.js").read_text(encoding="utf-8")


def figure_parts(view: View, size: Size, colours: Theme) -> Part:
    """Return traces and layout of an empty map."""
    x0, y0, x1, y1 = view.box
    layout, theme_part = _style("layout", colours), _style("theme", colours)
    layout["xaxis"]["range"], layout["yaxis"]["range"] = [x0, x1], [y0, y1]
    empty = {
        "xref": "x",
        "yref": "y",
        "layer": "below",
        "sizing": "stretch",
        **image_part(view.box, _EMPTY_PICTURE),
    }
    return {
        "data": [
            {"type": "scatter", "name": name, "x": [], "y": [], **style}
            for name, style in trace_styles(colours).items()
        ],
        "layout": {
            "width": size[0],
            "height": size[1],
            "images": [dict(empty), dict(empty)],
            **layout,
            **theme_part,
        },
    }


def _style(part: str, colours: Theme) -> Part:
    """Return a part of ``explorer_figure.yaml`` in the colours of a theme."""
    values = {
        "page": colours.page,
        "font": FONT,
        **THEMES[colours.name]["marks"],
        **THEMES[colours.name]["overlays"],
    }
    return json.loads(Template(json.dumps(_STYLE[part])).substitute(values))


def image_part(box: Box, link: str) -> Part:
    """Return the layout of a picture at its position on the map."""
    x0, y0, x1, y1 = box
    return {"source": link, "x": x0, "y": y1, "sizex": x1 - x0, "sizey": y1 - y0}


def trace_styles(colours: Theme) -> dict[str, Part]:
    """Return the style of each trace; selections on the page do not change the style."""
    styles: dict[str, Part] = _style("traces", colours)
    for name, level in NAMED_LEVELS.items():
        styles[name]["textfont"]["size"] = SIZES[level]
    for style in styles.values():
        kept = {}
        if "marker" in style:
            kept["marker"] = {"opacity": style["marker"]["opacity"]}
        if "textfont" in style:
            kept["textfont"] = {"color": style["textfont"]["color"]}
        if kept:
            style["selected"] = style["unselected"] = kept
    return styles


def trace_parts(drawn: Drawn, data: MapData) -> dict[str, Part]:
    """Return the data of each trace."""
    state, nothing = drawn.state, np.zeros(0, dtype=np.float32)
    styles = _style("traces", state.colours)
    parts: dict[str, Part] = {}
    for name in ("concept", "facility"):
        parts[name] = dict(zip("xy", drawn.lines.get(name, (nothing, nothing)), strict=True))
    for name in ("reviews", "papers", "selected", "found", "apart"):
        rows = drawn.marks.get(name, np.zeros(0, dtype=np.int64))
        if name in ("found", "apart"):
            rows = rows[::-1]  # draw the best papers last, on top
            ranks = [drawn.ranks.get(int(row), 0) for row in rows]
            text = [str(rank) if 0 < rank <= _NUMBERED else "" for rank in ranks]
        parts[name] = {"x": data.x[rows], "y": data.y[rows], "hovertext": [""] * len(rows)}
        if name == "papers":
            parts[name]["marker"] = paper_marker(rows, drawn)
        elif name in ("found", "apart"):
            parts[name]["text"] = text
        if name == "found":
            sizes = np.where(np.array(text, dtype=object) != "", 17.0, 9.0).astype(np.float32)
            parts[name]["marker"] = {**styles["found"]["marker"], "size": sizes}
    parts["around"] = {side: parts["selected"][side] for side in "xy"}
    parts["reviews"]["mode"] = "markers"
    if "reviews" in drawn.lines:
        line = {"color": THEMES[state.theme]["overlays"]["reviews"], "width": 1.4, "dash": "dot"}
        parts["reviews"] = {
            "x": drawn.lines["reviews"][0],
            "y": drawn.lines["reviews"][1],
            "hovertext": [],
            "mode": "lines",
            "line": line,
        }
    for name, level in NAMED_LEVELS.items():
        chosen = [one for one in drawn.names if one.level == level]
        parts[name] = {
            "x": np.array([one.x for one in chosen], dtype=np.float64),
            "y": np.array([one.y for one in chosen], dtype=np.float64),
            "text": [hover_html(one.lines) for one in chosen],
            "hovertext": [data.labels.cards[one.topic_id] for one in chosen],
        }
    return parts


def paper_marker(rows: np.ndarray, drawn: Drawn) -> Part:
    """Return the marker style of single papers, with the colours of the map."""
    colours, colouring = drawn.state.colours, drawn.state.colouring
    marker: Part = _style("traces", colours)["papers"]["marker"]
    if colouring.kind == "density":
        return marker
    palette, values = colouring.palette(colours), colouring.values[rows]
    if colouring.kind == "classes":
        chosen = palette[values]
    else:
        place = (np.nan_to_num(values, nan=colouring.low) - colouring.low) / (
            colouring.high - colouring.low
        )
        chosen = palette[np.round(np.clip(place, 0, 1) * (len(palette) - 1)).astype(int)]
        chosen = np.where(np.isfinite(values)[:, None], chosen, colouring.unknown(colours))
    return {**marker, "color": [to_hex(colour) for colour in chosen]}


# Resolution of the picture of the whole map, which is shown until the sharp picture is drawn.
_BASE_FINE = 0.45
_KEPT_TEXTS = 20_000
_READ_AT_ONCE = 200  # papers


class Painter:
    """Draw states of the map into a figure, and add the hover texts of papers."""

    def __init__(self, state: MapState, data: MapData) -> None:
        self.figure = MapFigure(figure_parts(state.view, state.size, state.colours))
        self.texts: dict[int, str] = {}
        self._base_of: object = None
        self._theme_of: object = None
        self.drawn = self.draw(state, data)

    def draw(self, state: MapState, data: MapData) -> Drawn:
        """Draw a state and show it in the figure."""
        drawn = draw(state, data)
        self.data = data
        key = (
            id(state.colouring),
            state.colours.name,
            state.time,
            state.found is None,
            bool(state.overlays),
            len(state.selected),
        )
        base = None
        if key != self._base_of:
            base = draw_picture(
                data.in_time(state.time),
                data.whole.zoomed(0.6),
                state.size,
                colours=state.colours,
                colouring=state.colouring,
                fine=_BASE_FINE,
                specks=False,
            )
        self._set_theme(state)
        self.drawn = drawn
        self.figure.show_drawn(drawn, data, base=base)
        self._base_of = key
        return drawn

    def _set_theme(self, state: MapState) -> None:
        """Change the colours of everything except the picture."""
        key = state.theme, state.colours.ramp[-1, 0]
        if key == self._theme_of:
            return
        self._theme_of = key
        with self.figure.drawing():
            self.figure.layout.update(_style("theme", state.colours))
            for name, style in trace_styles(state.colours).items():
                self.figure.trace(name).update(style)

    def forget(self) -> None:
        """Delete the hover texts of papers, because the atlas was replaced."""
        self.texts = {}  # a new dict: threads may still add texts to the old one

    def restart(self) -> None:
        """Send the picture of the whole map again when the next state is drawn."""
        self._base_of = None

    def focus(self, row: int | None, data: MapData) -> None:
        """Draw a ring around one paper, or remove the ring."""
        rows = [] if row is None else [row]
        with self.figure.drawing():
            trace = self.figure.trace("focus")
            trace.x, trace.y = data.x[rows], data.y[rows]

    def add_texts(
        self,
        papers_of: Callable[[Sequence[int]], Sequence[Paper]],
        texts: dict[int, str],
        is_outdated: Callable[[], bool],
    ) -> None:
        """Add the hover texts of the marked papers, after they are drawn."""
        drawn = self.drawn
        if len(texts) > _KEPT_TEXTS:
            texts.clear()
        wanted = dict.fromkeys(int(row) for rows in drawn.marks.values() for row in rows)
        missing = [row for row in wanted if row not in texts]
        for start in range(0, len(missing), _READ_AT_ONCE):
            if is_outdated():
                return
            part = missing[start : start + _READ_AT_ONCE]
            for row, paper in zip(part, papers_of(part), strict=True):
                texts[row] = hover_text(paper)
        if is_outdated() or drawn is not self.drawn:
            return
        with self.figure.drawing():
            for name, rows in drawn.marks.items():
                shown = [self._text_of(int(row), name, texts) for row in rows]
                if shown:
                    is_ranked = name in ("found", "apart")
                    self.figure.trace(name).hovertext = shown[::-1] if is_ranked else shown

    def _text_of(self, row: int, name: str, texts: dict[int, str]) -> str:
        text, ranks = texts.get(row, ""), self.drawn.ranks
        if name in ("found", "apart") and row in ranks:
            apart = "outlier, " if name == "apart" else ""
            text += f"<br><i>{apart}rank {ranks[row]} in the search</i>"
        return text


_STOPS = 9


def legend_html(drawn: Drawn, *, n_all: int) -> str:
    """Write the legend as HTML."""
    state, colouring = drawn.state, drawn.state.colouring
    is_density = colouring.kind == "density"
    palette = state.colours.ramp if is_density else colouring.palette(state.colours)
    if colouring.kind != "classes":
        palette = palette[np.linspace(0, len(palette) - 1, _STOPS).round().astype(int)]
    return render(
        "map_legend.html",
        drawn=drawn,
        n_all=n_all,
        shades=[to_hex(shade) for shade in palette],
        overlay_colours=THEMES[state.theme]["overlays"],
        shown_of=shown_of,
    )


def shown_of(n_shown: int, n_all: int, noun: str) -> str:
    """Format the number of papers in the time window; add the total if it differs."""
    shown = count(n_shown, noun)
    return shown if n_shown == n_all else f"{shown} of these years, of {n_all:,}"


def view_line(drawn: Drawn, *, n_all: int, zoom: float) -> str:
    """Format the number of papers in view, the years, and the magnification."""
    line = f"<b>{drawn.picture.n_papers:,}</b> of {n_all:,} papers in view"
    if drawn.state.time is not None:
        line += f", {drawn.state.time[0]} to {drawn.state.time[1]}"
    if zoom > 1.05:
        line += f" · {zoom:.2g} times enlarged"
    if "papers" in drawn.marks:
        line += " · each dot is a paper: point at it or click it"
    elif "papers" in drawn.state.layers:
        line += f" · zoom in to {MAX_POINTS:,} papers to point at them"
    return f"<div class='landscape-quiet'>{line}</div>"
