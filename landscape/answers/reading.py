"""Read a question once, before it is counted, searched and quoted.

`Question` contains all that later steps need: its type and flags, what it counts in the literature,
the people and the period that it names, the words that sentences are compared with, and its aim,
which is a definition, a value, a comparison, a method, a cause, or a yes or no. The patterns of the
types and the aims are in ``data/questions.yaml``.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from landscape._io import data_file, read_yaml
from landscape.answers._question_words import Condition
from landscape.answers._requests import Request, read_request, read_restriction
from landscape.answers.questions import QuestionKind, classify, plain_question, read_kind
from landscape.errors import InputError
from landscape.search import find_entities
from landscape.search.matching import empty_words, person_name, subject_words
from landscape.text import tokenise

if TYPE_CHECKING:
    from landscape.llm import LanguageModel
    from landscape.search import Engine

_BREAK = re.compile(r"[,;:.!?()“”\"/–—]+")
_DEFINED = (
    r"(?:known as|called|dubbed|termed|so-called|named)\W{{1,4}}(?:the )?{0}|"
    r"{0}\W{{1,3}}(?:\([^)]{{1,20}}\)\W{{0,3}})?(?:is|are|refers? to) "
    r"(?:an? |the |one |among |some |(?:\w+ ){{0,2}}(?:defined|thought|believed|phenomen|"
    r"explosion|object|galax|star|source|transient|binary|binaries|system|event|class|type|region|method|"
    r"process|effect|difference|discrepancy|disagreement|tension|bright|luminous|compact|faint))"
)


class Dimension(NamedTuple):
    """Name of a dimension with its article, words that ask for it, and words that state it."""

    name: str
    asked: re.Pattern[str]
    stated: re.Pattern[str]


DIMENSIONS = {
    dimension: Dimension(
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
        known = DIMENSIONS.get(self.dimension)
        return f"gives {known.name}" if known else "is about the question"


def aim_of(question: str, kind: QuestionKind | None = None) -> Aim:
    """Return what a question asks for; its `kind` is found by rules if it is not given.

    >>> aim_of("What is a kilonova?").kind, aim_of("How old is M 67?").dimension
    ('definition', 'age')
    """
    entities, subject = find_entities(question), " ".join(subject_words(question))
    names = tuple(entity.text for entity in entities)
    sources = tuple(entity.text for entity in entities if entity.kind in ("acronym", "object"))
    aim = next((name for name, pattern in _aims().items() if pattern.search(question)), "")
    if not aim and (kind or classify(question)).type == "consensus":
        aim = "consensus"
    nouns = with_nouns(question) if aim == "cause" else ""
    phrase = re.escape(subject.removesuffix("s")) + "(?:e|s|es)?"
    asked = next((one for one, known in DIMENSIONS.items() if known.asked.search(question)), "")
    if aim != "value" or _NEUTRINO.search(question):
        asked = ""
    return Aim(
        aim,
        names,
        frozenset(tokenise(subject)),
        sources,
        re.compile(_DEFINED.format(phrase), re.IGNORECASE),
        asked,
        compared_things(question),
        nouns,
        pairs_of(nouns or question),
    )


def pairs_of(text: str) -> frozenset[tuple[str, str]]:
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


_AND_ASKED = re.compile(
    r"[?,;]? and (?=(?:what|how|which|why)\b)|[?,;] and (?=(?:is|are|do|does|did|can)\b)|\? (?=\w)",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^(?P<head>.{4,160}\b(?:of|for|in|on|from|with|about) )(?:the )?"
    r"(?P<list>[^,?]{1,60}(?:, [^,?]{1,60}){0,5},? and [^,?]{1,60})\??$",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:it|its|they|their|them|this|that|these|those|such|ones?|he|his|she|her|there)\b",
    re.IGNORECASE,
)
_MIN_TERMS = 4  # of a part without a name; shorter parts depend on what was said before
_RELATES = re.compile(
    r"\b(?:ratios?|separations?|correlat\w*|cross-\w+|merg\w+|between|differ\w*|relations?|inter\w+|"
    r"joint\w*|combine\w*|compar\w+|distance|coincid\w+)\b",
    re.IGNORECASE,
)  # what relates the items of a list
_NAMED_SHARE = 0.6  # of the characters of an item; other nouns make one subject, not a list


def sub_questions(question: str) -> tuple[str, ...]:
    """Return the parts of a question that asks several things, or ().

    >>> sub_questions("What is a kilonova, and how far away is M 31?")
    ('What is a kilonova?', 'How far away is M 31?')
    >>> sub_questions("What are the masses of WASP-12b, HD 189733 b and TRAPPIST-1 e?")[2]
    'What are the masses of TRAPPIST-1 e?'
    >>> sub_questions("What drives the formation and evolution of galaxies?")
    ()
    """
    text = " ".join(question.split())
    if len(text) > _LONGEST_COMPARISON or compared_things(text):
        return ()
    parts = [part.strip(" ,;.?") for part in _AND_ASKED.split(text)]
    if parts[1:] and all(
        not _REFERS.search(part) and (len(tokenise(part)) >= _MIN_TERMS or find_entities(part))
        for part in parts[1:]
    ):
        return tuple(f"{part[:1].upper()}{part[1:]}?" for part in parts)
    if (match := _LISTED.match(text)) is None or _RELATES.search(match["head"]):
        return ()
    items = [item.strip() for item in re.split(r",? and |, ", match["list"])]
    names = [entity.text for entity in find_entities(text) if entity.kind != "person"]
    if not all(
        any(name in item and len(name) >= _NAMED_SHARE * len(item) for name in names)
        for item in items
    ):
        return ()
    return tuple(f"{match['head']}{item}?" for item in items)


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


_NO_AIM = Aim("", (), frozenset())


@dataclass(frozen=True)
class Question:
    """A question as it is read.

    Attributes
    ----------
    text : str
        The question of the user.
    subject : str
        What is searched for: the question without polite words, people and period.
    kind : QuestionKind
        Type and flags.
    request : Request
        What the question counts in the literature; its measure is "" if it counts nothing.
    restrictions : tuple of Condition
        People and period of a request for papers, which become filters.
    quoted : str
        Words that sentences are compared with: the subject without identifiers of papers, or the
        titles of these papers if nothing else is left.
    aim : Aim
        What sentences must state to answer.
    """

    text: str
    subject: str
    kind: QuestionKind
    request: Request
    restrictions: tuple[Condition, ...] = ()
    quoted: str = ""
    aim: Aim = _NO_AIM

    @property
    def filter(self) -> str:
        """Filter of the people and the period."""
        return ";".join(condition.filter for condition in self.restrictions)


def read_question(
    engine: Engine,
    text: str,
    *,
    filter_text: str | None = None,
    question_type: str | None = None,
    model: LanguageModel | None = None,
) -> Question:
    """Read a question.

    Parameters
    ----------
    engine : Engine
        Its atlas decides which words name something.
    text : str
    filter_text : str, optional
        Filter of the user, a condition of what is counted.
    question_type : str, optional
        Type and flags as `read_kind` reads them. Default: `model` or rules classify the question.
    model : LanguageModel, optional
        Asked for the type if the question counts nothing.
    """
    request, whole = Request(""), not engine.is_restricted
    if whole:
        request = _counting(engine, text, filter_text)
    if request.measure:
        return Question(text, text, QuestionKind("unclassified"), request)
    plain = plain_question(text)
    kind = read_kind(question_type) if question_type else classify(plain, model=model)
    found, subject = read_restriction(engine.atlas, plain) if whole else ((), plain)
    if not (found and subject):
        found, subject = (), plain
    rows, _, rest = engine.indexes.papers_named(subject)
    quoted = subject
    if len(rows):
        words = [word for word in subject_words(rest) if word.casefold() not in empty_words()]
        titles = engine.atlas.read_papers(["title"])["title"].iloc[rows]
        quoted = rest if words else " ".join(titles)
    return Question(text, subject, kind, request, found, quoted, aim_of(quoted, kind))


def _counting(engine: Engine, text: str, filter_text: str | None) -> Request:
    """Read what a question counts; a name alone asks for the papers of a person."""
    name = person_name(" ".join(text.split()))
    short, by = engine.indexes.papers_of_person(name) if name else ("", ())
    person = Condition(f'author:"{short}"', f"by {short}.")
    try:
        found = Request("person", (person,)) if len(by) else read_request(engine.atlas, text)
    except InputError as error:
        return Request("papers", fault=str(error))
    if not found.measure or not filter_text:
        return found
    given = Condition(f"({filter_text})", f"that pass the filter {filter_text}")
    return replace(found, conditions=(*found.conditions, given))
