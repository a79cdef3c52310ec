"""Vectors of unit length, and checksums of the weights that make them."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def normalised(vectors: ArrayLike) -> NDArray[np.float32]:
    """Scale rows to unit length.

    >>> normalised([[3.0, 4.0]]).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    >>> normalised([[1.0, 0.0], [0.0, float("nan")]])
    Traceback (most recent call last):
    ValueError: row 1 is not finite
    """
    rows = np.asarray(vectors, dtype=np.float64)  # no overflow in the squares
    if rows.ndim != 2:
        message = f"shape {rows.shape} is not one row a text"
        raise ValueError(message)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    for wrong, reason in ((~np.isfinite(lengths), "is not finite"), (lengths == 0, "is zero")):
        if wrong.any():
            message = f"row {int(np.argmax(wrong))} {reason}"
            raise ValueError(message)
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit


_MODEL_FILES = (".safetensors", ".bin", ".json", ".txt")  # weights, settings and vocabulary


def file_checksum(path: Path) -> str:
    """Hash a file."""
    status = path.stat()
    return _sha256(path, size=status.st_size, modified=status.st_mtime_ns)


def folder_checksum(folder: Path) -> str | None:
    """Hash whatever decides the vectors of a saved model: weights, settings and vocabulary."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in _MODEL_FILES and p.is_file())
    if not files:
        return None
    known = [f"{path.relative_to(folder).as_posix()} {file_checksum(path)}" for path in files]
    return hashlib.sha256("\n".join(known).encode()).hexdigest()


@functools.lru_cache(maxsize=256)
def _sha256(path: Path, *, size: int, modified: int) -> str:  # noqa: ARG001 - they key the cache
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
