"""Language models that can be watched, and stopped during a request."""

from __future__ import annotations

import contextvars
import copy
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from landscape.errors import RemoteError
from landscape.llm._client import complete_decided, sample

if TYPE_CHECKING:
    from landscape.llm import WritingModel

T = TypeVar("T")
STOPPED = "it was stopped"
_CHECKED_EVERY = 0.05  # seconds


class WatchedModel:
    """A language model that calls a function before each request."""

    def __init__(self, inner: WritingModel, before: Callable[[], object]) -> None:
        self._inner, self._before = inner, before

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._inner.model

    def complete(self, system: str, user: str) -> str:
        """Forward the request to the model."""
        return self._request(lambda: self._inner.complete(system, user))

    def stream(self, system: str, user: str) -> Iterator[str]:
        """Yield the answer in pieces."""
        self._before()
        yield from self._inner.stream(system, user)

    def complete_json(self, system: str, user: str, schema: Mapping[str, object]) -> dict[str, Any]:
        """Return an answer that follows a JSON schema."""
        return self._request(lambda: self._inner.complete_json(system, user, schema))

    def complete_decided(
        self, system: str, user: str, schema: Mapping[str, object] | None, decision: str
    ) -> tuple[Any, list[float]]:
        """Return a reply and the probabilities of its decisions, if the model gives them."""
        send = partial(complete_decided, self._inner, system, user, schema, decision)
        return self._request(send)

    def sampled(self, temperature: float, *, run: int = 1) -> WatchedModel:
        """Return a copy that samples its replies; see `ChatModel.sampled`."""
        copied = copy.copy(self)
        copied._inner = sample(self._inner, temperature, run=run)
        return copied

    def _request(self, send: Callable[[], T]) -> T:
        self._before()
        return send()


class Interruptible(WatchedModel):
    """A language model that raises an error immediately when it is stopped.

    This also works during a request. If its model fails, an agent returns a partial result, so
    stopping the model keeps the results.
    """

    def __init__(self, inner: WritingModel, stopping: threading.Event) -> None:
        super().__init__(inner, self._check)
        self._stopping = stopping

    def stream(self, system: str, user: str) -> Iterator[str]:
        """Yield the answer in pieces."""
        for piece in super().stream(system, user):
            self._check()
            yield piece

    def _check(self) -> None:
        if self._stopping.is_set():
            raise RemoteError(STOPPED)

    def _request(self, send: Callable[[], T]) -> T:
        self._check()
        reply: Future[T] = Future()

        def work() -> None:
            try:
                reply.set_result(send())
            except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
                reply.set_exception(error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), daemon=True).start()
        while not wait([reply], _CHECKED_EVERY).done:
            self._check()
        return reply.result()
