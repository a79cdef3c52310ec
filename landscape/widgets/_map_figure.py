"""The map in the browser: a plotly figure widget that is told what is drawn.

plotly.py tells a page about a figure in changes, and a page that is not yet there, or comes back,
misses them (plotly/plotly.py#4956). Here the page is told of the figure only once it is whole, gets
all of it until it has shown itself, and again whenever it asks; plotly.js comes after the widget's
own small module (see map_figure.js). Messages from the page wait while another thread draws.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from plotly.basedatatypes import Undefined
from traitlets import Unicode

from landscape._render import escape
from landscape._wording import count
from landscape.widgets._figure_view import PageFigure
from landscape.widgets._labels import FONT, SIZES
from landscape.widgets._raster import draw_picture
from landscape.widgets._scene import MOST_POINTS, Drawn, MapData, Scene, draw
from landscape.widgets._selection import hover_text

if TYPE_CHECKING:
    from landscape.figures._colours import Theme
    from landscape.types import Paper
    from landscape.widgets._raster import Picture
    from landscape.widgets._view import Box, Size, View

CONFIG = {"scrollZoom": True, "displayModeBar": False, "doubleClick": "reset", "responsive": False}
# In the order in which they are drawn, the last on top.
TRACES = ("concept", "facility", "reviews", "papers", "around", "selected", "regions", "continents",
          "found", "apart", "focus")  # fmt: skip
_NUMBERED = 10
_NOTHING = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


class MapFigure(PageFigure):
    """A figure widget for one map."""

    _esm = Path(__file__).with_name("map_figure.js")
    _bundle = Unicode().tag(sync=True)
    _own_id = Unicode().tag(sync=True)  # by which the module finds its model on the page
    _is_whole = False
    _was_seen = False

    def __init__(self, parts: dict[str, Any]) -> None:
        self._drawing = threading.RLock()
        self._when_seen: Callable[[], Any] = lambda: None
        super().__init__(**parts)
        self._model_id = self._own_id = uuid.uuid4().hex
        self._bundle = _plotly_js()
        self._config = dict(CONFIG)

    def open(self) -> None:
        """Tell the page, but not before `publish`."""
        if self._is_whole:
            super().open()

    def publish(self, when_seen: Callable[[], Any]) -> None:
        """Tell the page of the figure; `when_seen` is called when it first answers."""
        self._is_whole, self._when_seen = True, when_seen
        self.open()

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """What a page is told that asks for everything: the figure as it is now."""
        if key is None and self._is_whole:
            with self._drawing:
                self._trait_values["_widget_layout"] = _as_told(self._layout_obj._props)
                self._trait_values["_widget_data"] = _as_told(self._data)
        return super().get_state(key=key, drop_defaults=drop_defaults)

    def _handle_msg(self, msg: Any) -> None:
        with self._drawing:
            super()._handle_msg(msg)
            if not self._was_seen:
                self._was_seen = True
                self._when_seen()

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Change the figure in one message, alone; a page that is not yet there gets it whole."""
        with self._drawing:
            with self.batch_update():
                yield
            if self._is_whole and not self._was_seen:
                self._widget_layout = _as_told(self._layout_obj._props)
                self._widget_data = _as_told(self._data)

    def trace(self, name: str) -> Any:
        """One of `TRACES`."""
        return self.data[TRACES.index(name)]

    def look(self, view: View) -> None:
        """Set the window."""
        x0, y0, x1, y1 = view.box
        with self.drawing():
            self.layout.xaxis.range, self.layout.yaxis.range = (x0, x1), (y0, y1)

    def clear_outline(self) -> None:
        """Take the outline of a lasso or box off the map, if there is one.

        What a page tells of outlines is not in `layout.selections` but only in its dictionary.
        """
        with self._drawing:
            self.plotly_relayout({"selections": []})

    def box(self) -> Box:
        """The window that is set."""
        (x0, x1), (y0, y1) = self.layout.xaxis.range, self.layout.yaxis.range
        return float(x0), float(y0), float(x1), float(y1)

    def show_drawn(self, drawn: Drawn, data: MapData, *, base: Picture | None) -> None:
        """Put what was drawn into the figure, in one message."""
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


def _as_told(value: Any) -> Any:
    """Copy a value without plotly's `Undefined`, which a lasso selection leaves.

    That mark is one object, known by its identity: a deep copy of it is sent to no page, and a page
    that asks for everything would wait for ever.
    """
    if isinstance(value, dict):
        return {key: _as_told(one) for key, one in value.items() if one is not Undefined}
    if isinstance(value, list | tuple):
        return [_as_told(one) for one in value if one is not Undefined]
    return value


@cache
def _plotly_js() -> str:
    """What plotly.py would send as the module of every figure widget."""
    return files("plotly").joinpath("package_data", "widgetbundle.js").read_text(encoding="utf-8")


def figure_parts(view: View, size: Size, colours: Theme) -> dict[str, Any]:
    """Traces and layout of an empty map."""
    x0, y0, x1, y1 = view.box
    hidden = {"visible": False, "showgrid": False, "zeroline": False, "fixedrange": False}
    empty: dict[str, Any] = {
        "xref": "x", "yref": "y", "x": x0, "y": y1, "sizex": x1 - x0, "sizey": y1 - y0,
        "layer": "below", "sizing": "stretch", "source": _NOTHING,
    }  # fmt: skip
    return {
        "data": [_empty_trace(name, colours) for name in TRACES],
        "layout": {
            "template": "none", "width": size[0], "height": size[1], "autosize": False,
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0}, "showlegend": False,
            "dragmode": "pan", "hovermode": "closest", "hoverdistance": 14,
            "xaxis": {**hidden, "range": [x0, x1]},
            "yaxis": {**hidden, "range": [y0, y1], "scaleanchor": "x"},
            "images": [dict(empty), dict(empty)],
            **theme_part(colours),
        },
    }  # fmt: skip


def theme_part(colours: Theme) -> dict[str, Any]:
    """What of the layout depends on the theme."""
    line = {"color": colours.apart, "width": 1.6, "dash": "solid"}
    return {
        "paper_bgcolor": colours.page, "plot_bgcolor": colours.page,
        "font": {"family": FONT, "size": 12, "color": colours.ink},
        "hoverlabel": {"bgcolor": colours.halo, "bordercolor": colours.faint, "align": "left",
                       "font": {"family": FONT, "size": 12, "color": colours.ink}},
        "newselection": {"line": line},
        "activeselection": {"fillcolor": colours.apart, "opacity": 0.06},
    }  # fmt: skip


def image_part(box: Box, link: str) -> dict[str, Any]:
    """A picture at its place on the map."""
    x0, y0, x1, y1 = box
    return {"source": link, "x": x0, "y": y1, "sizex": x1 - x0, "sizey": y1 - y0}


def trace_style(name: str, colours: Theme) -> dict[str, Any]:
    """How a trace is drawn; selecting on the page changes nothing about it."""
    if name in ("regions", "continents"):
        level = 0 if name == "continents" else 1
        colour = colours.continent if level == 0 else colours.ink
        halo = ", ".join(
            f"{dx}px {dy}px 1px {colours.halo}"
            for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy
        )  # fmt: skip
        font = {"size": SIZES[level], "color": colour, "family": FONT, "shadow": halo}
        font["weight"] = 700 if level == 0 else 400
        return {
            "mode": "text", "textfont": font, "textposition": "middle center",
            "unselected": {"textfont": {"color": colour}},
            "selected": {"textfont": {"color": colour}},
        }  # fmt: skip
    if name in ("concept", "facility"):
        first = name == "concept"
        colour = _OVERLAID[colours.name][name]
        line = {"color": colour, "width": 1.8, "dash": "solid" if first else "dash"}
        return {"mode": "lines", "hoverinfo": "skip", "line": line}
    marker: dict[str, Any] = {
        "papers": {"size": 6, "color": colours.ink, "opacity": 0.8,
                   "line": {"width": 0.6, "color": colours.halo}},
        "reviews": {"size": 9, "symbol": "square-open", "opacity": 1,
                    "color": _OVERLAID[colours.name]["reviews"], "line": {"width": 1.8}},
        # A ring with a light and a dark edge is seen on a map of any colours.
        "around": {"size": 9, "symbol": "circle-open", "color": colours.halo, "opacity": 1,
                   "line": {"width": 3.6}},
        "selected": {"size": 9, "symbol": "circle-open", "color": colours.ink, "opacity": 1,
                     "line": {"width": 1.6}},
        "found": {"size": 9, "color": colours.found, "opacity": 1,
                  "line": {"width": 1, "color": colours.halo}},
        "apart": {"size": 10, "symbol": "diamond-open", "color": colours.apart, "opacity": 1,
                  "line": {"width": 2}},
        "focus": {"size": 22, "symbol": "circle-open", "color": colours.accent, "opacity": 1,
                  "line": {"width": 3}},
    }[name]  # fmt: skip
    kept = {"marker": {"opacity": marker["opacity"]}}
    style: dict[str, Any] = {"mode": "markers", "marker": marker, "selected": kept,
                             "unselected": kept}  # fmt: skip
    if name in ("focus", "around"):
        style["hoverinfo"] = "skip"
    if name in ("found", "apart"):
        colour = colours.halo if name == "found" else colours.apart
        font = {"size": 9.5, "color": colour, "family": FONT, "weight": 700}
        chosen = {"marker": kept["marker"], "textfont": {"color": colour}}
        style |= {"mode": "markers+text", "textfont": font, "selected": chosen,
                  "unselected": chosen, "textposition": "middle center"}  # fmt: skip
        if name == "apart":
            style["textposition"] = "top center"
    return style


_OVERLAID = {
    "light": {"concept": "#721025", "facility": "#0a4f96", "reviews": "#721025"},
    "dark": {"concept": "#fad732", "facility": "#a8f8d9", "reviews": "#fad732"},
}


def _empty_trace(name: str, colours: Theme) -> dict[str, Any]:
    trace: dict[str, Any] = {"type": "scatter", "name": name, "x": [], "y": []}
    if name not in ("concept", "facility", "focus", "around"):
        trace["hoverinfo"] = "text"
    return trace | trace_style(name, colours)


def trace_parts(drawn: Drawn, data: MapData) -> dict[str, dict[str, Any]]:
    """What changes of each trace with every drawing; rows that it stands for are in the marks."""
    scene = drawn.scene
    parts: dict[str, dict[str, Any]] = {}
    nothing = np.zeros(0, dtype=np.float32)
    for name in ("concept", "facility"):
        x, y = drawn.lines.get(name, (nothing, nothing))
        parts[name] = {"x": x, "y": y}
    for name in ("reviews", "papers", "selected", "found", "apart"):
        rows = drawn.marks.get(name, np.zeros(0, dtype=np.int64))
        if name in ("found", "apart"):
            rows = rows[::-1]  # the best on top
        parts[name] = {"x": data.x[rows], "y": data.y[rows], "hovertext": [""] * len(rows)}
        if name == "papers":
            parts[name]["marker"] = paper_marker(rows, drawn)
        if name in ("found", "apart"):
            ranks = [drawn.ranks.get(int(row), 0) for row in rows]
            numbered = [0 < rank <= _NUMBERED for rank in ranks]
            parts[name]["text"] = [
                str(rank) if shown else "" for rank, shown in zip(ranks, numbered, strict=True)
            ]
            if name == "found":
                sizes = np.where(numbered, 17.0, 9.0).astype(np.float32)
                parts[name]["marker"] = {
                    **trace_style("found", scene.colours)["marker"], "size": sizes,
                }  # fmt: skip
    parts["around"] = {side: parts["selected"][side] for side in ("x", "y")}
    lines = drawn.lines.get("reviews")
    if lines is not None and "reviews" not in drawn.marks:
        x, y = lines
        parts["reviews"] = {"x": x, "y": y, "hovertext": [], "mode": "lines",
                            "line": {"color": _OVERLAID[scene.theme]["reviews"], "width": 1.4,
                                     "dash": "dot"}}  # fmt: skip
    else:
        parts["reviews"]["mode"] = "markers"
    for name, level in (("regions", 1), ("continents", 0)):
        chosen = [one for one in drawn.names if one.level == level]
        parts[name] = {
            "x": np.array([one.x for one in chosen], dtype=np.float64),
            "y": np.array([one.y for one in chosen], dtype=np.float64),
            "text": [_in_lines(one.lines) for one in chosen],
            "hovertext": [data.labels.cards[one.topic_id] for one in chosen],
        }  # fmt: skip
    return parts


def paper_marker(rows: Any, drawn: Drawn) -> dict[str, Any]:
    """The dots of single papers in the colours of the map."""
    scene = drawn.scene
    marker: dict[str, Any] = dict(trace_style("papers", scene.colours)["marker"])
    colouring = scene.colouring
    if colouring.kind == "density":
        return marker
    palette = np.round(colouring.palette(scene.colours) * 255).astype(int)
    values = colouring.values[rows]
    if colouring.kind == "classes":
        chosen = palette[values]
    else:
        known = np.nan_to_num(values, nan=colouring.low)
        span = colouring.high - colouring.low
        place = np.clip((known - colouring.low) / span, 0, 1) * (len(palette) - 1)
        chosen = palette[np.round(place).astype(int)]
        unknown = np.round(colouring.unknown(scene.colours) * 255).astype(int)
        chosen = np.where(np.isfinite(values)[:, None], chosen, unknown)
    marker["color"] = [f"rgb({r},{g},{b})" for r, g, b in chosen]
    return marker


@lru_cache(maxsize=4096)
def _in_lines(lines: tuple[str, ...]) -> str:
    from landscape.figures._plotly import safe_text

    return "<br>".join(safe_text(line) for line in lines)


# Pixels of the picture of the whole map, which shows until a sharper one is there.
_BASE_FINE = 0.45
_KEPT_TEXTS = 20_000
_READ_AT_ONCE = 200  # papers


class Painter:
    """Draws scenes into a figure, and tells of the papers in them."""

    def __init__(self, scene: Scene, data: MapData) -> None:
        self.figure = MapFigure(figure_parts(scene.view, scene.size, scene.colours))
        self.texts: dict[int, str] = {}
        self._base_of: Any = None
        self._dressed_for: Any = None
        self.drawn = self.draw(scene, data)

    def draw(self, scene: Scene, data: MapData) -> Drawn:
        """Put a scene into the figure."""
        drawn = draw(scene, data)
        self.data = data
        key = (id(scene.colouring), scene.colours.name, scene.time, scene.found is None,
               bool(scene.overlays), len(scene.selected))  # fmt: skip
        base = None
        if key != self._base_of:
            base = draw_picture(
                data.in_time(scene.time), data.whole.zoomed(0.6), scene.size,
                colours=scene.colours, colouring=scene.colouring, fine=_BASE_FINE, specks=False,
            )  # fmt: skip
        self._dress(scene)
        self.drawn = drawn
        self.figure.show_drawn(drawn, data, base=base)
        self._base_of = key
        return drawn

    def forget(self) -> None:
        """Know nothing of papers: those of another atlas are drawn from now on."""
        self.texts = {}  # not cleared: what is still read of the old ones goes into the old one

    def start_anew(self) -> None:
        """Send the whole map again with the next drawing."""
        self._base_of = None

    def focus(self, row: int | None, data: MapData) -> None:
        """Ring one paper, or none."""
        rows = [] if row is None else [row]
        with self.figure.drawing():
            trace = self.figure.trace("focus")
            trace.x, trace.y = data.x[rows], data.y[rows]

    def tell_papers(
        self,
        papers_of: Callable[[Sequence[int]], Sequence[Paper]],
        texts: dict[int, str],
        is_outdated: Callable[[], bool],
    ) -> None:
        """Read what is told of the marked papers under the pointer, after they are drawn."""
        drawn = self.drawn
        wanted = [int(row) for rows in drawn.marks.values() for row in rows]
        if len(texts) > _KEPT_TEXTS:
            texts.clear()
        missing = [row for row in dict.fromkeys(wanted) if row not in texts]
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
                told = [self._text_of(int(row), name, texts) for row in rows]
                if told:
                    trace = self.figure.trace(name)
                    trace.hovertext = told[::-1] if name in ("found", "apart") else told

    def _text_of(self, row: int, name: str, texts: dict[int, str]) -> str:
        told, ranks = texts.get(row, ""), self.drawn.ranks
        if name in ("found", "apart") and row in ranks:
            apart = "apart from the others, " if name == "apart" else ""
            told += f"<br><i>{apart}found as no. {ranks[row]}</i>"
        return told

    def _dress(self, scene: Scene) -> None:
        """Colours of the theme for everything but the picture."""
        key = scene.theme, scene.colours.ramp[-1, 0]
        if key == self._dressed_for:
            return
        self._dressed_for = key
        with self.figure.drawing():
            self.figure.layout.update(theme_part(scene.colours))
            for name in TRACES:
                self.figure.trace(name).update(trace_style(name, scene.colours))


_STOPS = 9


def legend_html(drawn: Drawn, *, n_all: int) -> str:
    """The legend of what is drawn."""
    scene = drawn.scene
    parts = [_colours(drawn, n_all)]
    colours = scene.colours
    for layer in ("concept", "facility", "reviews"):
        if layer not in scene.overlays:
            continue
        title, rows = scene.overlays[layer]
        colour = _OVERLAID[scene.theme][layer]
        if layer == "reviews" and "reviews" in drawn.marks:
            mark = f"<span class='ring square' style='color:{colour}'></span>"
            parts.append(f"{mark}{count(len(drawn.marks['reviews']), 'review')} in view")
            continue
        dashed = "" if layer == "concept" else " dashed"
        mark = f"<span class='line{dashed}' style='color:{colour}'></span>"
        told = shown_of(drawn.counts[layer], len(rows), "paper")
        has_lines = len(drawn.lines[layer][0]) > 0
        what = f"50% and 80% of {escape(title)}" if has_lines else f"{escape(title)}, no lines"
        parts.append(f"{mark}{what} ({told})")
    if scene.found is not None:
        if "found" in drawn.marks:
            mark = f"<span class='dot' style='background:{colours.found}'></span>"
            parts.append(f"{mark}{len(drawn.marks['found']):,} found in view")
            if len(drawn.marks["apart"]):
                mark = f"<span class='ring diamond' style='color:{colours.apart}'></span>"
                parts.append(f"{mark}{len(drawn.marks['apart']):,} apart from the others")
        else:
            mark = f"<span class='swatch' style='background:{colours.apart}'></span>"
            parts.append(f"{mark}where the {drawn.counts['found']:,} found lie")
    if len(scene.selected):
        if "selected" in drawn.marks:
            mark = "<span class='ring'></span>"
        elif scene.colouring.kind == "density":
            mark = f"<span class='swatch' style='background:{colours.apart}'></span>"
        else:
            mark = "<span class='swatch outlined'></span>"
        n, n_shown = len(scene.selected), drawn.counts["selected"]
        hidden = f", {n_shown:,} of these years" if n_shown < n else ""
        parts.append(f"{mark}{n:,} selected{hidden}")
    inside = "".join(f"<span>{part}</span>" for part in parts if part)
    return f"<div class='landscape-legend'>{inside}</div>"


def shown_of(n_shown: int, n_all: int, noun: str) -> str:
    """How many of some papers are of the time window, and how many there are where that differs."""
    told = count(n_shown, noun)
    return told if n_shown == n_all else f"{told} of these years, of {n_all:,}"


def view_line(drawn: Drawn, *, n_all: int, zoom: float) -> str:
    """How many papers are in view, and how near."""
    n = drawn.picture.n_papers
    told = f"<b>{n:,}</b> of {n_all:,} papers in view"
    if drawn.scene.time is not None:
        told += f", {drawn.scene.time[0]} to {drawn.scene.time[1]}"
    if zoom > 1.05:
        told += f" · {zoom:.2g} times enlarged"
    if "papers" in drawn.scene.layers:
        told += " · each dot a paper: point at it, click it" if "papers" in drawn.marks else (
            f" · zoom in to {MOST_POINTS:,} papers to point at them"
        )  # fmt: skip
    return f"<div class='landscape-quiet'>{told}</div>"


def _colours(drawn: Drawn, n_all: int) -> str:
    scene, colouring = drawn.scene, drawn.scene.colouring
    if colouring.kind == "density":
        ramp = _css_ramp(scene.colours.ramp)
        return f"few papers<span class='ramp' style='background:{ramp}'></span>many"
    missing = f" · grey: unknown ({colouring.missing:,})" if colouring.missing else ""
    palette = colouring.palette(scene.colours)
    if colouring.kind == "numbers":
        title = escape(colouring.title)
        if colouring.is_share:
            title = f"Share of papers: {title}"
        first, last = colouring.ends
        return (
            f"{title}: {first}"
            f"<span class='ramp' style='background:{_css_ramp(palette)}'></span>"
            f"{last}{missing}"
        )
    named = "</span><span>".join(
        f"<span class='swatch' style='background:{_hex(colour)}'></span>{escape(label)}"
        for label, colour in zip(colouring.labels, palette, strict=False)
    )
    share = f"{colouring.missing / max(1, n_all):.0%}"
    return f"{named}</span><span>" + (
        f"<span class='swatch' style='background:{_hex(palette[-1])}'></span>none ({share})"
        if colouring.missing else ""
    )  # fmt: skip


def _css_ramp(ramp: np.ndarray) -> str:
    places = np.linspace(0, len(ramp) - 1, _STOPS).round().astype(int)
    return f"linear-gradient(to right, {', '.join(_hex(ramp[place]) for place in places)})"


def _hex(colour: np.ndarray) -> str:
    red, green, blue = np.round(np.asarray(colour) * 255).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"
