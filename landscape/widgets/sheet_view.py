"""Figures for print as pictures in a panel, drawn in the background when somebody looks."""

from __future__ import annotations

import html
import io
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from landscape.errors import LandscapeError
from landscape.widgets.jobs import Job

_DPI = 110


class SheetView(widgets.VBox):
    """One figure, in the colours of a light page or of a dark one.

    Parameters
    ----------
    name : str
        What is drawn, for the reader: "tree".
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._draw: Callable[[str], Any] | None = None
        self._is_drawn = False
        self._job: Job[Any] | None = None
        self._colours = widgets.ToggleButtons(
            options=["light", "dark"], style={"button_width": "70px"},
            tooltips=[f"The {name} for a light page", f"The {name} for a dark page"],
        )  # fmt: skip
        self._colours.observe(lambda _: self._start(), "value")
        self._picture = widgets.HTML()
        super().__init__([self._colours, self._picture])

    def show(self, draw: Callable[[str], Any]) -> None:
        """Have another figure drawn when it is looked at.

        Parameters
        ----------
        draw : callable
            Given "light" or "dark"; returns the Sheet.
        """
        if self._job is not None:
            self._job.stop()
        self._draw, self._is_drawn = draw, False
        self._picture.value = ""

    def look(self) -> None:
        """Draw it, unless it was drawn already."""
        if not self._is_drawn:
            self._is_drawn = True
            self._start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the figure; False if it takes longer."""
        return self._job is None or self._job.wait(seconds)

    def _start(self) -> None:
        draw, colours = self._draw, self._colours.value
        if draw is None or not self._is_drawn:
            return
        if self._job is not None:
            self._job.stop()
        self._put(f"<p class='landscape-quiet'>Drawing the {self._name} …</p>")
        self._job = Job(lambda: picture_html(draw(colours)), done=self._put, failed=self._fail)
        self._job.start()

    def _put(self, page: str) -> None:
        self._picture.value = page

    def _fail(self, error: Exception) -> None:
        is_ours = isinstance(error, LandscapeError)
        said = str(error) if is_ours else f"The {self._name} failed: {error}"
        self._put(f"<p class='landscape-warning'>{html.escape(said)}</p>")


def picture_html(sheet: Any) -> str:
    """A page for print as a picture, with its alternative text.

    Parameters
    ----------
    sheet : Sheet

    Returns
    -------
    str
    """
    buffer = io.BytesIO()
    sheet.savefig(buffer, format="png", dpi=_DPI, facecolor=sheet.get_facecolor())
    source = f"data:image/png;base64,{b64encode(buffer.getvalue()).decode('ascii')}"
    about = html.escape(str(getattr(sheet, "alt_text", "")), quote=True)
    return f"<img class='landscape-page' src='{source}' alt='{about}' style='max-width:100%'>"
