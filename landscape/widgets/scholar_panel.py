"""What the panels of survey, attribution and writing share: model, progress so far, stop."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import ipywidgets as widgets

from landscape._progress import progress
from landscape._render import escape, render
from landscape._wording import count
from landscape.errors import InputError
from landscape.widgets.atlas_panel import AtlasPanel
from landscape.widgets.connection import Connection
from landscape.widgets.interrupting import STOPPED, Interruptible

if TYPE_CHECKING:
    from landscape.atlas import Atlas

T = TypeVar("T")
_SHOWN_STEPS = 8
_FAILED = re.compile(rf"The language model failed:? ?\(?{STOPPED}\)?\.?")


class Told:
    """What a piece of work is told, and what it tells: steps so far, and whether to go on.

    Parameters
    ----------
    wish : threading.Event
        Set when the reader has had enough.
    on_step : callable
        Told each step in one line.
    model : WritingModel or None
    """

    def __init__(self, wish: threading.Event, on_step: Callable[[str], None], model: Any) -> None:
        self.wish, self.step = wish, on_step
        self.model = None if model is None else Interruptible(model, wish)

    def is_enough(self) -> bool:
        """Whether the reader has had enough."""
        return self.wish.is_set()


class ScholarPanel(AtlasPanel):
    """A panel on which an agent works over an atlas, with a language model or without.

    Parameters
    ----------
    heading : str
    atlas : Atlas
    connection : Connection, optional
        Which language model; by default the one that the environment names, if any.
    without_model : str
        What is missing while no model is connected, in one sentence.
    """

    def __init__(
        self, heading: str, atlas: Atlas, *, connection: Connection | None, without_model: str
    ) -> None:
        self._without_model = without_model
        self._wish: threading.Event | None = None
        self._steps: list[str] = []
        self._model_line, self._live = widgets.HTML(), widgets.HTML()
        super().__init__(heading, atlas, connection=connection)
        self.add_class("landscape-scholar")

    def _lay_out(
        self, *, asking: list[widgets.Widget], folds: dict[str, widgets.Widget],
        found: list[widgets.Widget],
    ) -> None:  # fmt: skip
        """Put the panel together: what is asked, what goes on, what is folded, what was found."""
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
        wish = self._wish
        if wish is None or wish.is_set() or self._turns.now is None:
            super().stop()
            self._live.value = ""
            return
        wish.set()
        self.say("Stopping: what was found so far is being put together. Once more drops it.")

    def _begin(
        self, title: str, work: Callable[[Told], T], then: Callable[[T], Any], *, unit: str
    ) -> None:
        """Let an agent work in the background; its steps are shown as they come."""
        model = self.connection.value
        self._tell_model()
        if self._wish is not None:
            self._wish.set()  # what it takes the place of asks no model any more
        wish = self._wish = threading.Event()
        self._steps = []
        self._live.value = ""

        def go() -> T:
            with progress(title, total=None, unit=unit) as advance:

                def on_step(line: str) -> None:
                    advance(0 if unit != "steps" else 1)
                    self._show_step(line, wish)

                return work(Told(wish, on_step, model))

        def done(found: T) -> None:
            if self._wish is wish:
                self._wish = None
            self._live.value = ""
            self.say("Stopped: this is what was found until then." if wish.is_set() else "")
            then(found)

        self.run(title, go, done, kind="work")

    def _show_step(self, line: str, wish: threading.Event) -> None:
        if wish is not self._wish:
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
        self._wish = None
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


def without_the_word_failed(note: str) -> str:
    """A note of an agent that was stopped: its model did not fail.

    Examples
    --------
    >>> without_the_word_failed("The language model failed: it was stopped")
    'It was stopped before it was done.'
    >>> without_the_word_failed("The language model failed: no reply.")
    'The language model failed: no reply.'
    """
    return _FAILED.sub("It was stopped before it was done.", note)


def needed(text: str, *, what: str) -> str:
    """Text without spaces around it.

    Raises
    ------
    InputError
        If there is none.
    """
    if not text.strip():
        raise InputError(f"{what} is empty; fill it in first.")
    return text.strip()


def text_box(label: str, example: str, meaning: str, *, value: str = "") -> widgets.Text:
    """A line to type in, with its label and an example."""
    return widgets.Text(
        value=value, description=label, placeholder=example, tooltip=meaning,
        style={"description_width": "110px"}, layout=widgets.Layout(width="calc(100% - 6px)"),
    )  # fmt: skip


def text_area(meaning: str, example: str, *, value: str = "", rows: int = 4) -> widgets.Textarea:
    """Lines to type in, as wide as the panel."""
    return widgets.Textarea(
        value=value, placeholder=example, tooltip=meaning, rows=rows,
        layout=widgets.Layout(width="calc(100% - 4px)"),
    )  # fmt: skip


def grid(controls: list[widgets.Widget], *, least: int = 300) -> widgets.GridBox:
    """Controls beside one another, as many as there is room for."""
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
