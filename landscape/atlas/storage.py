"""Writing files so that a crash, a full disk or a second build never leaves half of one."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from landscape.errors import AtlasError, InputError, LandscapeError

TEMPORARY_SUFFIX = ".part"
LOCK_NAME = ".lock"

# NumPy's tofile loses the system's error number when a write comes out short.
_NUMPY_SHORT_WRITE = re.compile(r"\d+ requested and \d+ written")
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFullError(LandscapeError):
    """There is no room left on the disk; nothing that was finished is lost."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file beside its place, and rename it there once it is whole.

    Parameters
    ----------
    path : pathlib.Path
        Where the file shall be. Its folder is made if it does not exist.

    Yields
    ------
    pathlib.Path
        A hidden name in the same folder, to write to. On success it is flushed to the disk and
        renamed to `path`; on any error it is removed and `path` stays as it was.

    Raises
    ------
    DiskFullError
        If the disk has no room left.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(target) as beside:
    ...     _ = beside.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    with telling_of_a_full_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Hidden, so that a reader of the folder of parts never takes it for a part.
        beside = path.with_name(f".{path.name}{TEMPORARY_SUFFIX}")
        try:
            yield beside
            _flush_to_disk(beside)
            beside.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
        _flush_folder(path.parent)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a small file atomically.

    Parameters
    ----------
    path : pathlib.Path
        Where to.
    content : bytes
        All of it.

    Raises
    ------
    DiskFullError
        If the disk has no room left.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.json"
    >>> write_bytes(target, b"{}")
    >>> target.read_bytes()
    b'{}'
    """
    with replacing(path) as beside:
        beside.write_bytes(content)


@contextmanager
def telling_of_a_full_disk(path: Path) -> Iterator[None]:
    """Turn the operating system's "no space left" into a sentence that says what to do.

    Parameters
    ----------
    path : pathlib.Path
        What is being written, or the folder that it is written to.

    Raises
    ------
    DiskFullError
        In place of the ``OSError`` for a full disk, a full quota or a file-size limit.

    Examples
    --------
    >>> with telling_of_a_full_disk(Path("big.npy")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    landscape.atlas.storage.DiskFullError: Disk full while writing big.npy: ...
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_FULL and not _NUMPY_SHORT_WRITE.match(str(error)):
            raise
        raise DiskFullError(_no_room(path, error)) from error


def sha256_of(path: Path) -> str:
    """Checksum of a file, read in blocks.

    Parameters
    ----------
    path : pathlib.Path
        A file of any size.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "empty"
    >>> target.touch()
    >>> sha256_of(target)[:12]
    'e3b0c44298fc'
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_leftovers(folder: Path) -> None:
    """Remove the half-written files of a build that was killed.

    Parameters
    ----------
    folder : pathlib.Path
        Searched with everything below it; only our own hidden temporary names are touched.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / ".papers.parquet.part").touch()
    >>> remove_leftovers(folder)
    >>> list(folder.iterdir())
    []
    """
    for leftover in folder.rglob(f".*{TEMPORARY_SUFFIX}"):
        if leftover.is_file():
            leftover.unlink(missing_ok=True)


def refuse_links(folder: Path, *, but: Collection[str] = ()) -> None:
    """Refuse a folder with symbolic links in it: writing there would change files elsewhere.

    Parameters
    ----------
    folder : pathlib.Path
        Searched with everything below it; may itself be a link, and need not exist.
    but : collection of str
        Names of files in `folder` that are only read, and may be links.

    Raises
    ------
    AtlasError
        Naming the first link.

    Examples
    --------
    >>> import tempfile
    >>> refuse_links(Path(tempfile.mkdtemp()))
    """
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in sorted(folders + files)):
            if path.is_symlink() and not (path.parent == folder and path.name in but):
                raise AtlasError(
                    f"{path} is a link to somewhere else, and a build replaces and removes files "
                    "in an atlas; remove the link, or give --out another folder."
                )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against a second build at the same time.

    Parameters
    ----------
    folder : pathlib.Path
        An existing folder; the lock is its file ``.lock``, which holds the process id.

    Raises
    ------
    InputError
        If a living process holds the lock.

    Notes
    -----
    The operating system holds the lock on behalf of the process, so the lock of a build that
    was killed is free at once, however the process ended.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with locked(folder):
    ...     (folder / ".lock").exists()
    True
    >>> (folder / ".lock").exists()
    False
    """
    path = folder / LOCK_NAME
    with telling_of_a_full_disk(path):
        stream = _open_and_lock(path)
    try:
        with contextlib.suppress(OSError):  # the number is only there for the message
            stream.truncate(0)
            stream.write(str(os.getpid()))
            stream.flush()
        yield
    finally:
        path.unlink(missing_ok=True)
        stream.close()


def _open_and_lock(path: Path) -> IO[str]:
    """Open the lock file and lock it; go round again if its last holder removed it meanwhile."""
    while True:
        stream = path.open("a+", encoding="ascii")
        try:
            _lock(stream)
        except OSError as error:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            stream.close()
            raise InputError(
                f"Another build is writing to {path.parent} (process {holder}): "
                "wait until it is done, or stop it."
            ) from error
        if path.exists() and os.path.samestat(path.stat(), os.fstat(stream.fileno())):
            return stream
        stream.close()


def _lock(stream: IO[Any]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no advisory locks of this kind; two builds are then on trust
        return
    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _no_room(path: Path, error: OSError) -> str:
    folder = next((p for p in [path, *path.parents] if p.is_dir()), Path())
    free = shutil.disk_usage(folder).free / 1e6
    cause = "A file-size limit stopped" if error.errno == errno.EFBIG else "Disk full while"
    return (
        f"{cause} writing {path}: {free:,.0f} MB are free in {folder}; make room and run the "
        "same command again, it goes on from the last finished step."
    )
