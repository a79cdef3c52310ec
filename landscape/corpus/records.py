"""Columns of papers.parquet, and conversion of raw records to its rows."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from landscape.corpus.cleaning import clean_abstract, clean_text
from landscape.corpus.identifiers import (
    PaperDate,
    arxiv_id_of_bibcode,
    arxiv_month,
    bibcode_year,
    content_id,
    is_eprint_doi,
    parse_arxiv_id,
    parse_bibcode,
    parse_date,
    parse_doi,
)

if TYPE_CHECKING:
    import pyarrow as pa

LIST_COLUMNS = (
    "ads_keywords",
    "authors",
    "aff",
    "cite_bibcodes",
    "ref_bibcodes",
    "source",
    "categories",
)
"""Names of the columns that contain lists of strings. An unknown value is an empty list."""
COLUMNS = (
    "paper_id",
    "ads_id",
    "arxiv_id",
    "title",
    "abstract",
    "date",
    "date_precision",
    "year",
    "cites",
    "read_count",
    "bibcode",
    "doi",
    "keywords",
    "ads_keywords",
    "authors",
    "aff",
    "cite_bibcodes",
    "ref_bibcodes",
    "source",
    "doctype",
    "journal",
    "categories",
    "title_original",
    "abstract_original",
    "generated",
)


@dataclass(frozen=True, slots=True)
class RawRecord:
    """Record of a source before cleaning. The fields have the names used in this package."""

    line: int
    fields: Mapping[str, object]
    vector: Sequence[float] | np.ndarray | None = None
    position: tuple[float, float] | None = None


#: Key of a line that lists a withdrawn record, and the reason of its rejection.
WITHDRAWN = "withdrawn by its source"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Rejected record and the reason. It is written as a line of ``rejected.jsonl``."""

    file: str
    line: int
    reason: str
    snippet: str = ""  # at most 200 characters


@dataclass(frozen=True, slots=True)
class Batch:
    """Cleaned records of one file."""

    papers: pa.Table
    rejected: list[Rejection]
    n_read: int
    n_bytes: int
    vectors: np.ndarray | None = None
    positions: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class PartReport:
    """Number of records read, merged and rejected for one input file."""

    name: str
    source: str
    path: Path
    rows: int
    read: int
    merged: int
    rejected: int
    oldest: str | None = None
    newest: str | None = None
    categories: dict[str, int] = field(default_factory=dict)
    ready_vectors: int = 0
    is_kept: bool = False  # whether the file of an earlier version was kept


@dataclass(frozen=True, slots=True)
class MergedPaper:
    """Paper of an atlas with which an update merged a record."""

    was: str
    journal_was: str | None
    row: Row


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Numbers of records of all inputs, where ``read = kept + merged + rejected``."""

    parts: list[PartReport]
    read: int
    kept: int
    merged: int
    rejected: int
    embeddings: dict[str, Path | None]
    coordinates: dict[str, Path | None]
    merged_papers: list[MergedPaper] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)  # arXiv ids of the papers that are removed


@cache
def papers_schema() -> pa.Schema:
    """Return the Arrow schema of ``papers.parquet``."""
    import pyarrow as pa

    special = {
        "date": pa.date32(),
        "year": pa.int16(),
        "cites": pa.int32(),
        "read_count": pa.int32(),
        "generated": pa.bool_(),
        **dict.fromkeys(("keywords", *LIST_COLUMNS), pa.list_(pa.string())),
    }
    return pa.schema([(name, special.get(name, pa.string())) for name in COLUMNS])


# Maximum numbers of characters. The longest real abstracts have about 10,000.
_MAX_LENGTH = {"title": 5_000, "abstract": 100_000}
_MAX_COUNT = 2**31 - 1
_CATEGORY = re.compile(r"[A-Za-z][\w.:-]{1,60}")

Row = dict[str, Any]


class UnusableError(ValueError):
    """Exception with the reason why a record is rejected."""


def normalise(raw: RawRecord, *, file: str, source: str) -> Row | Rejection:
    """Convert a raw record to a row of ``papers.parquet``, or to a rejection."""
    try:
        return _row(raw.fields, source)
    except UnusableError as error:
        shown = map(raw.fields.get, ("bibcode", "arxiv_id", "doi", "given_id", "title"))
        text = " | ".join(str(value) for value in shown if value)[:200]
        snippet = text.encode("utf-8", "replace").decode("utf-8")
        return Rejection(file, raw.line, str(error), snippet)


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Convert rows to a table with the columns of ``papers.parquet``."""
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows), schema=papers_schema())


def vectors_of(raws: Sequence[RawRecord]) -> np.ndarray | None:
    """Stack the precomputed embeddings of records, float32 (n, d). Missing values are NaN."""
    rows = [_vector(raw.vector) for raw in raws]
    dimension = next((len(row) for row in rows if row is not None), 0)
    if not dimension:
        return None
    stacked = np.full((len(rows), dimension), np.nan, dtype=np.float32)
    for number, row in enumerate(rows):
        if row is not None and len(row) == dimension:
            stacked[number] = row
    return stacked


def positions_of(raws: Sequence[RawRecord]) -> np.ndarray | None:
    """Stack the precomputed coordinates of records, float32 (n, 2). Missing values are NaN."""
    if all(raw.position is None for raw in raws):
        return None
    none = (np.nan, np.nan)
    stacked = np.array([raw.position or none for raw in raws], dtype=np.float32)
    stacked[~np.isfinite(stacked).all(axis=1)] = np.nan
    return stacked


def _vector(value: object) -> np.ndarray | None:
    if value is None:
        return None
    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    usable = vector.ndim == 1 and vector.size > 1 and bool(np.isfinite(vector).all())
    return vector if usable else None


def _row(fields: Mapping[str, object], source: str) -> Row:
    title, title_original = _cleaned(fields, "title", clean_text)
    abstract, abstract_original = _cleaned(fields, "abstract", clean_abstract)
    authors = _texts(fields.get("authors"), "authors", clean_text)
    bibcode = parse_bibcode(fields.get("bibcode"))
    arxiv_id = parse_arxiv_id(fields.get("arxiv_id")) or (bibcode and arxiv_id_of_bibcode(bibcode))
    doi = parse_doi(fields.get("doi"))
    if doi and is_eprint_doi(doi):
        arxiv_id = arxiv_id or parse_arxiv_id(doi)
    date = _date(fields.get("dates"), arxiv_id, bibcode)
    given = _given_id(fields.get("given_id"))
    row: Row = {name: _loose_texts(fields.get(name)) for name in LIST_COLUMNS}
    row |= {
        "paper_id": bibcode or arxiv_id or doi or given or content_id(f"{title}\n{abstract}"),
        "ads_id": bibcode,
        "arxiv_id": arxiv_id,
        "title": title,
        "abstract": abstract,
        "date": date.date if date else None,
        "date_precision": date.precision if date else None,
        "year": date.date.year if date else None,
        "cites": _count(fields.get("cites")),
        "read_count": _count(fields.get("read_count")),
        "bibcode": bibcode,
        "doi": doi,
        "keywords": None,
        "authors": authors,
        "source": _texts(fields.get("source"), "source", clean_text) or [source],
        "doctype": _short_text(fields.get("doctype")),
        "journal": _short_text(fields.get("journal")),
        "categories": [c for c in row["categories"] if _CATEGORY.fullmatch(c)],
        "title_original": title_original,
        "abstract_original": abstract_original,
        "generated": fields.get("generated") in (True, "True", "true", 1),
    }
    return row


def _cleaned(
    fields: Mapping[str, object], name: str, clean: Callable[[str], str | None]
) -> tuple[str, str | None]:
    """Return the cleaned title or abstract, and the original text if cleaning has changed it."""
    given = fields.get(name)
    if given is None:
        raise UnusableError(f"no {name}")
    if not isinstance(given, str):
        raise UnusableError(f"the {name} is {kind_of(given)}, not text")
    if len(given) > _MAX_LENGTH[name]:
        raise UnusableError(f"the {name} is too long ({len(given):,} characters)")
    text = clean(given)
    if text is None or not any(character.isalnum() for character in text):
        raise UnusableError(f"no {name}")
    kept = fields.get(f"{name}_original")
    if isinstance(kept, str) and kept:
        return text, kept
    if text in (given, " ".join(given.split())):
        return text, None
    return text, given.encode("utf-8", "replace").decode("utf-8")


def _date(candidates: Any, arxiv_id: str | None, bibcode: str | None) -> PaperDate | None:
    """Return the date of the record. If it is missing, use the arXiv id, then the bibcode."""
    known = arxiv_month(arxiv_id) if arxiv_id else None
    if candidates:
        try:
            date = parse_date(candidates[0])
        except ValueError as error:
            raise UnusableError(str(error)) from None
        # If the record contains only the year, and the arXiv id has the same year, use its month.
        return known if known and date.covers(known) else date
    if known:
        return known
    return bibcode_year(bibcode) if bibcode else None


def _texts(value: object, name: str, clean: Callable[[str], str]) -> list[str]:
    value = [value] if isinstance(value, str) or value is None else value
    if not isinstance(value, (list, tuple)):
        raise UnusableError(f"{name}: {kind_of(value)} instead of a list of texts")
    given = [text for text in value if text is not None]
    for text in given:
        if not isinstance(text, str):
            raise UnusableError(f"{name}: {kind_of(text)} instead of a text")
    return list(filter(None, map(clean, given)))


def _loose_texts(value: object) -> list[str]:
    """Return the cleaned strings of an optional list. Other values are omitted."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return []
    return list(filter(None, (clean_text(text) for text in value if isinstance(text, str))))


def _short_text(value: object) -> str | None:
    return (clean_text(value[:1000]) or None) if isinstance(value, str) else None


def _given_id(value: object) -> str | None:
    text = clean_text(value) if isinstance(value, str) and len(value) <= 200 else ""
    return text or None


def _count(value: Any) -> int | None:
    """Convert a value to an integer count. Return None if the value is invalid."""
    if isinstance(value, str):
        value = value.strip()
        value = float(value) if re.fullmatch(r"\d{1,12}(?:\.0*)?", value) else None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    usable = is_number and 0 <= value <= _MAX_COUNT and value == int(value)
    return int(value) if usable else None


def kind_of(value: object) -> str:
    """Describe the type of a JSON value for messages."""
    kinds = {bool: "true or false", dict: "an object", list: "a list", tuple: "a list"}
    kinds |= {str: "a text", type(None): "null"}
    number = "a number" if isinstance(value, (int, float)) else type(value).__name__
    return kinds.get(type(value), number)


def first(value: object) -> Any:
    """Return the first item of a list, such as the titles in ADS. Other values are unchanged."""
    if isinstance(value, (list, tuple)):
        return value[0] if value else None
    return value


def texts_of(value: object, *, separator: str = r"[;,]") -> Any:
    """Convert a text with separators to a list. A list is returned unchanged."""
    value = list_in_text(value)
    if not isinstance(value, str):
        return value
    return [piece.strip() for piece in re.split(separator, value) if piece.strip()]


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
    r"[\W\d_]*|latex\b.*|\d+\s+(?:pages?|pp\.?|figures?|figs?\.?|tables?)\b.*"
    r"|\d+\s+(?:additional|more|other)\s+authors\b.*",
    re.IGNORECASE,
)
_COLLABORATION = re.compile(
    r"(?:(?:for|on\sbehalf\sof)\s)?(?:the\s)?([^\W\d].{0,200}\s(?:collaboration|consortium|team)s?)",
    re.IGNORECASE,
)


def read_author_list(value: object) -> Any:
    """Convert a list or a line of author names to a list of names.

    Text in parentheses and entries without a name are omitted. The name of a collaboration in
    parentheses is added at the end. Values of other types are returned unchanged.
    """
    value = list_in_text(value)
    if isinstance(value, str):
        text, inside = _without_parentheses(value, piece_end=_LINE_PIECE_END)
        pieces = [piece for part in text.split(_SEPARATOR) for piece in _split_line(part)]
    elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        text, inside = _without_parentheses(_SEPARATOR.join(value), piece_end=_LIST_PIECE_END)
        pieces = text.split(_SEPARATOR)
    else:
        return value
    names = [name for piece in pieces if (name := _name_in(piece))]
    known = {name.casefold() for name in names}
    groups = _collaborations(inside)
    return names + [group for group in groups if group.casefold() not in known]


def _split_line(line: str) -> list[str]:
    """Split a line of author names into names."""
    if ";" in line:
        return line.split(";")
    pieces = re.split(r"(?<!\s)\s++(?:and|&)\s++", line)
    if len(pieces) == 1 or "," in pieces[0]:
        return [name for piece in pieces for name in _by_commas(piece)]
    return pieces


def _name_in(piece: str) -> str:
    """Return the name in an entry of an author list, or an empty string if it has no name."""
    name = " ".join(piece.split())
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
    """Split a text at commas between full names, but not within names such as ``Penzias, A.``."""
    parts = [part.strip() for part in piece.split(",")]
    full_names = all(re.search(r"\S(?:\s++|\.)\S{2}", part) for part in parts if part)
    return parts if full_names else [piece]
