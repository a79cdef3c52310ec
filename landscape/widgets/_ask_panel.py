"""The panel that answers questions, with settings, live text, map and files."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape._progress import progress
from landscape._render import escape, render
from landscape._wording import count
from landscape.answers import AskSettings, QuestionKind, classify
from landscape.answers.asking import resolved
from landscape.answers.questions import TYPES, read_kind
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.llm.interruption import WatchedModel
from landscape.search import find_entities
from landscape.store.manifest import read_manifest
from landscape.types import Answer
from landscape.widgets import _controls
from landscape.widgets._agent_panel import QueryPanel, ResultTabs
from landscape.widgets._code_lines import answer_as_notebook, code_of, connecting, join_lines
from landscape.widgets._controls import button, close_all, group, make_control, quiet_html
from landscape.widgets._figure_view import ScreenFigure, SheetView
from landscape.widgets._tables import PapersView

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from traitlets import Bunch

    from landscape.atlas import Atlas
    from landscape.search import Weights
    from landscape.types import Results, Step
    from landscape.widgets._agent_panel import Listed
    from landscape.widgets._connection import Connection, Used

_WEIGHTS = {"keyword": "keywords", "time": "recency", "citation": "citations"}
_SHOWN_EVERY = 0.15  # seconds between two updates of an answer that is being written


def _keywords(typed: str) -> tuple[str, ...] | None:
    return tuple(word.strip() for word in typed.split(",") if word.strip()) or None


_GROUPS = {
    "The question": {
        "question_type": "Question type",
        "k": "Papers",
        "filter": "Filter",
        "keywords": "Extra keywords",
    },
    "Finding papers": {"method": "Found by", "hyde": "Expansion", "rerank": "Reranking"},
    "Answering": {
        "generation": "Answered by",
        "style": "Prompt style",
        "language": "Language",
        "audience": "Audience",
        "check_with_model": "Checked",
    },
}
_METHODS = {"hybrid": "meaning and words", "semantic": "meaning", "words": "words"}
_OPTIONS: dict[str, dict[Any, str]] = {
    "question_type": {kind: kind for kind in TYPES},
    "k": {k: str(k) for k in (3, 5, 7, 10, 15, 20, 30, 50, 100)},
    "method": {**_METHODS},
    "hyde": {True: "hypothetical abstract", False: "none"},
    "rerank": {True: "word by word", False: "none"},
    "generation": {"rag": "one search", "react": "searching agent", "quoted": "sentences quoted"},
    "check_with_model": {True: "yes", False: "no"},
}


class AskControls(widgets.VBox):
    """Settings of a question; each setting is `auto` until the user chooses a value."""

    def __init__(self) -> None:
        self._rest: dict[str, object] = {}  # settings that have no field
        self._question = ""
        fields, groups = _controls.make_fields(AskSettings, _GROUPS, label=118, options=_OPTIONS)
        self.fields = fields
        fields["audience"].suggest("expert")
        fields["check_with_model"].suggest(True)
        self._filter_error = widgets.HTML()
        fields["filter"].observe(lambda _: self._check_filter(), "value")
        self._weights = make_control("questions.weights")
        self._sliders = {
            name: make_control(
                "questions.boost", description=label, tooltip=f"Boost by {label}, from 0 (off) to 1"
            )
            for name, label in _WEIGHTS.items()
        }
        self._weights.observe(self._on_weights, "value")
        fields["question_type"].observe(self._on_question_type, "value")
        reset = make_control("questions.reset", lambda: self.put({}))
        super().__init__(
            [
                group("The question", *groups["The question"]),
                self._filter_error,
                group("Finding papers", *groups["Finding papers"]),
                group("Boosting papers", self._weights, *self._sliders.values()),
                group("Answering", *groups["Answering"]),
                reset,
            ]
        )
        self.suggest("")

    def given(self) -> dict[str, Any]:
        """Return the settings chosen by the user, as keyword arguments of `Atlas.ask`."""
        parsers = {"keywords": (_keywords, "words separated by commas")}
        given = _controls.read_fields(self.fields, parsers)
        if self._weights.value == "set":
            given["weights"] = {name: slider.value for name, slider in self._sliders.items()}
        given |= self._rest
        AskSettings(**given)
        return given

    def put(self, settings: Mapping[str, object]) -> None:
        """Set the controls. Settings that are not given become `auto`."""
        checked = AskSettings(**dict(settings))
        values = {name: getattr(checked, name) for name in self.fields}
        values["check_with_model"] = settings.get("check_with_model")
        _controls.fill_fields(self.fields, values)
        self._rest = {name: settings[name] for name in ("t_now",) if settings.get(name) is not None}
        self._weights.choose(None if checked.weights is None else "set")
        if checked.weights is not None:
            self._show_weights(checked.weights)
            if checked.weights.compat:
                self._rest["weights"] = settings["weights"]
        self.suggest(self._question)

    def suggest(self, question: str) -> QuestionKind:
        """Show the values of `auto` for a question, and return the kind of the question."""
        self._question = question
        kind = classify(question)
        self.fields["question_type"].suggest(kind.type)
        typed = self.fields["question_type"].chosen
        if typed is not None:
            kind = read_kind(typed)
        auto = resolved(AskSettings(), kind)
        for name in ("k", "method", "hyde", "rerank", "generation", "style"):
            self.fields[name].suggest(getattr(auto, name))
        if auto.weights is not None:
            on = " and ".join(_WEIGHTS[name] for name in auto.weights.names) or "none"
            self._weights.suggest(on)
            if self._weights.chosen is None:
                self._show_weights(auto.weights)
        return kind

    def summary(self, question: str) -> str:
        """Describe the current settings for a question in one line."""
        kind, given = self.suggest(question), self.given()
        chosen = resolved(AskSettings(**given), kind)
        weights = chosen.weights.names if chosen.weights else ()
        methods = _METHODS
        boosts = f", boosted by {' and '.join(_WEIGHTS[name] for name in weights)}"
        return (
            f"{kind.type} question: {chosen.k} papers found by "
            f"{methods[chosen.method or 'hybrid']}{boosts if weights else ''}; style "
            f"{chosen.style} ({count(len(given), 'setting') + ' chosen' if given else 'auto'})"
        )

    def _show_weights(self, weights: Weights) -> None:
        for name, slider in self._sliders.items():
            slider.value = getattr(weights, name)

    def _on_question_type(self, change: Bunch) -> None:
        if not change["owner"].is_relabelling:
            self.suggest(self._question)

    def _on_weights(self, change: Bunch) -> None:
        if change["owner"].is_relabelling:
            return
        for slider in self._sliders.values():
            slider.layout.display = "none" if self._weights.chosen is None else ""
        if self._weights.chosen is None:
            self.suggest(self._question)

    def _check_filter(self) -> None:
        from landscape.search import parse_filter

        self._filter_error.value = ""
        try:
            parse_filter(self.fields["filter"].value)
        except InputError as error:
            self._filter_error.value = (
                f"<div role='status' class='landscape-warning'>{html.escape(str(error))}</div>"
            )


@dataclass(frozen=True)
class Asked:
    """A question with its settings, its answer, and its cost."""

    answer: Answer
    atlas: Atlas
    given: Mapping[str, Any] = field(default_factory=dict)
    thread: tuple[Answer, ...] = ()
    model: str | None = None
    used: Used | None = None
    unfinished: str = ""
    cost: str = ""
    seconds: float = 0.0


class AnswerMap(SheetView):
    """Map of the papers of an answer. A click on a paper shows its record below the map."""

    def __init__(self) -> None:
        super().__init__("map")
        self._picked = widgets.HTML()
        hint = widgets.HTML(quiet_html("Click a paper on the map to see it here."))
        self.children: tuple[widgets.Widget, ...] = (
            self._colours,
            self._picture,
            hint,
            self._picked,
        )

    def show_papers(self, atlas: Atlas, results: Results) -> None:
        """Set the papers. The map is drawn when the user opens the tab of the map."""
        self._results, self._picked.value = results, ""
        self.show(lambda colours: _drawn_map(atlas, results, colours))

    def pick(self, rank: int) -> None:
        """Show the paper with the given rank."""
        self._picked.value = self._results.hits[rank - 1].to_html()

    def _pick(self, ranks: list[int], points: Any) -> None:
        for place in points.point_inds[:1]:
            self.pick(ranks[place])

    def _rendered(self, figure: go.Figure) -> go.Figure:
        return figure

    def _widget(self, drawn: go.Figure) -> widgets.Widget:
        figure = ScreenFigure(drawn)
        for trace in figure.data:
            if trace.name not in ("found", "outlier"):
                continue
            ranks = [
                hit.rank
                for hit in self._results.hits
                if bool(hit.outlier) == (trace.name != "found")
            ]
            trace.on_click(lambda _trace, points, _state, ranks=ranks: self._pick(ranks, points))
        return figure


def _drawn_map(atlas: Atlas, results: Results, colours: str) -> go.Figure:
    from landscape.figures import interactive

    if read_manifest(atlas.path).files != atlas.manifest.files:
        raise AtlasError(
            "The atlas was rebuilt after this question, so its papers may have moved. Run the "
            "question again to see them on the map."
        )
    drawn = interactive("query", atlas, results, colours=colours)
    drawn.update_layout(
        autosize=True,
        height=drawn.layout.height - 100,
        legend={"x": 1, "xanchor": "right", "y": 1, "bgcolor": "rgba(0,0,0,0)"},
        margin={"l": 4, "r": 4, "t": 8},
    )
    return drawn


class AnswerView(ResultTabs):
    """Tabs of one answer: claims, papers, map, consensus, method and files."""

    def __init__(self, files: widgets.HTML, offer_files: Callable[[], None]) -> None:
        self.asked: Asked | None = None
        self._parts = {part: widgets.HTML() for part in ("claims", "consensus", "method")}
        self.papers, self.map = PapersView(), AnswerMap()
        tabs = {
            "Answer": self._parts["claims"],
            "Papers": self.papers,
            "Map": self.map,
            "Consensus": self._parts["consensus"],
            "How it was found": self._parts["method"],
        }
        super().__init__(
            tabs, files=files, offer_files=offer_files, when_opened={"Map": self.map.look}
        )

    def show(self, asked: Asked) -> None:
        """Show an answer, and replace the previous one."""
        self.asked, answer = asked, asked.answer
        for part, page in self._parts.items():
            page.value = render(
                "panel_answer.html",
                part=part,
                asked=asked,
                detected=[entity.text for entity in find_entities(answer.question)],
            )
        self.papers.show_results(answer.results)
        self.map.show_papers(asked.atlas, answer.results)
        self.tabs.set_title(1, f"Papers ({len(answer.results)})")
        self._show_tabs(f"<div class='landscape-asked'>{escape(answer.question)}</div>")


class AskPanel(QueryPanel[Answer]):
    """Ask questions about the papers of an atlas. The language model is optional.

    Parameters
    ----------
    atlas : Atlas
    connection : Connection, optional
        Language model that answers. Default: the model set in the environment, if any.
    question : str, optional
        Initial text of the question field.

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
        super().__init__("ask", atlas, connection=connection)
        self._history: list[Asked] = []
        self._live_text = LiveText(self._live)
        self.controls = AskControls()
        self._view = AnswerView(self._files, self._offer_files)
        self._papers = self._view.papers
        self._question = make_control("questions.question", self._show_plan, value=question)
        self._button = make_control("questions.ask", lambda: self._soon(self._ask_typed))
        self._follow = make_control("questions.follow_up")
        self._plan = widgets.HTML()
        self._earlier = widgets.VBox(
            [widgets.HTML("<p class='landscape-quiet'>No earlier questions.</p>")]
        )
        self._lay_out(
            asking=[
                widgets.HBox([self._question, self._button]),
                self._plan,
                self._model_line,
                self._follow,
            ],
            folds={
                "Settings": self.controls,
                "Language model": self.connection,
                "Earlier questions": self._earlier,
            },
            found=[self._view],
        )
        self._on_enter(self._question, self._ask_typed)
        self._folds.observe(lambda _: self._show_plan(), "selected_index")
        self._show_plan()

    def __repr__(self) -> str:
        return f"<AskPanel: {self.atlas.title}, {count(len(self._history), 'answer')}>"

    @property
    def history(self) -> tuple[Answer, ...]:
        """All answers, oldest first."""
        return tuple(asked.answer for asked in self._history)

    @property
    def unfinished(self) -> str:
        """Text of an incomplete answer: it was stopped or replaced, or it failed."""
        return self._live_text.unfinished

    def ask(self, question: str | None = None, *, follow_up: bool = False, **settings: Any) -> None:
        """Ask in the background. Call `wait`, then read the answer from `value`.

        Parameters
        ----------
        question : str, optional
            Default: the text of the question field.
        follow_up : bool, default False
            Whether the question continues the conversation of the answer that is shown.
        **settings
            Settings of `Atlas.ask`. If a setting is given, the given settings replace all
            settings on the page.

        Raises
        ------
        InputError
            If the question is empty, or a setting is invalid.
        """
        if settings:
            self.controls.put(settings)
        if question is not None:
            self._question.value = question
        asked = self._question.value.strip()
        if not asked:
            raise InputError("The question is empty. Write a question.")
        given, shown = self.controls.given(), self._view.asked
        thread = (*shown.thread, shown.answer) if follow_up and shown else ()
        self._start(asked, given, thread)

    def stop(self) -> None:
        """Stop answering. Keep earlier answers, and mark the text so far as unfinished."""
        running = self._turns.now is not None
        super().stop()
        if running:
            self._live_text.mark("Stopped. Written so far (unfinished, unchecked)")

    def _listed(self, answer: Answer) -> Listed:
        results = answer.results
        return results.table, [(str(hit.rank), hit.paper, True) for hit in results.hits]

    def _file(self, ending: str) -> str:
        asked = self._view.asked
        if ending != ".ipynb" or asked is None:
            return super()._file(ending)
        return answer_as_notebook(asked.answer, asked.atlas, asked.thread, asked.model, asked.used)

    def _start(self, question: str, given: Mapping[str, Any], thread: tuple[Answer, ...]) -> None:
        # Keep the current atlas and connection, because both may change before the answer arrives.
        connected = self.connection.value
        used = self.connection.used if connected else None
        model = connected.part() if connected else None
        name = model.model if model else None
        live = self._live_text = self._live_text.begin(question, name)
        atlas, began = self.atlas, time.monotonic()

        def work() -> Asked:
            from landscape.answers.asking import ask

            title = f"{name} writes" if model else "Searching"
            n_requests = 0
            with progress(title, total=None, unit="words") as advance:

                def before_request() -> None:
                    nonlocal n_requests
                    advance(0)
                    n_requests += 1
                    live.note(f"{name} works on request {n_requests} …")

                def on_text(piece: str) -> None:
                    advance(len(piece.split()))
                    live.add(piece)

                def on_step(step: Step) -> None:
                    advance(0)
                    live.note(f"{step.thought} → {step.action}")

                answer = ask(
                    atlas.engine,
                    question,
                    AskSettings(**given),
                    thread=thread,
                    model=WatchedModel(model, before_request) if model else None,
                    on_text=on_text,
                    on_step=on_step,
                )
            failed = model is not None and answer.method == "extractive"
            return Asked(
                answer,
                atlas,
                dict(given),
                thread,
                model=name,
                used=used,
                unfinished=live.text if failed else "",
                cost=str(model.budget) if model else "",
                seconds=time.monotonic() - began,
            )

        def done(asked: Asked) -> None:
            self._live_text.end()
            self._history.append(asked)
            self._show(asked)

        self.run("Asking", work, done)

    def _show(self, asked: Asked) -> None:
        self._value = asked.answer
        self._view.show(asked)
        self._follow.layout.display, self._follow.value = "", False
        n, used = len(asked.thread), asked.used
        call = code_of(asked.answer.question, asked.given, with_model=used is not None)
        self.code = join_lines(connecting(used, asked.model) if used else [], call)
        if n:
            self.code += f"  # after {count(n, 'earlier answer')}"
        self._list_earlier()

    def _list_earlier(self) -> None:
        old, buttons = self._earlier.children, []
        for asked in reversed(self._history):
            text = " ".join(asked.answer.question.split())
            one = button(
                text,
                f"Show the answer to: {text[:200]}",
                lambda asked=asked: self._show(asked),  # type: ignore[misc]  # bound in the loop
                icon="check" if asked is self._view.asked else "",
                width="100%",
            )
            one.add_class("landscape-asked-before")
            buttons.append(one)
        self._earlier.children = buttons
        self._folds.set_title(2, f"Earlier questions ({len(buttons)})")
        close_all(*old)

    def _show_error(self, error: Exception) -> None:
        super()._show_error(error)
        self._live_text.mark("The answer was interrupted. Written so far (unfinished, unchecked)")

    def _ask_typed(self) -> None:
        self.ask(follow_up=self._follow.value)

    def _show_plan(self) -> None:
        question = self._question.value
        try:
            plan = self.controls.summary(question)
        except LandscapeError as error:
            plan = str(error)
        self._plan.value = quiet_html(f"Settings: {plan}." if question.strip() else "")
        self._show_model()


class LiveText:
    """Text of an answer while it is written, and the text of an unfinished answer."""

    def __init__(
        self, page: widgets.HTML, question: str = "", replaced: LiveText | None = None
    ) -> None:
        self._page, self.question, self.text = page, question, ""
        self.replaced = replaced  # earlier question that was not answered before this question
        self._is_over, self._drawn = not question, 0.0

    @property
    def unfinished(self) -> str:
        """The text of this answer, or the text of the answer that this answer replaced."""
        return self.text or (self.replaced.text if self.replaced else "")

    def begin(self, question: str, model: str | None) -> LiveText:
        """Return the live text of the next question, which replaces this text on the page."""
        replaced = self if self.text else self.replaced
        begun = LiveText(self._page, question, None if self._is_over else replaced)
        self._is_over = True
        begun.note(f"{model} was asked …" if model else "Searching …")
        return begun

    def add(self, piece: str) -> None:
        self.text += piece
        if time.monotonic() - self._drawn >= _SHOWN_EVERY:
            self._drawn = time.monotonic()
            self.note("Being written; not checked yet …")

    def note(self, status: str, *, broken: bool = False) -> None:
        if not self._is_over:
            self._page.value = render(
                "panel_answer.html",
                part="live",
                now=self,
                status=status,
                broken=broken,
                replaced=self.replaced,
            )

    def end(self) -> None:
        self.text, self._is_over = "", True
        self._page.value = render("panel_answer.html", part="replaced", replaced=self.replaced)

    def mark(self, status: str) -> None:
        """Mark the text as unfinished, or clear the page if there is no text."""
        if self.text:
            self.note(status, broken=True)
            self._is_over = True
        else:
            self.end()
