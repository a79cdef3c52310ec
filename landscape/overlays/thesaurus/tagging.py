"""Tag papers with concepts: given as keywords, named in title or abstract, or meant."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape.overlays.thesaurus.concepts import Thesaurus
from landscape.overlays.thesaurus.evidence import FEATURES, Evidence, features, gather
from landscape.overlays.thesaurus.reading import data_file
from landscape.overlays.thesaurus.wording import GIVEN, GIVEN_BY_NAME, Wording, read_papers

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

# Logistic regression on 453 papers (half of those whose authors gave concepts), see
# landscape.evaluation._layers.fit_weights: the intercept under "", one weight a feature.
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
    wording = read_papers(titles, abstracts, keywords, thesaurus)
    return tag_wording(wording, vectors, thesaurus, concept_vectors, limit=limit, only=only)


def tag_wording(
    wording: Wording,
    vectors: NDArray[np.float32] | None,
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32] | None = None,
    *,
    limit: int = 10,
    only: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Tag papers whose texts are read already, as `tag_papers` does.

    Parameters
    ----------
    wording : Wording
        What the papers say, perhaps read batch after batch.
    vectors, thesaurus, concept_vectors, limit, only
        As for `tag_papers`.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    evidence = gather(wording, vectors, thesaurus)
    given = wording.given
    found = [given if only is None else given[given["row"].isin(only)]]
    chosen = _WITHOUT_VECTORS if vectors is None else _WITH_VECTORS
    weights = np.array([chosen.get(name, 0.0) for name in FEATURES])
    for rows, columns, values in features(
        evidence, vectors, concept_vectors, usage(thesaurus), only=only
    ):
        odds = chosen[""] + values @ weights
        scores = 1.0 / (1.0 + np.exp(-odds))
        likely = scores >= _LEAST
        block = {"row": rows[likely], "column": columns[likely], "score": scores[likely]}
        found.append(_first(_ordered(pd.DataFrame(block)), limit))
    tags = _ordered(pd.concat(found, ignore_index=True)).drop_duplicates(["row", "column"])
    tags = _first(tags, limit).reset_index(drop=True)
    ids = np.array(list(thesaurus.concepts), dtype=object)
    tags["concept_id"] = ids[tags["column"].to_numpy(int)]
    tags["evidence"] = _evidence(tags, evidence)
    return tags[["row", "concept_id", "score", "evidence"]]


def _ordered(tags: pd.DataFrame) -> pd.DataFrame:
    """Row by row, the best first."""
    row, column, score = (tags[name].to_numpy() for name in ("row", "column", "score"))
    return tags.iloc[np.lexsort((column, -score, row))]


def _first(tags: pd.DataFrame, limit: int) -> pd.DataFrame:
    """The first of each row; rows in their order."""
    row = tags["row"].to_numpy()
    return tags[np.arange(len(row)) - np.searchsorted(row, row) < limit]


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


def _evidence(tags: pd.DataFrame, evidence: Evidence) -> NDArray[np.object_]:
    """Where each tag comes from: keywords, the words in title or abstract, or the meaning."""
    wording, m = evidence.wording, len(evidence.thesaurus)
    sought = tags["row"].to_numpy(np.int64) * m + tags["column"].to_numpy(np.int64)
    said = np.full(len(tags), "meaning" if evidence.meaning else "words", dtype=object)
    for where, found in (("abstract", wording.abstract), ("title", wording.title)):
        if not len(found):
            continue
        known = found["row"].to_numpy(np.int64) * m + found["column"].to_numpy(np.int64)
        at = np.minimum(np.searchsorted(known, sought), len(known) - 1)
        hit = known[at] == sought
        surface = found["surface"].cat
        names = np.array([f"{where}: {name}" for name in surface.categories], dtype=object)
        said[hit] = names[surface.codes.to_numpy()[at[hit]]]
    said[tags["score"].isin([GIVEN, GIVEN_BY_NAME]).to_numpy()] = "keywords"
    return said
