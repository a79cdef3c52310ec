"""Open the demo atlas, or build it from a generated corpus."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from landscape._io import is_own_folder
from landscape.errors import AtlasError, InputError
from landscape.pipeline.building import build
from landscape.store import AtlasStore
from landscape.store.manifest import MANIFEST_NAME

NAME = "demo.atlas"
FOLDER_VARIABLE = "LANDSCAPE_DEMO"
TITLE = "Demo corpus (generated)"
_USUAL_SIZE = 4000
_MIN_DIST = 0.2  # between the default and 0.3, from which the regions of 4,000 papers merge


def open_demo(
    folder: str | os.PathLike[str] | None = None,
    *,
    n_papers: int = _USUAL_SIZE,
    say: Callable[[str], None] | None = None,
) -> AtlasStore:
    """Open the demo atlas. If it does not exist, build it first.

    The papers are synthetic and contain no real results. No network or API key is needed.

    Parameters
    ----------
    folder : path, optional
        Directory that contains ``demo.atlas``. By default, it is read from the environment
        variable ``LANDSCAPE_DEMO``. If the variable is not set, the working directory and its
        parents are searched, and a new atlas is built in the working directory. The variable can
        also be the path of another atlas, which is then opened instead of the demo atlas.
        ``landscape lab ATLAS`` uses this to run the notebooks on your papers.
    n_papers : int, default 4000
        Number of papers of a new demo atlas. On a laptop, the build takes a few minutes for
        4,000 papers and a few seconds for 400.
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
            # If the build of the demo was interrupted, it is resumed. Other errors are raised.
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
    approve: Callable[[str], bool] | None = None,
) -> AtlasStore:
    """Generate the demo corpus and build an atlas from it, or resume an interrupted build."""
    from landscape.corpus.demo import write_demo

    if say:
        say(f"writing a generated corpus of {n_papers:,} papers that do not exist")
    files = write_demo(out.with_name(f"{out.stem}-corpus"), n_papers=n_papers)
    return build(
        [files.papers],
        out,
        seed=seed,
        precision="auto",
        workers=workers,
        title=TITLE,
        min_dist=_MIN_DIST,
        say=say,
        approve=approve,
    )


def _home(folder: Path | None) -> Path:
    if folder is not None:
        if not folder.is_dir():
            raise InputError(f"Not a directory: {folder}. Pass the directory that contains {NAME}.")
        return folder
    here = Path.cwd()
    return next((at for at in (here, *here.parents) if is_own_folder(at / NAME)), here)
