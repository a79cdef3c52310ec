"""What attributor and desk found, in a notebook: HTML without scripts, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from landscape._wording import count
from landscape.query.html import STYLE, escape, paper_as_html
from landscape.query.markdown import coverage_line
from landscape.query.records import Coverage, Evidence, Hit, Paper, Step

if TYPE_CHECKING:
    from landscape.agents.attribute.records import Attribution
    from landscape.agents.cite.records import Citing, Highlight, Suggestion


def attribution_as_html(found: Attribution) -> str:
    """Draw an attribution: the paper or the guesses, the steps, and what was searched.

    Parameters
    ----------
    found : Attribution

    Returns
    -------
    str
    """
    head = "No paper was selected" if found.abstained else "The excerpt most likely cites"
    others = [g for g in found.guesses if found.paper is None
              or g.paper.paper_id != found.paper.paper_id]  # fmt: skip
    chosen = [] if found.paper is None else [paper_as_html(Hit(1, found.paper, 0.0))]
    guesses = "".join(f"<li>{paper_as_html(Hit(n, g.paper, g.score))}</li>"
                      for n, g in enumerate(others, start=1))  # fmt: skip
    title = "Best guesses" if found.abstained else "Next best"
    return _page(
        [
            f"<h3>{head}</h3>",
            f'<p class="quiet">Sought by: {escape(found.clause)}</p>',
            *_partial(found.partial),
            *chosen,
            f"<h4>{title}</h4><ol>{guesses}</ol>" if guesses else "",
            *(f'<p class="notice">{escape(note)}</p>' for note in found.notes),
            _steps(found.trace),
            f'<p class="quiet">{escape(coverage_line(found.coverage))}</p>',
        ]
    )


def citing_as_html(found: Citing) -> str:
    """Draw papers to cite: each with its highlights marked in the abstract, and its sentence.

    Parameters
    ----------
    found : Citing

    Returns
    -------
    str
    """
    n = len(found.suggestions)
    listed = "".join(f"<li>{suggestion_as_html(one)}</li>" for one in found.suggestions)
    return _page(
        [
            f"<h3>{count(n, 'paper')} to cite</h3>",
            *_partial(found.partial),
            *(f'<p class="notice">{escape(note)}</p>' for note in found.notes),
            f"<ol>{listed}</ol>" if listed else "",
            *_bounds(found.coverage),
        ]
    )


def suggestion_as_html(one: Suggestion) -> str:
    """Draw one paper to cite.

    Parameters
    ----------
    one : Suggestion

    Returns
    -------
    str
        Without styles, for a list.
    """
    parts = [paper_as_html(Hit(one.rank, one.paper, one.score))]
    if one.also_in:
        parts.append(f'<span class="badge">also in {escape(", ".join(one.also_in))}</span>')
    if one.highlights:
        points = "".join(f"<li>{escape(h.text)}</li>" for h in one.highlights)
        parts.append(f"<ul>{points}</ul>")
    if one.sentence is not None:
        marked = marked_text(one.paper, one.sentence.evidence)
        parts.append(
            f'<details class="supported"><summary>{escape(one.sentence.text)}'
            f'<span class="badge">✓ {one.sentence.verdict}</span></summary>{marked}</details>'
        )
    return "".join(parts)


def marked_text(paper: Paper, spans: Sequence[Evidence | Highlight]) -> str:
    """Draw an abstract with sentences marked.

    Parameters
    ----------
    paper : Paper
    spans : sequence of Evidence or Highlight
        Of its abstract.

    Returns
    -------
    str

    Examples
    --------
    >>> marked_text(Paper(0, "x", "", "Dust. Gas."), [Evidence("x", "x", 6, 10, "Gas.")])
    '<blockquote>Dust. <mark>Gas.</mark></blockquote>'
    """
    pieces = []
    done = 0
    for span in sorted(spans, key=lambda one: one.start):
        if span.start < done or paper.abstract[span.start : span.end] != span.text:
            continue  # of another text, such as a full text
        pieces.append(escape(paper.abstract[done : span.start]))
        pieces.append(f"<mark>{escape(span.text)}</mark>")
        done = span.end
    return f"<blockquote>{''.join(pieces)}{escape(paper.abstract[done:])}</blockquote>"


def _partial(is_partial: bool) -> list[str]:
    told = "Partial: the language model stopped before it was done."
    return [f'<p class="notice">{told}</p>'] if is_partial else []


def _bounds(coverage: Mapping[str, Coverage]) -> list[str]:
    return [f'<p class="quiet">{escape(coverage_line(one))}</p>' for one in coverage.values()]


def _steps(trace: Sequence[Step]) -> str:
    if not trace:
        return ""
    steps = "".join(
        f"<li>{escape(step.thought)} <code>{escape(step.action)}</code><br>"
        f'<span class="quiet">{escape(step.observation)}</span></li>'
        for step in trace
    )
    head = f"<summary>How it was found: {count(len(trace), 'step')}</summary>"
    return f"<details>{head}<ol>{steps}</ol></details>"


def _page(blocks: Iterable[str]) -> str:
    inside = "\n".join(filter(None, blocks))
    return (
        f"<style>{STYLE}</style>\n"
        f'<div class="landscape-results tex2jax_ignore mathjax_ignore">\n{inside}\n</div>'
    )
