"""Score rankings with confidence intervals, and evaluate the search of an atlas."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._progress import progress
from landscape.errors import InputError, RemoteError
from landscape.evaluation._questions import Query, read_queries, resolve_queries
from landscape.search import search_papers, similar_papers
from landscape.search.engine import hypothetical_abstract
from landscape.statistics import Interval, bootstrap_interval, paired_difference

if TYPE_CHECKING:
    from ir_measures import Measure
    from numpy.typing import NDArray

    from landscape.llm import WritingModel
    from landscape.llm.reranking import Reranker
    from landscape.store import AtlasStore

MEASURES = ("success@10", "mrr", "recall@50", "ndcg@10")
"""Default measures of a ranking."""

_MEASURE = re.compile(r"(success|recall|ndcg|mrr|precision)(?:@([1-9]\d{0,5}))?")


@dataclass(frozen=True)
class Scores:
    """Measures of one method for each question."""

    qids: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]

    def summary(self) -> dict[str, float | int]:
        """Return the number of questions (``n``) and the mean of each measure."""
        means = {name: round(float(values.mean()), 6) for name, values in self.values.items()}
        return {"n": len(self.qids), **means}

    def intervals(self, *, level: float = 0.95, seed: int = 0) -> dict[str, Interval]:
        """Return the mean and the bootstrap confidence interval of each measure."""
        return {
            name: bootstrap_interval(values, level=level, seed=seed)
            for name, values in self.values.items()
        }


def score_rankings(
    queries: Sequence[Query],
    rankings: Mapping[str, Sequence[str]],
    *,
    measures: Sequence[str] = MEASURES,
) -> Scores:
    """Score the ranking of each query.

    A ranking lists the best paper first. A query without a ranking gets the scores of an empty
    ranking. The measures are defined as in trec_eval; ``ndcg@k`` has linear gains (Järvelin &
    Kekäläinen 2002, doi:10.1145/582415.582418).
    """
    from ir_measures import iter_calc

    if not queries:
        raise InputError("There are no questions; give at least one question.")
    parsed = {_parse_measure(name): name for name in measures}
    run: dict[str, dict[str, float]] = {}
    for query in queries:
        ranking = rankings.get(query.qid, ())
        run[query.qid] = {paper: -float(rank) for rank, paper in enumerate(ranking)}
        if len(run[query.qid]) != len(ranking):
            raise InputError(f"The ranking of question {query.qid!r} has duplicate papers.")
    judged = {query.qid: _whole_grades(query) for query in queries}
    place = {query.qid: row for row, query in enumerate(queries)}
    values = {name: np.zeros(len(queries)) for name in measures}
    for found in iter_calc(list(parsed), judged, run):
        values[parsed[found.measure]][place[found.query_id]] = found.value
    return Scores(tuple(place), values)


def _parse_measure(name: str) -> Measure:
    from ir_measures import RR, P, R, Success, nDCG

    match = _MEASURE.fullmatch(name)
    if match is None or (match[2] is None and match[1] != "mrr"):
        raise InputError(
            f"There is no measure {name!r}; use success@10, recall@50, precision@10, ndcg@10, "
            "mrr or mrr@10."
        )
    kinds = {"success": Success, "recall": R, "precision": P, "ndcg": nDCG, "mrr": RR}
    kind = kinds[match[1]]
    return kind @ int(match[2]) if match[2] else kind


def _whole_grades(query: Query) -> dict[str, int]:
    """Convert grades to whole numbers for trec_eval; a common factor does not change nDCG."""
    grades = {paper: query.grade(paper) for paper in query.relevant}
    if not grades or max(grades.values()) <= 0:
        raise InputError(f"Question {query.qid!r} has no relevant paper; remove it.")
    unit = 1 if all(grade.is_integer() for grade in grades.values()) else 1000
    return {paper: max(1, round(unit * grade)) for paper, grade in grades.items() if grade > 0}


DEFAULT = "default"

STEPS: Mapping[str, Mapping[str, object]] = {
    "words": {"method": "words", "rerank": False},
    "semantic": {"method": "semantic", "rerank": False},
    "fusion of ranks": {"fusion": "ranks", "rerank": False},
    "fusion": {"rerank": False},
    DEFAULT: {},
}
"""Settings of each method. ``words`` is BM25 and ``semantic`` uses cosines. The fusions combine
both methods, by reciprocal rank or by score. The default also reranks by late interaction."""

HYDE, HYDE_RERANK = "HyDE", "HyDE, reranker"
"""Methods of pathfinder (Iyer et al. 2024, figure 5) that need a language model or a reranker: the
cosines of a hypothetical abstract, and these cosines with a reranker. ``tf-idf`` is its bag of
words, and ``semantic`` its base."""
TF_IDF = "tf-idf"
DEPTH = 100
"""Number of papers in each ranking."""


@dataclass(frozen=True)
class Evaluation:
    """Scores, times and counts of a retrieval benchmark for each method."""

    scores: Mapping[str, Scores]
    seconds: Mapping[str, float]
    counts: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the measures of the default method, and the measures of other methods by name."""
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
            "left_out": dict(self.left_out),
            **others,
        }

    def to_text(self) -> str:
        """Format the measures with intervals and the gains of the default method as a table."""
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
                lines.append(f"gain of default over {method}: mrr {gain}")
        if failed := self.counts.get("failed_abstracts"):
            lines.append(f"HyDE: the model wrote no abstract for {failed:,} questions")
        lines += [f"left out: {name}, which needs {what}" for name, what in self.left_out.items()]
        return "\n".join(lines)


def evaluate_retrieval(
    atlas: AtlasStore,
    queries: str | Path | Sequence[Query],
    *,
    steps: Mapping[str, Mapping[str, object]] = STEPS,
    tf_idf: bool = True,
    model: WritingModel | None = None,
    reranker: Reranker | str | None = None,
) -> Evaluation:
    """Measure how well each search method finds the relevant papers.

    Parameters
    ----------
    atlas : AtlasStore
    queries : path or sequence of Query
        Queries, or a file in a format of `landscape.evaluation.read_queries`.
    steps : mapping of str to mapping
        Settings of `Atlas.search` by the name of the method; "default" is required.
    tf_idf : bool, default True
        Whether to include a TF-IDF search, the baseline of pathfinder.
    model : WritingModel, optional
        Model that writes hypothetical abstracts, for the rows of pathfinder with HyDE.
    reranker : Reranker or str, optional
        Reranker, such as ``cohere:MODEL`` or ``cross-encoder:NAME``, for the row with a reranker.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If the file cannot be read, or no question has a relevant paper in the atlas.
    RemoteError
        If the reranker fails. Questions whose hypothetical abstract fails are searched without it,
        and counted.

    Examples
    --------
    >>> list(STEPS)
    ['words', 'semantic', 'fusion of ranks', 'fusion', 'default']
    """
    asked = read_queries(queries) if isinstance(queries, str | Path) else list(queries)
    names = ["paper_id", "arxiv_id", "bibcode", "doi", "title"]
    known, counts = resolve_queries(asked, atlas.read_papers(names))
    if not known:
        raise InputError(
            f"None of the {len(asked):,} questions has a relevant paper in {atlas.path}; "
            "evaluate an atlas that contains the papers of the benchmark."
        )
    searches = {TF_IDF: _tf_idf(atlas)} if tf_idf else {}
    searches |= {name: _search(atlas, settings) for name, settings in steps.items()}
    left_out = {HYDE: "a language model"} if model is None else {}
    if model is None or reranker is None:
        left_out[HYDE_RERANK] = "a language model and a reranker"
    if model is not None:
        abstract = cache(partial(_abstract, model=model, counts=counts))
        searches[HYDE] = _search(atlas, STEPS["semantic"], abstract)
        if reranker is not None:
            chosen = {"method": "semantic", "reranker": reranker}
            searches[HYDE_RERANK] = _search(atlas, chosen, abstract)
    scores, seconds = {}, {}
    with progress("Questions", total=len(known) * len(searches)) as advance:
        for name, search in searches.items():
            search(known[0])  # load the indexes before timing
            rankings, times = {}, []
            for query in known:
                start = time.perf_counter()
                rankings[query.qid] = search(query)
                times.append(time.perf_counter() - start)
                advance(1)
            scores[name] = score_rankings(known, rankings)
            seconds[name] = float(np.median(times))
    return Evaluation(scores, seconds, counts, left_out)


def _abstract(question: str, *, model: WritingModel, counts: dict[str, int]) -> str:
    """Write a hypothetical abstract; without one, the question is searched as it is."""
    try:
        return hypothetical_abstract(question, model)
    except RemoteError:
        counts["failed_abstracts"] = counts.get("failed_abstracts", 0) + 1
        return ""


def _search(
    atlas: AtlasStore, settings: Mapping[str, Any], expand: Callable[[str], str] = lambda _: ""
) -> Callable[[Query], list[str]]:
    """Return a function that searches papers; `expand` writes a hypothetical abstract."""

    def search(query: Query) -> list[str]:
        if query.similar_to:
            results = similar_papers(atlas, query.similar_to, k=DEPTH, **settings)
        else:
            text = expand(query.question) or None
            # One more, because the paper that a question was made from is no answer.
            results = search_papers(atlas, query.question, k=DEPTH + 1, expansion=text, **settings)
        return [one.paper_id for one in results.papers if one.paper_id != query.source][:DEPTH]

    return search


def _tf_idf(atlas: AtlasStore) -> Callable[[Query], list[str]]:
    """Return a function that searches papers by cosine similarity of TF-IDF vectors."""
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
        if query.source in rows:
            cosines[rows[query.source]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        return [str(paper) for paper in ids[best]]

    return search
