"""Download metadata from arXiv by OAI-PMH 2.0.

The package sickle is not used, for three reasons. It loses records of an incomplete page without
an error, it only supports Retry-After in whole seconds, and it does not report when a resumption
token expires.

References
----------
.. [1] The Open Archives Initiative Protocol for Metadata Harvesting, version 2.0,
   http://www.openarchives.org/OAI/openarchivesprotocol.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
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
from landscape.corpus.cleaning import without_parentheses
from landscape.corpus.fetch._download import Fetched, PagedFetch, ResumableFile, describe_request
from landscape.errors import InputError, RemoteError, require

ARXIV_OAI = "https://oaipmh.arxiv.org/oai"

#: arXiv's terms of use allow one request every three seconds.
ARXIV_POLICY = RetryPolicy(pause=3.0, first_wait=5.0)

# The format "arXivRaw" contains the date of the first submission, but the format "arXiv" only
# contains the date of the newest version.
_PREFIX = "arXivRaw"
_RAW = "{http://arxiv.org/OAI/arXivRaw/}"
_OAI = "{http://www.openarchives.org/OAI/2.0/}"

_FIELDS = (
    "authors",
    "title",
    "comments",
    "journal-ref",
    "doi",
    "report-no",
    "categories",
    "license",
    "abstract",
)
_MAX_RESTARTS = 3  # maximum number of successive restarts after a rejected token


def fetch_arxiv(
    out: str | Path,
    *,
    set: str | None = "physics:astro-ph",  # noqa: A002 - name in the protocol
    since: date | str | None = None,
    until: date | str | None = None,
    base_url: str = ARXIV_OAI,
    max_records: int | None = None,
    withdrawn: bool = False,
    policy: RetryPolicy = ARXIV_POLICY,
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Harvest arXiv into a JSON-lines file with the fields of the arXiv metadata snapshot.

    To resume an interrupted download, repeat the same call. If the resumption token has expired, a
    new list that starts at the last datestamp is requested.

    Parameters
    ----------
    out : str or Path
        File to write, for example ``papers.jsonl``. It is created when the download is complete.
    set : str or None, default "physics:astro-ph"
        Name of the archive. None means all of arXiv.
    since, until : date or str, optional
        Records that were last changed between these dates (``YYYY-MM-DD``) are downloaded. The
        date of the last change is not the date of submission.
    base_url : str
        Address of the OAI-PMH service.
    max_records : int, optional
        Maximum number of papers.
    withdrawn : bool, default False
        Write a line for each deleted record, with which an update of an atlas removes its paper. By
        default, deleted records are omitted.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        If the dates or the set are invalid, or the file cannot be written.
    RemoteError
        If arXiv cannot be reached or its responses cannot be read.

    Examples
    --------
    >>> fetch_arxiv("papers.jsonl", since="last week")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: since must be a date such as 2024-01-31, got 'last week'
    """
    request = {
        "server": base_url,
        "set": set,
        "from": _day("since", since),
        "until": _day("until", until),
    }
    if request["from"] and request["until"] and request["from"] > request["until"]:
        raise InputError(f"since ({request['from']}) must not be after until ({request['until']}).")
    with (
        ResumableFile(Path(out), key="id", request=request, withdrawn=withdrawn) as papers,
        HttpClient("arXiv", base_url, policy=policy, notify=notify) as client,
    ):
        # `last` is the newest datestamp. `ordered` is True if the datestamps never decreased.
        start = {"token": None, "expires": None, "last": None, "ordered": True}
        harvest = _Harvest(
            papers, client, request, start=start, max_records=max_records, notify=notify
        )
        harvest.clock = policy.clock
        return harvest.run()


class _Harvest(PagedFetch):
    """Download of one OAI-PMH list, page by page."""

    clock: Callable[[], float]

    def _take_page(self) -> None:
        page = self._next_page()
        position = self._position
        for record in page.records:
            position["ordered"] &= position["last"] is None or record.datestamp >= position["last"]
            position["last"] = max(record.datestamp, position["last"] or "")
        position.update(token=page.token, expires=page.expires, done=page.token is None)
        self._papers.add(self._records(page), position=position)

    def _next_page(self) -> _Page:
        """Request the next page. If the resumption token is invalid, start a new list."""
        while True:
            position = self._position
            expires = position["expires"]
            if position["token"] and expires is not None and self.clock() >= expires:
                self._start_over()
            try:
                page = self._client.request(
                    self._client.base_url, params=self._parameters(), read=_read_page
                )
            except _OaiError as error:
                if error.code == "badResumptionToken" and position["token"]:
                    self._start_over()
                    continue
                if error.code == "noRecordsMatch":
                    return _Page([], None, None)
                raise InputError(
                    f"arXiv rejects the request ({describe_request(self._request)}): {error}"
                ) from error
            if position["token"]:
                self._restarts = 0
            return page

    def _parameters(self) -> dict[str, str]:
        if self._position["token"]:
            return {"verb": "ListRecords", "resumptionToken": self._position["token"]}
        since = self._request["from"]
        # The records before the last datestamp are complete only if the list is sorted by date.
        if self._position["last"] and self._position["ordered"]:
            since = self._position["last"][:10]
        wanted = {"set": self._request["set"], "from": since, "until": self._request["until"]}
        given = {name: value for name, value in wanted.items() if value}
        return {"verb": "ListRecords", "metadataPrefix": _PREFIX, **given}

    def _start_over(self) -> None:
        self._restarts += 1
        if self._restarts > _MAX_RESTARTS:
            raise RemoteError(f"arXiv rejects its own resumption tokens; {RUN_AGAIN}")
        self._notify("The resumption token has expired. The download continues at the last date.")
        self._position.update(token=None, expires=None)

    def _records(self, page: _Page) -> Iterator[tuple[str, dict[str, object] | None]]:
        for record in page.records:
            if record.deleted:
                self._position["skipped"] += 1
                yield record.paper_id, None
                continue
            if self._has_enough:
                self._position["done"] = False
                return
            if record.fields is None:
                self._position["skipped"] += 1
                continue
            yield str(record.fields["id"]), record.fields

    def _empty_message(self) -> str:
        return (
            f"arXiv has no records for this request ({describe_request(self._request)}); "
            "check the set and the dates"
        )

    def _note(self) -> str:
        last, skipped = self._position["last"], self._position["skipped"]
        newest = f"newest change {last[:10]}" if last else "no datestamps"
        return f"arXiv metadata ({newest}); {skipped:,} deleted or empty records omitted"


class _OaiError(Exception):
    """Exception for an OAI-PMH response that contains an error, with its `code`."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text or code)
        self.code = code


@dataclass(frozen=True)
class _Record:
    """Record with its datestamp (ISO 8601) and the fields of the arXiv metadata snapshot."""

    paper_id: str
    datestamp: str
    deleted: bool
    fields: dict[str, object] | None


@dataclass(frozen=True)
class _Page:
    """Records of one ListRecords response, and the token of the next page with its expiry time."""

    records: list[_Record]
    token: str | None
    expires: float | None


def read_xml(content: bytes) -> Any:
    """Parse XML and return its root. XML entities are not expanded."""
    etree = require("lxml.etree", "fetch")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=False, huge_tree=False
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise GarbledReplyError(f"its XML is damaged or incomplete ({error.msg})") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise GarbledReplyError("its XML declares a document type, which arXiv never does")
    return root


def _read_page(reply: Reply) -> _Page:
    """Parse a response to ListRecords."""
    refuse_web_page(reply, "The OAI-PMH server", "XML")
    root = read_xml(reply.content)
    refusal = root.find(f"{_OAI}error")
    if refusal is not None:
        raise _OaiError(refusal.get("code", "unknown"), (refusal.text or "").strip())
    listing = root.find(f"{_OAI}ListRecords")
    if root.tag != f"{_OAI}OAI-PMH" or listing is None:
        raise GarbledReplyError("its response is not an OAI-PMH list of records")
    token = listing.find(f"{_OAI}resumptionToken")
    attributes = {} if token is None else dict(token.attrib)
    return _Page(
        records=[_record(element) for element in listing.iterfind(f"{_OAI}record")],
        token=None if token is None else (token.text or "").strip() or None,
        # The standard calls the attribute expirationDate, but arXiv calls it expires.
        expires=_seconds(attributes.get("expirationDate") or attributes.get("expires")),
    )


def _record(element: Any) -> _Record:
    header = element.find(f"{_OAI}header")
    if header is None:
        raise GarbledReplyError("a record in its response has no header")
    identifier = (header.findtext(f"{_OAI}identifier") or "").strip().rpartition(":")[2]
    datestamp = (header.findtext(f"{_OAI}datestamp") or "").strip()
    metadata = element.find(f"{_OAI}metadata/*")
    paper_id = identifier if metadata is None else _text(metadata, "id") or identifier
    fields: dict[str, object] | None = None
    if metadata is not None and paper_id:
        fields = {"id": paper_id, **{name: _text(metadata, name) for name in _FIELDS}}
        fields["authors_parsed"] = parse_authors(_text(metadata, "authors") or "")
        fields["versions"] = [
            {"version": version.get("version"), "created": _text(version, "date")}
            for version in metadata.iterfind(f"{_RAW}version")
        ]
        fields["update_date"] = datestamp[:10]
    return _Record(identifier, datestamp, header.get("status") == "deleted", fields)


def _seconds(timestamp: str | None) -> float | None:
    """Convert an ISO 8601 time to seconds since 1970."""
    if not timestamp:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _text(element: Any, name: str) -> str | None:
    """Return the text of a child element, or None if the element is absent or empty."""
    found = element.findtext(f"{_RAW}{name}")
    return found.strip() or None if found else None


def _day(name: str, value: date | str | None) -> str | None:
    if value is None:
        return None
    try:
        day = value if isinstance(value, date) else date.fromisoformat(value)
    except ValueError as error:
        raise InputError(f"{name} must be a date such as 2024-01-31, got {value!r}") from error
    return day.strftime("%Y-%m-%d")


_SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}
# Separators of authors. A colon can follow the name of a collaboration.
_BETWEEN = re.compile(
    r"(?:(?<!\s)\s++|(?!\s))(?:[,;:]\s*+(?:and\s++)?|\\&\s*+)|(?<!\s)\s++(?:and|&)\s++"
)


def parse_authors(line: str) -> list[list[str]]:
    """Split an author line of arXiv into lists [family, given, suffix]."""
    line = without_parentheses(line.replace(r"\,", " ").replace("~", " "))
    authors: list[list[str]] = []
    for piece in _BETWEEN.split(line):
        words = piece.split()
        if words and authors and all(word.lower() in _SUFFIXES for word in words):
            authors[-1][2] = " ".join(words)  # "Smith, Jr." is one author
        elif words:
            authors.append([*parse_name(" ".join(words))])
    return authors
