"""The figure of the map, as a page is told of it."""

from __future__ import annotations

from typing import Any

from jupyter_client.jsonutil import json_clean

from landscape.figures.colours import theme
from landscape.widgets.map_figure import MapFigure, figure_parts
from landscape.widgets.views import View


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
