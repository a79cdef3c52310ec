"""Surveys of a real citation graph: fit the selector on one half, test it on the other.

python -m benchmarks.survey ATLAS fit        # the numbers in landscape/agents/survey_scoring.py
python -m benchmarks.survey ATLAS time       # a survey of 200 papers without a model
python -m benchmarks.survey ATLAS subjects   # selected papers, compared with words of the subject
python -m benchmarks.survey ATLAS graph      # millions of citations
landscape evaluate survey ATLAS --half second
"""

from __future__ import annotations

import argparse
import re
import time

import numpy as np

import landscape as ls
from benchmarks.results import print_table, save
from benchmarks.survey_subjects import ELSEWHERE, SUBJECTS
from landscape.agents._survey import Crawler
from landscape.agents.settings import SurveySettings
from landscape.agents.survey_requests import ReplyLog, RequestBudget
from landscape.agents.survey_scoring import (
    Candidates,
    Library,
    SurveyEvidence,
    citation_weight,
    matched_share,
    relative_to_best,
)
from landscape.evaluation import questions_from_citations
from landscape.overlays.citations import cocited, influence, link

QUESTIONS = (
    "What quenches star formation in satellite galaxies?",
    "Constraints on dark energy from baryon acoustic oscillations",
    "How do stellar winds change the evolution of massive stars?",
)


def fit(atlas: ls.Atlas, most: int | None) -> None:
    """Fit both regressions on the first half of the questions, and compare thresholds on it."""
    from sklearn.linear_model import LogisticRegression

    candidate_sets: list[tuple[Candidates, np.ndarray]] = []
    for query in questions_from_citations(atlas, half="first", most=most):
        settings = SurveySettings(without=(query.qid,))
        library = Library(atlas, query.question, without=settings.without)
        budget = RequestBudget(settings, ReplyLog(None, {}))
        crawler = Crawler(query.question, library, settings, model=None, budget=budget)
        crawler.run()
        rows = [atlas.engine.row_of(name) for name in query.relevant]
        candidate_sets.append((crawler.candidates, np.isin(crawler.candidates.rows, rows)))
    evidence = [candidates.evidence for candidates, _ in candidate_sets]
    truth = np.concatenate([is_true for _, is_true in candidate_sets])
    texts = np.vstack([one.texts[:, 1:] for one in evidence if one is not None])
    by_text = LogisticRegression(C=10, max_iter=1000).fit(texts, truth)
    ends = np.cumsum([len(is_true) for _, is_true in candidate_sets])[:-1]
    parts = np.split(by_text.predict_proba(texts)[:, 1], ends)
    both = np.vstack(
        [_beside(part, one) for part, one in zip(parts, evidence, strict=True) if one is not None]
    )
    by_both = LogisticRegression(C=10, max_iter=1000).fit(both, truth)
    for name, model in (("text", by_text), ("all", by_both)):
        print(name, model.coef_[0].round(2), model.intercept_.round(2))
    every = [candidates.scores() for candidates, _ in candidate_sets]
    for threshold in (0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7):
        hits = sum(
            (t & (s >= threshold)).sum() for s, (_, t) in zip(every, candidate_sets, strict=True)
        )
        returned = sum((s >= threshold).sum() for s in every)
        f2 = 5 * hits / (4 * truth.sum() + returned)
        print(f"threshold {threshold}: {returned / len(candidate_sets):.1f} papers, F2 {f2:.3f}")


def _beside(by_text: np.ndarray, evidence: SurveyEvidence) -> np.ndarray:
    """Return the features of the second regression: similarity to the best texts, and links."""
    said, share = relative_to_best(by_text)
    return np.column_stack([said, citation_weight(share)[:, None] * evidence.links])


def subjects(atlas: ls.Atlas) -> None:
    """Print precision and recall of the selected papers on the subject of each question."""
    found, thresholds = [], (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
    for question in (*SUBJECTS, *ELSEWHERE):
        settings = SurveySettings()
        library, budget = Library(atlas, question), RequestBudget(settings, ReplyLog(None, {}))
        crawler = Crawler(question, library, settings, model=None, budget=budget)
        crawler.run()
        candidates, evidence = crawler.candidates, crawler.candidates.evidence
        if evidence is None:
            continue
        words = re.compile(SUBJECTS.get(question, r"(?!)"), re.IGNORECASE)
        papers = atlas.engine.papers(candidates.rows)
        truth = np.array(
            [bool(words.search(p.title)) or len(words.findall(p.abstract)) > 1 for p in papers]
        )
        n = len(crawler.selected())
        print(
            f"{n:4d} selected, {truth.sum():4d} of {len(truth)} on the subject, best ten match "
            f"{matched_share(evidence) or 0:.2f}: {question}"
        )
        if truth.any():
            fits = np.isin(candidates.rows, sorted(candidates.fitting()))
            found.append((candidates.scores() * fits, truth))
    for threshold in thresholds:
        hits = np.array([(t & (s >= threshold)).sum() for s, t in found])
        chosen = np.array([(s >= threshold).sum() for s, _ in found])
        every = np.array([t.sum() for _, t in found])
        print(
            f"threshold {threshold}: {chosen.mean():.0f} selected, precision "
            f"{np.mean(hits / np.maximum(chosen, 1)):.2f}, recall {np.mean(hits / every):.2f}, "
            f"F1 {np.mean(2 * hits / (chosen + every)):.2f}"
        )


def clock(atlas: ls.Atlas) -> None:
    """Time surveys of 200 papers."""
    atlas.survey(QUESTIONS[0], model=None, papers=20)  # opens what is opened once
    rows = []
    for question in QUESTIONS:
        cpu = time.process_time()
        found = atlas.survey(question, model=None, papers=200)
        cpu = time.process_time() - cpu
        rows.append([question, f"{found.spent.seconds:.2f}", f"{cpu:.2f}", str(len(found.crawled))])
    print_table("Surveys of 200 papers", ["question", "seconds", "CPU s", "papers"], rows)
    print(f"\n{save('survey', rows)}")


def graph(n_papers: int = 1_000_000, n_links: int = 10_000_000) -> None:
    """Time the graph of a large literature."""
    pairs = np.random.default_rng(0).integers(0, n_papers, (2, n_links))
    rows: list[list[str]] = []
    begin = time.perf_counter()

    def record(step: str) -> None:
        nonlocal begin
        rows.append([step, f"{time.perf_counter() - begin:.2f}"])
        begin = time.perf_counter()

    references = link(*pairs, n_nodes=n_papers)
    record("citations arranged")
    citations = references.reversed()
    record("the other way")
    influence(references)
    record("influence")
    cocited(references, citations, np.array([7]), k=20)
    record("co-citation of one paper")
    print_table(f"Citation graph of {n_papers:,} papers, {n_links:,} links", ["", "seconds"], rows)
    print(f"\n{save('citation graph', rows)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("atlas")
    parser.add_argument("what", choices=("fit", "subjects", "time", "graph"))
    parser.add_argument("--most", type=int)
    options = parser.parse_args()
    if options.what == "graph":
        graph()
    elif options.what == "subjects":
        subjects(ls.open(options.atlas))
    elif options.what == "time":
        clock(ls.open(options.atlas))
    else:
        fit(ls.open(options.atlas), options.most)
