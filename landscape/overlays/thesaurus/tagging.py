"""Tag papers with concepts: given as keywords, named in title or abstract, or meant."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.evidence import FEATURES, Evidence, features, gather
from landscape.overlays.thesaurus.matching import Terms, arrange_terms, match
from landscape.overlays.thesaurus.reading import data_file

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

# Logistic regression on 453 papers (half of those whose authors gave concepts), see
# landscape.evaluation.tagging.fit_weights: the intercept under "", one weight a feature.
_WITH_VECTORS = {
    "": -1.962,
    "about": 1.182,
    "rank": -0.879,
    "root_rank": 0.018,
    "title": 0.463,
    "abstract": 1.601,
    "covered": -0.710,
    "covered_squared": 0.787,
    "rank_covered": 0.451,
    "similarity": 1.431,
    "frequency": -0.494,
    "about_abstract": -0.705,
    "frequency_abstract": -0.115,
    "inside": -0.661,
    "below": 0.884,
    "usage": 0.942,
}
_WITHOUT_VECTORS = {
    "": -13.036,
    "title": 1.322,
    "abstract": 2.631,
    "covered": 3.653,
    "covered_squared": 2.475,
    "rank_covered": 0.791,
    "frequency": -0.273,
    "frequency_abstract": -0.264,
    "inside": -0.082,
    "below": 0.836,
    "usage": 0.935,
}

_NUMBER = re.compile(r"\((\d{1,5}) ?\)")
_GIVEN, _GIVEN_BY_NAME = 1.0, 0.97
_LEAST = 0.01


def concept_texts(thesaurus: Thesaurus) -> tuple[list[str], list[str]]:
    """Texts to embed for the concepts: the term, and some alternatives in brackets.

    Returns
    -------
    ids, texts : list of str, shape (n_concepts,)
        In the order of ``thesaurus.concepts``, as `tag_papers` expects the vectors.

    Examples
    --------
    >>> from landscape.overlays.thesaurus.concepts import Concept
    >>> concept_texts(Thesaurus("", {"2": Concept("2", "Blazars", ("BL Lacs",))}))
    (['2'], ['Blazars (BL Lacs)'])
    """
    texts = [
        one.label + (f" ({', '.join(one.alternatives[:4])})" if one.alternatives else "")
        for one in thesaurus.concepts.values()
    ]
    return list(thesaurus.concepts), texts


def tag_papers(
    titles: Sequence[str],
    abstracts: Sequence[str],
    keywords: Sequence[Sequence[str]] | None,
    vectors: NDArray[np.float32] | None,
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32] | None = None,
    *,
    limit: int = 10,
    only: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Tag papers with the concepts of a thesaurus.

    Candidates are the concepts that are named, those which papers with like embeddings name, and
    those whose term has a like embedding; a logistic regression weighs what speaks for each.

    Parameters
    ----------
    titles, abstracts : sequence of str, shape (n,)
    keywords : sequence of sequence of str, shape (n,), optional
        Authors' or ADS keywords; ``"Galaxies (573)"`` or a term gives its concept outright.
    vectors : ndarray of float32, shape (n, n_dims), optional
        Embeddings of the papers; without them only what is said counts.
    thesaurus : Thesaurus
    concept_vectors : ndarray of float32, shape (n_concepts, n_dims), optional
        Embeddings of `concept_texts`.
    limit : int, default 10
        Most tags a paper.
    only : ndarray of int, optional
        Rows to tag; the others are read to learn from.

    Returns
    -------
    pandas.DataFrame
        ``row, concept_id, score, evidence``, best first within a row. The score estimates the
        probability that the authors would give the concept; the evidence is the words that name
        it (``"title: white dwarfs"``), ``"keywords"``, or, where no text says it, ``"meaning"``
        (``"words"`` without vectors: the words of its term stand apart).

    Examples
    --------
    >>> from landscape.overlays.thesaurus.reading import embedded_thesaurus
    >>> tags = tag_papers(["Blazars"], ["We observe jets."], None, None, embedded_thesaurus())
    >>> tags.concept_id[0], tags.evidence[0]
    ('164', 'title: Blazars')
    """
    import pandas as pd

    terms = arrange_terms(thesaurus)
    evidence = gather(titles, abstracts, vectors, thesaurus)
    given = [] if keywords is None else [_given(keywords, terms)]
    found = given if only is None else [one[one["row"].isin(only)] for one in given]
    chosen = _WITHOUT_VECTORS if vectors is None else _WITH_VECTORS
    weights = np.array([chosen.get(name, 0.0) for name in FEATURES])
    for rows, columns, values in features(
        evidence, vectors, concept_vectors, usage(thesaurus), only=only
    ):
        odds = chosen[""] + values @ weights
        scores = 1.0 / (1.0 + np.exp(-odds))
        found.append(pd.DataFrame({"row": rows, "column": columns, "score": scores}))
    tags = pd.concat(found, ignore_index=True)
    tags = tags[tags["score"] >= _LEAST].sort_values(
        ["row", "score", "column"], ascending=[True, False, True], kind="stable"
    )
    tags = tags.drop_duplicates(["row", "column"])
    tags = tags[tags.groupby("row").cumcount() < limit].reset_index(drop=True)
    tags["concept_id"] = np.array(terms.concept_ids, dtype=object)[tags["column"].to_numpy(int)]
    tags["evidence"] = _said(tags, evidence)
    return tags[["row", "concept_id", "score", "evidence"]]


def usage(thesaurus: Thesaurus) -> NDArray[np.float32]:
    """How readily authors give each concept: logarithm of the papers that they gave it to.

    Counted on the same 453 papers as the weights; a concept none of them has counts as half a
    paper.

    Returns
    -------
    ndarray of float32, shape (n_concepts,)
    """
    counts = _usage_counts()
    papers = [
        counts.get(one.concept_id, counts.get(one.label.casefold(), 0))
        for one in thesaurus.concepts.values()
    ]
    return np.log(np.array(papers, dtype=np.float32) + 0.5)


@cache
def _usage_counts() -> dict[str, int]:
    """By id, and by term for the files that give no ids."""
    with data_file("uat_usage.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    by_term = {row["label"].casefold(): int(row["papers"]) for row in rows}
    return by_term | {row["concept_id"]: int(row["papers"]) for row in rows}


def _given(keywords: Sequence[Sequence[str]], terms: Terms) -> pd.DataFrame:
    """Concepts that keywords give, by number or by term."""
    texts = [" ; ".join(map(str, words)) for words in keywords]
    found = match(texts, terms)
    named = found.loc[found["times"] > 0, ["row", "column"]].assign(score=_GIVEN_BY_NAME)
    column_of = {one: column for column, one in enumerate(terms.concept_ids)}
    numbered = [
        (row, column_of[number])
        for row, text in enumerate(texts)
        for number in _NUMBER.findall(text)
        if number in column_of
    ]
    rows, columns = np.array(numbered, dtype=np.int64).reshape(-1, 2).T
    return named.__class__(
        {
            "row": np.concatenate([rows, named["row"]]),
            "column": np.concatenate([columns, named["column"]]),
            "score": np.concatenate([np.full(len(rows), _GIVEN), named["score"]]),
        }
    )


def _said(tags: pd.DataFrame, evidence: Evidence) -> list[str]:
    """Where each tag comes from: keywords, the words in title or abstract, or the meaning."""
    unsaid = "meaning" if evidence.meaning else "words"
    surfaces: dict[tuple[int, int], str] = {}
    for where, found in (("abstract", evidence.abstract), ("title", evidence.title)):
        for row, column, surface in zip(
            found["row"], found["column"], found["surface"], strict=True
        ):
            surfaces[row, column] = f"{where}: {surface}"
    return [
        "keywords" if score in (_GIVEN, _GIVEN_BY_NAME) else surfaces.get((row, column), unsaid)
        for row, column, score in zip(tags["row"], tags["column"], tags["score"], strict=True)
    ]
