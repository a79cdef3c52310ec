"""Readers of JSON files from ADS, arXiv and SciLit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landscape.corpus.cleaning import without_parentheses
from landscape.corpus.identifiers import (
    PaperDate,
    arxiv_month,
    parse_arxiv_id,
    parse_bibcode,
    parse_date,
    parse_doi,
)
from landscape.corpus.readers._files import checked, first_objects, is_ads_reply, raw_records
from landscape.corpus.records import (
    WITHDRAWN,
    RawRecord,
    Rejection,
    first,
    read_author_list,
    texts_of,
)

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


@dataclass
class JsonReader:
    """Reader of files with one JSON object per paper."""

    name: str
    is_known: Callable[[dict[str, object]], bool]
    fields: Callable[[dict[str, object]], dict[str, object]]
    is_known_head: Callable[[bytes], bool] = lambda _: False

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002 - part of the protocol
        """Return whether the file or one of its first objects has the keys of this service."""
        return self.is_known_head(head) or any(map(self.is_known, first_objects(head)))

    def read(
        self, path: Path, *, on_bytes: Callable[[int], None] | None = None
    ) -> Iterator[RawRecord | Rejection]:
        """Yield the papers of the file as records."""
        return checked(
            path,
            raw_records(
                path, lambda line, found: RawRecord(line, self.fields(found)), on_bytes=on_bytes
            ),
        )


def _is_ads(record: dict[str, object]) -> bool:
    if isinstance(record.get("title"), list) and not {"embed", "embedding"} & record.keys():
        return True
    return "bibcode" in record and bool(_ADS_KEYS & record.keys()) and "authors" not in record


def _fields_ads(document: dict[str, object]) -> dict[str, object]:
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


def _arxiv_id(document: dict[str, object]) -> str | None:
    """Return the arXiv id among the identifiers of the paper."""
    others = document.get("identifier")
    candidates = [*(others if isinstance(others, list) else [others]), document.get("eid")]
    texts = [candidate for candidate in candidates if isinstance(candidate, str)]
    # Numbers without the prefix "arXiv:" are ambiguous and therefore ignored.
    prefixed = [text for text in texts if text.lower().startswith(("arxiv:", "10.48550/"))]
    old_style = [text for text in texts if "/" in text and not parse_bibcode(text)]
    return next(filter(None, map(parse_arxiv_id, (*prefixed, *old_style))), None)


def _citations(document: dict[str, object]) -> Any:
    counts = document.get("[citations]")
    nested = counts.get("num_citations") if isinstance(counts, dict) else None
    given = (document.get("citation_count"), document.get("num_citations"), nested)
    return next((value for value in given if value is not None), None)


_SNAPSHOT_KEYS = {"versions", "authors_parsed", "update_date", "submitter", "journal-ref"}


def _is_arxiv(record: dict[str, object]) -> bool:
    if WITHDRAWN in record:
        return True
    if "title" not in record:
        return False
    if "id" in record and _SNAPSHOT_KEYS & record.keys():
        return True
    flat = {"arxiv_id", "categories"} <= record.keys()
    return flat and not {"paper_id", "source", "generated", "embed", "embedding"} & record.keys()


def _fields_arxiv(record: dict[str, object]) -> dict[str, object]:
    arxiv_id = record.get("arxiv_id", record.get("id"))
    return {
        "arxiv_id": arxiv_id,
        "title": record.get("title"),
        "abstract": record.get("abstract"),
        "authors": _authors_arxiv(record),
        "dates": _dates_arxiv(record, arxiv_id),
        "doi": record.get("doi"),
        "bibcode": record.get("bibcode"),
        "journal": record.get("journal-ref") or record.get("journal"),
        "categories": texts_of(record.get("categories"), separator=r"[\s,;]+"),
        "cites": record.get("citation_count", record.get("cites", record.get("s2_citations"))),
        "ads_keywords": texts_of(record.get("keywords")),
        "doctype": record.get("doctype"),
    }


def _authors_arxiv(record: dict[str, object]) -> Any:
    parsed = record.get("authors_parsed")
    if isinstance(parsed, list) and parsed:
        # Each entry is [family name, given names, suffix, affiliations...].
        return read_author_list(
            [_name(entry) for entry in parsed if isinstance(entry, list) and entry]
        )
    authors = record.get("authors")
    if isinstance(authors, list) and all(isinstance(name, str) for name in authors):
        authors = _rejoin_names(authors)
    return read_author_list(authors)


def _rejoin_names(names: list[str]) -> list[str]:
    """Restore author names that were split at commas inside affiliations."""
    if all(name.count("(") == name.count(")") for name in names) or any("," in n for n in names):
        return names
    line = without_parentheses(",".join(names))
    whole = (name.split("(")[0].strip(" )") for name in line.split(","))
    return [name for name in whole if name]


def _name(entry: list[object]) -> str:
    family, given, suffix = ([part for part in entry if isinstance(part, str)] + ["", "", ""])[:3]
    return ", ".join(part for part in (family, given, suffix) if part)


def _dates_arxiv(record: dict[str, object], arxiv_id: object) -> list[object]:
    known = parse_arxiv_id(arxiv_id)
    month = arxiv_month(known) if known else None
    versions = record.get("versions")
    submitted = record.get("date")
    if not submitted and isinstance(versions, list) and versions and isinstance(versions[0], dict):
        submitted = versions[0].get("created")
    if submitted:
        return [f"{month.date:%Y-%m}" if month and _is_far(submitted, month) else submitted]
    updated = record.get("update_date")
    if updated and month:
        # An update can be much later than the submission. The arXiv id contains the true month.
        try:
            return [updated] if month.covers(parse_date(updated)) else []
        except ValueError:
            return []
    return [updated] if updated else []


def _is_far(given: object, month: PaperDate) -> bool:
    """Return whether a date differs by more than a year from the month of the arXiv id."""
    try:
        date = parse_date(given)
    except ValueError:
        return False  # the error is reported when the date is parsed
    years = date.date.year - month.date.year
    if date.precision == "year":
        return abs(years) > 1
    return abs(12 * years + date.date.month - month.date.month) > 12


def _is_scilit(record: dict[str, object]) -> bool:
    return "Title" in record and bool({"Content", "Author", "Reference"} & record.keys())


def _has_scilit_text(head: bytes) -> bool:
    """Return whether the beginning of a file is from SciLit, even if no record is complete."""
    return head.lstrip()[:1] in (b"{", b"[") and b'"Abstract_Parsed"' in head


def _fields_scilit(record: dict[str, object]) -> dict[str, object]:
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


def _abstract(content: dict[str, object]) -> Any:
    parsed = content.get("Abstract_Parsed")
    sentences = list(_sentences(parsed)) if isinstance(parsed, list) else []
    return " ".join(sentences) or content.get("Abstract")


def _sentences(sections: list[object]) -> Iterator[str]:
    """Yield the sentences of nested sections. A level can be missing or consist of text."""
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


def _authors_scilit(value: object) -> Any:
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


def _dates_scilit(value: object) -> list[object]:
    if not isinstance(value, dict):
        return [value] if value else []
    numbers = []
    for key in ("Year", "Month", "Day"):
        try:
            numbers.append(max(int(value.get(key) or 0), 0))
        except (TypeError, ValueError):
            numbers.append(0)
    if not numbers[0]:
        return [value["Year"]] if value.get("Year") else []
    return ["{:04d}-{:02d}-{:02d}".format(*numbers)]


def _references(value: object) -> list[str]:
    """Return the identifiers of the cited papers. Papers without an identifier are omitted."""
    references = []
    for reference in value if isinstance(value, list) else []:
        values = reference.values() if isinstance(reference, dict) else [reference]
        texts = [text for text in values if isinstance(text, str) and len(text) < 200]
        bibcode = next(filter(None, map(parse_bibcode, texts)), None)
        arxiv_id = next(filter(None, map(parse_arxiv_id, texts)), None)
        doi = next(filter(None, map(parse_doi, texts)), None)
        name = bibcode or (arxiv_id and f"arXiv:{arxiv_id}") or (doi and f"doi:{doi}")
        if name:
            references.append(name)
    return references


SCILIT = JsonReader("scilit", _is_scilit, _fields_scilit, _has_scilit_text)
ADS = JsonReader("ads", _is_ads, _fields_ads, is_ads_reply)
ARXIV = JsonReader("arxiv", _is_arxiv, _fields_arxiv)
