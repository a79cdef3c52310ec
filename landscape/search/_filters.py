"""Parse filters such as ``2015..; author:Hubble``; `_filter_fields` finds the papers that match.

=========================== =====================================================================
``a;b``, ``a AND b``, ``a b``  both conditions; adjacent words without a field are one phrase
``a|b``, ``a OR b``         at least one condition; takes precedence over ``;``, as in SciLit
``-a``, ``NOT a``           papers that do not match; has the highest precedence
``(...)``                   grouping
``dust``, ``dark matter``   words in the title, the abstract or the keywords
``"dark matter"``           the same words; quotes are needed for words such as "review" or "not"
``1999..2004``              years, including both ends; ``2015..`` and ``..2004`` are open ranges.
                            ``2010`` alone is a year too; beside other words it is a word, as in
                            ``NGC 2024``
``2026-08..2026-10-15``     months and days; ``2026-08-10..``, ``2026-08`` and ``2026-08-10``. A
                            date that is known only to the year counts as its first day
``year>=2015``              years and dates; also ``date>2026-08-10``, ``<=``, ``<``, ``=``
``author:Rubin``            family name; ``author:"Rubin, V"`` and ``author:"Vera Rubin"`` also
                            compare the given name; ``author:"^Rubin"`` is the first author
``title:`` ``keyword:``     words in the title or in the keywords
``kind:thesis``             article, review, proceedings, thesis, catalogue, software, data, ...
``status:withdrawn``        retracted, withdrawn or corrected
``journal:ApJ``             abbreviation, name, or words of the name of a journal
``category:astro-ph.GA``    arXiv category; ``category:astro-ph`` includes its subcategories
``facility:Planck``         papers that use data of the satellite (needs the layer of missions)
``facility:MUSE``           an instrument or a survey; "HERMES (AAT)" where names are ambiguous
``mentions:Planck``         papers that mention the satellite, not the constant, in any role
``role:planned``            strongest role of the facilities of a paper, or of the facility beside
                            it in ``facility:JWST; role:planned``: science, instrumentation, planned
                            or mention
``concept:"Dark matter"``   a concept of the thesaurus, or a narrower one
``region:"Star formation"`` region, subregion or continent of the map, by name or number
``object:"K2-18 b"``        papers that name a celestial object, in any form of its name
``in:mine``                 papers of your library "mine"; ``in:"mine/Thesis"`` is a collection or
                            tag of it, and ``in:mine/later`` the papers that you have marked so
``doi:`` ``bibcode:`` ``arxiv:`` identifiers; a final ``*`` is a wildcard
``citations>=50``           citation counts; also ``>``, ``<=``, ``<``, ``=``; unknown counts never
                            match
``refereed``, ``review``    see `landscape.search._filter_fields`
``author:(Rubin|Ford)``     the field applies to all words in the parentheses
=========================== =====================================================================

Terms match whole words. Case, accents, and singular or plural do not matter. ``galax*`` matches all
words that start with "galax".
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from landscape.corpus.facilities import ROLES
from landscape.errors import InputError
from landscape.search._filter_patterns import word_patterns

_AROUND = 30  # number of characters before and after an error that fit into one line
_INVISIBLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

Field = Literal[
    "any",
    "author",
    "title",
    "journal",
    "doi",
    "kind",
    "status",
    "category",
    "keyword",
    "facility",
    "mentions",
    "role",
    "concept",
    "region",
    "object",
    "in",
    "bibcode",
    "arxiv",
]
"""Fields of a term; "any" means the title, the abstract and the keywords."""
# Values that the parser reads as one word; all other values are printed in quotes.
_ONE_WORD = re.compile(r'[^\s;|()":\\\-\u2212][^\s;|()":\\]*')
_DATE = r"(?:19|20)\d\d-(?:0?[1-9]|1[0-2])(?:-\d{1,2})?"
# A word with these characters is probably a period or a comparison that the parser cannot read.
_MISWRITTEN = re.compile(
    r"\.\.|[<>=]|^\d+[/.]\d+[/.]\d+|^(?:19|20)\d\d[/-](?:\d|Q\d)|^(?:19|20)\d{6}$"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SPOKEN = re.compile(
    r"(?:since|after|before|until|from|in|during|last|past|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|"
    r"nov|dec)[a-z]*)\s+(?:\d{1,4}|the\s+.*)(?:\s+(?:years?|months?|days?))?",
    re.IGNORECASE,
)
_MEANS_SOMETHING = re.compile(
    rf"(?:and|or|not|&&|refereed|review|{_DATE}|(?:19|20)\d\d)", re.IGNORECASE
)
_LIKE_A_DOI = re.compile(r"10\.\d{4,9}/.*")
DEEPEST = 100  # maximum depth of nested parentheses and "not"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MAX_LENGTH = 20_000  # maximum number of characters
_NO_NUMBER = re.compile(r"\b(?:citations|year|date)\s*[<>=]=?+\s*+(?!\d)", re.IGNORECASE)
MAX_TERMS = 200  # maximum number of terms; each term is searched in all abstracts
MAX_WORDS = 50  # maximum number of words of a term; each word is searched in all abstracts
_FIELDS = (
    "author:, title:, journal:, doi:, kind:, status:, category:, keyword:, facility:, mentions:, "
    "role:, concept:, region:, object:, in:, bibcode:, arxiv:, year: and date:"
)
_PERIODS = "a period is written 2015.., 1999..2004, 2026-08-10.. or 2026-08..2026-10"
_ENDS = {"$END", "RPAR", "SEMICOLON", "BAR", "AND", "OR"}


def pointed_error(what: str, text: str, position: int, problem: str) -> InputError:
    """Return an error whose message shows the position of one character."""
    position = max(0, min(position, len(text)))
    shown = _INVISIBLE.sub("·", text)
    start, end = max(0, position - _AROUND), position + _AROUND
    before = ("…" if start else "") + shown[start:position]
    after = shown[position:end] + ("…" if end < len(shown) else "")
    where = f"character {position + 1} ({shown[position]!r})" if position < len(text) else "its end"
    return InputError(
        f"The {what} cannot be read at {where}: {problem}.\n    {before}{after}\n"
        f"    {' ' * len(before)}^"
    )


@dataclass(frozen=True, slots=True)
class Term:
    """Word or phrase in one field."""

    text: str
    field: Field = "any"

    def __str__(self) -> str:
        plain = _ONE_WORD.fullmatch(self.text) and not _MEANS_SOMETHING.fullmatch(self.text)
        plain = plain and not _MISWRITTEN.search(self.text)
        if self.field != "doi" and _LIKE_A_DOI.fullmatch(self.text):
            plain = False  # without quotes, the parser would read it as a DOI
        value = self.text if plain else '"' + re.sub(r'(["\\])', r"\\\1", self.text) + '"'
        return value if self.field == "any" else f"{self.field}:{value}"


@dataclass(frozen=True, slots=True)
class Years:
    """Range of years that includes both ends; None means an open end."""

    first: int | None
    last: int | None

    def __str__(self) -> str:
        if self.first == self.last and self.first is not None:
            return f"year:{self.first}"
        first, last = ("" if year is None else str(year) for year in (self.first, self.last))
        return f"{first}..{last}"


@dataclass(frozen=True, slots=True)
class Dates:
    """Range of days that includes both ends; None means an open end."""

    first: date | None
    last: date | None

    def __str__(self) -> str:
        first, last = ("" if day is None else day.isoformat() for day in (self.first, self.last))
        return f"{first}..{last}"


@dataclass(frozen=True, slots=True)
class Citations:
    """Condition on citation counts; unknown counts never match."""

    comparison: Literal[">", ">=", "<", "<=", "="]
    count: int

    def __str__(self) -> str:
        return f"citations{self.comparison}{self.count}"


@dataclass(frozen=True, slots=True)
class Flag:
    """The flag "refereed" or "review", as defined in `landscape.search._filter_fields`."""

    name: Literal["refereed", "review"]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Not:
    """Negation: papers that do not match `part`."""

    part: Node

    def __str__(self) -> str:
        return f"-{_inside(self.part, (And, Or))}"


@dataclass(frozen=True, slots=True)
class Or:
    """Union: papers that match at least one part."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return "|".join(_inside(part, (And, Or)) for part in self.parts)


@dataclass(frozen=True, slots=True)
class And:
    """Intersection: papers that match all parts, or all papers if there are no parts."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return ";".join(_inside(part, (And,)) for part in self.parts)


Node = Term | Years | Dates | Citations | Flag | Not | Or | And


@dataclass(frozen=True)
class Filter:
    """Boolean filter, parsed by `landscape.search.parse_filter`."""

    root: Node = And(())

    def __str__(self) -> str:
        return str(self.root)


def _inside(node: Node, to_wrap: tuple[type, ...]) -> str:
    return f"({node})" if isinstance(node, to_wrap) else str(node)


class MisplacedError(Exception):
    """A syntax error that the grammar does not detect."""

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the syntax tree, with values that only the parser uses."""

    node: Node
    start: int
    depth: int = 0
    n_terms: int = 1
    bare: bool = False  # unquoted words
    lone_value: bool = False  # True for field:word; the next word may belong to the value
    word_or: int | None = None  # position of "OR" written as a word outside of parentheses


@v_args(inline=True)
class _FilterBuilder(Transformer[Token, tuple[Node, int]]):
    """Parser callbacks that build the root of a filter and count its terms."""

    def start(self, part: _Part | None) -> tuple[Node, int]:
        return (part.node, part.n_terms) if part else (And(()), 0)

    def all(self, *children: _Part | Token) -> _Part:
        parts: list[_Part] = []
        by_word, separated = False, True
        for child in children:
            if isinstance(child, Token):
                separated = True
                by_word = by_word or child.type == "AND"
                continue
            if parts and not separated and parts[-1].lone_value and child.bare:
                raise MisplacedError(
                    child.start,
                    "the end of the field is unclear; quote a value of several words, or write "
                    "';' between the field and the next words",
                )
            parts.append(child)
            separated = False
        mixed = next((part.word_or for part in parts if part.word_or is not None), None)
        if by_word and mixed is not None:
            raise MisplacedError(
                mixed, "AND and OR are mixed; use parentheses to show which applies first"
            )
        return replace(_joined(And, parts), word_or=mixed)

    def any(self, *children: _Part | Token) -> _Part:
        words = [child for child in children if isinstance(child, Token) and child.type == "OR"]
        parts = [child for child in children if not isinstance(child, Token)]
        return replace(_joined(Or, parts), word_or=words[0].start_pos if words else None)

    def negated(self, sign: Token, part: _Part) -> _Part:
        node = part.node.part if isinstance(part.node, Not) else Not(part.node)
        return _nested(node, sign, sign, part)

    def group(self, opening: Token, part: _Part, _closing: Token) -> _Part:
        return _nested(part.node, opening, opening, part)

    def field_group(self, name: Token, opening: Token, part: _Part, _closing: Token) -> _Part:
        node = _in_field(part.node, _field(name), _start(opening))
        return _nested(node, name, opening, part)

    def field_value(self, name: Token, value: Token) -> _Part:
        is_phrase = value.type == "PHRASE"
        text = _unquoted(value) if is_phrase else str(value)
        node = _term(text, _field(name), _start(value))
        return _Part(node, _start(name), lone_value=not is_phrase)

    def compared(self, token: Token) -> _Part:
        match = re.fullmatch(r"(\w+?)\s*([<>=]+)\s*([\d-]+)", str(token))
        assert match is not None, token  # noqa: S101  # the token's own pattern
        name, sign, value = match[1].lower(), match[2].replace("==", "="), match[3]
        if name == "citations":
            if not value.isdecimal():
                raise MisplacedError(_start(token), "a whole number is needed, as in citations>=50")
            return _Part(Citations(cast(Any, sign), int(value)), _start(token))
        begin, end = _ends(value, _start(token))
        if sign in ("<", ">") and not isinstance(begin, int) and date.max in (begin, end):
            raise MisplacedError(_start(token), f"there is no day after {date.max}; {_PERIODS}")
        if isinstance(begin, int):
            first = {">": begin + 1, ">=": begin, "=": begin}.get(sign)
            last = {"<": begin - 1, "<=": begin, "=": begin}.get(sign)
            return _Part(_years(first, last, _start(token)), _start(token))
        one = timedelta(days=1)
        since = {">": end + one, ">=": begin, "=": begin}.get(sign)
        until = {"<": begin - one, "<=": end, "=": end}.get(sign)
        return _Part(Dates(since, until), _start(token))

    def years(self, token: Token) -> _Part:
        return _Part(_range(str(token), _start(token)), _start(token))

    def flag(self, token: Token) -> _Part:
        return _Part(Flag(cast(Any, str(token).lower())), _start(token))

    def identifier(self, token: Token) -> _Part:
        return _Part(Term(str(token), "doi"), _start(token))

    def phrase(self, token: Token) -> _Part:
        return _Part(_term(_unquoted(token), "any", _start(token)), _start(token))

    def words(self, *words: Token) -> _Part:
        if len(words) == 1 and _YEAR.fullmatch(words[0]):
            year = int(words[0])
            return _Part(Years(year, year), _start(words[0]))
        text = " ".join(map(_checked, words))
        if _SPOKEN.fullmatch(text):
            raise MisplacedError(
                _start(words[0]),
                f"{text[:40]!r} is read as words; {_PERIODS}, and words need quotes",
            )
        return _Part(_term(text, "any", _start(words[0])), _start(words[0]), bare=True)


def _checked(word: Token) -> str:
    """Return a word that has no characters of periods and comparisons."""
    if _MISWRITTEN.search(word):
        raise MisplacedError(
            _start(word),
            f"{str(word)[:40]!r} is not understood; {_PERIODS}, a comparison is year>=2015 or "
            "citations>=50, and text with such characters needs quotes",
        )
    return str(word)


def _start(token: Token) -> int:
    return token.start_pos or 0


def deeper(depth: int, token: Token) -> int:
    """Return the nesting depth around a part; raise MisplacedError if it is too deep."""
    if depth >= DEEPEST:
        raise MisplacedError(
            _start(token),
            f"this term is nested more than {DEEPEST} levels deep; use fewer parentheses",
        )
    return depth + 1


def _nested(node: Node, first: Token, token: Token, part: _Part) -> _Part:
    return _Part(node, _start(first), deeper(part.depth, token), part.n_terms)


def _joined(kind: type[And] | type[Or], parts: list[_Part]) -> _Part:
    nodes: list[Node] = []
    for part in parts:  # (a;b);c is the same as a;b;c
        nodes.extend(part.node.parts if isinstance(part.node, kind) else [part.node])
    return _Part(
        kind(tuple(dict.fromkeys(nodes))) if len(set(nodes)) > 1 else nodes[0],
        parts[0].start,
        max(part.depth for part in parts),
        sum(part.n_terms for part in parts),
        bare=parts[0].bare,
        lone_value=parts[-1].lone_value,
    )


def _field(name: Token) -> str:
    return str(name).rstrip(": \t\r\n\f\v").lower()


def _in_field(node: Node, field: str, position: int) -> Node:
    if isinstance(node, And | Or):
        return type(node)(tuple(_in_field(part, field, position) for part in node.parts))
    if isinstance(node, Not):
        return Not(_in_field(node.part, field, position))
    if isinstance(node, Term) and node.field == "any":
        return _term(node.text, field, position)
    if isinstance(node, Years | Dates) and field in ("year", "date"):
        return node
    raise MisplacedError(
        position,
        f"{field}:(…) takes words and phrases only, not {node}; write it outside the parentheses",
    )


def _term(text: str, field: str, position: int) -> Node:
    text = " ".join(text.split())
    if field in ("year", "date"):
        return _range(text, position)
    n_words = len(word_patterns(text))
    if not n_words:
        raise MisplacedError(
            position,
            "the term has no letter or digit to search for; write a word, or remove the term",
        )
    if n_words > MAX_WORDS:
        raise MisplacedError(
            position, f"the term has {n_words:,} words; write at most {MAX_WORDS} words"
        )
    if field == "role" and text.lower() not in ROLES:
        raise MisplacedError(
            position, f"there is no role {text[:40]!r}; the roles are {', '.join(ROLES)}"
        )
    return Term(text.lower() if field == "role" else text, cast(Field, field))


def _range(text: str, position: int) -> Years | Dates:
    dashed = re.fullmatch(r"(\d{4})-(\d{4})", text)
    before, dots, after = (
        text.replace("-", "..").partition("..") if dashed else text.partition("..")
    )
    if not (before or after):
        raise MisplacedError(position, f"{text!r} has no date; {_PERIODS}")
    first, _ = _ends(before, position) if before else (None, None)
    _, last = _ends(after, position) if after else (None, None)
    if not dots:
        first, last = _ends(before, position)
    if not isinstance(first, date) and not isinstance(last, date):
        return _years(first, last, position)
    if isinstance(first, int):
        first = date(first, 1, 1)
    if isinstance(last, int):
        last = date(last, 12, 31)
    if first is not None and last is not None and first > last:
        raise MisplacedError(position, f"the period ends on {last}, before its start on {first}")
    return Dates(first, last)


def _ends(text: str, position: int) -> tuple[Any, Any]:
    """Return the first and the last day of a day or a month, or a year as two integers."""
    if re.fullmatch(r"\d{1,4}", text):
        return int(text), int(text)
    match = re.fullmatch(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?", text)
    try:
        year, month, day = map(int, match.groups("0")) if match else (0, 0, 0)
        last = calendar.monthrange(year, month)[1]
        return date(year, month, day or 1), date(year, month, day or last)
    except ValueError as error:
        problem = f"{text[:40]!r} is not a year, a month or a day; {_PERIODS}"
        raise MisplacedError(position, problem) from error


def _years(first: int | None, last: int | None, position: int) -> Years:
    if first is not None and last is not None and first > last:
        raise MisplacedError(
            position, f"the range ends in {last}, before its start; write {last}..{first}"
        )
    return Years(first, last)


def _unquoted(phrase: Token) -> str:
    return _ESCAPED.sub(r"\1", str(phrase)[1:-1])


def parse_filter(text: str) -> Filter:
    """Parse a Boolean filter.

    Parameters
    ----------
    text : str
        Filter with at most 20,000 characters, 200 terms of 50 words and 100 nested levels. An empty
        text matches all papers.

    Returns
    -------
    Filter
        ``str()`` returns the canonical text of the filter: ``parse_filter(str(f)) == f``.

    Raises
    ------
    InputError
        If the text has a syntax error; the message shows its position.

    Examples
    --------
    >>> print(parse_filter('(dust OR gas) ; -author:"Rubin, V" ; 1999..2004 ; citations >= 50'))
    dust|gas;-author:"Rubin, V";1999..2004;citations>=50
    >>> print(parse_filter("dust;|gas"))
    Traceback (most recent call last):
    landscape.errors.InputError: The filter cannot be read at character 6 ('|'): ...
    """
    if len(text) > MAX_LENGTH:
        raise InputError(
            f"The filter has {len(text):,} characters; the limit is {MAX_LENGTH:,}. Shorten it."
        )
    return _parse(text)


@lru_cache(maxsize=64)  # the command line and the engine parse the same filter
def _parse(text: str) -> Filter:
    unfinished = _NO_NUMBER.search(text)
    if unfinished and text.count('"', 0, unfinished.start()) % 2 == 0:
        problem = "a whole number is missing here, as in citations>=50"
        raise pointed_error("filter", text, unfinished.end(), problem)
    root, n_terms = cast(tuple[Node, int], run_parser(_parser(), "filter", text, explain=_explain))
    if n_terms > MAX_TERMS:
        raise InputError(
            f"The filter has {n_terms:,} terms; the limit is {MAX_TERMS}. Remove some terms."
        )
    return Filter(root)


@cache
def _parser() -> Lark:
    # The transformer runs during parsing, so a syntax tree is not built.
    return read_grammar("filters.lark", _FilterBuilder())


def read_grammar(name: str, transformer: Transformer[Token, Any]) -> Lark:
    """Return the parser for a grammar file of this package."""
    grammar = files("landscape.search").joinpath(name).read_text("utf-8")
    return Lark(grammar, parser="lalr", transformer=transformer)


def run_parser(
    parser: Lark,
    what: str,
    text: str,
    *,
    explain: Callable[[str, int, str | None], tuple[int, str]],
) -> Any:
    """Parse a text; error messages show the position and explain the problem."""
    try:
        return parser.parse(text)
    except MisplacedError as error:
        raise pointed_error(what, text, error.position, error.problem) from None
    except UnexpectedInput as error:
        position = -1 if error.pos_in_stream is None else error.pos_in_stream
        kind = getattr(getattr(error, "token", None), "type", None)
        if position < 0 or kind == "$END":
            position = len(text)
        raise pointed_error(what, text, *explain(text, position, kind)) from None


def _explain(text: str, position: int, kind: str | None) -> tuple[int, str]:
    """Return the position of an error, and a text that explains how to correct it."""
    before, here = text[:position].rstrip(), text[position : position + 1]
    if here == ":":
        start = max(before.rfind(mark) for mark in ' \t\n;|()"') + 1
        return start if start < position else position, (
            f"there is no field {before[start:][:40]!r}; the fields are {_FIELDS}, and text with "
            'a colon needs quotes, as in "12:30"'
        )
    return position, _problem(before, here, kind)


def _problem(before: str, here: str, kind: str | None) -> str:
    is_open = before.count("(") > before.count(")")
    if here == '"':
        return "this quotation mark is never closed; close it or remove it"
    if kind == "RPAR" and not is_open:
        return "this parenthesis was never opened; remove it"
    if kind is not None and kind not in _ENDS:
        return "a separator is missing before this; write ';' or '|'"
    if here in ("-", "\u2212"):
        return "'-' excludes the term directly after it; add a term, or write the dash in quotes"
    missing = f"before {here!r}" if here else "at the end"
    if before.endswith(":"):
        return f"a value is missing {missing}; write a word, a phrase in quotes or (a|b)"
    if before.endswith("("):
        return f"a term is missing {missing}; write one in the parentheses, or remove them"
    if not here and before[-1:] not in (";", "|") and is_open:
        return "a parenthesis is still open; close it with ')'"
    return f"a term is missing {missing}; write a word, a phrase in quotes, a field or (…)"
