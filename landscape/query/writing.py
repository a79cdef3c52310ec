"""Results and answers as plain text, for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from landscape.query.records import Answer, Consensus, Coverage, Hit, Results
    from landscape.search._outliers import Spread

_WIDTH = 88
_AUTHORS = 3
_REGIONS_NAMED = 3


def results_as_text(results: Results, *, spread: Spread | None = None) -> str:
    """Write a result as numbered papers, how they lie on the map, and what was searched.

    Parameters
    ----------
    results : Results
    spread : Spread, optional
        See `landscape.search._outliers.spread_of`.

    Returns
    -------
    str

    Examples
    --------
    >>> from landscape.query.records import Coverage, Hit, Paper, Results
    >>> coverage = Coverage("Demo", 9, 4, {"table": 9}, "1990-01-01", "2026-01-01")
    >>> hit = Hit(1, Paper(0, "a", "Dust in quasars", ""), 1.0)
    >>> print(results_as_text(Results("dust", (hit,), coverage)))
     1. Dust in quasars
        a
    <BLANKLINE>
    Searched 4 of 9 papers of Demo (1990-01-01 to 2026-01-01; table 9).
    """
    found = "\n".join(map(_paper, results.hits)) or "No paper was found."
    where = f"{spread_as_text(spread)}\n" if spread is not None and results.hits else ""
    return f"{_expansion(results)}{found}\n\n{where}{coverage_as_text(results.coverage)}"


def _expansion(results: Results) -> str:
    if not results.expansion:
        return ""
    told = f"Searched with this hypothetical abstract too: {results.expansion}"
    return textwrap.fill(told, _WIDTH) + "\n\n"


def spread_as_text(spread: Spread) -> str:
    """Say in a sentence how papers lie on the map.

    Parameters
    ----------
    spread : Spread
        With the names of its regions.

    Returns
    -------
    str

    Examples
    --------
    >>> from landscape.search._outliers import Spread
    >>> spread_as_text(Spread("two regions", ((4, 5), (2, 3), (-1, 1)), ("Dust", "Jets", "")))
    'On the map, 8 of 9 papers lie in two regions: Dust (5) and Jets (3).'
    """
    inside, total = spread.inside, spread.n_papers
    papers = "the paper" if total == 1 else f"the {total:,} papers"
    if not inside:
        verb = "lies" if total == 1 else "lie"
        return f"On the map, {papers} {verb} outside of every named region."
    if total == 1:
        return f"On the map, the paper lies in the region {inside[0][1]}."
    if spread.kind == "scattered":
        return f"On the map, {papers} are scattered: {_scattered(spread)}."
    chosen = inside[: 1 if spread.kind == "one region" else 2]
    held = sum(n for *_, n in chosen)
    which = papers if held == total else f"{held:,} of {total:,} papers"
    if len(chosen) == 1:
        return f"On the map, {which} lie in one region, {chosen[0][1]}."
    named = " and ".join(_region(name, n) for _, name, n in chosen)
    return f"On the map, {which} lie in two regions: {named}."


def _scattered(spread: Spread) -> str:
    inside = spread.inside
    first = ", ".join(_region(name, n) for _, name, n in inside[:_REGIONS_NAMED])
    more = f"{len(inside)} regions, among them {first}" if len(inside) > _REGIONS_NAMED else first
    outside = spread.n_papers - sum(n for *_, n in inside)
    return f"{more}; {outside:,} outside of every region" if outside else more


def _region(name: str, count: int) -> str:
    return f"{name} ({count:,})"


def answer_as_text(answer: Answer) -> str:
    """Write an answer, the papers behind it, what was searched, and what to know of the method.

    Parameters
    ----------
    answer : Answer

    Returns
    -------
    str

    Examples
    --------
    >>> from landscape.query.records import Answer, Coverage, Results
    >>> results = Results("dust", (), Coverage("Demo", 9, 9, {}, None, None))
    >>> print(answer_as_text(Answer("Does dust cool?", "It does.", (), results, "extractive")))
    It does.
    <BLANKLINE>
    Searched all 9 papers of Demo.
    """
    cited = {label for claim in answer.claims for label in claim.citations}
    papers = [_paper(hit) for hit in answer.results.hits if hit.paper.label in cited]
    notes = [*answer.notes, *answer.results.coverage.notes]
    blocks = [
        answer.text,
        _consensus(answer.consensus),
        f"In ADS: {answer.ads_query}" if answer.ads_query else "",
        "\n".join(papers),
        coverage_as_text(answer.results.coverage),
        "\n".join(notes),
    ]
    return "\n\n".join(filter(None, blocks))


def _consensus(consensus: Consensus | None) -> str:
    if consensus is None:
        return ""
    stances = "\n".join(f"    {stance.label}: {stance.position}" for stance in consensus.stances)
    head = f"{consensus.level} with: {consensus.statement}\n{consensus.explanation}"
    return f"{head}\n{stances}" if stances else head


def coverage_as_text(coverage: Coverage) -> str:
    """Say in a sentence what was searched.

    Parameters
    ----------
    coverage : Coverage

    Returns
    -------
    str

    Examples
    --------
    >>> from landscape.query.records import Coverage
    >>> coverage_as_text(Coverage("Demo", 9, 9, {}, None, None, generated=True))
    'Searched all 9 papers of Demo. Papers in it are made up.'
    """
    n, searched = coverage.n_papers, coverage.n_searched
    which = f"all {n:,}" if n == searched else f"{searched:,} of {n:,}"
    facts = []
    if coverage.first_date:
        facts.append(f"{coverage.first_date} to {coverage.last_date}")
    if coverage.sources:
        facts.append(", ".join(f"{name} {count:,}" for name, count in coverage.sources.items()))
    bounds = f" ({'; '.join(facts)})" if facts else ""
    generated = " Papers in it are made up." if coverage.generated else ""
    return f"Searched {which} papers of {coverage.title}{bounds}.{generated}"


def _paper(hit: Hit) -> str:
    paper = hit.paper
    authors = "; ".join(paper.authors[:_AUTHORS])
    if len(paper.authors) > _AUTHORS:
        authors += " et al."
    year = str(paper.year) if paper.year else ""
    apart = "lies apart from the others" if hit.outlier else ""
    facts = ", ".join(filter(None, [authors, year, paper.label, apart]))
    title = textwrap.fill(
        paper.title, _WIDTH, initial_indent=f"{hit.rank:2}. ", subsequent_indent="    "
    )
    return f"{title}\n    {facts}"
