"""The same work on batch after batch, in all processes, with a bounded number in memory."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

Batch = TypeVar("Batch")
Result = TypeVar("Result")
_WAITING = 4  # batches a process


def in_order(
    work: Callable[[Batch], Result], batches: Iterable[Batch], *, workers: int
) -> Iterator[Result]:
    """Work on batches, and hand the results on in their order.

    Parameters
    ----------
    work : callable
        Of one batch; at the top of a module, so that a process can find it.
    batches : iterable
        Taken as they are needed: all abstracts need not be in memory.
    workers : int
        Processes; with one, the work is done in this one.

    Yields
    ------
    object
        What `work` gave.

    Examples
    --------
    >>> list(in_order(len, ["a", "bcd"], workers=1))
    [1, 3]
    """
    if workers == 1:
        yield from map(work, batches)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting: deque[Future[Result]] = deque()
        for batch in batches:
            waiting.append(pool.submit(work, batch))
            if len(waiting) > _WAITING * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
