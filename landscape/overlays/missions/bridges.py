"""Which regions of the map a facility's papers connect, beyond what other papers do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

_BLOCK = 16_384
_BETWEEN = 0.2
_LEAST_PAPERS = 3


@dataclass(frozen=True)
class Reach:
    """Which other regions each paper reaches.

    Attributes
    ----------
    known : ndarray of bool, shape (n_papers,)
        Papers of which it is known.
    regions : scipy.sparse.csr_array of int8, shape (n_papers, n_regions)
        1 for each region, other than its own, that the paper reaches.
    linked_by : str
        ``"vectors"`` or ``"citations"``.
    """

    known: NDArray[np.bool_]
    regions: csr_array
    linked_by: str

    @property
    def n_reached(self) -> NDArray[np.int64]:
        """Other regions that each paper reaches; -1 where not known."""
        return np.where(self.known, np.diff(self.regions.indptr), -1).astype(np.int64)


def reach_by_vectors(
    vectors: NDArray[np.floating],
    region: NDArray[np.int64],
    n_regions: int,
    *,
    between: float = _BETWEEN,
) -> Reach:
    """Find papers between two regions, in the full dimension of the embedding.

    A paper is between its own region and the most similar other one if the difference of its
    similarities to their centroids is among the smallest of the corpus.

    Parameters
    ----------
    vectors : ndarray of float, shape (n_papers, n_dims)
        L2-normalised; may be memory-mapped.
    region : ndarray of int, shape (n_papers,)
        -1 outside every region.
    n_regions : int
    between : float, default 0.2
        Fraction of the papers that counts as between regions.

    Returns
    -------
    Reach

    Examples
    --------
    >>> angle = np.array([0.0, 0.1, 0.7, 1.5, 1.6])
    >>> vectors = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> reach_by_vectors(vectors, np.array([0, 0, 0, 1, 1]), 2).n_reached.tolist()
    [0, 0, 1, 0, 0]
    """
    known = region >= 0
    margin = np.full(len(region), np.inf, dtype=np.float32)
    other = np.zeros(len(region), dtype=np.int64)
    if n_regions > 1 and known.any():
        centroids = _centroids(vectors, region, n_regions)
        for start in range(0, len(region), _BLOCK):
            block = slice(start, start + _BLOCK)
            likeness = np.asarray(vectors[block], dtype=np.float32) @ centroids.T
            at = np.arange(len(likeness))
            own = likeness[at, region[block]].copy()
            likeness[at, region[block]] = -np.inf
            other[block] = likeness.argmax(axis=1)
            margin[block] = own - likeness[at, other[block]]
        crossing = known & (margin <= np.quantile(margin[known], between))
    else:
        crossing = np.zeros(len(region), dtype=bool)
    return Reach(known, _incidence(np.flatnonzero(crossing), other[crossing], known, n_regions),
                 "vectors")  # fmt: skip


def reach_by_citations(
    bibcodes: Sequence[str | None],
    references: Sequence[Sequence[str] | None],
    region: NDArray[np.int64],
    n_regions: int,
) -> Reach:
    """Find which other regions each paper cites.

    Parameters
    ----------
    bibcodes : sequence of str or None, length n_papers
    references : sequence of sequence of str, length n_papers
        Bibcodes that each paper cites; those not in the corpus are passed over.
    region : ndarray of int, shape (n_papers,)
    n_regions : int

    Returns
    -------
    Reach
        Known for papers in a region with at least one reference in a region of the corpus.

    Examples
    --------
    >>> found = reach_by_citations(["a", "b", "c"], [["b", "x"], [], ["b"]], np.array([0, 1, 1]), 2)
    >>> found.known.tolist(), found.n_reached.tolist()
    ([True, False, True], [1, -1, 0])
    """
    import pandas as pd

    lengths = np.array([0 if cited is None else len(cited) for cited in references])
    citing = np.repeat(np.arange(len(region)), lengths)
    names = [name for cited in references if cited is not None for name in cited]
    keys = pd.Series(np.arange(len(region)), index=pd.Index(bibcodes, dtype=object))
    keys = keys[keys.index.notna() & ~keys.index.duplicated()]
    cited = keys.reindex(names).fillna(-1).to_numpy(np.int64)
    into = np.where(cited >= 0, region[cited], -1) if len(cited) else cited
    linked = (into >= 0) & (region[citing] >= 0)
    citing, into = citing[linked], into[linked]
    known = np.zeros(len(region), dtype=bool)
    known[citing] = True
    away = into != region[citing]
    return Reach(known, _incidence(citing[away], into[away], known, n_regions), "citations")


def crossing_rates(
    reach: Reach, region: NDArray[np.int64], inside: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Measure how often papers of one region reach each other region.

    Parameters
    ----------
    reach : Reach
    region : ndarray of int, shape (n_papers,)
    inside : ndarray of bool, shape (n_papers,)
        Papers of the period.

    Returns
    -------
    ndarray of float, shape (n_regions, n_regions)
        Fraction of the papers of the region of the row that reach the region of the column.
    """
    reached, papers = _reached(reach, region, inside)
    return reached / np.maximum(papers, 1)[:, None]


def find_bridges(
    reach: Reach,
    region: NDArray[np.int64],
    uses: NDArray[np.bool_],
    inside: NDArray[np.bool_],
    *,
    rates: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    r"""Find the pairs of regions that a facility's papers connect more than others do.

    Expected is what as many papers of the same regions connect, whatever they use: observed over
    expected is the association strength of van Eck & Waltman (2009, JASIST 60, 1635), summed over
    both directions. The p-value is the Poisson probability of so many or more, q controls the
    false discovery rate over all pairs (Benjamini & Hochberg 1995). Links between fields that
    others hardly link are what Rafols & Meyer (2010, Scientometrics 82, 263) call coherence.

    Parameters
    ----------
    reach : Reach
    region : ndarray of int, shape (n_papers,)
    uses, inside : ndarray of bool, shape (n_papers,)
        The facility's papers, and the papers of the period.
    rates : ndarray of float, shape (n_regions, n_regions), optional
        `crossing_rates` of the period, where they are at hand.

    Returns
    -------
    pandas.DataFrame
        ``region_a, region_b`` (numbers of regions, a < b), ``papers`` of the facility that
        connect them, ``expected``, ``ratio``, ``p``, ``q``; the smallest p first. Pairs with
        fewer than 3 papers are left out.
    """
    import pandas as pd
    from scipy.special import pdtrc

    if rates is None:
        rates = crossing_rates(reach, region, inside)
    its_reached, its_papers = _reached(reach, region, inside & uses)
    expected = rates * its_papers[:, None]
    a, b = np.triu_indices(len(its_papers), k=1)
    papers = (its_reached + its_reached.T)[a, b]
    chance = (expected + expected.T)[a, b]
    possible = chance > 0
    a, b, papers, chance = a[possible], b[possible], papers[possible], chance[possible]
    p = np.where(papers > 0, pdtrc(np.maximum(papers - 1, 0), chance), 1.0)
    found = pd.DataFrame(
        {
            "region_a": a, "region_b": b, "papers": papers.astype(np.int64), "expected": chance,
            "ratio": papers / chance, "p": p, "q": _false_discovery_rates(p),
        }
    )  # fmt: skip
    found = found[found["papers"] >= _LEAST_PAPERS]
    return found.sort_values(["p", "region_a", "region_b"]).reset_index(drop=True)


def _false_discovery_rates(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benjamini & Hochberg's q of each p."""
    order = np.argsort(p)[::-1]
    scaled = p[order] * len(p) / np.arange(len(p), 0, -1)
    q = np.empty_like(p)
    q[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return q


def _reached(
    reach: Reach, region: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Papers of each region that reach each other one, and papers of each region."""
    n_regions = reach.regions.shape[1]
    rows = np.flatnonzero(mask & reach.known)
    homes = region[rows]
    pairs = reach.regions[rows].tocoo()
    code = homes[pairs.row] * n_regions + pairs.col
    reached = np.bincount(code, minlength=n_regions**2).reshape(n_regions, n_regions)
    return reached.astype(np.float64), np.bincount(homes, minlength=n_regions)


def _centroids(
    vectors: NDArray[np.floating], region: NDArray[np.int64], n_regions: int
) -> NDArray[np.float32]:
    """Directions of the regions' mean vectors."""
    sums = np.zeros((n_regions, vectors.shape[1]), dtype=np.float64)
    for start in range(0, len(region), _BLOCK):
        where = region[start : start + _BLOCK]
        block = np.asarray(vectors[start : start + _BLOCK], dtype=np.float32)
        member = _incidence(np.arange(len(where)), where, where >= 0, n_regions)
        sums += member.astype(np.float32).T @ block
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(length > 0, length, 1)).astype(np.float32)


def _incidence(
    rows: NDArray[np.int64], columns: NDArray[np.int64], papers: NDArray[np.bool_], n_regions: int
) -> csr_array:
    """Sparse 0/1 matrix of papers and regions; a column of -1 is none, repeats count once."""
    from scipy.sparse import csr_array

    kept = columns >= 0
    code = np.unique(rows[kept] * n_regions + columns[kept])
    rows, columns = np.divmod(code, n_regions) if n_regions else (code, code)
    ones = np.ones(len(code), dtype=np.int8)
    return csr_array((ones, (rows, columns)), shape=(len(papers), n_regions))
