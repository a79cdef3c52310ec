"""Progress with rate and time left on the terminal; silence anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(
    task: str, *, total: float | None, unit: str = "papers"
) -> Iterator[Callable[[float], None]]:
    """Show how far a long piece of work has come.

    Parameters
    ----------
    task : str
        What is being done, for example ``"Embedding"``.
    total : float or None
        Amount of work in `unit`; None where it is not known beforehand.
    unit : str, default "papers"
        What is counted. ``"bytes"`` is shown in megabytes.

    Yields
    ------
    callable
        ``advance(amount)``, to be called with the work done since the last call.

    Notes
    -----
    Written to standard error, and only where that is a terminal, so that logs, pipes and
    ``--json`` output stay clean.

    Examples
    --------
    >>> with progress("Counting", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
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

    scale, shown = (1e6, "MB") if unit == "bytes" else (1.0, unit)

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            done = f"{task.completed / scale:,.0f}"
            of = f"/{task.total / scale:,.0f}" if task.total else ""
            rate = f", {task.speed / scale:,.0f}/s" if task.speed else ""
            return Text(f"{done}{of} {shown}{rate}")

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task_id = bar.add_task(task, total=total)
        yield lambda amount: bar.advance(task_id, amount)
