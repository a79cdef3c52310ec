"""The panel that asks: a question in, an answer with its evidence out.

Its controls are those of pathfinder (figure 6 of Iyer et al. 2024, ApJS 275, 38), and more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._io import check_output, write_output
from landscape._progress import progress
from landscape._render import escape
from landscape._wording import count
from landscape.errors import InputError, LandscapeError
from landscape.widgets.answer_view import FILES, AnswerView, Asked
from landscape.widgets.ask_controls import AskControls
from landscape.widgets.atlas_panel import AtlasPanel
from landscape.widgets.closing import close_all
from landscape.widgets.connection import Connection
from landscape.widgets.recipe import code_of
from landscape.widgets.scholar_code import connecting_again, lines

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas as Atlas
    from landscape.llm._client import WritingModel
    from landscape.types import Answer, Step

_SHOWN_EVERY = 0.15  # seconds between two states of a text that is being written


class AskPanel(AtlasPanel):
    """Ask an atlas questions, with a language model or without.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Which language model answers; by default the one that the environment names, if any.
    question : str, optional
        What stands in the box at first.

    Attributes
    ----------
    value : Answer or None
        The answer shown.
    history : tuple of Answer
        All answers, oldest first.
    selection : pandas.DataFrame
        The papers that are ticked; all of the answer while none is.
    code : str
        The line that gives the same answer.

    Examples
    --------
    >>> import landscape as ls
    >>> panel = AskPanel(ls.open("my.atlas"))  # doctest: +SKIP
    >>> panel.ask("Is there a Hubble tension?", k=20)  # doctest: +SKIP
    >>> panel.wait(), panel.value.text  # doctest: +SKIP
    """

    def __init__(
        self, atlas: Atlas, *, connection: Connection | None = None, question: str = ""
    ) -> None:
        self._history: list[Asked] = []
        self._live_text = _LiveText()
        self.controls = AskControls()
        self._view = AnswerView()
        self._question = widgets.Text(
            value=question, placeholder="Ask a question, and press Enter",
            tooltip="The question", layout=widgets.Layout(flex="1 1 auto", width="auto"),
        )  # fmt: skip
        self._question.add_class("landscape-ask-question")
        self._button = widgets.Button(
            description="Ask", button_style="primary", icon="search",
            tooltip="Ask this question", layout=widgets.Layout(width="100px", flex="0 0 100px"),
        )  # fmt: skip
        self._button.add_class("landscape-ask-button")
        self._follow = widgets.Checkbox(
            value=False, indent=False, description="Follow up on the answer below",
            tooltip="Read the question as going on from the answer that is shown",
            layout=widgets.Layout(width="auto", display="none"),
        )  # fmt: skip
        self._plan, self._model_line = widgets.HTML(), widgets.HTML()
        self._earlier = widgets.VBox(
            [widgets.HTML("<p class='landscape-quiet'>Nothing was asked yet.</p>")]
        )
        super().__init__("Ask", atlas, connection=connection)
        self._folds = widgets.Accordion(
            children=[self.controls, self.connection, self._earlier],
            titles=("Settings", "Language model", "Earlier questions"),
            selected_index=None,
        )
        style = widgets.HTML(f"<style>{_css()}</style>", layout=widgets.Layout(display="none"))
        # What is going on, and how to stop it, stands by the question and not below an answer.
        css, heading = tuple(self.children)[:2]
        self.children: tuple[widgets.Widget, ...] = (
            css, heading, style, widgets.HBox([self._question, self._button]),
            self._plan, self._model_line, self._follow, self._working, self._status, self._reopen,
            self._live_text.widget, self._folds, self._view, self._code_line,
        )  # fmt: skip
        self._button.on_click(lambda _: self._soon(self._ask_what_is_typed))
        self._on_enter(self._question, self._ask_what_is_typed)
        self._question.observe(lambda _: self._show_plan(), "value")
        self._folds.observe(lambda _: self._show_plan(), "selected_index")
        self._show_plan()

    def __repr__(self) -> str:
        n = len(self._history)
        return f"<AskPanel: {self._atlas.title}, {count(n, 'answer')}>"

    @property
    def value(self) -> Answer | None:
        """The answer shown; None before the first."""
        return self._view.asked.answer if self._view.asked else None

    @property
    def history(self) -> tuple[Answer, ...]:
        """All answers, oldest first."""
        return tuple(asked.answer for asked in self._history)

    @property
    def unfinished(self) -> str:
        """What a model had written when it was stopped, broke off or gave way to a question."""
        return self._live_text.text

    @property
    def selection(self) -> pd.DataFrame | None:
        """The papers that are ticked, or all of the answer while none is; None before the first."""
        chosen = self._view.chosen
        return None if chosen is None else chosen.table

    def ask(self, question: str | None = None, *, follow_up: bool = False, **settings: Any) -> None:
        """Ask in the background; `wait` for the answer, which is then the panel's `value`.

        Parameters
        ----------
        question : str, optional
            Default: what stands in the box.
        follow_up : bool, default False
            Whether it goes on from the answer shown.
        **settings
            Of `Atlas.ask`; where any is given, they take the place of those on the page.

        Raises
        ------
        InputError
            For an empty question, or a setting that cannot be.
        """
        if settings:
            self.controls.put(settings)
        if question is not None:
            self._question.value = question
        asked = self._question.value.strip()
        if not asked:
            message = "The question is empty; ask one."
            raise InputError(message)
        given = self.controls.given()
        shown = self._view.asked
        thread = (*shown.thread, shown.answer) if follow_up and shown else ()
        self._begin(asked, given, thread)

    def save(self, path: str | Path) -> Path:
        """Write the answer shown into a file.

        Parameters
        ----------
        path : path
            Ends in ``.ipynb`` (a notebook that asks again), ``.md``, ``.json``, ``.bib`` or
            ``.csv``; the last two hold the papers of `selection`.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InputError
            For another ending, before the first answer, or where it cannot be written.
        """
        target = check_output(path, FILES, what="An answer")
        if self._view.asked is None:
            raise InputError("There is no answer to save yet; ask a question first.")
        papers, ending = self._view.chosen, target.suffix.lower()
        return write_output(target, self._view.asked.file(ending, papers=papers))

    def stop(self) -> None:
        """Stop asking; earlier answers stay, and what was written so far is marked."""
        running = self._turns.now is not None
        super().stop()
        if running:
            self._live_text.mark("Stopped. Written so far (unfinished, unchecked)")

    # -- steps -----------------------------------------------------------------------------------

    def _begin(self, question: str, given: Mapping[str, Any], thread: tuple[Answer, ...]) -> None:
        # All of it as it is now: atlas and connection may be other ones when the answer is there.
        connected = self.connection.value
        used = self.connection.used if connected else None
        model = connected.part() if connected else None
        live = self._live_text.begin(question, model.model if model else None)
        atlas, began = self._atlas, time.monotonic()

        def work() -> Asked:
            from landscape.answers._asking import ask, ask_settings

            title = f"{model.model} writes" if model else "Searching"
            with progress(title, total=None, unit="words") as advance:
                watched = _Watched(model, lambda: advance(0), live) if model else None

                def on_text(piece: str) -> None:
                    advance(len(piece.split()))
                    live.add(piece)

                def on_step(step: Step) -> None:
                    advance(0)
                    live.note(f"{step.thought} → {step.action}")

                answer = ask(
                    atlas.engine, question, ask_settings(**given), model=watched, thread=thread,
                    on_text=on_text, on_step=on_step,
                )  # fmt: skip
            failed = model is not None and answer.method == "extractive"
            return Asked(
                answer, atlas, dict(given), thread,
                model=model.model if model else None, used=used,
                unfinished=live.text if failed else "",
                cost=str(model.budget) if model else "", seconds=time.monotonic() - began,
            )  # fmt: skip

        self.run("Asking", work, self._finished)

    def _finished(self, asked: Asked) -> None:
        self._live_text.end()
        self._history.append(asked)
        self._show(asked)

    def _show(self, asked: Asked) -> None:
        self._view.show(asked)
        self._follow.layout.display = ""
        self._follow.value = False
        n = len(asked.thread)
        thread = f"  # after {count(n, 'earlier answer')}" if n else ""
        self.code = _code_of(asked) + thread
        self._list_earlier()

    def _list_earlier(self) -> None:
        old, buttons = self._earlier.children, []
        for asked in reversed(self._history):
            is_shown = asked is self._view.asked
            text = " ".join(asked.answer.question.split())
            button = widgets.Button(
                description=text, icon="check" if is_shown else "",
                tooltip=f"Show the answer to: {text[:200]}", layout=widgets.Layout(width="100%"),
            )  # fmt: skip
            button.add_class("landscape-asked-before")
            button.on_click(lambda _, asked=asked: self._show(asked))
            buttons.append(button)
        self._earlier.children = buttons
        self._folds.set_title(2, f"Earlier questions ({len(buttons)})")
        close_all(*old)

    def _tell(self, error: Exception) -> None:
        super()._tell(error)
        self._live_text.mark("It broke off. Written so far (unfinished, unchecked)")

    def _ask_what_is_typed(self) -> None:
        self.ask(follow_up=self._follow.value)

    def _show_plan(self) -> None:
        try:
            plan = self.controls.summary(self._question.value)
        except LandscapeError as error:
            plan = str(error)
        text = f"Would be read as: {plan}." if self._question.value.strip() else ""
        self._plan.value = f"<span class='landscape-quiet'>{escape(text)}</span>" if text else ""
        if self.connection.fault:
            said = f"{self.connection.fault} Mend it under “Language model”."
        elif self.connection.is_told:
            said = f"Written by {self.connection!r}"[:-1].replace("<Connection: ", "")
        else:
            said = (
                "No language model is connected: answers quote sentences of the papers. "
                "Open “Language model” to connect one."
            )
        self._model_line.value = f"<span class='landscape-quiet'>{escape(said)}</span>"


def _code_of(asked: Asked) -> str:
    connecting = [] if not asked.used else connecting_again(asked.used, asked.model or "")
    call = code_of(asked.answer.question, asked.given, with_model=asked.used is not None)
    return lines(connecting, call)


class _LiveText:
    """The text of an answer while it is written, and what is left of it when it breaks off."""

    def __init__(self) -> None:
        self.widget = widgets.HTML()
        self._now: _Writing | None = None
        self._left: tuple[str, str] | None = None  # a question that gave way, and its text so far

    @property
    def text(self) -> str:
        if self._now and self._now.text:
            return self._now.text
        return self._left[1] if self._left else ""

    def begin(self, question: str, model: str | None) -> _Writing:
        before = self._now
        if before is None or before.is_over:
            self._left = None
        elif before.text:
            self._left = (before.question, before.text)
        self._now = _Writing(question, self._draw)
        self._draw(self._now, f"{model} was asked …" if model else "Searching …")
        return self._now

    def end(self) -> None:
        self._now = None
        self.widget.value = self._left_html()

    def mark(self, said: str) -> None:
        """Say that the text is not finished; without any text there is nothing to show."""
        if self._now is None or not self._now.text:
            self.end()
        else:
            self._draw(self._now, said, is_broken=True)
            self._now.is_over = True

    def _draw(self, writing: _Writing, said: str, *, is_broken: bool = False) -> None:
        if writing is not self._now or writing.is_over:
            return
        self.widget.value = (
            f"<div class='landscape-asked'>{escape(writing.question)}</div>"
            f"<div class='landscape-quiet' role='status'>{escape(said)}</div>"
            + (
                f"<div class='landscape-live tex2jax_ignore mathjax_ignore"
                f"{' broken' if is_broken else ''}'>{escape(writing.text)}</div>"
                if writing.text
                else ""
            )
            + self._left_html()
        )

    def _left_html(self) -> str:
        if self._left is None:
            return ""
        question, text = map(escape, self._left)
        return (
            "<details class='landscape-unfinished'><summary>What was written on “"
            f"{question}” when the next question took its place (unfinished, unchecked)</summary>"
            "<div class='landscape-live tex2jax_ignore mathjax_ignore broken'>"
            f"{text}</div></details>"
        )


class _Writing:
    """One text that is being written."""

    def __init__(self, question: str, draw: Callable[..., None]) -> None:
        self.question, self.text, self.is_over = question, "", False
        self._draw, self._drawn, self._said = draw, 0.0, ""

    def add(self, piece: str) -> None:
        self.text += piece
        now = time.monotonic()
        if now - self._drawn >= _SHOWN_EVERY:
            self._drawn = now
            self._draw(self, "Being written; not checked yet …")

    def note(self, said: str) -> None:
        self._draw(self, said)


class _Watched:
    """A language model that is not asked again once nobody waits for it."""

    def __init__(self, model: WritingModel, check: Callable[[], None], live: _Writing) -> None:
        self._inner, self._check, self._live = model, check, live
        self._asked = 0

    @property
    def model(self) -> str:
        return self._inner.model

    def complete(self, system: str, user: str) -> str:
        self._count()
        return self._inner.complete(system, user)

    def stream(self, system: str, user: str) -> Iterator[str]:
        self._count()
        return self._inner.stream(system, user)

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        self._count()
        return self._inner.complete_json(system, user, schema)

    def _count(self) -> None:
        self._check()
        self._asked += 1
        self._live.note(f"{self.model} works on request {self._asked} …")


@cache
def _css() -> str:
    return files("landscape.widgets").joinpath("ask.css").read_text(encoding="utf-8")
