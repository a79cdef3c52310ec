"""Opening source files: plain or gzip, streamed, with every fault told in one sentence."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from landscape.corpus.schema import RawRecord, Rejection
from landscape.errors import InputError

SAMPLE_BYTES = 1 << 20
"""How much of a file is looked at to tell of what kind it is."""

PARQUET_MAGIC = b"PAR1"
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive; unzip it and give the file inside",
    b"BZh": "compressed with bzip2; decompress it with bunzip2 first",
    b"\xfd7zXZ": "compressed with xz; decompress it with unxz first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; decompress it with unzstd first",
    b"%PDF": "a PDF; Landscape reads metadata, not documents",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"SQLite format 3": "an SQLite database; export its table as CSV or Parquet",
    b"\x89HDF": "an HDF5 file; export its table as CSV or Parquet",
}


def sample(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed and without a byte order mark.

    Raises
    ------
    landscape.errors.InputError
        If the file does not exist, is a folder, cannot be read, is empty, is binary or text in
        another encoding than UTF-8.
    """
    _check_exists(path)
    with _sentences(path), open_input(path) as stream:
        head = _beginning(stream)
    if not head.strip():
        raise InputError(f"{path} is empty; give a file with at least one paper.")
    if head.startswith(PARQUET_MAGIC):
        return head
    for magic, what in _ARCHIVES.items():
        if head.startswith(magic):
            raise InputError(f"{path} is {what}.")
    start = head[:65536]
    wrong = start.decode("utf-8", "replace").count("\ufffd")
    if b"\0" in start or wrong > len(start) / 10:
        raise InputError(
            f"{path} is a binary file (it begins with {head[:8].hex(' ')}), not text or Parquet; "
            "give a file of papers."
        )
    return head


@contextmanager
def open_input(
    path: Path, *, on_bytes: Callable[[int], None] | None = None
) -> Iterator[io.BufferedReader[Any]]:
    """Open a plain or gzip file for reading; a byte order mark is skipped.

    Parameters
    ----------
    path : pathlib.Path
    on_bytes : callable, optional
        Told how many bytes of the file itself (compressed ones of a ``.gz``) were read.

    Yields
    ------
    io.BufferedReader
    """
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
        file.seek(0)
        raw = cast("io.RawIOBase", _Counting(file, on_bytes))
        counted = io.BufferedReader(raw, 1 << 18)
        if compressed:
            unpacked = gzip.GzipFile(fileobj=counted, mode="rb")
            stream = io.BufferedReader(cast("io.RawIOBase", _Unpacked(unpacked)), 1 << 16)
        else:
            stream = counted
        if stream.peek(3)[:3] == _BOM:
            stream.read(3)
        yield stream


def checked(
    path: Path, records: Iterator[RawRecord | Rejection]
) -> Iterator[RawRecord | Rejection]:
    """Pass records through; a file that breaks off becomes an error that counts the good ones.

    Raises
    ------
    landscape.errors.InputError
        If the file is damaged, with the number of records read before.
    """
    n_good = 0
    with _sentences(path, lambda: n_good):
        for record in records:
            n_good += isinstance(record, RawRecord)
            yield record


def _beginning(stream: io.BufferedReader) -> bytes:
    """Read a sample; of a file that breaks off, what there is: the reader counts its records."""
    pieces: list[bytes] = []
    try:
        while sum(map(len, pieces)) < SAMPLE_BYTES and (piece := stream.read1(1 << 16)):
            pieces.append(piece)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        if not pieces:
            raise
    return b"".join(pieces)


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise InputError(f"There is no file {path}; check the name and the folder.")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; give the files in it.")


@contextmanager
def _sentences(path: Path, count: Callable[[], int] | None = None) -> Iterator[None]:
    """Turn what the system and zlib raise for damaged files into sentences."""

    def good() -> str:
        return "" if count is None else f" after {count():,} good records"

    try:
        yield
    except EOFError:
        raise InputError(
            f"{path} breaks off in the middle (truncated gzip){good()}; download or copy it again."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{path} is damaged (gzip: {error}){good()}; download or copy it again."
        ) from None
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check the name and the folder.") from None
    except PermissionError:
        raise InputError(f"{path} may not be read; change its permissions.") from None


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, given out as it comes: all of it that is there, if it breaks off."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # the stub wants typing's private Buffer
        piece = self._file.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _Counting(io.RawIOBase):
    """A raw file that tells how much of it was read."""

    def __init__(self, file: BinaryIO, on_bytes: Callable[[int], None] | None) -> None:
        self._file = file
        self._on_bytes = on_bytes

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override]  # the stub wants typing's private Buffer
        n_read = self._file.readinto(buffer)  # type: ignore[attr-defined]  # BinaryIO hides it
        if n_read and self._on_bytes is not None:
            self._on_bytes(n_read)
        return int(n_read)
