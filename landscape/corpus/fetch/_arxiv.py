"""Download metadata from arXiv by OAI-PMH 2.0.

Implemented with httpx and lxml instead of sickle, because sickle parses in recovery mode (records
of an incomplete page are lost silently), waits only for a Retry-After in whole seconds, and does
not report when a resumption token expires.

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

from landscape._http import (
    RUN_AGAIN,
    GarbledReplyError,
    HttpClient,
    Reply,
    RetryPolicy,
    ignore_note,
    refuse_web_page,
)
from landscape.corpus._cleaning import without_parentheses
from landscape.corpus.fetch._download import Fetched, PagedFetch, ResumableFile, describe_request
from landscape.errors import InputError, RemoteError, require

ARXIV_OAI = "https://oaipmh.arxiv.org/oai"

#: arXiv's terms of use allow one request every three seconds.
ARXIV_POLICY = RetryPolicy(pause=3.0, first_wait=5.0)

# arXivRaw lists the date of every version, including the first submission; in the format "arXiv"
# the field <created> is the date of the newest version.
_PREFIX = "arXivRaw"
_RAW = "{http://arxiv.org/OAI/arXivRaw/}"
_OAI = "{http://www.openarchives.org/OAI/2.0/}"

_FIELDS = (
    "authors", "title", "comments", "journal-ref", "doi", "report-no", "categories", "license",
    "abstract",
)  # fmt: skip
_MOST_RESTARTS = 3


def fetch_arxiv(
    out: str | Path,
    *,
    set: str | None = "physics:astro-ph",  # noqa: A002 - name in the protocol
    since: date | str | None = None,
    until: date | str | None = None,
    base_url: str = ARXIV_OAI,
    max_records: int | None = None,
    policy: RetryPolicy = ARXIV_POLICY,
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Harvest arXiv into a JSON-lines file with the fields of the arXiv metadata snapshot.

    The same call continues an interrupted download. If the resumption token has expired, a new list
    from the last datestamp on is requested. Deleted records are omitted.

    Parameters
    ----------
    out : str or Path
        File to write, for example ``papers.jsonl``. It appears when it is complete.
    set : str or None, default "physics:astro-ph"
        Archive; None for all of arXiv.
    since, until : date or str, optional
        First and last day, ``YYYY-MM-DD``, on which a record was changed (not first submitted).
    base_url : str
        Address of the OAI-PMH service.
    max_records : int, optional
        Maximum number of papers.
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
        raise InputError(f"since ({request['from']}) must not be after until ({request['until']})")
    with (
        ResumableFile(Path(out), key="id", request=request) as papers,
        HttpClient("arXiv", base_url, policy=policy, notify=notify) as client,
    ):
        # `last` is the newest datestamp; `ordered` means that the datestamps never decreased.
        start = {"token": None, "expires": None, "last": None, "ordered": True}
        harvest = _Harvest(
            papers, client, request, start=start, max_records=max_records, notify=notify
        )
        harvest.clock = policy.clock
        return harvest.run()


class _Harvest(PagedFetch):
    """Pages of one OAI-PMH list."""

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
        """Return the next page, from a new list if the resumption token is invalid."""
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
        # Everything before the last datestamp is complete only if the list was sorted.
        if self._position["last"] and self._position["ordered"]:
            since = self._position["last"][:10]
        wanted = {"set": self._request["set"], "from": since, "until": self._request["until"]}
        given = {name: value for name, value in wanted.items() if value}
        return {"verb": "ListRecords", "metadataPrefix": _PREFIX, **given}

    def _start_over(self) -> None:
        self._restarts += 1
        if self._restarts > _MOST_RESTARTS:
            raise RemoteError(f"arXiv rejects its own resumption tokens; {RUN_AGAIN}")
        self._notify("The resumption token has expired; continuing from the last date")
        self._position.update(token=None, expires=None)

    def _records(self, page: _Page) -> Iterator[tuple[str, dict[str, object] | None]]:
        for record in page.records:
            if record.deleted:
                self._position["skipped"] += 1
                yield record.identifier.rpartition(":")[2], None
                continue
            if self._has_enough:
                self._position["done"] = False
                return
            fields = _as_snapshot(record)
            if fields is None:
                self._position["skipped"] += 1
                continue
            yield str(fields["id"]), fields

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
    """Error element of an OAI-PMH response, with its `code`."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text or code)
        self.code = code


@dataclass(frozen=True)
class _Record:
    """Record with its datestamp (ISO 8601) and the lxml element of its metadata."""

    identifier: str
    datestamp: str
    deleted: bool
    metadata: Any


@dataclass(frozen=True)
class _Page:
    """Response to ListRecords, with the token of the next page and its expiry in seconds."""

    records: list[_Record]
    token: str | None
    expires: float | None


def _read_page(reply: Reply) -> _Page:
    """Parse a response to ListRecords; entities are not expanded."""
    refuse_web_page(reply, "The OAI-PMH server", "XML")
    root = _parse(reply.content)
    error = root.find(f"{_OAI}error")
    if error is not None:
        raise _OaiError(error.get("code", "unknown"), (error.text or "").strip())
    listing = root.find(f"{_OAI}ListRecords")
    if root.tag != f"{_OAI}OAI-PMH" or listing is None:
        raise GarbledReplyError("its response is not an OAI-PMH list of records")
    token = listing.find(f"{_OAI}resumptionToken")
    attributes = {} if token is None else dict(token.attrib)
    return _Page(
        records=[_record(element) for element in listing.iterfind(f"{_OAI}record")],
        token=None if token is None else (token.text or "").strip() or None,
        # The standard says expirationDate; arXiv says expires.
        expires=_seconds(attributes.get("expirationDate") or attributes.get("expires")),
    )


def _parse(content: bytes) -> Any:
    etree = require("lxml.etree", "fetch")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=False, huge_tree=False
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise GarbledReplyError(f"its XML is damaged or incomplete ({error.msg})") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise GarbledReplyError("its XML declares a document type, which OAI-PMH does not allow")
    return root


def _record(element: Any) -> _Record:
    header = element.find(f"{_OAI}header")
    if header is None:
        raise GarbledReplyError("a record of its response has no header")
    metadata = element.find(f"{_OAI}metadata")
    return _Record(
        identifier=(header.findtext(f"{_OAI}identifier") or "").strip(),
        datestamp=(header.findtext(f"{_OAI}datestamp") or "").strip(),
        deleted=header.get("status") == "deleted",
        metadata=None if metadata is None else next(metadata.iterchildren("*"), None),
    )


def _seconds(timestamp: str | None) -> float | None:
    """Convert an ISO 8601 time to seconds since 1970."""
    if not timestamp:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _as_snapshot(record: _Record) -> dict[str, object] | None:
    """Convert an arXivRaw record to the fields of the arXiv metadata snapshot."""
    if record.metadata is None:
        return None
    paper_id = _text(record.metadata, "id") or record.identifier.rpartition(":")[2]
    if not paper_id:
        return None
    fields: dict[str, object] = {"id": paper_id}
    fields.update((name, _text(record.metadata, name)) for name in _FIELDS)
    fields["authors_parsed"] = parse_authors(_text(record.metadata, "authors") or "")
    fields["versions"] = [
        {"version": version.get("version"), "created": _text(version, "date")}
        for version in record.metadata.iterfind(f"{_RAW}version")
    ]
    fields["update_date"] = record.datestamp[:10]
    return fields


def _text(element: Any, name: str) -> str | None:
    """Return the text of a child element, or None if it is absent or empty."""
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
_GROUP = re.compile(
    r"\b(?:collaborations?|consortium|experiment|network|project|survey|teams?|(?:work)?group)\b",
    re.I,
)
# A comma, a semicolon, the colon after a collaboration's name, "and", "&".
_BETWEEN = re.compile(r"\s*[,;:]\s*(?:and\s+)?|\s+and\s+|\s+&\s+|\s*\\&\s*")


def parse_authors(line: str) -> list[list[str]]:
    """Split arXiv's line of authors into [family, given, suffix], as in its snapshot."""
    line = without_parentheses(line.replace(r"\,", " ").replace("~", " "))
    authors: list[list[str]] = []
    for piece in _BETWEEN.split(line):
        words = piece.split()
        if words and authors and all(word.lower() in _SUFFIXES for word in words):
            authors[-1][2] = " ".join(words)  # "Smith, Jr." is one author
        elif words:
            authors.append(_author(words))
    return authors


def _author(words: list[str]) -> list[str]:
    if _GROUP.search(" ".join(words)):
        return [" ".join(words), "", ""]
    suffix = ""
    if len(words) > 1 and words[-1].lower() in _SUFFIXES:
        suffix = words.pop()
    # The family name begins at its first particle: "van", "de la", "von".
    start = next(
        (i for i, word in enumerate(words[:-1]) if i and word.isalpha() and word.islower()),
        len(words) - 1,
    )
    return [" ".join(words[start:]), " ".join(words[:start]), suffix]
