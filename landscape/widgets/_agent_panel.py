"""The shared parts of the panels of agents: model, progress, stop, notes, saved files."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import ipywidgets as widgets

from landscape._progress import progress
from landscape._render import escape, render
from landscape._wording import count
from landscape.errors import InputError
from landscape.widgets._code_lines import Name
from landscape.widgets._connection import AtlasPanel, Connection
from landscape.widgets._figure_view import download_link
from landscape.widgets._jobs import STOPPED, Interruptible

if TYPE_CHECKING:
    from landscape.atlas import Atlas

T = TypeVar("T")
_SHOWN_STEPS = 8
_FAILED = re.compile(rf"The language model failed:? ?\(?{STOPPED}\)?\.?")


class AgentRun:
    """One run of an agent: its model, its progress callback, and its stop signal."""

    def __init__(
        self, stopping: threading.Event, on_step: Callable[[str], None], model: Any
    ) -> None:
        self.stopping, self.step = stopping, on_step
        self.model = None if model is None else Interruptible(model, stopping)

    @property
    def model_name(self) -> str | None:
        """The name of the language model; None without one."""
        return None if self.model is None else self.model.model

    def is_stopped(self) -> bool:
        """Whether the user asked the run to stop."""
        return self.stopping.is_set()


class ScholarPanel(AtlasPanel):
    """A panel on which an agent works over an atlas, with a language model or without."""

    def __init__(
        self, heading: str, atlas: Atlas, *, connection: Connection | None, without_model: str
    ) -> None:
        self._without_model = without_model
        self._stopping: threading.Event | None = None
        self._steps: list[str] = []
        self._model_line, self._live = widgets.HTML(), widgets.HTML()
        super().__init__(heading, atlas, connection=connection)
        self.add_class("landscape-scholar")

    def _lay_out(
        self, *, asking: list[widgets.Widget], folds: dict[str, widgets.Widget],
        found: list[widgets.Widget],
    ) -> None:  # fmt: skip
        """Lay out the question, the progress, the folded parts and the results."""
        self._folds = widgets.Accordion(
            children=[*folds.values(), self.connection],
            titles=(*folds, "Language model"),
            selected_index=None,
        )
        self._folds.observe(lambda _: self._tell_model(), "selected_index")
        css, heading = tuple(self.children)[:2]
        style = widgets.HTML(f"<style>{_css()}</style>", layout=widgets.Layout(display="none"))
        self.children: tuple[widgets.Widget, ...] = (
            css, heading, style, *asking, self._model_line, self._working, self._status,
            self._reopen, self._live, self._folds, *found, self._code_line,
        )  # fmt: skip
        self._tell_model()

    def stop(self) -> None:
        """Stop what is running and keep what it has found; once more, and that is dropped too."""
        stopping = self._stopping
        if stopping is None or stopping.is_set() or self._turns.now is None:
            super().stop()
            self._live.value = ""
            return
        stopping.set()
        self.say("Stopping: what was found so far is being put together. Once more drops it.")

    def _begin(
        self, title: str, work: Callable[[AgentRun], T], then: Callable[[T], Any], *, unit: str
    ) -> None:
        """Let an agent work in the background; its steps are shown as they come."""
        model = self.connection.value
        self._tell_model()
        if self._stopping is not None:
            self._stopping.set()  # the run that is replaced stops asking the model
        stopping = self._stopping = threading.Event()
        self._steps = []
        self._live.value = ""

        def go() -> T:
            with progress(title, total=None, unit=unit) as advance:

                def on_step(line: str) -> None:
                    advance(0 if unit != "steps" else 1)
                    self._show_step(line, stopping)

                return work(AgentRun(stopping, on_step, model))

        def done(found: T) -> None:
            if self._stopping is stopping:
                self._stopping = None
            self._live.value = ""
            self.say("Stopped: this is what was found until then." if stopping.is_set() else "")
            then(found)

        self.run(title, go, done, kind="work")

    def _show_step(self, line: str, stopping: threading.Event) -> None:
        if stopping is not self._stopping:
            return
        self._steps.append(line)
        listed = "".join(f"<li>{escape(step)}</li>" for step in self._steps[-_SHOWN_STEPS:])
        so_far = self._so_far(self._steps)
        head = f"<div role='status'><b>{escape(so_far)}</b></div>" if so_far else ""
        self._live.value = (
            f"<div class='landscape-steps tex2jax_ignore mathjax_ignore'>{head}<ul>{listed}</ul>"
            "</div>"
        )

    def _so_far(self, steps: list[str]) -> str:
        """What was found until now, in a few words."""
        return f"{count(len(steps), 'step')} so far"

    def _tell(self, error: Exception) -> None:
        super()._tell(error)
        self._stopping = None
        self._live.value = ""

    def _tell_model(self) -> None:
        if self.connection.fault:
            said = f"{self.connection.fault} Mend it under “Language model”."
        elif self.connection.is_told:
            said = f"With {self.connection!r}"[:-1].replace("<Connection: ", "")
        else:
            said = (
                f"No language model is connected: {self._without_model} "
                "Open “Language model” to connect one."
            )
        self._model_line.value = f"<span class='landscape-quiet'>{escape(said)}</span>"


def clean_note(note: str) -> str:
    """Reword the note of a stopped agent: its model did not fail."""
    return _FAILED.sub("It was stopped before it was done.", note)


def notes_html(notes: Iterable[str], tag: str = "div") -> str:
    """Write the notes of an agent below one another."""
    return "".join(
        f"<{tag} class='landscape-quiet'>{escape(clean_note(note))}</{tag}>" for note in notes
    )


def partial_html(text: str) -> str:
    """Mark a result as partial."""
    return f"<div class='landscape-partial'>{escape(text)}</div>"


def links_html(name: str, contents: Iterable[tuple[str, str, str]]) -> str:
    """Offer files as links; each is its ending, its text and its content."""
    links = [
        download_link(f"{name}{ending}", content, text=text)
        for ending, text, content in contents
        if content
    ]
    return f"<p>{' '.join(links)}</p>"


def model_option(name: str | None) -> dict[str, Any]:
    """The argument `model` of a line of code, where a model was used."""
    return {} if name is None else {"model": Name("model")}


def needed(text: str, *, what: str) -> str:
    """Strip a required text; refuse an empty one."""
    if not text.strip():
        raise InputError(f"{what} is empty; fill it in first.")
    return text.strip()


def text_box(label: str, example: str, meaning: str, *, value: str = "") -> widgets.Text:
    """A text field with its label and an example."""
    return widgets.Text(
        value=value, description=label, placeholder=example, tooltip=meaning,
        style={"description_width": "110px"}, layout=widgets.Layout(width="calc(100% - 6px)"),
    )  # fmt: skip


def text_area(meaning: str, example: str, *, value: str = "", rows: int = 4) -> widgets.Textarea:
    """A text area as wide as the panel."""
    return widgets.Textarea(
        value=value, placeholder=example, tooltip=meaning, rows=rows,
        layout=widgets.Layout(width="calc(100% - 4px)"),
    )  # fmt: skip


def grid(controls: list[widgets.Widget], *, least: int = 300) -> widgets.GridBox:
    """A grid of controls with as many columns as fit."""
    columns = f"repeat(auto-fill, minmax({least}px, 1fr))"
    return widgets.GridBox(
        controls, layout=widgets.Layout(grid_template_columns=columns, grid_gap="4px 20px")
    )


def main_button(text: str, icon: str, meaning: str) -> widgets.Button:
    """The button that begins."""
    button = widgets.Button(
        description=text, icon=icon, button_style="primary", tooltip=meaning,
        layout=widgets.Layout(
            width="auto", min_width="120px", flex="0 0 auto", align_self="flex-start"
        ),
    )  # fmt: skip
    button.add_class("landscape-ask-button")
    return button


@cache
def _css() -> str:
    folder = files("landscape.widgets")
    ours = (folder.joinpath(f"{name}.css").read_text("utf-8") for name in ("ask", "scholar"))
    return render("results.css") + "\n".join(ours)


# Names between commas; a comma in the name of a folder stands before the name has its ending.
_NAMES = re.compile(r".+?\.\w+(?=\s*(?:[,;]|$))|[^,;]+")
_LONGEST = 100  # characters of a name
_ODD = re.compile(r"[^\w.-]+")


class DraftFiles(widgets.VBox):
    """A box for a .bib file and one for .tex files, each filled by hand or by an upload."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bibliography = text_box("Bibliography", "references.bib", "The .bib file")
        self._drafts = text_box(
            "Draft", "draft.tex; several with commas", "The .tex files, each that is inputted too"
        )
        bring_bib = _upload("or bring the .bib", ".bib", multiple=False)
        bring_tex = _upload("or bring the .tex", ".tex", multiple=True)
        bring_bib.observe(lambda change: self._take(change, self._bibliography), "value")
        bring_tex.observe(lambda change: self._take(change, self._drafts), "value")
        rows = ((self._bibliography, bring_bib), (self._drafts, bring_tex))
        wide = widgets.Layout(flex="1 1 auto")
        super().__init__([widgets.HBox([widgets.Box([box], layout=wide), up]) for box, up in rows])

    def put(self, bibliography: str | Path, drafts: list[str | Path]) -> None:
        """Name the files."""
        self._bibliography.value = str(bibliography)
        self._drafts.value = ", ".join(map(str, drafts))

    def given(self) -> tuple[str, list[str]]:
        """The files that are named."""
        bibliography = self._bibliography.value.strip()
        found = (name.strip(" ,;") for name in _NAMES.findall(self._drafts.value.strip()))
        drafts = [name for name in found if name]
        if not bibliography or not drafts:
            raise InputError("Checking needs a .bib file and a .tex file; name both.")
        return bibliography, drafts

    def _take(self, change: dict[str, Any], box: widgets.Text) -> None:
        """Name what the page brought, and forget its bytes."""
        if not change["new"]:
            return
        try:
            box.value = ", ".join(self._written(change["new"]))
        finally:
            change["owner"].value = ()

    def _written(self, all_brought: Sequence[Mapping[str, Any]]) -> list[str]:
        """Keep files beside each other, for as long as the panel lives."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="draft-")
        paths: list[str] = []
        for brought in all_brought:
            given = Path(_ODD.sub("_", Path(brought["name"]).name).lstrip(".") or "draft.tex")
            path = Path(self._folder.name) / f"{given.stem[:_LONGEST]}{given.suffix[:8]}"
            if str(path) in paths:  # two names that differ in odd characters alone
                path = path.with_name(f"{path.stem}_{len(paths)}{path.suffix}")
            path.write_bytes(bytes(brought["content"]))
            paths.append(str(path))
        return paths


class _DraftUpload(widgets.FileUpload):
    """An upload whose files are never part of any state that is sent or saved."""

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        state: dict[str, Any] = super().get_state(key=key, drop_defaults=drop_defaults)
        if "value" in state:
            state["value"] = []
        return state


def _upload(words: str, kind: str, *, multiple: bool) -> _DraftUpload:
    return _DraftUpload(
        description=words, accept=kind, multiple=multiple,
        tooltip=f"Bring a {kind} file from this computer; it stays in this process",
        layout=widgets.Layout(width="200px", flex="0 0 200px"),
    )  # fmt: skip
