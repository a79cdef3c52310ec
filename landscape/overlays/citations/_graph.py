"""The citation graph: sparse rows, influence, co-citation, coupling, and names of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus._identifiers import (
    arxiv_id_of_bibcode,
    arxiv_month,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Nodes = NDArray[np.int32]
    Found = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Links:
    """A graph as sparse rows: row i is ``targets[starts[i]:starts[i + 1]]``, ascending."""

    starts: NDArray[np.int64]
    targets: Nodes

    @property
    def n_nodes(self) -> int:
        """Nodes, with links or without."""
        return len(self.starts) - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Links that leave each node, shape (n_nodes,)."""
        return np.diff(self.starts)

    def of(self, node: int) -> Nodes:
        """Targets of one node, ascending."""
        return np.asarray(self.targets[self.starts[node] : self.starts[node + 1]])

    def of_all(self, nodes: NDArray[np.integer]) -> Nodes:
        """Targets of several nodes one after the other, shape (sum of their degrees,)."""
        starts = self.starts[nodes]
        lengths = self.starts[np.asarray(nodes) + 1] - starts
        if not lengths.sum():
            return np.zeros(0, dtype=np.int32)
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        return np.asarray(self.targets[places])

    def reversed(self) -> Links:
        """The same links in the opposite direction."""
        sources = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees)
        n = max(1, self.n_nodes)
        keys = np.sort(self.targets.astype(np.int64) * n + sources)  # rows stay ascending
        return Links(_starts(self.targets, self.n_nodes), (keys % n).astype(np.int32))


def link(sources: NDArray[np.integer], targets: NDArray[np.integer], *, n_nodes: int) -> Links:
    """Arrange pairs of nodes as sparse rows; repeated pairs and self-links are dropped."""
    sources, targets = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    for ends in (sources, targets):
        if len(ends) and (ends.min() < 0 or ends.max() >= n_nodes):
            raise ValueError(f"a link has an end outside of the {n_nodes} nodes")
    proper = sources != targets
    keys = np.sort(sources[proper] * max(1, n_nodes) + targets[proper])
    keys = keys[np.diff(keys, prepend=-1) != 0]  # np.unique is a hundred times slower
    sources, targets = np.divmod(keys, max(1, n_nodes))
    return Links(_starts(sources, n_nodes), targets.astype(np.int32))


def _starts(sources: NDArray[np.integer], n_nodes: int) -> NDArray[np.int64]:
    counts = np.bincount(sources, minlength=n_nodes)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def influence(
    references: Links, *, damping: float = 0.5, tolerance: float = 1e-8, most: int = 100
) -> NDArray[np.float32]:
    r"""Influence of each node (PageRank), 1 on average.

    Solves :math:`r = (1-d) + d\,(A^T D^{-1} r + \text{mean of nodes without references})`. Damping
    is a half: readers of papers go two steps deep on average (Chen et al. 2007, J. Informetrics
    1, 8), not 0.85 as on the web (Page et al. 1999).
    """
    from scipy.sparse import csr_array

    n = references.n_nodes
    if not n:
        return np.zeros(0, dtype=np.float32)
    degrees = references.degrees
    shape = (n, n)
    walk = csr_array(
        (np.ones(len(references.targets)), references.targets, references.starts), shape=shape
    ).T.tocsr()
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
    r"""Find papers cited together with the given ones (co-citation: Small 1973, JASIS 24, 265).

    Returns nodes, best first and without the given ones, and Salton's cosines
    :math:`c_{pq} / \sqrt{c_p c_q}` of the counts of citing papers, averaged over the given ones.
    """
    return _shared(citations, references, nodes, k)


def coupled(
    references: Links, citations: Links, nodes: NDArray[np.integer], *, k: int | None = None
) -> Found:
    """Find papers that cite the same as the given ones (bibliographic coupling: Kessler 1963).

    Returns nodes, best first and without the given ones, and cosines of the reference lists.
    """
    return _shared(references, citations, nodes, k)


def _shared(there: Links, back: Links, nodes: NDArray[np.integer], k: int | None) -> Found:
    """Walk two steps, and score each end by the number of paths to it."""
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


_LONGEST = 300  # characters of a name of an unknown kind
# Names in the normal spelling need no parsing; most are.
_PLAIN = r"^\d{4}\.\d{4,5}$|^\d{4}[A-Z][A-Za-z&]{1,4}\.[A-Za-z0-9.]{12}[A-Z.]$"


@dataclass(frozen=True)
class Resolved:
    """Rows of papers by name (-1 if empty); from ``n_papers`` on, unknown names: the stubs."""

    nodes: NDArray[np.int64]
    stubs: tuple[str, ...]


def resolve(
    names: Sequence[str], papers: Mapping[str, Sequence[str | None]], *, n_papers: int
) -> Resolved:
    """Find the papers that names mean: keys, bibcodes, arXiv identifiers or DOIs in any spelling.

    `papers` holds the columns ``paper_id``, ``bibcode``, ``arxiv_id`` and ``doi`` of the corpus.
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
    # np.unique would pad every name to the longest one.
    place, stubs = pd.factorize(normal[open_], sort=True)
    is_empty = len(stubs) > 0 and stubs[0] == ""
    nodes[rest[open_]] = np.where(normal[open_] == "", -1, place + n_papers - int(is_empty))
    return Resolved(nodes, tuple(stubs[int(is_empty) :].tolist()))


def normalise_name(name: str) -> str:
    """Normalise the name of a paper: its arXiv identifier, else bibcode, else DOI."""
    text = " ".join(str(name).split())
    arxiv = parse_arxiv_id(text)
    if arxiv:
        return arxiv
    bibcode = parse_bibcode(text)
    if bibcode:
        return arxiv_id_of_bibcode(bibcode) or bibcode
    return (parse_doi(text) or text)[:_LONGEST]


def read_year(name: str) -> int | None:
    """Read the year that a bibcode or an arXiv identifier begins with."""
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
    """Normalise names; parse only those that need it."""
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
