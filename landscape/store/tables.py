"""Read the tables of an atlas: Parquet parts, layers and the user's labels."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from landscape._wording import count, one_line
from landscape.errors import AtlasError, InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    from landscape.store.manifest import Part

_ALWAYS_ALLOWED, _MAX_EXPANSION = 256 * 2**20, 50  # bytes; times the size of a file
_ROWS_AT_ONCE = 512
LABELS = "labels.csv"
BY_HAND = "labels.csv"


def read_parquet(folder: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the parts of a table in row order."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / name
    # Citation counts can be missing, so they have a nullable integer type.
    counts = {pa.int32(): pd.Int32Dtype()} if name.startswith("papers") else {}
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            unknown = [column for column in columns or () if column not in names]
            known = None if columns is None else [one for one in columns if one in names]
            table = read_limited(file, path, known)
        frame: pd.DataFrame = table.to_pandas(date_as_object=False, types_mapper=counts.get)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise unreadable(folder, name, error) from error
    if unknown:
        raise InputError(
            f"There is no column {unknown[0]!r} in {path.parent.name}; it has: {', '.join(names)}."
        )
    return frame


def read_limited(
    file: pq.ParquetFile, path: Path, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read columns of a Parquet file; raise ValueError if the file is a decompression bomb."""
    import pyarrow as pa

    names = file.schema_arrow.names if columns is None else list(columns)
    if missing := [name for name in names if name not in file.schema_arrow.names]:
        raise ValueError(f"it has no column {missing[0]!r}")
    batches, size = [], 0
    limit = _ALWAYS_ALLOWED + _MAX_EXPANSION * path.stat().st_size
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=names):
        batches.append(batch)
        size += batch.nbytes
        if size > limit:
            raise ValueError(f"it expands to more than {limit >> 20:,} MB")
    fields = [file.schema_arrow.field(name) for name in names]
    return pa.Table.from_batches(batches, pa.schema(fields)).select(names)


def unreadable(folder: Path, name: str, error: Exception) -> AtlasError:
    """Return the error for an unreadable file of an atlas."""
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return AtlasError(
        f"{folder / name} cannot be read ({why}); check all files with: "
        f"landscape info {folder} --verify"
    )


def layer_schema(layer: str) -> pa.Schema:
    """Return the schema of a layer."""
    import pyarrow as pa

    number, text = pa.int32(), pa.string()
    judged = [("score", pa.float32()), ("evidence", text)]
    mention = {
        "facility": text,
        "field": text,
        "start": number,
        "end": number,
        "surface": text,
        "role": text,
    }
    own = {
        "missions.parquet": [*mention.items()],
        "uat.parquet": [("concept_id", text), *judged],
        "reviews.parquet": judged,
    }
    return pa.schema([("paper_id", pa.string()), ("row", pa.int32()), *own[layer]])


def read_layer(
    folder: Path, parts: Sequence[Part], layer: str, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read a layer of the atlas; row numbers are relative to the whole atlas."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = layer_schema(layer)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in ("row", *columns)])
    frames = [schema.empty_table().to_pandas()]
    start = 0
    for part in parts:
        name = f"{layer}/{part.name}.parquet"
        try:
            with pq.ParquetFile(folder / name) as file:
                stored = [
                    one
                    for one in schema.names
                    if one != "role" or one in file.schema_arrow.names  # not in older atlases
                ]
                table = read_limited(file, folder / name, stored)
            if len(stored) < len(schema):
                table = table.append_column("role", pa.nulls(len(table), pa.string()))
            table = table.cast(schema)
            frame = table.to_pandas(ignore_metadata=True)
            if not frame["row"].between(0, part.rows - 1).all():
                raise ValueError(f"a row number exceeds the {part.rows:,} rows of this part")
        except (OSError, ValueError, pa.ArrowException) as error:
            raise unreadable(folder, name, error) from error
        frames.append(frame.assign(row=frame["row"].astype(np.int64) + start))
        start += part.rows
    return pd.concat(frames, ignore_index=True).rename(columns={"row": "paper_row"})


def read_labels(path: Path) -> dict[int, str]:
    """Read the names of regions from `labels.csv`, by topic."""
    if not path.is_file():
        return {}
    labels: dict[int, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            if not {"topic_id", "label"} <= set(rows.fieldnames or ()):
                raise AtlasError(
                    f"{path} needs the columns topic_id and label in its first line; it has "
                    f"{count(len(rows.fieldnames or ()), 'other column')}."
                )
            for row in rows:
                label = one_line(row["label"] or "", most=200)
                if label:
                    labels[int(row["topic_id"])] = label
    except AtlasError:
        raise
    except (UnicodeDecodeError, csv.Error, ValueError, TypeError) as error:
        raise AtlasError(
            f"{path} cannot be read as a table of topic_id and label ({error}); save it as CSV "
            "in UTF-8 with a whole number in every topic_id."
        ) from error
    return labels


def apply_labels(topics: pd.DataFrame, path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Replace labels by the labels in labels.csv; return the topics and a list of problems."""
    labels = read_labels(path)
    named = topics.copy()
    by_hand = named["topic_id"].map(labels)
    named["label"] = by_hand.fillna(named["label"])
    named.loc[by_hand.notna(), "label_source"] = BY_HAND
    unknown = sorted(set(labels) - set(named["topic_id"].tolist()))
    problems = tuple(
        f"{path.name} names topic {number} ({labels[number]!r}), which this atlas does not have; "
        "use a topic_id from the table of topics."
        for number in unknown
    )
    return named, problems
