"""Where the notebooks lie, and which one is meant."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from landscape.errors import InputError

START_PAGE = "README.md"
_FIRST = "00_quickstart.ipynb"
_COPY = "landscape-notebooks"


def notebooks_folder(chosen: Path | None = None) -> tuple[Path, str]:
    """Find the folder of notebooks to work in.

    Parameters
    ----------
    chosen : pathlib.Path, optional
        The notebooks are copied there; what lies there already stays as it is. By default those of
        a clone are used where they are, and those of an installed package are copied to
        ``landscape-notebooks`` in the working folder.

    Returns
    -------
    folder : pathlib.Path
    said : str
        What the user should know about it; empty if nothing was copied.

    Raises
    ------
    InputError
        If the installation has no notebooks, or they cannot be copied.

    Examples
    --------
    >>> folder, said = notebooks_folder()
    >>> (folder / "README.md").is_file()
    True
    """
    clone = Path(__file__).resolve().parents[2] / "notebooks"
    is_clone = (clone / _FIRST).is_file()
    if is_clone and chosen is None:
        return clone, ""
    source = clone if is_clone else _installed()
    target = Path.cwd() / (chosen or _COPY)
    try:
        copied = _copy_missing(source, target)
    except OSError as error:
        raise InputError(
            f"The notebooks cannot be copied to {target} ({error.strerror}); choose a folder that "
            "you may write to: landscape lab --notebooks DIR"
        ) from error
    return target, f"{copied} notebooks copied to {target}" if copied else ""


def list_notebooks(folder: Path) -> list[Path]:
    """All notebooks of a folder, in the order of their numbers.

    Parameters
    ----------
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path

    Examples
    --------
    >>> [path.stem for path in list_notebooks(notebooks_folder()[0])][0]
    '00_quickstart'
    """
    return sorted(folder.glob("*.ipynb"))


def choose_notebook(name: str, notebooks: Sequence[Path]) -> Path:
    """Find the notebook that a name means.

    Parameters
    ----------
    name : str
        Path of any notebook; or, of one of `notebooks`, its number (``02``, ``2``), its name
        (``02_explore_the_map``) or a word of it (``explore``, ``ask``).
    notebooks : sequence of pathlib.Path

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If none or several are meant; the message lists what there is.

    Examples
    --------
    >>> choose_notebook("ask", [Path("02_explore.ipynb"), Path("03_ask_papers.ipynb")]).name
    '03_ask_papers.ipynb'
    """
    if name.endswith(".ipynb") and Path(name).is_file():
        return Path(name).resolve()
    wanted = _plain(Path(name).stem)
    exact = [path for path in notebooks if wanted == _plain(path.stem)]
    numbered = [path for path in notebooks if wanted.isdigit() and _number(path) == int(wanted)]
    named = [path for path in notebooks if wanted and wanted in _plain(path.stem)]
    found = exact or numbered or (named if not wanted.isdigit() else [])
    if len(found) == 1:
        return found[0]
    what = (
        f"{name!r} is the name of several notebooks" if found else f"There is no notebook {name!r}"
    )
    listed = ", ".join(path.stem for path in found or notebooks) or "none"
    raise InputError(f"{what}; choose one of: {listed}.")


def _installed() -> Path:
    """Folder that the installation put the notebooks into."""
    try:
        files = importlib.metadata.files("landscape") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == _FIRST and (path := Path(os.fspath(file.locate()))).is_file():
            return path.resolve().parent
    raise InputError(
        "This installation came without its notebooks; clone the repository of Landscape and run "
        "the command there."
    )


def _copy_missing(source: Path, target: Path) -> int:
    """Copy what is not there yet, as files that may be changed; tell how many notebooks."""
    target.mkdir(parents=True, exist_ok=True)
    missing = [
        path
        for path in sorted(source.iterdir())
        if path.suffix in (".ipynb", ".md") and not (target / path.name).exists()
    ]
    for path in missing:
        shutil.copyfile(path, target / path.name)
    return sum(path.suffix == ".ipynb" for path in missing)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _number(path: Path) -> int | None:
    number = re.match(r"\d+", path.stem)
    return int(number.group()) if number else None
