"""Reader of BibTeX files from ADS, arXiv and reference managers."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from landscape.corpus.author_lists import read_author_list
from landscape.corpus.cleaning import clean_text
from landscape.corpus.identifiers import month_number
from landscape.corpus.readers._files import MAX_RECORD, checked, encoding_of, open_input
from landscape.corpus.readers._formats import FORMATS, fields_of
from landscape.corpus.records import RawRecord, Rejection
from landscape.errors import require

_ENTRY = re.compile(rb"^[ \t]*@\s*([A-Za-z]+)\s*[{(]")
_SPLIT_HEAD = re.compile(r"\A(\s{0,99}@\s{0,9}[A-Za-z]{1,40})\s{1,99}(?=[{(])")
_BEGINS = re.compile(rb"^[ \t]*@\s*[A-Za-z]+\s*(?:[{(]|$)")  # its brace can be on the next line
_HEAD = re.compile(rb"^[ \t]*@\s*[A-Za-z]+\s*[{(]\s*[^\s,]*\s*,?", re.MULTILINE)
_STRING = re.compile(r"@\s*string\s*[{(]\s*([^\s=,{}()\"#]+)\s*=", re.IGNORECASE)
_NAME = re.compile(r"[^\s=,{}()\"#]+")
_String = tuple[int, str]  # line number and text of a block
_NOT_PAPERS = {b"string", b"preamble", b"comment"}
_CROSSREF = re.compile(rb"\bcrossref\s*=\s*[{\"]?\s*([^\s,{}\"]+)", re.IGNORECASE)
_XDATA = ("crossref", "xdata")
# Fields that a library keeps, and that the papers of an atlas do not have.
_OTHERS = (
    *("editor", "publisher", "address", "location", "series", "edition", "chapter", "isbn", "issn"),
    *("school", "institution", "organization", "howpublished", "note", "url", "urldate"),
)
# The end of a value and, on the next line, the name of a field: a comma is missing between them.
_NO_COMMA = re.compile(r'([}"]|=[ \t]?\d+)(?=[ \t]*\n[ \t]*[A-Za-z][\w+-]*[ \t]*=[ \t]*[{"\w])')


class BibtexEntry(NamedTuple):
    """BibTeX entry with field names in lower case."""

    key: str
    entry_type: str
    fields: dict[str, str]
    repairs: tuple[str, ...] = ()


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
        records = (record for _, record in self.blocks(path, on_bytes) if record is not None)
        return checked(path, records)

    def blocks(
        self, path: Path, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[tuple[bytes, RawRecord | Rejection | None]]:
        """Yield each entry with the text after it, and its record.

        The record is None for strings and comments. The texts together are the whole file; if
        several entries begin on one line, the text of the later ones is empty.
        """
        strings: dict[str, _String] = {}
        parents: dict[str, BibtexEntry] | None = None
        for line, block in _blocks(path, on_bytes):
            kind = _ENTRY.match(block)
            if kind is None:  # BibTeX ignores text between entries
                yield block, None
                continue
            text, repairs = _decoded(block)
            if kind[1].lower() == b"string":
                for name in _STRING.findall(text):
                    strings.setdefault(name.lower(), (line, text))
            if kind[1].lower() in _NOT_PAPERS:
                yield block, None
                continue
            entries = _entries(text, _strings_of(text, strings))
            if isinstance(entries, str):
                reason = f"not a BibTeX entry ({entries})"
                yield block, Rejection(path.name, line, reason, text[:200])
                continue
            for place, entry in enumerate(entries):
                key = next(filter(None, map(entry.fields.get, _XDATA)), None)
                if key is not None:
                    parents = _parents(path) if parents is None else parents
                    entry = _with_parent(entry, parents.get(key.strip()))
                record = RawRecord(line, _fields(entry), repairs=(*repairs, *entry.repairs))
                yield block if place == 0 else b"", record


def encoded_as(path: Path, text: str) -> bytes:
    """Return the bytes of a text with the encoding and the byte order mark of a file.

    Bytes that are not UTF-8 stay as they are if they were decoded with "surrogateescape".
    """
    encoding = encoding_of(path)
    if encoding != "utf-8":
        return text.encode(encoding, "xmlcharrefreplace")
    with path.open("rb") as file:
        mark = codecs.BOM_UTF8 if file.read(3) == codecs.BOM_UTF8 else b""
    return mark + text.encode("utf-8", "surrogateescape")


def _decoded(block: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return block.decode("utf-8"), ()
    except UnicodeDecodeError:
        said = "not UTF-8 text; the entry is read as Windows-1252"
        return block.decode("cp1252", "replace"), (said,)


def _parents(path: Path) -> dict[str, BibtexEntry]:
    """Return the entries of a file to which others refer with ``crossref``, by key."""
    wanted = {key for _, block in _blocks(path, None) for key in _CROSSREF.findall(block)}
    found: dict[str, BibtexEntry] = {}
    for _, block in _blocks(path, None):
        head = _HEAD.match(block)
        if head and head[0].rpartition(b"{")[2].strip(b" ,\t\r\n") in wanted:
            entries = _entries(_decoded(block)[0], "")
            for entry in entries if not isinstance(entries, str) else ():
                found.setdefault(entry.key, entry)
    return found


def _with_parent(entry: BibtexEntry, parent: BibtexEntry | None) -> BibtexEntry:
    """Return an entry with the fields of its proceedings or book that it does not have itself."""
    if parent is None:
        said = "the entry of its crossref is not in the file"
        return entry._replace(repairs=(*entry.repairs, said))
    inherited = {
        name: value
        for name, value in parent.fields.items()
        if name not in ("title", "abstract", "author", "doi", "eprint", "url", "note")
    }
    inherited.setdefault("booktitle", parent.fields.get("title", ""))
    return entry._replace(fields=inherited | entry.fields)


def _blocks(path: Path, on_bytes: Callable[[int], None] | None) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of a file as bytes, with their line numbers."""
    with open_input(path, on_bytes=on_bytes) as stream:
        lines: list[bytes] = []
        size, start = 0, 1
        number = 0
        while line := stream.readline(MAX_RECORD):
            number += 1
            if _BEGINS.match(line) or size > MAX_RECORD:
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
            block = strings.get(name.lower())
            if block is not None and block not in used:
                used.add(block)
                waiting.append(block[1])
    return "".join(block for _, block in sorted(used))


def parse_entries(text: str) -> list[BibtexEntry]:
    """Parse BibTeX with bibtexparser. Invalid entries are omitted."""
    bibtexparser = require("bibtexparser", "bibtex")
    # Suppress log messages, because errors are written to rejected.jsonl.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    entries = []
    library = bibtexparser.parse_string(text)
    strings = {one.key.lower(): str(one.value).strip('"{}') for one in library.strings}
    for block in library.blocks:
        repeated = getattr(block, "duplicate_keys", ())
        block = getattr(block, "ignore_error_block", None) or block
        if not hasattr(block, "entry_type"):
            continue
        fields: dict[str, str] = {}
        for field in block.fields:
            value = str(field.value)
            if repeated:  # bibtexparser does not remove the delimiters of an invalid entry
                value = value[1:-1] if value[:1] + value[-1:] in ('""', "{}") else value
            fields.setdefault(field.key.lower(), _joined(value, strings))
        said = tuple(f"the field {name!r} is repeated; the first is used" for name in repeated)
        entries.append(BibtexEntry(str(block.key), str(block.entry_type).lower(), fields, said))
    return entries


_PIECE = re.compile(r'"[^"]*"|\{[^{}]*\}|\w++')
_PIECES = re.compile(rf"\A(?:{_PIECE.pattern})(?:\s*+#\s*+(?:{_PIECE.pattern}))++\Z")


def _joined(value: str, strings: dict[str, str]) -> str:
    """Join the pieces of a value such as ``first # " and " # second``."""
    if "#" not in value or _PIECES.match(value.strip()) is None:
        return value
    pieces = _PIECE.findall(value)
    bare = [piece.lower() for piece in pieces if piece[0] not in '"{']
    if any(name not in strings and not (len(name) == 3 and month_number(name)) for name in bare):
        return value  # the sign is part of a text, as in "HD#12"
    return "".join(strings.get(piece.lower(), piece.strip('"{}')) for piece in pieces)


def _entries(text: str, strings: str) -> list[BibtexEntry] | str:
    """Parse the entries of a block, usually one. Return the reason if there is none.

    A missing comma is inserted, and a brace without its partner is removed.
    """
    text = _SPLIT_HEAD.sub(r"\1", text, count=1)
    entries = parse_entries(strings + text)
    with_commas = _NO_COMMA.sub(r"\1,", text)
    if with_commas != text:
        repaired = parse_entries(strings + with_commas)
        if repaired and (not entries or len(repaired[0].fields) > len(entries[0].fields)):
            said = "a comma is missing at the end of a field"
            return [one._replace(repairs=(*one.repairs, said)) for one in repaired]
    if entries:
        return entries
    balanced = _VALUE.sub(_without_braces, text)
    if balanced != text and (repaired := parse_entries(strings + balanced)):
        return [repaired[0]._replace(repairs=("a brace without its partner is removed",))]
    n_open, n_closed = text.count("{"), text.count("}")
    return "unbalanced braces" if n_open != n_closed else "a comma or an equals sign is missing"


_VALUE = re.compile(r"^([ \t]*[A-Za-z][\w-]*[ \t]*=[ \t]*\{)(.*)(\}[ \t]*,?[ \t]*)$", re.MULTILINE)


def _without_braces(value: re.Match[str]) -> str:
    """Remove the braces of a value on one line if they are not balanced."""
    inner = value[2] if _at_depth_zero(value[2]) else re.sub(r"[{}]", "", value[2])
    return f"{value[1]}{inner}{value[3]}"


def _fields(entry: BibtexEntry) -> dict[str, object]:
    others = tuple((name, entry.fields[name]) for name in _OTHERS if entry.fields.get(name))
    return fields_of(_named(entry), FORMATS["bibtex"]) | {"others": others}


def _named(entry: BibtexEntry) -> dict[str, object]:
    """Return the values of an entry by name, with its key and type and a list of authors."""
    values: dict[str, object] = {
        **entry.fields,
        "citekey": entry.key,
        "entrytype": entry.fields.get("entrysubtype") or entry.entry_type,
        "author": split_authors(entry.fields.get("author") or entry.fields.get("editor", "")),
    }
    archive = entry.fields.get("archiveprefix", entry.fields.get("eprinttype", "arXiv"))
    archive, number = archive.strip("{} ").lower(), entry.fields.get("eprint", "")
    if re.fullmatch(r"\d{7}(?:v\d+)?", number):  # an old identifier without its class
        archive = archive if archive != "arxiv" else str(entry.fields.get("primaryclass", ""))
        values["eprint"] = f"{archive}/{number}"
    elif archive != "arxiv":
        values.pop("eprint", None)
        if archive == "ascl":
            values["type"] = "software"
    return values


def identifiers_of(entry: BibtexEntry) -> tuple[str | None, str | None, str | None]:
    """Return the bibcode, the arXiv identifier and the DOI of an entry."""
    fields: dict[str, Any] = _fields(entry)
    return fields["bibcode"], fields["arxiv_id"], fields["doi"]


# "J. Smith, A. Brown": several names with the initials first.
_SPOKEN = re.compile(
    r"\A(?:[A-Z]\.[\s-]?)++[^\W\d_]{2,40}+(?:,\s?(?:[A-Z]\.[\s-]?)++[^\W\d_]{2,40}+)++"
)
_PARTS = re.compile(r"^\s*(?:family|given)\s*=", re.IGNORECASE)
_PART = re.compile(r"(?<![A-Za-z-])([A-Za-z-]++)\s?=\s?(\"[^\"]*\"|\{[^{}]*\}|[^,]*)")


def split_authors(names: str) -> list[str]:
    """Split the authors of an entry at each "and" that is not in braces."""
    whole = re.sub(r"(?<!\s)\s++and\s*$", "", names.strip(), flags=re.IGNORECASE)
    while whole[:1] == "{" and _at_depth_zero(whole[1:-1]) and re.search(r"\sand\s|;", whole):
        whole = whole[1:-1].strip()  # the braces are around the whole list
    pieces: list[str] = []
    start = depth = 0
    for match in re.finditer(
        r"\\.|[{}]|(?<!\s)\s++(?:and|\\?&)(?=[\s{\\])", whole, re.DOTALL | re.IGNORECASE
    ):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif depth <= 0 and match[0][:1] != "\\":
            pieces.append(whole[start : match.start()])
            start = match.end()
    pieces.append(whole[start:])
    if len(pieces) == 1 and "{" not in whole:  # the list is separated by semicolons or commas
        return read_author_list(clean_text(whole))
    if any(
        (piece.count(",") > 2 and not re.search("[{=]", piece)) or _SPOKEN.fullmatch(piece.strip())
        for piece in pieces
    ):
        lists = [read_author_list(clean_text(piece)) for piece in pieces]  # commas and "and"
        return [name for one in lists for name in one]
    # A name in braces is one name: "{Event Horizon Telescope Collaboration, The}".
    pieces = [re.sub(r"(?i),\s?the\s?\}$", "}", piece.strip()) for piece in pieces]
    names_of = (_by_part(piece) if _PARTS.match(piece) else piece for piece in pieces)
    return [name for name in names_of if name and name.lower() != "others"]


def _at_depth_zero(text: str) -> bool:
    """Return whether all braces in a text are opened before they are closed."""
    depth = 0
    for sign in re.findall(r"\\.|[{}]", text, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def _by_part(name: str) -> str:
    """Return a name of biblatex such as ``family=Berg, given=Ada, prefix=van``."""
    parts = {key.lower(): value.strip(' "{}') for key, value in _PART.findall(name)}
    [whole] = read_author_list([parts]) or [""]
    return whole
