"""Columns of papers.parquet, and conversion of raw records to its rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.corpus.cleaning import clean_abstract, clean_text
from landscape.corpus.identifiers import (
    KNOWN_CHARACTERS,
    PaperDate,
    arxiv_id_of_bibcode,
    arxiv_month,
    bibcode_year,
    content_id,
    find_date,
    is_eprint_doi,
    parse_arxiv_id,
    parse_bibcode,
    parse_date,
    parse_doi,
)
from landscape.corpus.status import KINDS, document_kind, find_status, is_notice_only

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
    "bibgroup",
    "data",
    "property",
    "facility",
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
    "kind",
    "status",
    "status_reason",
    "journal",
    "categories",
    "title_original",
    "abstract_original",
    "generated",
    "bibgroup",
    "data",
    "property",
    "facility",
)


@dataclass(frozen=True, slots=True)
class RawRecord:
    """Record of a source before cleaning. The fields have the names used in this package."""

    line: int
    fields: Mapping[str, object]
    vector: Sequence[float] | np.ndarray | None = None
    position: tuple[float, float] | None = None
    repairs: tuple[str, ...] = ()  # what the reader repaired or assumed


#: Key of a line that lists a withdrawn record, and the reason of its rejection.
WITHDRAWN = "withdrawn by its source"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Rejected record and the reason. It is written as a line of ``rejected.jsonl``."""

    file: str
    line: int
    reason: str
    snippet: str = ""  # at most 200 characters


class Repair(Rejection):
    """Record that is kept although a field was repaired or left out, and what was done.

    It is written as a line of ``repaired.jsonl``.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Cleaned records of one file."""

    papers: pa.Table
    rejected: list[Rejection]
    n_read: int
    n_bytes: int
    vectors: np.ndarray | None = None
    positions: np.ndarray | None = None
    repaired: list[Repair] = field(default_factory=list)
    origins: list[tuple[int, str | None]] = field(default_factory=list)  # line and own key, by row


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
    repaired: int
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


def normalise(
    raw: RawRecord,
    *,
    file: str,
    source: str,
    repaired: list[Repair] | None = None,
    needs_text: bool = True,
) -> Row | Rejection:
    """Convert a raw record to a row of ``papers.parquet``, or to a rejection.

    What was repaired or left out is appended to `repaired`. An entry of a library needs no
    abstract, and no title if it has an identifier.
    """
    repairs = [*raw.repairs]
    shown = map(raw.fields.get, ("bibcode", "arxiv_id", "doi", "given_id", "title"))
    text = " | ".join(str(value) for value in shown if value)[:200]
    snippet = text.encode("utf-8", "replace").decode("utf-8")
    try:
        row = _row(raw.fields, source, repairs, needs_text=needs_text)
    except UnusableError as error:
        return Rejection(file, raw.line, str(error), snippet)
    if repaired is not None:
        repaired.extend(Repair(file, raw.line, repair[:400], snippet) for repair in repairs)
    return row


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


def _row(
    fields: Mapping[str, Any], source: str, repairs: list[str], *, needs_text: bool = True
) -> Row:
    title, title_original = _cleaned(fields, "title", clean_text, is_needed=needs_text)
    abstract, abstract_original = _cleaned(fields, "abstract", clean_abstract, is_needed=needs_text)
    authors = _texts(fields.get("authors"), "authors", clean_text, repairs)
    bibcode = parse_bibcode(fields.get("bibcode"))
    arxiv_id = parse_arxiv_id(fields.get("arxiv_id")) or (bibcode and arxiv_id_of_bibcode(bibcode))
    doi = parse_doi(fields.get("doi"))
    if doi and is_eprint_doi(doi):
        arxiv_id = arxiv_id or parse_arxiv_id(doi)
    date = _date(fields.get("dates") or (), arxiv_id, bibcode, repairs)
    notes, journal = fields.get("notes") or [], _short_text(fields.get("journal"))
    doctype = _short_text(fields.get("doctype"))
    status, reason = find_status(
        title, abstract, [*notes, journal or "", doctype or ""], fields.get("retracted") or ()
    )
    if not (title or bibcode or arxiv_id or doi):
        raise UnusableError("no title and no identifier")
    if needs_text and status and is_notice_only(abstract):
        raise UnusableError(f"{status}, without an abstract")
    given = _given_id(fields.get("given_id"))
    kind = fields.get("kind")
    if kind not in KINDS:
        place, is_paper = f"{bibcode or ''} {journal or ''}", bool(arxiv_id or journal)
        kind = document_kind(doctype, title, notes, place=place, is_paper=is_paper)
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
        "source": _texts(fields.get("source"), "source", clean_text, repairs) or [source],
        "doctype": doctype,
        "kind": kind,
        "status": status,
        "status_reason": reason,
        "journal": journal,
        "categories": [c for c in row["categories"] if _CATEGORY.fullmatch(c)],
        "title_original": title_original,
        "abstract_original": abstract_original,
        "generated": fields.get("generated") in (True, "True", "true", 1),
    }
    return row


def _cleaned(
    fields: Mapping[str, object],
    name: str,
    clean: Callable[[str], str | None],
    *,
    is_needed: bool = True,
) -> tuple[str, str | None]:
    """Return the cleaned title or abstract, and the original text if cleaning has changed it."""
    given = fields.get(name)
    if not is_needed and (not isinstance(given, str) or not any(map(str.isalnum, given))):
        return "", None
    if given is None:
        raise UnusableError(f"no {name}")
    if not isinstance(given, str):
        raise UnusableError(f"the {name} is {kind_of(given)}, not text")
    if len(given) > _MAX_LENGTH[name]:
        raise UnusableError(f"the {name} is too long ({len(given):,} characters)")
    kept = fields.get(f"{name}_original")
    is_clean = isinstance(kept, str) and bool(kept)  # the record is from an atlas
    text = given if is_clean else clean(given)
    if text is None or not any(character.isalnum() for character in text):
        if not is_needed:
            return "", None
        raise UnusableError(f"no {name}")
    if isinstance(kept, str) and kept:
        return text, kept
    if text in (given, " ".join(given.split())):
        return text, None
    return text, given.encode("utf-8", "replace").decode("utf-8")


def _date(
    candidates: Sequence[Any], arxiv_id: str | None, bibcode: str | None, repairs: list[str]
) -> PaperDate | None:
    """Return the date of the record. If it is missing, use the arXiv id, then the bibcode."""
    known = arxiv_month(arxiv_id) if arxiv_id else None
    for given in candidates:
        try:
            date = parse_date(given)
        except ValueError as error:
            found = find_date(given) if isinstance(given, str) else None
            if found is None:
                repairs.append(f"{error}; it is left out")
                continue
            read = str(found.date)[: KNOWN_CHARACTERS[found.precision]]
            repairs.append(f"the date {given[:40]!r} is read as {read}")
            date = found
        # If the record contains only the year, and the arXiv id has the same year, use its month.
        return known if known and date.covers(known) else date
    if known:
        return known
    return bibcode_year(bibcode) if bibcode else None


def _parsed(given: object) -> PaperDate | None:
    try:
        return parse_date(given)
    except ValueError:
        return None


def _texts(value: object, name: str, clean: Callable[[str], str], repairs: list[str]) -> list[str]:
    value = [value] if isinstance(value, str) or value is None else value
    if not isinstance(value, (list, tuple)):
        repairs.append(f"{name}: {kind_of(value)} instead of a list of texts; left out")
        return []
    texts = []
    for text in value:
        if isinstance(text, str):
            texts.append(text)
        elif text is not None:
            repairs.append(f"{name}: {kind_of(text)} instead of a text; left out")
    return list(filter(None, map(clean, texts)))


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
        value = re.sub(r"(?<=\d)[,.](?=\d{3}(?!\d))", "", value.strip())
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
