"""Split the author field of a record into names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from landscape.corpus._records import list_in_text

_BETWEEN = "\x1f"
_LIST_PIECE_END = re.compile(_BETWEEN)
_LINE_PIECE_END = re.compile(r"[,;]")
_AFFILIATION = re.compile(rf"(?:^|(?<=[,;{_BETWEEN}]))\s*(\(\d+\))\s+\w")
_NAME_FOLLOWS = re.compile(r"\(\d[^()]*\)\s*(?!and\s)[^\W\d_]")
_BEFORE_NAME = re.compile(
    r"(?:authors?:|and\s|&\s|for\s(?:the\s)?|on\sbehalf\sof\s(?:the\s)?)\s*", re.IGNORECASE
)
_AND_OTHERS = re.compile(r"(?:^|[\s,]+)et\.?\s*al\b\.?$", re.IGNORECASE)
_NO_NAME = re.compile(
    r"[\W\d_]*|latex\b.*|\d+\s+(?:pages?|pp\.?|figures?|figs?\.?|tables?)\b.*"
    r"|\d+\s+(?:additional|more|other)\s+authors\b.*",
    re.IGNORECASE,
)
_COLLABORATION = re.compile(
    r"(?:(?:for|on\sbehalf\sof)\s)?(?:the\s)?([^\W\d].*\s(?:collaboration|consortium|team)s?)",
    re.IGNORECASE,
)


def read_author_list(value: Any) -> Any:
    """Read authors from a list, from a list written as text, or from a line of names.

    Text in parentheses and entries without a name are omitted; a collaboration in parentheses is
    appended to the names.

    A value that is neither text nor a list of texts is returned unchanged.
    """
    value = list_in_text(value)
    if isinstance(value, str):
        text, inside = _without_parentheses(value, piece_end=_LINE_PIECE_END)
        pieces = [piece for part in text.split(_BETWEEN) for piece in _split_line(part)]
    elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        text, inside = _without_parentheses(_BETWEEN.join(value), piece_end=_LIST_PIECE_END)
        pieces = text.split(_BETWEEN)
    else:
        return value
    names = [name for piece in pieces if (name := _name_in(piece))]
    known = {name.casefold() for name in names}
    groups = _collaborations(inside)
    return names + [group for group in groups if group.casefold() not in known]


def _split_line(line: str) -> list[str]:
    """Split a line of names."""
    if ";" in line:
        return line.split(";")
    pieces = re.split(r"\s+and\s+|\s+&\s+", line)
    if len(pieces) == 1 or "," in pieces[0]:
        return [name for piece in pieces for name in _by_commas(piece)]
    return pieces


def _name_in(piece: str) -> str:
    """Return the name in one entry of a list of authors, nothing where there is none."""
    name = " ".join(piece.split())
    if before := _BEFORE_NAME.match(name):
        name = name[before.end() :]
    if name[-3:].lower() in ("al.", " al", "tal"):
        name = _AND_OTHERS.sub("", name)
    return "" if _NO_NAME.fullmatch(name) else name


def _collaborations(texts: Iterable[str]) -> list[str]:
    """Collect the collaborations that papers sign for in parentheses, each once."""
    pieces = (
        " ".join(piece.split())
        for text in texts
        if "(" not in text  # affiliations, each with its number
        for piece in re.split(rf"[,;{_BETWEEN}]|\sand\s", text)
    )
    found = (match[1] for piece in pieces if (match := _COLLABORATION.fullmatch(piece)))
    return list(dict.fromkeys(found))


def _without_parentheses(text: str, *, piece_end: re.Pattern[str]) -> tuple[str, list[str]]:
    """Separate the text outside parentheses from the texts inside.

    A number in parentheses also separates the names on its two sides.
    """
    outside: list[str] = []
    inside: list[str] = []
    end = 0
    for start, stop in sorted(_parentheses(text, piece_end)):
        if start >= end:
            outside.append(text[end:start])
            if _NAME_FOLLOWS.match(text, start):  # A. Ho (1) L. Wu (2)
                outside.append(_BETWEEN)
            inside.append(text[start + 1 : stop].removesuffix(")"))
        end = max(end, stop)
    outside.append(text[end:])
    return " ".join(outside).replace(")", " "), inside


def _parentheses(text: str, piece_end: re.Pattern[str]) -> list[tuple[int, int]]:
    """Find where parentheses begin and end; one never closed lasts as long as its piece."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for bracket in re.finditer(r"[()]", text):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            spans.append((opened.pop(), bracket.end()))
    spans.extend(  # (25) University of Geneva
        (match.start(1), _end_of_piece(text, match.end(), piece_end))
        for match in _AFFILIATION.finditer(text)
    )
    for start in opened:
        list_follows = text.startswith("((", start)  # ((1) MIT, (2) CfA
        spans.append((start, len(text) if list_follows else _end_of_piece(text, start, piece_end)))
    return spans


def _end_of_piece(text: str, start: int, piece_end: re.Pattern[str]) -> int:
    found = piece_end.search(text, start)
    return found.start() if found else len(text)


def _by_commas(piece: str) -> list[str]:
    """Split at commas between full names, but not the one inside ``Penzias, A.``."""
    parts = [part.strip() for part in piece.split(",")]
    full_names = all(re.search(r"\S[\s.]+\S{2,}", part) for part in parts if part)
    return parts if full_names else [piece]
