"""Hostile text of papers, questions and models stays text in every format that is written.

The results are made here, so that no reader has cleaned their texts, as in a forged atlas.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landscape import Atlas, figures

# Private modules: what all writers of text use.
from landscape._bibliography import citation_keys, escape_latex, to_bibtex
from landscape._render import escape, escape_markdown, neutral_html
from landscape._serializer import to_csv, to_html, to_json, to_latex, to_text
from landscape.agents import AtlasCollection, check_draft
from landscape.errors import InputError
from landscape.types import (
    Answer,
    Attribution,
    CitationSuggestions,
    Claim,
    Consensus,
    Coverage,
    Evidence,
    Guess,
    Hit,
    Paper,
    Results,
    Stance,
    Step,
    Suggestion,
)
from tests.properties.hostile import HOSTILE, POISONS
from tests.properties.inspection import (
    check_bib,
    check_csv,
    check_html,
    check_json,
    check_markdown,
    check_plain,
    check_ris,
    check_tex,
    inspect,
)

MAYBE = st.one_of(st.none(), HOSTILE)
ENCODED = HOSTILE.map(lambda text: text.encode("utf-8", "replace").decode())
SOME = st.lists(HOSTILE, max_size=3).map(tuple)
PAPERS = st.builds(
    Paper,
    row=st.integers(0, 99),
    paper_id=HOSTILE,
    title=HOSTILE,
    abstract=HOSTILE,
    authors=SOME,
    date=st.one_of(st.none(), st.dates(date(1800, 1, 1))),
    bibcode=MAYBE,
    arxiv_id=MAYBE,
    doi=MAYBE,
    journal=MAYBE,
    doctype=MAYBE,
    status_reason=MAYBE,
    keywords=SOME,
    categories=st.lists(HOSTILE, max_size=2).map(tuple),
    source=SOME,
)
CHECKS: dict[str, Callable[[str], None]] = {
    "_repr_html_": check_html,
    "to_markdown": check_markdown,
    "to_text": check_plain,
    "to_bibtex": check_bib,
    "to_ris": check_ris,
    "to_aastex": check_tex,
    "to_bibcodes": check_plain,
}


def assert_inert(result: Any) -> None:
    """Write a result in all formats, and check them."""
    written = 0
    for name, check in CHECKS.items():
        if hasattr(result, name):
            check(getattr(result, name)())
            written += 1
    assert written >= 2
    check_json(to_json(result))
    if getattr(result, "table", None) is not None:
        check_csv(to_csv(result.table))


def made_results(papers: list[Paper], text: str) -> Results:
    hits = tuple(Hit(n, one, 1 / n, {text: 0.5}, n == 1) for n, one in enumerate(papers, 1))
    coverage = Coverage(text, 99, 9, {text: 9}, None, None, notes=(text,))
    return Results(text, hits, coverage, {"filter": text}, text, 0.1)


@settings(max_examples=100)
@given(st.lists(PAPERS, min_size=1, max_size=3), HOSTILE)
def test_results_are_inert_in_every_format(papers: list[Paper], text: str) -> None:
    results = made_results(papers, text)
    assert_inert(results)
    for hit in results.hits:
        check_html(hit.to_html())


@settings(max_examples=60)
@given(st.lists(PAPERS, min_size=1, max_size=3), st.lists(HOSTILE, min_size=8, max_size=8), HOSTILE)
def test_answers_and_suggestions_are_inert(
    papers: list[Paper], texts: list[str], query: str
) -> None:
    a, b, c, d, e, f, g, h = texts
    first = papers[0]
    results = made_results(papers, a)
    evidence = (Evidence(first.paper_id, first.label, 0, len(first.abstract), first.abstract),)
    claims = (Claim(b, (first.label, c), evidence, "supported"), Claim(c, (), (), "not found"))
    consensus = Consensus(d, "Weak Agreement", e, 0.5, (Stance(f, g, "supports", evidence[0]),))
    steps = (Step(d, e, f, (g,)),)
    answer = Answer(
        *(h, f"{b} [{first.label}] {c}", claims, results, d),
        consensus=consensus,
        trace=steps,
        ads_query=query,
        notes=(f,),
    )
    assert_inert(answer)
    for part in ("claims", "consensus", "method"):
        check_html(answer.to_html(part))
    guesses = tuple(Guess(paper, 0.5, g) for paper in papers)
    for paper in (None, first):
        coverage = results.coverage
        assert_inert(Attribution(a, b, c, paper, guesses, d, coverage, trace=steps, notes=(e,)))
    suggestion = Suggestion(1, first, f, 0.5, also_in=(g,))
    assert_inert(CitationSuggestions(a, b, (suggestion,), {c: coverage}, d, notes=(e,)))


@given(st.lists(PAPERS, max_size=4))
def test_entries_of_bibtex_are_as_many_as_the_papers(papers: list[Paper]) -> None:
    from bibtexparser.entrypoint import parse_string

    parsed = parse_string(to_bibtex(papers))
    assert len(parsed.entries) == len(papers)
    assert len({entry.key.lower() for entry in parsed.entries}) == len(papers)


@given(st.lists(st.tuples(ENCODED, ENCODED), min_size=1, max_size=3), HOSTILE)
def test_tables_are_inert_in_every_format(rows: list[tuple[str, str]], caption: str) -> None:
    table = pd.DataFrame(rows, columns=["label", "name"])
    check_csv(to_csv(table))
    check_csv(to_csv(table.rename(columns={"name": caption})))
    check_html(to_html(table))
    check_json(to_json({"table": table, caption: caption}))
    check_plain(to_text(table, "none", width=60))
    check_tex(to_latex(table, "none", caption, [caption]), mark="\0")


@given(HOSTILE)
def test_escaped_text_is_text(text: str) -> None:
    check_html(escape(text))
    check_html(f'<b title="{escape(text)}">')
    check_markdown(escape_markdown(text))
    check_tex(escape_latex(text))
    assert not re.search(r"<[A-Za-z/!?]", neutral_html(text))


@pytest.mark.parametrize("ending", ["svg", "pdf", "png", "html"])
def test_a_figure_is_inert(finished: Atlas, tmp_path: Path, ending: str) -> None:
    for number in range(0, len(POISONS), 18):
        title = " ".join(one[:40] for one in POISONS[number : number + 18])
        figure = figures.heatmap(finished, title=title)
        inspect(figures.save_figure(figure, tmp_path / f"{number}.{ending}"))


@settings(max_examples=15)
@given(st.lists(PAPERS, min_size=2, max_size=3), HOSTILE)
def test_the_check_of_a_draft_is_inert(
    finished: Atlas, tmp_path_factory: pytest.TempPathFactory, papers: list[Paper], text: str
) -> None:
    folder = tmp_path_factory.mktemp("draft")
    bibliography, draft = folder / "mine.bib", folder / "mine.tex"
    bibliography.write_text(to_bibtex(papers), "utf-8")
    keys = ",".join(citation_keys(papers))
    draft.write_text(f"{text} \\cite{{{keys}}}.", "utf-8", "replace")
    desk = AtlasCollection().add(finished)
    with contextlib.suppress(InputError):
        assert_inert(check_draft(bibliography, [draft], desk=desk, model=None))
