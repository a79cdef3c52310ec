"""Tag papers with concepts, from keywords, words in title and abstract, and embeddings."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.corpus.thesaurus import Thesaurus
from landscape.overlays.thesaurus.concept_model import (
    ConceptModel,
    learn_model,
    named_concepts,
    pair_matrix,
    read_ranking,
    word_vectors,
)
from landscape.overlays.thesaurus.matching import (
    GIVEN,
    GIVEN_BY_NAME,
    TermMatches,
    TermStems,
    covered,
    read_papers,
    split,
    stem_terms,
)
from landscape.text.words import singular

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix


_LEAST_SCORE = 0.0002  # minimum score of a tag, from 0 to 1
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


_MOST_MEANT = 100  # number of candidates from the model
_MOST_SIMILAR = 20  # number of candidates with similar term embeddings
WHOLE_TERM = 0.999  # share of a term in the text above which the text has all its words


FEATURES = (
    "about",
    "rank",
    "root_rank",
    "title",
    "abstract",
    "covered",
    "covered_squared",
    "rank_covered",
    "similarity",
    "frequency",
    "about_abstract",
    "frequency_abstract",
    "inside",
    "below",
    "usage",
    "loose",
    "part",
    "in_full",
    "title_covered",
    "meaning",
    "alone",
    "once",
    "words",
    "words_rank",
    "words_meaning",
    "rank_meaning",
    "usage_meaning",
    "similarity_meaning",
)
"""Names of the features of a pair of a paper and a concept; see `features`."""

_ROWS_AT_ONCE = 2048  # number of papers whose features are computed at a time


@dataclass(frozen=True)
class Evidence:
    """Terms found in papers and the model of concepts, used to compute `features`."""

    thesaurus: Thesaurus
    wording: TermMatches
    in_title: csr_matrix
    in_abstract: csr_matrix
    times: csr_matrix
    in_full: csr_matrix  # terms in titles that have one meaning
    loose: csr_matrix  # `_vagueness` of concepts that are named only by vague terms
    inside: csr_matrix
    stems: TermStems
    model: ConceptModel


def gather_evidence(
    wording: TermMatches,
    vectors: NDArray[np.float32] | None,
    thesaurus: Thesaurus,
    model: ConceptModel | None = None,
) -> Evidence:
    """Collect the concepts named in papers, and fit the model of concepts, unless it is given."""
    title, abstract = wording.title, wording.abstract
    n = wording.n_papers
    shape = (n, len(thesaurus))
    in_title, in_abstract = named_concepts(wording, len(thesaurus))
    inside = pair_matrix(title, title["inside"], shape)
    inside += pair_matrix(abstract, abstract["inside"], shape)
    model = model or learn_model(wording, vectors, thesaurus)
    stems = stem_terms(thesaurus)
    times = pair_matrix(abstract, abstract["times"], shape)
    vague = _vagueness(title, thesaurus), _vagueness(abstract, thesaurus)
    in_full = pair_matrix(title, (title["times"] > 0) & (vague[0] == 0), shape)
    clear = in_full + pair_matrix(abstract, (abstract["times"] > 0) & (vague[1] == 0), shape)
    loose = pair_matrix(title, (title["times"] > 0) * vague[0], shape).maximum(
        pair_matrix(abstract, (abstract["times"] > 0) * vague[1], shape)
    )
    loose = loose - loose.multiply(clear > 0)
    return Evidence(
        thesaurus, wording, in_title, in_abstract, times, in_full, loose, inside, stems, model
    )


def _vagueness(table: pd.DataFrame, thesaurus: Thesaurus) -> NDArray[np.float32]:
    """Return 0 for terms with one meaning, 2 for a word of the preferred term, otherwise 1.

    A preferred term, several words, an abbreviation and a term that the thesaurus explains in
    brackets ("Inflation (cosmology)") have one meaning. Other terms have many,
    such as "stars" for "Stellar types", or "planets" for "Solar system planets".
    """
    known = list(thesaurus.concepts.values())
    labels = [tuple(split(one.label)[0]) for one in known]
    short = [{name for name in one.alternatives if name.isupper()} for one in known]
    bare = [
        {tuple(split(name.partition(" (")[0])[0]) for name in one.names if name.endswith(")")}
        for one in known
    ]
    names = [str(name) for name in table["surface"].cat.categories]
    words = [tuple(split(name.replace("-", " "))[0]) for name in names]
    single = [
        {normal[0] for name in one.names if len(normal := split(name)[0]) == 1} for one in known
    ]
    several = [
        [" ".join(normal) for name in one.names if len(normal := split(name)[0]) > 1]
        for one in known
    ]
    codes = table["surface"].cat.codes.to_numpy(np.int64)
    pairs, place = np.unique(
        codes * len(known) + table["column"].to_numpy(np.int64), return_inverse=True
    )
    vague = np.zeros(len(pairs), dtype=np.float32)
    for at, (code, column) in enumerate(np.column_stack(np.divmod(pairs, len(known))).tolist()):
        name, label, term = names[code], labels[column], words[code]
        if len(term) > 1 and "-" in name:  # the term may be one word of "gravity-mode"
            parts = tuple(part for part in term if part in single[column])
            whole = " ".join(term)
            if parts and not any(other in whole for other in several[column]):
                term = parts[:1]
        if len(term) > 1 or name in short[column] or term in bare[column]:
            continue
        if term != label:
            vague[at] = 1 + bool(set(term) & set(label))
        elif name.isupper() and len(name) > 1:  # the survey APOGEE is not the apogee
            vague[at] = 1
    return vague[place.ravel()]


def features(
    evidence: Evidence,
    vectors: NDArray[np.float32] | None,
    concept_vectors: NDArray[np.float32] | None,
    usage: NDArray[np.float32],
    *,
    only: NDArray[np.int64] | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
    """Yield the features of every candidate concept, in blocks of papers."""
    n, m = evidence.in_title.shape
    in_text = evidence.wording.in_text
    weights, frequency = evidence.model.rarity, evidence.model.frequency
    meaning, by_words = evidence.model.meaning, evidence.model.by_words
    below = _steps_down(evidence.thesaurus)
    beside = _neighbours(evidence.thesaurus, below)
    rivals = _rivals(evidence.thesaurus)
    wanted = np.arange(n) if only is None else np.asarray(only, dtype=np.int64)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        rows = wanted[start : start + _ROWS_AT_ONCE]
        shape = (len(rows), m)
        about = np.zeros(shape, np.float32)
        similarity = np.zeros(shape, np.float32)
        if vectors is not None and meaning is not None:
            about = meaning.scores(vectors[rows])
        if vectors is not None and concept_vectors is not None:
            similarity = np.asarray(vectors[rows], np.float32) @ concept_vectors.T
        stems = word_vectors(in_text[rows], weights, evidence.model.projection)
        has_stems = stems.any(axis=1, keepdims=True)
        words = np.where(has_stems, by_words.scores(stems), about)
        if meaning is None:
            about = words
        share = covered(in_text[rows], evidence.stems, weights)
        titled = covered(evidence.wording.in_title[rows], evidence.stems, weights)
        title, abstract = evidence.in_title[rows], evidence.in_abstract[rows]
        named = title + abstract
        rank, words_rank = _ranks(about), _ranks(words)
        chosen = (rank < _MOST_MEANT) & (about > 0)
        chosen |= (words_rank < _MOST_MEANT) & (words > 0)
        chosen |= share > WHOLE_TERM
        chosen[named.nonzero()] = True
        if similarity.any():
            last = m - min(_MOST_SIMILAR, m)
            chosen |= similarity >= np.partition(similarity, last, axis=1)[:, last, None]
        for one, other in rivals if about.any() else ():
            both = (evidence.loose[rows][:, [one, other]].toarray() > 0).all(axis=1)
            chosen[both & (about[:, one] < about[:, other]), one] = False
        at = np.flatnonzero(chosen)
        row, column = np.divmod(at, max(m, 1))
        rank_here = np.log1p(rank.ravel()[at])
        columns = {
            "about": about.ravel()[at],
            "rank": rank_here,
            "root_rank": np.exp(rank_here / 2),
            "title": _pick(title, at),
            "abstract": _pick(abstract, at),
            "covered": share.ravel()[at],
            "similarity": similarity.ravel()[at],
            "frequency": frequency[column],
            "inside": np.log1p(_pick(evidence.inside[rows], at)),
            "below": _pick(named @ below, at) > 0,
            "usage": usage[column],
            "loose": _pick(evidence.loose[rows], at) == 1,
            "part": _pick(evidence.loose[rows], at) == 2,
            "near": _pick(named @ beside, at) > 0,
            "in_full": _pick(evidence.in_full[rows], at),
            "title_covered": titled.ravel()[at],
        }
        columns |= {
            "covered_squared": columns["covered"] ** 2,
            "rank_covered": columns["rank"] * columns["covered"],
            "about_abstract": columns["about"] * columns["abstract"],
            "frequency_abstract": columns["frequency"] * columns["abstract"],
            "meaning": columns["title"] + columns["abstract"] == 0,
            "once": (_pick(evidence.times[rows], at) == 1) & (columns["title"] == 0),
            "words": words.ravel()[at],
            "words_rank": np.log1p(words_rank.ravel()[at]),
        }
        columns |= {
            f"{name}_meaning": columns[name] * columns["meaning"]
            for name in ("words", "rank", "usage", "similarity")
        }
        columns["alone"] = columns["meaning"] & ~columns["near"]
        values = np.column_stack([columns[name] for name in FEATURES]).astype(np.float32)
        yield rows[row], column, values


def _steps_down(thesaurus: Thesaurus) -> csr_matrix:
    """Return a sparse 0/1 matrix from each concept (row) to its broader concepts (columns)."""
    from scipy.sparse import csr_matrix

    column_of = {concept_id: column for column, concept_id in enumerate(thesaurus.concepts)}
    pairs = [
        (column_of[concept.concept_id], column_of[parent])
        for concept in thesaurus.concepts.values()
        for parent in concept.broader
    ]
    children, parents = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(column_of), len(column_of))
    return csr_matrix((np.ones(len(pairs), np.float32), (children, parents)), shape=shape)


def _rivals(thesaurus: Thesaurus) -> list[tuple[int, int]]:
    """Return all pairs of concepts that share an alternative term, such as "planets"."""
    owners: dict[str, set[int]] = {}
    for column, concept in enumerate(thesaurus.concepts.values()):
        for name in concept.alternatives:
            owners.setdefault(name.casefold(), set()).add(column)
    return [
        *dict.fromkeys(pair for sharing in owners.values() for pair in permutations(sharing, 2))
    ]


def _neighbours(thesaurus: Thesaurus, below: csr_matrix) -> csr_matrix:
    """Return a sparse 0/1 matrix of the narrower, broader and related concepts of each concept."""
    from scipy.sparse import csr_matrix

    column_of = {concept_id: column for column, concept_id in enumerate(thesaurus.concepts)}
    pairs = [
        (column_of[concept.concept_id], column_of[other])
        for concept in thesaurus.concepts.values()
        for other in concept.related
    ]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    related = csr_matrix((np.ones(len(pairs), np.float32), (rows, columns)), shape=below.shape)
    return ((below + below.T + related + related.T) > 0).astype(np.float32)


def _pick(matrix: csr_matrix, at: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the elements of a sparse matrix at flat indices."""
    return matrix.toarray().ravel()[at]


def _ranks(scores: NDArray[np.float32]) -> NDArray[np.int32]:
    """Rank the concepts of each paper; rank 0 is the best, and all are last without scores."""
    order = np.argsort(-scores, axis=1)
    ranks = np.empty(order.shape, dtype=np.int32)
    np.put_along_axis(ranks, order, np.arange(scores.shape[1], dtype=np.int32)[None], axis=1)
    ranks[~scores.any(axis=1)] = _MOST_MEANT
    return ranks
