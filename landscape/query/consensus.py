"""How far the papers found agree on something, with each paper's own stance to check it by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from landscape.query.prompts import CONSENSUS, as_data
from landscape.query.quoting import sentences_of
from landscape.query.records import Consensus, Evidence, Paper, Stance

if TYPE_CHECKING:
    from landscape.llm._client import LanguageModel

LEVELS = (
    "Strong Agreement",
    "Moderate Agreement",
    "Weak Agreement",
    "No Clear Consensus",
    "Weak Disagreement",
    "Moderate Disagreement",
    "Strong Disagreement",
)
"""From all papers for the statement to all against it."""

Position = Literal["supports", "refutes", "mixed", "irrelevant"]
"""What one paper says to a statement."""

_POSITIONS = ["supports", "refutes", "mixed", "irrelevant"]
# Shares of the papers with a stance, for minus against, above which a level begins.
_BOUNDS = (0.75, 0.4, 0.15, -0.15, -0.4, -0.75)
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "statement": {"type": "string"},
        "stances": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "paper": {"type": "string"},
                    "position": {"type": "string", "enum": _POSITIONS},
                    "sentence": {"type": "string"},
                },
                "required": ["paper", "position", "sentence"],
                "additionalProperties": False,
            },
        },
        "level": {"type": "string", "enum": list(LEVELS)},
        "explanation": {"type": "string"},
        "relevance": {"type": "number"},
    },
    "required": ["statement", "stances", "level", "explanation", "relevance"],
    "additionalProperties": False,
}


def judge_consensus(question: str, papers: Sequence[Paper], model: LanguageModel) -> Consensus:
    """Judge how far papers agree, in one request.

    A stance counts only with a sentence of its own paper that shows it; without one the paper is
    irrelevant. A level on the other side of the papers' stances is replaced by the level that they
    come to, and the explanation says so.

    Parameters
    ----------
    question : str
    papers : sequence of Paper
    model : LanguageModel

    Returns
    -------
    Consensus

    Raises
    ------
    RemoteError
        The model failed.

    Examples
    --------
    >>> class Fixed:
    ...     model = "fixed"
    ...     def complete_json(self, system, user, schema):
    ...         stance = {"paper": "p1", "position": "supports", "sentence": "p1s1"}
    ...         return {"statement": "Dust cools.", "stances": [stance], "relevance": 0.9,
    ...                 "level": "Strong Agreement", "explanation": "It says so."}
    >>> paper = Paper(0, "a", "", "We show that dust cools.", bibcode="2024A&A...1A")
    >>> consensus = judge_consensus("Does dust cool?", [paper], Fixed())
    >>> consensus.level, consensus.stances[0].evidence.text
    ('Strong Agreement', 'We show that dust cools.')
    """
    if not papers:
        return Consensus(question, "No Clear Consensus", "No papers were found.", 0.0)
    sentences = {
        f"p{n}": {f"p{n}s{i}": s for i, s in enumerate(sentences_of(paper), start=1)}
        for n, paper in enumerate(papers, start=1)
    }
    listed = [
        {"paper": key, "title": paper.title, "sentences": {k: s.text for k, s in own.items()}}
        for (key, own), paper in zip(sentences.items(), papers, strict=True)
    ]
    reply = model.complete_json(
        CONSENSUS, as_data({"question": question, "papers": listed}), _SCHEMA
    )
    stances = _stances(reply["stances"], papers, sentences)
    level, remark = _level(reply["level"], stances)
    return Consensus(
        statement=" ".join(reply["statement"].split()) or question,
        level=level,
        explanation=" ".join(f"{reply['explanation']} {remark}".split()),
        relevance=_relevance(reply["relevance"], stances),
        stances=stances,
    )


def level_of(stances: Sequence[Stance]) -> str:
    """Give the level that stances come to.

    Parameters
    ----------
    stances : sequence of Stance

    Returns
    -------
    str
        By the share of supporting papers minus that of refuting ones, among those that are not
        irrelevant: beyond 0.75 strong, 0.4 moderate, 0.15 weak.

    Examples
    --------
    >>> level_of([Stance("a", "a", "supports"), Stance("b", "b", "mixed")])
    'Moderate Agreement'
    >>> level_of([])
    'No Clear Consensus'
    """
    counts = Counter(stance.position for stance in stances)
    n = counts.total() - counts["irrelevant"]
    if not n:
        return "No Clear Consensus"
    balance = (counts["supports"] - counts["refutes"]) / n
    for level, bound in zip(LEVELS[:3], _BOUNDS[:3], strict=True):
        if balance > bound:
            return level
    for level, bound in zip(reversed(LEVELS[4:]), reversed(_BOUNDS[3:]), strict=True):
        if balance < bound:
            return level
    return "No Clear Consensus"


def _stances(
    rows: Sequence[Mapping[str, Any]],
    papers: Sequence[Paper],
    sentences: Mapping[str, Mapping[str, Evidence]],
) -> tuple[Stance, ...]:
    said: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        said.setdefault(row["paper"], row)  # the first word counts
    stances = []
    for (key, own), paper in zip(sentences.items(), papers, strict=True):
        row = said.get(key, {})
        evidence = own.get(row.get("sentence", ""))
        position: Position = row.get("position", "irrelevant") if evidence else "irrelevant"
        shown = None if position == "irrelevant" else evidence
        stances.append(Stance(paper.paper_id, paper.label, position, shown))
    return tuple(stances)


def _level(said: str, stances: Sequence[Stance]) -> tuple[str, str]:
    """The level to show, and a remark where it is not the one that the model gave."""
    counted = level_of(stances)
    sides = [_side(said), _side(counted)]
    unfounded = sides[0] != 0 and all(stance.position == "irrelevant" for stance in stances)
    if sides[0] * sides[1] < 0 or unfounded:
        return counted, f"(The model said {said}; the papers' own sentences come to {counted}.)"
    return said, ""


def _side(level: str) -> int:
    middle = LEVELS.index("No Clear Consensus")
    place = LEVELS.index(level)
    return (place < middle) - (place > middle)


def _relevance(said: float, stances: Sequence[Stance]) -> float:
    if all(stance.position == "irrelevant" for stance in stances):
        return 0.0
    return float(min(max(said, 0.0), 1.0)) if said == said else 0.0  # NaN is legal to some servers
