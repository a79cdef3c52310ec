"""How well papers are tagged with concepts, measured against what their authors gave."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.corpus._thesaurus import Thesaurus
from landscape.errors import InputError
from landscape.overlays.thesaurus._matching import read_papers
from landscape.overlays.thesaurus._tagging import (
    FEATURES,
    features,
    gather_evidence,
    tag_papers,
    usage,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_SAID = re.compile(r"[^a-z0-9]+")


def in_check_half(paper_id: str) -> bool:
    """Whether a paper belongs to the half that no weight was fitted on.

    Examples
    --------
    >>> in_check_half("2503.00001"), in_check_half("2503.00003")
    (False, True)
    """
    return hashlib.sha256(paper_id.encode()).digest()[-1] % 2 == 1


def evaluate_tagging(
    tags: pd.DataFrame, given: Mapping[int, Sequence[str]], thesaurus: Thesaurus, *, k: int = 10
) -> dict[str, float]:
    """Compare tags with the concepts that authors gave.

    Parameters
    ----------
    tags : pandas.DataFrame
        ``row, concept_id, score``.
    given : mapping of int to sequence of str
        Ids by row; only these rows count.
    thesaurus : Thesaurus
    k : int, default 10

    Returns
    -------
    dict
        ``recall`` and ``ndcg`` at k, means over the papers, then both with a concept one step
        above or below counted as found; each given concept is found once.

    Raises
    ------
    InputError
        If no paper has given concepts.

    Examples
    --------
    >>> import pandas as pd
    >>> from landscape.corpus._thesaurus import Concept
    >>> made = {"1": Concept("1", "Stars"), "2": Concept("2", "Dwarfs", broader=("1",))}
    >>> tags = pd.DataFrame({"row": [0], "concept_id": ["1"], "score": [0.9]})
    >>> evaluate_tagging(tags, {0: ["2"]}, Thesaurus("", made))
    {'recall': 0.0, 'ndcg': 0.0, 'recall_near': 1.0, 'ndcg_near': 1.0, 'papers': 1}
    """
    if not given:
        raise InputError("No paper has concepts given by its authors; there is nothing to compare.")
    kept = tags[tags["row"].isin(given)].sort_values(["row", "score"], ascending=[True, False])
    found = kept.groupby("row")["concept_id"].agg(list).to_dict()
    rows = []
    for row, wanted in given.items():
        best = found.get(row, [])[:k]
        rows.append(
            (*_measure(best, wanted, {}, k), *_measure(best, wanted, _near(wanted, thesaurus), k))
        )
    names = ("recall", "ndcg", "recall_near", "ndcg_near")
    means = {name: float(mean) for name, mean in zip(names, np.mean(rows, axis=0), strict=True)}
    return means | {"papers": len(given)}


def _near(wanted: Sequence[str], thesaurus: Thesaurus) -> dict[str, frozenset[str]]:
    return {one: thesaurus.near(one) for one in wanted if one in thesaurus.concepts}


def _measure(
    best: Sequence[str], wanted: Sequence[str], near: Mapping[str, frozenset[str]], k: int
) -> tuple[float, float]:
    """Recall and nDCG of one paper; an exact tag is credited before a near one."""
    left = dict.fromkeys(wanted)
    gains = np.zeros(k)
    for place, tag in enumerate(best):
        if tag in left:
            gains[place] = 1.0
            del left[tag]
    for place, tag in enumerate(best):
        close = next((one for one in left if tag in near.get(one, ())), None)
        if close is not None and not gains[place]:
            gains[place] = 1.0
            del left[close]
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    n_wanted = len(set(wanted))
    return gains.sum() / n_wanted, gains @ discounts / discounts[: min(k, n_wanted)].sum()


def compare_taggings(
    papers: pd.DataFrame,
    vectors: NDArray[np.float32],
    given: Mapping[int, Sequence[str]],
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32],
    *,
    keywords: Sequence[Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Measure tagging beside plain string matching and embedding similarity alone.

    Parameters
    ----------
    papers : pandas.DataFrame
        ``title, abstract``, of the whole corpus.
    vectors : ndarray of float32, shape (n, n_dims)
    given : mapping of int to sequence of str
        Concepts that authors gave, by row.
    thesaurus : Thesaurus
    concept_vectors : ndarray of float32, shape (n_concepts, n_dims)
    keywords : sequence of sequence of str, optional
        Authors' keywords. Where the given concepts were read from the keywords, tags that use them
        are right by construction.

    Returns
    -------
    pandas.DataFrame
        One row a method: ``method, recall, ndcg, recall_near, ndcg_near, papers``.
    """
    import pandas as pd

    rows = np.array(sorted(given), dtype=np.int64)
    titles, abstracts = (papers[name].fillna("").tolist() for name in ("title", "abstract"))
    similar = np.asarray(vectors[rows], np.float32) @ concept_vectors.T
    methods: dict[str, pd.DataFrame] = {
        "plain string matching": _plain(rows, titles, abstracts, thesaurus),
        "embedding alone": _ranked(rows, similar, thesaurus),
        "tagging": tag_papers(
            titles, abstracts, None, vectors, thesaurus, concept_vectors, only=rows
        ),
    }
    if keywords is not None:
        methods["tagging, with keywords"] = tag_papers(
            titles, abstracts, keywords, vectors, thesaurus, concept_vectors, only=rows
        )
    return pd.DataFrame(
        [
            {"method": name, **evaluate_tagging(tags, given, thesaurus)}
            for name, tags in methods.items()
        ]
    )


def fit_weights(
    papers: pd.DataFrame,
    vectors: NDArray[np.float32] | None,
    given: Mapping[int, Sequence[str]],
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32] | None,
) -> NDArray[np.float64]:
    """Fit the weights of `landscape.overlays.thesaurus._tagging`: a logistic regression.

    Parameters
    ----------
    papers, vectors, thesaurus, concept_vectors
        As for `compare_taggings`.
    given : mapping of int to sequence of str
        The half to fit on; the usage of concepts must have been counted on the same papers, and
        each paper's own concepts are taken out of it while it is fitted.

    Returns
    -------
    ndarray, shape (1 + n_features,)
        Intercept, then one weight a feature.
    """
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


def _plain(
    rows: NDArray[np.int64], titles: Sequence[str], abstracts: Sequence[str], thesaurus: Thesaurus
) -> pd.DataFrame:
    """Every term that stands in a text, case and a plural s apart; the most frequent first."""
    names = [
        (column, f" {_plain_text(name)} ")
        for column, one in enumerate(thesaurus.concepts.values())
        for name in one.names
    ]
    counts = np.zeros((len(rows), len(thesaurus.concepts)))
    for place, row in enumerate(rows):
        text = f" {_plain_text(titles[row] + ' ' + abstracts[row])} "
        for column, name in names:
            if name in text:
                counts[place, column] += text.count(name)
    return _ranked(rows, counts, thesaurus)


def _plain_text(text: str) -> str:
    return " ".join(word.rstrip("s") for word in _SAID.sub(" ", text.lower()).split())


def _ranked(
    rows: NDArray[np.int64], scores: NDArray[Any], thesaurus: Thesaurus, *, k: int = 10
) -> pd.DataFrame:
    import pandas as pd

    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    ids = np.array(list(thesaurus.concepts), dtype=object)
    best = np.take_along_axis(scores, order, axis=1).ravel()
    made = {"row": np.repeat(rows, order.shape[1]), "concept_id": ids[order.ravel()], "score": best}
    table = pd.DataFrame(made)
    return table[table["score"] > 0]
