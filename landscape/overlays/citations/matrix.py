"""A graph of citations as compressed sparse rows, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Nodes = NDArray[np.int32]


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
