"""What the panels of the map's analyses share: controls, figure, caption, table, files, code."""

from __future__ import annotations

import html
import io
import json
import tempfile
import threading
from abc import abstractmethod
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.errors import InputError, require
from landscape.figures.colours import theme as colours_of
from landscape.progress import Stopped
from landscape.widgets.export import download_link
from landscape.widgets.panel import Panel
from landscape.widgets.table_view import Column, table_html

if TYPE_CHECKING:
    import os

    import pandas as pd

    from landscape.overlays.analysis import Analysis

_PAGE_DPI = 110
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
    """One thing that a panel shows.

    Attributes
    ----------
    analysis : Analysis
        The answer of the map.
    table : pandas.DataFrame
        What of it is tabled, and written into files.
    columns : sequence of Column
        What of the table is read in the panel.
    figure : plotly figure or Sheet
        For the screen; a page for print is shown as a picture.
    code : str
        Lines that make the same from ``ls`` and ``atlas``.
    page : callable or None
        Draws the figure for print.
    name : str
        Of files.
    files : mapping of str to (str, callable)
        Further files: by what the button says, the name and what makes the text.
    """

    analysis: Analysis
    table: pd.DataFrame
    columns: Sequence[Column]
    figure: Any
    code: str
    page: Callable[[], Any] | None
    name: str
    files: Mapping[str, tuple[str, Callable[[], str]]] = field(default_factory=dict)


class AnalysisPanel(Panel):
    """A panel that asks the map something, and shows the answer.

    Whatever the user changes is drawn at once, in the background; a newer wish replaces an older.

    Parameters
    ----------
    atlas : Atlas
    heading : str
    controls : list of ipywidgets.Widget
    theme : {"light", "dark"}, default "light"
        Colours of the figures; those of the controls are the notebook's.

    Attributes
    ----------
    analysis : Analysis or None
        What is shown; None before the first.
    figure : plotly.graph_objects.FigureWidget or matplotlib.figure.Figure or None
        What is shown.
    selection : dict
        What is chosen, as keywords of the panel.
    """

    def __init__(
        self, atlas: Any, *, heading: str, controls: list[widgets.Widget], theme: str = "light"
    ) -> None:
        require("plotly", "lab")
        colours_of(theme)
        self.atlas, self.theme = atlas, theme
        self._view: View | None = None
        self._figure: Any = None
        self._known: Any = None
        self._has_offered = False
        self._asked, self._turn, self._filling = 0, threading.Lock(), False
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
        super().__init__(heading, [self._controls])
        # Progress and errors stand where the eye is when something was changed: below the controls.
        style, head, body, working, status, code = tuple(self.children)
        own = widgets.HTML(f"<style>{_css()}</style>", layout=widgets.Layout(display="none"))
        self.add_class("landscape-analysis")
        if theme == "dark":
            self.add_class("landscape-dark-figure")
        self._controls.add_class("landscape-controls")
        self._buttons.add_class("landscape-files")
        self.children: tuple[widgets.Widget, ...] = (
            style, own, head, body, working, status, self._picture, self._caption, self._table,
            self._beside, self._buttons, self._links, code,
        )  # fmt: skip

    # -- what a panel tells

    @property
    def analysis(self) -> Analysis | None:
        """What is shown: table, caption, denominators, warnings."""
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
        """What is chosen, as keywords that open the same panel again."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.atlas.title}, {self.selection}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write what is shown.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tex`` or ``.json`` for the table; ``.pdf``, ``.png`` or ``.svg`` for the
            figure in print; ``.html`` for the figure on the screen, which works offline.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, a folder that cannot be written, or where nothing is shown yet.
        """
        self.wait()
        return self._write(self._shown(), Path(path).expanduser())

    # -- asking

    def draw(self) -> None:
        """Ask the map what is chosen, in the background, and show the answer."""
        if self._filling:
            return
        self._asked += 1
        turn, chosen = self._asked, self.selection
        self.run("Asking the map", lambda: self._look(turn, chosen), self._show, kind="draw")

    def _prepare(self) -> Any:
        """Read what the controls offer; once, in the background."""
        return None

    def _offer(self, known: Any) -> None:
        """Put what `_prepare` read into the controls."""

    @abstractmethod
    def _make(self, chosen: Mapping[str, Any]) -> View:
        """Ask and draw, in the background; ``self._known`` is what `_prepare` gave."""

    def _put_beside(self, view: View) -> list[widgets.Widget]:  # noqa: ARG002 - for some panels
        """What stands below the table."""
        return []

    def _look(self, turn: int, chosen: Mapping[str, Any]) -> tuple[View, str]:
        with self._turn:  # one at a time: wishes that were replaced meanwhile are not worked on
            if turn != self._asked:
                raise Stopped
            if self._known is None:
                self._known = self._prepare()
            view = self._make(chosen)
            if _is_page(view.figure):
                view = replace(view, figure=(view.figure, _as_picture(view.figure)))
            about = f"Table: {view.analysis.caption}"
            return view, table_html(view.table, view.columns, about=about)

    def _show(self, made: tuple[View, str]) -> None:
        view, table = made
        if not self._has_offered:
            self._has_offered = self._filling = True
            try:
                self._offer(self._known)
            finally:
                self._filling = False
        old = self._figure
        self._view = view
        if isinstance(view.figure, tuple):
            self._figure, picture = view.figure
            self._picture.children = [widgets.HTML(picture)]
        else:
            from landscape.widgets.screen_figure import for_screen

            self._figure = for_screen(view.figure)
            self._picture.children = [self._figure]
        if isinstance(old, widgets.Widget):
            old.close()
        self._caption.value = _caption_html(view.analysis)
        self._table.value = table
        self._beside.children = self._put_beside(view)
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
        for old in self._buttons.children:
            old.close()
        said = widgets.HTML("<span class='landscape-quiet'>Download as&nbsp;</span>")
        self._buttons.children = [said, *buttons]

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

    def _write(self, view: View, path: Path) -> Path:
        from landscape.figures import save_figure, save_table

        suffix = path.suffix.lower()
        if suffix in _TABLES:
            return save_table(replace(view.analysis, table=view.table), path)
        if suffix == ".html" and not isinstance(view.figure, tuple):
            return save_figure(view.figure, path)
        if suffix in _PAGES and view.page is not None:
            return save_figure(view.page(), path)
        useful = [*_TABLES, *(_PAGES if view.page else ())]
        useful += [] if isinstance(view.figure, tuple) else [".html"]
        raise InputError(
            f"What is shown cannot be written as {path.name!r}; use a name that ends in one of "
            f"{', '.join(useful)}."
        )


# -- controls that several panels have


def what_control(kinds: Mapping[str, str], chosen: str, on_change: Callable[[], None]) -> Any:
    """A list of what a panel can show.

    Parameters
    ----------
    kinds : mapping of str to str
        What is offered, by its key.
    chosen : str
        A key.
    on_change : callable

    Raises
    ------
    InputError
        If there is no such key.
    """
    if chosen not in kinds:
        raise InputError(f"There is no {chosen!r} to show; use one of {', '.join(kinds)}.")
    control = widgets.Dropdown(
        options=[(words, key) for key, words in kinds.items()], value=chosen, description="Show",
        tooltip="What to show", style={"description_width": "initial"},
        layout=widgets.Layout(width="264px"),
    )  # fmt: skip
    control.observe(lambda _: on_change(), "value")
    return control


class YearsControl(widgets.IntRangeSlider):
    """First and last year; the whole range stands for all papers, those without a date too.

    Parameters
    ----------
    atlas : Atlas
    since, until : int, optional
    on_change : callable

    Attributes
    ----------
    corpus : (int, int)
        First and last year of the corpus.
    """

    def __init__(
        self, atlas: Any, since: int | None, until: int | None, on_change: Callable[[], None]
    ) -> None:
        dates = (str(atlas.coverage[end] or "")[:4] for end in ("first_date", "last_date"))
        first, last = (int(year) if year.isdigit() else 0 for year in dates)
        self.corpus = first, last
        low = min([first, *(year for year in (since, until) if year is not None)])
        high = max([last, *(year for year in (since, until) if year is not None)])
        super().__init__(
            value=(first if since is None else since, last if until is None else until),
            min=low, max=high, step=1, description="Years", continuous_update=False,
            readout_format="d", tooltip="First and last year, both included",
            style={"description_width": "initial"}, layout=widgets.Layout(width="380px"),
        )  # fmt: skip
        self.observe(lambda _: on_change(), "value")

    @property
    def period(self) -> dict[str, int | None]:
        """``since`` and ``until``, None where that end is open."""
        low, high = self.value
        return {
            "since": None if low == self.corpus[0] else int(low),
            "until": None if high == self.corpus[1] else int(high),
        }


def check_period(since: int | None, until: int | None) -> None:
    """Refuse a period that ends before it begins.

    Raises
    ------
    InputError
    """
    if since is not None and until is not None and since > until:
        raise InputError(f"The period {since}-{until} ends before it begins; swap the years.")


def show_only(controls: Mapping[widgets.Widget, bool]) -> None:
    """Show those controls that say something now, and hide the others."""
    for control, is_shown in controls.items():
        control.layout.display = None if is_shown else "none"


# -- lines of code


def call(function: str, *arguments: Any, **options: Any) -> str:
    """A call as a line of code; what is None is left to its default.

    Examples
    --------
    >>> call("ls.figures.trends", since=2010, until=None)
    'ls.figures.trends(atlas, since=2010)'
    >>> call("ls.figures.compare", "facility:HST", "..2005")
    'ls.figures.compare(atlas, "facility:HST", "..2005")'
    """
    return _call(function, ["atlas", *map(_written, arguments)], options)


def twin_call(kind: str, *arguments: Any, **options: Any) -> str:
    """The call of a figure's twin for the screen.

    Examples
    --------
    >>> twin_call("trends")
    'ls.figures.interactive("trends", atlas)'
    """
    parts = [_written(kind), "atlas", *map(_written, arguments)]
    return _call("ls.figures.interactive", parts, options)


def intervals_call(kind: str, *arguments: Any, **options: Any) -> str:
    """The call of a chart of intervals for print."""
    parts = [_written(kind), "atlas", *map(_written, arguments)]
    return _call("ls.figures.intervals", parts, options)


def lines(*, found: str, figure: str | None, page: str | None) -> str:
    """Lines of code: the analysis, the figure on the screen, the page for print."""
    named = (("found", found), ("figure", figure), ("page", page))
    return "\n".join(f"{name} = {made}" for name, made in named if made)


def _call(function: str, parts: list[str], options: Mapping[str, Any]) -> str:
    told = [f"{name}={_written(value)}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join([*parts, *told])})"


def _written(value: Any) -> str:
    """A value as Python writes it, strings in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(k)}: {_written(v)}' for k, v in value.items())}}}"
    return repr(value)


# -- how things look


@cache
def _css() -> str:
    return files("landscape.widgets").joinpath("analysis.css").read_text(encoding="utf-8")


def _is_page(figure: Any) -> bool:
    return hasattr(figure, "savefig")


def _as_picture(page: Any) -> str:
    """A page for print as a picture in the notebook, with its alternative text."""
    buffer = io.BytesIO()
    page.savefig(buffer, format="png", dpi=_PAGE_DPI, facecolor=page.get_facecolor())
    source = f"data:image/png;base64,{b64encode(buffer.getvalue()).decode('ascii')}"
    about = html.escape(str(getattr(page, "alt_text", "")), quote=True)
    return f"<img class='landscape-page' src='{source}' alt='{about}' style='max-width:100%'>"


def _caption_html(found: Analysis) -> str:
    notes = [note for note in found.notes if note not in found.warnings]
    generated = notes.pop() if found.bounds.get("generated") else ""
    sources = found.bounds.get("sources") or {}
    named = ", ".join(f"{name} ({count:,})" for name, count in dict(sources).items())
    quiet = " ".join([*notes, f"Sources: {named}." if named else ""])
    told = [f"<strong>{html.escape(generated)}</strong> " if generated else ""]
    told += [html.escape(found.caption)]
    told_apart = "".join(f"<div>{html.escape(warning)}</div>" for warning in found.warnings)
    warnings = (
        f"<div class='landscape-warning landscape-quiet'>{told_apart}</div>" if told_apart else ""
    )
    return (
        f"<div class='landscape-caption'>{''.join(told)}</div>"
        f"<div class='landscape-quiet'>{html.escape(quiet)}</div>{warnings}"
    )
