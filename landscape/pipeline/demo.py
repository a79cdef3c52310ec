"""Open the demo atlas, or build it from generated papers or from the newest papers of arXiv."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from landscape._io import is_own_folder
from landscape.corpus.fetch import RetryPolicy
from landscape.errors import AtlasError, InputError, RemoteError
from landscape.pipeline.building import build
from landscape.store import AtlasStore
from landscape.store.manifest import MANIFEST_NAME

# The demo has generated papers if arXiv does not answer, so it does not wait long.
_IMPATIENT = RetryPolicy(pause=3.0, attempts=3, connect_attempts=1, first_wait=3.0, timeout=60.0)

NAME = "demo.atlas"
FOLDER_VARIABLE = "LANDSCAPE_DEMO"
TITLE = "Demo corpus (generated)"
_USUAL_SIZE = 4000
_MIN_DIST = 1.0  # with the default, the sparser parts of 4,000 papers are separate islands


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
    out: Path | None = None,
    *,
    n_papers: int = _USUAL_SIZE,
    live: str | None = None,
    seed: int | None = 1,
    workers: int | None = None,
    say: Callable[[str], None] | None = None,
    approve: Callable[[str], bool] | None = None,
) -> AtlasStore:
    """Build the demo atlas, or resume an interrupted build.

    With `live`, the atlas has the newest papers of this category of arXiv. If arXiv cannot be
    reached, it has generated papers. By default, `out` is ``demo.atlas`` or ``CATEGORY.atlas``.
    """
    tell = say or (lambda _: None)
    papers = None
    if live:
        atlas = out or Path(f"{live}.atlas")
        papers = _download(live, _corpus_of(atlas), n_papers, tell)
    out = out or Path(f"{live}.atlas" if papers else NAME)
    options: dict[str, object] = {"title": f"Newest papers of {live} on arXiv"}
    if papers is None:
        from landscape.corpus.demo import write_demo

        tell(f"writing a generated corpus of {n_papers:,} papers that do not exist")
        papers = write_demo(_corpus_of(out), n_papers=n_papers).papers
        options = {"title": TITLE, "min_dist": _MIN_DIST}
    return build(
        [papers],
        out,
        seed=seed,
        precision="auto",
        workers=workers,
        say=say,
        approve=approve,
        **options,
    )


def _corpus_of(atlas: Path) -> Path:
    """Return the folder with the papers of a demo atlas."""
    return atlas.with_name(f"{atlas.stem}-corpus")


def _download(
    category: str, folder: Path, n_papers: int, tell: Callable[[str], None]
) -> Path | None:
    """Return the file with the newest papers of a category, or None without a network."""
    from landscape.corpus.fetch import fetch_newest

    folder.mkdir(parents=True, exist_ok=True)
    papers = folder / f"{category}.jsonl"
    if papers.is_file():
        tell(f"using the papers in {papers}; remove this file to download newer papers")
        return papers
    tell(f"downloading the newest {n_papers:,} papers of {category} from arXiv")
    try:
        return fetch_newest(
            papers, category=category, max_records=n_papers, policy=_IMPATIENT, notify=tell
        ).path
    except RemoteError as error:
        tell(f"The demo uses generated papers, because {_lower(str(error))}")
        return None


def _lower(text: str) -> str:
    """Begin a sentence with a small letter, except a name such as arXiv or ADS."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _home(folder: Path | None) -> Path:
    if folder is not None:
        if not folder.is_dir():
            raise InputError(f"Not a directory: {folder}. Pass the directory that contains {NAME}.")
        return folder
    here = Path.cwd()
    return next((at for at in (here, *here.parents) if is_own_folder(at / NAME)), here)
