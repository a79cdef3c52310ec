"""The papers and citations of an atlas that a survey may use, by row number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from landscape.agents._survey_settings import last_day
from landscape.errors import InputError
from landscape.overlays.citations._graph import citation_graph
from landscape.search._engine import open_engine
from landscape.search._settings import SearchSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from landscape.store._atlas_store import AtlasStore
    from landscape.types import Paper

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

_SAMPLE = 2_000  # random papers, for the usual similarity
_AT_ONCE = 400  # papers compared word by word
_MOST_LINKED = 400  # papers that one paper leads to: famous ones are cited by thousands


class Library:
    """An atlas as a survey may see it: without what is too new or excluded."""

    def __init__(
        self,
        atlas: AtlasStore,
        question: str,
        *,
        before: str | None = None,
        without: Sequence[str] = (),
    ) -> None:
        self.atlas, self.engine = atlas, open_engine(atlas)
        self.graph = citation_graph(atlas)
        self.n_papers = len(atlas)
        self.is_open = self._visible(before, without)
        open_rows = np.flatnonzero(self.is_open[: self.n_papers])
        if not len(open_rows):
            raise InputError(
                f"No paper of {atlas.path} appeared before {before}; give a later day."
                if before
                else f"{atlas.path} holds no papers to survey."
            )
        self._allowed = None if len(open_rows) == self.n_papers else open_rows
        self._visible_engine = (
            self.engine if self._allowed is None else self.engine.within(open_rows)
        )
        self._sees_all = bool(self.is_open.all())
        self._comparison = self.engine.compare(question)

    def search(self, text: str, *, k: int, rerank: bool = True) -> Rows:
        """Find papers, best first."""
        settings = SearchSettings(k=k, rerank=rerank)
        return self._visible_engine.rank(text, settings)[0]

    def similar(self, rows: Rows, *, k: int) -> list[Rows]:
        """Find the papers most like each of some papers, best first, without itself."""
        held = self.engine.indexes
        found = []
        for row, vector in zip(rows.tolist(), held.vectors.vectors(rows), strict=True):
            similar = held.vectors.search(vector, k=k + 1, rows=self._allowed).rows
            found.append(similar[similar != row][:k])
        return found

    def likeness(self, rows: Rows) -> tuple[Floats, Floats]:
        """Similarity of papers to the question: standardised cosines, and matches word by word."""
        mean, spread = self._random_similarity
        cosines = (self._comparison.cosines(rows) - mean) / spread
        starts = range(0, len(rows), _AT_ONCE)  # few at once: their words take memory
        pieces = [self._comparison.matches(rows[start : start + _AT_ONCE]) for start in starts]
        return cosines, np.concatenate([np.zeros(0), *pieces])

    def likeness_to_many(self, rows: Rows, centre_of: Rows) -> Floats:
        """Cosines of papers to the middle of others, in deviations from chance papers."""
        held = self.engine.indexes.vectors
        centre = held.vectors(centre_of).mean(axis=0)
        centre /= max(float(np.linalg.norm(centre)), 1e-12)
        chance = held.similarities(centre, self._sample).astype(float)
        cosines = held.similarities(centre, rows).astype(float)
        return (cosines - chance.mean()) / max(float(chance.std()), 1e-9)

    def nearest(self, found: Rows) -> float:
        """How near the nearest of some papers is to the question, as a cosine."""
        return float(self._comparison.cosines(found).max(initial=-1.0))

    def count_citations(self, rows: Rows) -> Floats:
        """Citations from visible nodes, shape (n,)."""
        links = self.graph.citation_links
        if self._sees_all:
            return links.degrees[rows].astype(float)
        ends = np.repeat(np.arange(len(rows)), links.degrees[rows])
        open_ = self.is_open[links.of_all(rows)]
        return np.bincount(ends[open_], minlength=len(rows)).astype(float)

    def cites(self, node: int) -> Rows:
        """Nodes that a node cites, as far as they may be seen."""
        return self._keep_visible(self.graph.reference_links.of(node))

    def cited_by(self, node: int) -> Rows:
        """Nodes that cite a node, as far as they may be seen."""
        return self._keep_visible(self.graph.citation_links.of(node))

    def node_or_none(self, name: str) -> int | None:
        """Find the node of a visible paper or stub; None if there is none."""
        try:
            node = self.graph.node_of(name)
        except InputError:
            return None
        return node if self.is_open[node] else None

    def papers(self, rows: Sequence[int] | Rows) -> list[Paper]:
        """Read papers by row."""
        return self.engine.papers(rows)

    def inside(self, nodes: Rows) -> Rows:
        """Those nodes that are papers of the atlas."""
        return nodes[nodes < self.n_papers]

    @cached_property
    def _sample(self) -> Rows:
        rows = np.flatnonzero(self.is_open[: self.n_papers])
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        places = np.linspace(0, len(rows) - 1, min(_SAMPLE, len(rows))).astype(np.int64)
        return rows[places]

    @cached_property
    def _random_similarity(self) -> tuple[float, float]:
        cosines = self._comparison.cosines(self._sample)
        if not len(cosines):
            return 0.0, 1.0
        return float(cosines.mean()), max(float(cosines.std()), 1e-9)

    def _keep_visible(self, nodes: NDArray[np.integer]) -> Rows:
        seen = np.asarray(nodes, dtype=np.int64)
        seen = seen[self.is_open[seen]]
        if len(seen) > _MOST_LINKED:  # the most cited of them, in the order of their nodes
            order = np.argsort(-self.graph.node_influence[seen], kind="stable")
            seen = np.sort(seen[order[:_MOST_LINKED]])
        return seen

    def _visible(self, before: str | None, without: Sequence[str]) -> NDArray[np.bool_]:
        """Which nodes may be seen, shape (n_nodes,)."""
        visible = np.ones(self.graph.n_nodes, dtype=bool)
        if before is not None:
            limit = last_day(before)
            shelf = self.engine.indexes.paper_table
            dates = shelf.column("date", np.arange(self.n_papers))
            visible[: self.n_papers] = [day is not None and day < limit for day in dates]
            years = self.graph.stubs["year"].to_numpy(dtype=float, na_value=np.nan)
            visible[self.n_papers :] = ~(years >= limit.year)  # unknown ones stay
        for name in without:
            visible[self.engine.row_of(name)] = False
        return visible
