"""Descriptive metadata from arXiv by OAI-PMH."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.fetch.fetched import Fetched
from landscape.corpus.fetch.manners import Manners, say_nothing
from landscape.corpus.fetch.names import parse_authors
from landscape.corpus.fetch.oai import OaiError, OaiPage, OaiRecord, read_page
from landscape.corpus.fetch.polite import Server
from landscape.corpus.fetch.replies import GO_ON
from landscape.corpus.fetch.unfinished import Unfinished
from landscape.errors import InputError, RemoteError

ARXIV_OAI = "https://oaipmh.arxiv.org/oai"

#: arXiv's terms ask for at most one request every three seconds.
ARXIV_MANNERS = Manners(pause=3.0, first_wait=5.0)

# arXivRaw lists every version with its date, so the date of first submission is certain; in the
# format "arXiv" the field <created> is that of the version in hand.
_PREFIX = "arXivRaw"
_RAW = "{http://arxiv.org/OAI/arXivRaw/}"

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
_MOST_RESTARTS = 3


def fetch_arxiv(
    out: str | Path,
    *,
    set: str | None = "physics:astro-ph",  # noqa: A002 - the protocol's own word
    since: date | str | None = None,
    until: date | str | None = None,
    base_url: str = ARXIV_OAI,
    max_records: int | None = None,
    manners: Manners = ARXIV_MANNERS,
    notify: Callable[[str], None] = say_nothing,
) -> Fetched:
    """Harvest arXiv into a JSON-lines file with the fields of the arXiv metadata snapshot.

    Made again after an interruption of any kind, the same call goes on where it stopped. A
    resumption token that has expired meanwhile is replaced by a new list from the last datestamp
    on; what comes again then is not written again. Deleted records are left out.

    Parameters
    ----------
    out : str or Path
        The file to write, for example ``papers.jsonl``. It appears when it is complete.
    set : str or None, default "physics:astro-ph"
        The archive; None for all of arXiv.
    since, until : date or str, optional
        First and last day, ``YYYY-MM-DD``, on which a record was changed (not first submitted).
    base_url : str
        The OAI-PMH address.
    max_records : int, optional
        Stop after so many papers.
    manners : Manners
        Pace and patience.
    notify : callable, optional
        Takes sentences for the user while the work goes on.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        Bad dates, an unknown set, or a file that cannot be written.
    RemoteError
        When arXiv cannot be reached or does not answer sensibly.

    Examples
    --------
    >>> fetch_arxiv("papers.jsonl", since="last week")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: since must be a day such as 2024-01-31, and is 'last week'
    """
    out = Path(out)
    request = {
        "server": base_url,
        "set": set,
        "from": _day("since", since),
        "until": _day("until", until),
    }
    if request["from"] and request["until"] and request["from"] > request["until"]:
        raise InputError(f"since ({request['from']}) must not be after until ({request['until']})")
    with (
        Unfinished(out, key="id", request=request) as papers,
        Server("arXiv", base_url, manners=manners, notify=notify) as server,
    ):
        harvest = _Harvest(papers, server, request, clock=manners.clock, notify=notify)
        return harvest.run(max_records)


def as_snapshot(record: OaiRecord) -> dict[str, object] | None:
    """One arXivRaw record with the fields of the arXiv metadata snapshot.

    Parameters
    ----------
    record : OaiRecord
        Not deleted.

    Returns
    -------
    dict or None
        None where the record has no id or no metadata.
    """
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


class _Harvest:
    """The walk through the pages of one list, from wherever an earlier run left it."""

    def __init__(
        self,
        papers: Unfinished,
        server: Server,
        request: Mapping[str, str | None],
        *,
        clock: Callable[[], float],
        notify: Callable[[str], None],
    ) -> None:
        self._papers = papers
        self._server = server
        self._request = request
        self._clock = clock
        self._notify = notify
        self._restarts = 0
        self._position: dict[str, Any] = {
            "token": None,
            "expires": None,
            "last": None,  # newest datestamp so far
            "ordered": True,  # datestamps only ever grew
            "skipped": 0,
            "done": False,
            **papers.position,
        }

    def run(self, max_records: int | None) -> Fetched:
        papers, position = self._papers, self._position
        if papers.continues:
            self._notify(f"Going on after {count(papers.n_records, 'paper')} already fetched")
        with progress("Fetching from arXiv", total=max_records) as advance:
            advance(papers.n_records)
            while not position["done"] and not _enough(papers, max_records):
                before = papers.n_records
                page = self._next_page()
                self._take(page, max_records)
                advance(papers.n_records - before)
        if not papers.n_records:
            papers.discard()
            raise InputError(
                f"arXiv has no records for this request ({_described(self._request)}); "
                "check the set and the dates"
            )
        n_records = papers.finish()
        return Fetched(
            papers.out, n_records, position["skipped"], position["done"], _note(position)
        )

    def _next_page(self) -> OaiPage:
        """The next page, by token while that is valid, else by a new list."""
        while True:
            position = self._position
            expires = position["expires"]
            if position["token"] and expires is not None and self._clock() >= expires:
                self._start_over()
            try:
                page = self._server.ask(
                    self._server.base_url, params=self._parameters(), read=read_page
                )
            except OaiError as error:
                if error.code == "badResumptionToken" and position["token"]:
                    self._start_over()
                    continue
                if error.code == "noRecordsMatch":
                    return OaiPage([], None, None)
                raise InputError(
                    f"arXiv does not accept the request ({_described(self._request)}): {error}"
                ) from error
            if position["token"]:
                self._restarts = 0  # tokens do work
            return page

    def _parameters(self) -> dict[str, str]:
        if self._position["token"]:
            return {"verb": "ListRecords", "resumptionToken": self._position["token"]}
        since = self._request["from"]
        # Only where the list came sorted by datestamp is everything before the last one complete.
        if self._position["last"] and self._position["ordered"]:
            since = self._position["last"][:10]
        wanted = {"set": self._request["set"], "from": since, "until": self._request["until"]}
        given = {name: value for name, value in wanted.items() if value}
        return {"verb": "ListRecords", "metadataPrefix": _PREFIX, **given}

    def _start_over(self) -> None:
        self._restarts += 1
        if self._restarts > _MOST_RESTARTS:
            raise RemoteError(f"arXiv calls its own resumption tokens expired; {GO_ON}")
        self._notify("The resumption token has expired; going on from the last date instead")
        self._position.update(token=None, expires=None)

    def _take(self, page: OaiPage, max_records: int | None) -> None:
        """Write one page and the position after it."""
        position = self._position
        for record in page.records:
            if position["last"] is None or record.datestamp >= position["last"]:
                position["last"] = record.datestamp
            else:
                position["ordered"] = False
        position.update(token=page.token, expires=page.expires, done=page.token is None)
        self._papers.add(self._records(page, max_records), position=position)

    def _records(
        self, page: OaiPage, max_records: int | None
    ) -> Iterator[tuple[str, dict[str, object] | None]]:
        for record in page.records:
            if record.deleted:
                self._position["skipped"] += 1
                yield record.identifier.rpartition(":")[2], None
                continue
            if _enough(self._papers, max_records):
                self._position["done"] = False
                return
            fields = as_snapshot(record)
            if fields is None:
                self._position["skipped"] += 1
                continue
            yield str(fields["id"]), fields


def _enough(papers: Unfinished, max_records: int | None) -> bool:
    return max_records is not None and papers.n_records >= max_records


def _note(position: Mapping[str, Any]) -> str:
    newest = f"newest change {position['last'][:10]}" if position["last"] else "no datestamps"
    return f"arXiv metadata ({newest}); {position['skipped']:,} deleted or empty records left out"


def _described(request: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {value}" for name, value in request.items() if value)


def _day(name: str, value: date | str | None) -> str | None:
    if value is None:
        return None
    try:
        day = value if isinstance(value, date) else date.fromisoformat(value)
    except ValueError as error:
        message = f"{name} must be a day such as 2024-01-31, and is {value!r}"
        raise InputError(message) from error
    return day.strftime("%Y-%m-%d")


def _text(element: Any, name: str) -> str | None:
    """Text of a child; None where it is absent or empty."""
    found = element.findtext(f"{_RAW}{name}")
    return found.strip() or None if found else None
