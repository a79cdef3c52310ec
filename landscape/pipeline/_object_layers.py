"""Layers of celestial objects and of values: names and statements in the texts of papers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from landscape._io import data_file, sha256_of
from landscape.corpus.facilities import missions_file
from landscape.pipeline._layers import (
    LayerTask,
    has_sections,
    sections_input,
    write_found,
    write_tables,
)
from landscape.pipeline.stages import Context, Stage, StageResult, inputs_from
from landscape.store.tables import OBJECTS, SECTIONS, VALUES, layer_schema
from landscape.text.words import PARAGRAPH

if TYPE_CHECKING:
    import pandas as pd

_BETWEEN = f".{PARAGRAPH}"  # no name or value crosses it
_DATA = ("objects.yaml", "quantities.yaml")


def _run(context: Context) -> StageResult:
    import pyarrow.parquet as pq

    sections = context.folder / SECTIONS if has_sections(context) else None
    names = write_tables(
        context,
        OBJECTS_STAGE,
        [OBJECTS, VALUES],
        partial(_find, sections=sections),
        needs=[(SECTIONS, ".parquet")] if sections else [],
    )
    found: set[str] = set()
    counts = {OBJECTS: 0, VALUES: 0}
    for name in names:
        file = pq.ParquetFile(context.folder / name)
        counts[name.partition("/")[0]] += file.metadata.num_rows
        if name.startswith(OBJECTS):
            found.update(file.read(["name"])["name"].unique().to_pylist())
    return StageResult(
        rows=context.manifest.n_papers,
        outputs=names,
        details={"mentions": counts[OBJECTS], "objects": len(found), "values": counts[VALUES]},
    )


def _find(task: LayerTask, *, sections: Path | None) -> None:
    """Find the objects and values in the titles, abstracts and full texts of a slice."""
    import pandas as pd

    piece, files = task
    if all(file.is_file() for file in files.values()):
        return
    papers = piece.read(["title", "abstract"]).to_pydict()
    objects, values = find_in_papers(papers["title"], papers["abstract"])
    if sections is not None:
        rows = [("row", ">=", piece.start), ("row", "<", piece.stop)]
        columns = ["row", "number", "kind", "text"]
        table = pd.read_parquet(sections / piece.part.name, filters=rows, columns=columns)
        bodies = _in_sections(table.assign(row=table["row"] - piece.start))
        objects = pd.concat([objects, bodies]).sort_values("row", kind="stable", ignore_index=True)
    write_found(task, objects, OBJECTS)
    write_found(task, values, VALUES)


def find_in_papers(
    titles: list[str | None], abstracts: list[str | None]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the layers of objects and of values; ``row`` counts papers from 0."""
    from landscape.corpus.objects import find_objects
    from landscape.overlays.values import find_method, find_values
    from landscape.text import split_sentences

    objects: list[tuple[object, ...]] = []
    values: list[tuple[object, ...]] = []
    for row, (title, abstract) in enumerate(zip(titles, abstracts, strict=True)):
        texts = {"title": title or "", "abstract": abstract or ""}
        text = _BETWEEN.join(texts.values())
        begin = {"title": 0, "abstract": len(texts["title"]) + len(_BETWEEN)}
        mentions = find_objects(text)
        for one in mentions:
            field = "title" if one.start < len(texts["title"]) else "abstract"
            start, end = one.start - begin[field], one.end - begin[field]
            objects.append((row, one.name, one.kind, field, start, end, one.surface, None))
        found = find_values(text, objects=mentions)
        sentences = split_sentences(text) if found else []
        for value in found:
            field = "title" if value.start < len(texts["title"]) else "abstract"
            first, last = next(one for one in sentences if value.start < one[1])
            before, sentence = text[first : value.start], text[first:last]
            where = (before, texts["title"], sentence, texts["abstract"]) if value.own else ()
            method = find_method(*where)
            moved = value._replace(start=value.start - begin[field], end=value.end - begin[field])
            span = first - begin[field], last - begin[field]
            values.append((row, *moved, field, text[value.start : value.end], method, *span))
    return _frame(OBJECTS, objects), _frame(VALUES, values)


def _in_sections(sections: pd.DataFrame) -> pd.DataFrame:
    from landscape.corpus.objects import find_objects

    columns = (sections[name].tolist() for name in ("row", "number", "kind", "text"))
    return _frame(
        OBJECTS,
        [
            (row, one.name, one.kind, kind, one.start, one.end, one.surface, number)
            for row, number, kind, text in zip(*columns, strict=True)
            for one in find_objects(text)
        ],
    )


def _frame(layer: str, rows: list[tuple[object, ...]]) -> pd.DataFrame:
    import pandas as pd

    names = [name for name in layer_schema(layer).names if name not in {"paper_id", "row"}]
    frame = pd.DataFrame(rows, columns=["row", *names])
    return frame.astype({"section": "Int32"}) if layer == OBJECTS else frame


OBJECTS_STAGE = Stage(
    name="objects",
    version=1,
    parameters=lambda _: {
        "facilities": sha256_of(missions_file()),  # their names are no objects
        **{name: sha256_of(data_file(name)) for name in _DATA},
    },
    inputs=lambda context: inputs_from(papers="ingest", **sections_input(context))(context),
    run=_run,
)
