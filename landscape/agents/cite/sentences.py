"""Citing sentences by a language model: written from a paper's sentences, and checked by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from landscape.agents.cite.prompts import CITING, CITING_SCHEMA
from landscape.answers._citations import without_labels
from landscape.answers._evidence import check_claims
from landscape.llm._quoting import as_data
from landscape.search._sentences import sentences_of
from landscape.types import CitingSentence, Evidence, Suggestion

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel

_LONGEST = 600  # characters of a sentence
_LONGEST_CONTEXT = 4000


def write_sentences(
    context: str,
    keywords: str | None,
    suggestions: Sequence[Suggestion],
    model: LanguageModel,
) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    """Write a citing sentence for each paper, in one request, and check all in another.

    A sentence is kept only if the check finds it supported by sentences of its paper: none is
    better than one that says what the paper does not.

    Parameters
    ----------
    context : str
    keywords : str or None
    suggestions : sequence of Suggestion
    model : LanguageModel

    Returns
    -------
    suggestions : tuple of Suggestion
    notes : tuple of str

    Raises
    ------
    RemoteError
        The model failed.
    """
    known: dict[str, tuple[str, Evidence]] = {}
    papers: list[dict[str, Any]] = []
    for n, one in enumerate(suggestions, start=1):
        mine = {f"p{n}s{i}": s for i, s in enumerate(sentences_of(one.paper), start=1)}
        known |= {key: (f"p{n}", sentence) for key, sentence in mine.items()}
        papers.append(
            {
                "paper": f"p{n}",
                "title": without_labels(one.paper.title),
                "sentences": {key: without_labels(s.text) for key, s in mine.items()},
            }
        )
    brief = {"text": context[-_LONGEST_CONTEXT:], "key_words": keywords or "", "papers": papers}
    reply = model.complete_json(CITING, as_data(brief), CITING_SCHEMA)
    written: dict[str, tuple[str, tuple[Evidence, ...]]] = {}
    for item in reply["sentences"]:
        text = " ".join(without_labels(item["sentence"]).split())[:_LONGEST]
        evidence = tuple(
            known[key][1]
            for key in dict.fromkeys(item["evidence"])
            if key in known and known[key][0] == item["paper"]
        )
        if text and evidence:  # an invented paper has no sentences
            written.setdefault(item["paper"], (text, evidence[:3]))
    return _checked(suggestions, written, model)


def _checked(
    suggestions: Sequence[Suggestion],
    written: dict[str, tuple[str, tuple[Evidence, ...]]],
    model: LanguageModel,
) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    # One line and one label for each sentence, so that none is joined to another.
    lines = [
        f"{text.rstrip('.!? ')} [{suggestions[int(name[1:]) - 1].paper.label}]."
        for name, (text, _) in written.items()
    ]
    checked = check_claims("\n".join(lines), [one.paper for one in suggestions], model=model)
    verdicts: dict[str, list[Any]] = {}
    for claim in checked.claims:
        for label in claim.citations[:1]:
            verdicts.setdefault(label, []).append(claim)
    kept = []
    dropped = 0
    for n, one in enumerate(suggestions, start=1):
        text, evidence = written.get(f"p{n}", ("", ()))
        claims = verdicts.get(one.paper.label, [])
        good = bool(text and claims) and all(claim.verdict == "supported" for claim in claims)
        dropped += bool(text) and not good
        shown = CitingSentence(text, evidence, "supported") if good else None
        kept.append(replace(one, sentence=shown))
    notes = list(checked.notes)
    if dropped:
        one_or_more = "sentence was" if dropped == 1 else "sentences were"
        notes.append(f"{dropped} {one_or_more} left out that the papers do not bear out.")
    lacking = len(suggestions) - len(written)
    if lacking:
        notes.append(f"For {lacking} of {len(suggestions)} papers no sentence was written.")
    return tuple(kept), tuple(notes)
