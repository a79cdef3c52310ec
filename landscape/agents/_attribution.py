"""Find the paper that an excerpt cites, with a language model or by ranking alone.

The language model works as CiteAgent (Press et al. 2024, arXiv:2407.12861). It searches, reads and
selects papers, and can select only papers found by its searches. Each step is one JSON object, so
that models without tool calling work too.

The ranking avoids the three failures described in that paper (section 5). The part of the sentence
next to [CITATION] has the largest weight. A paper is selected only if it ranks clearly above the
others. A paper that good candidates cite gets a bonus.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from pydantic import create_model
from scipy.special import expit

from landscape._settings import takes_settings
from landscape._wording import count, one_line
from landscape.agents.bounded_search import (
    OTHER_PART,
    BoundedLibrary,
    Bounds,
    Wording,
    bounds,
    has_same_title,
)
from landscape.agents.excerpts import read_excerpt, recall_title
from landscape.agents.settings import AttributeSettings
from landscape.agents.survey_requests import ReplayedModel
from landscape.answers.citations import papers_as_data
from landscape.errors import RemoteError
from landscape.llm import ReplyForm, connect_from_environment, request_reply, sample
from landscape.llm.prompts import as_data, prompt
from landscape.models import read_numbers
from landscape.search import find_entities
from landscape.search.passages import with_bodies
from landscape.search.sentences import shares_of_names
from landscape.store.tables import REFERENCES
from landscape.types import Attribution, Guess, Paper, Step, title_notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.excerpts import Excerpt
    from landscape.llm import LanguageModel
    from landscape.store import AtlasStore
    from landscape.types import Coverage

OnStep = Callable[[Step], None]
METHOD = "offline"

_WHOLE = 1.0  # weight of the whole sentence
# Weights of the clause if the sentence has one citation, and if it has several citations.
_CLAUSE, _CLAUSE_AMONG_OTHERS = 0.5, 1.0
# Bonus for a title that contains all names of the clause, in standard deviations.
_NAMED = 0.25
_CITED_BONUS = 0.3  # bonus for each better candidate that cites the paper; added at most twice
_CITING = 12  # maximum number of candidates whose cited papers get the bonus
_GUESSES = 10
_AFTER = 4  # papers with which the highest-ranked paper is compared
# Minimum probability for a selection. On the other half of the excerpts, 12 of 13 selections were
# correct.
_SELECTED_FROM = 0.65
# Minimum cosine of the highest-ranked paper. If titles of papers are used as queries, 99 of 100
# queries find a paper above this value.
_NEAR_ENOUGH = 0.4


class OfflineRanking(NamedTuple):
    guesses: tuple[Guess, ...]
    selected: Paper | None
    trace: tuple[Step, ...]
    coverage: Coverage
    chance: float | None
    is_near: bool


def wordings(excerpt: Excerpt) -> list[Wording]:
    clause = _CLAUSE_AMONG_OTHERS if "(...)" in excerpt.marked else _CLAUSE
    return [Wording(excerpt.plain, _WHOLE), Wording(excerpt.clause, clause)]


def rank_offline(excerpt: Excerpt, library: BoundedLibrary) -> OfflineRanking:
    """Rank the papers that an excerpt may cite, and select a paper that is clearly the best."""
    found = library.search_wordings(wordings(excerpt))
    papers = [hit.paper for hit in found.hits]
    scores = np.array([hit.score for hit in found.hits], dtype=float)
    reasons = [["found by text similarity"] for _ in papers]
    names = [entity.text for entity in find_entities(excerpt.clause) if entity.kind != "person"]
    if names and papers:
        shares = np.array(shares_of_names(names, [paper.title for paper in papers]))
        scores += _NAMED * shares
        for place in np.flatnonzero(shares):
            reasons[place].append("the title contains a name from the sentence")
    papers, scores, reasons = _raise_cited(library, papers, scores, reasons)
    order = np.argsort(-scores, kind="stable")[:_GUESSES]
    guesses = tuple(
        Guess(papers[place], float(scores[place]), ", ".join(reasons[place])) for place in order
    )
    trace = [
        Step("", f"search: {results.query}", f"{count(len(results), 'paper')} found.")
        for results in found.searches
    ]
    labels = tuple(guess.paper.label for guess in guesses)
    trace.append(Step("", "rank", f"{len(papers)} papers are candidates.", labels))
    cosines = {hit.paper.row: hit.parts.get("semantic") for hit in found.hits}
    cosine = cosines.get(guesses[0].paper.row) if guesses else -1.0
    is_near = cosine is None or cosine >= _NEAR_ENOUGH
    chance = _chance(guesses) if is_near else None
    selected = guesses[0].paper if chance is not None and chance >= _SELECTED_FROM else None
    if selected is not None:
        trace.append(Step("", f"select: {selected.label}", "", (selected.label,)))
    coverage = found.searches[0].coverage
    return OfflineRanking(guesses, selected, tuple(trace), coverage, chance, is_near)


def _chance(guesses: Sequence[Guess]) -> float:
    """Return the probability that the best guess is correct, from the differences in score."""
    after = [guess.score for guess in guesses[1 : 1 + _AFTER]]
    if not after:
        return 1.0  # there is only one paper
    gap = guesses[0].score - float(np.mean(after))
    fitted = read_numbers("attribution_chance")
    return float(expit(fitted["intercept"] + fitted["slope"] * gap))


def _raise_cited(
    library: BoundedLibrary,
    papers: list[Paper],
    scores: NDArray[np.float64],
    reasons: list[list[str]],
) -> tuple[list[Paper], NDArray[np.float64], list[list[str]]]:
    """Raise the scores of papers that the best candidates cite, and add papers not found before."""
    order = np.argsort(-scores, kind="stable")[:_CITING]
    best = [papers[place] for place in order]
    best_rows = {paper.row for paper in best}
    cited = {
        row: [one for one in citing if one in best_rows]
        for row, citing in library.cited_among(papers).items()
    } | library.cited_by_many(best)
    places = {paper.row: place for place, paper in enumerate(papers)}
    new = [row for row in sorted(cited) if row not in places]
    if new:
        papers = [*papers, *library.papers(new)]
        usual = float(np.median(scores[order]))
        scores = np.concatenate([scores, np.full(len(new), usual - _CITED_BONUS)])
        reasons = [*reasons, *([] for _ in new)]
        places |= {row: len(places) + n for n, row in enumerate(new)}
    for row, citing in cited.items():
        if citing:
            scores[places[row]] += _CITED_BONUS * min(len(citing), 2)
            reasons[places[row]].append(f"cited by {len(citing)} of the nearest papers")
    return papers, scores, reasons


_NO_DATES = "Papers without a date are omitted, because they may be newer than allowed."
_NO_SOURCE = (
    "No paper of this atlas has the identifier {!r}. If this is a title, a paper with that "
    "title is omitted. Set the argument before to omit newer papers."
)
_NOT_CLEAR = (
    "No language model was used, and no paper ranks clearly above the others. These are the best "
    "guesses, based on text similarity and citations."
)
_FAR = "No paper is near the sentence. The cited paper is probably not in this atlas."
# In 14 of 14 excerpts with a chance above 0.85, the first paper was right: too few for 10 in 10.
_MOST_IN_10 = 9
_CHANCE = (
    "If the cited paper is in this atlas, the highest-ranked paper is right about {} times in 10."
)


@takes_settings(AttributeSettings)
def attribute(
    atlas: AtlasStore,
    excerpt: str,
    *,
    model: LanguageModel | Literal["auto"] | None = "auto",
    on_step: OnStep | None = None,
    trajectory: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Attribution:
    """Find the one paper that an excerpt cites at ``[CITATION]``.

    With a language model, this function runs CiteAgent (Press et al. 2024, arXiv:2407.12861),
    which searches, reads and selects papers. Without a model, the queries are the sentence with
    ``[CITATION]`` and the part of the sentence next to it. The candidates are then ranked by text
    similarity and citations.

    Parameters
    ----------
    atlas : AtlasStore
    excerpt : str
        Text that contains ``[CITATION]``.
    model : LanguageModel, "auto" or None, default "auto"
        "auto" connects the model set in the environment, if any.
    on_step : callable, optional
        Called with each step of the model.
    trajectory : path, optional
        File of the replies of the model. If it exists, its replies are used again, also without a
        model.
    **settings

    Returns
    -------
    Attribution
        If no paper ranks clearly above the others, the result contains the best guesses only.
        The result is partial if the model failed.

    Raises
    ------
    InputError
        If the excerpt has no ``[CITATION]`` mark, `before` or `max_actions` is invalid, or
        `trajectory` is the file of another search.
    """
    started = time.perf_counter()
    chosen = AttributeSettings(**settings)
    read = read_excerpt(excerpt, mark=chosen.mark)
    limits = bounds(atlas, source=chosen.source, before=chosen.before)
    library = BoundedLibrary(atlas, limits)
    model = connect_from_environment() if model == "auto" else model
    if trajectory is not None:
        identity = {"excerpt": read.text, "settings": chosen.to_dict()}
        identity |= {"atlas": atlas.manifest.updated}
        model = ReplayedModel(Path(trajectory), identity, model)
    ranking = rank_offline(read, library)
    notes = _notes(read.n_marks, chosen.mark, limits)
    found = Attribution(
        excerpt=read.text,
        sentence=read.sentence,
        clause=read.clause,
        paper=ranking.selected,
        guesses=ranking.guesses,
        method=METHOD,
        coverage=ranking.coverage,
        trace=ranking.trace,
        notes=(),
        settings={**vars(chosen), "before": limits.before},
    )
    if model is None:
        if found.paper is None:
            notes.append(_NOT_CLEAR if ranking.is_near else _FAR)
        if ranking.chance is not None:
            notes.append(_CHANCE.format(min(round(10 * ranking.chance), _MOST_IN_10)))
        found = replace(found, chance=ranking.chance)
    else:
        agents, failure = _run_agents(read, library, model, chosen, on_step)
        selected = [one.selected.label for one in agents if one.selected is not None]
        best = max(dict.fromkeys(selected), key=selected.count, default="")
        agent = next(
            (one for one in agents if one.selected and one.selected.label == best), agents[0]
        )
        if failure:
            notes.append(failure)
        elif agent.selected is None and not agent.gave_up:
            notes.append("The model selected no paper. Increase max_actions.")
        if len(agents) > 1:
            notes.append(f"{selected.count(best)} of {len(agents)} runs selected this paper.")
        found = replace(
            found,
            paper=agent.selected,
            guesses=_guesses(agent, ranking),
            method=model.model,
            partial=bool(failure),
            trace=tuple(agent.steps),
            runs=tuple(one.selected for one in agents),
        )
    notes.extend(title_notes([guess.paper for guess in found.guesses]))
    return replace(found, notes=tuple(notes), seconds=time.perf_counter() - started)


def _run_agents(
    excerpt: Excerpt,
    library: BoundedLibrary,
    model: LanguageModel,
    settings: AttributeSettings,
    on_step: OnStep | None,
) -> tuple[list[CiteAgent], str]:
    """Run the agent as often as requested; return the agents and the failure, if any."""
    agents = []
    for run in range(1, settings.runs + 1):
        agents.append(CiteAgent(excerpt, library))
        own = model
        if settings.temperature is not None:
            own = sample(model, settings.temperature, run=run)
        try:
            agents[-1].run(own, settings, on_step=on_step)
        except RemoteError as error:
            return agents, f"The language model failed: {error}"
    return agents, ""


def _notes(n_marks: int, mark: int, limits: Bounds) -> list[str]:
    notes = [_NO_DATES] if limits.before is not None else []
    if limits.source is not None and not limits.rows:
        notes.append(_NO_SOURCE.format(limits.source))
    if n_marks > 1:
        notes.append(
            f"The excerpt has {n_marks} marks. This is the result for mark {mark}. Set the "
            "argument mark to choose another mark."
        )
    return notes


def _guesses(agent: CiteAgent, ranking: OfflineRanking) -> tuple[Guess, ...]:
    """List the selected paper, the papers that were read, and the ranking, without duplicates."""
    offline = {guess.paper.row: guess for guess in ranking.guesses}
    lowest = min((guess.score for guess in ranking.guesses), default=0.0)
    listed: dict[int, tuple[Paper, str]] = {}
    if agent.selected is not None:
        listed[agent.selected.row] = agent.selected, "selected by the model"
    for label in reversed(agent.read):
        listed.setdefault(agent.shown[label].row, (agent.shown[label], "read by the model"))
    for row, guess in offline.items():
        listed.setdefault(row, (guess.paper, guess.reason))
    return tuple(
        Guess(paper, offline[row].score if row in offline else lowest, reason)
        for row, (paper, reason) in list(listed.items())[:_GUESSES]
    )


class StepReply(ReplyForm):
    part: str
    action: Literal["search", "read", "select", "give up"]
    query: str
    sort: Literal["relevance", "citations"]
    paper: str


def step_form(*, only: str | None, thoughts: bool) -> type[StepReply]:
    """Return the form of a step with the allowed actions, with a thought first if requested.

    >>> sorted(step_form(only="read", thoughts=True).model_fields)
    ['action', 'paper', 'part', 'query', 'sort', 'thought']
    """
    actions = [one for one in ("search", "read") if only in (None, one)]
    kind: Any = Literal[(*actions, "select", "give up")]
    fields: dict[str, Any] = {"thought": (str, ...)} if thoughts else {}
    fields |= {name: (field.annotation, ...) for name, field in StepReply.model_fields.items()}
    form: Any = create_model("StepReply", __base__=ReplyForm, **{**fields, "action": (kind, ...)})
    return cast("type[StepReply]", form)


_K = 10  # number of papers per search, as in Press et al. (2024)
_MAX_REPEATS = 3  # the search ends after this number of useless actions
_MAX_QUERY, _MAX_THOUGHT = 500, 1000  # characters
_SHORT_ABSTRACT = 300  # maximum number of characters of an abstract that was not read
_LETTERS = re.compile(r"[\W_]+")


def agent_instructions(settings: AttributeSettings) -> str:
    """Return the instructions for the model, with an example of a search if requested."""
    text = prompt("attribute")
    if not settings.thoughts:
        text = text.replace(f"{prompt('attribute_thought')}\n", "")
    names = [f"attribute_only_{settings.only}"] if settings.only else []
    names += ["attribute_example"] if settings.demonstration else []
    return "\n".join([text, *map(prompt, names)])


class CiteAgent:
    """Language model that searches for a cited paper step by step."""

    def __init__(self, excerpt: Excerpt, library: BoundedLibrary) -> None:
        self._excerpt, self._library = excerpt, library
        self.steps: list[Step] = []
        self.shown: dict[str, Paper] = {}
        self.read: list[str] = []
        self.selected: Paper | None = None
        self.gave_up = False
        self._new_labels: dict[int, tuple[str, ...]] = {}  # by step
        self._queries: set[str] = set()
        self._objected: set[str] = set()
        self._useless = 0
        self._reads = True

    def run(
        self, model: LanguageModel, settings: AttributeSettings, *, on_step: OnStep | None
    ) -> None:
        """Run the actions of the model until it selects a paper, gives up, or reaches the limit."""
        if settings.only == "none":
            self._recall(model)
            return
        instructions = agent_instructions(settings)
        form = step_form(only=settings.only, thoughts=settings.thoughts)
        if settings.only == "read":
            self.steps.append(self._show(f"search: {self._excerpt.plain}", self._excerpt.plain))
        self._reads = settings.only != "search"
        for left in range(settings.max_actions, 0, -1):
            reply = request_reply(model, instructions, as_data(self._state(left)), form)
            thought = " ".join(str(getattr(reply, "thought", "")).split())[:_MAX_THOUGHT]
            match reply.action:
                case "search":
                    step = self._search(reply, thought)
                case "give up":
                    step = self._give_up(thought, left)
                case _:
                    step = self._open(reply, thought, left)
            self.steps.append(step)
            if on_step is not None:
                on_step(step)
            if self.selected is not None or self.gave_up or self._useless >= _MAX_REPEATS:
                return

    def _search(self, reply: StepReply, thought: str) -> Step:
        query = " ".join(reply.query.split())[:_MAX_QUERY]
        action = f"search by {reply.sort}: {query}"
        key = f"{reply.sort} {' '.join(sorted(set(query.casefold().split())))}"
        if not query or key in self._queries:
            self._useless += 1
            why = (
                "This is a repeated search. Use other words."
                if query
                else ("A search needs a query.")
            )
            return Step(thought, action, why)
        self._queries.add(key)
        step = self._show(action, query, reply.sort)
        if self._is_marked_part(reply.part):
            return replace(step, thought=thought)
        observation = f"{step.observation} {OTHER_PART} {self._excerpt.clause}"
        return replace(step, thought=thought, observation=observation)

    def _show(
        self, action: str, query: str, sort: Literal["relevance", "citations"] = "relevance"
    ) -> Step:
        """Search, and show the papers to the model with the next step."""
        papers = self._library.search(query, k=_K, sort=sort)
        new = [paper for paper in papers if paper.label not in self.shown]
        self.shown.update({paper.label: paper for paper in new})
        self._new_labels[len(self.steps)] = tuple(paper.label for paper in new)
        observation = f"{count(len(papers), 'paper')} found, {len(new)} of them new."
        return Step("", action, observation, tuple(paper.label for paper in papers))

    def _recall(self, model: LanguageModel) -> None:
        """Select the paper of the atlas whose title the model knows without any command."""
        title = recall_title(model, self._excerpt.text)
        found = self._library.search(title, k=_K) if title else []
        same = [paper for paper in found if has_same_title(paper.title, [title])]
        self.selected = same[0] if same else None
        self.gave_up = not same
        observation = "" if same else "The atlas has no paper with this title."
        labels = tuple(paper.label for paper in same[:1])
        self.shown.update({paper.label: paper for paper in same[:1]})
        self.steps.append(Step("", f"recall: {title}", observation, labels))

    def _give_up(self, thought: str, left: int) -> Step:
        if not self.shown and left > 1:
            self._useless += 1
            return Step(thought, "give up", "There was no search yet, so search first.")
        self.gave_up = True
        return Step(thought, "give up", "")

    def _open(self, reply: StepReply, thought: str, left: int) -> Step:
        """Read or select a paper."""
        paper = self._find_shown(reply.paper)
        if paper is None:
            self._useless += 1
            name = " ".join(reply.paper.split())[:100]
            why = "No search has shown a paper with this label. Use a label from the results."
            return Step(thought, f"{reply.action}: {name}", why)
        observation = ""
        if reply.action == "read" and paper.label in self.read:
            self._useless += 1
            observation = "This paper was read before."
        elif reply.action == "read":
            self.read.append(paper.label)
        elif left > 1 and paper.label not in self._objected:
            observation = self._objection(paper)
        if reply.action == "select" and observation:
            self._objected.add(paper.label)
        elif reply.action == "select":
            self.selected = paper
        return Step(thought, f"{reply.action}: {paper.label}", observation, (paper.label,))

    def _objection(self, paper: Paper) -> str:
        """Return an objection to the first selection of a paper, or an empty string."""
        if paper.label not in self.read and self._reads:
            # The next state shows the abstract of the paper, which saves one action.
            self.read.append(paper.label)
            return (
                "This paper was not read. Its abstract is shown now. Does the paper meet every "
                f"condition of “{self._excerpt.clause}”? Is it the work itself, and not a paper "
                "that uses the work? If so, select it again."
            )
        cited = self._library.cited_among(list(self.shown.values()))
        rows = [row for row, citing in cited.items() if paper.row in citing]
        labels = [known.label for known in self._library.papers(rows)]
        if not labels:
            return ""
        return (
            f"This paper cites {', '.join(labels[:3])}, also found by the searches. Does the "
            "excerpt refer to a cited paper instead? Select a paper again."
        )

    def _find_shown(self, name: str) -> Paper | None:
        """Find a paper by any spelling of its label; return None for an invented label."""
        spelled = name.strip().strip("[]").strip()
        for known in (spelled, f"arXiv:{spelled}", spelled.removeprefix("arXiv:").strip()):
            if known in self.shown:
                return self.shown[known]
        return None

    def _is_marked_part(self, part: str) -> bool:
        """Return whether the part quoted by the model is from the clause with the mark."""
        words, sentence, clause = (
            set(_LETTERS.sub(" ", text.casefold()).split())
            for text in (part, self._excerpt.sentence, self._excerpt.clause)
        )
        return bool(words) and words <= sentence and len(words & clause) >= len(words) / 2

    def _state(self, left: int) -> dict[str, object]:
        """Return the data for the model, with full abstracts of the papers that were read."""
        steps: list[dict[str, Any]] = []
        opened: set[str] = set()
        for n, step in enumerate(self.steps):
            fields = ("thought", "action", "observation")
            shown: dict[str, object] = {name: getattr(step, name) for name in fields}
            if n in self._new_labels:
                papers = [self.shown[label] for label in self._new_labels[n]]
                shown["new_papers"] = list(map(_shortened, papers))
            for label in step.labels[:1]:
                is_opened = self._reads and step.action.startswith(("read", "select"))
                if is_opened and label not in opened:
                    opened.add(label)
                    shown["paper"] = self._opened(self.shown[label])
            steps.append(shown)
        return {
            "excerpt": self._excerpt.text,
            "sentence": self._excerpt.marked,
            "part": self._excerpt.clause,
            "steps": steps,
            "actions_left": left,
        }

    def _opened(self, paper: Paper) -> dict[str, object]:
        """Return a paper with its abstract, the headings and the fitting passages of its body."""
        data: dict[str, object] = papers_as_data([paper])[0]
        atlas = self._library.atlas
        body = with_bodies(atlas, [paper], self._excerpt.plain, of_paper=_OF_BODY)
        passages = [passage for _, passage in body.places.get(paper.paper_id, ())]
        if passages:
            headings = [one for one in atlas.sections([paper.row])["heading"] if one]
            data["sections"] = headings[:_MAX_HEADINGS]
            data["passages"] = [{"section": one.heading, "text": one.text} for one in passages]
        if references := self._references(paper):
            data["references"] = references
        return data

    def _references(self, paper: Paper) -> list[str]:
        """Return what a paper cites: its list of references, or the papers of the atlas."""
        table = self._library.atlas.read_of_papers(REFERENCES, [paper.row])
        listed = [one_line(text, most=_MAX_ENTRY) for text in table["text"][:_MAX_REFERENCES]]
        if listed:
            return listed
        cited = self._library.references(paper)[:_MAX_REFERENCES]
        return [one_line(f"{one.label}: {one.title}", most=_MAX_ENTRY) for one in cited]


_OF_BODY = 4  # passages of a full text that a model reads
_MAX_HEADINGS, _MAX_REFERENCES = 40, 60
_MAX_ENTRY = 160  # characters of a reference


def _shortened(paper: Paper) -> dict[str, object]:
    data = papers_as_data([paper])[0] | {"cited": paper.cites}
    if len(data["abstract"]) > _SHORT_ABSTRACT:
        data["abstract"] = data["abstract"][:_SHORT_ABSTRACT] + "…"
    return data
