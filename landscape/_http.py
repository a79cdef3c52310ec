"""HTTP client with rate limiting, retries, required https, and size and time limits."""

from __future__ import annotations

import contextvars
import email.utils
import importlib.metadata
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from landscape.errors import DISTRIBUTION, InputError, RemoteError, require

if TYPE_CHECKING:
    import ssl

    import httpx
    import tenacity

T = TypeVar("T")

RUN_AGAIN = "run the same command again later to continue"

#: HTTP status codes after which a request is repeated.
TEMPORARY_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524})

_MAX_REDIRECTS = 5
_ERROR_TEXT = 10_000  # maximum number of bytes read from an error response
_PORT_TIMEOUT = 3.0  # seconds
_MIN_SPEED = 1_000  # bytes per second of a download that is slower than `reply_limit`
_UNREACHABLE_ATTEMPTS = 3


def ignore_note(note: str) -> None:
    """Ignore a message. This is the default of `notify` in `HttpClient`."""


@dataclass(frozen=True)
class RetryPolicy:
    """Delays, retries and limits for requests to one server. Times are in seconds.

    >>> RetryPolicy(first_wait=1, jitter=lambda: 1.0).backoff(3)
    4.0
    """

    pause: float = 0.0  # minimum time between two requests
    attempts: int = 6  # maximum number of attempts after temporary errors
    connect_attempts: int = _UNREACHABLE_ATTEMPTS
    first_wait: float = 2.0  # first of the exponentially increasing waits
    longest_wait: float = 120.0
    longest_retry_after: float = 900.0  # longest wait that a server can request
    cap_retry_after: bool = False  # whether to shorten a longer wait instead of failing
    timeout: float = 120.0  # maximum time without data from the server
    time_limit: float = float("inf")  # maximum time of a request with all attempts
    reply_limit: float = 900.0  # maximum time of one response, also of one that sends slowly
    largest_reply: int = 512 * 2**20  # maximum bytes of a response
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time  # seconds since 1970
    jitter: Callable[[], float] = field(default_factory=lambda: random.SystemRandom().random)

    def backoff(self, failures: int) -> float:
        """Return the wait in seconds, which grows exponentially with failures and has jitter."""
        longest = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return float(longest * (0.5 + 0.5 * self.jitter()))


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes


class GarbledReplyError(ValueError):
    """Exception for a successful response that cannot be read. The request is repeated."""


class RequestError(RemoteError):
    """Exception for a request that failed, with the status and text of the response."""

    def __init__(
        self, message: str, *, status: int | None = None, text: str = "", timed_out: bool = False
    ) -> None:
        super().__init__(message)
        self.status, self.text, self.timed_out = status, text, timed_out


class _TemporaryError(Exception):
    """Exception for a failure after which the request is repeated."""

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        text: str = "",
        retry_after: float | None = None,
        connected: bool = True,
        timed_out: bool = False,
        progressed: bool = False,
    ) -> None:
        super().__init__(reason)
        self.status, self.text, self.timed_out = status, text, timed_out
        self.retry_after = retry_after  # seconds
        self.connected = connected
        self.progressed = progressed  # whether a download received bytes before the failure


class HttpClient:
    """HTTP client for one server, used as a context manager."""

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        policy: RetryPolicy,
        hints: Mapping[int, str] | None = None,
        headers: Mapping[str, str] | None = None,
        secret: bool = False,
        https_only: bool = True,
        notify: Callable[[str], None] = ignore_note,
    ) -> None:
        if https_only:
            require_https(base_url)
        self._httpx = require("httpx", "fetch")
        self._tenacity = require("tenacity", "fetch")
        self.name = name
        self.base_url = base_url.rstrip("/")
        self._policy, self._hints, self._secret, self._notify = policy, hints or {}, secret, notify
        self._answered = False
        self._last_request = float("-inf")
        self._client: httpx.Client = self._httpx.Client(
            headers={"User-Agent": user_agent(), **(headers or {})},
            timeout=self._httpx.Timeout(policy.timeout, connect=min(30.0, policy.timeout)),
            trust_env=not is_loopback(base_url),  # a proxy cannot reach the loopback interface
            verify=_certificates(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def request(
        self,
        url: str,
        *,
        read: Callable[[Reply], T],
        params: Mapping[str, str] | None = None,
        json: object = None,
        csv: str | None = None,
        accept: frozenset[int] = frozenset(),
    ) -> T:
        """Request a URL, parse the response with `read`, and retry temporary failures.

        With `json` or `csv`, the request is a POST request; `csv` is a list for ADS "bigquery".
        """
        end = self._policy.clock() + self._policy.time_limit
        sent: dict[str, Any] = {"params": params, "json": json}
        if csv is not None:
            sent |= {"content": csv, "headers": {"Content-Type": "big-query/csv"}}

        def ask() -> Iterator[Reply]:
            with self._open(url, accept=accept, **sent) as response:
                content = self._read_body(response, end)
                yield Reply(response.status_code, response.headers, content)

        def attempt() -> T:
            limit = min(self._policy.reply_limit, self._policy.time_limit)
            try:  # a thread, because the time limits of httpx begin again at each byte
                (reply,) = within(min(limit, end - self._policy.clock()), ask)
            except TimeoutError as error:
                raise self._time_error(limit) from error
            try:
                return read(reply)
            except GarbledReplyError as error:
                raise _TemporaryError(str(error)) from error

        return self._retry(attempt, url, end=end)

    def download(
        self, url: str, part: Path, *, size: int, advance: Callable[[float], None]
    ) -> None:
        """Download a file of `size` bytes to `part`. A partial file is resumed."""

        def attempt() -> None:
            done = part.stat().st_size if part.exists() else 0
            if done > size:
                part.unlink()
                advance(-done)
                done = 0
            if done < size or not part.exists():
                self._download_rest(url, part, done=done, size=size, advance=advance)

        self._retry(attempt, url)

    def _download_rest(
        self, url: str, part: Path, *, done: int, size: int, advance: Callable[[float], None]
    ) -> None:
        headers = {"Accept-Encoding": "identity"}  # no compression, so that `size` is correct
        if done:
            headers["Range"] = f"bytes={done}-"
        received, start = done, self._policy.clock()
        try:
            with self._open(url, headers=headers) as response:
                content_range = response.headers.get("Content-Range", "")
                continues = content_range.startswith(f"bytes {done}-")
                if done and not (continues and response.status_code == 206):
                    advance(-done)
                    received = done = 0
                with part.open("ab" if done else "wb") as stream:
                    for chunk in response.iter_raw():
                        stream.write(chunk)
                        received += len(chunk)
                        advance(len(chunk))
                        if received > size:
                            break
                        seconds = self._policy.clock() - start
                        if seconds > max(self._policy.reply_limit, (received - done) / _MIN_SPEED):
                            raise self._time_error(seconds)
        except _TemporaryError as error:
            error.progressed = received > done
            raise
        if received != size:
            raise _TemporaryError(
                f"it sent {received:,} bytes of {size:,}", progressed=done < received < size
            )

    @contextmanager
    def _open(
        self, url: str, *, accept: frozenset[int] = frozenset(), **sent: Any
    ) -> Iterator[httpx.Response]:
        """Open a response without reading its body; raise an exception for an error status."""
        httpx = self._httpx
        has_body = sent.get("json") is not None or sent.get("content") is not None
        method = "POST" if has_body else "GET"
        try:
            response = self._send(self._client.build_request(method, url, **sent))
            try:
                self._answered = True
                if not response.is_success and response.status_code not in accept:
                    raise self._status_error(response)
                yield response
            finally:
                response.close()
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise RequestError(f"{self._where(url)} cannot be reached: {error}") from error
        except httpx.RequestError as error:
            raise _TemporaryError(
                _reason(error),
                connected=not isinstance(error, httpx.ConnectError),
                timed_out=isinstance(error, httpx.TimeoutException),
            ) from error

    def _send(self, request: httpx.Request) -> httpx.Response:
        """Send a request after the pause of the policy. Redirects of GET requests are followed."""
        for _ in range(_MAX_REDIRECTS + 1):
            early = self._last_request + self._policy.pause - self._policy.clock()
            if early > 0:
                self._policy.sleep(min(early, self._policy.pause))
            self._last_request = self._policy.clock()
            response = self._client.send(request, stream=True)
            if response.next_request is None or request.method != "GET":
                return response
            response.close()
            self._check_redirect(request.url, response.next_request.url)
            request = response.next_request
        raise RequestError(
            f"{self.name} redirects {without_query(str(request.url))} too often; {RUN_AGAIN}"
        )

    def _check_redirect(self, old: httpx.URL, new: httpx.URL) -> None:
        if self._secret and (old.scheme, old.host, old.port) != (new.scheme, new.host, new.port):
            raise RequestError(
                f"{self.name} redirects to another host ({new.host}). The redirect was not "
                "followed, because it would send your key there; check the address of the service"
            )
        if new.scheme != "https" and not (is_loopback(str(old)) and is_loopback(str(new))):
            raise RequestError(
                f"{self.name} redirects to {without_query(str(new))}, which is not https. The "
                "redirect was not followed; check the address of the service"
            )

    def _read_body(self, response: httpx.Response, end: float) -> bytes:
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > self._policy.largest_reply:  # also after decompression
                size = megabytes(self._policy.largest_reply)
                raise RequestError(
                    f"{self.name} sent more than {size} as one page; the page was discarded. "
                    "Check the address"
                )
            if self._policy.clock() > end:
                raise self._time_error()
        return bytes(content)

    def _time_error(self, limit: float | None = None) -> RequestError:
        return RequestError(
            f"{self.name} did not finish its answer within {limit or self._policy.time_limit:g} s; "
            f"{RUN_AGAIN}",
            timed_out=True,
        )

    def _status_error(self, response: httpx.Response) -> Exception:
        """Return the exception for an error status, temporary or final."""
        status, text = response.status_code, self._error_text(response)
        now = self._policy.clock()
        quota = read_quota(response.headers)
        if status == 429 and quota is not None and quota.left == 0:
            return _TemporaryError(
                f"status 429, all {quota.limit:,} requests are used up until {quota.renewed}",
                status=status,
                text=text,
                retry_after=max(0.0, quota.renewal - now),
            )
        if status in TEMPORARY_STATUSES or status == 416:
            wait = None if status == 416 else retry_after(response.headers, now=now)
            return _TemporaryError(f"status {status}", status=status, text=text, retry_after=wait)
        meaning = {
            400: "does not understand the request",
            401: "does not accept the key",
            403: "forbids the request",
            404: "has no such page",
        }.get(status, "refuses the request")
        hint = self._hints.get(status, "check the address and the arguments")
        address = without_query(str(response.url))
        return RequestError(
            f"{self.name} {meaning} (status {status} from {address}): {hint}",
            status=status,
            text=text,
        )

    def _error_text(self, response: httpx.Response) -> str:
        content = bytearray()
        with suppress(self._httpx.RequestError):
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > _ERROR_TEXT:
                    break
        return content[:_ERROR_TEXT].decode(errors="replace")

    def _retry(self, attempt: Callable[[], T], url: str, *, end: float = float("inf")) -> T:
        policy, failures = self._policy, 0

        def error_of(state: tenacity.RetryCallState) -> _TemporaryError:
            error = state.outcome.exception() if state.outcome else None
            assert isinstance(error, _TemporaryError)  # noqa: S101 - what `retry` selects
            return error

        def count(state: tenacity.RetryCallState) -> None:
            nonlocal failures
            failures = 1 if error_of(state).progressed else failures + 1

        def wait(state: tenacity.RetryCallState) -> float:
            asked = error_of(state).retry_after
            if asked is None:
                return policy.backoff(failures)
            asked = min(asked, policy.longest_retry_after)
            return asked + policy.jitter() * min(1.0, asked / 10)  # at least the requested pause

        def is_final(state: tenacity.RetryCallState) -> bool:
            error = error_of(state)
            is_too_long = (error.retry_after or 0.0) > policy.longest_retry_after
            return (
                failures >= self._most_attempts(error)
                or (is_too_long and not policy.cap_retry_after)
                or policy.clock() + state.upcoming_sleep > end
            )

        def announce(state: tenacity.RetryCallState) -> None:
            message = f"{error_of(state)}; trying again in {state.upcoming_sleep:,.0f} s"
            self._notify(f"{self._where(url)}: {message}")

        retrying = self._tenacity.Retrying(
            retry=self._tenacity.retry_if_exception_type(_TemporaryError),
            after=count,
            wait=wait,
            stop=is_final,
            before_sleep=announce,
            sleep=policy.sleep,
            reraise=True,
        )
        try:
            result: T = retrying(attempt)
        except _TemporaryError as error:
            raise self._final_error(error, failures, url) from error
        return result

    def _most_attempts(self, error: _TemporaryError) -> int:
        if self._answered:
            return self._policy.attempts
        first = _UNREACHABLE_ATTEMPTS if error.connected else self._policy.connect_attempts
        return min(first, self._policy.attempts)

    def _final_error(self, error: _TemporaryError, failures: int, url: str) -> RequestError:
        where = self._where(url)
        if failures >= self._most_attempts(error):
            if self._answered:
                message = f"{where} returned no usable answer in {failures} attempts: {error}"
            else:
                message = (
                    f"{where} cannot be reached: {error}. Check the network connection (behind a "
                    "proxy, set HTTPS_PROXY)"
                )
        elif (error.retry_after or 0.0) > self._policy.longest_retry_after:
            minutes = (error.retry_after or 0.0) / 60
            message = f"{where} requests a pause of {minutes:,.0f} minutes ({error})"
        else:
            return self._time_error()
        return RequestError(
            f"{message}; {RUN_AGAIN}",
            status=error.status,
            text=error.text,
            timed_out=error.timed_out,
        )

    def _where(self, url: str) -> str:
        return f"{self.name} ({urlsplit(url).netloc.rpartition('@')[2]})"


@dataclass(frozen=True)
class Quota:
    """Quota of a server: allowed and remaining requests, and the reset time (s since 1970)."""

    limit: int
    left: int
    renewal: float

    @property
    def renewed(self) -> str:
        """Time at which the quota is reset, as text."""
        return f"{datetime.fromtimestamp(self.renewal, tz=UTC):%Y-%m-%d %H:%M} UTC"

    def __str__(self) -> str:
        return f"{self.left:,} of {self.limit:,} requests left until {self.renewed}"


def read_quota(headers: Mapping[str, str]) -> Quota | None:
    """Read the quota from X-RateLimit headers."""
    try:
        limit, left, renewal = (
            int(headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset")
        )
        datetime.fromtimestamp(renewal, tz=UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
    return Quota(limit, left, float(renewal))


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the wait in seconds from a Retry-After header (RFC 9110, section 10.2.3)."""
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None


def refuse_web_page(reply: Reply, name: str, wanted: str) -> None:
    """Raise RemoteError if the response is a web page, such as a login page."""
    head = reply.content[:1000].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")) or b"<html" in head:
        raise RemoteError(
            f"{name} returned a web page instead of {wanted}, such as a network login page "
            f"or a notice that the service is down. Open the service in a browser, then {RUN_AGAIN}"
        )


def user_agent() -> str:
    """Return the User-Agent header: the name and version of this package."""
    try:
        version = importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    return f"landscape/{version} (astronomy literature mapping)"


def require_https(url: str) -> None:
    """Raise InputError if a URL uses neither https nor a local address."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and is_loopback(url):
        return
    raise InputError(f"Landscape fetches over https only; the address is {url!r}")


def is_loopback(url: str) -> bool:
    """Return whether an address is on the loopback interface."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def within(
    seconds: float, work: Callable[[], Iterable[T]], *, stopped: threading.Event | None = None
) -> Iterator[T]:
    """Yield the items of `work`, which runs in its own thread. Raise TimeoutError after `seconds`.

    A thread that waits for a server cannot be interrupted. Therefore `stopped` is set,
    and the thread ends at its next step.
    """
    stopped = stopped or threading.Event()
    items: SimpleQueue[tuple[list[T], BaseException | None]] = SimpleQueue()

    def produce() -> None:
        try:
            for item in work():
                if stopped.is_set():
                    return
                items.put(([item], None))
            items.put(([], None))
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            items.put(([], error))

    context = contextvars.copy_context()
    end = time.monotonic() + min(seconds, threading.TIMEOUT_MAX / 2)
    threading.Thread(target=context.run, args=(produce,), daemon=True).start()
    try:
        while True:
            try:
                item, error = items.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                raise TimeoutError(f"no answer within {seconds:g} s") from None
            if error is not None:
                raise error
            if not item:
                return
            yield item[0]
    finally:
        stopped.set()


def megabytes(n_bytes: int) -> str:
    """Format a size in megabytes, such as "2 MB"."""
    return f"{n_bytes / 1e6:,.3g} MB"


def is_refused(url: str) -> bool:
    """Return whether a server refuses connections. Return False if this is unknown."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
        if parts.scheme in getproxies() and not proxy_bypass(host):
            return False
        socket.create_connection((host, port), timeout=_PORT_TIMEOUT).close()
    except (OSError, ValueError) as error:
        return isinstance(error, ConnectionRefusedError)
    return False


def without_query(url: str) -> str:
    """Return a URL without user name, password, query and fragment, for messages."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates. They are cached because reading them is slow."""
    return require("httpx", "fetch").create_ssl_context()


def _reason(error: httpx.RequestError) -> str:
    """Return a description of a connection error."""
    kind = type(error).__name__
    return {
        "ConnectTimeout": "no connection within the time limit",
        "ReadTimeout": "no answer within the time limit",
        "RemoteProtocolError": "the connection was interrupted",
        "DecodingError": "its compressed reply is damaged",
    }.get(kind, re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or kind)
