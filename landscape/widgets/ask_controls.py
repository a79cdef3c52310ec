"""The settings of a question: each left to the question's type until somebody chooses."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from landscape.answers._asking import AskSettings, ask_settings, resolved
from landscape.answers._prompts import READERS, STYLES
from landscape.answers._questions import TYPES, QuestionKind, classify, read_kind
from landscape.errors import InputError

if TYPE_CHECKING:
    from landscape.search._settings import Weights

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
    """A choice whose first option leaves it to the question, and says what that is.

    Parameters
    ----------
    label : str
    options : mapping
        Values to how they read.
    meaning : str
        Told as a tooltip.

    Examples
    --------
    >>> choice = Choice("Style", {"nuanced": "nuanced"}, meaning="How it is written")
    >>> choice.suggest("multi-paper")
    >>> choice.label, choice.chosen
    ('auto: multi-paper', None)
    """

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
    """Everything that decides how a question is answered.

    Examples
    --------
    >>> controls = AskControls()
    >>> controls.put({"k": 12, "language": "German"})
    >>> controls.given()
    {'k': 12, 'language': 'German'}
    """

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
            "audience": Choice("Audience", {name: name for name in READERS},
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
        """Settings that somebody chose, for `Atlas.ask`.

        Raises
        ------
        InputError
            For a value that cannot be.
        """
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
        """Set the controls; what is not named is left to the question's type.

        Raises
        ------
        InputError
            For a setting that is none, or a value that cannot be.
        """
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
