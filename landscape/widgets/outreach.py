"""The outreach map as a panel: the literature as terrain, for posters, slides and the web."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import at_home, write_output
from landscape._progress import Stopped
from landscape._serializer import to_csv
from landscape.errors import InputError
from landscape.widgets.analysis_look import analysis_css
from landscape.widgets.checking import checked_atlas
from landscape.widgets.export import download_link
from landscape.widgets.opened_panel import OpenedPanel
from landscape.widgets.outreach_controls import OutreachControls
from landscape.widgets.outreach_view import (
    code_of,
    picture_html,
    places_html,
    scores_html,
    used_html,
)

if TYPE_CHECKING:
    import os

    from landscape.atlas import Atlas as Atlas
    from landscape.outreach._files import Rendering

_FILES = {
    "PNG": (".png", "The map as a picture, for the web and slides"),
    "PDF": (".pdf", "The map for print, with its words as text"),
    "SVG": (".svg", "The map to edit in a drawing program"),
    "HTML": (".html", "A page to zoom and search, which works offline"),
    "CSV": (".csv", "The places of the map; change names in it and give it as everyday names"),
}
_NAME = "outreach-map"
# What tells of no amounts is told as a step.
_STEPS = ("Shaping the terrain", "Finding the places", "Lettering")


@dataclass(frozen=True)
class Shown:
    """A map, what was chosen for it, and what of it stands on the page."""

    rendering: Rendering
    chosen: Mapping[str, Any]
    picture: str
    scores: str
    places: str


class OutreachPanel(OpenedPanel):
    """Draw the outreach map of an atlas, look at it, and take it away.

    Unlike the other panels this one draws when told to: a large sheet takes minutes.

    Parameters
    ----------
    atlas : Atlas
    **chosen
        As of `landscape.outreach.render`: ``theme, size, title, credits, names`` (path of a CSV
        file), ``language, sea_share, recent_years, weights, seed, strength``; and ``everyday``:
        whether the language model of the environment finds names where `names` has none.

    Attributes
    ----------
    rendering : landscape.outreach.Rendering or None
        The map that is shown.
    selection : dict
        What is chosen, as keywords of the panel.

    Raises
    ------
    InputError
        For a setting that cannot be.

    Examples
    --------
    >>> from landscape.widgets import OutreachPanel
    >>> OutreachPanel(atlas, theme="night", size="slide")  # doctest: +SKIP
    """

    def __init__(self, atlas: Any, **chosen: Any) -> None:
        checked_atlas(atlas)
        self._shown: Shown | None = None
        self._asked, self._turn = 0, threading.Lock()
        self._controls = OutreachControls(chosen, title=atlas.title, on_change=self._change)
        self._draw = widgets.Button(
            description="Draw the map", icon="paint-brush", button_style="primary",
            tooltip="Draw the map with these settings", layout=widgets.Layout(width="160px"),
        )  # fmt: skip
        self._draw.on_click(lambda _: self.draw())
        self._changed = widgets.HTML()
        self._picture, self._used = widgets.HTML(), widgets.HTML()
        self._scores, self._places = widgets.HTML(), widgets.HTML()
        self._links = widgets.HTML()
        said = widgets.HTML("<span class='landscape-quiet'>Download as&nbsp;</span>")
        self._buttons = widgets.HBox(
            [said, *(self._button(words) for words in _FILES)],
            layout=widgets.Layout(flex_flow="row wrap", display="none"),
        )
        self._buttons.add_class("landscape-files")
        super().__init__("Outreach map:", atlas, [])
        style, head, working, status, code = tuple(self.children)
        own = widgets.HTML(
            f"<style>{analysis_css()}</style>", layout=widgets.Layout(display="none")
        )
        asking = widgets.HBox(
            [self._draw, self._changed], layout=widgets.Layout(align_items="center")
        )
        self.children: tuple[widgets.Widget, ...] = (
            style, own, head, self._controls, asking, working, status, self._reopen, self._picture,
            self._used, self._scores, self._buttons, self._links, self._places, code,
        )  # fmt: skip
        self.add_class("landscape-analysis")
        self.draw()

    @property
    def rendering(self) -> Rendering | None:
        """The map that is shown; None before the first."""
        return self._shown.rendering if self._shown else None

    @property
    def selection(self) -> dict[str, Any]:
        """What is chosen, as keywords that open the same panel again."""
        return self._controls.value

    def __repr__(self) -> str:
        theme, size = self.selection["theme"], self.selection["size"]
        return f"<OutreachPanel: {self.atlas.title}, {theme}, {size}>"

    def draw(self) -> None:
        """Draw what is chosen, in the background, and show it."""
        self._asked += 1
        turn, atlas, chosen = self._asked, self._atlas, self.selection
        if self._shown is None:
            self.code = code_of(chosen)
        self._changed.value = ""
        self.run(
            "Drawing the map", lambda: self._work(turn, atlas, chosen), self._show, kind="draw"
        )

    def stop(self) -> None:
        """Stop drawing; the map that was there stays."""
        self._asked += 1
        super().stop()
        self._change()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the map that is shown.

        Parameters
        ----------
        path : path
            ``.png``, ``.pdf``, ``.svg`` or ``.html`` for the map, with gazetteer, alternative text
            and settings beside it; ``.csv`` for the gazetteer alone.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, a folder that cannot be written, or where nothing is shown yet.
        """
        self.wait()
        if self._shown is None:
            raise InputError("No map is drawn yet, so there is nothing to save.")
        return _write(self._shown.rendering, at_home(path))

    # -- drawing

    def _work(self, turn: int, atlas: Atlas, chosen: Mapping[str, Any]) -> Shown:
        with self._turn:  # one at a time: what was stopped meanwhile is not drawn
            if turn != self._asked:
                raise Stopped
            atlas.check_unchanged()
            try:
                rendering = self._render(turn, atlas, chosen)
            finally:
                atlas.check_unchanged()  # else it may be of both, or have failed for that
            return Shown(
                rendering, chosen, picture_html(rendering), scores_html(rendering),
                places_html(rendering),
            )  # fmt: skip

    def _render(self, turn: int, atlas: Atlas, chosen: Mapping[str, Any]) -> Rendering:
        from landscape.outreach import render
        from landscape.outreach._weights import check_weights

        options = {name: value for name, value in chosen.items() if name != "everyday"}
        if options["weights"] is None:
            del options["strength"], options["seed"]
        else:
            check_weights(options["weights"])  # before the language model is asked for names
        if chosen["everyday"]:
            from landscape.llm._client import connect

            options["model"] = connect()

        def tell(note: str) -> None:
            if turn == self._asked:
                self.say(note)

        return render(atlas, **options, note=tell)

    def _show(self, shown: Shown) -> None:
        self._shown = shown
        self._picture.value, self._used.value = shown.picture, used_html(shown.rendering)
        self._scores.value, self._places.value = shown.scores, shown.places
        self._links.value = ""
        self._buttons.layout.display = ""
        self.say("")  # what came up on the way stands below the picture
        self.code = code_of(shown.chosen)
        self._change()

    def _change(self) -> None:
        """Say so where the picture is not that of the settings."""
        differs = self._shown is not None and self._shown.chosen != self.selection
        said = "Settings have changed since this map was drawn." if differs else ""
        self._changed.value = f"<span class='landscape-quiet'>{said}</span>"

    def _tell(self, error: Exception) -> None:
        super()._tell(error)
        self._change()

    def _show_progress(self, task: str, done: float, total: float | None, unit: str) -> None:
        if task not in _STEPS:
            super()._show_progress(task, done, total, unit)
            return
        self._bar.value = (1 + _STEPS.index(task)) / (2 + len(_STEPS))
        self._bar_says.value = f"<span class='landscape-quiet'>{task} …</span>"

    # -- files

    def _button(self, words: str) -> widgets.Button:
        button = widgets.Button(
            description=words, icon="download", tooltip=_FILES[words][1],
            layout=widgets.Layout(width="auto"),
        )  # fmt: skip
        button.on_click(lambda _: self._prepare_file(f"{_NAME}{_FILES[words][0]}"))
        return button

    def _prepare_file(self, name: str) -> None:
        shown = self._shown
        if shown is None:
            return

        def work() -> str:
            with tempfile.TemporaryDirectory() as folder:
                path = _write(shown.rendering, Path(folder) / name)
                return download_link(name, path.read_bytes())

        def put(link: str) -> None:
            if self._shown is shown:
                self._links.value = f"<p>{link}<span class='landscape-quiet'> is ready.</span></p>"

        self.run(f"Writing {name}", work, put, kind=name)


def _write(rendering: Rendering, path: Path) -> Path:
    if path.suffix.lower() != ".csv":
        return rendering.save(path)

    return write_output(path, to_csv(rendering.gazetteer, float_format="%.6g"))
