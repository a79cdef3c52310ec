"""Fit the weights of concept tags, the `weights` and `judgements` of ``data/thesaurus.yaml``.

Call `fit_weights` with the papers of an atlas and the concepts that their authors chose, and
`fit_judgements` with the tags that a reader judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

# Private modules: the weights belong to the steps inside of tagging.
from landscape.overlays.thesaurus.matching import read_papers
from landscape.overlays.thesaurus.tagging import (
    FEATURES,
    Evidence,
    features,
    gather_evidence,
    usage,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from landscape.corpus.thesaurus import Thesaurus


def fit_weights(
    papers: pd.DataFrame,
    vectors: NDArray[np.float32] | None,
    given: Mapping[int, Sequence[str]],
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32] | None,
) -> NDArray[np.float64]:
    """Fit the weights of tagging by logistic regression; the first is the intercept."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    titles, abstracts = (papers[name].fillna("").tolist() for name in ("title", "abstract"))
    known = usage(thesaurus)
    wording = read_papers(titles, abstracts, None, thesaurus)
    evidence = gather_evidence(wording, vectors, thesaurus)
    only = np.array(sorted(given), dtype=np.int64)
    blocks: list[Any] = list(features(evidence, vectors, concept_vectors, known, only=only))
    rows, columns, values = (np.concatenate(found) for found in zip(*blocks, strict=True))
    column_of = {one: column for column, one in enumerate(thesaurus.concepts)}
    pairs = {(row, column_of[one]) for row, ids in given.items() for one in ids if one in column_of}
    right = np.array([pair in pairs for pair in zip(rows, columns, strict=True)])
    place = FEATURES.index("usage")
    own = np.log(np.maximum(np.exp(known[columns]) - right, 0.5))
    values[:, place] = own
    scaler = StandardScaler().fit(values)
    model = LogisticRegression(max_iter=1000).fit(scaler.transform(values), right)
    weights = model.coef_[0] / scaler.scale_
    return np.array([model.intercept_[0] - weights @ scaler.mean_, *weights])


JUDGED = (
    "in_full",
    "meaning",
    "alone",
    "once",
    "loose",
    "part",
    "title_covered",
    "below",
    "frequency",
)
_UNREAD = 0.25  # weight of a candidate that no reader judged; most of them are wrong


def fit_judgements(
    evidence: Evidence,
    vectors: NDArray[np.float32] | None,
    concept_vectors: NDArray[np.float32] | None,
    judged: Mapping[tuple[int, str], bool],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Fit a logistic regression to judged tags: intercept, log-odds and `JUDGED` features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    thesaurus = evidence.thesaurus
    ids = tuple(thesaurus.concepts)
    only = np.unique([row for row, _ in judged])
    blocks = features(evidence, vectors, concept_vectors, usage(thesaurus), only=only)
    rows, columns, values = (np.concatenate(block) for block in zip(*blocks, strict=True))
    right = [judged.get((row, ids[column])) for row, column in zip(rows, columns, strict=True)]
    odds = weights[0] + values @ weights[1:]
    support = np.column_stack([odds, *(values[:, FEATURES.index(name)] for name in JUDGED)])
    scaler = StandardScaler().fit(support)
    model = LogisticRegression(C=0.3, max_iter=3000).fit(
        scaler.transform(support),
        np.array([answer is True for answer in right]),
        sample_weight=[_UNREAD if answer is None else 1.0 for answer in right],
    )
    fitted = model.coef_[0] / scaler.scale_
    return np.array([model.intercept_[0] - fitted @ scaler.mean_, *fitted])
