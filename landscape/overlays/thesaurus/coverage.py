"""How much of a concept's term stands in a text, in any order and with any ending."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.matching import split
from landscape.text.words import readable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

_ENDING = re.compile(
    r"(ational|ation|ical|ally|ics|ing|ion|ary|ity|ies|al|ic|ed|es|e|s|y)$"
)  # reionized and reionization, accreting and accretion: what is meant, if not what is said
_LONG = 5


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
            found = {_stem(word) for word in split(name)[0] if word}
            pairs += [(stems.setdefault(one, len(stems)), n_terms) for one in sorted(found)]
            n_terms += 1
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(stems), n_terms)
    terms = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    return TermStems(stems, terms, np.array(first, dtype=np.int64))


def find_stems(texts: Sequence[str], stems: TermStems) -> csr_matrix:
    """Which stems of terms each text has, shape (n, n_stems)."""
    from scipy.sparse import csr_matrix

    known = stems.stems
    found = []
    for text in texts:
        here = {known.get(_stem(word), -1) for word in set(split(readable(text))[0])}
        found.append(np.array(sorted(here - {-1}), dtype=np.int32))
    ends = np.cumsum([0, *map(len, found)])
    columns = np.concatenate([*found, np.empty(0, np.int32)])
    ones = np.ones(len(columns), np.float32)
    return csr_matrix((ones, columns, ends), shape=(len(texts), len(known)))


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
    >>> stems = stem_terms(Thesaurus("", {"1": Concept("1", "Stellar rotation")}))
    >>> texts = ["The rotation of a stellar core", "Rotation", "Dust"]
    >>> found = find_stems(texts, stems)
    >>> covered(found, stems, np.ones(2, np.float32)).ravel().tolist()
    [1.0, 0.5, 0.0]
    """
    from scipy.sparse import diags

    weighted = diags(weights) @ stems.terms
    whole = np.maximum(np.asarray(weighted.sum(0)).ravel(), 1e-6)
    shares = (found @ (weighted @ diags(1.0 / whole)).tocsr()).toarray()
    best: NDArray[np.float32] = np.maximum.reduceat(shares, stems.first, axis=1)
    return np.minimum(best, 1.0).astype(np.float32)


def rarity(found: csr_matrix) -> NDArray[np.float32]:
    """Weight of each stem: the logarithm of how many times fewer texts have it than there are."""
    n = found.shape[0]
    frequency = np.asarray(found.sum(0)).ravel()
    weights: NDArray[np.float32] = (np.log((1 + n) / (1 + frequency)) + 0.1).astype(np.float32)
    return weights


@lru_cache(maxsize=300_000)
def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > _LONG else word
