"""Estimate how likely each paper found belongs to the answer, from its text and its citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents._survey_library import Library
    from landscape.agents._survey_model import Judgement
    from landscape.types import How

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """Evidence for n papers, each array of shape (n,).

    `searches` sums reciprocal ranks (Cormack, Clarke and Buettcher 2009, SIGIR, 758); without word
    vectors `matches` is 0 and `likeness` counts instead.
    """

    likeness: Floats  # cosine to the question, in standard deviations above random papers
    matches: Floats  # of words with those of the question, 0 to 1
    middle: Floats  # cosine to the centre of the best papers, standardised like `likeness`
    searches: Floats  # sum of 60 / (60 + rank) over the searches that found it
    cited: Floats  # weight of the best papers that cite it
    citing: Floats  # weight of the best papers that it cites
    together: Floats  # weight of those with common references or citing papers
    known: Floats  # citations in the graph
    place: Floats  # in the search with the whole question, 0 for the first, infinite if not found

    @property
    def texts(self) -> Floats:
        """Evidence of the texts, as columns for the regression, shape (n, 4)."""
        words = self.matches.any() if len(self.matches) else False
        likeness = np.zeros_like(self.likeness) if words else self.likeness
        return np.column_stack([likeness, self.matches, self.middle, self.searches])

    @property
    def links(self) -> Floats:
        """Logarithms of the evidence of citations, as columns, shape (n, 3)."""
        columns = [4 * self.cited, 4 * self.together, self.known]
        return np.log1p(np.column_stack(columns))

    def links_or_usual(self, share: Floats) -> Floats:
        """Links, with the usual links of fitting papers for those without citations.

        A paper may be too new to be cited, or the graph may lack the citing papers.
        """
        links, is_cited = self.links, self.known > 0
        if is_cited.any() and share[is_cited].sum() > 0:
            usual = np.average(links[is_cited], axis=0, weights=share[is_cited])
            links[~is_cited] = np.maximum(links[~is_cited], usual)
        return links


# Logistic regressions, fitted by `benchmarks/survey.py` on one half of the questions made from the
# real graph of citations (a paper's title as the question, its references as the truth). Papers
# that cite the best ones are newer than such a question and never its references, so that `citing`
# could not be learned and is left out.
_TEXT_INTERCEPT, _TEXT_SLOPES = -6.03, np.array([0.25, 1.93, 0.30, 0.24])
# Long questions match every paper less than short ones: the texts count beside the best of them.
_INTERCEPT, _TEXT_SLOPE, _LINK_SLOPES = -3.70, 0.76, np.array([2.30, 0.92, 0.45])
_BEST = 10  # papers whose texts are the best
# The references that those questions ask for are related work; a reader asks for papers on the
# question itself, which its own search puts first. Chosen by reading the answers to eight
# questions: without it, papers that only share citations come first.
_PLACE_SLOPE, _USUAL_PLACE, _LAST_PLACE = -0.2, 30.0, 200.0
_HALF_WEIGHT = 0.7  # of the probability of the best, by text: there citations count by half
_WITHOUT_WORDS = 0.85  # puts the likeness in the place of the words' match

THRESHOLD = 0.25
"""Score from which a paper is selected without a model, where its words fit too (`FITTING`).

Of 24 questions whose papers are recognised by words of their subject (`python -m benchmarks.survey
ATLAS subjects`), three in four of the selected papers are on the subject, and two in three of
those that are on it are selected. With a stricter fit little would be left of what citations add
to one search."""

FITTING = 0.75
"""Share of the question's words that a paper matches, beside the ten best, to be selected."""

# Of the words of a question, matched by the ten best papers: where it is less, the atlas has
# almost nothing on it. Of those 24 questions none has less than 0.74, and of eight on cookery,
# football and the like the best has 0.64. Longer questions match less: with the first sentence of
# an abstract as the question (24 words) the least of 25 is 0.64, with three (76 words) 0.55.
_FEWEST_MATCHES, _OF_WORDS, _LESS_FOR_TWICE = 0.65, 12, 0.05

_LIKELY_FITTING, _VERY_FITTING, _VERY_LIKELY = 0.85, 0.92, 0.5


def scores(evidence: Evidence) -> Floats:
    """Estimate how likely each paper belongs to the answer, relative to the ten best papers."""
    likely = probabilities(evidence)
    return np.minimum(likely / max(float(np.sort(likely)[-_BEST:].mean()), 1e-12), 1.0)


def relative_match(evidence: Evidence) -> Floats:
    """Match of each paper with the words of the question, relative to the ten best; else 1."""
    best = matched_share(evidence)
    return np.ones(len(evidence.matches)) if best is None else evidence.matches / best


def likelihood_words(scores: Floats, fitting: Floats, *, threshold: float = THRESHOLD) -> list[str]:
    """Words for how likely papers belong; below the threshold they are unlikely."""
    chosen = (scores >= threshold) & (fitting >= FITTING)
    words = np.where(chosen, "possible", "unlikely")
    words = np.where(chosen & (fitting >= _LIKELY_FITTING), "likely", words)
    is_very = chosen & (scores >= _VERY_LIKELY) & (fitting >= _VERY_FITTING)
    words = np.where(is_very, "very likely", words)
    return [str(word) for word in words]


def matched_share(evidence: Evidence) -> float | None:
    """How much of the question's words the ten best papers match, 0 to 1; None without words."""
    return float(np.sort(evidence.matches)[-_BEST:].mean()) if evidence.matches.any() else None


def least_matched_share(question: str) -> float:
    """Return the share of a question's words that the ten best papers of a fitting atlas match."""
    times = max(len(question.split()) / _OF_WORDS, 1.0)
    return round(_FEWEST_MATCHES - _LESS_FOR_TWICE * float(np.log2(times)), 3)


def probabilities(evidence: Evidence) -> Floats:
    """Estimate the probability that each paper is in the list of references to a question."""
    said, share = relative_to_best(probabilities_by_text(evidence))
    links = citation_weight(share)[:, None] * evidence.links_or_usual(share)
    place = np.log1p(np.minimum(evidence.place, _LAST_PLACE)) - np.log1p(_USUAL_PLACE)
    odds = _INTERCEPT + _TEXT_SLOPE * said + links @ _LINK_SLOPES + _PLACE_SLOPE * place
    return np.asarray(expit(odds), dtype=np.float64)


def relative_to_best(by_text: Floats) -> tuple[Floats, Floats]:
    """Log odds by text less those of the ten best, and probabilities relative to theirs."""
    odds = np.log(by_text / np.maximum(1 - by_text, 1e-12))
    best = float(np.sort(odds)[-_BEST:].mean()) if len(odds) else 0.0
    return odds - best, by_text / max(float(expit(best)), 1e-12)


def citation_weight(share: Floats) -> Floats:
    """Weight of citations, 0 to 1: high only for papers with a fitting text.

    Otherwise a paper of another field, widely cited for a constant or a method, would rank first.
    """
    return share / (share + _HALF_WEIGHT)


def probabilities_by_text(evidence: Evidence) -> Floats:
    """Probabilities from texts and searches alone, to choose the papers to trust first."""
    shift = 0.0 if evidence.matches.any() else _WITHOUT_WORDS
    odds = _TEXT_INTERCEPT + shift + evidence.texts @ _TEXT_SLOPES
    return np.asarray(expit(odds), dtype=np.float64)


def link_support(
    library: Library, rows: Rows, best: Rows, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Weigh papers by their links with the best ones: `cited`, `citing`, `together` of `Evidence`.

    A paper between two others counts less the more it links (Adamic and Adar 2003, Social Networks
    25, 211).
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
    # A trusted paper is not its own witness.
    for node, weight in zip(best.tolist(), weights.tolist(), strict=True):
        for ends, links in (
            (library.cited_by(node), library.cites),
            (library.cites(node), library.cited_by),
        ):
            own = sum(1.0 / np.log(2 + len(links(end))) for end in ends.tolist())
            together[node] -= weight * own
    return cited[rows], citing[rows], np.maximum(together[rows], 0.0)


_TRUSTED = 60  # papers whose citations count as evidence
_CONSTANT = 60  # of reciprocal ranks
_MENTIONED = 0.05  # weight of citations that is mentioned
_CENTRE_PAPERS = 10  # papers whose centre the others are compared with


@dataclass(frozen=True)
class Origin:
    """How a paper was found."""

    how: How
    parent: int = -1
    query: int | None = None
    depth: int = 1
    section: str = ""


class Candidates:
    """Papers found so far, in the order in which they were found."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.origins: dict[int, Origin] = {}
        self.expanded: set[int] = set()
        self.judged: dict[int, Judgement] = {}
        self.seeds: tuple[int, ...] = ()
        self._found: Counter[int] = Counter()
        self._places: dict[int, int] = {}
        self._likeness: list[Floats] = []
        self._matches: list[Floats] = []
        self._scores: Floats | None = None
        self._evidence: Evidence | None = None

    def add(self, rows: Iterable[int], origin: Origin) -> int:
        """Add papers found; return how many are new."""
        new = [row for row in dict.fromkeys(map(int, rows)) if row not in self.origins]
        for row in new:
            self.origins[row] = origin
        if new:
            likeness, matches = self._library.likeness(np.array(new, dtype=np.int64))
            self._likeness.append(likeness)
            self._matches.append(matches)
            self._scores = None
        return len(new)

    def found(self, rows: Iterable[int], *, is_question: bool = False) -> None:
        """Note the ranking of one search, and whether it was that of the whole question."""
        for rank, row in enumerate(rows, start=1):
            self._found[int(row)] += _CONSTANT / (_CONSTANT + rank)  # type: ignore[assignment]  # a counter of fractions
            if is_question:
                self._places[int(row)] = rank - 1
        self._scores = None

    def judge(self, judgements: dict[int, Judgement]) -> None:
        """Add judgements of a model."""
        self.judged.update(judgements)
        self._scores = None

    @property
    def rows(self) -> Rows:
        """Rows of the papers, in the order in which they were found, shape (n,)."""
        return np.fromiter(self.origins, np.int64, len(self.origins))

    def scores(self) -> Floats:
        """How likely each belongs, shape (n,), by all evidence so far."""
        if self._scores is None:
            self._scores = self._compute_scores()
        return self._scores

    def best_first(self) -> Rows:
        """Rows by their scores; of two alike the one found first."""
        return self.rows[np.argsort(-self.scores(), kind="stable")]

    def score_of(self) -> dict[int, float]:
        """Scores by row."""
        return dict(zip(self.rows.tolist(), self.scores().tolist(), strict=True))

    def fitting(self) -> set[int]:
        """Rows whose texts are on the subject of the question."""
        self.scores()
        if self._evidence is None:
            return set()
        return set(self.rows[relative_match(self._evidence) >= FITTING].tolist())

    @property
    def evidence(self) -> Evidence | None:
        """Evidence of the scores, in the order of `rows`; None without papers."""
        self.scores()
        return self._evidence

    def reasons(self, *, threshold: float) -> dict[int, str]:
        """One sentence per paper with the evidence for or against it."""
        scores, evidence = self.scores(), self._evidence
        if evidence is None:
            return {}
        words = likelihood_words(scores, relative_match(evidence), threshold=threshold)
        return {row: _reason(evidence, n, words[n]) for n, row in enumerate(self.origins)}

    def _compute_scores(self) -> Floats:
        rows = self.rows
        if not len(rows):
            return np.zeros(0)
        none = np.zeros(len(rows))
        known = Evidence(
            likeness=np.concatenate(self._likeness),
            matches=np.concatenate(self._matches),
            middle=none,
            searches=np.array([self._found.get(row, 0.0) for row in rows.tolist()]),
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

    def _seeds_and(self, first: Rows, *, most: int) -> Rows:
        seeds = np.array(self.seeds, dtype=np.int64)
        return np.concatenate([seeds, first[~np.isin(first, seeds)]])[: max(most, len(seeds))]

    def _with_judgements(self, rows: Rows, scores: Floats) -> Floats:
        """Replace scores by the decisions of a model."""
        if not self.judged:
            return scores
        said = [self.judged.get(row) for row in rows.tolist()]
        sure = [np.nan if one is None else 0.9 if one.decision else 0.02 for one in said]
        return np.where(np.isnan(sure), scores, sure)


def _reason(evidence: Evidence, place: int, word: str) -> str:
    said = [word.capitalize()]
    if evidence.matches[place] > 0:
        said.append(f"words match {100 * evidence.matches[place]:.0f}% of the question")
    said.append(f"likeness {evidence.likeness[place]:.1f} standard deviations above chance")
    for values, what in (
        (evidence.cited, "papers like it cite it"),
        (evidence.citing, "it cites papers of the answer"),
        (evidence.together, "it shares citations with papers of the answer"),
    ):
        if values[place] > _MENTIONED:
            said.append(what)
    return "; ".join(said) + "."
