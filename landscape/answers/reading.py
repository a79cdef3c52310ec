"""Read a question about the literature: what it counts, and of which papers.

A question is divided into tokens: names that the atlas knows (people, facilities, regions),
periods, and words. Each word has a class of ``data/questions.yaml``, such as "unit" (papers) or "use", or it
names a subject, or it is not understood. Words of the subject are those that authors use in
keyphrases, so "brown dwarfs" is a subject in every sentence, and "regarding" in none. The tokens
follow this grammar, in which the order of the parts is free::

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

import calendar
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from landscape._io import read_data
from landscape.corpus import find_facility
from landscape.errors import InputError
from landscape.overlays.missions import find_mentions
from landscape.search import open_engine
from landscape.text.tagger import tag_texts
from landscape.text.words import singular, third_person

if TYPE_CHECKING:
    from landscape.store import AtlasStore

_YEAR = r"(?:1[89]|20)\d\d"
_MONTHS = {name[:3].lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = rf"(?:{_YEAR}-\d\d|(?:{_MONTH} )?(?:of )?{_YEAR}|{_MONTH})"
_NUMBER = r"(?:\d+|one|two|three|five|ten|few)"
_NUMBERS = {"one": 1, "two": 2, "three": 3, "few": 3, "five": 5, "ten": 10}
_PERIODS = tuple(
    (re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), form)
    for pattern, form in (
        (rf"(?:(?:between|from) )?({_DAY}) ?(?:-|–|and|to|until|through|till) ?({_DAY})", "range"),
        (rf"(?:since|starting (?:in|from)|from) (?:the year )?({_DAY})(?: on(?:wards?)?)?", "since"),
        (rf"(?:after|later than) (?:the year )?({_DAY})", "after"),
        (rf"(?:before|prior to|earlier than) (?:the year )?({_DAY})", "before"),
        (rf"(?:until|up to|till|through) (?:the year )?({_DAY})", "until"),
        (r"(?:(?:in|during|of|from) )?the ((?:1[89]|20)\d0)['’]?s", "decade"),
        (rf"(?:in|during|over|within|of|from) the (?:last|past|previous) (?:({_NUMBER}) )?"
         r"(year|month|decade)s?", "last"),
        (r"(?:(?:in|during|of|from) )?(this|last) year", "this"),
        (rf"(?:(?:published )?(?:in|during|of|for|from|by) (?:the year )?)?"
         rf"({_YEAR}-\d\d|(?:{_MONTH} )?(?:of )?{_YEAR})", "in"),
    )
)  # fmt: skip
_PERSON = re.compile(
    r"(?<![\w'’-])(?:[A-ZÀ-Þ][\w'’-]+, (?:[A-Z]\.? ?){1,3}(?![\w])|"
    r"(?:[A-Z]\. ?){1,3}[A-ZÀ-Þ][\w'’-]+|"
    r"[A-ZÀ-Þ][\w'’-]++(?: (?:[A-Z]\.|[A-ZÀ-Þ][\w'’-]++)){1,3})"
)
_FAMILY = re.compile(
    r"(?i:\b(?:by|of|author(?:ed by)?|from|with)) (?:the )?(?:author |astronomer |(?:Dr|Prof)\.? )*"
    r"((?:(?:van|von|de|der|den|di|da|le|la|el) )*[A-ZÀ-Þ][\w'’-]+)(?= |\?|\.|,|$)"
    r"|\b([A-ZÀ-Þ][\w-]+)['’]s? (?=(?:\w+ ){0,2}(?:papers?|articles?|publications?|work))"
)
_REGION = re.compile(
    r"\b(?:in )?(?:the )?region (?:of |named |called )?(?:[\"“']([^\"”']+)[\"”']|([A-Z][\w -]+))"
)
_CATEGORY = re.compile(
    r"\b(?:astro-ph|gr-qc|hep|physics|cond-mat|math|stat|cs|nucl|eess)[-\w]*(?:\.[A-Za-z-]+)?"
    r"(?: category)?\b(?<!\bphysics)(?<!\bmath)(?<!\bcs)(?<!\bstat)"
)
_CITED = re.compile(
    r"(?:with |having |have )?(more than|at least|over|fewer than|less than|at most|under) "
    r"(\d+) (?:citations?|times cited)|cited (more than|at least|over|fewer than|less than) "
    r"(\d+) times?",
    re.IGNORECASE,
)
_SIGNS = {"more than": ">", "over": ">", "at least": ">=", "at most": "<="}
_WORD = r"[^\W_][\w'’*+./-]*|[,;:?!()&]"
_TYPICAL = 0.04  # minimum share of the papers with a word that have it in a keyphrase
_KNOWN = 8  # papers with a word that are enough to know this share
_BETWEEN = 6  # maximum number of tokens between "how many" and "papers"


class Token(NamedTuple):
    """A word or a name of a question, its class, and its filter if it is a name."""

    text: str
    kind: str
    filter: str = ""
    tag: str = ""  # part of speech


@dataclass(frozen=True)
class Condition:
    """A condition on papers: its filter, and the words that describe it after "papers"."""

    filter: str
    phrase: str
    ads: str = ""


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
    """

    measure: str
    conditions: tuple[Condition, ...] = ()
    period: Condition | None = None
    whole: tuple[Condition, ...] = ()
    unknown: tuple[str, ...] = ()
    refused: str = ""

    @property
    def filter(self) -> str:
        """Filter of the papers that the question is about."""
        return ";".join(condition.filter for condition in self._all)

    @property
    def phrase(self) -> str:
        """Description of these papers, such as "with the words "dust" since 2020"."""
        return " ".join(condition.phrase for condition in self._all)

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
    period, left = _read_period(text, today or date.today())
    tokens = [*_tokens(atlas, left)]
    measure = _measure(tokens)
    if not measure:
        return Request("")
    tokens = [*_with_nouns(tokens, measure)]
    parsed = _Parser(tokens, measure)
    refused = " ".join(token.text for token in tokens if token.kind == "refused")
    return Request(
        measure,
        tuple(parsed.conditions),
        period,
        tuple(parsed.whole),
        tuple(token.text for token in tokens if token.kind == "unknown"),
        refused,
    )


def _read_period(text: str, today: date) -> tuple[Condition | None, str]:
    """Return the period of a question, and the question without it."""
    for pattern, form in _PERIODS:
        for match in pattern.finditer(text):
            filter_text = _period_filter(form, match, today)
            if not filter_text:
                continue
            left = f"{text[: match.start()]} , {text[match.end() :]}"
            if re.search(rf"(?<![\w.-]){_YEAR}(?![\w.-])", left):
                raise InputError("The question has several periods; ask about one of them.")
            phrase = match[0].strip().removeprefix("published ")
            return Condition(filter_text, phrase, _ads_period(filter_text)), left
    return None, text


def _period_filter(form: str, match: re.Match[str], today: date) -> str:
    """Return the filter of a period, or "" if the text is no period."""
    if form == "decade":
        return f"{match[1]}..{int(match[1]) + 9}"
    if form == "this":
        return f"date:{today.year - (match[1].lower() == 'last')}"
    if form == "last":
        number = int(_NUMBERS.get((match[1] or "one").lower(), match[1] or 1))
        months = number * {"year": 12, "month": 1, "decade": 120}[match[2].lower()]
        place = today.year * 12 + today.month - 1 - months
        return f"{place // 12}-{place % 12 + 1:02d}.."
    last = _day(match[match.lastindex or 1], today)
    first = _day(match[1], today, of=last) if form == "range" else last
    if not first or not last:
        return ""
    return {
        "range": f"{first}..{last}",
        "since": f"{first}..",
        "after": f"date>{first}",
        "before": f"date<{first}",
        "until": f"..{first}",
        "in": f"date:{first}",
    }[form]


def _ads_period(filter_text: str) -> str:
    """Write the filter of a period as ADS does."""
    text = filter_text.removeprefix("date:")
    if filter_text.startswith("date>"):
        text = f"{int(text[5:9]) + 1}.." if len(text) == 9 else f"{text[5:]}.."
    elif filter_text.startswith("date<"):
        text = f"..{int(text[5:9]) - 1}" if len(text) == 9 else f"..{text[5:]}"
    first, dots, last = text.partition("..")
    if "-" not in text:
        return f"year:{first}{'-' * bool(dots)}{last}"
    return f"pubdate:[{first or '*'} TO {last or (first if not dots else '*')}]"


def _day(text: str, today: date, *, of: str = "") -> str:
    """Write a year or a month as filters do; a month alone is the last one before today."""
    year = re.search(_YEAR, text)
    if year and text[year.end() :].startswith("-"):
        return text
    month = _MONTHS.get(text[:3].lower())
    if month is None:
        return year[0] if year else ""
    if not re.fullmatch(_MONTH, text.split()[0], re.IGNORECASE) or not _is_month(text.split()[0]):
        return ""
    number = int(year[0]) if year else int(of[:4]) if of else today.year - (month > today.month)
    return f"{number}-{month:02d}"


def _is_month(word: str) -> bool:
    """Return whether a word is the name of a month or its beginning, not "marked" or "decay"."""
    name = word.rstrip(".").lower()
    return any(month.lower().startswith(name) for month in calendar.month_name if month)


def _tokens(atlas: AtlasStore, text: str) -> Iterator[Token]:
    """Divide a question without its period into tokens, in reading order."""
    named: list[tuple[int, int, Token]] = []

    def add(begin: int, end: int, token: Token) -> None:
        if all(end <= start or stop <= begin for start, stop, _ in named):
            named.append((begin, end, token))

    for match in re.finditer(r"[\"“][^\"”]+[\"”]", text):
        if match.start() and text[: match.start()].rstrip().endswith("region"):
            continue
        add(*match.span(), Token(match[0][1:-1], "quoted"))
    for find in (_regions, _people, _facilities, _properties):
        for begin, end, token in find(atlas, text):
            add(begin, end, token)
    place = 0
    tagged = dict(zip(*_tags(text), strict=False))
    for begin, end, token in [*sorted(named), (len(text), len(text), Token("", "end"))]:
        for match in _token().finditer(text, place, begin):
            word, tag = match[0].rstrip("."), tagged.get(match[0].rstrip("."), "")
            is_first = not text[: match.start()].strip()
            yield Token(word, _class_of(atlas, word, tag, is_first=is_first), tag=tag)
        if token.kind != "end":
            yield token
        place = end


def _tags(text: str) -> tuple[list[str], list[str]]:
    [tagged] = tag_texts([text], tagger="rules")
    return tagged.words, tagged.tags


def _regions(atlas: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    for match in _REGION.finditer(text):
        name = re.sub(r"\s+(?:have|has|contain|hold|use|since|in)\b.*", "", match[1] or match[2])
        end = match.start() + match[0].index(name) + len(name) + bool(match[1])
        phrase = f"in the region {name.strip()}"
        yield match.start(), end, Token(phrase, "region", f'region:"{name.strip()}"')


def _people(atlas: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    """Find the names of authors who have papers in the atlas."""
    engine = open_engine(atlas)
    for match in _PERSON.finditer(text):
        name = match[0].strip()
        first_alone = name.split()[0].strip(",").casefold() in _classes()
        if first_alone or find_mentions(name):
            continue
        short, rows = name, engine.select(f'author:"{name}"')
        if not re.search(r"\b[A-Z]\.?(?= |$)", name):  # given names are known in full
            short, rows = engine.indexes.papers_of_person(name)
        if len(rows):
            yield *match.span(), Token(f"by {short}", "person", f'author:"{short}"')
    for match in _FAMILY.finditer(text):
        group = 1 if match[1] else 2
        name = re.sub(r"['’]s?$", "", match[group])
        if name.casefold() in _classes() or find_mentions(name):
            continue
        is_author = match[0].casefold().startswith(("by ", "author")) or group == 2
        if is_author or len(engine.select(f'author:"{name}"')):
            yield *match.span(group), Token(f"by {name}", "person", f'author:"{name}"')


def _facilities(atlas: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    for mention in find_mentions(text):
        with suppress(InputError):
            name = find_facility(text[mention.start : mention.end]).name
            yield mention.start, mention.end, Token(name, "facility", name)
    for match in re.finditer(
        r"\b(?:us(?:e|es|ed|ing)|mention(?:s|ing)?|data (?:of|from)) (?:the )?"
        r"([A-Z0-9][\w/+-]*(?: [A-Z][\w-]*){0,3})",
        text,
    ):
        with suppress(InputError):
            name = find_facility(match[1]).name
            yield *match.span(1), Token(name, "facility", name)


def _properties(atlas: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    """Find limits of citations, and categories of arXiv."""
    for match in _CITED.finditer(text):
        words, number = (match[1] or match[3]).lower(), match[2] or match[4]
        phrase = f"with {words} {number} citations"
        yield *match.span(), Token(phrase, "property", f"citations{_SIGNS.get(words, '<')}{number}")
    for match in _CATEGORY.finditer(text):
        name = match[0].removesuffix(" category")
        yield *match.span(), Token(f"in the category {name}", "property", f"category:{name}")


@cache
def _classes() -> dict[str, str]:
    """Return the class of each form of the words in ``data/questions.yaml``."""
    found: dict[str, str] = {}
    for kind, parts in read_data("questions.yaml")["words"].items():
        for part, words in parts.items():
            for word in words.split():
                for form in _FORMS[part](word.replace("_", " ")):
                    found.setdefault(form, kind)
    return found


@cache
def _token() -> re.Pattern[str]:
    """Return the pattern of a word, or of several words that are one entry of the classes."""
    several = sorted((form for form in _classes() if " " in form), key=len, reverse=True)
    return re.compile(rf"(?i:\b(?:{'|'.join(map(re.escape, several))})\b)|{_WORD}")


def _verb_forms(base: str) -> Iterable[str]:
    stem = base.removesuffix("e")
    double = stem + stem[-1] if re.search(r"[^aeiou][aeiou][bdgmnprt]$", base) else stem
    past = f"{stem[:-1]}ied" if re.search(r"[^aeiou]y$", base) else f"{stem}ed"
    return (base, third_person(base), past, f"{double}ed", f"{stem}ing", f"{double}ing")


_FORMS = {
    "words": lambda word: (word,),
    "nouns": lambda word: (word, *(form for form in (third_person(word),) if form != word)),
    "verbs": _verb_forms,
}


def _class_of(atlas: AtlasStore, word: str, tag: str, *, is_first: bool) -> str:
    """Return the class of a word: one of the file, "subject", "filling" or "unknown"."""
    lower = word.casefold()
    known = _classes().get(lower) or _classes().get(re.sub(r"['’]s?$", "", lower))
    if known:
        return known
    if not re.search(r"[^\W\d_]", word):
        return "number" if word.isdecimal() else "mark"
    index = open_engine(atlas).indexes.words
    counts = [
        (index.count(term), index.count(term, field="keywords")) for term in index.terms(word)
    ]
    counted, in_keywords = max(counts, default=(0, 0))
    is_name = any(map(str.isupper, word[1:])) or any(map(str.isdigit, word))
    if is_name or (word[0].isupper() and not is_first):
        return "subject"
    if counted >= _KNOWN:
        if in_keywords >= _TYPICAL * counted:
            return "subject"
        return "unknown" if tag in ("NOUN", "ADJ", "PROPN") else "filling"
    if tag in ("NOUN", "PROPN", "ADJ", "NUM", "") and not is_first:
        return "subject"
    return "filling"


def _measure(tokens: list[Token]) -> str:
    """Return what is counted, or "" if the question counts nothing in the literature."""
    kinds = [token.kind for token in tokens if token.kind not in ("mark", "end")]
    return _analysis(kinds) or _listed(tokens, kinds) or _trend(tokens, kinds)


def _analysis(kinds: list[str]) -> str:
    """Return the analysis that answers a question: gaps, new or growing topics."""
    has = set(kinds)
    if "lack" in has and ("reviews_head" in has or not has & {"subject", "unit", "facility"}):
        return "gaps"
    is_short = has <= {"which", "novel", "filling", "about", "asking", "number", "concepts_head",
                       "subject", "facility", "list"}  # fmt: skip
    after = kinds[kinds.index("novel") + 1 :] if "novel" in has else []
    if after[:1] != ["subject"] and "novel" in has and is_short and kinds[0] in ("which", "list"):
        return "new"
    return "growth" if "grow" in has and has & {"concepts_head", "regions_head"} else ""


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
        head = _head(tokens[place + 1 :])
        if head is None:
            continue
        measure = "papers" if head.kind == "unit" else head.kind.removesuffix("_head")
        is_counted = token.kind in ("quantity", "share")
        is_ranked = "most" in has or singular(head.text.casefold()) != head.text.casefold()
        if measure == "papers":
            is_ranked = False  # papers are found by a search
        if is_counted or (is_ranked and (is_on_literature or measure == "reviews")):
            return measure if is_on_literature or measure != "facilities" else ""
    return ""


_COUNTED_AFTER = ("quantity", "share", "which", "list", "most")
_BETWEEN_KINDS = ("filling", "asking", "most", "number", "subject", "facility", "person", "unknown",
                  "refereed", "novel", "cited", "of", "refused", "study", "quoted", "atlas")  # fmt: skip


def _head(tokens: list[Token]) -> Token | None:
    """Return the noun that can be counted and that directly follows a word such as "how many"."""
    for token in tokens[:_BETWEEN]:
        if token.kind == "unit" or token.kind.endswith("_head"):
            return token
        if token.kind not in _BETWEEN_KINDS:
            return None
    return None


def _trend(tokens: list[Token], kinds: list[str]) -> str:
    """Return "papers" for questions about the development of the number of papers."""
    has, first = set(kinds), " ".join(token.text.casefold() for token in tokens[:2])
    if "unit" in has and "per_time" in has:
        return "papers"
    if first.startswith("how ") and "grow" in has and has & {"unit", "interest"}:
        return "papers"
    is_on_literature = has & {"unit", "use", "mention", "publish"}
    return "papers" if first.startswith(("how often", "how frequently")) and is_on_literature else ""


def _with_nouns(tokens: list[Token], measure: str) -> Iterator[Token]:
    """Make nouns such as "regions" a part of the subject, as in "papers on star-forming regions"."""
    before = ""
    for place, token in enumerate(tokens):
        after = tokens[place + 1].kind if place + 1 < len(tokens) else ""
        is_noun = token.kind.endswith("_head") and token.kind != "reviews_head"
        if token.kind == "data":  # "JWST data", but also "data reduction"
            token = token._replace(kind="use" if before == "facility" else "subject")  # noqa: PLW2901
        is_own = token.kind != f"{measure}_head" or before == "subject"
        if is_noun and is_own and before in ("subject", "about") and after != "of":
            token = token._replace(kind="subject")
        if token.kind != "filling":
            before = token.kind
        yield token


class _Parser:
    """The grammar of the module, applied from left to right."""

    def __init__(self, tokens: list[Token], measure: str) -> None:
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
                and token.kind in ("use", "mention", "study", "auxiliary")
                and (self._words or self._things or self.conditions)
            ):
                self._end()
                self.whole, is_share = list(self.conditions), False
            self._take(token)
        self._end()

    def _reset(self) -> None:
        self._words: list[str] = []  # of the open noun phrase
        self._tags: list[str] = []  # their parts of speech
        self._of: list[str] = []  # words before "of" in the open phrase
        self._things: list[Token] = []  # conditions joined by the open "or"
        self._is_or = self._is_not = False
        self._relation = ""

    def _take(self, token: Token) -> None:
        kind = token.kind
        if kind == "subject":
            self._words.append(token.text)
            self._tags.append(token.tag)
        elif kind == "quoted":
            self._close_phrase()
            self._things.append(Token(token.text, "subject", f'{self._field}"{token.text}"'))
        elif kind in ("facility", "person", "region", "property"):
            self._close_phrase()
            self._things.append(token)
            if kind != "facility":
                self._end(keep=True)
        elif kind == "of":
            if self._words and not self._of:
                self._of, self._words, self._tags = self._words, [], []
            else:
                self._end(keep=True)
        elif kind == "or":
            self._close_phrase()
            self._is_or = bool(self._things)
        elif kind == "and" or token.text == ",":
            self._close_phrase()
            if not self._is_or:
                self._end(keep=True)
        elif kind == "not":
            self._end()
            self._is_not = True
        elif kind == "use" and [thing.kind for thing in self._things] == ["facility"]:
            self._relation = kind  # "JWST data"
            self._end(keep=True)
        elif kind in ("use", "mention", "about", "study"):
            self._end(keep=True)
            self._relation = kind
        elif kind in ("reviews_head", "refereed") or kind.startswith("kind_"):
            self._end(keep=True)
            self._add_kind(token)
        else:
            self._end(keep=True)

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
            filter_text, phrase, ads = (
                f"-({filter_text})",
                f"but not {phrase}",
                f"-{ads}" * bool(ads),
            )
        condition = Condition(filter_text, phrase, ads)
        if condition not in self.conditions:
            self.conditions.append(condition)

    def _close_phrase(self) -> None:
        """Turn the open words into a thing."""
        if self._of and not self._words:
            self._words, self._of = self._of, []
        if not self._words:
            return
        phrases = [" ".join(self._words)]
        if self._of:
            last = singular(self._words[-1])
            other = " ".join([*self._words[:-1], last, *self._of])
            phrases = [f"{' '.join(self._of)} of {phrases[0]}", other]
        elif len(self._words) == 2 and set(self._tags) <= {"NOUN", "PROPN"}:
            phrases.append(f"{self._words[1]} of {self._words[0]}")
        written = [f'{self._field}"{phrase}"' for phrase in phrases]
        text = written[0] if len(written) == 1 else f"({'|'.join(written)})"
        self._things.append(Token(phrases[0], "subject", text))
        self._words, self._tags, self._of = [], [], []

    def _end(self, *, keep: bool = False) -> None:
        """Turn the open things into a condition; `keep` continues a negation and a relation."""
        self._close_phrase()
        for kind in ("subject", "facility", "person", "region", "property"):
            things = [thing for thing in self._things if thing.kind == kind]
            if things:
                self._add(*self._written(kind, things), self._in_ads(kind, things))
        ended = bool(self._things)
        self._things, self._is_or = [], False
        if not keep or (ended and self._is_not):
            self._is_not = self._is_not and not ended
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
            uses = self._relation in ("use",) and not self._mentions
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
