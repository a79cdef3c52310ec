"""Score the sentences of abstracts for a question, by their roles and by what they state.

The role of a sentence is context, aim, method or result. The model of roles is a multinomial
logistic regression of words, pairs of words and positions. It is fitted by
``python -m benchmarks.sentence_roles`` to abstracts with headings such as "Aims.", which give the
role of each sentence.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from landscape.answers.agreement import dimensions_of
from landscape.answers.reading import DIMENSIONS, Aim, pairs_of
from landscape.models import read_numbers
from landscape.search import find_entities
from landscape.search.sentences import shares_of_names
from landscape.text import tokenise

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


# -- what a sentence states

# Weights of the roles context, aim, method and result of sentences, by the kind of question.
ROLE_WEIGHTS: Mapping[str, tuple[float, ...]] = {
    "": (0.75, 0.25, 0.2, 1.0),
    "definition": (1.0, 0.3, 0.2, 0.7),
    "value": (0.8, 0.6, 0.9, 1.0),
    "comparison": (0.8, 0.3, 0.2, 1.0),
    "consensus": (0.6, 0.15, 0.1, 1.0),
    "method": (0.8, 0.9, 1.0, 0.8),
    "cause": (0.8, 0.2, 0.15, 1.0),
}
# Minimum share of the subject in a sentence with the title of its paper. Long questions name more
# than a sentence can repeat, so two terms are always enough.
_MIN_SHARED, _ENOUGH_TERMS = 0.34, 2
_DEPENDENT = re.compile(
    r"(?:This|These|Those|It|Its|They|Their|Such|Both|The (?:latter|former|same|results?))\b"
    r"(?! (?:work|paper|study|letter|review|article))"
)
_DEPENDS = 0.7  # weight of sentences that begin with a reference to the sentence before
_NO_PAIRS = 0.4  # weight of sentences without the pairs of terms of a short question
_SHORT_QUESTION = 6  # maximum number of terms of a question that one sentence can repeat
_BEST, _FITTING, _OTHER = 1.6, 1.0, 0.4  # weights of sentences by what the question asks for
_MEASURED = re.compile(r"\d\s*(?:±|\+/?-|\\pm|\(\+|×10|_\(|\^\+)|[=<>≃≈∼≤≥]\s*[-−]?\d")
_CLAUSE = 45  # characters between a name and its value
_CAUSED = re.compile(
    r"\b(?:because|due to|caused? by|driven by|powered by|produced by|heated by|triggered by|"
    r"results? (?:from|of)|explained by|can explain|responsible for|attributed? to|"
    r"(?:arises?|originates?|originated|forms?|formed) (?:from|in|by|via|through|when|after)|"
    r"leading candidates?|primary mechanism|mechanism (?:is|for)|dominated by|sourced? by|"
    r"thought to|likely (?:from|driven|due)|via|through|lead(?:s|ing)? to|gives? rise to|"
    r"(?:drive|power|trigger|produce|cause|heat|shape|regulate|suppress|quench|accelerate|"
    r"launche|prevent|enhance|affect|determine|explain)s)\b",
    re.IGNORECASE,
)
_UNSOLVED = re.compile(
    r"\b(?:unknown|unclear|open (?:question|issue|problem)s?|not (?:well |yet |fully )?"
    r"(?:understood|known)|remains?|myster\w+|puzzl\w+|debated?|challeng\w+|not well known)\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^(?:here,? |in this \w+,? |finally,? |context[.:] |aims[.:] )?(?:we (?:also |here |then )?"
    r"(?:present|study|explore|investigate|consider|describe|detail|develop|introduce|intend|"
    r"would like|aim|review|discuss)\b|studying|understanding|this (?:paper|work|review|study|"
    r"analysis) (?:aims?|reviews?|presents?|focus))|"
    r"\b(?:will|may|could|should) (?:also )?(?:provide|enable|help|allow|be able|offer|shed)\b|"
    r"\bfuture (?:work|observations?|surveys?|missions?|studies)\b|\bit is important to\b",
    re.IGNORECASE,
)
_MODELLED = re.compile(
    r"\b(?:simulat\w+|mock|synthetic|forecasts?|projected|retrievals?|toy model|assuming)\b",
    re.IGNORECASE,
)
_UNSOLVED_WEIGHT, _ANNOUNCED_WEIGHT, _MODELLED_WEIGHT = 0.5, 0.4, 0.75
_NO_CAUSE = 0.7  # weight of sentences that state no cause, for questions about causes


def fit_of(aim: Aim, text: str, title: str) -> float:
    """Return the weight of a sentence for a question; 0 if it is not about the subject."""
    words = set(tokenise(text))
    context = words | set(tokenise(title))
    terms = aim.terms
    if aim.nouns and len(set(tokenise(aim.nouns)) & context) > len(terms & context):
        terms = frozenset(tokenise(aim.nouns))
    shared = len(terms & context)
    if terms and shared < min(_MIN_SHARED * len(terms), _ENOUGH_TERMS):
        return 0.0
    weight = 1.0
    if 0 < len(terms) <= _SHORT_QUESTION:
        weight *= shared / len(terms)
        if aim.pairs:
            found = len(aim.pairs & pairs_of(text)) + 0.7 * len(aim.pairs & pairs_of(title))
            weight *= _NO_PAIRS + (1 - _NO_PAIRS) * min(found / len(aim.pairs), 1.0)
    if _DEPENDENT.match(text):
        weight *= _DEPENDS
    if aim.kind != "method":
        weight *= _ANNOUNCED_WEIGHT if _ANNOUNCED.search(text) else 1.0
        weight *= _MODELLED_WEIGHT if _MODELLED.search(text) else 1.0
    if aim.names:
        named, titled = shares_of_names(aim.names, [plain_math(text), plain_math(title)])
        weight *= _OTHER + (_FITTING - _OTHER) * max(named, 0.7 * titled)
    if aim.kind == "value":
        weight *= _fit_of_value(aim, text, title, words)
    elif aim.kind == "definition":
        weight *= _BEST if aim.defined and aim.defined.search(text) else _OTHER
    elif aim.kind == "cause":
        weight *= _BEST if _CAUSED.search(text) else _NO_CAUSE
        weight *= _UNSOLVED_WEIGHT if _UNSOLVED.search(text) else 1.0
    elif aim.kind == "comparison" and len(aim.terms) > 1:
        weight *= _OTHER + (_FITTING - _OTHER) * len(aim.terms & words) / len(aim.terms)
    return weight


def _fit_of_value(aim: Aim, text: str, title: str, words: set[str]) -> float:
    if aim.dimension and aim.dimension not in dimensions_of(text):
        return 0.0
    whole = plain_math(f"{title} {text}").casefold()
    if aim.names and not any(plain_math(name).casefold() in whole for name in aim.names):
        return 0.0
    if aim.dimension and aim.names and not any(shares_of_names(aim.names, [title])):
        objects = {entity.text for entity in find_entities(title) if entity.kind == "object"}
        if objects:  # a paper on another object, which is compared with this one
            return 0.0
    if aim.dimension:
        return _BEST if DIMENSIONS[aim.dimension].stated.search(text) else _OTHER
    if _value_of_name(aim, text):
        return _BEST
    return _FITTING if _MEASURED.search(text) and aim.terms & words else _OTHER


def _value_of_name(aim: Aim, text: str) -> bool:
    """Return whether a value directly follows a name, such as SH0ES or S8, of a question."""
    plain = plain_math(text)
    for name in aim.sources:
        for match in re.finditer(re.escape(plain_math(name)), plain, re.IGNORECASE):
            if _MEASURED.search(plain[match.end() : match.end() + _CLAUSE]):
                return True
    return False


def plain_math(text: str) -> str:
    r"""Write symbols without LaTeX, so that ``$S_{8}$`` and ``$f_{\rm NL}$`` are S8 and fNL."""
    text = re.sub(r"\\(?:rm|mathrm|text|textrm)\b\s*", "", text)
    return re.sub(r"[\\${}_]", "", text)
