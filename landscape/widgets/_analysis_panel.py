"""The shared parts of the analysis panels: controls, figure, caption, table, files, code."""

from __future__ import annotations

import tempfile
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import expand_home
from landscape._progress import Stopped
from landscape.errors import InputError, require
from landscape.figures._colours import theme as colours_of
from landscape.widgets._code_lines import figure_lines
from landscape.widgets._figure_view import (
    analysis_css,
    caption_html,
    download_link,
    is_page,
    picture_html,
)
from landscape.widgets._panel import OpenedPanel, close_all
from landscape.widgets._tables import Column, table_html

if TYPE_CHECKING:
    import os

    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.types import Analysis

_TABLES, _PAGES = (".csv", ".tex", ".json"), (".png", ".pdf", ".svg")
_FILES = {"CSV": ".csv", "LaTeX": ".tex", "PNG": ".png", "PDF": ".pdf", "HTML": ".html"}
_SAID = {
    ".csv": "The whole table, for a spreadsheet or the next program",
    ".tex": "The whole table, for a paper (needs the package booktabs)",
    ".png": "The figure for print, as a picture",
    ".pdf": "The figure for print",
    ".html": "The figure on the screen, as a page that works offline",
}


@dataclass(frozen=True)
class View:
    """One thing that a panel shows."""

    analysis: Analysis
    table: pd.DataFrame
    columns: Sequence[Column]
    figure: Any
    code: str
    page: Callable[[], Any] | None
    name: str
    files: Mapping[str, tuple[str, Callable[[], str]]] = field(default_factory=dict)
    atlas: Atlas | None = None


class AnalysisPanel(OpenedPanel):
    """A panel that runs an analysis in the background on each change; the newest request wins."""

    def __init__(
        self, verb: str, atlas: Atlas, *, controls: list[widgets.Widget], theme: str = "light"
    ) -> None:
        require("plotly", "lab")
        colours_of(theme)
        self.theme, self._newest = theme, atlas
        self._view: View | None = None
        self._figure: Any = None
        self._known: Any = None
        self._has_offered = False
        self._asked, self._turn, self._filling = 0, threading.Lock(), threading.local()
        self._again = widgets.Button(
            description="Draw again", icon="refresh", tooltip="Draw with these settings once more",
            layout=widgets.Layout(width="auto"),
        )  # fmt: skip
        self._again.on_click(lambda _: self.draw())
        self._controls = widgets.HBox(
            [*controls, self._again],
            layout=widgets.Layout(
                flex_flow="row wrap", align_items="flex-start", grid_gap="6px 10px"
            ),
        )
        self._picture = widgets.Box(layout=widgets.Layout(overflow="auto hidden"))
        self._caption, self._table = widgets.HTML(), widgets.HTML()
        self._beside = widgets.VBox()
        self._buttons = widgets.HBox(layout=widgets.Layout(flex_flow="row wrap"))
        self._links = widgets.HTML()
        super().__init__(verb, atlas, [self._controls])
        # Progress and errors are shown directly below the controls.
        style, head, body, working, status, code = tuple(self.children)
        own = widgets.HTML(
            f"<style>{analysis_css()}</style>", layout=widgets.Layout(display="none")
        )
        self.add_class("landscape-analysis")
        if theme == "dark":
            self.add_class("landscape-dark-figure")
        self._controls.add_class("landscape-controls")
        self._buttons.add_class("landscape-files")
        self.children: tuple[widgets.Widget, ...] = (
            style, own, head, body, working, status, self._reopen, self._picture, self._caption,
            self._table, self._beside, self._buttons, self._links, code,
        )  # fmt: skip

    # -- state

    @property
    def analysis(self) -> Analysis | None:
        """The analysis shown: table, caption, denominators, warnings."""
        return self._view.analysis if self._view else None

    @property
    def table(self) -> pd.DataFrame | None:
        """The table that is shown, with all its columns."""
        return self._view.table if self._view else None

    @property
    def figure(self) -> Any:
        """The figure that is shown."""
        return self._figure

    @property
    @abstractmethod
    def selection(self) -> dict[str, Any]:
        """The settings, as keywords that open the same panel again."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.atlas.title}, {self.selection}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write what is shown."""
        self.wait()
        return self._write(self._shown(), expand_home(path))

    # -- asking

    def draw(self) -> None:
        """Ask the map what is chosen, in the background, and show the answer."""
        self._asked += 1
        turn, chosen = self._asked, self.selection
        self._mark_outdated(is_outdated=True)
        self.run("Asking the map", lambda: self._look(turn, chosen), self._show, kind="draw")

    def _mark_outdated(self, *, is_outdated: bool) -> None:
        """Fade the results while they differ from the controls."""
        for part in (self._picture, self._caption, self._table, self._beside):
            (part.add_class if is_outdated else part.remove_class)("landscape-outdated")

    def _change(self) -> None:
        """Draw after a change by the user; changes made by the panel are ignored."""
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
        """Fill controls in; what the user changes meanwhile, in another thread, still counts."""
        self._filling.is_on = True
        try:
            yield
        finally:
            self._filling.is_on = False

    def _take(self, atlas: Atlas) -> None:
        self._newest = atlas  # not in the midst of work that reads the old one
        with self._filled_in():
            self._suit_atlas(atlas)
        self.draw()

    def _suit_atlas(self, atlas: Atlas) -> None:
        """Update the controls for an atlas that was rebuilt."""

    def _forget(self) -> None:
        """Drop the data read from an atlas that was rebuilt."""
        self._known, self._has_offered = None, False

    def _prepare(self) -> Any:
        """Read what the controls offer; once, in the background."""
        return None

    def _offer(self, known: Any) -> None:
        """Put what `_prepare` read into the controls."""

    @abstractmethod
    def _make(self, chosen: Mapping[str, Any]) -> View:
        """Ask and draw, in the background; ``self._known`` is what `_prepare` gave."""

    def _view_of(
        self, found: Analysis, columns: Sequence[Column], page: Any, name: str, asked: str,
        kind: str, *arguments: Any, printed: str | None = None, table: pd.DataFrame | None = None,
        files: Mapping[str, tuple[str, Callable[[], str]]] | None = None, **options: Any,
    ) -> View:  # fmt: skip
        """Show one drawn figure with its table and the code of both."""
        from landscape.figures._plotly import draw_panels

        code = figure_lines(
            asked, kind, *arguments, printed=printed, **options, colours=self._colours
        )
        shown = found.table if table is None else table
        figure = draw_panels(page.scene)
        return View(found, shown, columns, figure, code, lambda: page, name, files or {})

    def _chart(
        self, kind: str, found: Analysis, columns: Sequence[Column], name: str, asked: str,
        *arguments: Any, **options: Any,
    ) -> View:  # fmt: skip
        """Show a chart of values with their intervals."""
        from landscape.figures._intervals import draw_intervals

        page = draw_intervals(kind, found, colours=self.theme)
        return self._view_of(
            found, columns, page, name, asked, kind, *arguments, printed="intervals", **options
        )

    def _put_beside(self, view: View) -> list[widgets.Widget]:  # noqa: ARG002 - for some panels
        """The widgets below the table."""
        return []

    def _look(self, turn: int, chosen: Mapping[str, Any]) -> tuple[View, str]:
        with self._turn:  # one at a time; replaced requests are skipped
            if turn != self._asked:
                raise Stopped
            if self._atlas is not self._newest:
                self._atlas = self._newest
                self._forget()
            atlas = self._atlas
            atlas.check_unchanged()
            try:
                if self._known is None:
                    self._known = self._prepare()
                view = replace(self._make(chosen), atlas=atlas)
            finally:
                atlas.check_unchanged()  # else it may be of both, or have failed for that
            if is_page(view.figure):
                view = replace(view, figure=(view.figure, picture_html(view.figure)))
            about = f"Table: {view.analysis.caption}"
            return view, table_html(view.table, view.columns, about=about)

    def _show(self, made: tuple[View, str]) -> None:
        view, table = made
        if not self._has_offered:
            self._has_offered = True
            with self._filled_in():
                self._offer(self._known)
        old = (*self._picture.children, *self._beside.children)
        self._view = view
        if isinstance(view.figure, tuple):
            self._figure, picture = view.figure
            self._picture.children = [widgets.HTML(picture)]
        else:
            from landscape.widgets._figure_view import for_screen

            self._figure = for_screen(view.figure)
            self._picture.children = [self._figure]
        self._caption.value = caption_html(view.analysis)
        self._table.value = table
        self._beside.children = self._put_beside(view)
        close_all(*old)
        self._mark_outdated(is_outdated=False)
        self._links.value = ""
        self._offer_files(view)
        self.code = view.code

    # -- files

    def _offer_files(self, view: View) -> None:
        kinds = {
            words: suffix
            for words, suffix in _FILES.items()
            if suffix in _TABLES
            or (view.page is not None if suffix in _PAGES else not isinstance(view.figure, tuple))
        }
        buttons = [
            self._file_button(words, _SAID[suffix], f"{view.name}{suffix}", None)
            for words, suffix in kinds.items()
        ]
        buttons += [
            self._file_button(words, name, name, make) for words, (name, make) in view.files.items()
        ]
        old = self._buttons.children
        said = widgets.HTML("<span class='landscape-quiet'>Download as&nbsp;</span>")
        self._buttons.children = [said, *buttons]
        close_all(*old)

    def _file_button(
        self, words: str, tooltip: str, name: str, make: Callable[[], str] | None
    ) -> widgets.Button:
        button = widgets.Button(
            description=words, icon="download", tooltip=tooltip, layout=widgets.Layout(width="auto")
        )
        button.on_click(lambda _: self._prepare_file(name, make))
        return button

    def _prepare_file(self, name: str, make: Callable[[], str] | None) -> None:
        view = self._shown()

        def work() -> str:
            if make is not None:
                return download_link(name, make())
            with tempfile.TemporaryDirectory() as folder:
                return download_link(name, self._write(view, Path(folder) / name).read_bytes())

        def put(link: str) -> None:
            if self._view is view:
                self._links.value = f"<p>{link}<span class='landscape-quiet'> is ready.</span></p>"

        self.run(f"Writing {name}", work, put, kind=name)

    def _shown(self) -> View:
        if self._view is None:
            raise InputError("Nothing is shown yet, so there is nothing to save.")
        return self._view

    @property
    def _colours(self) -> str | None:
        """The theme as an argument in code; None for the default."""
        return None if self.theme == "light" else self.theme

    def _write(self, view: View, path: Path) -> Path:
        from landscape.figures import save_figure, save_table

        suffix = path.suffix.lower()
        if suffix in _TABLES:
            return save_table(replace(view.analysis, table=view.table), path)
        if suffix == ".html" and not isinstance(view.figure, tuple):
            return save_figure(view.figure, path)
        if suffix in _PAGES and view.page is not None:
            if view.atlas is not None:
                view.atlas.check_unchanged()  # it is drawn only now
            return save_figure(view.page(), path)
        useful = [*_TABLES, *(_PAGES if view.page else ())]
        useful += [] if isinstance(view.figure, tuple) else [".html"]
        raise InputError(
            f"What is shown cannot be written as {path.name!r}; use a name that ends in one of "
            f"{', '.join(useful)}."
        )
