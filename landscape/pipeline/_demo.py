"""Open the demo atlas, or build it from a generated corpus."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from landscape.errors import AtlasError, InputError
from landscape.pipeline._build import build
from landscape.store._atlas_store import AtlasStore
from landscape.store._manifest import MANIFEST_NAME

NAME = "demo.atlas"
FOLDER_VARIABLE = "LANDSCAPE_DEMO"
TITLE = "Demo corpus (generated)"
_USUAL_SIZE = 4000


def open_demo(
    folder: str | os.PathLike[str] | None = None,
    *,
    n_papers: int = _USUAL_SIZE,
    say: Callable[[str], None] | None = None,
) -> AtlasStore:
    """Open the demo atlas; build it first if it does not exist.

    Its papers are generated and are not evidence about astronomy. It needs neither network nor key.

    Parameters
    ----------
    folder : path, optional
        Directory of ``demo.atlas``. The default is the environment variable ``LANDSCAPE_DEMO``,
        then the working directory or its nearest parent with a ``demo.atlas``, then the working
        directory. The variable may also name an atlas, which is opened instead of the demo;
        ``landscape lab ATLAS`` and ``landscape app`` use this to run notebooks on your papers.
    n_papers : int, default 4000
        Number of papers if it has to be built. 4,000 take a few minutes on a laptop, 400 a few
        seconds.
    say : callable, optional
        Function that receives messages for the user during the build.

    Returns
    -------
    Atlas

    Raises
    ------
    InputError
        If `folder` is not a directory, or another process is building the atlas.
    AtlasError
        If the directory is not an atlas, or is damaged.

    Examples
    --------
    >>> atlas = open_demo()  # doctest: +SKIP
    >>> atlas.coverage["generated"]  # doctest: +SKIP
    True
    """
    named = folder or os.environ.get(FOLDER_VARIABLE)
    if named and folder is None and (Path(named) / MANIFEST_NAME).is_file():
        return AtlasStore.open(named)
    atlas = _home(Path(named) if named else None) / NAME
    if atlas.is_dir():
        try:
            return AtlasStore.open(atlas)
        except AtlasError as error:
            # An interrupted build of the demo is resumed; other errors are reported.
            if "not finished" not in str(error):
                raise
    return build_demo(atlas, n_papers=n_papers, seed=1, say=say)


def build_demo(
    out: Path,
    *,
    n_papers: int = _USUAL_SIZE,
    seed: int | None = 1,
    workers: int | None = None,
    say: Callable[[str], None] | None = None,
) -> AtlasStore:
    """Generate the demo corpus and build its atlas, or resume an interrupted build."""
    from landscape.corpus.demo import write_demo

    if say:
        say(f"writing a generated corpus of {n_papers:,} papers that do not exist")
    files = write_demo(out.with_name(f"{out.stem}-corpus"), n_papers=n_papers)
    return build(
        [files.papers],
        out,
        seed=seed,
        workers=workers,
        title=TITLE,
        # The themes have no papers in common, so the default of UMAP would shrink each to a point.
        min_dist=0.5,
        say=say,
    )


def _home(folder: Path | None) -> Path:
    if folder is not None:
        if not folder.is_dir():
            raise InputError(f"Not a directory: {folder}. Pass the directory that contains {NAME}.")
        return folder
    here = Path.cwd()
    return next((at for at in (here, *here.parents) if (at / NAME).is_dir()), here)
