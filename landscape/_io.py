"""Read, lock and atomically write files, find package data, and measure time and memory."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from landscape.errors import AtlasError, InputError, LandscapeError


def check_output(path: str | os.PathLike[str], kinds: Collection[str], *, what: str) -> Path:
    """Make the folder of a file before a long computation, or raise InputError."""
    target = expand_home(path)
    if target.suffix.lower() not in kinds:
        allowed = f"in one of {', '.join(kinds)}" if len(kinds) > 1 else f"in {next(iter(kinds))}"
        raise InputError(
            f"{what} cannot be written as {target.name!r}; use a name that ends {allowed}."
        )
    if not is_folder(target.parent):
        try:
            if target.parts[0].startswith("~"):
                raise FileNotFoundError("unknown user")
            target.parent.mkdir(parents=True)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{target.name} cannot be written: there is no folder {target.parent}, and it "
                f"cannot be created ({error}). Choose another folder."
            ) from error
    if is_folder(target):
        raise InputError(f"{target} cannot be written: it is a folder; name a file.")
    refuse_atlas(target)
    return target


BY_USER = ("labels.csv", "roles.csv")  # files in the folder of an atlas that its user writes


def refuse_atlas(target: Path) -> None:
    """Raise InputError for a file or a folder inside an atlas, whose own files it could replace."""
    for parent in target.resolve().parents:
        if target.name in BY_USER and parent == target.resolve().parent:
            continue
        if is_file(parent / "manifest.json") and (parent / "papers.parquet").exists():
            raise InputError(
                f"{target} is inside the atlas {parent}, whose files would be damaged; choose "
                "another folder."
            )


@contextmanager
def reporting_unwritable(target: Path) -> Iterator[None]:
    """Replace the system error for a file that cannot be written by an InputError."""
    try:
        yield
    except LandscapeError:
        raise
    except (OSError, ValueError) as error:  # ValueError if text cannot be encoded
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(
            f"{str(target)!r} cannot be written: {reason}. "
            "Choose an existing, writable folder with enough free space."
        ) from error


def write_output(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file atomically and return its path."""
    target = expand_home(path)
    refuse_atlas(target)
    with reporting_unwritable(target):
        write_whole(target, content.encode() if isinstance(content, str) else content)
    return target


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file atomically, so that an error leaves no incomplete file."""
    # Use a random name, because two processes can write the same file at the same time.
    with unfinished_file(path, suffix=f".{secrets.token_hex(4)}.unfinished") as unfinished:
        unfinished.touch(mode)
        unfinished.write_bytes(content)


@contextmanager
def unfinished_file(path: Path, *, suffix: str = ".unfinished") -> Iterator[Path]:
    """Yield the path of a hidden file, and rename the file to `path` if no error occurs."""
    # Hide the file, because other code reads every visible file of the folder.
    unfinished = path.with_name(f".{path.name}{suffix}")
    try:
        yield unfinished
        put_in_place(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def put_in_place(unfinished: Path, path: Path) -> None:
    """Flush a file to the disk before renaming it, to avoid data loss in a power failure."""
    with unfinished.open("rb+") as stream:
        os.fsync(stream.fileno())
    with contextlib.suppress(OSError):  # keep the permissions of the replaced file
        unfinished.chmod(path.stat().st_mode & 0o777)
    unfinished.replace(path)


def is_folder(path: Path) -> bool:
    """Return whether a folder exists, or False if the name is invalid."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_own_folder(path: Path) -> bool:
    """Return whether a folder exists and belongs to the user (anyone can write to /tmp)."""
    try:
        return path.is_dir() and (os.name != "posix" or path.stat().st_uid == os.getuid())
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Return whether a file exists, or False if the name is invalid."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Replace ``~`` with the home folder, if the home folder is known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # "~name" of an unknown user is not changed
        return Path(path)


def link_file(source: Path, target: Path) -> None:
    """Replace a file by a link to another file, or by a copy if there are no hard links."""
    if is_same_file(source, target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}{TEMPORARY_SUFFIX}")
    temporary.unlink(missing_ok=True)
    try:
        os.link(source, temporary)
    except OSError:
        shutil.copy2(source, temporary)
    temporary.replace(target)


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether one file is a link to another file, or a copy by `link_file`."""
    try:
        a, b = one.stat(), other.stat()
    except OSError:
        return False
    copied = (a.st_size, a.st_mtime_ns) == (b.st_size, b.st_mtime_ns)
    return os.path.samestat(a, b) or copied


TEMPORARY_SUFFIX = ".part"
LOCK_NAME = ".lock"

# After an incomplete write, `numpy.ndarray.tofile` raises an error without an error number.
_NUMPY_SHORT_WRITE = re.compile(r"\d{1,20} requested and \d{1,20} written")
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFullError(LandscapeError):
    """Raised when the disk is full. Finished steps are kept."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, and rename the file to `path` at the end."""
    with report_full_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two workers of a cluster can write the same file, so each has a temporary file of its own.
        suffix = f".{secrets.token_hex(4)}{TEMPORARY_SUFFIX}"
        with unfinished_file(path, suffix=suffix) as temporary:
            yield temporary
        with contextlib.suppress(OSError):  # sync the folder if possible
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a small file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def report_full_disk(path: Path | None = None) -> Iterator[None]:
    """Replace the system error for a full disk by a `DiskFullError`, by default for any file."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_FULL and not _NUMPY_SHORT_WRITE.match(str(error)):
            raise
        path = path or Path(os.fsdecode(error.filename or "a temporary file"))
        folder = next((p for p in [path, *path.parents] if p.is_dir()), Path())
        free = shutil.disk_usage(folder).free / 1e6
        cause = "A file-size limit stopped" if error.errno == errno.EFBIG else "Disk full while"
        raise DiskFullError(
            f"{cause} writing {path}: {free:,.0f} MB are free in {folder}. Free some space and run "
            "the same command again. A build resumes from the last finished step."
        ) from error


def data_file(name: str) -> Path:
    """Return the path of a data file in ``landscape/_data``, or in ``data`` of a git clone."""
    package = Path(__file__).resolve().parent
    folders = (package / "_data", package.parent / "data")
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    raise InputError(
        f"The file {name} is missing (looked in {folders[0]} and {folders[1]}): install the "
        "package again."
    )


def read_yaml(path: Path) -> Any:
    """Read a YAML file, with the fast loader of PyYAML if it is available."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Both loaders are safe, because they create only plain Python values.
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise InputError(
            f"{path.name} is not YAML: {str(error).splitlines()[0]}. "
            "Put a value that begins with '{' or contains ': ' in quotation marks."
        ) from error


@cache
def read_data(name: str) -> Any:
    """Read a YAML file of the package once. Callers must not change the result."""
    return read_yaml(data_file(name))


def cache_folder(name: str) -> Path:
    """Return a folder for files that can be made again; it may not exist yet.

    The environment variables LANDSCAPE_CACHE and XDG_CACHE_HOME change the place of the cache.
    """
    own = os.environ.get("LANDSCAPE_CACHE")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (Path(own) if own else caches / "landscape").resolve() / name


def sha256_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of an interrupted build."""
    for leftover in folder.rglob(f".*{TEMPORARY_SUFFIX}"):
        if leftover.is_file():
            leftover.unlink(missing_ok=True)


def refuse_links(folder: Path, *, but: Collection[str] = ()) -> None:
    """Raise AtlasError for links, which could lead outside of the atlas, and for pipes."""
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in sorted(folders + files)):
            if path.parent == folder and path.name in but:
                continue
            try:
                kind = path.lstat().st_mode
            except FileNotFoundError:  # a build has removed a temporary file
                continue
            if stat.S_ISLNK(kind):
                raise AtlasError(
                    f"{path} is a symbolic link, and an atlas reads and writes only files in its "
                    "own folder. Replace the link by the file, or remove it."
                )
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                raise AtlasError(f"{path} is neither a file nor a folder. Remove it.")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that a second build fails."""
    path = folder / LOCK_NAME
    try:
        with report_full_disk(path):
            stream = _open_and_lock(path)
    except PermissionError as error:
        raise InputError(
            f"Cannot write to {folder}: permission denied. Copy the folder, or ask its owner."
        ) from error
    try:
        with contextlib.suppress(OSError):  # process id, for the error message of a second build
            stream.truncate(0)
            stream.write(str(os.getpid()))
            stream.flush()
        yield
    finally:
        path.unlink(missing_ok=True)
        stream.close()


def _open_and_lock(path: Path) -> IO[str]:
    """Open and lock the lock file, and try again if another process has just removed it."""
    while True:
        stream = path.open("a+", encoding="ascii")
        try:
            lock_exclusively(stream)
        except OSError as error:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            stream.close()
            raise InputError(
                f"Another build is writing to {path.parent} (process {holder}). "
                "Wait until this build ends, or stop it."
            ) from error
        if path.exists() and os.path.samestat(path.stat(), os.fstat(stream.fileno())):
            return stream
        stream.close()


def lock_exclusively(stream: IO[str] | IO[bytes]) -> None:
    """Lock an open file, or raise BlockingIOError if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # fcntl is not available on Windows
        return
    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def wait_for_lock(file: Path) -> Iterator[None]:
    """Wait until no other process changes a file of the user, which a group can share."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{file}.lock").open("a") as stream:
        for _ in range(_LOCK_TRIES):
            try:
                lock_exclusively(stream)
                break
            except BlockingIOError:
                time.sleep(0.1)
        else:
            raise InputError(f"{file} is being changed by another program; try again later.")
        yield


_LOCK_TRIES = 300  # of a tenth of a second
_EVERY = 0.2  # seconds between two samples of the child processes


@dataclass
class Usage:
    """Wall-clock time (seconds) and peak resident memory (megabytes) of a block of code."""

    seconds: float = 0.0
    peak_memory_mb: float = 0.0


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure the time and the peak memory of a block of code."""
    # The peak that the operating system reports for child processes is not usable, because on Linux
    # it includes the memory of the parent process.
    usage, largest, done = Usage(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY):
            largest[0] = max(largest[0], _children_mb())

    watcher = threading.Thread(target=watch, name="memory of child processes", daemon=True)
    start = time.perf_counter()
    # Linux can reset the peak. On other systems, the peak is counted from the process start.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    watcher.start()
    try:
        yield usage
    finally:
        done.set()
        watcher.join()
        usage.seconds = time.perf_counter() - start
        usage.peak_memory_mb = _own_peak_mb() + largest[0]


def _children_mb() -> float:
    import psutil

    total = 0.0
    with contextlib.suppress(psutil.Error):  # the process belongs to another user, or has ended
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                total += child.memory_info().rss / 1e6
    return total


def _own_peak_mb() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1e6 if sys.platform == "darwin" else 1e6 / 1024  # bytes on macOS, otherwise kibibytes
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / unit
