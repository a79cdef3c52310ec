"""Figures of the analyses in a notebook: plotly widgets that are whole before a page sees them."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from landscape.widgets.labels import FONT
from landscape.widgets.page_figure import PageFigure

_WIDTH = 812  # pixels: what a notebook's cell has beside its sidebar
_LOWEST_MAP, _HIGHEST_MAP = 400, 640
_LEAST, _MOST = 240, 720
_KEYS_A_LINE, _KEY_LINE = 4, 24
_BELOW = {"orientation": "h", "x": 0, "y": -0.01, "yanchor": "top", "xanchor": "left"}


class ScreenFigure(PageFigure):
    """A figure widget that the page is told of when all of it is there.

    plotly's own opens its line to the page first and sends the figure after it. A page that asks
    for all widgets just then (it has been reloaded, or the kernel was busy) would get an empty
    figure, and would never hear of the rest.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    """

    def __init__(self, figure: Any) -> None:
        self.__dict__["_is_whole"] = False
        super().__init__(figure)
        self._config = {"displaylogo": False, "responsive": False}
        self.__dict__["_is_whole"] = True
        self.open()

    def open(self) -> None:
        """Tell the page of the figure; before it is whole this does nothing."""
        if self.__dict__["_is_whole"]:
            super().open()


def for_screen(figure: Any) -> ScreenFigure:
    """A plotly figure as a widget; its caption stands below it as text, not as a part of it.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        What `landscape.figures.interactive` drew; it stays as it is.

    Returns
    -------
    ScreenFigure
    """
    drawn = go.Figure(figure)
    drawn.layout.annotations = [
        note
        for note in drawn.layout.annotations
        if not (note.xref == "paper" and note.yref == "paper")
    ]
    is_map = drawn.layout.xaxis.visible is False
    keys = sum(trace.showlegend is not False for trace in drawn.data) if is_map else 0
    below = _KEY_LINE * -(-keys // _KEYS_A_LINE) if keys > 1 else 0
    if is_map:
        height = _map_height(drawn) + below
    else:
        height = max(_LEAST, min(drawn.layout.height or 560, _MOST))
    drawn.update_layout(
        width=_WIDTH, height=height, autosize=False,
        margin={"l": 10, "r": 10, "t": 16, "b": 10 + below if is_map else 52},
        legend={"font": {"size": 12}, **(_BELOW if is_map else {})},
        font={"family": FONT, "size": 12},
    )  # fmt: skip
    drawn.update_xaxes(title_font_size=12, title_standoff=8)
    drawn.update_yaxes(title_font_size=12)
    return ScreenFigure(drawn)


def _map_height(drawn: Any) -> int:
    """As high as a map has to be that is as wide as the cell."""
    (x0, x1), (y0, y1) = drawn.layout.xaxis.range, drawn.layout.yaxis.range
    return round(min(max(_WIDTH * (y1 - y0) / (x1 - x0), _LOWEST_MAP), _HIGHEST_MAP))
