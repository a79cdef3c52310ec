"""The papers that a survey has come upon, and how it came upon each first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from landscape.agents.survey.scoring import (
    FITTING,
    Evidence,
    fits,
    probabilities_by_text,
    scores,
    support,
    words_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.survey.library import Library
    from landscape.agents.survey.minds import Judgement
    from landscape.types import How

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_TRUSTED = 60  # papers whose citations count as evidence
_CONSTANT = 60  # of reciprocal ranks
_TOLD = 0.05  # weight of citations that is worth telling
_MIDDLE = 10  # papers whose middle the others are compared with


@dataclass(frozen=True)
class Origin:
    """How a paper was come upon.

    Attributes
    ----------
    how : How
    parent : int
        Row of the paper that led to it, -1 for a search.
    query : int or None
        Index of the search.
    depth : int
    section : str
    """

    how: How
    parent: int = -1
    query: int | None = None
    depth: int = 1
    section: str = ""


class Pool:
    """Papers found so far, in the order in which they were found.

    Parameters
    ----------
    library : Library
    """

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
        """Take in papers that were found.

        Parameters
        ----------
        rows : iterable of int
        origin : Origin
            Of those that are new: the first one to find a paper leads to it.

        Returns
        -------
        int
            How many are new.
        """
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
        """Take in what a model said of papers."""
        self.judged.update(judgements)
        self._scores = None

    @property
    def rows(self) -> Rows:
        """Of the papers, in the order in which they were found, shape (n,)."""
        return np.fromiter(self.origins, np.int64, len(self.origins))

    def scores(self) -> Floats:
        """How likely each belongs, shape (n,), by everything that is known now."""
        if self._scores is None:
            self._scores = self._scored()
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
        return set(self.rows[fits(self._evidence) >= FITTING].tolist())

    @property
    def evidence(self) -> Evidence | None:
        """What the scores are made of, in the order of `rows`; None of no papers."""
        self.scores()
        return self._evidence

    def reasons(self, *, threshold: float) -> dict[int, str]:
        """Say in one sentence each what speaks for the papers, or against them.

        Parameters
        ----------
        threshold : float
            Score from which one is selected; more than 1 where none is.

        Returns
        -------
        dict of int to str
            By row.
        """
        scores, evidence = self.scores(), self._evidence
        if evidence is None:
            return {}
        words = words_of(scores, fits(evidence), threshold=threshold)
        return {row: _reason(evidence, n, words[n]) for n, row in enumerate(self.origins)}

    def _scored(self) -> Floats:
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
            known=self._library.times_cited(rows),
            place=np.array([self._places.get(row, np.inf) for row in rows.tolist()], dtype=float),
        )
        by_text = self._corrected(rows, probabilities_by_text(known))
        first = rows[np.argsort(-by_text, kind="stable")]
        middle = self._library.likeness_to_many(rows, self._begun_with(first, most=_MIDDLE))
        known = replace(known, middle=middle)
        by_text = self._corrected(rows, probabilities_by_text(known))
        order = np.argsort(-by_text, kind="stable")[:_TRUSTED]
        best, weights = rows[order], by_text[order] / max(float(by_text.max()), 1e-12)
        if self.seeds:
            seeds = np.array(self.seeds, dtype=np.int64)
            others = ~np.isin(best, seeds)
            best = np.concatenate([seeds, best[others]])
            weights = np.concatenate([np.ones(len(seeds)), weights[others]])
        cited, citing, together = support(self._library, rows, best, weights)
        self._evidence = replace(known, cited=cited, citing=citing, together=together)
        return scores(self._evidence)

    def _begun_with(self, first: Rows, *, most: int) -> Rows:
        seeds = np.array(self.seeds, dtype=np.int64)
        return np.concatenate([seeds, first[~np.isin(first, seeds)]])[: max(most, len(seeds))]

    def _corrected(self, rows: Rows, scores: Floats) -> Floats:
        """What a model decided stands above what the texts suggest."""
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
        if values[place] > _TOLD:
            said.append(what)
    return "; ".join(said) + "."
