"""Options and stages of a build, and functions that decide which stages must run."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import numpy as np
from pydantic import BeforeValidator, Field

from landscape._io import is_same_file, measured, remove_leftovers, report_full_disk, sha256_of
from landscape._processes import n_usable_cores
from landscape._progress import progress
from landscape._settings import Number, Settings, Whole
from landscape.errors import InputError
from landscape.pipeline._executor import Executor
from landscape.pipeline._rows import row_keys
from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import TABLES, Manifest, Output, Part, StageRecord, digest, now

if TYPE_CHECKING:
    from numpy.typing import NDArray

TopicsMethod = Literal["density", "hdbscan"]
Layout = Literal["umap", "pca", "ready", "keep", "refit"]


def as_paths(paths: object) -> object:
    """Return one or more paths as a tuple."""
    if isinstance(paths, str | os.PathLike):
        return (Path(paths),)
    return tuple(Path(path) for path in paths) if isinstance(paths, Iterable) else paths


Paths = Annotated[tuple[Path, ...], BeforeValidator(as_paths)]


def _as_texts(texts: object) -> object:
    return (texts,) if isinstance(texts, str) else texts


Lists = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]


Precision = Literal["auto", "float32", "int8"]


Language = Literal["en", "fr", "de", "es", "pt", "it", "nl", "ru", "zh", "ja", "ko"]


class BuildOptions(Settings):
    """Options of a build."""

    inputs: Paths = Field((), description="files of papers", examples=["a list of files"])
    language: Language | None = Field(
        None,
        description="language of the papers, such as en; papers in another language are rejected",
    )
    embedder: str | None = Field(
        None,
        description="model: minilm (offline), openai:MODEL, st:NAME_OR_PATH, ready (the vectors in "
        "the inputs) or ready:FILE[@MODEL] (.npy with one row per record in the order of the "
        "inputs, or Parquet with paper_id and embedding). The default is the vectors in the inputs "
        "if every paper has one, otherwise minilm. With MODEL, queries can be embedded",
    )
    layout: Layout | None = Field(
        None,
        description="method of the map; keep adds new papers to the current map, refit then moves "
        "all papers and registers the result to the current map, ready takes the coordinates in "
        "the inputs, which is the default if every paper has them, otherwise umap",
    )
    on: Path | None = Field(
        None,
        description="basemap (landscape basemap export) on which the papers are placed; the map "
        "has the regions and the names of the basemap",
        examples=["the path of a file"],
    )
    seed: Whole | None = Field(
        None,
        ge=0,
        le=2**32 - 1,
        description="seed of the map. With a seed, the map is reproducible on a CPU, but is "
        "computed on one core, and the precision is float32",
    )
    precision: Precision | None = Field(
        None,
        description="precision of MiniLM: auto takes bfloat16 on CPUs that have it, otherwise int8 "
        "on CPUs with 8-bit dot products, which is 1.8 times as fast as float32; float32, the "
        "default with a seed, gives the same vectors on all CPUs. An atlas keeps its precision",
    )
    n_neighbors: Whole = Field(15, ge=2, description="number of neighbours of each paper in UMAP")
    min_dist: Number = Field(
        0.05, ge=0, le=1, description="minimum distance between points in UMAP, in map units"
    )
    keywords_limit: Whole = Field(20, ge=1, description="maximum number of keyphrases per paper")
    keywords: Literal["landscape", "pytextrank"] = Field(
        "landscape",
        description="method of the keyphrases; pytextrank is that of pathfinder, with spaCy, and "
        "takes about twenty times as long",
    )
    tagger: str = Field(
        "auto",
        description="part-of-speech tagger; auto selects rules, which was the most accurate one",
    )
    topics_method: TopicsMethod = Field("density", description="method that finds regions")
    max_regions: Whole | None = Field(
        None, ge=1, description="maximum number of regions; the default depends on the papers"
    )
    n_continents: Whole | None = Field(
        None, ge=1, description="maximum number of continents; the default depends on the papers"
    )
    polish: bool = Field(
        False, description="let the connected language model improve the names of regions"
    )
    thesaurus: Path | None = Field(
        None,
        description="the complete Unified Astronomy Thesaurus (landscape fetch uat) instead of "
        "the included part",
        examples=["the path of a file"],
    )
    known_reviews: Paths = Field(
        (),
        description="lists of known reviews: JSON lines with bibcode and identifier, or one "
        "identifier per line",
        examples=["a list of files"],
    )
    citations: Paths = Field(
        (),
        description="files of citations: a table with the columns citing and cited, or JSON lines "
        "of papers with their refs; see `landscape.corpus.read_citations`. References in the "
        "records of the papers are always used",
        examples=["a list of files"],
    )
    full_text: Paths = Field(
        (),
        description="folders of full texts (LaTeX, HTML of arXiv, JATS, PDF or text), which are "
        "named by an identifier of the paper, or by its key in a bibliography beside them",
        examples=["a list of folders"],
    )
    passage_vectors: bool = Field(
        False,
        description="also embed the passages of full texts, so that they are found by meaning; the "
        "words of the passages are always indexed",
    )
    bibliography: Lists = Field(
        (),
        description="list of the papers that use a facility, such as HST=hst.txt: bibcodes, DOIs "
        "or arXiv ids, a BibTeX file, or a table with a column of categories; "
        "HST[1990..2024]=hst.txt says in which years the list is complete",
        examples=["a list such as HST=hst.txt"],
    )
    never_merge: Path | None = Field(
        None,
        description="table (CSV) of pairs of identifiers or keys of records that are different "
        "papers although they look the same; landscape read lists what would be merged",
        examples=["the path of a file"],
    )
    title: str | None = Field(
        None,
        description="name of the atlas, for captions; the default is its current title, or the "
        "name of the folder",
    )
    workers: Whole | None = Field(
        None,
        ge=1,
        description="number of processes, by default one per core; it does not change the result",
    )
    scheduler: str | None = Field(
        None,
        description="address of a Dask scheduler, such as tcp://HOST:8786, whose workers do the "
        "work; the default is the environment variable DASK_SCHEDULER_ADDRESS, if it is set",
    )
    cluster: str | None = Field(
        None, description="Dask cluster that is started for this build; local:N has N processes"
    )
    landmarks: Whole | None = Field(
        None,
        ge=1000,
        description="maximum number of papers to which UMAP is fitted, by default 300,000; the "
        "other papers are placed by their nearest neighbours",
    )
    approve: Callable[[str], bool] | None = Field(
        None,
        description="function that is called with a question before a paid embedding or a "
        "download of weights starts; it returns True to agree",
        examples=["a function"],
    )

    @property
    def n_landmarks(self) -> int:
        """Maximum number of papers to which UMAP is fitted."""
        return self.landmarks or 300_000

    @property
    def n_workers(self) -> int:
        """Number of processes. The default is one per available core."""
        return n_usable_cores() if self.workers is None else self.workers


def with_absolute_paths(options: BuildOptions) -> BuildOptions:
    """Return the options with absolute paths, which are the same for every process."""
    changes: dict[str, Any] = {
        name: tuple(path.resolve() for path in getattr(options, name))
        for name in ("inputs", "known_reviews", "citations", "full_text")
    }
    for name in ("thesaurus", "on", "never_merge"):
        if (path := getattr(options, name)) is not None:
            changes[name] = path.resolve()
    kind, _, name = (options.embedder or "").partition(":")
    if kind == "st" and Path(name).is_dir():
        changes["embedder"] = f"{kind}:{Path(name).resolve()}"
    return options.model_copy(update=changes)


def check_options(options: BuildOptions) -> BuildOptions:
    """Raise InputError if an option is invalid or a file cannot be read. Return the options."""
    if not options.inputs:
        raise InputError("No input file is given; name at least one file of papers.")
    return check_build_options(options)


def check_build_options(options: BuildOptions) -> BuildOptions:
    """Check the options as `check_options` does; there may be no input."""
    from landscape.corpus import read_pairs
    from landscape.corpus.bibliographies import read_facility_list
    from landscape.corpus.thesaurus import read_thesaurus
    from landscape.mapping import read_basemap
    from landscape.overlays.reviews import read_review_list
    from landscape.text.tagger import tagger_name

    if options.embedder is not None:
        from landscape.embeddings.embedder import EMBEDDERS

        _check_choice("embedder", options.embedder.partition(":")[0], EMBEDDERS)
    for what, path in (
        ("thesaurus", options.thesaurus),
        *(("list of reviews", path) for path in options.known_reviews),
        *(("list of citations", path) for path in options.citations),
    ):
        if path is not None and not path.is_file():
            raise InputError(f"There is no {what} {path}; pass the path of an existing file.")
    # Read the files of later stages now, so that errors are reported before the embedding stage.
    if options.thesaurus is not None:
        read_once(read_thesaurus, options.thesaurus)
    for path in options.known_reviews:
        read_once(read_review_list, path)
    if options.never_merge is not None:
        read_once(read_pairs, options.never_merge)
    if options.on is not None:
        if options.layout is not None:
            raise InputError(
                f"The layout is {options.layout} and the papers are to be placed on {options.on}; "
                "choose one of both."
            )
        read_once(read_basemap, options.on)
    for folder in options.full_text:
        if not folder.is_dir():
            raise InputError(f"There is no folder of full texts {folder}; pass an existing folder.")
    for given in options.bibliography:
        read_facility_list(given)
    check_citations(options.citations)
    tagger_name(tagger=options.tagger)  # raises InputError if the tagger is unknown
    return options


def _check_choice(what: str, value: Any, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise InputError(f"There is no {what} {value!r}; choose one of: {', '.join(allowed)}.")


def check_citations(files: Iterable[Path]) -> None:
    """Raise InputError if a file of citations cannot be read."""
    from landscape.corpus import read_citations

    for path in files:
        read_once(read_citations, path)


T = TypeVar("T")


def read_once(read: Callable[[Path], T], path: Path) -> T:
    """Read a file, or return what was read before if the file has not changed."""
    if not path.is_file():
        return read(path)  # raises the error that fits
    status = path.stat()
    return cast(T, _read(read, path, status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=16)
def _read(read: Callable[[Path], object], path: Path, *_status: int) -> object:
    return read(path)


WORK = ".work"


@dataclass(frozen=True)
class InputFile:
    """Input file with its checksum, size and modification time.

    `part` is the part of the current version that an update keeps; the file is then not read.
    """

    path: Path
    sha256: str
    bytes: int
    modified: int
    part: Part | None = None


@dataclass
class Context:
    """State of a running build."""

    folder: Path
    options: BuildOptions
    manifest: Manifest
    say: Callable[[str], None]
    inputs: list[InputFile]
    previous: Previous | None = None
    is_update: bool = False
    executor: Executor = field(default_factory=Executor)
    makeshift: set[str] = field(default_factory=set)

    def work(self, *names: str) -> Path:
        """Return a path in ``.work``, which is the folder of unfinished files."""
        return self.folder.joinpath(WORK, *names)

    def progress(
        self, task: str, *, total: float, unit: str = "papers"
    ) -> AbstractContextManager[Callable[[float], None]]:
        """Show the progress of a task, with the number of workers if there is a cluster."""
        where = f" ({self.executor.n_workers} workers)" if self.executor.is_cluster else ""
        return progress(task + where, total=total, unit=unit)

    def product(self, stage: str, name: str) -> str:
        """Return the digest of one output of a finished stage."""
        return self.manifest.stages[stage].products[name]

    def part_files(self, table: str, ending: str = ".parquet") -> list[Path]:
        """Return the files of a table of papers, in the order of the rows of the atlas."""
        return self.manifest.part_files(self.folder, table, ending)

    def is_kept(self, *names: str) -> bool:
        """Return whether files are those of the version that this build replaces."""
        previous = self.previous
        return previous is not None and all(
            name in previous.manifest.files
            and is_same_file(self.folder / name, previous.folder / name)
            for name in names
        )


@dataclass(frozen=True)
class StageResult:
    """Result of a stage."""

    rows: int
    outputs: Sequence[str]
    products: dict[str, str] = field(default_factory=dict)
    model: dict[str, Any] | None = None
    details: dict[str, object] = field(default_factory=dict)
    parts: tuple[Part, ...] | None = None
    makeshift: bool = False


@dataclass(frozen=True)
class Stage:
    """One step of the build."""

    name: str
    version: int
    run: Callable[[Context], StageResult]
    inputs: Callable[[Context], dict[str, str]]
    parameters: Callable[[Context], dict[str, object]] = lambda _: {}
    shares: str = ""
    completed_by: str = ""
    unit: str = "papers"
    applies: Callable[[Context], bool] = lambda _: True
    """Whether an atlas has this stage. One without full texts has no stages for them."""


def checksums(context: Context, stage: str, name: str, given: Sequence[Path]) -> list[str]:
    """Return checksums of files, or those of the last build if an update is given none."""
    if context.previous is not None and context.is_update and not given:
        record = context.previous.manifest.stages.get(stage)
        return list(record.parameters.get(name, ())) if record else []
    return [sha256_of(path) for path in given]


def inputs_from(**sources: str) -> Callable[[Context], dict[str, str]]:
    """Return a function that reads the hashes of the stages or outputs on which a stage depends."""

    def read(context: Context) -> dict[str, str]:
        pairs = {name: source.partition(".") for name, source in sources.items()}
        return {
            name: context.product(stage, product)
            if product
            else context.manifest.stages[stage].fingerprint
            for name, (stage, _, product) in pairs.items()
        }

    return read


def is_fresh(stage: Stage, context: Context) -> bool:
    """Return whether the files of a stage are up to date."""
    record = context.manifest.stages.get(stage.name)
    if record is None:
        return False
    if stage.name not in context.makeshift and (
        record.fingerprint != fingerprint(stage, context)[0]
    ):
        return False
    completing = context.manifest.stages.get(stage.completed_by)
    expected = record.outputs | (completing.outputs if completing else {})
    for name, output in expected.items():
        path = context.folder / name
        if not path.is_file():
            return False
        rewritten_meanwhile = completing is None and stage.shares and name.startswith(stage.shares)
        if not rewritten_meanwhile and path.stat().st_size != output.bytes:
            return False
    return True


def fingerprint(stage: Stage, context: Context) -> tuple[str, dict[str, object], dict[str, str]]:
    """Return the hash, the parameters and the inputs of a stage. The hash covers both others."""
    parameters, inputs = stage.parameters(context), stage.inputs(context)
    return digest([stage.name, stage.version, parameters, inputs]), parameters, inputs


def run_stage(stage: Stage, context: Context) -> None:
    """Run one stage and record it in the manifest."""
    mark, parameters, inputs = fingerprint(stage, context)
    unfinished = context.manifest.without(stage.name, stage.completed_by)
    context.manifest = write_manifest(context.folder, unfinished)
    with measured() as usage, report_full_disk(context.folder):
        result = stage.run(context)
    if result.makeshift:
        context.makeshift.add(stage.name)
    written = {name: context.folder / name for name in sorted(result.outputs)}
    record = StageRecord(
        fingerprint="makeshift" if result.makeshift else mark,
        version=stage.version,
        parameters=parameters,
        inputs=inputs,
        rows=result.rows,
        seconds=round(usage.seconds, 3),
        peak_memory_mb=round(usage.peak_memory_mb, 1),
        finished=now(),
        outputs={
            name: context.previous.manifest.files[name]
            if context.previous and context.is_kept(name)
            else Output(sha256_of(path), path.stat().st_size)
            for name, path in written.items()
        },
        products=result.products,
        model=result.model,
        details=result.details,
    )
    changed = context.manifest
    if result.parts is not None:
        changed = dataclasses.replace(changed, parts=result.parts)
    stages = {**changed.stages, stage.name: record}
    context.manifest = write_manifest(context.folder, dataclasses.replace(changed, stages=stages))


def keep_only(folder: Path, names: set[str]) -> None:
    """Remove the files of parts that are no longer in the atlas."""
    remove_leftovers(folder)
    for path in folder.iterdir():
        if path.is_file() and path.name not in names:
            path.unlink()


def clear_work(context: Context, *names: str) -> None:
    """Remove the temporary files of a finished stage."""
    # Rename the folder first. Otherwise, if a build stops during the removal, the next build finds
    # incomplete chunks.
    work, removed = context.work(*names), context.work(f"{'-'.join(names)}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    if work.exists():
        work.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)


_TOPICS = "topics.parquet"


@dataclass(frozen=True)
class Previous:
    """Files and manifest of the finished version of an atlas that a build replaces."""

    folder: Path
    manifest: Manifest

    def stage(self, name: str) -> StageRecord | None:
        """Return the record of a stage, or None if a table of the stage is missing."""
        record = self.manifest.stages.get(name)
        if record is None:
            return None
        files = self.manifest.files
        is_whole = all(
            (path := self.folder / name).is_file() and path.stat().st_size == files[name].bytes
            for name in record.outputs
            if name.startswith((*TABLES, _TOPICS))
        )
        return record if is_whole else None

    def files(
        self, table: str, ending: str = ".parquet", *, without: Collection[str] = ()
    ) -> list[Path]:
        """Return the files of a table of papers, in the order of the rows, except some parts."""
        names = (part.name for part in self.manifest.parts if part.name not in without)
        return [self.folder / table / f"{name}{ending}" for name in names]

    def keys(self, *, without: Collection[str] = ()) -> NDArray[np.uint64]:
        """Return a hash of the text of every paper, shape (n_papers, 2), except some parts."""
        keys = [row_keys(path) for path in self.files("papers.parquet", without=without)]
        return np.concatenate(keys) if keys else np.zeros((0, 2), dtype=np.uint64)
