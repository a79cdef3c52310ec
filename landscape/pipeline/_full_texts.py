"""Full texts of the papers: their sections, references and the files that were read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import link_file, replacing
from landscape._wording import count, join_names
from landscape.corpus.full_text import FullTextFolder, read_full_text
from landscape.errors import LandscapeError, MissingExtraError
from landscape.pipeline._layers import FULL_TEXTS as STAGE
from landscape.pipeline._layers import LayerTask, write_found, write_tables
from landscape.pipeline._rows import write_table
from landscape.pipeline.map_stages import embed_texts
from landscape.pipeline.stages import Context, Previous, Stage, StageResult, clear_work, inputs_from
from landscape.search.passages import (
    INDEXED,
    PASSAGES,
    VECTORS,
    part_code,
    passage_key,
    passages_of,
)
from landscape.store.arrays import write_matrix
from landscape.store.manifest import digest
from landscape.store.tables import FULL_TEXTS, REFERENCES, SECTIONS, layer_schema
from landscape.text import tokenise
from landscape.text.word_index import (
    Segment,
    list_segments,
    read_segments,
    segment_name,
    write_segment,
)
from landscape.types import Paper

if TYPE_CHECKING:
    import pyarrow as pa

    from landscape.store.manifest import Part

LAYERS = (SECTIONS, REFERENCES, FULL_TEXTS)
_NAMES = ("paper_id", "arxiv_id", "bibcode", "doi", "authors", "title")
_SLICE = 256  # papers of a slice, because a body is 50 times longer than an abstract
_SEGMENT = 200_000  # passages that are indexed in memory at a time
_MAX_PROBLEMS = 10  # files that cannot be read, which the build lists; all are in the layer


def has_full_texts(context: Context) -> bool:
    """Return whether the atlas has full texts, now or in the version that an update keeps."""
    if context.options.full_text:
        return True
    record = context.previous.stage(STAGE) if context.previous else None
    return context.is_update and record is not None and bool(record.outputs)


def _run(context: Context) -> StageResult:
    import pyarrow.parquet as pq

    folders = context.options.full_text
    previous = context.previous if _is_usable(context.previous) else None
    read = partial(
        _read_slice,
        folders=folders,
        bibliographies=_bibliographies(context),
        listing=_listing(context),
        previous=tuple(previous.files(FULL_TEXTS)) if previous else (),
        keeps=context.is_update,
    )
    names = write_tables(context, FULL_TEXTS_STAGE, LAYERS, read, size=_SLICE)
    tables = [
        pq.read_table(context.folder / name, columns=["file", "format", "problem"])
        for name in names
        if name.startswith(FULL_TEXTS)
    ]
    rows = [row for table in tables for row in table.to_pylist()]
    problems = [row["problem"] for row in rows if row["problem"]]
    for problem in problems[:_MAX_PROBLEMS]:
        context.say(f"full text: {problem}")
    if len(problems) > _MAX_PROBLEMS:
        more = count(len(problems) - _MAX_PROBLEMS, "more file")
        context.say(f"full text: {more} could not be read; {FULL_TEXTS} lists all with reasons")
    used = {row["file"] for row in rows}
    unused = [path for path in FullTextFolder(folders).files if path.name not in used]
    if unused:
        context.say(
            f"full text: {count(len(unused), 'file')} without a paper of this atlas: "
            + join_names([path.name for path in unused])
        )
    counts = {
        name: sum(
            pq.read_metadata(context.folder / one).num_rows
            for one in names
            if one.startswith(layer)
        )
        for name, layer in (("sections", SECTIONS), ("references", REFERENCES))
    }
    formats = [row["format"] for row in rows if not row["problem"]]
    by_format = {name: formats.count(name) for name in sorted(set(formats))}
    context.say(
        f"full text: {count(len(formats), 'paper')} with {counts['sections']:,} sections and "
        f"{counts['references']:,} references; {count(len(problems), 'file')} not readable"
    )
    return StageResult(
        rows=len(formats),
        outputs=names,
        details={
            **counts,
            "formats": by_format,
            "problems": len(problems),
            "without_paper": len(unused),
        },
    )


def _is_usable(previous: Previous | None) -> bool:
    record = previous.stage(STAGE) if previous else None
    return (
        record is not None and bool(record.outputs) and record.version == FULL_TEXTS_STAGE.version
    )


def _listing(context: Context) -> list[str]:
    """Return a hash of the names, sizes and times of all files, or that of the last build."""
    folders = context.options.full_text
    if context.is_update and not folders:
        record = context.previous.stage(STAGE) if context.previous else None
        return list(record.parameters.get("files", ())) if record else []
    found = [_state(path) for path in FullTextFolder(folders).files]
    return [digest(found)] if folders else []


def _state(path: Path) -> tuple[str, int, int]:
    """Return the name, the size and the latest modification of a file or folder.

    The bibliography of a LaTeX file, which has its name, is part of it.
    """
    if path.is_dir():
        inside = [path, *path.rglob("*")]
    else:
        others = [path.with_suffix(ending) for ending in (".bbl", ".bib")]
        is_latex = path.suffix.lower() == ".tex"
        inside = [path, *(one for one in others if is_latex and one.is_file())]
    status = [one.lstat() for one in inside]
    return path.name, sum(one.st_size for one in status), max(one.st_mtime_ns for one in status)


def _bibliographies(context: Context) -> tuple[Path, ...]:
    """Return the BibTeX files among the inputs, which can name the files of their papers."""
    return tuple(one.path for one in context.inputs if one.path.suffix == ".bib" and not one.part)


@lru_cache(maxsize=2)
def _folder(
    folders: tuple[Path, ...], bibliographies: tuple[Path, ...], _listing: tuple[str, ...]
) -> FullTextFolder:
    return FullTextFolder(folders, bibliographies=bibliographies)


def _read_slice(
    task: LayerTask,
    *,
    folders: tuple[Path, ...],
    bibliographies: tuple[Path, ...],
    listing: list[str],
    previous: tuple[Path, ...],
    keeps: bool,
) -> None:
    """Read the full texts of a slice; those that have not changed are taken from before."""
    import pandas as pd
    import pyarrow as pa

    piece, files = task
    if all(file.is_file() for file in files.values()):
        return
    folder = _folder(folders, bibliographies, tuple(listing))
    papers = piece.read(_NAMES).to_pylist()
    known = _known_files(previous, [paper["paper_id"] for paper in papers])
    sections: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []
    read: list[dict[str, Any]] = []
    reused: dict[str, int] = {}
    for row, fields in enumerate(papers):
        path = folder.find(_paper(row, fields))
        before = known.get(fields["paper_id"])
        name, size, modified = _state(path) if path else ("", 0, 0)
        own = {"file": name, "bytes": size, "modified": modified}
        is_same = before is not None and all(before[key] == value for key, value in own.items())
        if before is not None and (is_same or (path is None and keeps)):
            reused[fields["paper_id"]] = row
            read.append({**before, "row": row})
            continue
        if path is None:
            continue
        record = {"row": row, **own, "format": "", "problem": ""}
        try:
            found = read_full_text(path)
        except MissingExtraError:
            raise
        except LandscapeError as error:
            record["problem"] = str(error)
        else:
            record["format"] = found.format
            sections += [{"row": row, **asdict(one)} for one in found.sections]
            references += [{"row": row, **asdict(one)} for one in found.references]
        read.append(record)
    for layer, rows in ((SECTIONS, sections), (REFERENCES, references), (FULL_TEXTS, read)):
        names = [name for name in layer_schema(layer).names if name != "paper_id"]
        write_found(task, pd.DataFrame(rows, columns=names), layer)
        if reused and layer != FULL_TEXTS:
            old = _rows_of([path.parents[1] / layer / path.name for path in previous], reused)
            rows_of = [reused[name] + piece.start for name in old["paper_id"].to_pylist()]
            place = old.schema.get_field_index("row")
            old = old.set_column(place, "row", pa.array(rows_of, pa.int32()))
            new = pa.parquet.read_table(files[layer])
            joined = pa.concat_tables([new, old.select(new.column_names).cast(new.schema)])
            order = [("row", "ascending"), ("number", "ascending")]
            write_table(files[layer], joined.sort_by(order))


def _paper(row: int, fields: dict[str, Any]) -> Paper:
    named = {name: fields[name] for name in ("paper_id", "arxiv_id", "bibcode", "doi")}
    authors = tuple(fields["authors"] or ())
    return Paper(row=row, title=fields["title"] or "", abstract="", authors=authors, **named)


def _known_files(previous: tuple[Path, ...], ids: list[str]) -> dict[str, dict[str, Any]]:
    """Return what an earlier version read, by paper."""
    if not previous:
        return {}
    table = _rows_of([*previous], ids)
    return {row.pop("paper_id"): row for row in table.to_pylist()}


def _rows_of(files: list[Path], ids: Any) -> pa.Table:
    """Return the rows of some papers in the parts of a layer."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted, found = pa.array(ids, pa.string()), []
    for path in files:
        groups = _groups_of(path, path.stat().st_mtime_ns)
        with pq.ParquetFile(path) as file:
            table = file.read_row_groups(sorted({n for one in ids for n in groups.get(one, ())}))
        found.append(table.filter(pc.is_in(table["paper_id"].cast(pa.string()), value_set=wanted)))
    return pa.concat_tables(found)


@lru_cache(maxsize=64)
def _groups_of(path: Path, _modified: int) -> dict[str, list[int]]:
    """Return the row groups with rows of each paper."""
    import pyarrow.parquet as pq

    groups: dict[str, list[int]] = {}
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            named = file.read_row_group(number, columns=["paper_id"])["paper_id"]
            for one in named.unique().to_pylist():
                groups.setdefault(one, []).append(number)
    return groups


FULL_TEXTS_STAGE = Stage(
    name=STAGE,
    version=1,
    parameters=lambda context: {"files": _listing(context)},
    inputs=inputs_from(papers="ingest"),
    run=_run,
    unit="full texts",
    applies=has_full_texts,
)


def _passages_run(context: Context) -> StageResult:
    """Index the passages of the sections, part by part."""
    parts = [*zip(context.part_files(SECTIONS), context.manifest.parts, strict=True)]
    files = context.manifest.files
    work, joined = context.work(PASSAGES), context.work(PASSAGES, "joined")
    shutil.rmtree(joined, ignore_errors=True)
    joined.mkdir(parents=True)
    tasks = [
        (
            path,
            part.name,
            work / segment_name(f"{VERSION} {part.name} {files[f'{SECTIONS}/{path.name}'].sha256}"),
        )
        for path, part in parts
        if next(_passages_in(path, part.name), None)
    ]
    with context.progress("Passages", total=max(len(tasks), 1), unit="parts") as advance:
        segments: list[Segment] = []
        for written in context.executor.map(
            _write_passages, tasks, n_papers=context.manifest.n_papers
        ):
            for folder, segment in written:
                for path in segment.files(folder):
                    link_file(path, joined / path.name)
                segments.append(segment)
            advance(1)
    list_segments(joined, segments)
    place = context.folder / PASSAGES
    shutil.rmtree(place, ignore_errors=True)
    joined.rename(place)
    clear_work(context, PASSAGES)
    names = sorted(f"{PASSAGES}/{path.name}" for path in place.iterdir())
    n_passages = sum(segment.n_papers for segment in segments)
    if _wants_vectors(context):
        names += _embed_passages(context, parts, n_passages)
    return StageResult(rows=n_passages, outputs=names)


def _passages_in(path: Path, part: str) -> Iterator[tuple[int, str]]:
    """Yield the key and the text of each passage of a part."""
    import pyarrow.parquet as pq

    code = part_code(part)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1_024, columns=["row", "number", "kind", "text"]):
            for row, number, kind, text in zip(*batch.to_pydict().values(), strict=True):
                for place, (start, end) in enumerate(passages_of(text) if kind in INDEXED else ()):
                    yield passage_key(code, row, number, place), text[start:end]


def _write_passages(task: tuple[Path, str, Path]) -> list[tuple[Path, Segment]]:
    """Index the passages of a part in segments of limited size, each in a folder of its own."""
    path, part, folder = task
    if not folder.exists():
        growing = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        rows = ((key, " ".join(tokenise(text)), "") for key, text in _passages_in(path, part))
        for number, first in enumerate(rows):
            some = chain([first], islice(rows, _SEGMENT - 1))
            name = segment_name(f"{folder.name} {number}")
            write_segment(growing / f"{number:06d}", some, name=name)
        growing.rename(folder)
    return [(one, read_segments(one)[0]) for one in sorted(folder.iterdir())]


def _wants_vectors(context: Context) -> bool:
    """Return whether passages get vectors, now or in the version that an update keeps."""
    before = context.previous.stage(PASSAGES) if context.previous and context.is_update else None
    return context.options.passage_vectors or bool(before and before.parameters.get("vectors"))


def _embed_passages(
    context: Context, parts: Sequence[tuple[Path, Part]], n_passages: int
) -> list[str]:
    """Embed the passages with the model of the atlas."""
    context.say(
        f"passages: {n_passages:,} are embedded; this takes about as long as "
        f"{n_passages // 2:,} abstracts"
    )
    names = []
    (context.folder / VECTORS).mkdir(exist_ok=True)
    for path, part in parts:
        own = [f"{VECTORS}/{part.name}{ending}" for ending in (".npy", ".keys.npy")]
        if _is_embedded(context, f"{SECTIONS}/{path.name}", own):
            for name in own:
                link_file(context.previous.folder / name, context.folder / name)  # type: ignore[union-attr]
            names += own
            continue
        found = [*_passages_in(path, part.name)]
        if not found:
            continue
        vectors = embed_texts(context, [text for _, text in found], "Passages")
        if vectors is None:
            context.say("passages: not embedded, because the model of the atlas is not local")
            break
        target = context.folder / VECTORS / f"{part.name}.npy"
        write_matrix(target, [vectors], rows=len(vectors), columns=vectors.shape[1])
        keys = target.with_suffix(".keys.npy")
        with replacing(keys) as temporary, temporary.open("wb") as stream:
            np.save(stream, np.array([key for key, _ in found], np.uint64), allow_pickle=False)
        names += own
    return names


def _is_embedded(context: Context, sections: str, vectors: Sequence[str]) -> bool:
    """Return whether the last version has the vectors of the passages of unchanged sections."""
    if context.previous is None:
        return False
    old, new = context.previous.manifest, context.manifest
    models = [one.stages["embeddings"].model for one in (old, new)]
    return (
        all(name in old.files for name in (sections, *vectors))
        and old.files[sections].sha256 == new.files[sections].sha256
        and models[0] == models[1]
    )


VERSION = 1
PASSAGES_STAGE = Stage(
    name="passages",
    version=VERSION,
    parameters=lambda context: {"vectors": True} if _wants_vectors(context) else {},
    inputs=inputs_from(sections=STAGE),
    run=_passages_run,
    unit="passages",
    applies=has_full_texts,
)
