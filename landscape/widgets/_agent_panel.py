"""Base classes of the panels that use a language model."""

from __future__ import annotations

import re
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import ipywidgets as widgets

from landscape._bibliography import to_bibtex
from landscape._io import check_output, write_output
from landscape._progress import progress
from landscape._render import escape, render
from landscape._serializer import to_csv, to_json
from landscape._wording import count
from landscape.errors import InputError
from landscape.llm.interruption import STOPPED, Interruptible
from landscape.widgets._code_lines import Name
from landscape.widgets._connection import Connection
from landscape.widgets._controls import (
    checked_atlas,
    css_of,
    cut_text_html,
    make_control,
    panel_texts,
    quiet_html,
    scrolling,
    style_sheet,
)
from landscape.widgets._figure_view import download_link
from landscape.widgets._panel import Panel

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.types import Paper
    from landscape.widgets._tables import PaperList

    Listed = tuple[pd.DataFrame, list[tuple[str, Paper, bool]]]
    """A table, and for each row the key, the paper, and whether it is selected by default."""

T = TypeVar("T")
R = TypeVar("R")
_SHOWN_STEPS = 8
_FAILED = re.compile(rf"The language model failed:? ?\(?{STOPPED}\)?\.?")

# Waiting time in seconds. While the kernel is busy, the page sends the last letters typed after the
# Enter key or the click that follows them.
_LAST_KEYS = 0.25


@dataclass(frozen=True)
class AgentRun:
    """One run of an agent: its model, its progress callback, and its stop signal."""

    model: Interruptible | None
    step: Callable[[str], None]
    stopping: threading.Event

    @property
    def model_name(self) -> str | None:
        """Name of the language model, or None if no model is used."""
        return None if self.model is None else self.model.model


class QueryPanel(Panel, Generic[R]):
    """A panel that answers from an atlas with an agent; the language model is optional.

    Its entry in ``panels.yaml`` contains the heading, the messages and the files to download.
    """

    _papers: PaperList

    def __init__(self, kind: str, atlas: Atlas, *, connection: Connection | None) -> None:
        self._texts = panel_texts()["agents"][kind]
        super().__init__(self._texts["verb"], [], atlas=checked_atlas(atlas))
        self._value: R | None = None
        self._stopping: threading.Event | None = None
        self._steps: list[str] = []
        self._written_by: str | None = None  # of the last run
        self.connection = connection if connection is not None else Connection()
        self._model_line, self._live, self._files = (widgets.HTML() for _ in range(3))
        self._comment = make_control("shared.comment")
        up = make_control("shared.up", lambda: self._try(lambda: self.rate(True)))
        down = make_control("shared.down", lambda: self._try(lambda: self.rate(False)))
        self._rating = widgets.HBox([up, down, self._comment])
        self._rating.layout.display = "none"
        self._kind = kind
        if kind != "ask":  # whose styles are in ask.css
            self.add_class("landscape-scholar")

    @property
    def value(self) -> R | None:
        """The result that is shown, or None if there is no result yet."""
        return self._value

    @property
    def selection(self) -> pd.DataFrame | None:
        """The papers that the user ticked, or a default selection if no paper is ticked.

        The default is all papers of an answer or of a search for papers to cite, the selected
        papers of a survey, and the selected paper of an excerpt (or all guesses if none is
        selected).
        """
        return None if self._value is None else self._picked(self._value)[0]

    @abstractmethod
    def _listed(self, found: R) -> Listed:
        """Return the table and the papers of a result."""

    def _picked(self, found: R) -> tuple[pd.DataFrame, list[Paper]]:
        """Return the papers of `selection` as a table and as records."""
        table, listed = self._listed(found)
        ticked = self._papers.chosen
        rows = [key in ticked if ticked else by_default for key, _, by_default in listed]
        papers = [paper for _, paper, _ in listed]
        return table.loc[rows].reset_index(drop=True), [*compress(papers, rows)]

    def save(self, path: str | Path) -> Path:
        """Write the result that is shown to a file.

        Parameters
        ----------
        path : path
            File name. The extension selects one of the formats that the panel offers as links.
            BibTeX and CSV files contain the papers of `selection`.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            If the extension is unknown, there is no result, or the file cannot be written.
        """
        endings = [Path(name).suffix for name in self._texts["files"]]
        target = check_output(path, endings, what=self._texts["result"])
        if self._value is None:
            raise InputError(self._texts["unsaved"])
        return write_output(target, self._file(target.suffix.lower()))

    def rate(self, is_good: bool, comment: str | None = None) -> Path:
        """Store a rating of the result that is shown in a file of your own.

        Parameters
        ----------
        is_good : bool
        comment : str, optional
            One line. Default: the text of the field.

        Returns
        -------
        pathlib.Path
            ``landscape/feedback.jsonl`` in your data folder, or the file that the environment
            variable LANDSCAPE_FEEDBACK names. Nothing is sent anywhere.

        Raises
        ------
        InputError
            If there is no result, or the file cannot be written.
        """
        from landscape.evaluation import write_feedback

        if self._value is None:
            raise InputError(self._texts["unsaved"])
        found: Any = self._value
        path = write_feedback(
            self._kind,
            getattr(found, "question", "") or getattr(found, "excerpt", "") or found.context,
            is_good=is_good,
            comment=self._comment.value if comment is None else comment,
            method=getattr(found, "method", self._written_by),
            settings=getattr(found, "settings", {}),
            papers=[paper.paper_id for paper in self._picked(found)[1]],
        )
        self._comment.value = ""
        self.say(f"Your rating was added to {path}.")
        return path

    def _save_result(self) -> None:
        super()._save_result()
        self._rating.layout.display = "none" if self._value is None else ""

    def _result_html(self) -> str:
        if self._value is None:
            return ""
        has_markdown = hasattr(self._value, "to_markdown")
        return cut_text_html(self._file(".md") if has_markdown else str(self._value))

    def _file(self, ending: str) -> str:
        """Return the contents of the file with this extension. There must be a result."""
        found: Any = self._value
        if ending == ".csv":
            return to_csv(self._picked(found)[0])
        if ending == ".bib":
            return to_bibtex(self._picked(found)[1])
        return to_json(found) if ending == ".json" else str(found.to_markdown())

    def _offer_files(self) -> None:
        """Update the download links for the current selection of papers."""
        if self._value is None:
            return
        links, note, n = [], "", len(self._papers.chosen)
        for name, text in self._texts["files"].items():
            links.append(download_link(name, self._file(Path(name).suffix), text=text))
        if "note" in self._texts:
            which = self._texts["which"][n > 0].format(n=n)
            note = f"<p class='landscape-quiet'>{self._texts['note'].format(which=which)}</p>"
        self._files.value = f"<p>{' '.join(links)}</p>{note}"

    def _lay_out(
        self,
        *,
        asking: list[widgets.Widget],
        folds: Mapping[str, widgets.Widget],
        found: list[widgets.Widget],
    ) -> None:
        """Arrange the question, the progress, the collapsed sections and the results."""
        self._folds = widgets.Accordion(
            children=[*folds.values()], titles=[*folds], selected_index=None
        )
        self._folds.observe(lambda _: self._show_model(), "selected_index")
        css, heading = tuple(self.children)[:2]
        style = style_sheet(render("results.css") + css_of("ask", "scholar"))
        # Progress and the stop button are next to the question, not below a long answer.
        self.children: tuple[widgets.Widget, ...] = (
            css,
            heading,
            style,
            *asking,
            self._working,
            self._status,
            self._reopen,
            scrolling(self._live, self._folds, *found, self._rating),
            self._code_line,
        )
        self._show_model()

    def _show_model(self) -> None:
        if self.connection.fault:
            text = f"{self.connection.fault} Correct it under “Language model”."
        elif self.connection.is_configured:
            where = repr(self.connection).removeprefix("<Connection: ").removesuffix(">")
            text = f"{self._texts['by_model']} {where}"
        else:
            text = (
                f"No language model is connected: {self._texts['without_model']} "
                "Open “Language model” to connect one."
            )
        self._model_line.value = quiet_html(text)

    def _try(self, do: Callable[[], object]) -> None:
        """Run the action of a control; show errors as one sentence."""
        try:
            do()
        except Exception as error:  # noqa: BLE001 - nothing above this timer would report it
            Panel._show_error(self, error)

    def _on_enter(self, box: widgets.Text, do: Callable[[], object]) -> None:
        def entered(_widget: object, content: object, _buffers: object) -> None:
            if isinstance(content, dict) and content.get("event") == "submit":
                self._soon(do)

        box.on_msg(entered)

    def _soon(self, do: Callable[[], object]) -> None:
        """Run the action of a control after a delay, when the last typed letters have arrived."""
        threading.Timer(_LAST_KEYS, lambda: self._try(do)).start()

    # -- runs of agents

    def stop(self) -> None:
        """Stop the agent and keep its results so far; a second call also discards the results."""
        stopping = self._stopping
        if stopping is None or stopping.is_set() or self._turns.now is None:
            super().stop()
            self._live.value = ""
            return
        stopping.set()
        self.say("Stopping: the results so far are being collected. Stop again to discard them.")

    def _begin(
        self, title: str, work: Callable[[AgentRun], T], show: Callable[[T, str | None], object]
    ) -> None:
        """Run an agent in the background, show its steps, and call `show(result, model_name)`."""
        model = self.connection.value
        self._show_model()
        if self._stopping is not None:
            self._stopping.set()  # the replaced run stops sending requests to the model
        stopping = self._stopping = threading.Event()
        self._steps = []
        self._live.value = ""

        def go() -> tuple[T, str | None]:
            with progress(title, total=None, unit="steps") as advance:

                def on_step(line: str) -> None:
                    advance(1)
                    self._show_step(line, stopping)

                inner = None if model is None else Interruptible(model, stopping)
                run = AgentRun(inner, on_step, stopping)
                return work(run), run.model_name

        def done(found: tuple[T, str | None]) -> None:
            self._written_by = found[1]
            if self._stopping is stopping:
                self._stopping = None
            self._live.value = ""
            self.say("Stopped: these are the results so far." if stopping.is_set() else "")
            show(*found)

        self.run(title, go, done, kind="work")

    def _show_step(self, line: str, stopping: threading.Event) -> None:
        if stopping is not self._stopping:
            return
        self._steps.append(line)
        listed = "".join(f"<li>{escape(step)}</li>" for step in self._steps[-_SHOWN_STEPS:])
        self._live.value = (
            "<div class='landscape-steps tex2jax_ignore mathjax_ignore'><div role='status'><b>"
            f"{escape(self._so_far(self._steps))}</b></div><ul>{listed}</ul></div>"
        )

    def _so_far(self, steps: list[str]) -> str:
        """Summarise the steps so far."""
        return f"{count(len(steps), 'step')} so far"

    def _show_error(self, error: Exception) -> None:
        super()._show_error(error)
        self._stopping = None
        self._live.value = ""


class ResultTabs(widgets.VBox):
    """A heading and a result in tabs. Slow parts are drawn when their tab is opened.

    The last tab is "Save". `offer_files` updates its links each time the tab is opened, because
    the selection of papers may have changed.
    """

    def __init__(
        self,
        tabs: Mapping[str, widgets.Widget],
        *,
        files: widgets.HTML,
        offer_files: Callable[[], object],
        when_opened: Mapping[str, Callable[[], object]],
    ) -> None:
        self._heading, self._files = widgets.HTML(), files
        self._actions = {**when_opened, "Save": offer_files}
        self._titles = [*tabs, "Save"]
        self.tabs = widgets.Tab(children=[*tabs.values(), files], titles=self._titles)
        self.tabs.observe(lambda _: self._on_tab(), "selected_index")
        super().__init__([self._heading, self.tabs])
        self.layout.display = "none"

    def _show_tabs(self, heading: str) -> None:
        self._heading.value, self._files.value = heading, ""
        self.layout.display = ""
        self._on_tab()

    def _on_tab(self) -> None:
        if self.layout.display != "none" and self.tabs.selected_index is not None:
            action = self._actions.get(self._titles[self.tabs.selected_index])
            if action is not None:
                action()


def clean_notes(notes: Iterable[str]) -> list[str]:
    """If the user stopped the agent, replace the note that the model failed."""
    return [_FAILED.sub("The run was stopped before it finished.", note) for note in notes]


def model_option(name: str | None) -> dict[str, object]:
    """Return the argument `model` for a line of code, or an empty dict if no model is set."""
    return {} if name is None else {"model": Name("model")}


def needed(text: str, *, what: str) -> str:
    """Return a required text without surrounding spaces; raise InputError if it is empty."""
    if not text.strip():
        raise InputError(f"{what} is empty. Fill in this field.")
    return text.strip()
