"""Process parts in parallel and in chunks, so that an interrupted build can be resumed."""

from __future__ import annotations

import hashlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from landscape.pipeline._rows import match_rows, row_keys, texts_in_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batch = TypeVar("Batch")
Result = TypeVar("Result")
_WAITING = 4  # batches per process


def in_order(
    work: Callable[[Batch], Result], batches: Iterable[Batch], *, workers: int
) -> Iterator[Result]:
    """Apply a function to batches in parallel. Yield the results in the order of the batches."""
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


CHUNK = 1000
"""Number of papers per chunk. An interrupted build repeats at most one chunk."""


@dataclass(frozen=True)
class PartWork:
    """Resumable processing of selected rows of a part in chunks."""

    part: Path
    rows: NDArray[np.int64]
    keys: NDArray[np.uint64]
    folder: Path
    settings_digest: str
    ending: str

    @classmethod
    def plan(
        cls,
        part: Path,
        known: NDArray[np.uint64],
        *,
        folder: Path,
        settings_digest: str,
        ending: str,
    ) -> tuple[PartWork, NDArray[np.int64]]:
        """Plan the work on the papers whose key is not in `known`.

        Also return the row of each paper in an array of the known results and the new results.
        """
        keys = row_keys(part)
        rows = match_rows(keys, known)
        new = np.flatnonzero(rows < 0)
        rows[new] = len(known) + np.arange(len(new))
        return cls(part, new, keys, folder, settings_digest, ending), rows

    @property
    def n_reused(self) -> int:
        """Number of papers with a known key."""
        return len(self.keys) - len(self.rows)

    def files(self) -> list[Path]:
        """Return the files of all chunks (also unfinished chunks) in the order of the rows."""
        return [
            self.folder / f"{start:09d}-{self._mark(start)}{self.ending}"
            for start in range(0, len(self.rows), CHUNK)
        ]

    def unfinished(self) -> Iterator[tuple[Path, list[str]]]:
        """Yield the output file and the texts of every unfinished chunk."""
        files = self.files()
        if all(path.is_file() for path in files):
            return
        texts_of_chunks = texts_in_chunks(self.part, self.rows, size=CHUNK)
        for path, texts in zip(files, texts_of_chunks, strict=True):
            if not path.is_file():
                yield path, texts

    def finish(
        self, work: Callable[[list[str], Path], None], advance: Callable[[float], None]
    ) -> list[Path]:
        n_done = sum(path.is_file() for path in self.files()) * CHUNK
        advance(min(n_done, len(self.rows)))
        for path, texts in self.unfinished():
            path.parent.mkdir(parents=True, exist_ok=True)
            work(texts, path)
            advance(len(texts))
        return self.files()

    def _mark(self, start: int) -> str:
        keys = np.ascontiguousarray(self.keys[self.rows[start : start + CHUNK]]).tobytes()
        return hashlib.blake2b(keys + self.settings_digest.encode(), digest_size=12).hexdigest()
