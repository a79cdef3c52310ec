"""Survey a question: search, select papers and follow citations, level by level (PaSa).

The same question gives the same survey, because each step depends only on earlier results and
parallel replies are combined in a fixed order.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape._wording import count, one_line
from landscape.agents._survey_model import NextStep, choose_survey_model
from landscape.agents.online_search import OnlineSearch, is_in_atlas
from landscape.agents.settings import SurveySettings, last_day
from landscape.agents.survey_requests import ReplyLog, RequestBudget
from landscape.agents.survey_scoring import THRESHOLD, Candidates, Library, Origin
from landscape.errors import RemoteError
from landscape.llm import connect_from_environment
from landscape.overlays.citations import citation_graph, cocited
from landscape.search.matching import empty_words, match_papers, subject_words
from landscape.search.sentences import word_scores
from landscape.search.settings import query_text
from landscape.store.tables import REFERENCES
from landscape.text import tokenise
from landscape.text.words import normal_forms
from landscape.types import Asked, Crawled, FullText, Reference, Section, Spent, Survey, title_notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents._survey_model import Decision, SurveyModel
    from landscape.llm import WritingModel
    from landscape.store import AtlasStore
    from landscape.types import How, Linked, Paper

    Reader = Callable[[Paper], FullText | None]
    """Function that returns the full text of a paper, or None."""
    Rows = NDArray[np.int64]

_CUT = re.compile(r"[,:;?!()\[\]\"“”/]+|\s[-–—]+\s|\.\s|\.$")


def split_question(
    question: str, *, subjects: Collection[str] | None = None, most: int = 6
) -> list[str]:
    """Split a question into phrases; each phrase has one subject and no word is repeated."""
    phrases: list[str] = []
    seen: set[str] = set()
    for piece in _CUT.split(question):
        run: list[str] = []
        for word in [*piece.split(), ""]:
            key = word.strip(".'’").casefold()
            is_stray = len(key) < 2 and not _is_class_letter(word)
            if is_stray or key in empty_words() or key in seen:
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
    """Remove words at both ends of a phrase if they are not part of a known keyword."""
    words = phrase.split()
    places = [
        place
        for place, word in enumerate(words)
        if _is_class_letter(word) or any(form in known for form in normal_forms([word])[0].split())
    ]
    return " ".join(words[places[0] : places[-1] + 1]) if places else ""


def _is_class_letter(word: str) -> bool:
    """Return whether a word is a single letter that names a class, as in "M dwarfs"."""
    return len(word) == 1 and word.isupper() and word not in "AI"


_HOW: dict[str, How] = {
    "references": "reference",
    "citations": "citation",
    "cited together": "cited together",
    "similar": "similar",
}
_OF_FACET, _OF_MODEL = 30, 40  # papers per search
# Minimum rarity of a one-word query. A rarity of 3 means that one paper in twenty contains the
# word.
_RARE = 3.0
_SUBJECT_WORDS = 6  # number of words of the question that are searched with a keyword
_MIN_TOPIC_PAPERS = 3  # of the best papers, with a keyword that is searched
_KEYWORD_PAPERS = 60  # number of best papers whose keywords are used to split the question
_SIMILAR, _TOGETHER = 10, 20  # maximum numbers of similar papers and papers cited together
# Number of papers per level for which similar papers are searched. This step is the slowest.
_SIMILAR_OF = 8
# Citations of a paper are followed if its score exceeds this share of the threshold, even if the
# paper is not selected.
_FOLLOWED_SHARE = 0.67


_MAX_SECTION = 6_000  # characters of a section that are compared with the question
_MAX_HEADING = 120  # characters
_ABOUT = 0.5  # share of the best score that a section on the question has


def full_text_of(atlas: AtlasStore) -> Reader | None:
    """Return a function that reads the full texts of an atlas, or None if it has none."""
    if not atlas.has_sections:
        return None

    def read(paper: Paper) -> FullText | None:
        sections = atlas.sections([paper.row])
        if sections.empty:
            return None
        references = atlas.read_of_papers(REFERENCES, [paper.row])
        return FullText(
            "atlas",
            tuple(
                Section(s.number, s.kind, s.heading, s.text, references=tuple(s.references))
                for s in sections.itertuples()
            ),
            tuple(
                Reference(
                    one.number, one.text, one.title, bibcode=one.bibcode, doi=one.doi,
                    arxiv_id=one.arxiv_id,
                )
                for one in references.itertuples()
            ),
        )  # fmt: skip

    return read


class Crawler:
    """A running survey that searches, judges papers and follows citations."""

    def __init__(
        self,
        question: str,
        library: Library,
        settings: SurveySettings,
        *,
        model: SurveyModel | None,
        budget: RequestBudget,
        read: Reader | None = None,
        online: OnlineSearch | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        self.question, self.library, self.settings = question, library, settings
        self.model, self.budget, self._read, self._online = model, budget, read, online
        self._report = on_step or (lambda _: None)
        self.candidates = Candidates(library)
        self.searches: list[Asked] = []
        self.notes: list[str] = []
        self._is_off_topic = False  # whether the question is about a field outside the atlas
        self._found: list[list[int]] = []  # rows found by each search
        self._crawler = 0
        self._of_question: list[int] = []  # the best rows found by the question
        self.outside: dict[str, tuple[Paper, int]] = {}  # with the number of the search
        # Minimum score of a paper that is selected without a model.
        self.threshold = THRESHOLD if settings.threshold is None else settings.threshold

    def run(self) -> None:
        """Run all levels; results are in `candidates` and `searches`."""
        self._add_seeds()
        self._search_question()
        for _ in range(1, self.settings.ensemble):
            self._crawler += 1
            self._search_again()
        self._check_distance()
        self._judge()
        for level in range(2, self.settings.depth + 1):
            if self.budget.check_stop() or not self.settings.expand or self._is_off_topic:
                break
            before = len(self.selected())
            followed = self._follow(level)
            self._judge()
            gained = len(self.selected()) - before
            self._report(
                f"level {level}: {count(followed, 'paper')} followed, {before + gained} selected"
            )
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
        self._of_question = self._found[-1][:_KEYWORD_PAPERS] if self._found else []
        queries, by = self._queries(most - 1)
        for text in queries:
            if self.budget.check_stop():
                break
            self._search(text, by=by, k=_OF_MODEL if by == "model" else _OF_FACET)

    def _search_again(self) -> None:
        """Search as another crawler, whose queries differ from all earlier ones."""
        most = self.settings.breadth
        if self.model is not None:
            queries, by = self._queries(most)
        else:
            queries, by = self._subtopics(most + len(self.searches)), "facet"
        made = 0
        for text in queries:
            if made >= most or self.budget.check_stop():
                break
            before = len(self.searches)
            self._search(text, by=by, k=_OF_MODEL if by == "model" else _OF_FACET)
            made += len(self.searches) - before

    def _check_distance(self) -> None:
        """Add a note if the papers do not match the question; see `landscape.search.matching`."""
        if self.candidates.seeds:
            return
        rows = self.candidates.best_first()
        cosines = self.library.cosines(rows)
        found = match_papers(self.library.engine.indexes, self.question, rows, cosines)
        if not found.matched:
            self._note(found.note)
            self._is_off_topic = self.model is None
        if self._is_off_topic:
            self._note("No paper is selected. The list contains only the nearest papers.")

    def _queries(self, most: int) -> tuple[list[str], str]:
        """Return queries for parts of the question, and their origin: "model" or "facet".

        Without a model, the parts are phrases of the question. If it has only one phrase, they are
        its subject with the most frequent keywords of the papers found.
        """
        if self.model is not None and most > 0:
            asked = [search.text for search in self.searches]
            reply = self.budget.ask([self.model.queries(self.question, asked, most)])[0]
            if reply.value:
                return list(reply.value), "model"
            if not self.budget.ended:
                why = f" ({reply.fault})" if reply.fault else ""
                self._note(
                    f"The language model proposed no searches{why}. The question was split instead."
                )
        facets = split_question(self.question, subjects=self._find_keywords(), most=most)
        return facets or self._subtopics(most), "facet"

    def _subtopics(self, most: int) -> list[str]:
        """Return the subject of the question with frequent keywords of the best papers."""
        subject = " ".join(subject_words(self.question)[:_SUBJECT_WORDS])
        known = set(tokenise(self.question))
        counts: Counter[str] = Counter()
        for paper in self.library.papers(self._of_question):
            counts.update({word for word in paper.keywords if " " in word})
        topics: dict[frozenset[str], str] = {}
        for word, n in counts.most_common():
            terms = frozenset(tokenise(word))
            is_rare = max(self.library.engine.indexes.rarity(word.split())) >= _RARE
            if n >= _MIN_TOPIC_PAPERS and is_rare and not known & terms:
                topics.setdefault(terms, word)
        return [f"{subject} {topic}" for topic in list(topics.values())[: max(0, most)]]

    def _find_keywords(self) -> list[str]:
        """Return the keywords of the papers found, without common single words."""
        first = self.library.papers(self._of_question)
        every = list(dict.fromkeys(word for paper in first for word in paper.keywords))
        words = [word for word in every if " " not in word]
        rarity = self.library.engine.indexes.rarity(words)
        rare = [word for word, how in zip(words, rarity, strict=True) if how >= _RARE]
        return [*(word for word in every if " " in word), *rare]

    def _search(self, text: str, *, by: str, k: int, parent: int = -1, depth: int = 1) -> int:
        """Search, unless an earlier search had the same words; return the number of new papers."""
        words = _words(text)
        is_repeated = any(_words(search.text) == words for search in self.searches)
        if not words or (is_repeated and by != "question"):
            return 0
        rows = self.library.search(text, k=k, rerank=by != "facet")
        number = len(self.searches)
        new = self.candidates.add(rows.tolist(), Origin("search", parent, number, depth))
        self.candidates.found(rows.tolist(), is_question=by == "question", crawler=self._crawler)
        name = self.library.papers([parent])[0].paper_id if parent >= 0 else ""
        self.searches.append(Asked(text, by, name, len(rows), new))
        self._found.append(rows.tolist())
        self._search_online(text, number, depth)
        self._report(f"search: {text}: {count(len(rows), 'paper')}, {new} new")
        return new

    def _search_online(self, text: str, number: int, depth: int) -> None:
        """Add papers of a service: those of the atlas to the candidates, others to `outside`."""
        if self._online is None:
            return
        try:
            papers = self._online(text)
        except RemoteError as error:
            self._note(f"{self._online.service} was searched only in part. {error}")
            self._online = None  # a service that fails is not asked again
            return
        limit = last_day(self.settings.before) if self.settings.before else None
        for paper in papers:
            row = is_in_atlas(paper, self.library.engine.row_of)
            if row is not None and self.library.is_open[row]:
                self.candidates.add([row], Origin("search", -1, number, depth))
            elif row is None and (limit is None or (paper.date and paper.date < limit)):
                self.outside.setdefault(paper.label, (paper, number))

    def judge_outside(self, model_name: str) -> tuple[Crawled, ...]:
        """Judge the papers outside the atlas by their abstracts, best first.

        Without a model, a paper belongs to the answer if it is as similar to the question as half
        of the selected papers of the atlas.
        """
        papers = [paper for paper, _ in self.outside.values()][: self.settings.papers]
        cosines = self.library.cosines_of([f"{one.title}. {one.abstract}" for one in papers])
        chosen = np.fromiter(self.selected(), np.int64)
        least = float(np.median(self.library.cosines(chosen))) if len(chosen) else np.inf
        decided: dict[str, Decision] = {}
        if self.model is not None and self.settings.selector and papers:
            for reply in self.budget.ask(self.model.judge(self.question, papers)):
                decided.update(reply.value or {})
        listed = []
        for paper, cosine in zip(papers, cosines.tolist(), strict=True):
            own = decided.get(paper.paper_id)
            reason = f"Its similarity to the question is {cosine:.2f}."
            score = max(0.0, cosine) if own is None or own.score is None else own.score
            listed.append(
                Crawled(
                    paper=paper,
                    score=round(score, 6),
                    selected=cosine >= least if own is None else own.selected,
                    reason=reason if own is None else own.reason,
                    judged_by="similarity" if own is None else model_name,
                    how="search",
                    query=self.outside[paper.label][1],
                )
            )
        return tuple(sorted(listed, key=lambda one: (not one.selected, -one.score)))

    def _judge(self) -> None:
        """Let the model judge the papers with the highest scores that are not judged yet."""
        if self.model is None or not self.settings.selector or self.budget.ended:
            return
        left = self.settings.papers - len(self.candidates.judged)
        deepest = max((origin.depth for origin in self.candidates.origins.values()), default=1)
        if deepest < self.settings.depth and self.settings.expand:
            left = (left + 1) // 2  # the other half is kept for papers found by citations
        known = {*self.candidates.judged, *self.candidates.seeds}
        waiting = [row for row in self.candidates.best_first().tolist() if row not in known]
        waiting = waiting[: max(0, left)]
        papers = self.library.papers(waiting)
        rows = {paper.paper_id: paper.row for paper in papers}
        found: dict[int, Decision] = {}
        for reply in self.budget.ask(self.model.judge(self.question, papers)):
            found.update({rows[key]: one for key, one in (reply.value or {}).items()})
        self.candidates.judge(found)
        missed = len(papers) - len(found)
        if missed and not self.budget.ended:
            self._note(
                f"The language model returned no usable judgement of {count(missed, 'paper')}. "
                "Text similarity is used instead."
            )
        self._report(f"{count(len(found), 'paper')} judged, {len(self.selected())} selected so far")

    def _follow(self, level: int) -> int:
        """Follow citations of the best papers of earlier levels; return the number of papers."""
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

        def is_promising(row: int) -> bool:
            if row in self.candidates.seeds:
                return True
            if row in self.candidates.judged:
                return self.candidates.judged[row].selected
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
        """Return a dict from list names to the papers linked to a paper, without empty lists."""
        library, row = self.library, paper.row
        together, _ = cocited(
            library.graph.reference_links, library.graph.citation_links, np.array([row])
        )
        lists = {
            "references": library.inside(library.cites(row)),
            "citations": library.inside(library.cited_by(row)),
            "cited together": library.inside(together[library.is_open[together]])[:_TOGETHER],
        }
        if similar is not None:
            lists["similar"] = similar
        of_sections = self._lists_of_sections(paper)
        if of_sections and self.model is None:
            del lists["references"]  # those of the sections on the question are followed
        lists |= of_sections
        return {name: rows for name, rows in lists.items() if len(rows)}

    def _lists_of_sections(self, paper: Paper) -> dict[str, Rows]:
        """Return the papers that the sections of a full text cite.

        Without a model, these are only the sections that are about the question.
        """
        full_text = self._read(paper) if self._read else None
        sections = [one for one in full_text.sections if one.references] if full_text else []
        if full_text is None or not sections:
            return {}
        texts = [f"{one.heading} {one.text}"[:_MAX_SECTION] for one in sections]
        scores = word_scores(self.question, texts)
        about = scores >= (_ABOUT * scores.max() if self.model is None else 0.0)
        names = {one.number: one.names for one in full_text.references}
        found: dict[str, dict[int, None]] = {}
        for section, is_about in zip(sections, about, strict=True):
            if is_about:
                heading = one_line(section.heading or section.kind, most=_MAX_HEADING)
                # A section named "references" is renamed, because that name means all references.
                name = f"section {heading}" if heading in _HOW else heading
                cited = (name for n in section.references for name in names.get(n, ()))
                nodes = (n for n in map(self.library.node_or_none, cited) if n is not None)
                found.setdefault(name, {}).update(dict.fromkeys(nodes))
        return {
            name: self.library.inside(np.array([*nodes], dtype=np.int64))
            for name, nodes in found.items()
        }

    def _choose_lists(
        self, papers: list[Paper], lists: list[dict[str, Rows]]
    ) -> list[NextStep | None]:
        """Choose the lists of linked papers to follow for each paper, or None to skip the paper."""
        every: list[NextStep | None] = [NextStep(tuple(one)) for one in lists]
        if self.model is None:
            return every
        asked = [search.text for search in self.searches]
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
                f"The language model chose no citation lists for {count(failed, 'paper')}, so all "
                "lists are followed."
            )
        return [
            reply.value if not reply.fault else (None if self.budget.ended else fallback)
            for reply, fallback in zip(replies, every, strict=True)
        ]

    def selected(self) -> set[int]:
        """Return the rows of the papers that belong to the answer."""
        scores, fitting = self.candidates.score_of(), self.candidates.fitting()

        def belongs(row: int) -> bool:
            if row in self.candidates.judged:
                return self.candidates.judged[row].selected
            return scores[row] >= self.threshold and row in fitting and not self._is_off_topic

        return {row for row in scores if row not in self.candidates.seeds and belongs(row)}

    def reasons(self) -> dict[int, str]:
        """Return the reasons for the decisions on papers, by row of the paper."""
        if self.settings.selector:
            threshold = np.inf if self._is_off_topic else self.threshold
            reasons = self.candidates.reasons(threshold=threshold)
        else:
            reasons = dict.fromkeys(
                self.candidates.origins, "The paper was not judged, as requested."
            )
        reasons |= dict.fromkeys(self.candidates.seeds, "The survey started from this paper.")
        return reasons | {row: one.reason for row, one in self.candidates.judged.items()}

    def in_search_order(self) -> list[int]:
        """Return the rows: the first result of each search, then the second results, and so on."""
        longest = max(map(len, self._found), default=0)
        mixed = (
            rows[place] for place in range(longest) for rows in self._found if place < len(rows)
        )
        return list(dict.fromkeys([*mixed, *self.candidates.origins]))

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


_MAX_OUTSIDE, _MIN_CITING = 20, 2  # papers outside the atlas; selected papers that cite one
# If the selection exceeds this share of `papers`, other papers may also belong to the answer.
_MANY_SELECTED = 0.75


def survey_question(
    atlas: AtlasStore,
    question: str,
    *,
    model: WritingModel | Literal["auto"] | None = "auto",
    resume: str | os.PathLike[str] | None = None,
    read: Reader | None = None,
    online: OnlineSearch | None = None,
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
        Model that writes queries, chooses which citations to follow, and judges papers. "auto"
        connects the model set in the environment. Without a model, papers are judged by text
        similarity and citations.
    resume : path, optional
        Log of the model's replies. An interrupted survey resumes from this log.
    read : callable, optional
        Function that returns the full text of a paper, such as a
        `landscape.corpus.full_text.FullTextFolder`; by default, the full texts of the atlas.
    online : OnlineSearch, optional
        Search of arXiv or ADS; by default, the service that the setting `search` names.
    on_step : callable, optional
        Called with one line per step.
    stop : callable, optional
        If it returns True, the survey ends and is partial.
    **settings
        Fields of `SurveySettings`.

    Returns
    -------
    Survey
        The survey is partial if a budget, a server error or `stop` ended it.

    Raises
    ------
    InputError
        If the question is empty, a setting is invalid, a seed is unknown, or `resume` is the log
        of another survey.

    Examples
    --------
    >>> import landscape as ls
    >>> found = survey_question(ls.open("my.atlas"), "How do winds strip stars?")  # doctest: +SKIP
    """
    started = time.perf_counter()
    chosen = SurveySettings(**settings)
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
        read=read or full_text_of(atlas),
        online=online or (None if chosen.search == "atlas" else OnlineSearch(chosen.search)),
        on_step=on_step,
    )
    crawler.run()
    crawled = _list_judged(crawler, name)
    outside = crawler.judge_outside(name)
    notes = [*query_notes, *crawler.notes, *title_notes([one.paper for one in crawled])]
    n_selected = sum(one.selected for one in crawled)
    if chosen.selector and n_selected > _MANY_SELECTED * chosen.papers:
        notes.append(
            f"{n_selected} of the {len(crawled)} judged papers are selected, so this is a ranking "
            f"rather than a selection: later papers may be off the subject, and more papers may "
            f"belong to the answer. Ask a narrower question, or increase papers (now "
            f"{chosen.papers})."
        )
    if budget.ended:
        notes.append(f"The survey is partial. {budget.ended}")
    if citation_graph(atlas).note:
        notes.append(f"No citations could be followed. {citation_graph(atlas).note}")
    seconds = time.perf_counter() - started
    seen = int(library.is_open[: len(atlas)].sum())
    return Survey(
        question=question,
        crawled=crawled,
        searches=tuple(crawler.searches),
        beyond=_outside_atlas(crawler, crawled),
        coverage=replace(library.engine.indexes.coverage, n_searched=seen),
        settings={**chosen.to_dict(), **({"search": online.service} if online else {})},
        spent=Spent(budget.calls, budget.tokens, budget.money, len(crawled), seconds),
        partial=bool(budget.ended),
        notes=tuple(notes),
        n_found=len(crawler.candidates.origins),
        outside=outside,
    )


def _list_judged(crawler: Crawler, model_name: str) -> tuple[Crawled, ...]:
    """List the judged papers by score: first selected papers, then other papers, then seeds.

    If `selector` is False, all papers found are selected, in the order of the searches.
    """
    candidates, settings = crawler.candidates, crawler.settings
    scores = candidates.score_of()
    scores |= {row: one.score for row, one in candidates.judged.items() if one.score is not None}
    if settings.selector:
        chosen = crawler.selected()
        ranked = candidates.best_first().tolist()
        ranked.sort(key=lambda row: (row not in chosen, -scores[row]))
    else:
        ranked = crawler.in_search_order()
        chosen = set(ranked) - set(candidates.seeds)
    others = [row for row in ranked if row not in candidates.seeds]
    listed = [*others[: settings.papers], *candidates.seeds]
    origins = [candidates.origins[row] for row in listed]
    parents = [origin.parent for origin in origins if origin.parent >= 0]
    papers = crawler.library.papers(list(dict.fromkeys([*listed, *parents])))
    keys = {paper.row: paper.paper_id for paper in papers}
    reasons = crawler.reasons()
    return tuple(
        Crawled(
            paper=paper,
            score=round(scores[paper.row], 6),
            selected=paper.row in chosen,
            reason=reasons[paper.row],
            judged_by=model_name if paper.row in candidates.judged else "similarity",
            how=origin.how,
            parent=keys.get(origin.parent, ""),
            query=origin.query,
            depth=origin.depth,
            expanded=paper.row in candidates.expanded,
            section=origin.section,
        )
        for paper, origin in zip(papers, origins, strict=False)
    )


def _outside_atlas(crawler: Crawler, crawled: tuple[Crawled, ...]) -> tuple[Linked, ...]:
    """Return papers that are not in the atlas and that several selected papers cite."""
    library = crawler.library
    counts: Counter[int] = Counter()
    for one in crawled:
        if one.selected:
            nodes = library.cites(one.paper.row)
            counts.update(nodes[nodes >= library.n_papers].tolist())
    often = sorted(
        (node for node, n in counts.items() if n >= _MIN_CITING),
        key=lambda node: (-counts[node], node),
    )
    return tuple(library.graph.stub(n, score=float(counts[n])) for n in often[:_MAX_OUTSIDE])
