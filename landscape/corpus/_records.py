"""The columns of papers.parquet, and how a raw record becomes a row of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from landscape.corpus._cleaning import clean_abstract, clean_text, differs_only_in_space
from landscape.corpus._identifiers import (
    PaperDate,
    arxiv_id_of_bibcode,
    arxiv_month,
    bibcode_year,
    is_eprint_doi,
    paper_id,
    parse_arxiv_id,
    parse_bibcode,
    parse_date,
    parse_doi,
)

if TYPE_CHECKING:
    import pyarrow as pa

LIST_COLUMNS = (
    "ads_keywords", "authors", "aff", "cite_bibcodes", "ref_bibcodes", "source", "categories",
)  # fmt: skip
"""Columns with a list of texts in every row (empty where unknown)."""
COLUMNS = (
    "paper_id", "ads_id", "arxiv_id", "title", "abstract", "date", "date_precision", "year",
    "cites", "read_count", "bibcode", "doi", "keywords", "ads_keywords", "authors", "aff",
    "cite_bibcodes", "ref_bibcodes", "source", "doctype", "journal", "categories",
    "title_original", "abstract_original", "generated",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record as its source has it, under the names of the contract, not yet cleaned."""

    line: int
    fields: Mapping[str, Any]
    vector: Sequence[float] | np.ndarray[Any, Any] | None = None
    position: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that cannot become a paper, and why: one line of ``rejected.jsonl``."""

    file: str
    line: int
    reason: str
    snippet: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the record that is written to ``rejected.jsonl``."""
        return {
            "file": self.file,
            "line": self.line,
            "reason": self.reason,
            "snippet": self.snippet[:200],
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """Some records of one file, cleaned."""

    papers: pa.Table
    rejected: list[Rejection]
    n_read: int
    n_bytes: int
    vectors: np.ndarray[Any, Any] | None = None
    positions: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True, slots=True)
class PartReport:
    """What became of one input file."""

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


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of all inputs; ``read = kept + merged + rejected``."""

    parts: list[PartReport]
    read: int
    kept: int
    merged: int
    rejected: int
    embeddings: dict[str, Path | None]
    coordinates: dict[str, Path | None]


@cache
def papers_schema() -> pa.Schema:
    """Return the columns of ``papers.parquet``, in order."""
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


# Characters. The longest real abstracts have some ten thousand.
_LONGEST = {"title": 5_000, "abstract": 100_000}
_LARGEST_COUNT = 2**31 - 1
_CATEGORY = re.compile(r"[A-Za-z][\w.:-]{1,60}")

Row = dict[str, Any]


class UnusableError(ValueError):
    """Why a record cannot become a paper, in a few words."""


def normalise(raw: RawRecord, *, file: str, source: str) -> Row | Rejection:
    """Clean one record."""
    try:
        return _row(raw.fields, source)
    except UnusableError as error:
        return Rejection(file, raw.line, str(error), _snippet(raw.fields))


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Put rows into a table with the columns of ``papers.parquet``."""
    import pyarrow as pa

    schema = papers_schema()
    return pa.table(
        [pa.array([row[field.name] for row in rows], type=field.type) for field in schema],
        schema=schema,
    )


def vectors_of(raws: Sequence[RawRecord]) -> np.ndarray[Any, Any] | None:
    """Stack the ready-made embeddings of records, float32 (n, d), NaN for missing ones."""
    rows = [_vector(raw.vector) for raw in raws]
    dimension = next((len(row) for row in rows if row is not None), 0)
    if not dimension:
        return None
    stacked = np.full((len(rows), dimension), np.nan, dtype=np.float32)
    for number, row in enumerate(rows):
        if row is not None and len(row) == dimension:
            stacked[number] = row
    return stacked


def positions_of(raws: Sequence[RawRecord]) -> np.ndarray[Any, Any] | None:
    """Stack the ready-made coordinates of records, float32 (n, 2), NaN for missing ones."""
    if all(raw.position is None for raw in raws):
        return None
    none = (np.nan, np.nan)
    stacked = np.array([raw.position or none for raw in raws], dtype=np.float32)
    stacked[~np.isfinite(stacked).all(axis=1)] = np.nan
    return stacked


def _vector(value: Any) -> np.ndarray[Any, Any] | None:
    if value is None:
        return None
    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    usable = vector.ndim == 1 and vector.size > 1 and bool(np.isfinite(vector).all())
    return vector if usable else None


def _row(fields: Mapping[str, Any], source: str) -> Row:
    title, title_original = _cleaned(
        fields, "title", clean_text, "a title of {:,} characters is too long"
    )
    abstract, abstract_original = _cleaned(
        fields, "abstract", clean_abstract, "an abstract of {:,} characters is a whole document"
    )
    authors = _texts(fields.get("authors"), "authors", clean_text)
    bibcode = parse_bibcode(fields.get("bibcode"))
    arxiv_id = parse_arxiv_id(fields.get("arxiv_id")) or (bibcode and arxiv_id_of_bibcode(bibcode))
    doi = parse_doi(fields.get("doi"))
    if doi and is_eprint_doi(doi):
        arxiv_id = arxiv_id or parse_arxiv_id(doi)
    date = _date(fields.get("dates"), arxiv_id, bibcode)
    row: Row = {
        "paper_id": paper_id(
            bibcode=bibcode,
            arxiv_id=arxiv_id,
            doi=doi,
            given=_given_id(fields.get("given_id")),
            content=f"{title}\n{abstract}",
        ),
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
        "source": _texts(fields.get("source"), "source", str.strip) or [source],
        "doctype": _short_text(fields.get("doctype")),
        "journal": _short_text(fields.get("journal")),
        "categories": [c for c in _loose_texts(fields.get("categories")) if _CATEGORY.fullmatch(c)],
        "title_original": title_original,
        "abstract_original": abstract_original,
        "generated": fields.get("generated") in (True, "True", "true", 1),
    }
    for name in LIST_COLUMNS:
        if name not in row:
            row[name] = _loose_texts(fields.get(name))
    return row


def _cleaned(
    fields: Mapping[str, Any], name: str, clean: Callable[[str], str | None], too_long: str
) -> tuple[str, str | None]:
    """Return the cleaned title or abstract, and the original where cleaning changed it."""
    given = fields.get(name)
    if given is None:
        raise UnusableError(f"no {name}")
    if not isinstance(given, str):
        raise UnusableError(f"the {name} is {_kind(given)}, not text")
    if len(given) > _LONGEST[name]:
        raise UnusableError(too_long.format(len(given)))
    text = clean(given)
    if text is None or not any(character.isalnum() for character in text):
        raise UnusableError(f"no {name}")
    return text, _original(given, text, fields.get(f"{name}_original"))


def _original(given: str, cleaned: str, kept: Any) -> str | None:
    """Text before cleaning where that was more than white space; an atlas read again keeps its."""
    if isinstance(kept, str) and kept:
        return kept
    if differs_only_in_space(given, cleaned):
        return None
    return given.encode("utf-8", "replace").decode("utf-8")


def _date(candidates: Any, arxiv_id: str | None, bibcode: str | None) -> PaperDate | None:
    """First date given; else the month in the arXiv id; else the year in the bibcode."""
    known = arxiv_month(arxiv_id) if arxiv_id else None
    if candidates:
        try:
            date = parse_date(candidates[0])
        except ValueError as error:
            raise UnusableError(str(error)) from None
        # A bare year says less than the id of the e-print of that year.
        return known if known and date.covers(known) else date
    if known:
        return known
    return bibcode_year(bibcode) if bibcode else None


def _texts(value: Any, name: str, clean: Callable[[str], str]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise UnusableError(f"{name}: {_kind(value)} instead of a list of texts")
    cleaned = []
    for text in value:
        if text is None:
            continue
        if not isinstance(text, str):
            raise UnusableError(f"{name}: {_kind(text)} instead of a text")
        if tidy := clean(text):
            cleaned.append(tidy)
    return cleaned


def _loose_texts(value: Any) -> list[str]:
    """Texts of an optional list; other values are omitted and do not reject the paper."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return []
    texts = (clean_text(text) for text in value if isinstance(text, str))
    return [text for text in texts if text]


def _short_text(value: Any) -> str | None:
    return (clean_text(value[:1000]) or None) if isinstance(value, str) else None


def _given_id(value: Any) -> str | None:
    text = clean_text(value) if isinstance(value, str) and len(value) <= 200 else ""
    return text or None


def _count(value: Any) -> int | None:
    """A count, or None for an invalid one, which does not reject the paper."""
    if isinstance(value, str):
        value = value.strip()
        value = float(value) if re.fullmatch(r"\d{1,12}(?:\.0*)?", value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= _LARGEST_COUNT or value != int(value):
        return None
    return int(value)


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", dict: "an object", list: "a list", tuple: "a list"}
    number = "a number" if isinstance(value, (int, float)) else type(value).__name__
    return kinds.get(type(value), number)


def _snippet(fields: Mapping[str, Any]) -> str:
    shown = [fields.get(name) for name in ("bibcode", "arxiv_id", "doi", "given_id", "title")]
    text = " | ".join(str(value) for value in shown if value)
    return text[:200].encode("utf-8", "replace").decode("utf-8")


def first(value: Any) -> Any:
    """Return the first of a list (ADS gives titles and DOIs as lists), else the value itself."""
    if isinstance(value, (list, tuple)):
        return value[0] if value else None
    return value


def texts_of(value: Any, *, separator: str = r"[;,]") -> Any:
    """Read a list of texts from a list or from one text with separators."""
    value = list_in_text(value)
    if not isinstance(value, str):
        return value
    return [piece.strip() for piece in re.split(separator, value) if piece.strip()]


def list_in_text(value: Any) -> Any:
    """Read back a list that a table holds as text, as pandas writes it to CSV."""
    if not (isinstance(value, str) and value.startswith("[") and value.endswith("]")):
        return value
    if len(value) > 1_000_000:
        return value
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        try:
            found = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return found if isinstance(found, list) else value
