"""From a raw record to a row of ``papers.parquet``: everything cleaned, or a reason why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.corpus.cleaning import clean_abstract, clean_text, same_but_for_space
from landscape.corpus.dates import PaperDate, parse_date
from landscape.corpus.identifiers import (
    arxiv_id_of_bibcode,
    arxiv_month,
    is_eprint_doi,
    paper_id,
    parse_arxiv_id,
    parse_bibcode,
    parse_doi,
)
from landscape.corpus.schema import LIST_COLUMNS, RawRecord, Rejection, papers_schema

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_TITLE = 5_000
LONGEST_ABSTRACT = 100_000
"""Characters. The longest real abstracts have some ten thousand; more is a whole document."""

_LARGEST_COUNT = 2**31 - 1
_CATEGORY = re.compile(r"[A-Za-z][\w.:-]{1,60}")

Row = dict[str, Any]


class UnusableError(ValueError):
    """Why a record cannot become a paper, in a few words."""


def normalise(raw: RawRecord, *, file: str, source: str) -> Row | Rejection:
    """Clean one record.

    Parameters
    ----------
    raw : RawRecord
        As a reader gave it.
    file : str
        Name of the file, for the rejection.
    source : str
        What the column ``source`` says where the record does not say it itself.

    Returns
    -------
    dict or Rejection
        A row with every column of :data:`landscape.corpus.schema.PAPERS_SCHEMA`, or the reason
        why the record cannot be used: no title, no abstract, wrong types, an absurd date.

    Examples
    --------
    >>> raw = RawRecord(1, {"title": "On  $z$", "abstract": "We", "arxiv_id": "2101.00001v2"})
    >>> row = normalise(raw, file="f", source="arxiv:f")
    >>> row["paper_id"], row["title"], row["date"].isoformat(), row["date_precision"]
    ('2101.00001', 'On z', '2021-01-01', 'month')
    >>> normalise(RawRecord(7, {"title": "T"}), file="f", source="s").reason
    'no abstract'
    """
    try:
        return _row(raw.fields, source)
    except UnusableError as error:
        return Rejection(file, raw.line, str(error), _snippet(raw.fields))


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Put rows into a table with the columns of ``papers.parquet``.

    Parameters
    ----------
    rows : sequence of dict

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa

    schema = papers_schema()
    return pa.table(
        [pa.array([row[field.name] for row in rows], type=field.type) for field in schema],
        schema=schema,
    )


def vectors_of(raws: Sequence[RawRecord]) -> np.ndarray[Any, Any] | None:
    """Stack the ready-made embeddings of records, float32 (n, d), NaN where there is none.

    The first vector sets the dimension; one of another length, or with a value that is no
    finite number, counts as missing. None where no record has a vector.
    """
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
    """Stack the ready-made coordinates of records, float32 (n, 2), NaN where there are none."""
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
    title, title_original = _title(fields)
    abstract, abstract_original = _abstract(fields)
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


def _title(fields: Mapping[str, Any]) -> tuple[str, str | None]:
    given = fields.get("title")
    if given is None:
        raise UnusableError("no title")
    if not isinstance(given, str):
        raise UnusableError(f"the title is {_kind(given)}, not text")
    if len(given) > LONGEST_TITLE:
        raise UnusableError(f"a title of {len(given):,} characters is none")
    title = clean_text(given)
    if not any(character.isalnum() for character in title):
        raise UnusableError("no title")
    return title, _original(given, title, fields.get("title_original"))


def _abstract(fields: Mapping[str, Any]) -> tuple[str, str | None]:
    given = fields.get("abstract")
    if given is None:
        raise UnusableError("no abstract")
    if not isinstance(given, str):
        raise UnusableError(f"the abstract is {_kind(given)}, not text")
    if len(given) > LONGEST_ABSTRACT:
        raise UnusableError(f"an abstract of {len(given):,} characters is a whole document")
    abstract = clean_abstract(given)
    if abstract is None or not any(character.isalnum() for character in abstract):
        raise UnusableError("no abstract")
    return abstract, _original(given, abstract, fields.get("abstract_original"))


def _original(given: str, cleaned: str, kept: Any) -> str | None:
    """Text before cleaning where that was more than white space; an atlas read again keeps its."""
    if isinstance(kept, str) and kept:
        return kept
    if same_but_for_space(given, cleaned):
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
    return parse_date(bibcode[:4]) if bibcode else None


def _texts(value: Any, name: str, clean: Callable[[str], str]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise UnusableError(f"{name}: {_kind(value)} where a list of texts belongs")
    cleaned = []
    for text in value:
        if text is None:
            continue
        if not isinstance(text, str):
            raise UnusableError(f"{name}: {_kind(text)} where a text belongs")
        if tidy := clean(text):
            cleaned.append(tidy)
    return cleaned


def _loose_texts(value: Any) -> list[str]:
    """Texts of an optional list; what is none is left out, no paper is lost for its keywords."""
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
    """A count, or None: an odd number of citations is no reason to lose a paper."""
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
