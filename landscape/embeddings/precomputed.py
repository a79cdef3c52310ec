"""Precomputed vectors from a ``.npy`` file or a Parquet column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from landscape._wording import count
from landscape.embeddings.vectors import DescribedEmbedder, normalised
from landscape.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEFORE_MODEL = re.compile(r"\.(?:npy|parquet|pq)(?=@.)", re.IGNORECASE)
_COLUMN = "embedding"
_BLOCK = 16_384  # number of rows that are checked and normalised at a time


def file_and_model(detail: str) -> tuple[Path, str]:
    """Split ``FILE@MODEL`` into file and model. If the model is missing, return "unknown".

    >>> file_and_model("vectors.npy@text-embedding-3-small")[1]
    'text-embedding-3-small'
    >>> file_and_model("me@home/vectors.npy")[1]
    'unknown'
    """
    ends = [match.end() for match in _BEFORE_MODEL.finditer(detail, 1)]
    return (Path(detail[: ends[-1]]), detail[ends[-1] + 1 :]) if ends else (Path(detail), "unknown")


class ReadyVectors(DescribedEmbedder):
    """Precomputed vectors of papers.

    Parameters
    ----------
    path : str or pathlib.Path
        ``.npy`` file with an array of shape (n, d), or a Parquet file whose column ``embedding``
        contains a list of numbers in each row.
    model : str, default "unknown"
        Name of the model of the vectors. Queries can be embedded if this model is available.

    Raises
    ------
    InputError
        If the file does not exist, cannot be read, or has another format.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vectors.npy"
    ...     np.save(path, np.array([[3.0, 4.0], [0.0, 2.0]]))
    ...     ready = ReadyVectors(path, model="my-model")
    ...     next(ready.blocks()).round(1).tolist()
    [[0.6..., 0.8...], [0.0, 1.0]]
    """

    name = "ready"

    def __init__(self, path: str | Path, *, model: str = "unknown") -> None:
        self.path, self.model = Path(path), model
        if not self.path.is_file():
            self._refuse("there is no such file; pass ready:FILE with an existing file")
        self.rows, self.dimension = self._parquet_shape() if self.is_parquet else self._shape()

    @property
    def is_parquet(self) -> bool:
        """Whether the file is a Parquet file, which can have a column of paper ids."""
        return self.path.suffix.lower() in (".parquet", ".pq")

    def ids(self) -> list[str]:
        """Read the column ``paper_id`` of a Parquet file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if "paper_id" not in pq.read_schema(self.path).names:
            self._refuse("it has no column 'paper_id' with the paper id of each vector")
        column = pq.read_table(self.path, columns=["paper_id"])["paper_id"].cast(pa.string())
        if column.null_count or len(column.unique()) < len(column):
            self._refuse("in the column 'paper_id', an id is missing or occurs twice")
        return list(column.to_pylist())

    def blocks(self) -> Iterator[NDArray[np.float32]]:
        """Yield the normalised vectors in blocks, so that the file can be larger than memory."""
        start = 0
        for block in self._parquet_blocks() if self.is_parquet else self._mapped_blocks():
            try:
                unit = normalised(block)
            except (ValueError, TypeError) as error:
                self._refuse(f"in the block that starts at row {start:,}, {error}")
            if unit.shape[1] != self.dimension:
                self._refuse(f"row {start:,} has {unit.shape[1]} numbers, not {self.dimension}")
            yield unit
            start += len(unit)

    def embed(
        self,
        texts: Sequence[str],
        *,
        advance: Callable[[float], None] | None = None,  # noqa: ARG002 - of the protocol
    ) -> NDArray[np.float32]:
        """Raise InputError, because precomputed vectors cannot embed new text."""
        raise InputError(
            f"{len(texts)} texts cannot be embedded, because the vectors were made before, by "
            f"{self.model!r}. Choose an embedder for new texts, such as --embedder minilm."
        )

    def describe(self) -> dict[str, Any]:
        """Return the name, model, dimension, checksum, precision and file."""
        return {**super().describe(), "file": self.path.name}

    def _shape(self) -> tuple[int, int]:
        matrix = self._mapped()
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
            kind = f"shape {matrix.shape} of {matrix.dtype}"
            self._refuse(f"it has {kind}, not one row of numbers per paper")
        return int(matrix.shape[0]), int(matrix.shape[1])

    def _mapped(self) -> np.ndarray:
        try:
            mapped: np.ndarray = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError, TokenError) as error:
            self._refuse(f"it is not a .npy file of numbers ({error})")
        return mapped

    def _mapped_blocks(self) -> Iterator[np.ndarray]:
        matrix = self._mapped()
        for start in range(0, len(matrix), _BLOCK):
            yield matrix[start : start + _BLOCK]

    def _parquet_shape(self) -> tuple[int, int]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(self.path)
            names = file.schema_arrow.names
            first = next(file.iter_batches(batch_size=1, columns=[_COLUMN]), None)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            self._refuse(f"it is not a Parquet file ({error})")
        if _COLUMN not in names:
            self._refuse(f"it has no column {_COLUMN!r}; its columns are {', '.join(names)}")
        value = first.column(0)[0].as_py() if first is not None and len(first) else None
        if not isinstance(value, list):
            self._refuse(f"the column {_COLUMN!r} does not hold lists of numbers")
        return int(file.metadata.num_rows), len(value)

    def _parquet_blocks(self) -> Iterator[np.ndarray]:
        import pyarrow.parquet as pq

        file = pq.ParquetFile(self.path)
        for batch in file.iter_batches(batch_size=_BLOCK, columns=[_COLUMN]):
            column = batch.column(0)
            if column.null_count:
                self._refuse(f"{count(column.null_count, 'paper')} without a vector in {_COLUMN!r}")
            flat = column.flatten().to_numpy(zero_copy_only=False)
            if len(flat) != len(column) * self.dimension:
                self._refuse(f"its vectors are not all {self.dimension} long")
            yield flat.reshape(len(column), self.dimension)

    def _refuse(self, reason: str) -> NoReturn:
        reason = " ".join(reason.split())
        raise InputError(f"The vectors in {str(self.path)!r} cannot be used: {reason}.")
