"""What the panel for writers shows: papers to cite, a paragraph, and the check of a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape._render import escape
from landscape._wording import count
from landscape.widgets.paper_list import Item
from landscape.widgets.scholar_panel import without_the_word_failed
from landscape.widgets.table_view import Column, table_html

if TYPE_CHECKING:
    from landscape.types import Answer, CitationSuggestions, DraftCheck, Suggestion, Uncited

_COLUMNS = (
    Column("line", "Line", "count"),
    Column("key", "Key"),
    Column("verdict", "Verdict"),
    Column("sentence", "What the draft says"),
    Column("evidence", "What the paper says"),
    Column("why", "Why"),
)
_SIGNS = {
    "supported": "✓ supported",
    "contradicted": "✗ contradicted",
    "unclear": "? unclear",
    "near": "≈ near",
    "far": "≠ far",
    "not in the corpus": "– not in the corpus",
    "not in the bibliography": "? not in the bibliography",
}


def items_of(found: CitationSuggestions) -> list[Item]:
    """The papers to cite as a list draws them.

    Parameters
    ----------
    found : CitationSuggestions

    Returns
    -------
    list of Item
    """
    return [Item(str(one.rank), f"{one.rank}.", one.paper.title, _page(one))
            for one in found.suggestions]  # fmt: skip


def heading_html(found: CitationSuggestions) -> str:
    """What stands above the papers: how many, what is missing, and what the reader should know.

    Parameters
    ----------
    found : CitationSuggestions

    Returns
    -------
    str
    """
    n = len(found)
    head = f"{count(n, 'paper')} to cite" if n else "No paper was found"
    missing = [] if found.method != "offline" else [
        "Citing sentences need a language model: none is connected, so none are made up."
    ]  # fmt: skip
    notes = [*missing, *map(without_the_word_failed, found.notes)]
    told = "".join(f"<div class='landscape-quiet'>{escape(note)}</div>" for note in notes)
    bounds = "".join(
        f"<div class='landscape-quiet'>{escape(one.summary)}</div>"
        for one in found.coverage.values()
    )
    return f"<div class='landscape-asked'>{head}</div>{_partial(found.partial)}{told}{bounds}"


def paragraph_html(paragraph: Answer, latex: str) -> str:
    """A paragraph of related work: its sentences with their checks, and as LaTeX.

    Parameters
    ----------
    paragraph : Answer
    latex : str

    Returns
    -------
    str
    """
    by = (
        "No language model was asked: these are sentences of the papers, quoted. Put them into "
        "words of your own."
        if paragraph.method == "extractive"
        else f"Written by {paragraph.method}; each sentence was checked against its papers."
    )
    return (
        f"<div class='landscape-quiet'>{escape(by)}</div>{paragraph.to_html('claims')}"
        "<div class='landscape-group'>As LaTeX (click to select)</div>"
        f"<pre class='landscape-latex tex2jax_ignore mathjax_ignore' tabindex='0'>{escape(latex)}"
        f"</pre><details><summary>How it was made</summary>{paragraph.to_html('method')}</details>"
    )


def check_html(found: DraftCheck) -> str:
    """The check of a draft: a verdict for each citation, and sentences that seem to need one.

    Parameters
    ----------
    found : DraftCheck

    Returns
    -------
    str
    """
    n = len(found.judgements)
    told = ", ".join(f"{count} {name}" for name, count in found.counts.items())
    head = f"{count(n, 'citation')} in {count(found.n_sentences, 'sentence')}"
    notes = "".join(
        f"<div class='landscape-quiet'>{escape(without_the_word_failed(note))}</div>"
        for note in found.notes
    )
    table = found.table
    table["verdict"] = [_SIGNS[verdict] for verdict in table["verdict"]]
    listed = table_html(table, _COLUMNS, about="Citations of the draft") if n else ""
    missing = ""
    if found.uncited:
        rows = "".join(map(_uncited, found.uncited))
        missing = f"<h4>Sentences that seem to need a citation</h4><ol>{rows}</ol>"
    return (
        f"<div class='landscape-asked'>{escape(head)}{escape(f': {told}' if told else '')}</div>"
        f"{_partial(found.partial)}{notes}{listed}"
        f"<div class='landscape-results tex2jax_ignore mathjax_ignore'>{missing}</div>"
    )


def _page(one: Suggestion) -> str:
    return f"<div class='landscape-results'>{one.to_html()}</div>"


def _uncited(one: Uncited) -> str:
    papers = "".join(
        f"<li>{escape(two.paper.title)} <span class='quiet'>{escape(two.paper.label)}</span></li>"
        for two in one.candidates
    )
    return (
        f"<li>{escape(one.sentence)} <span class='quiet'>(line {one.line}, “{escape(one.why)}”)"
        f"</span><ul>{papers}</ul></li>"
    )


def _partial(is_partial: bool) -> str:
    if not is_partial:
        return ""
    told = "Partial: the language model ended before it was done."
    return f"<div class='landscape-partial'>{told}</div>"
