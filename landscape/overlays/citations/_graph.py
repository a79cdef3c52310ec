"""A graph of citations as compressed sparse rows, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.corpus.identifiers import (
    arxiv_id_of_bibcode,
    arxiv_month,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Nodes = NDArray[np.int32]
    from numpy.typing import NDArray

    Found = tuple[NDArray[np.int64], NDArray[np.float64]]
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Links:
    """Links from every node to others: row ``i`` is ``targets[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_nodes + 1,)
    targets : ndarray of int32, shape (n_links,)
        Ascending within a row, none twice.

    Examples
    --------
    >>> links = link(np.array([0, 0, 1]), np.array([2, 1, 2]), n_nodes=3)
    >>> links.of(0).tolist(), links.degrees.tolist()
    ([1, 2], [2, 1, 0])
    """

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
        """Targets of several nodes one after the other, shape (sum of their degrees,).

        Examples
        --------
        >>> links = link(np.array([0, 0, 1]), np.array([2, 1, 2]), n_nodes=3)
        >>> links.of_all(np.array([1, 0])).tolist()
        [2, 1, 2]
        """
        starts = self.starts[nodes]
        lengths = self.starts[np.asarray(nodes) + 1] - starts
        if not lengths.sum():
            return np.zeros(0, dtype=np.int32)
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        return np.asarray(self.targets[places])

    def reversed(self) -> Links:
        """Give the same links the other way round.

        Examples
        --------
        >>> link(np.array([0, 1]), np.array([2, 2]), n_nodes=3).reversed().of(2).tolist()
        [0, 1]
        """
        sources = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees)
        n = max(1, self.n_nodes)
        keys = np.sort(self.targets.astype(np.int64) * n + sources)  # rows stay ascending
        return Links(_starts(self.targets, self.n_nodes), (keys % n).astype(np.int32))


def link(sources: NDArray[np.integer], targets: NDArray[np.integer], *, n_nodes: int) -> Links:
    """Arrange pairs of nodes as compressed sparse rows.

    Parameters
    ----------
    sources, targets : ndarray of int, shape (n_pairs,)
        Node numbers from 0; pairs may come in any order and several times. A node that links to
        itself is left out: no paper cites itself.
    n_nodes : int

    Returns
    -------
    Links

    Raises
    ------
    ValueError
        If a number is no node.
    """
    sources, targets = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    for ends in (sources, targets):
        if len(ends) and (ends.min() < 0 or ends.max() >= n_nodes):
            raise ValueError(f"a link has an end outside of the {n_nodes} nodes")
    proper = sources != targets
    keys = np.sort(sources[proper] * max(1, n_nodes) + targets[proper])
    keys = keys[np.diff(keys, prepend=-1) != 0]  # np.unique takes a hundred times as long
    sources, targets = np.divmod(keys, max(1, n_nodes))
    return Links(_starts(sources, n_nodes), targets.astype(np.int32))


def _starts(sources: NDArray[np.integer], n_nodes: int) -> NDArray[np.int64]:
    counts = np.bincount(sources, minlength=n_nodes)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def influence(
    references: Links, *, damping: float = 0.5, tolerance: float = 1e-8, most: int = 100
) -> NDArray[np.float32]:
    r"""Measure influence by a reader who follows references at random (PageRank).

    Parameters
    ----------
    references : Links
        From each paper to what it cites.
    damping : float, default 0.5
        Probability of following one more reference; a half, as readers of papers go two steps
        deep on average (Chen et al. 2007, J. Informetrics 1, 8), not 0.85 as on the web (Page et
        al. 1999).
    tolerance : float, default 1e-8
        Sum of changes, as a fraction, at which it ends.
    most : int, default 100
        Steps at most.

    Returns
    -------
    ndarray of float32, shape (n_nodes,)
        Solution of :math:`r = (1-d) + d\,(A^T D^{-1} r + \text{mean of nodes without references})`;
        1 on average, so that graphs of different sizes compare.

    Examples
    --------
    >>> from landscape.overlays.citations import link
    >>> cited = link(np.array([0, 1]), np.array([2, 2]), n_nodes=3)
    >>> influence(cited).round(2).tolist()
    [0.75, 0.75, 1.5]
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
    r"""Find what is cited together with some papers (co-citation: Small 1973, JASIS 24, 265).

    Parameters
    ----------
    references, citations : Links
        The same graph, both ways.
    nodes : ndarray of int, shape (n,)
        One paper, or several whose counts are added.
    k : int, optional
        Most nodes; all when not given.

    Returns
    -------
    nodes : ndarray of int64, shape (at most k,)
        Best first, without the given ones; of two alike the lower number first.
    scores : ndarray of float64, same shape
        Salton's cosine, :math:`c_{pq} / \sqrt{c_p c_q}` of the counts of citing papers, from 0
        to 1 (of several papers: the average).

    Examples
    --------
    >>> from landscape.overlays.citations import link
    >>> references = link(np.array([0, 0, 1, 1, 1]), np.array([2, 3, 2, 3, 4]), n_nodes=5)
    >>> found, scores = cocited(references, references.reversed(), np.array([2]))
    >>> found.tolist(), scores.round(2).tolist()
    ([3, 4], [1.0, 0.71])
    """
    return _shared(citations, references, nodes, k)


def coupled(
    references: Links, citations: Links, nodes: NDArray[np.integer], *, k: int | None = None
) -> Found:
    """Find what cites the same as some papers (bibliographic coupling: Kessler 1963).

    Parameters
    ----------
    references, citations : Links
        The same graph, both ways.
    nodes : ndarray of int, shape (n,)
        One paper, or several whose counts are added.
    k : int, optional
        Most nodes; all when not given.

    Returns
    -------
    nodes : ndarray of int64, shape (at most k,)
        Best first, without the given ones; of two alike the lower number first.
    scores : ndarray of float64, same shape
        Cosine of the two reference lists, from 0 to 1 (of several papers: the average).

    Examples
    --------
    >>> from landscape.overlays.citations import link
    >>> references = link(np.array([0, 0, 1, 1]), np.array([2, 3, 3, 4]), n_nodes=5)
    >>> found, scores = coupled(references, references.reversed(), np.array([0]))
    >>> found.tolist(), scores.tolist()
    ([1], [0.5])
    """
    return _shared(references, citations, nodes, k)


def _shared(there: Links, back: Links, nodes: NDArray[np.integer], k: int | None) -> Found:
    """Walk two steps, and weigh each end by how many ways lead to it."""
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


_LONGEST = 300  # characters of a name that is none of the known kinds
# Names in the one spelling that everything else is brought to; most are, and are not parsed.
_PLAIN = r"^\d{4}\.\d{4,5}$|^\d{4}[A-Z][A-Za-z&]{1,4}\.[A-Za-z0-9.]{12}[A-Z.]$"


@dataclass(frozen=True)
class Resolved:
    """What names mean."""

    nodes: NDArray[np.int64]
    stubs: tuple[str, ...]


def resolve(
    names: Sequence[str], papers: Mapping[str, Sequence[str | None]], *, n_papers: int
) -> Resolved:
    """Find the papers that names mean; names of others become stubs.

    Parameters
    ----------
    names : sequence of str, length n_names
        Keys, bibcodes (also of e-prints), arXiv identifiers or DOIs in any spelling.
    papers : mapping of str to sequence of str or None, each of length n_papers
        The corpus's own ``paper_id``, ``bibcode``, ``arxiv_id`` and ``doi``, as far as it has them.
    n_papers : int

    Returns
    -------
    Resolved

    Examples
    --------
    >>> papers = {"paper_id": ["2101.01542", "b"], "doi": [None, "10.1093/dust"]}
    >>> found = resolve(
    ...     ["arXiv:2101.01542v2", "doi:10.1093/DUST", "1973ApJ...179..427S", " "],
    ...     papers,
    ...     n_papers=2,
    ... )
    >>> found.nodes.tolist(), found.stubs
    ([0, 1, 2, -1], ('1973ApJ...179..427S',))
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
    spelt_anew = _one_spelling(given[rest])
    nodes[rest] = _look_up(spelt_anew, index, rows)
    open_ = np.flatnonzero(nodes[rest] < 0)
    # Not np.unique of an array of texts: all its cells are as wide as the longest name.
    place, stubs = pd.factorize(spelt_anew[open_], sort=True)
    is_empty = len(stubs) > 0 and stubs[0] == ""
    nodes[rest[open_]] = np.where(spelt_anew[open_] == "", -1, place + n_papers - int(is_empty))
    return Resolved(nodes, tuple(stubs[int(is_empty) :].tolist()))


def normalise_name(name: str) -> str:
    """Bring a name to the spelling that an atlas uses: arXiv identifier, else bibcode, else DOI."""
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
    if not arxiv:
        return None
    try:
        day = arxiv_month(arxiv).date
    except InputError:
        return None
    return day.year if day else None


def _look_up(
    names: NDArray[np.object_], index: pd.Index, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    if not len(index) or not len(names):
        return np.full(len(names), -1, dtype=np.int64)
    place = np.asarray(index.get_indexer(names), dtype=np.int64)
    return np.where(place >= 0, rows[place], -1)


def _one_spelling(names: NDArray[np.object_]) -> NDArray[np.object_]:
    """Spell names anew, parsing only those that need it."""
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
