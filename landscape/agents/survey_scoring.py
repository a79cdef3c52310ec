"""Estimate the probability that a paper belongs to the answer, from its text and citations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from landscape.agents.settings import last_day
from landscape.errors import InputError
from landscape.models import read_numbers
from landscape.overlays.citations import citation_graph
from landscape.search import SearchSettings, open_engine
from landscape.search.matching import subject_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents._survey_model import Decision
    from landscape.store import AtlasStore
    from landscape.types import How

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_SAMPLE = 2_000  # number of papers used to estimate the usual similarity
_AT_ONCE = 400  # number of papers compared word by word at once
_MAX_LINKED = 400  # maximum number of links per paper; famous papers have thousands of links


class Library:
    """The papers and citations of an atlas, without papers that are too new or excluded."""

    def __init__(
        self,
        atlas: AtlasStore,
        question: str,
        *,
        before: str | None = None,
        without: Sequence[str] = (),
    ) -> None:
        self.engine = open_engine(atlas)
        self.papers = self.engine.papers
        self.graph = citation_graph(atlas)
        self.n_papers = len(atlas)
        self.is_open = self._visible(before, without)
        open_rows = np.flatnonzero(self.is_open[: self.n_papers])
        if not len(open_rows):
            raise InputError(
                f"No paper of {atlas.path} was published before {before}; choose a later day."
                if before
                else f"{atlas.path} contains no papers to survey; exclude fewer papers."
            )
        self._rows = open_rows
        self._allowed = None if len(open_rows) == self.n_papers else open_rows
        self._searched = self.engine if self._allowed is None else self.engine.within(open_rows)
        self._comparison = self.engine.compare(question)
        self._question = question

    def search(self, text: str, *, k: int, rerank: bool = True) -> Rows:
        """Return the rows of the papers found with a text, best first."""
        return self._searched.rank(text, SearchSettings(k=k, rerank=rerank))[0]

    def similar(self, rows: Rows, *, k: int) -> list[Rows]:
        """Find the papers most similar to each paper, best first, without the paper itself."""
        vectors = self.engine.indexes.vectors
        found = []
        for row, vector in zip(rows.tolist(), vectors.vectors(rows), strict=True):
            similar = vectors.search(vector, k=k + 1, rows=self._allowed).rows
            found.append(similar[similar != row][:k])
        return found

    def likeness(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return standardised cosines and late-interaction scores between papers and question."""
        mean, spread = self._random_similarity
        cosines = (self._comparison.cosines(rows) - mean) / spread
        # Word vectors need much memory, so the papers are compared in batches.
        pieces = np.split(rows, range(_AT_ONCE, len(rows), _AT_ONCE))
        matches = np.concatenate([self._comparison.matches(some) for some in pieces])
        return cosines, matches.astype(float)

    def share_farther(self, likeness: Floats) -> Floats:
        """Return the share of the papers that are less similar to the question, shape (n,)."""
        mean, spread = self._random_similarity
        usual = np.sort((self._comparison.cosines(self._sample) - mean) / spread)
        return np.searchsorted(usual, likeness) / len(usual)

    def likeness_to_many(self, rows: Rows, centre_of: Rows) -> Floats:
        """Return the standardised cosines between papers and the centre of other papers."""
        vectors = self.engine.indexes.vectors
        centre = vectors.vectors(centre_of).mean(axis=0)
        centre /= max(float(np.linalg.norm(centre)), 1e-12)
        usual = vectors.similarities(centre, self._sample).astype(float)
        cosines = vectors.similarities(centre, rows).astype(float)
        return (cosines - usual.mean()) / max(float(usual.std()), 1e-9)

    def shares(self, rows: Rows) -> Floats:
        """Return the share of the subject of the question that each paper names, shape (n,)."""
        return subject_shares(self.engine.indexes, self._question, rows)

    def cosines(self, rows: Rows) -> Floats:
        """Return the cosines between the question and papers, shape (n,)."""
        return self._comparison.cosines(rows)

    def cosines_of(self, texts: Sequence[str]) -> Floats:
        """Return the cosines between the question and texts outside the atlas, shape (n,)."""
        return self._comparison.cosines_of(texts)

    def count_citations(self, rows: Rows) -> Floats:
        """Return the number of citations of each paper from visible nodes, shape (n,)."""
        links = self.graph.citation_links
        if self.is_open.all():
            return links.degrees[rows].astype(float)
        ends = np.repeat(np.arange(len(rows)), links.degrees[rows])
        open_ = self.is_open[links.of_all(rows)]
        return np.bincount(ends[open_], minlength=len(rows)).astype(float)

    def cites(self, node: int) -> Rows:
        """Return the visible nodes that a node cites."""
        return self._keep_visible(self.graph.reference_links.of(node))

    def cited_by(self, node: int) -> Rows:
        """Return the visible nodes that cite a node."""
        return self._keep_visible(self.graph.citation_links.of(node))

    def node_or_none(self, name: str) -> int | None:
        """Return the node of a visible paper or stub, or None if no node matches."""
        try:
            node = self.graph.node_of(name)
        except InputError:
            return None
        return node if self.is_open[node] else None

    def inside(self, nodes: Rows) -> Rows:
        """Return the nodes that are papers of the atlas."""
        return nodes[nodes < self.n_papers]

    @cached_property
    def _sample(self) -> Rows:
        n = len(self._rows)
        return self._rows[np.linspace(0, n - 1, min(_SAMPLE, n)).astype(np.int64)]

    @cached_property
    def _random_similarity(self) -> tuple[float, float]:
        cosines = self._comparison.cosines(self._sample)
        return float(cosines.mean()), max(float(cosines.std()), 1e-9)

    def _keep_visible(self, nodes: NDArray[np.integer]) -> Rows:
        seen = np.asarray(nodes, dtype=np.int64)
        seen = seen[self.is_open[seen]]
        if len(seen) > _MAX_LINKED:  # keep the most cited nodes
            order = np.argsort(-self.graph.node_influence[seen], kind="stable")
            seen = np.sort(seen[order[:_MAX_LINKED]])
        return seen

    def _visible(self, before: str | None, without: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the visible nodes, shape (n_nodes,)."""
        visible = np.ones(self.graph.n_nodes, dtype=bool)
        if before is not None:
            limit = last_day(before)
            table = self.engine.indexes.paper_table
            dates = table.column("date", np.arange(self.n_papers))
            visible[: self.n_papers] = [day is not None and day < limit for day in dates]
            years = self.graph.stubs["year"].to_numpy(dtype=float, na_value=np.nan)
            visible[self.n_papers :] = ~(years >= limit.year)  # keeps stubs without a year
        for name in without:
            visible[self.engine.row_of(name)] = False
        return visible


@dataclass(frozen=True)
class SurveyEvidence:
    """Evidence for n papers, as arrays of shape (n,).

    If there are no word vectors, `matches` is 0, and `likeness` is used instead.
    """

    likeness: Floats  # cosine to the question, in standard deviations above the usual cosine
    matches: Floats  # share of the words of the question that the paper matches
    middle: Floats  # cosine to the centre of the best papers, standardised like `likeness`
    searches: Floats  # sum of 60 / (60 + rank) over all searches (Cormack et al. 2009, SIGIR, 758)
    cited: Floats  # weight of the best papers that cite the paper
    citing: Floats  # weight of the best papers that the paper cites
    together: Floats  # weight of the best papers with common references or citing papers
    known: Floats  # number of citations in the graph
    place: Floats  # rank in the search for the whole question, from 0; infinite if not found

    @property
    def texts(self) -> Floats:
        """Evidence from texts for the regression, shape (n, 4)."""
        words = self.matches.any() if len(self.matches) else False
        likeness = np.zeros_like(self.likeness) if words else self.likeness
        return np.column_stack([likeness, self.matches, self.middle, self.searches])

    @property
    def links(self) -> Floats:
        """Logarithms of the evidence from citations, shape (n, 3)."""
        return np.log1p(np.column_stack([4 * self.cited, 4 * self.together, self.known]))

    def links_or_usual(self, share: Floats) -> Floats:
        """Return `links`, but with at least the mean of cited papers for uncited papers.

        Papers may be uncited only because they are new.
        """
        links, is_cited = self.links, self.known > 0
        if is_cited.any() and share[is_cited].sum() > 0:
            usual = np.average(links[is_cited], axis=0, weights=share[is_cited])
            links[~is_cited] = np.maximum(links[~is_cited], usual)
        return links


# Papers match fewer words of long questions, so scores are relative to the best papers.
_BEST = 10  # number of best papers that scores are compared with

THRESHOLD = 0.15
"""Minimum score of a paper that is selected without a model; see also `FITTING` and `NAMING`.

On 24 questions with known subject words (`python -m benchmarks.survey ATLAS subjects`), the
precision is 0.81 and the recall is 0.47."""

FITTING = 0.75
"""Minimum match with the words of the question, relative to the mean of the ten best papers."""

NAMING = 0.75
"""Minimum share of the subject in a paper, relative to the mean of the ten best papers."""

# Papers with a score of at least _CERTAIN, for example because the answer cites them, need only
# this share. With NAMING for all papers, fewer references of papers are found.
_CERTAIN, _CERTAIN_NAMING = 0.5, 0.3

_LIKELY_FITTING, _VERY_FITTING, _VERY_LIKELY = 0.85, 0.92, 0.5  # minimum matches; minimum score


def scores(evidence: SurveyEvidence) -> Floats:
    """Return the probability of each paper relative to the mean of the ten best papers."""
    likely = probabilities(evidence)
    return np.minimum(likely / max(float(np.sort(likely)[-_BEST:].mean()), 1e-12), 1.0)


def relative_match(evidence: SurveyEvidence) -> Floats:
    """Return each match relative to the mean of the ten best papers; 1 if all matches are 0."""
    best = matched_share(evidence)
    return np.ones(len(evidence.matches)) if best is None else evidence.matches / best


def names_subject(scores: Floats, shares: Floats) -> NDArray[np.bool_]:
    """Return whether each paper names enough of the subject, relative to the ten best papers."""
    usual = float(np.sort(shares)[-_BEST:].mean())
    needed = np.where(scores >= _CERTAIN, _CERTAIN_NAMING, NAMING) * usual
    return np.asarray(shares >= needed, dtype=bool)


def likelihood_words(
    scores: Floats, fitting: Floats, named: NDArray[np.bool_], *, threshold: float = THRESHOLD
) -> list[str]:
    """Describe scores in words; papers that are not selected are "unlikely"."""
    chosen = (scores >= threshold) & (fitting >= FITTING) & named
    words = np.where(chosen, "possible", "unlikely")
    words = np.where(chosen & (fitting >= _LIKELY_FITTING), "likely", words)
    is_very = chosen & (scores >= _VERY_LIKELY) & (fitting >= _VERY_FITTING)
    words = np.where(is_very, "very likely", words)
    return [str(word) for word in words]


def matched_share(evidence: SurveyEvidence) -> float | None:
    """Return the mean match of the ten best papers, or None if there are no word vectors."""
    return float(np.sort(evidence.matches)[-_BEST:].mean()) if evidence.matches.any() else None


def probabilities(evidence: SurveyEvidence) -> Floats:
    """Estimate the probability that each paper belongs to the answer, from texts and citations."""
    fitted = read_numbers("survey_scores")
    relative, share = relative_to_best(probabilities_by_text(evidence))
    links = citation_weight(share)[:, None] * evidence.links_or_usual(share)
    odds = fitted["intercept"] + fitted["text"] * relative + links @ np.array(fitted["links"])
    # Readers want papers on the question itself, not only related work, so papers that the search
    # for the question ranks first get higher scores. These numbers were chosen by reading the
    # answers to eight questions.
    of = fitted["place"]
    odds += of["slope"] * (np.log1p(np.minimum(evidence.place, of["last"])) - np.log1p(of["usual"]))
    return np.asarray(expit(odds), dtype=np.float64)


def relative_to_best(by_text: Floats) -> tuple[Floats, Floats]:
    """Return log odds and probabilities relative to the mean log odds of the ten best papers."""
    odds = np.log(by_text / np.maximum(1 - by_text, 1e-12))
    best = float(np.sort(odds)[-_BEST:].mean()) if len(odds) else 0.0
    return odds - best, by_text / max(float(expit(best)), 1e-12)


def citation_weight(share: Floats) -> Floats:
    """Return the weight of citations (0 to 1), which is large only if the text fits the question.

    Without this weight, a paper from another field that is cited for a method would rank first.
    """
    return share / (share + read_numbers("survey_scores")["half_weight"])


def probabilities_by_text(evidence: SurveyEvidence) -> Floats:
    """Estimate the same probabilities as `probabilities`, but without citations."""
    fitted = read_numbers("survey_scores")["by_text"]
    shift = 0.0 if evidence.matches.any() else fitted["without_words"]
    odds = fitted["intercept"] + shift + evidence.texts @ np.array(fitted["slopes"])
    return np.asarray(expit(odds), dtype=np.float64)


def link_support(
    library: Library, rows: Rows, best: Rows, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Compute `cited`, `citing` and `together` of `SurveyEvidence`.

    A paper that links two others has a smaller weight if it has many links (Adamic and Adar 2003,
    Social Networks 25, 211).
    """
    n_nodes = len(library.is_open)
    cited, citing, together = (np.zeros(n_nodes) for _ in range(3))
    via_citing, via_cited = np.zeros(n_nodes), np.zeros(n_nodes)
    for node, weight in zip(best.tolist(), weights.tolist(), strict=True):
        references, citations = library.cites(node), library.cited_by(node)
        cited[references] += weight
        citing[citations] += weight
        via_citing[citations] += weight
        via_cited[references] += weight
    for between, links in ((via_citing, library.cites), (via_cited, library.cited_by)):
        for node in np.flatnonzero(between).tolist():
            ends = links(node)
            together[ends] += between[node] / np.log(2 + len(ends))
    # Remove the contribution of each paper to itself.
    for node, weight in zip(best.tolist(), weights.tolist(), strict=True):
        for ends, links in (
            (library.cited_by(node), library.cites),
            (library.cites(node), library.cited_by),
        ):
            own = sum(1.0 / np.log(2 + len(links(end))) for end in ends.tolist())
            together[node] -= weight * own
    return cited[rows], citing[rows], np.maximum(together[rows], 0.0)


_TRUSTED = 60  # number of best papers whose citations count as evidence
_CONSTANT = 60  # of reciprocal ranks
_MENTIONED = 0.05  # minimum weight of citations mentioned in a reason
_CENTRE_PAPERS = 10  # number of best papers used to compute the centre


@dataclass(frozen=True)
class Origin:
    """Way in which a paper was first found."""

    how: How
    parent: int = -1
    query: int | None = None
    depth: int = 1
    section: str = ""


class Candidates:
    """Papers found so far, in the order of discovery."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.origins: dict[int, Origin] = {}
        self.expanded: set[int] = set()
        self.judged: dict[int, Decision] = {}
        self.seeds: tuple[int, ...] = ()
        # Support from the searches of each crawler; -1 is the question, which they share. The best
        # crawler of a paper counts, so that more crawlers do not change the scale.
        self._found: defaultdict[int, defaultdict[int, float]] = defaultdict(
            lambda: defaultdict(float)
        )
        self._places: dict[int, int] = {}
        self._likeness: list[tuple[Floats, Floats]] = []  # cosines and matches per batch
        self._shares: list[Floats] = []  # shares of the subject per batch
        self._scores: Floats | None = None
        self._evidence: SurveyEvidence | None = None

    def add(self, rows: Iterable[int], origin: Origin) -> int:
        """Add papers; return the number of new papers."""
        new = [row for row in dict.fromkeys(map(int, rows)) if row not in self.origins]
        for row in new:
            self.origins[row] = origin
        if new:
            added = np.array(new, dtype=np.int64)
            self._likeness.append(self._library.likeness(added))
            self._shares.append(self._library.shares(added))
            self._scores = None
        return len(new)

    def found(self, rows: Iterable[int], *, is_question: bool = False, crawler: int = 0) -> None:
        """Record the ranking of a search; `is_question` marks the search for the whole question."""
        for rank, row in enumerate(rows, start=1):
            support = _CONSTANT / (_CONSTANT + rank)
            self._found[-1 if is_question else crawler][int(row)] += support
            if is_question:
                self._places[int(row)] = rank - 1
        self._scores = None

    def judge(self, judgements: dict[int, Decision]) -> None:
        """Store the decisions of a language model."""
        self.judged.update(judgements)
        self._scores = None

    @property
    def rows(self) -> Rows:
        """Rows of the papers in the order of discovery, shape (n,)."""
        return np.fromiter(self.origins, np.int64, len(self.origins))

    def scores(self) -> Floats:
        """Return the scores from all evidence so far, shape (n,)."""
        if self._scores is None:
            self._scores = self._compute_scores()
        return self._scores

    def best_first(self) -> Rows:
        """Return the rows by decreasing score; papers with equal scores keep their order."""
        return self.rows[np.argsort(-self.scores(), kind="stable")]

    def score_of(self) -> dict[int, float]:
        """Return the score of each paper, by row."""
        return dict(zip(self.rows.tolist(), self.scores().tolist(), strict=True))

    def fitting(self) -> set[int]:
        """Return the rows of papers whose texts fit the question and name its subject."""
        if self.evidence is None:
            return set()
        named = names_subject(self.scores(), np.concatenate(self._shares))
        fits = (relative_match(self.evidence) >= FITTING) & named
        return set(self.rows[fits].tolist())

    @property
    def evidence(self) -> SurveyEvidence | None:
        """Evidence for the scores, in the order of `rows`, or None if no papers were found."""
        self.scores()
        return self._evidence

    def reasons(self, *, threshold: float) -> dict[int, str]:
        """Describe the evidence for or against each paper in a sentence."""
        scores, evidence = self.scores(), self._evidence
        if evidence is None:
            return {}
        fitting, shares = relative_match(evidence), np.concatenate(self._shares)
        named = names_subject(scores, shares)
        words = likelihood_words(scores, fitting, named, threshold=threshold)
        farther = self._library.share_farther(evidence.likeness)
        faults = [
            f"names {100 * shares[n]:.0f}% of the subject"
            if not named[n]
            else "its words fit less than those of the best papers"
            if fitting[n] < FITTING
            else ""
            for n in range(len(scores))
        ]
        return {
            row: _reason(evidence, n, words[n], faults[n], float(farther[n]))
            for n, row in enumerate(self.origins)
        }

    def _compute_scores(self) -> Floats:
        rows = self.rows
        if not len(rows):
            return np.zeros(0)
        none = np.zeros(len(rows))
        likeness, matches = np.hstack(self._likeness)
        known = SurveyEvidence(
            likeness=likeness,
            matches=matches,
            middle=none,
            searches=np.array([self._support(row) for row in rows.tolist()]),
            cited=none,
            citing=none,
            together=none,
            known=self._library.count_citations(rows),
            place=np.array([self._places.get(row, np.inf) for row in rows.tolist()], dtype=float),
        )
        by_text = self._with_judgements(rows, probabilities_by_text(known))
        first = rows[np.argsort(-by_text, kind="stable")]
        middle = self._library.likeness_to_many(rows, self._seeds_and(first, most=_CENTRE_PAPERS))
        known = replace(known, middle=middle)
        by_text = self._with_judgements(rows, probabilities_by_text(known))
        order = np.argsort(-by_text, kind="stable")[:_TRUSTED]
        best, weights = rows[order], by_text[order] / max(float(by_text.max()), 1e-12)
        if self.seeds:
            seeds = np.array(self.seeds, dtype=np.int64)
            others = ~np.isin(best, seeds)
            best = np.concatenate([seeds, best[others]])
            weights = np.concatenate([np.ones(len(seeds)), weights[others]])
        cited, citing, together = link_support(self._library, rows, best, weights)
        self._evidence = replace(known, cited=cited, citing=citing, together=together)
        return scores(self._evidence)

    def _support(self, row: int) -> float:
        by_crawler = [found.get(row, 0.0) for name, found in self._found.items() if name >= 0]
        of_question = self._found[-1].get(row, 0.0) if -1 in self._found else 0.0
        return of_question + max(by_crawler, default=0.0)

    def _seeds_and(self, first: Rows, *, most: int) -> Rows:
        seeds = np.array(self.seeds, dtype=np.int64)
        return np.concatenate([seeds, first[~np.isin(first, seeds)]])[: max(most, len(seeds))]

    def _with_judgements(self, rows: Rows, scores: Floats) -> Floats:
        """Replace the scores of papers that a model has judged."""
        if not self.judged:
            return scores
        judged = [self.judged.get(row) for row in rows.tolist()]
        sure = [np.nan if one is None else 0.9 if one.selected else 0.02 for one in judged]
        return np.where(np.isnan(sure), scores, sure)


def _reason(
    evidence: SurveyEvidence, place: int, word: str, fault: str, share_farther: float
) -> str:
    parts = [word.capitalize(), *([fault] if fault else [])]
    if evidence.matches[place] > 0:
        parts.append(f"matches {100 * evidence.matches[place]:.0f}% of the words of the question")
    percent = min(99, int(100 * share_farther))
    parts.append(f"more similar to the question than {percent}% of the papers")
    for values, what in (
        (evidence.cited, "similar papers cite it"),
        (evidence.citing, "it cites papers of the answer"),
        (evidence.together, "it shares citations with papers of the answer"),
    ):
        if values[place] > _MENTIONED:
            parts.append(what)
    return "; ".join(parts) + "."
