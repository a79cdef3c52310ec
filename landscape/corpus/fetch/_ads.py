"""Download bibliographic records from the NASA Astrophysics Data System (ADS)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from landscape._http import (
    RUN_AGAIN,
    GarbledReplyError,
    HttpClient,
    Quota,
    Reply,
    RetryPolicy,
    ignore_note,
    read_quota,
    refuse_web_page,
)
from landscape._wording import count
from landscape.corpus.fetch._download import Fetched, PagedFetch, ResumableFile
from landscape.errors import InputError, RemoteError

ADS_API = "https://api.adsabs.harvard.edu/v1"
ADS_POLICY = RetryPolicy(pause=0.5)

#: Fields that the ADS reader uses.
ADS_FIELDS = (
    "bibcode",
    "identifier",
    "title",
    "abstract",
    "author",
    "aff",
    "date",
    "pubdate",
    "year",
    "doi",
    "keyword",
    "citation_count",
    "read_count",
    "doctype",
    "pub",
    "property",
    "bibgroup",
    "data",
    "facility",
    "arxiv_class",
    "reference",
    "citation",
)

_KEY_VARIABLES = ("ADS_API_TOKEN", "SCIX_API_TOKEN", "ADS_DEV_KEY")
_HOW_TO_GET_KEY = (
    "create a key at https://ui.adsabs.harvard.edu/user/settings/token and set the environment "
    "variable ADS_API_TOKEN to it"
)
_MAX_ROWS = 200  # maximum number of rows per request that ADS allows
_MAX_RESTARTS = 3  # maximum number of restarts of a download after a rejected cursor


def fetch_ads(
    out: str | Path,
    *,
    query: str,
    max_records: int | None = None,
    token: str | None = None,
    base_url: str = ADS_API,
    fields: tuple[str, ...] = ADS_FIELDS,
    sort: str = "date desc",
    rows: int = _MAX_ROWS,
    policy: RetryPolicy = ADS_POLICY,
    notify: Callable[[str], None] = ignore_note,
) -> Fetched:
    """Download the results of an ADS query as a JSON-lines file of ADS documents.

    Pages are requested with the cursor of Solr, so that no record is lost or repeated if the index
    changes during the download. If the server does not support cursors, offsets are used. To
    resume an interrupted download, repeat the same call.

    Parameters
    ----------
    out : str or Path
        File to write, for example ``papers.jsonl``. It is created when the download is complete.
    query : str
        Query in the ADS search syntax, for example ``'abs:"exoplanet" year:2020-2024'``.
    max_records : int, optional
        Maximum number of records.
    token : str, optional
        ADS key. The default is the environment variable ADS_API_TOKEN, SCIX_API_TOKEN or
        ADS_DEV_KEY. The key is only sent to `base_url` and never saved.
    base_url : str
        Address of the ADS API.
    fields : tuple of str
        Requested fields.
    sort : str, default "date desc"
        Order of the records. With `max_records`, it determines which records are downloaded.
    rows : int, default 200
        Records per request, at most 200.
    policy : RetryPolicy
    notify : callable, optional
        Called with messages for the user, for example the number of records.

    Returns
    -------
    Fetched
        `note` contains the remaining quota.

    Raises
    ------
    InputError
        If there is no key, the query is invalid or finds nothing, or the file cannot be written.
    RemoteError
        If ADS cannot be reached, the key is rejected, or the quota is exhausted.

    Examples
    --------
    >>> fetch_ads("papers.jsonl", query="  ")
    Traceback (most recent call last):
    ...
    landscape.errors.InputError: The ADS query is empty; pass a query such as 'abs:"exoplanet"'
    """
    if not query.strip():
        raise InputError("The ADS query is empty; pass a query such as 'abs:\"exoplanet\"'")
    if max_records is not None and max_records < 1:
        raise InputError(f"The number of records must be at least 1, got {max_records}")
    key = _token(token)
    request = {"server": base_url, "query": query, "sort": sort, "fields": ",".join(fields)}
    with (
        ResumableFile(Path(out), key="bibcode", request=request) as papers,
        HttpClient(
            "ADS",
            base_url,
            policy=policy,
            hints={401: _HOW_TO_GET_KEY, 403: _HOW_TO_GET_KEY},
            headers={"Authorization": f"Bearer {key}"},
            secret=True,
            notify=notify,
        ) as client,
    ):
        start = {
            "cursor": "*",  # None if the server does not support cursors
            "start": 0,
        }
        fetch = _AdsFetch(
            papers, client, request, start=start, max_records=max_records, notify=notify
        )
        fetch.rows = min(rows, _MAX_ROWS)
        return fetch.run()


@dataclass(frozen=True)
class _Page:
    docs: list[dict[str, Any]]
    found: int
    cursor: str | None  # Solr's nextCursorMark
    quota: Quota | None


class _BadCursorError(Exception):
    """Exception for a pagination cursor that ADS rejects."""


class _AdsFetch(PagedFetch):
    """Download of the results of one ADS query, page by page."""

    rows: int
    _quota: Quota | None = None
    _announced = False

    def _take_page(self) -> None:
        page = self._next_page()
        self._quota = page.quota
        if not self._announced:
            self._announce(page)
            self._announced = True
        position = self._position
        position["start"] += len(page.docs)
        if page.cursor is None:
            position["cursor"] = None
            position["done"] = not page.docs or position["start"] >= page.found
        else:
            position["done"] = not page.docs or page.cursor == position["cursor"]
            position["cursor"] = page.cursor
        self._papers.add(self._records(page), position=position)

    def _next_page(self) -> _Page:
        while True:
            try:
                return self._client.request(
                    f"{self._client.base_url}/search/query",
                    params=self._parameters(),
                    read=lambda reply: _read_page(reply, str(self._request["query"])),
                    accept=frozenset({400}),
                )
            except _BadCursorError as error:
                self._restarts += 1
                if self._restarts > _MAX_RESTARTS:
                    raise RemoteError(
                        f"ADS rejects its own cursor: {error}; {RUN_AGAIN}"
                    ) from error
                # The cursor can be too old, so start again with a new cursor. If it is also
                # rejected, the server does not support cursors. Repeated records are ignored.
                self._position["cursor"] = None if self._position["cursor"] == "*" else "*"
                self._position["start"] = 0

    def _parameters(self) -> dict[str, str]:
        position, rows = self._position, self.rows
        if self._max_records is not None:
            rows = min(rows, self._max_records - self._papers.n_records)
        common = {
            "q": str(self._request["query"]),
            "fl": str(self._request["fields"]),
            "rows": str(rows),
            # Cursors require a unique sort key, and offsets require a fixed order.
            "sort": f"{self._request['sort']},id desc",
        }
        if position["cursor"] is None:
            return {**common, "start": str(position["start"])}
        return {**common, "cursorMark": position["cursor"]}

    def _announce(self, page: _Page) -> None:
        wanted = page.found if self._max_records is None else min(page.found, self._max_records)
        requests = -(-max(0, wanted - self._papers.n_records) // self.rows)
        sentence = (
            f"ADS finds {count(page.found, 'record')}; fetching takes {count(requests, 'request')}"
        )
        if self._quota:
            sentence += f" ({self._quota})"
            if requests - 1 > self._quota.left:
                sentence += (
                    "; it will stop before the end. Run the same command again when the quota is "
                    "renewed"
                )
        self._notify(sentence)

    def _records(self, page: _Page) -> Iterator[tuple[str, Mapping[str, object]]]:
        for document in page.docs:
            if self._has_enough:
                return
            bibcode = document.get("bibcode")
            if not isinstance(bibcode, str) or not bibcode:
                self._position["skipped"] += 1
                continue
            yield bibcode, document

    def _empty_message(self) -> str:
        query = self._request["query"]
        return f"ADS finds nothing for {query!r}; test the query on the ADS website"

    def _note(self) -> str:
        return f"ADS: {self._quota}" if self._quota else "ADS did not report a quota"


def _read_page(reply: Reply, query: str) -> _Page:
    refuse_web_page(reply, "ADS", "JSON")
    try:
        answer = orjson.loads(reply.content)
    except ValueError as error:
        raise GarbledReplyError("its JSON is damaged or incomplete") from error
    try:
        if reply.status == 400 or "error" in answer:
            _raise_error(answer, query)
        response = answer["response"]
        docs = [document for document in response["docs"] if isinstance(document, dict)]
        found, cursor = int(response["numFound"]), answer.get("nextCursorMark")
        partial = (answer.get("responseHeader") or {}).get("partialResults")
    except (KeyError, TypeError, AttributeError) as error:
        raise GarbledReplyError("its response is not a list of ADS documents") from error
    if partial:
        raise GarbledReplyError("it is busy and returned only a part of the results")
    return _Page(docs, found, cursor, read_quota(reply.headers))


def _raise_error(answer: Mapping[str, object], query: str) -> None:
    """Raise the exception that corresponds to the error in an ADS response."""
    error = answer.get("error")
    text = str(error.get("msg", error) if isinstance(error, dict) else error or answer)[:300]
    if "cursormark" in text.lower():
        raise _BadCursorError(text)
    raise InputError(
        f"ADS cannot parse the query {query!r}: {text}; test the query on the ADS website"
    )


def _token(given: str | None) -> str:
    """Return the ADS key. Raise InputError if the key is missing or has invalid characters."""
    found = [given, *(os.environ.get(name) for name in _KEY_VARIABLES)]
    token = next((value.strip() for value in found if value and value.strip()), None)
    if token is None:
        raise InputError(f"ADS requires a key: {_HOW_TO_GET_KEY}")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise InputError(f"The ADS key contains spaces or invalid characters; {_HOW_TO_GET_KEY}")
    return token
