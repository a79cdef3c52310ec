"""Figure widgets that hear what the user does on a page, and nothing else."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from traitlets import observe


class PageFigure(go.FigureWidget):
    """A figure widget that leaves the defaults alone which plotly.js fills in on a page.

    plotly.py wants to keep them beside the figure and fails over arrays, unseen; what came in the
    same message, such as the window after the last turn of the wheel, would be lost with them.
    """

    @observe("_js2py_traceDeltas")
    def _handler_js2py_traceDeltas(self, change: Any) -> None:  # noqa: N802 - plotly.py's name
        if change["new"] is not None:
            self._js2py_traceDeltas = None
