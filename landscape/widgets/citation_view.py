"""What the panel of citations shows: the paper or the guesses, and how they were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from landscape._render import escape
from landscape._wording import count
from landscape.types import Hit
from landscape.widgets.paper_list import Item
from landscape.widgets.scholar_panel import without_the_word_failed

if TYPE_CHECKING:
    from landscape.types import Attribution, Guess


def answer_html(found: Attribution) -> str:
    """The answer in a sentence, whether it is partial, and what the reader should know."""
    if found.paper is not None:
        label = f"{found.paper.title} ({found.paper.label})"
        head = f"The excerpt most likely cites: {label}"
    elif found.guesses:
        head = "No paper was selected. The best guesses:"
    else:
        head = "No paper was selected, and none is near enough to be a guess."
    partial = (
        "<div class='landscape-partial'>Partial: the language model ended before it had decided."
        "</div>"
        if found.partial
        else ""
    )
    notes = "".join(
        f"<div class='landscape-quiet'>{escape(without_the_word_failed(note))}</div>"
        for note in found.notes
    )
    return (
        f"<div class='landscape-asked tex2jax_ignore mathjax_ignore'>{escape(head)}</div>"
        f"{partial}{notes}"
    )


def item_of(found: Attribution, guess: Guess, rank: int) -> Item:
    """One guess as a list of papers draws it."""
    is_it = found.paper is not None and guess.paper.paper_id == found.paper.paper_id
    verdict = "<span class='landscape-verdict'>✓ selected.</span> " if is_it else ""
    why = f"{escape(guess.reason[:1].upper() + guess.reason[1:])}. " if guess.reason else ""
    page = (
        f"{Hit(rank, guess.paper, guess.score).to_html()}"
        f"<div class='landscape-quiet'>{verdict}{why}Score {guess.score:.2f}.</div>"
    )
    return Item(str(rank), f"{rank}.", guess.paper.title, page)


def steps_html(found: Attribution) -> str:
    """What was done, step by step, and what was searched."""
    steps = "".join(
        f"<li>{escape(step.thought)} <code>{escape(step.action)}</code><br>"
        f"<span class='quiet'>{escape(step.observation)}</span></li>"
        for step in found.trace
    )
    n = len(found.trace)
    how = f"How it was found: {count(n, 'step')}, {found.seconds:.1f} s"
    return (
        "<div class='landscape-results tex2jax_ignore mathjax_ignore'>"
        f"<details><summary>{how}</summary><ol>{steps}</ol></details>"
        f"<p class='quiet'>{escape(found.coverage.summary)}</p></div>"
    )
