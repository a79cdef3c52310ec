"""What speaks for a concept in a paper: where it is named, how, and what the paper is like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.coverage import TermStems, covered, rarity, stem_terms
from landscape.overlays.thesaurus.learning import Meaning, learn_meaning
from landscape.overlays.thesaurus.wording import Wording

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
    wording : Wording
        What the papers say.
    in_title, in_abstract, inside : scipy.sparse.csr_matrix, shape (n, n_concepts)
        Whether a concept is named, and how often as a part of a longer term.
    stems : TermStems
    meaning : Meaning or None
        None without vectors.
    """

    thesaurus: Thesaurus
    wording: Wording
    in_title: csr_matrix
    in_abstract: csr_matrix
    inside: csr_matrix
    stems: TermStems
    meaning: Meaning | None


def gather(wording: Wording, vectors: NDArray[np.float32] | None, thesaurus: Thesaurus) -> Evidence:
    """Learn from what is named in the papers what is meant."""
    title, abstract = wording.title, wording.abstract
    n = wording.n_papers
    shape = (n, len(thesaurus))
    in_title = _matrix(title, title["times"] > 0, shape)
    in_abstract = _matrix(abstract, abstract["times"] > 0, shape)
    inside = _matrix(title, title["inside"], shape) + _matrix(abstract, abstract["inside"], shape)
    surely = in_title + in_abstract * 0.5
    surely.data = np.minimum(surely.data, 1.0)
    surely.eliminate_zeros()
    meaning = None if vectors is None or n == 0 else learn_meaning(vectors, surely)
    stems = stem_terms(thesaurus)
    return Evidence(thesaurus, wording, in_title, in_abstract, inside, stems, meaning)


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
    in_text = evidence.wording.in_text
    weights = rarity(in_text)
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
        share = covered(in_text[rows], evidence.stems, weights)
        title, abstract = evidence.in_title[rows], evidence.in_abstract[rows]
        named = title + abstract
        rank = _ranks(about) if about.any() else np.full(shape, _MEANT)
        chosen = (rank < _MEANT) & (about > 0)
        chosen |= share > _WHOLE
        chosen[named.nonzero()] = True
        if similarity.any():
            chosen |= _best(similarity, _SIMILAR)
        at = np.flatnonzero(chosen)
        row, column = np.divmod(at, max(m, 1))
        rank_here = np.log1p(rank.ravel()[at])
        columns = {
            "about": about.ravel()[at], "rank": rank_here, "root_rank": np.exp(rank_here / 2),
            "title": _pick(title, at), "abstract": _pick(abstract, at),
            "covered": share.ravel()[at], "similarity": similarity.ravel()[at],
            "frequency": frequency[column], "inside": np.log1p(_pick(evidence.inside[rows], at)),
            "below": _pick(named @ below, at) > 0, "usage": usage[column],
        }  # fmt: skip
        columns |= {
            "covered_squared": columns["covered"] ** 2,
            "rank_covered": columns["rank"] * columns["covered"],
            "about_abstract": columns["about"] * columns["abstract"],
            "frequency_abstract": columns["frequency"] * columns["abstract"],
        }
        values = np.empty((len(at), len(FEATURES)), dtype=np.float32)
        for place, name in enumerate(FEATURES):
            values[:, place] = columns[name]
        yield rows[row], column, values


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


def _pick(matrix: csr_matrix, at: NDArray[np.int64]) -> NDArray[np.float32]:
    """Elements of a block of rows by their flat places."""
    picked: NDArray[np.float32] = matrix.toarray().ravel()[at]
    return picked


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.int32]:
    """Place of each concept in its paper's order, 0 the best."""
    order = np.argsort(-scores, axis=1)
    ranks = np.empty(order.shape, dtype=np.int32)
    np.put_along_axis(ranks, order, np.arange(scores.shape[1], dtype=np.int32)[None], axis=1)
    return ranks


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.bool_]:
    """The highest of each row."""
    last = scores.shape[1] - min(count, scores.shape[1])
    chosen: NDArray[np.bool_] = scores >= np.partition(scores, last, axis=1)[:, last, None]
    return chosen
