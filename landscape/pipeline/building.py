"""Build or update an atlas. Only stages with changed inputs or parameters run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from landscape._io import (
    BY_USER,
    LOCK_NAME,
    TEMPORARY_SUFFIX,
    locked,
    refuse_links,
    remove_leftovers,
)
from landscape._settings import takes_settings
from landscape._wording import count, did_you_mean
from landscape.errors import AtlasError, InputError, LandscapeError
from landscape.pipeline._embeddings import EMBEDDINGS_STAGE, prepare_embedder
from landscape.pipeline._executor import open_executor
from landscape.pipeline._full_texts import FULL_TEXTS_STAGE, PASSAGES_STAGE
from landscape.pipeline._ingest_stage import INGEST_STAGE, SourceNeeded, check_inputs
from landscape.pipeline._layers import (
    BIBLIOGRAPHIES_STAGE,
    CITATIONS_STAGE,
    MISSIONS_STAGE,
    REVIEWS_STAGE,
    UAT_STAGE,
)
from landscape.pipeline._map_rows import MAP
from landscape.pipeline._object_layers import OBJECTS_STAGE
from landscape.pipeline._text_stages import KEYWORDS_STAGE, SEARCH_STAGE
from landscape.pipeline.commit import (
    NEXT,
    begin_version,
    commit,
    discard_version,
    finish_commit,
    write_manifest,
)
from landscape.pipeline.map_stages import PROJECTION_STAGE, QUALITY_STAGE, TOPICS_STAGE
from landscape.pipeline.stages import (
    WORK,
    BuildOptions,
    Context,
    InputFile,
    Previous,
    Stage,
    check_citations,
    check_options,
    is_fresh,
    run_stage,
    with_absolute_paths,
)
from landscape.store import AtlasStore
from landscape.store.manifest import MANIFEST_NAME, Manifest, Part, read_manifest

STAGES: tuple[Stage, ...] = (
    INGEST_STAGE,
    KEYWORDS_STAGE,
    EMBEDDINGS_STAGE,
    PROJECTION_STAGE,
    TOPICS_STAGE,
    QUALITY_STAGE,
    SEARCH_STAGE,
    UAT_STAGE,
    FULL_TEXTS_STAGE,
    PASSAGES_STAGE,
    MISSIONS_STAGE,
    OBJECTS_STAGE,
    BIBLIOGRAPHIES_STAGE,
    REVIEWS_STAGE,
    CITATIONS_STAGE,
)


@takes_settings(BuildOptions, without=["inputs"])
def build(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    say: Callable[[str], None] | None = None,
    **settings: object,
) -> AtlasStore:
    """Build an atlas from files of papers, or update an existing atlas.

    Parameters
    ----------
    inputs : path or iterable of path
        Files in any of the supported formats. The atlas contains exactly these files. If a file
        is no longer listed, the papers of this file are removed.
    out : path
        Folder of the atlas, usually ``NAME.atlas``. It must be new, empty, or an existing atlas.
    say : callable, optional
        Function that receives messages for the user, one line each.
    **settings

    Returns
    -------
    Atlas

    Raises
    ------
    InputError
        If an input or an option is invalid, or another build is writing to the folder.
    AtlasError
        If `out` is not an atlas, or has a newer format.
    DiskFullError
        If the disk is full. Repeat the call to resume the build.

    Notes
    -----
    A stage runs only if its inputs or parameters have changed. Papers with unchanged text keep
    their keywords and vectors. After an interruption, the next build resumes from the last finished
    chunk. While a finished atlas is updated, its current version stays readable. The new version
    replaces it when it is complete.

    Examples
    --------
    >>> build([], "nothing.atlas")
    Traceback (most recent call last):
    landscape.errors.InputError: No input file is given; name at least one file of papers.
    """
    options = check_options(BuildOptions(inputs=inputs, **settings))
    folder = Path(out)
    refuse_links(folder, but=BY_USER)
    known = _manifest_of(folder)
    files = check_inputs(options.inputs, known.parts if known else ())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise InputError(
            f"Cannot create {folder}: permission denied. Pass a writable folder to --out."
        ) from error
    return build_version(folder, options, Sources(files), say or (lambda _: None))


@dataclass(frozen=True)
class Sources:
    """Files of a new version: exactly these, or in an update, those that stay and these."""

    files: list[InputFile]
    removed: tuple[str, ...] = ()
    is_update: bool = False

    def of_version(
        self, manifest: Manifest, folder: Path, say: Callable[[str], None]
    ) -> list[InputFile]:
        """Return the files of the version after that of `manifest`; say what happens to each."""
        if not self.is_update:
            return self.files
        parts = manifest.parts
        check_known(parts, self.removed, folder)
        stay = [part for part in parts if part.file not in self.removed]
        files = [
            InputFile(Path(part.file), part.sha256, part.bytes, part.modified, part)
            for part in stay
        ]
        known = {(part.file, part.sha256) for part in stay}
        names = {part.file for part in stay}
        for name in self.removed:
            papers = sum(part.rows for part in parts if part.file == name)
            say(f"{name}: {count(papers, 'paper')} removed")
        for file in self.files:
            # After a removal, a source that is known already may bring papers that it shared.
            if (file.path.name, file.sha256) in known and not self.removed:
                continue
            changed = "new papers are added, and changed papers are updated"
            is_known = file.path.name in names
            say(f"{file.path.name}: {changed if is_known else 'its papers are added'}")
            files.append(file)
        given = {file.path.name for file in files if file.part is None}
        shared = dict.fromkeys(part.file for part in stay if part.merged and part.file not in given)
        if self.removed and shared:
            say(
                "Papers that the removed sources share with others are removed as well. To keep "
                f"them, pass the other files again together with --remove: {', '.join(shared)}"
            )
        if not files:
            raise InputError(
                f"{folder} would have no papers; delete the folder, or pass files of papers."
            )
        return files


def check_known(parts: Sequence[Part], remove: Sequence[str], folder: Path) -> None:
    """Raise InputError if there is no source of a name."""
    names = list(dict.fromkeys(part.file for part in parts))
    for name in remove:
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(f"{folder} has no source {name!r}{hint} It has {', '.join(names)}.")


def build_version(
    folder: Path, options: BuildOptions, sources: Sources, say: Callable[[str], None]
) -> AtlasStore:
    """Build a version of an atlas from checked options and sources."""
    with locked(folder):
        finish_commit(folder)
        # Read the manifest again after locking, because another build may have changed it.
        manifest = _manifest_of(folder) or write_manifest(folder, Manifest())
        remove_leftovers(folder)
        previous = Previous(folder, manifest) if manifest.complete else None
        files = sources.of_version(manifest, folder, say)
        context = Context(folder, options, manifest, say, files, previous, sources.is_update)
        if previous is None:
            with _executor(context):
                _run_stages(context)
        elif stage := _outdated_stage(context):
            _say_disk_use(context, stage)
            with _executor(context), _new_version(context):
                _run_stages(context)
        else:
            discard_version(folder)
            _finish(context)
            context.say("Nothing has changed. The atlas is up to date.")
    return AtlasStore.open(folder, trust_model=(options.embedder or "").startswith("st:"))


@contextmanager
def _executor(context: Context) -> Iterator[None]:
    """Let a context run its tasks. The workers of a cluster need absolute paths."""
    options = context.options
    with open_executor(
        context.folder.resolve(),
        n_workers=options.n_workers,
        scheduler=options.scheduler,
        cluster=options.cluster,
    ) as executor:
        if executor.is_cluster:
            context.folder = context.folder.resolve()
            context.inputs = [replace(file, path=file.path.resolve()) for file in context.inputs]
            context.options = with_absolute_paths(options)
        context.executor = executor
        yield


def _outdated_stage(context: Context) -> Stage | None:
    """Return the first stage that must run."""
    absent = [stage.name for stage in STAGES if not stage.applies(context)]
    if any(name in context.manifest.stages for name in absent):
        return next(stage for stage in STAGES if stage.name not in absent)
    chosen = (stage for stage in STAGES if stage.name not in absent)
    return next((stage for stage in chosen if not is_fresh(stage, context)), None)


def _say_disk_use(context: Context, first: Stage) -> None:
    """Say how much disk space an update needs beside the current version."""
    # An update links the files of the parts that it keeps, except those of the map.
    kept = {file.part.name for file in context.inputs if file.part}
    outputs = [
        output.bytes
        for stage in STAGES[STAGES.index(first) :]
        if (record := context.manifest.stages.get(stage.name))
        for name, output in record.outputs.items()
        if Path(name).stem not in kept or name.startswith(MAP)
    ]
    before = sum(part.bytes for part in context.manifest.parts) or 1
    new = sum(file.bytes for file in context.inputs if file.part is None)
    whole = sum(output.bytes for output in context.manifest.files.values())
    growth = whole * new / before if kept else sum(outputs) * max(0.0, new / before - 1)
    free = shutil.disk_usage(context.folder).free
    context.say(
        f"The current version stays readable until the new one is complete. The new one needs up "
        f"to {(sum(outputs) + growth) / 1e6:,.0f} MB more ({free / 1e6:,.0f} MB are free)."
    )


@contextmanager
def _new_version(context: Context) -> Iterator[None]:
    """Let a context write a new version of a finished atlas, and commit it at the end."""
    folder, manifest = context.folder, context.manifest
    context.folder, context.manifest = folder / NEXT, begin_version(folder, manifest)
    remove_leftovers(context.folder)
    try:
        yield
    except InputError:
        # A build with invalid input leaves nothing to resume, unless a stage was finished.
        records = context.manifest.stages.items()
        if records <= manifest.stages.items() and not context.work("embeddings").exists():
            discard_version(folder)
        raise
    commit(folder)


def _run_stages(context: Context) -> None:
    absent = [stage.name for stage in STAGES if not stage.applies(context)]
    if any(name in context.manifest.stages for name in absent):
        context.manifest = context.manifest.without(*absent)
    ran: list[str] = []
    while stage := _outdated_stage(context):
        if ran.count(stage.name) > 1:  # avoid an endless loop
            raise RuntimeError(f"The stage {stage.name} is still out of date after two runs.")
        ran.append(stage.name)
        if stage.name in ("keywords", "embeddings"):
            prepare_embedder(context)
        try:
            run_stage(stage, context)
        except SourceNeeded:
            context.manifest = context.manifest.without("ingest", "keywords")
            continue
        except (MemoryError, BrokenProcessPool) as error:
            # The system may also end a worker process that needs too much memory.
            raise LandscapeError(
                f"The stage {stage.name} needs more memory than is free. Use fewer workers "
                "(--workers 1), or split the input into files with fewer papers. The same command "
                "resumes the build."
            ) from error
        record = context.manifest.stages[stage.name]
        context.say(f"{stage.name}: {record.rows:,} {stage.unit} in {record.seconds:,.1f} s")
    _finish(context)


def _finish(context: Context) -> None:
    """Mark the version as complete, and remove the unfinished files."""
    title = context.options.title
    finished = replace(
        context.manifest,
        complete=True,
        title=context.manifest.title if title is None else title,
        parts=tuple(  # the modification time can change even if the content does not
            replace(part, modified=file.modified)
            for part, file in zip(context.manifest.parts, context.inputs, strict=True)
        ),
    )
    if finished != context.manifest:
        write_manifest(context.folder, finished)
    shutil.rmtree(context.folder / WORK, ignore_errors=True)


def _manifest_of(folder: Path) -> Manifest | None:
    """Return the manifest of an existing atlas, or None if the folder is new or empty."""
    if not folder.exists():
        return None
    if folder.is_dir() and not (folder / MANIFEST_NAME).exists():
        # A build that was stopped before it wrote a manifest leaves these files.
        left = (WORK, LOCK_NAME)
        names = (path.name for path in folder.iterdir() if path.name not in left)
        others = [name for name in names if not name.endswith(TEMPORARY_SUFFIX)]
        if not others:
            return None
        raise AtlasError(
            f"{folder} is not an atlas: it contains {sorted(others)[0]!r} but no "
            f"{MANIFEST_NAME}. Pass a new folder to --out."
        )
    return read_manifest(folder)


def add_citations(
    atlas: str | os.PathLike[str],
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    say: Callable[[str], None] | None = None,
) -> AtlasStore:
    """Add a citation graph to an atlas, or replace the existing graph.

    Parameters
    ----------
    atlas : path
        Folder of the atlas.
    files : path or iterable of path
        Files of citations. See `landscape.corpus.read_citations`. References
        in the records of the papers are also used.
    say : callable, optional
        Function that receives messages for the user, one line each.

    Returns
    -------
    Atlas

    Raises
    ------
    InputError
        If a file cannot be read, or another build is writing to the folder.
    AtlasError
        If the directory is not a finished atlas.

    Examples
    --------
    >>> add_citations("no-such.atlas", [])
    Traceback (most recent call last):
    landscape.errors.AtlasError: There is no atlas no-such.atlas; ...
    """
    folder = Path(atlas)
    AtlasStore.open(folder)
    options = BuildOptions(inputs=(), citations=files)
    check_citations(options.citations)
    refuse_links(folder, but=BY_USER)
    with locked(folder):
        finish_commit(folder)
        remove_leftovers(folder)
        if (folder / NEXT).exists():
            raise InputError(
                f"An update of {folder} was interrupted. Run the same command again to finish it, "
                "then add the citations."
            )
        manifest = AtlasStore.open(folder).manifest
        context = Context(folder, options, manifest, say or (lambda _: None), [])
        with _new_version(context):
            run_stage(CITATIONS_STAGE, context)
            finished = replace(context.manifest, complete=True)
            write_manifest(context.folder, finished)
            shutil.rmtree(context.work(), ignore_errors=True)
    added = AtlasStore.open(folder)
    details = added.stages["citations"].details
    context.say(
        f"citations: {details['links']:,} ({details['links_within']:,} within the atlas), "
        f"{count(details['stubs'], 'paper')} beyond it"
    )
    return added
