"""How much of a concept's term stands in a text, in any order and with any ending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.splitting import Split, split, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class TermStems:
    """The stems of all terms of a thesaurus.

    Attributes
    ----------
    stems : dict of str to int
        Column of each stem.
    terms : scipy.sparse.csr_matrix, shape (n_stems, n_terms)
        Which stems a term has.
    first : ndarray of int, shape (n_concepts,)
        Where the terms of each concept begin.
    """

    stems: dict[str, int]
    terms: csr_matrix
    first: NDArray[np.int64]


def stem_terms(thesaurus: Thesaurus) -> TermStems:
    """Take the stems of every term; a concept's terms stand side by side."""
    from scipy.sparse import csr_matrix

    stems: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    first = []
    n_terms = 0
    for concept in thesaurus.concepts.values():
        first.append(n_terms)
        for name in concept.names:
            found = {stem(word) for word in split(name)[0] if word}
            pairs += [(stems.setdefault(one, len(stems)), n_terms) for one in sorted(found)]
            n_terms += 1
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(stems), n_terms)
    terms = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    return TermStems(stems, terms, np.array(first, dtype=np.int64))


def find_stems(texts: Split, stems: TermStems, *, n: int) -> csr_matrix:
    """Which stems of terms each of n texts has, shape (n, n_stems), of int8."""
    from scipy.sparse import csr_matrix

    known = texts.stems >= 0
    n_stems = len(stems.stems)
    found = np.sort(texts.rows[known] * n_stems + texts.stems[known])
    found = found[np.diff(found, prepend=-1) > 0]
    rows, columns = np.divmod(found, max(n_stems, 1))
    ends = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    ones = np.ones(len(columns), np.int8)
    return csr_matrix((ones, columns.astype(np.int32), ends), shape=(n, n_stems))


def covered(
    found: csr_matrix, stems: TermStems, weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Share of each concept's best covered term that a text has, rare stems counting more.

    Parameters
    ----------
    found : scipy.sparse.csr_matrix, shape (n, n_stems)
    stems : TermStems
    weights : ndarray of float32, shape (n_stems,)
        Inverse document frequencies, see `rarity`.

    Returns
    -------
    ndarray of float32, shape (n, n_concepts)

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> from landscape.overlays.thesaurus.splitting import Lexicon, split_texts
    >>> stems = stem_terms(Thesaurus("", {"1": Concept("1", "Stellar rotation")}))
    >>> texts = ["The rotation of a stellar core", "Rotation", "Dust"]
    >>> found = find_stems(split_texts(texts, Lexicon({}, stems.stems)), stems, n=3)
    >>> covered(found, stems, np.ones(2, np.float32)).ravel().tolist()
    [1.0, 0.5, 0.0]
    """
    from scipy.sparse import diags

    n, m = found.shape[0], len(stems.first)
    weighted = diags(weights) @ stems.terms
    whole = np.maximum(np.asarray(weighted.sum(0)).ravel(), 1e-6)
    shares = found.astype(np.float32) @ (weighted @ diags(1.0 / whole)).tocsr()
    # Few terms have any stem of a text: only these are looked through for the best.
    concept = np.searchsorted(stems.first, np.arange(stems.terms.shape[1]), side="right") - 1
    places = np.repeat(np.arange(n) * m, np.diff(shares.indptr)) + concept[shares.indices]
    best = np.zeros(n * m, dtype=np.float32)
    np.maximum.at(best, places, shares.data.astype(np.float32))
    made: NDArray[np.float32] = np.minimum(best, np.float32(1.0)).reshape(n, m)
    return made


def rarity(found: csr_matrix) -> NDArray[np.float32]:
    """Weight of each stem: the logarithm of how many times fewer texts have it than there are."""
    n = found.shape[0]
    frequency = found.getnnz(axis=0).astype(np.float32)
    weights: NDArray[np.float32] = (np.log((1 + n) / (1 + frequency)) + 0.1).astype(np.float32)
    return weights
