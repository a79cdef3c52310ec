"""Propose an ADS query for a request in plain words, by rules and without a language model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from functools import cache

from landscape._journals import JOURNALS
from landscape.query.ads_authors import take_authors
from landscape.query.ads_patterns import (
    ARXIV,
    AUTHOR_COUNT,
    BIBCODE,
    CITED,
    CITED_BETWEEN,
    DOI,
    IN_FIELD,
    MONTH_NAMES,
    MONTHS,
    MORE_CITED,
    OBJECT,
    OPERATORS,
    TOP,
    YEARS,
)
from landscape.query.ads_wording import (
    ASKING,
    COLLECTIONS,
    COUNTING,
    DOCTYPES,
    EDGES,
    FACILITIES,
    FILLING,
    INSTITUTIONS,
    PROPERTIES,
    Rules,
)

MOST_CITED = "citation_count desc"
NEWEST = "date desc"

_LONGEST = 2000  # characters of a request
# Names that are no topic as well, as Solar Physics is.
_TELLING = re.compile(r"journal|review|notices|publications|letters|reports|icarus", re.IGNORECASE)


@dataclass
class _Request:
    """What of a request is not yet understood, and the clauses of what is."""

    rest: str
    today: date
    clauses: list[str] = field(default_factory=list)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Find a pattern and take it out."""
        found = pattern.search(self.rest)
        if found:
            self.rest = f"{self.rest[: found.start()]} , {self.rest[found.end() :]}"
        return found


def propose_ads_query(question: str, *, today: date | None = None) -> str:
    """Propose an ADS query for a request in plain words.

    Rules look for identifiers, people, years, journals, facilities, document types, properties
    such as "refereed", and requests such as "papers citing"; what is left is the topic, looked for
    in abstracts. How to order the results is told by `proposed_order`.

    Parameters
    ----------
    question : str
        The request.
    today : datetime.date, optional
        What "recent" is counted from; the day of the call when not given.

    Returns
    -------
    str
        A query that `landscape.query.ads.parse_ads` reads; empty where nothing of the request
        could be understood.

    Examples
    --------
    >>> propose_ads_query("refereed papers by Vera Rubin on galaxy rotation from 1970 to 1985")
    'author:"Rubin, Vera" abs:"galaxy rotation" year:1970-1985 property:refereed'
    >>> propose_ads_query("Which papers cite 2003AJ....125..525J?")
    'citations(bibcode:2003AJ....125..525J)'
    """
    request = _Request(" ".join(question.split())[:_LONGEST], today or date.today())
    request.rest = request.rest.replace("“", '"').replace("”", '"').replace("’", "'")
    request.take(COUNTING)
    named = [*_journals(request), *_facilities(request)]
    operator = _operator(request)
    top = request.take(TOP)
    request.take(CITED)
    limits = _limits(request)
    years = _years(request)
    kinds = [
        *_matching(request, PROPERTIES), *_matching(request, DOCTYPES), *_collections(request),
        *named, *_institutions(request),
    ]  # fmt: skip
    identifiers = _identifiers(request)
    authors, request.rest = (
        ([], request.rest)
        if identifiers
        else take_authors(request.rest, cited=operator in ("citations", "references"))
    )
    topics = [] if identifiers else _topics(request)
    core = [*identifiers, *authors, *topics]
    outside = [*years, *kinds, *limits]
    if operator and not core:  # "reviews in ApJ": what the operator works on
        core, outside = outside, []
    query = " ".join(core)
    if operator and query:
        query = f"{operator}({query})"
    if top:
        count = next(group for group in top.groups() if group)
        inside = " ".join([query, *outside]).strip()
        return f"topn({count}, {inside or 'collection:astronomy'}, {MOST_CITED})"
    return " ".join([query, *outside]).strip()


def proposed_order(question: str) -> str:
    """How a request wants its results ordered: ``"citation_count desc"`` or ``"date desc"``.

    Examples
    --------
    >>> proposed_order("the most cited papers on dust"), proposed_order("papers on dust")
    ('citation_count desc', 'date desc')
    """
    return MOST_CITED if CITED.search(question) or TOP.search(question) else NEWEST


def _operator(request: _Request) -> str:
    for pattern, name in OPERATORS:
        if found := pattern.search(request.rest):
            if name == "reviews" and re.search(r"book ?$", request.rest[: found.start()], re.I):
                continue
            request.rest = f"{request.rest[: found.start()]} , {request.rest[found.end() :]}"
            return name
    return ""


def _limits(request: _Request) -> list[str]:
    if found := request.take(AUTHOR_COUNT):
        fewest, most = (group for group in found.groups() if group)
        return [f"author_count:[{fewest} TO {most}]"]
    if found := request.take(CITED_BETWEEN):
        fewest, most = (group for group in found.groups() if group)
        return [f"citation_count:[{fewest} TO {most}]"]
    found = request.take(MORE_CITED)
    if not found:
        return []
    least = next(group for group in found.groups() if group).replace(",", "")
    return [f"citation_count:[{least} TO *]"]


def _identifiers(request: _Request) -> list[str]:
    if found := request.take(BIBCODE):
        return [f"bibcode:{found[0]}"]
    if found := request.take(DOI):
        return [f'doi:"{found[0]}"']
    if found := request.take(ARXIV):
        return [f"arXiv:{found[1]}"]
    return []


def _months(request: _Request) -> list[str]:
    found = request.take(MONTHS)
    if not found:
        return []
    months = [MONTH_NAMES.index(group.lower()) + 1 for group in found.groups()
              if group and group.isalpha()]  # fmt: skip
    years = [group for group in found.groups() if group and group.isdigit()]
    return [f"pubdate:[{years[0]}-{months[0]:02d} TO {years[-1]}-{months[-1]:02d}]"]


def _years(request: _Request) -> list[str]:
    if months := _months(request):
        return months
    now = request.today.year
    for pattern, shape in YEARS:
        found = request.take(pattern)
        if not found:
            continue
        given = [group for group in found.groups() if group]
        first = int(given[0]) if given and given[0].isdigit() else 3
        ranges = {
            "between": f"{given[0]}-{given[-1]}" if len(given) > 1 else "",
            "decade": f"{first}0-{first}9",
            "since": f"{first}-",
            "after": f"{first + 1}-",
            "before": f"-{first - 1}",
            "last": f"{now - first}-{now}",
            "this": f"{now}",
            "recent": f"{now - 2}-{now}",
            "in": f"{first}",
        }
        return [f"year:{ranges[shape]}"]
    return []


def _matching(request: _Request, rules: Rules) -> list[str]:
    for pattern, clause in rules:
        if request.take(pattern):
            return [clause]
    return []


def _collections(request: _Request) -> list[str]:
    for pattern, _ in COLLECTIONS:
        if found := request.take(pattern):
            name = found[1].lower().replace(" ", "").replace("interdisciplinary", "general")
            return [f"collection:{name}"]
    return []


def _journals(request: _Request) -> list[str]:
    for pattern, stem in _journal_patterns():
        if request.take(pattern):
            return [f'bibstem:"{stem}"']
    return []


@cache
def _journal_patterns() -> Rules:
    """Full names anywhere; stems as they are written, and one-word names only after "in"."""
    rules: list[tuple[int, re.Pattern[str], str]] = []
    for journal in JOURNALS:
        for name in journal.names:
            begins = r"\b(?:in |published in )?(?:the )?"
            written = rf"{begins}\b{re.escape(name)}(?!\w)(?: journal)?"
            if " " not in name:  # Nature, Science
                follows = r"(?=(?: papers| articles| journal| [a-z-]+ only)\b)"
                written = rf"\b(?:published )?in {name}(?!\w)|\b{name}{follows}"
            rules.append(
                (len(name), re.compile(written, re.I if _TELLING.search(name) else 0), journal.stem)
            )
        stem = rf"(?:\b(?:published )?in )?(?<![\w&]){re.escape(journal.stem)}(?![\w&])"
        rules.append((len(journal.stem), re.compile(stem), journal.stem))
    rules.sort(key=lambda rule: -rule[0])  # Astrophysical Journal Letters before its beginning
    return tuple((pattern, stem) for _, pattern, stem in rules)


def _facilities(request: _Request) -> list[str]:
    for pattern, group in _facility_patterns():
        if request.take(pattern):
            return [f"bibgroup:{group}"]
    return []


def _institutions(request: _Request) -> list[str]:
    for pattern, name in INSTITUTIONS:
        if request.take(pattern):
            return [f'aff:"{name}"']
    return []


@cache
def _facility_patterns() -> Rules:
    rules = [
        (len(name), re.compile(
            rf"\b(?:in|from|with|using|by)?\s*(?:the )?(?<![\w-]){re.escape(name)}(?![\w-])"
            r"(?: (?:telescope|mission|observatory|bibliography|survey))?"
            r"(?: (?:observations?|data|images?))?(?: of)?",
            re.I if " " in name else 0), group)
        for group, names in FACILITIES.items()
        for name in names
    ]  # fmt: skip
    rules.sort(key=lambda rule: -rule[0])
    return tuple((pattern, group) for _, pattern, group in rules)


def _topics(request: _Request) -> list[str]:
    where = "abs"
    for pattern, name in IN_FIELD:
        if request.take(pattern):
            where = name
            break
    quoted = re.findall(r'"([^"]*\w[^"]*)"', request.rest)
    rest = re.sub(r'"[^"]*"|"', " , ", request.rest)
    rest = FILLING.sub(" , ", ASKING.sub(" , ", rest.strip(" ?!.,")))
    pieces = re.split(r"[,;:?!()\[\]{}]|\b(?:on|about|and|with|versus|vs|using|in|from|by)\b", rest)
    phrases = [*quoted, *(_trimmed(piece) for piece in pieces)]
    return [_clause(where, phrase) for phrase in dict.fromkeys(phrases) if phrase]


def _clause(where: str, phrase: str) -> str:
    phrase = re.sub(r'["\\]', " ", phrase).strip()
    if where == "abs" and OBJECT.fullmatch(phrase):
        return f'abs:"{phrase.upper() if phrase[:2].islower() else phrase}"'
    return f'{where}:"{phrase}"'


def _trimmed(piece: str) -> str:
    words = [word.strip(".'`*^~=+/|<>-") for word in piece.split()]
    words = [word for word in words if re.search(r"[^\W_]", word)]
    while words and words[0].lower() in EDGES:
        words.pop(0)
    while words and words[-1].lower() in EDGES:
        words.pop()
    return " ".join(words)
