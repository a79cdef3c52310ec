"""Divide a question about the literature into tokens, and read its period.

People, facilities, regions and limits are tokens of their own. The class of all other words is in
``data/questions.yaml``, or follows from the keyphrases of the atlas: a word that authors use in
keyphrases names a subject.
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
from landscape.search import find_entities, open_engine
from landscape.text.tagger import tag_texts
from landscape.text.words import third_person

if TYPE_CHECKING:
    from landscape.store import AtlasStore

_YEAR = r"(?:1[89]|20)\d\d"
_MONTHS = {name[:3].lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = rf"(?:{_YEAR}-\d\d|(?:{_MONTH} )?(?:of )?{_YEAR}|{_MONTH})"
_NUMERALS = (
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_NUMBERS = {name: number for number, name in enumerate(_NUMERALS, start=1)} | {"few": 3}
_NUMBER = rf"(?:\d+|{'|'.join(_NUMBERS)})"
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3}
_PARTS = {
    **{f"{name} half": (6 * n + 1, 6 * n + 6) for name, n in _ORDINALS.items() if n < 2},
    "last half": (7, 12),
    **{f"{name} quarter": (3 * n + 1, 3 * n + 3) for name, n in _ORDINALS.items()},
    **{f"q{n + 1}": (3 * n + 1, 3 * n + 3) for n in range(4)},
    "last quarter": (10, 12),
    "spring": (3, 5),
    "summer": (6, 8),
    "autumn": (9, 11),
    "fall": (9, 11),
    "winter": (12, 14),
}  # first and last month; a winter ends in the next year
_TENS = ("fifties", "sixties", "seventies", "eighties", "nineties")
_PERIODS = tuple(
    (re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), form)
    for pattern, form in (
        (rf"(?:(?:between|from|in|during) )?({_YEAR}) ?[-–/] ?(1[3-9]|[2-9]\d)", "short"),
        (rf"(?:(?:between|from) )?({_DAY}) ?(?:-|–|and|to|until|through|till) ?({_DAY})", "range"),
        (rf"(?:since|starting (?:in|from)) (?:the year )?({_DAY})(?: on(?:wards)?)?", "since"),
        (rf"(?:(?:from|in) )?({_DAY}) (?:onwards|on(?= ?[,?.]|$)|and later|or later)", "since"),
        (rf"(?:(?:in|during|of|from) )?(?:the )?({'|'.join(_PARTS)}),? (?:of )?({_YEAR})", "part"),
        (rf"(?:(?:in|during|of|from) )?the ({'|'.join(_TENS)})", "tens"),
        (rf"(?:after|later than) (?:the year )?({_DAY})", "after"),
        (rf"(?:before|prior to|earlier than) (?:the year )?({_DAY})", "before"),
        (rf"(?:until|up to|till|through)(?: and including)? (?:the year )?({_DAY})", "until"),
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
_AFTER_USE = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|mention(?:s|ing)?|data (?:of|from)) (?:the )?"
    r"([A-Z0-9][\w/+-]*(?: [A-Z][\w-]*){0,3})"
)
_AUTHORED = re.compile(r"\b(?:co-?)?author|\bwr(?:ite|ote|itten)\b|\bby (?:both )?[A-Z]")
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
_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
_PERIOD = "¶"  # in place of the period of a question
_WORD = rf"[^\W_][\w'’*+./-]*|[,;:?!()&{_PERIOD}]"
_TYPICAL = 0.04  # minimum share of the papers with a word that have it in a keyphrase
_KNOWN = 8  # papers with a word that are enough to know this share


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


def read_period(text: str, today: date) -> tuple[Condition | None, str]:
    """Return the period of a question, and the question without it."""
    for pattern, form in _PERIODS:
        for match in pattern.finditer(text):
            filter_text = _filter_of_period(form, match, today)
            if not filter_text:
                continue
            left = f"{text[: match.start()]} {_PERIOD} {text[match.end() :]}"
            if re.search(rf"(?<![\w.-]){_YEAR}(?![\w.-])", left):
                raise InputError("The question has several periods; ask about one of them.")
            phrase = match[0].strip().removeprefix("published ")
            return Condition(filter_text, phrase, _ads_period(filter_text)), left
    return None, text


def _filter_of_period(form: str, match: re.Match[str], today: date) -> str:
    """Return the filter of a period, or "" if the text is no period."""
    if form == "part":
        ends = (int(match[2]) * 12 + month - 1 for month in _PARTS[match[1].lower()])
        return "..".join(f"{month // 12}-{month % 12 + 1:02d}" for month in ends)
    if form == "tens":
        decade = 1950 + 10 * _TENS.index(match[1].lower())
        return f"{decade}..{decade + 9}"
    if form == "decade":
        return f"{match[1]}..{int(match[1]) + 9}"
    if form == "this":
        return f"date:{today.year - (match[1].lower() == 'last')}"
    if form == "last":
        number = int(_NUMBERS.get((match[1] or "one").lower(), match[1] or 1))
        months = number * {"year": 12, "month": 1, "decade": 120}[match[2].lower()]
        place = today.year * 12 + today.month - 1 - months
        return f"{place // 12}-{place % 12 + 1:02d}.."
    if form == "short":  # "2023-25"; "2023-05" is a month
        last = f"{match[1][:2]}{match[2]}"
        return f"{match[1]}..{last}" if last > match[1] else ""
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
    if "-" not in text and first:
        return f"year:{first}{'-' * bool(dots)}{last}"
    field = "pubdate" if "-" in text else "year"
    return f"{field}:[{first or '*'} TO {last or (first if not dots else '*')}]"


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


def read_tokens(atlas: AtlasStore, text: str) -> Iterator[Token]:
    """Divide a question without its period into tokens, in reading order."""
    named: list[tuple[int, int, Token]] = []

    def add(begin: int, end: int, token: Token) -> None:
        if all(end <= start or stop <= begin for start, stop, _ in named):
            named.append((begin, end, token))

    for match in re.finditer(r"[\"“][^\"”]+[\"”]", text):
        if match.start() and text[: match.start()].rstrip().endswith("region"):
            continue
        add(*match.span(), Token(match[0][1:-1].replace("\\", " "), "quoted"))
    for find in (_regions, _people, _facilities, _properties, _objects):
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
        if possessive := _POSSESSIVE.match(text, end):
            place = possessive.end()


def _tags(text: str) -> tuple[list[str], list[str]]:
    [tagged] = tag_texts([text], tagger="rules")
    return tagged.words, tagged.tags


def _regions(_: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    for match in _REGION.finditer(text):
        name = re.sub(r"\s+(?:have|has|contain|hold|use|since|in)\b.*", "", match[1] or match[2])
        end = match.start() + match[0].index(name) + len(name) + bool(match[1])
        name = name.replace("\\", " ")
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
    if not _AUTHORED.search(text):
        return
    lists = r"(?<= both )|(?<= and )|(?<= or )|(?<=[a-z], )"
    anywhere = r"|(?<=[a-z] )" if re.search(r"author|written|wrote", text) else ""
    for match in re.finditer(rf"(?:{lists}{anywhere})[A-ZÀ-Þ][\w'’-]+", text):
        name = match[0]
        is_other = name.casefold() in _classes() or find_mentions(name) or name.isupper()
        if not is_other and len(engine.select(f'author:"{name}"')):
            yield *match.span(), Token(f"by {name}", "person", f'author:"{name}"')


def _facilities(_: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    for mention in find_mentions(text):
        with suppress(InputError):
            name = find_facility(text[mention.start : mention.end]).name
            yield mention.start, mention.end, Token(name, "facility", name)
    for match in _AFTER_USE.finditer(text):
        after = re.match(r"\W*([\w-]+)", text[match.end() :])
        if after and after[1].casefold() not in _classes():
            continue  # "mention the Hubble tension"
        with suppress(InputError):
            name = find_facility(match[1]).name
            yield *match.span(1), Token(name, "facility", name)


def _objects(_: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
    """Find names of objects, such as NGC 1275, which are phrases of their own."""
    for entity in find_entities(text):
        if entity.kind == "object":
            begin = text.index(entity.text)
            yield begin, begin + len(entity.text), Token(entity.text, "quoted")
    for match in re.finditer(r"(?<!\S)\d+[A-Z]/[\w-]+", text):  # comets
        yield *match.span(), Token(match[0], "quoted")


def _properties(_: AtlasStore, text: str) -> Iterator[tuple[int, int, Token]]:
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
    if word == _PERIOD:
        return "period"
    if known := _classes().get(lower):
        return known
    if re.search(r"['’]s?$", lower) and re.sub(r"['’]s?$", "", lower) in _classes():
        return "filling"  # "astronomers' papers"
    if not re.search(r"[^\W\d_]", word):
        return "number" if word.isdecimal() else "mark"
    if tag == "ADV" and lower.endswith("ly"):
        return "unknown"  # "papers that treat planet formation theoretically"
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
    # A first word that is not a noun can be a verb that the tagger does not know.
    if tag in ("NOUN", "PROPN") or (tag in ("ADJ", "NUM", "") and not is_first):
        return "subject"
    return "filling"
