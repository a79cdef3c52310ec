"""Search that excludes the source of an excerpt, newer papers, and papers outside a filter."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from landscape.corpus.identifiers import parse_date
from landscape.errors import InputError, LandscapeError
from landscape.overlays.citations import citation_graph
from landscape.search import SearchSettings, open_engine
from landscape.search.ranking import standardised
from landscape.types import Hit, Paper, Results

if TYPE_CHECKING:
    from landscape.overlays.citations import Links
    from landscape.search import Engine
    from landscape.store import AtlasStore


class Wording(NamedTuple):
    """A search text and its weight."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class Found:
    """Papers found with several search texts."""

    hits: tuple[Hit, ...]
    searches: tuple[Results, ...]
    weights: tuple[float, ...]  # weight of each search

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers found, best first."""
        return tuple(hit.paper for hit in self.hits)


def search_wordings(
    engine: Engine,
    wordings: Sequence[Wording],
    *,
    k: int = 50,
    filter: str | None = None,  # noqa: A002 - the word of this field
    allows: Callable[[Paper], bool] | None = None,
    rerank: bool = True,
) -> Found:
    """Search with each text and rank the papers by the weighted sum of their scores.

    A paper that is not found with one of the texts gets the lowest score found with this text.
    """
    weights: dict[str, float] = {}
    for text, weight in wordings:
        weights[text] = weights.get(text, 0.0) + weight
    settings = SearchSettings(k=k, filter=filter, rerank=rerank)
    searches = tuple(engine.search(text, settings) for text in weights)
    kept = [
        [hit for hit in search.hits if allows is None or allows(hit.paper)] for search in searches
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
    return Found(tuple(ranked), searches, tuple(weights.values()))


Sort = Literal["relevance", "citations"]

OTHER_PART = "The mark refers to this part:"
"""Observation after a search for another part of the excerpt than the one with the mark."""

SAME_TITLE = 0.8
"""Minimum similarity of two titles of the same paper (Press et al. 2024, appendix)."""


def has_same_title(title: str, titles: Sequence[str]) -> bool:
    """Return whether a title matches one of the given titles, using the criterion of CiteME."""
    return any(
        SequenceMatcher(a=title.lower(), b=one.lower()).ratio() > SAME_TITLE for one in titles
    )


_NOT_LETTERS = re.compile(r"[\W_]+")
_PER_WORDING = 60  # papers per search text
_SORTED_BY_CITATIONS = 40  # number of most relevant papers that are sorted by citations


@dataclass(frozen=True)
class Bounds:
    """Papers to exclude: the source of the excerpt and newer papers."""

    source: str | None = None
    rows: frozenset[int] = frozenset()
    before: date | None = None

    def allow(self, paper: Paper) -> bool:
        """Return whether a paper is allowed. A date limit excludes papers without a date."""
        if (
            not paper.is_valid
            or paper.row in self.rows
            or (self.source and _key(paper.title) == _key(self.source))
        ):
            return False
        return self.before is None or (paper.date is not None and paper.date <= self.before)


def bounds(atlas: AtlasStore, *, source: str | None, before: date | str | int | None) -> Bounds:
    """Return the limits of a search: before a day, and without the source."""
    rows: frozenset[int] = frozenset()
    title = None
    if source is not None:
        try:
            rows = frozenset([open_engine(atlas).row_of(source)])
        except InputError:
            title = " ".join(source.split())
        else:
            paper = open_engine(atlas).papers(sorted(rows))[0]
            title = paper.title
            before = before if before is not None else paper.date
    return Bounds(title, rows, None if before is None else _last_day(before))


class BoundedLibrary:
    """Search and citations of the papers of an atlas that are within bounds."""

    def __init__(self, atlas: AtlasStore, bounds: Bounds) -> None:
        self.atlas, self.bounds = atlas, bounds
        self.papers = open_engine(atlas).papers  # this function does not check the bounds

    def search_wordings(self, wordings: Sequence[Wording]) -> Found:
        """Search several wordings of a query and merge the results."""
        return search_wordings(self._engine, wordings, k=_PER_WORDING, allows=self.bounds.allow)

    def search(self, query: str, *, k: int = 10, sort: Sort = "relevance") -> list[Paper]:
        """Return the best papers for a query, by relevance or by citations."""
        papers = list(self.search_wordings([Wording(query)]).papers)
        if sort == "citations":
            papers = sorted(papers[:_SORTED_BY_CITATIONS], key=self._times_cited, reverse=True)
        return papers[:k]

    def references(self, paper: Paper) -> list[Paper]:
        """Return the papers within the bounds that a paper cites."""
        nodes = [] if self._links is None else self._links.of(paper.row).tolist()
        return list(
            filter(self.bounds.allow, self.papers([n for n in nodes if n < len(self.atlas)]))
        )

    def cited_among(self, papers: Sequence[Paper]) -> dict[int, list[int]]:
        """Return, for each paper, the rows of the other papers that it cites."""
        rows = {paper.row for paper in papers}
        cited: dict[int, list[int]] = {}
        links = self._links
        if links is not None:
            for row in sorted(rows):
                for node in links.of(row).tolist():
                    if node in rows and node != row:
                        cited.setdefault(node, []).append(row)
        return cited

    def cited_by_many(self, papers: Sequence[Paper], *, least: int = 2) -> dict[int, list[int]]:
        """Find papers within the bounds that are cited by several of the given papers."""
        links = self._links
        if links is None:
            return {}
        cited: dict[int, list[int]] = {}
        for paper in papers:
            for node in links.of(paper.row).tolist():
                if node < len(self.atlas):
                    cited.setdefault(node, []).append(paper.row)
        many = [node for node, citing in cited.items() if len(citing) >= least]
        allowed = {paper.row for paper in self.papers(many) if self.bounds.allow(paper)}
        return {node: cited[node] for node in many if node in allowed}

    @cached_property
    def _engine(self) -> Engine:
        """Search engine of the allowed papers; `Bounds.allow` checks the title of the source."""
        engine = open_engine(self.atlas)
        excluded = [*sorted(self.bounds.rows), *self.atlas.invalid_papers.tolist()]
        if self.bounds.before is None and not excluded:
            return engine
        allowed = np.ones(len(self.atlas), dtype=bool)
        if self.bounds.before is not None:
            dates = engine.indexes.paper_table.frame(["date"])["date"].to_numpy("datetime64[D]")
            allowed = dates <= np.datetime64(self.bounds.before)  # False for papers without a date
        allowed[excluded] = False
        return engine.within(np.flatnonzero(allowed))

    @cached_property
    def _links(self) -> Links | None:
        try:
            graph = citation_graph(self.atlas)
            return graph.reference_links if len(graph) else None
        except LandscapeError:  # citations are optional
            return None

    def _times_cited(self, paper: Paper) -> int:
        if paper.cites is not None:
            return paper.cites
        try:
            return int(citation_graph(self.atlas).in_degree[paper.row])
        except (LandscapeError, IndexError):
            return 0


def _last_day(before: date | str | int) -> date:
    try:
        found = parse_date(before)
    except ValueError as error:
        raise InputError(
            f"before is {before!r} ({error}). Pass a year such as 2021, or a day such as "
            "2021-05-03."
        ) from error
    day = found.date
    if found.precision == "year":
        return day.replace(month=12, day=31)
    if found.precision == "month":
        return day.replace(day=monthrange(day.year, day.month)[1])
    return day


def _key(title: str) -> str:
    return _NOT_LETTERS.sub("", title.casefold())
