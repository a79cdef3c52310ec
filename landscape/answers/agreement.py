"""Compare a claim with sentences by words, numbers, objects and negations."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from landscape._io import data_file, read_yaml
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


# Units with their dimension and size; other words after a number are counted nouns.
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("s", "sec", "second"), ("time", 1.0)),
    "ms": ("time", 1e-3),
    **dict.fromkeys(("min", "minute"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hour"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day"), ("time", 86400.0)),
    **dict.fromkeys(("yr", "year"), ("age", 1.0)),
    "kyr": ("age", 1e3),
    "myr": ("age", 1e6),
    "gyr": ("age", 1e9),
    "pc": ("distance", 1.0),
    "kpc": ("distance", 1e3),
    "mpc": ("distance", 1e6),
    "gpc": ("distance", 1e9),
    "parsec": ("distance", 1.0),
    "kiloparsec": ("distance", 1e3),
    "megaparsec": ("distance", 1e6),
    "ev": ("energy", 1.0),
    "kev": ("energy", 1e3),
    "mev": ("energy", 1e6),
    "gev": ("energy", 1e9),
    "tev": ("energy", 1e12),
    "pev": ("energy", 1e15),
    "hz": ("frequency", 1.0),
    "khz": ("frequency", 1e3),
    "mhz": ("frequency", 1e6),
    "ghz": ("frequency", 1e9),
    "mHz": ("frequency", 1e-3),
    "meV": ("energy", 1e-3),
    "km": ("length", 1e3),
    "m": ("length", 1.0),
    "meter": ("length", 1.0),
    "metre": ("length", 1.0),
    "cm": ("length", 1e-2),
    "mm": ("length", 1e-3),
    "nm": ("length", 1e-9),
    **dict.fromkeys(("um", "µm", "μm", "micron", "micrometer", "micrometre"), ("length", 1e-6)),
    **dict.fromkeys(("°", "deg", "degree"), ("angle", 3600.0)),
    "arcmin": ("angle", 60.0),
    **dict.fromkeys(("arcsec", "arcsecond"), ("angle", 1.0)),
    "mas": ("angle", 1e-3),
    "%": ("%", 1.0),
    "percent": ("%", 1.0),
    "per cent": ("%", 1.0),
    "kelvin": ("K", 1.0),
    "K": ("K", 1.0),
    "m⊙": ("mass", 1.0),
    "msun": ("mass", 1.0),
    "solar": ("mass", 1.0),
    "σ": ("σ", 1.0),
    "sigma": ("σ", 1.0),
    "kmps": ("speed", 1.0),
}
_SPEED = re.compile(
    r"\bkm\s?/\s?s\b|\bkm\s?s(?:⁻¹|\^?\{?-1\}?)|\bkms⁻¹|\bkilomet(?:er|re)s per second"
)
_QUANTITY = re.compile(
    r"(?<![\w.,−^])(\d++(?:,\d{3}(?!\d))*+(?:\.\d++)?+)"
    r"(?:\s?(?:±|\+/-)\s?\d++(?:\.\d++)?+|\s?\([^()]{1,24}\)(?=\s?(?:×|[A-Za-z%°]))|"
    r"_?\(?-[\d.]++\)?\^?\(?\+[\d.]++\)?){0,4}+"
    r"(?:\s?[×x]\s?10\^?\(?(?P<power>[-−]?\d++|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]++)\)?)?+"
    r"(?:[\s~-]|\\,)?(?P<unit>%|[A-Za-z°⊙µμσ][A-Za-z⊙°]*+)"
)
_PER_CENT = re.compile(r"(?<=\d)\s?per\s?cent\b", re.IGNORECASE)
_LOOSE = re.compile(
    rf"(?:{_HEDGE.pattern.removesuffix('$')}|more than|over|at least|at most|up to|close to|"
    r"less than|below|above|under)\s*$"
)
_INVERSE = re.compile(r"\s?(?:⁻|\^\{?[-−])")
_MAX_NOUNS = 2  # words after a count that may be its noun, as in "4,539 bright radio bursts"
_DESIGNATION = re.compile(
    r"\b(?:(?:[A-Z][A-Za-z]{0,9}|[A-Z]{1,5}\d?)[- ]?(?=[A-Z]?\d)[A-Z]?\d[\w.+−–-]*(?:\s[a-h]\b)?|"
    r"Sgr A\*|M ?\d{1,3}\b|"
    rf"(?:{'|'.join(read_yaml(data_file('phrases.yaml'))['constellations'].split())}) "
    r"(?:[A-Z]{1,2}(?:-?\d)?|X-\d|OB\d|Nebula|Cluster|Cloud)(?![\w-]))"
)
# Capitalised words and symbols before a number that name no object.
_NOT_OBJECTS = re.compile(
    r"(?:DR|Data Release|Cycle|Band|Type|Section|Fig|Table|Day|Sector|Run|Phase|Model|Year|In|By|"
    r"Of|At|The|From|To|And|With|About|Over|Only|Some|SDSS(?! J)|KiDS|Pantheon|DES|ACT|Planck|"
    r"GWTC|TNG|Rev|[A-LN-Z]|CO|HCN|CS|SO|CIV|Fe|SiO)[- ]?[A-Z]?\d(?![\d.-]*\s[a-h]\b)"
)
_SAME_WORDS = 0.4  # minimum share of the words of a claim in a sentence that contradicts it
_NEGATING = ("un", "in", "im", "non", "non-", "dis")


@dataclass(frozen=True)
class _Quantity:
    value: float
    size: float  # of the unit
    written: str  # digits as written, without the power of ten
    hedged: bool
    unit: str
    shown: str


def _quantities(text: str) -> list[_Quantity]:
    """Return the numbers of a text with their units or counted nouns."""
    plain = _PER_CENT.sub("%", _SPEED.sub("kmps", text)).translate(_SUPERSCRIPTS)
    quantities = []
    for match in _QUANTITY.finditer(plain):
        written = match[1].replace(",", "")
        hedged = bool(_LOOSE.search(plain[max(0, match.start() - 16) : match.start()].lower()))
        power = (match["power"] or "0").replace("−", "-").replace("⁻", "-")
        value = float(written) * 10.0 ** min(max(int(power), -60), 60)
        shown = re.sub(r"\s+", " ", match[0]).strip().replace("kmps", "km/s")
        word = match["unit"]
        if _INVERSE.match(plain, match.end()):
            word = f"1/{word}"  # wavenumbers and rates
        is_noun = word.islower() and len(word) > 2 and _unit(word)[1] == 0
        nouns = re.findall(r"[A-Za-z]{3,}", plain[match.end("unit") :][:40])[:_MAX_NOUNS]
        for unit in (word, *(nouns if is_noun else ())):
            name, size = _unit(unit)
            if unit.lower() not in STOP_WORDS:
                quantities.append(
                    _Quantity(value * (size or 1.0), size or 1.0, written, hedged, name, shown)
                )
    for match in _NUMBERED.finditer(plain):
        count = _NUMBER_WORDS[match[1].lower()]
        quantities.append(
            _Quantity(count, 1.0, f"{count:.0f}", False, _unit(match[2])[0], match[0])
        )
    return quantities


def dimensions_of(text: str) -> frozenset[str]:
    """Return the dimensions of the quantities in a text, such as "mass".

    >>> sorted(dimensions_of("At 3 kpc, it weighs 1.4 ± 0.1 M⊙."))
    ['distance', 'mass']
    """
    dimensions = {dimension for dimension, _ in _UNITS.values()}
    return frozenset(one.unit for one in _quantities(text)) & dimensions


def _unit(text: str) -> tuple[str, float]:
    """Return the dimension and size of a unit, or a noun in the singular and 0."""
    for name in (text, text.lower(), text.lower().removesuffix("s")):
        if name in _UNITS:
            return _UNITS[name]
    return text.lower().removesuffix("s"), 0.0


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


def _named_objects(text: str) -> list[str]:
    found = (match[0].rstrip(".-–") for match in _DESIGNATION.finditer(text))
    return [
        name
        for name in found
        if not _NOT_OBJECTS.match(name) and name.split()[0].lower() not in STOP_WORDS
    ]


def objects_differ(claim: str, whole: str) -> str:
    """Describe an object of the claim that a text replaces by another, or return ""."""

    def folded(name: str) -> str:
        return re.sub(r"[^a-z0-9+]", "", name.lower())

    held = folded(whole)
    missing = [name for name in _named_objects(claim) if folded(name) not in held]
    theirs = [name for name in _named_objects(whole) if folded(name) not in folded(claim)]
    if missing and theirs:
        return f"{missing[0]} here, {theirs[0]} in the paper"
    return ""


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
