"""Read lists of author names in the forms of all sources."""

from __future__ import annotations

import ast
import html
import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import orjson

from landscape.corpus.cleaning import without_parentheses


def list_in_text(value: Any) -> Any:
    """Parse a list that pandas has written as text to a CSV file."""
    is_list = isinstance(value, str) and value.startswith("[") and value.endswith("]")
    if not is_list or len(value) > 1_000_000:
        return value
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        try:
            found = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return found if isinstance(found, list) else value


_SEPARATOR = "\x1f"
_LIST_PIECE_END = re.compile(_SEPARATOR)
_LINE_PIECE_END = re.compile(r"[,;]")
_AFFILIATION = re.compile(rf"(?:^|(?<=[,;{_SEPARATOR}]))\s{{0,9}}(\(\d{{1,9}}\))\s{{1,9}}\w")
_NAME_FOLLOWS = re.compile(r"\(\d[^()]*\)\s*(?!and\s)[^\W\d_]")
_BEFORE_NAME = re.compile(
    r"(?:authors?:|and\s|&\s|for\s(?:the\s)?|on\sbehalf\sof\s(?:the\s)?)\s*", re.IGNORECASE
)
_AND_OTHERS = re.compile(r"(?:^|(?<![\s,])[\s,]++)et\.?\s{0,9}al\b\.?$", re.IGNORECASE)
_NO_NAME = re.compile(
    r"[\W\d_]*|latex\b.*|n\.?a\.?|\[?no author.*"
    r"|\d+\s+(?:pages?|pp\.?|figures?|figs?\.?|tables?)\b.*"
    r"|\d+\s+(?:additional|more|other)\s+authors\b.*",
    re.IGNORECASE,
)
_COLLABORATION = re.compile(
    r"(?:(?:for|on\sbehalf\sof)\s)?(?:the\s)?([^\W\d].{0,200}\s(?:collaboration|consortium|team)s?)",
    re.IGNORECASE,
)


def read_author_list(value: object) -> Any:
    """Convert a list or a line of author names to a list of names.

    Names can be texts, objects with the parts of a name, or lists of these parts. Text in
    parentheses, marks of affiliations and entries without a name are omitted. The name of a
    collaboration in parentheses is added at the end. Values of other types are returned unchanged.
    """
    value = list_in_text(value)
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        value = [_parts_joined(entry) for entry in value if entry]
    if isinstance(value, str):
        value = _MARKS.sub("", html.unescape(value))
        text, inside = _without_parentheses(value, piece_end=_LINE_PIECE_END)
        pieces = [piece for part in text.split(_SEPARATOR) for piece in _split_line(part)]
    elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        value = _MARKS.sub("", html.unescape(_SEPARATOR.join(value)))
        text, inside = _without_parentheses(value, piece_end=_LIST_PIECE_END)
        pieces = text.split(_SEPARATOR)
    else:
        return value
    names = [name for piece in pieces for one in _members(piece) if (name := _name_in(one))]
    known = {name.casefold() for name in names}
    groups = _collaborations(inside)
    return names + [group for group in groups if group.casefold() not in known]


# Digits and signs after a name refer to affiliations: "Jane Doe1,2*".
_MARKS = re.compile(
    r"\$?\^\{?[\d\s,*†‡§¶]{1,20}\}?\$?|\\textsuperscript\{[^{}]{0,20}\}"
    r"|[⁰¹²³⁴-⁹](?:[\s,]?[⁰¹²³⁴-⁹*†‡§¶])*+"
    r"|(?<=[^\W\d_A-Z.])[\d*†‡§¶]{1,2}(?:\s?,\s?[\d*†‡§¶]{1,2})*+(?![\w-])"
)
# "The Example Collaboration: Doe, J." and the inverted name "Collaboration, Example".
_LED = re.compile(
    r"([^:;,]{3,120}?\b(?:Collaboration|Consortium|Team))\s?[:,]\s?(\S.{0,500})", re.DOTALL
)
_INVERTED = re.compile(
    r"(?:the\s)?(collaboration|consortium|team),\s?(\S.{0,200})", re.IGNORECASE | re.DOTALL
)
_FAMILY = ("family", "familyname", "lastname", "last", "keyname")
_GIVEN = ("given", "givenname", "forename", "forenames")
_WHOLE = ("literal", "fullname", "displayname", "collectivename", "name", "rawname")
_OTHER_ROLES = ("editor", "seriesEditor", "translator", "reviewedAuthor")
_BEFORE = ("nondroppingparticle", "droppingparticle", "prefix")


def _parts_joined(entry: Any) -> Any:
    """Return a name given by its parts: an object, or family name, given names and suffix."""
    if isinstance(entry, (list, tuple)):
        parts = ([part for part in entry if isinstance(part, str)] + ["", "", ""])[:3]
        return ", ".join(filter(None, parts))
    if not isinstance(entry, dict):
        return entry
    named = {re.sub(r"[^a-z]", "", str(key).lower()): text for key, text in entry.items()}
    if named.get("creatortype") in _OTHER_ROLES:  # Zotero
        return ""
    if isinstance(inner := named.get("author", named.get("person")), (dict, str)):
        return _parts_joined(inner)

    def first(names: tuple[str, ...]) -> str:
        texts = (named[name] for name in names if isinstance(named.get(name), str))
        return next((text.strip() for text in texts if text.strip()), "")

    family, given = first(_FAMILY), first((*_GIVEN, "firstname", "first", "initials"))
    if not family:
        return first(_WHOLE) or given
    before = " ".join(filter(None, (first((name,)) for name in _BEFORE)))
    return ", ".join(filter(None, (f"{before} {family}".strip(), given, first(("suffix",)))))


def rejoin_names(names: list[Any]) -> list[Any]:
    """Restore author names that were split at commas inside affiliations."""
    if not all(isinstance(name, str) for name in names) or any("," in name for name in names):
        return names
    if all(name.count("(") == name.count(")") for name in names):
        return names
    line = without_parentheses(",".join(names))
    whole = (name.split("(")[0].strip(" )") for name in line.split(","))
    return [name for name in whole if name]


def _members(piece: str) -> Iterable[str]:
    """Split "Example Collaboration: Doe, J." into the collaboration and the person."""
    piece = " ".join(piece.split())
    if match := _INVERTED.fullmatch(piece):
        return (f"{match[2]} {match[1]}",)
    match = _LED.fullmatch(piece)
    return (match[1], match[2]) if match else (piece,)


def _split_line(line: str) -> list[str]:
    """Split a line of author names into names."""
    for mark in ";|":
        if mark in line:
            return line.split(mark)
    if "\n" in line.strip() and all("," in name for name in line.strip().split("\n")):
        return line.split("\n")
    pieces = re.split(r"(?<!\s)\s++(?:and|&)\s++", line)
    if len(pieces) == 1 or "," in pieces[0]:
        return [name for piece in pieces for name in _by_commas(piece)]
    return pieces


def _name_in(piece: str) -> str:
    """Return the name in an entry of an author list, or an empty string if it has no name."""
    name = re.sub(r",(?=[^\W\d_])", ", ", " ".join(piece.split())).rstrip(" ,")
    name = re.sub(r"(?<=\w) 0\d{3}$", "", name)  # number of a person in DBLP
    if before := _BEFORE_NAME.match(name):
        name = name[before.end() :]
    if name[-3:].lower() in ("al.", " al", "tal"):
        name = _AND_OTHERS.sub("", name)
    return "" if _NO_NAME.fullmatch(name) else name


def _collaborations(texts: Iterable[str]) -> list[str]:
    """Return the names of collaborations in texts between parentheses, without duplicates."""
    pieces = (
        " ".join(piece.split())
        for text in texts
        if "(" not in text  # texts with nested parentheses are affiliations
        for piece in re.split(rf"[,;{_SEPARATOR}]|\sand\s", text)
    )
    found = (match[1] for piece in pieces if (match := _COLLABORATION.fullmatch(piece)))
    return list(dict.fromkeys(found))


def _without_parentheses(text: str, *, piece_end: re.Pattern[str]) -> tuple[str, list[str]]:
    """Return the text outside parentheses, and the texts inside them.

    A number in parentheses also separates the names before and after it.
    """
    outside: list[str] = []
    inside: list[str] = []
    end = 0
    for start, stop in sorted(_parentheses(text, piece_end)):
        if start >= end:
            outside.append(text[end:start])
            if _NAME_FOLLOWS.match(text, start):  # as in "A. Ho (1) L. Wu (2)"
                outside.append(_SEPARATOR)
            inside.append(text[start + 1 : stop].removesuffix(")"))
        end = max(end, stop)
    outside.append(text[end:])
    return " ".join(outside).replace(")", " "), inside


def _parentheses(text: str, piece_end: re.Pattern[str]) -> list[tuple[int, int]]:
    """Find the spans of parentheses. An unclosed parenthesis ends at the next separator."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    ends = [*(found.start() for found in piece_end.finditer(text)), len(text)]
    for bracket in re.finditer(r"[()]", text):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            spans.append((opened.pop(), bracket.end()))
    spans.extend(  # an affiliation such as "(25) University of Geneva"
        (match.start(1), ends[bisect_left(ends, match.end())])
        for match in _AFFILIATION.finditer(text)
    )
    for start in opened:
        list_follows = text.startswith("((", start)  # as in "((1) MIT, (2) CfA"
        spans.append((start, len(text) if list_follows else ends[bisect_left(ends, start)]))
    return spans


def _by_commas(piece: str) -> list[str]:
    """Split a text at commas between names, but not within names such as ``Penzias, A.``."""
    parts = [part.strip() for part in piece.split(",") if part.strip()]
    full_names = all(re.search(r"\S(?:\s++|\.)\S{2}", part) for part in parts)
    if full_names or (len(parts) > 1 and all(map(_WITH_INITIALS.fullmatch, parts))):
        return parts
    given = parts[1::2]
    if len(parts) > 2 and len(parts) % 2 == 0 and all(map(_GIVEN_NAMES.fullmatch, given)):
        return [f"{family}, {name}" for family, name in zip(parts[::2], given, strict=True)]
    return [piece]


_WITH_INITIALS = re.compile(r"[^\W\d_][^\d_,]{1,40}\s[A-Z]{1,3}")  # "Penzias AA"
_GIVEN_NAMES = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}|[^\W\d_]+")  # "A. A.", "Arno"
