"""A paragraph of related work on chosen papers, every sentence cited and checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from landscape._bibliography import citation_keys, escape_latex
from landscape._wording import count
from landscape.agents.cite.merging import is_same
from landscape.agents.cite.prompts import RELATED_WORK
from landscape.answers._extractive import QUOTED, extract_answer, failure_notes
from landscape.answers._generation import finish
from landscape.answers._prompts import papers_as_data
from landscape.errors import InputError, RemoteError
from landscape.llm._client import connect_from_environment
from landscape.llm._quoting import as_data
from landscape.search._engine import open_engine
from landscape.types import Answer, Hit, Paper, Results

if TYPE_CHECKING:
    from landscape.agents.cite.desk import Desk
    from landscape.llm._client import WritingModel

STYLE = "related-work"

_MOST_PAPERS = 40
_LABELS = re.compile(r"\s*\[([^\[\]\n]{1,600})\]")


def related_work(
    desk: Desk,
    papers: Sequence[str | Paper],
    *,
    context: str = "",
    model: WritingModel | Literal["auto"] | None = None,
) -> Answer:
    """Write a paragraph on several papers.

    Parameters
    ----------
    desk : Desk
    papers : sequence of str or Paper
        Identifiers, or papers that a search gave; of corpora on the desk.
    context : str, optional
        What the paragraph is for.
    model : WritingModel, "auto" or None
        Without one, the sentences of the papers that matter most are quoted.

    Returns
    -------
    Answer
        A sentence that its papers do not bear out is marked; see `as_latex`.

    Raises
    ------
    InputError
        No paper is given, too many are, or one is in no corpus of the desk.
    """
    if not papers or len(papers) > _MOST_PAPERS:
        message = f"{count(len(papers), 'paper')} given; choose 1 to {_MOST_PAPERS}."
        raise InputError(message)
    chosen: list[Paper] = []
    corpora = []
    for one in papers:
        corpus, paper = desk.find(one if isinstance(one, str) else one.paper_id)
        corpora.append(corpus)
        if not any(is_same(paper, earlier) for earlier in chosen):
            chosen.append(paper)
    engine = open_engine(corpora[0].atlas)
    hits = tuple(Hit(rank, paper, 1.0 / rank) for rank, paper in enumerate(chosen, start=1))
    question = context.strip() or "Related work"
    results = Results(question, hits, replace(engine.indexes.coverage, n_searched=len(chosen)))
    model = connect_from_environment() if model == "auto" else model
    subject = context.strip() or " ".join(paper.title for paper in chosen)
    notes: tuple[str, ...] = (QUOTED,)
    if model is not None:
        brief = {"text": context, "papers": papers_as_data(chosen)}
        try:
            text = model.complete(RELATED_WORK, as_data(brief))
            said = finish(question, text, results, model=model, style=STYLE, score=engine.nearness)
        except RemoteError as error:
            notes = failure_notes(error)
        else:
            if said is not None:
                return _with_uncited(said)
            notes = failure_notes("It cited none of the papers.")
    quoted = extract_answer(subject, results, n_sentences=2 * len(chosen), notes=notes)
    return replace(quoted, question=question, style=STYLE)


def as_latex(paragraph: Answer) -> str:
    r"""Write a paragraph for a manuscript, its citations as ``\citep``.

    Parameters
    ----------
    paragraph : Answer
        As `related_work` gives it.

    Returns
    -------
    str
        Keys are those of ``paragraph.results.to_bibtex()``. Marks of sentences that the papers do
        not bear out stay in it, in brackets.

    Examples
    --------
    >>> from landscape.types import Coverage
    >>> paper = Paper(0, "x", "Dust", "", bibcode="2024A&A...1A")
    >>> found = Results("", (Hit(1, paper, 1.0),), Coverage("", 1, 1, {}, None, None))
    >>> print(as_latex(Answer("", "Dust is 5% carbon [2024A&A...1A].", (), found, "x")))
    Dust is 5\% carbon~\citep{2024A&A...1A}.
    """
    keys = dict(
        zip((p.label for p in paragraph.papers), citation_keys(paragraph.papers), strict=True)
    )
    pieces = []
    start = 0
    for found in _LABELS.finditer(paragraph.text):
        labels = [part.strip() for part in re.split(r"[;,]", found[1])]
        if all(label in keys for label in labels):
            pieces.append(_escaped(paragraph.text[start : found.start()]))
            pieces.append(f"~\\citep{{{','.join(keys[label] for label in labels)}}}")
            start = found.end()
    pieces.append(_escaped(paragraph.text[start:]))
    return "".join(pieces)


def _escaped(text: str) -> str:
    """Escaped, with the space that stands before it, which `escape_latex` would take."""
    return (" " if text[:1].isspace() else "") + escape_latex(text)


def _with_uncited(said: Answer) -> Answer:
    cited = {label for claim in said.claims for label in claim.citations}
    left = [paper.label for paper in said.papers if paper.label not in cited]
    if not left:
        return said
    note = f"Not cited in the paragraph: {', '.join(left)}."
    return replace(said, notes=(*said.notes, note))
