"""One long piece of work at a time, beside the notebook's other cells, that can be stopped."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from landscape._progress import Stopped, heard_by

T = TypeVar("T")
OnProgress = Callable[[str, float, float | None, str], None]
_TOLD_EVERY = 0.25  # seconds: each word to the browser costs it a little


class Job(Generic[T]):
    """A piece of work in a thread of its own.

    What a stopped job still finds is thrown away: stopping never waits for the work to notice.

    Parameters
    ----------
    work : callable
        Called without arguments. Where it shows progress, or calls `check`, it can be ended.
    done, failed : callable
        Told the result, or the exception; neither after the job was stopped.
    on_progress : callable
        Told ``(task, done, total, unit)``, a few times a second.
    ended : callable
        Called without arguments when the work is over, in whatever way.

    Examples
    --------
    >>> found = []
    >>> job = Job(lambda: 6 * 7, done=found.append, failed=found.append)
    >>> job.start()
    >>> job.wait(5)
    True
    >>> found
    [42]
    """

    def __init__(
        self,
        work: Callable[[], T],
        *,
        done: Callable[[T], Any],
        failed: Callable[[Exception], Any],
        on_progress: OnProgress = lambda *_: None,
        ended: Callable[[], Any] = lambda: None,
    ) -> None:
        self._work, self._done, self._failed = work, done, failed
        self._on_progress, self._when_ended = on_progress, ended
        self._last_task, self._last_told = "", 0.0
        self._stopped = threading.Event()
        self._ended = threading.Event()
        self._lock = threading.RLock()
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Throw away what the job has not yet told."""
        with self._lock:
            self._stopped.set()
            self._ended.set()

    def check(self) -> None:
        """End the work here if it was stopped.

        Raises
        ------
        Stopped
        """
        if self._stopped.is_set():
            raise Stopped

    @property
    def is_running(self) -> bool:
        """Whether neither a result nor a stop has come."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False if it has not come in time."""
        return self._ended.wait(seconds)

    def _run(self) -> None:
        try:
            self._work_and_tell()
        finally:
            self._when_ended()

    def _work_and_tell(self) -> None:
        tell, outcome = self._done, None
        try:
            with heard_by(self._hear):
                outcome = self._work()
        except Stopped:
            self.stop()
        except Exception as error:  # noqa: BLE001 - a thread has nobody above it to catch it
            tell, outcome = self._failed, error  # type: ignore[assignment]  # one of the two
        with self._lock:
            if self._stopped.is_set():
                return
            try:
                tell(outcome)  # type: ignore[arg-type]  # None only where the work gives None
            finally:
                self._ended.set()

    def _hear(self, task: str, done: float, total: float | None, unit: str) -> None:
        self.check()
        now = time.monotonic()
        if task != self._last_task or now - self._last_told >= _TOLD_EVERY:
            self._last_task, self._last_told = task, now
            self._on_progress(task, done, total, unit)
