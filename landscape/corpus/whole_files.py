"""Files that are there whole or not at all, after a power cut too."""

from __future__ import annotations

import os
from pathlib import Path


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
    unfinished = path.with_name(f".{path.name}.unfinished")
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
    with unfinished.open("rb+") as stream:
        os.fsync(stream.fileno())
    unfinished.replace(path)
