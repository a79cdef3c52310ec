"""Answer a question: classify it, search, write the answer, check it, judge the consensus."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape._wording import join_names, one_line
from landscape.answers._evidence import judge_consensus
from landscape.answers._react import reason
from landscape.answers._tables import answer_from_tables, mistyped_facility
from landscape.answers._values import with_values
from landscape.answers.agreement import deny
from landscape.answers.extractive import METHOD as EXTRACTIVE
from landscape.answers.extractive import QUOTED
from landscape.answers.generation import OnText, answer, rewrite, standalone_question
from landscape.answers.questions import QuestionKind, preset_for
from landscape.answers.reading import read_question, sub_questions, with_nouns
from landscape.answers.settings import AskSettings
from landscape.errors import InputError, RemoteError
from landscape.llm import ReplyForm, connect_from_environment, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.overlays.citations import citation_graph
from landscape.search import SearchSettings, Weights, open_engine, propose_ads_query
from landscape.search.engine import hypothetical_abstract
from landscape.search.passages import papers_of_passages, with_bodies
from landscape.search.settings import MAX_QUERY, readable_text
from landscape.types import Hit, title_notes

if TYPE_CHECKING:
    from landscape.answers._question_words import Condition
    from landscape.answers.reading import Question
    from landscape.llm import WritingModel
    from landscape.search import Engine
    from landscape.store import AtlasStore
    from landscape.types import Answer, Paper, Results, Step

_QUOTED_AS_REQUESTED = "Sentences quoted from the papers found, as requested."
_QUOTED_FROM = 40  # number of papers whose sentences can be quoted
_OF_PASSAGES = 6  # number of papers that are added because of their passages
_OF_BODY = 3  # passages of each paper that are read with its abstract
_MAX_PARTS = 5  # of a question that a model divides, or other questions
_MIN_SUBJECT = 3  # papers with a keyword that is named as a subject
_MAX_CAPTIONS, _MAX_CAPTION, _MAX_HEADINGS = 12, 400, 40  # caption in characters
_PRESET_STRENGTH = 0.5  # strength of a weight that a preset enables


def ask(
    engine: Engine,
    question: str,
    settings: AskSettings | None = None,
    *,
    model: WritingModel | None = None,
    thread: Sequence[Answer] = (),
    on_text: OnText | None = None,
    on_step: Callable[[Step], None] | None = None,
    is_part: bool = False,
) -> Answer:
    """Answer a question from the papers of an atlas.

    The type of the question determines all settings that are None (table 1 of Iyer et al. 2024).
    Questions about counts are answered from the tables of the atlas, with or without a model. All
    other answers quote sentences if there is no model. If the model fails, the part that it should
    write is missing, and a note reports the failure. `thread` contains the earlier answers, oldest
    first. `on_text` is called with each piece of text as it is written, and `on_step` with each
    step of an agent. Without a model, a question that asks several things is divided, unless it
    `is_part` of another one.
    """
    settings = settings or AskSettings()
    question = readable_text("question", question)
    if not question.strip():
        raise InputError("The question is empty. Write a question.")
    if settings.generation == "quoted":
        model = None
    if settings.papers:
        engine = engine.within([engine.row_of(name) for name in settings.papers])
    asked = standalone_question(question, thread, model=model) if thread else question
    asked = asked[:MAX_QUERY]
    parts = () if is_part else sub_questions(asked)
    if parts and model is None:
        return _answer_parts(engine, question, parts, settings)
    read = read_question(
        engine,
        asked,
        filter_text=settings.filter,
        question_type=settings.question_type,
        model=model,
    )
    if read.request.measure:
        counted = answer_from_tables(engine.atlas, read, settings.filter)
        return replace(counted, question=question, settings={"filter": settings.filter})
    kind = read.kind
    if read.filter:
        given = f"({settings.filter});" if settings.filter else ""
        settings = settings.replaced(filter=f"{given}{read.filter}")
    notes = [f"Only papers {condition.phrase} were searched." for condition in read.restrictions]
    chosen = resolved(settings, kind)
    names = ("k", "method", "filter", "rerank", "weights", "keywords", "t_now")
    search = SearchSettings(**{name: getattr(chosen, name) for name in names})
    style: Any = chosen.style
    if model is not None and chosen.generation == "react":
        found = reason(
            read.subject,
            _searcher(engine, search),
            model,
            k=min(search.k, 10),
            style=style,
            check_with_model=settings.check_with_model,
            on_step=on_step,
            count_papers=partial(_counted, engine, settings.filter),
            linked_papers=partial(_linked, engine, read.subject, search.filter),
            read_paper=partial(_read_body, engine, read.subject),
            parts=parts or read.aim.compared or _split(read, model),
        )
        if found.method != EXTRACTIVE and (settings.language or settings.audience):
            found = rewrite(found, model, language=settings.language, audience=settings.audience)
    else:
        expansion = _expansion(read.subject, model, chosen, notes)
        wide = search if model is not None else search.replaced(k=max(search.k, _QUOTED_FROM))
        results = engine.search(read.subject, wide, expansion=expansion)
        if model is None and results.matched:
            is_open = kind.type == "consensus"
            other = deny(read.subject) if is_open else with_nouns(read.subject)
            results = _with_papers_of(engine, other, results, wide) if other else results
        results = _with_passages(engine, read.subject, results, wide)
        results, invalid = results.valid()
        notes += invalid
        body = with_bodies(engine.atlas, results.papers, read.subject, of_paper=_OF_BODY)
        papers = dict(zip([one.row for one in results.papers], body.papers, strict=True))
        extended = [replace(hit, paper=papers[hit.paper.row]) for hit in results.hits]
        found = answer(
            question if model is not None else read.quoted,
            replace(results, hits=tuple(extended)),
            locate=body.located,
            aim=read.aim,
            model=model,
            style=style,
            language=settings.language,
            audience=settings.audience,
            thread=thread,
            score=engine.nearness,
            n_listed=search.k,
            check_with_model=settings.check_with_model,
            on_text=on_text,
        )
        own = {hit.paper.row: hit.paper for hit in results.hits}
        hits = [replace(one, paper=own[one.paper.row]) for one in found.results.hits]
        found = replace(found, results=replace(found.results, hits=tuple(hits)))
    found = with_values(engine, read.subject, search.filter, found)
    all_notes = [*found.notes, *_not_possible(settings, model)]
    if found.abstained and not engine.is_restricted:
        all_notes += filter(None, [mistyped_facility(engine, read.subject)])
        all_notes += _other_questions(read.subject, found.results.papers, model)
    if settings.generation == "quoted":
        all_notes = [_QUOTED_AS_REQUESTED if note == QUOTED else note for note in all_notes]
    asks_ads = "bibliographic" in kind.flags or style == "bibliometric" or found.abstained
    writes_ads = model if found.results.papers else None
    return replace(
        found,
        question=question,
        question_type=str(kind),
        consensus=_consensus(read.subject, found.results, kind, model, notes),
        ads_query=_in_ads(read.subject, read.restrictions, writes_ads) if asks_ads else None,
        notes=(*all_notes, *notes, *title_notes(found.results.papers)),
        settings={**vars(chosen), "weights": vars(chosen.weights)},
        sub_questions=found.sub_questions or parts or read.aim.compared,
    )


def _in_ads(subject: str, restrictions: Sequence[Condition], model: WritingModel | None) -> str:
    """Return the ADS query of a question, with the people and the period that it names."""
    query = propose_ads_query(subject, model=model)
    return " ".join([query, *(condition.ads for condition in restrictions)])


def resolved(settings: AskSettings, kind: QuestionKind) -> AskSettings:
    """Replace settings that are None by the preset for this type of question."""
    preset = preset_for(kind)
    on = {
        name: _PRESET_STRENGTH * getattr(preset, name) for name in ("keyword", "time", "citation")
    }
    if settings.keywords:
        on["keyword"] = _PRESET_STRENGTH  # the user has given names
    return settings.replaced(
        k=preset.top_k if settings.k is None else settings.k,
        style=settings.style or preset.style,
        weights=settings.weights if settings.weights is not None else Weights(**on),
        question_type=str(kind),
        method=settings.method or "hybrid",
        hyde=preset.hyde if settings.hyde is None else settings.hyde,
        # Reranking takes only milliseconds, so all presets use it.
        rerank=True if settings.rerank is None else settings.rerank,
        generation=settings.generation or preset.generation or "rag",
        t_now=settings.t_now or SearchSettings().t_now,
    )


def _not_possible(settings: AskSettings, model: WritingModel | None) -> list[str]:
    """Return notes on settings that have no effect because no language model is connected."""
    if model is not None or settings.generation == "quoted":
        return []
    wanted = ["A hypothetical abstract"] if settings.hyde else []
    wanted += ["An agent"] if settings.generation == "react" else []
    return [f"{name} needs a language model; none is connected." for name in wanted]


def _counted(engine: Engine, filter_text: str | None, question: str) -> str:
    """Answer a question about counts for an agent."""
    read = read_question(engine, question, filter_text=filter_text)
    if not read.request.measure:
        return "This is no question about counts of papers."
    return answer_from_tables(engine.atlas, read, filter_text).text


class _PartsReply(ReplyForm):
    parts: list[str]


def _split(read: Question, model: WritingModel) -> tuple[str, ...]:
    """Let a model divide a question that combines several facts."""
    if read.kind.type != "compositional":
        return ()
    try:
        data = as_data({"question": read.subject})
        reply = request_reply(model, prompt("split_question"), data, _PartsReply)
    except RemoteError:
        return ()  # the agent can search without them
    lines = [one_line(part, most=MAX_QUERY) for part in reply.parts[:_MAX_PARTS]]
    return tuple(filter(None, lines)) if len(lines) > 1 else ()


def _other_questions(
    question: str, nearest: Sequence[Paper], model: WritingModel | None
) -> list[str]:
    """Return a note with other questions, or with the subjects of the nearest papers."""
    counts = Counter(word for paper in nearest for word in paper.keywords if " " in word)
    subjects = [word for word, n in counts.most_common(_MAX_PARTS) if n >= _MIN_SUBJECT]
    if model is not None:
        data = as_data({"question": question, "subjects": subjects})
        with suppress(RemoteError):
            reply = request_reply(model, prompt("rephrase_question"), data, _PartsReply)
            lines = [one_line(part, most=MAX_QUERY) for part in reply.parts[:_MAX_PARTS]]
            if others := [f"“{line}”" for line in lines if line]:
                return [f"Other questions to try: {join_names(others)}."]
    return [f"The nearest papers are about {join_names(subjects)}."] if subjects[1:] else []


def _answer_parts(
    engine: Engine, question: str, parts: Sequence[str], settings: AskSettings
) -> Answer:
    """Answer each part of a question by quoted sentences, and combine the answers."""
    answers = [ask(engine, part, settings, is_part=True) for part in parts]
    pairs = list(zip(parts, answers, strict=True))
    hits = {hit.paper.paper_id: hit for one in answers for hit in one.results.hits}
    listed = [replace(hit, rank=rank) for rank, hit in enumerate(hits.values(), start=1)]
    results = replace(answers[0].results, query=question, hits=tuple(listed))
    return replace(
        answers[0],
        question=question,
        text="\n\n".join(f"{part}\n\n{one.text}" for part, one in pairs),
        claims=tuple(replace(claim, side=part) for part, one in pairs for claim in one.claims),
        results=results,
        abstained=all(one.abstained for one in answers),
        question_type=str(QuestionKind("compositional")),
        ads_query=next((one.ads_query for one in answers if one.ads_query), None),
        notes=tuple(
            dict.fromkeys(
                note if all(note in other.notes for other in answers) else f"{part} {note}"
                for part, one in pairs
                for note in one.notes
            )
        ),
        settings={
            **vars(settings),
            "weights": vars(settings.weights) if settings.weights else None,
        },
        table=next((one.table for one in answers if one.table is not None), None),
        sub_questions=tuple(parts),
    )


def _read_body(engine: Engine, question: str, name: str, captions: bool) -> str:
    """Return the headings and fitting passages of a full text, or the captions of its figures."""
    row = engine.row_of(name)
    sections = engine.atlas.sections([row])
    is_caption = sections["kind"] == "caption"
    if captions:
        listed = [one_line(text, most=_MAX_CAPTION) for text in sections["text"][is_caption]]
        return "\n".join(listed[:_MAX_CAPTIONS]) or f"The atlas has no captions of {name}."
    if sections.empty:
        return f"The atlas has no full text of {name}."
    body = with_bodies(engine.atlas, engine.papers([row]), question, of_paper=_OF_BODY)
    texts = [one.text for places in body.places.values() for _, one in places]
    headings = "; ".join(filter(None, sections["heading"][~is_caption][:_MAX_HEADINGS]))
    return "\n".join([f"Sections: {headings}", *texts])


def _linked(engine: Engine, question: str, filter_text: str | None, name: str, k: int) -> Results:
    """Find the papers on a question among those that a paper cites or that cite it."""
    graph, row = citation_graph(engine.atlas), engine.row_of(name)
    links = graph.reference_links.of(row), graph.citation_links.of(row)
    nodes = np.unique(np.concatenate(links)).astype(np.int64)
    if not len(rows := nodes[nodes < graph.n_papers]):
        raise InputError(
            graph.note or f"The atlas has no paper that {name} cites or that cites it."
        )
    settings = SearchSettings(k=k, filter=filter_text)
    return engine.within(rows).search(question, settings).valid()[0]


def _searcher(engine: Engine, base: SearchSettings) -> Callable[..., Results]:
    """Return a search function for an agent; its filters are combined with the user's filter."""

    def search(query: str, k: int, filter: str | None = None) -> Results:  # noqa: A002
        both = [f"({part})" for part in (base.filter, filter) if part and part.strip()]
        found = engine.search(query, base.replaced(k=k, filter=";".join(both) or None))
        return found.valid()[0]

    return search


def _with_papers_of(
    engine: Engine, query: str, results: Results, search: SearchSettings
) -> Results:
    """Add papers found with the denial of a question, or with nouns for its verbs."""
    rows = {hit.paper.row for hit in results.hits}
    others = [hit for hit in engine.search(query, search).hits if hit.paper.row not in rows]
    both = itertools.chain.from_iterable(itertools.zip_longest(results.hits, others))
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(filter(None, both), start=1)]
    return replace(results, hits=tuple(hits))


def _with_passages(engine: Engine, query: str, results: Results, search: SearchSettings) -> Results:
    """Add the papers whose full texts have the best passages for a query."""
    allowed = engine.select(search.filter or "") if search.filter or engine.is_restricted else None
    found = papers_of_passages(engine, query, k=_OF_PASSAGES, rows=allowed)
    if not found:
        return results
    known = {hit.paper.row: hit for hit in results.hits} if results.matched else {}
    scores = [hit.score for hit in results.hits] or [1.0]
    new = [
        known.get(paper.row, Hit(0, paper, scores[min(place, len(scores) - 1)]))
        for place, paper in enumerate(found)
    ]
    others = [hit for hit in known.values() if hit.paper.row not in {one.paper.row for one in new}]
    both = itertools.chain.from_iterable(itertools.zip_longest(new, others))
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(filter(None, both), start=1)]
    return replace(results, hits=tuple(hits), matched=True, note="")


def _expansion(
    question: str, model: WritingModel | None, chosen: AskSettings, notes: list[str]
) -> str | None:
    if model is None or not chosen.hyde or chosen.method == "words":
        return None
    try:
        return hypothetical_abstract(question, model)
    except RemoteError as error:
        notes.append(f"Searched without a hypothetical abstract: {error}")
        return None


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
        notes.append(
            "Judging the agreement needs a language model. Set OPENAI_API_KEY, or "
            "OPENAI_BASE_URL and LANDSCAPE_LLM_MODEL."
        )
        return None
    try:
        return judge_consensus(question, results.papers, model)
    except RemoteError as error:
        notes.append(f"The agreement of the papers was not judged: {error}")
        return None


def answer_question(
    store: AtlasStore,
    question: str,
    *,
    model: WritingModel | Literal["auto"] | None = "auto",
    thread: Sequence[Answer] = (),
    on_text: OnText | None = None,
    **settings: object,
) -> Answer:
    """Answer a question from the papers; `landscape.Atlas.ask` documents the parameters."""
    chosen = AskSettings(**settings)
    model = connect_from_environment() if model == "auto" else model
    return ask(open_engine(store), question, chosen, model=model, thread=thread, on_text=on_text)
