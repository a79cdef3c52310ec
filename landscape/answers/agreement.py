"""Compare a claim with sentences by words, numbers, objects and negations."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from landscape._io import data_file, read_yaml
from landscape.corpus.objects import find_objects, object_key
from landscape.overlays.values import find_measures, parse_unit
from landscape.text import tokenise
from landscape.text.word_index import STOP_WORDS
from landscape.text.words import stem

_NUMBER = re.compile(r"(?<![\w.,])[-+−]?(\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s*(?=%))?")
_NUMBER_WORDS = {
    "two": 2.0,
    "three": 3.0,
    "four": 4.0,
    "five": 5.0,
    "six": 6.0,
    "seven": 7.0,
    "eight": 8.0,
    "nine": 9.0,
    "ten": 10.0,
    "eleven": 11.0,
    "twelve": 12.0,
}
_NUMBERED = re.compile(rf"\b({'|'.join(_NUMBER_WORDS)})\s+([a-z]{{3,}})", re.IGNORECASE)
_WRITTEN = re.compile(r"\d+(?:[.,]\d+|['’ \u00a0\u202f]\d{3}(?!\d))*")
_SPELT = re.compile(rf"\b({'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_NAMED_BY = re.compile(r"([A-Za-zα-ωΑ-Ω]\w{0,40}+)\s{0,9}+(?:=|~|≈|∼|<|>|\bis\b|\bof\b)\s{0,40}$")
_HEDGE = re.compile(r"(?:about|around|approximately|roughly|nearly|almost|some|[~≈∼≃]|ca\.)\s*$")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_NOT_ONLY = re.compile(
    r"\bnot (?:only|just|merely|necessarily|limited to)\b|\bno (?:less|fewer) than\b"
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|without|lacks?|lacking|absence|fails?|failed|"
    r"unable|unlikely|rules? out|ruled out|excludes?|excluded|rejects?|rejected|"
    r"disfavou?r(?:s|ed)?|inconsistent|in tension with|incompatible|"
    r"insignificant|independent|hardly|rarely|\w+n['’]t)\b",
    re.IGNORECASE,
)
_SCOPE = 4  # number of significant words that a negation applies to


def missing_numbers(claim: str, text: str) -> tuple[float, ...]:
    """Return the numbers of a claim that are missing from a text."""
    held = [value for value, *_ in _numbers(text)]
    held += [value for word, value in _NUMBER_WORDS.items() if re.search(rf"(?i)\b{word}\b", text)]
    return tuple(
        value
        for value, digits, hedged, _, _ in _numbers(claim)
        if not any(_fits(value, other, digits=digits, hedged=hedged) for other in held)
    )


def invents_numbers(text: str, source: str) -> bool:
    """Return whether a text has a number that is not in the source; the languages may differ."""
    known = {_NUMBER_WORDS[match[1].lower()] for match in _SPELT.finditer(source)}
    known.update(*_readings(source))
    return any(not readings & known for readings in _readings(text))


def _readings(text: str) -> list[set[float]]:
    """Return the possible values of each number; a comma or point may separate thousands."""
    readings = []
    for found in _WRITTEN.findall(text.translate(_SUPERSCRIPTS)):
        *before, last = re.split(r"\D", found)
        whole = "".join(before)
        readings.append({float(whole + last), float(f"{whole}.{last}" if before else last)})
    return readings


_LOOSE = re.compile(
    rf"(?:{_HEDGE.pattern.removesuffix('$')}|more than|over|at least|at most|up to|close to|"
    r"less than|below|above|under)\s*$"
)
_MAX_NOUNS = 2  # words after a count that may be its noun, as in "4,539 bright radio bursts"
_COUNTED = re.compile(r"(?:[\s~-]|\\,)?(?P<noun>%|σ|per\s?cent\b|[A-Za-z°][A-Za-z°]*+)")
# Dimensions of units, where the physical type of astropy.units does not say enough.
_DIMENSIONS = {
    **dict.fromkeys(("pc", "kpc", "Mpc", "Gpc", "lyr"), "distance"),
    **dict.fromkeys(("yr", "kyr", "Myr", "Gyr"), "age"),
    "K": "K",
}
_SAME_WORDS = 0.4  # minimum share of the words of a claim in a sentence that contradicts it
_NEGATING = ("un", "in", "im", "non", "non-", "dis")


@dataclass(frozen=True)
class _Quantity:
    value: float  # in the base unit of the dimension
    size: float  # of the unit
    written: str  # digits as written, without the power of ten
    hedged: bool
    unit: str  # dimension, or a counted noun in the singular
    shown: str


def _quantities(text: str) -> list[_Quantity]:
    """Return the numbers of a text with their units or counted nouns."""
    quantities = []
    names = [range(one.start, one.end) for one in find_objects(text)]
    for measure in find_measures(text):
        if any(measure.start in name for name in names):
            continue
        digits = re.match(r"[-−+(]{0,2}(\d[\d,]*(?:\.\d+)?)", text[measure.start : measure.end])
        written = digits[1].replace(",", "") if digits else ""
        before = text[max(0, measure.start - 16) : measure.start].lower()
        hedged = bool(_LOOSE.search(before))
        shown = " ".join(text[measure.start : measure.end].split())
        half = measure.plus if measure.is_range and measure.plus else 0.0
        ends = {abs(measure.value - half), abs(measure.value + half)}
        if measure.unit:
            dimension, size = _dimension(measure.unit)
            quantities += [
                _Quantity(end * size, size, written, hedged, dimension, shown) for end in ends
            ]
            continue
        noun = _COUNTED.match(text, measure.end)
        if noun is None:
            continue
        word = "%" if noun["noun"].startswith("per") else noun["noun"]
        shown = f"{shown}%" if word == "%" else f"{shown} {word}"
        words = [word]
        if word.islower() and len(word) > 2:
            words += re.findall(r"[A-Za-z]{3,}", text[noun.end() :][:40])[:_MAX_NOUNS]
        for one in words:
            if one.lower() not in STOP_WORDS:
                name = one.lower().removesuffix("s")
                quantities += [_Quantity(end, 1.0, written, hedged, name, shown) for end in ends]
    for match in _NUMBERED.finditer(text):
        count, noun_of = _NUMBER_WORDS[match[1].lower()], match[2].lower().removesuffix("s")
        quantities.append(_Quantity(count, 1.0, f"{count:.0f}", False, noun_of, match[0]))
    return quantities


@lru_cache(maxsize=4096)
def _dimension(unit: str) -> tuple[str, float]:
    """Return the dimension of a unit of astropy.units, and its size in the base unit."""
    known = parse_unit(unit)
    name = str(known.physical_type).partition("/")[0] if known else "unknown"
    if known is None or name == "unknown" or unit.startswith("dex"):
        return unit, 1.0
    return _DIMENSIONS.get(unit, name), float(known.decompose().scale)


def dimensions_of(text: str) -> frozenset[str]:
    """Return the dimensions of the quantities in a text, such as "mass".

    >>> sorted(dimensions_of("At 3 kpc, it weighs 1.4 ± 0.1 M⊙."))
    ['distance', 'mass']
    """
    return frozenset(_dimension(one.unit)[0] for one in find_measures(text) if one.unit)


def find_mismatch(claim: str, title: str, sentences: Sequence[str]) -> str:
    """Describe how a claim differs from a paper in numbers, objects or negations, or return "".

    A number differs if the paper has numbers with the same unit or noun, but not this one. An
    object differs if the paper names other objects, but not this one. Negations and words of
    opposite meaning are compared with the sentence that shares most words with the claim.

    >>> find_mismatch("It rotates in 6.79 h.", "", ["The rotation period is 16.79 h."])
    '6.79 h here, 16.79 h in the paper'
    """
    whole = " ".join([title, *sentences])
    order = sorted(sentences, key=lambda text: -_shared(claim, text))
    return (
        objects_differ(claim, whole)
        or numbers_differ(claim, [*order, title])
        or negations_differ(claim, order)
    )


def _shared(claim: str, text: str) -> float:
    """Return the share of the words of a claim that a text has."""
    wanted = stems(claim)
    return len(wanted & stems(text)) / max(len(wanted), 1)


def numbers_differ(claim: str, texts: Sequence[str]) -> str:
    """Describe a number of the claim that differs from texts with the same unit, or return ""."""
    every = [quantity for text in texts for quantity in _quantities(text)]
    mine = _quantities(claim)
    for one in mine:
        same = [other for other in every if other.unit == one.unit]
        values = [other for other in every if other.written == one.written]
        if not same or values or any(_is_same(one, other) for other in same):
            continue
        also = [other for other in mine if other.unit == one.unit]
        left = [other for other in same if not any(_is_same(this, other) for this in also)]
        if left:
            return f"{one.shown} here, {left[0].shown} in the paper"
    return ""


def _is_same(quantity: _Quantity, other: _Quantity) -> bool:
    """Return whether a number is another number, rounded to its digits, but at least two."""
    if quantity.value == other.value:
        return True
    if quantity.hedged and abs(quantity.value - other.value) <= 0.1 * abs(quantity.value):
        return True
    digits = max(len(quantity.written.replace(".", "").strip("0")), 2)
    rounded = float(f"{other.value / quantity.size:.{digits - 1}e}")
    return other.value > 0 and math.isclose(rounded, quantity.value / quantity.size, rel_tol=1e-9)


def objects_differ(claim: str, whole: str) -> str:
    """Describe an object of the claim that a text replaces by another, or return ""."""
    mine, theirs = (
        {object_key(name): name for name in _named_objects(text)} for text in (claim, whole)
    )
    missing = [name for key, name in mine.items() if key not in theirs]
    others = [name for key, name in theirs.items() if key not in mine]
    return f"{missing[0]} here, {others[0]} in the paper" if missing and others else ""


def _named_objects(text: str) -> list[str]:
    """Return the designations of objects, without planets, fields and parts such as the corona."""
    found = (one.name for one in find_objects(text) if one.kind not in {"field", "region"})
    return [name for name in found if any(map(str.isdigit, name)) or " " in name or "*" in name]


def negations_differ(claim: str, order: Sequence[str]) -> str:
    """Describe the sentence that negates or reverses the claim, or return ""."""
    text = next(iter(order), "")
    if _shared(claim, text) < _SAME_WORDS:
        return ""
    mine, theirs = (set(re.findall(r"[a-z-]{2,}", one.lower())) for one in (claim, text))
    reverse = any(
        (f"{sign}{word}" in theirs and word not in theirs)
        or (f"{sign}{word}" in mine and word in theirs and f"{sign}{word}" not in theirs)
        for sign in _NEGATING
        for word in mine | theirs
        if word in mine or f"{sign}{word}" in mine
    )
    # A negation of the claim may paraphrase a negation in another sentence.
    denied = bool(_negated(claim)) and any(
        _negated(one) for one in order if _shared(claim, one) > 0
    )
    is_other = reverse or (differs(claim, text) and not denied)
    return f"the paper says “{text}”" if is_other else ""


def counts_differ(claim: str, sentence: str) -> bool:
    """Return whether two sentences give different numbers for the same quantity."""
    mine, theirs = _counted(claim), _counted(sentence)
    return any(
        not any(
            _fits(value, other, digits=digits, hedged=hedged)
            for value, digits, hedged in mine[thing]
            for other, _, _ in theirs[thing]
        )
        for thing in mine.keys() & theirs.keys()
    )


def _counted(text: str) -> dict[str, list[tuple[float, int, bool]]]:
    """Return nouns, units and symbols with their adjacent numbers."""
    counted = defaultdict[str, list[tuple[float, int, bool]]](list)
    for value, digits, hedged, start, end in _numbers(text):
        behind = re.match(r"\s*(%|[A-Za-z⊙☉°µμ][\w⊙/^-]*)", text[end:])
        ahead = _NAMED_BY.search(text[max(0, start - 40) : start])
        for found in (behind, ahead):
            if found:
                counted[found[1].lower().rstrip("s")].append((value, digits, hedged))
    for found in _NUMBERED.finditer(text):
        counted[found[2].lower().rstrip("s")].append((_NUMBER_WORDS[found[1].lower()], 0, False))
    return counted


def _numbers(text: str) -> list[tuple[float, int, bool, int, int]]:
    """Return the value, decimals, approximation flag, start and end of each number in a text."""
    plain = text.translate(_SUPERSCRIPTS)  # does not change the length of the text
    numbers = []
    for number in _NUMBER.finditer(plain):
        digits = number[1].replace(",", "")
        hedged = bool(_HEDGE.search(plain[max(0, number.start() - 16) : number.start()].lower()))
        decimals = len(digits.partition(".")[2])
        numbers.append((float(digits), decimals, hedged, number.start(), number.end()))
    return numbers


def _fits(value: float, other: float, *, digits: int, hedged: bool) -> bool:
    if value == other or (digits > 0 and round(other, digits) == value):
        return True
    if hedged:
        return abs(value - other) <= 0.1 * abs(value)
    return digits == 0 and abs(value) >= 10 and other != int(other) and round(other) == value


def differs(claim: str, sentence: str) -> bool:
    """Return whether one sentence negates or reverses the other."""
    shared = stems(claim) & stems(sentence)
    if bool(_negated(claim) & shared) != bool(_negated(sentence) & shared):
        return True
    mine, theirs = (set(re.findall(r"[\w-]+", text.lower())) for text in (claim, sentence))
    for one, other in _opposites():
        for up, down in ((one, other), (other, one)):
            if mine & up and not mine & down and theirs & down and not theirs & up:
                return not (_negated(claim) or _negated(sentence))
    return False


_DENIAL = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|rules? out|ruled out|excludes?|excluded|rejects?|"
    r"rejected|ruling out|excluding|disfavou?r(?:s|ed)?|inconsistent|incompatible|lacks?|against|"
    r"challeng(?:e|es|ed|ing))\b|\bnon-(?=(?P<own>\w+))",
    re.IGNORECASE,
)
# Verbs whose object is presupposed: "lowers the Hubble tension" takes no side on its existence.
_PRESUPPOSED = re.compile(
    r"\b(?:(?:lower|lessen|eas|alleviat|reliev|resolv|solv|mitigat|reduc|soften|address|explain|"
    r"reconcil|diminish|worsen|exacerbat|tackl)(?:e|s|es|ed|ing)?|increase[sd]?|increasing|"
    r"(?:solutions?|cause|origin|explanations?|role|deviations?|departures?) "
    r"(?:to|of|for|in|from))\b",
    re.IGNORECASE,
)
_EXISTS = re.compile(
    r"^(?:is|are|was|were) there (?:an? |any )?(?:evidence (?:for|of|that) (?:an? |the )?)?(.+)",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:in|of|around|for|between|with|at|on|among|near|from|within|that|which|orbiting)\b"
)
_AFFIRMED = re.compile(
    r"\b(?:consistent|compatible|agree(?:s|ment)?|favou?r(?:s|ed)?|prefer(?:s|red)?|supports?|"
    r"remains?|indicates?|shows?|finds?|found|preference|evidence)\b",
    re.IGNORECASE,
)
_FINDING = (
    "evidence sign signature indication detection hint support significant clear strong "
    "statistical existence presence"
)


def side_of(question: str, sentence: str) -> int:
    """Return 1 or -1 if a sentence affirms or denies what a yes-or-no question asks, otherwise 0.

    The last word of the question is what is affirmed or denied, or the noun that may exist.

    >>> side_of("Is there a Hubble tension?", "This lowers the Hubble tension by 0.9 sigma.")
    0
    >>> side_of("Does dark energy evolve?", "We find no evidence that dark energy evolves.")
    -1
    """
    words = [_stem(word) for word in tokenise(question)]
    held = [_stem(word) for word in tokenise(sentence)]
    if not words or not set(words[:-1]) & set(held):
        return 0
    predicate, exists = words[-1], _EXISTS.match(question.strip())
    if exists:  # what may exist is the noun before the first preposition
        named = tokenise(_PREPOSITION.split(exists[1])[0])
        predicate = _stem(named[-1]) if named else predicate
    opposite = predicate.translate(str.maketrans("+-", "-+")) if predicate[0] in "+-" else ""
    if predicate not in held:
        return -1 if opposite in held and _AFFIRMED.search(sentence) else 0
    plain = _NOT_ONLY.sub(" ", sentence)
    for match in _PRESUPPOSED.finditer(plain):
        before = [_stem(word) for word in tokenise(plain[: match.start()])[-_SCOPE:]]
        if predicate in _governed(plain, match) or predicate in before:
            return 0
    for match in _DENIAL.finditer(plain):
        denied = _governed(plain, match)
        if predicate in denied:
            between = set(denied[: denied.index(predicate)])
            return -1 if between <= stems(_FINDING) | set(words) else 0
    return 1 if not opposite or opposite not in held else 0


def _governed(text: str, match: re.Match[str]) -> list[str]:
    """Return the stems of the words that a negation or a verb applies to."""
    if match.groupdict().get("own"):
        return [_stem(word) for word in tokenise(match["own"])]
    clause = re.split(r"[;:,.]\s", text[match.end() :])[0]
    return [_stem(word) for word in tokenise(clause)[:_SCOPE]]


def deny(question: str) -> str:
    """Return a query for the other side of a yes-or-no question.

    >>> deny("Does dark energy evolve?")
    'no evidence: dark energy evolve constant'
    """
    words = tokenise(question)
    predicate = _stem(words[-1]) if words else ""
    opposite = ""
    if predicate[:1] in "+-" and predicate[1:].isdecimal():
        sides = dict(zip("+-", _opposites()[int(predicate[1:])], strict=True))
        opposite = min(sides["-" if predicate[0] == "+" else "+"])
    return " ".join(["no evidence:", *words, opposite]).strip()


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of significant words; synonyms such as "grows" and "increases" are equal."""
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
    pairs = read_yaml(data_file("phrases.yaml"))["opposites"]
    return tuple((frozenset(one.split()), frozenset(other.split())) for one, other in pairs)


def word_weights(wanted: frozenset[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequencies of words. Counts of 0 are replaced by 1."""
    n = len(held)
    counts = {word: max(1, sum(word in words for words in held)) for word in wanted}
    return {word: 0.5 + math.log(1 + (n - c + 0.5) / (c + 0.5)) for word, c in counts.items()}


def share(words: frozenset[str], weights: dict[str, float]) -> float:
    """Return the weighted share of words."""
    return sum(weights[word] for word in words) / (sum(weights.values()) or 1.0)


def _negated(text: str) -> frozenset[str]:
    """Return the words that closely follow a negation."""
    plain = _NOT_ONLY.sub(" ", text)
    negated: set[str] = set()
    for match in _NEGATION.finditer(plain):
        clause = re.split(r"[;:.]\s|, (?:but|and|while|whereas)\b", plain[match.end() :])[0]
        negated.update(_stem(word) for word in tokenise(clause)[:_SCOPE])
    return frozenset(negated)
