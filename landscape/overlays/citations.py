"""Citation graph of an atlas: influence, co-citation and bibliographic coupling of papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from tokenize import TokenError
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.identifiers import arxiv_id_of_bibcode, arxiv_month
from landscape.errors import InputError
from landscape.search import open_engine
from landscape.store.tables import read_parquet, unreadable
from landscape.types import Linked

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from landscape.store import AtlasStore

    Nodes = NDArray[np.int32]
    Found = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Links:
    """Sparse graph. Node i has links to ``targets[starts[i]:starts[i + 1]]``, sorted by number."""

    starts: NDArray[np.int64]
    targets: Nodes

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including nodes without links."""
        return len(self.starts) - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of links from each node, shape (n_nodes,)."""
        return np.diff(self.starts)

    def of(self, node: int) -> Nodes:
        """Return the targets of one node in ascending order."""
        return np.asarray(self.targets[self.starts[node] : self.starts[node + 1]])

    def of_all(self, nodes: NDArray[np.integer]) -> Nodes:
        """Return the concatenated targets of several nodes."""
        starts = self.starts[nodes]
        lengths = self.starts[np.asarray(nodes) + 1] - starts
        if not lengths.sum():
            return np.zeros(0, dtype=np.int32)
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        return np.asarray(self.targets[places])

    def matrix(self) -> csr_array:
        """Return the graph as a sparse Boolean matrix."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.targets), dtype=bool)
        return csr_array((ones, self.targets, self.starts), shape=(self.n_nodes, self.n_nodes))

    def reversed(self) -> Links:
        """Return the graph with reversed links."""
        turned = self.matrix().T.tocsr()
        return Links(turned.indptr.astype(np.int64), turned.indices.astype(np.int32))


def link(sources: NDArray[np.integer], targets: NDArray[np.integer], *, n_nodes: int) -> Links:
    """Build a sparse graph from pairs of nodes, without repeated pairs and self-links."""
    from scipy.sparse import csr_array

    proper = sources != targets
    ends = sources[proper], targets[proper]
    made = csr_array((np.ones(proper.sum(), dtype=bool), ends), shape=(n_nodes, n_nodes))
    return Links(made.indptr.astype(np.int64), made.indices.astype(np.int32))


def influence(
    references: Links, *, damping: float = 0.5, tolerance: float = 1e-8, most: int = 100
) -> NDArray[np.float32]:
    r"""Return the influence (PageRank) of each node; the mean is 1.

    Solves :math:`r = (1-d) + d\,(A^T D^{-1} r + \text{mean of nodes without references})`. The
    default damping is 0.5, because readers of papers follow two links on average (Chen et al. 2007,
    J. Informetrics 1, 8). For web pages it is 0.85 (Page et al. 1999).
    """
    n = references.n_nodes
    if not n:
        return np.zeros(0, dtype=np.float32)
    degrees = references.degrees
    walk = references.matrix().T.tocsr().astype(np.float64)
    share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
    ends = degrees == 0
    rank = np.ones(n)
    for _ in range(most):
        spread = walk @ (rank * share) + rank[ends].sum() / n
        later = (1 - damping) + damping * spread
        change = np.abs(later - rank).sum() / n
        rank = later
        if change < tolerance:
            break
    return rank.astype(np.float32)


def cocited(
    references: Links, citations: Links, nodes: NDArray[np.integer], *, k: int | None = None
) -> Found:
    r"""Find papers cited together with the given papers (co-citation: Small 1973, JASIS 24, 265).

    Return the nodes of the papers found and their scores, in order of decreasing score. The score
    is Salton's cosine, :math:`c_{pq} / \sqrt{c_p c_q}`, averaged over the given papers, where c is
    the number of citing papers.
    """
    return _shared(citations, references, nodes, k)


def coupled(
    references: Links, citations: Links, nodes: NDArray[np.integer], *, k: int | None = None
) -> Found:
    """Find papers with the same references as the given papers (coupling: Kessler 1963).

    Return the nodes of the papers found and the cosine similarities of their reference lists, in
    order of decreasing similarity.
    """
    return _shared(references, citations, nodes, k)


def _shared(there: Links, back: Links, nodes: NDArray[np.integer], k: int | None) -> Found:
    """Score nodes that are two links away from the given nodes by the number of paths."""
    given = np.unique(np.asarray(nodes, dtype=np.int64))
    scores = np.zeros(0)
    ends = np.zeros(0, dtype=np.int64)
    for node in given.tolist():
        between = there.of(node)
        reached, ways = np.unique(back.of_all(between), return_counts=True)
        degrees = there.starts[reached + 1] - there.starts[reached]
        ends = np.concatenate([ends, reached])
        scores = np.concatenate([scores, ways / np.sqrt(max(1, len(between)) * degrees)])
    found, place = np.unique(ends, return_inverse=True)
    total = np.bincount(place, weights=scores, minlength=len(found)) / max(1, len(given))
    others = ~np.isin(found, given)
    found, total = found[others], total[others]
    order = np.lexsort((found, -total))[:k]
    return found[order], total[order]


_MAX_LENGTH = 300  # maximum length of names in an unknown format
# Most names already have the normal spelling and need no parsing.
_PLAIN = r"^\d{4}\.\d{4,5}$|^\d{4}[A-Z][A-Za-z&]{1,4}\.[A-Za-z0-9.]{12}[A-Z.]$"


@dataclass(frozen=True)
class Resolved:
    """Node of each name, or -1 for an empty name. The nodes of stubs start at ``n_papers``."""

    nodes: NDArray[np.int64]
    stubs: tuple[str, ...]


def resolve(
    names: Sequence[str], papers: Mapping[str, Sequence[str | None]], *, n_papers: int
) -> Resolved:
    """Find the nodes of papers by key, bibcode, arXiv identifier or DOI, in any spelling.

    `papers` has the columns ``paper_id``, ``bibcode``, ``arxiv_id`` and ``doi`` of the corpus.
    """
    import pandas as pd

    known: dict[str, int] = {}
    for column in ("doi", "arxiv_id", "bibcode", "paper_id"):
        own = papers.get(column, ())
        spelt = (n.lower() if n and column == "doi" else n for n in own)
        known.update((name, row) for row, name in enumerate(spelt) if name)
    index = pd.Index(list(known), dtype=object)
    rows = np.fromiter(known.values(), np.int64, len(known))
    given = np.asarray(names, dtype=object)
    nodes = _look_up(given, index, rows)
    rest = np.flatnonzero(nodes < 0)
    normal = _normalise_names(given[rest])
    nodes[rest] = _look_up(normal, index, rows)
    open_ = np.flatnonzero(nodes[rest] < 0)
    # np.unique would need more memory, because it pads all names to equal length.
    place, stubs = pd.factorize(normal[open_], sort=True)
    is_empty = len(stubs) > 0 and stubs[0] == ""
    nodes[rest[open_]] = np.where(normal[open_] == "", -1, place + n_papers - int(is_empty))
    return Resolved(nodes, tuple(stubs[int(is_empty) :].tolist()))


def normalise_name(name: str) -> str:
    """Return the arXiv identifier, bibcode or DOI in a name, in the normal spelling."""
    text = " ".join(str(name).split())
    arxiv = parse_arxiv_id(text)
    if arxiv:
        return arxiv
    bibcode = parse_bibcode(text)
    if bibcode:
        return arxiv_id_of_bibcode(bibcode) or bibcode
    return (parse_doi(text) or text)[:_MAX_LENGTH]


def read_year(name: str) -> int | None:
    """Return the year from a bibcode or an arXiv identifier, or None for other names."""
    if parse_bibcode(name):
        return int(name[:4])
    arxiv = parse_arxiv_id(name)
    month = arxiv_month(arxiv) if arxiv else None
    return month.date.year if month else None


def _look_up(
    names: NDArray[np.object_], index: pd.Index, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    if not len(index) or not len(names):
        return np.full(len(names), -1, dtype=np.int64)
    place = np.asarray(index.get_indexer(names), dtype=np.int64)
    return np.where(place >= 0, rows[place], -1)


def _normalise_names(names: NDArray[np.object_]) -> NDArray[np.object_]:
    """Normalise names; names that already have the normal spelling are not parsed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(names, pa.string())
    plain = pc.match_substring_regex(texts, _PLAIN)
    eprint = pc.match_substring_regex(texts, "arXiv")
    needed = ~np.asarray(plain, dtype=bool) | np.asarray(eprint, dtype=bool)
    spelt = names.copy()
    for place in np.flatnonzero(needed).tolist():
        spelt[place] = normalise_name(names[place])
    return spelt


CITATIONS = "citations"
STUBS = f"{CITATIONS}/stubs.parquet"
INFLUENCE = f"{CITATIONS}/influence.npy"
_EMPTY = (
    "This atlas has no citations. Build the atlas from papers with references, or with the option "
    "--citations FILE, where FILE is a table with the columns citing and cited."
)


class CitationGraph:
    """Graph of citations; the nodes are the papers of the atlas, followed by its stubs."""

    def __init__(self, atlas: AtlasStore) -> None:
        self._atlas = atlas
        self.n_papers = len(atlas)
        self._has_files = "citations" in atlas.stages

    @property
    def note(self) -> str:
        """Message for an atlas without citations; empty if the atlas has citations."""
        return "" if self.n_links else _EMPTY

    @property
    def n_links(self) -> int:
        """Number of citations in the graph."""
        return len(self.reference_links.targets)

    @property
    def n_nodes(self) -> int:
        """Number of papers and stubs."""
        return self.reference_links.n_nodes

    @cached_property
    def reference_links(self) -> Links:
        """Links from each node to the nodes that it cites."""
        return self._links("references")

    @cached_property
    def citation_links(self) -> Links:
        """Links from each node to the nodes that cite it."""
        return self._links("citations")

    @property
    def in_degree(self) -> NDArray[np.int64]:
        """Number of citations of each paper within the graph, shape (n_papers,)."""
        return self.citation_links.degrees[: self.n_papers]

    @property
    def out_degree(self) -> NDArray[np.int64]:
        """Number of known references of each paper, including stubs, shape (n_papers,)."""
        return self.reference_links.degrees[: self.n_papers]

    @property
    def influence(self) -> NDArray[np.float32]:
        """Influence of each paper, shape (n_papers,); the mean over papers and stubs is 1.

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
        """Papers outside the atlas that cite papers of the atlas or are cited by them.

        The columns are ``stub_id, title, year, n_citing`` (number of papers of the atlas that
        cite the stub) and ``n_cited`` (number of papers of the atlas that the stub cites). The rows
        are in the order of the nodes.
        """
        import pandas as pd

        if not self._has_files:
            columns = ("stub_id", "title", "year", "n_citing", "n_cited")
            return pd.DataFrame({name: [] for name in columns})
        return self._atlas.read(STUBS, lambda folder: read_parquet(folder, STUBS))

    def references(self, paper_id: str) -> list[Linked]:
        """List the references of a paper. Papers of the atlas come first, followed by stubs.

        Parameters
        ----------
        paper_id : str
            Key, bibcode, arXiv identifier or DOI of a paper of the atlas, or of a stub.

        Returns
        -------
        list of Linked

        Raises
        ------
        InputError
            If neither the atlas nor its stubs contain the paper.
        """
        return self.linked(self.reference_links.of(self.node_of(paper_id)))

    def citations(self, paper_id: str) -> list[Linked]:
        """List the papers that cite a paper; see `references`."""
        return self.linked(self.citation_links.of(self.node_of(paper_id)))

    def cocited(
        self, paper_id: str | Sequence[str], k: int = 20, *, stubs: bool = True
    ) -> list[Linked]:
        """Find papers that are cited together with one or more given papers.

        Parameters
        ----------
        paper_id : str or sequence of str
            Identifiers of one or more papers; see `references`.
        k : int, default 20
            Maximum number of papers in the result.
        stubs : bool, default True
            Whether to include stubs.

        Returns
        -------
        list of Linked
            Papers sorted by decreasing score; see `landscape.overlays.citations.cocited`.

        Raises
        ------
        InputError
            If neither the atlas nor its stubs contain a paper.
        """
        return self._related(cocited, paper_id, k, stubs)

    def coupled(
        self, paper_id: str | Sequence[str], k: int = 20, *, stubs: bool = True
    ) -> list[Linked]:
        """Find papers with the same references as one or more given papers; see `cocited`."""
        return self._related(coupled, paper_id, k, stubs)

    def node_of(self, name: str) -> int:
        """Find the node of a paper or a stub."""
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
        """Describe each of the given nodes."""
        numbers = np.asarray(nodes, dtype=np.int64)
        inside = numbers[numbers < self.n_papers]
        papers = open_engine(self._atlas).papers(inside)
        facts = {
            paper.row: (paper.paper_id, paper.row, paper.title, paper.year) for paper in papers
        }
        values = np.ones(len(numbers)) if scores is None else scores
        return [
            Linked(*facts[node], score) if node in facts else self.stub(node, score=score)
            for node, score in zip(numbers.tolist(), values.tolist(), strict=True)
        ]

    def stub(self, node: int, *, score: float = 1.0) -> Linked:
        """Describe one stub."""
        name, title, year = self._stub_facts[node - self.n_papers]
        return Linked(name, node, title, year, score, is_stub=True)

    def __len__(self) -> int:
        return self.n_links

    def __repr__(self) -> str:
        stubs = self.n_nodes - self.n_papers
        return f"<CitationGraph: {self.n_links:,} citations, {stubs:,} papers outside the atlas>"

    def _related(
        self, find: Callable[..., Found], names: str | Sequence[str], k: int, stubs: bool
    ) -> list[Linked]:
        listed = [names] if isinstance(names, str) else names
        nodes = np.array([self.node_of(name) for name in listed], dtype=np.int64)
        found, scores = find(self.reference_links, self.citation_links, nodes)
        kept = found < (self.n_nodes if stubs else self.n_papers)
        return self.linked(found[kept][:k], scores[kept][:k])

    @cached_property
    def _stub_facts(self) -> list[tuple[str, str, int | None]]:
        table = self.stubs
        rows = zip(table["stub_id"], table["title"], table["year"], strict=True)
        return [
            (str(name), title or "", None if year is None or year != year else int(year))
            for name, title, year in rows
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
        if not _is_graph(links) or links.n_nodes < self.n_papers:
            fault = ValueError("the arrays are not a citation graph of these papers")
            raise unreadable(self._atlas.path, starts_file, fault)
        return links

    def _array(self, name: str) -> np.ndarray:
        def read(folder: Path) -> np.ndarray:
            opened: np.ndarray = np.load(folder / name, mmap_mode="r", allow_pickle=False)
            return opened

        try:
            return self._atlas.read(name, read)
        except (OSError, ValueError, EOFError, TokenError) as error:
            raise unreadable(self._atlas.path, name, error) from error


def _is_graph(links: Links) -> bool:
    """Return whether arrays from a file are a valid graph in the format of `link`."""
    starts, targets = links.starts, links.targets
    if any(one.ndim != 1 or one.dtype.kind != "i" for one in (starts, targets)) or not len(starts):
        return False
    if starts[0] != 0 or starts[-1] != len(targets) or (np.diff(starts) < 0).any():
        return False
    return not len(targets) or bool(targets.min() >= 0 and targets.max() < links.n_nodes)


def matrix_files(direction: str) -> tuple[str, str]:
    """Return the names of the files with the starts and targets of the links in one direction."""
    return tuple(f"{CITATIONS}/{direction}.{kind}.npy" for kind in ("starts", "targets"))  # type: ignore[return-value]  # two of them


def citation_graph(store: AtlasStore) -> CitationGraph:
    """Return the citation graph of an atlas. The graph is created once and cached."""
    return store.cached("citation graph", CitationGraph)
