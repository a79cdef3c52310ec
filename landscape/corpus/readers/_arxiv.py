"""arXiv metadata: the snapshot that arXiv publishes (JSON lines), and flat exports of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from landscape.corpus._cleaning import without_parentheses
from landscape.corpus._identifiers import PaperDate, arxiv_month, parse_arxiv_id, parse_date
from landscape.corpus._records import RawRecord, Rejection, texts_of
from landscape.corpus.readers._author_lists import read_author_list
from landscape.corpus.readers._files import checked, first_objects, raw_records

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
        return checked(path, raw_records(path, _fields, on_bytes=on_bytes))


def _is_arxiv(record: dict[str, Any]) -> bool:
    if "title" not in record:
        return False
    if "id" in record and _SNAPSHOT_KEYS & record.keys():
        return True
    flat = {"arxiv_id", "categories"} <= record.keys()
    return flat and not {"paper_id", "source", "generated", "embed", "embedding"} & record.keys()


def _fields(record: dict[str, Any]) -> dict[str, Any]:
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
