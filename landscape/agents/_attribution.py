"""Find the paper that an excerpt cites, with a language model or by ranking alone.

The ranking avoids the three published failures (Press et al. 2024, section 5): the part of the
sentence at the mark has the largest weight; a paper is selected only if it ranks clearly above the
others; and a paper that cites another good candidate passes on a part of its score.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from landscape._wording import count
from landscape.agents._attribution_agent import AgentState, OnStep, run_agent
from landscape.agents._bounded_search import BoundedLibrary, Bounds, Wording, bounds
from landscape.agents._excerpts import read_excerpt
from landscape.errors import InputError, RemoteError
from landscape.llm._client import connect_from_environment
from landscape.search._sentences import find_entities, shares_of_names
from landscape.search._settings import is_whole
from landscape.types import Attribution, Guess, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents._excerpts import Excerpt
    from landscape.llm._client import LanguageModel
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Coverage, Paper

METHOD = "offline"

_WHOLE = 1.0
_CLAUSE, _CLAUSE_AMONG_OTHERS = 0.5, 1.0  # the second where the sentence cites other papers too
_NAMED = 0.25  # for a title with all names of the clause, in standard deviations of the ranking
_CITED_BONUS = 0.3  # for a paper that better candidates cite, for each of them, at most twice
_CITING = 12  # candidates that may hand on a part of their score
_GUESSES = 10
# How often the first is right, by how far it stands above the four after it: logistic regression on
# one half of the excerpts of `landscape evaluate attribution`; on the other half it holds.
_CHANCE_INTERCEPT, _CHANCE_SLOPE, _AFTER = -1.05, 0.85, 4
_SELECTED_FROM = 0.65  # chance from which it is selected: on the other half 12 of 13 were right
_NEAR_ENOUGH = 0.4  # cosine; of titles asked as questions, one in a hundred has none as near


class OfflineRanking(NamedTuple):
    """The ranking without a language model."""

    guesses: tuple[Guess, ...]
    selected: Paper | None
    trace: tuple[Step, ...]
    coverage: Coverage
    chance: float | None
    is_near: bool


def wordings(excerpt: Excerpt) -> list[Wording]:
    """Texts to search with for an excerpt."""
    among_others = "(...)" in excerpt.marked
    clause = _CLAUSE_AMONG_OTHERS if among_others else _CLAUSE
    return [Wording(excerpt.plain, _WHOLE), Wording(excerpt.clause, clause)]


def rank_offline(excerpt: Excerpt, library: BoundedLibrary) -> OfflineRanking:
    """Rank the papers that an excerpt may cite, and select one if it stands out."""
    asked = wordings(excerpt)
    found = library.search_wordings(asked)
    hits = list(found.hits)
    papers = [hit.paper for hit in hits]
    scores = np.array([hit.score for hit in hits], dtype=float)
    reasons = [["found by its words or its sense"] for _ in hits]
    _lift_named(excerpt, papers, scores, reasons)
    papers, scores, reasons = _lift_cited(library, papers, scores, reasons)
    order = np.argsort(-scores, kind="stable")[:_GUESSES]
    guesses = tuple(
        Guess(papers[place], float(scores[place]), ", ".join(reasons[place])) for place in order
    )
    labels = tuple(guess.paper.label for guess in guesses)
    trace = (
        *(
            Step("", f"search: {results.query}", f"{count(len(results), 'paper')} found.")
            for results in found.searches
        ),
        Step("", "weigh", f"{len(papers)} papers are within the bounds.", labels),
    )
    nearness = {hit.paper.row: hit.parts.get("semantic") for hit in hits}
    is_near = _is_near(guesses, nearness)
    chance = _chance(guesses) if is_near else None
    selected = guesses[0].paper if chance is not None and chance >= _SELECTED_FROM else None
    if selected is not None:
        trace = (*trace, Step("", f"select: {selected.label}", "", (selected.label,)))
    return OfflineRanking(guesses, selected, trace, found.searches[0].coverage, chance, is_near)


def _is_near(guesses: Sequence[Guess], nearness: Mapping[int, float | None]) -> bool:
    """Whether the best paper is similar enough to be the cited one."""
    cosine = nearness.get(guesses[0].paper.row) if guesses else -1.0
    return cosine is None or cosine >= _NEAR_ENOUGH


def _chance(guesses: Sequence[Guess]) -> float:
    """How often the first paper is right at this distance from the next ones."""
    after = [guess.score for guess in guesses[1 : 1 + _AFTER]]
    if not after:
        return 1.0  # the only paper within the bounds
    gap = guesses[0].score - float(np.mean(after))
    return float(expit(_CHANCE_INTERCEPT + _CHANCE_SLOPE * gap))


def _lift_named(
    excerpt: Excerpt, papers: Sequence[Paper], scores: NDArray[np.float64], reasons: list[list[str]]
) -> None:
    """Raise papers whose titles contain the names of the clause, as of instruments."""
    names = [entity.text for entity in find_entities(excerpt.clause) if entity.kind != "person"]
    shares = np.array(shares_of_names(names, [paper.title for paper in papers]))
    if names and len(papers):
        scores += _NAMED * shares
        for place in np.flatnonzero(shares):
            reasons[place].append("named in its title")


def _lift_cited(
    library: BoundedLibrary,
    papers: list[Paper],
    scores: NDArray[np.float64],
    reasons: list[list[str]],
) -> tuple[list[Paper], NDArray[np.float64], list[list[str]]]:
    """Raise papers that the best candidates cite."""
    order = np.argsort(-scores, kind="stable")[:_CITING]
    best = [papers[place] for place in order]
    cited = library.cited_among(papers)
    lifted = {row: [c for c in citing if any(c == p.row for p in best)]
              for row, citing in cited.items()}  # fmt: skip
    many = library.cited_by_many(best)
    known = {paper.row: place for place, paper in enumerate(papers)}
    new = [row for row in sorted(many) if row not in known]
    if new:
        papers = [*papers, *library.papers(new)]
        floor = float(np.median(scores[order]))
        scores = np.concatenate([scores, np.full(len(new), floor - _CITED_BONUS)])
        reasons = [*reasons, *([] for _ in new)]
        known |= {row: len(known) + n for n, row in enumerate(new)}
    for row, citing in {**lifted, **many}.items():
        if citing:
            scores[known[row]] += _CITED_BONUS * min(len(citing), 2)
            n = len(citing)
            reasons[known[row]].append(f"cited by {n} of the nearest papers")
    return papers, scores, reasons


_MOST_ACTIONS = 100
_NO_DATES = "Papers without a date are left out, since they may be newer."
_NO_SOURCE = (
    "No paper of this atlas has the identifier {!r}: a paper of that title is left out, and newer "
    "ones only where a date is given."
)
_NOT_CLEAR = (
    "Without a language model: no paper ranks clearly above the others, so these are the best "
    "guesses by words and citations."
)
_FAR = "No paper is near the sentence: the cited paper is probably not in this atlas."
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
    reads and selects. Without one the sentence around the mark, and its part at the mark, are
    searched for and the candidates ranked; the citation graph, if any, raises what the best
    candidates cite.

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
        Called with each step of the model.

    Returns
    -------
    Attribution
        If no paper ranks clearly above the others it abstains and lists the best guesses. If the
        model fails, the result so far, marked partial.

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
    library = BoundedLibrary(atlas, limits)
    model = connect_from_environment() if model == "auto" else model
    ranking = rank_offline(read, library)
    found = Attribution(
        excerpt=read.text,
        sentence=read.sentence,
        clause=read.clause,
        paper=ranking.selected,
        guesses=ranking.guesses,
        method=METHOD,
        coverage=ranking.coverage,
        trace=ranking.trace,
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
            found, AgentState(read), library, ranking, model, max_actions, demonstration, on_step
        )
    else:
        said = []
        if found.paper is None:
            said.append(_NOT_CLEAR if ranking.is_near else _FAR)
        if ranking.chance is not None:
            said.append(_CHANCE.format(round(10 * ranking.chance)))
        found = replace(found, chance=ranking.chance, notes=(*found.notes, *said))
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
    state: AgentState,
    library: BoundedLibrary,
    ranking: OfflineRanking,
    model: LanguageModel,
    max_actions: int,
    demonstration: bool,
    on_step: OnStep | None,
) -> Attribution:
    failure = ""
    try:
        run_agent(
            state,
            library,
            model,
            max_actions=max_actions,
            demonstration=demonstration,
            on_step=on_step or _ignore_step,
        )
    except RemoteError as error:
        failure = f"The language model failed: {error}"
    notes = list(offline.notes)
    if failure:
        notes.append(failure)
    elif state.selected is None and not state.gave_up:
        notes.append("The model selected no paper within its actions.")
    return replace(
        offline,
        paper=state.selected,
        guesses=_guesses(state, ranking),
        method=model.model,
        partial=bool(failure),
        trace=tuple(state.steps),
        notes=tuple(notes),
    )


def _guesses(state: AgentState, ranking: OfflineRanking) -> tuple[Guess, ...]:
    """The selected paper, papers read, and the offline ranking, each once."""
    scores = {guess.paper.row: guess.score for guess in ranking.guesses}
    lowest = min(scores.values(), default=0.0)
    read = [state.shown[label] for label in reversed(state.read)]
    chosen = [] if state.selected is None else [state.selected]
    reasons = {paper.row: "read by the model" for paper in read}
    reasons |= {paper.row: "selected by the model" for paper in chosen}
    papers = {paper.row: paper for paper in [*chosen, *read]}
    papers |= {
        guess.paper.row: guess.paper for guess in ranking.guesses if guess.paper.row not in papers
    }
    offline = {guess.paper.row: guess.reason for guess in ranking.guesses}
    return tuple(
        Guess(paper, scores.get(row, lowest), reasons.get(row) or offline.get(row, ""))
        for row, paper in list(papers.items())[:_GUESSES]
    )


def _ignore_step(_: Step) -> None:
    """Ignore a step."""
