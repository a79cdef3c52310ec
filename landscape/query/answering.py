"""Answer a question from the papers found, with a language model where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from landscape.errors import InputError, RemoteError
from landscape.query.citations import read_citations, without_markup
from landscape.query.evidence import check_claims
from landscape.query.extractive import (
    NOT_ANSWERED,
    QUOTED,
    abstention,
    extract_answer,
    failure_notes,
)
from landscape.query.prompts import (
    CRITICISE,
    IMPROVE,
    NO_ANSWER,
    STANDALONE,
    STANDALONE_SCHEMA,
    STYLES,
    Style,
    answering,
    as_data,
    papers_as_data,
)
from landscape.query.quoting import Score
from landscape.query.records import Answer, Results
from landscape.query.rewriting import rewrite

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel, WritingModel

OnText = Callable[[str], None]
"""Told each piece of an answer as it is written, before it is checked."""

_REMEMBERED = 4  # answers of a thread that a follow-up question is read with
_LONGEST_QUESTION = 2000  # characters of a rewritten question


def answer(
    question: str,
    results: Results,
    *,
    model: WritingModel | None = None,
    style: Style = "multi-paper",
    language: str | None = None,
    audience: str | None = None,
    thread: Sequence[Answer] = (),
    score: Score | None = None,
    nearest: float | None = None,
    threshold: float | None = None,
    check_with_model: bool = True,
    on_text: OnText | None = None,
) -> Answer:
    """Answer a question from the papers found, and check what was written.

    Without a model, and when it fails, the best sentences are quoted instead; an answer that
    cites none of the papers counts as a failure.

    Parameters
    ----------
    question : str
    results : Results
        The papers found; their whole abstracts are shown to the model.
    model : WritingModel, optional
    style : {"multi-paper", "single-paper", "bibliometric", "nuanced"}
        ``"nuanced"`` is drafted, criticised and improved, in three requests.
    language : str, optional
        Default: that of the question. Another one is written after checking, see `rewrite`.
    audience : {"expert", "student", "public"}, optional
    thread : sequence of Answer
        The conversation so far, oldest first.
    score, nearest, threshold
        For `extract_answer`.
    check_with_model : bool, default True
        Whether claims are checked by the model too, in one more request.
    on_text : callable, optional
        Told the text of the answer as it is written.

    Returns
    -------
    Answer

    Raises
    ------
    InputError
        The style is unknown.

    Examples
    --------
    >>> from landscape.query.records import Coverage, Hit, Paper
    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete(self, system, user):
    ...         return "Dust cools by lines [2024A&A...1A]."
    >>> paper = Paper(0, "a", "", "Dust cools by its lines.", bibcode="2024A&A...1A")
    >>> found = Results("dust", (Hit(1, paper, 1.0),), Coverage("", 1, 1, {}, None, None))
    >>> said = answer("How does dust cool?", found, model=Fixed(), check_with_model=False)
    >>> said.text, said.claims[0].verdict, said.method
    ('Dust cools by lines [2024A&A...1A].', 'supported', 'fixed')
    """
    if style not in STYLES:
        message = f"The style {style!r} is unknown. Choose one of: {', '.join(STYLES)}."
        raise InputError(message)

    def quote(notes: tuple[str, ...]) -> Answer:
        return extract_answer(
            question, results, score=score, nearest=nearest, threshold=threshold, notes=notes
        )

    if model is None or not results.papers:
        wanted = [name for name, given in (("language", language), ("audience", audience)) if given]
        needs = (
            f"Another {' and '.join(wanted)} needs a language model; these are the papers' words."
        )
        return quote((QUOTED, needs) if wanted and model is None else (QUOTED,))
    try:
        text = _written(model, _brief(question, results, thread), style=style, on_text=on_text)
    except RemoteError as error:
        return quote(failure_notes(error))
    said = finish(
        question,
        text,
        results,
        model=model,
        style=style,
        score=score,
        check_with_model=check_with_model,
    )
    if said is None:
        return quote(failure_notes("It cited none of the papers found."))
    if language or audience:
        return rewrite(said, model, language=language, audience=audience)
    return said


def finish(
    question: str,
    text: str,
    results: Results,
    *,
    model: LanguageModel,
    style: str,
    score: Score | None = None,
    check_with_model: bool = True,
    **fields: Any,
) -> Answer | None:
    """Check what a language model wrote.

    Parameters
    ----------
    question, text : str
    results : Results
        What it may cite.
    model : LanguageModel
    style : str
    score : callable, optional
    check_with_model : bool, default True
    **fields
        Further fields of the answer.

    Returns
    -------
    Answer or None
        None where it cites none of the papers and does not say that it does not know.
    """
    plain = without_markup(text).strip()
    if plain.lstrip("*_#> ").upper().startswith(NO_ANSWER):
        reason = plain.lstrip("*_#> ")[len(NO_ANSWER) :].lstrip("*_: .\n")
        return abstention(
            question,
            results,
            text=_without_citations(reason) or NOT_ANSWERED,
            method=model.model,
            style=style,
            **fields,
        )
    checker = model if check_with_model else None
    checked = check_claims(plain, results.papers, model=checker, score=score)
    if not any(claim.citations for claim in checked.claims):
        return None
    return Answer(
        question=question,
        text=checked.text,
        claims=checked.claims,
        results=results,
        method=model.model,
        style=style,
        notes=(*fields.pop("notes", ()), *checked.notes),
        **fields,
    )


def standalone_question(
    question: str, thread: Sequence[Answer], *, model: LanguageModel | None = None
) -> str:
    """Make a follow-up question one that can be searched for by itself.

    Parameters
    ----------
    question : str
    thread : sequence of Answer
        The conversation so far, oldest first.
    model : LanguageModel, optional
        Without one, a question that is short or leans on a pronoun is put behind the one before.

    Returns
    -------
    str
        The question itself where the thread is empty or the model fails.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> nothing = Results("x", (), Coverage("", 0, 0, {}, None, None))
    >>> before = Answer("How does dust cool?", "", (), nothing, "extractive")
    >>> standalone_question("And why does it?", [before])
    'How does dust cool? And why does it?'
    >>> standalone_question("How old are the globular clusters of the Milky Way?", [before])
    'How old are the globular clusters of the Milky Way?'
    """
    if not thread:
        return question
    if model is not None:
        data = {"conversation": _conversation(thread), "follow_up": question}
        try:
            reply = model.complete_json(STANDALONE, as_data(data), STANDALONE_SCHEMA)
        except RemoteError:
            return _leaning(question, thread)
        rewritten = " ".join(reply["question"].split())
        if 0 < len(rewritten) <= _LONGEST_QUESTION:
            return rewritten
    return _leaning(question, thread)


_LEANING = frozenset(
    ["it", "its", "they", "them", "their", "this", "that", "these", "those", "he", "she", "there"]
)


def _leaning(question: str, thread: Sequence[Answer]) -> str:
    words = question.lower().replace("?", " ").split()
    opens = words[:1] in (["and"], ["but"], ["why"], ["also"]) or words[:2] == ["what", "about"]
    if opens or len(words) < 4 or _LEANING & set(words):
        return f"{thread[-1].question} {question}"
    return question


def _conversation(thread: Sequence[Answer]) -> list[dict[str, str]]:
    return [{"question": said.question, "answer": said.text} for said in thread[-_REMEMBERED:]]


def _brief(question: str, results: Results, thread: Sequence[Answer]) -> dict[str, Any]:
    brief: dict[str, Any] = {"question": question, "papers": papers_as_data(results.papers)}
    if thread:
        brief["conversation_so_far"] = _conversation(thread)
    return brief


def _written(
    model: WritingModel, brief: dict[str, Any], *, style: Style, on_text: OnText | None
) -> str:
    if style != "nuanced":
        return _told(model, answering(style), as_data(brief), on_text)
    draft = model.complete(answering(style), as_data(brief))
    if draft.strip().upper().startswith(NO_ANSWER):
        return draft
    review = model.complete(CRITICISE, as_data(brief | {"draft": draft}))
    return _told(model, IMPROVE, as_data(brief | {"draft": draft, "review": review}), on_text)


def _told(model: WritingModel, system: str, user: str, on_text: OnText | None) -> str:
    if on_text is None:
        return model.complete(system, user)
    pieces: Iterator[str] = model.stream(system, user)
    told = []
    for piece in pieces:
        told.append(piece)
        on_text(piece)
    return "".join(told)


def _without_citations(text: str) -> str:
    return " ".join(passage.text for passage in read_citations(text, ()))
