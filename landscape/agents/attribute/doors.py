"""Which paper does an excerpt cite? With a language model or without, never with an error."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Literal

from landscape.agents.attribute.agent import OnStep, Search, work
from landscape.agents.attribute.excerpt import read_excerpt
from landscape.agents.attribute.offline import METHOD, Weighing, weigh
from landscape.agents.attribute.stacks import Bounds, Stacks, bounds
from landscape.errors import InputError, RemoteError
from landscape.llm._client import connect_from_environment
from landscape.search._settings import is_whole
from landscape.types import Attribution, Guess

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Step

_MOST_ACTIONS = 100
_GUESSES = 10
_NO_DATES = "Papers without a date are left out, since they may be newer."
_NO_SOURCE = (
    "No paper of this atlas has the identifier {!r}: a paper of that title is left out, and newer "
    "ones only where a date is given."
)
_NOT_CLEAR = (
    "Without a language model, words and citations judge: no paper stands out far enough from the "
    "others to be selected, and these are the best guesses."
)
_FAR = "No paper is near the sentence: what it cites is hardly in this atlas."
_CHANCE = (
    "If the cited paper is in this atlas: where a ranking is as clear as this one, its first paper "
    "is the right one about {} times in 10."
)


def attribute(
    atlas: AtlasStore,
    excerpt: str,
    *,
    source: str | None = None,
    before: date | str | int | None = None,
    max_actions: int = 15,
    model: LanguageModel | Literal["auto"] | None = None,
    demonstration: bool = False,
    mark: int = 1,
    on_step: OnStep | None = None,
) -> Attribution:
    """Find the one paper that an excerpt cites at ``[CITATION]``.

    With a language model this is CiteAgent (Press et al. 2024, arXiv:2407.12861): it searches,
    reads and selects. Without one the sentence around the mark, and its part that the mark stands
    for, are searched for and the candidates ranked; the citation graph, where there is one, lifts
    what the best candidates cite.

    Parameters
    ----------
    atlas : AtlasStore
    excerpt : str
        Text with ``[CITATION]`` in it.
    source : str, optional
        The paper that the excerpt is from (identifier or title); it is never selected, nor is
        anything newer where the atlas knows its date.
    before : date, str or int, optional
        Last day that counts; a year counts as a whole.
    max_actions : int, default 15
        Actions of the language model.
    model : LanguageModel, "auto" or None
        "auto" connects the one that the environment names, if any.
    demonstration : bool, default False
        Whether the model is shown an example of a whole search.
    mark : int, default 1
        Which of several marks is meant.
    on_step : callable, optional
        Told each step of the model when it is done.

    Returns
    -------
    Attribution
        Where no paper can be told from the others it abstains and hands over its best guesses;
        where the model fails in the middle, what was found so far, marked partial.

    Raises
    ------
    InputError
        The excerpt has no mark, `before` is no date, or `max_actions` no number of actions.
    """
    started = time.perf_counter()
    if not is_whole(max_actions) or not 1 <= max_actions <= _MOST_ACTIONS:
        message = f"max_actions is {max_actions!r}; allow 1 to {_MOST_ACTIONS} actions."
        raise InputError(message)
    read = read_excerpt(excerpt, mark=mark)
    limits = bounds(atlas, source=source, before=before)
    stacks = Stacks(atlas, limits)
    model = connect_from_environment() if model == "auto" else model
    weighed = weigh(read, stacks)
    found = Attribution(
        excerpt=read.text,
        sentence=read.sentence,
        clause=read.clause,
        paper=weighed.selected,
        guesses=weighed.guesses,
        method=METHOD,
        coverage=weighed.coverage,
        trace=weighed.trace,
        notes=_notes(read.n_marks, mark, limits),
        settings={
            "source": source,
            "before": limits.before,
            "max_actions": max_actions,
            "demonstration": demonstration,
            "mark": mark,
        },
    )
    if model is not None:
        found = _with_model(
            found, Search(read), stacks, weighed, model, max_actions, demonstration, on_step
        )
    else:
        said = []
        if found.paper is None:
            said.append(_NOT_CLEAR if weighed.is_near else _FAR)
        if weighed.chance is not None:
            said.append(_CHANCE.format(round(10 * weighed.chance)))
        found = replace(found, chance=weighed.chance, notes=(*found.notes, *said))
    return replace(found, seconds=time.perf_counter() - started)


def _notes(n_marks: int, mark: int, limits: Bounds) -> tuple[str, ...]:
    notes = [_NO_DATES] if limits.before is not None else []
    if limits.source is not None and not limits.rows:
        notes.append(_NO_SOURCE.format(limits.source))
    if n_marks > 1:
        notes.append(
            f"The excerpt has {n_marks} marks; this is for number {mark}. Name another with mark."
        )
    return tuple(notes)


def _with_model(
    offline: Attribution,
    search: Search,
    stacks: Stacks,
    weighed: Weighing,
    model: LanguageModel,
    max_actions: int,
    demonstration: bool,
    on_step: OnStep | None,
) -> Attribution:
    failure = ""
    try:
        work(
            search,
            stacks,
            model,
            max_actions=max_actions,
            demonstration=demonstration,
            on_step=on_step or _nobody,
        )
    except RemoteError as error:
        failure = f"The language model failed: {error}"
    notes = list(offline.notes)
    if failure:
        notes.append(failure)
    elif search.selected is None and not search.gave_up:
        notes.append("The model selected no paper within its actions.")
    return replace(
        offline,
        paper=search.selected,
        guesses=_guesses(search, weighed),
        method=model.model,
        partial=bool(failure),
        trace=tuple(search.steps),
        notes=tuple(notes),
    )


def _guesses(search: Search, weighed: Weighing) -> tuple[Guess, ...]:
    """The selected paper, what was read, and what the offline ranking has, each once."""
    scores = {guess.paper.row: guess.score for guess in weighed.guesses}
    lowest = min(scores.values(), default=0.0)
    read = [search.shown[label] for label in reversed(search.read)]
    chosen = [] if search.selected is None else [search.selected]
    reasons = {paper.row: "read by the model" for paper in read}
    reasons |= {paper.row: "selected by the model" for paper in chosen}
    papers = {paper.row: paper for paper in [*chosen, *read]}
    papers |= {
        guess.paper.row: guess.paper for guess in weighed.guesses if guess.paper.row not in papers
    }
    offline = {guess.paper.row: guess.reason for guess in weighed.guesses}
    return tuple(
        Guess(paper, scores.get(row, lowest), reasons.get(row) or offline.get(row, ""))
        for row, paper in list(papers.items())[:_GUESSES]
    )


def _nobody(_: Step) -> None:
    """Nobody watches the steps."""
