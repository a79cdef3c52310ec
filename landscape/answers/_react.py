"""Answer a question by alternating reasoning and searches (ReAct, Yao et al. 2023).

See arXiv:2210.03629. Each step is one JSON object, so models without tool calling also work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from landscape._wording import count
from landscape.answers.citations import papers_as_data
from landscape.answers.extractive import failure_notes
from landscape.answers.generation import answer, finish
from landscape.answers.settings import Style
from landscape.errors import InputError, RemoteError
from landscape.llm import ReplyForm, WritingModel, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.search.sentences import Score
from landscape.types import Answer, Hit, Results, Step

Search = Callable[..., Results]
"""Search function of the form ``search(query, k, filter=None)``."""

_MAX_REPEATS = 2  # the agent stops after this number of repeated or empty searches
_MAX_QUERY, _MAX_THOUGHT = 500, 1000  # characters


class _NextStep(ReplyForm):
    thought: str
    action: Literal["search", "filter", "citations", "sections", "figures", "count", "answer"]
    query: str
    filter: str
    answer: str


@dataclass
class _Work:
    """State of the work on a question: steps, results and number of repeated searches."""

    question: str
    steps: list[Step] = field(default_factory=list)
    results: dict[int, Results] = field(default_factory=dict)  # by step number
    seen: set[tuple[str, ...]] = field(default_factory=set)
    repeats: int = 0
    count_papers: Callable[[str], str] | None = None
    linked_papers: Callable[[str, int], Results] | None = None
    read_paper: Callable[[str, bool], str] | None = None
    parts: tuple[str, ...] = ()

    def found(self) -> Results | None:
        """Return all papers found, in the order of the searches."""
        if not self.results:
            return None
        best: dict[str, Hit] = {}
        for results in self.results.values():
            for hit in results.hits:
                best.setdefault(hit.paper.paper_id, hit)
        hits = [replace(hit, rank=rank) for rank, hit in enumerate(best.values(), start=1)]
        widest = max(self.results.values(), key=lambda results: results.coverage.n_searched)
        return replace(
            widest,
            query=self.question,
            hits=tuple(hits),
            seconds=sum(results.seconds for results in self.results.values()),
        )


def reason(
    question: str,
    search: Search,
    model: WritingModel,
    *,
    k: int = 8,
    max_steps: int = 6,
    style: Style = "multi-paper",
    score: Score | None = None,
    check_with_model: bool = True,
    on_step: Callable[[Step], None] | None = None,
    count_papers: Callable[[str], str] | None = None,
    linked_papers: Callable[[str, int], Results] | None = None,
    read_paper: Callable[[str, bool], str] | None = None,
    parts: tuple[str, ...] = (),
) -> Answer:
    """Answer a question by alternating reasoning and searches.

    `count_papers` asks the tables, `linked_papers` finds what a paper cites and what cites it, and
    `read_paper` returns the sections, or the captions of the figures, of a full text. `parts` are
    the sub-questions, which the agent gets.
    """
    work = _Work(question, count_papers=count_papers, linked_papers=linked_papers,
                 read_paper=read_paper, parts=parts)  # fmt: skip
    notes: tuple[str, ...] = ("The agent found no answer within the maximum number of steps.",)
    text = None
    try:
        text = _search_and_think(work, search, model, k=k, max_steps=max_steps, on_step=on_step)
    except RemoteError as error:
        notes = failure_notes(error)
        # Sentences are quoted, and the searches of the model may be about something else.
        work.results = {-1: search(question, k), **work.results}
    found = work.found() or search(question, k)
    trace = tuple(work.steps)
    if text is not None:
        checked = finish(
            question,
            text,
            found,
            model=model,
            style=style,
            check_with_model=check_with_model,
            trace=trace,
        )
        if checked is not None:
            return replace(checked, sub_questions=parts)
        notes = ("The answer of the agent cited none of the papers found.",)
    written = answer(
        question,
        found,
        model=None if notes[0].startswith("The language model failed") else model,
        style=style,
        score=score,
        check_with_model=check_with_model,
    )
    # Remove the note "no language model is connected", which is wrong if a model failed.
    kept = [note for note in written.notes if "no language model is connected" not in note]
    notes = tuple(dict.fromkeys([*notes, *kept]))
    return replace(written, trace=trace, notes=notes, sub_questions=parts)


def _search_and_think(
    work: _Work,
    search: Search,
    model: WritingModel,
    *,
    k: int,
    max_steps: int,
    on_step: Callable[[Step], None] | None,
) -> str | None:
    """Run steps until the agent answers; return None if it reaches the maximum number."""
    for left in range(max_steps, 0, -1):
        reply = request_reply(model, prompt("react"), as_data(_brief(work, left)), _NextStep)
        thought = " ".join(reply.thought.split())[:_MAX_THOUGHT]
        if reply.action == "answer" and work.results:
            step = Step(thought, "answer", "")
        elif reply.action == "answer":
            step = Step(thought, "answer", "There was no search yet, so search first.")
        elif reply.action == "count" and work.count_papers is not None:
            asked = " ".join(reply.query.split())[:_MAX_QUERY]
            step = Step(thought, f"count: {asked}", work.count_papers(asked))
        elif reply.action in ("sections", "figures") and work.read_paper is not None:
            step = _read(work, reply, thought)
        else:
            step = _searched(work, search, reply, thought, k=k)
        work.steps.append(step)
        if on_step is not None:
            on_step(step)
        if step.action == "answer" and not step.observation:
            return reply.answer
        if work.repeats >= _MAX_REPEATS:
            return None
    return None


def _read(work: _Work, reply: _NextStep, thought: str) -> Step:
    """Read the sections, or the captions of the figures, of a paper that was found."""
    name = " ".join(reply.query.split()).strip("[]")[:_MAX_QUERY]
    action = f"{reply.action}: {name}"
    shown = {paper.label for results in work.results.values() for paper in results.papers}
    if name not in shown or work.read_paper is None:
        work.repeats += 1
        return Step(thought, action, "No search has shown a paper with this label.")
    if (action,) in work.seen:
        work.repeats += 1
        return Step(thought, action, "This paper was read before.")
    work.seen.add((action,))
    return Step(thought, action, work.read_paper(name, reply.action == "figures"), (name,))


def _searched(work: _Work, search: Search, reply: _NextStep, thought: str, *, k: int) -> Step:
    """Search for papers, or follow the citations of one."""
    query, within = (" ".join(text.split())[:_MAX_QUERY] for text in (reply.query, reply.filter))
    follow = work.linked_papers if reply.action == "citations" else None
    action = f"{'citations' if follow else 'search'}: {query}"
    action += f"; filter: {within}" if within and not follow else ""
    if reply.action == "filter" and within:  # the question ranks the papers that pass it
        query, action = query or work.question, f"filter: {within}"
    if not query:
        work.repeats += 1
        return Step(thought, action, "A search needs a query.")
    key = (action.split(":")[0], *sorted(set(query.casefold().split())), within.casefold())
    if key in work.seen:
        work.repeats += 1
        return Step(thought, action, "This is a repeated search. Use other words, or answer.")
    work.seen.add(key)
    try:
        results = follow(query, k) if follow else search(query, k, filter=within or None)
    except InputError as error:
        return Step(thought, action, f"The search failed: {error}")
    known = {paper.paper_id for earlier in work.results.values() for paper in earlier.papers}
    work.results[len(work.steps)] = results
    labels = tuple(paper.label for paper in results.papers)
    n_new = sum(paper.paper_id not in known for paper in results.papers)
    told = f"{count(len(labels), 'paper')} found, {n_new} of them new."
    if reply.action == "filter":
        told = f"{count(results.coverage.n_searched, 'paper')} pass the filter. The best: {told}"
    return Step(thought, action, told, labels)


def _brief(work: _Work, left: int) -> dict[str, object]:
    """Return the data for the agent; each abstract is included once, when its paper is found."""
    shown: set[str] = set()
    steps: list[dict[str, Any]] = []
    fields = ("thought", "action", "observation")
    for n, step in enumerate(work.steps):
        shown_step: dict[str, object] = {name: getattr(step, name) for name in fields}
        if n in work.results:
            papers = [p for p in work.results[n].papers if p.paper_id not in shown]
            shown |= {paper.paper_id for paper in papers}
            shown_step["new_papers"] = papers_as_data(papers)
        steps.append(shown_step)
    told: dict[str, object] = {"question": work.question, "steps": steps, "steps_left": left}
    return {**told, "sub_questions": list(work.parts)} if work.parts else told
