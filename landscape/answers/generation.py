"""Generate an answer from the papers found, and rewrite it for other readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from landscape.answers._evidence import MARKS, check_claims
from landscape.answers.agreement import invents_numbers
from landscape.answers.citations import (
    papers_as_data,
    read_citations,
    without_labels,
    without_markup,
)
from landscape.answers.extractive import (
    NOT_ANSWERED,
    QUOTED,
    abstention,
    extract_answer,
    failure_notes,
)
from landscape.answers.reading import Aim
from landscape.answers.settings import STYLES, AskSettings, Style
from landscape.errors import InputError, RemoteError
from landscape.llm import LanguageModel, ReplyForm, WritingModel, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.search.sentences import Score
from landscape.types import Answer, Claim, Evidence, Results

NO_ANSWER = "NO ANSWER"
"""First words of a reply if the papers do not answer the question; they are not translated."""

OnText = Callable[[str], None]
"""Function that is called with each piece of an answer as it is written, before the check."""


class _Question(ReplyForm):
    question: str


class _Sentence(ReplyForm):
    id: int
    text: str


class _Sentences(ReplyForm):
    sentences: list[_Sentence]


_REMEMBERED = 4  # number of earlier answers sent with a follow-up question
_MAX_QUESTION = 2000  # maximum number of characters of a rewritten question

_PRONOUNS = frozenset(
    ["it", "its", "they", "them", "their", "this", "that", "these", "those", "he", "she", "there"]
)
_GROWTH = 5  # maximum ratio between the lengths of a new and an old sentence


def answer(
    question: str,
    results: Results,
    *,
    aim: Aim | None = None,
    model: WritingModel | None = None,
    style: Style = "multi-paper",
    language: str | None = None,
    audience: str | None = None,
    thread: Sequence[Answer] = (),
    score: Score | None = None,
    n_listed: int | None = None,
    check_with_model: bool = True,
    on_text: OnText | None = None,
    locate: Callable[[Evidence], Evidence] = lambda one: one,
) -> Answer:
    """Answer a question from the papers found, and check the answer.

    The model gets the abstracts and the `thread` of earlier answers. The style "nuanced" needs
    three requests (draft, review and improvement), and `check_with_model` needs another one.
    Without a model, or if the model fails or cites none of the papers, the best sentences are
    quoted instead. If `language` or `audience` is given, the checked answer is rewritten.

    >>> from landscape.types import Coverage, Hit, Paper
    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete(self, system, user):
    ...         return "Dust cools by lines [2024A&A...1A]."
    >>> text, code = "Dust cools by its lines.", "2024A&A...1A"
    >>> paper = Paper(row=0, paper_id="a", title="", abstract=text, bibcode=code)
    >>> found = Results("dust", (Hit(1, paper, 1.0),), Coverage("", 1, 1, {}, None, None))
    >>> result = answer("How does dust cool?", found, model=Fixed(), check_with_model=False)
    >>> result.text, result.claims[0].verdict, result.method
    ('Dust cools by lines [2024A&A...1A].', 'supported', 'fixed')
    """
    if style not in STYLES:
        raise InputError(f"The style {style!r} is unknown. Choose one of: {', '.join(STYLES)}.")

    def quote(notes: tuple[str, ...]) -> Answer:
        return extract_answer(
            question, results, aim=aim, score=score, n_listed=n_listed, locate=locate, notes=notes
        )

    if model is None or not results.matched or not results.papers:
        wanted = [name for name, given in (("language", language), ("audience", audience)) if given]
        needs = f"Changing the {' and '.join(wanted)} needs a language model. Sentences are quoted."
        if model is not None:  # `extract_answer` reports that no paper matches
            return quote(())
        return quote((QUOTED, needs) if wanted else (QUOTED,))
    try:
        brief: dict[str, object] = {"question": question, "papers": papers_as_data(results.papers)}
        if thread:
            brief["conversation_so_far"] = _conversation(thread)
        text = _written(model, brief, style=style, on_text=on_text)
    except RemoteError as error:
        return quote(failure_notes(error))
    written = finish(
        question, text, results, model=model, style=style, check_with_model=check_with_model
    )
    if written is None:
        return quote(failure_notes("The model cited none of the papers found."))
    claims = [replace(one, evidence=tuple(map(locate, one.evidence))) for one in written.claims]
    written = replace(written, claims=tuple(claims))
    if language or audience:
        return rewrite(written, model, language=language, audience=audience)
    return written


def finish(
    question: str,
    text: str,
    results: Results,
    *,
    model: LanguageModel,
    style: str,
    check_with_model: bool = True,
    **fields: Any,
) -> Answer | None:
    """Check the text of a language model; return None if it cites no paper."""
    plain = without_markup(text).strip()
    if plain.lstrip("*_#> ").upper().startswith(NO_ANSWER):
        reason = plain.lstrip("*_#> ")[len(NO_ANSWER) :].lstrip("*_: .\n")
        return abstention(
            question,
            results,
            text=" ".join(p.text for p in read_citations(reason, ())) or NOT_ANSWERED,
            method=model.model,
            style=style,
            **fields,
        )
    checker = model if check_with_model else None
    checked = check_claims(plain, results.papers, model=checker)
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
    """Rewrite a follow-up question so that it can be understood without the conversation."""
    if thread and model is not None:
        data = {"conversation": _conversation(thread), "follow_up": question}
        try:
            reply = request_reply(model, prompt("standalone"), as_data(data), _Question)
            rewritten = " ".join(reply.question.split())
        except RemoteError:
            rewritten = ""
        if 0 < len(rewritten) <= _MAX_QUESTION:
            return rewritten
    words = question.lower().replace("?", " ").split()
    opens = words[:1] in (["and"], ["but"], ["why"], ["also"]) or words[:2] == ["what", "about"]
    if thread and (opens or len(words) < 4 or _PRONOUNS & set(words)):
        return f"{thread[-1].question} {question}"
    return question


def _conversation(thread: Sequence[Answer]) -> list[dict[str, str]]:
    return [{"question": turn.question, "answer": turn.text} for turn in thread[-_REMEMBERED:]]


def _written(
    model: WritingModel, brief: dict[str, object], *, style: Style, on_text: OnText | None
) -> str:
    instructions = f"{prompt('answer_rules')}\n{prompt(f'style_{style}')}"
    if style != "nuanced":
        return _streamed(model, instructions, as_data(brief), on_text)
    draft = model.complete(instructions, as_data(brief))
    if draft.strip().upper().startswith(NO_ANSWER):
        return draft
    review = model.complete(prompt("criticise"), as_data(brief | {"draft": draft}))
    return _streamed(
        model, prompt("improve"), as_data(brief | {"draft": draft, "review": review}), on_text
    )


def _streamed(model: WritingModel, system: str, user: str, on_text: OnText | None) -> str:
    if on_text is None:
        return model.complete(system, user)
    pieces: list[str] = []
    for piece in model.stream(system, user):
        pieces.append(piece)
        on_text(piece)
    return "".join(pieces)


def rewrite(
    earlier: Answer,
    model: LanguageModel,
    *,
    language: str | None = None,
    audience: str | None = None,
) -> Answer:
    """Rewrite an answer sentence by sentence without a new search.

    The model gets only the sentences. Each new sentence keeps the citations, evidence and verdict
    of the old sentence. If a new sentence contains a number that is not in the old sentence, the
    answer is not rewritten, and a note reports this.

    >>> from landscape.types import Coverage, Results
    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete_json(self, system, user, schema):
    ...         return {"sentences": [{"id": 1, "text": "Staub kühlt."}]}
    >>> found = Results("x", (), Coverage("", 0, 0, {}, None, None))
    >>> claim = Claim("Dust cools.", ("2024A&A...1A",), (), "supported")
    >>> earlier = Answer("?", "Dust cools [2024A&A...1A].", (claim,), found, "fixed")
    >>> rewrite(earlier, Fixed(), language="German").text
    'Staub kühlt [2024A&A...1A].'
    """
    AskSettings(language=language, audience=audience)  # checks them
    old = earlier.claims or (Claim(earlier.text, ()),)  # an abstention has only one sentence
    listed = [{"id": n, "text": claim.text} for n, claim in enumerate(old, start=1)]
    data = {
        "language": language or "the language of the sentences",
        "readers": prompt(f"readers_{audience or 'expert'}"),
        "sentences": listed,
    }
    try:
        reply = request_reply(model, prompt("rewrite"), as_data(data), _Sentences)
        texts = _accepted(reply.sentences, old)
    except RemoteError as error:
        return replace(
            earlier, notes=(*earlier.notes, f"The answer could not be rewritten: {error}")
        )
    claims = tuple(replace(claim, text=text) for claim, text in zip(old, texts, strict=True))
    wanted = [f"into {language}"] if language else []
    wanted += [f"for the audience {audience}"] if audience else []
    return replace(
        earlier,
        text=_composed(earlier, claims),
        claims=claims if earlier.claims else (),
        method=model.model,
        notes=(*earlier.notes, f"Rewritten {' '.join(wanted)} by {model.model} after checking."),
    )


def _accepted(rows: Sequence[_Sentence], old: Sequence[Claim]) -> list[str]:
    ids = Counter(row.id for row in rows)
    if ids != Counter(range(1, len(old) + 1)):
        raise RemoteError("the model did not return one new sentence for each old sentence.")
    new = {row.id: row.text for row in rows}
    texts = []
    for n, claim in enumerate(old, start=1):
        # Convert to plain text on one line; remove citations added by the model.
        plain = " ".join(without_markup(new[n]).split())
        text = without_labels(" ".join(p.text for p in read_citations(plain, ())))
        if not text or len(text) > _GROWTH * len(claim.text) + 200:
            raise RemoteError("a new sentence is empty or too long.")
        if invents_numbers(text, claim.text):
            raise RemoteError("a new sentence contains a number that is not in the old sentence.")
        texts.append(text)
    return texts


def _composed(earlier: Answer, claims: Sequence[Claim]) -> str:
    """Join new sentences; keep the layout of the earlier answer."""
    if not earlier.claims:
        return claims[0].text
    labels = {label for claim in claims for label in claim.citations}
    passages = [p for p in read_citations(earlier.text, labels) if p.is_claim]
    same = len(passages) == len(claims)
    parts = []
    for n, claim in enumerate(claims):
        before = passages[n].before if same else ("\n- " if "\n- " in f"\n{earlier.text}" else " ")
        added = ["; ".join(claim.citations), MARKS[claim.verdict]]
        final = claim.text[-1] if claim.text[-1] in ".!?。！？" else ""
        inside = "".join(f" [{one}]" for one in added if one)
        parts.append(before + claim.text.removesuffix(final) + inside + final)
    return "".join(parts).strip()
