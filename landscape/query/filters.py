"""Boolean filters in the syntax of SciLit: read them, and apply them to papers.

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
``refereed``, ``review``    see `landscape.query.filter_masks`
``author:(Rubin|Ford)``     a field holds for all words of its parentheses
=========================== =====================================================================

Words match whole, whatever their case and accents, in singular and plural; ``galax*`` matches what
begins so.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from landscape.errors import InputError
from landscape.query.filter_building import FilterBuilder, MisplacedError
from landscape.query.filter_masks import apply_filter, columns_needed
from landscape.query.filter_tree import Filter, Node
from landscape.query.pointing import pointed_error

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

__all__ = ["Filter", "apply_filter", "columns_needed", "parse_filter"]

LONGEST = 20_000  # characters
_NO_NUMBER = re.compile(r"\b(?:citations|year)\s*[<>=]=?+\s*+(?!\d)", re.IGNORECASE)
MOST_TERMS = 200  # each is looked for in every abstract
_FIELDS = (
    "author:, title:, journal:, doi:, category:, keyword:, facility:, bibcode:, arxiv: and year:"
)
_ENDS = {"$END", "RPAR", "SEMICOLON", "BAR", "AND", "OR"}


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

    grammar = files("landscape.query").joinpath("filters.lark").read_text("utf-8")
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
