"""Recognise the kind of a document, and papers that were retracted, withdrawn or corrected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from landscape._io import read_data

Status = Literal["retracted", "withdrawn", "corrected"]

_KINDS: dict[str, list[str]] = read_data("formats.yaml")["kinds"]
_PLACES: dict[str, str] = read_data("formats.yaml")["places"]
KINDS = tuple(_KINDS)
"""Values of the column ``kind``, the most specific first."""

_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words}
_WORK = r"(?:paper|article|manuscript|submission|preprint|e-?print|work|letter|publication|version)"
_TITLE = re.compile(
    rf"^\W*(?:(?:this )?{_WORK} )?(retract|withdr)(?:ed|awn)(?: {_WORK})?\s*(?:[:\])—–-]|$)"
    r"|^\W*(retract)ion(?: (?:note|notice))?\s*(?:[:\])—–-]|(?:of|to|for)\b|$)"
    rf"|[\[(](retract|withdr)(?:ed|awn)(?: {_WORK})?[^\])]{{0,60}}[\])][\s.]{{0,3}}$",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    rf"\b(?:this|the|our) {_WORK} (?:(?:has|have|had) (?:now )?been|was|is(?: being)?|will be) "
    r"(?:\w+ly )?(retract|withdr)(?:ed|awn)\b"
    rf"|^\W*(?:{_WORK} )?(retract|withdr)(?:ed|awn)"
    r"(?: (?:by|due|because|as|for|until|from (?:arxiv|consideration|publication|the ))\b"
    r"|[\s.!]*$)"
    r"|^\W*(?:the |i |we )?(?:authors? )?(?:hereby |have |has )?(withdr)(?:a?w|awn|ew)\w* "
    rf"(?:this|the|our) {_WORK}\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;,]\s+|\n")
_CORRECTED = re.compile(r"\b(?:errat(?:um|a)|corrigend(?:um|a))\b", re.IGNORECASE)
_CORRECTION = re.compile(
    r"^\W*(?:publisher'?s? |author )?(?:errat(?:um|a)|corrigend(?:um|a)|correction)\b"
    r"\s*(?:[:\])—–-]|to\b|$)",
    re.IGNORECASE,
)
_THESIS = re.compile(
    r"\b(?:ph\.?\s?d|master'?s?|doctoral|habilitation)\.? (?:thesis|dissertation)\b", re.IGNORECASE
)
_MAX_REASON = 300  # characters
_EDGE = 400  # number of characters at the beginning and end of an abstract that can be a notice
_MIN_WORDS = 12  # minimum number of words of an abstract beside the notice


def document_kind(
    doctype: str | None, title: str, notes: Iterable[str], *, place: str = "", is_paper: bool
) -> str | None:
    """Return the kind of a document, one of `KINDS`, or None if it is unknown.

    `doctype` contains the words of the source, separated by semicolons, and `place` the bibcode
    and the journal. `is_paper` states whether the document has an arXiv id or a journal.

    Examples
    --------
    >>> document_kind("Journal Article; Review", "Cool stars", [], is_paper=True)
    'review'
    """
    if _CORRECTION.match(title) or re.match(r"\W*retraction\b", title, re.IGNORECASE):
        return "other"
    words = (re.sub(r"[^a-z]", "", word.lower()) for word in re.split(r"[;,/]", doctype or ""))
    known = {_KIND_OF[word] for word in words if word in _KIND_OF}
    if not known - {"article", "data", "proceedings"}:
        known |= {kind for kind, pattern in _PLACES.items() if re.search(pattern, place)}
        known -= {"data"} if "catalogue" in known else set()
    if known - {"article"} or not any(map(_THESIS.search, notes)):
        default = "article" if is_paper else None
        return next((kind for kind in KINDS if kind in known), default)
    return "thesis"


def find_status(
    title: str, abstract: str, notes: Sequence[str] = (), flags: Iterable[object] = ()
) -> tuple[Status | None, str | None]:
    """Return whether a paper was retracted, withdrawn or corrected, and the sentence that says so.

    Parameters
    ----------
    title, abstract : str
    notes : sequence of str
        Comments of arXiv, notes of reference managers.
    flags : iterable
        Values of fields such as ``is_retracted``, and types of updates of Crossref.

    Examples
    --------
    >>> find_status("Dust", "We see dust.", ["Withdrawn due to an error in Eq. 3"])
    ('withdrawn', 'Withdrawn due to an error in Eq. 3')
    """
    for flag in _flat(flags):
        if flag is True or str(flag).lower() in ("true", "yes", "1"):
            return "retracted", "marked as retracted by the source"
        if match := re.search(r"retract|withdraw", str(flag), re.IGNORECASE):
            return _status(match[0]), f"update of the publisher: {flag}"[:_MAX_REASON]
    if match := _TITLE.search(title):
        return _status(next(filter(None, match.groups()))), title[:_MAX_REASON]
    if (match := notice(abstract)) is not None:
        return _status(next(filter(None, match.groups()))), _sentence(abstract, match)
    for whole, clause in ((text, clause) for text in notes for clause in _CLAUSE.split(text)):
        if match := _NOTICE.search(clause) or _TITLE.search(clause):
            reason = _sentence(whole[whole.index(clause) :], match)
            return _status(next(filter(None, match.groups()))), reason
    for flag in map(str, _flat(flags)):
        if re.search(r"correct|errat|corrigend", flag, re.IGNORECASE):
            return "corrected", f"update of the publisher: {flag}"[:_MAX_REASON]
    for note in () if _CORRECTION.match(title) else notes:
        if match := _CORRECTED.search(note):
            return "corrected", _sentence(note, match)
    return None, None


def notice(abstract: str) -> re.Match[str] | None:
    """Return the match of a notice of withdrawal at the beginning or end of an abstract."""
    match = _NOTICE.search(abstract[:_EDGE])
    if match is None and len(abstract) > _EDGE:
        match = _NOTICE.search(abstract, len(abstract) - _EDGE)
    return match


def is_notice_only(abstract: str) -> bool:
    """Return whether an abstract is only a notice of withdrawal."""
    match = notice(abstract)
    if match is None:
        return False
    sentence = _sentence(abstract, match, most=len(abstract))
    rest = abstract.replace(sentence, " ", 1)
    return len(re.findall(r"\w{3,}", rest)) < _MIN_WORDS


def _flat(flags: Iterable[object]) -> Iterable[object]:
    for flag in flags:
        if isinstance(flag, (list, tuple)):
            yield from _flat(flag)
        elif flag is not None:
            yield flag


def _status(word: str) -> Status:
    return "retracted" if word.lower().startswith("retract") else "withdrawn"


def _sentence(text: str, match: re.Match[str], *, most: int = _MAX_REASON) -> str:
    """Return the sentence that contains a match."""
    start = max(text.rfind(". ", 0, match.start()), text.rfind("; ", 0, match.start()))
    start = start + 2 if start >= 0 else 0
    end = re.compile(r"\.(?=\s+[A-Z]|\s*$)").search(text, match.end())
    return text[start : end.end() if end else None].strip()[:most]
