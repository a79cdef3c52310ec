"""Parse filters such as ``2015..; author:Hubble``; `_filter_masks` applies them to papers.

=========================== =====================================================================
``a;b``, ``a AND b``, ``a b``  both (bare words side by side are one phrase instead)
``a|b``, ``a OR b``         either; binds closer than ``;``, as in SciLit
``-a``, ``NOT a``           not; binds closest
``(...)``                   grouping
``dust``, ``dark matter``   words in the title, the abstract or the keywords
``"dark matter"``           the same, and the way to write words that mean something else here
``1999..2004``              years, both ends included; ``2015..`` and ``..2004`` are open, one year
                            is ``year:2010``. A bare ``2010`` is a word, since NGC 2024 is no year.
``year>=2015``              years; also ``>``, ``<=``, ``<``, ``=``
``author:Rubin``            family name; ``author:"Rubin, V"`` and ``author:"Vera Rubin"`` look at
                            the given name too, ``author:"^Rubin"`` at the first author only
``title:`` ``keyword:``     words in the title, in the keywords
``journal:ApJ``             by abbreviation, name or words of the name
``category:astro-ph.GA``    of arXiv; ``category:astro-ph`` matches all its parts
``facility:Planck``         the satellite, not the constant (the layer of missions decides)
``doi:`` ``bibcode:`` ``arxiv:`` identifiers; a final ``*`` stands for any ending
``citations>=50``           also ``>``, ``<=``, ``<``, ``=``; unknown counts never match
``refereed``, ``review``    see `landscape.search._filter_masks`
``author:(Rubin|Ford)``     a field holds for all words of its parentheses
=========================== =====================================================================

Words match whole, whatever their case and accents, in singular and plural; ``galax*`` matches what
begins so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, cast

from lark import Token, Transformer

from landscape.errors import InputError
from landscape.search._filter_patterns import word_patterns

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

_AROUND = 30  # characters shown before and after; a line of a terminal holds 80
_INVISIBLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

Field = Literal[
    "any",
    "author",
    "title",
    "journal",
    "doi",
    "category",
    "keyword",
    "facility",
    "bibcode",
    "arxiv",
]
"""Where a term is looked for; "any" is the title, the abstract and the keywords."""
# A value that reads back as one word. Everything else is printed in quotes.
_ONE_WORD = re.compile(r'[^\s;|()":\\\-\u2212][^\s;|()":\\]*')
_MEANS_SOMETHING = re.compile(
    r"(?:and|or|not|&&|refereed|review|(?:citations|year)[<>=].*|\d{0,4}\.\.\d{0,4})", re.IGNORECASE
)
_LIKE_A_DOI = re.compile(r"10\.\d{4,9}/.*")
DEEPEST = 100  # parentheses and "not" inside each other
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
LONGEST = 20_000  # characters
_NO_NUMBER = re.compile(r"\b(?:citations|year)\s*[<>=]=?+\s*+(?!\d)", re.IGNORECASE)
MOST_TERMS = 200  # each is looked for in every abstract
_FIELDS = (
    "author:, title:, journal:, doi:, category:, keyword:, facility:, bibcode:, arxiv: and year:"
)
_ENDS = {"$END", "RPAR", "SEMICOLON", "BAR", "AND", "OR"}


def pointed_error(what: str, text: str, position: int, problem: str) -> InputError:
    """Make an error message that points at one character."""
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
    """A word or phrase in one field."""

    text: str
    field: Field = "any"

    def __str__(self) -> str:
        plain = _ONE_WORD.fullmatch(self.text) and not _MEANS_SOMETHING.fullmatch(self.text)
        if self.field != "doi" and _LIKE_A_DOI.fullmatch(self.text):
            plain = False  # a bare one is looked for among the DOIs
        value = self.text if plain else '"' + re.sub(r'(["\\])', r"\\\1", self.text) + '"'
        return value if self.field == "any" else f"{self.field}:{value}"


@dataclass(frozen=True, slots=True)
class Years:
    """Papers of these years, both ends included; None is an open end."""

    first: int | None
    last: int | None

    def __str__(self) -> str:
        if self.first == self.last and self.first is not None:
            return f"year:{self.first}"
        return f"{_or_nothing(self.first)}..{_or_nothing(self.last)}"


@dataclass(frozen=True, slots=True)
class Citations:
    """Condition on citation counts; unknown counts never match."""

    comparison: Literal[">", ">=", "<", "<=", "="]
    count: int

    def __str__(self) -> str:
        return f"citations{self.comparison}{self.count}"


@dataclass(frozen=True, slots=True)
class Flag:
    """Refereed papers, or reviews; see `landscape.search._filter_masks` for what counts as one."""

    name: Literal["refereed", "review"]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Not:
    """Papers that the part does not match."""

    part: Node

    def __str__(self) -> str:
        return f"-{_inside(self.part, (And, Or))}"


@dataclass(frozen=True, slots=True)
class Or:
    """Papers that at least one part matches."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return "|".join(_inside(part, (And, Or)) for part in self.parts)


@dataclass(frozen=True, slots=True)
class And:
    """Papers that all parts match; all papers where there are none."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return ";".join(_inside(part, (And,)) for part in self.parts)


Node = Term | Years | Citations | Flag | Not | Or | And


@dataclass(frozen=True)
class Filter:
    """A Boolean filter, as `landscape.search._filters.parse_filter` reads it."""

    root: Node = And(())

    def __str__(self) -> str:
        return str(self.root)

    @property
    def terms(self) -> tuple[Term, ...]:
        """Words and phrases in reading order, without negated ones."""
        return tuple(_terms(self.root))


def _terms(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
    elif isinstance(node, And | Or):
        for part in node.parts:
            yield from _terms(part)


def _inside(node: Node, to_wrap: tuple[type, ...]) -> str:
    return f"({node})" if isinstance(node, to_wrap) else str(node)


def _or_nothing(year: int | None) -> str:
    return "" if year is None else str(year)


class MisplacedError(Exception):
    """A syntax error that the grammar does not find."""

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of the tree with state that only parsing needs."""

    node: Node
    start: int
    depth: int = 0
    n_terms: int = 1
    bare: bool = False  # unquoted words
    lone_value: bool = False  # field:word, after which a bare word is most likely meant for it
    word_or: int | None = None  # where "OR" was written as a word, not yet in parentheses


class FilterBuilder(Transformer[Token, tuple[Node, int]]):
    """Callbacks for the rules of the grammar; the result is the root and its number of terms."""

    def start(self, children: list[Any]) -> tuple[Node, int]:
        """Return the whole filter."""
        part = next(iter(children), None)
        return (part.node, part.n_terms) if part else (And(()), 0)

    def all(self, children: list[Any]) -> _Part:
        """Join with "and"."""
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
                    "it is unclear whether this still belongs to the field before it; quote a "
                    "value of several words, or put ';' between",
                )
            parts.append(child)
            separated = False
        mixed = next((part.word_or for part in parts if part.word_or is not None), None)
        if by_word and mixed is not None:
            raise MisplacedError(
                mixed, "AND and OR stand side by side; say with parentheses which goes first"
            )
        return replace(_joined(And, parts), word_or=mixed)

    def any(self, children: list[Any]) -> _Part:
        """Join with "or"."""
        words = [child for child in children if isinstance(child, Token) and child.type == "OR"]
        parts = [child for child in children if not isinstance(child, Token)]
        return replace(_joined(Or, parts), word_or=words[0].start_pos if words else None)

    def negated(self, children: list[Any]) -> _Part:
        """Negate; a double negation cancels."""
        sign, part = children
        node = part.node.part if isinstance(part.node, Not) else Not(part.node)
        return _deeper(_Part(node, sign.start_pos, part.depth, part.n_terms), sign)

    def group(self, children: list[Any]) -> _Part:
        """Parentheses."""
        opening, part, _ = children
        return _deeper(_Part(part.node, opening.start_pos, part.depth, part.n_terms), opening)

    def field_group(self, children: list[Any]) -> _Part:
        """Give the field to every word in the parentheses."""
        name, opening, part, _ = children
        node = _in_field(part.node, _field(name), opening.start_pos)
        return _deeper(_Part(node, name.start_pos, part.depth, part.n_terms), opening)

    def field_value(self, children: list[Any]) -> _Part:
        """One word or phrase in a field."""
        name, value = children
        text = _unquoted(value) if value.type == "PHRASE" else str(value)
        node = _term(text, _field(name), value.start_pos)
        return _Part(node, name.start_pos, lone_value=value.type != "PHRASE")

    def compared(self, children: list[Any]) -> _Part:
        """Citations or years with a comparison."""
        found = re.fullmatch(r"(\w+?)\s*([<>=]+)\s*(\d+)", str(children[0]))
        assert found is not None, children  # noqa: S101  # the token's own pattern
        name, sign, number = found[1].lower(), found[2].replace("==", "="), int(found[3])
        if name == "citations":
            return _Part(Citations(cast(Any, sign), number), children[0].start_pos)
        first = {">": number + 1, ">=": number, "=": number}.get(sign)
        last = {"<": number - 1, "<=": number, "=": number}.get(sign)
        return _Part(_years(first, last, children[0].start_pos), children[0].start_pos)

    def years(self, children: list[Any]) -> _Part:
        """A range of years."""
        return _Part(_range(str(children[0]), children[0].start_pos), children[0].start_pos)

    def flag(self, children: list[Any]) -> _Part:
        """Refereed or review."""
        return _Part(Flag(cast(Any, str(children[0]).lower())), children[0].start_pos)

    def identifier(self, children: list[Any]) -> _Part:
        """A bare DOI."""
        return _Part(Term(str(children[0]), "doi"), children[0].start_pos)

    def phrase(self, children: list[Any]) -> _Part:
        """Quoted words."""
        start = children[0].start_pos
        return _Part(_term(_unquoted(children[0]), "any", start), start)

    def words(self, children: list[Any]) -> _Part:
        """Bare words side by side: one phrase."""
        start = children[0].start_pos or 0
        return _Part(_term(" ".join(children), "any", start), start, bare=True)


def _joined(kind: type[And] | type[Or], parts: list[_Part]) -> _Part:
    nodes: list[Node] = []
    for part in parts:  # (a;b);c is a;b;c
        nodes.extend(part.node.parts if isinstance(part.node, kind) else [part.node])
    return _Part(
        kind(tuple(dict.fromkeys(nodes))) if len(set(nodes)) > 1 else nodes[0],
        parts[0].start,
        max(part.depth for part in parts),
        sum(part.n_terms for part in parts),
        bare=parts[0].bare,
        lone_value=parts[-1].lone_value,
    )


def _deeper(part: _Part, token: Token) -> _Part:
    if part.depth >= DEEPEST:
        raise MisplacedError(
            token.start_pos or 0, f"it is nested more than {DEEPEST} levels deep; make it flatter"
        )
    return replace(part, depth=part.depth + 1)


def _field(name: Token) -> str:
    return str(name).rstrip(": \t\r\n\f\v").lower()


def _in_field(node: Node, field: str, position: int) -> Node:
    if isinstance(node, And | Or):
        return type(node)(tuple(_in_field(part, field, position) for part in node.parts))
    if isinstance(node, Not):
        return Not(_in_field(node.part, field, position))
    if isinstance(node, Term) and node.field == "any":
        return _term(node.text, field, position)
    if isinstance(node, Years) and field == "year":
        return node
    raise MisplacedError(
        position, f"{field}:(…) holds words and phrases only, not {node}; put that outside"
    )


def _term(text: str, field: str, position: int) -> Node:
    text = " ".join(text.split())
    if field == "year":
        return _range(text, position)
    if not word_patterns(text):
        raise MisplacedError(
            position, "there is no letter or digit to look for; write a word or leave it out"
        )
    return Term(text, cast(Field, field))


def _range(text: str, position: int) -> Years:
    found = re.fullmatch(r"(\d{1,4})?(\.\.|-)?(\d{1,4})?", text)
    if found is None or not (found[1] or found[3]):
        raise MisplacedError(
            position, f"{text!r} is no year; write year:2010, 1999..2004, 2015.. or ..2004"
        )
    first, last = (int(year) if year else None for year in (found[1], found[3]))
    return _years(first, last if found[2] else first, position)


def _years(first: int | None, last: int | None, position: int) -> Years:
    if first is not None and last is not None and first > last:
        raise MisplacedError(
            position, f"the range ends in {last}, before it begins; write {last}..{first}"
        )
    return Years(first, last)


def _unquoted(phrase: Token) -> str:
    return _ESCAPED.sub(r"\1", str(phrase)[1:-1])


def parse_filter(text: str) -> Filter:
    """Read a Boolean filter.

    Parameters
    ----------
    text : str
        At most 20,000 characters, 200 terms, and 100 levels deep; the empty text lets every paper
        through.

    Returns
    -------
    Filter
        ``str()`` of it is the same filter in its one spelling: ``parse_filter(str(f)) == f``.

    Raises
    ------
    InputError
        If it cannot be read; the message points at the character.

    Examples
    --------
    >>> print(parse_filter('(dust OR gas) ; -author:"Rubin, V" ; 1999..2004 ; citations >= 50'))
    dust|gas;-author:"Rubin, V";1999..2004;citations>=50
    >>> print(parse_filter("dust;|gas"))
    Traceback (most recent call last):
    landscape.errors.InputError: The filter cannot be read at character 6 ('|'): ...
    """
    if len(text) > LONGEST:
        raise InputError(
            f"The filter has {len(text):,} characters; the longest that is read has {LONGEST:,}."
        )
    return _parse(text)


@lru_cache(maxsize=64)  # a filter is parsed by the command line and again by the engine
def _parse(text: str) -> Filter:
    from lark.exceptions import UnexpectedInput

    unfinished = _NO_NUMBER.search(text)
    if unfinished and text.count('"', 0, unfinished.start()) % 2 == 0:
        problem = "a whole number is missing here, as in citations>=50"
        raise pointed_error("filter", text, unfinished.end(), problem)
    try:
        # The builder works while the parser reads, so that no syntax tree is made.
        root, n_terms = cast(tuple[Node, int], _parser().parse(text))
    except MisplacedError as error:
        raise pointed_error("filter", text, error.position, error.problem) from None
    except UnexpectedInput as error:
        position, problem = _explain(error, text)
        raise pointed_error("filter", text, position, problem) from None
    if n_terms > MOST_TERMS:
        raise InputError(
            f"The filter has {n_terms:,} terms; the most that are looked for are {MOST_TERMS}."
        )
    return Filter(root)


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = files("landscape.search").joinpath("filters.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", transformer=FilterBuilder())


def _explain(error: UnexpectedInput, text: str) -> tuple[int, str]:
    """Where a filter goes wrong, and how to mend it."""
    position = -1 if error.pos_in_stream is None else error.pos_in_stream
    kind = getattr(getattr(error, "token", None), "type", None)
    if position < 0 or kind == "$END":
        position = len(text)
    before, here = text[:position].rstrip(), text[position : position + 1]
    if here == '"':
        return position, "this quotation mark is never closed; close it or take it away"
    if here == ":":
        return _colon(before, position)
    if kind == "RPAR" and not _open_parentheses(text, position):
        return position, "this parenthesis was never opened; take it away"
    if kind is not None and kind not in _ENDS:
        return position, "what stands here does not go on from what is before it; put ';' between"
    if here in ("-", "\u2212"):
        return position, "'-' means not and needs a term directly after it; quote a lone dash"
    return position, _missing(before, here, text)


def _colon(before: str, position: int) -> tuple[int, str]:
    start = max(before.rfind(mark) for mark in ' \t\n;|()"') + 1
    return (
        start if start < position else position,
        f"there is no field {before[start:][:40]!r} here; the fields are {_FIELDS}, and text with "
        'a colon goes in quotes, as "12:30"',
    )


def _missing(before: str, here: str, text: str) -> str:
    follower = f"before {here!r}" if here else "at the end"
    if before.endswith(":"):
        return f"a value is missing {follower}; write a word, a phrase in quotes or (a|b)"
    if before.endswith("("):
        return f"a term is missing {follower}; write one inside the parentheses, or leave them out"
    if not here and before[-1:] not in (";", "|") and _open_parentheses(text, len(text)):
        return "a parenthesis is still open; close it with ')'"
    return f"a term is missing {follower}; write a word, a phrase in quotes, a field or (…)"


def _open_parentheses(text: str, position: int) -> int:
    return text.count("(", 0, position) - text.count(")", 0, position)
