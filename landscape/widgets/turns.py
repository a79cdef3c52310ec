"""The order of a panel's pieces of work: one at a time, the newer of a kind for the older."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from landscape.widgets.jobs import Job


@dataclass(frozen=True)
class Turn:
    """A piece of work that waits, or is done now.

    Attributes
    ----------
    title : str
        For the reader.
    kind : str
        Of several of one kind only the last is wanted.
    job : Job
    """

    title: str
    kind: str
    job: Job[Any]


class Turns:
    """Pieces of work, each started when the one before has ended.

    Examples
    --------
    >>> turns, done = Turns(), []
    >>> def turn(word):
    ...     job = Job(
    ...         lambda: word, done=done.append, failed=print, ended=lambda: turns.end(job)
    ...     )
    ...     return Turn(word, word, job)
    >>> [turns.add(turn(word)) for word in ("first", "second")][0].title
    'first'
    >>> turns.wait(5), done
    (True, ['first', 'second'])
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._now: Turn | None = None
        self._waiting: list[Turn] = []

    @property
    def now(self) -> Turn | None:
        """What is being done."""
        return self._now

    def add(self, turn: Turn) -> Turn:
        """Do a piece of work when its turn comes; the older of its kind is thrown away.

        Returns
        -------
        Turn
            What is being done now: this one, or what it has to wait for.
        """
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
