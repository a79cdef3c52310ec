"""Survey a question: search, select papers and follow citations, level by level (PaSa).

Each step depends only on earlier results, and parallel replies are combined in a fixed order: the
same question gives the same survey.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape._wording import count
from landscape.agents._survey_library import Library
from landscape.agents._survey_model import NextStep, choose_survey_model
from landscape.agents._survey_scoring import (
    THRESHOLD,
    Candidates,
    Origin,
    least_matched_share,
    matched_share,
)
from landscape.agents._survey_settings import (
    ReplyLog,
    RequestBudget,
    SurveySettings,
    survey_settings,
)
from landscape.llm import connect_from_environment
from landscape.overlays.citations import cocited
from landscape.overlays.citations._graph import citation_graph
from landscape.search._settings import query_text
from landscape.text._words import normal_forms
from landscape.types import Asked, Crawled, Spent, Survey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents._full_text import Reader
    from landscape.agents._survey_model import Judgement, SurveyModel
    from landscape.llm._client import WritingModel
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import How, Linked, Paper

    Rows = NDArray[np.int64]

_CUT = re.compile(r"[,:;?!()\[\]\"“”/]+|\s[-–—]+\s|\.\s|\.$")
_WORD = re.compile(r"\S+")
# Words without a subject end a phrase. The last rows are words that every abstract has.
_EMPTY = frozenset(
    """a an and are as at be been being between but by can could did do does during each for from
    had has have how if in into is it its may might more most no nor not of off on or our out over
    per should so some such than that the their them then there these they this those through to
    under up upon us using very via was we were what when where whether which while who whom whose
    why will with within without would about above after against all along also among any around
    because before below both
    affect affects appear based can cause causes compare compared comparison constrain constrains
    constraint constraints current depend depends describe description determine determines
    different do effect effects evidence explain explains find finding findings first give given
    impact implication implications important influence investigate know known latest main make
    method methods new novel observed paper papers play possible present problem propose proposed
    question recent recently reported result results review role search show shows study studies
    studying suggest survey test tests toward towards understand understanding us use used uses
    useful various work works
    place places placed explain explained explaining due emit emits cause caused causing happen
    happens occur occurs come comes tell told lead leads led makes made exist exists
    i ii iii iv v vi""".split()  # noqa: SIM905 - words, not a list
)
_FEWEST_LETTERS = 2


def split_question(
    question: str, *, subjects: Collection[str] | None = None, most: int = 6
) -> list[str]:
    """Split a question into phrases about one subject each, without shared words."""
    phrases: list[str] = []
    seen: set[str] = set()
    for piece in _CUT.split(question):
        run: list[str] = []
        for word in [*_WORD.findall(piece), ""]:
            key = word.strip(".'’").casefold()
            is_stray = len(key) < _FEWEST_LETTERS and not _is_class_letter(word)
            if is_stray or key in _EMPTY or key in seen:
                if run:
                    phrases.append(" ".join(run))
                run = []
            else:
                run.append(word.strip("'’"))
                seen.add(key)
    if subjects is not None:
        known = set(normal_forms(list(subjects)))
        words = {word for form in known for word in form.split()}
        phrases = [cut for phrase in phrases if (cut := _trim_phrase(phrase, words))]
        forms = normal_forms(phrases)
        phrases = [
            phrase
            for phrase, form in zip(phrases, forms, strict=True)
            if " " in phrase or form in known
        ]
    if len(phrases) < 2:
        return []
    longest = sorted(phrases, key=lambda phrase: (-len(phrase.split()), phrases.index(phrase)))
    kept = set(longest[:most])
    return [phrase for phrase in phrases if phrase in kept]


def _trim_phrase(phrase: str, known: Collection[str]) -> str:
    """Remove words that occur in no keyword from the ends of a phrase."""
    words = phrase.split()
    held = [
        place
        for place, word in enumerate(words)
        if _is_class_letter(word) or any(form in known for form in normal_forms([word])[0].split())
    ]
    return " ".join(words[held[0] : held[-1] + 1]) if held else ""


def _is_class_letter(word: str) -> bool:
    """Whether a word is a single letter that names a class, as in "M dwarfs"."""
    return len(word) == 1 and word.isupper() and word not in "AI"


REFERENCES, CITATIONS, TOGETHER, SIMILAR = (
    "references", "citations", "cited together", "similar",
)  # fmt: skip
_HOW: dict[str, How] = {
    REFERENCES: "reference", CITATIONS: "citation", TOGETHER: "cited together", SIMILAR: "similar",
}  # fmt: skip
_OF_FACET, _OF_MODEL = 30, 40  # papers of one search
_OFF_TOPIC = 0.9  # of the usual similarity: with nothing as near, nothing is selected
_RARE = 3.0  # of a word that is searched for alone: one paper in twenty holds it
_KEYWORD_PAPERS = 60  # papers on the question whose keywords are its subjects
_SIMILAR, _TOGETHER = 10, 20  # papers of one list
_SIMILAR_OF = 8  # papers of a level with a search for similar ones: the slowest step
_FOLLOWED_SHARE = 0.4  # of the threshold: papers that are followed though they may not be selected


class Crawler:
    """A running survey: searches, judges and follows citations."""

    def __init__(
        self,
        question: str,
        library: Library,
        settings: SurveySettings,
        *,
        model: SurveyModel | None,
        budget: RequestBudget,
        read: Reader | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        self.question, self.library, self.settings = question, library, settings
        self.model, self.budget, self._read = model, budget, read
        self._report = on_step or (lambda _: None)
        self.candidates = Candidates(library)
        self.searches: list[Asked] = []
        self.notes: list[str] = []
        self._is_off_topic = False  # whether the question is about another field than the papers
        self._rounds: dict[int, list[int]] = {}  # searches that found a paper: query to rows

    @property
    def threshold(self) -> float:
        """Score from which a paper is selected without a model."""
        given = self.settings.threshold
        return THRESHOLD if given is None else given

    def run(self) -> None:
        """Run all levels; results are in `candidates` and `searches`."""
        self._add_seeds()
        self._search_question()
        self._check_distance()
        self._judge()
        for level in range(2, self.settings.depth + 1):
            if self.budget.check_stop() or not self.settings.expand or self._is_off_topic:
                break
            before = len(self._selected())
            followed = self._follow(level)
            self._judge()
            gained = len(self._selected()) - before
            n = before + gained
            self._report(f"level {level}: {count(followed, 'paper')} followed, {n} selected by now")
            if not followed or (self.model is not None and gained <= 0):
                break

    def _add_seeds(self) -> None:
        rows = [self.library.engine.row_of(name) for name in self.settings.seeds]
        self.candidates.seeds = tuple(dict.fromkeys(rows))
        self.candidates.add(self.candidates.seeds, Origin("seed", depth=0))
        first = self.library.papers(list(self.candidates.seeds))[: self.settings.breadth]
        for paper in first:
            self._search(paper.title, by="seeds", k=_OF_MODEL, parent=paper.row)

    def _search_question(self) -> None:
        most = self.settings.breadth
        self._search(self.question, by="question", k=max(self.settings.papers, _OF_MODEL))
        queries, by = self._queries(most - 1)
        for text in queries:
            if self.budget.check_stop():
                break
            self._search(text, by=by, k=_OF_MODEL if by == "model" else _OF_FACET)

    def _check_distance(self) -> None:
        """Note if nothing is near the question; without a model nothing is selected then."""
        if self.candidates.seeds:
            return
        nearest = self.library.nearest(self.candidates.rows)
        usual = self.library.engine.missed_threshold(nearest)
        matches = (
            None if self.candidates.evidence is None else matched_share(self.candidates.evidence)
        )
        fewest = least_matched_share(self.question)
        if matches is not None and matches < fewest:
            self._note(
                "This atlas has almost nothing on the question: the best ten papers match "
                f"{100 * matches:.0f}% of its words, and {100 * fewest:.0f}% is the least "
                "that is usual."
            )
            self._is_off_topic = self.model is None
        elif usual is not None:
            self._note(
                f"This atlas has almost nothing on the question: the nearest paper is at "
                f"{nearest:.2f}, and {usual:.2f} is usual."
            )
            self._is_off_topic = self.model is None and nearest < _OFF_TOPIC * usual
        if self._is_off_topic:
            self._note("Nothing is selected: the papers judged are only the nearest ones.")

    def _queries(self, most: int) -> tuple[list[str], str]:
        """Searches for parts of the question, by the model or by rule."""
        if self.model is not None and most > 0:
            asked = [one.text for one in self.searches]
            reply = self.budget.ask([self.model.queries(self.question, asked, most)])[0]
            if reply.value:
                return list(reply.value), "model"
            if not self.budget.ended:
                why = f" ({reply.fault})" if reply.fault else ""
                self._note(f"The language model gave no searches{why}: the question was cut.")
        return split_question(self.question, subjects=self._find_keywords(), most=most), "facet"

    def _find_keywords(self) -> list[str]:
        """Keywords of the papers found; of single words those that few other papers hold."""
        first = self.library.papers(self._rounds[len(self.searches) - 1][:_KEYWORD_PAPERS])
        every = list(dict.fromkeys(word for paper in first for word in paper.keywords))
        words = [word for word in every if " " not in word]
        rarity = self.library.engine.indexes.rarity(words)
        rare = [word for word, how in zip(words, rarity, strict=True) if how >= _RARE]
        return [*(word for word in every if " " in word), *rare]

    def _search(self, text: str, *, by: str, k: int, parent: int = -1, depth: int = 1) -> int:
        """Search, unless an earlier search has the same words in any order."""
        words = _words(text)
        if not words or any(_words(one.text) == words for one in self.searches):
            return 0
        rows = self.library.search(text, k=k, rerank=by != "facet")
        number = len(self.searches)
        new = self.candidates.add(rows.tolist(), Origin("search", parent, number, depth))
        self.candidates.found(rows.tolist(), is_question=by == "question")
        name = self.library.papers([parent])[0].paper_id if parent >= 0 else ""
        self.searches.append(Asked(text, by, name, len(rows), new))
        self._rounds[number] = rows.tolist()
        self._report(f"search: {text}: {count(len(rows), 'paper')}, {new} new")
        return new

    def _judge(self) -> None:
        """Let the model judge the most promising papers that it has not seen."""
        if self.model is None or not self.settings.selector or self.budget.ended:
            return
        left = self.settings.papers - len(self.candidates.judged)
        seeds = set(self.candidates.seeds)
        waiting = [
            row
            for row in self.candidates.best_first().tolist()
            if row not in self.candidates.judged and row not in seeds
        ][: max(0, self._judged_now(left))]
        papers = self.library.papers(waiting)
        rows = {paper.paper_id: paper.row for paper in papers}
        found: dict[int, Judgement] = {}
        for reply in self.budget.ask(self.model.judge(self.question, papers)):
            found.update({rows[key]: said for key, said in (reply.value or {}).items()})
        self.candidates.judge(found)
        missed = len(papers) - len(found)
        if missed and not self.budget.ended:
            whose = count(missed, "paper")
            self._note(f"{whose} got no usable judgement: similarity is used instead.")
        self._report(
            f"{count(len(found), 'paper')} judged, {len(self._selected())} selected so far"
        )

    def _judged_now(self, left: int) -> int:
        """Judge half of what is left at a level: the rest is for what citations lead to."""
        deepest = max((o.depth for o in self.candidates.origins.values()), default=1)
        if deepest >= self.settings.depth or not self.settings.expand:
            return left
        return (left + 1) // 2

    def _follow(self, level: int) -> int:
        """Follow the best papers of the previous level; return their number."""
        chosen = self._to_follow(level)
        if not len(chosen):
            return 0
        papers = self.library.papers(chosen)
        similar = self.library.similar(chosen[:_SIMILAR_OF], k=_SIMILAR)
        lists = [
            self._citation_lists(paper, similar[n] if n < len(similar) else None)
            for n, paper in enumerate(papers)
        ]
        wanted = self._choose_lists(papers, lists)
        for paper, leads, choice in zip(papers, lists, wanted, strict=True):
            if choice is None:
                continue
            self.candidates.expanded.add(paper.row)
            for name in choice.follow:
                section = "" if name in _HOW else name
                origin = Origin(_HOW.get(name, "section"), paper.row, None, level, section)
                self.candidates.add(leads[name].tolist(), origin)
            if choice.search:
                self._search(choice.search, by="model", k=_OF_MODEL, parent=paper.row, depth=level)
        return sum(choice is not None for choice in wanted)

    def _to_follow(self, level: int) -> Rows:
        scores = self.candidates.score_of()
        seeds = set(self.candidates.seeds)

        def is_promising(row: int) -> bool:
            if row in seeds:
                return True
            said = self.candidates.judged.get(row)
            if said is not None:
                return said.decision
            return self.model is None and scores[row] >= _FOLLOWED_SHARE * self.threshold

        waiting = [
            row
            for row in (*self.candidates.seeds, *self.candidates.best_first().tolist())
            if row not in self.candidates.expanded
            and self.candidates.origins[row].depth < level
            and is_promising(row)
        ]
        chosen = list(dict.fromkeys(waiting))[: self.settings.expand]
        return np.array(chosen, dtype=np.int64)

    def _citation_lists(self, paper: Paper, similar: Rows | None) -> dict[str, Rows]:
        """Lists of papers linked to a paper, by name, without empty ones."""
        library, row = self.library, paper.row
        together, _ = cocited(
            library.graph.reference_links, library.graph.citation_links, np.array([row])
        )
        lists = {
            REFERENCES: library.inside(library.cites(row)),
            CITATIONS: library.inside(library.cited_by(row)),
            TOGETHER: library.inside(together[library.is_open[together]])[:_TOGETHER],
        }
        if similar is not None:
            lists[SIMILAR] = similar
        for section in self._read(paper) if self._read else ():
            nodes = [n for n in map(library.node_or_none, section.cites) if n is not None]
            inside = library.inside(np.array([*dict.fromkeys(nodes)], dtype=np.int64))
            # A section called "references" is not the list of all references.
            name = f"section {section.name}" if section.name in _HOW else section.name
            lists[name] = inside
        return {name: rows for name, rows in lists.items() if len(rows)}

    def _choose_lists(
        self, papers: list[Paper], lists: list[dict[str, Rows]]
    ) -> list[NextStep | None]:
        """Choose the lists to follow of each paper; None if it is not followed now."""
        every: list[NextStep | None] = [NextStep(tuple(one)) for one in lists]
        if self.model is None:
            return every
        asked = [one.text for one in self.searches]
        requests = [
            self.model.read(
                self.question, paper, {name: len(rows) for name, rows in leads.items()}, asked
            )
            for paper, leads in zip(papers, lists, strict=True)
        ]
        replies = self.budget.ask(requests)
        failed = sum(bool(reply.fault) for reply in replies)
        if failed and not self.budget.ended:
            self._note(
                f"For {count(failed, 'paper')} the language model did not say what to follow."
            )
        return [
            reply.value if not reply.fault else (None if self.budget.ended else fallback)
            for reply, fallback in zip(replies, every, strict=True)
        ]

    def _selected(self) -> list[int]:
        return self.selected(self.candidates.best_first().tolist())

    def selected(self, rows: Iterable[int]) -> list[int]:
        """The rows that belong to the answer, in the given order."""
        scores, fitting = self.candidates.score_of(), self.candidates.fitting()
        seeds = set(self.candidates.seeds)

        def belongs(row: int) -> bool:
            said = self.candidates.judged.get(row)
            if said is not None:
                return said.decision
            return scores[row] >= self.threshold and row in fitting and not self._is_off_topic

        return [row for row in rows if row not in seeds and belongs(row)]

    def reasons(self) -> dict[int, str]:
        """Reasons for and against each paper that no model has judged, by row."""
        return self.candidates.reasons(threshold=np.inf if self._is_off_topic else self.threshold)

    def in_search_order(self) -> list[int]:
        """Rows in the order of the searches, interleaved."""
        turns = [self._rounds[n] for n in sorted(self._rounds)]
        longest = max(map(len, turns), default=0)
        mixed = (turn[place] for place in range(longest) for turn in turns if place < len(turn))
        return list(dict.fromkeys([*mixed, *self.candidates.origins]))

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


_MOST_OUTSIDE, _FEWEST_CITING = 20, 2
_MANY_SELECTED = 0.75  # of the papers judged: more of the rest may belong too


def survey_question(
    atlas: AtlasStore,
    question: str,
    *,
    model: WritingModel | Literal["auto"] | None = "auto",
    resume: str | Path | None = None,
    read: Reader | None = None,
    on_step: Callable[[str], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **settings: Any,
) -> Survey:
    """Survey the papers of an atlas for a question (PaSa: He et al. 2025, arXiv:2501.10120).

    Parameters
    ----------
    atlas : AtlasStore
    question : str
    model : WritingModel, "auto" or None
        Writes searches, chooses what to follow, and judges; "auto" connects the one named in the
        environment. Without one, papers are judged by text similarity and citations.
    resume : path, optional
        Log of the model's replies. An interrupted survey resumes from it without repeated requests.
    read : callable, optional
        Returns the sections of a paper's full text, such as a `FolderReader`.
    on_step : callable, optional
        Called with one line per step.
    stop : callable, optional
        If it returns True, the survey ends and is partial.
    **settings
        Fields of `SurveySettings`.

    Returns
    -------
    Survey
        Partial if a budget, a failing server or `stop` ended it.

    Raises
    ------
    InputError
        Empty question, invalid setting, unknown seed, or the log of another survey.

    Examples
    --------
    >>> import landscape as ls
    >>> found = survey_question(ls.open("my.atlas"), "How do winds strip stars?")  # doctest: +SKIP
    """
    started = time.perf_counter()
    chosen = survey_settings(**settings)
    model = connect_from_environment() if model == "auto" else model
    text, query_notes = query_text(question)
    library = Library(atlas, text, before=chosen.before, without=chosen.without)
    name = model.model if model is not None else "similarity"
    identity = {
        "question": text,
        "settings": chosen.without_costs(),
        "atlas": atlas.manifest.updated,
        "model": name,
    }
    budget = RequestBudget(
        chosen, ReplyLog(None if resume is None else Path(resume), identity), stop=stop
    )
    crawler = Crawler(
        text,
        library,
        chosen,
        model=None if model is None else choose_survey_model(model, chosen.protocol),
        budget=budget,
        read=read,
        on_step=on_step,
    )
    crawler.run()
    crawled = _list_judged(crawler, name)
    notes = [*query_notes, *crawler.notes]
    n_selected = sum(one.selected for one in crawled)
    if chosen.selector and n_selected > _MANY_SELECTED * chosen.papers:
        more = f"raise papers (now {chosen.papers}) to have them judged"
        notes.append(
            f"{n_selected} of {len(crawled)} papers judged are selected: more may; {more}."
        )
    if budget.ended:
        notes.append(f"The survey is partial. {budget.ended}")
    if citation_graph(atlas).note:
        notes.append(f"Nothing could be followed by citations. {citation_graph(atlas).note}")
    seconds = time.perf_counter() - started
    seen = int(library.is_open[: len(atlas)].sum())
    return Survey(
        question=question,
        crawled=crawled,
        searches=tuple(crawler.searches),
        beyond=_outside_atlas(crawler, crawled),
        coverage=replace(library.engine.indexes.coverage, n_searched=seen),
        settings=chosen.to_dict(),
        spent=Spent(budget.calls, budget.tokens, budget.money, len(crawled), seconds),
        partial=bool(budget.ended),
        notes=tuple(notes),
        n_found=len(crawler.candidates.origins),
    )


def _list_judged(crawler: Crawler, model_name: str) -> tuple[Crawled, ...]:
    """List the judged papers: selected ones first, best first."""
    candidates, settings = crawler.candidates, crawler.settings
    scores = candidates.score_of()
    seeds = set(candidates.seeds)
    if settings.selector:
        ranked = [row for row in candidates.best_first().tolist() if row not in seeds]
        chosen = set(crawler.selected(ranked))
        ranked.sort(key=lambda row: (row not in chosen, -_final_score(crawler, row, scores)))
    else:
        ranked = [row for row in crawler.in_search_order() if row not in seeds]
        chosen = set(ranked)
    listed = [*ranked[: settings.papers], *candidates.seeds]
    papers = crawler.library.papers(listed)
    keys = {paper.row: paper.paper_id for paper in papers}
    parents = [candidates.origins[row].parent for row in listed]
    lost = [row for row in dict.fromkeys(parents) if row >= 0 and row not in keys]
    keys.update({paper.row: paper.paper_id for paper in crawler.library.papers(lost)})
    reasons = _reasons(crawler)
    found = []
    for paper in papers:
        origin, said = candidates.origins[paper.row], candidates.judged.get(paper.row)
        found.append(
            Crawled(
                paper=paper,
                score=round(_final_score(crawler, paper.row, scores), 6),
                selected=paper.row in chosen,
                reason=reasons[paper.row],
                judged_by="similarity" if said is None else model_name,
                how=origin.how,
                parent=keys.get(origin.parent, ""),
                query=origin.query,
                depth=origin.depth,
                expanded=paper.row in candidates.expanded,
                section=origin.section,
            )
        )
    return tuple(found)


def _final_score(crawler: Crawler, row: int, scores: dict[int, float]) -> float:
    """The model's own score where it gave one; else what text and citations say."""
    said = crawler.candidates.judged.get(row)
    return scores[row] if said is None or said.score is None else said.score


def _reasons(crawler: Crawler) -> dict[int, str]:
    """The reason for each decision, by row."""
    if crawler.settings.selector:
        reasons = crawler.reasons()
    else:
        reasons = dict.fromkeys(crawler.candidates.origins, "Not judged, as requested.")
    reasons |= dict.fromkeys(crawler.candidates.seeds, "Given as a paper to begin from.")
    return reasons | {row: said.reason for row, said in crawler.candidates.judged.items()}


def _outside_atlas(crawler: Crawler, crawled: tuple[Crawled, ...]) -> tuple[Linked, ...]:
    """Papers outside the atlas that several selected papers cite."""
    library = crawler.library
    counts: Counter[int] = Counter()
    for one in crawled:
        if one.selected:
            nodes = library.cites(one.paper.row)
            counts.update(nodes[nodes >= library.n_papers].tolist())
    often = sorted(
        (node for node, n in counts.items() if n >= _FEWEST_CITING),
        key=lambda node: (-counts[node], node),
    )
    return tuple(library.graph.stub(n, score=float(counts[n])) for n in often[:_MOST_OUTSIDE])
