"""From a question to an answer with its evidence: the steps of the engine, chained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import InputError, RemoteError
from landscape.query.ads_proposal import propose_ads_query
from landscape.query.answering import OnText, answer, standalone_question
from landscape.query.consensus import judge_consensus
from landscape.query.expansion import hypothetical_abstract
from landscape.query.prompts import STYLES
from landscape.query.questions import Preset, QuestionKind, classify, preset_for
from landscape.query.quoting import word_scores
from landscape.query.react import reason
from landscape.query.rewriting import check_readers
from landscape.query.settings import SearchSettings, check_day, search_settings
from landscape.query.weights import Weights
from landscape.query.wording import LONGEST_QUERY, readable_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.llm.models import WritingModel
    from landscape.query.engine import Engine
    from landscape.query.records import Answer, Results

_MEANING = 0.5  # share of cosines in how near a sentence is; the rest is shared words
_PRESET_STRENGTH = 0.5  # of a weight that a preset turns on


@dataclass(frozen=True)
class AskSettings:
    """How to answer.

    Attributes
    ----------
    k : int or None
        Papers to answer from; None leaves it to the preset of the question's type.
    style : str or None
        "single-paper", "multi-paper", "bibliometric" or "nuanced"; None leaves it to the preset.
    filter : str or None
        Which papers to answer from.
    weights : Weights or None
        None leaves them to the preset.
    language, audience : str or None
        See `landscape.query.answering.answer`; both need a language model.
    check_with_model : bool, default True
        Whether the model checks each claim once more.
    t_now : datetime.date or None
        The day from which ages count; None is today.
    """

    k: int | None = None
    style: str | None = None
    filter: str | None = None
    weights: Weights | None = None
    language: str | None = None
    audience: str | None = None
    check_with_model: bool = True
    t_now: date | None = None

    def __post_init__(self) -> None:
        if self.style is not None and self.style not in STYLES:
            message = f"The style {self.style!r} is unknown. Choose one of: {', '.join(STYLES)}."
            raise InputError(message)
        check_readers(self.language, self.audience)
        if self.t_now is not None:
            check_day("t_now", self.t_now)


def ask(
    engine: Engine,
    question: str,
    settings: AskSettings | None = None,
    *,
    model: WritingModel | None = None,
    thread: Sequence[Answer] = (),
    on_text: OnText | None = None,
) -> Answer:
    """Answer a question from the papers of an atlas.

    What kind of question it is is decided first, and decides how it is searched for and answered
    (table 1 of Iyer et al. 2024); whatever `settings` says goes before that.

    Parameters
    ----------
    engine : Engine
    question : str
    settings : AskSettings, optional
    model : WritingModel, optional
        Without one, sentences are quoted.
    thread : sequence of Answer
        The conversation so far, oldest first.
    on_text : callable, optional
        Told the text as it is written.

    Returns
    -------
    Answer
        A failing model costs its part of the answer, with a note, and nothing else.

    Raises
    ------
    InputError
        For an empty question, or a setting that cannot be.
    """
    settings = settings or AskSettings()
    question = readable_text("question", question)
    if not question.strip():
        message = "The question is empty; ask one."
        raise InputError(message)
    asked = standalone_question(question, thread, model=model) if thread else question
    asked = asked[:LONGEST_QUERY]
    kind = classify(asked, model=model)
    preset = preset_for(kind)
    search = _search_settings(settings, preset)
    style: Any = settings.style or preset.style
    notes: list[str] = []
    if model is not None and preset.generation == "react":
        said = reason(
            asked,
            _searcher(engine, search),
            model,
            k=min(search.k, 10),
            style=style,
            check_with_model=settings.check_with_model,
        )
    else:
        expansion = _expansion(asked, model, preset, notes)
        results = engine.search(asked, search, expansion=expansion)
        said = answer(
            question,
            results,
            model=model,
            style=style,
            language=settings.language,
            audience=settings.audience,
            thread=thread,
            score=engine.nearness,
            nearest=_nearest(results),
            threshold=engine.near_enough,
            check_with_model=settings.check_with_model,
            on_text=on_text,
        )
    return replace(
        said,
        question=question,
        question_type=str(kind),
        consensus=_consensus(asked, said.results, kind, model, notes),
        ads_query=propose_ads_query(asked) if "bibliographic" in kind.flags else None,
        notes=(*said.notes, f"Kind of question: {preset.name}.", *notes),
    )


def ask_settings(**fields: Any) -> AskSettings:
    """Make settings out of what a caller wrote.

    Parameters
    ----------
    **fields
        Of `AskSettings`; `weights` may be a mapping.

    Returns
    -------
    AskSettings

    Raises
    ------
    InputError
        For a name that is none, or a value that cannot be.

    Examples
    --------
    >>> ask_settings(k=5, weights={"time": 1.0}).weights.names
    ('time',)
    """
    known = list(AskSettings.__dataclass_fields__)
    unknown = [name for name in fields if name not in known]
    if unknown:
        message = f"There is no setting {unknown[0]!r}; there are {', '.join(known)}."
        raise InputError(message)
    weights = fields.pop("weights", None)
    if weights is not None:
        weights = search_settings(weights=weights).weights
    return AskSettings(weights=weights, **fields)


def mixed_nearness(
    question: str, sentences: Sequence[str], cosines: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How near sentences are to a question, by words and by meaning.

    Parameters
    ----------
    question : str
    sentences : sequence of str, shape (n,)
    cosines : ndarray of float64, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)
        0 to 1; 0 where neither a word nor the meaning is shared.

    Examples
    --------
    >>> mixed_nearness("dust", ["Dust cools.", "Stars."], np.array([0.6, 0.0])).round(2).tolist()
    [0.8, 0.0]
    """
    return (1 - _MEANING) * word_scores(question, sentences) + _MEANING * np.maximum(cosines, 0.0)


def _search_settings(settings: AskSettings, preset: Preset) -> SearchSettings:
    on = {
        name: _PRESET_STRENGTH * getattr(preset, name) for name in ("keyword", "time", "citation")
    }
    chosen = SearchSettings(
        k=preset.top_k if settings.k is None else settings.k,
        filter=settings.filter,
        # Comparing word by word costs milliseconds here, so that no preset has to do without it.
        weights=settings.weights if settings.weights is not None else Weights(**on),
    )
    return chosen if settings.t_now is None else replace(chosen, t_now=settings.t_now)


def _searcher(engine: Engine, base: SearchSettings) -> Any:
    """What an agent searches with: its own words and filter, within the user's filter."""

    def search(query: str, k: int, filter: str | None = None) -> Results:  # noqa: A002
        both = [f"({part})" for part in (base.filter, filter) if part and part.strip()]
        return engine.search(query, replace(base, k=k, filter=";".join(both) or None))

    return search


def _expansion(
    question: str, model: WritingModel | None, preset: Preset, notes: list[str]
) -> str | None:
    if model is None or not preset.hyde:
        return None
    try:
        return hypothetical_abstract(question, model)
    except RemoteError as error:
        notes.append(f"Searched without a hypothetical abstract: {error}")
        return None


def _nearest(results: Results) -> float | None:
    cosines = [hit.parts["semantic"] for hit in results.hits if "semantic" in hit.parts]
    return max(cosines, default=None)


def _consensus(
    question: str,
    results: Results,
    kind: QuestionKind,
    model: WritingModel | None,
    notes: list[str],
) -> Any:
    if kind.type != "consensus" or not results.papers:
        return None
    if model is None:
        notes.append("How far the papers agree needs a language model (set OPENAI_API_KEY, or "
                     "OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL).")  # fmt: skip
        return None
    try:
        return judge_consensus(question, results.papers, model)
    except RemoteError as error:
        notes.append(f"How far the papers agree was not judged: {error}")
        return None
