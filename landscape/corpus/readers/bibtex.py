"""Reader of BibTeX files from ADS, arXiv and reference managers."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from landscape._io import data_file, read_yaml
from landscape.corpus.identifiers import month_number, parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.readers._files import MAX_RECORD, checked, open_input
from landscape.corpus.records import RawRecord, Rejection
from landscape.errors import require

_ENTRY = re.compile(rb"^[ \t]*@\s*([A-Za-z]+)\s*[{(]")
_HEAD = re.compile(rb"^[ \t]*@\s*[A-Za-z]+\s*[{(]\s*[^\s,]*\s*,?", re.MULTILINE)
_STRING = re.compile(r"@\s*string\s*[{(]\s*([^\s=,{}()\"#]+)\s*=", re.IGNORECASE)
_NAME = re.compile(r"[^\s=,{}()\"#]+")
_String = tuple[int, str]  # line number and text of a block
_NOT_PAPERS = {b"string", b"preamble", b"comment"}
_JOURNALS: dict[str, str] = read_yaml(data_file("journal_macros.yaml"))


class BibtexEntry(NamedTuple):
    """BibTeX entry with field names in lower case."""

    key: str
    entry_type: str
    fields: dict[str, str]


class BibtexReader:
    """Reader of BibTeX files of any size. Each entry is parsed with ``bibtexparser``."""

    name = "bibtex"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002 - part of the protocol
        """Return whether the file contains a BibTeX entry (``@article{...``)."""
        return head.lstrip()[:1] not in (b"{", b"[") and _HEAD.search(head) is not None

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Yield the entries of the file as records."""
        require("bibtexparser", "bibtex")
        return checked(path, self._records(path, on_bytes))

    def _records(
        self, path: Path, on_bytes: Callable[[int], None] | None
    ) -> Iterator[RawRecord | Rejection]:
        strings: dict[str, _String] = {}
        for line, block in _blocks(path, on_bytes):
            kind = _ENTRY.match(block)
            if kind is None:
                continue  # BibTeX ignores text between entries
            try:
                text = block.decode("utf-8")
            except UnicodeDecodeError:
                shown = block[:200].decode("utf-8", "replace")
                yield Rejection(path.name, line, "not UTF-8 text", shown)
                continue
            if kind[1].lower() == b"string":
                for name in _STRING.findall(text):
                    strings.setdefault(name, (line, text))
            if kind[1].lower() not in _NOT_PAPERS:
                entries = parse_entries(_strings_of(text, strings) + text)
                reason = "not a BibTeX entry (unbalanced braces?)"
                broken = Rejection(path.name, line, reason, text[:200])
                yield RawRecord(line, _fields(entries[0])) if entries else broken


def _blocks(path: Path, on_bytes: Callable[[int], None] | None) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of a file as bytes, with their line numbers."""
    with open_input(path, on_bytes=on_bytes) as stream:
        lines: list[bytes] = []
        size, start = 0, 1
        number = 0
        while line := stream.readline(MAX_RECORD):
            number += 1
            if _ENTRY.match(line) or size > MAX_RECORD:
                if lines:
                    yield start, b"".join(lines)
                lines, size, start = [], 0, number
            lines.append(line)
            size += len(line)
        if lines:
            yield start, b"".join(lines)


def _strings_of(text: str, strings: dict[str, _String]) -> str:
    """Return the ``@string`` blocks that an entry uses, directly or indirectly."""
    used: set[_String] = set()
    waiting = [text] if strings else []
    while waiting:
        for name in _NAME.findall(waiting.pop()):
            block = strings.get(name)
            if block is not None and block not in used:
                used.add(block)
                waiting.append(block[1])
    return "".join(block for _, block in sorted(used))


def parse_entries(text: str) -> list[BibtexEntry]:
    """Parse BibTeX with bibtexparser. Invalid entries are omitted."""
    bibtexparser = require("bibtexparser", "bibtex")
    # Suppress log messages, because errors are written to rejected.jsonl.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    return [
        BibtexEntry(
            str(entry.key),
            str(entry.entry_type).lower(),
            {field.key.lower(): str(field.value) for field in entry.fields},
        )
        for entry in bibtexparser.parse_string(text).entries
    ]


def _fields(parsed: BibtexEntry) -> dict[str, object]:
    key, entry_type, entry = parsed
    bibcode, arxiv_id, doi = identifiers_of(parsed)
    return {
        "title": entry.get("title"),
        "abstract": entry.get("abstract"),
        "authors": split_authors(entry.get("author", "")),
        "dates": _dates(entry),
        "doi": doi,
        "bibcode": bibcode,
        "arxiv_id": arxiv_id,
        "given_id": None if parse_bibcode(key) else key,
        "journal": _journal(entry),
        "categories": entry.get("primaryclass", "").split(),
        "ads_keywords": [
            word.strip() for word in re.split(r"[,;]", entry.get("keywords", "")) if word.strip()
        ],
        "doctype": entry_type,
    }


def identifiers_of(entry: BibtexEntry) -> tuple[str | None, str | None, str | None]:
    """Return the bibcode, the arXiv identifier and the DOI of an entry."""
    fields = entry.fields
    is_arxiv = fields.get("archiveprefix", "arXiv").lower() == "arxiv"
    eprint = parse_arxiv_id(fields.get("eprint")) if is_arxiv else None
    return (
        parse_bibcode(entry.key) or parse_bibcode(fields.get("adsurl", "")),
        eprint or parse_arxiv_id(fields.get("url")) or parse_arxiv_id(fields.get("doi")),
        parse_doi(fields.get("doi")),
    )


def split_authors(names: str) -> list[str]:
    """Split the authors of an entry at each "and" that is not in braces."""
    from bibtexparser.middlewares.names import split_multiple_persons_names

    return [name for name in split_multiple_persons_names(names) if name != "others"]


def _dates(entry: dict[str, str]) -> list[str]:
    if entry.get("date"):
        return [entry["date"]]
    year = entry.get("year", "").strip("{} ")
    if not year:
        return []
    month = entry.get("month", "").strip("{} ")
    number = int(month) if re.fullmatch(r"[0-9]{1,2}", month) else month_number(month)
    return [f"{year}-{number:02d}"] if number and year.isdecimal() else [year]


def _journal(entry: dict[str, str]) -> str | None:
    journal = entry.get("journal") or entry.get("booktitle")
    if journal and journal.startswith("\\"):
        return _JOURNALS.get(journal[1:].lower(), journal[1:])
    return journal
