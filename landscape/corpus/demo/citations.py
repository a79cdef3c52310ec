"""A citation graph with the skew of real ones, running backward in time only."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

# A reference is at least this much older, so that dates given to the month keep the order.
LEAST_LEAD_DAYS = 45
_SAME_THEME, _RELATED = 0.80, 0.15  # the rest goes anywhere in the corpus
_MEMORY_DAYS = 365.0 * 9.0
_LARGEST_POOL = 150  # papers that an author has in view at once


@dataclass(frozen=True)
class Citable:
    """What the graph needs to know of a paper."""

    day: int
    theme: str
    review: bool


def draw_references(
    papers: Sequence[Citable], related: Mapping[str, tuple[str, ...]], *, rng: Random
) -> list[list[int]]:
    """For each paper the positions of the papers that it cites.

    Preferential attachment with fitness and ageing (Wang, Song & Barabási 2013): a paper attracts
    references in proportion to its fitness, to the citations it has, and to how recent it is.

    Parameters
    ----------
    papers : sequence of Citable
        In order of time.
    related : mapping of str to tuple of str
        Neighbouring themes.
    rng : random.Random

    Returns
    -------
    list of list of int

    Examples
    --------
    >>> papers = [Citable(day, "a", False) for day in range(0, 4000, 50)]
    >>> graph = draw_references(papers, {}, rng=Random(1))
    >>> all(cited < citing for citing, refs in enumerate(graph) for cited in refs)
    True
    """
    fitness = [rng.lognormvariate(1.2 if p.review else 0.0, 1.0) for p in papers]
    cited = [0] * len(papers)
    by_theme: dict[str, list[int]] = {}
    graph: list[list[int]] = []
    everything: list[int] = []
    for index, paper in enumerate(papers):
        wanted = _reference_count(paper, rng)
        neighbour = rng.choice(related.get(paper.theme) or ("",))
        pools = (
            (by_theme.get(paper.theme, []), _SAME_THEME),
            (by_theme.get(neighbour, []), _RELATED),
            (everything, 1.0 - _SAME_THEME - _RELATED),
        )
        chosen: set[int] = set()
        for pool, share in pools:
            # Pools are in order of time, so that those old enough come first.
            latest = bisect_right(pool, paper.day - LEAST_LEAD_DAYS, key=lambda i: papers[i].day)
            old_enough = pool[max(0, latest - _LARGEST_POOL) : latest]
            weights = [
                fitness[i] * (1.0 + cited[i]) * math.exp((papers[i].day - paper.day) / _MEMORY_DAYS)
                for i in old_enough
            ]
            number = round(wanted * share + rng.uniform(-0.5, 0.5))
            if old_enough and number > 0:
                chosen.update(rng.choices(old_enough, weights=weights, k=number))
        for i in chosen:
            cited[i] += 1
        graph.append(sorted(chosen))
        by_theme.setdefault(paper.theme, []).append(index)
        everything.append(index)
    return graph


def invert(graph: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each paper the positions of the papers that cite it.

    Examples
    --------
    >>> invert([[], [0], [0, 1]])
    [[1, 2], [2], []]
    """
    citing: list[list[int]] = [[] for _ in graph]
    for index, references in enumerate(graph):
        for cited in references:
            citing[cited].append(index)
    return citing


def _reference_count(paper: Citable, rng: Random) -> int:
    if paper.review:
        return rng.randint(25, 60)
    growth = paper.day / (365.0 * 36.0)
    return max(1, round((5.0 + 9.0 * growth) * rng.lognormvariate(0.0, 0.5)))
