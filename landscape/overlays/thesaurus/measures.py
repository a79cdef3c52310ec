"""Measures of the papers of a phrase: how compact, how central and how growing they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.mapping._region_names import PhraseTable
from landscape.overlays.thesaurus.names import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mean_cosines(table: PhraseTable, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Mean cosine between two different papers of each phrase, from the length of their sum.

    Examples
    --------
    >>> from landscape.mapping._region_names import phrase_table
    >>> table = phrase_table([["comets"], ["comets"], ["stars"], ["stars"]])
    >>> mean_cosines(table, np.array([[1, 0], [1, 0], [1, 0], [0, 1.0]])).tolist()
    [1.0, 0.0]
    """
    papers = np.bincount(table.phrase, minlength=len(table.forms)).astype(np.float64)
    squared = np.square(phrase_sums(table, vectors)).sum(axis=1)
    return np.asarray((squared - papers) / np.maximum(papers * (papers - 1), 1))


def phrase_sums(table: PhraseTable, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sum of the embeddings of each phrase's papers, shape (n_phrases, n_dims)."""
    from scipy import sparse

    held = sparse.csr_matrix(
        (np.ones(len(table.phrase), dtype=np.float32), (table.phrase, table.paper)),
        shape=(len(table.forms), table.n_papers),
    )
    return np.asarray(held @ np.asarray(vectors, dtype=np.float32), dtype=np.float64)


def later_half(years: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Papers of the later part: cut between years so that the halves are as equal as can be.

    Examples
    --------
    >>> later_half(np.array([2019, 2020, 2020, 2021])).tolist()
    [False, True, True, True]
    """
    values, counts = np.unique(years, return_counts=True)
    if len(values) < 2:
        return np.zeros(len(years), dtype=bool)
    before = np.cumsum(counts)[:-1]
    cut = int(np.argmin(np.abs(before - len(years) / 2)))
    return np.asarray(years > values[cut])


def growth(
    papers: NDArray[Any], late_papers: NDArray[Any], late_share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Odds of a late paper among a phrase's papers over those of the corpus.

    Half a paper is added on each side (Haldane 1956, Ann. Hum. Genet. 20, 309).

    Returns
    -------
    low, middle : ndarray of float
        Lower end at one standard error of the logarithm, and the estimate; 1 where the corpus
        has no two years.

    Examples
    --------
    >>> low, middle = growth(np.array([20]), np.array([18]), 0.5)
    >>> float(middle[0].round(1)), bool(low[0] > 3)
    (7.4, True)
    """
    if not 0 < late_share < 1:
        return np.ones(len(papers)), np.ones(len(papers))
    late = late_papers + 0.5
    early = papers - late_papers + 0.5
    middle = np.log(late / early * (1 - late_share) / late_share)
    return np.exp(middle - np.sqrt(1 / late + 1 / early)), np.exp(middle)


def mean_cosine(vectors: NDArray[np.floating]) -> float:
    """Mean cosine between any two papers."""
    n = len(vectors)
    total = np.asarray(vectors, dtype=np.float32).sum(axis=0, dtype=np.float64)
    return float((total @ total - n) / max(n * (n - 1), 1))


def count_titles(table: PhraseTable, titles: Sequence[str]) -> NDArray[np.float64]:
    """How many of each phrase's papers have it in their title."""
    plain = [f" {' '.join(words_of(title))} " for title in titles]
    needles = [f" {' '.join(words_of(form))} " for form in table.forms]
    found = [
        needles[phrase] in plain[paper]
        for paper, phrase in zip(table.paper.tolist(), table.phrase.tolist(), strict=True)
    ]
    counted = np.bincount(table.phrase, np.array(found, dtype=float), minlength=len(table.forms))
    return counted.astype(np.float64)
