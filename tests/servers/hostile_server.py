"""A server that answers every request in a harmful way, on the loopback interface.

A mode is a function that gets the connection after the request was read, and writes raw bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Self

Mode = Callable[[socket.socket, bytes], None]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def _whole(body: bytes, *, head: bytes = HEAD) -> Mode:
    def mode(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    return mode


def _endless(head: bytes, piece: bytes, *, pause: float = 0.0) -> Mode:
    def mode(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            if pause:
                time.sleep(pause)

    return mode


def _reply(content: str) -> bytes:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "1", "model": "m", "choices": [choice]}).encode()


def _chunk(content: str) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None}
    return b"data: " + json.dumps({"id": "1", "choices": [choice]}).encode() + b"\n\n"


def _hang(connection: socket.socket, _: bytes) -> None:
    connection.recv(1)  # until the client closes the connection


def _hang_after_head(connection: socket.socket, request: bytes) -> None:
    connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
    _hang(connection, request)


def _close(connection: socket.socket, _: bytes) -> None:
    connection.close()


def _echo_key(connection: socket.socket, request: bytes) -> None:
    key = request.partition(b"Bearer ")[2].partition(b"\r\n")[0].decode()
    _whole(_reply(f"Your key is {key}."))(connection, request)


def redirecting(address: str, status: int = 307) -> Mode:
    """Redirect every request to another address."""
    return _whole(b"", head=f"HTTP/1.1 {status} Found\r\nLocation: {address}\r\n".encode())


_NESTED = b"[" * 200_000
_CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_GZIPPED = HEAD + b"Content-Encoding: gzip\r\n"
_BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nx-should-retry: true\r\n"

MODES: dict[str, Mode] = {
    "never answers": _hang,
    "answers the head only": _hang_after_head,
    "sends a byte a second": _endless(HEAD + b"Content-Length: 100000\r\n\r\n", b"{", pause=1.0),
    "sends a header a second": _endless(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n", pause=1.0),
    "sends headers without end": _endless(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n"),
    "sends one header without end": _endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65536),
    "keeps a stream alive": _endless(STREAM, b": wait\n\n", pause=0.2),
    "streams words slowly": _endless(STREAM, _chunk("word "), pause=0.1),
    "streams words without end": _endless(STREAM, _chunk("word " * 100)),
    "streams one line without end": _endless(STREAM, b"data: " + b"a" * 65536),
    "streams empty lines": _endless(STREAM, b"\n" * 65536),
    "streams short lines": _endless(STREAM, b"a\n" * 32768),
    "streams comments without end": _endless(STREAM, b":\n\n" * 20000),
    "sends 100 MB": _whole(_reply("a" * 100_000_000)),
    "sends without end": _endless(HEAD + b"\r\n", b" " * 65536),
    "sends chunks without end": _endless(_CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n"),
    "sends a gzip bomb": _whole(gzip.compress(b" " * 300_000_000, 9), head=_GZIPPED),
    "nests arrays": _whole(_NESTED),
    "nests objects": _whole(b'{"a":' * 100_000),
    "nests an array in a stream": _whole(b"data: " + _NESTED + b"\n\n", head=STREAM[:-2]),
    "nests an object in the text": _whole(_reply('{"a":' * 100_000)),
    "answers the key": _echo_key,
    "is busy for an hour": _whole(b"", head=_BUSY),
    "closes the connection": _close,
    "is not HTTP": _whole(b"", head=b"SSH-2.0-OpenSSH_9.0\r\n"),
    "redirects to itself": redirecting("/v1/chat/completions"),
    "declares a huge length": _whole(b"", head=HEAD + b"Content-Length: 99999999999999\r\n"),
    "sends invalid UTF-8": _whole(b'{"choices": [{"message": {"content": "\xff\xfe\x00"}}]}'),
    "sends numbers of a million digits": _whole(b'{"choices": ' + b"9" * 1_000_000 + b"}"),
}


class HostileServer:
    """Server that answers all requests in one `mode`; it counts them in `requests`.

    `ended` says whether it came to its own end before the client did.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode, self.requests, self.ended = mode, 0, False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @contextlib.contextmanager
    def ending_after(self, seconds: float) -> Iterator[None]:
        """Close all connections after some time, unless the block ends before."""

        def end() -> None:
            self.ended = True
            self._close()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _close(self) -> None:
        for one in (self._listening, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._open.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            request = b""
            while b"\r\n\r\n" not in request:
                if not (received := connection.recv(65536)):
                    return  # only a test of the port
                request += received
            self.requests += 1
            head, _, body = request.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
            while len(body) < length:
                body += connection.recv(65536)
            self.mode(connection, request)
