"""Check ADS queries and link to their results.

The grammar is ``ads.lark``. Fields, operators and values are those of
https://ui.adsabs.harvard.edu/help/search/comprehensive-solr-term-list
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from landscape._bibliography import ads_url as ads_url
from landscape.errors import InputError
from landscape.search._filters import MisplacedError, pointed_error

NEWEST = "date desc"  # the default order of `ads_url`
LONGEST = 20_000  # characters of a query
DEEPEST = 100  # nested parentheses and operators

_YEAR_VALUE = re.compile(r"[\d?*]{1,4}(?:-(?:\d{4})?)?|-\d{4}|\d{4}(?:-\d{4})?\*?")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIELDS = _words(
    """
    abs abstract ack aff aff_id affil alternate_bibcode alternate_title arxiv arxiv_class author
    author_count author_norm bibcode bibgroup bibgroup_facet bibstem body caption citation
    citation_count citation_count_norm cite_read_boost citations classic_factor collection
    comment copyright credit credit_count data data_facet database date doctype
    doctype_facet_hier doi editor ed eid email entdate entry_date esources facility first_author
    first_author_norm full grant grant_agencies grant_facet_hier has id identifier inst
    institution isbn issn issue keyword keyword_facet lang mention mention_count mtime
    ned_object ned_object_facet_hier nedid nedtype nonbibgroup object orcid orcid_other
    orcid_pub orcid_user page page_count page_range planetary_feature
    planetary_feature_facet_hier_3level planetary_feature_id position property pub pub_raw
    pubdate pubnote pubnum publisher read_count recid reference references series
    simbad_object_facet_hier simbid simbtype simple_aff title topn uat uat_id update_timestamp
    vizier vizier_facet volume year
    """
)
OPERATORS = {  # fewest and most arguments
    **dict.fromkeys(
        _words(
            """
            citations references trending useful useful2 reviews reviews2 instructive docs
            joincitations joinreferences classic_relevance author_expansion bibstem_expansion
            """
        ),
        (1, 1),
    ),
    "similar": (1, 4),
    "topn": (2, 3),
    "pos": (2, 3),
}
_COLLECTIONS = _words("astronomy physics general earthscience")
VALUES = {  # fields with a closed set of values
    "doctype": _words(
        """
    abstract article book bookreview catalog circular dataset editorial eprint erratum inbook
    inproceedings instrument mastersthesis misc newsletter nonarticle obituary pressrelease
    phdthesis proceedings proposal review service software talk techreport
    """
    ),
    "property": _words(
        """
    abstract ads_openaccess ads_scan article associated author_openaccess catalog citations data
    eprint eprint_openaccess esource inproceedings inspire library_catalog mention nonarticle
    not_article notrefereed note nonrefereed ocr_abstract openaccess presentation private
    pub_openaccess refereed references simbad ned software spires toc
    """
    ),
    "collection": _COLLECTIONS,
    "database": _COLLECTIONS,
}
NUMBERS = _words("citation_count read_count author_count mention_count page_count credit_count")
SORTS = _words(
    """
    author author_count bibcode citation_count citation_count_norm classic_factor date
    entry_date first_author id read_count score pubdate
    """
)


@dataclass(frozen=True)
class AdsQuery:
    """A query whose syntax is correct for ADS.

    Attributes
    ----------
    text : str
        The query.
    clauses : tuple of (str, str)
        Each field with its value in reading order; the field of a bare word is ``""``.
    operators : tuple of str
        Second-order operators in it, for example ``"citations"``.

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
        """Distinct fields in reading order."""
        return tuple(dict.fromkeys(field for field, _ in self.clauses if field))

    @property
    def url(self) -> str:
        """The ADS page that runs it."""
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
        For a syntax error, or a field, operator or value that ADS does not have; the message
        points at the character.

    Examples
    --------
    >>> parse_ads("auther:Huchra")
    Traceback (most recent call last):
    landscape.errors.InputError: ... no field 'auther'; the nearest is author:...
    """
    if not query.strip():
        raise InputError('The ADS query is empty; write for example abs:"dark energy".')
    if len(query) > LONGEST:
        raise InputError(f"The ADS query has {len(query):,} characters; the limit is {LONGEST:,}.")
    try:
        parsed = cast(_Parsed, _parser().parse(query))
    except MisplacedError as error:
        raise pointed_error("ADS query", query, error.position, error.problem) from None
    except UnexpectedInput as error:
        raise pointed_error("ADS query", query, *_explain(error, query)) from None
    clauses = tuple((name, value) for name, value, _ in parsed.clauses)
    return AdsQuery(" ".join(query.split()), clauses, parsed.operators)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Part of a query: clauses of (field, value, position), operators and nesting depth."""

    clauses: tuple[tuple[str, str, int], ...] = ()
    operators: tuple[str, ...] = ()
    depth: int = 0


class _AdsBuilder(Transformer[Token, _Parsed]):
    """Callbacks for the rules of the grammar."""

    def start(self, children: list[Any]) -> _Parsed:
        return _joined(children)

    def comma(self, children: list[Any]) -> str:  # noqa: ARG002  # a callback's signature
        return "comma"

    def signed(self, children: list[Any]) -> _Parsed:
        return next(child for child in children if isinstance(child, _Parsed))

    def text(self, children: list[Any]) -> _Parsed:
        value = children[0]
        if value.type == "PHRASE" and not value.strip('" \t\n'):
            raise MisplacedError(value.start_pos, "there is nothing between the quotation marks")
        return _Parsed((("", str(value), value.start_pos),))

    range = text

    def group(self, children: list[Any]) -> _Parsed:
        return _nested(_joined(children[1:]), children[0])

    field_group = group

    def field(self, children: list[Any]) -> _Parsed:
        token, value = children
        name = str(token).rstrip(": \t\n").lower()
        if name not in FIELDS:
            problem = f"ADS has no field {name!r}{_nearest(name, FIELDS, ':')}"
            raise MisplacedError(token.start_pos, f"{problem}; quote text with a colon")
        for inner, text, start in value.clauses:
            if not inner:
                _check_value(name, text, start)
        clauses = tuple((inner or name, text, start) for inner, text, start in value.clauses)
        return replace(value, clauses=clauses)

    def operator(self, children: list[Any]) -> _Parsed:
        token, *rest = children
        name = str(token)[:-1].lower()
        if name not in OPERATORS:
            problem = f"ADS has no operator {name!r}{_nearest(name, OPERATORS, '(…)')}"
            raise MisplacedError(
                token.start_pos, f"{problem}; put a space before a parenthesis that only groups"
            )
        arguments: list[list[_Parsed]] = [[]]
        for child in rest:
            if isinstance(child, _Parsed):
                arguments[-1].append(child)
            else:
                arguments.append([])
        arguments = [argument for argument in arguments if argument]
        fewest, most = OPERATORS[name]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise MisplacedError(
                token.start_pos,
                f"{name}(…) takes {wanted} arguments between commas, not {len(arguments)}",
            )
        _check_settings(name, arguments, token.start_pos or 0)
        inside = _joined(arguments[1 if name == "topn" else 0])
        return _nested(replace(inside, operators=(name, *inside.operators)), token)


def _joined(children: list[Any]) -> _Parsed:
    parts = [child for child in children if isinstance(child, _Parsed)]
    return _Parsed(
        tuple(clause for part in parts for clause in part.clauses),
        tuple(name for part in parts for name in part.operators),
        max((part.depth for part in parts), default=0),
    )


def _nested(parsed: _Parsed, token: Token) -> _Parsed:
    if parsed.depth >= DEEPEST:
        raise MisplacedError(
            token.start_pos or 0, f"it is nested more than {DEEPEST} levels deep; make it flatter"
        )
    return replace(parsed, depth=parsed.depth + 1)


def _check_settings(name: str, arguments: list[list[_Parsed]], start: int) -> None:
    """Check the arguments of ``topn`` and ``pos`` that are not queries."""
    plain = [" ".join(text for part in parts for _, text, _ in part.clauses) for parts in arguments]
    if name == "topn":
        if not plain[0].isdecimal():
            raise MisplacedError(start, "topn(…) begins with how many, as in topn(100, …)")
        order = plain[2].lower().split() if len(plain) == 3 else ["date"]
        if not order or order[0] not in SORTS or order[1:] not in ([], ["asc"], ["desc"]):
            raise MisplacedError(
                start, "topn(…) ends with an order such as citation_count desc, or with none"
            )
    if name == "pos" and not all(re.fullmatch(r"-?\d+", place) for place in plain[1:]):
        raise MisplacedError(start, 'pos(…) ends with places, as in pos(author:"Oort, J", 1, 3)')


def _check_value(name: str, text: str, start: int) -> None:
    bare = text.strip('"').lower()
    if text.startswith(("[", "{")) or re.search(r"[*?]", bare):  # ranges and wildcards
        return
    if name in VALUES and bare not in VALUES[name]:
        nearest = _nearest(bare, VALUES[name], "")
        raise MisplacedError(start, f"{name}: has no value {bare!r}{nearest}")
    if name == "year" and not _YEAR_VALUE.fullmatch(bare):
        raise MisplacedError(start, "a year is written 2010, 2010-2015, 2010- or [2010 TO 2015]")
    if name in NUMBERS and not re.fullmatch(r"\d+\*?", bare):
        raise MisplacedError(start, f"{name}: takes a whole number or a range, as [100 TO *]")


def _nearest(name: str, known: Collection[str], mark: str) -> str:
    found = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; the nearest is {found[0]}{mark}" if found else ""


@cache
def _parser() -> Lark:
    grammar = files("landscape.search").joinpath("ads.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", transformer=_AdsBuilder())


def _explain(error: UnexpectedInput, query: str) -> tuple[int, str]:
    """Find the position of a syntax error and how to correct it."""
    position = -1 if error.pos_in_stream is None else error.pos_in_stream
    if position < 0 or getattr(getattr(error, "token", None), "type", None) == "$END":
        position = len(query)
    here, before = query[position : position + 1], query[:position].rstrip()
    is_open = before.count("(") > before.count(")")
    shown = f"before {here!r}" if here else "at the end"
    problem = f"a term is missing {shown}; write a word, a phrase in quotes or field:value"
    if here == '"':
        problem = "this quotation mark is never closed; close it or remove it"
    elif here in ("[", "{"):
        problem = "a range is written [2010 TO 2015], with * for an open end"
    elif here == ")" and not is_open:
        problem = "this parenthesis was never opened; remove it"
    elif here == ":":
        problem = "a colon follows a field's name only; put text that has one in quotes"
    elif before.endswith(":"):
        problem = "the field has no value; write a word, a phrase in quotes or (a OR b)"
    elif not here and is_open and not before.endswith(("(", "AND", "OR", "NOT", ",")):
        problem = "a parenthesis is still open; close it with ')'"
    return position, problem
