"""Bibliographic records from the NASA Astrophysics Data System (ADS)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from landscape._progress import progress
from landscape._wording import count
from landscape.corpus.fetch.fetched import Fetched
from landscape.corpus.fetch.manners import Manners, say_nothing
from landscape.corpus.fetch.polite import Server
from landscape.corpus.fetch.replies import (
    GO_ON,
    GarbledError,
    Quota,
    Reply,
    expect_no_web_page,
    read_quota,
)
from landscape.corpus.fetch.unfinished import Unfinished
from landscape.errors import InputError, RemoteError

ADS_API = "https://api.adsabs.harvard.edu/v1"
ADS_MANNERS = Manners(pause=0.5)

#: What the ADS reader uses.
ADS_FIELDS = (
    "bibcode", "identifier", "title", "abstract", "author", "aff", "date", "pubdate", "year",
    "doi", "keyword", "citation_count", "read_count", "doctype", "pub", "property", "arxiv_class",
    "reference", "citation",
)  # fmt: skip

_KEY_VARIABLES = ("ADS_API_TOKEN", "ADS_DEV_KEY")
_HOW_TO_GET_KEY = (
    "make a key at https://ui.adsabs.harvard.edu/user/settings/token and set the environment "
    "variable ADS_API_TOKEN to it"
)
_MOST_ROWS = 200  # the service's own maximum
_MOST_RESTARTS = 3


def fetch_ads(
    out: str | Path,
    *,
    query: str,
    max_records: int | None = None,
    token: str | None = None,
    base_url: str = ADS_API,
    fields: tuple[str, ...] = ADS_FIELDS,
    sort: str = "date desc",
    rows: int = _MOST_ROWS,
    manners: Manners = ADS_MANNERS,
    notify: Callable[[str], None] = say_nothing,
) -> Fetched:
    """Fetch what an ADS query finds into a JSON-lines file of ADS documents.

    Pages by Solr's cursor, which neither loses nor repeats a record when the index changes in
    between; by offset where a server has no cursors. Made again after an interruption, for
    example because the day's quota was used up, the same call goes on where it stopped.

    Parameters
    ----------
    out : str or Path
        The file to write, for example ``papers.jsonl``. It appears when it is complete.
    query : str
        In the ADS search syntax, for example ``'abs:"exoplanet" year:2020-2024'``.
    max_records : int, optional
        Stop after so many records.
    token : str, optional
        The ADS key; by default the environment variable ADS_API_TOKEN or ADS_DEV_KEY. It is sent
        to `base_url` only and written nowhere.
    base_url : str
        The ADS API.
    fields : tuple of str
        Fields to ask for.
    sort : str, default "date desc"
        Order of the records, which matters with `max_records`.
    rows : int, default 200
        Records a request, at most 200.
    manners : Manners
        Pace and patience.
    notify : callable, optional
        Takes sentences for the user while the work goes on: the number found, the quota left.

    Returns
    -------
    Fetched
        With the quota that is left in `note`.

    Raises
    ------
    InputError
        No key, a query that ADS cannot read or that finds nothing, or an unwritable file.
    RemoteError
        When ADS cannot be reached, refuses the key, or the quota is used up.

    Examples
    --------
    >>> fetch_ads("papers.jsonl", query="  ")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: The ADS query is empty; give one such as 'abs:"exoplanet"'
    """
    if not query.strip():
        raise InputError("The ADS query is empty; give one such as 'abs:\"exoplanet\"'")
    if max_records is not None and max_records < 1:
        raise InputError(f"The number of records to fetch must be at least 1, and is {max_records}")
    key = _token(token)
    request = {"server": base_url, "query": query, "sort": sort, "fields": ",".join(fields)}
    with (
        Unfinished(Path(out), key="bibcode", request=request) as papers,
        Server(
            "ADS",
            base_url,
            manners=manners,
            hints={401: _HOW_TO_GET_KEY, 403: _HOW_TO_GET_KEY},
            headers={"Authorization": f"Bearer {key}"},
            secret=True,
            notify=notify,
        ) as server,
    ):
        walk = _Walk(papers, server, request, rows=min(rows, _MOST_ROWS), notify=notify)
        return walk.run(max_records)


@dataclass(frozen=True)
class _Page:
    docs: list[dict[str, Any]]
    found: int
    cursor: str | None  # Solr's nextCursorMark
    quota: Quota | None


class _BadCursorError(Exception):
    """ADS does not take this cursor, or no cursors at all."""


class _Walk:
    """The walk through the pages of one query, from wherever an earlier run left it."""

    def __init__(
        self,
        papers: Unfinished,
        server: Server,
        request: Mapping[str, str],
        *,
        rows: int,
        notify: Callable[[str], None],
    ) -> None:
        self._papers = papers
        self._server = server
        self._request = request
        self._rows = rows
        self._notify = notify
        self._quota: Quota | None = None
        self._restarts = 0
        self._position: dict[str, Any] = {
            "cursor": "*",  # None: the server has no cursors, page by offset
            "start": 0,
            "skipped": 0,
            "done": False,
            **papers.position,
        }

    def run(self, max_records: int | None) -> Fetched:
        papers, position = self._papers, self._position
        if papers.continues:
            self._notify(f"Going on after {count(papers.n_records, 'paper')} already fetched")
        with progress("Fetching from ADS", total=max_records) as advance:
            advance(papers.n_records)
            announced = False
            while not position["done"] and not _enough(papers, max_records):
                before = papers.n_records
                page = self._next_page(max_records)
                self._quota = page.quota
                if not announced:
                    self._announce(page, max_records)
                    announced = True
                self._take(page, max_records)
                advance(papers.n_records - before)
        if not papers.n_records:
            papers.discard()
            query = self._request["query"]
            raise InputError(f"ADS finds nothing for {query!r}; try it first in the ADS web page")
        note = f"ADS: {self._quota}" if self._quota else "ADS told no quota"
        n_records = papers.finish()
        return Fetched(papers.out, n_records, position["skipped"], position["done"], note)

    def _next_page(self, max_records: int | None) -> _Page:
        while True:
            try:
                return self._server.ask(
                    f"{self._server.base_url}/search/query",
                    params=self._parameters(max_records),
                    read=lambda reply: _read_page(reply, self._request["query"]),
                    answers=frozenset({400}),
                )
            except _BadCursorError as error:
                self._restarts += 1
                if self._restarts > _MOST_RESTARTS:
                    raise RemoteError(
                        f"ADS does not accept its own cursor: {error}; {GO_ON}"
                    ) from error
                # An outdated cursor starts over with a new one; where even that is refused there
                # are no cursors. What comes again is not written again.
                self._position["cursor"] = None if self._position["cursor"] == "*" else "*"
                self._position["start"] = 0

    def _parameters(self, max_records: int | None) -> dict[str, str]:
        position, rows = self._position, self._rows
        if max_records is not None:
            rows = min(rows, max_records - self._papers.n_records)
        common = {
            "q": self._request["query"],
            "fl": self._request["fields"],
            "rows": str(rows),
            # A cursor needs a unique last key, and offsets need a fixed order.
            "sort": f"{self._request['sort']},id desc",
        }
        if position["cursor"] is None:
            return {**common, "start": str(position["start"])}
        return {**common, "cursorMark": position["cursor"]}

    def _announce(self, page: _Page, max_records: int | None) -> None:
        wanted = page.found if max_records is None else min(page.found, max_records)
        requests = -(-max(0, wanted - self._papers.n_records) // self._rows)
        sentence = (
            f"ADS finds {count(page.found, 'record')}; fetching takes {count(requests, 'request')}"
        )
        if self._quota:
            sentence += f" ({self._quota})"
            if requests - 1 > self._quota.left:
                sentence += ", so it will stop on the way; run it again when the quota is renewed"
        self._notify(sentence)

    def _take(self, page: _Page, max_records: int | None) -> None:
        position = self._position
        position["start"] += len(page.docs)
        if page.cursor is None:
            position["cursor"] = None
            position["done"] = not page.docs or position["start"] >= page.found
        else:
            position["done"] = not page.docs or page.cursor == position["cursor"]
            position["cursor"] = page.cursor
        self._papers.add(self._records(page, max_records), position=position)

    def _records(
        self, page: _Page, max_records: int | None
    ) -> Iterator[tuple[str, Mapping[str, object]]]:
        for document in page.docs:
            if _enough(self._papers, max_records):
                return
            bibcode = document.get("bibcode")
            if not isinstance(bibcode, str) or not bibcode:
                self._position["skipped"] += 1
                continue
            yield bibcode, document


def _read_page(reply: Reply, query: str) -> _Page:
    expect_no_web_page(reply, "ADS", "JSON")
    try:
        answer = orjson.loads(reply.content)
    except ValueError as error:
        raise GarbledError("its JSON is damaged or cut off") from error
    try:
        if reply.status == 400 or "error" in answer:
            _complain(answer, query)
        response = answer["response"]
        docs = [document for document in response["docs"] if isinstance(document, dict)]
        found, cursor = int(response["numFound"]), answer.get("nextCursorMark")
        in_part = (answer.get("responseHeader") or {}).get("partialResults")
    except (KeyError, TypeError, AttributeError) as error:
        raise GarbledError("its answer is not a list of ADS documents") from error
    if in_part:
        raise GarbledError("it gave only some of its results, being busy")
    return _Page(docs, found, cursor, read_quota(reply.headers))


def _complain(answer: Mapping[str, Any], query: str) -> None:
    """Turn the error of an ADS answer into an exception."""
    error = answer.get("error")
    text = str(error.get("msg", error) if isinstance(error, dict) else error or answer)[:300]
    if "cursormark" in text.lower():
        raise _BadCursorError(text)
    raise InputError(
        f"ADS does not understand the query {query!r}: {text}; try it first in the ADS web page"
    )


def _token(given: str | None) -> str:
    """The ADS key, fit to be sent in a header."""
    found = [given, *(os.environ.get(name) for name in _KEY_VARIABLES)]
    token = next((value.strip() for value in found if value and value.strip()), None)
    if token is None:
        raise InputError(f"Fetching from ADS needs a key: {_HOW_TO_GET_KEY}")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise InputError(f"The ADS key holds blanks or odd characters; {_HOW_TO_GET_KEY}")
    return token


def _enough(papers: Unfinished, max_records: int | None) -> bool:
    return max_records is not None and papers.n_records >= max_records
