"""Check ADS queries, and propose a query for a request in plain words.

The grammar is ``ads.lark``; ``data/ads.yaml`` lists the fields, operators and values of ADS and the
rules that find authors, years and limits in a request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import groupby
from types import SimpleNamespace
from typing import cast

from lark import Lark, Token, Transformer, v_args

from landscape._bibliography import ads_url
from landscape._io import data_file, read_yaml
from landscape._wording import close_names
from landscape.errors import InputError, RemoteError
from landscape.llm import LanguageModel, ReplyForm, request_reply
from landscape.llm.prompts import as_data, prompt
from landscape.search._filters import MisplacedError, deeper, read_grammar, run_parser

MAX_LENGTH = 20_000  # maximum number of characters of a query
MAX_REQUEST = 2_000  # characters

_YEAR_VALUE = re.compile(r"[\d?*]{1,4}(?:-(?:\d{4})?)?|-\d{4}|\d{4}(?:-\d{4})?\*?")


@cache
def _syntax() -> SimpleNamespace:
    """Read the fields, operators and values of ADS, and the rules for proposing queries."""
    stored = read_yaml(data_file("ads.yaml"))

    def fill(rule: str) -> str:
        return re.sub("%([A-Z]+)%", lambda name: fill(stored["parts"][name[1]]), rule)

    return SimpleNamespace(
        operators={
            name: tuple(map(int, bounds.split()))
            for bounds, names in stored["operators"].items()
            for name in names.split()
        },
        values={name: frozenset(words.split()) for name, words in stored["values"].items()},
        authors=[fill(rule) for rule in stored["authors"]],
        **{
            name: {fill(rule): form for rule, form in stored[name].items()}
            for name in ("years", "limits", "operators_asked")
        },
        **{name: fill(rule) for name, rule in stored["rules"].items()},
        **{
            name: frozenset(stored[name].split())
            for name in ("fields", "numbers", "sorts", "particles", "edges")
        },
    )


@dataclass(frozen=True)
class AdsQuery:
    """A query whose syntax is correct for ADS.

    Attributes
    ----------
    text : str
        The query.
    clauses : tuple of (str, str)
        Pairs of a field and its value, in reading order; the field of a bare word is ``""``.
    operators : tuple of str
        Second-order operators in the query, for example ``"citations"``.

    Examples
    --------
    >>> query = parse_ads('citations(author:"^Rubin, V" year:1970-1980) -title:dust')
    >>> query.clauses, query.operators
    ((('author', '"^Rubin, V"'), ('year', '1970-1980'), ('title', 'dust')), ('citations',))
    """

    text: str
    clauses: tuple[tuple[str, str], ...]
    operators: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """Distinct fields of the query, in reading order."""
        return tuple(dict.fromkeys(field for field, _ in self.clauses if field))

    @property
    def url(self) -> str:
        """URL of the ADS page that runs the query."""
        return ads_url(self.text)

    def __str__(self) -> str:
        return self.text


def parse_ads(query: str) -> AdsQuery:
    """Check a query in the search syntax of ADS.

    Parameters
    ----------
    query : str
        For example ``author:"^Huchra, J" abs:"dark energy" year:2010-2015``.

    Returns
    -------
    AdsQuery

    Raises
    ------
    InputError
        If the query has a syntax error, or a field, operator or value that ADS does not have. The
        message shows the position of the error.

    Examples
    --------
    >>> parse_ads("auther:Huchra")
    Traceback (most recent call last):
    landscape.errors.InputError: ... no field 'auther'; the nearest is author:...
    """
    if not query.strip():
        raise InputError('The ADS query is empty. Write, for example, abs:"dark energy".')
    if len(query) > MAX_LENGTH:
        raise InputError(
            f"The ADS query has {len(query):,} characters; the limit is {MAX_LENGTH:,}. Shorten it."
        )
    parsed = cast(_Parsed, run_parser(_parser(), "ADS query", query, explain=_explain))
    clauses = tuple((name, value) for name, value, _ in parsed.clauses)
    return AdsQuery(" ".join(query.split()), clauses, parsed.operators)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Part of a query: clauses (field, value, position), operators and nesting depth."""

    clauses: tuple[tuple[str, str, int], ...] = ()
    operators: tuple[str, ...] = ()
    depth: int = 0


@v_args(inline=True)
class _AdsBuilder(Transformer[Token, _Parsed]):
    """Parser callbacks, one for each rule of the grammar."""

    def start(self, *children: _Parsed | str) -> _Parsed:
        return _joined(children)

    def comma(self) -> str:
        return "comma"

    def signed(self, *children: _Parsed | Token) -> _Parsed:
        return next(child for child in children if isinstance(child, _Parsed))

    def text(self, value: Token) -> _Parsed:
        if value.type == "PHRASE" and not value.strip('" \t\n'):
            problem = "the quotation marks are empty; write a word or a phrase between them"
            raise MisplacedError(value.start_pos or 0, problem)
        return _Parsed((("", str(value), value.start_pos or 0),))

    range = text

    def group(self, token: Token, *children: _Parsed | str) -> _Parsed:
        joined = _joined(children)
        return replace(joined, depth=deeper(joined.depth, token))

    field_group = group

    def field(self, token: Token, value: _Parsed) -> _Parsed:
        name = str(token).rstrip(": \t\n").lower()
        if name not in _syntax().fields:
            problem = f"ADS has no field {name!r}{_nearest(name, _syntax().fields, ':')}"
            raise MisplacedError(token.start_pos or 0, f"{problem}; text with a colon needs quotes")
        for inner, text, start in value.clauses:
            if not inner:
                _check_value(name, text, start)
        clauses = tuple((inner or name, text, start) for inner, text, start in value.clauses)
        return replace(value, clauses=clauses)

    def operator(self, token: Token, *children: _Parsed | str) -> _Parsed:
        start = token.start_pos or 0
        name = str(token)[:-1].lower()
        known = _syntax().operators
        if name not in known:
            problem = f"ADS has no operator {name!r}{_nearest(name, known, '(…)')}"
            raise MisplacedError(
                start, f"{problem}; if the parenthesis groups words, put a space before it"
            )
        groups = groupby(children, key=lambda child: isinstance(child, _Parsed))
        arguments = [[*cast("Iterator[_Parsed]", parts)] for is_query, parts in groups if is_query]
        fewest, most = known[name]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            problem = f"{name}(…) takes {wanted} arguments, not {len(arguments)}"
            raise MisplacedError(start, problem)
        _check_settings(name, arguments, start)
        inside = _joined(arguments[1 if name == "topn" else 0])
        operators = (name, *inside.operators)
        return replace(inside, operators=operators, depth=deeper(inside.depth, token))


def _joined(children: Iterable[_Parsed | str]) -> _Parsed:
    parts = [child for child in children if isinstance(child, _Parsed)]
    return _Parsed(
        tuple(clause for part in parts for clause in part.clauses),
        tuple(name for part in parts for name in part.operators),
        max((part.depth for part in parts), default=0),
    )


def _check_settings(name: str, arguments: list[list[_Parsed]], start: int) -> None:
    """Check the arguments of ``topn`` and ``pos`` that are not queries."""
    plain = [" ".join(text for part in parts for _, text, _ in part.clauses) for parts in arguments]
    if name == "topn":
        if not plain[0].isdecimal():
            raise MisplacedError(start, "topn(…) starts with a number, for example topn(100, …)")
        order = plain[2].lower().split() if len(plain) == 3 else ["date"]
        if not order or order[0] not in _syntax().sorts or order[1:] not in ([], ["asc"], ["desc"]):
            raise MisplacedError(
                start, "the last argument of topn(…) must be an order such as citation_count desc"
            )
    if name == "pos" and not all(re.fullmatch(r"-?\d+", place) for place in plain[1:]):
        raise MisplacedError(start, 'pos(…) ends with numbers, as in pos(author:"Oort, J", 1, 3)')


def _check_value(name: str, text: str, start: int) -> None:
    bare = text.strip('"').lower()
    if text.startswith(("[", "{")) or re.search(r"[*?]", bare):  # ranges and wildcards
        return
    allowed = _syntax().values.get(name)
    if allowed is not None and bare not in allowed:
        nearest = _nearest(bare, allowed, "")
        raise MisplacedError(start, f"the field {name}: has no value {bare!r}{nearest}")
    if name == "year" and not _YEAR_VALUE.fullmatch(bare):
        raise MisplacedError(start, "a year is written as 2010, 2010-2015, 2010- or [2010 TO 2015]")
    if name in _syntax().numbers and not re.fullmatch(r"\d+\*?", bare):
        raise MisplacedError(start, f"{name}: takes a whole number or a range, such as [100 TO *]")


def _nearest(name: str, known: Collection[str], mark: str) -> str:
    near = close_names(name, sorted(known), n=1)
    return f"; the nearest is {near[0]}{mark}" if near else ""


@cache
def _parser() -> Lark:
    return read_grammar("ads.lark", _AdsBuilder())


def _explain(query: str, position: int, _kind: str | None) -> tuple[int, str]:
    """Explain a syntax error and how to correct it."""
    here, before = query[position : position + 1], query[:position].rstrip()
    is_open = before.count("(") > before.count(")")
    missing = f"before {here!r}" if here else "at the end"
    problem = f"a term is missing {missing}; write a word, a phrase in quotes or field:value"
    if here == '"':
        problem = "this quotation mark is never closed; close it or remove it"
    elif here in ("[", "{"):
        problem = "write a range as [2010 TO 2015], with * for an open end"
    elif here == ")" and not is_open:
        problem = "this parenthesis was never opened; remove it"
    elif here == ":":
        problem = "only the name of a field can come before a colon; text with a colon needs quotes"
    elif before.endswith(":"):
        problem = "the field has no value; write a word, a phrase in quotes or (a OR b)"
    elif not here and is_open and not before.endswith(("(", "AND", "OR", "NOT", ",")):
        problem = "a parenthesis is still open; close it with ')'"
    return position, problem


class _Proposal(ReplyForm):
    query: str


def propose_ads_query(
    question: str, *, model: LanguageModel | None = None, today: date | None = None
) -> str:
    """Propose an ADS query for a request in plain words.

    Parameters
    ----------
    question : str
        The request.
    model : LanguageModel, optional
        Model that writes the query. If there is no model, or the query of the model is invalid,
        rules find the authors and years. The other words become clauses on abstracts, or on titles
        if requested.
    today : datetime.date, optional
        Reference date for words such as "recent". Default: today.

    Returns
    -------
    str
        A query that `parse_ads` accepts, or an empty string if no rule matched.

    Examples
    --------
    >>> propose_ads_query("papers by Vera Rubin on galaxy rotation from 1970 to 1985")
    'author:"Rubin, Vera" abs:"galaxy rotation" year:1970-1985'
    """
    question = " ".join(question.split())[:MAX_REQUEST]
    today = today or date.today()
    if model is not None and question:
        try:
            brief = as_data({"request": question, "today": today.isoformat()})
            return parse_ads(
                request_reply(model, prompt("propose_ads"), brief, _Proposal).query
            ).text
        except (InputError, RemoteError):
            pass  # continue with the rules below
    request = re.sub("[“”]", '"', question.replace("’", "'"))
    request = re.sub(_syntax().count, " ", request, flags=re.IGNORECASE)
    limits, request = _limits(request)
    around, request = _first(_syntax().operators_asked, request)
    years, request = _years(request, today.year)
    without, request = _take(_syntax().excluded, request)
    authors, request = _authors(request)
    topics = _topics(request)
    named = [limit for limit in limits if limit.startswith(("bibcode:", "doi:", "arxiv:"))]
    limits = [limit for limit in limits if limit not in named]
    clauses = [*named, *authors, *topics]
    if without:  # "by A but not B" excludes an author
        names = [f'author:"{name}"' for name in _names(without[1])]
        clauses += [f"-{one}" for one in (_topics(without[1]) if topics else names)]
    query = " ".join([*clauses, *years, *limits])
    if not around or not query:
        return query
    # "recent reviews of X" are recent; what they are about need not be
    inside = clauses if clauses else [query]
    rest = [*years, *limits] if clauses else []
    return " ".join([around.replace("{rest}", " ".join(inside)), *rest])


def _first(rules: Mapping[str, str], request: str) -> tuple[str, str]:
    """Return the clause of the first rule that matches a request, and the rest of the request."""
    for pattern, form in rules.items():
        found, rest = _take(pattern, request)
        if found:
            for place, group in enumerate(filter(None, found.groups())):
                form = form.replace(f"{{{place}}}", group)
            return form, rest
    return "", request


def _limits(request: str) -> tuple[list[str], str]:
    """Return clauses for properties, journals and kinds of documents."""
    clauses: list[str] = []
    for pattern, form in _syntax().limits.items():
        clause, request = _first({pattern: form}, request)
        clauses += [clause] if clause else []
    return clauses, request


def _take(pattern: str, request: str) -> tuple[re.Match[str] | None, str]:
    """Return the first match of a pattern, and the request without this match."""
    match = re.search(pattern, request, re.IGNORECASE)
    if match:
        request = f"{request[: match.start()]} , {request[match.end() :]}"
    return match, request


def _years(request: str, now: int) -> tuple[list[str], str]:
    for pattern, form in _syntax().years.items():
        found, request = _take(pattern, request)
        if found:
            given = [int(group) for group in found.groups() if group] or [0]
            year = form.format(
                *given,
                next=given[0] + 1,
                previous=given[0] - 1,
                past=now - given[0],
                recent=now - 2,
                now=now,
            )
            return [f"year:{year}"], request
    return [], request


def _authors(request: str) -> tuple[list[str], str]:
    """Find authors in phrases such as "by X and Y", "X et al." and "first author X"."""
    syntax = _syntax()
    role, request = _take(syntax.author_role, request)
    names: list[str] = []
    for pattern in syntax.authors:
        if not names:
            found, request = _take(pattern, request)
            names = _names(found[1]) if found else []
    if not names and role:
        rest = re.sub(syntax.filling, " ", request, flags=re.IGNORECASE).strip(" ,")
        text = re.split(syntax.end_of_names, rest, flags=re.IGNORECASE)[0]
        names, request = _names(text), rest.removeprefix(text)
    if names and role and role[1].lower() in ("first", "lead"):
        names[0] = f"^{names[0]}"
    elif names and role:
        place = {"second": 2, "third": 3, "last": -1}[role[1].lower()]
        return [f'pos(author:"{names[0]}", {place})'], request
    return [f'author:"{name}"' for name in dict.fromkeys(names)], request


def _names(text: str) -> list[str]:
    """Split names at "and" and at commas, but keep "Family, G" as one name."""
    names = []
    parts = re.split(r"\s+(?:and|or|&|with)\s+", text.strip(" .,"))
    for part in parts:
        pieces = [piece.strip() for piece in part.split(",") if piece.strip()]
        if len(pieces) == 2 and (len(pieces[1].rstrip(".")) <= 2 or len(parts) == 1):
            names.append(", ".join(pieces))
        else:
            names += [_family_first(piece) for piece in pieces]
    names = [re.sub(r'["\\^*]', "", name).strip(" .,") for name in names]
    return [name for name in names if len(name) > 1 and name.lower() not in _syntax().edges]


def _family_first(name: str) -> str:
    """Convert "Vera Rubin" to "Rubin, Vera"; keep the order of "oort j" and "van der Marel"."""
    words = _trim(name.strip(" .,").split())
    if not 2 <= len(words) <= 4 or words[-1] in ("Collaboration", "Consortium", "Team"):
        return " ".join(words)
    if len(words[-1].rstrip(".")) == 1:
        return f"{' '.join(words[:-1])}, {words[-1].rstrip('.')}"
    particles = (at for at, word in enumerate(words) if word.lower() in _syntax().particles)
    at = next(particles, len(words) - 1)
    return f"{' '.join(words[at:])}, {' '.join(words[:at])}" if at else " ".join(words)


def _topics(request: str) -> list[str]:
    """Return clauses for the quoted phrases and for the words between prepositions."""
    syntax = _syntax()
    asked, request = _take(syntax.field, request)
    phrases = re.findall(r'"([^"]*\w[^"]*)"', request)
    rest = re.sub(r'"[^"]*"|"', " , ", request).strip(" ?!.,")
    for rule in (syntax.asking, syntax.filling):
        rest = re.sub(rule, " , ", rest, flags=re.IGNORECASE)
    splitting = r"[,;:?!()\[\]{}]|\b(?:on|about|and|with|versus|vs|using|in|from|by)\b"
    for piece in re.split(splitting, rest):
        words = [word.strip(".'`^*~=+/|<>-") for word in piece.split()]
        phrases.append(" ".join(_trim([word for word in words if re.search(r"[^\W_]", word)])))
    cleaned = (re.sub(r'["\\]', " ", phrase).strip() for phrase in phrases)
    field = next(filter(None, asked.groups())).lower() if asked else "abs"
    return [f'{field}:"{phrase}"' for phrase in dict.fromkeys(cleaned) if phrase]


def _trim(words: list[str]) -> list[str]:
    """Remove words at both ends that cannot begin or end a topic or a name."""
    kept = [at for at, word in enumerate(words) if word.lower() not in _syntax().edges]
    return words[kept[0] : kept[-1] + 1] if kept else []
