"""The unified JSON schema of SciLit (Gu & Hahnloser 2023, arXiv:2306.03535)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from landscape.corpus._identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus._records import RawRecord, Rejection
from landscape.corpus.readers._files import checked, first_objects, raw_records


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
        return checked(path, raw_records(path, _fields, on_bytes=on_bytes))


def _fields(record: dict[str, Any]) -> dict[str, Any]:
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
        "authors": _authors(record.get("Author")),
        "dates": _dates(record.get("PublicationDate")),
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


def _authors(value: Any) -> Any:
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


def _dates(value: Any) -> list[Any]:
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
