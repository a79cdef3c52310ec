"""Draw a scene with plotly, as a page for the browser or as panels for notebooks.

The size of a page does not increase with the corpus, because densities are images and the number
of points and vertices is at most 20,000.
"""

from __future__ import annotations

import html
import io
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._render import render
from landscape.errors import require
from landscape.figures.caption import GENERATED
from landscape.figures.fonts import FONTS
from landscape.figures.labels import clean_name, place_labels
from landscape.figures.scene import (
    Arrows,
    Axis,
    Band,
    Box,
    Curve,
    Floats,
    Hatched,
    Image,
    Intervals,
    Layer,
    Lines,
    Name,
    Names,
    Panel,
    Points,
    Rule,
    Scene,
    Spans,
    Squares,
    Text,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_MARKS = 20_000
_PIXELS_A_POINT = 96 / 72
_WIDTH = 800  # width of the panels in a notebook, in pixels
_MAX_PIXELS = 1400  # maximum width of a picture
_MAX_HOVER = 160
_MAX_KEPT_CLEAR = 300  # maximum number of symbols that names must not overlap
_MANY = 2000  # maximum number of points drawn without WebGL
_LETTERS = "FigureSTIX"  # name of the font embedded in a page
_FONT = f"{_LETTERS}, STIX Two Text, STIXGeneral, Times New Roman, Times, serif"
_WIDER = 1.2  # width of the widest fallback font, relative to the embedded font
_SYMBOLS = {
    "o": "circle",
    ".": "circle",
    "D": "diamond",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
}
_DASHES = {"-": "solid", "dashed": "dash", "dotted": "dot", "--": "dash", ":": "dot"}


def draw(scene: Scene) -> go.Figure:
    """Draw the whole page with panels, title, caption, keys and tables."""
    return _Drawing(scene, scene.panels, (0.0, 0.0, *scene.size), is_page=True).figure


def draw_panels(scene: Scene) -> go.Figure:
    """Draw the panels shown in notebooks, with the title above and the caption below.

    A scene without such panels, such as a page with one sentence, is drawn as a whole page.
    """
    panels = [panel for panel in scene.panels if panel.gid in scene.on_screen]
    if not panels:
        return draw(scene)
    boxes = np.array([panel.box for panel in panels])
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    box = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
    return _Drawing(scene, panels, box, is_page=False).figure


def to_page(figure: go.Figure, *, below: str = "") -> str:
    """Return a self-contained HTML page with plotly, the fonts and HTML below the figure."""
    from plotly.io import to_json
    from plotly.offline import get_plotlyjs

    # In a script element, "<" could start its end tag, so it is written as a JSON escape.
    drawn = str(to_json(figure, validate=False)).replace("<", "\\u003c")
    fonts = [(weight, _font_link(weight)) for weight in ("normal", "bold")]
    values = {"library": get_plotlyjs(), "drawn": drawn, "below": below}
    return render("figure.html", family=_LETTERS, fonts=fonts, **values)


@cache
def _font_link(weight: str) -> str:
    """Return a subset of the font with which text is measured, as a data URL."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from matplotlib.font_manager import FontProperties, findfont

    file = findfont(FontProperties(family=FONTS[0], weight=weight))
    # Glyphs and the date are copied as they are, so that pages have the same bytes.
    font = TTFont(file, lazy=True, recalcBBoxes=False, recalcTimestamp=False)
    options = Options(layout_features=["*"])
    options.drop_tables = [*options.drop_tables, "FFTM"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[*range(0x20, 0x250), *range(0x370, 0x400), *range(0x2000, 0x2300)])
    subsetter.subset(font)
    buffer = io.BytesIO()
    font.save(buffer)
    return f"data:font/ttf;base64,{b64encode(buffer.getvalue()).decode('ascii')}"


def count_marks(figure: go.Figure) -> int:
    """Count the points, line vertices and bars of a figure; images are not counted."""
    return sum(0 if trace.x is None else len(trace.x) for trace in figure.data)


def safe_text(text: object, *, most: int = _MAX_HOVER) -> str:
    """Escape text, because plotly interprets some HTML tags and LaTeX between dollar signs."""
    return _escaped(clean_name(str(text), most=most))


def hover_html(lines: Iterable[object]) -> str:
    """Escape the lines of a hover text, and join them with line breaks."""
    return "<br>".join(map(safe_text, lines))


def _escaped(line: str) -> str:
    """Escape HTML and dollar signs in a line without control characters."""
    return html.escape(line).replace("$", "&#36;")


def thinned(lines: Sequence[Floats], *, most: int) -> tuple[Floats, Floats]:
    """Join lines, separated by NaN, and reduce them to at most `most` vertices."""
    kept = sorted(lines, key=len, reverse=True)[: max(1, most // 6)]
    step = max(1, int(np.ceil(sum(map(len, kept)) / max(1, most - 2 * len(kept)))))
    gap = np.full((1, 2), np.nan)
    parts: list[Floats] = []
    for line in kept:
        points = np.asarray(line, dtype=float)
        parts.append(points[::step])
        if step > 1 and (points[0] == points[-1]).all():
            parts.append(points[:1])  # close the line again
        parts.append(gap)
    joined = np.concatenate(parts)[:most]
    return joined[:, 0], joined[:, 1]


def picture_link(pixels: np.ndarray) -> str:
    """Return sRGB or sRGBA pixels, with row 0 at the bottom, as a PNG data URL."""
    from PIL import Image as Picture

    pixels = np.asarray(pixels)
    if pixels.dtype != np.uint8:
        pixels = np.round(pixels * 255).astype(np.uint8)
    picture = Picture.fromarray(np.ascontiguousarray(pixels[::-1]))
    if picture.width > _MAX_PIXELS:
        height = round(picture.height * _MAX_PIXELS / picture.width)
        picture = picture.resize((_MAX_PIXELS, height), Picture.Resampling.BILINEAR)
    if picture.mode == "RGB":
        picture = picture.quantize(256, dither=Picture.Dither.NONE)
    buffer = io.BytesIO()
    picture.save(buffer, format="png", optimize=True)
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode('ascii')}"


class _Drawing:
    """A plotly figure that shows the panels within a box of the page."""

    def __init__(self, scene: Scene, panels: Sequence[Panel], box: Box, *, is_page: bool) -> None:
        require("plotly", "lab")
        import plotly.graph_objects as go

        self.go, self.scene, self.box, self.is_page = go, scene, box, is_page
        self.colours = scene.colours
        self.figure = go.Figure()
        # plotly copies all annotations for each one that is added, so they are added in one step.
        self.added: dict[str, list[dict[str, Any]]] = {}
        wide = box[2] - box[0]
        self.pixels = _PIXELS_A_POINT if is_page else _WIDTH / wide  # pixels per point of the page
        #: Pixels per point for text and symbols, which are not scaled with the panels.
        self.size = _PIXELS_A_POINT
        self.vertices = sum(
            len(line) + 1
            for panel in panels
            for layer in panel.layers
            if isinstance(layer, Lines)
            for line in layer.lines
        )
        self.samples: list[str] = []
        self.taken: dict[str, Floats] = {}  # boxes that names must not overlap
        self.figure.update_layout(
            template="none",
            paper_bgcolor=self.colours.page,
            plot_bgcolor="rgba(0,0,0,0)",
            font={"family": _FONT, "size": 12, "color": self.colours.ink},
            hoverlabel={"font": {"family": _FONT}},
            hovermode="closest",
        )
        if is_page:
            self._page()
        else:
            self._caption()
        for number, panel in enumerate(panels):
            self._panel(panel, str(number + 1 + is_page) if number + is_page else "")
        self._lay_out(panels)
        self.figure.update_layout(self.added)

    def _add(self, kind: str, **style: object) -> None:
        self.added.setdefault(kind, []).append(style)

    # -- around the panels

    def _page(self) -> None:
        """Draw the texts and layers that are not part of a panel."""
        width, height = self.scene.size
        page = Panel(self.box, Axis((0, width)), Axis((0, height)), gid="page")
        fixed = {"visible": False, "fixedrange": True}
        self.figure.update_layout(
            xaxis={"range": [0, width], "domain": [0, 1], **fixed},
            yaxis={"range": [0, height], "domain": [0, 1], **fixed},
        )
        for layer in self.scene.layers:
            self._draw(layer, "", page)
        for text in self.scene.texts:
            self._text(text)

    def _text(self, text: Text) -> None:
        safe = safe_text(text.words, most=400)
        self._add(
            "annotations",
            text=f"<b>{safe}</b>" if text.weight == "bold" else safe,
            x=text.x,
            y=text.y + 0.28 * text.size,
            xref="x",
            yref="y",
            name=text.gid,
            showarrow=False,
            borderpad=0,
            xanchor={"center": "center", "right": "right"}.get(text.align, "left"),
            yanchor="middle",
            font={"size": text.size * self.size, "color": text.colour},
            bgcolor=self.colours.page if text.in_panel else None,
        )

    def _caption(self) -> None:
        """Write the caption below the panels."""
        caption = self.scene.caption
        lines = [f"<b>{safe_text(GENERATED)}</b>"] if caption.generated else []
        lines += [f"<b>{safe_text(line, most=200)}</b>" for line in wrap(caption.head, 150)[:2]]
        # Show the sentences that fit on two lines; truncate the first one if it is longer.
        n = len(caption.sentences)
        while n > 1 and len(wrap(" ".join(caption.sentences[:n]), 150)) > 2:
            n -= 1
        shown = wrap(" ".join(caption.sentences[:n]), 150, max_lines=2, placeholder="…")
        lines += [safe_text(line, most=200) for line in shown]
        self.below = 20 + 15 * len(lines)
        self._write_below("<br>".join(lines), x=0, align="left")

    def _lay_out(self, panels: Sequence[Panel]) -> None:
        """Set the size, the margins and the legend of the figure."""
        width, height = self.box[2] - self.box[0], self.box[3] - self.box[1]
        named = {trace.name for trace in self.figure.data if trace.showlegend}
        rows = -(-len(named) // 5) if len(named) > 1 else 0
        if self.is_page:
            below = 24 * rows + 18 * len(self.samples)
            self.figure.update_layout(
                width=round(width * self.pixels),
                height=round(height * self.pixels) + below,
                margin={"l": 0, "r": 0, "t": 0, "b": below},
                showlegend=rows > 0,
                legend={"orientation": "h", "x": 0.02, "y": 0, "yanchor": "top"},
            )
            for place, words in enumerate(self.samples):
                self._write_below(safe_text(words), x=0.02, yshift=-(24 * rows + 18 * place))
            return
        has_ticks = any(panel.x.ticks for panel in panels)
        note = self.added["annotations"][0]
        note["text"] = "<br>".join([note["text"], *map(safe_text, self.samples)])
        gap = 48 if has_ticks else 12
        note["yshift"] = -gap
        own = bool(self.scene.title)
        margin = {
            "l": 30,
            "r": 20,
            "t": 50 if own else 24,
            "b": gap + self.below + 15 * len(self.samples),
        }
        point = _PIXELS_A_POINT if panels[0].edge == "chart" else self.pixels
        high = max(180, round(height * point))
        self.figure.update_layout(
            title={"text": safe_text(self.scene.title)} if own else None,
            margin=margin,
            height=high + margin["t"] + margin["b"],
            showlegend=rows > 0,
        )

    def _write_below(self, text: str, **style: object) -> None:
        self._add(
            "annotations",
            text=text,
            xref="paper",
            yref="paper",
            y=0,
            showarrow=False,
            xanchor="left",
            yanchor="top",
            font={"size": 11, "color": self.colours.faint},
            **style,
        )

    # -- panels

    def _panel(self, panel: Panel, number: str) -> None:
        left, bottom, right, top = self.box
        width, height = right - left, top - bottom
        x0, y0, x1, y1 = panel.box
        domains = (
            ((x0 - left) / width, (x1 - left) / width),
            ((y0 - bottom) / height, (y1 - bottom) / height),
        )
        is_framed = panel.edge == "box"
        for side, axis, domain in zip("xy", (panel.x, panel.y), domains, strict=True):
            low, high = np.log10(axis.limits) if axis.log else axis.limits
            marks = axis.ticks
            if side == "y" and panel.rows and not self.is_page:
                marks = panel.rows
            layout: dict[str, Any] = {
                "domain": [max(0.0, domain[0]), min(1.0, domain[1])],
                "range": [low, high],
                "anchor": f"{'y' if side == 'x' else 'x'}{number}",
                "zeroline": False,
                "showgrid": False,
                "type": "log" if axis.log else "linear",
                "visible": panel.edge == "chart" or (self.is_page and is_framed),
                "mirror": is_framed,
                "tickvals": [at for at, _ in marks],
                "ticktext": [safe_text(words, most=48) for _, words in marks],
                "tickfont": {
                    "color": self.colours.faint,
                    "size": 7.0 * self.scene.scale * self.size if self.is_page else 11,
                },
                "linecolor": self.colours.faint,
                "showline": side == "x" or is_framed or bool(axis.ticks),
                "ticks": "outside" if axis.ticks else "",
                "ticklen": 3,
                "automargin": not self.is_page,
            }
            if axis.title and not self.is_page:
                layout["title"] = {"text": safe_text(axis.title)}
            self.figure.update_layout({f"{side}axis{number}": layout})
        maps = [one for one in self.scene.panels if one.gid == "map"]
        if panel.gid == "map" and len(maps) == 1:
            self.figure.update_layout({f"yaxis{number}": {"scaleanchor": f"x{number}"}})
        elif panel.gid == "map" and panel is not maps[0]:
            first = str(1 + self.is_page) if self.is_page else ""
            for side in "xy":
                self.figure.update_layout({f"{side}axis{number}": {"matches": f"{side}{first}"}})
        if panel.heading and not self.is_page:
            self._add(
                "annotations",
                text=f"<b>{safe_text(panel.heading, most=40)}</b>",
                xref=f"x{number} domain",
                yref=f"y{number} domain",
                x=0,
                y=1,
                yanchor="bottom",
                xanchor="left",
                showarrow=False,
                font={"size": 11},
            )
        for layer in panel.layers:
            if layer.screen is not False:
                self._draw(layer, number, panel)

    def _draw(self, layer: Layer, number: str, panel: Panel) -> None:
        """Draw a layer with the method named after its class."""
        getattr(self, f"_{type(layer).__name__.lower()}")(layer, number, panel)

    def _trace(
        self, number: str, x: Any, y: Any, hover: Any = "", *, kind: str = "Scatter", **style: Any
    ) -> None:
        """Add a trace to a panel; `hover` is one text for all points, or one text per point."""
        hover = hover() if callable(hover) else hover
        if not isinstance(hover, str):
            hover = [hover_html(str(text).split("\n")) for text in hover]
        style = {"hoverinfo": "text" if hover else "skip", **style}
        trace = getattr(self.go, kind)(
            x=x, y=y, xaxis=f"x{number}", yaxis=f"y{number}", hovertext=hover or None, **style
        )
        self.figure.add_trace(trace)

    def _refs(self, number: str) -> dict[str, str]:
        return {"xref": f"x{number}", "yref": f"y{number}"}

    # -- layers

    def _image(self, layer: Image, number: str, _panel: Panel) -> None:
        x0, y0, x1, y1 = layer.extent
        self._add(
            "images",
            source=picture_link(layer.pixels),
            x=x0,
            y=y1,
            sizex=x1 - x0,
            sizey=y1 - y0,
            sizing="stretch",
            layer="below",
            **self._refs(number),
        )

    def _lines(self, layer: Lines, number: str, panel: Panel) -> None:
        lines = [line for line in layer.lines if len(line)]
        if not lines:
            return
        most = sum(len(line) + 1 for line in lines)
        if panel.gid != "page":
            most = min(most, int(0.6 * MAX_MARKS * most / self.vertices))
        x, y = thinned(lines, most=max(8, most))
        dash = layer.dashes if isinstance(layer.dashes, str) else str(layer.dashes[-1][0])
        self._trace(
            number,
            x,
            y,
            safe_text(layer.hover),
            mode="lines",
            connectgaps=False,
            name=safe_text(layer.name, most=60) or layer.gid,
            legendgroup=layer.gid,
            showlegend=bool(layer.name),
            opacity=layer.opacity,
            line={
                "color": layer.colour,
                "width": max(0.8, layer.width * self.size),
                "dash": _DASHES.get(dash) or ("dash" if float(dash) > 2 else "dot"),
            },
            fill="toself" if layer.fill else None,
            fillcolor=_faded(layer.colour, layer.fill) if layer.fill else None,
        )

    def _points(self, layer: Points, number: str, _panel: Panel) -> None:
        symbol = _SYMBOLS.get(layer.marker, "circle") + ("" if layer.filled else "-open")
        size = np.asarray(layer.size, dtype=float) * self.size
        marker: dict[str, Any] = {
            "size": size if size.ndim else float(size),
            "symbol": symbol,
            "color": _colours(layer.colour),
            "opacity": layer.opacity,
            "line": {
                "width": layer.edge_width * self.size,
                "color": layer.edge or _colours(layer.colour),
            },
        }
        if layer.bar is not None and not self.is_page:
            bar, low, high = layer.bar, *layer.bar.limits
            steps = np.linspace(0, len(bar.ramp) - 1, 9).astype(int)
            marker |= {
                "color": np.asarray(bar.values, dtype=float),
                "cmin": low,
                "cmax": high,
                "colorscale": [
                    [place / 8, _colours(bar.ramp[at][None])[0]] for place, at in enumerate(steps)
                ],
                "colorbar": {"title": {"text": bar.title}, "thickness": 12},
            }
        if layer.of > len(layer.x):
            self.samples.append(
                f"{len(layer.x):,} of {layer.of:,} papers, chosen at random, have hover texts."
            )
        self._trace(
            number,
            np.asarray(layer.x),
            np.asarray(layer.y),
            layer.hover,
            mode="markers",
            kind="Scattergl" if len(layer.x) > _MANY else "Scatter",
            marker=marker,
            name=safe_text(layer.name) or layer.gid,
            showlegend=bool(layer.name) and not self.is_page,
        )

    def _curve(self, layer: Curve, number: str, _panel: Panel) -> None:
        self._trace(
            number,
            np.asarray(layer.x, dtype=float),
            np.asarray(layer.y, dtype=float),
            layer.hover,
            mode="lines",
            connectgaps=False,
            showlegend=False,
            name=layer.gid,
            line={"color": layer.colour, "width": layer.width * self.size},
        )

    def _band(self, layer: Band, number: str, _panel: Panel) -> None:
        x, low, high = (np.asarray(one, dtype=float) for one in (layer.x, layer.low, layer.high))
        known = np.isfinite(low + high)
        for run in np.split(np.arange(len(x)), np.flatnonzero(np.diff(known)) + 1):
            if known[run].any():
                path = np.concatenate([x[run], x[run][::-1]])
                self._trace(
                    number,
                    path,
                    np.concatenate([low[run], high[run][::-1]]),
                    mode="lines",
                    fill="toself",
                    fillcolor=_faded(layer.colour, 0.22),
                    line={"width": 0},
                    showlegend=False,
                    name=layer.gid,
                )

    def _intervals(self, layer: Intervals, number: str, _panel: Panel) -> None:
        value, low, high = (
            np.asarray(one, dtype=float) for one in (layer.value, layer.low, layer.high)
        )
        hover = layer.hover() if callable(layer.hover) else layer.hover
        colours, filled = np.asarray(layer.colours), np.asarray(layer.filled, dtype=bool)
        for colour, is_filled in dict.fromkeys(zip(colours.tolist(), filled.tolist(), strict=True)):
            rows = np.flatnonzero((colours == colour) & (filled == is_filled)).tolist()
            self._trace(
                number,
                value[rows],
                np.asarray(layer.at)[rows],
                [hover[row] for row in rows] if len(hover) else "",
                mode="markers",
                hoverinfo="text" if len(hover) else "x",
                cliponaxis=False,
                name=safe_text(layer.name) or layer.gid,
                showlegend=bool(layer.name) and not self.is_page,
                marker={
                    "color": colour,
                    "size": layer.size * self.size,
                    "symbol": "circle" if is_filled else "circle-open",
                },
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "width": 0,
                    "color": colour,
                    "thickness": layer.width * self.size,
                    "array": np.maximum(high[rows] - value[rows], 0),
                    "arrayminus": np.maximum(value[rows] - low[rows], 0),
                },
            )

    def _rule(self, layer: Rule, number: str, _panel: Panel) -> None:
        dash = _DASHES.get(layer.dashes, "solid")
        self._add(
            "shapes",
            type="line",
            x0=layer.x,
            x1=layer.x,
            y0=0,
            y1=1,
            xref=f"x{number}",
            yref=f"y{number} domain",
            layer="below",
            line={"color": layer.colour, "width": layer.width * self.size, "dash": dash},
        )
        if layer.label:
            self._add(
                "annotations",
                text=safe_text(layer.label),
                x=layer.x,
                y=1,
                xref=f"x{number}",
                yref=f"y{number} domain",
                showarrow=False,
                xanchor="left",
                yanchor="top",
                font={"size": 7 * self.scene.scale * self.size},
            )

    def _spans(self, layer: Spans, number: str, _panel: Panel) -> None:
        for start, end in layer.spans:
            self._add(
                "shapes",
                type="rect",
                x0=start,
                x1=end,
                y0=0,
                y1=1,
                xref=f"x{number}",
                yref=f"y{number} domain",
                fillcolor=layer.colour,
                opacity=0.15,
                line={"width": 0},
                layer="below",
            )

    def _hatched(self, layer: Hatched, number: str, panel: Panel) -> None:
        if not layer.where.any():
            return
        times = max(1, round(400 / layer.where.shape[1]))
        where = np.kron(layer.where, np.ones((times, times), dtype=bool))
        row, column = np.indices(where.shape)
        stripes = where & ((row - column) % 9 < 2)
        pixels = np.zeros((*where.shape, 4), dtype=np.uint8)
        pixels[stripes] = (*_rgb(layer.colour), 110)
        self._image(Image(pixels=pixels, extent=layer.extent), number, panel)

    def _arrows(self, layer: Arrows, number: str, _panel: Panel) -> None:
        axes = {"axref": f"x{number}", "ayref": f"y{number}", **self._refs(number)}
        for (x0, y0), (x1, y1) in zip(layer.starts, layer.ends, strict=True):
            self._add(
                "annotations",
                x=x1,
                y=y1,
                ax=x0,
                ay=y0,
                text="",
                showarrow=True,
                arrowhead=2,
                arrowsize=1,
                arrowwidth=max(0.6, layer.width * self.size),
                arrowcolor=layer.colour,
                opacity=0.55,
                standoff=4,
                startstandoff=4,
                **axes,
            )

    def _squares(self, layer: Squares, number: str, _panel: Panel) -> None:
        for (x0, y0, x1, y1), colour in zip(layer.boxes, layer.colours, strict=True):
            self._add(
                "shapes",
                type="rect",
                x0=x0,
                x1=x1,
                y0=y0,
                y1=y1,
                line={"width": 0.5, "color": layer.edge},
                fillcolor=_colours(np.array([colour]))[0],
                **self._refs(number),
            )

    def _names(self, layer: Names, number: str, panel: Panel) -> None:
        names, leaders = layer.names, layer.leaders
        if not self.is_page:
            taken = self.taken.setdefault(number, _marked(panel))
            names, leaders = _place_again(
                names, panel, grow=_WIDER * self.size / self.pixels, taken=taken
            )
            self.taken[number] = np.concatenate([taken, *(name.box[None] for name in names)])
        if layer.leader_colour:
            kept = leaders[~np.isnan(leaders).any(axis=1)]
            ends = panel.to_data(kept[:, :2]), panel.to_data(kept[:, 2:])
            for (x0, y0), (x1, y1) in zip(*ends, strict=True):
                self._add(
                    "shapes",
                    type="line",
                    x0=x0,
                    y0=y0,
                    x1=x1,
                    y1=y1,
                    **self._refs(number),
                    line={"width": 0.7, "color": layer.leader_colour},
                )
        for name in names:
            middle = (name.box[:2] + name.box[2:]) / 2
            ((x, y),) = panel.to_data(middle)
            text = "<br>".join(_escaped(line) for line in name.lines)
            if not self.is_page:  # thin spaces are too wide in fallback fonts
                text = text.replace("\u200a", "").replace("\u2004", " ")
            self._add(
                "annotations",
                text=f"<b>{text}</b>" if name.weight == "bold" else text,
                x=x,
                y=y,
                showarrow=False,
                borderpad=0,
                hovertext=safe_text(name.hover) or None,
                align=name.side,
                font={"size": name.size * self.size, "color": name.colour},
                **self._refs(number),
            )


def _place_again(
    names: Sequence[Name], panel: Panel, *, grow: float, taken: Floats
) -> tuple[list[Name], Floats]:
    """Place names again, `grow` times larger than on the page; omit names that do not fit."""
    if not names:
        return [], np.empty((0, 4))
    sizes = [(name.box[2:] - name.box[:2])[None] * grow for name in names]
    peaks = np.array([name.peak for name in names])
    placed = place_labels(peaks, sizes, frame=panel.box, gap=2.0 * grow, reach=60.0, reserved=taken)
    kept = [
        replace(name, box=box)
        for name, box, shown in zip(names, placed.boxes, placed.shown, strict=True)
        if shown
    ]
    return kept, placed.leaders[placed.shown]


def _marked(panel: Panel) -> Floats:
    """Return the boxes of the symbols in a panel, which names must not overlap."""
    boxes = [np.empty((0, 4))]
    for layer in panel.layers:
        if isinstance(layer, Points) and layer.screen is None:
            at = panel.to_page(layer.x, layer.y)
            half = np.max(np.asarray(layer.size) / 2, initial=0)
            boxes.append(np.hstack([at - half, at + half])[:_MAX_KEPT_CLEAR])
    return np.concatenate(boxes)


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue


def _faded(colour: str, opacity: float) -> str:
    return f"rgba({', '.join(map(str, _rgb(colour)))}, {opacity:g})"


def _colours(colour: str | np.ndarray | Sequence[str]) -> str | list[str]:
    """Convert an array of sRGB colours, shape (n, 3), to CSS; return other colours unchanged."""
    if isinstance(colour, str):
        return colour
    if len(colour) and isinstance(colour[0], str):
        return list(colour)
    whole = np.round(np.asarray(colour, dtype=float)[:, :3] * 255).astype(int)
    return [f"rgb({red},{green},{blue})" for red, green, blue in whole.tolist()]
