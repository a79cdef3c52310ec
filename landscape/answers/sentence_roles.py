"""Estimate the role of each sentence of an abstract: context, aim, method or result.

The model is a multinomial logistic regression of words, pairs of words and positions. It is fitted
by ``python -m benchmarks.sentence_roles`` to abstracts with headings such as "Aims.", which give
the role of each sentence.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.models import read_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROLES = ("context", "aim", "method", "result")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[=±%]")
_HEADING = re.compile(
    r"\W{0,3}(context|background|introduction|aims?|objectives?|goals?|methods?|results?|"
    r"findings|conclusions?)\s?[.:]",
    re.IGNORECASE,
)
_OF_HEADING = {
    "context": "context",
    "background": "context",
    "introduction": "context",
    "aim": "aim",
    "objective": "aim",
    "goal": "aim",
    "method": "method",
    "result": "result",
    "finding": "result",
    "conclusion": "result",
}


class _Model(NamedTuple):
    """Weights of terms, (n, 4), and of positions, (4, 4), and intercepts, (4,)."""

    terms: dict[str, Floats]
    positions: Floats
    intercept: Floats


def role_probabilities(sentences: Sequence[str]) -> Floats:
    """Estimate the probability of each role of `ROLES` for the sentences of an abstract, (n, 4).

    The sentences are in the order of the abstract. A heading gives the role of the sentences after
    it.

    >>> first, last = role_probabilities(["Gas in galaxies cools.", "We find that dust is hot."])
    >>> ROLES[first.argmax()], ROLES[last.argmax()]
    ('context', 'result')
    """
    model = _model()
    logits = np.array([model.intercept] * len(sentences)).reshape(-1, len(ROLES))
    logits += position_features(len(sentences)) @ model.positions
    known = ""
    for row, sentence in enumerate(sentences):
        known = role_of_heading(sentence) or known
        if known:
            logits[row] = np.where(np.array(ROLES) == known, 0.0, -np.inf)
            continue
        found = [weights for t in terms_of(sentence) if (weights := model.terms.get(t)) is not None]
        if found:
            logits[row] += np.sum(found, axis=0) / np.sqrt(len(found))
    odds = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True), dtype=np.float64)


def role_of_heading(sentence: str) -> str:
    """Return the role that a heading at the start of a sentence names, or ""."""
    match = _HEADING.match(sentence)
    return _OF_HEADING[match[1].lower().removesuffix("s")] if match else ""


def terms_of(sentence: str) -> list[str]:
    """Return the different words and pairs of words; ^ marks the start, and # is any number."""
    words = ["#" if word.isdigit() else word for word in _WORD.findall(sentence.lower())]
    starts = ["^" + " ".join(words[:n]) for n in (1, 2) if len(words) >= n]
    pairs = [f"{one} {other}" for one, other in itertools.pairwise(words)]
    return list(dict.fromkeys([*words, *pairs, *starts]))


def position_features(n: int) -> Floats:
    """Return features of the positions of n sentences, shape (n, 4)."""
    place = np.arange(n) / max(n - 1, 1)
    return np.column_stack([place, place**2, np.arange(n) == 0, np.arange(n) == n - 1])


@cache
def _model() -> _Model:
    stored = read_numbers("sentence_roles")
    terms = {term: np.array(weights) / 100 for term, weights in stored["terms"].items()}
    return _Model(terms, np.array(stored["positions"]), np.array(stored["intercept"]))
