"""Per-paper work in chunks of fixed boundaries: what a killed build has finished stays finished."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape.atlas.rows import texts_in_chunks
from landscape.atlas.storage import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1000
"""Papers in a chunk: so much work, at the most, is done again after a kill."""


def finish_chunks(
    part: Path,
    rows: NDArray[np.int64],
    *,
    keys: NDArray[np.uint64],
    folder: Path,
    told: str,
    ending: str,
    work: Callable[[list[str], Path], None],
    advance: Callable[[float], None],
    size: int | None = None,
) -> list[Path]:
    """Do per-paper work for some rows of a part, a chunk at a time.

    Parameters
    ----------
    part : pathlib.Path
        Parquet file with the texts.
    rows : array of int64
        Ascending row numbers to work on.
    keys : array of uint64, shape (n_papers, 2)
        Hash of the text of every row of the part.
    folder : pathlib.Path
        Where finished chunks lie. A chunk's name holds a hash of its texts and of `told`, so
        that a chunk of another text or another setting is never taken for it.
    told : str
        Hash of everything that decides the result beside the texts.
    ending : str
        Ending of the chunk files.
    work : callable
        ``work(texts, path)``: writes the result for these texts to this path.
    advance : callable
        Told the number of papers done.
    size : int, optional
        Papers in a chunk, 1,000 when not given. Chunks begin at fixed rows, wherever an
        earlier run was stopped.

    Returns
    -------
    list of pathlib.Path
        One finished file a chunk, in the order of `rows`.
    """
    size = CHUNK if size is None else size
    files = [
        folder / f"{start:09d}-{_chunk_mark(keys[rows[start : start + size]], told)}{ending}"
        for start in range(0, len(rows), size)
    ]
    if all(path.is_file() for path in files):
        advance(len(rows))
        return files
    for path, texts in zip(files, texts_in_chunks(part, rows, size=size), strict=True):
        if not path.is_file():
            with replacing(path) as beside:
                work(texts, beside)
        advance(len(texts))
    return files


def _chunk_mark(keys: NDArray[np.uint64], told: str) -> str:
    content = np.ascontiguousarray(keys).tobytes()
    return hashlib.blake2b(content + told.encode(), digest_size=12).hexdigest()
