"""Messages between the figure of the map and a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from jupyter_client.jsonutil import json_clean

# Private modules: no public function exposes the steps tested here by themselves.
from landscape.figures.colours import theme
from landscape.widgets._map_figure import MapFigure, figure_parts
from landscape.widgets._view import View


def test_a_page_that_comes_back_after_a_lasso_is_told_everything() -> None:
    figure = MapFigure(figure_parts(View((0, 0, 1, 1)), (300, 200), theme("light")))
    figure.publish(lambda: None)
    # What plotly.js says of a lasso holds values that are undefined.
    lasso = {
        "type": "path",
        "path": "M0,0L1,0L1,1Z",
        "xref": "x",
        "yref": "y",
        "line": "_undefined_",
    }
    said: dict[str, Any] = {"relayout_data": {"selections": [lasso]}, "source_view_id": "a"}
    figure.set_state({"_js2py_relayout": said})
    state = figure.get_state()
    state.pop("_bundle")
    json_clean(state)  # as the kernel does: it refuses what no page can be told
    assert state["_widget_layout"]["selections"][0]["path"] == lasso["path"]


def test_what_comes_with_the_defaults_of_a_page_is_not_lost() -> None:
    figure = MapFigure(figure_parts(View((0, 0, 1, 1)), (300, 200), theme("light")))
    with figure.drawing():
        figure.trace("papers").x = np.array([0.1, 0.2])
    filled_in = [{"uid": trace.uid, "x": {"dtype": "f8"}} for trace in figure.data]
    figure.set_state(
        {
            "_js2py_traceDeltas": {
                "trace_deltas": filled_in,
                "trace_edit_id": figure._last_trace_edit_id,
            },
            "_js2py_relayout": {
                "relayout_data": {"xaxis.range[0]": 0.2, "xaxis.range[1]": 0.4},
                "source_view_id": "a",
            },
        }
    )
    assert figure.layout.xaxis.range == (0.2, 0.4)
