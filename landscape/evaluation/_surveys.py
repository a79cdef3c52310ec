"""Evaluate surveys on reference lists, and compare them with single searches."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from landscape._progress import progress
from landscape.agents import survey_question
from landscape.agents.settings import SurveySettings
from landscape.agents.survey_scoring import Library
from landscape.errors import InputError
from landscape.evaluation._questions import Query, known_rows, read_queries, resolve_queries
from landscape.overlays.citations import citation_graph
from landscape.search import open_engine
from landscape.statistics import bootstrap_interval, paired_difference

if TYPE_CHECKING:
    import pandas as pd

    from landscape.llm import WritingModel
    from landscape.store import AtlasStore
    from landscape.types import Survey

DEPTHS = (20, 50, 100)
"""Numbers of papers for which recall is measured, as in the evaluation of PaSa."""

FULL, NO_EXPAND, NO_SELECTOR, ENSEMBLE, ONE_SHOT = (
    "survey",
    "without expand",
    "without selector",
    "ensemble of two",
    "one search",
)
VARIANTS: Mapping[str, Mapping[str, object]] = {
    FULL: {},
    NO_EXPAND: {"expand": 0},
    NO_SELECTOR: {"selector": False},
    ENSEMBLE: {"ensemble": 2},
}
"""Settings of each row: the ablations of PaSa (He et al. 2025, tables 5 and 6) and its ensemble of
two crawlers (table 3)."""
_MIN_REFERENCES = 3  # minimum number of references within the atlas
Half = Literal["all", "first", "second"]


@dataclass(frozen=True)
class SurveyEvaluation:
    """Measures of each survey variant. A table has questions as rows and measures as columns."""

    values: Mapping[str, pd.DataFrame]
    seconds: Mapping[str, float]
    counts: Mapping[str, int]
    kind: str

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean of each measure over the questions, by variant."""
        return {
            name: {measure: round(float(mean), 4) for measure, mean in table.mean().items()}
            for name, table in self.values.items()
        }

    def gains(self) -> dict[str, Any]:
        """Return the gains of the survey over a single search, with 95% intervals."""
        one, full = self.values[ONE_SHOT], self.values[FULL]
        gains = {}
        for measure in one.columns.drop("returned"):
            known = one[measure].notna() & full[measure].notna()
            if known.any():
                gains[measure] = paired_difference(one[measure][known], full[measure][known])
        return gains

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as JSON values."""
        return {
            "kind": self.kind,
            "counts": dict(self.counts),
            **self.means(),
            "gain over one search": {
                measure: {name: round(value, 4) for name, value in asdict(d).items()}
                for measure, d in self.gains().items()
            },
            "median_seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }

    def to_text(self) -> str:
        """Format the evaluation as a table."""
        lines = [
            f"{self.counts['queries_known']:,} of {self.counts['queries']:,} questions "
            f"({self.kind}) have a paper in this atlas."
        ]
        measures = list(self.values[FULL])
        lines.append("".join([f"{'':18}", *(f"{name:>16}" for name in measures), f"{'s':>7}"]))
        for name, means in self.means().items():
            cells = [f"{means.get(measure, np.nan):16.3f}" for measure in measures]
            seconds = self.seconds.get(name, float("nan"))
            lines.append("".join([f"{name:18}", *cells, f"{seconds:7.2f}"]))
        for name, table in self.values.items():
            cells = [f"{m} {bootstrap_interval(table[m])}" for m in ("recall", "recall@50")]
            lines.append(f"{name}: {', '.join(cells)}")
        lines += [f"gain over one search, {m}: {d}" for m, d in self.gains().items()]
        return "\n".join(lines)


def questions_from_citations(
    atlas: AtlasStore, *, fewest: int = _MIN_REFERENCES, half: Half = "all", most: int | None = None
) -> list[Query]:
    """Use titles of papers as questions, and the papers cited by each paper as the answers.

    Parameters
    ----------
    atlas : AtlasStore
    fewest : int, default 3
        Minimum number of references of a paper within the atlas.
    half : {"all", "first", "second"}, default "all"
        Part of the questions. Tune settings on the first half only.
    most : int, optional
        Maximum number of questions; default: all.

    Returns
    -------
    list of Query
        Questions in random order, which is the same for every call.

    Raises
    ------
    InputError
        If no paper has `fewest` references within the atlas.

    Examples
    --------
    >>> import landscape as ls
    >>> questions_from_citations(ls.open("my.atlas"), most=100)  # doctest: +SKIP
    """
    graph = citation_graph(atlas)
    links, n_papers = graph.reference_links, graph.n_papers
    within = np.asarray(links.targets) < n_papers
    counts = np.add.reduceat(np.append(within, False), links.starts[:n_papers])
    counts = np.where(links.degrees[:n_papers] > 0, counts, 0)
    rows = np.flatnonzero(counts >= fewest)
    if not len(rows):
        raise InputError(
            f"No paper of {atlas.path} has {fewest} references within it. {graph.note}".strip()
        )
    rows = np.random.default_rng(0).permutation(rows)
    rows = {"all": rows, "first": rows[0::2], "second": rows[1::2]}[half][:most]
    keys = open_engine(atlas).indexes.paper_table.column("paper_id", np.arange(n_papers))
    return [
        Query(
            paper.paper_id, paper.title, tuple(keys[t] for t in links.of(paper.row) if t < n_papers)
        )
        for paper in open_engine(atlas).papers(rows)
    ]


def evaluate_survey(
    atlas: AtlasStore,
    queries: str | Path | Sequence[Query] | None = None,
    *,
    half: Half = "all",
    most: int | None = None,
    variants: Mapping[str, Mapping[str, object]] = VARIANTS,
    model: WritingModel | None = None,
    **settings: object,
) -> SurveyEvaluation:
    """Measure how well surveys find the known papers of questions.

    Parameters
    ----------
    atlas : AtlasStore
    queries : path or sequence of Query, optional
        PaSa's JSON lines (AutoScholarQuery, RealScholarQuery) or another format of
        `landscape.evaluation.read_queries`. By default the questions come from
        `questions_from_citations`.
    half, most
        Selection of questions; see `questions_from_citations`. `most` also limits the number of
        questions from a file.
    variants : mapping of str to mapping
        Settings of each variant, by name; "survey" is required.
    model : WritingModel, optional
        Language model for the surveys; default: no model.
    **settings
        Settings of all surveys, such as ``papers``.

    Returns
    -------
    SurveyEvaluation

    Raises
    ------
    InputError
        If the file cannot be read, or no question has a paper in the atlas.

    Examples
    --------
    >>> list(VARIANTS)
    ['survey', 'without expand', 'without selector', 'ensemble of two']
    """
    import pandas as pd

    if most is not None and most < 1:
        raise InputError(f"most is {most}; choose at least one question.")

    names = ["paper_id", "arxiv_id", "bibcode", "doi", "title"]
    if queries is None:
        asked, kind = questions_from_citations(atlas, half=half, most=most), "citations"
        known = asked
        counts = {
            "queries": len(asked),
            "queries_known": len(asked),
            "relevant_known": sum(len(q.relevant) for q in asked),
        }
    else:
        given = read_queries(queries) if isinstance(queries, str | Path) else list(queries)
        kind = Path(queries).name if isinstance(queries, str | Path) else "given"
        known, counts = resolve_queries(given, atlas.read_papers(names))
        known = known[:most]
    if not known:
        raise InputError(f"None of the questions has a paper in {atlas.path}; use another atlas.")
    own = {query.qid for query in known} if queries is None else set()
    days = _days_of(atlas, [query for query in known if query.source])
    measures: dict[str, list[dict[str, float]]] = {name: [] for name in (*variants, ONE_SHOT)}
    seconds: dict[str, list[float]] = {name: [] for name in measures}
    with progress("Surveys", total=len(known) * len(variants)) as advance:
        for query in known:
            without = (query.qid,) if query.qid in own else ()
            limits: dict[str, object] = {"without": without}
            if query.source in days:  # the paper that the question was made from, and newer ones
                limits = {"without": (query.source,), "before": days[query.source]}
            for name, changes in variants.items():
                chosen = SurveySettings(**{**settings, **changes, **limits})
                survey = survey_question(atlas, query.question, model=model, **chosen.to_dict())
                seconds[name].append(survey.spent.seconds)
                measures[name].append(_measures(survey, query))
                if name == FULL:
                    begin = time.perf_counter()
                    measures[ONE_SHOT].append(_one_search(atlas, query, chosen, len(survey)))
                    seconds[ONE_SHOT].append(time.perf_counter() - begin)
                advance(1)
    return SurveyEvaluation(
        {name: pd.DataFrame(rows) for name, rows in measures.items()},
        {name: float(np.median(times)) for name, times in seconds.items() if times},
        counts,
        kind,
    )


def _days_of(atlas: AtlasStore, queries: Sequence[Query]) -> dict[str, str | None]:
    """Return the day of the source of each query; None if an answer is not older."""
    names = {name for query in queries for name in (query.source, *query.relevant)}
    papers = open_engine(atlas).papers(sorted(known_rows(atlas, names)))
    dates = {paper.paper_id: paper.date for paper in papers}
    days: dict[str, str | None] = {}
    for query in queries:
        day, answers = dates.get(query.source), [dates.get(name) for name in query.relevant]
        is_newest = day is not None and all(one is None or one < day for one in answers)
        if query.source in dates:
            days[query.source] = str(day) if is_newest else None
    return days


def _measures(survey: Survey, query: Query) -> dict[str, float]:
    truth = set(query.relevant)
    order = [one.key for one in survey.crawled if one.how != "seed"]
    chosen = [one.key for one in survey.selected]
    hits = len(truth & set(chosen))
    return _recalls(truth, order, crawled=len(order), hits=hits, n=len(chosen))


def _one_search(
    atlas: AtlasStore, query: Query, chosen: SurveySettings, n: int
) -> dict[str, float]:
    """Measure a single search for the question of a survey, with the same number of results."""
    library = Library(atlas, query.question, before=chosen.before, without=chosen.without)
    truth = set(query.relevant)
    wanted = max(n, chosen.papers, *DEPTHS)
    rows = library.search(query.question, k=wanted)
    order = [paper.paper_id for paper in library.papers(rows)]
    hits = len(truth & set(order[:n]))
    return _recalls(truth, order, crawled=chosen.papers, hits=hits, n=n)


def _recalls(
    truth: set[str], order: list[str], *, crawled: int, hits: int, n: int
) -> dict[str, float]:
    return {
        "crawler recall": len(truth & set(order[:crawled])) / len(truth),
        "precision": hits / n if n else float("nan"),
        "recall": hits / len(truth),
        "returned": float(n),
        **{f"recall@{k}": len(truth & set(order[:k])) / len(truth) for k in DEPTHS},
    }
