"""Documents of the ADS search service: complete replies, or one document a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from landscape.corpus._identifiers import parse_arxiv_id, parse_bibcode
from landscape.corpus._records import RawRecord, Rejection, first
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
