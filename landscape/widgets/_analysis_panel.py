"""Base classes of the analysis panels: controls, figure, caption, table, files and code."""

from __future__ import annotations

import html
import tempfile
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import ipywidgets as widgets

from landscape._io import expand_home
from landscape._progress import Stopped
from landscape._render import render
from landscape.errors import InputError, require
from landscape.figures.colours import theme as colours_of
from landscape.widgets._code_lines import call, figure_lines
from landscape.widgets._controls import (
    MAX_SAVED_BYTES,
    button,
    checked_atlas,
    close_all,
    css_of,
    make_control,
    panel_texts,
    scrolling,
    style_sheet,
)
from landscape.widgets._figure_view import download_link, for_screen, picture_html, sentence_html
from landscape.widgets._panel import Panel
from landscape.widgets._tables import table_html

if TYPE_CHECKING:
    import os

    import pandas as pd
    import plotly.graph_objects as go

    from landscape.atlas import Atlas
    from landscape.figures.matplotlib_backend import Sheet
    from landscape.figures.scene import Scene
    from landscape.types import Analysis

T = TypeVar("T")
_SAVED_ROWS = 20
_TABLES, _PAGES = (".csv", ".tex", ".json"), (".png", ".pdf", ".svg")

File = tuple[str, str, str, Callable[[Path], object]]
"""Text and tooltip of a button, name of its file, and the function that writes the file."""


class ResultPanel(Panel):
    """A panel that shows a result, with buttons to save the result."""

    _result: object = None

    def __init__(
        self,
        verb: str,
        atlas: Atlas,
        *,
        controls: list[widgets.Widget],
        results: list[widgets.Widget],
    ) -> None:
        self._buttons = widgets.HBox(layout=widgets.Layout(flex_flow="row wrap"))
        self._buttons.add_class("landscape-files")
        self._links = widgets.HTML()
        self._request, self._turn = 0, threading.Lock()
        super().__init__(verb, controls, atlas=checked_atlas(atlas))
        # Progress and errors are shown directly below the controls.
        *head, working, status, code = tuple(self.children)
        self.children: tuple[widgets.Widget, ...] = (
            style_sheet(css_of("analysis")),
            *head,
            working,
            status,
            self._reopen,
            scrolling(*results, code),
            self._buttons,
            self._links,
        )
        self.add_class("landscape-analysis")

    def _draw_newest(
        self, title: str, make: Callable[[Atlas], T], show: Callable[[T], object]
    ) -> None:
        """Run a function in the background. Show its result if there is no newer request."""
        self._request += 1
        request = self._request

        def draw() -> T:
            with self._turn:  # runs one request at a time and skips replaced requests
                if request != self._request:
                    raise Stopped
                atlas = self._newest_atlas()
                atlas.check_unchanged()
                try:
                    return make(atlas)
                finally:
                    # Do not show a result that mixes two builds, or an error from a rebuild.
                    atlas.check_unchanged()

        self.run(title, draw, show, kind="draw")

    def _newest_atlas(self) -> Atlas:
        return self.atlas

    def _offer_files(self, files: Iterable[File]) -> None:
        """Show a button for each file."""
        old = self._buttons.children
        self._buttons.children = [
            widgets.HTML("<span class='landscape-quiet'>Download as&nbsp;</span>"),
            *(
                button(text, tooltip, partial(self._prepare_file, name, write), icon="download")
                for text, tooltip, name, write in files
            ),
        ]
        close_all(*old)

    def _prepare_file(self, name: str, write: Callable[[Path], object]) -> None:
        result = self._result

        def make() -> str:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name
                write(path)
                return download_link(name, path.read_bytes())

        def put(link: str) -> None:
            if self._result is result:
                self._links.value = f"<p>{link}<span class='landscape-quiet'> is ready.</span></p>"

        self.run(f"Writing {name}", make, put, kind=name)


@dataclass(frozen=True)
class Result:
    """Result of an analysis, with its table, figure, code and files."""

    analysis: Analysis
    table: pd.DataFrame
    columns: str  # kind of the table, if it is not that of the analysis
    figure: Sheet | go.Figure
    code: str
    page: Callable[[], Sheet]
    name: str
    atlas: Atlas | None = None

    @property
    def is_page(self) -> bool:
        """Whether the figure is a page for print that has no interactive version."""
        return hasattr(self.figure, "savefig")


class AnalysisPanel(ResultPanel):
    """A panel that runs an analysis in the background after each change of the controls."""

    _result: Result | None = None

    def __init__(
        self, verb: str, atlas: Atlas, *, controls: list[widgets.Widget], theme: str = "light"
    ) -> None:
        require("plotly", "lab")
        colours_of(theme)
        self.theme, self._newest = theme, atlas
        self._figure: Sheet | go.Figure | None = None
        self._known: Any = None
        self._has_offered = False
        self._filling = threading.local()
        again = make_control("shared.draw_again", self.draw)
        self._controls = widgets.HBox(
            [*controls, again],
            layout=widgets.Layout(
                flex_flow="row wrap", align_items="flex-start", grid_gap="6px 10px"
            ),
        )
        self._picture = widgets.Box(layout=widgets.Layout(overflow="auto hidden"))
        self._caption, self._table, self._beside = widgets.HTML(), widgets.HTML(), widgets.VBox()
        self._controls.add_class("landscape-controls")
        super().__init__(
            verb,
            atlas,
            controls=[self._controls],
            results=[self._picture, self._caption, self._table, self._beside],
        )
        if theme == "dark":
            self.add_class("landscape-dark-figure")
        with self._filled_in():
            self._suit_controls()
        self.draw()

    # -- state

    @property
    def analysis(self) -> Analysis | None:
        """The analysis that is shown: table, caption, denominators and warnings."""
        return self._result.analysis if self._result else None

    @property
    def table(self) -> pd.DataFrame | None:
        """The table that is shown, with all its columns."""
        return self._result.table if self._result else None

    @property
    def figure(self) -> Sheet | go.Figure | None:
        """The figure that is shown."""
        return self._figure

    @property
    @abstractmethod
    def selection(self) -> dict[str, object]:
        """The settings as keyword arguments that create the same panel."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.atlas.title}, {self.selection}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure or the table, depending on the suffix of the file."""
        self.wait()
        if self._result is None:
            raise InputError("Nothing is shown yet, so nothing can be saved. Draw a figure first.")
        return self._write(self._result, expand_home(path))

    # -- analysis

    def draw(self) -> None:
        """Run the analysis with the current settings in the background, and show it."""
        look = partial(self._look, self.selection)
        self._mark_outdated(is_outdated=True)
        self._draw_newest("Running the analysis", look, self._show)

    def _mark_outdated(self, *, is_outdated: bool) -> None:
        """Show the results in faded colours if they do not match the settings."""
        for part in (self._picture, self._caption, self._table, self._beside):
            (part.add_class if is_outdated else part.remove_class)("landscape-outdated")

    def _change(self) -> None:
        """Draw again after a change by the user; ignore changes made by the panel."""
        filling = getattr(self, "_filling", None)
        if filling is None or getattr(filling, "is_on", False):
            return
        with self._filled_in():
            self._suit_controls()
        self.draw()

    def _suit_controls(self) -> None:
        """Show only the controls that apply to the chosen view."""

    @contextmanager
    def _filled_in(self) -> Iterator[None]:
        """Set controls without drawing. Changes by the user, in another thread, still draw."""
        self._filling.is_on = True
        try:
            yield
        finally:
            self._filling.is_on = False

    def _take(self, atlas: Atlas) -> None:
        self._newest = atlas  # for the next analysis; the current analysis may still be running
        with self._filled_in():
            self._suit_atlas(atlas)
        self.draw()

    def _suit_atlas(self, atlas: Atlas) -> None:
        """Update the controls for an atlas that was rebuilt."""

    def _prepare(self) -> Any:
        """Read the options of the controls; this runs once, in the background."""
        return None

    def _offer(self, known: Any) -> None:
        """Set the options of the controls to the result of `_prepare`."""

    @abstractmethod
    def _make(self, chosen: Mapping[str, object]) -> Result:
        """Run the analysis and draw its figure in the background, after `_prepare`."""

    def _analysed(
        self,
        function: str,
        kind: str,
        name: str,
        *arguments: object,
        columns: str = "",
        scene_of: Callable[[Analysis], Scene] | None = None,
        table: Callable[[Analysis], pd.DataFrame] = lambda found: found.table,
        unwritten: Mapping[str, object] | None = None,
        **options: object,
    ) -> Result:
        """Run a function of `landscape.overlays`, draw its figure, and write the code for both.

        If `scene_of` is None, the figure shows values with intervals. `unwritten` contains
        arguments that save time but are not shown in the code.
        """
        from landscape.figures import intervals
        from landscape.figures.export import draw

        found = analyse(self.atlas, function, *arguments, **options, **(unwritten or {}))
        if scene_of is None:
            scene = intervals.scene(kind, self.atlas, analysis=found, colours=self.theme)
        else:
            scene = scene_of(found)
        line = call(f"ls.overlays.{function}", *arguments, **options)
        code = figure_lines(
            line,
            kind,
            *arguments,
            printed=None if scene_of else "intervals",
            **options,
            colours=self._colours,
        )
        figure = draw(scene, "plotly")
        return Result(found, table(found), columns, figure, code, lambda: draw(scene), name)

    def _put_beside(self, result: Result) -> list[widgets.Widget]:  # noqa: ARG002 - some panels do
        """Return the widgets below the table."""
        return []

    def _newest_atlas(self) -> Atlas:
        if self.atlas is not self._newest:
            self._atlas, self._known, self._has_offered = self._newest, None, False
        return self.atlas

    def _look(self, chosen: Mapping[str, object], atlas: Atlas) -> tuple[Result, str, str]:
        if self._known is None:
            self._known = self._prepare()
        result = replace(self._make(chosen), atlas=atlas)
        picture = picture_html(result.figure) if result.is_page else sentence_html(result.figure)
        about = f"Table: {result.analysis.caption}"
        return (
            result,
            picture,
            table_html(result.table, result.columns or result.analysis.kind, about=about),
        )

    def _show(self, made: tuple[Result, str, str]) -> None:
        result, picture, table = made
        if not self._has_offered:
            self._has_offered = True
            with self._filled_in():
                self._offer(self._known)
        old = (*self._picture.children, *self._beside.children)
        self._result = result
        self._figure = result.figure if picture else for_screen(result.figure)
        self._picture.children = [widgets.HTML(picture) if picture else self._figure]
        self._caption.value = render("panel_results.html", part="caption", found=result.analysis)
        self._table.value = table
        self._beside.children = self._put_beside(result)
        close_all(*old)
        self._mark_outdated(is_outdated=False)
        self._links.value = ""
        self._offer_files(self._files(result))
        self.code = result.code

    def _result_html(self) -> str:
        if self._result is None:
            return ""
        found, n = self._result, _SAVED_ROWS
        caption = f"<p>{html.escape(found.analysis.caption)}</p>"
        kind = found.columns or found.analysis.kind
        while n:
            page = caption + table_html(found.table.head(n), kind, about="")
            if len(page.encode()) <= MAX_SAVED_BYTES:
                return page
            n //= 2
        return ""

    # -- files

    def _files(self, result: Result) -> Iterator[File]:
        for words, (suffix, tooltip) in panel_texts()["analysis_files"].items():
            if suffix != ".html" or not result.is_page:
                yield words, tooltip, f"{result.name}{suffix}", partial(self._write, result)

    @property
    def _colours(self) -> str | None:
        """The theme as an argument for the code, or None for the default theme."""
        return None if self.theme == "light" else self.theme

    def _write(self, result: Result, path: Path) -> Path:
        from landscape.figures import save_figure, save_table

        suffix = path.suffix.lower()
        if suffix in _TABLES:
            return save_table(replace(result.analysis, table=result.table), path)
        if suffix == ".html" and not result.is_page:
            return save_figure(result.figure, path)
        if suffix in _PAGES:
            if result.atlas is not None:
                result.atlas.check_unchanged()  # the page may not be drawn yet
            return save_figure(result.page(), path)
        suffixes = [*_TABLES, *_PAGES, *([] if result.is_page else [".html"])]
        raise InputError(
            f"The result cannot be written as {path.name!r}; use a name that ends in one of "
            f"{', '.join(suffixes)}."
        )


def analyse(atlas: Atlas, function: str, *arguments: object, **options: object) -> Analysis:
    """Run a public function of `landscape.overlays`, such as ``"trends.trends"``."""
    module, _, name = function.rpartition(".")
    return getattr(import_module(f"landscape.overlays.{module}"), name)(
        atlas, *arguments, **options
    )


def choose_one(
    options: Sequence[tuple[str, object]], label: str, tooltip: str, write: Callable[[Any], str]
) -> list[widgets.Widget]:
    """Return a drop-down list, and HTML that shows `write(value)` for the chosen value."""
    chooser = make_control("shared.one_of", options=options, description=label, tooltip=tooltip)
    shown = widgets.HTML(write(chooser.value))
    chooser.observe(lambda _: setattr(shown, "value", write(chooser.value)), "value")
    return [chooser, shown]
