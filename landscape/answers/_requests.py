"""Read what a question counts in the literature, and of which papers.

A question is divided into tokens: names that the atlas knows (people, facilities, regions),
periods, and words. Each word has a class of ``data/questions.yaml``, such as "unit" (papers) or
"use", or it names a subject, or it is not understood. Words of the subject are those that authors
use in keyphrases, so "brown dwarfs" is a subject in every sentence, and "regarding" in none. The
tokens follow this grammar, in which the order of the parts is free::

    question    : measure condition* period?
    measure     : asking? quantity? (unit | head)         "How many papers", "Which telescopes"
    condition   : not? relation? thing ((and | or | ",") thing)*
    relation    : about | use | mention | by | title      "regarding", "that use", "written by"
    thing       : subject+ ("of" subject+)? | facility | person | region | quoted phrase
    period      : since | until | between | in ...        "since May 2020", "in the last 5 years"

The result is a `Request`. Conditions are written as filters of `landscape.search.parse_filter`, so
each number can be repeated with one line of code. Words that fit nothing are in
``Request.unknown``; they never become search words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from landscape.answers._question_words import Condition, Token, read_period, read_tokens
from landscape.errors import InputError
from landscape.search import open_engine
from landscape.text.words import singular

if TYPE_CHECKING:
    from landscape.store import AtlasStore

_BETWEEN = 6  # maximum number of tokens between "how many" and "papers"


@dataclass(frozen=True)
class Request:
    """What a question asks of the tables of an atlas.

    Attributes
    ----------
    measure : str
        What is counted: "papers", "facilities", "authors", ...; "growth", "gaps" or "new" for
        questions that an analysis answers; "" for all other questions.
    conditions : tuple of Condition
        Subjects, people, facilities and properties of the papers, without the period.
    period : Condition or None
    whole : tuple of Condition
        Conditions on the denominator of "What share of JWST papers ...".
    unknown : tuple of str
        Words that were not understood and are not searched for.
    refused : str
        Words for which no table exists, such as "h-index"; "" if there are none.
    fault : str
        Why the question cannot be counted; "" if it can.

    Examples
    --------
    >>> dust = Condition('"dust"', 'with the words "dust"', 'abs:"dust"')
    >>> asked = Request("papers", (dust,), Condition("2020..", "since 2020", "year:2020-"))
    >>> asked.filter, asked.ads
    ('"dust";2020..', 'abs:"dust" year:2020-')
    """

    measure: str
    conditions: tuple[Condition, ...] = ()
    period: Condition | None = None
    whole: tuple[Condition, ...] = ()
    unknown: tuple[str, ...] = ()
    refused: str = ""
    fault: str = ""

    @property
    def filter(self) -> str:
        """Filter of the papers that the question is about."""
        return ";".join(condition.filter for condition in self._all)

    @property
    def phrase(self) -> str:
        """Description of these papers, such as "with the words "dust" since 2020"."""
        text = " ".join(condition.phrase for condition in self._all)
        return text.replace('" with the words "', '" and "')

    @property
    def ads(self) -> str:
        """The same condition as a query of ADS, or "" if ADS cannot be asked for it."""
        parts = [condition.ads for condition in self._all]
        return " ".join(parts) if all(parts) else ""

    @property
    def base(self) -> tuple[str, str]:
        """Filter and description of the papers that shares are relative to."""
        parts = [*self.whole, *([self.period] if self.period else [])]
        return ";".join(one.filter for one in parts), " ".join(one.phrase for one in parts)

    @property
    def _all(self) -> tuple[Condition, ...]:
        return (*self.conditions, *([self.period] if self.period else ()))


def read_request(atlas: AtlasStore, question: str, *, today: date | None = None) -> Request:
    """Read a question about the literature.

    Parameters
    ----------
    atlas : AtlasStore
        Its keyphrases, authors and regions decide which words name something.
    question : str
    today : datetime.date, optional
        Reference date of "in the last 5 years". Default: today.

    Returns
    -------
    Request

    Raises
    ------
    InputError
        If the question has several periods.
    """
    text = " ".join(question.split())
    period, left = read_period(text, today or date.today())
    tokens = [*read_tokens(atlas, left)]
    measure = _measure(tokens)
    if not measure:
        return Request("")
    tokens = [*_with_nouns(tokens, measure)]
    parsed = _Parser(tokens, measure, lambda text: len(open_engine(atlas).select(text)))
    refused = " ".join(token.text for token in tokens if token.kind == "refused")
    return Request(
        measure,
        tuple(parsed.conditions),
        period,
        tuple(parsed.whole),
        tuple(token.text for token in tokens if token.kind == "unknown"),
        refused,
    )


def read_restriction(atlas: AtlasStore, question: str) -> tuple[tuple[Condition, ...], str]:
    """Return the people and the period of a request for papers, and the subject that is left.

    A question that names no papers ("What happened to Betelgeuse in 2019?") has no restriction,
    because its words describe the subject.
    """
    try:
        period, left = read_period(" ".join(question.split()), date.today())
    except InputError:  # of several periods, as in a comparison
        return (), question
    tokens = [*read_tokens(atlas, left)]
    people = [one for one in tokens if one.kind == "person"]
    found = [Condition(one.filter, one.text, one.filter) for one in people]
    found += [period] if period else []
    if not found or not any(one.kind in ("unit", "publish", "reviews_head") for one in tokens):
        return (), question
    named = ("subject", "quoted", "facility", "of", "novel", "unknown")
    return tuple(found), " ".join(one.text for one in tokens if one.kind in named)


def _measure(tokens: list[Token]) -> str:
    """Return what is counted, or "" if the question counts nothing in the literature."""
    kinds = [token.kind for token in tokens if token.kind not in ("mark", "end")]
    return _analysis(tokens, kinds) or _listed(tokens, kinds) or _trend(tokens, kinds)


def _analysis(tokens: list[Token], kinds: list[str]) -> str:
    """Return the analysis that answers a question: gaps, new or growing topics."""
    has = set(kinds)
    # "Which regions need a review?", but not "I need a review of quenching."
    needs = any(
        one.kind in ("regions_head", "concepts_head") and other.text.casefold() in ("need", "want")
        for one, other in itertools.pairwise(tokens)
    )
    if (needs or has & {"lack", "need"}) and "reviews_head" in has:
        return "gaps"
    if "lack" in has and has <= _PLAIN | {"lack", "regions_head"}:
        return "gaps"  # "What is missing?"
    is_short = has <= _PLAIN | {"novel", "subject", "facility", "atlas"}
    after = kinds[kinds.index("novel") + 1 :] if "novel" in has else []
    if after[:1] != ["subject"] and "novel" in has and is_short and kinds[0] in ("which", "list"):
        return "new"
    if "grow" in has and kinds[0] in ("which", "list"):
        head = _head(tokens[1:])
        return "growth" if head and head.kind in ("concepts_head", "regions_head") else ""
    return ""


_PLAIN = frozenset(
    {"about", "asking", "atlas", "concepts_head", "filling", "list", "number", "period", "which"}
)


def _listed(tokens: list[Token], kinds: list[str]) -> str:
    """Return what is counted, ranked or listed: the first noun after "how many" or "which"."""
    has = set(kinds)
    is_on_literature = bool(has & {"unit", "publish", "use", "atlas", "most"})
    if tokens[:1] and tokens[0].text.casefold() == "who":
        return "authors" if has & {"publish", "most"} and is_on_literature else ""
    if {"cited", "most"} <= has and has & {"unit", "reviews_head"}:
        return "cited"
    if kinds[:1] == ["asking"] and "reviews_head" in has and tokens[1].text.casefold() == "there":
        return "reviews"
    for place, token in enumerate(tokens):
        if token.kind not in _COUNTED_AFTER:
            continue
        rest = tokens[place + 1 :]
        if token.text.casefold() == "how many" and _is_bare(rest, has_unit="unit" in has):
            return "papers"
        head = _head(rest)
        if head is None:
            continue
        is_paper = head.kind in ("unit", "abstract") or head.kind.startswith("kind_")
        measure = "papers" if is_paper else head.kind.removesuffix("_head")
        after = [one.kind for one in rest[rest.index(head) + 1 :] if one.kind != "filling"]
        if measure == "regions" and after[:2] == ["of", "subject"] and not has & {"unit", "atlas"}:
            continue  # "regions of star formation" are not regions of the map
        is_counted = token.kind in ("quantity", "share")
        is_ranked = "most" in has or singular(head.text.casefold()) != head.text.casefold()
        if measure == "papers":
            is_ranked = False  # papers are found by a search
        if is_counted or (is_ranked and (is_on_literature or measure == "reviews")):
            return measure if is_on_literature or measure != "facilities" else ""
    return ""


def _is_bare(rest: list[Token], *, has_unit: bool) -> bool:
    """Return whether "how many" has no noun: "how many on X", "papers on X, how many are there"."""
    kinds = [token.kind for token in rest if token.kind not in ("asking", "filling", "mark")]
    return kinds[:1] == ["about"] or (has_unit and not kinds)


_COUNTED_AFTER = ("quantity", "share", "which", "list", "most")
_ENDING = ("about", "use", "mention", "publish", "by", "title", "not", "grow", "lack", "mark")


def _head(tokens: list[Token]) -> Token | None:
    """Return the noun that can be counted and that directly follows a word such as "how many".

    "The main uncertainties of weak lensing surveys" asks for uncertainties, not for surveys.
    """
    before = ""
    for token in tokens[:_BETWEEN]:
        if token.kind == "of" and before in ("subject", "unknown"):
            return None
        before = token.kind
        if token.kind in ("unit", "abstract") or token.kind.endswith("_head"):
            return token
        if token.kind.startswith("kind_"):
            return token
        if token.kind in _ENDING:
            return None
    return None


def _trend(tokens: list[Token], kinds: list[str]) -> str:
    """Return "papers" for questions about the development of the number of papers."""
    has, first = set(kinds), " ".join(token.text.casefold() for token in tokens[:2])
    if "unit" in has and ("per_time" in has or first in ("which year", "what year")):
        return "papers"
    if first.startswith("how ") and "grow" in has and has & {"unit", "interest"}:
        return "papers"
    is_rate = first.startswith(("how often", "how frequently", "how many times"))
    return "papers" if is_rate and has & {"unit", "use", "mention", "publish", "study"} else ""


_EFFECTS = frozenset({"impact", "influence", "role"})


def _with_nouns(tokens: list[Token], measure: str) -> Iterator[Token]:
    """Decide from its neighbours whether a word belongs to the subject.

    "Regions", "rate" and "hot" do in "papers on the formation rate of stars in hot regions". A verb
    after "papers" does not.
    """
    before = ""
    for place, token in enumerate(tokens):
        after = tokens[place + 1].kind if place + 1 < len(tokens) else ""
        kind, is_noun = token.kind, token.tag in ("NOUN", "ADJ", "PROPN")
        if before == "most" and token.text.casefold() in _EFFECTS:
            kind = "filling"  # "the largest impact" ranks what is counted, and is not a subject
        elif kind == "data":  # "JWST data", but also "data reduction"
            kind = "use" if before == "facility" else "subject"
        elif kind == "subject" and before in _BEFORE_VERBS and not token.filter:
            is_verb = token.tag == "VERB" or token.text.endswith("ed")
            is_verb |= (
                after == "about"
                and before in ("unit", "period")
                and (tokens[place + 1].text != "in")
            )
            kind = "study" if is_verb and token.text.islower() else kind
        elif kind == "novel" and after == "unit":
            kind = "unknown"  # "recent papers": since when?
        elif kind in _SOFT and is_noun:
            is_adjective = (after == "subject" or after.endswith("_head")) and (
                kind in ("novel", "grow") or before in (*_OPEN, "subject")
            )
            is_last = before == "subject" and kind != "most"
            kind = "subject" if is_adjective or is_last else kind
        elif kind.endswith("_head") and kind != "reviews_head":
            is_own = kind != f"{measure}_head" or before == "subject"
            is_last = before == "subject" or (before == "about" and after != "of")
            kind = "subject" if is_own and is_last else kind
        if kind != "filling":
            before = kind
        yield token._replace(kind=kind)


_BEFORE_VERBS = ("unit", "period", "asking", "person", "facility")
_OPEN = ("about", "of", "not", "and", "or", "study", "mention")
_SOFT = ("novel", "grow", "most", "interest", "plan", "share", "quantity", "publish", "study",
         "need", "lack", "cited", "first_author")  # fmt: skip
_NAMED = ("facility", "person", "region", "property")


_AS_PHRASE = 0.25  # minimum share of the papers with both nouns of "X of Y" that have the phrase


class _Parser:
    """The grammar of the module, applied from left to right."""

    def __init__(self, tokens: list[Token], measure: str, count: Callable[[str], int]) -> None:
        self._count = count
        self.conditions: list[Condition] = []
        self.whole: list[Condition] = []
        self._measure = measure
        kinds = [token.kind for token in tokens]
        self._is_title = "title" in kinds and "abstract" not in kinds
        self._field = "title:" if self._is_title else ""
        self._is_first_author = "first_author" in kinds
        self._mentions = "mention" in kinds
        self._plans = "plan" in kinds
        self._reset()
        is_share = "share" in kinds
        for token in tokens:
            if (
                is_share
                and token.kind in ("use", "mention", "study")
                and (self._words or self._things or self.conditions)
            ):
                self._end()
                self.whole, is_share = list(self.conditions), False
            self._take(token)
        self._end()

    def _reset(self) -> None:
        self._words: list[Token] = []  # of the open noun phrase
        self._of: list[Token] = []  # words before "of" in the open phrase
        self._things: list[Token] = []  # conditions joined by the open "or"
        self._is_or = self._is_not = False
        self._relation = ""

    def _take(self, token: Token) -> None:
        kind = token.kind
        if kind == "subject":
            self._words.append(token)
        elif kind in ("quoted", *_NAMED):
            self._close_phrase()
            is_quoted = kind == "quoted"
            text = f'{self._field}"{token.text}"' if is_quoted else token.filter
            self._things.append(Token(token.text, "subject" if is_quoted else kind, text))
        elif kind == "of" and self._words and not self._of:
            self._of, self._words = self._words, []
        elif kind in ("and", "or") or token.text == ",":
            self._close_phrase()
            self._is_or = self._is_or or kind == "or"
        elif kind == "not":
            self._end()
            self._is_not = True
        elif kind in ("use", "mention", "about", "study"):
            is_data = kind == "use" and [thing.kind for thing in self._things] == ["facility"]
            self._relation = kind if is_data else self._relation  # "JWST data"
            self._end(keep=True)
            self._relation = kind
        else:
            self._end(keep=True)
            if kind in ("reviews_head", "refereed") or kind.startswith("kind_"):
                self._add_kind(token)

    def _add_kind(self, token: Token) -> None:
        if token.kind == "reviews_head":
            if self._measure not in ("reviews", "gaps"):
                self._add("review", "that are reviews", "doctype:review")
        elif token.kind == "refereed":
            self._add("refereed", "that are refereed", "property:refereed")
        else:
            name = token.kind.removeprefix("kind_")
            field = "status" if name in ("retracted", "withdrawn") else "kind"
            self._add(f"{field}:{name}", f"that are {token.text}")

    def _add(self, filter_text: str, phrase: str, ads: str = "") -> None:
        if self._is_not:
            filter_text, phrase = f"-({filter_text})", f"but not {phrase}"
            ads = f"-{ads}" if ads else ""
        condition = Condition(filter_text, phrase, ads)
        if condition not in self.conditions:
            self.conditions.append(condition)

    def _close_phrase(self) -> None:
        """Turn the open words into a thing."""
        if self._of and not self._words:
            self._words, self._of = self._of, []
        if not self._words:
            return
        words, of = ([token.text for token in part] for part in (self._words, self._of))
        phrases = [" ".join(words)]
        if of:  # "clusters of galaxies" and "galaxy clusters", but not "colour of galaxies"
            phrases = [" ".join([*of, "of", *words])]
            phrases.append(" ".join([*words[:-1], singular(words[-1]), *of]))
            apart = [f'{self._field}"{" ".join(part)}"' for part in (of, words)]
            if self._count(self._any_of(phrases)) < _AS_PHRASE * self._count(";".join(apart)):
                self._add(apart[0], f'with the words "{" ".join(of)}"', f'abs:"{" ".join(of)}"')
                phrases = [" ".join(words)]
        elif len(words) == 2 and {token.tag for token in self._words} == {"NOUN"}:
            phrases.append(f"{words[1]} of {words[0]}")
        self._things.append(Token(phrases[0], "subject", self._any_of(phrases)))
        self._words, self._of = [], []

    def _any_of(self, phrases: list[str]) -> str:
        written = [f'{self._field}"{phrase}"' for phrase in phrases]
        return written[0] if len(written) == 1 else f"({'|'.join(written)})"

    def _end(self, *, keep: bool = False) -> None:
        """Turn the open things into a condition; `keep` continues a negation and a relation."""
        self._close_phrase()
        for kind in ("subject", *_NAMED):
            things = [thing for thing in self._things if thing.kind == kind]
            # "A, B or C", and "not A and B", are one condition; "A and B" are two.
            lists = [things] if self._is_or or self._is_not else [[thing] for thing in things]
            for joined in filter(None, lists):
                self._add(*self._written(kind, joined), self._in_ads(kind, joined))
        self._is_not = self._is_not and not self._things
        self._things, self._is_or = [], False
        if not keep:
            self._relation = ""

    def _written(self, kind: str, things: list[Token]) -> tuple[str, str]:
        names = " or ".join(
            f'"{thing.text}"' if kind == "subject" else thing.text for thing in things
        )
        filters = [thing.filter for thing in things]
        phrase = names
        if kind == "subject":
            where = "in the title" if self._is_title else ""
            phrase = f"with the words {names} {where}".strip()
        elif kind == "person" and self._is_first_author:
            filters = [text.replace('author:"', 'author:"^') for text in filters]
            phrase = f"with the first author {names.removeprefix('by ')}"
        elif kind == "facility":
            uses = self._relation == "use" and not self._mentions
            field = "facility" if uses or self._plans else "mentions"
            verb = "plan to use" if self._plans else "use data of" if uses else "mention"
            filters = [f'{field}:"{text}"' for text in filters]
            phrase = f"that {verb} {names}"
        joined = filters[0] if len(filters) == 1 else f"({'|'.join(filters)})"
        if kind == "facility" and self._plans:
            joined += ";role:planned"
        return joined, phrase

    def _in_ads(self, kind: str, things: list[Token]) -> str:
        """Write a condition as ADS does, or return "" if ADS has no such field."""
        if kind in ("region", "property"):
            citations = [re.match(r"citations>=?(\d+)", thing.filter) for thing in things]
            return f"citation_count:[{citations[0][1]} TO *]" if citations[0] else ""
        mark = "^" if self._is_first_author else ""
        parts = []
        for thing in things:
            if kind == "person":
                parts.append(f'author:"{mark}{thing.text.removeprefix("by ")}"')
            elif kind == "facility":
                parts.append(f'abs:"{thing.text}"')
            else:
                field = "title" if self._is_title else "abs"
                phrases = re.findall(r'"([^"]*)"', thing.filter)
                parts += [f'{field}:"{phrase}"' for phrase in phrases]
        return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"
