"""Check each claim of an answer against the cited papers, and judge consensus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from landscape.answers.agreement import missing_numbers
from landscape.answers.citations import (
    CONTRADICTED,
    UNCLEAR,
    UNSUPPORTED,
    Passage,
    read_citations,
    write_citations,
)
from landscape.answers.verdicts import check_many
from landscape.errors import RemoteError
from landscape.llm import LanguageModel, ReplyForm, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.search import sentences_of
from landscape.types import Claim, ClaimVerdict, Consensus, Evidence, Paper, Stance, Verdict

_MAX_EVIDENCE = 3  # sentences per claim
MARKS: dict[ClaimVerdict, str | None] = {
    "supported": None,
    "contradicted": CONTRADICTED,
    "unclear": UNCLEAR,
    "not found": UNSUPPORTED,
}

Level = Literal[
    "Strong Agreement",
    "Moderate Agreement",
    "Weak Agreement",
    "No Clear Consensus",
    "Weak Disagreement",
    "Moderate Disagreement",
    "Strong Disagreement",
]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Levels of consensus, from strong agreement to strong disagreement with the statement."""
Position = Literal["supports", "refutes", "mixed", "irrelevant"]
"""Position of one paper on a statement."""
# Lower bounds of the balance for strong, moderate and weak agreement; the negative values are the
# upper bounds for disagreement. The balance is (supporting - refuting) / (papers with a stance).
_BOUNDS = (0.75, 0.4, 0.15)


class _Judgement(ReplyForm):
    claim: int
    verdict: Verdict
    sentences: list[str]


class _Judgements(ReplyForm):
    verdicts: list[_Judgement]


class _Position(ReplyForm):
    paper: str
    position: Position
    sentence: str


class _Agreement(ReplyForm):
    statement: str
    stances: list[_Position]
    level: Level
    explanation: str
    relevance: float


@dataclass(frozen=True)
class Checked:
    text: str
    claims: tuple[Claim, ...]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_claims(
    text: str, papers: Sequence[Paper], *, model: LanguageModel | None = None
) -> Checked:
    """Check the claims of an answer against the cited papers.

    The verdict of a language model (one request) is used only if the model names sentences of the
    cited papers and these papers contain the numbers of the claim. Otherwise `check_claim`
    decides; its contradictions are "unclear" unless they are certain.

    Parameters
    ----------
    text : str
        Answer with citations as labels in square brackets.
    papers : sequence of Paper
        Papers that the answer may cite.
    model : LanguageModel, optional

    Returns
    -------
    Checked

    Examples
    --------
    >>> text, code = "We find that dust cools within 3 Myr.", "2024A&A...1A"
    >>> paper = Paper(row=0, paper_id="a", title="", abstract=text, bibcode=code)
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
    claims = _without_model(stated, by_label)
    notes: list[str] = []
    if model is not None and any(claim.citations for claim in claims):
        try:
            claims = _by_model(claims, by_label, model)
        except RemoteError as error:
            notes.append(f"Claims were not checked by the language model: {error}")
    verdicts = iter([claim.verdict for claim in claims])
    marks = [MARKS[next(verdicts)] if passage.is_claim else None for passage in passages]
    unknown = tuple(dict.fromkeys(label for passage in passages for label in passage.unknown))
    if unknown:
        notes.append(f"Removed citations of papers that were not found: {len(unknown)}.")
    return Checked(write_citations(passages, marks), tuple(claims), unknown, tuple(notes))


def _without_model(
    passages: Sequence[Passage], by_label: dict[str, tuple[Evidence, ...]]
) -> list[Claim]:
    """Check claims with `check_claim`."""
    cited = [[s for label in passage.citations for s in by_label[label]] for passage in passages]
    checks = check_many(
        [
            (passage.text, [sentence.text for sentence in sentences])
            for passage, sentences in zip(passages, cited, strict=True)
        ]
    )
    return [
        Claim(
            passage.text,
            passage.citations,
            tuple(sentences[place] for place in check.places[:_MAX_EVIDENCE]),
            check.verdict,
        )
        for passage, sentences, check in zip(passages, cited, checks, strict=True)
    ]


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
    brief = as_data({"papers": papers, "claims": listed})
    reply = request_reply(model, prompt("check_claims"), brief, _Judgements)
    judged = list(claims)
    for verdict in reply.verdicts:
        if 0 <= verdict.claim < len(claims):
            judged[verdict.claim] = _with_verdict(claims[verdict.claim], verdict, known, by_label)
    return judged


def _with_verdict(
    claim: Claim,
    judgement: _Judgement,
    known: dict[str, Evidence],
    by_label: dict[str, tuple[Evidence, ...]],
) -> Claim:
    """Return the claim with the verdict of the model, or unchanged if its evidence is invalid."""
    quoted = dict.fromkeys(known[key] for key in judgement.sentences if key in known)
    evidence = tuple(s for s in quoted if s.label in claim.citations)[:_MAX_EVIDENCE]
    verdict = judgement.verdict
    if verdict == "not found":
        return Claim(claim.text, claim.citations, claim.evidence, verdict)
    if not evidence:
        return claim
    whole = " ".join(s.text for label in claim.citations for s in by_label[label])
    if verdict == "supported" and missing_numbers(claim.text, whole):
        verdict = "contradicted" if claim.verdict == "contradicted" else "not found"
    return Claim(claim.text, claim.citations, evidence, verdict)


def judge_consensus(question: str, papers: Sequence[Paper], model: LanguageModel) -> Consensus:
    """Judge the consensus of papers in one request.

    Each stance needs a sentence of its paper as evidence; otherwise the paper is irrelevant. If
    the model's level contradicts the stances, it is replaced by the level computed from the
    stances, and the explanation reports this. Raises RemoteError if the model fails.

    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete_json(self, system, user, schema):
    ...         stance = {"paper": "p1", "position": "supports", "sentence": "p1s1"}
    ...         return {"statement": "Dust cools.", "stances": [stance], "relevance": 0.9,
    ...                 "level": "Strong Agreement", "explanation": "It says so."}
    >>> text, code = "We show that dust cools.", "2024A&A...1A"
    >>> paper = Paper(row=0, paper_id="a", title="", abstract=text, bibcode=code)
    >>> consensus = judge_consensus("Does dust cool?", [paper], Fixed())
    >>> consensus.level, consensus.stances[0].evidence.text
    ('Strong Agreement', 'We show that dust cools.')
    """
    sentences = {
        f"p{n}": {f"p{n}s{i}": s for i, s in enumerate(sentences_of(paper), start=1)}
        for n, paper in enumerate(papers, start=1)
    }
    listed = [
        {"paper": key, "title": paper.title, "sentences": {k: s.text for k, s in own.items()}}
        for (key, own), paper in zip(sentences.items(), papers, strict=True)
    ]
    brief = as_data({"question": question, "papers": listed})
    reply = request_reply(model, prompt("consensus"), brief, _Agreement)
    stances = _stances(reply.stances, papers, sentences)
    level, remark = _level(reply.level, stances)
    return Consensus(
        statement=" ".join(reply.statement.split()) or question,
        level=level,
        explanation=" ".join(f"{reply.explanation} {remark}".split()),
        relevance=_relevance(reply.relevance, stances),
        stances=stances,
    )


def level_of(stances: Sequence[Stance]) -> Level:
    """Compute the level of consensus from the stances."""
    counts = Counter(stance.position for stance in stances)
    n = counts.total() - counts["irrelevant"]
    if not n:
        return "No Clear Consensus"
    balance = (counts["supports"] - counts["refutes"]) / n
    return LEVELS[sum((balance <= bound) + (balance < -bound) for bound in _BOUNDS)]


def _stances(
    rows: Sequence[_Position],
    papers: Sequence[Paper],
    sentences: Mapping[str, Mapping[str, Evidence]],
) -> tuple[Stance, ...]:
    given = {row.paper: row for row in reversed(rows)}  # keep the first stance of each paper
    stances = []
    for (key, own), paper in zip(sentences.items(), papers, strict=True):
        stance = given.get(key)
        evidence = own.get(stance.sentence) if stance else None
        position: Position = stance.position if stance and evidence else "irrelevant"
        shown = None if position == "irrelevant" else evidence
        stances.append(Stance(paper.paper_id, paper.label, position, shown))
    return tuple(stances)


def _level(given: Level, stances: Sequence[Stance]) -> tuple[Level, str]:
    """Return the level of consensus, and a remark if the level of the model is different."""
    counted = level_of(stances)
    middle = LEVELS.index("No Clear Consensus")
    side, other = middle - LEVELS.index(given), middle - LEVELS.index(counted)
    unfounded = side != 0 and all(stance.position == "irrelevant" for stance in stances)
    if side * other >= 0 and not unfounded:
        return given, ""
    remark = f"(The model chose {given}, but the quoted sentences show {counted}.)"
    return counted, remark


def _relevance(given: float, stances: Sequence[Stance]) -> float:
    if all(stance.position == "irrelevant" for stance in stances):
        return 0.0
    return float(min(max(given, 0.0), 1.0)) if given == given else 0.0  # some servers send NaN
