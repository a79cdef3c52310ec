"""A survey as a table, CSV, JSON, Markdown and HTML."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from landscape.agents.survey.telling import WHAT_WORDS_MEAN, called, led
from landscape.corpus.cleaning import one_line
from landscape.plural import count
from landscape.query.html import STYLE, escape, paper_as_html
from landscape.query.markdown import coverage_line
from landscape.query.records import Hit
from landscape.text import _spreadsheet

if TYPE_CHECKING:
    import pandas as pd

    from landscape.agents.survey.records import Crawled, Survey

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")
_SHOWN = 50  # papers of a notebook's page


def as_table(survey: Survey) -> pd.DataFrame:
    """One row a paper judged: selected ones first, best first.

    Parameters
    ----------
    survey : Survey

    Returns
    -------
    pandas.DataFrame
        ``rank`` (of selected ones), ``paper_id, title, authors, year, bibcode, arxiv_id, doi,
        selected, score, reason, judged_by, how, parent, search, depth, section, url``.

    Examples
    --------
    >>> from landscape.agents.survey.records import Survey
    >>> from landscape.query.records import Coverage
    >>> as_table(Survey("?", (), (), (), Coverage("A", 9, 9, {}, None, None))).shape
    (0, 18)
    """
    import pandas as pd

    columns = (
        "rank", "paper_id", "title", "authors", "year", "bibcode", "arxiv_id", "doi", "selected",
        "score", "reason", "judged_by", "how", "parent", "search", "depth", "section", "url",
    )  # fmt: skip
    rows = [_row(survey, one, rank) for rank, one in enumerate(survey.crawled, start=1)]
    types = {"rank": "Int64", "year": "Int16", "depth": "int64", "selected": "bool"}
    return pd.DataFrame(rows, columns=list(columns)).astype(types)


def as_csv(survey: Survey) -> str:
    """Write the table as CSV."""
    return _spreadsheet.as_csv(as_table(survey))


def as_dict(survey: Survey) -> dict[str, Any]:
    """Everything as JSON values."""
    from landscape.query.exporting import results_as_dict

    listed = []
    for rank, one in enumerate(survey.crawled, start=1):
        row = _row(survey, one, rank)
        listed.append({**row, "authors": list(one.paper.authors), "expanded": one.expanded})
    return {
        "question": survey.question,
        "partial": survey.partial,
        "papers": listed,
        "searches": [asdict(one) for one in survey.searches],
        "beyond": [
            {"name": one.paper_id, "title": one.title, "year": one.year, "citing": int(one.score)}
            for one in survey.beyond
        ],
        "found": survey.n_found,
        "spent": asdict(survey.spent),
        "settings": dict(survey.settings),
        "coverage": results_as_dict(survey.results)["coverage"],
        "notes": list(survey.notes),
    }


def as_markdown(survey: Survey) -> str:
    """Write the selected papers, the searches and the bounds as one Markdown document."""
    lines = [f"# {_escaped(survey.question)}", "", _headline(survey), ""]
    for rank, one in enumerate(survey.selected, start=1):
        paper = one.paper
        lines.append(
            f"{rank}. **{_escaped(paper.title)}**, {_escaped(called(paper))}, "
            f"{_escaped(paper.label)}. {_escaped(_why(survey, one))}"
        )
    lines += ["", "## Searches", ""]
    lines += [
        f"- {_escaped(a.text)} ({count(a.found, 'paper')}, {a.new} new)" for a in survey.searches
    ]
    if survey.beyond:
        lines += ["", "## Cited by these papers, and not in the atlas", ""]
        lines += [
            f"- {_escaped(one.title or one.paper_id)} ({_escaped(one.paper_id)}), cited "
            f"{one.score:.0f} times"
            for one in survey.beyond
        ]
    lines += ["", *(f"- {_escaped(note)}" for note in _notes(survey))]
    lines += ["", _escaped(coverage_line(survey.coverage))]
    return "\n".join(lines) + "\n"


def as_html(survey: Survey) -> str:
    """Draw a survey for a notebook: HTML without scripts, all text escaped."""
    shown = survey.selected[:_SHOWN]
    items = "".join(
        f"<li>{paper_as_html(Hit(rank, one.paper, one.score))}"
        f'<p class="quiet">{escape(_why(survey, one))}</p></li>'
        for rank, one in enumerate(shown, start=1)
    )
    searches = "".join(
        f"<li>{escape(asked.text)} <span class='quiet'>{count(asked.found, 'paper')}, "
        f"{asked.new} new</span></li>"
        for asked in survey.searches
    )
    more = len(survey.selected) - len(shown)
    blocks = [
        f"<h3>{escape(survey.question)}</h3>",
        f'<p class="quiet">{escape(_headline(survey))}</p>',
        *(f'<p class="notice">{escape(note)}</p>' for note in _notes(survey)),
        f"<ol>{items}</ol>" if items else "",
        f'<p class="quiet">and {more} more in <code>.table</code></p>' if more > 0 else "",
        f"<details><summary>{len(survey.searches)} searches</summary><ul>{searches}</ul></details>",
        f'<p class="quiet">{escape(coverage_line(survey.coverage))}</p>',
    ]
    inside = "\n".join(filter(None, blocks))
    return (
        f"<style>{STYLE}</style>\n"
        f'<div class="landscape-results tex2jax_ignore mathjax_ignore">\n{inside}\n</div>'
    )


def as_text(survey: Survey, *, most: int = 50) -> str:
    """Write a survey for a terminal.

    Parameters
    ----------
    survey : Survey
    most : int, default 50
        Papers.

    Returns
    -------
    str
    """
    lines = [survey.question, _headline(survey), ""]
    for rank, one in enumerate(survey.selected[:most], start=1):
        lines.append(f"{rank:4d}. {one.paper.title}")
        lines.append(f"      {called(one.paper)}, {one.paper.label}")
        lines.append(f"      {_why(survey, one)}")
    more = len(survey.selected) - most
    if more > 0:
        lines.append(f"      and {more} more: write them into a file with -o")
    if survey.beyond:
        lines += ["", "Cited by several of these, and not in the atlas:"]
        lines += [
            f"      {one.title or one.paper_id} ({one.score:.0f})" for one in survey.beyond[:8]
        ]
    lines += ["", *_notes(survey), coverage_line(survey.coverage)]
    return "\n".join(" ".join(line.split("\n")) for line in lines)


def _escaped(text: str) -> str:
    """Text in which Markdown and HTML find nothing to do."""
    return _MARKDOWN.sub(r"\\\1", one_line(text, most=2_000))


def _headline(survey: Survey) -> str:
    spent = survey.spent
    cost = f", {spent.calls} requests to the language model" if spent.calls else ""
    by = "" if spent.calls else " by likeness and citations, without a language model"
    state = "Partial: " if survey.partial else ""
    return (
        f"{state}{counts(survey)}{by}, {len(survey.searches)} searches{cost}, {spent.seconds:.1f} s"
    )


def counts(survey: Survey) -> str:
    """Say how many papers were found, judged and selected."""
    judged = len(survey.crawled)
    best = f", the best of {survey.n_found:,} found" if survey.n_found > judged else ""
    return f"{count(len(survey.selected), 'paper')} selected of {judged:,} judged{best}"


def _notes(survey: Survey) -> tuple[str, ...]:
    """The notes, and what the words of a judgement mean where they are used."""
    is_used = any(one.judged_by == "similarity" for one in survey.selected)
    return (*survey.notes, WHAT_WORDS_MEAN) if is_used else survey.notes


def _why(survey: Survey, one: Crawled) -> str:
    """How likely, why, and how it was found, in sentences."""
    score = "" if one.judged_by == "similarity" else f"{one.score:.2f}. "
    return " ".join(f"{score}{one.reason} Found {led(survey, one)}.".split())


def _row(survey: Survey, one: Crawled, rank: int) -> dict[str, Any]:
    paper = one.paper
    return {
        "rank": rank if one.selected else None,
        "paper_id": paper.paper_id,
        "title": paper.title,
        "authors": "; ".join(paper.authors),
        "year": paper.year,
        "bibcode": paper.bibcode,
        "arxiv_id": paper.arxiv_id,
        "doi": paper.doi,
        "selected": one.selected,
        "score": one.score,
        "reason": one.reason,
        "judged_by": one.judged_by,
        "how": one.how,
        "parent": one.parent,
        "search": survey.searches[one.query].text if one.query is not None else "",
        "depth": one.depth,
        "section": one.section,
        "url": paper.url,
    }
