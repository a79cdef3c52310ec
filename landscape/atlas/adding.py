"""Add a layer to an atlas that stands, without the files it was built from."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from landscape.atlas.graph import WORK, Context, run_stage
from landscape.atlas.labels import LABELS
from landscape.atlas.manifest import write_manifest
from landscape.atlas.options import BuildOptions, as_paths, check_citations
from landscape.atlas.reading import Atlas, open_atlas
from landscape.atlas.stages import citations
from landscape.atlas.storage import locked, refuse_links, remove_leftovers
from landscape.plural import count


def add_citations(
    atlas: str | os.PathLike[str],
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    say: Callable[[str], None] | None = None,
) -> Atlas:
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
        If the folder is no finished atlas.

    Examples
    --------
    >>> add_citations("no-such.atlas", [])
    Traceback (most recent call last):
    landscape.errors.AtlasError: There is no atlas no-such.atlas; ...
    """
    folder = Path(atlas)
    open_atlas(folder)
    options = BuildOptions(inputs=(), citations=as_paths(files))
    check_citations(options.citations)
    refuse_links(folder, but=(LABELS,))
    with locked(folder):
        remove_leftovers(folder)
        manifest = open_atlas(folder).manifest
        context = Context(folder, options, manifest, say or (lambda _: None), [])
        run_stage(citations.STAGE, context)
        write_manifest(folder, dataclasses.replace(context.manifest, complete=True))
        shutil.rmtree(folder / WORK, ignore_errors=True)
    added = open_atlas(folder)
    details = added.stages["citations"].details
    context.say(
        f"citations: {details['links']:,} ({details['links_within']:,} within the atlas), "
        f"{count(details['stubs'], 'paper')} beyond it"
    )
    return added
