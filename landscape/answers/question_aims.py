"""What a question asks for, and how well a sentence fits it.

A question asks for a definition, a value, a comparison, a method, a cause, a yes or no, or for
nothing in particular. The patterns of the kinds are in ``data/questions.yaml``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from landscape._io import data_file, read_yaml
from landscape.answers.agreement import dimensions_of
from landscape.answers.questions import classify
from landscape.search import find_entities
from landscape.search.matching import subject_words
from landscape.search.sentences import shares_of_names
from landscape.text import tokenise

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
_BREAK = re.compile(r"[,;:.!?()“”\"/–—]+")
_SHORT_QUESTION = 6  # maximum number of terms of a question that one sentence can repeat
_BEST, _FITTING, _OTHER = 1.6, 1.0, 0.4  # weights of sentences by what the question asks for
_MEASURED = re.compile(r"\d\s*(?:±|\+/?-|\\pm|\(\+|×10|_\(|\^\+)|[=<>≃≈∼≤≥]\s*[-−]?\d")
_CLAUSE = 45  # characters between a name and its value
_DEFINED = (
    r"(?:known as|called|dubbed|termed|so-called|named)\W{{1,4}}(?:the )?{0}|"
    r"{0}\W{{1,3}}(?:\([^)]{{1,20}}\)\W{{0,3}})?(?:is|are|refers? to) "
    r"(?:an? |the |one |among |some |(?:\w+ ){{0,2}}(?:defined|thought|believed|phenomen|"
    r"explosion|object|galax|star|source|transient|binary|binaries|system|event|class|type|region|method|"
    r"process|effect|difference|discrepancy|disagreement|tension|bright|luminous|compact|faint))"
)
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


class _Dimension(NamedTuple):
    """Name of a dimension with its article, words that ask for it, and words that state it."""

    name: str
    asked: re.Pattern[str]
    stated: re.Pattern[str]


_DIMENSIONS = {
    dimension: _Dimension(
        name, *(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (asked, stated))
    )
    for dimension, name, asked, stated in (
        (
            "mass",
            "a mass",
            r"mass(?:es)?(?! loss| function| ratio)|how massive|how heavy|weigh",
            r"mass(?:es)?|massive|M_\w+",
        ),
        (
            "distance",
            "a distance",
            r"distance|how far|distant",
            r"distances?|away|parallax\w*|moduli|modulus|located",
        ),
        ("age", "an age", r"age|how old", r"ages?|aged|old|years ago"),
        (
            "K",
            "a temperature",
            r"temperature|how hot|how cold",
            r"temperatures?|cooler|hotter|hot|cold|T_\w+",
        ),
        ("speed", "a speed", r"velocity|speed|how fast", r"velocit\w+|speeds?|moves?|moving"),
    )
}
_NEUTRINO = re.compile(r"neutrino|axion|particle|WIMP", re.IGNORECASE)  # masses in eV


class Aim(NamedTuple):
    """What a question asks for: its kind, the names in it, and the terms of its subject."""

    kind: str  # a key of ROLE_WEIGHTS
    names: tuple[str, ...]
    terms: frozenset[str]
    sources: tuple[str, ...] = ()  # names of objects, surveys and symbols, which have values
    defined: re.Pattern[str] | None = None  # matches sentences that define the subject
    dimension: str = ""  # dimension of the value, or "" if it is unknown
    compared: tuple[str, ...] = ()  # the two things that a question compares
    nouns: str = ""  # the question with nouns for its verbs, for questions about causes
    pairs: frozenset[tuple[str, str]] = frozenset()  # adjacent terms of the subject

    @property
    def wanted(self) -> str:
        """What a sentence must do to answer, as words after "No sentence"."""
        known = _DIMENSIONS.get(self.dimension)
        return f"gives {known.name}" if known else "is about the question"


def aim_of(question: str) -> Aim:
    """Return what a question asks for.

    >>> aim_of("What is a kilonova?").kind, aim_of("How old is M 67?").dimension
    ('definition', 'age')
    """
    entities, subject = find_entities(question), " ".join(subject_words(question))
    names = tuple(entity.text for entity in entities)
    sources = tuple(entity.text for entity in entities if entity.kind in ("acronym", "object"))
    kind = next((name for name, pattern in _aims().items() if pattern.search(question)), "")
    if not kind and classify(question).type == "consensus":
        kind = "consensus"
    nouns = with_nouns(question) if kind == "cause" else ""
    phrase = re.escape(subject.removesuffix("s")) + "(?:e|s|es)?"
    asked = next((one for one, known in _DIMENSIONS.items() if known.asked.search(question)), "")
    if kind != "value" or _NEUTRINO.search(question):
        asked = ""
    return Aim(
        kind,
        names,
        frozenset(tokenise(subject)),
        sources,
        re.compile(_DEFINED.format(phrase), re.IGNORECASE),
        asked,
        compared_things(question),
        nouns,
        _pairs_of(nouns or question),
    )


def _pairs_of(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of terms that follow each other, without a stop word between them."""
    pairs: set[tuple[str, str]] = set()
    for run in _BREAK.split(text):
        terms = [term for word in run.split() for term in tokenise(word) or [""]]
        pairs.update((one, other) for one, other in itertools.pairwise(terms) if one and other)
    return frozenset(pairs)


@cache
def _aims() -> dict[str, re.Pattern[str]]:
    stored = read_yaml(data_file("questions.yaml"))["aims"]
    return {name: re.compile("|".join(parts), re.IGNORECASE) for name, parts in stored.items()}


_LONGEST_COMPARISON = 200  # characters
_COMPARED = (
    re.compile(
        r"\b(?:differences?|contrast|distinguish) between (?P<one>.+?) and (?P<other>.+)",
        re.IGNORECASE,
    ),
    re.compile(r"\bcompare (?P<one>.+?) (?:and|with|to|against) (?P<other>.+)", re.IGNORECASE),
    re.compile(
        r"^how (?:does|do|did) (?:.+ of )?(?P<one>.+?) and (?P<other>.+?) (?:differ|compare)\b",
        re.IGNORECASE,
    ),
    re.compile(r"^how (?:does|do|did) (?P<one>.+?) compare (?:with|to) (?P<other>.+)", re.I),
    re.compile(r"^how (?:does|do|did) (?P<one>.+?) differ from (?P<other>.+)", re.IGNORECASE),
    re.compile(r"^(?P<one>.+?) (?:versus|vs\.?) (?P<other>.+)", re.IGNORECASE),
    re.compile(r"^(?:is|are|does|do) (?!there\b|it\b)(?P<one>.+?) or (?P<other>.+)", re.IGNORECASE),
)
_REST = re.compile(
    r"[:,;?]|\s(?:for|in|of|as|on|from|responsible|which|to explain|explain|better|the cause)\b.*",
    re.IGNORECASE,
)


def compared_things(question: str) -> tuple[str, ...]:
    """Return the two things that a question compares, or ().

    >>> compared_things("MOND versus cold dark matter: which fits rotation curves better?")
    ('MOND', 'cold dark matter')
    >>> compared_things("How far away is M 31?")
    ()
    """
    text = " ".join(question.split())
    if len(text) > _LONGEST_COMPARISON:  # a paragraph, or the titles of papers
        return ()
    for pattern in _COMPARED:
        if match := pattern.search(text):
            things = [
                re.split(_REST, match[name])[0].strip(" .'\"“”") for name in match.groupdict()
            ]
            things = [re.sub(r"^(?:the|an?) ", "", thing, flags=re.IGNORECASE) for thing in things]
            if all(things) and all(tokenise(thing) for thing in things):
                return tuple(things)
    return ()


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
            found = len(aim.pairs & _pairs_of(text)) + 0.7 * len(aim.pairs & _pairs_of(title))
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
        return _BEST if _DIMENSIONS[aim.dimension].stated.search(text) else _OTHER
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


# Nouns for the verbs of questions about causes, because titles and abstracts use nouns.
_NOUNS = {
    re.compile(pattern, re.IGNORECASE): noun
    for pattern, noun in {
        r"^(?:what|which)\b.*?\b(?:caus|produc|power|trigger)\w*\b": "origin of",
        r"^(?:what|which)\b.*?\bheat\w*\b": "heating of",
        r"^(?:what|which)\b.*?\b(?:quench\w*)\b": "quenching of",
        r"^(?:what|which)\b.*?\b(?:re)?ioni[sz]\w*\b": "ionization of",
        r"\bexplodes?\b": "explosion mechanism",
        r"\b(?:form|are formed|is formed|assemble)\b": "formation",
        r"\bgrows?\b": "growth",
        r"\bevolves?\b": "evolution",
        r"\b(?:stop|cease|quit)s? forming stars\b": "quenching",
    }.items()
}


def with_nouns(question: str) -> str:
    """Write a question about causes with a noun for its verb, or return "".

    >>> with_nouns("What produces ultra-high-energy cosmic rays?")
    'origin of ultra-high-energy cosmic rays'
    >>> with_nouns("How do supernovae explode?")
    'supernovae explosion mechanism'
    >>> with_nouns("What is the Hubble constant?")
    ''
    """
    text = " ".join(question.split()).rstrip("?. ")
    for pattern, noun in _NOUNS.items():
        if pattern.search(text):
            words = pattern.sub(noun, text, count=1)
            return re.sub(r"^(?:how|why) (?:do|does|did|are|is|can|could) ", "", words, flags=re.I)
    return ""
