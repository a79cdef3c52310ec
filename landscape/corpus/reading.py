"""Streaming the cleaned papers of one file, in batches, on one processor or several."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

from landscape.corpus.normalising import Row, normalise, positions_of, to_table, vectors_of
from landscape.corpus.readers import Reader, choose_reader
from landscape.corpus.schema import Batch, RawRecord, Rejection

BATCH_SIZE = 2000
_WORTH_A_POOL = 2
"""Batches. Starting processes takes longer than cleaning fewer papers than this."""


def read_papers(
    path: Path,
    *,
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
    reader: Reader | None = None,
    skip: int = 0,
) -> Iterator[Batch]:
    r"""Stream the papers of a file, cleaned; memory stays that of a few batches.

    Parameters
    ----------
    path : pathlib.Path
        A file of any supported kind.
    batch_size : int, default 2000
        Records a batch, papers and rejections together. Batches are cut at the same records
        whatever `workers` is.
    workers : int, default 1
        Processes that clean. The order of the papers does not depend on it.
    reader : Reader, optional
        Where it is known already; otherwise found by looking at the file.
    skip : int, default 0
        Batches to pass over (read but not cleaned), to go on where an earlier run was stopped.

    Yields
    ------
    Batch

    Raises
    ------
    landscape.errors.InputError
        If the file cannot be read or breaks off.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "papers.csv"
    >>> _ = path.write_text("title,abstract,year\nA title,Some text,2020\nAnother,,2021\n")
    >>> [batch] = read_papers(path)
    >>> batch.papers["title"].to_pylist(), batch.rejected[0].reason
    (['A title'], 'no abstract')
    """
    reader = reader or choose_reader(path)
    bytes_read = [0]

    def count(n_bytes: int) -> None:
        bytes_read[0] += n_bytes

    pieces = _pieces(reader.read(path, on_bytes=count), batch_size, bytes_read)
    for _ in itertools.islice(pieces, skip):
        pass
    with ExitStack() as stack:
        yield from _cleaned(pieces, path.name, f"{reader.name}:{path.name}", workers, stack)


_Piece = tuple[list[RawRecord | Rejection], int]


def _pieces(
    records: Iterator[RawRecord | Rejection], size: int, bytes_read: list[int]
) -> Iterator[_Piece]:
    told = 0
    while piece := list(itertools.islice(records, size)):
        now = bytes_read[0]
        yield piece, now - told
        told = now


def _cleaned(
    pieces: Iterator[_Piece], file: str, source: str, workers: int, stack: ExitStack
) -> Iterator[Batch]:
    first = list(itertools.islice(pieces, _WORTH_A_POOL))
    everything: Iterable[_Piece] = itertools.chain(first, pieces)
    if workers <= 1 or len(first) < _WORTH_A_POOL:
        for piece, n_bytes in everything:
            yield _clean(piece, n_bytes, file, source)
        return
    # Spawned, not forked: a forked child of a process with Arrow's threads can hang.
    pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=get_context("spawn")))
    waiting: deque[Future[Batch]] = deque()
    for piece, n_bytes in everything:
        waiting.append(pool.submit(_clean, piece, n_bytes, file, source))
        if len(waiting) > 2 * workers:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _clean(piece: list[RawRecord | Rejection], n_bytes: int, file: str, source: str) -> Batch:
    rows: list[Row] = []
    kept: list[RawRecord] = []
    rejected: list[Rejection] = []
    for record in piece:
        result = (
            normalise(record, file=file, source=source) if isinstance(record, RawRecord) else record
        )
        if isinstance(result, Rejection):
            rejected.append(result)
        else:
            rows.append(result)
            kept.append(record)  # type: ignore[arg-type]  # only a RawRecord gives a row
    return Batch(
        papers=to_table(rows),
        rejected=rejected,
        n_read=len(piece),
        n_bytes=n_bytes,
        vectors=vectors_of(kept),
        positions=positions_of(kept),
    )
