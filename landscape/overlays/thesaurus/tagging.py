"""Tag papers with concepts, from keywords, words in title and abstract, and embeddings."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.thesaurus import Thesaurus
from landscape.overlays.thesaurus._features import (
    FEATURES,
    WHOLE_TERM,
    Evidence,
    features,
    gather_evidence,
)
from landscape.overlays.thesaurus.concept_model import ConceptModel, read_ranking
from landscape.overlays.thesaurus.matching import GIVEN, GIVEN_BY_NAME, TermMatches, read_papers
from landscape.text.words import singular

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


_LEAST_SCORE = 0.0002
_STEP = 0.001  # difference between the scores of a concept and of its broader concept


def concept_texts(thesaurus: Thesaurus) -> tuple[list[str], list[str]]:
    """Return ids of concepts and texts to embed; a text has the term and some alternatives."""
    texts = [
        concept.label
        + (f" ({', '.join(concept.alternatives[:4])})" if concept.alternatives else "")
        for concept in thesaurus.concepts.values()
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

    The candidates are concepts named in the paper, concepts named in papers with similar words or
    embeddings, and concepts whose term has a similar embedding. A small network, fitted to the
    concepts that authors chose, ranks the candidates. A logistic regression on judged tags lowers
    concepts that are supported only by their meaning, by a word with many meanings or by one
    mention.

    Parameters
    ----------
    titles, abstracts : sequence of str, shape (n,)
    keywords : sequence of sequence of str, shape (n,), optional
        Keywords from the authors or ADS. A keyword that is a term, or has a concept number as in
        ``"Galaxies (573)"``, selects the concept.
    vectors : ndarray of float32, shape (n, n_dims), optional
        Embeddings of the papers; if None, only words are used.
    thesaurus : Thesaurus
    concept_vectors : ndarray of float32, shape (n_concepts, n_dims), optional
        Embeddings of `concept_texts`.
    limit : int, default 10
        Maximum number of tags per paper.
    only : ndarray of int, optional
        Rows to tag; default: all rows. The other papers are only used to fit the model.

    Returns
    -------
    pandas.DataFrame
        Columns ``row, concept_id, score, evidence``, sorted by row and decreasing score. A higher
        score means that the concept is more likely a subject of the paper: about 19 of 20 tags with
        a score of at least 0.25 are right or a side of the subject. A concept whose full name is in
        the title has a score above 0.25, and a higher score than broader concepts. The evidence is
        the term in the text (``"title: white dwarfs"``) or ``"keywords"``. If the text does not
        contain the term, the evidence is ``"meaning"``, or ``"words"`` if there are no vectors.

    Examples
    --------
    >>> from landscape.corpus.thesaurus import embedded_thesaurus
    >>> tags = tag_papers(["Blazars"], ["We observe jets."], None, None, embedded_thesaurus())
    >>> tags.concept_id[0], tags.evidence[0]
    ('164', 'title: Blazars')
    """
    wording = read_papers(titles, abstracts, keywords, thesaurus)
    return tag_wording(wording, vectors, thesaurus, concept_vectors, limit=limit, only=only)


def tag_wording(
    wording: TermMatches,
    vectors: NDArray[np.float32] | None,
    thesaurus: Thesaurus,
    concept_vectors: NDArray[np.float32] | None = None,
    *,
    limit: int = 10,
    only: NDArray[np.int64] | None = None,
    model: ConceptModel | None = None,
) -> pd.DataFrame:
    """Tag papers in which terms have already been found; see `tag_papers`.

    The default of `model` is fitted to these papers.
    """
    import pandas as pd

    evidence = gather_evidence(wording, vectors, thesaurus, model)
    given = wording.given
    chosen = given if only is None else given[given["row"].isin(only)]
    found = [chosen.assign(titled=False, support=1.0)]
    ranking = read_ranking("without_vectors" if vectors is None else "with_vectors")
    judged = read_yaml(data_file("thesaurus.yaml"))["judgements"]
    judging = np.array([judged.get(name, 0.0) for name in FEATURES])
    unnamed = _unnamed_factors(thesaurus)
    for rows, columns, values in features(
        evidence, vectors, concept_vectors, usage(thesaurus), only=only
    ):
        odds = judged["intercept"] + judged["odds"] * ranking.log_odds(values)
        odds += ranking.limited(values) @ judging
        titled = values[:, FEATURES.index("in_full")] > 0
        odds = np.where(titled, np.logaddexp(odds, judged["in_title"]), odds)
        scores = 1.0 / (1.0 + np.exp(-odds))
        alone, share = (values[:, FEATURES.index(name)] for name in ("alone", "covered"))
        support = np.where((alone > 0) & (share < WHOLE_TERM), unnamed[columns], 1.0)
        likely = scores >= _LEAST_SCORE
        block = {
            "row": rows[likely],
            "column": columns[likely],
            "score": scores[likely],
            "titled": titled[likely],
            "support": support[likely],
        }
        found.append(_ordered(pd.DataFrame(block)).groupby("row").head(limit))
    tags = _ordered(pd.concat(found, ignore_index=True))
    tags["titled"] = tags.groupby(["row", "column"])["titled"].transform("any")
    tags = tags.drop_duplicates(["row", "column"]).reset_index(drop=True)
    tags = _ordered(_before_broader(tags, thesaurus)).groupby("row").head(limit)
    tags = _ordered(tags.assign(score=tags["score"] * tags["support"])).reset_index(drop=True)
    ids = np.array(list(thesaurus.concepts), dtype=object)
    tags["concept_id"] = ids[tags["column"].to_numpy(int)]
    tags["evidence"] = _evidence(tags, evidence)
    return tags[["row", "concept_id", "score", "evidence"]]


def _unnamed_factors(thesaurus: Thesaurus) -> NDArray[np.float64]:
    """Return the factor of the score of each concept if the text has no word for it.

    Terms of things are plural, those of subjects singular (ISO 25964-1:2011, section 6.3). A paper
    about neutron detectors is not about neutron stars. A paper about ices can be about
    astrochemistry, though it does not say so.
    """
    factors = read_yaml(data_file("thesaurus.yaml"))["unnamed"]
    heads = [
        re.split(r" of | \(", concept.label)[0].rpartition(" ")[2].lower()
        for concept in thesaurus.concepts.values()
    ]
    is_thing = [singular(head) != head for head in heads]
    return np.where(is_thing, factors["things"], factors["subjects"])


def _before_broader(tags: pd.DataFrame, thesaurus: Thesaurus) -> pd.DataFrame:
    """Raise the score of a concept in full in the title above the scores of broader concepts.

    Keywords without a number are often broad, so also those from a higher level are broader.
    """
    ids = list(thesaurus.concepts)
    above = [thesaurus.ancestors(one) for one in ids]
    titled = tags.loc[tags["titled"], ["row", "column"]].assign(place=lambda rows: rows.index)
    other = tags.loc[tags["score"] < GIVEN, ["row", "column", "score", "titled"]]
    pairs = titled.merge(other, on="row", suffixes=("", "_other"))
    columns = zip(pairs["column"], pairs["column_other"], strict=True)
    loose = ((pairs["score"] == GIVEN_BY_NAME) & ~pairs["titled"]).to_numpy()
    broader = [
        ids[b] in above[a] or (by_name and len(above[b]) < len(above[a]))
        for (a, b), by_name in zip(columns, loose, strict=True)
    ]
    least = pairs[np.array(broader, dtype=bool)].groupby("place")["score"].max() + _STEP
    scores = tags["score"].copy()
    scores[least.index] = np.maximum(scores[least.index], least)
    return tags.assign(score=scores)


def _ordered(tags: pd.DataFrame) -> pd.DataFrame:
    """Sort tags by row and decreasing score."""
    row, column, score = (tags[name].to_numpy() for name in ("row", "column", "score"))
    return tags.iloc[np.lexsort((column, -score, row))]


def usage(thesaurus: Thesaurus) -> NDArray[np.float32]:
    """Return the logarithm of the number of papers whose authors chose each concept."""
    counts = _usage_counts()
    papers = [
        counts.get(concept.concept_id, counts.get(concept.label.casefold(), 0))
        for concept in thesaurus.concepts.values()
    ]
    return np.log(np.array(papers, dtype=np.float32) + 0.5)


@cache
def _usage_counts() -> dict[str, int]:
    """Read the number of papers of each concept; the keys are concept ids and terms."""
    with data_file("uat_usage.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    by_term = {row["label"].casefold(): int(row["papers"]) for row in rows}
    return by_term | {row["concept_id"]: int(row["papers"]) for row in rows}


def _evidence(tags: pd.DataFrame, evidence: Evidence) -> NDArray[np.object_]:
    """Return the evidence of each tag; see `tag_papers`."""
    wording, m = evidence.wording, len(evidence.thesaurus)
    wanted_pairs = tags["row"].to_numpy(np.int64) * m + tags["column"].to_numpy(np.int64)
    sources = np.full(len(tags), "meaning" if evidence.model.meaning else "words", dtype=object)
    for where, found in (("abstract", wording.abstract), ("title", wording.title)):
        if not len(found):
            continue
        known = found["row"].to_numpy(np.int64) * m + found["column"].to_numpy(np.int64)
        at = np.minimum(np.searchsorted(known, wanted_pairs), len(known) - 1)
        hit = known[at] == wanted_pairs
        surface = found["surface"].cat
        names = np.array([f"{where}: {name}" for name in surface.categories], dtype=object)
        sources[hit] = names[surface.codes.to_numpy()[at[hit]]]
    sources[tags["score"].isin([GIVEN, GIVEN_BY_NAME]).to_numpy()] = "keywords"
    return sources
