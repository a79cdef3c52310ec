"""Find sentences without a citation that need one, with a logistic model of their words.

The weights in ``data/citation_need.yaml`` were fitted by ``benchmarks/citation_need.py`` to
sentences of published papers, whose citations were removed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from landscape._io import data_file, read_yaml

MIN_WORDS = 7
"""Minimum number of words of a sentence; shorter sentences need their context."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d.]*")
_THIS_PAPER = re.compile(r"\bthis (?:paper|work|study|letter)\b", re.IGNORECASE)
_REMAINS = frozenset({"et", "al", "etal"})  # of the names of cited authors
_NEXT, _NEAR = (-2, -1, 1, 2), 10  # sentences around a sentence, whose citations are features
_USUAL_SHARE = 0.2  # share of sentences with a citation


@dataclass(frozen=True)
class CitationNeed:
    """Estimate that a sentence needs a citation."""

    cue: str  # words of the sentence that suggest it, or "" if it needs no citation
    chance: float  # share of such sentences that have a citation in published papers


def citation_need(text: str, cited: Sequence[bool] = (False,), place: int = 0) -> CitationNeed:
    """Estimate whether a sentence needs a citation.

    `cited` says which sentences of the draft have a citation, and `place` is the sentence's place.
    """
    if len(text.split()) < MIN_WORDS or _THIS_PAPER.search(text):
        return CitationNeed("", 0.0)
    model = _model()
    weights: Mapping[str, float] = model["weights"]
    held = need_features(text, cited, place)
    score = model["intercept"] + sum(weights.get(name, 0.0) * held[name] for name in held)
    chance = 1 / (1 + math.exp(-score))
    if chance < model["threshold"]:
        return CitationNeed("", chance)
    if phrase := earlier_work(text):
        return CitationNeed(phrase, chance)
    best = max(_WORD.findall(text), key=lambda word: weights.get(word.lower(), 0.0), default="")
    if weights.get(best.lower(), 0.0) > 0:
        return CitationNeed(best, chance)
    return CitationNeed("citations around it", chance)


def need_features(text: str, cited: Sequence[bool], place: int) -> dict[str, float]:
    """Return the features of a sentence: words, their form, cues, and citations around it."""
    words = [word for word in _WORD.findall(text) if word.lower() not in _REMAINS]
    lower = ["0" if word[0].isdigit() else word.lower() for word in words]
    inner = words[1:]
    near = [
        cited[n]
        for n in range(max(0, place - _NEAR), min(len(cited), place + _NEAR + 1))
        if n != place
    ]
    return (
        {word: 1.0 for word in lower if len(word) > 1 or word in "a0"}
        | {
            f"<first> {''.join(lower[:1])}": 1.0,
            "<earlier work>": float(bool(earlier_work(text))),
            "<own work>": float(bool(_phrases("own_work").search(text))),
            "<names>": min(sum(word.istitle() for word in inner), 3) / 3,
            "<acronyms>": min(sum(word.isupper() and len(word) > 1 for word in inner), 3) / 3,
            "<mixed case>": float(any(word[1:] != word[1:].lower() != "" for word in inner)),
            "<numbers>": min(lower.count("0"), 5) / 5,
            "<length>": min(len(words), 50) / 50,
            "<cited near>": sum(near) / len(near) if near else _USUAL_SHARE,
        }
        | {
            f"<cited {step:+}>": float(cited[place + step])
            for step in _NEXT
            if 0 <= place + step < len(cited)
        }
    )


def earlier_work(text: str) -> str:
    """Return words such as "previous studies", or "" if the sentence is about the draft itself."""
    found = None if _phrases("own_work").search(text) else _phrases("earlier_work").search(text)
    return found[0].strip() if found else ""


@cache
def _phrases(name: str) -> re.Pattern[str]:
    listed = read_yaml(data_file("phrases.yaml"))[name]
    return re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)


@cache
def _model() -> dict[str, Any]:
    model: dict[str, Any] = read_yaml(data_file("citation_need.yaml"))
    return model
