"""From the tokens of a filter to its tree; the grammar is filters.lark."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, cast

from lark import Token, Transformer

from landscape.query.filter_patterns import word_patterns
from landscape.query.filter_tree import And, Citations, Field, Flag, Node, Not, Or, Term, Years

DEEPEST = 100  # parentheses and "not" inside each other

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class MisplacedError(Exception):
    """Something that the grammar allows and that still has no meaning.

    Attributes
    ----------
    position : int
        Index of the character.
    problem : str
    """

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the tree, with what is only of interest while reading it."""

    node: Node
    start: int
    depth: int = 0
    n_terms: int = 1
    bare: bool = False  # unquoted words
    lone_value: bool = False  # field:word, after which a bare word is most likely meant for it
    word_or: int | None = None  # where "OR" was written as a word, not yet in parentheses


class FilterBuilder(Transformer[Token, tuple[Node, int]]):
    """Callbacks for the rules of the grammar; the outcome is the root and its number of terms."""

    def start(self, children: list[Any]) -> tuple[Node, int]:
        """Give the whole filter."""
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
        """Negate; twice is not at all."""
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
