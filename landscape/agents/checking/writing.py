"""A check of a draft as JSON values and as text for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from landscape._wording import count
from landscape.agents.writing import paper_as_dict
from landscape.query.exporting import evidence_as_dict

if TYPE_CHECKING:
    from landscape.agents.checking.records import DraftCheck, Judgement, Uncited

_WIDTH = 88
_MEANING = {"near": " (the same subject, not verified)", "far": " (another subject, it seems)"}
_ORDER = (
    "contradicted", "unclear", "far", "not in the bibliography", "not in the corpus", "near",
    "supported",
)  # fmt: skip


def check_as_dict(found: DraftCheck) -> dict[str, Any]:
    """A check as JSON values.

    Parameters
    ----------
    found : DraftCheck

    Returns
    -------
    dict
        ``citations, uncited, counts, sentences, method, partial, notes``.
    """
    return {
        "citations": [
            {
                "key": one.key,
                "line": one.line,
                "sentence": one.sentence,
                "part": one.part,
                "verdict": one.verdict,
                "paper": paper_as_dict(one.paper) if one.paper is not None else None,
                "evidence": [evidence_as_dict(piece) for piece in one.evidence],
                "nearness": one.nearness,
                "why": one.why,
            }
            for one in found.judgements
        ],
        "uncited": [
            {
                "line": one.line,
                "sentence": one.sentence,
                "why": one.why,
                "candidates": [paper_as_dict(two.paper) for two in one.candidates],
            }
            for one in found.uncited
        ],
        "counts": found.counts,
        "sentences": found.n_sentences,
        "method": found.method,
        "partial": found.partial,
        "notes": list(found.notes),
    }


def check_as_text(found: DraftCheck) -> str:
    """A check as text: how many of each verdict, then each citation in the order of the draft.

    Parameters
    ----------
    found : DraftCheck

    Returns
    -------
    str
    """
    counts = found.counts
    told = ", ".join(
        f"{counts[name]} {name}{_MEANING.get(name, '')}" for name in _ORDER if name in counts
    )
    n = len(found.judgements)
    head = f"{count(n, 'citation')} in {count(found.n_sentences, 'sentence')}" + (
        f": {told}." if told else "."
    )
    blocks = [head, *found.notes, *map(_judged, found.judgements)]
    if found.uncited:
        blocks.append(
            f"{len(found.uncited)} of the sentences without a citation seem to need one, by their "
            "wording; others may:"
        )
        blocks += map(_uncited, found.uncited)
    elif found.sought:
        blocks.append("No sentence without a citation reads as if it needed one; some may.")
    return "\n\n".join(blocks)


def _judged(one: Judgement) -> str:
    lines = [f"line {one.line}: {one.key}: {one.verdict}" + (f" ({one.why})" if one.why else "")]
    if one.paper is not None:
        lines.append(_indented(one.paper.title))
    lines.append(_indented(one.part))
    lines += [_indented(f"“{piece.text}”", deeper=True) for piece in one.evidence]
    return "\n".join(lines)


def _uncited(one: Uncited) -> str:
    lines = [f"line {one.line}: “{one.why}”", _indented(one.sentence)]
    for candidate in one.candidates:
        paper = candidate.paper
        lines.append(_indented(f"- {paper.title} ({paper.year or 'n.d.'}) {paper.label}"))
    return "\n".join(lines)


def _indented(text: str, *, deeper: bool = False) -> str:
    indent = "      " if deeper else "    "
    line = " ".join(text.split())
    return textwrap.fill(line, _WIDTH, initial_indent=indent, subsequent_indent=indent)
