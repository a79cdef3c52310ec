"""Names under which tables hold what we need, and the reading of one row by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from landscape.corpus.identifiers import parse_arxiv_id, parse_bibcode, parse_doi
from landscape.corpus.readers.fields import first, names_of, texts_of

# Names in lower case, the one of the contract first.
ALIASES: dict[str, tuple[str, ...]] = {
    "title": ("title", "paper_title", "article_title", "article title", "document title"),
    "abstract": ("abstract", "summary", "abstract_text", "text", "description"),
    "arxiv_id": ("arxiv_id", "arxiv", "arxivid", "eprint", "arxiv id"),
    "doi": ("doi", "dois"),
    "bibcode": ("bibcode", "ads_id", "ads_bibcode"),
    "given_id": ("paper_id", "id", "doc_id", "key", "identifier"),
    "authors": ("authors", "author", "author_names", "author full names"),
    "aff": ("aff", "affiliations", "affiliation"),
    "cites": ("cites", "citation_count", "citations", "num_citations", "n_citations", "cited_by"),
    "read_count": ("read_count", "reads"),
    "ads_keywords": ("ads_keywords", "keywords", "keyword", "author_keywords", "author keywords"),
    "cite_bibcodes": ("cite_bibcodes", "citation"),
    "ref_bibcodes": ("ref_bibcodes", "reference", "references"),
    "categories": ("categories", "arxiv_class", "category", "subjects"),
    "doctype": ("doctype", "document type"),
    "journal": ("journal", "pub", "venue", "journal_ref", "journal-ref", "publication"),
    "source": ("source",),
    "generated": ("generated",),
    "title_original": ("title_original",),
    "abstract_original": ("abstract_original",),
}
DATES = ("date", "pubdate", "published", "publication_date", "date_created", "created")
YEARS = ("year", "publication year", "publication_year")
VECTORS = ("embed", "embedding", "embeddings", "vector")
POSITIONS = ("umap_x", "umap_y")


def fields_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Read one row of a table, whatever its columns are called.

    Examples
    --------
    >>> fields_of({"ID": "2101.01542", "Title": "T", "Summary": "S", "Year": 2021})["dates"]
    [2021]
    """
    row = {
        name.strip().lower(): value
        for name, value in record.items()
        if isinstance(name, str) and value is not None and value != ""
    }
    fields = {
        name: next((row[alias] for alias in aliases if alias in row), None)
        for name, aliases in ALIASES.items()
    }
    # Extracted keywords of an atlas or of pathfinder are not the authors' own.
    if "ads_keywords" not in row and ("paper_id" in row or "embed" in row):
        fields["ads_keywords"] = None
    fields["title"] = first(fields["title"])
    fields["doi"] = first(fields["doi"])
    fields["authors"] = names_of(fields["authors"])
    fields["aff"] = texts_of(fields["aff"], separator=";")
    fields["ads_keywords"] = texts_of(fields["ads_keywords"])
    fields["categories"] = texts_of(fields["categories"], separator=r"[\s,;]+")
    for name in ("cite_bibcodes", "ref_bibcodes"):
        fields[name] = texts_of(fields[name], separator=r"[\s,;]+")
    fields["dates"] = _dates(row)
    _sort_out_id(fields)
    return fields


def has_titles(names: Mapping[str, Any] | tuple[str, ...] | list[str]) -> bool:
    """Whether there is a column of titles among these names."""
    lowered = {name.strip().lower() for name in names}
    return any(alias in lowered for alias in ALIASES["title"])


def _dates(row: Mapping[str, Any]) -> list[Any]:
    dates = [row[name] for name in DATES if name in row] or [row[n] for n in YEARS if n in row]
    # An atlas holds unknown months and days as 1, and says so beside.
    precision = row.get("date_precision")
    if dates and precision in ("year", "month"):
        return [str(dates[0])[: 4 if precision == "year" else 7]]
    return dates


def _sort_out_id(fields: dict[str, Any]) -> None:
    """An ``id`` that is plainly an arXiv id, a bibcode or a DOI takes that place."""
    given = fields["given_id"]
    if isinstance(given, int) and not isinstance(given, bool):
        fields["given_id"] = given = str(given)
    for name, parse in (
        ("bibcode", parse_bibcode),
        ("arxiv_id", parse_arxiv_id),
        ("doi", parse_doi),
    ):
        if parse(given) is not None:
            fields[name] = fields[name] or given
            fields["given_id"] = None
            return
