"""What an attributor may see of an atlas: neither the excerpt's own paper nor anything newer."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from landscape.agents.seeking import Found, Wording, seek
from landscape.corpus._identifiers import parse_date
from landscape.errors import InputError, LandscapeError
from landscape.overlays.citations._citation_graph import citation_graph
from landscape.search._engine import open_engine

if TYPE_CHECKING:
    from landscape.overlays.citations import Links
    from landscape.search._engine import Engine
    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Paper

Sort = Literal["relevance", "citations"]

_NOT_LETTERS = re.compile(r"[\W_]+")
_POOL = 60  # papers of one wording
_SORTED_BY_CITATIONS = 40  # of the papers found, the most relevant: others only share a word


@dataclass(frozen=True)
class Bounds:
    """What is kept out of sight.

    Attributes
    ----------
    source : str or None
        Title of the paper that the excerpt is from.
    rows : frozenset of int
        That paper in the atlas.
    before : datetime.date or None
        The last day that counts.
    """

    source: str | None = None
    rows: frozenset[int] = frozenset()
    before: date | None = None

    def allow(self, paper: Paper) -> bool:
        """Say whether a paper may be seen; one without a date may not where dates count."""
        if paper.row in self.rows or (self.source and _key(paper.title) == _key(self.source)):
            return False
        return self.before is None or (paper.date is not None and paper.date <= self.before)


def bounds(atlas: AtlasStore, *, source: str | None, before: date | str | int | None) -> Bounds:
    """Read what is to be kept out of sight.

    Parameters
    ----------
    atlas : AtlasStore
    source : str, optional
        The paper that the excerpt is from: identifier or title, in the atlas or not.
    before : date, str or int, optional
        A day, ``"2021-05-03"``, or a year, which counts as a whole. Default: the day of the
        source, where the atlas has it.

    Returns
    -------
    Bounds

    Raises
    ------
    InputError
        If `before` is no date.
    """
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


class Stacks:
    """Search, read, and look up citations, within bounds.

    Parameters
    ----------
    atlas : AtlasStore
    bounds : Bounds
    """

    def __init__(self, atlas: AtlasStore, bounds: Bounds) -> None:
        self._atlas, self.bounds = atlas, bounds

    def seek(self, wordings: Sequence[Wording]) -> Found:
        """Search with several wordings at once, see `landscape.agents.seeking.seek`."""
        return seek(self._engine, wordings, k=_POOL, allows=self.bounds.allow)

    def search(self, query: str, *, k: int = 10, sort: Sort = "relevance") -> list[Paper]:
        """Search with one wording.

        Parameters
        ----------
        query : str
        k : int, default 10
            Papers wanted.
        sort : {"relevance", "citations"}
            By citations, the most relevant papers are put in the order of how often they are cited.

        Returns
        -------
        list of Paper
        """
        papers = list(self.seek([Wording(query)]).papers)
        if sort == "citations":
            papers = sorted(papers[:_SORTED_BY_CITATIONS], key=self._times_cited, reverse=True)
        return papers[:k]

    def cited_among(self, papers: Sequence[Paper]) -> dict[int, list[int]]:
        """Find which of some papers cite which others of them.

        Parameters
        ----------
        papers : sequence of Paper

        Returns
        -------
        dict of int to list of int
            Row of a paper cited to the rows of those that cite it, as far as citations are known.
        """
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
        """Find what several of some papers cite, inside the atlas and within bounds.

        Parameters
        ----------
        papers : sequence of Paper
        least : int, default 2
            Papers that have to cite it.

        Returns
        -------
        dict of int to list of int
            Row of a paper cited to the rows of those that cite it.
        """
        links = self._links
        if links is None:
            return {}
        cited: dict[int, list[int]] = {}
        for paper in papers:
            for node in links.of(paper.row).tolist():
                if node < len(self._atlas):
                    cited.setdefault(node, []).append(paper.row)
        many = [node for node, citing in cited.items() if len(citing) >= least]
        allowed = {p.row for p in open_engine(self._atlas).papers(many) if self.bounds.allow(p)}
        return {node: cited[node] for node in many if node in allowed}

    def papers(self, rows: Sequence[int]) -> list[Paper]:
        """Take papers out of the atlas; the bounds are the caller's to keep."""
        return open_engine(self._atlas).papers(rows)

    @cached_property
    def _engine(self) -> Engine:
        """The engine that sees nothing else; the title of the source is looked at afterwards."""
        engine = open_engine(self._atlas)
        if self.bounds.before is None and not self.bounds.rows:
            return engine
        allowed = np.ones(len(self._atlas), dtype=bool)
        if self.bounds.before is not None:
            dates = engine.indexes.paper_table.frame(["date"])["date"].to_numpy("datetime64[D]")
            allowed = dates <= np.datetime64(self.bounds.before)  # False where there is none
        allowed[sorted(self.bounds.rows)] = False
        return engine.within(np.flatnonzero(allowed))

    @cached_property
    def _links(self) -> Links | None:
        try:
            graph = citation_graph(self._atlas)
            return graph.reference_links if len(graph) else None
        except LandscapeError:  # citations help, and are not needed
            return None

    def _times_cited(self, paper: Paper) -> int:
        return paper.cites if paper.cites is not None else self._known_citations(paper.row)

    def _known_citations(self, row: int) -> int:
        try:
            return int(citation_graph(self._atlas).in_degree[row])
        except (LandscapeError, IndexError):
            return 0


def _last_day(before: date | str | int) -> date:
    try:
        found = parse_date(before)
    except ValueError as error:
        message = (
            f"before is {before!r} ({error}); give a year such as 2021, or a day such as "
            "2021-05-03."
        )
        raise InputError(message) from error
    day = found.date
    if found.precision == "year":
        return day.replace(month=12, day=31)
    if found.precision == "month":
        return day.replace(day=monthrange(day.year, day.month)[1])
    return day


def _key(title: str) -> str:
    return _NOT_LETTERS.sub("", title.casefold())
