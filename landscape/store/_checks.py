"""Compare the files of an atlas with the checksums in its manifest."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from landscape._io import cache_folder, sha256_of, write_bytes
from landscape.store.manifest import Output

_LARGE = 8 * 2**20  # minimum bytes of a file with a stored result

_checked: dict[tuple[str, str], list[int]] = {}
"""Size, times and number of checked files on disk, by path and checksum."""


def compare_file(path: Path, output: Output) -> str:
    """Compare a file with its entry in the manifest. Return a difference as text, or ""."""
    try:
        size = path.stat().st_size
        if size != output.bytes:
            return f"{path} has {size:,} bytes instead of {output.bytes:,}."
        found = sha256_of(path)
    except FileNotFoundError:
        return f"{path} is missing."
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})."
    if found != output.sha256:
        return (
            f"{path} was changed: its sha256 is {found[:12]}... instead of {output.sha256[:12]}..."
        )
    return ""


def check_once(path: Path, output: Output) -> str:
    """Compare a file on its first use. An unchanged file is not read again.

    The result for a large file is stored in the cache folder of the user, because a checksum of
    gigabytes takes seconds.
    """
    key = (str(path.resolve()), output.sha256)
    state = _state(path)
    if state is not None and _checked.get(key) == state:
        return ""
    stored = cache_folder("checked") / f"{sha256(repr(key).encode()).hexdigest()[:32]}.json"
    if output.bytes >= _LARGE and state is not None:
        with suppress(OSError, ValueError):
            if json.loads(stored.read_bytes()) == state:
                _checked[key] = state
                return ""
    if problem := compare_file(path, output):
        return problem
    if state is not None:
        _checked[key] = state
        if output.bytes >= _LARGE:
            with suppress(OSError):
                stored.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(stored, json.dumps(state).encode())
    return ""


def _state(path: Path) -> list[int] | None:
    """Return numbers that change when a file is written. Programs cannot set the change time."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
