"""Files and archives of strangers, read within bounds."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from landscape.errors import InputError

_LARGEST = 30_000_000  # bytes of one file
_UNPACKED = 500_000_000  # bytes of an archive

_COMMANDS = ("\\documentclass", "\\documentstyle", "\\section", "\\begin{")  # of a LaTeX file


def check_size(path: Path) -> None:
    """Refuse a file that is too large for a paper."""
    if path.stat().st_size > _LARGEST:
        raise InputError(f"{path} is larger than {_LARGEST:,} bytes: that is no paper.")


def text_of(path: Path) -> str:
    """Read a text of bounded size."""
    check_size(path)
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from error


def text_of_archive(path: Path) -> str:
    """The LaTeX files of an archive, the bibliography last; nothing is unpacked to the disk."""
    check_size(path)
    pieces: list[tuple[bool, str, str]] = []
    left = _LARGEST
    try:
        if alone := _single_text(path):
            return alone
        with _unpacked(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if not member.isfile() or not member.name.endswith((".tex", ".bbl")):
                    continue
                inside = archive.extractfile(member)
                content = inside.read(left) if inside else b""
                left -= len(content)
                text = content.decode("utf-8", "replace")
                pieces.append((member.name.endswith(".bbl"), member.name, text))
                if left <= 0:
                    break
    except InputError:
        raise
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError) as error:
        raise InputError(f"{path} cannot be read as an archive of LaTeX ({error}).") from error
    return "\n".join(text for _, _, text in sorted(pieces))


def _single_text(path: Path) -> str:
    """The text of a paper in one file, which arXiv packs without an archive; else nothing."""
    with _unpacked(path) as stream:
        head = stream.read(tarfile.BLOCKSIZE)
        if head[257:262] == b"ustar" or b"\0" in head:
            return ""
        pieces = [head]
        while (piece := stream.read(1 << 20)) and len(pieces) * (1 << 20) < _LARGEST:
            pieces.append(piece)
    text = b"".join(pieces).decode("utf-8", "replace")
    return text if any(command in text for command in _COMMANDS) else ""


class _Bounded:
    """A stream that ends with a sentence where an archive unpacks to more than any paper."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path = stream, path
        self._left = _UNPACKED

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._left -= len(piece)
        if self._left < 0:
            raise InputError(
                f"{self._path} unpacks to more than {_UNPACKED:,} bytes: that is no paper."
            )
        return piece


@contextmanager
def _unpacked(path: Path) -> Iterator[Any]:
    with path.open("rb") as stream:
        if path.suffix == ".tar":
            yield _Bounded(stream, path)
        else:
            with gzip.open(stream) as content:
                yield _Bounded(content, path)
