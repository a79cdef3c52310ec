"""Whether sentences say what a claim says, told from words, numbers and negations alone.

The rules are meant to be strict: what they call supported shares most of its telling words, all of
its numbers and its direction with the sentences it rests on; a good paraphrase may be missed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from landscape.query.quantities import counts_differ, missing_numbers
from landscape.query.records import Verdict
from landscape.text._word_index import tokenise
from landscape.text._words import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENOUGH = 0.6
"""Share of a claim's words that its sentences have to hold."""

_ENOUGH_IF_NEAR = 0.35  # where a similarity of `_NEAR` speaks for it as well
_NEAR = 0.7
_SAME_MATTER = 0.7  # share of words above which two sentences that differ contradict each other
_TELLING = 0.5  # share above which the best sentence alone speaks of the claim's matter
_MOST_SENTENCES = 3

_NOT_ONLY = re.compile(r"\bnot (?:only|just|merely|necessarily)\b|\bno (?:less|fewer) than\b")
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|without|lacks?|lacking|absence|fails?|failed|"
    r"unable|unlikely|rules? out|ruled out|excludes?|excluded|rejects?|rejected|"
    r"disfavou?r(?:s|ed)?|inconsistent|incompatible|insignificant|independent|hardly|rarely|\w+n['’]t)\b",
    re.IGNORECASE,
)
_SCOPE = 4  # telling words behind a negation that it denies
_OPPOSITES = [
    ("increase increases increased increasing rise rises grow grows growing growth",
     "decrease decreases decreased decreasing decline declines fall falls drop drops"),
    ("higher larger greater more above exceed exceeds", "lower smaller less fewer below"),
    ("brighter", "fainter dimmer"), ("faster", "slower"), ("hotter warmer", "cooler colder"),
    ("stronger", "weaker"), ("older", "younger"), ("denser", "sparser"), ("steeper", "shallower"),
    ("correlate correlates correlated correlation", "anticorrelate anticorrelates anticorrelated "
     "anticorrelation"), ("positive positively", "negative negatively"),
    ("consistent compatible agrees agree", "inconsistent incompatible disagrees disagree tension"),
    ("earlier before", "later after"), ("dominant dominate dominates", "negligible"),
    ("enhance enhances enhanced", "suppress suppresses suppressed quench quenches quenched"),
    ("heat heats heated heating", "cool cools cooled cooling"),
    ("metal-rich", "metal-poor"), ("confirm confirms confirmed support supports supported",
     "refute refutes refuted contradict contradicts contradicted challenge challenges"),
]  # fmt: skip


@dataclass(frozen=True)
class Agreement:
    """What some sentences say to a claim.

    Attributes
    ----------
    verdict : Verdict
    sentences : tuple of int
        Places of those that it rests on, best first.
    coverage : float
        Share of the claim's words that they hold, from 0 to 1.
    """

    verdict: Verdict
    sentences: tuple[int, ...]
    coverage: float


def compare(
    claim: str, sentences: Sequence[str], *, similarity: NDArray[np.floating[Any]] | None = None
) -> Agreement:
    """Judge a claim by sentences.

    Parameters
    ----------
    claim : str
        Without citations.
    sentences : sequence of str
    similarity : ndarray of float, shape (n_sentences,), optional
        Nearness in meaning, where somebody knows it: cosine from -1 to 1.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> sentences = ["We find that dust cools within 3.5 Myr.", "Gas is hot."]
    >>> compare("Dust cools within 3.5 Myr.", sentences).verdict
    'supported'
    >>> compare("Dust cools within 9 Myr.", sentences).verdict
    'contradicted'
    >>> compare("Dust does not cool within 3.5 Myr.", sentences).verdict
    'contradicted'
    >>> compare("Black holes merge.", sentences).verdict
    'not found'
    """
    wanted = _tokens(claim)
    if not wanted or not sentences:
        return Agreement("not found", (), 0.0)
    held = [_tokens(sentence) for sentence in sentences]
    weights = _weights(wanted, held)
    chosen = _choose(wanted, held, weights, similarity)
    if not chosen:
        return Agreement("not found", (), 0.0)
    best = chosen[0]
    covered = frozenset().union(*(held[place] for place in chosen))
    coverage = _share(wanted & covered, weights)
    alone = _share(wanted & held[best], weights)
    near = similarity is not None and float(similarity[best]) >= _NEAR
    together = " ".join(sentences[place] for place in chosen)
    verdict: Verdict = "not found"
    if _share_of_matter(wanted, held[best], weights) >= _SAME_MATTER and (
        differs(claim, sentences[best]) or counts_differ(claim, sentences[best])
    ):
        verdict = "contradicted"
        chosen = chosen[:1]
    elif (
        (coverage >= ENOUGH or (near and coverage >= _ENOUGH_IF_NEAR))
        and not missing_numbers(claim, together)
        and not (alone >= _TELLING and differs(claim, sentences[best]))
    ):
        verdict = "supported"
    return Agreement(verdict, tuple(chosen), round(coverage, 3))


def differs(claim: str, sentence: str) -> bool:
    """Tell whether one of two sentences denies or reverses what both speak of.

    Parameters
    ----------
    claim, sentence : str

    Returns
    -------
    bool

    Examples
    --------
    >>> differs("The rate increases with mass.", "The rate decreases with mass.")
    True
    >>> differs("The rate depends on mass.", "We find that the rate does not depend on mass.")
    True
    >>> differs("The rate depends on mass.", "The rate depends on mass, but not on colour.")
    False
    """
    shared = _tokens(claim) & _tokens(sentence)
    if bool(_negated(claim) & shared) != bool(_negated(sentence) & shared):
        return True
    mine, theirs = (set(re.findall(r"[\w-]+", text.lower())) for text in (claim, sentence))
    for one, other in _opposites():
        for up, down in ((one, other), (other, one)):
            if mine & up and not mine & down and theirs & down and not theirs & up:
                return not (_negated(claim) or _negated(sentence))
    return False


@lru_cache(maxsize=4096)
def _tokens(text: str) -> frozenset[str]:
    """Stems of the telling words; "grows" and "increases" are one, and so are their opposites."""
    return frozenset(_stem(word) for word in tokenise(text))


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    for place, sides in enumerate(_opposites()):
        for sign, side in zip("+-", sides, strict=True):
            if word in side:
                return f"{sign}{place}"
    return word if any(map(str.isdigit, word)) else stem(word)


@lru_cache(maxsize=1)
def _opposites() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple((frozenset(one.split()), frozenset(other.split())) for one, other in _OPPOSITES)


def _choose(
    wanted: frozenset[str],
    held: Sequence[frozenset[str]],
    weights: dict[str, float],
    similarity: NDArray[np.floating[Any]] | None,
) -> list[int]:
    """Sentences that together hold most of the words, each adding some of its own."""
    chosen: list[int] = []
    covered: frozenset[str] = frozenset()
    for _ in range(_MOST_SENTENCES):
        gains = [_share((wanted & words) - covered, weights) for words in held]
        if similarity is not None and not chosen:
            gains = [g + 0.5 * max(float(s), 0.0) for g, s in zip(gains, similarity, strict=True)]
        best = max(range(len(held)), key=gains.__getitem__)
        if gains[best] < 0.1:
            break
        chosen.append(best)
        covered |= wanted & held[best]
    return chosen


def _weights(wanted: frozenset[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Rare words tell more; but one that no sentence has, of a paraphrase, no more than others."""
    n = len(held)
    counts = {word: max(1, sum(word in words for words in held)) for word in wanted}
    return {word: 0.5 + math.log(1 + (n - c + 0.5) / (c + 0.5)) for word, c in counts.items()}


def _share(words: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weights[word] for word in words) / (sum(weights.values()) or 1.0)


def _share_of_matter(
    wanted: frozenset[str], held: frozenset[str], weights: dict[str, float]
) -> float:
    """As `_share`, for sentences that may differ in nothing but numbers and direction."""
    words = {word for word in wanted if not any(map(str.isdigit, word))}  # as "+0" is, an increase
    whole = sum(weights[word] for word in words)
    return sum(weights[word] for word in words & held) / whole if whole else 0.0


def _negated(text: str) -> frozenset[str]:
    """Words that stand shortly behind a negation."""
    plain = _NOT_ONLY.sub(" ", text)
    denied: set[str] = set()
    for found in _NEGATION.finditer(plain):
        clause = re.split(r"[;:.]\s|, (?:but|and|while|whereas)\b", plain[found.end() :])[0]
        denied.update(_stem(word) for word in tokenise(clause)[:_SCOPE])
    return frozenset(denied)
