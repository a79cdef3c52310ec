"""Files that users name: there or not, of a kind that is written, whole or not there at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Collection
from pathlib import Path

from landscape.errors import InputError


def check_output(path: str | os.PathLike[str], kinds: Collection[str], *, what: str) -> Path:
    """Refuse a file that cannot be written, before any work is done for it.

    Parameters
    ----------
    path : path
        Where to; ``~`` is the home folder.
    kinds : collection of str
        Endings that are written, such as ``".bib"``, in small letters.
    what : str
        What is written, as a sentence begins.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        For another ending, or a folder that is not there.

    Examples
    --------
    >>> check_output("papers.BIB", [".bib", ".csv"], what="Papers").name
    'papers.BIB'
    >>> check_output("papers.doc", [".bib", ".csv"], what="Papers")
    Traceback (most recent call last):
    landscape.errors.InputError: Papers cannot be written as 'papers.doc'; use a name that ends ...
    """
    target = at_home(path)
    if target.suffix.lower() not in kinds:
        allowed = f"in one of {', '.join(kinds)}" if len(kinds) > 1 else f"in {next(iter(kinds))}"
        raise InputError(
            f"{what} cannot be written as {target.name!r}; use a name that ends {allowed}."
        )
    if not is_folder(target.parent):
        raise InputError(
            f"{target.name} cannot be written: there is no folder {target.parent}; make it first, "
            "or choose another."
        )
    return target


def write_output(path: str | os.PathLike[str], content: str | bytes) -> Path:
    r"""Write a file that appears whole or not at all; what was there stays until then.

    Parameters
    ----------
    path : path
        Where to; ``~`` is the home folder.
    content : str or bytes
        All of it; text is written as UTF-8.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the folder does not exist, cannot be written, or is full.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_output(f"{folder}/papers.csv", "title\nA paper\n").read_text()
    'title\nA paper\n'
    """
    target = at_home(path)
    try:
        raw = content.encode() if isinstance(content, str) else content
        write_whole(target, raw)
    except (OSError, ValueError) as error:  # the latter: a name or a text that cannot be encoded
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(
            f"{str(target)!r} cannot be written: {reason}. "
            "Choose a folder that exists, can be written, and has room."
        ) from error
    return target


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all.

    Raises
    ------
    OSError
        As the system raises it; no half file is left.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note"
    >>> write_whole(path, b"whole")
    >>> path.read_bytes()
    b'whole'
    """
    # A name of its own: two that write the same file at once do not write into each other.
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        unfinished.write_bytes(content)
        put_in_place(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def put_in_place(unfinished: Path, path: Path) -> None:
    """Give a written and closed file its name, once its bytes are on the disk.

    Without that, a power cut may leave the name and no bytes.

    Raises
    ------
    OSError
        As the system raises it.
    """
    with contextlib.suppress(OSError):  # who may read the file that it replaces may read this one
        unfinished.chmod(path.stat().st_mode & 0o777)
    with unfinished.open("rb+") as stream:
        os.fsync(stream.fileno())
    unfinished.replace(path)


def is_folder(path: Path) -> bool:
    """Say whether a folder is there; False too for a name that none can have.

    Examples
    --------
    >>> is_folder(Path("x" * 5000)), is_folder(Path("."))
    (False, True)
    """
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    r"""Say whether a file is there; False too for a name that none can have.

    Examples
    --------
    >>> is_file(Path("a\0b"))
    False
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def at_home(path: str | os.PathLike[str]) -> Path:
    """Put the home folder in the place of ``~``, where there is such a home.

    Examples
    --------
    >>> at_home("~nobody-of-that-name/x").name
    'x'
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:  # ~nobody: a name like any other
        return Path(path)
