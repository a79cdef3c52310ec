"""Classify mentions of facilities by their role in the paper: use, instrumentation, plan, context.

The classifier is a multinomial logistic regression on the words near a mention, of the first
sentence and of the whole text. `benchmarks.roles` fits its weights.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from zlib import crc32

import numpy as np

from landscape._io import read_yaml
from landscape.corpus import load_facilities
from landscape.corpus.facilities import ROLES, find_part
from landscape.llm import LanguageModel, ReplyForm, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.models import read_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_FEATURES = 1 << 16  # number of weights per role

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9'\-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\\$(])|\n+")
_NEAR = 3  # number of words on each side whose order is a feature
_CLOSE = 6  # number of words on each side whose meanings are counted
_BESIDE = 10  # number of words on each side that form the context
_MAX_WORDS = 600  # words of a text that are read
_MAX_MENTIONS = 200  # later mentions of a text have the role of the last of these
# Log odds of "science" to "planned" while a facility is new, when most papers plan its use;
# chosen by reading 116 papers on Rubin, SPHEREx, XRISM, Euclid and Einstein Probe.
_MARGIN_IF_NEW = 1.0
_AGES = {"planned": 0, "new": 1.5, "recent": 5}  # maximum years since first light
# Words after a name that make it the name of a result or of a similar instrument.
_RESULT = re.compile(
    r"(?:[\s~\-]|\\ |\d{4}|\$|\{|\\(?:rm|mathrm|textsc)\b){0,6}"
    r"(?:(?:-[A-Z]\w{1,12})?-{1,2}like\b|like\b|best[- ]fit|normali[sz](?:ed|ation)|"
    r"tension|cosmolog(?:y|ies|ical)\b|"
    r"(?:\\?Lambda|Λ)\s?\$?[\s\-{}]{0,3}(?:\\rm\s?)?\{?CDM|LCDM|values?\b(?![- ][Aa]dded))"
)
_GOES_ON = re.compile(r"(?:[’']s)?[\s(~/-]*")  # between a facility and its part
_MAX_REQUESTED = 40  # mentions of a text whose roles are requested from a language model
CONTEXT, _MAX_PAPER = 120, 6000  # characters in a request
_EM_STEPS = 3  # few, because the matrix is too uncertain for the numbers of one facility alone


class Place(NamedTuple):
    """A mention in a text: characters from `start` to `end`, and the facility."""

    start: int
    end: int
    facility: str


class _Sentence(NamedTuple):
    start: int
    words: list[str]
    ends: list[int]


def describe_places(
    text: str, places: Sequence[Place], day: date | None = None
) -> Iterator[list[str]]:
    """Yield the features of a text of this day, and then the features of each mention in it."""
    day = day or date.today()
    sentences = list(_sentences(text))
    whole = {word for sentence in sentences for word in sentence.words}
    first = set(sentences[0].words) if sentences else set()
    shared = [f"d {word}" for word in whole] + [f"h {word}" for word in first]
    shared += [*_meanings("d", (word for one in sentences for word in one.words))]
    shared += [*_meanings("h", sentences[0].words if sentences else ())]
    yield shared
    starts = [sentence.start for sentence in sentences]
    facilities = {place.facility for place in places}
    for place in places:
        at = max(bisect_right(starts, place.start) - 1, 0)
        yield [
            *_beside(sentences[at] if sentences else _Sentence(0, [], []), place),
            *_facts(text, place, places, at, len(sentences), len(facilities), day),
        ]


def _sentences(text: str) -> Iterator[_Sentence]:
    start, left = 0, _MAX_WORDS
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        found = list(_WORD.finditer(text, start, end))[:left]
        left -= len(found)
        if found:
            words = [match.group().lower() for match in found]
            yield _Sentence(start, words, [match.end() for match in found])
        start = end


def _beside(sentence: _Sentence, place: Place) -> Iterator[str]:
    """Yield the words of the sentence, the words near the mention, and pairs of words."""
    first = bisect_right(sentence.ends, place.start)
    last = bisect_right(sentence.ends, place.end)
    before, after = sentence.words[:first][::-1], sentence.words[last:]
    yield from _meanings("s", (*before, *after))
    for side, words in (("b", before), ("a", after)):
        yield from (f"s {word}" for word in words)
        yield from (f"{side} {word}" for word in words[:_BESIDE])
        yield from _meanings(side, words[:_CLOSE])
        yield from (f"{side}{n} {word}" for n, word in enumerate(words[:_NEAR]))
        pairs = pairwise(words[:_BESIDE])
        yield from (f"{side}2 {one} {two}" for one, two in pairs)


def _meanings(scope: str, words: Iterable[str]) -> Iterator[str]:
    """Yield the meanings of words that occur once, twice, and four times or more."""
    meanings = _meaning_of_words()
    counts = Counter(meaning for word in words for meaning in meanings.get(word, ()))
    for meaning, n in counts.items():
        yield from (f"{scope}:{meaning}{least}" for least in (1, 2, 4) if n >= least)


@cache
def _meaning_of_words() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for meaning, words in read_yaml(Path(__file__).with_name("role_words.yaml")).items():
        for word in words.split():
            found[word].append(meaning)
    return dict(found)


def _facts(
    text: str,
    place: Place,
    places: Sequence[Place],
    at: int,
    sentences: int,
    facilities: int,
    day: date,
) -> Iterator[str]:
    """Yield facts about the facility, the place of the mention, and other mentions."""
    facility = load_facilities().get(place.facility)
    age = (day - facility.first_light).days / 365.25 if facility else np.inf
    yield f"f {place.facility}"
    yield next((name for name, most in _AGES.items() if age < most), "old")
    if facility and text[place.start : place.end] in (*facility.instruments, *facility.surveys):
        yield "part"
    yield "first" if at == 0 else "last" if at == sentences - 1 else f"third {3 * at // sentences}"
    same = [one for one in places if one.facility == place.facility]
    yield f"same {min(len(same), 4)}"
    yield f"facilities {min(facilities, 5)}"
    if text.startswith("-", place.end):
        yield "hyphen"
    if text[place.start - 1 : place.start] == "(":
        yield "bracket"


class _Weights(NamedTuple):
    """Weights of the classifier, and counts of true and assigned roles of held-out mentions."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    confusion: NDArray[np.int64]


@cache
def _weights() -> _Weights:
    stored = read_weights("facility_roles")
    weights = stored["weights"].astype(np.float32) * stored["scale"]
    return _Weights(weights, stored["bias"], stored["confusion"])


def feature_numbers(features: Sequence[str]) -> NDArray[np.int64]:
    """Return the column of each distinct feature: its checksum modulo the number of columns."""
    return np.array(sorted(set(map(_number, features))), dtype=np.int64)


@lru_cache(maxsize=500_000)
def _number(feature: str) -> int:
    return crc32(feature.encode()) % N_FEATURES


def score_roles(text: str, places: Sequence[Place], day: date | None = None) -> NDArray[np.float32]:
    """Return the log odds of each role of each mention, up to 200; shape (n_mentions, 4)."""
    weights, bias, _ = _weights()
    sums = [
        np.add.reduce(weights[feature_numbers(features)], axis=0)
        for features in describe_places(text, places[:_MAX_MENTIONS], day)
    ]
    scores = [bias + sums[0] + own for own in sums[1:]]
    return np.array(scores, dtype=np.float32).reshape(-1, len(ROLES))


def classify_places(text: str, places: Sequence[Place], day: date | None = None) -> list[str]:
    """Return the role of each mention in a text of this day, which is today by default."""
    roles = [
        _choose_role(scores, place, day)
        for scores, place in zip(score_roles(text, places, day), places, strict=False)
    ]
    roles += roles[-1:] * (len(places) - len(roles))
    return _possible(roles, text, places, day)


def _choose_role(scores: NDArray[np.float32], place: Place, day: date | None) -> str:
    """Return the role with the highest score; data of a new facility need clearer words."""
    facility = load_facilities().get(place.facility)
    role = ROLES[int(scores.argmax())]
    if facility and role == "science":
        age = ((day or date.today()) - facility.first_light).days / 365.25
        margin = scores[ROLES.index("science")] - scores[ROLES.index("planned")]
        if age < _AGES["new"] and margin < _MARGIN_IF_NEW:
            return "planned"
    return role


def _possible(
    roles: Sequence[str], text: str, places: Sequence[Place], day: date | None
) -> list[str]:
    """Replace "science" where a facility has no data yet, or a name is that of a result.

    In "Rubin Observatory's LSST", the facility is named for its survey, which may have no data yet.
    """
    day, possible = day or date.today(), list(roles)
    has_data = True
    for number in reversed(range(len(places))):
        place, later = places[number], places[number + 1 : number + 2]
        named = find_part(place.facility, text[place.start : place.end])
        goes_on = later and place.facility == later[0].facility
        if not (goes_on and _GOES_ON.fullmatch(text, place.end, later[0].start)):
            has_data = True
        has_data = has_data and not (named and named.first_light > day)
        if possible[number] == "science":
            if not has_data:
                possible[number] = "planned"
            elif (named and named.is_result) or _RESULT.match(text, place.end):
                possible[number] = "mention"
    return possible


class _RoleOfMention(ReplyForm):
    number: int
    role: Literal["science", "instrumentation", "planned", "mention"]


class RolesOfMentions(ReplyForm):
    """Reply of a language model with the roles of numbered mentions."""

    mentions: list[_RoleOfMention]


def request_roles(
    text: str, places: Sequence[Place], model: LanguageModel, day: date | None = None
) -> list[str]:
    """Request the roles from a language model; the classifier decides where it has no answer."""
    roles = classify_places(text, places, day)
    listed = [
        {
            "number": number,
            "facility": place.facility,
            "mention": text[place.start : place.end],
            "context": text[max(place.start - CONTEXT, 0) : place.end + CONTEXT],
        }
        for number, place in enumerate(places[:_MAX_REQUESTED])
    ]
    if listed:
        data = as_data({"papers": [{"paper": text[:_MAX_PAPER], "mentions": listed}]})
        reply = request_reply(model, prompt("mention_roles"), data, RolesOfMentions)
        for mention in reply.mentions:
            if 0 <= mention.number < len(listed):
                roles[mention.number] = mention.role
    return _possible(roles, text, places, day)


def draw_certainty(
    papers: NDArray[np.int64], role: str, *, n_resamples: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the probabilities that papers with each assigned role truly have a given role.

    Each row of the confusion matrix of held-out mentions is drawn from its Dirichlet posterior.
    The shares of the true roles follow from the assigned numbers by a few steps of expectation
    maximisation, as in Saerens et al. (2002, Neural Comput. 14, 21), which begin with the shares
    among the labelled mentions. The probabilities follow by Bayes' theorem.

    Parameters
    ----------
    papers : ndarray of int, shape (4,)
        Number of papers of a facility with each assigned role, in the order of `ROLES`.
    role : str
        One of `ROLES`.
    n_resamples : int
        Number of draws.
    random : numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_resamples, 5)
        Probabilities. The first column is 0 and belongs to papers without a mention.
    """
    drawn = np.stack(
        [random.dirichlet(row + 0.5, size=n_resamples) for row in _weights().confusion], axis=1
    )
    labelled = _weights().confusion.sum(axis=1)
    true = np.tile(labelled / labelled.sum(), (n_resamples, 1))
    for _ in range(_EM_STEPS):
        joint = drawn * true[:, :, None]
        posterior = joint / joint.sum(axis=1, keepdims=True)
        if papers.any():
            true = posterior @ (papers / papers.sum())
    return np.pad(posterior[:, ROLES.index(role)], ((0, 0), (1, 0)))
