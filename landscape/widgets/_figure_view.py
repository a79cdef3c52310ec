"""Figures, captions and download links of panels."""

from __future__ import annotations

import html
import io
import mimetypes
import re
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as widgets
import plotly.graph_objects as go
from traitlets import Bunch, observe

from landscape.errors import InputError, LandscapeError
from landscape.widgets._controls import close_all
from landscape.widgets._jobs import Job

if TYPE_CHECKING:
    from landscape.figures.matplotlib_backend import Sheet

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


class PageFigure(go.FigureWidget):
    """A figure widget that is sent to the page only when it is complete.

    A figure widget of plotly.py opens its connection to the page before it sends the figure. If a
    page requests all widgets at this time (after a reload, or while the kernel is busy), it gets an
    empty figure and never receives the data.
    """

    _is_whole = False

    def open(self) -> None:
        """Send the figure to the page, unless it is incomplete."""
        if self._is_whole:
            super().open()

    @observe("_js2py_traceDeltas")
    def _handler_js2py_traceDeltas(self, change: Bunch) -> None:  # noqa: N802 - plotly.py's name
        """Remove the defaults that plotly.js adds.

        plotly.py stores these defaults, but fails silently if a default is an array. The rest of
        the message, such as the window after a zoom, would then be lost.
        """
        if change["new"] is not None:
            self._js2py_traceDeltas = None


_WIDTH = 812  # width in pixels of a notebook cell if the sidebar is open
_LOWEST_MAP, _HIGHEST_MAP = 400, 540  # with its legend, a map fits into a window of 900 pixels
_MIN_HEIGHT, _MAX_HEIGHT = 240, 720  # pixels
_KEYS_A_LINE, _KEY_LINE = 4, 24
_BELOW = {"orientation": "h", "x": 0, "y": -0.01, "yanchor": "top", "xanchor": "left"}


class ScreenFigure(PageFigure):
    """A figure widget that shows a complete figure."""

    def __init__(self, figure: go.Figure) -> None:
        super().__init__(figure)
        self._config = {"displaylogo": False, "responsive": False}
        self.__dict__["_is_whole"] = True  # plotly does not allow new attributes
        self.open()


def for_screen(figure: go.Figure) -> ScreenFigure:
    """Return a widget with a plotly figure. The caption is removed; panels show it as text."""
    drawn = go.Figure(figure)
    drawn.layout.annotations = [
        note
        for note in drawn.layout.annotations
        if not (note.xref == "paper" and note.yref == "paper")
    ]
    is_map = drawn.layout.xaxis.visible is False
    keys = sum(trace.showlegend is not False for trace in drawn.data) if is_map else 0
    below = _KEY_LINE * -(-keys // _KEYS_A_LINE) if keys > 1 else 0
    if is_map:  # compute the height for the full width of the cell
        (x0, x1), (y0, y1) = drawn.layout.xaxis.range, drawn.layout.yaxis.range
        tall = round(_WIDTH * (y1 - y0) / (x1 - x0)) + below
        height = min(max(tall, _LOWEST_MAP), _HIGHEST_MAP)
        _fit_names(drawn, min((height - below - 26) / (y1 - y0), _WIDTH / (x1 - x0)))
    else:
        height = max(_MIN_HEIGHT, min(drawn.layout.height or 560, _MAX_HEIGHT))
    drawn.update_layout(
        width=_WIDTH,
        height=height,
        autosize=False,
        margin={"l": 10, "r": 10, "t": 16, "b": 10 + below if is_map else 52},
        legend={"font": {"size": 12}, **(_BELOW if is_map else {})},
        font={"family": FONT, "size": 12},
    )
    drawn.update_xaxes(title_font_size=12, title_standoff=8)
    drawn.update_yaxes(title_font_size=12)
    return ScreenFigure(drawn)


_SMALLEST, _LETTER, _LINE = 10, 0.6, 1.25  # pixels; width and height in units of the size


def _fit_names(figure: go.Figure, scale: float) -> None:
    """Make the names of a map smaller with the map, and leave out names that would overlap others.

    `scale` is the number of pixels per unit of the map.
    """
    layout = figure.layout
    x0, (y0, y1), margin = layout.xaxis.range[0], layout.yaxis.range, layout.margin
    tall = (layout.height or 560) - (margin.t or 0) - (margin.b or 0)
    shrink = min(1.0, scale * (y1 - y0) / tall)
    kept, boxes = [], list[tuple[float, float, float, float]]()
    for note in layout.annotations:
        if note.xref not in ("x", None) or not note.text:
            kept.append(note)
            continue
        size = max(shrink * (note.font.size or 12), _SMALLEST)
        lines = [re.sub("<[^>]*>", "", line) for line in note.text.split("<br>")]
        wide = _LETTER * size * max(map(len, lines)) / 2
        high = _LINE * size * len(lines) / 2
        is_moved = bool(note.showarrow)
        across, up = (shrink * (side or 0) if is_moved else 0 for side in (note.ax, note.ay))
        x, y = scale * (note.x - x0) + across, scale * (y1 - note.y) + up
        box = (x - wide, y - high, x + wide, y + high)
        if any(_overlap(box, other) for other in boxes):
            continue
        boxes.append(box)
        note.font.size = size
        if is_moved:
            note.ax, note.ay = across, up
        kept.append(note)
    layout.annotations = kept


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


_DPI = 110


class SheetView(widgets.VBox):
    """A figure in light or dark colours, which the user can choose."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._draw: Callable[[str], Sheet] | None = None
        self._is_drawn = False
        self._job: Job[str] | None = None
        self._colours = widgets.ToggleButtons(
            options=["light", "dark"],
            style={"button_width": "70px"},
            tooltips=[f"The {name} for a light page", f"The {name} for a dark page"],
        )
        self._colours.observe(lambda _: self._start(), "value")
        self._picture = widgets.VBox()
        super().__init__([self._colours, self._picture])

    def show(self, draw: Callable[[str], Sheet]) -> None:
        """Set the function that draws the figure. Call `look` to draw the figure."""
        if self._job is not None:
            self._job.stop()
        self._draw, self._is_drawn = draw, False
        self._put()

    def look(self) -> None:
        """Draw the figure if it is not drawn yet."""
        if not self._is_drawn:
            self._is_drawn = True
            self._start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the figure; return False after a timeout."""
        return self._job is None or self._job.wait(seconds)

    def _start(self) -> None:
        draw, colours = self._draw, self._colours.value
        if draw is None or not self._is_drawn:
            return
        if self._job is not None:
            self._job.stop()
        self._put(widgets.HTML(f"<p class='landscape-quiet'>Drawing the {self._name} …</p>"))
        self._job = Job(
            lambda: self._rendered(draw(colours)),
            done=lambda rendered: self._put(self._widget(rendered)),
            failed=self._fail,
        )
        self._job.start()

    def _rendered(self, figure: Sheet) -> str:
        """Render a figure in the background."""
        return picture_html(figure)

    def _widget(self, rendered: str) -> widgets.Widget:
        """Return the widget of a rendered figure."""
        return widgets.HTML(rendered)

    def _put(self, *shown: widgets.Widget) -> None:
        before = self._picture.children
        self._picture.children = shown
        close_all(*before)

    def _fail(self, error: Exception) -> None:
        is_ours = isinstance(error, LandscapeError)
        text = str(error) if is_ours else f"The {self._name} cannot be drawn: {error}"
        self._put(widgets.HTML(f"<p class='landscape-warning'>{html.escape(text)}</p>"))


def picture_html(sheet: Sheet) -> str:
    """Return HTML of a print page as an image with alternative text."""
    buffer = io.BytesIO()
    sheet.savefig(buffer, format="png", dpi=_DPI, facecolor=sheet.get_facecolor())
    return image_html(buffer.getvalue(), str(getattr(sheet, "alt_text", "")))


def sentence_html(figure: go.Figure) -> str:
    """Return HTML of the sentence that takes the place of a chart, or "" if there is a chart."""
    lines = [note.text for note in figure.layout.annotations if note.name == "sentence"]
    return f"<p class='landscape-heading'>{' '.join(lines)}</p>" if lines else ""


def image_html(png: bytes, about: str) -> str:
    """Return HTML of a PNG image with alternative text."""
    source = f"data:image/png;base64,{b64encode(png).decode('ascii')}"
    about = html.escape(about, quote=True)
    return f"<img class='landscape-page' src='{source}' alt='{about}' style='max-width:100%'>"


_MAX_BYTES = 24_000_000  # maximum size of a file in a link, because the page stores the file


def download_link(name: str, content: str | bytes, *, text: str | None = None) -> str:
    """Return HTML of a download link that contains the file."""
    raw = content.encode() if isinstance(content, str) else content
    if len(raw) > _MAX_BYTES:
        raise InputError(
            f"{name} has {len(raw) / 1e6:,.0f} MB, which is too large for a link in the page. "
            f'Save it from code, with .save("{name}").'
        )
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    kilobytes = max(1, round(len(raw) / 1000))
    size = f"{kilobytes:,} kB" if len(raw) < 1_000_000 else f"{len(raw) / 1e6:,.1f} MB"
    label = html.escape(text or f"{name} ({size})")
    return (
        f"<a class='landscape-download' download='{html.escape(name)}' "
        f"href='data:{kind};base64,{b64encode(raw).decode('ascii')}'>{label}</a>"
    )
