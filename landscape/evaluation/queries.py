"""Questions of a benchmark, and the papers of an atlas that answer them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Query:
    """One question of a benchmark, or papers for which similar ones are sought.

    Attributes
    ----------
    qid : str
    question : str
        Empty where papers are given instead.
    relevant : tuple of str
        Papers that answer it: paper ids, arXiv ids, bibcodes or DOIs, or titles.
    grades : mapping of str to float
        How relevant each is; 1 where the benchmark does not grade.
    by : {"id", "title"}
        What `relevant` holds.
    similar_to : tuple of str
        Papers, named as in `relevant`, whose like is sought.

    Examples
    --------
    >>> Query("1", "Does dust cool?", ("2401.00001",)).grade("2401.00001")
    1.0
    """

    qid: str
    question: str
    relevant: tuple[str, ...]
    grades: Mapping[str, float] = field(default_factory=dict)
    by: Literal["id", "title"] = "id"
    similar_to: tuple[str, ...] = ()

    def grade(self, paper: str) -> float:
        """How relevant a paper is; 0 for any that is not listed."""
        return float(self.grades.get(paper, 1.0)) if paper in self.relevant else 0.0


def resolve_queries(
    queries: Sequence[Query], papers: pd.DataFrame
) -> tuple[list[Query], dict[str, int]]:
    """Name the relevant papers as an atlas does.

    Parameters
    ----------
    queries : sequence of Query
    papers : pandas.DataFrame
        With ``paper_id`` and, as far as they are known, ``arxiv_id``, ``bibcode``, ``doi`` and
        ``title``.

    Returns
    -------
    queries : list of Query
        With paper ids; those of which the atlas has no relevant paper are left out, since no
        search could find one, and those that ask for papers like one that it has not.
    counts : dict
        ``queries`` and ``relevant`` in the benchmark, ``queries_known`` and ``relevant_known``
        in the atlas: to be stated with every score.

    Examples
    --------
    >>> import pandas as pd
    >>> papers = pd.DataFrame({"paper_id": ["p1"], "title": ["Dust cools"], "arxiv_id": ["2401.1"]})
    >>> found, counts = resolve_queries([Query("1", "?", ("Dust Cools!",), by="title")], papers)
    >>> found[0].relevant, counts["queries_known"]
    (('p1',), 1)
    """
    ids: dict[str, str] = {}
    for column in ("doi", "bibcode", "arxiv_id", "paper_id"):  # the last one wins
        if column in papers:
            known = papers[column].notna()
            keys = papers.loc[known, column].astype(str).str.lower()
            ids.update(zip(keys, papers.loc[known, "paper_id"], strict=True))
    titles: dict[str, str] = {}
    if "title" in papers and any(query.by == "title" for query in queries):
        titles = dict(
            zip(map(_title_key, papers["title"].fillna("")), papers["paper_id"], strict=True)
        )
    titles.pop("", None)  # a title without a letter names nothing
    resolved = [
        _resolved(query, titles, _title_key)
        if query.by == "title"
        else _resolved(query, ids, _plain_id)
        for query in queries
    ]
    kept = [
        query
        for query, asked in zip(resolved, queries, strict=True)
        if query.relevant and len(query.similar_to) == len(asked.similar_to)
    ]
    return kept, {
        "queries": len(queries),
        "queries_known": len(kept),
        "relevant": sum(len(query.relevant) for query in queries),
        "relevant_known": sum(len(query.relevant) for query in kept),
    }


def _resolved(query: Query, paper_ids: Mapping[str, str], key: Callable[[str], str]) -> Query:
    grades: dict[str, float] = {}
    for name in query.relevant:
        found = paper_ids.get(key(name))
        if found is not None:
            grades[found] = max(grades.get(found, 0.0), query.grade(name))
    sought = [paper_ids.get(key(name)) for name in query.similar_to]
    return replace(
        query,
        relevant=tuple(grades),
        grades=grades,
        by="id",
        similar_to=tuple(paper for paper in sought if paper is not None),
    )


def _plain_id(name: str) -> str:
    from landscape.corpus._identifiers import parse_arxiv_id, parse_doi

    return (parse_arxiv_id(name) or parse_doi(name) or name).lower()


def _title_key(title: str) -> str:
    return _NOT_LETTERS.sub("", title.casefold())
