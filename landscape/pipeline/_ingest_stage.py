"""Stage that reads the inputs into ``papers.parquet``, one file per input."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landscape._io import sha256_of
from landscape._wording import join_names
from landscape.corpus import KeptPart, part_names
from landscape.corpus.language import LANGUAGES, find_languages
from landscape.errors import AtlasError, InputError
from landscape.pipeline._rows import KEYS, keys_digest, part_digests, read_columns, row_keys
from landscape.pipeline.stages import Context, InputFile, Stage, StageResult, keep_only
from landscape.store.arrays import BLOCK, open_matrix
from landscape.store.manifest import Part, StageRecord, check_once, digest

if TYPE_CHECKING:
    import pyarrow as pa

    from landscape.corpus.records import IngestReport

PAPERS, VECTORS = "papers.parquet", "embeddings"
REJECTED, REPAIRED, MERGED = "rejected.jsonl", "repaired.jsonl", "merged.jsonl"


def check_inputs(paths: Sequence[Path], known: Sequence[Part]) -> list[InputFile]:
    """Check that the input files can be read, and compute their checksums."""
    from landscape.corpus.readers import choose_reader

    known_checksums = {(part.file, part.bytes, part.modified): part.sha256 for part in known}
    seen: set[Path] = set()
    inputs = []
    for path in paths:
        choose_reader(path)  # raises InputError if the file cannot be read
        if path.resolve() in seen:
            raise InputError(f"{path} is given twice; pass each input only once.")
        seen.add(path.resolve())
        state = path.stat()
        checksum = known_checksums.get((path.name, state.st_size, state.st_mtime_ns))
        inputs.append(
            InputFile(path, checksum or sha256_of(path), state.st_size, state.st_mtime_ns)
        )
    return inputs


def _inputs(context: Context) -> dict[str, str]:
    inputs = {
        f"{number} {file.path.name}": file.sha256
        for number, file in enumerate(context.inputs, start=1)
    }
    never = context.options.never_merge
    return inputs | ({"never_merge": sha256_of(never)} if never is not None else {})


def _run(context: Context) -> StageResult:
    """Read the inputs, report what was read, and list the parts with their checksums."""
    report = _read(context)
    _say_counts(context, report)
    parts = _list_parts(report, context.inputs)
    files = [context.folder / PAPERS / f"{part.name}.parquet" for part in parts]
    for table in (PAPERS, KEYS):
        keep_only(context.folder / table, {path.name for path in files})
    known = context.previous.manifest.stages["ingest"] if context.previous else None
    kept = {part.name for part in report.parts if part.is_kept}
    columns = {"papers": "paper_id", "titles": "title", "categories": "categories"}
    digests = part_digests(files, [*columns.values()], known, kept)
    languages = _languages(files, known, kept)
    _say_languages(context, languages)
    _say_merged(context, report)
    if report.withdrawn:
        context.say(f"withdrawn by arXiv and removed: {join_names(report.withdrawn)}")
    ready = _complete_files(context, report)
    products = {f"texts/{path.stem}": keys_digest(row_keys(path)) for path in files}
    for place, name in enumerate(columns):
        products[name] = digest([one[place] for one in digests.values()])
    for kind, complete in ready.items():
        products |= {f"{kind}/{name}": sha256_of(path) for name, path in complete.items()}
    return StageResult(
        rows=report.kept,
        outputs=[
            *(REJECTED, REPAIRED, MERGED),
            *(f"{table}/{path.name}" for table in (PAPERS, KEYS) for path in files),
        ],
        products=products,
        parts=parts,
        details={
            **{name: getattr(report, name) for name in _COUNTS},
            "ready": {
                kind: {name: str(path.relative_to(context.folder)) for name, path in some.items()}
                for kind, some in ready.items()
            },
            "digests": digests,
            "languages": languages,
            "merged_papers": [
                {
                    "was": paper.was,
                    "paper_id": paper.row["paper_id"],
                    "journal_was": paper.journal_was,
                    "journal": paper.row["journal"],
                }
                for paper in report.merged_papers
            ],
            **_coverage(files),
        },
    )


_COUNTS = ("read", "kept", "merged", "rejected", "repaired")


def _read(context: Context) -> IngestReport:
    """Read the inputs and write the parts of the papers."""
    from landscape.corpus import ingest, read_pairs

    never = context.options.never_merge
    n_bytes = sum(file.bytes for file in context.inputs if file.part is None)
    with context.progress("Reading papers", total=n_bytes, unit="bytes") as advance:
        return ingest(
            _kept_parts(context),
            context.folder,
            work=context.work("ingest"),
            names=_part_names(context),
            workers=context.executor.n_workers,
            language=context.options.language,
            run=partial(context.executor.map, n_papers=n_bytes)
            if context.executor.is_cluster
            else None,
            advance=advance,
            never_merge=read_pairs(never) if never is not None else (),
        )


def _say_counts(context: Context, report: IngestReport) -> None:
    """Say how many records were read, kept, merged, rejected and repaired."""
    lists = [f"{name}.jsonl" for name in _COUNTS[2:] if getattr(report, name)]
    why = f" (see {join_names(lists)} for the reasons)" if lists else ""
    context.say(
        f"read {report.read:,} = kept {report.kept:,} + merged {report.merged:,} + "
        f"rejected {report.rejected:,}; repaired {report.repaired:,}{why}"
    )
    n_with = sum(part.ready_vectors for part in report.parts)
    if context.options.embedder is None and 0 < n_with < report.kept:
        context.say(
            f"{report.kept - n_with:,} of {report.kept:,} papers have no ready-made vectors, "
            "so minilm embeds all papers"
        )


def _list_parts(report: IngestReport, inputs: Sequence[InputFile]) -> tuple[Part, ...]:
    """Return the parts of the manifest, one for each input."""
    return tuple(
        Part(
            name=part.name,
            rows=part.rows,
            source=part.source,
            file=file.path.name,
            sha256=file.sha256,
            bytes=file.bytes,
            modified=file.modified,
            read=part.read,
            merged=part.merged,
            rejected=part.rejected,
        )
        for part, file in zip(report.parts, inputs, strict=True)
    )


def _complete_files(context: Context, report: IngestReport) -> dict[str, dict[str, Path]]:
    """Return the files with a ready-made vector, or coordinates, of every paper, by part."""
    vectors = report.embeddings | {
        part.name: context.folder / VECTORS / f"{part.name}.npy"
        for part, file in zip(report.parts, context.inputs, strict=True)
        if part.is_kept and file.part and _had_ready_vectors(context, file.part)
    }
    return {
        kind: {name: path for name, path in brought.items() if path is not None and _complete(path)}
        for kind, brought in (("vectors", vectors), ("coordinates", report.coordinates))
    }


def _kept_parts(context: Context) -> list[Path | KeptPart]:
    """Return the input files, and the parts that an update keeps."""
    previous = context.previous
    if previous is None or not any(file.part for file in context.inputs):
        return [file.path for file in context.inputs]
    for name, output in previous.manifest.files.items():
        if problem := check_once(previous.folder / name, output):
            raise AtlasError(f"{problem} Restore the file from a copy, or build a new atlas.")
    # Several parts can have the same file name. Their rejections are in the order of the parts.
    own = {name: iter(found) for name, found in _by_file(previous.folder / REJECTED).items()}
    repaired = _by_file(previous.folder / REPAIRED)
    return [
        file.path
        if file.part is None
        else KeptPart(
            part=file.part.name,
            path=file.path,
            reader=file.part.source,
            rows=file.part.rows,
            n_read=file.part.read,
            rejected=tuple(islice(own.get(file.part.file, iter(())), file.part.rejected)),
            repaired=tuple(repaired.pop(file.part.file, ())),
            folder=previous.folder,
            has_ready_vectors=_had_ready_vectors(context, file.part),
        )
        for file in context.inputs
    ]


def _by_file(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read a list of rejected or repaired records; an atlas of an earlier version may lack it."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        record = json.loads(line)
        found.setdefault(record["file"], []).append(record)
    return found


def renamed_papers(context: Context) -> dict[str, str]:
    """Return the new key of each paper whose key changed because a record was merged with it."""
    merged = context.manifest.stages["ingest"].details.get("merged_papers", ())
    return {paper["was"]: paper["paper_id"] for paper in merged}


def _had_ready_vectors(context: Context, part: Part) -> bool:
    """Return whether the vectors of a part came with its input."""
    stages = context.previous.manifest.stages if context.previous else {}
    return (
        "embeddings" in stages
        and stages["embeddings"].parameters.get("embedder") == "ready"
        and part.name in stages["ingest"].details["ready"]["vectors"]
    )


def _part_names(context: Context) -> list[str] | None:
    """Return the names of the parts of an update. New names are sorted after the kept ones."""
    kept = [file.part.name for file in context.inputs if file.part is not None]
    if not kept:
        return None
    new = iter(part_names([file.path for file in context.inputs if file.part is None]))
    names: list[str] = []
    for file in context.inputs:
        if file.part is not None:
            names.append(file.part.name)
            continue
        name = next(new)
        if names and f"{name}." <= f"{names[-1]}.":
            last = _ADDED_LATER.match(names[-1])
            numbered = f"{int(last[1]) + 1 if last else 1:05d}-{name}"
            prefixes = ("z" * length for length in count(1))
            name = next(f"{p}{numbered}" for p in prefixes if f"{p}{numbered}" > f"{names[-1]}.")
        names.append(name)
    return names


_ADDED_LATER = re.compile(r"z{1,9}(\d{5})-")


def _say_merged(context: Context, report: IngestReport) -> None:
    """Say which papers of the atlas were published since the last version."""
    published = [
        paper.row
        for paper in report.merged_papers
        if paper.row["journal"] and paper.row["journal"] != paper.journal_was
    ]
    for row in published[:_SHOWN]:
        name = row["arxiv_id"] or row["paper_id"]
        context.say(f"{name} is now published as {row['bibcode'] or row['journal']}")
    if len(published) > _SHOWN:
        context.say(f"and {len(published) - _SHOWN:,} more papers are now published")


_SHOWN = 10


def _languages(
    files: Sequence[Path], known: StageRecord | None, kept: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return the number of papers by language for each part; parts that are kept have theirs."""
    before = known.details.get("languages", {}) if known else {}
    return {
        path.stem: before[path.stem]
        if path.stem in kept and path.stem in before
        else dict(Counter(chain.from_iterable(map(find_languages, _batches(path)))))
        for path in files
    }


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Read titles and abstracts of a part in batches, because a part can be large."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(columns=["title", "abstract"])


def _say_languages(context: Context, languages: dict[str, dict[str, int]]) -> None:
    """Warn if a notable share of the papers is not in the most frequent language."""
    total = sum(map(Counter, languages.values()), Counter[str]())
    main = max(total, key=lambda code: total[code], default="en")
    if total.total() - total[main] < max(_MIN_FOREIGN, _MIN_SHARE_FOREIGN * total.total()):
        return
    names = join_names([f"{n:,} in {LANGUAGES[code]}" for code, n in total.most_common()])
    kept = "en" if "en" in total else main
    context.say(
        f"Warning: the papers are in {len(total)} languages ({names}), so regions of the map can "
        f"be languages instead of subjects. --language {kept} keeps the papers in "
        f"{LANGUAGES[kept]} only."
    )


_MIN_FOREIGN, _MIN_SHARE_FOREIGN = 3, 0.01  # papers, and share of the papers


class SourceNeeded(Exception):  # noqa: N818 - not an error
    """Signal that precomputed vectors or coordinates must be read again from the inputs."""


def brings_all(context: Context, kind: str) -> bool:
    """Return whether the inputs contain precomputed vectors or coordinates of every paper."""
    brought = context.manifest.stages["ingest"].details["ready"][kind]
    return all(part.name in brought for part in context.manifest.parts if part.rows)


def ready_files(context: Context, kind: str) -> list[Path | None]:
    """Return the files with precomputed vectors or coordinates, one file per part."""
    brought = context.manifest.stages["ingest"].details["ready"][kind]
    without = [p.name for p in context.manifest.parts if p.rows and p.name not in brought]
    if without:
        option = "--embedder minilm" if kind == "vectors" else "--layout umap"
        raise InputError(f"Some papers of {without[0]} have no ready-made {kind}; use {option}.")
    files = [
        context.folder / brought[part.name] if part.rows else None
        for part in context.manifest.parts
    ]
    if not all(path is None or path.is_file() for path in files):
        raise SourceNeeded
    return files


def _complete(path: Path) -> bool:
    """Return whether a file has no missing rows. Missing rows are NaN."""
    matrix = open_matrix(path)
    return all(
        bool(np.isfinite(matrix[start : start + BLOCK]).all())
        for start in range(0, len(matrix), BLOCK)
    )


def _coverage(files: Sequence[Path]) -> dict[str, object]:
    """Return the first and last date, and the numbers of synthetic papers and papers by source."""
    import pyarrow.compute as pc

    table = read_columns(files, ["date", "generated", "source", "kind", "status"])
    dates = pc.min_max(table["date"]).as_py()
    sources = pc.value_counts(pc.list_flatten(table["source"])).to_pylist()
    return {
        "first_date": dates["min"].isoformat() if dates["min"] else None,
        "last_date": dates["max"].isoformat() if dates["max"] else None,
        "generated": pc.sum(table["generated"]).as_py() or 0,
        "sources": {row["values"]: row["counts"] for row in sources},
        **{name: _counts(table[name]) for name in ("kind", "status")},
    }


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    """Return the number of papers of each kind or status. Unknown values are not counted."""
    import pyarrow.compute as pc

    rows = pc.value_counts(column.drop_null()).to_pylist()
    return {row["values"]: row["counts"] for row in sorted(rows, key=lambda row: -row["counts"])}


def _parameters(context: Context) -> dict[str, object]:
    # Atlases without this option have no parameter, so that they stay fresh.
    return {"language": context.options.language} if context.options.language else {}


INGEST_STAGE = Stage(
    name="ingest",
    version=2,
    parameters=_parameters,
    inputs=_inputs,
    run=_run,
    shares=PAPERS,
    completed_by="keywords",
)
