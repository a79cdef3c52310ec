"""Connections to servers with the OpenAI protocol: OpenAI, vLLM, Ollama, llama.cpp."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from landscape._http import is_refused, megabytes, within, without_query
from landscape._wording import one_line
from landscape.errors import InputError, RemoteError, require

T = TypeVar("T")

TIMEOUT = 120.0  # seconds
MAX_BYTES = 2_000_000
_SECOND_TRY = 0.5  # seconds
_END_LENGTH = 40  # bytes
_MESSAGE_LENGTH = 200  # maximum number of characters of a message from a server
#: Errors while a reply in another form is read.
_FORM_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)


class Service(NamedTuple):
    """The default server of a protocol, and the variables of its address and its key."""

    name: str
    protocol: str
    url: str
    address_variable: str
    key_variable: str
    own_server: str  # example of an address


class Piece(NamedTuple):
    """A part of a reply: text, thoughts in a field of their own, reason of the end, usage.

    `tokens` are the tokens of the text, each with the log-probabilities of its alternatives.
    """

    text: str = ""
    thought: str = ""
    reason: str | None = None
    counted: object = None
    is_last: bool = False
    tokens: tuple[tuple[str, dict[str, float]], ...] = ()


OPENAI = Service(
    "OpenAI",
    "the OpenAI protocol",
    "https://api.openai.com/v1",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "http://localhost:11434/v1",
)


class Endpoint:
    """Address and key of a server, and messages about it without its secrets."""

    def __init__(self, service: Service, base_url: str | None, api_key: str | None) -> None:
        self._service = service
        self.address = base_url or os.environ.get(service.address_variable) or service.url
        self.url = server_url(self.address)
        self.key = os.environ.get(service.key_variable, "") if api_key is None else api_key
        self.is_default = self.url.rstrip("/") == service.url
        if self.is_default and not self.key:
            raise InputError(
                f"{service.name} needs a key: set the environment variable {service.key_variable}, "
                f"or set {service.address_variable} to your own server, such as "
                f"{service.own_server}."
            )

    def redacted(self, text: str) -> str:
        """Return a text without the key and the private part of the address."""
        for secret, shown in ((self.address, self.url), (self.key, "***")):
            text = text.replace(secret, shown) if secret else text
        return text

    def plain(self, text: object) -> str:
        """Return a message of the server as one short line, without secrets."""
        line = one_line(str(text), control="")  # so that no control character hides a secret
        return self.redacted(line)[:_MESSAGE_LENGTH] or "no reason given"

    def unreachable(self, reason: object) -> str:
        """Return the message for a failed connection."""
        return (
            f"{self.url} cannot be reached ({self.plain(reason)}). Start it if it is your own "
            f"server, or check {self._service.address_variable} and the network."
        )

    def refusal(self, status: int | None, reason: object, *, model: str, tries: int) -> str:
        """Return the message for an error of the server; None is an error without a status."""
        reason = self.plain(reason)
        match status:
            case 401 | 403:
                return f"{self.url} refused the key ({reason}). Check {self._service.key_variable}."
            case 404:
                return (
                    f"{self.url} has no model {model!r} ({reason}). Choose a model that the "
                    "server offers."
                )
            case 429:
                return (
                    f"{self.url} still limits the rate of requests, or the quota is spent, after "
                    f"{tries} tries ({reason}). Try again later."
                )
        kind = "an error" if status is None else f"status {status}"
        return (
            f"{self.url} answered the request for {model!r} with {kind} ({reason}). Try again "
            "later or use another model."
        )

    def other_protocol(self, fault: object, model: str) -> str:
        """Return the message for a reply in another form."""
        return (
            f"{self.url} answered the request for {model!r} with something that is not "
            f"{self._service.protocol} ({self.plain(fault)}). Check "
            f"{self._service.address_variable}."
        )


@dataclass
class _Limits:
    """Limits of one request, checked while its reply is read."""

    most_bytes: int
    stopped: threading.Event = field(default_factory=threading.Event)
    n_bytes: int = 0
    redirected_to: str = ""
    end: bytes = b""  # of the reply

    @property
    def is_too_large(self) -> bool:
        return self.n_bytes > self.most_bytes

    def check(self) -> None:
        """Raise TimeoutError in a thread if its result is no longer needed."""
        if self.stopped.is_set():
            raise TimeoutError


_LIMITS: ContextVar[_Limits] = ContextVar("limits")


class Server(Endpoint):
    """A server with the OpenAI protocol, with the limits of its requests.

    The ``openai`` package repeats requests after time-outs, broken connections and the statuses
    408, 409, 429 and 5xx. If a server refuses the first connection, there is only one more attempt.
    An empty key means no key.

    A request with all its attempts ends after `timeout` seconds. One attempt ends after
    `attempt_timeout` seconds without data; the default is `timeout`. A reply that is larger than
    `most_bytes` is discarded.
    Redirects to another host or port are not followed, because the whole prompt would go there.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = TIMEOUT,
        most_bytes: int = MAX_BYTES,
        attempt_timeout: float | None = None,
        retries: int = 4,
    ) -> None:
        super().__init__(OPENAI, base_url, api_key)
        self.is_openai = self.is_default
        self._timeout, self._most_bytes, self._retries = timeout, most_bytes, retries
        self._attempt_timeout = attempt_timeout or timeout
        self._has_answered = False
        for name, value in (("timeout", timeout), ("most_bytes", most_bytes)):
            if not value > 0:
                raise InputError(f"{name} is {value!r}; it must be greater than 0.")
        openai = require("openai", "llm")
        hooks = {"request": [lambda _: _LIMITS.get().check()], "response": [_limit]}
        self.client: Any = openai.OpenAI(
            base_url=self.address,
            api_key=self.key or "none",
            timeout=self._attempt_timeout,
            max_retries=retries,
            # A small compressed reply can unpack to gigabytes.
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultHttpxClient(event_hooks=hooks),
        )

    def request(self, model: str, send: Callable[[], T]) -> T:
        """Return the result of `send`, a function that sends one request with `client`."""
        (result,) = self.stream(model, lambda: [send()])
        return result

    def stream(self, model: str, send: Callable[[], Iterable[T]]) -> Iterator[T]:
        """Yield the items of `send`; errors become a RemoteError with a one-sentence message."""
        limits = _Limits(self._most_bytes)

        def limited() -> Iterator[T]:
            _LIMITS.set(limits)
            if not self._has_answered:
                self._check_port()
            yield from send()

        try:
            yield from within(self._timeout, limited, stopped=limits.stopped)
            if limits.is_too_large:  # the end of a stream is missing
                raise ValueError
        except (require("openai", "llm").OpenAIError, TimeoutError, *_FORM_ERRORS) as error:
            raise RemoteError(self._failure(error, model, limits)) from error
        self._has_answered = True

    def _failure(self, error: Any, model: str, limits: _Limits) -> str:
        openai = require("openai", "llm")
        if isinstance(error, TimeoutError | openai.APITimeoutError):
            limit = f"{self._timeout:g} s"
            if isinstance(error, openai.APITimeoutError):
                limit = f"{self._attempt_timeout:g} s, {self._retries + 1} times"
            return (
                f"{self.url} gave no answer within {limit}. Try again later. Finished parts are "
                "stored."
            )
        if limits.is_too_large:
            return (
                f"{self.url} sent more than {megabytes(limits.most_bytes)} in one answer, and the "
                "answer was discarded. Check OPENAI_BASE_URL, or increase most_bytes."
            )
        if limits.redirected_to:
            return (
                f"{self.url} redirects to another host or port ({limits.redirected_to}). The "
                "redirect was not followed, because the prompt would be sent there. Check "
                "OPENAI_BASE_URL."
            )
        if isinstance(error, openai.APIConnectionError):
            return self.unreachable(error.__cause__ or error)
        if isinstance(error, openai.APIStatusError) or type(error) is openai.APIError:
            reason = error.body if isinstance(error.body, str) else error.message
            status = getattr(error, "status_code", None)
            return self.refusal(status, reason, model=model, tries=self._retries + 1)
        return self.other_protocol(error, model)

    def _check_port(self) -> None:
        """Raise an error immediately if no server is running; other errors are retried."""
        for pause in (_SECOND_TRY, 0.0):
            if not is_refused(self.address):
                return
            time.sleep(pause)
        raise RemoteError(self.unreachable("connection refused"))


def read_reply(reply: Any, *, stream: bool) -> Iterator[Piece]:
    """Yield the parts of a reply; a reply that is not a stream is a stream of one chunk."""
    for chunk in reply if stream else [reply]:
        _raise_error_of(chunk)
        counted = getattr(chunk, "usage", None)
        if stream and not chunk.choices:  # a chunk with the usage
            yield Piece(counted=counted)
            continue
        choice = chunk.choices[0]
        _raise_error_of(choice)
        text, thought = _read_message(choice.delta if stream else choice.message)
        yield Piece(text, thought, choice.finish_reason, counted, tokens=_read_tokens(choice))
    # Without a reason and [DONE], a stream was interrupted, although no error was raised.
    is_whole = not stream or re.search(rb"data: ?\[DONE\]", _LIMITS.get().end)
    yield Piece(reason="stop" if is_whole else None, is_last=True)


def _raise_error_of(reply: Any) -> None:
    """Raise the error that a server sent as a part of a reply."""
    if error := getattr(reply, "error", None):
        message = error.get("message") if isinstance(error, Mapping) else error
        raise require("openai", "llm").APIError(str(message or error), request=None, body=error)


def _read_message(message: Any) -> tuple[str, str]:
    """Return the text and the thoughts of a message, which may have parts."""
    fields = (getattr(message, name, None) for name in ("reasoning_content", "reasoning"))
    content = message.content
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    thoughts = [part for part in parts if part["type"] != "text"]
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    thought = "".join(map(str, filter(None, [*fields, *thoughts])))
    # JSON can contain half a character, which no file and no embedder accepts.
    text, thought = (one.encode(errors="replace").decode() for one in (text, thought))
    return text, thought


def _read_tokens(choice: Any) -> tuple[tuple[str, dict[str, float]], ...]:
    """Return the tokens of a reply with their log-probabilities, if the server sends them."""
    listed = getattr(getattr(choice, "logprobs", None), "content", None)
    return tuple(
        (
            str(one.token),
            {
                str(other.token): float(other.logprob)
                for other in [one, *(getattr(one, "top_logprobs", None) or [])]
                if isinstance(other.logprob, int | float)
            },
        )
        for one in listed or ()
    )


def _limit(response: Any) -> None:
    """Limit the size of a response, and ignore a redirect to another origin."""
    limits = _LIMITS.get()
    limits.check()
    response.headers.pop("content-encoding", None)  # only "identity" was accepted
    if "location" in response.headers:
        target = response.request.url.join(response.headers["location"])
        if _origin(target) != _origin(response.request.url):
            host = f"{target.host}:{target.port or target.scheme}"
            limits.redirected_to = one_line(host, most=_MESSAGE_LENGTH)
            del response.headers["location"]
    stream = response.stream
    kind: Any = type(stream)

    class LimitedStream(kind):  # type: ignore[misc] # httpx accepts only streams of its own class
        """The body of a response, which ends at the size limit."""

        def __init__(self) -> None:
            """Do nothing, because the state is in `stream`."""

        def __iter__(self) -> Iterator[bytes]:
            for chunk in stream:
                limits.check()
                limits.n_bytes += len(chunk)
                if limits.is_too_large:
                    return
                limits.end = (limits.end + chunk)[-_END_LENGTH:]
                yield chunk

        def close(self) -> None:
            stream.close()

    limits.n_bytes, limits.end = 0, b""  # ignore the bytes of an earlier attempt
    response.stream = LimitedStream()


def _origin(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def server_url(base_url: str | None = None) -> str:
    """Return the address of a server without user, password, query and fragment.

    >>> server_url("https://me:secret@models.example/v1?key=secret")
    'https://models.example/v1'
    """
    address = base_url or os.environ.get(OPENAI.address_variable) or OPENAI.url
    try:
        return without_query(address)
    except ValueError as error:
        raise InputError(
            f"Invalid address of a server: {address[:60]!r} ({error}). Use an address such as "
            "http://localhost:11434/v1."
        ) from error
