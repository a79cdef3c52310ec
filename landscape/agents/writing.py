"""What attributor and desk found, as JSON values and as text for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from landscape.query.exporting import evidence_as_dict, plain, results_as_dict
from landscape.query.records import Coverage, Hit, Paper, Results
from landscape.query.writing import coverage_as_text

if TYPE_CHECKING:
    from landscape.agents.attribute.records import Attribution, Guess
    from landscape.agents.cite.records import Citing, Suggestion

_WIDTH = 88


def paper_as_dict(paper: Paper) -> dict[str, Any]:
    """A paper as JSON values, as ``landscape search --json`` has it, without a rank.

    Examples
    --------
    >>> paper_as_dict(Paper(0, "x", "Dust", ""))["title"]
    'Dust'
    """
    hit = Hit(1, paper, 0.0)
    found = results_as_dict(Results("", (hit,), Coverage("", 0, 0, {}, None, None)))["results"][0]
    return {name: value for name, value in found.items()
            if name not in ("rank", "score", "parts", "outlier")}  # fmt: skip


def coverage_as_dict(coverage: Coverage) -> dict[str, Any]:
    """What was searched, as JSON values.

    Examples
    --------
    >>> coverage_as_dict(Coverage("A", 9, 4, {}, None, None))["searched"]
    4
    """
    found: dict[str, Any] = results_as_dict(Results("", (), coverage))["coverage"]
    return found


def attribution_as_dict(found: Attribution) -> dict[str, Any]:
    """An attribution as JSON values.

    Parameters
    ----------
    found : Attribution

    Returns
    -------
    dict
        ``excerpt, sentence, clause, abstained, partial, paper, chance, guesses, method, trace,
        notes, settings, coverage, seconds``.
    """
    return {
        "excerpt": found.excerpt,
        "sentence": found.sentence,
        "clause": found.clause,
        "abstained": found.abstained,
        "partial": found.partial,
        "paper": paper_as_dict(found.paper) if found.paper is not None else None,
        "chance": None if found.chance is None else round(found.chance, 2),
        "guesses": [
            {"rank": rank, **paper_as_dict(guess.paper), "score": guess.score,
             "reason": guess.reason}
            for rank, guess in enumerate(found.guesses, start=1)
        ],
        "method": found.method,
        "trace": [
            {"thought": step.thought, "action": step.action, "observation": step.observation,
             "labels": list(step.labels)}
            for step in found.trace
        ],
        "notes": list(found.notes),
        "settings": plain(found.settings),
        "coverage": coverage_as_dict(found.coverage),
        "seconds": round(found.seconds, 4),
    }  # fmt: skip


def attribution_as_text(found: Attribution) -> str:
    """An attribution as text: the paper, or the best guesses.

    Parameters
    ----------
    found : Attribution

    Returns
    -------
    str
    """
    if found.paper is not None:
        reason = next((g for g in found.guesses if g.paper.paper_id == found.paper.paper_id), None)
        shown = _paper(found.paper) if reason is None else _guess(reason)
        head = f"The excerpt most likely cites:\n{shown}"
        others = [g for g in found.guesses if g.paper.paper_id != found.paper.paper_id][:3]
        more = "Next best:" if others else ""
    else:
        head, others = "No paper was selected.", list(found.guesses[:5])
        more = "Best guesses:" if others else "No paper was found."
    listed = [_guess(guess, number=n) for n, guess in enumerate(others, start=1)]
    blocks = [
        head,
        "\n".join(filter(None, [more, *listed])),
        "\n".join(found.notes),
        coverage_as_text(found.coverage),
    ]
    return "\n\n".join(filter(None, blocks))


def citing_as_dict(found: Citing) -> dict[str, Any]:
    """Papers to cite as JSON values.

    Parameters
    ----------
    found : Citing

    Returns
    -------
    dict
        ``context, keywords, suggestions, method, partial, notes, coverage, seconds``.
    """
    return {
        "context": found.context,
        "keywords": found.keywords,
        "suggestions": [_suggestion(one) for one in found.suggestions],
        "method": found.method,
        "partial": found.partial,
        "notes": list(found.notes),
        "coverage": {name: coverage_as_dict(one) for name, one in found.coverage.items()},
        "seconds": round(found.seconds, 4),
    }


def citing_as_text(found: Citing) -> str:
    """Papers to cite as text, each with its highlights.

    Parameters
    ----------
    found : Citing

    Returns
    -------
    str
    """
    several = len(found.coverage) > 1
    papers = "\n\n".join(_suggested(one, several=several) for one in found.suggestions)
    bounds = [coverage_as_text(one) for one in found.coverage.values()]
    blocks = [papers or "No paper was found.", "\n".join(found.notes), "\n".join(bounds)]
    return "\n\n".join(filter(None, blocks))


def _suggestion(one: Suggestion) -> dict[str, Any]:
    written = one.sentence
    return {
        "rank": one.rank,
        **paper_as_dict(one.paper),
        "corpus": one.corpus,
        "also_in": list(one.also_in),
        "score": one.score,
        "highlights": [
            {"text": h.text, "start": h.start, "end": h.end, "score": h.score,
             "matters": h.matters}
            for h in one.highlights
        ],
        "sentence": None if written is None else {
            "text": written.text,
            "verdict": written.verdict,
            "evidence": [evidence_as_dict(piece) for piece in written.evidence],
        },
    }  # fmt: skip


def _suggested(one: Suggestion, *, several: bool) -> str:
    where = f"    in {', '.join((one.corpus, *one.also_in))}" if several else ""
    lines = [_paper(one.paper, number=one.rank), where]
    lines += [_indented(f"- {h.text}") for h in one.highlights]
    if one.sentence is not None:
        lines.append(_indented(f"→ {one.sentence.text}"))
    return "\n".join(filter(None, lines))


def _guess(guess: Guess, *, number: int | None = None) -> str:
    why = f": {guess.reason}" if guess.reason else ""
    return f"{_paper(guess.paper, number=number)}\n    score {guess.score:.2f}{why}"


def _paper(paper: Paper, *, number: int | None = None) -> str:
    names = "; ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
    facts = ", ".join(filter(None, [names, str(paper.year or ""), paper.label]))
    head = f"{number:2}. " if number is not None else "    "
    title = textwrap.fill(paper.title, _WIDTH, initial_indent=head, subsequent_indent="    ")
    return f"{title}\n    {facts}"


def _indented(text: str) -> str:
    line = " ".join(text.split())
    return textwrap.fill(line, _WIDTH, initial_indent="    ", subsequent_indent="      ")
