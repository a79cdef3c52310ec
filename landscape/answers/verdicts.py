"""Check whether a text supports a claim, with calibrated probabilities.

Features of the claim and of the sentences of the text (similarity, shared words, numbers, objects,
negations, direction and hedges) are the input of a mixture of two multinomial logistic
regressions: for claims that repeat the words of a sentence, and for paraphrases.
``python -m benchmarks.verdicts`` fits and measures them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from landscape._io import data_file, read_yaml
from landscape.answers.agreement import (
    counts_differ,
    differs,
    find_mismatch,
    missing_numbers,
    negations_differ,
    numbers_differ,
    objects_differ,
    share,
    stems,
    word_weights,
)
from landscape.embeddings import MiniLM
from landscape.embeddings.weights import has_weights
from landscape.errors import InputError
from landscape.models import read_numbers
from landscape.text.words import split_sentences
from landscape.types import ClaimCheck, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LABELS: tuple[Verdict, ...] = get_args(Verdict)
_MAX_TEXT = 100_000  # characters; later text is ignored
_BEST = 3  # number of nearest sentences
# Between copies and paraphrases: share of the words of the claim in the best sentence.
_COPIED, _STEEPNESS = 0.6, 15.0
_AGREES, _SAME_SUBJECT = 0.6, 0.7  # shares of words
_WORD_WEIGHT = 0.5  # weight of shared words, relative to the cosine, for the order of sentences


def check_claim(claim: str, evidence: str | Sequence[str]) -> ClaimCheck:
    """Check whether a text supports or contradicts a claim, without a language model.

    Parameters
    ----------
    claim : str
        A sentence that states one thing.
    evidence : str or sequence of str
        A text, such as a title and an abstract, or its sentences.

    Returns
    -------
    ClaimCheck
        With the most probable label, its probability, and the nearest sentences.

    Raises
    ------
    InputError
        If the claim or the text is not a text.

    Notes
    -----
    The label is the most probable class of two logistic regressions, whose probabilities are
    calibrated on public pairs and on pairs generated from abstracts (see
    :doc:`/concepts/measured_quality`). Without the weights of MiniLM, the features use words only.

    Examples
    --------
    >>> from landscape.answers import check_claim
    >>> found = check_claim("Dust cools within 3 Myr.", "We find that dust cools within 3 Myr.")
    >>> found.label
    'supported'
    >>> check_claim("Dust cools within 9 Myr.", "We find that dust cools within 3 Myr.").mismatch
    '9 Myr here, 3 Myr in the paper'
    """
    return check_many([(claim, evidence)])[0]


def check_many(pairs: Sequence[tuple[str, str | Sequence[str]]]) -> list[ClaimCheck]:
    """Check several claims; each text is read once."""
    claims, texts = [], []
    for claim, evidence in pairs:
        claims.append(_readable("claim", claim))
        texts.append(split_text(evidence))
    unique = list(dict.fromkeys([*claims, *(one for text in texts for one in text)]))
    vectors = embed(unique) if unique else None
    by_text = dict(zip(unique, vectors, strict=True)) if vectors is not None else {}
    kind = "vectors" if by_text else "words"
    checks = []
    for claim, sentences in zip(claims, texts, strict=True):
        if not sentences or not stems(claim):
            checks.append(ClaimCheck(claim, "not found", 1.0, (0.0, 0.0, 1.0)))
            continue
        cosines = None
        if by_text:
            cosines = np.array([float(by_text[one] @ by_text[claim]) for one in sentences])
        found = features(claim, sentences, cosines)
        probabilities = probabilities_of(found.values, _model()[kind])
        label = LABELS[int(probabilities.argmax())]
        places = tuple(found.order[:_BEST])
        mismatch = find_mismatch(claim, "", sentences)
        checks.append(
            ClaimCheck(
                claim,
                label,
                round(float(probabilities.max()), 3),
                tuple(round(float(one), 3) for one in probabilities),
                places,
                tuple(sentences[place] for place in places),
                mismatch,
                is_certain=_is_certain(label, float(probabilities.max()), kind, found.values),
                missing_numbers=missing_numbers(claim, " ".join(sentences)),
            )
        )
    return checks


def _is_certain(label: Verdict, probability: float, kind: str, values: dict[str, float]) -> bool:
    """Return whether such verdicts are right in 80% of the pairs, and no rule denies it."""
    is_denied = label == "contradicted" and values["agrees"] > 0
    return probability >= _model()[kind]["certain"][label] and not is_denied


def _readable(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"The {what} is a {type(text).__name__}. Pass a text.")
    return " ".join(text[:_MAX_TEXT].split())


def split_text(evidence: str | Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of a text."""
    if isinstance(evidence, str):
        text = _readable("evidence", evidence)
        evidence = [text[start:end] for start, end in split_sentences(text)]
    return tuple(_readable("evidence", sentence) for sentence in evidence)


class Features(NamedTuple):
    """Features of a claim and a text, and the places of the sentences, nearest first."""

    values: dict[str, float]
    order: list[int]


def embed(texts: Sequence[str]) -> NDArray[np.float32] | None:
    """Return the vectors of texts, or None if the weights of MiniLM are not installed."""
    embedder = _embedder()
    return None if embedder is None else embedder.embed(texts)


@cache
def _embedder() -> MiniLM | None:
    return MiniLM(precision="float32") if has_weights() else None


def features(claim: str, sentences: Sequence[str], cosines: Floats | None) -> Features:
    """Compute the features of a claim and a text; the cosines are those of its sentences."""
    wanted, held = stems(claim), [stems(sentence) for sentence in sentences]
    weights = word_weights(wanted, held)
    covered = np.array([share(wanted & words, weights) for words in held])
    near = np.zeros(len(sentences)) if cosines is None else cosines
    order = np.argsort(-(near + _WORD_WEIGHT * covered), kind="stable").tolist()
    nearest, best = order[:_BEST], sentences[order[0]]
    whole, by_nearness = " ".join(sentences), [sentences[place] for place in order]
    denied, best_denied = (bool(_pattern("denial").search(one)) for one in (claim, best))
    direction, best_direction = _direction(claim), _direction(best)
    is_missing = bool(missing_numbers(claim, whole))
    is_reversed, counts_other = differs(claim, best), counts_differ(claim, best)
    subject = {word: weight for word, weight in weights.items() if not word[-1].isdigit()}
    of_subject = share(held[order[0]] & subject.keys(), subject)
    values = {
        # Two rules: most words and all numbers, or the same subject with another statement.
        "agrees": covered[order[0]] >= _AGREES and not (is_missing or is_reversed or counts_other),
        "opposes": of_subject >= _SAME_SUBJECT and (is_reversed or counts_other),
        "covered": covered.max(),
        "covered by 3": share(wanted & frozenset().union(*(held[n] for n in nearest)), weights),
        "covered by all": share(wanted & frozenset().union(*held), weights),
        "number missing": is_missing,
        "has number": any(map(str.isdigit, claim)),
        "numbers differ": bool(numbers_differ(claim, by_nearness)),
        "objects differ": bool(objects_differ(claim, whole)),
        "negations differ": bool(negations_differ(claim, by_nearness)),
        "reversed": is_reversed,
        "reversed in 3": np.mean([differs(claim, sentences[n]) * covered[n] for n in nearest]),
        "counts differ": counts_other,
        "denied": denied,
        "best denied": best_denied,
        "one denied": denied != best_denied,
        "one denied, covered": (denied != best_denied) * covered[order[0]],
        "opposite direction": direction * best_direction < 0,
        "same direction": direction * best_direction > 0,
        "doubt": bool(_pattern("doubt").search(claim)),
        "best doubt": bool(_pattern("doubt").search(best)),
        "quantity": bool(_pattern("quantity").search(claim)),
        "words": min(len(wanted), 25) / 25,
        "sentences": min(len(sentences), 30) / 10,
    }
    if cosines is not None:
        largest = np.sort(cosines)[::-1]
        values |= {f"cosine of {n}": largest[:n].mean() for n in (1, 2, 3)}
    return Features({name: float(value) for name, value in values.items()}, order)


def _direction(text: str) -> int:
    return int(
        np.sign(len(_pattern("upward").findall(text)) - len(_pattern("downward").findall(text)))
    )


@cache
def _pattern(name: str) -> re.Pattern[str]:
    words = read_yaml(data_file("phrases.yaml"))[name].split()
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


def _model() -> dict[str, Any]:
    return read_numbers("verdicts")


def probabilities_of(values: dict[str, float], fitted: dict[str, Any]) -> Floats:
    """Return the probabilities of the labels: a mixture of two logistic regressions."""
    is_copy = share_of_copies(values["covered"])
    parts = {name: _regression(values, fitted[name]) for name in ("copies", "paraphrases")}
    return np.asarray(is_copy * parts["copies"] + (1.0 - is_copy) * parts["paraphrases"])


def share_of_copies(covered: Any) -> Any:
    """Return the weight of the regression for claims that repeat the words of a sentence."""
    return 1.0 / (1.0 + np.exp(_STEEPNESS * (_COPIED - covered)))


def _regression(values: dict[str, float], fitted: dict[str, Any]) -> Floats:
    """Return the probabilities of a multinomial logistic regression."""
    scores = np.array(fitted["intercepts"], dtype=float)
    for name, coefficients in fitted["coefficients"].items():
        scores = scores + values[name] * np.array(coefficients)
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())
