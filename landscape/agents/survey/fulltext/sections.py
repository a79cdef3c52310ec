"""Sections of a paper, and the papers that each of them cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from landscape.corpus._cleaning import one_line
from landscape.corpus._identifiers import parse_arxiv_id, parse_bibcode, parse_doi

if TYPE_CHECKING:
    from landscape.types import Paper

_LONGEST_NAME = 120  # characters of a section's name
_NAMED = 20  # papers that one entry of a bibliography stands for, at most
_IDENTIFIERS = (
    (re.compile(r"\b(\d{4}\.\d{4,5})(?:v\d+)?\b"), parse_arxiv_id),
    (re.compile(r"\b((?:astro-ph|gr-qc|hep-[a-z]{2,3}|physics|cond-mat)/\d{7})\b"), parse_arxiv_id),
    (re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{},;]+)"), parse_doi),
    (re.compile(r"\b((?:18|19|20)\d{2}[A-Za-z&.]{5}[\w.]{9}[A-Z.])(?![\w.])"), parse_bibcode),
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A section of a paper.

    Attributes
    ----------
    name : str
    cites : tuple of str
        Names of the papers that it cites: arXiv identifiers, DOIs and bibcodes; references
        without any of these cannot be followed.
    text : str
    """

    name: str
    cites: tuple[str, ...]
    text: str = ""


Reader = Callable[["Paper"], Sequence[Section]]
"""Gives the sections of a paper; none where it has no full text of it."""


def identifiers(text: str) -> tuple[str, ...]:
    """Find the names of papers in a text.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of str
        arXiv identifiers, DOIs and bibcodes, each once, in one spelling.

    Examples
    --------
    >>> identifiers("Smith 2020, arXiv:2001.01234v2; doi:10.1093/mnras/stz3000.")
    ('2001.01234', '10.1093/mnras/stz3000')
    """
    found: dict[str, None] = {}
    for pattern, parse in _IDENTIFIERS:
        for match in pattern.finditer(text):
            name = parse(match[1])
            if name:
                found[name] = None
    return tuple(found)


def join_sections(
    found: Sequence[tuple[str, str, Sequence[str]]], cited: Mapping[str, tuple[str, ...]]
) -> list[Section]:
    """Name what each section cites; two of one name become one."""
    joined: dict[str, tuple[str, dict[str, None]]] = {}
    for title, text, keys in found:
        name = one_line(title, most=_LONGEST_NAME)
        before, names = joined.get(name, ("", {}))
        names.update(
            dict.fromkeys(one for key in dict.fromkeys(keys) for one in cited.get(key, ())[:_NAMED])
        )
        joined[name] = (f"{before}\n{text}".strip(), names)
    return [Section(name or "text", tuple(names), text) for name, (text, names) in joined.items()]
