"""Widgets that are shown no more: closed with all that belongs to them.

A widget that is merely dropped stays open: in the page, in the kernel, and in each notebook that is
saved with its widgets.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets


def close_all(*unused: Any) -> None:
    """Close widgets with their children, layouts and styles, all the way down.

    Parameters
    ----------
    *unused : ipywidgets.Widget
        None of what they hold may be shown elsewhere. What is no widget is passed over, and what is
        closed stays so.

    Examples
    --------
    >>> label, gone = widgets.HTML("400 papers"), widgets.Button()
    >>> box = widgets.VBox([widgets.HBox([label]), gone])
    >>> close_all(box)
    >>> [one.comm for one in (box, box.layout, label, label.style, gone.style)]
    [None, None, None, None, None]
    """
    for one in unused:
        if not isinstance(one, widgets.Widget):
            continue
        close_all(*getattr(one, "children", ()))
        # A figure of plotly has a layout that is none of a widget: its own is passed over above.
        close_all(getattr(one, "layout", None), getattr(one, "style", None))
        one.close()
