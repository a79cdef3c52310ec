"""Build an atlas: run the stages whose inputs or parameters changed, resumably."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from landscape._io import (
    LOCK_NAME,
    TEMPORARY_SUFFIX,
    locked,
    refuse_links,
    remove_leftovers,
    telling_of_a_full_disk,
)
from landscape._wording import count
from landscape.errors import AtlasError, InputError
from landscape.pipeline._citations import CITATIONS_STAGE
from landscape.pipeline._embeddings import EMBEDDINGS_STAGE
from landscape.pipeline._ingest import INGEST_STAGE, SourceNeeded, look_at
from landscape.pipeline._keywords import KEYWORDS_STAGE
from landscape.pipeline._layers import MISSIONS_STAGE, REVIEWS_STAGE, UAT_STAGE
from landscape.pipeline._map import PROJECTION_STAGE, QUALITY_STAGE, TOPICS_STAGE
from landscape.pipeline._search_index import SEARCH_STAGE
from landscape.pipeline._stages import (
    WORK,
    BuildOptions,
    Context,
    InputFile,
    Stage,
    TopicsMethod,
    as_paths,
    check_citations,
    check_options,
    is_fresh,
    remember,
    run_stage,
)
from landscape.store._atlas_store import AtlasStore
from landscape.store._manifest import MANIFEST_NAME, Manifest, Part, read_manifest, write_manifest
from landscape.store._tables import LABELS

STAGES: tuple[Stage, ...] = (
    INGEST_STAGE,
    KEYWORDS_STAGE,
    EMBEDDINGS_STAGE,
    PROJECTION_STAGE,
    TOPICS_STAGE,
    QUALITY_STAGE,
    SEARCH_STAGE,
    UAT_STAGE,
    MISSIONS_STAGE,
    REVIEWS_STAGE,
    CITATIONS_STAGE,
)


def build(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    embedder: str | None = None,
    layout: str | None = None,
    seed: int | None = None,
    n_neighbors: int = 15,
    min_dist: float = 0.05,
    keywords_limit: int = 20,
    tagger: str = "auto",
    topics_method: TopicsMethod = "density",
    max_regions: int | None = None,
    n_continents: int | None = None,
    polish: bool = False,
    thesaurus: str | os.PathLike[str] | None = None,
    known_reviews: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    citations: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    title: str | None = None,
    workers: int | None = None,
    approve: Callable[[str], bool] | None = None,
    say: Callable[[str], None] | None = None,
) -> AtlasStore:
    """Build an atlas from files of papers, or bring one up to date.

    Parameters
    ----------
    inputs : path or iterable of path
        Files in any mix of the supported formats. The atlas contains exactly these
        files: a file that is left out is removed from the atlas.
    out : path
        The atlas's folder, ``NAME.atlas`` by custom. New, empty, or an atlas.
    embedder : str, optional
        ``"minilm"`` (offline), ``"openai:MODEL"``, ``"st:NAME_OR_PATH"``, ``"ready"`` (the
        vectors that the inputs bring), or ``"ready:FILE"``: vectors in a Parquet file with the
        columns ``paper_id`` and ``embedding``, or in a ``.npy`` file, one row a record in the
        order of the inputs, if none is merged or rejected. ``"ready:FILE@MODEL"`` names the
        model that made them, so that queries can be embedded. By default the vectors that every
        input brings, and MiniLM otherwise.
    layout : str, optional
        ``"umap"``, ``"tsne"``, ``"pca"``, ``"ready"``, or ``"keep"``, which leaves the papers of
        the present map where they are and places only new ones. By default the coordinates
        that every input brings, and UMAP otherwise.
    seed : int, optional
        Makes the map reproducible to the last digit, at the price of one core instead of all.
    n_neighbors : int, default 15
        Papers that UMAP ties each paper to.
    min_dist : float, default 0.05
        Closest packing on the map, in map units.
    keywords_limit : int, default 20
        Most keywords a paper.
    tagger : str, default "auto"
        Part-of-speech tagger: ``"auto"`` takes the best one installed.
    topics_method : {"density", "hdbscan"}, default "density"
        How regions are found.
    max_regions, n_continents : int, optional
        How many at the most; chosen from the number of papers when not given.
    polish : bool, default False
        Let the connected language model improve the names of topics.
    thesaurus : path, optional
        An official file of the Unified Astronomy Thesaurus (``landscape fetch uat``); by default
        the small part of it that comes with the package.
    known_reviews : path or iterable of path, optional
        Lists of papers known to be reviews: JSON lines with ``bibcode`` and ``identifier``, or one
        identifier a line.
    citations : path or iterable of path, optional
        Files that say who cites whom, see `landscape.corpus.readers._citations.read_citations`;
        references that the papers come with are taken in any case.
    title : str, optional
        Name of the atlas for people; by default the one it has, else the folder's name.
    workers : int, optional
        Processes for reading and keywords, by default one a core. Changes no result.
    approve : callable, optional
        Asked with a question before money is spent on remote embeddings; True lets it go on.
    say : callable, optional
        Takes lines for the user, such as the account of the records read.

    Returns
    -------
    Atlas

    Raises
    ------
    InputError
        If an input or an option cannot be used, or another build is writing to the folder.
    AtlasError
        If `out` is something else than an atlas, or one of a newer format.
    DiskFullError
        If the disk is full; the same call then resumes the build.

    Notes
    -----
    A stage runs only when its inputs or parameters have changed. It writes to temporary files
    and renames them, and can be killed at any moment: the next build resumes from the last
    finished chunk. Papers whose text did not change keep their keywords and their vectors.

    Examples
    --------
    >>> build([], "nothing.atlas")
    Traceback (most recent call last):
    landscape.errors.InputError: No input file is given; name at least one file of papers.
    """
    options = check_options(
        BuildOptions(
            inputs=as_paths(inputs),
            embedder=embedder,
            layout=layout,
            seed=seed,
            n_neighbors=n_neighbors,
            min_dist=min_dist,
            keywords_limit=keywords_limit,
            tagger=tagger,
            topics_method=topics_method,
            max_regions=max_regions,
            n_continents=n_continents,
            polish=polish,
            thesaurus=None if thesaurus is None else Path(thesaurus),
            known_reviews=as_paths(known_reviews),
            citations=as_paths(citations),
            title=title,
            workers=workers,
            approve=approve,
        )
    )
    folder = Path(out)
    refuse_links(folder, but=(LABELS,))
    known = _manifest_of(folder)
    files = look_at(options.inputs, known.parts if known else ())
    _make(folder)
    with locked(folder):
        # Read again under the lock: another build may have ended meanwhile.
        manifest = _manifest_of(folder) or write_manifest(folder, Manifest())
        remove_leftovers(folder)
        context = Context(folder, options, manifest, say or _say_nothing, files)
        _run_stages(context)
    return AtlasStore.open(folder)


def _say_nothing(_line: str) -> None:
    """Take a line for the user and drop it."""


def _run_stages(context: Context) -> None:
    ran: list[str] = []
    while stage := _next_stage(context):
        if ran.count(stage.name) > 1:  # a stage that never comes out fresh would run for ever
            raise RuntimeError(f"the stage {stage.name} does not settle")
        if not ran:
            with telling_of_a_full_disk(context.folder):
                remember(context.folder, context.manifest)
        ran.append(stage.name)
        try:
            run_stage(stage, context)
        except SourceNeeded:
            context.manifest = context.manifest.without("ingest", "keywords")
            continue
        record = context.manifest.stages[stage.name]
        context.say(f"{stage.name}: {record.rows:,} {stage.unit} in {record.seconds:,.1f} s")
    finished = dataclasses.replace(
        context.manifest,
        complete=True,
        title=_title(context),
        parts=_seen_now(context.manifest.parts, context.inputs),
    )
    if finished != context.manifest:
        write_manifest(context.folder, finished)
    if not ran:
        context.say("nothing has changed: the atlas is up to date")
    shutil.rmtree(context.folder / WORK, ignore_errors=True)


def _next_stage(context: Context) -> Stage | None:
    """The first stage whose results are not what they would be now; None when all is done."""
    return next((stage for stage in STAGES if not is_fresh(stage, context)), None)


def _title(context: Context) -> str:
    asked = context.options.title
    return context.manifest.title if asked is None else asked


def _seen_now(parts: tuple[Part, ...], files: list[InputFile]) -> tuple[Part, ...]:
    """Note the time of modification of inputs that were only touched, not changed."""
    return tuple(
        dataclasses.replace(part, modified=file.modified)
        for part, file in zip(parts, files, strict=True)
    )


def _manifest_of(folder: Path) -> Manifest | None:
    """Manifest of the atlas to be brought up to date; None where one is to be made."""
    if not folder.exists():
        return None
    if folder.is_dir() and not (folder / MANIFEST_NAME).exists():
        strangers = [p.name for p in folder.iterdir() if not _is_our_own(p.name)]
        if not strangers:
            return None
        raise AtlasError(
            f"{folder} is not an atlas: it holds {sorted(strangers)[0]!r} but no "
            f"{MANIFEST_NAME}; give --out a new folder."
        )
    return read_manifest(folder)


def _is_our_own(name: str) -> bool:
    """What a build leaves that was killed before its first manifest."""
    return name in (WORK, LOCK_NAME) or name.endswith(TEMPORARY_SUFFIX)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise InputError(
            f"{folder} cannot be made: permission denied; give --out a folder you may write to."
        ) from error


def add_citations(
    atlas: str | os.PathLike[str],
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    say: Callable[[str], None] | None = None,
) -> AtlasStore:
    """Give an atlas its graph of citations, or a new one; nothing else is made again.

    Parameters
    ----------
    atlas : path
        Its folder.
    files : path or iterable of path
        See `landscape.corpus.readers._citations.read_citations`. References that the papers
        themselves came with are taken too.
    say : callable, optional
        Takes lines for the user.

    Returns
    -------
    Atlas

    Raises
    ------
    InputError
        If a file cannot be read, or a build is writing to the folder.
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
    options = BuildOptions(inputs=(), citations=as_paths(files))
    check_citations(options.citations)
    refuse_links(folder, but=(LABELS,))
    with locked(folder):
        remove_leftovers(folder)
        manifest = AtlasStore.open(folder).manifest
        context = Context(folder, options, manifest, say or (lambda _: None), [])
        run_stage(CITATIONS_STAGE, context)
        write_manifest(folder, dataclasses.replace(context.manifest, complete=True))
        shutil.rmtree(folder / WORK, ignore_errors=True)
    added = AtlasStore.open(folder)
    details = added.stages["citations"].details
    context.say(
        f"citations: {details['links']:,} ({details['links_within']:,} within the atlas), "
        f"{count(details['stubs'], 'paper')} beyond it"
    )
    return added
