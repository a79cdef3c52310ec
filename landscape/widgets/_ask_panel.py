"""The settings of a question: each left to the question's type until somebody chooses."""

from __future__ import annotations

import html
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
from landscape.answers._asking import AskSettings, ask_settings, resolved
from landscape.answers._questions import AUDIENCES, STYLES, TYPES, QuestionKind, classify, read_kind
from landscape.errors import InputError, LandscapeError
from landscape.widgets._answer_view import FILES, AnswerView, Asked
from landscape.widgets._code_lines import connecting_again, join_lines
from landscape.widgets._connection import AtlasPanel, Connection
from landscape.widgets._notebook import code_of
from landscape.widgets._panel import close_all

if TYPE_CHECKING:
    import pandas as pd

    from landscape.atlas import Atlas
    from landscape.llm._client import WritingModel
    from landscape.search._settings import Weights
    from landscape.types import Answer, Step

_WIDE = {"description_width": "118px"}
_FULL = {"width": "calc(100% - 6px)"}
_AUTO = "auto"  # None would be no choice at all, which is shown as nothing
_METHODS = {"hybrid": "meaning and words", "semantic": "meaning", "words": "words"}
_WAYS = {
    "rag": "one search",
    "react": "searching agent",
    "quoted": "sentences quoted",
}
_STRENGTHS = {"keyword": "keywords", "time": "recency", "citation": "citations"}
_USUAL_K = (3, 5, 7, 10, 15, 20, 30, 50, 100)


class Choice(widgets.Dropdown):
    """A choice whose first option leaves it to the question, and says what that is."""

    def __init__(self, label: str, options: Mapping[Any, str], *, meaning: str) -> None:
        self._read, self._first = dict(options), "auto"
        self.is_relabelling = False
        super().__init__(
            options=[("auto", _AUTO), *((text, value) for value, text in options.items())],
            description=label, tooltip=meaning, style=_WIDE, layout=widgets.Layout(**_FULL),
        )  # fmt: skip

    @property
    def chosen(self) -> Any:
        """The value; None for `auto`."""
        return None if self.value == _AUTO else self.value

    def suggest(self, value: Any) -> None:
        """Say what `auto` is."""
        text = f"auto: {self._read.get(value, value)}"
        if self._first != text:
            self._relabel(text)

    def choose(self, value: Any) -> None:
        """Choose a value, None for `auto`; one that is no option becomes one."""
        if value is not None and value not in self._read:
            self._read[value] = str(value)
            self._relabel(self._first)
        self.value = _AUTO if value is None else value

    def _relabel(self, first: str) -> None:
        self._first, chosen = first, self.value
        self.is_relabelling = True  # new options choose the first for a moment
        try:
            self.options = [(first, _AUTO), *((text, value) for value, text in self._read.items())]
            self.value = chosen
        finally:
            self.is_relabelling = False


class AskControls(widgets.VBox):
    """Everything that decides how a question is answered."""

    def __init__(self) -> None:
        self._rest: dict[str, Any] = {}
        self._question: str = ""
        yes = {True: "yes", False: "no"}
        self._choices = {
            "question_type": Choice("Question type", {name: name for name in TYPES},
                                    meaning="What kind of question it is; decides the others"),
            "k": Choice("Papers", {k: f"{k}" for k in _USUAL_K},
                        meaning="How many papers to answer from (top-k)"),
            "method": Choice("Found by", _METHODS, meaning="How papers are searched for"),
            "hyde": Choice("Expansion", {True: "hypothetical abstract", False: "none"},
                           meaning="Search with an abstract that a model makes up (HyDE)"),
            "rerank": Choice("Reranking", {True: "word by word", False: "none"},
                             meaning="Compare the first papers with the question word by word"),
            "generation": Choice("Answered by", _WAYS,
                                 meaning="By one search, by a searching agent, or quoted"),
            "style": Choice("Prompt style", {style: style for style in STYLES},
                            meaning="What the answer looks at"),
            "audience": Choice("Audience", {name: name for name in AUDIENCES},
                               meaning="For whom it is written; needs a language model"),
        }  # fmt: skip
        self._choices["audience"].suggest("expert")
        self._language = _text("Language", "that of the question", "Language of the answer")
        self._keywords = _text(
            "Extra keywords", "such as JWST, [OIII]", "Papers that name them are lifted; commas"
        )
        self._filter = _text("Filter", "2015..; author:Hubble; -review", "Which papers to ask")
        self._filter_says = widgets.HTML()
        self._filter.observe(lambda _: self._check_filter(), "value")
        self._check = Choice("Checked", yes, meaning="Whether a model checks each claim once more")
        self._check.suggest(True)
        self._weights = Choice(
            "Weights", {"set": "as set here"}, meaning="What lifts papers beside relevance"
        )
        self._strengths = {
            name: widgets.FloatSlider(
                value=0.0, min=0.0, max=1.0, step=0.05, description=label, style=_WIDE,
                readout_format=".2f", continuous_update=False,
                tooltip=f"How strongly {label} lift papers, from 0 (off) to 1",
                layout=widgets.Layout(display="none", **_FULL),
            )
            for name, label in _STRENGTHS.items()
        }  # fmt: skip
        self._weights.observe(self._on_weights, "value")
        self._choices["question_type"].observe(self._on_question_type, "value")
        reset = widgets.Button(
            description="All on auto", icon="undo", layout=widgets.Layout(width="130px"),
            tooltip="Leave every setting to the type of the question",
        )  # fmt: skip
        reset.on_click(lambda _: self.put({}))
        chosen = self._choices
        super().__init__(
            [
                _group("The question", [chosen["question_type"], chosen["k"], self._filter,
                                        self._keywords]),
                self._filter_says,
                _group("Finding papers", [chosen["method"], chosen["hyde"], chosen["rerank"]]),
                _group("Lifting papers", [self._weights, *self._strengths.values()]),
                _group("Answering", [chosen["generation"], chosen["style"], self._language,
                                     chosen["audience"], self._check]),
                reset,
            ]
        )  # fmt: skip
        self.suggest("")

    def given(self) -> dict[str, Any]:
        """Settings that somebody chose, for `Atlas.ask`."""
        given = {name: choice.chosen for name, choice in self._choices.items()}
        given["check_with_model"] = self._check.chosen
        given["language"] = self._language.value.strip() or None
        given["filter"] = self._filter.value.strip() or None
        words = tuple(filter(None, (word.strip() for word in self._keywords.value.split(","))))
        given["keywords"] = words or None
        if self._weights.value == "set":
            given["weights"] = {name: bar.value for name, bar in self._strengths.items()}
        chosen = {name: value for name, value in given.items() if value is not None} | self._rest
        ask_settings(**chosen)
        return chosen

    def put(self, settings: Mapping[str, Any]) -> None:
        """Set the controls; what is not named is left to the question's type."""
        checked = ask_settings(**dict(settings))
        for name, choice in self._choices.items():
            choice.choose(getattr(checked, name))
        self._check.choose(settings.get("check_with_model"))
        self._language.value = checked.language or ""
        self._filter.value = checked.filter or ""
        self._keywords.value = ", ".join(checked.keywords)
        self._rest = {name: settings[name] for name in ("t_now",) if settings.get(name) is not None}
        self._weights.choose(None if checked.weights is None else "set")
        if checked.weights is not None:
            self._show_strengths(checked.weights)
            if checked.weights.compat:
                self._rest["weights"] = settings["weights"]
        self.suggest(self._question)

    def suggest(self, question: str) -> QuestionKind:
        """Show what `auto` is for a question, and return what kind of question it is."""
        self._question = question
        typed = self._choices["question_type"].chosen
        kind = classify(question)
        self._choices["question_type"].suggest(kind.type)
        if typed is not None:
            kind = read_kind(typed)
        auto = resolved(AskSettings(), kind)
        for name in ("k", "method", "hyde", "rerank", "generation", "style"):
            self._choices[name].suggest(getattr(auto, name))
        weights = auto.weights
        if weights is not None:
            on = " and ".join(_STRENGTHS[name] for name in weights.names) or "none"
            self._weights.suggest(on)
            if self._weights.chosen is None:
                self._show_strengths(weights)
        return kind

    def summary(self, question: str) -> str:
        """How a question would be answered now, in a line; the first word says who chose."""
        kind = self.suggest(question)
        settings = ask_settings(**self.given())
        chosen = resolved(settings, kind)
        weights = chosen.weights.names if chosen.weights else ()
        lifted = f", lifted by {' and '.join(_STRENGTHS[name] for name in weights)}"
        n_chosen = len(self.given())
        who = f"{n_chosen} setting{'s' if n_chosen > 1 else ''} chosen" if n_chosen else "auto"
        found_by = _METHODS[chosen.method or "hybrid"]
        return (
            f"{kind.type} question: {chosen.k} papers found by {found_by}"
            f"{lifted if weights else ''}; style {chosen.style} ({who})"
        )

    def _show_strengths(self, weights: Weights) -> None:
        for name, bar in self._strengths.items():
            bar.value = getattr(weights, name)

    def _on_question_type(self, change: dict[str, Any]) -> None:
        if not change["owner"].is_relabelling:
            self.suggest(self._question)

    def _on_weights(self, change: dict[str, Any]) -> None:
        if change["owner"].is_relabelling:
            return
        for bar in self._strengths.values():
            bar.layout.display = "none" if self._weights.chosen is None else ""
        if self._weights.chosen is None:
            self.suggest(self._question)

    def _check_filter(self) -> None:
        from landscape.search._filters import parse_filter

        said = ""
        try:
            parse_filter(self._filter.value)
        except InputError as error:
            said = f"<div role='status' class='landscape-warning'>{html.escape(str(error))}</div>"
        self._filter_says.value = said


def _text(label: str, example: str, meaning: str) -> widgets.Text:
    return widgets.Text(
        description=label, placeholder=example, tooltip=meaning, style=_WIDE,
        continuous_update=False, layout=widgets.Layout(**_FULL),
    )  # fmt: skip


def _group(title: str, controls: list[widgets.Widget]) -> widgets.VBox:
    grid = widgets.GridBox(
        controls,
        layout=widgets.Layout(
            grid_template_columns="repeat(auto-fill, minmax(310px, 1fr))", grid_gap="4px 20px"
        ),
    )
    heading = widgets.HTML(f"<div class='landscape-group'>{title}</div>")
    return widgets.VBox([heading, grid])


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
    return join_lines(connecting, call)


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
