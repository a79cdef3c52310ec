"""Evaluate search: the default compared with simpler methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.errors import InputError
from landscape.evaluation._metrics import Scores, paired_difference, score_rankings
from landscape.evaluation._questions import Query, read_queries, resolve_queries
from landscape.search import search_papers, similar_papers

if TYPE_CHECKING:
    from landscape.store import AtlasStore

DEFAULT = "default"

STEPS: Mapping[str, Mapping[str, Any]] = {
    "words": {"method": "words", "rerank": False},
    "semantic": {"method": "semantic", "rerank": False},
    "fusion of ranks": {"fusion": "ranks", "rerank": False},
    "fusion": {"rerank": False},
    DEFAULT: {},
}
"""Settings of each method: BM25 alone, cosines alone, both by reciprocal rank, both by score, and
the default, which also compares the first papers word by word."""

TF_IDF = "tf-idf"
DEPTH = 100
"""Papers of each ranking that are looked at."""


@dataclass(frozen=True)
class Evaluation:
    """Scores, times and counts of a retrieval benchmark, by method."""

    scores: Mapping[str, Scores]
    seconds: Mapping[str, float]
    counts: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The default's measures, then those of the other methods under their names."""
        default = self.scores[DEFAULT]
        intervals = {
            name: [round(found.low, 4), round(found.high, 4)]
            for name, found in default.intervals().items()
        }
        others = {
            name: {**scores.summary(), "median_seconds": round(self.seconds[name], 4)}
            for name, scores in self.scores.items()
            if name != DEFAULT
        }
        return {
            **default.summary(),
            "intervals_95": intervals,
            "median_seconds": round(self.seconds[DEFAULT], 4),
            "counts": dict(self.counts),
            **others,
        }

    def to_text(self) -> str:
        """A table for people: measures with the interval of each, and the gain of the default."""
        known, given = self.counts["queries_known"], self.counts["queries"]
        lines = [f"{known:,} of {given:,} questions have an answer in this atlas."]
        measures = list(self.scores[DEFAULT].values)
        lines.append("".join([f"{'':16}", *(f"{name:>24}" for name in measures), f"{'ms':>8}"]))
        for method, scores in self.scores.items():
            cells = [f"{scores.intervals()[name]!s:>24}" for name in measures]
            milliseconds = 1000 * self.seconds[method]
            lines.append("".join([f"{method:16}", *cells, f"{milliseconds:8.0f}"]))
        for method, scores in self.scores.items():
            if method != DEFAULT:
                gain = paired_difference(scores.values["mrr"], self.scores[DEFAULT].values["mrr"])
                lines.append(f"default over {method}: mrr {gain}")
        return "\n".join(lines)


def evaluate_retrieval(
    atlas: AtlasStore,
    queries: str | Path | Sequence[Query],
    *,
    steps: Mapping[str, Mapping[str, Any]] = STEPS,
    tf_idf: bool = True,
) -> Evaluation:
    """Run a benchmark on an atlas.

    Parameters
    ----------
    atlas : AtlasStore
    queries : path or sequence of Query
        A file in one of the formats of `landscape.evaluation._questions.read_queries`.
    steps : mapping of str to mapping
        Settings of `Atlas.search` by the name of the method; has to have "default".
    tf_idf : bool, default True
        Whether to run pathfinder's own baseline too.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If the file cannot be read, or no question has a relevant paper in the atlas.

    Examples
    --------
    >>> list(STEPS)
    ['words', 'semantic', 'fusion of ranks', 'fusion', 'default']
    """
    asked = read_queries(queries) if isinstance(queries, str | Path) else list(queries)
    names = ["paper_id", "arxiv_id", "bibcode", "doi", "title"]
    known, counts = resolve_queries(asked, atlas.read_papers(names))
    if not known:
        message = (
            f"None of the {len(asked):,} questions has a relevant paper in {atlas.path}; "
            "evaluate an atlas that holds the papers of the benchmark."
        )
        raise InputError(message)
    searches: dict[str, Callable[[Query], list[str]]] = {}
    if tf_idf:
        searches[TF_IDF] = _tf_idf(atlas)
    for name, settings in steps.items():
        searches[name] = _search(atlas, settings)
    scores, seconds = {}, {}
    with progress("Questions", total=len(known) * len(searches)) as advance:
        for name, search in searches.items():
            search(known[0])  # opens what is opened once
            rankings, times = {}, []
            for query in known:
                start = time.perf_counter()
                rankings[query.qid] = search(query)
                times.append(time.perf_counter() - start)
                advance(1)
            scores[name] = score_rankings(known, rankings)
            seconds[name] = float(np.median(times))
    return Evaluation(scores, seconds, counts)


def _search(atlas: AtlasStore, settings: Mapping[str, Any]) -> Callable[[Query], list[str]]:
    def search(query: Query) -> list[str]:
        if query.similar_to:
            results = similar_papers(atlas, query.similar_to, k=DEPTH, **settings)
        else:
            results = search_papers(atlas, query.question, k=DEPTH, **settings)
        return [paper.paper_id for paper in results.papers]

    return search


def _tf_idf(atlas: AtlasStore) -> Callable[[Query], list[str]]:
    """Cosines of TF-IDF vectors of titles and abstracts, as scikit-learn computes them."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    papers = atlas.read_papers(["paper_id", "title", "abstract"])
    ids = papers["paper_id"].to_numpy()
    rows = {paper: row for row, paper in enumerate(ids)}
    vectorizer = TfidfVectorizer(stop_words="english", dtype=np.float32)
    matrix = vectorizer.fit_transform(papers["title"] + ". " + papers["abstract"])

    def search(query: Query) -> list[str]:
        seeds = [rows[paper] for paper in query.similar_to]
        asked = vectorizer.transform([query.question])
        if seeds:
            asked = csr_matrix(matrix[seeds].sum(axis=0))
        cosines = (matrix @ asked.T).toarray().ravel()
        cosines[seeds] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        return [str(paper) for paper in ids[best]]

    return search
