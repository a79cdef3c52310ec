"""Search for one passage in several wordings, within bounds, and add up what they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.search._ranking import standardised
from landscape.search._settings import SearchSettings
from landscape.types import Hit, Paper, Results

if TYPE_CHECKING:
    from landscape.search._engine import Engine


class Wording(NamedTuple):
    """One way to ask.

    Attributes
    ----------
    text : str
    weight : float
        How much it counts beside the others.
    """

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class Found:
    """What several wordings found together.

    Attributes
    ----------
    hits : tuple of Hit
        Best first; scores are in standard deviations above the middle of what was found.
    searches : tuple of Results
        One for each wording.
    """

    hits: tuple[Hit, ...]
    searches: tuple[Results, ...]

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers, best first."""
        return tuple(hit.paper for hit in self.hits)


def seek(
    engine: Engine,
    wordings: Sequence[Wording],
    *,
    k: int = 50,
    filter: str | None = None,  # noqa: A002 - the word of this field
    allows: Callable[[Paper], bool] | None = None,
) -> Found:
    """Search with each wording and rank the papers by the weighted sum of their scores.

    A wording that did not find a paper counts for it as its worst hit does.

    Parameters
    ----------
    engine : Engine
    wordings : sequence of Wording
        Equal texts are asked once, with the sum of their weights.
    k : int, default 50
        Papers of each search.
    filter : str, optional
        Which papers to search.
    allows : callable, optional
        Says of a paper that passed the filter whether it counts.

    Returns
    -------
    Found

    Raises
    ------
    InputError
        If there is no wording, or the filter has a mistake.

    Examples
    --------
    >>> from landscape.types import Coverage
    >>> class Fixed:
    ...     def search(self, query, settings):
    ...         papers = [Paper(n, f"p{n}", "", "") for n in (0, 1)]
    ...         scores = (2.0, 1.0) if query == "dust" else (1.0, 2.0)
    ...         hits = tuple(Hit(n + 1, p, s) for n, (p, s) in enumerate(zip(papers, scores)))
    ...         return Results(query, hits, Coverage("", 2, 2, {}, None, None))
    >>> found = seek(Fixed(), [Wording("dust"), Wording("gas", 0.5)])
    >>> [hit.paper.paper_id for hit in found.hits]
    ['p0', 'p1']
    """
    weights: dict[str, float] = {}
    for text, weight in wordings:
        weights[text] = weights.get(text, 0.0) + weight
    settings = SearchSettings(k=k, filter=filter)
    searches = tuple(engine.search(text, settings) for text in weights)
    kept = [
        [hit for hit in found.hits if allows is None or allows(hit.paper)] for found in searches
    ]
    first: dict[int, Hit] = {}
    for hits in kept:
        for hit in hits:
            first.setdefault(hit.paper.row, hit)
    places = {row: place for place, row in enumerate(first)}
    total = np.zeros(len(first))
    for hits, weight in zip(kept, weights.values(), strict=True):
        if hits:
            scores = standardised(np.array([hit.score for hit in hits]))
            column = np.full(len(first), scores.min())
            column[[places[hit.paper.row] for hit in hits]] = scores
            total += weight * column
    total /= sum(weights.values()) or 1.0
    order = np.argsort(-total, kind="stable")
    listed = list(first.values())
    ranked = (
        replace(listed[place], rank=rank, score=float(total[place]), outlier=None)
        for rank, place in enumerate(order, start=1)
    )
    return Found(tuple(ranked), searches)
