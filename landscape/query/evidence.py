"""Check every sentence of an answer against the sentences of the papers that it cites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from landscape.errors import RemoteError
from landscape.query.agreement import compare
from landscape.query.citations import (
    CONTRADICTED,
    UNSUPPORTED,
    Passage,
    read_citations,
    write_citations,
)
from landscape.query.prompts import CHECKING, CHECKING_SCHEMA, as_data
from landscape.query.quantities import missing_numbers
from landscape.query.quoting import Score, sentences_of
from landscape.query.records import Claim, Evidence, Paper, Verdict

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel

_MOST_EVIDENCE = 3  # sentences for a claim
_MARKS: dict[Verdict, str | None] = {
    "supported": None,
    "contradicted": CONTRADICTED,
    "not found": UNSUPPORTED,
}


@dataclass(frozen=True)
class Checked:
    """An answer's text after checking.

    Attributes
    ----------
    text : str
        Without invented citations; sentences that the papers do not bear out are marked.
    claims : tuple of Claim
        One for each sentence that says something, in order.
    unknown : tuple of str
        Citations that were stripped.
    notes : tuple of str
        What the reader should know of the check.
    """

    text: str
    claims: tuple[Claim, ...]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_claims(
    text: str,
    papers: Sequence[Paper],
    *,
    model: LanguageModel | None = None,
    score: Score | None = None,
) -> Checked:
    """Check an answer.

    By rule, see `landscape.query.agreement`; with a language model, by it, in one request. What it
    says is believed only as far as it names sentences of the papers that the claim cites, and as
    those papers hold the claim's numbers; else the rules decide.

    Parameters
    ----------
    text : str
        An answer with citations as labels in square brackets.
    papers : sequence of Paper
        Those that it may cite.
    model : LanguageModel, optional
    score : callable, optional
        Cosines of sentences to a claim; lets the rules accept a paraphrase.

    Returns
    -------
    Checked

    Examples
    --------
    >>> paper = Paper(0, "a", "", "We find that dust cools within 3 Myr.", bibcode="2024A&A...1A")
    >>> checked = check_claims("Dust cools [2024A&A...1A]. It is blue [2020Fake..1A].", [paper])
    >>> print(checked.text)
    Dust cools [2024A&A...1A]. It is blue [unsupported].
    >>> [(claim.verdict, [e.text for e in claim.evidence]) for claim in checked.claims]
    [('supported', ['We find that dust cools within 3 Myr.']), ('not found', [])]
    """
    passages = read_citations(text, [paper.label for paper in papers])
    by_label: dict[str, tuple[Evidence, ...]] = {}
    for paper in papers:
        by_label[paper.label] = by_label.get(paper.label, ()) + sentences_of(paper)
    stated = [passage for passage in passages if passage.is_claim]
    claims = [_by_rule(passage, by_label, score) for passage in stated]
    notes: list[str] = []
    if model is not None and any(claim.citations for claim in claims):
        try:
            claims = _by_model(claims, by_label, model)
        except RemoteError as error:
            notes.append(f"Claims were checked by rule only: {error}")
    verdicts = iter([claim.verdict for claim in claims])
    marks = [_MARKS[next(verdicts)] if passage.is_claim else None for passage in passages]
    unknown = tuple(dict.fromkeys(label for passage in passages for label in passage.unknown))
    if unknown:
        notes.append(f"Citations of papers that were not found are stripped: {len(unknown)}.")
    return Checked(write_citations(passages, marks), tuple(claims), unknown, tuple(notes))


def _by_rule(
    passage: Passage, by_label: dict[str, tuple[Evidence, ...]], score: Score | None
) -> Claim:
    sentences = [s for label in passage.citations for s in by_label[label]]
    texts = [sentence.text for sentence in sentences]
    similarity = score(passage.text, texts) if score is not None and texts else None
    agreement = compare(passage.text, texts, similarity=similarity)
    evidence = tuple(sentences[place] for place in agreement.sentences)
    return Claim(passage.text, passage.citations, evidence, agreement.verdict)


def _by_model(
    claims: Sequence[Claim], by_label: dict[str, tuple[Evidence, ...]], model: LanguageModel
) -> list[Claim]:
    cited = dict.fromkeys(label for claim in claims for label in claim.citations)
    known: dict[str, Evidence] = {}
    papers: list[dict[str, Any]] = []
    for n, label in enumerate(cited, start=1):
        mine = {f"p{n}s{i}": s for i, s in enumerate(by_label[label], start=1)}
        known |= mine
        papers.append({"label": label, "sentences": {key: s.text for key, s in mine.items()}})
    listed = [
        {"claim": n, "text": claim.text, "cites": claim.citations}
        for n, claim in enumerate(claims)
        if claim.citations
    ]
    reply = model.complete_json(
        CHECKING, as_data({"papers": papers, "claims": listed}), CHECKING_SCHEMA
    )
    judged = list(claims)
    for verdict in reply["verdicts"]:
        if 0 <= verdict["claim"] < len(claims):
            judged[verdict["claim"]] = _believed(claims[verdict["claim"]], verdict, known, by_label)
    return judged


def _believed(
    claim: Claim,
    verdict: dict[str, Any],
    known: dict[str, Evidence],
    by_label: dict[str, tuple[Evidence, ...]],
) -> Claim:
    """What a model says of a claim, as far as it can be checked; else what the rules say."""
    quoted = dict.fromkeys(known[key] for key in verdict["sentences"] if key in known)
    evidence = tuple(s for s in quoted if s.label in claim.citations)[:_MOST_EVIDENCE]
    said: Verdict = verdict["verdict"]
    if said == "not found":
        return Claim(claim.text, claim.citations, claim.evidence, said)
    if not evidence:
        return claim
    whole = " ".join(s.text for label in claim.citations for s in by_label[label])
    if said == "supported" and missing_numbers(claim.text, whole):
        said = "contradicted" if claim.verdict == "contradicted" else "not found"
    return Claim(claim.text, claim.citations, evidence, said)
