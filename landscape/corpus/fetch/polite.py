"""One server and how we talk to it: paced, patient, over https, quotable when it fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar
from urllib.parse import urlsplit

from landscape.corpus.fetch.manners import (
    Manners,
    is_this_machine,
    require_https,
    say_nothing,
    user_agent,
    without_query,
)
from landscape.corpus.fetch.replies import GO_ON, GarbledError, Reply, read_quota, retry_after
from landscape.errors import RemoteError, require

if TYPE_CHECKING:
    import ssl

    import httpx

T = TypeVar("T")

#: Statuses that are worth another try: the server is busy, or something on the way broke.
PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524})

_LARGEST_PAGE = 512 * 2**20  # bytes; a page of any of these services has a few megabytes
_MOST_REDIRECTS = 5


class Server:
    """One server and our manners towards it; a context manager that closes its connections.

    Parameters
    ----------
    name : str
        What the user calls it, for example ``"arXiv"``.
    base_url : str
        Where it is; only https, except on this very machine.
    manners : Manners
        Pace and patience.
    hints : mapping of int to str, optional
        What the user can do about a status, for example ``{401: "set ADS_API_TOKEN"}``.
    headers : mapping, optional
        Sent with every request to this server.
    secret : bool, default False
        The headers hold a key, so no redirect to another host is followed.
    notify : callable, optional
        Takes sentences for the user while the work goes on.

    Raises
    ------
    InputError
        Where `base_url` is not https.

    Examples
    --------
    >>> with Server("example", "https://example.org/", manners=Manners()) as server:
    ...     server.base_url
    'https://example.org'
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        manners: Manners,
        hints: Mapping[int, str] | None = None,
        headers: Mapping[str, str] | None = None,
        secret: bool = False,
        notify: Callable[[str], None] = say_nothing,
    ) -> None:
        require_https(base_url)
        self._httpx = require("httpx", "fetch")
        self.name = name
        self.base_url = base_url.rstrip("/")
        self._manners = manners
        self._hints = hints or {}
        self._secret = secret
        self._notify = notify
        self._answered = False
        self._last_request = float("-inf")
        self._client: httpx.Client = self._httpx.Client(
            headers={"User-Agent": user_agent(), **(headers or {})},
            timeout=self._httpx.Timeout(manners.timeout, connect=min(30.0, manners.timeout)),
            trust_env=not is_this_machine(base_url),  # a proxy cannot reach our own loopback
            verify=_certificates(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(
        self,
        url: str,
        *,
        read: Callable[[Reply], T],
        params: Mapping[str, str] | None = None,
        answers: frozenset[int] = frozenset(),
    ) -> T:
        """Get one page and read it; try again while the failure is of a kind that may pass.

        Parameters
        ----------
        url : str
            What to get.
        read : callable
            Turns the reply into what is wanted; raises `GarbledError` where it cannot.
        params : mapping, optional
            Query parameters.
        answers : frozenset of int, optional
            Statuses beyond 2xx that `read` wants to see itself.

        Returns
        -------
        object
            Whatever `read` returns.

        Raises
        ------
        RemoteError
            When the server refuses, or stays unreachable, busy or garbled.
        """

        def attempt() -> T:
            with self._open(url, params=params, answers=answers) as response:
                reply = Reply(response.status_code, response.headers, self._whole(response))
            try:
                return read(reply)
            except GarbledError as error:
                raise _PassingError(str(error)) from error

        return self._patiently(attempt, url)

    def save(self, url: str, part: Path, *, size: int, advance: Callable[[float], None]) -> None:
        """Download into `part` until it has `size` bytes, going on from what is there already.

        Parameters
        ----------
        url : str
            What to get.
        part : pathlib.Path
            The unfinished file; the caller checks it and moves it into place.
        size : int
            Bytes that it must have in the end.
        advance : callable
            Takes the bytes done since the last call, negative where a server starts over.

        Raises
        ------
        RemoteError
            As `ask`.
        OSError
            When the disk will not take it.
        """

        def attempt() -> None:
            have = part.stat().st_size if part.exists() else 0
            if have > size:
                part.unlink()
                advance(-have)
                have = 0
            if have < size or not part.exists():
                self._save_rest(url, part, have=have, size=size, advance=advance)

        self._patiently(attempt, url)

    def _save_rest(
        self, url: str, part: Path, *, have: int, size: int, advance: Callable[[float], None]
    ) -> None:
        headers = {"Accept-Encoding": "identity"}  # else its sizes would not be those on disk
        if have:
            headers["Range"] = f"bytes={have}-"
        got = have
        try:
            with self._open(url, headers=headers) as response:
                if have and not _goes_on_at(response, have):
                    advance(-have)
                    got = have = 0
                with part.open("ab" if have else "wb") as stream:
                    for chunk in response.iter_raw():  # as it comes: a cut then loses nothing
                        stream.write(chunk)
                        got += len(chunk)
                        advance(len(chunk))
                        if got > size:
                            break
        except _PassingError as error:
            error.moved = got > have
            raise
        if got != size:
            raise _PassingError(f"it sent {got:,} bytes of {size:,}", moved=have < got < size)

    @contextmanager
    def _open(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        answers: frozenset[int] = frozenset(),
    ) -> Iterator[httpx.Response]:
        """A good response with its body still to come; what goes wrong in the body passes too."""
        request = self._client.build_request("GET", url, params=params, headers=headers)
        try:
            response = self._follow(request)
            try:
                self._answered = True
                if not response.is_success and response.status_code not in answers:
                    raise self._trouble(response)
                yield response
            finally:
                response.close()
        except self._httpx.RequestError as error:
            raise _PassingError(_plainly(error)) from error

    def _follow(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and follow redirects where that is safe."""
        for _ in range(_MOST_REDIRECTS + 1):
            self._keep_pace()
            response = self._client.send(request, stream=True)
            if response.next_request is None:
                return response
            response.close()
            self._check_redirect(request.url, response.next_request.url)
            request = response.next_request
        raise RemoteError(
            f"{self.name} sends requests for {without_query(str(request.url))} round in circles; "
            f"{GO_ON}"
        )

    def _check_redirect(self, old: httpx.URL, new: httpx.URL) -> None:
        if self._secret and (old.scheme, old.host, old.port) != (new.scheme, new.host, new.port):
            raise RemoteError(
                f"{self.name} points to another host ({new.host}), which was not followed so that "
                "your key stays where it belongs; check the address of the service"
            )
        if new.scheme != "https" and not (is_this_machine(str(old)) and is_this_machine(str(new))):
            raise RemoteError(
                f"{self.name} points to {without_query(str(new))}, which is not https and was not "
                "followed; check the address of the service"
            )

    def _whole(self, response: httpx.Response) -> bytes:
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > _LARGEST_PAGE:  # also what a small compressed bomb grows into
                raise RemoteError(
                    f"{self.name} sent more than {_LARGEST_PAGE >> 20} MB as one page, which "
                    "cannot be right; nothing of that page was kept"
                )
        return bytes(content)

    def _trouble(self, response: httpx.Response) -> Exception:
        """What a bad status means: something that may pass, or the sentence that ends it."""
        status = response.status_code
        if status in PASSING_STATUSES:
            quota = read_quota(response.headers)
            now = self._manners.clock()
            if status == 429 and quota is not None and quota.left == 0:
                reason = (
                    f"status 429, all {quota.limit:,} requests are used up until {quota.renewed}"
                )
                return _PassingError(reason, wait=max(0.0, quota.renewal - now))
            return _PassingError(f"status {status}", wait=retry_after(response.headers, now=now))
        if status == 416:
            return _PassingError("status 416")
        meaning = {
            400: "does not understand the request",
            401: "does not accept the key",
            403: "forbids the request",
            404: "has nothing there",
        }.get(status, "refuses the request")
        hint = self._hints.get(status, "check the address and the arguments")
        address = without_query(str(response.url))
        return RemoteError(f"{self.name} {meaning} (status {status} from {address}): {hint}")

    def _patiently(self, attempt: Callable[[], T], url: str) -> T:
        failures = 0
        while True:
            try:
                return attempt()
            except _PassingError as trouble:
                failures = 1 if trouble.moved else failures + 1
                self._wait_out(trouble, failures, url)

    def _wait_out(self, trouble: _PassingError, failures: int, url: str) -> None:
        """Wait before the next attempt, or end it with a sentence."""
        where = f"{self.name} ({urlsplit(url).netloc.rpartition('@')[2]})"
        # A server that never answered is most likely out of reach: do not keep the user waiting.
        most = self._manners.attempts if self._answered else min(3, self._manners.attempts)
        if failures >= most:
            if self._answered:
                message = (
                    f"{where} gave no usable answer in {failures} attempts: {trouble}; {GO_ON}"
                )
            else:
                message = (
                    f"{where} cannot be reached: {trouble}. Check the network connection (behind a "
                    f"proxy, set HTTPS_PROXY), then {GO_ON}"
                )
            raise RemoteError(message) from trouble
        wait = self._manners.backoff(failures)
        if trouble.wait is not None:
            if trouble.wait > self._manners.patience:
                raise RemoteError(
                    f"{where} asks to be left alone for {trouble.wait / 60:,.0f} minutes "
                    f"({trouble}); {GO_ON}"
                ) from trouble
            # Never earlier than asked, and a little scattered.
            wait = trouble.wait + self._manners.jitter() * min(1.0, trouble.wait / 10)
        self._notify(f"{where}: {trouble}; trying again in {wait:,.0f} s")
        self._manners.sleep(wait)

    def _keep_pace(self) -> None:
        early = self._last_request + self._manners.pause - self._manners.clock()
        if early > 0:
            self._manners.sleep(min(early, self._manners.pause))
        self._last_request = self._manners.clock()


class _PassingError(Exception):
    """A failure that may pass, and how long the server asks to be left alone (seconds)."""

    def __init__(self, reason: str, *, wait: float | None = None, moved: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.moved = moved  # some bytes came through before it failed


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates, read once: that takes longer than many a request."""
    context: ssl.SSLContext = require("httpx", "fetch").create_ssl_context()
    return context


def _goes_on_at(response: httpx.Response, start: int) -> bool:
    """Whether a response holds the rest of a file from byte `start`, not all of it again."""
    content_range = response.headers.get("Content-Range", "")
    return response.status_code == 206 and content_range.startswith(f"bytes {start}-")


def _plainly(error: httpx.RequestError) -> str:
    """A transport error in a reader's words."""
    kind = type(error).__name__
    return {
        "ConnectTimeout": "no connection within the time allowed",
        "ReadTimeout": "it fell silent in the middle",
        "RemoteProtocolError": "the connection was cut in the middle",
        "DecodingError": "its compressed answer is damaged",
    }.get(kind, re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or kind)
