"""The graph of citations of an atlas: references, citations, and papers related by them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape.errors import InputError
from landscape.overlays.citations._links import Links, cocited, coupled, normalise_name
from landscape.search._engine import open_engine
from landscape.store._tables import unreadable
from landscape.types import Linked

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.store._atlas_store import AtlasStore

CITATIONS = "citations"
STUBS = f"{CITATIONS}/stubs.parquet"
INFLUENCE = f"{CITATIONS}/influence.npy"
_EMPTY = (
    "This atlas holds no citations: give the build a list of them with --citations FILE (a table "
    "with the columns citing and cited), or papers that come with their references."
)


class CitationGraph:
    """Who cites whom. Nodes are the rows of the atlas and, after them, its stubs.

    Parameters
    ----------
    atlas : AtlasStore

    Examples
    --------
    >>> import landscape as ls
    >>> graph = ls.open("my.atlas").citations  # doctest: +SKIP
    >>> [one.paper_id for one in graph.references("2016ApJ...826...56R")]  # doctest: +SKIP
    ['2011ApJ...730..119R', ...]
    """

    def __init__(self, atlas: AtlasStore) -> None:
        self._atlas = atlas
        self.n_papers = len(atlas)
        self._has_files = "citations" in atlas.stages

    @property
    def note(self) -> str:
        """Why there is nothing here, in one sentence; empty where there are citations."""
        return "" if self.n_links else _EMPTY

    @property
    def n_links(self) -> int:
        """Citations in the graph."""
        return len(self.reference_links.targets)

    @property
    def n_nodes(self) -> int:
        """Papers and stubs."""
        return self.reference_links.n_nodes

    @cached_property
    def reference_links(self) -> Links:
        """From each node to what it cites."""
        return self._links("references")

    @cached_property
    def citation_links(self) -> Links:
        """From each node to what cites it."""
        return self._links("citations")

    @property
    def in_degree(self) -> NDArray[np.int64]:
        """Citations of each paper within the graph, shape (n_papers,)."""
        return self.citation_links.degrees[: self.n_papers]

    @property
    def out_degree(self) -> NDArray[np.int64]:
        """References of each paper that are known, stubs included, shape (n_papers,)."""
        return self.reference_links.degrees[: self.n_papers]

    @property
    def influence(self) -> NDArray[np.float32]:
        """Influence of each paper, shape (n_papers,); 1 on average over papers and stubs.

        See `landscape.overlays.citations.influence`.
        """
        return self.node_influence[: self.n_papers]

    @cached_property
    def node_influence(self) -> NDArray[np.float32]:
        """Influence of papers and stubs, shape (n_nodes,)."""
        if not self._has_files:
            return np.ones(self.n_papers, dtype=np.float32)
        return np.asarray(self._array(INFLUENCE), dtype=np.float32)

    @cached_property
    def stubs(self) -> pd.DataFrame:
        """Papers that are cited or cite and are not in the atlas.

        ``stub_id, title, year, n_citing`` (papers here that cite it) and ``n_cited``, in the order
        of their nodes.
        """
        import pandas as pd

        if not self._has_files:
            columns = ("stub_id", "title", "year", "n_citing", "n_cited")
            return pd.DataFrame({name: [] for name in columns})
        try:
            return pd.read_parquet(self._atlas.path / STUBS)
        except (OSError, ValueError) as error:
            raise unreadable(self._atlas.path, STUBS, error) from error

    def references(self, paper_id: str) -> list[Linked]:
        """List what a paper cites.

        Parameters
        ----------
        paper_id : str
            Key, bibcode, arXiv identifier or DOI of a paper of the atlas, or of a stub.

        Returns
        -------
        list of Linked
            Papers of the atlas in the order of its rows, then stubs.

        Raises
        ------
        InputError
            If neither the atlas nor its stubs have such a paper.
        """
        return self.linked(self.reference_links.of(self.node_of(paper_id)))

    def citations(self, paper_id: str) -> list[Linked]:
        """List what cites a paper; see `references`."""
        return self.linked(self.citation_links.of(self.node_of(paper_id)))

    def cocited(
        self, paper_id: str | Sequence[str], k: int = 20, *, stubs: bool = True
    ) -> list[Linked]:
        """Find what is cited together with a paper, or with several.

        Parameters
        ----------
        paper_id : str or sequence of str
            As for `references`.
        k : int, default 20
        stubs : bool, default True
            Whether to list stubs too.

        Returns
        -------
        list of Linked
            Best first, see `landscape.overlays.citations.cocited`.

        Raises
        ------
        InputError
            As for `references`.
        """
        return self._related("cocited", paper_id, k, stubs)

    def coupled(
        self, paper_id: str | Sequence[str], k: int = 20, *, stubs: bool = True
    ) -> list[Linked]:
        """Find what cites the same as a paper, or as several; see `cocited`."""
        return self._related("coupled", paper_id, k, stubs)

    def node_of(self, name: str) -> int:
        """Find the node of a paper or a stub.

        Raises
        ------
        InputError
            If there is none.
        """
        stub = self._stub_nodes.get(normalise_name(name)) if isinstance(name, str) else None
        try:
            return open_engine(self._atlas).row_of(name)
        except InputError:
            if stub is None:
                raise
            return stub

    def linked(
        self, nodes: NDArray[np.integer], scores: NDArray[np.float64] | None = None
    ) -> list[Linked]:
        """Describe nodes, in their order.

        Parameters
        ----------
        nodes : ndarray of int, shape (n,)
        scores : ndarray of float, shape (n,), optional

        Returns
        -------
        list of Linked
        """
        numbers = np.asarray(nodes, dtype=np.int64)
        inside = numbers[numbers < self.n_papers]
        papers = {paper.row: paper for paper in open_engine(self._atlas).papers(inside)}
        values = np.ones(len(numbers)) if scores is None else scores
        listed = []
        for node, score in zip(numbers.tolist(), values.tolist(), strict=True):
            paper = papers.get(node)
            if paper is not None:
                listed.append(Linked(paper.paper_id, node, paper.title, paper.year, score))
            else:
                listed.append(self.stub(node, score=score))
        return listed

    def stub(self, node: int, *, score: float = 1.0) -> Linked:
        """Describe one stub.

        Parameters
        ----------
        node : int
            From ``n_papers`` up.
        score : float, default 1

        Returns
        -------
        Linked
        """
        name, title, year = self._stub_facts[node - self.n_papers]
        return Linked(name, node, title, year, score, is_stub=True)

    def __len__(self) -> int:
        return self.n_links

    def __repr__(self) -> str:
        stubs = self.n_nodes - self.n_papers
        return f"<CitationGraph: {self.n_links:,} citations, {stubs:,} papers beyond the atlas>"

    def _related(
        self,
        how: Literal["cocited", "coupled"],
        names: str | Sequence[str],
        k: int,
        stubs: bool,
    ) -> list[Linked]:
        listed = [names] if isinstance(names, str) else list(names)
        nodes = np.array([self.node_of(name) for name in listed], dtype=np.int64)
        find = cocited if how == "cocited" else coupled
        found, scores = find(self.reference_links, self.citation_links, nodes)
        kept = found < (self.n_nodes if stubs else self.n_papers)
        return self.linked(found[kept][:k], scores[kept][:k])

    @cached_property
    def _stub_facts(self) -> list[tuple[str, str, int | None]]:
        table = self.stubs
        return [
            (str(name), title or "", None if year is None or year != year else int(year))
            for name, title, year in zip(
                table["stub_id"], table["title"], table["year"], strict=True
            )
        ]

    @cached_property
    def _stub_nodes(self) -> dict[str, int]:
        names = enumerate(self._stub_facts, start=self.n_papers)
        return {name: node for node, (name, _, _) in names}

    def _links(self, direction: str) -> Links:
        if not self._has_files:
            starts = np.zeros(self.n_papers + 1, dtype=np.int64)
            return Links(starts, np.zeros(0, dtype=np.int32))
        starts_file, targets_file = matrix_files(direction)
        links = Links(self._array(starts_file), self._array(targets_file))
        whole = links.n_nodes >= self.n_papers and links.starts[-1] == len(links.targets)
        if not whole:
            fault = ValueError("it does not fit the papers")
            raise unreadable(self._atlas.path, starts_file, fault)
        return links

    def _array(self, name: str) -> NDArray[Any]:
        try:
            opened: NDArray[Any] = np.load(
                self._atlas.path / name, mmap_mode="r", allow_pickle=False
            )
        except (OSError, ValueError, EOFError) as error:
            raise unreadable(self._atlas.path, name, error) from error
        return opened


def matrix_files(direction: str) -> tuple[str, str]:
    """Name the files of one direction: where rows start, and what they hold.

    Parameters
    ----------
    direction : {"references", "citations"}

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> matrix_files("references")
    ('citations/references.starts.npy', 'citations/references.targets.npy')
    """
    return tuple(f"{CITATIONS}/{direction}.{kind}.npy" for kind in ("starts", "targets"))  # type: ignore[return-value]  # two of them


def citation_graph(store: AtlasStore) -> CitationGraph:
    """Return the citation graph of an open atlas; its arrays are opened once."""
    return store.cached("citation graph", CitationGraph)
