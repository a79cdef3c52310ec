"""A test server with the OpenAI and Cohere rerank protocols that can simulate failures."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

from tests.timing import time_limit

KEY = "sk-the-right-key"
MODELS = ("text-embedding-3-small", "small-chat", "rerank-v3.5")
DIMENSION = 1536


@dataclass(frozen=True)
class Request:
    path: str
    key: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay: float = 0.0  # seconds before the answer begins
    sent: int | None = None  # bytes that come through before the connection is cut
    pace: float = 0.0  # seconds between two pieces of a stream


Fault = Callable[[Answer], Answer]


@dataclass(frozen=True)
class Written:
    """The reply of a model, with the reason for its end and the numbers of tokens."""

    text: str
    finish_reason: str = "stop"
    n_read: int = 90
    n_written: int = 10

    @property
    def usage(self) -> dict[str, int]:
        total = self.n_read + self.n_written
        return {
            "prompt_tokens": self.n_read,
            "completion_tokens": self.n_written,
            "total_tokens": total,
        }


def fine(answer: Answer) -> Answer:
    return answer


def rate_limited(retry_after: float) -> Fault:
    body = _error("Rate limit reached for requests", code="rate_limit_exceeded")
    headers = {"Content-Type": "application/json", "Retry-After": f"{retry_after:g}"}
    return lambda _: Answer(body, 429, headers)


def failing(status: int = 500) -> Fault:
    return lambda _: Answer(_error("The server had an error", code="server_error"), status)


def slow(seconds: float) -> Fault:
    """Begin the answer late; on a slow machine later, as the time limits of the tests."""
    return lambda answer: replace(answer, delay=time_limit(seconds))


def word_by_word(pace: float) -> Fault:
    """Send a stream slowly."""
    return lambda answer: replace(answer, pace=pace)


def cut_off(answer: Answer) -> Answer:
    return replace(answer, sent=len(answer.body) // 2)


def invalid_json(answer: Answer) -> Answer:
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def empty(answer: Answer) -> Answer:
    return replace(answer, body=b"")


def other(document: object) -> Fault:
    """Reply with valid JSON that does not follow the protocol."""
    return lambda answer: replace(answer, body=json.dumps(document).encode())


def message(**changes: object) -> Fault:
    """Change the message of a reply, such as its field `reasoning_content`."""

    def change(answer: Answer) -> Answer:
        document = json.loads(answer.body)
        document["choices"][0]["message"] |= changes
        return replace(answer, body=json.dumps(document).encode())

    return change


def streaming(*deltas: dict[str, Any], end: str = "stop", usage: object = None) -> Fault:
    """Send a stream of these deltas with comments, as servers that keep a connection alive."""
    choices: list[list[dict[str, Any]]] = [[{"index": 0, "delta": delta}] for delta in deltas]
    if end == "stop":
        choices.append([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    chunks = [json.dumps({"id": "c-1", "choices": choice}) for choice in choices]
    if usage:
        chunks.append(json.dumps({"id": "c-1", "choices": [], "usage": usage}))
    chunks += ["[DONE]"] * (end != "cut")
    body = ": keep-alive\n\n" + "".join(f"data: {chunk}\n\n: keep-alive\n\n" for chunk in chunks)
    return lambda _: Answer(body.encode(), headers={"Content-Type": "text/event-stream"})


def web_page(_: Answer) -> Answer:
    return Answer(b"<html>Please log in</html>", 200, {"Content-Type": "text/html"})


def vectors(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Fault:
    """Reply with a changed list of vectors."""

    def spoil(answer: Answer) -> Answer:
        document = json.loads(answer.body)
        document["data"] = change(document["data"])
        return replace(answer, body=json.dumps(document).encode())

    return spoil


class OpenAIServer:
    """Server in which a fault of `script` applies to one reply, and `always` to all later ones."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.script: list[Fault] = []
        self.always: Fault | None = None
        self.forms = {"json_schema", "json_object"}  # of answers, that this server can be held to
        self.models = MODELS
        self.reply: Callable[[dict[str, Any]], str] = lambda _: "{}"
        # Tokens of a reply with their log-probabilities, as OpenAI, vLLM and llama.cpp send them.
        self.logprobs: Callable[[str], list[dict[str, Any]]] | None = None
        self.finish_reason = "stop"
        self.counts_tokens = True
        self.counts_streams = True  # knows stream_options
        self.refuses: Callable[[dict[str, Any]], tuple[int, str] | None] = lambda _: None
        self._lock = threading.Lock()
        self._server = _QuietServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
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

    def handle(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            fault = self.script.pop(0) if self.script else self.always
        answer = self._answer(request)
        return fault(answer) if fault else answer

    def _answer(self, request: Request) -> Answer:
        if request.key != KEY:
            return Answer(_error(f"Incorrect API key provided: {request.key}"), 401)
        if request.body.get("model") not in self.models:
            return Answer(_error("The model does not exist", code="model_not_found"), 404)
        match request.path:
            case "/v1/embeddings":
                return _embeddings(request.body)
            case "/v1/chat/completions":
                return self._chat(request.body)
            case "/v2/rerank":
                return _rerank(request.body)
        return Answer(_error(f"Invalid URL (POST {request.path})"), 404)

    def _chat(self, body: dict[str, Any]) -> Answer:
        if refusal := self.refuses(body):
            return Answer(_error(refusal[1]), refusal[0])
        form = body.get("response_format", {"type": "text"})
        if form["type"] not in self.forms | {"text"}:
            return Answer(_error(f"response_format {form['type']} is not supported"), 400)
        if form["type"] == "json_schema" and "schema" not in form.get("json_schema", {}):
            return Answer(_error("Missing required parameter: json_schema.schema"), 400)
        if "stream_options" in body and not self.counts_streams:
            return Answer(_error("Unrecognized request argument: stream_options"), 400)
        written = self.write(body)
        if body.get("stream"):
            return self._stream(body, written)
        message = {"role": "assistant", "content": written.text, "refusal": None}
        document: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": written.finish_reason}],
        }
        if body.get("logprobs") and self.logprobs is not None:
            document["choices"][0]["logprobs"] = {"content": self.logprobs(written.text)}
        if self.counts_tokens:
            document["usage"] = written.usage
        return Answer(json.dumps(document).encode())

    def write(self, body: dict[str, Any]) -> Written:
        """Return the reply of the model to a request."""
        return Written(self.reply(body), self.finish_reason)

    def _stream(self, body: dict[str, Any], written: Written) -> Answer:
        deltas = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in re.findall(r"\S*\s*", written.text) if piece]
        choices: list[list[dict[str, Any]]] = [
            [{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas
        ]
        choices.append([{"index": 0, "delta": {}, "finish_reason": written.finish_reason}])
        chunks: list[dict[str, Any]] = [
            {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "choices": choice}
            for choice in choices
        ]
        if "stream_options" in body and self.counts_tokens:
            chunks.append(chunks[0] | {"choices": [], "usage": written.usage})
        lines = [json.dumps(chunk | {"model": body["model"]}) for chunk in chunks] + ["[DONE]"]
        return Answer(
            "".join(f"data: {line}\n\n" for line in lines).encode(),
            headers={"Content-Type": "text/event-stream"},
        )


def vector_of(text: str) -> np.ndarray:
    """Return the vector of the server for a text: float32, unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    vector = np.random.default_rng(seed).normal(size=DIMENSION)
    return (vector / np.linalg.norm(vector)).astype("<f4")


def _embeddings(body: dict[str, Any]) -> Answer:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if not texts or len(texts) > 2048 or any(not text for text in texts):
        return Answer(_error("'$.input' is invalid. Please check the API reference"), 400)
    data = [
        {"object": "embedding", "index": i, "embedding": _encoded(vector_of(text), body)}
        for i, text in enumerate(texts)
    ]
    tokens = sum(len(text) // 4 + 1 for text in texts)
    document = {
        "object": "list",
        "data": data[::-1],  # the protocol promises an index, not an order
        "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return Answer(json.dumps(document).encode())


def _encoded(vector: np.ndarray, body: dict[str, Any]) -> object:
    if body.get("encoding_format") == "base64":
        return base64.b64encode(vector.tobytes()).decode()
    return [float(x) for x in vector]


def _rerank(body: dict[str, Any]) -> Answer:
    """Reply as Cohere does; the score of a document depends on words shared with the query."""
    wanted = set(body["query"].lower().split())
    if not body["documents"] or len(body["documents"]) > 1000:
        return Answer(_error("documents must hold 1 to 1000 texts"), 400)
    scored = [
        {"index": i, "relevance_score": len(wanted & set(text.lower().split())) / len(wanted)}
        for i, text in enumerate(body["documents"])
    ]
    scored.sort(key=lambda result: -result["relevance_score"])
    return Answer(json.dumps({"id": "r-1", "results": scored[: body.get("top_n")]}).encode())


def _error(message: str, *, code: str | None = None) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return json.dumps({"error": error}).encode()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore clients that disconnect, which some tests do on purpose."""


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            request = Request(self.path, key, json.loads(self.rfile.read(length)))
            answer = server.handle(request)
            time.sleep(answer.delay)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            body = answer.body if answer.sent is None else answer.body[: answer.sent]
            with contextlib.suppress(ConnectionError):
                for piece in re.findall(rb".*?\n\n|.+", body, re.DOTALL) if answer.pace else [body]:
                    self.wfile.write(piece)
                    time.sleep(answer.pace)
            if answer.sent is not None:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler
