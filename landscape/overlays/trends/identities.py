"""Which papers of one author name seem to be of one person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape._author_names import given_names, is_compatible, person_key
from landscape._wording import normal_title

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

_LONG_BYLINE = 30  # authors; sharing a co-author in longer ones says little about a person


def link_papers(
    spellings: Sequence[str],
    coauthors: Sequence[Sequence[str]],
    affiliations: Sequence[Sequence[str]],
) -> NDArray[np.int64]:
    """Group the papers of one name by co-authors and affiliations that they share.

    Papers are linked where they share a co-author (bylines of at most 30 authors) or an
    affiliation, and the name is not spelled out differently; groups are what links connect. A
    paper whose initials fit two people joins one of them only where it is linked to no other. Two
    persons of one name in one group of colleagues stay together, and a person who changed place
    and colleagues at once falls apart: groups are candidates, not identities.

    Parameters
    ----------
    spellings : sequence of str, length n_papers
        The name as each paper has it.
    coauthors, affiliations : sequence of sequence of str
        The other authors of each paper; where the person works.

    Returns
    -------
    ndarray of int, shape (n_papers,)
        1 for the largest group, 2 for the next, ...; 0 for papers linked to no other.

    Examples
    --------
    >>> link_papers(["Li, W."] * 4, [["Wu, A."], ["A. Wu"], ["Xu, B."], []], [[]] * 4).tolist()
    [1, 1, 0, 0]
    """
    from scipy.sparse.csgraph import connected_components

    linked = _linked(coauthors, affiliations)
    kinds, fits = _compatible_spellings(spellings)
    # "Y. Wang" fits Yu and Yang, who are two: such papers must not tie theirs together.
    clash = fits.astype(np.int64) @ (~fits).astype(np.int64)
    unclear = np.any(clash * fits > 0, axis=1)[kinds]
    linked = linked.multiply(fits[np.ix_(kinds, kinds)]).tocsr()
    linked.eliminate_zeros()
    clear = np.flatnonzero(~unclear)
    group = np.arange(len(kinds)) + len(kinds)
    group[clear] = connected_components(linked[clear][:, clear], directed=False)[1]
    for paper in np.flatnonzero(unclear):
        near = np.intersect1d(linked[[paper]].indices, clear)
        owners = np.unique(group[near])
        if len(owners) == 1:
            group[paper] = owners[0]
    return _by_size(group)


def _linked(coauthors: Sequence[Sequence[str]], affiliations: Sequence[Sequence[str]]) -> csr_array:
    """How many co-authors and affiliations each pair of papers shares."""
    from scipy.sparse import csr_array

    marks = [
        {f"person {person_key(name)}" for name in others if len(others) < _LONG_BYLINE}
        | {f"place {key}" for key in map(normal_title, places) if key}
        for others, places in zip(coauthors, affiliations, strict=True)
    ]
    number = {mark: at for at, mark in enumerate(sorted(set().union(*marks)))}
    rows = np.repeat(np.arange(len(marks)), [len(of) for of in marks])
    columns = np.array([number[mark] for of in marks for mark in of], dtype=np.int64)
    shape = (len(marks), max(len(number), 1))
    incidence = csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
    return (incidence @ incidence.T).tocsr()


def _compatible_spellings(
    spellings: Sequence[str],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    given = [given_names(name) for name in spellings]
    different = sorted(set(given))
    number = {one: at for at, one in enumerate(different)}
    allowed = np.array([[is_compatible(a, b) for b in different] for a in different], dtype=bool)
    kinds = np.array([number[one] for one in given], dtype=np.int64)
    return kinds, allowed.reshape(len(different), len(different))


def _by_size(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered from the largest, the earliest first among equals; singles are 0."""
    _, first, group, sizes = np.unique(
        group, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[order] = np.arange(1, len(sizes) + 1)
    return np.where(sizes[group] > 1, rank[group], 0)
