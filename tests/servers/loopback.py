"""An HTTP server on the loopback interface with scripted failures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # names in lower case


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    sent: int | None = None  # bytes of the body that come through before the connection is cut


Fault = Callable[[Answer], Answer]


def refuse(status: int, **headers: str) -> Fault:
    """Reply with this status; retry_after="7" becomes the header Retry-After: 7."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Answer(b"busy", status, named)


def cut(share: float) -> Fault:
    """Close the connection after this share of the body."""
    return lambda answer: replace(answer, sent=int(len(answer.body) * share))


def shorten(share: float) -> Fault:
    """Send only a share of the body, with a consistent length."""
    return lambda answer: replace(answer, body=answer.body[: int(len(answer.body) * share)])


def say(body: bytes, **headers: str) -> Fault:
    """Reply with another body."""
    return lambda _: Answer(body, 200, headers)


class Loopback:
    """HTTP server in a thread that replies with `answer`.

    `faults[n]` changes the n-th reply (counted from 1), `always` changes all replies.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.faults: dict[int, Fault] = {}
        self.always: Fault | None = None
        self.before: Callable[[int], None] = lambda _: None
        self._lock = threading.Lock()
        self._server = _QuietServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Answer:
        raise NotImplementedError

    def handle(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            n = len(self.requests)
        self.before(n)
        answer = self.answer(request)
        fault = self.always or self.faults.get(n)
        return fault(answer) if fault else answer


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore clients that were killed or have disconnected, as some tests intend."""


def _handler(loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            request = Request(
                parts.path,
                dict(parse_qsl(parts.query, keep_blank_values=True)),
                {name.lower(): value for name, value in self.headers.items()},
            )
            answer = loopback.handle(request)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body if answer.sent is None else answer.body[: answer.sent])
            if answer.sent is not None:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler
