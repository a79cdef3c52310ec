"""Where a proposed concept would hang: the nearest existing concepts, and a broader one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.mapping._region_names import PhraseTable
from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.measures import phrase_sums
from landscape.overlays.thesaurus.names import word_bag, words_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_FEWEST = 3
_OF_A_PARENT = 0.8


def nearest_concepts(
    table: PhraseTable,
    vectors: NDArray[np.floating],
    phrases: pd.DataFrame,
    wanted: NDArray[np.integer],
    *,
    k: int = 10,
) -> list[list[tuple[str, float]]]:
    """Find the concepts whose papers are most like a phrase's papers.

    Parameters
    ----------
    table : PhraseTable
    vectors : ndarray of float, shape (n_papers, n_dims)
        Embeddings of unit length.
    phrases : pandas.DataFrame
        With ``phrase`` and ``concept_id``, see `landscape.overlays.thesaurus.candidates`.
    wanted : ndarray of int, shape (n_wanted,)
        Numbers of phrases in the table.
    k : int, default 10

    Returns
    -------
    list of list of (str, float), length n_wanted
        Concept id and cosine between the mean papers, both less the mean of all papers; the
        nearest first. A concept needs three papers that name it.
    """
    named = phrases[phrases["concept_id"] != ""]
    ids, concept = np.unique(named["concept_id"].to_numpy(dtype=str), return_inverse=True)
    if not len(ids):
        return [[] for _ in wanted]
    concept_of = np.full(len(table.forms), -1)
    concept_of[named["phrase"].to_numpy()] = concept
    pairs = np.unique(
        np.column_stack([concept_of[table.phrase], table.paper])[concept_of[table.phrase] >= 0],
        axis=0,
    )
    papers = np.bincount(pairs[:, 0], minlength=len(ids))
    of_concepts = PhraseTable(
        pairs[:, 1], pairs[:, 0], ids.astype(object), ids.astype(object), np.ones(len(ids)),
        table.n_papers,
    )  # fmt: skip
    chosen = np.isin(table.phrase, wanted)
    of_wanted = PhraseTable(
        table.paper[chosen], table.phrase[chosen], table.forms, table.shown, table.promise,
        table.n_papers,
    )  # fmt: skip
    middle = np.asarray(vectors, dtype=np.float32).mean(axis=0, dtype=np.float64)
    concepts = _directions(phrase_sums(of_concepts, vectors), papers, middle)
    sought = _directions(
        phrase_sums(of_wanted, vectors)[wanted],
        np.bincount(of_wanted.phrase, minlength=len(table.forms))[wanted],
        middle,
    )
    cosines = sought @ concepts.T
    cosines[:, papers < _FEWEST] = -np.inf
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return [
        [(str(ids[one]), float(row[one])) for one in places if np.isfinite(row[one])]
        for row, places in zip(cosines, best, strict=True)
    ]


def suggest_parent(
    name: str,
    nearest: list[tuple[str, float]],
    thesaurus: Thesaurus,
    named: dict[str, str],
) -> str:
    """Suggest the concept that a proposed one would stand below.

    What the end of its name says goes first: "ultra-diffuse galaxies" are galaxies. Else the
    nearest concepts vote, each for itself and a little less for what is above it: a new concept
    is either narrower than an old one or stands beside it.

    Parameters
    ----------
    name : str
        The proposed term.
    nearest : list of (str, float)
        Concept ids and cosines, see `nearest_concepts`.
    thesaurus : Thesaurus
    named : dict of str to str
        Concept id by bag of words, see `landscape.overlays.thesaurus.names.named_forms`.

    Returns
    -------
    str
        Concept id; empty where nothing is near.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> uat = Thesaurus("", {"1": Concept("1", "Galaxies")})
    >>> suggest_parent("jellyfish galaxies", [], uat, {"galaxy": "1"})
    '1'
    """
    words = words_of(name)
    for start in range(1, len(words)):
        found = named.get(word_bag(" ".join(words[start:])))
        if found is not None:
            return found
    votes: dict[str, float] = {}
    for concept_id, cosine in nearest:
        weight = max(cosine, 0.0) ** 2
        votes[concept_id] = votes.get(concept_id, 0.0) + weight
        for above in thesaurus.concepts[concept_id].broader:
            votes[above] = votes.get(above, 0.0) + _OF_A_PARENT * weight
    return max(votes, key=lambda one: (votes[one], one), default="")


def _directions(
    sums: NDArray[np.float64], papers: NDArray[np.integer], middle: NDArray[np.float64]
) -> NDArray[Any]:
    means = sums / np.maximum(papers, 1)[:, None] - middle
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means / np.where(lengths > 0, lengths, 1.0))
