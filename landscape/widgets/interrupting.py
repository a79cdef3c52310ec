"""Language models that can be interrupted: what was found until then is kept."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from landscape.errors import RemoteError

if TYPE_CHECKING:
    from landscape.llm._client import WritingModel

T = TypeVar("T")
STOPPED = "it was stopped"
_LOOKED_EVERY = 0.05  # seconds


class Interruptible:
    """A language model that fails at once when the reader has had enough.

    An agent that loses its model hands over what it has, marked partial; so a stop is told to it as
    a model that is gone. A request under way is not waited for.

    Parameters
    ----------
    inner : WritingModel
    wish : threading.Event
        Set when nothing more is to be asked.

    Examples
    --------
    >>> class Echo:
    ...     model = "echo"
    ...     def complete(self, system, user):
    ...         return user
    >>> wish = threading.Event()
    >>> model = Interruptible(Echo(), wish)
    >>> model.complete("", "dust")
    'dust'
    >>> wish.set()
    >>> model.complete("", "gas")
    Traceback (most recent call last):
    landscape.errors.RemoteError: it was stopped
    """

    def __init__(self, inner: WritingModel, wish: threading.Event) -> None:
        self._inner, self._wish = inner, wish

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._inner.model

    def complete(self, system: str, user: str) -> str:
        """Answer as the model does."""
        return self._unless_stopped(lambda: self._inner.complete(system, user))

    def stream(self, system: str, user: str) -> Iterator[str]:
        """Answer piece by piece."""
        for piece in self._inner.stream(system, user):
            if self._wish.is_set():
                raise RemoteError(STOPPED)
            yield piece

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Answer in the form of a JSON schema."""
        return self._unless_stopped(lambda: self._inner.complete_json(system, user, schema))

    def _unless_stopped(self, ask: Callable[[], T]) -> T:
        if self._wish.is_set():
            raise RemoteError(STOPPED)
        replies: list[T] = []
        faults: list[BaseException] = []
        done = threading.Event()

        def work() -> None:
            try:
                replies.append(ask())
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                faults.append(error)
            finally:
                done.set()

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), daemon=True).start()
        while not done.wait(_LOOKED_EVERY):
            if self._wish.is_set():
                raise RemoteError(STOPPED)
        if faults:
            raise faults[0]
        return replies[0]
