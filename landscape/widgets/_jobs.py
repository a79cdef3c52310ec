"""One long piece of work at a time, beside the notebook's other cells, that can be stopped."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from landscape._progress import Stopped, report_to
from landscape.errors import RemoteError

if TYPE_CHECKING:
    from landscape.llm._client import WritingModel

T = TypeVar("T")
OnProgress = Callable[[str, float, float | None, str], None]
_TOLD_EVERY = 0.25  # seconds: each word to the browser costs it a little


class Job(Generic[T]):
    """A piece of work in a thread of its own.

    What a stopped job still finds is thrown away: stopping never waits for the work to notice.
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
        """End the work here if it was stopped."""
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
            with report_to(self._hear):
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


@dataclass(frozen=True)
class Turn:
    """A piece of work that waits, or is done now."""

    title: str
    kind: str
    job: Job[Any]


class Turns:
    """Pieces of work, each started when the one before has ended."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._now: Turn | None = None
        self._waiting: list[Turn] = []

    @property
    def now(self) -> Turn | None:
        """What is being done."""
        return self._now

    def add(self, turn: Turn) -> Turn:
        """Do a piece of work when its turn comes; the older of its kind is thrown away."""
        with self._changed:
            dropped = [one for one in self._waiting if one.kind == turn.kind]
            self._waiting = [one for one in self._waiting if one.kind != turn.kind] + [turn]
            if self._now is not None and self._now.kind == turn.kind:
                dropped.append(self._now)
                self._now = None
            started = self._take_next() if self._now is None else None
            now = self._now or turn
        # Outside the lock: a job that is just telling its result may hold its own, and want this.
        for one in dropped:
            one.job.stop()
        if started is not None:
            started.job.start()
        return now

    def holds(self, kind: str) -> bool:
        """Whether something of a kind is done, or waits."""
        with self._changed:
            every = [*([self._now] if self._now else []), *self._waiting]
        return any(one.kind == kind for one in every)

    def drop(self, kind: str) -> bool:
        """Throw away what is done, or waits, of a kind; whether it was being done."""
        with self._changed:
            dropped = [one for one in self._waiting if one.kind == kind]
            self._waiting = [one for one in self._waiting if one.kind != kind]
            started, was_now = None, self._now is not None and self._now.kind == kind
            if self._now is not None and was_now:
                dropped.append(self._now)
                started = self._take_next()
        for one in dropped:  # outside the lock, as in `add`
            one.job.stop()
        if started is not None:
            started.job.start()
        return was_now

    def end(self, job: Job[Any]) -> None:
        """Say that a job has ended; the next one is started."""
        with self._changed:
            if self._now is None or self._now.job is not job:
                return
            started = self._take_next()
        if started is not None:
            started.job.start()

    def clear(self) -> Turn | None:
        """Throw everything away; what was being done is returned."""
        with self._changed:
            stopped, dropped = self._now, self._waiting
            self._now, self._waiting = None, []
            self._changed.notify_all()
        for one in [*([stopped] if stopped else []), *dropped]:
            one.job.stop()
        return stopped

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is left to do; False if that takes longer than `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._now is None, seconds)

    def _take_next(self) -> Turn | None:
        self._now = self._waiting.pop(0) if self._waiting else None
        if self._now is None:
            self._changed.notify_all()
        return self._now


class Latest:
    """Does one thing at a time in a thread of its own; requests meanwhile become one more."""

    def __init__(self, work: Callable[[], Any], *, failed: Callable[[Exception], Any]) -> None:
        self._work, self._failed = work, failed
        self._changed = threading.Condition()
        self._wanted = self._running = False

    def request(self) -> None:
        """Ask for it, and return at once."""
        with self._changed:
            self._wanted = True
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()

    @property
    def is_outdated(self) -> bool:
        """Whether the work was asked for again since it began."""
        return self._wanted

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all jobs finish; False after a timeout."""
        end = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while self._running:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _run(self) -> None:
        try:
            while self._is_wanted():
                try:
                    self._work()
                except Exception as error:  # noqa: BLE001 - a thread has nobody above it
                    self._failed(error)
        except BaseException:
            # `failed` itself failed: the next request finds nobody running, and begins anew.
            with self._changed:
                self._running = False
                self._changed.notify_all()
            raise

    def _is_wanted(self) -> bool:
        with self._changed:
            wanted, self._wanted = self._wanted, False
            if not wanted:
                self._running = False
                self._changed.notify_all()
            return wanted


STOPPED = "it was stopped"
_LOOKED_EVERY = 0.05  # seconds


class Interruptible:
    """A language model that fails at once when the reader has had enough.

    An agent that loses its model hands over what it has, marked partial; so a stop is told to it as
    a model that is gone. A request under way is not waited for.
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
