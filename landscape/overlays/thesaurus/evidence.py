"""What speaks for a concept in a paper: where it is named, how, and what the paper is like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.coverage import (
    TermStems,
    covered,
    find_stems,
    rarity,
    stem_terms,
)
from landscape.overlays.thesaurus.learning import Meaning, learn_meaning
from landscape.overlays.thesaurus.matching import arrange_terms, match

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

FEATURES = (
    "about", "rank", "root_rank", "title", "abstract", "covered", "covered_squared",
    "rank_covered", "similarity", "frequency", "about_abstract", "frequency_abstract", "inside",
    "below", "usage",
)  # fmt: skip
"""What a pair of paper and concept is judged by, see `features`."""

_MEANT, _SIMILAR = 100, 20  # candidates beside those that are named
_WHOLE = 0.999
_ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class Evidence:
    """What is known of papers before their concepts are judged.

    Attributes
    ----------
    thesaurus : Thesaurus
    title, abstract : pandas.DataFrame
        What `match` found there.
    in_title, in_abstract, inside : scipy.sparse.csr_matrix, shape (n, n_concepts)
        Whether a concept is named, and how often as a part of a longer term.
    stems : TermStems
    in_text : scipy.sparse.csr_matrix, shape (n, n_stems)
        Which stems a paper has.
    meaning : Meaning or None
        None without vectors.
    """

    thesaurus: Thesaurus
    title: pd.DataFrame
    abstract: pd.DataFrame
    in_title: csr_matrix
    in_abstract: csr_matrix
    inside: csr_matrix
    stems: TermStems
    in_text: csr_matrix
    meaning: Meaning | None


def gather(
    titles: Sequence[str],
    abstracts: Sequence[str],
    vectors: NDArray[np.float32] | None,
    thesaurus: Thesaurus,
) -> Evidence:
    """Find what is named in the papers, and learn from it what is meant."""
    terms = arrange_terms(thesaurus)
    n, m = len(titles), len(terms.concept_ids)
    title, abstract = match(titles, terms), match(abstracts, terms)
    in_title = _matrix(title, title["times"] > 0, (n, m))
    in_abstract = _matrix(abstract, abstract["times"] > 0, (n, m))
    inside = _matrix(title, title["inside"], (n, m)) + _matrix(abstract, abstract["inside"], (n, m))
    texts = [f"{one} . {other}" for one, other in zip(titles, abstracts, strict=True)]
    surely = in_title + in_abstract * 0.5
    surely.data = np.minimum(surely.data, 1.0)
    surely.eliminate_zeros()
    meaning = None if vectors is None or n == 0 else learn_meaning(vectors, surely)
    stems = stem_terms(thesaurus)
    in_text = find_stems(texts, stems)
    return Evidence(
        thesaurus, title, abstract, in_title, in_abstract, inside, stems, in_text, meaning
    )


def _matrix(found: pd.DataFrame, values: pd.Series, shape: tuple[int, int]) -> csr_matrix:
    from scipy.sparse import csr_matrix

    places = (found["row"].to_numpy(), found["column"].to_numpy())
    made = csr_matrix((values.to_numpy(np.float32), places), shape=shape)
    made.eliminate_zeros()
    return made


def features(
    evidence: Evidence,
    vectors: NDArray[np.float32] | None,
    concept_vectors: NDArray[np.float32] | None,
    usage: NDArray[np.float32],
    *,
    only: NDArray[np.int64] | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
    """Go through the papers in blocks and measure every candidate.

    Parameters
    ----------
    evidence : Evidence
    vectors, concept_vectors : ndarray of float32 or None
    usage : ndarray of float32, shape (n_concepts,)
        How readily authors give each concept.
    only : ndarray of int, optional
        Rows to measure; the others were read to learn from.

    Yields
    ------
    rows, columns : ndarray of int, shape (n_candidates,)
    values : ndarray of float32, shape (n_candidates, n_features)
        In the order of `FEATURES`.
    """
    n, m = evidence.in_title.shape
    weights = rarity(evidence.in_text)
    papers = (evidence.in_title + evidence.in_abstract).getnnz(axis=0)
    frequency = np.log1p(1e4 * papers / max(n, 1)).astype(np.float32)
    below = _steps_down(evidence.thesaurus)
    wanted = np.arange(n) if only is None else np.asarray(only, dtype=np.int64)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        rows = wanted[start : start + _ROWS_AT_ONCE]
        shape = (len(rows), m)
        about = np.zeros(shape, np.float32)
        similarity = np.zeros(shape, np.float32)
        if vectors is not None and evidence.meaning is not None:
            about = evidence.meaning.scores(vectors[rows])
        if vectors is not None and concept_vectors is not None:
            similarity = np.asarray(vectors[rows], np.float32) @ concept_vectors.T
        share = covered(evidence.in_text[rows], evidence.stems, weights)
        title, abstract = (
            found[rows].toarray() for found in (evidence.in_title, evidence.in_abstract)
        )
        rank = _ranks(about) if about.any() else np.full(shape, _MEANT)
        named = (title + abstract) > 0
        chosen = named | (share > _WHOLE) | ((rank < _MEANT) & (about > 0))
        if similarity.any():
            chosen |= _best(similarity, _SIMILAR)
        at = np.nonzero(chosen)
        rank_here = np.log1p(rank[at])
        narrower = (named.astype(np.float32) @ below)[at] > 0
        columns = {
            "about": about[at], "rank": rank_here, "root_rank": np.exp(rank_here / 2),
            "title": title[at], "abstract": abstract[at], "covered": share[at],
            "similarity": similarity[at], "frequency": frequency[at[1]],
            "inside": np.log1p(evidence.inside[rows].toarray()[at]), "below": narrower,
            "usage": usage[at[1]],
        }  # fmt: skip
        columns |= {
            "covered_squared": columns["covered"] ** 2,
            "rank_covered": columns["rank"] * columns["covered"],
            "about_abstract": columns["about"] * columns["abstract"],
            "frequency_abstract": columns["frequency"] * columns["abstract"],
        }
        values = np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)
        yield rows[at[0]], at[1], values


def _steps_down(thesaurus: Thesaurus) -> csr_matrix:
    """From each concept to the broader ones, shape (n_concepts, n_concepts)."""
    from scipy.sparse import csr_matrix

    column_of = {one: column for column, one in enumerate(thesaurus.concepts)}
    pairs = [
        (column_of[one.concept_id], column_of[parent])
        for one in thesaurus.concepts.values()
        for parent in one.broader
    ]
    children, parents = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(column_of), len(column_of))
    return csr_matrix((np.ones(len(pairs), np.float32), (children, parents)), shape=shape)


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Place of each concept in its paper's order, 0 the best."""
    order = np.argsort(-scores, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(scores.shape[1])[None], axis=1)
    return ranks


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.bool_]:
    """The highest of each row."""
    count = min(count, scores.shape[1])
    chosen = np.zeros(scores.shape, dtype=bool)
    best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    np.put_along_axis(chosen, best, True, axis=1)
    return chosen
