"""Documents of the ADS search service: complete replies, or one document a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from landscape.corpus._cleaning import without_parentheses
from landscape.corpus._identifiers import (
    PaperDate,
    arxiv_month,
    parse_arxiv_id,
    parse_bibcode,
    parse_date,
    parse_doi,
)
from landscape.corpus._records import RawRecord, Rejection, first, texts_of
from landscape.corpus.readers._author_lists import read_author_list
from landscape.corpus.readers._files import checked, first_objects, is_ads_reply, raw_records

_ADS_KEYS = {
    "author",
    "pub",
    "bibstem",
    "pubdate",
    "identifier",
    "doctype",
    "arxiv_class",
    "citation_count",
    "property",
}


class AdsReader:
    """Reads what the ADS API answers: ``{"response": {"docs": [...]}}``, or a document a line."""

    name = "ads"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002  # the protocol's
        """Say whether the records have the keys of ADS."""
        return is_ads_reply(head) or any(_is_ads(found) for found in first_objects(head))

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Stream the documents."""
        return checked(path, raw_records(path, _fields, on_bytes=on_bytes))


def _is_ads(record: dict[str, Any]) -> bool:
    if isinstance(record.get("title"), list) and not {"embed", "embedding"} & record.keys():
        return True
    return "bibcode" in record and bool(_ADS_KEYS & record.keys()) and "authors" not in record


def _fields(document: dict[str, Any]) -> dict[str, Any]:
    affiliations = document.get("aff")
    return {
        "bibcode": document.get("bibcode"),
        "arxiv_id": _arxiv_id(document),
        "doi": first(document.get("doi")),
        "title": first(document.get("title")),
        "abstract": document.get("abstract"),
        "authors": document.get("author"),
        "aff": [] if affiliations is None else affiliations,
        "dates": [d for d in (document.get("pubdate"), document.get("date")) if d]
        or [y for y in [document.get("year")] if y],
        "cites": _citations(document),
        "read_count": document.get("read_count"),
        "ads_keywords": document.get("keyword"),
        "cite_bibcodes": document.get("citation"),
        "ref_bibcodes": document.get("reference"),
        "categories": document.get("arxiv_class"),
        "doctype": document.get("doctype"),
        "journal": first(document.get("pub")),
    }


def _arxiv_id(document: dict[str, Any]) -> str | None:
    """The e-print hides among the other names of the paper."""
    others = document.get("identifier")
    candidates = [*(others if isinstance(others, list) else [others]), document.get("eid")]
    for candidate in candidates:
        # A bare "2101.01542" could be anything; ADS writes the prefix.
        if isinstance(candidate, str) and candidate.lower().startswith(("arxiv:", "10.48550/")):
            found = parse_arxiv_id(candidate)
            if found:
                return found
    for candidate in candidates:
        if isinstance(candidate, str) and "/" in candidate and not parse_bibcode(candidate):
            found = parse_arxiv_id(candidate)
            if found:
                return found
    return None


def _citations(document: dict[str, Any]) -> Any:
    counts = document.get("[citations]")
    nested = counts.get("num_citations") if isinstance(counts, dict) else None
    for value in (document.get("citation_count"), document.get("num_citations"), nested):
        if value is not None:
            return value
    return None


_SNAPSHOT_KEYS = {"versions", "authors_parsed", "update_date", "submitter", "journal-ref"}


class ArxivReader:
    """Reads the arXiv metadata snapshot, one JSON object a line, plain or ``.gz``."""

    name = "arxiv"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002  # the protocol's
        """Say whether the records have arXiv's keys."""
        return any(_is_arxiv(found) for found in first_objects(head))

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Stream the records of a snapshot."""
        return checked(path, raw_records(path, _fields_arxiv, on_bytes=on_bytes))


def _is_arxiv(record: dict[str, Any]) -> bool:
    if "title" not in record:
        return False
    if "id" in record and _SNAPSHOT_KEYS & record.keys():
        return True
    flat = {"arxiv_id", "categories"} <= record.keys()
    return flat and not {"paper_id", "source", "generated", "embed", "embedding"} & record.keys()


def _fields_arxiv(record: dict[str, Any]) -> dict[str, Any]:
    arxiv_id = record.get("arxiv_id", record.get("id"))
    return {
        "arxiv_id": arxiv_id,
        "title": record.get("title"),
        "abstract": record.get("abstract"),
        "authors": _authors(record),
        "dates": _dates(record, arxiv_id),
        "doi": record.get("doi"),
        "bibcode": record.get("bibcode"),
        "journal": record.get("journal-ref") or record.get("journal"),
        "categories": texts_of(record.get("categories"), separator=r"[\s,;]+"),
        "cites": record.get("citation_count", record.get("cites", record.get("s2_citations"))),
        "ads_keywords": texts_of(record.get("keywords")),
        "doctype": record.get("doctype"),
    }


def _authors(record: dict[str, Any]) -> Any:
    parsed = record.get("authors_parsed")
    if isinstance(parsed, list) and parsed:
        # Family name, given names, suffix; whatever follows is an affiliation.
        return read_author_list(
            [_name(entry) for entry in parsed if isinstance(entry, list) and entry]
        )
    authors = record.get("authors")
    if isinstance(authors, list) and all(isinstance(name, str) for name in authors):
        authors = _mended(authors)
    return read_author_list(authors)


def _mended(names: list[str]) -> list[str]:
    """Names of a line that was split at every comma, also at those within affiliations."""
    if all(name.count("(") == name.count(")") for name in names) or any("," in n for n in names):
        return names
    line = without_parentheses(",".join(names))
    whole = (name.split("(")[0].strip(" )") for name in line.split(","))
    return [name for name in whole if name]


def _name(entry: list[Any]) -> str:
    family, given, suffix = ([part for part in entry if isinstance(part, str)] + ["", "", ""])[:3]
    return ", ".join(part for part in (family, given, suffix) if part)


def _dates(record: dict[str, Any], arxiv_id: Any) -> list[Any]:
    known = parse_arxiv_id(arxiv_id)
    month = arxiv_month(known) if known else None
    born = record.get("date") or _created(record.get("versions"))
    if born:
        return [f"{month.date:%Y-%m}" if month and _is_far(born, month) else born]
    updated = record.get("update_date")
    if updated and month:
        # The last change can be decades after the paper; its id holds the month of birth.
        try:
            return [updated] if month.covers(parse_date(updated)) else []
        except ValueError:
            return []
    return [updated] if updated else []


def _created(versions: Any) -> Any:
    """Return when the first version was sent in."""
    if isinstance(versions, list) and versions and isinstance(versions[0], dict):
        return versions[0].get("created")
    return None


def _is_far(given: Any, month: PaperDate) -> bool:
    """Whether a date is more than a year off the month of the arXiv id."""
    try:
        date = parse_date(given)
    except ValueError:
        return False  # said of the record where its dates are read
    years = date.date.year - month.date.year
    if date.precision == "year":
        return abs(years) > 1
    return abs(12 * years + date.date.month - month.date.month) > 12


class ScilitReader:
    """Reads SciLit's unified schema: one paper an object, its text as sections and sentences."""

    name = "scilit"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002  # the protocol's
        """Say whether the records have SciLit's keys, in its spelling."""
        if any(
            "Title" in found and {"Content", "Author", "Reference"} & found.keys()
            for found in first_objects(head)
        ):
            return True
        # A record with its full text can be larger than what we look at.
        return head.lstrip()[:1] in (b"{", b"[") and b'"Abstract_Parsed"' in head

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Stream the papers."""
        return checked(path, raw_records(path, _fields_scilit, on_bytes=on_bytes))


def _fields_scilit(record: dict[str, Any]) -> dict[str, Any]:
    content = record.get("Content")
    content = content if isinstance(content, dict) else {}
    identifiers = [
        value
        for key, value in record.items()
        if key.lower() in ("arxivid", "arxiv_id", "arxiv", "id", "id_type", "doi", "bibcode")
    ]
    return {
        "title": record.get("Title"),
        "abstract": _abstract(content) or record.get("Abstract"),
        "authors": _authors_scilit(record.get("Author")),
        "dates": _dates_scilit(record.get("PublicationDate")),
        "doi": record.get("DOI"),
        "arxiv_id": next(filter(None, map(parse_arxiv_id, identifiers)), None),
        "bibcode": next(filter(None, map(parse_bibcode, identifiers)), None),
        "given_id": record.get("id"),
        "journal": record.get("Venue"),
        "ref_bibcodes": _references(record.get("Reference")),
    }


def _abstract(content: dict[str, Any]) -> Any:
    parsed = content.get("Abstract_Parsed")
    sentences = list(_sentences(parsed)) if isinstance(parsed, list) else []
    return " ".join(sentences) or content.get("Abstract")


def _sentences(sections: list[Any]) -> Iterator[str]:
    """Walk sections, paragraphs and sentences; a level may be missing or be plain text."""
    for section in sections:
        if isinstance(section, str):
            yield section
        elif isinstance(section, dict):
            for key in ("section_text", "paragraph_text", "sentence_text"):
                below = section.get(key)
                if isinstance(below, str):
                    yield below
                elif isinstance(below, list):
                    yield from _sentences(below)


def _authors_scilit(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    names = []
    for author in value:
        if isinstance(author, dict):
            parts = [author.get("FamilyName"), author.get("GivenName")]
            names.append(", ".join(part for part in parts if isinstance(part, str) and part))
        else:
            names.append(author)
    return [name for name in names if name]


def _dates_scilit(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return [value] if value else []
    numbers = []
    for key in ("Year", "Month", "Day"):
        try:
            numbers.append(int(value.get(key) or 0))
        except (TypeError, ValueError):
            numbers.append(0)
    year, month, day = numbers
    if not year:
        return [value["Year"]] if value.get("Year") else []
    return [f"{year:04d}-{max(month, 0):02d}-{max(day, 0):02d}"]


def _references(value: Any) -> list[str]:
    """Known names of the papers cited; a reference without one cannot be looked up again."""
    found = []
    for reference in value if isinstance(value, list) else []:
        texts = [text for text in _values(reference) if len(text) < 200]
        bibcode = next(filter(None, map(parse_bibcode, texts)), None)
        arxiv_id = next(filter(None, map(parse_arxiv_id, texts)), None)
        doi = next(filter(None, map(parse_doi, texts)), None)
        name = bibcode or (arxiv_id and f"arXiv:{arxiv_id}") or (doi and f"doi:{doi}")
        if name:
            found.append(name)
    return found


def _values(reference: Any) -> list[str]:
    if isinstance(reference, str):
        return [reference]
    if isinstance(reference, dict):
        return [value for value in reference.values() if isinstance(value, str)]
    return []
