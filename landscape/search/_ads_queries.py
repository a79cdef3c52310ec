"""Check ADS queries, and propose a query for a request in plain words.

The grammar is ``ads.lark``; ``data/ads.yaml`` lists the fields, operators and values of ADS.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
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
from landscape.search.settings import readable_text
from landscape.text import tokenise

MAX_LENGTH = 20_000  # maximum number of characters of a query
MAX_REQUEST = 2_000  # characters

_YEAR_VALUE = re.compile(r"[\d?*]{1,4}(?:-(?:\d{4})?)?|-\d{4}|\d{4}(?:-\d{4})?\*?")


@cache
def _syntax() -> SimpleNamespace:
    """Read the fields, operators and values of ADS."""
    stored = read_yaml(data_file("ads.yaml"))
    return SimpleNamespace(
        operators={
            name: tuple(map(int, bounds.split()))
            for bounds, names in stored["operators"].items()
            for name in names.split()
        },
        values={name: frozenset(words.split()) for name, words in stored["values"].items()},
        **{name: frozenset(stored[name].split()) for name in ("fields", "numbers", "sorts")},
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
    if not readable_text("ADS query", query).strip():
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


def propose_ads_query(question: str, *, model: LanguageModel | None = None) -> str:
    """Propose an ADS query for a request in plain words.

    Parameters
    ----------
    question : str
        The request.
    model : LanguageModel, optional
        Model that writes the query. If there is no model, or the query of the model is invalid,
        all words of the request that are not stop words are searched in titles, abstracts and
        keywords.

    Returns
    -------
    str
        A query that `parse_ads` accepts, or an empty string if the request has no words.

    Examples
    --------
    >>> propose_ads_query("How does dust form in supernovae?")
    'abs:(dust form supernovae)'
    """
    question = " ".join(question.split())[:MAX_REQUEST]
    if model is not None and question:
        with suppress(InputError, RemoteError):
            brief = as_data({"request": question, "today": date.today().isoformat()})
            return parse_ads(
                request_reply(model, prompt("propose_ads"), brief, _Proposal).query
            ).text
    words = (word.strip("-'’") for word in re.findall(r"[^\W_][\w'’-]*", question))
    kept = dict.fromkeys(word for word in words if tokenise(word))
    return f"abs:({' '.join(kept)})" if kept else ""
