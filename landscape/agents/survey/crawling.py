"""Search, select, follow citations, and again: level by level, until nothing new belongs.

Every step depends only on what was found before it, and whatever is done side by side is put
together in a fixed order: the same question gives the same survey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count
from landscape.agents.survey.facets import facets
from landscape.agents.survey.pool import Origin, Pool
from landscape.agents.survey.scoring import THRESHOLD, fewest_matches, matched
from landscape.overlays.citations import cocited
from landscape.types import Asked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.survey.fulltext import Reader
    from landscape.agents.survey.library import Library
    from landscape.agents.survey.minds import Judgement, Mind, Next
    from landscape.agents.survey.settings import SurveySettings
    from landscape.agents.survey.spending import Meter
    from landscape.types import Paper

    Rows = NDArray[np.int64]

REFERENCES, CITATIONS, TOGETHER, SIMILAR = (
    "references", "citations", "cited together", "similar",
)  # fmt: skip
_HOW = {REFERENCES: "reference", CITATIONS: "citation", TOGETHER: "cited together",
        SIMILAR: "similar"}  # fmt: skip
_OF_FACET, _OF_MODEL = 30, 40  # papers of one search
_ELSEWHERE = 0.9  # of the usual nearness: where nothing comes so near, nothing is selected
_RARE = 3.0  # of a word that is searched for alone: one paper in twenty holds it
_TELLING = 60  # papers on the question whose keywords are its subjects
_SIMILAR, _TOGETHER = 10, 20  # papers of one list
_SIMILAR_OF = 8  # papers of a level whose like is looked for: it takes the most time
_HOPEFUL = 0.4  # of the threshold: papers that are followed though they may not be selected


class Crawl:
    """One survey under way.

    Parameters
    ----------
    question : str
    library : Library
    settings : SurveySettings
    mind : Mind or None
        The language model.
    meter : Meter
    read : Reader, optional
        Gives the sections of a paper's text.
    on_step : callable, optional
        Told in one line what was done.
    """

    def __init__(
        self,
        question: str,
        library: Library,
        settings: SurveySettings,
        *,
        mind: Mind | None,
        meter: Meter,
        read: Reader | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        self.question, self.library, self.settings = question, library, settings
        self.mind, self.meter, self._read = mind, meter, read
        self._tell = on_step or (lambda _: None)
        self.pool = Pool(library)
        self.searches: list[Asked] = []
        self.notes: list[str] = []
        self._is_elsewhere = False  # whether the question is of another world than the papers
        self._rounds: dict[int, list[int]] = {}  # searches that found a paper: query to rows

    @property
    def threshold(self) -> float:
        """Score from which a paper is selected without a model."""
        given = self.settings.threshold
        return THRESHOLD if given is None else given

    def run(self) -> None:
        """Do everything; what is found stands in `pool` and `searches`."""
        self._seed()
        self._search_the_question()
        self._look_whether_far_off()
        self._judge()
        for level in range(2, self.settings.depth + 1):
            if self.meter.look() or not self.settings.expand or self._is_elsewhere:
                break
            before = len(self._selected())
            followed = self._follow(level)
            self._judge()
            gained = len(self._selected()) - before
            n = before + gained
            self._tell(f"level {level}: {count(followed, 'paper')} followed, {n} selected by now")
            if not followed or (self.mind is not None and gained <= 0):
                break

    # -- steps -------------------------------------------------------------------------------

    def _seed(self) -> None:
        rows = [self.library.engine.row_of(name) for name in self.settings.seeds]
        self.pool.seeds = tuple(dict.fromkeys(rows))
        self.pool.add(self.pool.seeds, Origin("seed", depth=0))
        first = self.library.papers(list(self.pool.seeds))[: self.settings.breadth]
        for paper in first:
            self._search(paper.title, by="seeds", k=_OF_MODEL, parent=paper.row)

    def _search_the_question(self) -> None:
        most = self.settings.breadth
        self._search(self.question, by="question", k=max(self.settings.papers, _OF_MODEL))
        queries, by = self._queries(most - 1)
        for text in queries:
            if self.meter.look():
                break
            self._search(text, by=by, k=_OF_MODEL if by == "model" else _OF_FACET)

    def _look_whether_far_off(self) -> None:
        """Say where nothing is near the question; without a model nothing is selected then."""
        if self.pool.seeds:
            return
        nearest = self.library.nearest(self.pool.rows)
        usual = self.library.engine.missed_threshold(nearest)
        matches = None if self.pool.evidence is None else matched(self.pool.evidence)
        fewest = fewest_matches(self.question)
        if matches is not None and matches < fewest:
            self._note(
                "This atlas holds hardly anything on the question: the best ten papers match "
                f"{100 * matches:.0f}% of its words, and {100 * fewest:.0f}% is the least "
                "that is usual."
            )
            self._is_elsewhere = self.mind is None
        elif usual is not None:
            self._note(
                f"This atlas holds hardly anything on the question: the nearest paper is at "
                f"{nearest:.2f}, and {usual:.2f} is usual."
            )
            self._is_elsewhere = self.mind is None and nearest < _ELSEWHERE * usual
        if self._is_elsewhere:
            self._note("Nothing is selected; what was judged is only the least far.")

    def _queries(self, most: int) -> tuple[list[str], str]:
        """Searches for parts of the question, by the model or by rule."""
        if self.mind is not None and most > 0:
            asked = [one.text for one in self.searches]
            reply = self.meter.ask([self.mind.queries(self.question, asked, most)])[0]
            if reply.value:
                return list(reply.value), "model"
            if not self.meter.ended:
                why = f" ({reply.fault})" if reply.fault else ""
                self._note(f"The language model gave no searches{why}: the question was cut.")
        return facets(self.question, subjects=self._subjects(), most=most), "facet"

    def _subjects(self) -> list[str]:
        """Keywords of the papers found; of single words those that few other papers hold."""
        first = self.library.papers(self._rounds[len(self.searches) - 1][:_TELLING])
        every = list(dict.fromkeys(word for paper in first for word in paper.keywords))
        words = [word for word in every if " " not in word]
        rarity = self.library.engine.indexes.rarity(words)
        rare = [word for word, how in zip(words, rarity, strict=True) if how >= _RARE]
        return [*(word for word in every if " " in word), *rare]

    def _search(self, text: str, *, by: str, k: int, parent: int = -1, depth: int = 1) -> int:
        """Search once; a search that was made before, in whatever order of words, is not."""
        words = _words(text)
        if not words or any(_words(one.text) == words for one in self.searches):
            return 0
        rows = self.library.search(text, k=k, rerank=by != "facet")
        number = len(self.searches)
        new = self.pool.add(rows.tolist(), Origin("search", parent, number, depth))
        self.pool.found(rows.tolist(), is_question=by == "question")
        name = self.library.papers([parent])[0].paper_id if parent >= 0 else ""
        self.searches.append(Asked(text, by, name, len(rows), new))
        self._rounds[number] = rows.tolist()
        self._tell(f"search: {text}: {count(len(rows), 'paper')}, {new} new")
        return new

    def _judge(self) -> None:
        """Let the model judge the most promising papers that it has not seen."""
        if self.mind is None or not self.settings.selector or self.meter.ended:
            return
        left = self.settings.papers - len(self.pool.judged)
        seeds = set(self.pool.seeds)
        waiting = [
            row
            for row in self.pool.best_first().tolist()
            if row not in self.pool.judged and row not in seeds
        ][: max(0, self._share(left))]
        papers = self.library.papers(waiting)
        rows = {paper.paper_id: paper.row for paper in papers}
        found: dict[int, Judgement] = {}
        for reply in self.meter.ask(self.mind.judge(self.question, papers)):
            found.update({rows[key]: said for key, said in (reply.value or {}).items()})
        self.pool.judge(found)
        missed = len(papers) - len(found)
        if missed and not self.meter.ended:
            whose = count(missed, "paper")
            self._note(f"{whose} got no usable judgement: similarity stands in its place.")
        self._tell(f"{count(len(found), 'paper')} judged, {len(self._selected())} selected so far")

    def _share(self, left: int) -> int:
        """Judge half of what is left at a level: the rest is for what citations lead to."""
        deepest = max((o.depth for o in self.pool.origins.values()), default=1)
        if deepest >= self.settings.depth or not self.settings.expand:
            return left
        return (left + 1) // 2

    def _follow(self, level: int) -> int:
        """Follow the best papers of the level before; gives how many were followed."""
        chosen = self._to_follow(level)
        if not len(chosen):
            return 0
        papers = self.library.papers(chosen)
        similar = self.library.near(chosen[:_SIMILAR_OF], k=_SIMILAR)
        lists = [
            self._lists(paper, similar[n] if n < len(similar) else None)
            for n, paper in enumerate(papers)
        ]
        wanted = self._wanted(papers, lists)
        for paper, leads, choice in zip(papers, lists, wanted, strict=True):
            if choice is None:
                continue
            self.pool.expanded.add(paper.row)
            for name in choice.follow:
                section = "" if name in _HOW else name
                how = _HOW.get(name, "section")
                self.pool.add(leads[name].tolist(), Origin(how, paper.row, None, level, section))  # type: ignore[arg-type]  # one of How
            if choice.search:
                self._search(choice.search, by="model", k=_OF_MODEL, parent=paper.row, depth=level)
        return sum(choice is not None for choice in wanted)

    def _to_follow(self, level: int) -> Rows:
        scores = self.pool.score_of()
        seeds = set(self.pool.seeds)

        def hopeful(row: int) -> bool:
            if row in seeds:
                return True
            said = self.pool.judged.get(row)
            if said is not None:
                return said.decision
            return self.mind is None and scores[row] >= _HOPEFUL * self.threshold

        waiting = [
            row
            for row in (*self.pool.seeds, *self.pool.best_first().tolist())
            if row not in self.pool.expanded
            and self.pool.origins[row].depth < level
            and hopeful(row)
        ]
        chosen = list(dict.fromkeys(waiting))[: self.settings.expand]
        return np.array(chosen, dtype=np.int64)

    def _lists(self, paper: Paper, similar: Rows | None) -> dict[str, Rows]:
        """What leads on from a paper, by name; lists without papers of the atlas are left out."""
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

    def _wanted(self, papers: list[Paper], lists: list[dict[str, Rows]]) -> list[Next | None]:
        """Which lists to follow of each paper; None where a paper is not to be followed now."""
        from landscape.agents.survey.minds import Next

        every: list[Next | None] = [Next(tuple(one)) for one in lists]
        if self.mind is None:
            return every
        asked = [one.text for one in self.searches]
        requests = [
            self.mind.read(
                self.question, paper, {name: len(rows) for name, rows in leads.items()}, asked
            )
            for paper, leads in zip(papers, lists, strict=True)
        ]
        replies = self.meter.ask(requests)
        failed = sum(bool(reply.fault) for reply in replies)
        if failed and not self.meter.ended:
            self._note(
                f"For {count(failed, 'paper')} the language model did not say what to follow."
            )
        return [
            reply.value if not reply.fault else (None if self.meter.ended else fallback)
            for reply, fallback in zip(replies, every, strict=True)
        ]

    # -- what came of it ---------------------------------------------------------------------

    def _selected(self) -> list[int]:
        return self.selected(self.pool.best_first().tolist())

    def selected(self, rows: Iterable[int]) -> list[int]:
        """Those of some rows that belong to the answer, in their order."""
        scores, fitting = self.pool.score_of(), self.pool.fitting()
        seeds = set(self.pool.seeds)

        def belongs(row: int) -> bool:
            said = self.pool.judged.get(row)
            if said is not None:
                return said.decision
            return scores[row] >= self.threshold and row in fitting and not self._is_elsewhere

        return [row for row in rows if row not in seeds and belongs(row)]

    def reasons(self) -> dict[int, str]:
        """What speaks for each paper that no model has judged, or against it, by row."""
        return self.pool.reasons(threshold=np.inf if self._is_elsewhere else self.threshold)

    def as_found(self) -> list[int]:
        """Rows in the order of the searches, taken in turn: what an unjudged survey returns."""
        turns = [self._rounds[n] for n in sorted(self._rounds)]
        longest = max(map(len, turns), default=0)
        mixed = (turn[place] for place in range(longest) for turn in turns if place < len(turn))
        return list(dict.fromkeys([*mixed, *self.pool.origins]))

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())
