"""Read the tables of an atlas: Parquet parts, single papers, layers and the user's labels."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from landscape._io import BY_USER, reporting_unwritable, write_whole
from landscape._wording import count, one_line
from landscape.errors import AtlasError, InputError
from landscape.types import Paper

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from landscape.store.manifest import Part


_LATER_LISTS = ("bibgroup", "data", "property", "facility")
# Columns of papers that atlases of earlier versions do not have.
_LATER_COLUMNS = ("kind", "status", "status_reason", *_LATER_LISTS)
_ALWAYS_ALLOWED, _MAX_EXPANSION = 256 * 2**20, 50  # bytes; times the size of a file
_ROWS_AT_ONCE = 512  # number of rows of a Parquet file that are read before each size check
_MAX_BY_HAND = 4 * 2**20, 128 * 2**20  # bytes of labels.csv and roles.csv
_MAX_TOPIC = 10_000_000  # largest number of a region
_MAX_PROBLEMS = 20  # of labels.csv that are listed
T = TypeVar("T")
LABELS, ROLES = BY_USER
BY_HAND = "labels.csv"


def read_parquet(folder: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the parts of a table in row order."""
    import pandas as pd
    import pyarrow as pa

    # Citation counts can be missing, so they have a nullable integer type.
    counts = {pa.int32(): pd.Int32Dtype()} if name.startswith("papers") else {}

    def frame(table: pa.Table) -> pd.DataFrame:
        return table.to_pandas(date_as_object=False, types_mapper=counts.get)

    return _read(folder, name, columns, frame)


def read_columns(
    folder: Path, name: str, columns: Sequence[str] | None = None
) -> dict[str, list[Any]]:
    """Read a table without pandas, whose import takes longer than a search."""
    return _read(folder, name, columns, lambda table: table.to_pydict())


def _read(
    folder: Path, name: str, columns: Sequence[str] | None, convert: Callable[[pa.Table], T]
) -> T:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / name
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            wanted = names if columns is None else [*columns]
            later = [one for one in wanted if one in _LATER_COLUMNS and one not in names]
            unknown = [one for one in wanted if one not in names and one not in later]
            table = read_limited(file, path, [one for one in wanted if one in names])
            for one in later:
                table = table.append_column(one, _nulls(len(table), one))
            converted = convert(table if unknown else table.select(wanted))
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise unreadable(folder, name, error) from error
    if unknown:
        raise InputError(
            f"There is no column {unknown[0]!r} in {path.parent.name}; it has: {', '.join(names)}."
        )
    return converted


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


def check_topics(topics: Mapping[str, Iterable[Any]]) -> None:
    """Raise ValueError unless the regions have names and finite places, and form a tree."""
    for name in ("topic_id", "label", "n_papers", "parent_id", "level"):
        if any(value is None or value != value for value in topics.get(name, ())):
            raise ValueError(f"a region has no {name}")
    ids, levels, parents = (list(topics[name]) for name in ("topic_id", "level", "parent_id"))
    topic, times = np.unique(np.array(ids, np.float64), return_counts=True)
    if (times > 1).any():
        raise ValueError(f"it has the region {topic[times > 1][0]:.0f} twice")
    if len(topic) and not 0 <= topic[0] <= topic[-1] <= _MAX_TOPIC:
        wrong = topic[0] if topic[0] < 0 else topic[-1]
        raise ValueError(f"a region has the number {wrong:.0f}; the limit is {_MAX_TOPIC:,}")
    for level in levels:
        if level not in (0, 1, 2):
            raise ValueError(f"a region has level {level}")
    if not all(np.isfinite(np.array([*topics[axis]], np.float64)).all() for axis in ("x", "y")):
        raise ValueError("the place of a region is not finite")
    level_of = dict(zip(ids, levels, strict=True))
    for topic, level, parent in zip(ids, levels, parents, strict=True):
        if parent != -1 and not level_of.get(parent, level) < level:
            raise ValueError(f"the region {topic} has a parent that is not above it")


def check_rows(table: Mapping[str, Sequence[Any]], n_papers: int) -> None:
    """Raise ValueError unless a table has one row for each paper of a part."""
    n_rows = len(table[next(iter(table))])
    if n_rows != n_papers:
        raise ValueError(f"it has {count(n_rows, 'row')} for {count(n_papers, 'paper')}")


def _check_by_hand(path: Path, most: int) -> None:
    """Raise AtlasError if a file that a user writes is too large to be read."""
    if (size := path.stat().st_size) > most:
        raise AtlasError(
            f"{path} has {size / 2**20:,.1f} MB, at most {most >> 20} MB are read. Remove rows "
            "that are not of this atlas."
        )


def unreadable(folder: Path, name: str, error: Exception) -> AtlasError:
    """Return the error for an unreadable file of an atlas; an AtlasError is returned itself."""
    if isinstance(error, AtlasError):
        return error
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
    places = [("field", text), ("start", number), ("end", number), ("surface", text)]
    own = {
        "missions.parquet": [("facility", text), *places, ("role", text), ("section", number)],
        "uat.parquet": [("concept_id", text), *judged],
        "reviews.parquet": judged,
        SECTIONS: [
            ("number", number),
            ("kind", text),
            ("heading", text),
            ("text", text),
            ("first_page", number),
            ("last_page", number),
            ("references", pa.list_(number)),
        ],
        REFERENCES: [
            ("number", number),
            ("text", text),
            ("title", text),
            ("authors", pa.list_(text)),
            ("year", number),
            ("bibcode", text),
            ("doi", text),
            ("arxiv_id", text),
        ],
        SOFTWARE: [
            ("name", text),
            ("ascl", text),
            ("section", number),
            ("start", number),
            ("end", number),
            ("surface", text),
        ],
        OBJECTS: [("name", text), ("kind", text), *places, ("section", number)],
        VALUES: [
            ("quantity", text),
            ("object", text),
            *((name, pa.float64()) for name in ("value", "plus", "minus")),
            ("unit", text),
            ("own", pa.bool_()),
            ("start", number),
            ("end", number),
            *((name, text) for name in ("limit", "status", "what", "field", "surface", "method")),
            ("sentence_start", number),
            ("sentence_end", number),
        ],
        FULL_TEXTS: [
            ("file", text),
            ("format", text),
            ("bytes", pa.int64()),
            ("modified", pa.int64()),
            ("problem", text),
        ],
    }
    return pa.schema([("paper_id", pa.string()), ("row", pa.int32()), *own[layer]])


SECTIONS, REFERENCES = "sections.parquet", "references.parquet"
FULL_TEXTS, SOFTWARE = "full_texts.parquet", "software.parquet"
"""Layers of full texts: their sections, references, the files that were read, and software."""
OBJECTS, VALUES = "objects.parquet", "values.parquet"
"""Layers of the celestial objects and of the values that papers name."""
BIBLIOGRAPHIES = "bibliographies.parquet"
_LATER_IN_LAYERS = ("role", "section")  # columns of mentions, not in atlases of earlier versions
CHANGES = "changes.parquet"


def changes_schema() -> pa.Schema:
    """Return the schema of the list of changes of regions."""
    import pyarrow as pa

    number, text = pa.int32(), pa.string()
    kinds = {"topic_id": number, "papers": number, "papers_before": number}
    names = ("date", "kind", "topic_id", "label", "papers", "papers_before", "reason")
    return pa.schema([(name, kinds.get(name, text)) for name in names])


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
                known = file.schema_arrow.names
                later = [n for n in schema.names if n in _LATER_IN_LAYERS and n not in known]
                table = read_limited(
                    file, folder / name, [n for n in schema.names if n not in later]
                )
            for one in later:
                table = table.append_column(one, pa.nulls(len(table), schema.field(one).type))
            table = table.select(schema.names)
            table = table.cast(schema)
            frame = table.to_pandas(ignore_metadata=True)
            if not frame["row"].between(0, part.rows - 1).all():
                raise ValueError(f"a row number exceeds the {part.rows:,} rows of this part")
        except (OSError, ValueError, pa.ArrowException) as error:
            raise unreadable(folder, name, error) from error
        frames.append(frame.assign(row=frame["row"].astype(np.int64) + start))
        start += part.rows
    return pd.concat(frames, ignore_index=True).rename(columns={"row": "paper_row"})


def read_of_papers(
    folder: Path,
    parts: Sequence[Part],
    layer: str,
    rows: Sequence[int],
    kinds: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read the rows of a layer for some papers, given by their rows in the atlas."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = layer_schema(layer)
    frames = [schema.empty_table().to_pandas()]
    start = 0
    for part in parts:
        own = [row - start for row in rows if start <= row < start + part.rows]
        if own:
            wanted: list[tuple[str, str, Any]] = [("row", "in", own)]
            wanted += [] if kinds is None else [("kind", "in", [*kinds])]
            try:
                table = pq.read_table(folder / layer / f"{part.name}.parquet", filters=wanted)
                frame = table.cast(schema).to_pandas(ignore_metadata=True)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise unreadable(folder, f"{layer}/{part.name}.parquet", error) from error
            frames.append(frame.assign(row=frame["row"].astype(np.int64) + start))
        start += part.rows
    return pd.concat(frames, ignore_index=True).rename(columns={"row": "paper_row"})


def apply_roles(mentions: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Replace the roles of mentions by those in ``roles.csv``, if the file exists."""
    if not path.is_file():
        return mentions
    _check_by_hand(path, _MAX_BY_HAND[1])
    import pandas as pd

    from landscape.corpus.facilities import ROLES as MENTION_ROLES

    keys = ["paper_id", "field", "start"]
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        given = {(row["paper_id"], row["field"], int(row["start"])): row["role"] for row in rows}
        unknown = sorted(set(given.values()) - set(MENTION_ROLES))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no role")
    except (UnicodeDecodeError, csv.Error, KeyError, ValueError, TypeError) as error:
        raise AtlasError(
            f"{path} cannot be read as a table of paper_id, field, start and role ({error}); the "
            f"roles are {', '.join(MENTION_ROLES)}."
        ) from error
    found = pd.MultiIndex.from_frame(mentions[keys]).map(given)
    return mentions.assign(role=pd.Series(found, index=mentions.index).fillna(mentions["role"]))


def read_labels(path: Path) -> dict[int, str]:
    """Read the names of regions from `labels.csv`, by topic."""
    if not path.is_file():
        return {}
    _check_by_hand(path, _MAX_BY_HAND[0])
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


def write_labels(path: Path, labels: Mapping[int, str]) -> None:
    """Write names of regions to `labels.csv`; other lines stay, and an empty name is removed."""
    read_labels(path)  # an error if the file is not such a table
    names, rows = ["topic_id", "label"], []
    if path.is_file():
        with path.open(encoding="utf-8-sig", newline="") as stream:
            table = csv.DictReader(stream)
            rows = [row for row in table if int(row["topic_id"]) not in labels]
            names = list(table.fieldnames or names)
    rows += [
        {"topic_id": str(number), "label": one_line(label, most=200)}
        for number, label in labels.items()
        if label.strip()
    ]
    text = StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with reporting_unwritable(path):
        write_whole(path, text.getvalue().encode())


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
        for number in unknown[:_MAX_PROBLEMS]
    )
    if (more := len(unknown) - _MAX_PROBLEMS) > 0:
        problems += (
            f"{path.name} names {count(more, 'other topic')} without a region; remove them.",
        )
    return named, problems


# Columns of the file have the names of the fields.
_FIELDS = [field.name for field in fields(Paper) if field.name != "row"]


class PaperTable:
    """Table of papers with fast access by row number."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._batches: list[pa.RecordBatch] = []
        for file in files:
            self._schema = self._open(file)
        self._ends = np.cumsum([batch.num_rows for batch in self._batches], dtype=np.int64)

    def _open(self, file: Path) -> pa.Schema:
        import pyarrow as pa

        try:
            reader = pa.ipc.open_file(pa.memory_map(str(file)))
            left = file.stat().st_size
            for number in range(reader.num_record_batches):
                self._batches.append(reader.get_batch(number))
                left -= self._batches[-1].nbytes
                if left < 0:
                    raise ValueError("it is compressed, which a build never does")
                # Without this check, a damaged offset could crash the process.
                self._batches[-1].validate(full=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise AtlasError(f"{file} cannot be read ({error}); build the atlas again.") from error
        return reader.schema

    def papers(self, rows: Sequence[int] | NDArray[np.int64]) -> list[Paper]:
        """Return the papers of the given rows, in that order."""
        papers = []
        for row, *values in zip(rows, *self._columns(_FIELDS, rows), strict=True):
            plain: list[Any] = [tuple(v) if isinstance(v, list) else v for v in values]
            fields = dict(zip(_FIELDS, plain, strict=True))
            if "status" not in self._schema.names:  # an atlas of an earlier version
                from landscape.corpus.status import find_status

                status, reason = find_status(fields["title"], fields["abstract"])
                fields |= {"status": status, "status_reason": reason}
            papers.append(Paper(row=int(row), **fields))
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

    def months(self) -> list[int]:
        """Return the month of each paper, 0 if only the year, or nothing, is known."""
        months: list[int] = []
        for batch in self._batches:
            # Comparing with a text by pyarrow.compute would import pandas.
            precision = batch.column("date_precision").to_pylist()
            dates = batch.column("date").to_pylist()
            months += [
                0 if day is None or known == "year" else day.month
                for day, known in zip(dates, precision, strict=True)
            ]
        return months

    def _columns(
        self, names: Sequence[str], rows: Sequence[int] | NDArray[np.int64]
    ) -> list[list[object]]:
        wanted = np.asarray(rows, dtype=np.int64)
        batch_of = np.searchsorted(self._ends, wanted, side="right")
        columns: list[list[object]] = [[None] * len(wanted) for _ in names]
        for number in np.unique(batch_of):
            here = np.flatnonzero(batch_of == number)
            batch = self._batches[number]
            inside = wanted[here] - (self._ends[number] - batch.num_rows)
            known = [one for one in names if one in batch.schema.names or one not in _LATER_COLUMNS]
            taken = batch.select(known).take(_arrow(inside))
            for name, values in zip(known, taken.columns, strict=True):
                column = columns[names.index(name)]
                for place, value in zip(here, values.to_pylist(), strict=True):
                    column[place] = value
        return columns

    def frame(
        self,
        columns: Sequence[str] | None = None,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> pd.DataFrame:
        """Return columns of the papers as a data frame."""
        import pandas as pd
        import pyarrow as pa

        names = self._schema.names if columns is None else list(columns)
        later = [one for one in names if one in _LATER_COLUMNS and one not in self._schema.names]
        unknown = [one for one in names if one not in self._schema.names and one not in later]
        if unknown:
            raise InputError(
                f"Papers have no column {unknown[0]!r}; they have: {', '.join(self._schema.names)}."
            )
        if not names:
            return pd.DataFrame(index=range(len(self) if rows is None else len(rows)))
        known = [one for one in names if one not in later]
        table = pa.Table.from_batches(self._batches, schema=self._schema).select(known)
        for one in later:
            table = table.append_column(one, _nulls(len(table), one))
        table = table.select(names)
        if rows is not None:
            table = table.take(_arrow(np.asarray(rows, dtype=np.int64)))

        def dtype(of: pa.DataType) -> pd.api.extensions.ExtensionDtype | None:
            if pa.types.is_int32(of):
                return pd.Int32Dtype()
            return pd.ArrowDtype(of) if pa.types.is_list(of) else None

        return table.to_pandas(date_as_object=False, types_mapper=dtype)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0


def _nulls(length: int, column: str) -> pa.Array:
    import pyarrow as pa

    return pa.nulls(length, pa.list_(pa.string()) if column in _LATER_LISTS else pa.string())


def _arrow(numbers: NDArray[np.int64]) -> pa.Array:
    """Return an Arrow array; ``pa.array`` is avoided because it imports pandas (0.5 s)."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, buffer])
