"""Show progress on the terminal, or report it to a callback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

Listener = Callable[[str, float, "float | None", str], None]
"""Callback with arguments ``(task, done, total, unit)``. It can raise `Stopped` to end the task."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_shown: Progress | None = None  # the terminal has one; a task inside another is a line of it


class Stopped(Exception):  # noqa: N818 - a request of the user, not an error
    """Raised by a `Listener` to end the task."""


@contextmanager
def report_to(listener: Listener) -> Iterator[None]:
    """Report progress to a listener instead of the terminal."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress(
    task: str, *, total: float | None, unit: str = "papers"
) -> Iterator[Callable[[float], None]]:
    """Show the progress of a long task."""
    listener = _listener.get()
    if listener is not None:
        yield _report_to(listener, task, total, unit)
        return
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    global _shown
    outer, bar = _shown, _shown or _new_bar()
    with nullcontext() if outer else bar:
        _shown = bar
        task_id = bar.add_task(task, total=total, unit=unit)
        try:
            yield lambda amount: bar.advance(task_id, amount)
        finally:
            _shown = outer
            bar.remove_task(task_id)


def _new_bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            unit = task.fields["unit"]
            scale, shown = (1e6, "MB") if unit == "bytes" else (1.0, unit)
            done = f"{task.completed / scale:,.0f}"
            of = f"/{task.total / scale:,.0f}" if task.total else ""
            rate = f", {task.speed / scale:,.0f}/s" if task.speed and unit != "steps" else ""
            return Text(f"{done}{of} {shown}{rate}")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _report_to(
    listener: Listener, task: str, total: float | None, unit: str
) -> Callable[[float], None]:
    done = 0.0

    def advance(amount: float) -> None:
        nonlocal done
        done += amount
        listener(task, done, total, unit)

    advance(0)
    return advance
