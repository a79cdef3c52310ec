"""Read single papers and columns of an atlas from a memory-mapped Arrow file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape.errors import AtlasError, InputError
from landscape.types import Paper

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

# Columns of the file have the names of the fields.
_FIELDS = [field.name for field in fields(Paper) if field.name != "row"]


class PaperTable:
    """Table of papers with fast access by row number."""

    def __init__(self, file: Path) -> None:
        import pyarrow as pa

        try:
            reader = pa.ipc.open_file(pa.memory_map(str(file)))
            left = file.stat().st_size
            self._batches: list[pa.RecordBatch] = []
            for number in range(reader.num_record_batches):
                self._batches.append(reader.get_batch(number))
                left -= self._batches[-1].nbytes
                if left < 0:
                    raise ValueError("it is compressed, which a build never does")
                # Without this check, a damaged offset could crash the process.
                self._batches[-1].validate(full=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise AtlasError(f"{file} cannot be read ({error}); build the atlas again.") from error
        self._schema = reader.schema
        self._ends = np.cumsum([batch.num_rows for batch in self._batches], dtype=np.int64)

    def papers(self, rows: Sequence[int] | NDArray[np.int64]) -> list[Paper]:
        """Return the papers of the given rows, in that order."""
        papers = []
        for row, *values in zip(rows, *self._columns(_FIELDS, rows), strict=True):
            plain: list[Any] = [tuple(v) if isinstance(v, list) else v for v in values]
            papers.append(Paper(row=int(row), **dict(zip(_FIELDS, plain, strict=True))))
        return papers

    def column(self, name: str, rows: Sequence[int] | NDArray[np.int64]) -> list[Any]:
        """Return one column for the given rows."""
        return self._columns((name,), rows)[0]

    def years_and_categories(self) -> tuple[list[int], list[str]]:
        """Return the year (-1 if unknown) and primary category ("" if unknown) of each paper."""
        years: list[int] = []
        categories: list[str] = []
        for batch in self._batches:
            years += [-1 if one is None else one for one in batch.column("year").to_pylist()]
            lists = batch.column("categories")
            coded = lists.values.dictionary_encode()  # noqa: PD011 - a list of Arrow
            names, codes = coded.dictionary.to_pylist(), coded.indices.to_pylist()
            ends = pairwise(lists.offsets.to_pylist())
            categories += [names[codes[start]] if start < end else "" for start, end in ends]
        return years, categories

    def _columns(
        self, names: Sequence[str], rows: Sequence[int] | NDArray[np.int64]
    ) -> list[list[object]]:
        wanted = np.asarray(rows, dtype=np.int64)
        batch_of = np.searchsorted(self._ends, wanted, side="right")
        found: list[list[object]] = [[None] * len(wanted) for _ in names]
        for number in np.unique(batch_of):
            here = np.flatnonzero(batch_of == number)
            batch = self._batches[number]
            inside = wanted[here] - (self._ends[number] - batch.num_rows)
            taken = batch.select(list(names)).take(_arrow(inside))
            for column, values in zip(found, taken.columns, strict=True):
                for place, value in zip(here, values.to_pylist(), strict=True):
                    column[place] = value
        return found

    def frame(
        self,
        columns: Sequence[str] | None = None,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> pd.DataFrame:
        """Return columns of the papers as a data frame."""
        import pandas as pd
        import pyarrow as pa

        names = self._schema.names if columns is None else list(columns)
        unknown = [name for name in names if name not in self._schema.names]
        if unknown:
            raise InputError(
                f"Papers have no column {unknown[0]!r}; they have: {', '.join(self._schema.names)}."
            )
        if not names:
            return pd.DataFrame(index=range(len(self) if rows is None else len(rows)))
        table = pa.Table.from_batches(self._batches, schema=self._schema).select(names)
        if rows is not None:
            table = table.take(_arrow(np.asarray(rows, dtype=np.int64)))

        def dtype(of: pa.DataType) -> pd.api.extensions.ExtensionDtype | None:
            if pa.types.is_int32(of):
                return pd.Int32Dtype()
            return pd.ArrowDtype(of) if pa.types.is_list(of) else None

        return table.to_pandas(date_as_object=False, types_mapper=dtype)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0


def _arrow(numbers: NDArray[np.int64]) -> pa.Array:
    """Return an Arrow array; ``pa.array`` is avoided because it imports pandas (0.5 s)."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, buffer])
