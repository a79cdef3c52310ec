"""Work that only its latest request needs: the picture of a view that keeps moving."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


class Latest:
    """Does one thing at a time in a thread of its own; requests meanwhile become one more.

    Parameters
    ----------
    work : callable
        Called without arguments; it reads what is wanted itself. May call `is_outdated`.
    failed : callable
        Told an exception.

    Examples
    --------
    >>> done = []
    >>> latest = Latest(lambda: done.append(1), failed=print)
    >>> latest.request()
    >>> latest.wait(5), done
    (True, [1])
    """

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
        """Wait until nothing is left to do; False if that takes longer."""
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
