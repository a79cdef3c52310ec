"""Background jobs that do not block the notebook and can be stopped."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

from landscape._progress import Stopped, report_to

T = TypeVar("T")
OnProgress = Callable[[str, float, float | None, str], None]
_SHOWN_EVERY = 0.25  # seconds between updates, which take time in the browser


class Job(Generic[T]):
    """A function that runs in its own thread.

    Stopping discards the result and does not wait for the function to end.
    """

    def __init__(
        self,
        work: Callable[[], T],
        *,
        done: Callable[[T], object],
        failed: Callable[[Exception], object],
        on_progress: OnProgress = lambda *_: None,
        ended: Callable[[], object] = lambda: None,
        title: str = "",
        kind: str = "",
    ) -> None:
        self.title, self.kind = title, kind
        self._work, self._done, self._failed = work, done, failed
        self._on_progress, self._when_ended = on_progress, ended
        self._last_task, self._last_shown = "", 0.0
        self._stopped = threading.Event()
        self._ended = threading.Event()
        self._lock = threading.RLock()
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the job and discard its result."""
        with self._lock:
            self._stopped.set()
            self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the function ends; return False after a timeout."""
        return self._ended.wait(seconds)

    def _run(self) -> None:
        try:
            self._work_and_report()
        finally:
            self._when_ended()

    def _work_and_report(self) -> None:
        try:
            with report_to(self._hear):
                report = partial(self._done, self._work())
        except Stopped:
            self.stop()
            return
        except Exception as error:  # noqa: BLE001 - nothing above this thread would catch it
            report = partial(self._failed, error)
        with self._lock:
            if self._stopped.is_set():
                return
            try:
                report()
            except Exception as error:
                if report.func is self._failed:
                    raise
                self._failed(error)
            finally:
                self._ended.set()

    def _hear(self, task: str, done: float, total: float | None, unit: str) -> None:
        if self._stopped.is_set():
            raise Stopped
        now = time.monotonic()
        if task != self._last_task or now - self._last_shown >= _SHOWN_EVERY:
            self._last_task, self._last_shown = task, now
            self._on_progress(task, done, total, unit)


class Turns:
    """Queue of jobs; each job starts when the previous one has ended."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Job[object]] = []
        self.now: Job[object] | None = None
        """The running job."""

    def add(self, job: Job[Any]) -> Job[object]:
        """Add a job, discard older jobs of the same kind, and return the running job."""
        with self._changed:
            dropped = self._remove(job.kind)
            self._waiting.append(job)
        return self._go_on(dropped) or job

    def holds(self, kind: str) -> bool:
        """Return whether a job of this kind is running or waiting."""
        with self._changed:
            return any(one.kind == kind for one in (self.now, *self._waiting) if one)

    def drop(self, kind: str) -> bool:
        """Discard all jobs of this kind; return whether one of them was running."""
        with self._changed:
            running = self.now
            dropped = self._remove(kind)
        self._go_on(dropped)
        return running in dropped

    def end(self, job: Job[T]) -> None:
        """Start the next job after `job` has ended."""
        with self._changed:
            if self.now is not job:
                return
            self.now = None
        self._go_on([])

    def clear(self) -> Job[object] | None:
        """Discard all jobs, and return the job that was running, if any."""
        with self._changed:
            stopped, dropped = self.now, self._waiting
            self.now, self._waiting = None, []
        self._go_on([*([stopped] if stopped else []), *dropped])
        return stopped

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all jobs have ended; return False after a timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.now and not self._waiting, seconds)

    def _remove(self, kind: str) -> list[Job[object]]:
        """Remove and return the jobs of this kind."""
        dropped = [one for one in (self.now, *self._waiting) if one and one.kind == kind]
        self._waiting = [one for one in self._waiting if one not in dropped]
        if self.now in dropped:
            self.now = None
        return dropped

    def _go_on(self, dropped: Iterable[Job[object]]) -> Job[object] | None:
        """Stop the given jobs, start the next job if none is running, and return the running job.

        Jobs stop and start without the lock, because a job that reports progress may need it.
        """
        for one in dropped:
            one.stop()
        with self._changed:
            if self.now is not None:
                return self.now
            started = self.now = self._waiting.pop(0) if self._waiting else None
            self._changed.notify_all()
        if started is not None:
            started.start()
        return started
