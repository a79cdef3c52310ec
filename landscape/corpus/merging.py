"""One record out of several of the same paper, keeping the best of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from landscape.corpus.dates import PaperDate, earliest
from landscape.corpus.identifiers import content_id, is_eprint_bibcode, is_eprint_doi
from landscape.corpus.normalising import Row

_UNITED = ("ads_keywords", "categories", "source", "cite_bibcodes", "ref_bibcodes")


def merge_records(rows: Sequence[Row]) -> Row:
    """Merge records of one paper.

    The published version's bibcode, DOI, title and journal before the e-print's; the longest
    abstract; the earliest date (the more exact of two that agree); the largest counts; the
    longest author list with its affiliations; keywords, categories, references and the names of
    the sources united.

    Parameters
    ----------
    rows : sequence of dict
        At least one, in the order of the inputs.

    Returns
    -------
    dict

    Examples
    --------
    >>> from landscape.corpus.normalising import normalise
    >>> from landscape.corpus.schema import RawRecord
    >>> one = {"title": "T", "abstract": "Short", "arxiv_id": "2101.00001", "cites": 1}
    >>> two = {"title": "T", "abstract": "Longer text", "bibcode": "2021A&A...645L..11A"}
    >>> rows = [normalise(RawRecord(1, f), file="f", source=s) for f, s in ((one, "a"), (two, "b"))]
    >>> merged = merge_records(rows)
    >>> merged["paper_id"], merged["abstract"], merged["source"]
    ('2021A&A...645L..11A', 'Longer text', ['a', 'b'])
    """
    published = sorted(rows, key=lambda row: not _is_published(row))
    best = published[0]
    abstract = max(rows, key=lambda row: len(row["abstract"]))
    authors = max(published, key=lambda row: len(row["authors"]))
    merged = dict(best)
    merged["abstract"] = abstract["abstract"]
    merged["abstract_original"] = abstract["abstract_original"]
    merged["bibcode"] = _first((row["bibcode"] for row in published), demote=is_eprint_bibcode)
    merged["ads_id"] = merged["bibcode"]
    merged["arxiv_id"] = _first(row["arxiv_id"] for row in rows)
    merged["doi"] = _first((row["doi"] for row in published), demote=is_eprint_doi)
    merged["authors"] = authors["authors"]
    merged["aff"] = authors["aff"] or max((row["aff"] or [] for row in rows), key=len)
    merged["doctype"] = _first((row["doctype"] for row in published), demote="eprint".__eq__)
    merged["journal"] = _first((row["journal"] for row in published), demote=_is_eprint_journal)
    merged["generated"] = any(row["generated"] for row in rows)
    for name in ("cites", "read_count"):
        merged[name] = max((row[name] for row in rows if row[name] is not None), default=None)
    for name in _UNITED:
        merged[name] = _united(row[name] or [] for row in rows)
    _set_date(merged, rows)
    merged["paper_id"] = next(names_of(merged, given=(row["paper_id"] for row in rows)))
    return merged


def names_of(row: Row, *, given: Iterable[str] = ()) -> Iterator[str]:
    """Give the possible keys of a paper, the preferred first, without end.

    Parameters
    ----------
    row : dict
    given : iterable of str
        Keys that the records had before they were merged.

    Yields
    ------
    str
    """
    content = content_id(f"{row['title']}\n{row['abstract']}")
    given = [name for name in given if not name.startswith("sha256:")]
    yield from filter(None, (row["bibcode"], row["arxiv_id"], row["doi"], *given, content))
    number = 2
    while True:
        yield f"{content}-{number}"
        number += 1


def _is_published(row: Row) -> bool:
    if row["bibcode"]:
        return not is_eprint_bibcode(row["bibcode"])
    return False


def _is_eprint_journal(journal: str) -> bool:
    return "arxiv" in journal.lower()


def _first(values: Iterable[Any], *, demote: Any = None) -> Any:
    """First value there is; one that is demoted only where there is no other."""
    fallback = None
    for value in values:
        if value is None:
            continue
        if demote is None or not demote(value):
            return value
        fallback = fallback or value
    return fallback


def _united(lists: Iterable[Sequence[str]]) -> list[str]:
    """All texts once, in order; spellings that differ only in case are one."""
    found: dict[str, str] = {}
    for texts in lists:
        for text in texts:
            found.setdefault(text.casefold(), text)
    return list(found.values())


def _set_date(merged: Row, rows: Sequence[Row]) -> None:
    date = earliest(
        [PaperDate(row["date"], row["date_precision"]) for row in rows if row["date"] is not None]
    )
    if date is not None:
        merged["date"] = date.date
        merged["date_precision"] = date.precision
        merged["year"] = date.date.year
