"""Attribution without a language model: wordings of the excerpt, one ranking, the citation graph.

The three published ways to fail (Press et al. 2024, section 5) are met so: the part of the sentence
that the mark stands for counts most, so that the rest cannot lead away; a paper is selected only
where it stands out from the others, not because it roughly fits; and a paper that cites another
good candidate gives a part of its score to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from landscape._wording import count
from landscape.agents.seeking import Wording
from landscape.search._entities import find_entities, shares_of_names
from landscape.types import Guess, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.agents.attribute.excerpt import Excerpt
    from landscape.agents.attribute.stacks import Stacks
    from landscape.types import Coverage, Paper

METHOD = "offline"

_WHOLE = 1.0
_CLAUSE, _CLAUSE_AMONG_OTHERS = 0.5, 1.0  # the second where the sentence cites other papers too
_NAMED = 0.25  # for a title with all names of the clause, in standard deviations of the ranking
_HANDED_ON = 0.3  # for a paper that better candidates cite, for each of them, at most twice
_CITING = 12  # candidates that may hand on a part of their score
_GUESSES = 10
# How often the first is right, by how far it stands above the four after it: logistic regression on
# one half of the excerpts of `landscape evaluate attribution`; on the other half it holds.
_CHANCE_INTERCEPT, _CHANCE_SLOPE, _AFTER = -1.05, 0.85, 4
_SURE = 0.65  # chance from which it is selected: on the other half 12 of 13 were right
_NEAR_ENOUGH = 0.4  # cosine; of titles asked as questions, one in a hundred has none as near


class Weighing(NamedTuple):
    """What was found offline.

    Attributes
    ----------
    guesses : tuple of Guess
        Best first.
    selected : Paper or None
        The first, where it stands out.
    trace : tuple of Step
    coverage : Coverage
    chance : float or None
        How often the first guess is right where the ranking is like this one.
    is_near : bool
        Whether the first guess is near enough to the excerpt to be the paper.
    """

    guesses: tuple[Guess, ...]
    selected: Paper | None
    trace: tuple[Step, ...]
    coverage: Coverage
    chance: float | None
    is_near: bool


def wordings(excerpt: Excerpt) -> list[Wording]:
    """Put an excerpt into words to search with.

    Parameters
    ----------
    excerpt : Excerpt

    Returns
    -------
    list of Wording

    Examples
    --------
    >>> from landscape.agents.attribute.excerpt import read_excerpt
    >>> [tuple(w) for w in wordings(read_excerpt("Gas is hot. Dust cools fast [CITATION]."))]
    [('Gas is hot. Dust cools fast.', 1.0), ('Dust cools fast.', 0.5)]
    """
    among_others = "(...)" in excerpt.marked
    clause = _CLAUSE_AMONG_OTHERS if among_others else _CLAUSE
    return [Wording(excerpt.plain, _WHOLE), Wording(excerpt.clause, clause)]


def weigh(excerpt: Excerpt, stacks: Stacks) -> Weighing:
    """Rank the papers that an excerpt may cite, and select one if it stands out.

    Parameters
    ----------
    excerpt : Excerpt
    stacks : Stacks

    Returns
    -------
    Weighing
    """
    asked = wordings(excerpt)
    found = stacks.seek(asked)
    hits = list(found.hits)
    papers = [hit.paper for hit in hits]
    scores = np.array([hit.score for hit in hits], dtype=float)
    reasons = [["found by its words or its sense"] for _ in hits]
    _count_names(excerpt, papers, scores, reasons)
    papers, scores, reasons = _hand_on(stacks, papers, scores, reasons)
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
    selected = guesses[0].paper if chance is not None and chance >= _SURE else None
    if selected is not None:
        trace = (*trace, Step("", f"select: {selected.label}", "", (selected.label,)))
    return Weighing(guesses, selected, trace, found.searches[0].coverage, chance, is_near)


def _is_near(guesses: Sequence[Guess], nearness: Mapping[int, float | None]) -> bool:
    """Whether the best paper is near enough to be the one."""
    cosine = nearness.get(guesses[0].paper.row) if guesses else -1.0
    return cosine is None or cosine >= _NEAR_ENOUGH


def _chance(guesses: Sequence[Guess]) -> float:
    """How often the first is right where it stands out from the next as far as here."""
    after = [guess.score for guess in guesses[1 : 1 + _AFTER]]
    if not after:
        return 1.0  # the only paper within the bounds
    gap = guesses[0].score - float(np.mean(after))
    return float(expit(_CHANCE_INTERCEPT + _CHANCE_SLOPE * gap))


def _count_names(
    excerpt: Excerpt, papers: Sequence[Paper], scores: NDArray[np.float64], reasons: list[list[str]]
) -> None:
    """Lift papers whose titles hold the names of the clause: who made a thing names it there."""
    names = [entity.text for entity in find_entities(excerpt.clause) if entity.kind != "person"]
    shares = np.array(shares_of_names(names, [paper.title for paper in papers]))
    if names and len(papers):
        scores += _NAMED * shares
        for place in np.flatnonzero(shares):
            reasons[place].append("named in its title")


def _hand_on(
    stacks: Stacks, papers: list[Paper], scores: NDArray[np.float64], reasons: list[list[str]]
) -> tuple[list[Paper], NDArray[np.float64], list[list[str]]]:
    """Lift what the best candidates cite: the paper that these all cite may be the one."""
    order = np.argsort(-scores, kind="stable")[:_CITING]
    best = [papers[place] for place in order]
    cited = stacks.cited_among(papers)
    lifted = {row: [c for c in citing if any(c == p.row for p in best)]
              for row, citing in cited.items()}  # fmt: skip
    many = stacks.cited_by_many(best)
    known = {paper.row: place for place, paper in enumerate(papers)}
    new = [row for row in sorted(many) if row not in known]
    if new:
        papers = [*papers, *stacks.papers(new)]
        floor = float(np.median(scores[order]))
        scores = np.concatenate([scores, np.full(len(new), floor - _HANDED_ON)])
        reasons = [*reasons, *([] for _ in new)]
        known |= {row: len(known) + n for n, row in enumerate(new)}
    for row, citing in {**lifted, **many}.items():
        if citing:
            scores[known[row]] += _HANDED_ON * min(len(citing), 2)
            n = len(citing)
            reasons[known[row]].append(f"cited by {n} of the nearest papers")
    return papers, scores, reasons
