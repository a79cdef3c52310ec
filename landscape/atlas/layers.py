"""Layers: what the papers say of missions, thesaurus and reviews, one row a finding.

A layer is a folder of Parquet parts, one a source, like the tables of papers; a paper has no row,
one or many. ``row`` is the paper's row in its part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from landscape.atlas.graph import Context, keep_only
from landscape.atlas.reading import unreadable
from landscape.atlas.storage import replacing
from landscape.errors import AtlasError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    import pyarrow as pa

    from landscape.atlas.reading import Atlas


def layer_schema(layer: str) -> pa.Schema:
    """Return the columns of a layer.

    Parameters
    ----------
    layer : str
        One of `landscape.atlas.manifest.LAYERS`.

    Returns
    -------
    pyarrow.Schema

    Examples
    --------
    >>> layer_schema("reviews.parquet").names
    ['paper_id', 'row', 'score', 'evidence']
    """
    import pyarrow as pa

    judged = [("score", pa.float32()), ("evidence", pa.string())]
    own = {
        "missions.parquet": [
            ("facility", pa.string()),
            ("field", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("surface", pa.string()),
        ],
        "uat.parquet": [("concept_id", pa.string()), *judged],
        "reviews.parquet": judged,
    }
    return pa.schema([("paper_id", pa.string()), ("row", pa.int32()), *own[layer]])


def write_layer(context: Context, layer: str, tables: Iterable[pd.DataFrame]) -> list[str]:
    """Write a layer, one part after the other.

    Parameters
    ----------
    context : Context
        The build.
    layer : str
    tables : iterable of pandas.DataFrame
        Findings of each part, with ``row`` and the layer's own columns.

    Returns
    -------
    list of str
        Files written, relative to the atlas.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from landscape.atlas.rows import paper_ids

    schema = layer_schema(layer)
    (context.folder / layer).mkdir(exist_ok=True)
    names = []
    parts = zip(
        context.part_files("papers.parquet"), context.part_files(layer), tables, strict=True
    )
    for papers, path, table in parts:
        ids = np.array(paper_ids([papers]), dtype=object)
        named = table.assign(paper_id=ids[table["row"].to_numpy(dtype=np.int64)])
        content = pa.Table.from_pandas(named[schema.names], schema=schema, preserve_index=False)
        with replacing(path) as beside:
            pq.write_table(content, beside, compression="zstd")
        names.append(f"{layer}/{path.name}")
    keep_only(context.folder / layer, {path.rpartition("/")[2] for path in names})
    return names


def read_layer(atlas: Atlas, layer: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a layer.

    Parameters
    ----------
    atlas : Atlas
    layer : str
    columns : sequence of str, optional
        Only these besides ``paper_row``; the ids and evidence of millions of rows take most of
        the time.

    Returns
    -------
    pandas.DataFrame
        ``paper_id, paper_row`` (row in the whole atlas) and the layer's own columns.

    Raises
    ------
    AtlasError
        If the atlas was built before there was such a layer, or a file is damaged.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_has_layer(atlas, layer)
    atlas.check_unchanged()
    schema = layer_schema(layer)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in ("row", *columns)])
    frames = [schema.empty_table().to_pandas()]
    start = 0
    for part in atlas.parts:
        name = f"{layer}/{part.name}.parquet"
        try:
            with pq.ParquetFile(atlas.path / name) as file:
                table = file.read(columns=schema.names).cast(schema)
            frame = table.to_pandas(ignore_metadata=True)
            if not frame["row"].between(0, part.rows - 1).all():
                raise ValueError(f"it names papers beyond the {part.rows:,} of this part")
        except (OSError, ValueError, pa.ArrowException) as error:
            raise unreadable(atlas.path, name, error) from error
        frames.append(frame.assign(row=frame["row"].astype(np.int64) + start))
        start += part.rows
    return pd.concat(frames, ignore_index=True).rename(columns={"row": "paper_row"})


def check_has_layer(atlas: Atlas, layer: str) -> None:
    """Refuse an atlas that was built before there was such a layer.

    Parameters
    ----------
    atlas : Atlas
    layer : str

    Raises
    ------
    AtlasError
    """
    name = layer.removesuffix(".parquet")
    if name not in atlas.stages:
        raise AtlasError(
            f"{atlas.path} has no layer {name!r}: it was built by an earlier version; run the same "
            "landscape build again, which adds it."
        )
