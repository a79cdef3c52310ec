"""Download the newest papers of a category from arXiv's search API.

OAI-PMH (`fetch_arxiv`) lists records by the date of their last change, so it cannot return the
newest papers first.

References
----------
.. [1] arXiv API User's Manual, https://info.arxiv.org/help/api/user-manual.html
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from landscape._author_names import parse_name
from landscape._http import (
    RUN_AGAIN,
    GarbledReplyError,
    HttpClient,
    Reply,
    RetryPolicy,
    ignore_note,
    refuse_web_page,
)
from landscape.corpus.fetch._arxiv import ARXIV_POLICY, read_xml
from landscape.corpus.fetch._download import Fetched, PagedFetch, ResumableFile
from landscape.errors import InputError, RemoteError

ARXIV_API = "https://export.arxiv.org/api/query"

# The API allows 2,000 papers per page, but its large pages are often empty. Smaller pages follow.
_PAGE_SIZES = (500, 250, 100, 25)
_CATEGORY = re.compile(r"[a-z][a-z-]{1,20}(?:\.[A-Za-z-]{2,20})?")
_VERSION = re.compile(r"v\d{1,3}$")
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"


def fetch_newest(
    out: str | Path,
    *,
    category: str = "astro-ph.GA",
    max_records: int = 4000,
    base_url: str = ARXIV_API,
    policy: RetryPolicy = ARXIV_POLICY,
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Download the newest papers of an arXiv category, the newest first.

    The file has the fields of the arXiv metadata snapshot, as with `fetch_arxiv`. One page of 500
    papers is requested every three seconds. To resume an interrupted download, repeat the same
    call.

    Parameters
    ----------
    out : str or Path
        File to write, for example ``papers.jsonl``. It is created when the download is complete.
    category : str, default "astro-ph.GA"
        Category of arXiv. Papers that are cross-listed in it are included.
    max_records : int, default 4000
        Number of papers.
    base_url : str
        Address of the API.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        If the category is invalid or has no papers, or the file cannot be written.
    RemoteError
        If arXiv cannot be reached or its responses cannot be read.

    Examples
    --------
    >>> fetch_newest("papers.jsonl", category="galaxies!")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: category must be like astro-ph.GA, got 'galaxies!'
    """
    if not _CATEGORY.fullmatch(category):
        raise InputError(f"category must be like astro-ph.GA, got {category!r}")
    return _download(out, {"category": category}, max_records, base_url, policy, notify)


def search_arxiv(
    out: str | Path,
    *,
    query: str,
    max_records: int = 40,
    base_url: str = ARXIV_API,
    policy: RetryPolicy = ARXIV_POLICY,
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Download the most relevant papers for a query in the syntax of arXiv's search API.

    The parameters, the file and the errors are those of `fetch_newest`.

    Examples
    --------
    >>> search_arxiv("papers.jsonl", query="all:dust AND all:quasar")  # doctest: +SKIP
    """
    return _download(out, {"query": query}, max_records, base_url, policy, notify)


def _download(
    out: str | Path,
    asked: dict[str, str],
    max_records: int,
    base_url: str,
    policy: RetryPolicy,
    notify: Callable[[str], None],
) -> Fetched:
    request = {"server": base_url, **asked}
    with (
        ResumableFile(Path(out), key="id", request=request) as papers,
        HttpClient("arXiv", base_url, policy=policy, notify=notify) as client,
    ):
        return _Newest(
            papers, client, request, start={"next": 0}, max_records=max_records, notify=notify
        ).run()


class _Newest(PagedFetch):
    """Download of the search results for a category or a query, page by page."""

    _size = 0  # index of the page size

    def _take_page(self) -> None:
        first, query = self._position["next"], self._request.get("query")
        left = max(0, (self._max_records or 0) - self._papers.n_records)
        while True:
            page = self._client.request(
                self._client.base_url,
                params={
                    "search_query": query or f"cat:{self._request['category']}",
                    "sortBy": "relevance" if query else "submittedDate",
                    "sortOrder": "descending",
                    "start": str(first),
                    "max_results": str(min(_PAGE_SIZES[self._size], left if query else 10**6)),
                },
                read=_read_page,
            )
            if page.papers or first >= page.total:
                break
            self._size += 1
            if self._size == len(_PAGE_SIZES):
                raise RemoteError(
                    f"arXiv sends no papers after {first:,} of {page.total:,}; {RUN_AGAIN}"
                )
        # Papers that appear during the download move the others, so some papers come twice.
        position = self._position
        position["next"] = first + len(page.papers)
        position["done"] = not page.papers or position["next"] >= page.total
        self._papers.add(
            [(str(paper["id"]), paper) for paper in page.papers[:left]], position=position
        )

    def _empty_message(self) -> str:
        if query := self._request.get("query"):
            return f"arXiv finds nothing for {query!r}; use other words"
        return f"arXiv has no papers in category {self._request['category']}; check its name"

    def _note(self) -> str:
        query, category = self._request.get("query"), self._request.get("category")
        return f"arXiv, {query or f'newest papers of {category}'}"


@dataclass(frozen=True)
class _Page:
    """Papers of one page of search results, and the number of all results."""

    papers: list[dict[str, object]]
    total: int


def _read_page(reply: Reply) -> _Page:
    refuse_web_page(reply, "The API of arXiv", "XML")
    root = read_xml(reply.content)
    if root.tag != f"{_ATOM}feed":
        raise GarbledReplyError("its response is not an Atom feed")
    entries = root.findall(f"{_ATOM}entry")
    if entries and "/api/errors" in (entries[0].findtext(f"{_ATOM}id") or ""):
        raise InputError(f"arXiv rejects the request: {entries[0].findtext(f'{_ATOM}summary')}")
    total = root.findtext(_TOTAL) or ""
    papers = [_paper(entry) for entry in entries]
    return _Page(papers, int(total) if total.isascii() and total.isdigit() else len(papers))


def _paper(entry: Any) -> dict[str, object]:
    """Return the fields of the metadata snapshot for one search result."""

    def text(name: str, space: str = _ATOM) -> str | None:
        return " ".join((entry.findtext(space + name) or "").split()) or None

    address = text("id") or ""
    paper_id = _VERSION.sub("", address.rpartition("/abs/")[2])
    if not paper_id:
        raise GarbledReplyError("a paper in its response has no identifier")
    primary = entry.find(f"{_ARXIV}primary_category")
    terms = [] if primary is None else [primary.get("term")]
    terms += [element.get("term") for element in entry.iterfind(f"{_ATOM}category")]
    names = [author.findtext(f"{_ATOM}name") for author in entry.iterfind(f"{_ATOM}author")]
    return {
        "id": paper_id,
        "title": text("title"),
        "abstract": text("summary"),
        "categories": " ".join(dict.fromkeys(term for term in terms if term)),
        "authors_parsed": [[*parse_name(" ".join(name.split()))] for name in names if name],
        "comments": text("comment", _ARXIV),
        "journal-ref": text("journal_ref", _ARXIV),
        "doi": text("doi", _ARXIV),
        "versions": [{"version": "v1", "created": _email_date(text("published"))}],
        "update_date": (text("updated") or "")[:10] or None,
    }


def _email_date(timestamp: str | None) -> str | None:
    """Convert an ISO 8601 time to the format of the snapshot, such as Mon, 1 Jan 2024 ... GMT."""
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return format_datetime(moment.astimezone(UTC), usegmt=True)
