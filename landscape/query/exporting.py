"""Results and answers as tables, JSON values, Markdown and bibliographies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from landscape.query.citing import to_bibcodes, to_bibitems, to_bibtex, to_ris
from landscape.query.markdown import answer_as_markdown
from landscape.query.records import (
    Answer,
    Claim,
    Consensus,
    Coverage,
    Evidence,
    Hit,
    Results,
    Step,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "answer_as_dict",
    "answer_as_markdown",
    "as_table",
    "results_as_dict",
    "to_bibcodes",
    "to_bibitems",
    "to_bibtex",
    "to_ris",
]

_COLUMNS = (
    "rank", "title", "authors", "year", "label", "bibcode", "arxiv_id", "doi", "cites", "score",
    "outlier", "url",
)  # fmt: skip


def as_table(results: Results) -> pd.DataFrame:
    """One row a paper, best first.

    Parameters
    ----------
    results : Results

    Returns
    -------
    pandas.DataFrame, shape (n, 12)
        ``rank, title, authors, year, label, bibcode, arxiv_id, doi, cites, score, outlier, url``;
        years, citations and outliers are of nullable types.

    Examples
    --------
    >>> from landscape.query.records import Coverage, Paper
    >>> hit = Hit(1, Paper(0, "x", "Dust", "It cools."), 0.5)
    >>> as_table(Results("dust", (hit,), Coverage("A", 9, 9, {}, None, None)))[["title", "score"]]
      title  score
    0  Dust    0.5
    """
    import pandas as pd

    rows = [
        {
            "rank": hit.rank,
            "title": hit.paper.title,
            "authors": "; ".join(hit.paper.authors),
            "year": hit.paper.year,
            "label": hit.paper.label,
            "bibcode": hit.paper.bibcode,
            "arxiv_id": hit.paper.arxiv_id,
            "doi": hit.paper.doi,
            "cites": hit.paper.cites,
            "score": hit.score,
            "outlier": hit.outlier,
            "url": hit.paper.url,
        }
        for hit in results.hits
    ]
    types = {"rank": "int64", "year": "Int16", "cites": "Int64", "score": "float64",
             "outlier": "boolean"}  # fmt: skip
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(types)


def results_as_dict(results: Results) -> dict[str, Any]:
    """Everything that a search found, as JSON values: ``landscape search --json``.

    Returns
    -------
    dict
        ``query, results, coverage, settings, expansion, seconds``; each of the results has
        ``rank, paper_id, label, arxiv_id, bibcode, doi, title, authors, year, date, cites,
        journal, categories, keywords, source, abstract, url, score, parts, outlier``.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> results_as_dict(Results("dust", (), Coverage("A", 9, 3, {}, None, None)))["coverage"]
    {'title': 'A', 'papers': 9, 'searched': 3, 'filtered_away': 6, 'sources': {}, ...}
    """
    return {
        "query": results.query,
        "results": [_hit(hit) for hit in results.hits],
        "coverage": _coverage(results.coverage),
        "settings": plain(results.settings),
        "expansion": results.expansion,
        "seconds": round(results.seconds, 4),
    }


def answer_as_dict(answer: Answer) -> dict[str, Any]:
    """An answer with its claims, evidence, papers and trace, as JSON values.

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> found = Results("q", (), Coverage("A", 9, 9, {}, None, None))
    >>> answer_as_dict(Answer("q?", "I do not know.", (), found, "extractive", True))["abstained"]
    True
    """
    return {
        "question": answer.question,
        "text": answer.text,
        "abstained": answer.abstained,
        "claims": [_claim(claim) for claim in answer.claims],
        "method": answer.method,
        "style": answer.style,
        "question_type": answer.question_type,
        "consensus": _consensus(answer.consensus),
        "trace": [_step(step) for step in answer.trace],
        "ads_query": answer.ads_query,
        "notes": list(answer.notes),
        "settings": plain(answer.settings),
        "results": results_as_dict(answer.results),
    }


def plain(value: Any) -> Any:
    """A value of the settings as JSON has it; NumPy's numbers and tuples included.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"k": np.int64(3), "w": (np.float32(0.5),), 1: date(2020, 1, 2), "x": float("nan")})
    {'k': 3, 'w': [0.5], '1': '2020-01-02', 'x': None}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(inner) for inner in items]
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None  # JSON has neither NaN nor infinity
    return value if value is None or isinstance(value, str | int) else str(value)


def evidence_as_dict(evidence: Evidence) -> dict[str, Any]:
    """A sentence of a paper as JSON values.

    Examples
    --------
    >>> evidence_as_dict(Evidence("x", "x", 0, 5, "Dust."))["text"]
    'Dust.'
    """
    return {
        "paper_id": evidence.paper_id,
        "label": evidence.label,
        "start": evidence.start,
        "end": evidence.end,
        "text": evidence.text,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    paper = hit.paper
    return {
        "rank": hit.rank,
        "paper_id": paper.paper_id,
        "label": paper.label,
        "arxiv_id": paper.arxiv_id,
        "bibcode": paper.bibcode,
        "doi": paper.doi,
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year,
        "date": paper.date.isoformat() if paper.date else None,
        "cites": plain(paper.cites),
        "journal": paper.journal,
        "categories": list(paper.categories),
        "keywords": list(paper.keywords),
        "source": list(paper.source),
        "abstract": paper.abstract,
        "url": paper.url,
        "score": plain(hit.score),
        "parts": plain(hit.parts),
        "outlier": plain(hit.outlier),
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "title": coverage.title,
        "papers": coverage.n_papers,
        "searched": coverage.n_searched,
        "filtered_away": coverage.n_filtered,
        "sources": plain(coverage.sources),
        "first_date": coverage.first_date,
        "last_date": coverage.last_date,
        "generated": coverage.generated,
        "notes": list(coverage.notes),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "citations": list(claim.citations),
        "verdict": claim.verdict,
        "evidence": [evidence_as_dict(evidence) for evidence in claim.evidence],
    }


def _consensus(consensus: Consensus | None) -> dict[str, Any] | None:
    if consensus is None:
        return None
    stances = [
        {
            "paper_id": stance.paper_id,
            "label": stance.label,
            "position": stance.position,
            "evidence": evidence_as_dict(stance.evidence) if stance.evidence else None,
        }
        for stance in consensus.stances
    ]
    return {
        "statement": consensus.statement,
        "level": consensus.level,
        "explanation": consensus.explanation,
        "relevance": plain(consensus.relevance),
        "stances": stances,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "thought": step.thought,
        "action": step.action,
        "observation": step.observation,
        "labels": list(step.labels),
    }
