"""Read the sections and references of a PDF with pypdfium2."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from landscape.corpus.cleaning import clean_text
from landscape.corpus.full_text._sections import SectionList
from landscape.corpus.full_text.references import find_identifiers, parse_reference
from landscape.errors import InputError, require
from landscape.types import FullText, Reference

_MAX_PAGES = 400  # number of pages of a PDF that are read; later pages are ignored
_MAX_TEXT = 5_000_000  # characters of the text of a PDF
_MARGIN = 3  # lines at both ends of a page that can be running heads and page numbers
_NAMES = (
    "INTRODUCTION|METHODS?|METHODOLOGY|DATA|OBSERVATIONS|RESULTS|DISCUSSION|CONCLUSIONS?|SUMMARY|"
    "REFERENCES|BIBLIOGRAPHY|ACKNOWLEDGE?MENTS?|APPENDIX|DATA AVAILABILITY|ABSTRACT"
)
_HEADING = re.compile(
    r"^(?P<number>(?:\d{1,2}(?:\.\d{1,2}){0,3}|[A-H]\d?(?:\.\d{1,2})?|[IVX]{1,4})\.?)[ \t]{1,9}"
    r"(?P<title>[A-Z][^\n]{2,90})$"
    rf"|^(?P<name>(?:{_NAMES})(?:[ \t]+[A-Z][^\n]{{0,60}})?|(?i:{_NAMES})[.:]?)$"
)
_CAPTION = re.compile(r"^(?:Fig(?:ure)?|FIG(?:URE)?|Table|TABLE)\.?\s{1,3}[A-Z]?\d{1,3}\s?[.:—–-]")
_PAGE_NUMBER = re.compile(r"^\W{0,3}(?:[Pp]age\s)?\d{1,4}(?:\s?(?:of|/)\s?\d{1,4})?\W{0,3}$")
_ENTRY = re.compile(
    r"^(?:\[\d{1,3}\]|\d{1,3}\.\s"
    r"|[A-ZÀ-Þ][\w'’`´˘˝¨^~-]{1,30}(?:[ -][A-ZÀ-Þ][\w'’-]{1,30})?,\s(?:[A-Z]\.|[A-Z][a-z])"
    r"|(?:[A-Z]\.[ -]?){1,3}[A-ZÀ-Þ][\w'’-]{1,30}[,.\s]|[A-ZÀ-Þ][\w'’-]{1,30} [A-Z]\.,?\s?"
    r"|(?:[A-Z][\w-]{1,30} ){1,3}Collaboration"
    r"|[A-Z][a-z]{2,20}(?: [A-Z]\.)? [A-Z][\w'’-]{2,30}[.,] )"
)
_ENDS = re.compile(r"[.!?:;)”’\"]$")


def read_pdf(content: bytes, path: Path) -> FullText:
    """Read a PDF. Lines that several pages share at their ends are left out."""
    pdfium = require("pypdfium2", "pdf")
    try:
        document = pdfium.PdfDocument(content)
        pages = [*_page_texts(document)]
    except pdfium.PdfiumError as error:
        raise InputError(
            f"{path} cannot be read as a PDF ({str(error).rstrip('.')}). Download it again."
        ) from error
    lines = _without_margins(pages)
    body = _first_heading(lines)
    parts = _parts(lines[body:])
    references = _references([line for title, own in parts if _is_list(title) for line, _ in own])
    found = SectionList(_joined)
    for title, own in parts:
        if _is_list(title):
            continue
        number = re.match(r"\d{1,2}(?:\.\d{1,2})*", title)
        level = 1 + number[0].count(".") if number else 1
        text, captions = _split_captions(own)
        name = re.sub(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}|[A-H]\d?|[IVX]{1,4})\.?\s+", "", title)
        is_appendix = bool(re.match(r"[A-H]\d?\b", title)) or title.upper().startswith("APPENDIX")
        pages_of = (own[0][1], own[-1][1]) if own else None
        found.add(found.kind(name, level, appendix=is_appendix), name, text, pages=pages_of)
        for caption, page in captions:
            label = " ".join(caption.split()[:2]).rstrip(".:—–-")
            found.add("caption", label, caption, pages=(page, page))
    return FullText("PDF", found.finished(), tuple(references))


def _page_texts(document: Any) -> Any:
    size = 0
    for number in range(min(len(document), _MAX_PAGES)):
        page = document[number]
        text_page = page.get_textpage()
        text = text_page.get_text_bounded().replace("\r\n", "\n").replace("\ufffe", "-")
        text_page.close()
        page.close()
        size += len(text)
        if size > _MAX_TEXT:
            return
        yield text


_Line = tuple[str, int]  # a line and its page


def _without_margins(pages: list[str]) -> list[_Line]:
    """Return all lines, without page numbers and lines that several pages share at their ends."""
    split = [[line.strip() for line in page.split("\n") if line.strip()] for page in pages]
    shared: Counter[str] = Counter()
    for page in split:
        shared.update({_pattern(line) for line in (*page[:_MARGIN], *page[-_MARGIN:])})
    found = []
    for number, page in enumerate(split, start=1):
        for place, line in enumerate(page):
            at_end = place < _MARGIN or place >= len(page) - _MARGIN
            if at_end and (
                _PAGE_NUMBER.match(line) or shared[_pattern(line)] > max(2, len(pages) // 3)
            ):
                continue
            found.append((line, number))
    return found


def _pattern(line: str) -> str:
    return re.sub(r"\d+", "#", line)


def _first_heading(lines: list[_Line]) -> int:
    """Return the place after the abstract: that of the introduction, if there is one."""
    for place, (line, _) in enumerate(lines[:400]):
        if re.match(
            r"(?:1|I)\.?\s+[A-Z]|(?:1\.?\s+)?introduction$", line, re.IGNORECASE
        ) and _HEADING.match(line):
            return place
    return 0


def _is_list(title: str) -> bool:
    return bool(re.search(r"^(?:\d+\.?\s)?(?:references|bibliography)\b", title, re.IGNORECASE))


def _parts(lines: list[_Line]) -> list[tuple[str, list[_Line]]]:
    """Divide the lines at headings. Numbers of headings increase, so that lists are no headings."""
    parts: list[tuple[str, list[_Line]]] = [("", [])]
    last: tuple[int, ...] = (0,)
    for line, page in lines:
        match = _HEADING.match(line)
        is_heading = match is not None and not _ENDS.search(line.rstrip("."))
        if match and is_heading and match["number"]:
            digits = tuple(int(one) for one in re.findall(r"\d+", match["number"]))
            if match["number"][0].isdigit():
                is_heading = _follows(last, digits) and len(match["title"].split()) <= 14
                last = digits if is_heading else last
            else:
                is_heading = match["title"].isupper()
        if is_heading:
            parts.append((line, []))
        else:
            parts[-1][1].append((line, page))
    return [part for part in parts if part[0] or part[1]]


def _follows(last: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Return whether a number can be the next one: 2 or 1.1 after 1, and 2 or 1.2 after 1.1."""
    return any(
        new == (*last[:depth], last[depth] + 1) for depth in range(len(last))
    ) or new == (*last, 1)  # fmt: skip


def _split_captions(lines: list[_Line]) -> tuple[str, list[tuple[str, int]]]:
    """Separate captions from the text. A caption ends with a line that ends with a stop."""
    text, captions = list[str](), list[tuple[str, int]]()
    open_: list[str] = []
    for line, page in lines:
        if _CAPTION.match(line):
            if open_:
                captions.append(("\n".join(open_), page))
            open_ = [line]
        elif open_:
            open_.append(line)
        else:
            text.append(line)
            continue
        if (
            _ENDS.search(line) and len(open_) > 0 and len(line) < max(map(len, open_)) * 0.9
        ) or len(open_) > 25:
            captions.append(("\n".join(open_), page))
            open_ = []
    if open_:
        captions.append(("\n".join(open_), lines[-1][1]))
    return "\n".join(text), captions


def _joined(text: str) -> str:
    """Join lines to paragraphs. A line ends a paragraph if it is short and ends with a stop."""
    lines = text.split("\n")
    width = sorted(map(len, lines))[int(0.8 * (len(lines) - 1))]
    pieces = []
    for line, after in pairwise([*lines, ""]):
        if line.endswith("-") and after[:1].islower():
            pieces.append(line[:-1])
        else:
            ends = _ENDS.search(line) and len(line) < 0.8 * width
            pieces.append(f"{line}\n" if ends else f"{line} ")
    return "\n".join(filter(None, (clean_text(one.strip()) for one in "".join(pieces).split("\n"))))


def _references(lines: list[str]) -> list[Reference]:
    """Divide a list of references into entries."""
    entries: list[list[str]] = []
    for line in lines:
        ended = not entries or re.search(r"[.\d\]]$|\d[A-Z]?$", entries[-1][-1])
        if (_ENTRY.match(line) and ended) or not entries:
            entries.append([line])
        else:
            entries[-1].append(line)
    texts = [_joined("\n".join(entry)).replace("\n", " ") for entry in entries]
    found = [one for one in texts if find_identifiers(one) or re.search(r"(?:1[89]|20)\d\d", one)]
    return [parse_reference(number, one) for number, one in enumerate(found)]
